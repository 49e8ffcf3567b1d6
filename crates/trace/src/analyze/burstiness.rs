//! How far from Poisson are the arrivals, and at which time scales?

use super::accumulate::Accumulate;
use ioscape_schema::Io;
use serde::{Deserialize, Serialize};

/// Window widths in nanoseconds, one decade apart.
const WINDOWS_NS: [u64; 7] = [
    1_000_000,
    10_000_000,
    100_000_000,
    1_000_000_000,
    10_000_000_000,
    100_000_000_000,
    1_000_000_000_000,
];
/// Fewer whole windows than this say nothing about the variance.
const LEAST_WINDOWS: u64 = 10;

/// Counts of arrivals in the windows of one width.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Windows {
    /// The first window and its arrivals, once a second one has begun.
    first: Option<(u64, u64)>,
    /// The current window and its arrivals; a count of 0 means that nothing has arrived yet.
    last: (u64, u64),
    /// End of the current window.
    until_ns: u64,
    /// Sum of squared counts of the windows in between.
    squares: u128,
}

impl Windows {
    fn arrive(&mut self, time_ns: u64, width: u64) {
        if time_ns >= self.until_ns {
            self.enter(time_ns / width);
            self.until_ns = (time_ns / width + 1).saturating_mul(width);
        }
        self.last.1 += 1;
    }

    /// Closes the current window and begins another.
    fn enter(&mut self, window: u64) {
        if self.last.1 > 0 {
            self.close();
        }
        self.last = (window, 0);
    }

    fn close(&mut self) {
        if self.first.is_none() {
            self.first = Some(self.last);
        } else {
            self.squares += u128::from(self.last.1) * u128::from(self.last.1);
        }
    }

    fn merge(&mut self, later: Self) {
        if later.last.1 == 0 {
            return;
        }
        let (begin, rest) = match later.first {
            Some(first) => (first, Some(later.last)),
            None => (later.last, None),
        };
        if self.last.1 > 0 && self.last.0 == begin.0 {
            self.last.1 += begin.1;
        } else {
            self.enter(begin.0);
            self.last.1 = begin.1;
        }
        if let Some(last) = rest {
            self.close();
            self.last = last;
        }
        self.squares += later.squares;
        self.until_ns = later.until_ns;
    }

    /// Number of windows between the first and the last, and arrivals in those two, which the ends
    /// of the trace cut off.
    fn whole(&self, arrivals: u64) -> Option<(u64, u64)> {
        let (first, cut) = self.first?;
        let number = self.last.0.saturating_sub(first).saturating_sub(1);
        Some((number, arrivals.saturating_sub(cut + self.last.1)))
    }
}

/// Variance of the number of arrivals in windows of 1 ms to 1000 s, including empty windows;
/// windows cut off by the ends of the trace are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Arrivals {
    windows: [Windows; WINDOWS_NS.len()],
    arrivals: u64,
    /// Arrivals not yet added to current windows: a finer window ends no later than a wider one.
    pending: u64,
}

impl Arrivals {
    fn settle(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        self.windows.iter_mut().for_each(|windows| windows.last.1 += pending);
    }
}

impl Accumulate for Arrivals {
    #[inline]
    fn update(&mut self, io: &Io) {
        self.arrivals += 1;
        if io.queued_ns < self.windows[0].until_ns {
            self.pending += 1;
            return;
        }
        self.settle();
        for (windows, width) in self.windows.iter_mut().zip(WINDOWS_NS) {
            windows.arrive(io.queued_ns, width);
        }
    }

    fn merge(&mut self, mut later: Self) {
        self.settle();
        later.settle();
        self.arrivals += later.arrivals;
        for (mine, theirs) in self.windows.iter_mut().zip(later.windows) {
            mine.merge(theirs);
        }
    }
}

impl Arrivals {
    /// Window width, and variance over mean, for each width with at least ten whole windows.
    pub fn dispersion(&self) -> Vec<(u64, f64)> {
        let mut all = self.clone();
        all.settle();
        let each = all.windows.iter().zip(WINDOWS_NS).filter_map(|(windows, width)| {
            let (number, arrivals) = windows.whole(self.arrivals)?;
            if number < LEAST_WINDOWS || arrivals == 0 {
                return None;
            }
            let number = number as f64;
            let mean = arrivals as f64 / number;
            let variance = (windows.squares as f64 / number - mean * mean).max(0.0);
            Some((width, variance / mean))
        });
        each.collect()
    }

    /// Hurst exponent: the index of dispersion grows as the window width to the power 2 H - 1
    /// (variance-time plot, least squares on logarithms). `None` with fewer than three widths.
    pub fn hurst(&self) -> Option<f64> {
        hurst(&self.dispersion())
    }
}

/// Estimates the Hurst exponent from windows and their indices of dispersion.
pub(super) fn hurst(dispersion: &[(u64, f64)]) -> Option<f64> {
    let found = dispersion.iter().filter(|point| point.1 > 0.0);
    let points: Vec<(f64, f64)> = found.map(|&(w, d)| ((w as f64).ln(), d.ln())).collect();
    if points.len() < 3 {
        return None;
    }
    let count = points.len() as f64;
    let mean = |pick: fn(&(f64, f64)) -> f64| points.iter().map(pick).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let slope = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>()
        / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>();
    Some(f64::midpoint(slope, 1.0).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::chance::mix;

    fn at(times: impl Iterator<Item = u64>) -> Arrivals {
        let mut seen = Arrivals::default();
        times.for_each(|queued_ns| seen.update(&Io { queued_ns, ..Io::default() }));
        seen
    }

    #[test]
    fn a_clock_has_no_dispersion_and_batches_have_their_size() {
        let clock = at((0..1200).map(|i| i * 1_000_000)).dispersion();
        assert!(clock.iter().all(|&(_, d)| d == 0.0) && clock.len() == 3, "{clock:?}");
        // Batches of 5 in every other window of 1 ms: mean 2.5, variance 6.25.
        let batches = at((0..1000).flat_map(|i| [i * 2_000_000; 5])).dispersion();
        assert!((batches[0].1 - 2.5).abs() < 0.01, "{batches:?}");
    }

    #[test]
    fn windows_that_the_ends_of_the_trace_cut_do_not_count() {
        for begin_ns in [0u64, 5_000_000_000] {
            let clock = at((0..125_000).map(|i| begin_ns + i * 1_000_000)).dispersion();
            assert_eq!(clock.last().map(|point| point.0), Some(10_000_000_000));
            assert!(clock.iter().all(|point| point.1 < 1.0), "{clock:?}");
            // A thousand random arrivals a second, for 91 s.
            let mut now_ns = begin_ns as f64;
            let poisson = at((0..91_000).map(|i| {
                let share = (mix(i) >> 11) as f64 / (1u64 << 53) as f64;
                now_ns -= (1.0 - share).ln() * 1e6;
                now_ns as u64
            }));
            let found = poisson.dispersion();
            assert!(found.len() >= 4 && found.iter().all(|point| point.1 < 1.5), "{found:?}");
            let hurst = poisson.hurst().expect("four widths");
            assert!((hurst - 0.5).abs() < 0.1, "{hurst}: {found:?}");
        }
    }
}
