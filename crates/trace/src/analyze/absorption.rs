//! How much non-volatile memory would absorb all writes of 30 seconds? (Figures 17 and 18)

use super::log_histogram::LogHistogram;
use super::time_series::SECOND_NS;
use ioscape_schema::trace_summary::Absorption;
use ioscape_schema::{Io, Op};
use rustc_hash::FxHashMap;

/// Length of an interval.
const INTERVAL_NS: u64 = 30 * SECOND_NS;
/// Bytes are counted in fragments of a kibibyte, 32 of them in a word.
const FRAGMENT: u64 = 1024;
const WORD_FRAGMENTS: u64 = 32;
/// Most words of an interval: 128 GiB written at distinct places within 30 seconds. What is beyond counts as written, not as distinct.
const MOST_WORDS: usize = 1 << 22;

/// Fragments written in one interval.
#[derive(Clone, Debug, Default, PartialEq)]
struct Interval {
    number: u64,
    fragments: FxHashMap<u64, u32>,
    distinct: u64,
    written: u64,
}

impl Interval {
    #[inline]
    fn mark(&mut self, key: u64, bits: u32) {
        if self.fragments.len() >= MOST_WORDS && !self.fragments.contains_key(&key) {
            return;
        }
        let word = self.fragments.entry(key).or_insert(0);
        self.distinct += u64::from((bits & !*word).count_ones());
        *word |= bits;
    }

    fn join(&mut self, other: &Self) {
        self.written += other.written;
        other.fragments.iter().for_each(|(&key, &bits)| self.mark(key, bits));
    }
}

/// Distinct bytes written in each interval of 30 seconds that has writes, over all disks.
#[derive(Clone, Debug, Default)]
pub struct AbsorbedWrites {
    /// The first interval, once a second one has begun.
    first: Option<Interval>,
    /// The interval under way; without writes while `written` is 0.
    last: Interval,
    closed: Sums,
}

/// What is kept of the intervals that are over.
#[derive(Clone, Debug, Default)]
struct Sums {
    kib: LogHistogram<7>,
    distinct: u64,
    written: u64,
}

impl Sums {
    fn add(&mut self, interval: &Interval) {
        self.kib.add(interval.distinct);
        self.distinct += interval.distinct;
        self.written += interval.written;
    }
}

impl AbsorbedWrites {
    /// Takes in the next request.
    #[inline]
    pub fn update(&mut self, io: &Io) {
        if io.request.op == Op::Read || !io.moves_data() {
            return;
        }
        let number = io.queued_ns / INTERVAL_NS;
        if number != self.last.number {
            self.close();
            self.last.number = number;
        }
        let device = u64::from(io.device) << 48;
        let mut fragment = io.request.offset / FRAGMENT;
        let end = (io.end() - 1) / FRAGMENT + 1;
        self.last.written += end - fragment;
        while fragment < end {
            let word = fragment / WORD_FRAGMENTS;
            let from = fragment % WORD_FRAGMENTS;
            let to = (end - word * WORD_FRAGMENTS).min(WORD_FRAGMENTS);
            let bits = (u32::MAX >> (WORD_FRAGMENTS - (to - from))) << from;
            self.last.mark(device | word, bits);
            fragment += to - from;
        }
    }

    fn close(&mut self) {
        if self.last.written == 0 {
            return;
        }
        if self.first.is_none() {
            self.first = Some(std::mem::take(&mut self.last));
            return;
        }
        self.closed.add(&self.last);
        // A busy interval leaves a large table; it is reused.
        self.last.fragments.clear();
        (self.last.distinct, self.last.written) = (0, 0);
    }

    /// Adds the later part.
    pub fn merge(&mut self, later: Self) {
        if later.last.written == 0 && later.first.is_none() {
            return;
        }
        let (begin, rest) = match later.first {
            Some(first) => (first, Some(later.last)),
            None => (later.last, None),
        };
        if self.last.written > 0 && self.last.number == begin.number {
            self.last.join(&begin);
        } else {
            self.close();
            self.last = begin;
        }
        if let Some(last) = rest {
            self.close();
            self.last = last;
        }
        self.closed.kib.merge(&later.closed.kib);
        self.closed.distinct += later.closed.distinct;
        self.closed.written += later.closed.written;
    }

    /// The figures; `writes` says which writes were taken in.
    pub fn finish(&self, writes: &str) -> Absorption {
        let mut sums = self.closed.clone();
        let open = self.first.iter().chain([&self.last]);
        open.filter(|interval| interval.written > 0).for_each(|interval| sums.add(interval));
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
            overwritten_frac: if sums.written == 0 {
                0.0
            } else {
                overwritten / sums.written as f64
            },
        }
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
            seen.update(&Io { request, queued_ns: s * SECOND_NS, ..Io::default() });
        }
        let found = seen.finish("all");
        assert_eq!((found.intervals, found.bytes.max, found.bytes.min), (2, 12288.0, 3072.0));
        assert_eq!(found.overwritten_frac, 4.0 / 19.0);
    }
}
