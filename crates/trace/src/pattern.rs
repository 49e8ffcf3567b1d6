//! Reuse distances by class of request, to predict what caches of any size would hold elsewhere.

use crate::analyze::stack_distance::Stack;
use crate::parts::{ByPart, NORMAL90, PARTS, add_each, halve, ratio_deviation};
use ioscape_schema::chance::mix;
use ioscape_schema::{Access, AccessPattern, Io, Op, RequestClass};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::ops::Range;

/// Bits of a byte's place within a page of 4 KiB, the file cache's on most machines.
const PAGE_BITS: u32 = 12;
/// Bits of a page's number within its file; the bits above hold the file.
const FILE_BITS: u32 = 40;
const LAST_PAGE: u64 = (1 << FILE_BITS) - 1;
/// The most pages tracked (8 GiB of 4 KiB each), and the fewest that are tracked however little memory there is.
/// Beyond what there is room for, one page in two is sampled, then one in four...
const MOST_PAGES: usize = 1 << 21;
const FEWEST_PAGES: usize = 1 << 14;
/// Memory for a tracked page, in bytes (peaks measured: 70 to 140 if all are read, 150 to 220 if all
/// are written).
const BYTES_PER_PAGE: u64 = 200;
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

/// What a cache needs to serve a use of a page.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    /// How many pages used since then it must remember; `None` if no cache can hit.
    pages: Option<u64>,
    /// Whether it is a write of a page that was forced to storage since it was last written: a file
    /// cache writes it again, whatever it holds.
    is_forced: bool,
}

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
    /// Bytes, by step of the reach, of pages that were forced to storage in between.
    forced: BTreeMap<i32, ByPart>,
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
    /// The write to storage counted when the page became dirty: class, part of the trace, step of the
    /// reach if the page had been forced to storage, and bytes (0 once storage is known to have
    /// them).
    class: ClassKey,
    part: usize,
    forced: Option<i32>,
    bytes: u64,
}

impl Dirty {
    fn is_expired(&self, now_ns: u64) -> bool {
        now_ns > self.since_ns + EXPIRES_NS
    }

    fn is_synced(&self, synced_ns: Option<u64>) -> bool {
        synced_ns.is_some_and(|at| self.since_ns <= at)
    }
}

/// Learns the classes of requests in one pass (Mattson et al., "Evaluation techniques for storage
/// hierarchies", IBM Systems Journal 9, 1970, by class; sampled by page where there are many, as in
/// Waldspurger et al., "Efficient MRC construction with SHARDS", FAST 2015).
///
/// A read hits in an LRU cache that holds all pages used since its page's last use. A write costs
/// nothing if its page stayed in the cache since it was last *written*: both are written back at
/// once. In a file cache it costs as much as a new page if the first was forced to storage in
/// between; a drive's cache may keep what is forced. The last write costs nothing if the file is
/// given up, or the trace ends, before write-back.
#[derive(Debug)]
pub struct PatternBuilder {
    stack: Stack,
    /// Pages that the file cache was told to drop, and that were not used since.
    dropped: FxHashSet<u64>,
    /// In the order of files and of pages within each.
    dirty: BTreeMap<u64, Dirty>,
    /// Pages that were given up: used ones, and written ones.
    given_up: [u64; 2],
    now_ns: u64,
    /// When each file was last written back on demand, as by `fsync`; under `None`, all files.
    synced_ns: FxHashMap<Option<u64>, u64>,
    streams: FxHashMap<(u32, u64, bool), Stream>,
    classes: BTreeMap<ClassKey, Counts>,
    /// One page in this many is tracked.
    one_in: u64,
    most_pages: usize,
    /// Bits of a byte's place within a page.
    page_bits: u32,
    /// Requests per part, requests in the present part so far, and the present part.
    part_requests: u64,
    requests: u64,
    part: usize,
}

impl Default for PatternBuilder {
    fn default() -> Self {
        Self {
            stack: Stack::default(),
            dropped: FxHashSet::default(),
            dirty: BTreeMap::new(),
            given_up: [0; 2],
            now_ns: 0,
            synced_ns: FxHashMap::default(),
            streams: FxHashMap::default(),
            classes: BTreeMap::new(),
            one_in: 1,
            most_pages: MOST_PAGES,
            page_bits: PAGE_BITS,
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
    /// Returns a builder for a file cache with pages of `page_bytes`, a power of two. What it knows
    /// of them takes at most about `bytes` of memory, or 3 MiB if that is more.
    pub fn within(bytes: u64, page_bytes: u64) -> Self {
        let most_pages = ((bytes / BYTES_PER_PAGE) as usize).clamp(FEWEST_PAGES, MOST_PAGES);
        Self { most_pages, page_bits: page_bytes.trailing_zeros(), ..Self::default() }
    }

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
        let (mut page, mut reach) = (0, Reach::default());
        for (number, bytes) in pages(io, self.page_bits) {
            page = (file << FILE_BITS) | (number & LAST_PAGE);
            // A sequential request within a page shares the reach of the page's first part.
            let same = stream.filter(|stream| follows && stream.page == page);
            let sampled = self.reach(page, write);
            reach = same.map(|stream| stream.reach).or(sampled).unwrap_or(reach);
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
        let (mut counted, mut part, mut step) = (class, self.part, self.step(reach.pages));
        let is_new = class.0 && (step.is_none() || reach.is_forced);
        if is_new {
            let new =
                Dirty { reach: 0, since_ns: self.now_ns, class, part, forced: step, bytes: 0 };
            let dirty = self.dirty.entry(page).or_insert(new);
            if dirty.bytes == 0 {
                *dirty = new;
            }
            let first = (dirty.class, dirty.part, dirty.forced);
            // The rest of a new page is counted with its first part.
            if step.is_none() {
                (counted, part, step) = first;
            }
            if (counted, part, step) == first {
                dirty.bytes += bytes;
            }
        }
        self.classes.entry(counted).or_default().of(step, is_new)[part] += bytes as f64;
    }

    /// Returns how far back a cache must reach for this use of `page`; `None` if it is not sampled.
    fn reach(&mut self, page: u64, write: bool) -> Option<Reach> {
        if !mix(page).is_multiple_of(self.one_in) {
            return None;
        }
        let distance = self.stack.touch(page).map(|pages| pages * self.one_in);
        self.dropped.remove(&page);
        let synced_ns = write.then(|| self.synced_ns(page)).flatten();
        let written = self.dirty.get_mut(&page).map_or(Reach::default(), |dirty| {
            let needed = dirty.reach.max(distance.unwrap_or(0));
            dirty.reach = if write { 0 } else { needed };
            let is_forced = write && dirty.is_synced(synced_ns);
            let is_held = dirty.bytes > 0 && !(write && dirty.is_expired(self.now_ns));
            if is_forced || !is_held {
                dirty.bytes = 0;
            }
            Reach { pages: is_held.then_some(needed), is_forced }
        });
        if self.stack.len() + self.dropped.len() > self.most_pages {
            self.thin_out();
        }
        Some(if write { written } else { Reach { pages: distance, is_forced: false } })
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
        self.dropped.retain(|page| mix(*page).is_multiple_of(one_in));
        self.dirty.retain(|page, _| mix(*page).is_multiple_of(one_in));
    }

    /// Returns the distinct bytes used, and the distinct bytes written, in whole pages.
    pub fn unique_bytes(&self) -> [u64; 2] {
        let followed = [self.stack.len() + self.dropped.len(), self.dirty.len()];
        let followed = followed.map(|pages| pages as u64 * self.one_in);
        [0, 1].map(|i| (followed[i] + self.given_up[i]) << self.page_bits)
    }

    /// Notes that a file was deleted, or cut off at byte `from`: its dirty pages are never written.
    pub fn give_up(&mut self, file: u64, from: u64) {
        let first = (file << FILE_BITS) | from.div_ceil(1 << self.page_bits).min(LAST_PAGE);
        let lost: Vec<u64> =
            self.dirty.range(first..=first | LAST_PAGE).map(|(page, _)| *page).collect();
        lost.iter().for_each(|page| self.spare(*page));
        for page in lost {
            self.stack.remove(page);
            self.dropped.remove(&page);
            self.dirty.remove(&page);
            self.given_up.iter_mut().for_each(|pages| *pages += self.one_in);
        }
    }

    /// Notes that all data written so far has reached storage: to a file, as by `fsync`, or to any,
    /// as by `sync`.
    pub fn written_back(&mut self, file: Option<u64>, at_ns: u64) {
        self.synced_ns.insert(file, at_ns.max(self.now_ns));
    }

    /// Notes that the file cache was told to drop these bytes of a file (`POSIX_FADV_DONTNEED`): it
    /// drops the whole pages that storage has.
    pub fn drop_cached(&mut self, file: u64, bytes: Range<u64>) {
        let page = |number: u64| (file << FILE_BITS) | number.min(LAST_PAGE);
        let pages =
            page(bytes.start.div_ceil(1 << self.page_bits))..page(bytes.end >> self.page_bits);
        let is_short = pages.end.saturating_sub(pages.start) < self.stack.len() as u64;
        let pages: Vec<u64> = match is_short {
            true => pages.collect(),
            false => self.stack.keys().filter(|page| pages.contains(page)).collect(),
        };
        for page in pages {
            if self.unwritten(page).is_none() && self.stack.remove(page) {
                self.dropped.insert(page);
                self.dirty.entry(page).and_modify(|dirty| dirty.bytes = 0);
            }
        }
    }

    /// Returns a written page if storage need not have it yet.
    fn unwritten(&self, page: u64) -> Option<&Dirty> {
        let synced_ns = self.synced_ns(page);
        let is_left =
            |dirty: &&Dirty| !dirty.is_expired(self.now_ns) && !dirty.is_synced(synced_ns);
        self.dirty.get(&page).filter(is_left)
    }

    /// When the file of a page was last written back on demand, if it was.
    fn synced_ns(&self, page: u64) -> Option<u64> {
        let synced_ns = [Some(page >> FILE_BITS), None].map(|file| self.synced_ns.get(&file));
        synced_ns.into_iter().flatten().max().copied()
    }

    /// Takes back the write of a page: only caches too small to have held it until now wrote it.
    fn spare(&mut self, page: u64) {
        let Some(dirty) = self.unwritten(page).copied() else { return };
        let distance = self.stack.distance(page).map_or(0, |pages| pages * self.one_in);
        let step = self.step(Some(dirty.reach.max(distance)));
        let counts = self.classes.entry(dirty.class).or_default();
        counts.of(dirty.forced, true)[dirty.part] -= dirty.bytes as f64;
        counts.of(step, false)[dirty.part] += dirty.bytes as f64;
    }

    /// Returns the step of the bytes of a cache that reaches so many pages back: it must hold the
    /// page itself too.
    fn step(&self, pages: Option<u64>) -> Option<i32> {
        let bytes = |pages: u64| ((pages + 1) << self.page_bits) as f64;
        pages.map(|pages| (bytes(pages).log2() * STEPS).ceil() as i32)
    }

    /// Returns the classes, reads first, without processes, pauses and the time outside requests.
    /// With buffered `access` the caches are those of files.
    pub fn finish(mut self, access: Access) -> AccessPattern {
        let [unique_bytes, unique_write_bytes] = self.unique_bytes();
        let left: Vec<u64> = self.dirty.keys().copied().collect();
        left.into_iter().for_each(|page| self.spare(page));
        let class = |((write, sequential, _), mut counts): (ClassKey, Counts)| {
            counts.settle(access == Access::Buffered);
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
        AccessPattern {
            classes,
            page_bytes: Some(1 << self.page_bits),
            unique_bytes,
            unique_write_bytes,
            ..AccessPattern::default()
        }
    }
}

impl Counts {
    /// Returns the bytes that only a cache of this step holds, or none at all; `is_forced` if a file
    /// cache has to write them again.
    fn of(&mut self, step: Option<i32>, is_forced: bool) -> &mut ByPart {
        let steps = if is_forced { &mut self.forced } else { &mut self.by_reach };
        step.map_or(&mut self.cold, |step| steps.entry(step).or_default())
    }

    /// Counts what was forced to storage in between as written again, or as held by its step.
    fn settle(&mut self, is_written: bool) {
        for (step, forced) in std::mem::take(&mut self.forced) {
            let step = (!is_written).then_some(step);
            add_each(self.of(step, false), &forced, 1.0);
        }
    }

    fn parts(&mut self) -> impl Iterator<Item = &mut ByPart> {
        self.by_reach.values_mut().chain(self.forced.values_mut()).chain([&mut self.cold])
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

/// Returns the pages of `1 << page_bits` bytes that a request touches, by number, and the bytes in
/// each.
fn pages(io: &Io, page_bits: u32) -> impl Iterator<Item = (u64, u64)> {
    let (from, to) = (io.request.offset, io.end());
    let first = from >> page_bits;
    let last = (to.max(1) - 1) >> page_bits;
    (first..=last).map(move |page| {
        let (begin, end) = (page << page_bits, (page + 1) << page_bits);
        (page, to.min(end).saturating_sub(from.max(begin)))
    })
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
