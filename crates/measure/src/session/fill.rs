//! Reads as much of the set as fits into the file cache, after the workers have opened it. Some
//! file systems drop a file's pages at every open, so the set is read through a file that is
//! already open.

use super::options::RunOptions;
use super::prepare::{BEHIND_CAP_S, PASS};
use super::state::Session;
use crate::worker::task::Task;
use ioscape_machine::error::Error;
use ioscape_schema::{Access, Engine, Warning, WarningKind, Workload};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Share of the set that must be in the file cache for the set to count as cached.
const CACHED: f64 = 0.98;

/// If less than this share of a set that was just read is in the file cache, the file system does
/// not cache it. It would otherwise be read before every run.
const NOTHING: f64 = 0.01;

/// A set still fits if it exceeds the available room by up to this factor, since that room is only
/// an estimate.
const FITS: f64 = 1.1;

/// A set that does not fit is read if its pages take up less than this share of the room. Pages
/// count as dropped if less than this share of those left by the previous run is still there.
const COLD: f64 = 0.5;

/// A partly cached set is dropped and read anew if that takes no longer than this, in seconds, at
/// the known rate.
///
/// Sequential requests leave large folios, which serve cached reads of 32 KiB twice as fast as the
/// single pages that are read here (ext4, Linux 6.18: 9 and 4.5 GB/s). A mixture of both is
/// measured differently each time.
const ANEW_S: f64 = 0.3;

/// A set is also read anew if no more than this share of it is cached: most of it has to be read
/// anyway.
const ANEW_FRAC: f64 = 0.5;

/// The seconds that reading a set may take at least: as long as random requests usually take to
/// warm up.
const RANDOM_S: f64 = 10.0;

/// Below this many bytes, no rate is derived.
const RATE_LEAST: f64 = 16.0 * 1_048_576.0;

/// What was read into the file cache before a run.
#[derive(Debug, Default)]
pub(super) struct Filled {
    /// Whether the whole set was in the file cache when the warm-up began.
    pub(super) cached: bool,
    /// Whether the whole set was cached or has just been read, so that it should be cached if there
    /// is room.
    pub(super) brought_in: bool,
    /// Seconds that reading took; absent if nothing was read.
    pub(super) elapsed_s: Option<f64>,
    /// Rate at which the missing part was read, in bytes per second; absent if that was not
    /// measured.
    pub(super) rate: Option<f64>,
    /// Whether pages are gone that the previous run left, or that were just read.
    pub(super) dropped: bool,
    /// Bytes read from the beginning of the target.
    pub(super) touched: u64,
    /// Doubts about the run that this raises.
    pub(super) warnings: Vec<Warning>,
}

/// What is known of a set of `bytes` bytes.
#[derive(Debug)]
struct Asked {
    bytes: u64,
    /// Room for the set in the file cache, in bytes.
    room: u64,
    /// Share of the set that is in the file cache; absent where it is unknown.
    known: Option<f64>,
    /// Whether pages are dropped between runs.
    drops: bool,
}

impl Asked {
    fn fits(&self) -> bool {
        self.bytes as f64 <= FITS * self.room as f64
    }
}

/// The range to read, and the most seconds that it may take.
#[derive(Debug, PartialEq)]
struct Reading {
    range: Range<u64>,
    cap_s: f64,
}

fn goes_through_cache(workload: &Workload) -> bool {
    workload.access.reads_cached() && !matches!(workload.engine, Engine::Null | Engine::Dontcache)
}

impl Session {
    /// Reads as much of the set of `workload` as fits, if the workload goes through the file cache
    /// and the set is not there yet.
    pub(super) fn fill(&self, workload: &Workload, options: &RunOptions) -> Result<Filled, Error> {
        if !goes_through_cache(workload) || !workload.phases.is_empty() {
            return Ok(Filled::default());
        }
        let bytes = workload.unique_bytes;
        let known = self.resident_frac(bytes);
        let mut filled = Filled { cached: known.is_some_and(|f| f >= CACHED), ..Filled::default() };
        filled.brought_in = filled.cached;
        filled.dropped = self.is_dropped(bytes, known);
        let drops = self.drops || filled.dropped;
        let asked = Asked { bytes, room: self.cache_room(), known, drops };
        let Some(Reading { range, cap_s }) = self.reading(&asked, options) else {
            return Ok(filled);
        };
        let known = match self.is_read_anew(&asked, cap_s) {
            true => self.do_task(&Task::Evict, options, None).1.map(|()| Some(0.0))?,
            false => known,
        };
        let (cap, begun) = (Duration::from_secs_f64(cap_s.clamp(0.0, 1e6)), Instant::now());
        let task = Task::Touch(range.clone(), Access::Buffered);
        let (done, outcome) = self.do_task(&task, options, Some(cap));
        outcome?;
        let elapsed_s = begun.elapsed().as_secs_f64();
        filled.elapsed_s = Some(elapsed_s);
        if done < bytes && asked.fits() {
            let message = format!(
                "reading the set into the file cache was stopped after {:.0} s: parts of it may be measured uncached",
                cap.as_secs_f64()
            );
            filled.warnings.push(Warning::new(WarningKind::BudgetSpent, message));
        }
        let now = self.resident_frac(bytes);
        // The part that was already cached takes practically no time.
        let missing = known.map(|known| (1.0 - known) * done as f64);
        let enough = missing.filter(|missing| *missing >= RATE_LEAST);
        filled.rate = enough.map(|missing| missing / elapsed_s.max(1e-9));
        filled.brought_in = range.start == 0 && done >= bytes;
        filled.touched = if range.start == 0 { done } else { 0 };
        filled.cached = now.is_some_and(|f| f >= CACHED);
        filled.dropped |= filled.brought_in && now.is_some_and(|f| f < NOTHING);
        Ok(filled)
    }

    /// Records what the reading before a run of `workload` has shown.
    pub(super) fn note_fill(&mut self, workload: &Workload, filled: &Filled) {
        self.touched = self.touched.max(filled.touched);
        self.slowest_fill = filled.rate.map_or(self.slowest_fill, |r| r.min(self.slowest_fill));
        self.drops |= filled.dropped;
        if goes_through_cache(workload) {
            self.last_set = workload.unique_bytes;
            self.not_read_in = false;
        }
    }

    /// Records how much of its set a run of `workload` left in the file cache.
    pub(super) fn note_left(&mut self, workload: &Workload, resident_frac: Option<f64>) {
        let left = resident_frac.unwrap_or(0.0) * workload.unique_bytes as f64;
        self.left = (workload.unique_bytes, left as u64);
    }

    /// Whether pages left by the previous run are gone although nothing here dropped them; `known`
    /// is the cached share of the first `bytes`.
    fn is_dropped(&self, bytes: u64, known: Option<f64>) -> bool {
        let (set, left) = self.left;
        let share = if set == bytes { known } else { self.resident_frac(set) };
        let there = share.map(|share| share * set as f64);
        left > 0 && there.is_some_and(|there| there < COLD * left as f64)
    }

    /// Whether to drop the cached part of a set before reading it, where reading may take at most
    /// `cap_s` seconds.
    fn is_read_anew(&self, asked: &Asked, cap_s: f64) -> bool {
        let takes_s = asked.bytes as f64 / self.slowest_fill;
        let is_known = self.slowest_fill.is_finite() && asked.fits();
        let is_worth = |share: f64| {
            share > 0.0 && (takes_s <= ANEW_S || (share <= ANEW_FRAC && takes_s <= cap_s))
        };
        is_known && asked.known.is_some_and(is_worth)
    }

    /// What to read of a set; `None` if enough is cached, or if reading would take much longer than
    /// the run.
    fn reading(&self, asked: &Asked, options: &RunOptions) -> Option<Reading> {
        let Asked { bytes, room, known, drops } = *asked;
        // Random requests would take longer to fill the cache, and their warm-up lasts until the
        // residency is steady.
        let usual_s = (PASS * options.cap_s).clamp(RANDOM_S, BEHIND_CAP_S);
        let cap_s = usual_s.max(options.fill_cap_s);
        let is_quick = |bytes: u64| bytes as f64 <= cap_s * self.slowest_fill;
        if asked.fits() {
            let is_needed = known.map_or(self.touched < bytes, |f| f < CACHED);
            // A set that stays cached is read once; one that is dropped, before every run.
            let cap_s = if drops { cap_s } else { options.touch_cap_s };
            let is_worth = !drops || is_quick(bytes);
            return (is_needed && is_worth).then_some(Reading { range: 0..bytes, cap_s });
        }
        // A server, another program or the file system itself may have a cache of its own, larger
        // than ours: a new set is read once.
        let system = self.target.file_system();
        let may_be_behind = system.is_network_or_fuse || system.own_cache().is_some();
        if may_be_behind && self.last_set != bytes {
            let cap_s = options.touch_cap_s.min(BEHIND_CAP_S);
            return Some(Reading { range: 0..bytes, cap_s });
        }
        let is_cold = known.is_some_and(|f| f * (bytes as f64) < COLD * room as f64);
        // A sequential run through the set would leave its end cached, and the first stream begins
        // at its beginning.
        (is_cold && is_quick(room)).then_some(Reading { range: bytes - room..bytes, cap_s })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_set_that_fits_is_read_unless_it_is_there() {
        let (mut session, options) = (Session::of_build(), RunOptions::default());
        let asked = |known, drops| Asked { bytes: 8 * MIB, room: 100 * MIB, known, drops };
        let read = |session: &Session, known| {
            session.reading(&asked(known, false), &options).map(|r| r.range)
        };
        assert_eq!(read(&session, Some(0.0)), Some(0..8 * MIB));
        assert_eq!(read(&session, Some(0.99)), None);
        assert_eq!(read(&session, None), Some(0..8 * MIB), "not known, and not read before");
        session.slowest_fill = MIB as f64 / 2.0;
        assert_eq!(read(&session, Some(0.0)), Some(0..8 * MIB), "16 s, but once only");
        let read = session.reading(&asked(Some(0.0), true), &options);
        assert_eq!(read, None, "16 s before every run");
    }

    #[test]
    fn a_part_of_a_set_is_dropped_where_it_is_soon_read_again() {
        let mut session = Session::of_build();
        let asked = |known| Asked { bytes: 8 * MIB, room: 100 * MIB, known, drops: false };
        assert!(
            !session.is_read_anew(&asked(Some(0.5)), 60.0),
            "how long it would take is not known"
        );
        session.slowest_fill = 100.0 * MIB as f64;
        let anew =
            [None, Some(0.0), Some(0.5)].map(|known| session.is_read_anew(&asked(known), 60.0));
        assert_eq!(anew, [false, false, true]);
        assert!(
            !session.is_read_anew(&Asked { room: MIB, ..asked(Some(0.5)) }, 60.0),
            "it does not fit"
        );
        session.slowest_fill = MIB as f64;
        assert!(!session.is_read_anew(&asked(Some(0.6)), 60.0), "it would take 8 s");
        assert!(session.is_read_anew(&asked(Some(0.4)), 60.0), "most of it is read anyway");
        assert!(!session.is_read_anew(&asked(Some(0.4)), 5.0), "it would not be read whole");
    }

    #[test]
    fn of_a_set_that_does_not_fit_as_much_is_read_as_there_is_room_for() {
        let (mut session, options) = (Session::of_build(), RunOptions::default());
        let system = session.target.file_system();
        if system.is_network_or_fuse || system.caches_elsewhere() {
            return ioscape_machine::testing::skipped(
                "the build's disk may have a cache behind it",
            );
        }
        let read = |session: &Session, known| {
            let asked = Asked { bytes: 400 * MIB, room: 100 * MIB, known, drops: false };
            session.reading(&asked, &options).map(|r| r.range)
        };
        assert_eq!(read(&session, Some(0.01)), Some(300 * MIB..400 * MIB), "the end of the set");
        assert_eq!(read(&session, Some(0.25)), None, "the cache is full");
        assert_eq!(read(&session, None), None, "nothing is known of the cache");
        session.slowest_fill = MIB as f64;
        assert_eq!(read(&session, Some(0.01)), None, "it would take 100 s");
        let asked = Asked { bytes: 400 * MIB, room: 100 * MIB, known: Some(0.01), drops: true };
        let patient = RunOptions { fill_cap_s: 120.0, ..RunOptions::default() };
        let reading = session.reading(&asked, &patient).expect("that long is allowed");
        assert_eq!((reading.range, reading.cap_s), (300 * MIB..400 * MIB, 120.0));
        session.slowest_fill = 50.0 * MIB as f64;
        assert_eq!(read(&session, Some(0.01)), Some(300 * MIB..400 * MIB));
    }

    #[test]
    fn what_was_dropped_is_read_once_more_and_what_that_took_is_kept() {
        let (mut session, options) = (Session::of_build(), RunOptions::default());
        let workload = Workload { unique_bytes: 4 * MIB, read_frac: 1.0, ..Workload::default() };
        session.layout(4 * MIB, &options).expect("laid out");
        session.note_left(&workload, session.resident_frac(4 * MIB));
        session.do_task(&Task::Evict, &options, None).1.expect("evicted, as if by the file system");
        let was_there = session.left.1 > 0;
        let dropped = session.resident_frac(4 * MIB).is_some_and(|share| share < 0.5);
        let filled = session.fill(&workload, &options).expect("filled");
        assert_eq!(filled.elapsed_s.is_some(), dropped || session.resident_frac(1).is_none());
        session.note_fill(&workload, &filled);
        assert_eq!(session.drops, dropped && was_there);
        assert_eq!(session.last_set, 4 * MIB);
        let again = session.fill(&workload, &options).expect("filled");
        assert_eq!(again.elapsed_s, None, "it is there already");
        assert!(again.brought_in || session.resident_frac(1).is_none());
        let direct = Workload { access: Access::Direct, ..workload };
        assert_eq!(session.fill(&direct, &options).expect("filled").elapsed_s, None);
    }
}
