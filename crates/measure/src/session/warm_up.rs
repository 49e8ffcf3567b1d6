//! Decides when a warm-up is over: the rate is steady, writes no longer merely fill the room for
//! dirty pages, and the share of the set in the file cache no longer changes.

use super::state::Session;
use super::witness::{FILLING, Unsettled, has_changed};
use ioscape_machine::cache::resident_bytes;
use ioscape_machine::memory::memory;
use ioscape_schema::statistics::{mean, variance};
use ioscape_schema::tally::{STEADY_TOLERANCE, is_steady};
use ioscape_schema::{Access, Engine, Workload};
use std::time::Instant;

/// Relative standard error of a mean above which the mean says little.
const NOISY: f64 = 0.1;

/// Residency queries may take at most one part in this many of the time.
const ASKING: u32 = 20;

/// A residency query looks at no more than this many windows of a set, of this many bytes each.
/// Before Linux 6.5 the kernel looks up page by page, some 60 ms per GiB, and a warm-up needs two
/// answers.
const WINDOWS: u64 = 1024;
const WINDOW: u64 = 256 << 10;

/// The state of dirty pages after one slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Dirt {
    /// Bytes written by the workload since the warm-up began.
    written: u64,
    /// Dirty bytes of the memory group, or of the whole machine.
    dirty: u64,
}

/// How much of the set was in the file cache at a certain slice.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Resident {
    /// Number of the slice.
    slice: usize,
    /// Bytes moved by the workload since the warm-up began.
    moved: u64,
    /// Share of the set.
    frac: f64,
}

/// Queries the residency of a set, at a bounded cost.
struct Asker<'a> {
    session: &'a Session,
    /// The earliest time of the next query; absent where the kernel cannot tell.
    next: Option<Instant>,
}

/// Judges the slices of a warm-up.
pub(super) struct WarmUp<'a> {
    /// Rate of every slice, in bytes per second.
    rates: Vec<f64>,
    dirt: Vec<Dirt>,
    resident: Vec<Resident>,
    /// Size of the set in bytes.
    set: u64,
    asker: Option<Asker<'a>>,
    /// The source of the dirty bytes, and how many bytes must be written for the room for dirty
    /// pages to be certainly full; `None` if no write stays dirty.
    filling: Option<(&'a Session, u64)>,
}

impl<'a> WarmUp<'a> {
    /// The warm-up of `workload`.
    pub(super) fn new(workload: &Workload, session: &'a Session) -> Self {
        let cached = workload.access.reads_cached() && workload.engine != Engine::Null;
        let stays_dirty = cached && workload.access == Access::Buffered && workload.read_frac < 1.0;
        let enough_written = || {
            let threshold = memory().dirty_threshold_bytes;
            let limit = session.group.as_ref().map_or(u64::MAX, |g| g.limit_bytes());
            let room = threshold.min(limit) as f64 * 1.3;
            (workload.unique_bytes as f64 * 1.5).min(room) as u64
        };
        Self {
            set: workload.unique_bytes,
            asker: cached.then(|| Asker { session, next: Some(Instant::now()) }),
            filling: stays_dirty.then(|| (session, enough_written())),
            ..Self::of_rates(Vec::new())
        }
    }

    /// A warm-up of which only the rates are known.
    fn of_rates(rates: Vec<f64>) -> Self {
        let (dirt, resident) = (Vec::new(), Vec::new());
        Self { rates, dirt, resident, set: 0, asker: None, filling: None }
    }

    /// Adds a slice: its rate, and the bytes read and written since the beginning.
    pub(super) fn add(&mut self, rate: f64, [read, written]: [u64; 2]) {
        self.rates.push(rate);
        if let Some((session, _)) = self.filling {
            let dirty = session.sources.dirty_bytes().unwrap_or(0);
            self.dirt.push(Dirt { written, dirty });
        }
        if let Some(frac) = self.asker.as_mut().and_then(|asker| asker.ask(self.set)) {
            let (slice, moved) = (self.rates.len(), read + written);
            self.resident.push(Resident { slice, moved, frac });
        }
    }

    /// What is still changing.
    pub(super) fn unsettled(&self) -> Option<Unsettled> {
        if !is_steady(&self.rates, STEADY_TOLERANCE) {
            Some(Unsettled::Rate)
        } else if !self.is_filled() {
            let sources = self.filling.map(|(session, _)| &session.sources);
            let own = sources.is_some_and(|sources| sources.has_own_dirty_bytes());
            Some(Unsettled::Dirty { own })
        } else if is_changing(&self.resident, self.rates.len(), self.set) {
            Some(Unsettled::Residency)
        } else {
            None
        }
    }

    /// Whether the rate is so noisy that its mean over the last third is not known to within a
    /// tenth.
    pub(super) fn is_noisy(&self) -> bool {
        let tail = &self.rates[self.rates.len() - self.rates.len() / 3..];
        let error = (variance(tail) / tail.len().max(1) as f64).sqrt();
        tail.len() < 3 || error > NOISY * mean(tail)
    }

    /// Whether writes are throttled as they will be from now on.
    fn is_filled(&self) -> bool {
        let (Some((_, enough)), Some(last)) = (self.filling, self.dirt.last()) else {
            return true;
        };
        last.written >= enough || !is_filling(&self.dirt)
    }

    /// Whether the rate at the beginning was less than a third of that at the end.
    pub(super) fn began_slowly(&self) -> bool {
        let third = self.rates.len() / 3;
        let first = mean(&self.rates[..third.min(2)]);
        third > 0 && first * 3.0 < mean(&self.rates[self.rates.len() - third..])
    }
}

impl Asker<'_> {
    /// The share of a set of `bytes` in the file cache, by its windows, if it is time for a query
    /// and the kernel can tell.
    fn ask(&mut self, bytes: u64) -> Option<f64> {
        let begin = Instant::now();
        if self.next.is_none_or(|next| begin < next) {
            return None;
        }
        let frac = self.resident_frac(bytes);
        self.next = frac.map(|_| begin + begin.elapsed() * ASKING);
        frac
    }

    fn resident_frac(&self, bytes: u64) -> Option<f64> {
        let (mut resident, mut asked) = (0, 0);
        for (start, len) in windows(bytes) {
            resident += resident_bytes(&self.session.file, start, len)?;
            asked += len;
        }
        let resident = self.session.target.file_system().resident(Some(resident))?;
        Some(resident as f64 / asked.max(1) as f64)
    }
}

/// The windows of a set of `bytes`, spread evenly: where they start, and their length in bytes.
fn windows(bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let step = bytes.div_ceil(WINDOWS).next_multiple_of(WINDOW).max(WINDOW);
    (0..bytes).step_by(step as usize).map(move |start| (start, WINDOW.min(bytes - start)))
}

/// Whether dirty pages still grow with the bytes written, over the last third.
fn is_filling(dirt: &[Dirt]) -> bool {
    let tail = &dirt[dirt.len() - dirt.len() / 3..];
    let (Some(first), Some(last)) = (tail.first(), tail.last()) else { return true };
    let written = last.written.saturating_sub(first.written);
    let grown = last.dirty.saturating_sub(first.dirty);
    tail.len() < 3 || grown as f64 > FILLING * written as f64
}

/// Whether the share of a set of `set` bytes in the file cache is still changing, over the last
/// third of `slices`, or longer if it was queried less often. A single answer does not suffice;
/// without any, there is nothing to wait for.
fn is_changing(resident: &[Resident], slices: usize, set: u64) -> bool {
    let Some(last) = resident.last() else { return false };
    let earlier = resident.iter().rev().find(|r| r.slice + slices / 3 <= slices);
    let Some(first) = earlier.filter(|first| first.slice < last.slice) else { return true };
    has_changed([first.frac, last.frac], last.moved.saturating_sub(first.moved), set)
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

    /// Whether residency is changing for a set of 100 kB, queried at every `step`th of `slices`
    /// slices of 1 kB.
    fn resident(slices: usize, step: usize, bytes: impl Fn(usize) -> usize) -> bool {
        let one = |slice: usize| Resident {
            slice,
            moved: 1000 * slice as u64,
            frac: bytes(slice) as f64 / 100_000.0,
        };
        let asked: Vec<_> = (1..=slices).step_by(step).map(one).collect();
        is_changing(&asked, slices, 100_000)
    }

    #[test]
    fn a_cache_that_fills_is_told_from_one_that_is_full() {
        assert!(resident(12, 1, |slice| 1000 * slice), "every byte read is new");
        assert!(!resident(12, 1, |_| 40_000));
        assert!(resident(12, 1, |slice| 90_000 - 1000 * slice), "pages leave");
        assert!(!resident(12, 1, |slice| 40_000 + slice % 3 * 100), "others come and go");
        assert!(!resident(60, 1, |slice| (1000 * slice).min(30_000)), "full since half-time");
        assert!(resident(60, 25, |slice| (1000 * slice).min(60_000)), "asked three times");
        assert!(resident(12, 100, |_| 40_000), "asked once");
        assert!(!is_changing(&[], 12, 100_000), "never asked");
    }

    /// Guards against warm-ups of large sets that never settle: one query of 12 GiB took 700 ms, so
    /// that a second one was not due before the cap of the warm-up.
    #[test]
    fn a_query_of_a_large_set_looks_at_a_bounded_part_of_it() {
        let spread = |bytes| {
            let all: Vec<_> = windows(bytes).collect();
            let asked: u64 = all.iter().map(|(_, len)| len).sum();
            (asked, all.len() as u64, all.last().map_or(0, |(start, len)| start + len))
        };
        assert_eq!(spread(1), (1, 1, 1));
        assert_eq!(spread(100_000_000), (100_000_000, 382, 100_000_000), "the whole set");
        assert_eq!(spread(WINDOWS * WINDOW), (WINDOWS * WINDOW, WINDOWS, WINDOWS * WINDOW));
        let (asked, count, end) = spread(1 << 40);
        assert_eq!((asked, count), (WINDOWS * WINDOW, WINDOWS));
        assert!(end > (1 << 40) / WINDOWS * (WINDOWS - 1), "up to its end");
    }

    #[test]
    fn synchronous_writes_fill_the_cache_for_reads_but_leave_nothing_dirty() {
        let session = Session::of_build();
        for (access, asked) in [
            (Access::Buffered, [true, true]),
            (Access::Dsync, [true, false]),
            (Access::Direct, [false; 2]),
        ] {
            let workload = Workload { access, read_frac: 0.5, ..Workload::default() };
            let warm_up = WarmUp::new(&workload, &session);
            assert_eq!([warm_up.asker.is_some(), warm_up.filling.is_some()], asked, "{access}");
        }
    }

    #[test]
    fn a_slow_beginning_is_noticed() {
        let mut slow = vec![10.0; 12];
        slow[0] = 1.0;
        slow[1] = 2.0;
        assert!(WarmUp::of_rates(slow).began_slowly());
        assert!(!WarmUp::of_rates(vec![10.0; 12]).began_slowly());
        assert!(!WarmUp::of_rates(Vec::new()).began_slowly());
        assert_eq!(WarmUp::of_rates(vec![10.0; 12]).unsettled(), None);
    }

    #[test]
    fn noise_is_told_from_a_steady_rate() {
        assert!(!WarmUp::of_rates(vec![10.0; 12]).is_noisy());
        assert!(WarmUp::of_rates([1.0, 30.0].repeat(6)).is_noisy());
        assert!(WarmUp::of_rates(Vec::new()).is_noisy());
    }
}
