//! Reuse distances by class of request, to predict what caches of any size would hold elsewhere.

use crate::analyze::mix::mix;
use crate::analyze::stack_distance::Stack;
use crate::parts::{ByPart, NORMAL90, PARTS, add_each, halve, ratio_deviation};
use ioscape_schema::{AccessPattern, Io, Op, RequestClass};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Bits of a byte's place within a page: pages have 4 KiB, as in the file cache.
const PAGE_BITS: u32 = 12;
/// Bits of a page's number within its file; the bits above hold the file.
const FILE_BITS: u32 = 40;
const LAST_PAGE: u64 = (1 << FILE_BITS) - 1;
/// The most pages tracked (8 GiB). Beyond that, one page in two is sampled, then one in four...
const MOST_PAGES: usize = 1 << 21;
/// The most pages of one request that are counted: 64 MiB.
const MOST_OF_ONE: u64 = 1 << 14;
/// Steps per doubling of the cache size.
const STEPS: f64 = 4.0;
/// The most streams that are tracked.
const MOST_STREAMS: usize = 1 << 20;

/// Requests per part at first. The number doubles whenever there are too many parts.
const PART_REQUESTS: u64 = 64;
/// Age of forced write-back (Linux: `vm.dirty_expire_centisecs`, 30 s, checked every 5 s).
const EXPIRES_NS: u64 = 35_000_000_000;
/// Whether it writes, whether it is sequential, and its [`size_class`].
type ClassKey = (bool, bool, u32);

/// How many pages used since then a cache must remember to hit; `None` if no cache can hit.
type Reach = Option<u64>;

#[derive(Clone, Debug, Default)]
struct Counts {
    requests: u64,
    bytes: u64,
    elapsed_ns: u128,
    /// Sum over all bytes of their distance from the beginning of their sequential run, in bytes.
    into_run: f64,
    /// Bytes by step of the reach; `cold` has the bytes that no cache holds.
    by_reach: BTreeMap<i32, ByPart>,
    cold: ByPart,
}

#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    end: u64,
    /// Length of the sequential run so far, in bytes.
    run: u64,
    page: u64,
    reach: Reach,
}

/// A written page that storage need not have received yet.
#[derive(Clone, Copy, Debug)]
struct Dirty {
    /// The farthest reach that any use since its last write needed.
    reach: u64,
    /// When it became dirty.
    since_ns: u64,
    /// The write to storage counted when the page became dirty: class, part of the trace, and bytes
    /// (0 once storage is known to have them).
    class: ClassKey,
    part: usize,
    bytes: u64,
}

impl Dirty {
    fn is_expired(&self, now_ns: u64) -> bool {
        now_ns > self.since_ns + EXPIRES_NS
    }
}

/// Learns the classes of requests in one pass (Mattson et al., "Evaluation techniques for storage
/// hierarchies", IBM Systems Journal 9, 1970, by class; sampled by page beyond two million, as in
/// Waldspurger et al., "Efficient MRC construction with SHARDS", FAST 2015).
///
/// A read hits in an LRU cache that holds all pages used since its page's last use. A write costs
/// nothing if its page stayed in the cache since it was last *written*: both are written back at
/// once. The last write costs nothing if the file is given up, or the trace ends, before
/// write-back.
#[derive(Debug)]
pub struct PatternBuilder {
    stack: Stack,
    /// In the order of files and of pages within each.
    dirty: BTreeMap<u64, Dirty>,
    /// Pages that were given up: used ones, and written ones.
    given_up: [u64; 2],
    now_ns: u64,
    /// When each file was last written back on demand, as by `fsync`.
    synced_ns: FxHashMap<u64, u64>,
    streams: FxHashMap<(u32, u64, bool), Stream>,
    classes: BTreeMap<ClassKey, Counts>,
    /// One page in this many is tracked.
    one_in: u64,
    most_pages: usize,
    /// Requests per part, requests in the present part so far, and the present part.
    part_requests: u64,
    requests: u64,
    part: usize,
}

impl Default for PatternBuilder {
    fn default() -> Self {
        Self {
            stack: Stack::default(),
            dirty: BTreeMap::new(),
            given_up: [0; 2],
            now_ns: 0,
            synced_ns: FxHashMap::default(),
            streams: FxHashMap::default(),
            classes: BTreeMap::new(),
            one_in: 1,
            most_pages: MOST_PAGES,
            part_requests: PART_REQUESTS,
            requests: 0,
            part: 0,
        }
    }
}

/// Returns the class `k` of a size: sizes above 4^k / 2, up to 2 * 4^k.
fn size_class(len: u32) -> u32 {
    (u32::BITS - len.max(1).saturating_sub(1).leading_zeros()) / 2
}

impl PatternBuilder {
    /// Takes in the next request, in the order of arrival; `file` numbers its file or device.
    pub fn update(&mut self, io: &Io, file: u64) {
        if !io.moves_data() {
            return;
        }
        self.count_part();
        self.now_ns = self.now_ns.max(io.issued_ns);
        let write = io.request.op == Op::Write;
        let key = (io.process, file, write);
        let stream = self.streams.get(&key).copied();
        let follows = stream.is_some_and(|stream| stream.end == io.request.offset);
        let class = (write, follows, size_class(io.request.len));
        let (mut page, mut reach) = (0, None);
        for (number, bytes) in pages(io) {
            page = (file << FILE_BITS) | (number & LAST_PAGE);
            // A sequential request within a page shares the reach of the page's first part.
            let same = stream.filter(|stream| follows && stream.page == page);
            let sampled = self.reach(page, write);
            reach = same.map_or(sampled, |stream| Some(stream.reach)).unwrap_or(reach);
            if sampled.is_some() {
                self.count(class, page, reach, bytes * self.one_in);
            }
        }
        let counts = self.classes.entry(class).or_default();
        counts.requests += 1;
        let len = u64::from(io.request.len);
        let before = stream.filter(|_| follows).map_or(0, |stream| stream.run);
        counts.bytes += len;
        counts.into_run += (before as f64 + len as f64 / 2.0) * len as f64;
        counts.elapsed_ns += u128::from(io.elapsed_ns());
        if self.streams.len() < MOST_STREAMS || stream.is_some() {
            self.streams.insert(key, Stream { end: io.end(), run: before + len, page, reach });
        }
    }

    /// Finds the part of the trace for the next request; joins parts in pairs if too many.
    fn count_part(&mut self) {
        if self.requests == self.part_requests {
            (self.requests, self.part) = (0, self.part + 1);
        }
        if self.part == PARTS {
            self.classes.values_mut().flat_map(Counts::parts).for_each(halve);
            self.dirty.values_mut().for_each(|dirty| dirty.part /= 2);
            (self.part, self.part_requests) = (PARTS / 2, 2 * self.part_requests);
        }
        self.requests += 1;
    }

    /// Counts `bytes` of a page. Remembers what is new to storage, because it may never get there.
    fn count(&mut self, class: ClassKey, page: u64, reach: Reach, bytes: u64) {
        let (mut counted, mut part) = (class, self.part);
        if class.0 && reach.is_none() {
            let new = Dirty { reach: 0, since_ns: self.now_ns, class, part, bytes: 0 };
            let dirty = self.dirty.entry(page).or_insert(new);
            if dirty.bytes == 0 {
                *dirty = new;
            }
            dirty.bytes += bytes;
            // The rest of a page is counted with its first part.
            (counted, part) = (dirty.class, dirty.part);
        }
        self.classes.entry(counted).or_default().add(reach, bytes, part);
    }

    /// Returns how far back a cache must reach for this use of `page`; `None` if it is not sampled.
    fn reach(&mut self, page: u64, write: bool) -> Option<Reach> {
        if !mix(page).is_multiple_of(self.one_in) {
            return None;
        }
        let distance = self.stack.touch(page).map(|pages| pages * self.one_in);
        let needed = self.dirty.get_mut(&page).and_then(|dirty| {
            let needed = dirty.reach.max(distance.unwrap_or(0));
            dirty.reach = if write { 0 } else { needed };
            if write && dirty.is_expired(self.now_ns) {
                dirty.bytes = 0;
            }
            (dirty.bytes > 0).then_some(needed)
        });
        if self.stack.len() > self.most_pages {
            self.thin_out();
        }
        Some(if write { needed } else { distance })
    }

    /// Halves the number of tracked pages.
    fn thin_out(&mut self) {
        self.one_in *= 2;
        let one_in = self.one_in;
        let mut kept = Stack::default();
        for page in self.stack.keys().filter(|page| mix(*page).is_multiple_of(one_in)) {
            kept.touch(page);
        }
        self.stack = kept;
        self.dirty.retain(|page, _| mix(*page).is_multiple_of(one_in));
    }

    /// Returns the distinct bytes used, and the distinct bytes written, in whole pages.
    pub fn unique_bytes(&self) -> [u64; 2] {
        let followed = [self.stack.len(), self.dirty.len()].map(|pages| pages as u64 * self.one_in);
        [0, 1].map(|i| (followed[i] + self.given_up[i]) << PAGE_BITS)
    }

    /// Notes that a file was deleted, or cut off at byte `from`: its dirty pages are never written.
    pub fn give_up(&mut self, file: u64, from: u64) {
        let first = (file << FILE_BITS) | from.div_ceil(1 << PAGE_BITS).min(LAST_PAGE);
        let lost: Vec<u64> =
            self.dirty.range(first..=first | LAST_PAGE).map(|(page, _)| *page).collect();
        lost.iter().for_each(|page| self.spare(*page));
        for page in lost {
            self.stack.remove(page);
            self.dirty.remove(&page);
            self.given_up.iter_mut().for_each(|pages| *pages += self.one_in);
        }
    }

    /// Notes that all data written to a file so far has reached storage, as by `fsync`.
    pub fn written_back(&mut self, file: u64, at_ns: u64) {
        self.synced_ns.insert(file, at_ns.max(self.now_ns));
    }

    /// Takes back the write of a page: only caches too small to have held it until now wrote it.
    fn spare(&mut self, page: u64) {
        let synced_ns = self.synced_ns.get(&(page >> FILE_BITS)).copied();
        let is_left = |dirty: &&Dirty| {
            !dirty.is_expired(self.now_ns) && synced_ns.is_none_or(|at| dirty.since_ns > at)
        };
        let Some(dirty) = self.dirty.get(&page).filter(is_left) else { return };
        let distance = self.stack.distance(page).map_or(0, |pages| pages * self.one_in);
        let counts = self.classes.entry(dirty.class).or_default();
        counts.cold[dirty.part] -= dirty.bytes as f64;
        counts.add(Some(dirty.reach.max(distance)), dirty.bytes, dirty.part);
    }

    /// Returns the classes, reads first, without processes, pauses and the time outside requests.
    pub fn finish(mut self) -> AccessPattern {
        let [unique_bytes, unique_write_bytes] = self.unique_bytes();
        let left: Vec<u64> = self.dirty.keys().copied().collect();
        left.into_iter().for_each(|page| self.spare(page));
        let class = |((write, sequential, _), counts): (ClassKey, Counts)| {
            let (miss_ratio, miss_ratio_half90) = counts.miss_ratio();
            RequestClass {
                op: if write { Op::Write } else { Op::Read },
                sequential,
                requests: counts.requests,
                bytes: counts.bytes,
                // On average, a byte lies in the middle of its run.
                run_bytes: 2.0 * counts.into_run / counts.bytes.max(1) as f64,
                response_time_ns: counts.elapsed_ns as f64 / counts.requests.max(1) as f64,
                miss_ratio,
                miss_ratio_half90,
            }
        };
        let classes = self.classes.into_iter().map(class).collect();
        AccessPattern { classes, unique_bytes, unique_write_bytes, ..AccessPattern::default() }
    }
}

impl Counts {
    fn add(&mut self, reach: Reach, bytes: u64, part: usize) {
        let counted = match reach {
            Some(pages) => {
                // The cache must hold the page itself too.
                let needed = ((pages + 1) << PAGE_BITS) as f64;
                self.by_reach.entry((needed.log2() * STEPS).ceil() as i32).or_default()
            }
            None => &mut self.cold,
        };
        counted[part] += bytes as f64;
    }

    fn parts(&mut self) -> impl Iterator<Item = &mut ByPart> {
        self.by_reach.values_mut().chain([&mut self.cold])
    }

    /// Returns cache sizes with the share of bytes each misses, from the smallest that holds any;
    /// and half the width of each share's 90 % interval.
    fn miss_ratio(&self) -> (Vec<(f64, f64)>, Vec<f64>) {
        let (Some(first), Some(last)) =
            (self.by_reach.keys().next(), self.by_reach.keys().next_back())
        else {
            return (Vec::new(), Vec::new());
        };
        let mut moved = self.cold;
        self.by_reach.values().for_each(|found| add_each(&mut moved, found, 1.0));
        let total: f64 = moved.iter().sum();
        let mut missed = moved;
        let point = |step: i32| {
            let found = self.by_reach.get(&step);
            found.into_iter().for_each(|found| add_each(&mut missed, found, -1.0));
            let share = (missed.iter().sum::<f64>() / total).clamp(0.0, 1.0);
            let size = (f64::from(step) / STEPS).exp2().round();
            ((size, share), NORMAL90 * ratio_deviation(&missed, &moved))
        };
        (*first..=*last).map(point).unzip()
    }
}

/// Returns the pages that a request touches, by number, and the bytes in each.
fn pages(io: &Io) -> impl Iterator<Item = (u64, u64)> {
    let (from, to) = (io.request.offset, io.end());
    let first = from >> PAGE_BITS;
    let last = (to.max(1) - 1) >> PAGE_BITS;
    (first..=last.min(first + MOST_OF_ONE)).map(move |page| {
        let (begin, end) = (page << PAGE_BITS, (page + 1) << PAGE_BITS);
        (page, to.min(end).saturating_sub(from.max(begin)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Request;
    use proptest::prelude::*;

    fn io(op: Op, offset: u64, len: u32) -> Io {
        Io { request: Request { op, offset, len }, completed_ns: 1000, ..Io::default() }
    }

    fn of(all: &[Io]) -> Vec<RequestClass> {
        let mut builder = PatternBuilder::default();
        all.iter().for_each(|io| builder.update(io, 0));
        builder.finish().classes
    }

    #[test]
    fn a_loop_is_held_by_a_cache_of_its_size_only() {
        let all: Vec<Io> = (0..300).map(|i| io(Op::Read, (i * 37 % 100) * 8192, 4096)).collect();
        let [class] = &of(&all)[..] else { panic!("one class") };
        assert_eq!(
            (class.requests, class.bytes, class.response_time_ns),
            (300, 300 * 4096, 1000.0)
        );
        let third = |size: f64| (class.missed(size) * 3.0).round() as u32;
        assert_eq!((third(64.0 * 4096.0), third(128.0 * 4096.0)), (3, 1), "{class:?}");
    }

    #[test]
    fn writes_are_absorbed_while_their_page_stays_dirty() {
        // Written, then read among other reads, then written: no use was far from the one before.
        let mut all = vec![io(Op::Write, 0, 4096)];
        for i in 0..64 {
            all.push(io(Op::Read, (1 + 2 * i) << 20, 4096));
            all.push(io(Op::Read, 0, 4096));
        }
        all.push(io(Op::Write, 0, 4096));
        // Lets the dirty page expire, so that it is written in the end.
        all.push(Io { issued_ns: 2 * EXPIRES_NS, ..io(Op::Read, 1 << 30, 4096) });
        let written = |all: &[Io], size: f64| written(PatternBuilder::default(), all, size);
        assert_eq!(written(&all, 16384.0), 0.5, "the first is new, the second absorbed");
        // Without the reads in between, it left a small cache long before.
        all.retain(|io| io.request.op == Op::Write || io.request.offset > 0);
        assert_eq!(written(&all, 16384.0), 1.0);
        assert_eq!(written(&all, 1e6), 0.5);
    }

    /// The share of bytes that a cache of `size` writes, after what `builder` has seen.
    fn written(mut builder: PatternBuilder, all: &[Io], size: f64) -> f64 {
        all.iter().for_each(|io| builder.update(io, 0));
        let classes = builder.finish().classes;
        classes.iter().filter(|class| class.op == Op::Write).map(|c| c.missed(size)).sum()
    }

    /// Writes 16 pages in a row, then reads as many others.
    fn a_file_and_others() -> Vec<Io> {
        let file = (0..16).map(|page| io(Op::Write, page << 24, 4096));
        file.chain((0..16).map(|page| io(Op::Read, (page << 24) + 8192, 4096))).collect()
    }

    #[test]
    fn what_is_dirty_at_the_end_is_not_written_but_by_a_small_cache_or_after_its_time() {
        let mut all = a_file_and_others();
        let written = |all: &[Io], size: f64| written(PatternBuilder::default(), all, size);
        assert_eq!(written(&all, 65536.0), 1.0);
        assert_eq!(written(&all, 262_144.0), 0.0);
        all.push(Io { issued_ns: 2 * EXPIRES_NS, ..io(Op::Read, 0, 4096) });
        assert_eq!(written(&all, 262_144.0), 1.0);
    }

    #[test]
    fn what_was_forced_to_storage_was_written_even_if_it_is_deleted_then() {
        for deletes in [false, true] {
            let mut builder = PatternBuilder::default();
            a_file_and_others().iter().for_each(|io| builder.update(io, 0));
            builder.written_back(0, 0);
            builder.update(&Io { issued_ns: 9, ..io(Op::Write, 1 << 30, 65536) }, 0);
            if deletes {
                builder.give_up(0, 0);
            }
            assert_eq!(written(builder, &[], 1e6), 1.0, "the first, and nothing of the last");
        }
    }

    #[test]
    fn deleted_files_are_written_by_no_cache_that_held_them() {
        let later = Io { issued_ns: 2 * EXPIRES_NS, ..io(Op::Read, 1 << 40, 4096) };
        for (from, expected) in [(0, 0.0), (8 << 24, 0.5), (1 << 40, 1.0)] {
            let mut builder = PatternBuilder::default();
            a_file_and_others().iter().for_each(|io| builder.update(io, 0));
            builder.give_up(0, from);
            builder.give_up(1, 0);
            assert_eq!(builder.unique_bytes(), [131_072, 65536]);
            assert_eq!(written(builder, &[later], 262_144.0), expected);
        }
        // The same place later belongs to another file; nothing is left to write it then.
        let shares = [65536.0, 262_144.0].map(|size| {
            let mut builder = PatternBuilder::default();
            a_file_and_others().iter().for_each(|io| builder.update(io, 0));
            builder.give_up(0, 0);
            written(builder, &a_file_and_others()[..16], size)
        });
        assert_eq!(shares, [0.5, 0.0]);
    }

    #[test]
    fn small_sequential_requests_share_what_their_page_cost() {
        let all: Vec<Io> = (0..800).map(|i| io(Op::Read, i * 512, 512)).collect();
        for class in of(&all) {
            assert_eq!(class.missed(1e12), 1.0, "each page was new: {class:?}");
        }
    }

    #[test]
    fn sizes_kinds_and_runs_are_told_apart() {
        let mut all = Vec::new();
        for i in 0..100 {
            all.push(io(Op::Read, i << 20, 65536));
            all.push(io(Op::Write, (1 << 40) + i * 4096, 4096));
        }
        let found: Vec<(Op, bool, u64)> =
            of(&all).iter().map(|c| (c.op, c.sequential, c.requests)).collect();
        let known = [(Op::Read, false, 100), (Op::Write, false, 1), (Op::Write, true, 99)];
        assert_eq!(found, known);
        let runs: Vec<f64> = of(&all).iter().map(|c| c.run_bytes).collect();
        assert_eq!(runs[..2], [65536.0, 4096.0]);
        assert!((runs[2] / 409_600.0 - 1.0).abs() < 0.02, "100 writes in a row: {runs:?}");
    }

    #[test]
    fn nine_of_ten_intervals_hold_the_true_share() {
        // Random pages: a cache of half of them misses half, and 32 (1 - ln 2) more until warm.
        let held = (0..100u64).filter(|seed| {
            let draw = |i: u64| mix(seed * 1_000_000 + i) % 64;
            let all: Vec<Io> = (0..3000).map(|i| io(Op::Read, draw(i) << 12, 4096)).collect();
            let class = &of(&all)[0];
            let at = class.miss_ratio.iter().position(|(size, _)| *size == 131_072.0).unwrap();
            let half = class.miss_ratio_half90[at];
            assert!((0.0..0.1).contains(&half), "{class:?}");
            (class.miss_ratio[at].1 - (0.5 + 9.8 / 3000.0)).abs() < half
        });
        let held = held.count();
        assert!((80..=98).contains(&held), "{held}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3))]
        #[test]
        fn a_sample_is_near_the_whole(seed in 0u64..1000) {
            let all: Vec<Io> = (0..40_000)
                .map(|i| io(Op::Read, (mix(seed * 100_000 + i) % 6000) << 12, 4096))
                .collect();
            let miss = |most_pages: usize| {
                let mut builder = PatternBuilder { most_pages, ..PatternBuilder::default() };
                all.iter().for_each(|io| builder.update(io, 7));
                builder.finish().classes[0].missed(2000.0 * 4096.0)
            };
            let (whole, sampled) = (miss(usize::MAX), miss(1000));
            prop_assert!((whole - 2.0 / 3.0).abs() < 0.1, "{}", whole);
            prop_assert!((whole - sampled).abs() < 0.1, "{} {}", whole, sampled);
        }
    }
}
