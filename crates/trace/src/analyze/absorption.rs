//! How much non-volatile memory would absorb all writes of 30 seconds? (Figures 17 and 18)

use super::key_table::{KeyTable, Value};
use super::log_histogram::LogHistogram;
use super::time_series::SECOND_NS;
use ioscape_schema::trace_summary::Absorption;
use ioscape_schema::{Io, Op};
use std::ops::Range;

/// Length of an interval.
const INTERVAL_NS: u64 = 30 * SECOND_NS;
/// Bytes are counted in fragments of a kibibyte, 32 of them in a word.
const FRAGMENT: u64 = 1024;
const WORD_FRAGMENTS: u64 = 32;
/// Most words of an interval: 128 GiB written at distinct places within 30 seconds. What is beyond counts as written, not as distinct.
const MOST_WORDS: usize = 1 << 22;

/// Most words that wait.
const MOST_WAITING: usize = 1024;

/// All writes, and those of metadata.
const KINDS: usize = 2;

/// The fragments of a word that are written, by kind of write.
type Fragments = [u32; KINDS];

impl Value for Fragments {
    const NONE: Self = [0; KINDS];
}

/// Fragments written in one interval.
#[derive(Clone, Debug, Default)]
struct Interval {
    number: u64,
    words: KeyTable<Fragments>,
    distinct: [u64; KINDS],
    written: [u64; KINDS],
    /// Words to be marked.
    waiting: Vec<(u64, Fragments)>,
}

impl Interval {
    /// Takes in a write; `metadata` has all bits set for one of metadata, or none.
    #[inline]
    fn write(&mut self, device: u64, fragments: Range<u64>, metadata: u32) {
        let Range { start: mut fragment, end } = fragments;
        self.written[0] += end - fragment;
        self.written[1] += (end - fragment) & u64::from(metadata);
        while fragment < end {
            let word = fragment / WORD_FRAGMENTS;
            let from = fragment % WORD_FRAGMENTS;
            let to = (end - word * WORD_FRAGMENTS).min(WORD_FRAGMENTS);
            let bits = (u32::MAX >> (WORD_FRAGMENTS - (to - from))) << from;
            self.words.fetch(device | word);
            self.waiting.push((device | word, [bits, bits & metadata]));
            if self.waiting.len() == MOST_WAITING {
                self.settle();
            }
            fragment += to - from;
        }
    }

    /// Marks what waits: its places have come into the caches meanwhile.
    fn settle(&mut self) {
        let mut words = std::mem::take(&mut self.waiting);
        words.drain(..).for_each(|(key, bits)| self.mark(key, bits));
        self.waiting = words;
    }

    #[inline]
    fn mark(&mut self, key: u64, bits: Fragments) {
        let Some((word, fresh)) = self.words.get_or_insert(key, bits, MOST_WORDS) else { return };
        for kind in 0..KINDS {
            let before = if fresh { 0 } else { word[kind] };
            self.distinct[kind] += u64::from((bits[kind] & !before).count_ones());
            word[kind] |= bits[kind];
        }
    }

    fn join(&mut self, other: &Self) {
        (0..KINDS).for_each(|kind| self.written[kind] += other.written[kind]);
        other.words.iter().for_each(|(key, bits)| self.mark(key, bits));
    }

    /// Whether nothing was written.
    fn is_empty(&self) -> bool {
        self.written[0] == 0
    }

    /// Begins anew; a busy interval leaves a large table, which is reused.
    fn clear(&mut self) {
        self.words.clear();
        (self.distinct, self.written) = Default::default();
    }
}

/// Distinct bytes written in each interval of 30 seconds that has writes, over all disks: by all writes, and by those of metadata.
#[derive(Clone, Debug, Default)]
pub struct AbsorbedWrites {
    /// The first interval, once a second one has begun.
    first: Option<Interval>,
    /// The interval under way; without writes while nothing is written.
    last: Interval,
    closed: [Sums; KINDS],
}

/// What is kept of the intervals that are over.
#[derive(Clone, Debug, Default)]
struct Sums {
    kib: LogHistogram<7>,
    /// Distinct and written fragments of the intervals, each counted at the size of its interval.
    distinct_by_kib: LogHistogram<7>,
    written_by_kib: LogHistogram<7>,
    distinct: u64,
    written: u64,
}

impl Sums {
    fn add(&mut self, distinct: u64, written: u64) {
        if written > 0 {
            self.kib.add(distinct);
            self.distinct_by_kib.add_many(distinct, distinct);
            self.written_by_kib.add_many(distinct, written);
            self.distinct += distinct;
            self.written += written;
        }
    }

    fn merge(&mut self, later: &Self) {
        self.kib.merge(&later.kib);
        self.distinct_by_kib.merge(&later.distinct_by_kib);
        self.written_by_kib.merge(&later.written_by_kib);
        self.distinct += later.distinct;
        self.written += later.written;
    }

    /// By size of a cache: what it takes of all fragments written, and of those that overwrite others, as fractions of all.
    fn absorbed(&self) -> Vec<[f64; 3]> {
        let all = self.written.max(1) as f64;
        let bins = self.kib.bins().zip(self.distinct_by_kib.bins()).zip(self.written_by_kib.bins());
        let (mut fit, mut distinct, mut written) = (0u64, 0u64, 0u64);
        let bins = bins.map(|(((kib, intervals), (_, different)), (_, every))| {
            [kib, intervals, different, every]
        });
        let point = |[kib, intervals, different, every]: [u64; 4]| {
            fit += intervals;
            distinct += different;
            written += every;
            let partly = (self.kib.count() - fit).saturating_mul(kib);
            let overwritten = (written - distinct) as f64 / all;
            [(kib * FRAGMENT) as f64, (written.saturating_add(partly) as f64) / all, overwritten]
        };
        bins.map(point).collect()
    }
}

fn add(sums: &mut [Sums; KINDS], interval: &Interval) {
    for (kind, sums) in sums.iter_mut().enumerate() {
        sums.add(interval.distinct[kind], interval.written[kind]);
    }
}

impl AbsorbedWrites {
    /// Takes in the next requests; they count after [`settle`](Self::settle).
    pub fn gather(&mut self, ios: &[Io]) {
        for io in ios {
            if io.request.op == Op::Read || !io.moves_data() {
                continue;
            }
            let number = io.queued_ns / INTERVAL_NS;
            if number != self.last.number {
                self.last.settle();
                self.close();
                self.last.number = number;
            }
            let device = u64::from(io.device) << 48;
            let end = (io.end() - 1) / FRAGMENT + 1;
            let metadata = if io.io_type.is_metadata() { u32::MAX } else { 0 };
            self.last.write(device, io.request.offset / FRAGMENT..end, metadata);
        }
    }

    /// Counts what was gathered, best a moment later: what it needs of memory is then there.
    pub fn settle(&mut self) {
        self.last.settle();
    }

    fn close(&mut self) {
        if self.last.is_empty() {
            return;
        }
        if self.first.is_none() {
            self.first = Some(std::mem::take(&mut self.last));
            return;
        }
        add(&mut self.closed, &self.last);
        self.last.clear();
    }

    /// Adds the later part.
    pub fn merge(&mut self, later: Self) {
        if later.last.is_empty() && later.first.is_none() {
            return;
        }
        let (begin, rest) = match later.first {
            Some(first) => (first, Some(later.last)),
            None => (later.last, None),
        };
        if !self.last.is_empty() && self.last.number == begin.number {
            self.last.join(&begin);
        } else {
            self.close();
            self.last = begin;
        }
        if let Some(last) = rest {
            self.close();
            self.last = last;
        }
        for (mine, theirs) in self.closed.iter_mut().zip(&later.closed) {
            mine.merge(theirs);
        }
    }

    /// The figures of all writes, and of those of metadata.
    pub fn finish(&self) -> Vec<Absorption> {
        let mut sums = self.closed.clone();
        self.first.iter().chain([&self.last]).for_each(|interval| add(&mut sums, interval));
        sums.iter().zip(["all", "metadata"]).map(|(sums, writes)| figures(sums, writes)).collect()
    }
}

fn figures(sums: &Sums, writes: &str) -> Absorption {
    let mut bytes = sums.kib.distribution();
    let kib = FRAGMENT as f64;
    for value in [
        &mut bytes.mean,
        &mut bytes.min,
        &mut bytes.max,
        &mut bytes.p50,
        &mut bytes.p80,
        &mut bytes.p90,
        &mut bytes.p95,
        &mut bytes.p99,
        &mut bytes.p999,
    ] {
        *value *= kib;
    }
    bytes.bins.iter_mut().for_each(|bin| bin.0 *= kib);
    let overwritten = sums.written.saturating_sub(sums.distinct) as f64;
    Absorption {
        writes: writes.to_owned(),
        interval_ns: INTERVAL_NS,
        intervals: sums.kib.count(),
        bytes,
        fit_100k: sums.kib.fraction_to(100),
        fit_200k: sums.kib.fraction_to(200),
        absorbed: sums.absorbed(),
        overwritten_frac: if sums.written == 0 { 0.0 } else { overwritten / sums.written as f64 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Request;

    #[test]
    fn overwritten_fragments_need_no_memory() {
        let mut seen = AbsorbedWrites::default();
        for (s, offset, len) in [(0, 0, 8192), (29, 4096, 8192), (31, 0, 1), (31, 31 * 1024, 2048)]
        {
            let request = Request { op: Op::Write, offset, len };
            seen.gather(&[Io { request, queued_ns: s * SECOND_NS, ..Io::default() }]);
            seen.settle();
        }
        let found = &seen.finish()[0];
        assert_eq!((found.intervals, found.bytes.max, found.bytes.min), (2, 12288.0, 3072.0));
        assert_eq!(found.overwritten_frac, 4.0 / 19.0);
        // 3 KiB hold the second interval and as much of the first; 12 KiB hold both, whose overwrites are 4 KiB.
        assert_eq!(found.absorbed, [[3072.0, 6.0 / 19.0, 0.0], [12288.0, 1.0, 4.0 / 19.0]]);
    }
}
