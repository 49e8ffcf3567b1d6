//! The step of the clock that a source's arrivals were recorded with, where requests share a step.

use ioscape_schema::Io;

/// The finest step that matters, in nanoseconds: the shortest time between arrivals that is asked
/// for, a millisecond, must be ten steps long.
const COARSE_NS: u64 = 100_001;
/// The fewest different arrivals that show a step: so many are multiples of a coarse one by chance
/// in no trace.
const LEAST: u64 = 5;
/// Of fewer requests in a step with another, little is unknown: one in this many.
const ONE_IN: u64 = 100;

/// The step so far.
#[derive(Default)]
pub(crate) struct ArrivalStep {
    first_ns: Option<u64>,
    latest_ns: u64,
    /// The greatest common divisor of all times since the first; 0 until two differ.
    step_ns: u64,
    rows: u64,
    /// Rows that arrive together with the one before.
    together: u64,
}

impl ArrivalStep {
    /// Takes in the next rows, in any order.
    pub fn update(&mut self, rows: &[Io]) {
        for io in rows {
            let first_ns = *self.first_ns.get_or_insert(io.queued_ns);
            self.together += u64::from(self.rows > 0 && io.queued_ns == self.latest_ns);
            self.latest_ns = io.queued_ns;
            self.rows += 1;
            if self.step_ns == 0 || self.step_ns >= COARSE_NS {
                self.step_ns = divisor(io.queued_ns.abs_diff(first_ns), self.step_ns);
            }
        }
    }

    /// Returns the step if it is coarse and many requests share one with another.
    pub fn coarse(&self) -> Option<u64> {
        let is_coarse = self.step_ns >= COARSE_NS && self.rows - self.together >= LEAST;
        (is_coarse && self.together.saturating_mul(ONE_IN) > self.rows).then_some(self.step_ns)
    }
}

/// Returns the greatest common divisor; 0 divides into any number.
pub(crate) fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The step of Poisson-like arrivals `gap_ns` apart on average, cut to a step.
    fn found(count: u64, gap_ns: u64, step_ns: u64) -> Option<u64> {
        let at = |n: u64| n * gap_ns + n * 7_919_993 % (gap_ns + 7);
        let cut = |ns: u64| 5 + ns / step_ns * step_ns;
        let rows = (0..count).map(|n| Io { queued_ns: cut(at(n)), ..Io::default() });
        let mut step = ArrivalStep::default();
        rows.collect::<Vec<_>>().chunks(7).for_each(|rows| step.update(rows));
        step.coarse()
    }

    #[test]
    fn a_step_is_coarse_where_requests_share_it() {
        const MS: u64 = 1_000_000;
        for step_ns in [MS / 5, MS, 1000 * MS] {
            assert_eq!(found(10_000, step_ns / 10 + 1, step_ns), Some(step_ns));
            assert_eq!(found(10_000, 100 * step_ns, step_ns), None, "each has a step of its own");
        }
        assert_eq!(found(10_000, MS, 1), None);
        assert_eq!(found(10_000, 50, 1000), None, "a microsecond hides nothing that is asked for");
        assert_eq!(found(20, MS / 10, MS), None, "too few to tell");
        let together = vec![Io { queued_ns: 7, ..Io::default() }; 1000];
        let mut all = ArrivalStep::default();
        all.update(&together);
        assert_eq!(all.coarse(), None, "no arrival is recorded");
    }
}
