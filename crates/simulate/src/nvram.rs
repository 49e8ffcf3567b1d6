//! Non-volatile memory at the host: how many writes it absorbs, for all sizes in one pass (Ruemmler & Wilkes 1993,
//! "Non-volatile write caching at the host", figures 17 and 18).

use ioscape_schema::{HostCacheAbsorption, HostCachePoint, Io, IoType, Op};
use std::collections::BTreeMap;

/// Length of an interval in the paper.
pub const INTERVAL_NS: u64 = 30_000_000_000;

/// Sizes of caches at the host (figures 17 and 18): powers of two, and one and a half times each.
const HOST_CACHES: std::ops::RangeInclusive<u32> = 12..=24;

/// Unit in which written bytes are counted: the smallest fragments of the traced file systems.
const GRAIN: u64 = 1024;

/// What one interval wrote: the order in which grains were first touched.
#[derive(Debug, Default)]
struct Interval {
    /// Device and grain to its place in the order, from 1.
    first: BTreeMap<(u16, u64), u64>,
}

/// Histograms by the cache size from which on a grain, or a whole interval, is taken; sizes in grains.
#[derive(Debug, Default)]
struct Histogram {
    total: BTreeMap<u64, u64>,
    overwrites: BTreeMap<u64, u64>,
    intervals: BTreeMap<u64, u64>,
    written: u64,
    intervals_with_writes: u64,
}

/// Which writes a cache is for.
pub type Keep = fn(&Io) -> bool;

/// Which share of some writes a cache of each size absorbs when it is emptied after every interval.
///
/// A cache takes the grains that are written first; when it is full, only what overwrites them is absorbed. So a grain
/// that is the n-th new one of its interval is absorbed by every cache of n grains or more, and one pass tells all sizes.
#[derive(Debug)]
pub struct Absorbed {
    name: &'static str,
    keep: Keep,
    all: Histogram,
    interval: Interval,
    number: u64,
}

impl Absorbed {
    /// Of the writes that pass `keep`, which are called `name`.
    pub fn new(name: &'static str, keep: Keep) -> Self {
        let (all, interval) = (Histogram::default(), Interval::default());
        Self { name, keep, all, interval, number: 0 }
    }

    /// More rows in the order of arrival.
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
            let new = self.interval.first.len() as u64 + 1;
            let place = *self.interval.first.entry((io.device, grain)).or_insert(new);
            self.all.written += 1;
            *self.all.total.entry(place).or_default() += 1;
            if place != new {
                *self.all.overwrites.entry(place).or_default() += 1;
            }
        }
    }

    /// What caches of these sizes absorb.
    pub fn finish(mut self, sizes: &[u64]) -> HostCacheAbsorption {
        close(&mut self.interval, &mut self.all);
        HostCacheAbsorption {
            writes: self.name.to_owned(),
            interval_s: INTERVAL_NS as f64 / 1e9,
            intervals: self.all.intervals_with_writes,
            points: points(&self.all, sizes),
        }
    }
}

fn close(interval: &mut Interval, all: &mut Histogram) {
    if !interval.first.is_empty() {
        *all.intervals.entry(interval.first.len() as u64).or_default() += 1;
        all.intervals_with_writes += 1;
        interval.first.clear();
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

/// What caches of 4 KiB to 24 MiB at the host absorb: of all writes, of metadata and of users' data, where there are any.
#[derive(Debug)]
pub struct AbsorbedAtHost([Absorbed; 3]);

impl Default for AbsorbedAtHost {
    fn default() -> Self {
        Self([
            Absorbed::new("all", |_| true),
            Absorbed::new("metadata", |io| io.io_type.is_metadata()),
            Absorbed::new("user_data", |io| io.io_type == IoType::UserData),
        ])
    }
}

impl AbsorbedAtHost {
    /// More rows in the order of arrival.
    pub fn take(&mut self, rows: &[Io]) {
        self.0.iter_mut().for_each(|some| some.take(rows));
    }

    /// What was found.
    pub fn finish(self) -> Vec<HostCacheAbsorption> {
        let sizes: Vec<u64> =
            HOST_CACHES.flat_map(|power| [1u64 << power, 3u64 << (power - 1)]).collect();
        let found = self.0.into_iter().map(|some| some.finish(&sizes));
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
        let mut absorbed = Absorbed::new("all", |_| true);
        absorbed.take(&rows[..2]);
        absorbed.take(&rows[2..]);
        let found = absorbed.finish(&[1 << 10, 2 << 10, 4 << 10]);
        assert_eq!(found.intervals, 2);
        let of =
            |pick: fn(&HostCachePoint) -> f64| found.points.iter().map(pick).collect::<Vec<_>>();
        assert_eq!(of(|p| p.intervals), [0.5, 0.5, 1.0]);
        assert_eq!(of(|p| p.total), [2.0 / 7.0, 4.0 / 7.0, 1.0]);
        assert_eq!(of(|p| p.overwrites), [0.0, 1.0 / 7.0, 2.0 / 7.0]);
    }
}
