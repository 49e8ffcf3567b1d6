//! When were requests slow? Tail latencies over time, and the heat map behind them.

use super::accumulate::Accumulate;
use super::log_histogram::LogHistogram;
use super::rates::LoadCell;
use super::time_series::{Cell, TimeSeries};
use ioscape_schema::Io;
use ioscape_schema::statistics::least_for;
use ioscape_schema::trace_summary::{HeatMap, Timeline};
use serde::{Deserialize, Serialize};

/// The most columns kept.
const MOST: usize = 360;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Column {
    load: LoadCell,
    elapsed: LogHistogram<3>,
}

impl Column {
    /// Counts the elapsed times.
    #[inline]
    fn time(&mut self, ios: &[Io]) {
        self.elapsed.add_all(ios.iter().filter(|io| io.is_timed()).map(Io::elapsed_ns));
    }
}

impl Cell for Column {
    fn absorb(&mut self, other: &Self) {
        self.load.absorb(&other.load);
        self.elapsed.merge(&other.elapsed);
    }
}

/// Elapsed times by time of arrival, in at most 360 columns, in bins an eighth of the time wide.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LatencyOverTime {
    series: TimeSeries<Column>,
}

impl Default for LatencyOverTime {
    fn default() -> Self {
        Self { series: TimeSeries::new(MOST) }
    }
}

impl LatencyOverTime {
    /// Takes in the next rows, whose load was already counted.
    pub fn update_with(&mut self, ios: &[Io], load: &LoadCell) {
        match self.series.one_step(ios) {
            Some(column) => {
                column.load.absorb(load);
                column.time(ios);
            }
            None => self.update_all(ios),
        }
    }

    /// Load and quantiles by column.
    pub fn timeline(&self, origin_ns: u64) -> Timeline {
        let (step_ns, start_ns, cells) = self.series.steps(origin_ns);
        let step = |column: &Column| {
            let at = |thousandths: u64| {
                let is_told = column.elapsed.count() >= least_for(thousandths);
                is_told.then(|| column.elapsed.quantile(thousandths as f64 / 1000.0) as f64)
            };
            let mut step = column.load.step();
            (step.elapsed_p50_ns, step.elapsed_p99_ns) = (at(500), at(990));
            step.elapsed_p999_ns = at(999);
            step
        };
        Timeline { step_ns, start_ns, steps: cells.iter().map(step).collect() }
    }

    /// Requests by column and by powers of the square root of 2 of their elapsed time; `None` if no
    /// times were recorded.
    pub fn heat_map(&self, origin_ns: u64) -> Option<HeatMap> {
        let (step_ns, start_ns, columns) = self.series.steps(origin_ns);
        let most = columns.iter().map(|column| column.elapsed.most()).max().filter(|&m| m > 0)?;
        // Half octaves from 1 microsecond on: anything faster shares the first row.
        let mut rows_to: Vec<f64> = vec![1000.0];
        while rows_to.last().is_some_and(|&last| last < most as f64) {
            rows_to.push(rows_to[rows_to.len() - 1] * std::f64::consts::SQRT_2);
        }
        let mut cells = Vec::new();
        for (at, column) in columns.iter().enumerate() {
            let mut rows = vec![0u64; rows_to.len()];
            for (to, count) in column.elapsed.bins() {
                let row = rows_to.partition_point(|&bound| bound < to as f64);
                rows[row.min(rows_to.len() - 1)] += count;
            }
            let filled = rows.into_iter().enumerate().filter(|row| row.1 > 0);
            cells.extend(filled.map(|(row, count)| (at as u32, row as u32, count)));
        }
        Some(HeatMap { step_ns, start_ns, rows_to, cells })
    }
}

impl Accumulate for LatencyOverTime {
    #[inline]
    fn update(&mut self, io: &Io) {
        let column = self.series.at(io.queued_ns);
        column.load.update(io);
        if io.is_timed() {
            column.elapsed.add(io.elapsed_ns());
        }
    }

    fn update_all(&mut self, ios: &[Io]) {
        self.series.each_step(ios, |column, ios| {
            column.load.update_all(ios);
            column.time(ios);
        });
    }

    fn merge(&mut self, later: Self) {
        self.series.merge(later.series);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::time_series::DAY_NS;

    /// Once, the longest of three was told as their 99.9th percentile.
    #[test]
    fn a_step_tells_percentiles_of_enough_requests_only() {
        let of = |ios: usize| {
            let mut seen = LatencyOverTime::default();
            let io = Io { completed_ns: 1_000_000, ..Io::default() };
            seen.update_all(&vec![io; ios]);
            let step = seen.timeline(0).steps[0];
            (step.elapsed_p50_ns, step.elapsed_p99_ns, step.elapsed_p999_ns)
        };
        let told = [3, 100, 1000]
            .map(of)
            .map(|(p50, p99, p999)| (p50.is_some(), p99.is_some(), p999.is_some()));
        assert_eq!(told, [(true, false, false), (true, true, false), (true, true, true)]);
    }

    #[test]
    fn days_of_more_than_a_year_are_not_heaped_on_the_last_step() {
        let of = |day: u64| {
            let mut seen = LatencyOverTime::default();
            seen.update(&Io { queued_ns: day * DAY_NS, ..Io::default() });
            seen
        };
        let mut all = LatencyOverTime::default();
        (0..450).for_each(|day| all.merge(of(day)));
        let found = all.timeline(0);
        assert_eq!(found.step_ns, 10 * DAY_NS);
        assert_eq!(found.steps.iter().map(|step| step.load.ios).collect::<Vec<_>>(), [10; 45]);
    }
}
