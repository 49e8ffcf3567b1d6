//! How much non-volatile memory would absorb all writes of 30 seconds? (Figures 17 and 18)

use super::blocks::on;
use super::key_table::{KeyTable, Value};
use super::log_histogram::FineHistogram;
use super::time_series::SECOND_NS;
use ioscape_schema::trace_summary::Absorption;
use ioscape_schema::{Io, Op};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// Length of an interval.
const INTERVAL_NS: u64 = 30 * SECOND_NS;
/// Fragment size in bytes; a word holds 64 fragments. It is one sector, because block traces'
/// writes begin and end at sector borders. Larger fragments would be shared by neighbouring writes,
/// as if one overwrote the other.
const FRAGMENT: u64 = 512;
const WORD_FRAGMENTS: u64 = 64;
/// Fragments of a kibibyte.
const KIB: u64 = 1024 / FRAGMENT;

/// The most words that wait.
const MOST_WAITING: usize = 1024;

/// All writes, and those of metadata.
const KINDS: usize = 2;

/// The fragments of a word that were written, by kind of write.
type Fragments = [u64; KINDS];

impl Value for Fragments {
    const NONE: Self = [0; KINDS];
}

/// Fragments written in one interval.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Interval {
    number: u64,
    words: KeyTable<Fragments>,
    distinct: [u64; KINDS],
    written: [u64; KINDS],
    /// Words to be marked.
    #[serde(skip)]
    waiting: Vec<(u64, Fragments)>,
    /// The most words, and how often there was no room for one.
    most_words: usize,
    beyond: u64,
}

impl Interval {
    fn new(most_words: usize) -> Self {
        Self { most_words, ..Self::default() }
    }

    /// Takes in a write; `metadata` has all bits set for a metadata write, and none otherwise.
    #[inline]
    fn write(&mut self, device: u64, fragments: Range<u64>, metadata: u64) {
        let Range { start: mut fragment, end } = fragments;
        self.written[0] += end - fragment;
        self.written[1] += (end - fragment) & metadata;
        while fragment < end {
            let word = fragment / WORD_FRAGMENTS;
            let from = fragment % WORD_FRAGMENTS;
            let to = (end - word * WORD_FRAGMENTS).min(WORD_FRAGMENTS);
            let bits = (u64::MAX >> (WORD_FRAGMENTS - (to - from))) << from;
            self.words.fetch(device | word);
            self.waiting.push((device | word, [bits, bits & metadata]));
            if self.waiting.len() == MOST_WAITING {
                self.settle();
            }
            fragment += to - from;
        }
    }

    /// Marks the waiting words; their slots have reached the processor's caches by now.
    fn settle(&mut self) {
        let mut words = std::mem::take(&mut self.waiting);
        words.drain(..).for_each(|(key, bits)| self.mark(key, bits));
        self.waiting = words;
    }

    #[inline]
    fn mark(&mut self, key: u64, bits: Fragments) {
        let Some((word, fresh)) = self.words.get_or_insert(key, bits, self.most_words) else {
            self.beyond += 1;
            return;
        };
        for kind in 0..KINDS {
            let before = if fresh { 0 } else { word[kind] };
            self.distinct[kind] += u64::from((bits[kind] & !before).count_ones());
            word[kind] |= bits[kind];
        }
    }

    fn join(&mut self, other: &Self) {
        (0..KINDS).for_each(|kind| self.written[kind] += other.written[kind]);
        self.beyond += other.beyond;
        other.words.iter().for_each(|(key, bits)| self.mark(key, bits));
    }

    /// Distinct fragments and all fragments written.
    fn counts(&self) -> [[u64; 2]; KINDS] {
        [0, 1].map(|kind| [self.distinct[kind], self.written[kind]])
    }

    /// Whether nothing was written.
    fn is_empty(&self) -> bool {
        self.written[0] == 0
    }

    /// Starts over; a busy interval leaves a large table, which is reused.
    fn clear(&mut self) {
        self.words.clear();
        (self.distinct, self.written) = Default::default();
    }
}

/// Distinct bytes written in each interval of 30 seconds that has writes, over all disks: by all
/// writes, and by metadata writes.
///
/// A part of a trace keeps the fragments of its first and last interval, which another part may
/// continue. Of the intervals between them it keeps the counts, to which a part with other disks
/// may add.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AbsorbedWrites {
    part: bool,
    /// The most words of an interval, and how often finished intervals had no room for one.
    most_words: usize,
    beyond: u64,
    /// Intervals of a part that another part may continue, in order.
    open: Vec<Interval>,
    /// The current interval; empty while nothing is written.
    last: Interval,
    /// Finished intervals of a part: distinct fragments and all fragments written.
    counts: BTreeMap<u64, [[u64; 2]; KINDS]>,
    closed: [Sums; KINDS],
}

/// What is kept of finished intervals.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Sums {
    /// Sizes of the intervals: their distinct fragments.
    sizes: FineHistogram,
    /// Distinct fragments and all fragments written, each counted at the size of its interval.
    distinct_by_size: FineHistogram,
    written_by_size: FineHistogram,
    distinct: u64,
    written: u64,
}

impl Sums {
    fn add(&mut self, distinct: u64, written: u64) {
        if written > 0 {
            self.sizes.add(distinct);
            self.distinct_by_size.add_many(distinct, distinct);
            self.written_by_size.add_many(distinct, written);
            self.distinct += distinct;
            self.written += written;
        }
    }

    /// By cache size: what the cache absorbs of all fragments written, and of those that overwrite
    /// others, as fractions of all.
    fn absorbed(&self) -> Vec<[f64; 3]> {
        let all = self.written.max(1) as f64;
        let bins =
            self.sizes.bins().zip(self.distinct_by_size.bins()).zip(self.written_by_size.bins());
        let (mut fit, mut distinct, mut written) = (0u64, 0u64, 0u64);
        let bins = bins.map(|(((size, intervals), (_, different)), (_, every))| {
            [size, intervals, different, every]
        });
        let point = |[size, intervals, different, every]: [u64; 4]| {
            fit += intervals;
            distinct += different;
            written += every;
            let partly = (self.sizes.count() - fit).saturating_mul(size);
            let overwritten = (written - distinct) as f64 / all;
            [(size * FRAGMENT) as f64, (written.saturating_add(partly) as f64) / all, overwritten]
        };
        bins.map(point).collect()
    }
}

fn add(sums: &mut [Sums; KINDS], counts: &[[u64; 2]; KINDS]) {
    for (sums, [distinct, written]) in sums.iter_mut().zip(counts) {
        sums.add(*distinct, *written);
    }
}

fn add_counts(mine: &mut [[u64; 2]; KINDS], theirs: &[[u64; 2]; KINDS]) {
    let theirs = theirs.iter().flatten();
    mine.iter_mut().flatten().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
}

/// Returns the number of the interval that contains a time.
pub fn interval_of(time_ns: u64) -> u64 {
    time_ns / INTERVAL_NS
}

impl AbsorbedWrites {
    /// Starts with nothing written; a `part` can be merged with what comes before it, and with
    /// other disks.
    pub fn new(part: bool, most_bytes: usize) -> Self {
        let most_words = KeyTable::<Fragments>::most_within(most_bytes);
        Self { part, most_words, last: Interval::new(most_words), ..Self::default() }
    }

    /// How often there was no memory for the writes of 30 seconds.
    pub fn beyond(&self) -> u64 {
        self.beyond + self.open.iter().chain([&self.last]).map(|one| one.beyond).sum::<u64>()
    }

    /// Takes in the next requests; they count after [`settle`](Self::settle).
    pub fn gather(&mut self, ios: &[Io]) {
        for io in ios {
            if io.request.op == Op::Read || !io.moves_data() {
                continue;
            }
            let number = interval_of(io.queued_ns);
            if number != self.last.number {
                self.last.settle();
                self.close();
                self.last.number = number;
            }
            let device = u64::from(io.device) << 48;
            let end = (io.end() - 1) / FRAGMENT + 1;
            let metadata = if io.io_type.is_metadata() { u64::MAX } else { 0 };
            self.last.write(device, io.request.offset / FRAGMENT..end, metadata);
        }
    }

    /// Counts what was gathered, preferably a moment later, when the prefetched memory has arrived.
    pub fn settle(&mut self) {
        self.last.settle();
    }

    /// Ends the current interval.
    fn close(&mut self) {
        if self.last.is_empty() {
            return;
        }
        if self.part && self.open.is_empty() {
            let next = Interval::new(self.most_words);
            self.open.push(std::mem::replace(&mut self.last, next));
            return;
        }
        self.beyond += std::mem::take(&mut self.last.beyond);
        self.count(self.last.number, &self.last.counts());
        self.last.clear();
    }

    fn count(&mut self, number: u64, counts: &[[u64; 2]; KINDS]) {
        if self.part {
            add_counts(self.counts.entry(number).or_default(), counts);
        } else {
            add(&mut self.closed, counts);
        }
    }

    /// Adds a part whose first request comes at `begin_ns`; no earlier interval continues in it or
    /// in parts that begin later.
    pub fn merge(&mut self, mut later: Self, begin_ns: u64) {
        later.open.push(std::mem::take(&mut later.last));
        later.open.retain(|interval| !interval.is_empty());
        if self.part {
            self.reopen(interval_of(begin_ns));
            later.open.into_iter().for_each(|interval| self.join(interval));
            let last = if self.open.len() > 1 { self.open.pop() } else { None };
            self.last = last.unwrap_or_else(|| Interval::new(self.most_words));
        } else {
            later.open.into_iter().for_each(|interval| self.go_on(interval));
        }
        self.beyond += later.beyond;
        for (number, counts) in &later.counts {
            self.count(*number, counts);
        }
    }

    /// Opens the current interval to what comes from `begin` on, and counts the earlier intervals
    /// except the first.
    fn reopen(&mut self, begin: u64) {
        if !self.last.is_empty() {
            let next = Interval::new(self.most_words);
            self.open.push(std::mem::replace(&mut self.last, next));
        }
        let first = self.open.first().map(|interval| interval.number);
        let over =
            |interval: &mut Interval| interval.number < begin && Some(interval.number) != first;
        let over: Vec<Interval> = self.open.extract_if(.., over).collect();
        for interval in over {
            self.beyond += interval.beyond;
            self.count(interval.number, &interval.counts());
        }
    }

    fn join(&mut self, interval: Interval) {
        match self.open.binary_search_by_key(&interval.number, |open| open.number) {
            Ok(at) => self.open[at].join(&interval),
            Err(at) => self.open.insert(at, interval),
        }
    }

    /// Starts an interval, or continues the current one.
    fn go_on(&mut self, interval: Interval) {
        if !self.last.is_empty() && self.last.number == interval.number {
            self.last.join(&interval);
        } else {
            self.close();
            self.last = interval;
        }
    }

    /// Renumbers the disks; `numbers` maps present numbers to new ones.
    pub fn renumber(&mut self, numbers: &[u16]) {
        for interval in self.open.iter_mut().chain([&mut self.last]) {
            interval.words =
                interval.words.iter().map(|(key, word)| (on(numbers, key), word)).collect();
        }
    }

    /// The figures of all writes, and of metadata writes; empty if memory did not suffice.
    pub fn finish(&self) -> Vec<Absorption> {
        if self.beyond() > 0 {
            return Vec::new();
        }
        let (mut sums, mut counts) = (self.closed.clone(), self.counts.clone());
        for interval in self.open.iter().chain([&self.last]) {
            add_counts(counts.entry(interval.number).or_default(), &interval.counts());
        }
        counts.values().for_each(|counts| add(&mut sums, counts));
        sums.iter().zip(["all", "metadata"]).map(|(sums, writes)| figures(sums, writes)).collect()
    }
}

fn figures(sums: &Sums, writes: &str) -> Absorption {
    let mut bytes = sums.sizes.distribution();
    let fragment = FRAGMENT as f64;
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
        *value *= fragment;
    }
    bytes.bins.iter_mut().for_each(|bin| bin.0 *= fragment);
    let overwritten = sums.written.saturating_sub(sums.distinct) as f64;
    Absorption {
        writes: writes.to_owned(),
        interval_ns: INTERVAL_NS,
        intervals: sums.sizes.count(),
        bytes,
        fit_100k: sums.sizes.fraction_to(100 * KIB),
        fit_200k: sums.sizes.fraction_to(200 * KIB),
        absorbed: sums.absorbed(),
        overwritten_frac: if sums.written == 0 { 0.0 } else { overwritten / sums.written as f64 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::AnalysisOptions;
    use ioscape_schema::Request;

    #[test]
    fn overwritten_fragments_need_no_memory() {
        let mut seen = AbsorbedWrites::new(false, 1 << 20);
        for (s, offset, len) in [(0, 0, 8192), (29, 4096, 8192), (31, 0, 1), (31, 31 * 1024, 2048)]
        {
            let request = Request { op: Op::Write, offset, len };
            seen.gather(&[Io { request, queued_ns: s * SECOND_NS, ..Io::default() }]);
            seen.settle();
        }
        let found = &seen.finish()[0];
        assert_eq!((found.intervals, found.bytes.max, found.bytes.min), (2, 12288.0, 2560.0));
        assert_eq!(found.overwritten_frac, 8.0 / 37.0);
        // 2.5 KiB hold the second interval and as much of the first; 12 KiB hold both.
        assert_eq!(found.absorbed, [[2560.0, 10.0 / 37.0, 0.0], [12288.0, 1.0, 8.0 / 37.0]]);
    }

    #[test]
    fn writes_behind_one_another_overwrite_nothing_wherever_they_begin() {
        let found = |from: u64, len: u32, apart: u64| {
            let write = |n: u64| {
                let request = Request { op: Op::Write, offset: from + n * apart, len };
                Io { request, ..Io::default() }
            };
            let mut seen = AbsorbedWrites::new(false, 1 << 20);
            seen.gather(&(0..400).map(write).collect::<Vec<_>>());
            seen.settle();
            seen.finish().swap_remove(0)
        };
        for (from, len) in [(0, 512), (0, 4096), (63 * 512, 4096)] {
            let all = found(from, len, u64::from(len));
            let bytes = 400.0 * f64::from(len);
            assert_eq!((all.overwritten_frac, all.bytes.max), (0.0, bytes), "{from} {len}");
        }
        let apart = found(0, 512, 1 << 16);
        assert_eq!((apart.fit_100k, apart.fit_200k), (0.0, 1.0), "200 KiB wherever they lie");
        assert_eq!(found(0, 513, 1 << 16).fit_200k, 0.0);
    }

    #[test]
    fn what_the_memory_does_not_hold_is_left_out() {
        let write = |word: u64| {
            let offset = word * WORD_FRAGMENTS * FRAGMENT;
            let request = Request { op: Op::Write, offset, len: 1024 };
            Io { request, queued_ns: word / 10 * 10 * SECOND_NS, ..Io::default() }
        };
        let rows: Vec<Io> = (0..100).map(write).collect();
        // An interval has 30 words; the smallest table holds 10.
        let least = KeyTable::<Fragments>::default().bytes();
        let of = |tables: usize, part: bool, rows: &[Io]| {
            let mut seen = AbsorbedWrites::new(part, tables * least);
            seen.gather(rows);
            seen.settle();
            seen
        };
        let (all, few) = (of(4, false, &rows), of(2, false, &rows));
        assert_eq!((all.beyond(), all.finish().len()), (0, 2));
        assert!(few.beyond() > 0 && few.finish().is_empty());
        let mut merged = of(2, true, &rows[..45]);
        merged.merge(of(2, true, &rows[45..]), rows[45].queued_ns);
        assert!(merged.beyond() > 0 && merged.finish().is_empty());
    }

    /// Tables double in size: once, a bound on words alone let one exceed its memory by half.
    #[test]
    fn the_table_of_what_is_written_keeps_within_its_memory() {
        let write = |word: u64| {
            let offset = word * WORD_FRAGMENTS * FRAGMENT;
            let request = Request { op: Op::Write, offset, len: 512 };
            Io { request, ..Io::default() }
        };
        let rows: Vec<Io> = (0..5000).map(write).collect();
        for most_bytes in [1 << 14, 20_000, 1 << 15, 100_000] {
            let mut seen = AbsorbedWrites::new(false, most_bytes);
            seen.gather(&rows);
            seen.settle();
            let taken = seen.last.words.bytes();
            assert!(seen.beyond() > 0, "{most_bytes}");
            assert!((most_bytes / 2..=most_bytes).contains(&taken), "{taken} of {most_bytes}");
        }
        let usual = AbsorbedWrites::new(false, AnalysisOptions::default().written_bytes);
        assert!(usual.most_words >= 30 * 150_000, "so many writes a second, wherever they lie");
    }
}
