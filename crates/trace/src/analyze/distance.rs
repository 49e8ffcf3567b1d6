//! How far from the end of one request does the next one begin, and is it sequential? (Figure 9,
//! Table 7)

use super::column::{Column, STRIDE};
use super::log_histogram::LogHistogram;
use ioscape_schema::trace_summary::{Distances, Sequential};
use ioscape_schema::{Io, Op};
use serde::{Deserialize, Serialize};

/// Distances up to this many KiB in either direction are counted individually.
const NEAR_KIB: i64 = 256;
const NEAR: usize = 2 * NEAR_KIB as usize + 1;
/// Without a given interleave, a peak within this many KiB ahead is taken for it if it holds this
/// share of all distances.
const INTERLEAVE_SHARE: f64 = 0.02;
const INTERLEAVE_MOST_KIB: i64 = 64;
/// The peak must also hold this many distances: a few alike are no file system's habit.
const INTERLEAVE_LEAST: u64 = 10;

/// Whether requests at this interleave are counted individually: whole KiB, within the range of
/// near distances.
pub fn is_counted(interleave_bytes: u64) -> bool {
    interleave_bytes.is_multiple_of(1024) && interleave_bytes <= NEAR_KIB as u64 * 1024
}

/// Signed distances on one disk: nearby ones in whole KiB, and all of them on a logarithmic scale.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Distance {
    /// Beginning and operation of the first request, and end of the last.
    bounds: Option<(u64, Op, u64)>,
    /// By operation of the later request.
    #[serde(with = "super::long_arrays")]
    near: Box<[[u64; NEAR]; 2]>,
    adjacent: [u64; 2],
    before: LogHistogram<3>,
    after: LogHistogram<3>,
}

impl Default for Distance {
    fn default() -> Self {
        Self {
            bounds: None,
            near: Box::new([[0; NEAR]; 2]),
            adjacent: [0; 2],
            before: LogHistogram::default(),
            after: LogHistogram::default(),
        }
    }
}

impl Distance {
    /// Takes in the disk's next request; requests that move no data have no place.
    #[inline]
    pub fn update(&mut self, io: &Io) {
        if !io.moves_data() {
            return;
        }
        let (begin, end) = (io.request.offset, io.end());
        match &mut self.bounds {
            Some(bounds) => {
                let last = std::mem::replace(&mut bounds.2, end);
                self.gap(last, begin, io.request.op);
            }
            None => self.bounds = Some((begin, io.request.op, end)),
        }
    }

    /// Takes in the next requests of the disk.
    pub fn update_all(&mut self, ios: &[Io]) {
        for ios in ios.chunks(STRIDE) {
            let mut sides: [Column; 2] = Default::default();
            for io in ios.iter().filter(|io| io.moves_data()) {
                let Some(bounds) = &mut self.bounds else {
                    self.update(io);
                    continue;
                };
                let last = std::mem::replace(&mut bounds.2, io.end());
                let (size, is_back) = self.near_gap(last, io.request.offset, io.request.op);
                sides[usize::from(is_back)].push(size);
            }
            let [after, before] = sides;
            self.before.add_all(before.iter());
            self.after.add_all(after.iter());
        }
    }

    /// Counts a distance to a request with this operation.
    #[inline]
    pub fn gap(&mut self, from: u64, to: u64, op: Op) {
        let (size, is_back) = self.near_gap(from, to, op);
        let side = if is_back { &mut self.before } else { &mut self.after };
        side.add(size);
    }

    /// Counts a distance among the near ones only; returns its size, and whether it goes backwards.
    #[inline]
    fn near_gap(&mut self, from: u64, to: u64, op: Op) -> (u64, bool) {
        let op = usize::from(op == Op::Write);
        self.adjacent[op] += u64::from(from == to);
        // No branch on the direction, which cannot be predicted.
        let (size, is_back) = (to.abs_diff(from), to < from);
        let is_near = size.is_multiple_of(1024) && size <= NEAR_KIB as u64 * 1024;
        let kib = if is_near { (size / 1024) as usize } else { 0 };
        let place = if is_back { NEAR / 2 - kib } else { NEAR / 2 + kib };
        self.near[op][place] += u64::from(is_near);
        (size, is_back)
    }

    /// Adds the later part.
    pub fn merge(&mut self, later: Self) {
        let Some((begin, op, end)) = later.bounds else { return };
        match &mut self.bounds {
            Some(bounds) => {
                let last = std::mem::replace(&mut bounds.2, end);
                self.gap(last, begin, op);
            }
            None => self.bounds = later.bounds,
        }
        self.add(&later);
    }

    /// Beginning and operation of the first request, and end of the last.
    pub fn bounds(&self) -> Option<(u64, Op, u64)> {
        self.bounds
    }

    /// Memory, in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.near) + self.before.bytes() + self.after.bytes()
    }

    /// Adds the distances seen on another disk.
    pub fn add(&mut self, other: &Self) {
        let mine = self.near.iter_mut().flatten();
        mine.zip(other.near.iter().flatten()).for_each(|(mine, theirs)| *mine += theirs);
        (0..2).for_each(|op| self.adjacent[op] += other.adjacent[op]);
        self.before.merge(&other.before);
        self.after.merge(&other.after);
    }

    fn at(&self, kib: i64) -> u64 {
        let index = (kib + NEAR_KIB) as usize;
        self.near[0][index] + self.near[1][index]
    }

    /// Returns the density and the distribution, with the eight highest peaks nearby.
    pub fn finish(&self) -> Distances {
        let mut peaks: Vec<(i64, u64)> = (-NEAR_KIB..=NEAR_KIB)
            .map(|kib| (kib, self.at(kib)))
            .filter(|peak| peak.1 > 0)
            .collect();
        peaks.sort_by_key(|&(kib, count)| (std::cmp::Reverse(count), kib));
        peaks.truncate(8);
        let before = self.before.bins().map(|(to, count)| (-(to as f64), count));
        let mut bins: Vec<(f64, u64)> = before.collect();
        bins.reverse();
        bins.extend(self.after.bins().map(|(to, count)| (to as f64, count)));
        Distances { count: self.before.count() + self.after.count(), peaks, bins }
    }

    /// Sequential requests: those that begin where the previous one ended, or `interleave_bytes`
    /// further (Table 7). Without a given interleave, the highest peak within 64 KiB ahead is taken
    /// if it holds at least 2 % of all distances and ten of them; 0 means that there is none.
    pub fn sequential(&self, interleave_bytes: Option<u64>) -> Sequential {
        let found = || {
            let all = (self.before.count() + self.after.count()) as f64;
            let ahead = (1..=INTERLEAVE_MOST_KIB).max_by_key(|&kib| (self.at(kib), -kib));
            let is_peak = |&kib: &i64| {
                self.at(kib) >= INTERLEAVE_LEAST && self.at(kib) as f64 > all * INTERLEAVE_SHARE
            };
            ahead.filter(is_peak).unwrap_or(0)
        };
        let given = |bytes: u64| i64::try_from(bytes / 1024).unwrap_or(0).min(NEAR_KIB);
        let kib = interleave_bytes.map_or_else(found, given);
        let further = |op: usize| {
            if kib > 0 { self.near[op][(kib + NEAR_KIB) as usize] } else { 0 }
        };
        Sequential {
            adjacent_reads: self.adjacent[0],
            adjacent_writes: self.adjacent[1],
            interleave_bytes: kib.unsigned_abs() * 1024,
            interleaved_reads: further(0),
            interleaved_writes: further(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Request;

    #[test]
    fn an_overwrite_lies_one_block_back_and_an_interleave_ahead() {
        let mut seen = Distance::default();
        for block in [0u64, 0, 3, 3, 6, 7] {
            let request = Request { op: Op::Write, offset: block * 8192, len: 8192 };
            seen.update(&Io { request, ..Io::default() });
        }
        let found = seen.finish();
        assert_eq!((found.count, &found.peaks[..3]), (5, &[(-8, 2), (16, 2), (0, 1)][..]));
        let sequential = seen.sequential(Some(16 << 10));
        assert_eq!((sequential.interleave_bytes, sequential.interleaved_writes), (16384, 2));
        assert_eq!((sequential.adjacent_writes, sequential.adjacent_reads), (1, 0));
        assert_eq!(seen.sequential(None).interleave_bytes, 0, "two alike are no habit");
        let copy = seen.clone();
        (0..4).for_each(|_| seen.add(&copy));
        assert_eq!(seen.sequential(None).interleave_bytes, 16384, "ten of 25 are");
        assert_eq!(seen.sequential(Some(0)).interleaved_writes, 0);
    }
}
