//! Counts by equal time steps, in constant memory: when there are too many, they become wider.

use ioscape_schema::Io;
use serde::{Deserialize, Serialize};

/// Widths of a step in nanoseconds; each is a whole multiple of the one before, and the hour and
/// the day are among them.
pub const WIDTHS_NS: [u64; 11] = [
    1_000_000,
    10_000_000,
    100_000_000,
    SECOND_NS,
    10 * SECOND_NS,
    60 * SECOND_NS,
    600 * SECOND_NS,
    HOUR_NS,
    DAY_NS,
    10 * DAY_NS,
    100 * DAY_NS,
];

/// A second in nanoseconds.
pub const SECOND_NS: u64 = 1_000_000_000;
/// An hour in nanoseconds.
pub const HOUR_NS: u64 = 3600 * SECOND_NS;
/// A day in nanoseconds.
pub const DAY_NS: u64 = 24 * HOUR_NS;

/// What is counted in one step.
pub trait Cell: Default + Clone {
    /// Adds another step's counts.
    fn absorb(&mut self, other: &Self);
}

impl Cell for u64 {
    fn absorb(&mut self, other: &Self) {
        *self += other;
    }
}

/// Steps of the finest width that keeps their number within `most`, from the clock's origin on.
///
/// Times are on the clock, so that hours and days are the clock's too; results count from the
/// beginning of the trace, `origin_ns` on that clock. At the last width, anything later than `most`
/// hundreds of days falls into the last step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeSeries<C> {
    most: usize,
    width: usize,
    /// Number of the first step kept, in steps of the present width.
    first: u64,
    cells: Vec<C>,
    /// Bounds of the step used last.
    current: [u64; 2],
    at: usize,
}

impl<C: Cell> TimeSeries<C> {
    /// Creates an empty series of at most `most` steps.
    pub fn new(most: usize) -> Self {
        Self { most: most.max(26), width: 0, first: 0, cells: Vec::new(), current: [1, 0], at: 0 }
    }

    /// Returns the step that contains `time_ns`.
    #[inline]
    pub fn at(&mut self, time_ns: u64) -> &mut C {
        if time_ns < self.current[0] || time_ns >= self.current[1] {
            self.find(time_ns);
        }
        &mut self.cells[self.at]
    }

    /// Passes the rows to `take`: each stretch of rows in the same step together with that step.
    #[inline]
    pub fn each_step(&mut self, ios: &[Io], mut take: impl FnMut(&mut C, &[Io])) {
        let mut rest = ios;
        while let Some(first) = rest.first() {
            self.at(first.queued_ns);
            let step = self.current[0]..self.current[1];
            let others = rest[1..].iter().position(|io| !step.contains(&io.queued_ns));
            let (these, later) = rest.split_at(others.map_or(rest.len(), |at| at + 1));
            take(&mut self.cells[self.at], these);
            rest = later;
        }
    }

    /// Returns the step that contains all rows, if there is one.
    #[inline]
    pub fn one_step(&mut self, ios: &[Io]) -> Option<&mut C> {
        self.at(ios.first()?.queued_ns);
        let step = self.current[0]..self.current[1];
        let is_one = ios.iter().all(|io| step.contains(&io.queued_ns));
        is_one.then(|| &mut self.cells[self.at])
    }

    fn find(&mut self, time: u64) {
        let mut step = time / WIDTHS_NS[self.width];
        if self.cells.is_empty() {
            self.first = step;
        }
        while self.span_with(step) > self.most as u64 && self.width + 1 < WIDTHS_NS.len() {
            self.widen();
            step = time / WIDTHS_NS[self.width];
        }
        if step < self.first {
            let more = ((self.first - step) as usize).min(self.most);
            let new = std::iter::repeat_n(C::default(), more);
            self.cells.splice(0..0, new);
            self.first -= more as u64;
        }
        self.at = (step.saturating_sub(self.first) as usize).min(self.most - 1);
        if self.at >= self.cells.len() {
            self.cells.resize(self.at + 1, C::default());
        }
        let width = WIDTHS_NS[self.width];
        self.current = [step * width, (step + 1).saturating_mul(width)];
    }

    /// Number of steps if `step` is included.
    fn span_with(&self, step: u64) -> u64 {
        let last = self.first + (self.cells.len() as u64).saturating_sub(1);
        step.max(last) - step.min(self.first) + 1
    }

    /// Switches to the next width.
    fn widen(&mut self) {
        self.cells = self.widened(&self.cells, self.first, self.width);
        self.first /= WIDTHS_NS[self.width + 1] / WIDTHS_NS[self.width];
        self.width += 1;
        self.current = [1, 0];
    }

    fn widened(&self, cells: &[C], first: u64, width: usize) -> Vec<C> {
        let ratio = WIDTHS_NS[width + 1] / WIDTHS_NS[width];
        let mut wide: Vec<C> = Vec::new();
        for (index, cell) in cells.iter().enumerate() {
            let place = ((first + index as u64) / ratio - first / ratio) as usize;
            if place >= wide.len() {
                wide.resize(place + 1, C::default());
            }
            wide[place].absorb(cell);
        }
        wide
    }

    /// Adds the steps of another series with the same limit.
    pub fn merge(&mut self, mut other: Self) {
        if other.cells.is_empty() {
            return;
        }
        if self.cells.is_empty() {
            *self = other;
            return;
        }
        while self.width < other.width {
            self.widen();
        }
        while other.width < self.width {
            other.widen();
        }
        let width = |series: &Self| WIDTHS_NS[series.width];
        // Both ends first: the width then suffices for all.
        for step in [other.first, other.first + other.cells.len() as u64 - 1] {
            self.find(step.saturating_mul(width(&other)));
        }
        while other.width < self.width {
            other.widen();
        }
        let first = other.first;
        for (index, cell) in other.cells.iter().enumerate() {
            self.find((first + index as u64).saturating_mul(WIDTHS_NS[self.width]));
            self.cells[self.at].absorb(cell);
        }
    }

    /// Heap memory, in bytes; `more` returns a step's own heap memory.
    pub fn bytes(&self, more: impl Fn(&C) -> usize) -> usize {
        self.cells.capacity() * size_of::<C>() + self.cells.iter().map(more).sum::<usize>()
    }

    /// The steps, mutable.
    pub fn cells_mut(&mut self) -> &mut [C] {
        &mut self.cells
    }

    /// Width of a step, beginning of the first one relative to `origin_ns`, and the steps.
    pub fn steps(&self, origin_ns: u64) -> (u64, i64, &[C]) {
        let width = WIDTHS_NS[self.width];
        (width, start(self.first, width, origin_ns), &self.cells)
    }

    /// The same in steps of `width_ns`, one of [`WIDTHS_NS`]; `None` if the present ones are wider.
    pub fn in_steps_of(&self, width_ns: u64, origin_ns: u64) -> Option<(i64, Vec<C>)> {
        let aim = WIDTHS_NS.iter().position(|&w| w == width_ns)?;
        if self.width > aim {
            return None;
        }
        let (mut cells, mut first) = (self.cells.clone(), self.first);
        for width in self.width..aim {
            cells = self.widened(&cells, first, width);
            first /= WIDTHS_NS[width + 1] / WIDTHS_NS[width];
        }
        Some((start(first, width_ns, origin_ns), cells))
    }
}

fn start(first: u64, width: u64, origin_ns: u64) -> i64 {
    let start = i128::from(first) * i128::from(width) - i128::from(origin_ns);
    i64::try_from(start).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(times: &[u64], origin: u64) -> TimeSeries<u64> {
        let mut series = TimeSeries::new(30);
        times.iter().for_each(|&t| *series.at(t.saturating_add(origin)) += 1);
        series
    }

    #[test]
    fn steps_widen_and_hours_are_those_of_the_clock() {
        let origin = 3300 * SECOND_NS;
        let series = of(&[0, 5 * 60 * SECOND_NS, 2 * HOUR_NS], origin);
        let (start, hours) = series.in_steps_of(HOUR_NS, origin).unwrap();
        assert_eq!((start, hours), (-3300 * SECOND_NS as i64, vec![1, 1, 1]));
        assert_eq!(series.steps(0).0, 600 * SECOND_NS);
        assert!(series.in_steps_of(60 * SECOND_NS, 0).is_none());
    }

    #[test]
    fn days_beyond_the_steps_that_are_kept_are_counted_ten_and_a_hundred_at_once() {
        for (days, width_days) in [(30, 1), (300, 10), (3000, 100)] {
            let times: Vec<u64> = (0..days).map(|day| day * DAY_NS).collect();
            let series = of(&times, 0);
            assert_eq!(series.steps(0), (width_days * DAY_NS, 0, &[width_days; 30][..]));
            assert_eq!(series.in_steps_of(DAY_NS, 0).is_some(), width_days == 1);
        }
    }

    #[test]
    fn the_end_of_time_is_held() {
        let series = of(&[u64::MAX, 0, 1], 5);
        assert_eq!(series.steps(0).2.iter().sum::<u64>(), 3);
        assert!(series.steps(0).2.len() <= 60);
    }

    proptest! {
        #[test]
        fn rows_of_a_step_come_together(times in prop::collection::vec(0u64..20 * DAY_NS, 0..40), shift in 0u32..40) {
            let times: Vec<u64> = times.into_iter().map(|t| t >> shift).collect();
            let rows: Vec<Io> = times.iter().map(|&queued_ns| Io { queued_ns, ..Io::default() }).collect();
            let (mut together, mut given) = (TimeSeries::new(30), 0);
            together.each_step(&rows, |cell, rows| {
                given += rows.len();
                *cell += rows.len() as u64;
            });
            prop_assert_eq!(given, rows.len());
            let single = of(&times, 0);
            prop_assert_eq!(together.steps(0), single.steps(0));
        }

        #[test]
        fn parts_merge_to_the_whole(
            times in prop::collection::vec(0u64..20 * DAY_NS, 0..40),
            shift in 0u32..40,
            cut in 0usize..40,
            origin in 0..DAY_NS,
        ) {
            let times: Vec<u64> = times.into_iter().map(|t| t >> shift).collect();
            let (early, late) = times.split_at(cut.min(times.len()));
            let mut merged = of(early, origin);
            merged.merge(of(late, origin));
            let whole = of(&times, origin);
            prop_assert_eq!(merged.steps(origin), whole.steps(origin));
        }
    }
}
