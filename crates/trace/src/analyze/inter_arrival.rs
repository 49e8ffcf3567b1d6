//! How soon after one request does the next arrive, on any disk? (Figure 6)

use super::accumulate::Accumulate;
use super::log_histogram::LogHistogram;
use ioscape_schema::{Distribution, Io};
use serde::{Deserialize, Serialize};

/// Times between arrivals over the whole system.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InterArrival {
    bounds: Option<[u64; 2]>,
    gaps: LogHistogram,
    /// Sum of squared gaps in square nanoseconds: an integer, so that parts add up exactly.
    squares_ns2: u128,
}

impl InterArrival {
    fn gap(&mut self, from: u64, to: u64) {
        let gap = to.saturating_sub(from);
        self.gaps.add(gap);
        self.squares_ns2 = self.squares_ns2.saturating_add(u128::from(gap) * u128::from(gap));
    }

    /// The longest time between two arrivals.
    pub fn longest_ns(&self) -> u64 {
        self.gaps.most()
    }

    /// The distribution, in nanoseconds.
    pub fn finish(&self) -> Distribution {
        self.gaps.distribution()
    }

    /// Squared coefficient of variation; 1 for Poisson arrivals. `None` with fewer than two gaps,
    /// or if all are 0.
    pub fn squared_cv(&self) -> Option<f64> {
        let mean = self.gaps.mean();
        let square = self.squares_ns2 as f64 / self.gaps.count() as f64;
        (self.gaps.count() > 1 && mean > 0.0).then(|| (square / (mean * mean) - 1.0).max(0.0))
    }
}

impl Accumulate for InterArrival {
    #[inline]
    fn update(&mut self, io: &Io) {
        match self.bounds {
            Some([first, last]) => {
                self.gap(last, io.queued_ns);
                self.bounds = Some([first, io.queued_ns]);
            }
            None => self.bounds = Some([io.queued_ns; 2]),
        }
    }

    fn update_all(&mut self, ios: &[Io]) {
        let Some((begin, rest)) = ios.split_first() else { return };
        self.update(begin);
        let (mut last, mut squares) = (begin.queued_ns, 0u128);
        self.gaps.add_all(rest.iter().map(|io| {
            let gap = io.queued_ns.saturating_sub(std::mem::replace(&mut last, io.queued_ns));
            squares = squares.saturating_add(u128::from(gap) * u128::from(gap));
            gap
        }));
        self.squares_ns2 = self.squares_ns2.saturating_add(squares);
        self.bounds = self.bounds.map(|[first, _]| [first, last]);
    }

    fn merge(&mut self, later: Self) {
        let Some([from, to]) = later.bounds else { return };
        match self.bounds {
            Some([first, last]) => {
                self.gap(last, from);
                self.bounds = Some([first, to]);
            }
            None => self.bounds = later.bounds,
        }
        self.gaps.merge(&later.gaps);
        self.squares_ns2 = self.squares_ns2.saturating_add(later.squares_ns2);
    }
}
