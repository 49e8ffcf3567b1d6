//! When a warm-up is over: the rate is steady, and writes no longer merely fill the room for dirty pages.

use super::state::Session;
use ioscape_machine::memory::memory;
use ioscape_schema::tally::{STEADY_TOLERANCE, is_steady, mean, variance};
use ioscape_schema::{Access, Engine, Workload};

/// Standard error of a mean, relative to it, above which it says little.
const NOISY: f64 = 0.1;

/// Dirty pages that grow by less than this share of what is written do not fill up any more.
const FILLING: f64 = 0.1;

/// The state of dirty pages after one slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Dirt {
    /// Bytes written by the workload since the warm-up began.
    written: u64,
    /// Dirty bytes of the whole machine.
    dirty: u64,
}

/// Judges the slices of a warm-up.
#[derive(Debug)]
pub(super) struct WarmUp {
    /// Rate of every slice, in bytes per second.
    pub(super) rates: Vec<f64>,
    dirt: Vec<Dirt>,
    /// Bytes after whose writing the room for dirty pages is certainly full; `None` where writes are not cached.
    enough_written: Option<u64>,
}

impl WarmUp {
    /// The warm-up of `workload`.
    pub(super) fn new(workload: &Workload, session: &Session) -> Self {
        let cached = workload.read_frac < 1.0
            && workload.access == Access::Buffered
            && workload.engine != Engine::Null;
        let enough_written = cached.then(|| {
            let threshold = memory().dirty_threshold_bytes;
            let limit = session.group.as_ref().map_or(u64::MAX, |g| g.limit_bytes());
            let room = threshold.min(limit) as f64 * 1.3;
            (workload.unique_bytes as f64 * 1.5).min(room) as u64
        });
        Self { rates: Vec::new(), dirt: Vec::new(), enough_written }
    }

    /// One more slice: its rate, and the bytes written since the beginning.
    pub(super) fn add(&mut self, rate: f64, written: u64) {
        self.rates.push(rate);
        if self.enough_written.is_some() {
            self.dirt.push(Dirt { written, dirty: memory().dirty });
        }
    }

    /// Whether the rate has settled.
    pub(super) fn is_steady(&self) -> bool {
        is_steady(&self.rates, STEADY_TOLERANCE) && self.is_filled()
    }

    /// Whether the rate varies so much that its mean over the last third is not known to a tenth.
    pub(super) fn is_noisy(&self) -> bool {
        let tail = &self.rates[self.rates.len() - self.rates.len() / 3..];
        let error = (variance(tail) / tail.len().max(1) as f64).sqrt();
        tail.len() < 3 || error > NOISY * mean(tail)
    }

    /// Whether writes meet the resistance they will go on meeting.
    fn is_filled(&self) -> bool {
        let (Some(enough), Some(last)) = (self.enough_written, self.dirt.last()) else {
            return true;
        };
        last.written >= enough || !is_filling(&self.dirt)
    }

    /// Whether the beginning was more than three times slower than the end.
    pub(super) fn began_slowly(&self) -> bool {
        let third = self.rates.len() / 3;
        let first = mean(&self.rates[..third.min(2)]);
        third > 0 && first * 3.0 < mean(&self.rates[self.rates.len() - third..])
    }
}

/// Whether dirty pages still grow with what is written, over the last third.
fn is_filling(dirt: &[Dirt]) -> bool {
    let tail = &dirt[dirt.len() - dirt.len() / 3..];
    let (Some(first), Some(last)) = (tail.first(), tail.last()) else { return true };
    let written = last.written.saturating_sub(first.written);
    let grown = last.dirty.saturating_sub(first.dirty);
    tail.len() < 3 || grown as f64 > FILLING * written as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dirt(n: u64, dirty: impl Fn(u64) -> u64) -> Vec<Dirt> {
        (0..n).map(|i| Dirt { written: i * 1000, dirty: dirty(i) }).collect()
    }

    #[test]
    fn growing_dirt_is_told_from_full() {
        assert!(is_filling(&dirt(12, |i| i * 900)));
        assert!(!is_filling(&dirt(12, |i| (i * 900).min(5000))));
        assert!(!is_filling(&dirt(12, |_| 0)));
        assert!(is_filling(&dirt(3, |_| 0)));
    }

    #[test]
    fn a_slow_beginning_is_noticed() {
        let warm = |rates: Vec<f64>| WarmUp { rates, dirt: Vec::new(), enough_written: None };
        let mut slow = vec![10.0; 12];
        slow[0] = 1.0;
        slow[1] = 2.0;
        assert!(warm(slow).began_slowly());
        assert!(!warm(vec![10.0; 12]).began_slowly());
        assert!(!warm(Vec::new()).began_slowly());
        assert!(warm(vec![10.0; 12]).is_steady());
    }

    #[test]
    fn noise_is_told_from_a_steady_rate() {
        let warm = |rates: Vec<f64>| WarmUp { rates, dirt: Vec::new(), enough_written: None };
        assert!(!warm(vec![10.0; 12]).is_noisy());
        assert!(warm([1.0, 30.0].repeat(6)).is_noisy());
        assert!(warm(Vec::new()).is_noisy());
    }
}
