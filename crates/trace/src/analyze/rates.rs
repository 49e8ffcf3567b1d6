//! How does the load change by the hour and by the day? (Figures 4 and 8)

use super::accumulate::Accumulate;
use super::counted::Counted;
use super::time_series::{Cell, DAY_NS, HOUR_NS, TimeSeries};
use ioscape_schema::Io;
use ioscape_schema::trace_summary::{TimeStep, Timeline};
use serde::{Deserialize, Serialize};

/// The most steps kept: two years of hours.
const MOST: usize = 17_568;

/// Load of one step, with its elapsed times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadCell {
    /// Requests and bytes.
    pub load: Counted,
    /// Requests with a known completion, to which the times apply.
    pub timed: u64,
    /// Sum of elapsed times.
    pub elapsed_ns: u128,
    /// Longest elapsed time.
    pub most_ns: u64,
}

impl LoadCell {
    /// Counts a request.
    #[inline]
    pub fn update(&mut self, io: &Io) {
        self.load.count(io);
        if io.is_timed() {
            let elapsed = io.elapsed_ns();
            self.timed += 1;
            self.elapsed_ns += u128::from(elapsed);
            self.most_ns = self.most_ns.max(elapsed);
        }
    }

    /// The load of these requests.
    #[inline]
    pub fn of(ios: &[Io]) -> Self {
        // Counted separately, so that the sums stay in the processor's registers.
        let mut these = Self::default();
        ios.iter().for_each(|io| these.update(io));
        these
    }

    /// Counts requests.
    #[inline]
    pub fn update_all(&mut self, ios: &[Io]) {
        self.absorb(&Self::of(ios));
    }

    /// The step as results store it, without quantiles.
    pub fn step(&self) -> TimeStep {
        let timed = self.timed;
        TimeStep {
            load: self.load.load(),
            elapsed_mean_ns: (timed > 0).then(|| self.elapsed_ns as f64 / timed as f64),
            elapsed_max_ns: (timed > 0).then_some(self.most_ns as f64),
            ..TimeStep::default()
        }
    }
}

impl Cell for LoadCell {
    fn absorb(&mut self, other: &Self) {
        self.load.add(&other.load);
        self.timed += other.timed;
        self.elapsed_ns += other.elapsed_ns;
        self.most_ns = self.most_ns.max(other.most_ns);
    }
}

/// Requests, bytes and reads by time of arrival, in steps of the clock.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rates {
    series: TimeSeries<LoadCell>,
}

impl Default for Rates {
    fn default() -> Self {
        Self { series: TimeSeries::new(MOST) }
    }
}

impl Rates {
    fn timeline(&self, step_ns: u64, origin_ns: u64) -> Timeline {
        self.series.in_steps_of(step_ns, origin_ns).map_or_else(
            Timeline::default,
            |(start_ns, cells)| Timeline {
                step_ns,
                start_ns,
                steps: cells.iter().map(LoadCell::step).collect(),
            },
        )
    }

    /// Takes in the next rows, whose load was already counted.
    pub fn update_with(&mut self, ios: &[Io], load: &LoadCell) {
        match self.series.one_step(ios) {
            Some(step) => step.absorb(load),
            None => self.update_all(ios),
        }
    }

    /// By the hour, from `origin_ns` on; empty if the trace lasts more than two years.
    pub fn hourly(&self, origin_ns: u64) -> Timeline {
        self.timeline(HOUR_NS, origin_ns)
    }

    /// By the day.
    pub fn daily(&self, origin_ns: u64) -> Timeline {
        self.timeline(DAY_NS, origin_ns)
    }
}

impl Accumulate for Rates {
    #[inline]
    fn update(&mut self, io: &Io) {
        self.series.at(io.queued_ns).update(io);
    }

    fn update_all(&mut self, ios: &[Io]) {
        self.series.each_step(ios, LoadCell::update_all);
    }

    fn merge(&mut self, later: Self) {
        self.series.merge(later.series);
    }
}
