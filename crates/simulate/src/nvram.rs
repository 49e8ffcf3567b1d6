//! Non-volatile memory at the host: how many writes it absorbs, for caches of all sizes in one pass
//! (Ruemmler & Wilkes 1993, "Non-volatile write caching at the host", figures 17 and 18).

use ioscape_schema::{HostCacheAbsorption, HostCachePoint, Io, IoType, Op};
use std::collections::BTreeMap;

/// Length of an interval, as in the paper.
pub const INTERVAL_NS: u64 = 30_000_000_000;

/// Powers of two of the cache sizes at the host (figures 17 and 18); one and a half times each is a
/// size, too.
const HOST_CACHES: std::ops::RangeInclusive<u32> = 12..=24;

/// Unit in which written bytes are counted: sectors, since the writes of block traces begin and end
/// at their borders.
const GRAIN: u64 = 512;

/// What one interval wrote: the order in which grains were first written, up to the size of the
/// largest cache.
#[derive(Debug, Default)]
struct Interval {
    /// Maps device and grain to the grain's place in the order, from 1.
    first: BTreeMap<(u16, u64), u64>,
    /// Whether the interval wrote more grains than the largest cache holds.
    is_over: bool,
}

/// Histograms over the least cache size that absorbs a grain, or a whole interval; sizes in grains.
#[derive(Debug, Default)]
struct Histogram {
    total: BTreeMap<u64, u64>,
    overwrites: BTreeMap<u64, u64>,
    intervals: BTreeMap<u64, u64>,
    written: u64,
    intervals_with_writes: u64,
}

/// Selects the writes that a cache takes.
pub type Keep = fn(&Io) -> bool;

/// The share of some writes that a cache of each size absorbs if it is emptied after every
/// interval.
///
/// A cache takes the first grains written; once it is full, it absorbs only overwrites of those. So
/// every cache of at least n grains absorbs the n-th new grain of an interval, and one pass covers
/// all sizes. Grains that no cache absorbs take no memory.
#[derive(Debug)]
pub struct Absorbed {
    name: &'static str,
    keep: Keep,
    sizes: Vec<u64>,
    /// Grains that the largest cache holds.
    most: u64,
    all: Histogram,
    interval: Interval,
    number: u64,
}

impl Absorbed {
    /// Starts with caches of `sizes` in bytes and the writes that pass `keep`, which are called
    /// `name`.
    pub fn new(name: &'static str, keep: Keep, sizes: &[u64]) -> Self {
        let (all, interval) = (Histogram::default(), Interval::default());
        let most = sizes.iter().max().map_or(0, |bytes| bytes / GRAIN);
        Self { name, keep, sizes: sizes.to_vec(), most, all, interval, number: 0 }
    }

    /// Takes more rows, in order of arrival.
    pub fn take(&mut self, rows: &[Io]) {
        for io in rows {
            if io.request.op == Op::Write && io.moves_data() && (self.keep)(io) {
                self.write(io);
            }
        }
    }

    fn write(&mut self, io: &Io) {
        let at = io.queued_ns / INTERVAL_NS;
        if at != self.number {
            close(&mut self.interval, &mut self.all);
            self.number = at;
        }
        for grain in io.request.offset / GRAIN..io.end().div_ceil(GRAIN) {
            let Interval { first, is_over } = &mut self.interval;
            let (new, key) = (first.len() as u64 + 1, (io.device, grain));
            self.all.written += 1;
            if new > self.most && !first.contains_key(&key) {
                *is_over = true;
                continue;
            }
            let place = *first.entry(key).or_insert(new);
            *self.all.total.entry(place).or_default() += 1;
            if place != new {
                *self.all.overwrites.entry(place).or_default() += 1;
            }
        }
    }

    /// Returns what the caches absorb.
    pub fn finish(mut self) -> HostCacheAbsorption {
        close(&mut self.interval, &mut self.all);
        HostCacheAbsorption {
            writes: self.name.to_owned(),
            interval_s: INTERVAL_NS as f64 / 1e9,
            intervals: self.all.intervals_with_writes,
            points: points(&self.all, &self.sizes),
        }
    }
}

fn close(interval: &mut Interval, all: &mut Histogram) {
    let Interval { first, is_over } = std::mem::take(interval);
    let grains = first.len() as u64 + u64::from(is_over);
    if grains > 0 {
        *all.intervals.entry(grains).or_default() += 1;
        all.intervals_with_writes += 1;
    }
}

fn points(all: &Histogram, sizes: &[u64]) -> Vec<HostCachePoint> {
    let up_to = |counts: &BTreeMap<u64, u64>, size: u64, of: u64| {
        counts.range(..=size / GRAIN).map(|(_, n)| n).sum::<u64>() as f64 / of.max(1) as f64
    };
    let point = |&cache_bytes: &u64| HostCachePoint {
        cache_bytes,
        intervals: up_to(&all.intervals, cache_bytes, all.intervals_with_writes),
        total: up_to(&all.total, cache_bytes, all.written),
        overwrites: up_to(&all.overwrites, cache_bytes, all.written),
    };
    sizes.iter().map(point).collect()
}

/// What caches of 4 KiB to 24 MiB at the host absorb: of all writes, of metadata and of user data,
/// if there are any.
#[derive(Debug)]
pub struct AbsorbedAtHost([Absorbed; 3]);

impl Default for AbsorbedAtHost {
    fn default() -> Self {
        let sizes: Vec<u64> =
            HOST_CACHES.flat_map(|power| [1u64 << power, 3u64 << (power - 1)]).collect();
        Self([
            Absorbed::new("all", |_| true, &sizes),
            Absorbed::new("metadata", |io| io.io_type.is_metadata(), &sizes),
            Absorbed::new("user_data", |io| io.io_type == IoType::UserData, &sizes),
        ])
    }
}

impl AbsorbedAtHost {
    /// Takes more rows, in order of arrival.
    pub fn take(&mut self, rows: &[Io]) {
        self.0.iter_mut().for_each(|some| some.take(rows));
    }

    /// Returns the absorption of each kind of write that occurred.
    pub fn finish(self) -> Vec<HostCacheAbsorption> {
        let found = self.0.into_iter().map(Absorbed::finish);
        found.filter(|found| found.intervals > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::io;

    fn write(at_s: u64, grain: u64, grains: u32) -> Io {
        io(Op::Write, grain * GRAIN, grains * GRAIN as u32, at_s * 1_000_000_000)
    }

    #[test]
    fn intervals_are_absorbed_by_what_they_touch_first() {
        let rows =
            [write(1, 0, 2), write(2, 5, 2), write(3, 1, 1), write(4, 6, 1), write(31, 0, 1)];
        let mut absorbed = Absorbed::new("all", |_| true, &[GRAIN, 2 * GRAIN, 4 * GRAIN]);
        absorbed.take(&rows[..2]);
        absorbed.take(&rows[2..]);
        let found = absorbed.finish();
        assert_eq!(found.intervals, 2);
        let of =
            |pick: fn(&HostCachePoint) -> f64| found.points.iter().map(pick).collect::<Vec<_>>();
        assert_eq!(of(|p| p.intervals), [0.5, 0.5, 1.0]);
        assert_eq!(of(|p| p.total), [2.0 / 7.0, 4.0 / 7.0, 1.0]);
        assert_eq!(of(|p| p.overwrites), [0.0, 1.0 / 7.0, 2.0 / 7.0]);
    }

    /// Guards against memory that grows with all that an interval writes: gigabytes, for caches
    /// that end at 24 MiB.
    #[test]
    fn what_no_cache_takes_needs_no_memory_and_changes_no_point() {
        // The first interval writes more than either of two caches holds, and some of it again; the
        // second fills the larger of the two.
        let rows = [write(1, 0, 1000), write(2, 0, 8), write(2, 990, 8), write(31, 0, 16)];
        let points = |sizes: &[u64]| {
            let mut absorbed = Absorbed::new("all", |_| true, sizes);
            absorbed.take(&rows[..3]);
            let kept = absorbed.interval.first.len();
            absorbed.take(&rows[3..]);
            (kept, absorbed.finish().points)
        };
        let sizes = [4 * GRAIN, 16 * GRAIN];
        let (all, whole) = points(&[sizes[0], sizes[1], 4096 * GRAIN]);
        let (few, bounded) = points(&sizes);
        assert_eq!((all, few), (1000, 16));
        assert_eq!(bounded, whole[..2]);
        assert_eq!(bounded[1].intervals, 0.5);
    }

    #[test]
    fn writes_behind_one_another_overwrite_nothing_wherever_they_begin() {
        let points = |from: u64, len: u32| {
            let behind = |n: u64| io(Op::Write, from + n * u64::from(len), len, 1_000_000_000);
            let mut absorbed = Absorbed::new("all", |_| true, &[64 << 10, 24 << 20]);
            absorbed.take(&(0..500).map(behind).collect::<Vec<_>>());
            absorbed.finish().points
        };
        for (from, len) in [(0, 512), (0, 4096), (63 * 512, 4096)] {
            let found = points(from, len);
            assert!(found.iter().all(|point| point.overwrites == 0.0), "{from} {len}: {found:?}");
        }
        assert_eq!(points(63 * 512, 4096), points(0, 4096));
    }
}
