//! Which blocks are touched, when again, and how often? (Figures 12 and 13, working set)

mod block;
mod entry;
mod ordered;
mod packed;
mod partition;
mod size;
mod table;

use crate::analyze::log_histogram::LogHistogram;
use crate::analyze::set_windows::{Moment, SetWindows};
use crate::analyze::time_series::{HOUR_NS, SECOND_NS};
use block::{Block, First, GROUP, GROUP_BITS, WAS_READ, WAS_WRITTEN, WRITES};
use ioscape_schema::trace_summary::{Overwrites, Popularity, WorkingSet};
use ioscape_schema::{Io, Op, TraceInfo};
use std::collections::BTreeMap;
use table::{Found, GroupPlace, Table};

pub use size::{BLOCK_BITS, BlockAlign, BlockSize, MOST_BLOCKS, on, spread, touched};

/// Most bytes of the table, unless something else is asked for: about 160 million blocks.
pub const MOST_BYTES: usize = 4 << 30;

/// Most touches that wait.
const MOST_WAITING: usize = 1024;
/// Blocks of one group that a request touches.
#[derive(Clone, Copy, Debug)]
struct Touch {
    /// Nothing where it is not followed.
    place: Option<GroupPlace>,
    now_ns: u64,
    from: u8,
    to: u8,
    /// Where the blocks end whose writes count in Figures 12 and 13, which go by [`BlockAlign::Request`].
    figures_to: u8,
    read: bool,
}

/// A table of all blocks touched: the one part of the analysis that grows with the trace, by 20 to 28 bytes a block, and
/// as many more in a part. At its bound it goes on with a half of the blocks, each counted
/// twice: what was counted before stands, so sums stay right on average.
#[derive(Clone, Debug)]
pub struct Blocks {
    size: BlockSize,
    table: Table,
    part: bool,
    tracked: u64,
    windows: SetWindows,
    delays: LogHistogram,
    block_writes: u64,
    cut: u64,
    /// Of parts that were merged.
    untracked: u64,
    most_bytes: usize,
    waiting: Vec<Touch>,
}

impl Blocks {
    /// Blocks of that size, in a table of at most about so many bytes. A `part` can be merged into what comes before.
    pub fn new(size: BlockSize, part: bool, most_bytes: usize) -> Self {
        Self {
            size,
            table: Table::new(part),
            part,
            tracked: 0,
            windows: SetWindows::default(),
            delays: LogHistogram::default(),
            block_writes: 0,
            cut: 0,
            untracked: 0,
            most_bytes,
            waiting: Vec::with_capacity(MOST_WAITING),
        }
    }

    /// Takes in the next requests.
    pub fn update_all(&mut self, ios: &[Io]) {
        self.gather(ios);
        self.settle();
    }

    /// The first of two steps that take in requests: what the second needs is on its way from memory then. They are best a
    /// microsecond apart, in which other work is done.
    pub fn gather(&mut self, ios: &[Io]) {
        for io in ios {
            let keys = touched(io, self.size);
            let read = io.request.op == Op::Read;
            // The figures count writes alone.
            let of_request = || touched(io, self.size.begin(BlockAlign::Request)).end;
            let figures_end = if read { keys.start } else { of_request() };
            let number = keys.end - keys.start;
            self.cut += u64::from(number * self.size.bytes() < self.counted(io));
            let mut key = keys.start;
            while key < keys.end {
                let group = key >> GROUP_BITS;
                let end = keys.end.min((group + 1) << GROUP_BITS);
                let from = (key & (GROUP - 1)) as u8;
                let to = from + (end - key) as u8;
                let figures_to = from + (figures_end.clamp(key, end) - key) as u8;
                let now_ns = io.queued_ns;
                let place = self.table.place(group);
                if let Some(place) = place {
                    self.table.fetch(place);
                }
                self.waiting.push(Touch { place, now_ns, from, to, figures_to, read });
                key = end;
                if self.waiting.len() == MOST_WAITING {
                    self.settle();
                }
            }
        }
    }

    /// Bytes that count as blocks.
    fn counted(&self, io: &Io) -> u64 {
        if io.moves_data() { u64::from(io.request.len) } else { 0 }
    }

    /// The second step: counts what was gathered.
    pub fn settle(&mut self) {
        let mut touches = std::mem::take(&mut self.waiting);
        touches.drain(..).for_each(|touch| self.touch(&touch));
        self.waiting = touches;
        self.make_room();
    }

    /// Goes on with fewer blocks when the table is too large.
    fn make_room(&mut self) {
        while self.table.bytes() > self.most_bytes && self.table.halve() {}
    }

    #[inline]
    fn touch(&mut self, touch: &Touch) {
        let now = self.windows.enter(touch.now_ns);
        let figures = touch.from..touch.figures_to;
        self.block_writes += u64::from(touch.figures_to - touch.from);
        let Some(place) = touch.place else { return };
        let mark = if touch.read { WAS_READ } else { WAS_WRITTEN };
        let mut found = self.table.find(place, touch.from);
        for number in touch.from..touch.to {
            if number > touch.from {
                found = self.table.find_next(&found);
            }
            let mut block = self.table.get(&found);
            if touch.read && block.last == now && block.writes & mark > 0 {
                continue;
            }
            let last = std::mem::replace(&mut block.last, now);
            self.count(last);
            block.writes |= mark;
            let counted = figures.contains(&number);
            let again = block.writes & WRITES > 0;
            if counted && again {
                let delay_ns = touch.now_ns.saturating_sub(block.last_write_ns);
                self.delays.add_many(delay_ns, self.table.one_in());
            }
            if counted {
                block.last_write_ns = touch.now_ns;
                block.writes = more_writes(block.writes, 1);
            }
            self.table.put(&found, &block);
            if self.part && (!found.known() || (counted && !again)) {
                self.begin(&found, now, (counted && !again).then_some(touch.now_ns));
            }
        }
    }

    /// Counts a touch of a block that was touched last at that time.
    #[inline]
    fn count(&mut self, last: Moment) {
        let one_in = self.table.one_in();
        self.windows.count(last, one_in);
        self.tracked += if last == Moment::NEVER { one_in } else { 0 };
    }

    /// Keeps the first touch of a block, or the first write.
    fn begin(&mut self, found: &Found, now: Moment, write_ns: Option<u64>) {
        let Some(first) = self.table.first(found) else { return };
        if !found.known() {
            first.touch = now;
        }
        first.write_ns = write_ns.unwrap_or(first.write_ns);
    }

    /// Adds the later part.
    pub fn merge(&mut self, later: Self) {
        self.windows.merge(&later.windows);
        while self.table.one_in() < later.table.one_in() && self.table.halve() {}
        for (key, block, first) in later.table.iter() {
            self.join(key, &block, &first);
            self.make_room();
        }
        self.delays.merge(&later.delays);
        self.tracked += later.tracked;
        self.block_writes += later.block_writes;
        self.cut += later.cut;
        self.untracked += later.untracked();
    }

    fn join(&mut self, key: u64, theirs: &Block, first: &First) {
        let Some(place) = self.table.place(key >> GROUP_BITS) else { return };
        let found = self.table.find(place, (key & (GROUP - 1)) as u8);
        let mut block = self.table.get(&found);
        let one_in = self.table.one_in();
        let last = std::mem::replace(&mut block.last, theirs.last);
        if last != Moment::NEVER {
            self.windows.counted_twice(last, first.touch, one_in);
            self.tracked = self.tracked.saturating_sub(one_in);
        }
        block.writes |= theirs.writes & !WRITES;
        let (mine, more) = (block.writes & WRITES, theirs.writes & WRITES);
        if mine > 0 && more > 0 {
            let delay_ns = first.write_ns.saturating_sub(block.last_write_ns);
            self.delays.add_many(delay_ns, one_in);
        }
        if more > 0 {
            block.last_write_ns = theirs.last_write_ns;
            block.writes = more_writes(block.writes, more);
        }
        self.table.put(&found, &block);
        if self.part {
            let written = (mine == 0 && more > 0).then_some(first.write_ns);
            self.begin(&found, first.touch, written);
        }
    }

    /// Gives the devices other numbers: `numbers` by the present ones.
    pub fn renumber(&mut self, numbers: &[u16]) {
        let mut table = Table::new(self.part);
        while table.one_in() < self.table.one_in() && table.halve() {}
        for (key, block, first) in self.table.iter() {
            table.restore(on(numbers, key), &block, &first);
        }
        self.table = table;
    }

    /// Touches of blocks that had no place in the table.
    pub fn untracked(&self) -> u64 {
        self.untracked + self.table.untracked()
    }

    /// Every so many-th block is followed, and how far the number of blocks may be off with a probability of 90 %, as a part of it.
    pub fn sample(&self) -> (u64, f64) {
        (self.table.one_in(), self.table.error90())
    }

    /// Requests longer than what is counted of one.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// Distinct bytes touched, in whole blocks.
    pub fn unique_bytes(&self) -> u64 {
        self.tracked.saturating_mul(self.size.bytes())
    }

    /// Times between writes of the same block.
    pub fn overwrites(&self) -> Overwrites {
        let within = |ns: u64| self.delays.fraction_to(ns);
        Overwrites {
            delay_ns: self.delays.distribution(),
            block_writes: self.block_writes,
            within_1s: within(SECOND_NS),
            within_30s: within(30 * SECOND_NS),
            within_1h: within(HOUR_NS),
        }
    }

    /// How writes spread over blocks.
    pub fn popularity(&self, info: &TraceInfo) -> Popularity {
        let mut by_writes: BTreeMap<u32, u64> = BTreeMap::new();
        let mut single = 0;
        for writes in self.table.blocks().map(|block| block.writes & WRITES) {
            match writes {
                0 => {}
                1 => single += self.table.one_in(),
                more => *by_writes.entry(more).or_default() += self.table.one_in(),
            }
        }
        by_writes.extend((single > 0).then_some((1, single)));
        let blocks: u64 = by_writes.values().sum();
        let capacities: Option<Vec<u64>> = info.devices.iter().map(|d| d.capacity_bytes).collect();
        let capacity: u64 = capacities.unwrap_or_default().iter().sum();
        let hundredth = [blocks.div_ceil(100), capacity / self.size.bytes() / 100];
        let mut ranks: Vec<u64> = ranks(blocks);
        ranks.extend(hundredth.map(|rank| rank.min(blocks)));
        ranks.sort_unstable();
        ranks.dedup();
        let mut curve = Vec::with_capacity(ranks.len());
        let (mut sum, mut rank) = (0u64, 0u64);
        let mut groups = by_writes.into_iter().rev().peekable();
        for &until in ranks.iter().filter(|&&until| until > 0) {
            while let Some((writes, left)) = groups.peek_mut().filter(|_| rank < until) {
                let taken = (*left).min(until - rank);
                (rank, *left) = (rank + taken, *left - taken);
                sum += u64::from(*writes) * taken;
                if *left == 0 {
                    groups.next();
                }
            }
            curve.push((until, (sum as f64 / self.block_writes.max(1) as f64).min(1.0)));
        }
        let share = |rank: u64| curve.iter().find(|point| point.0 >= rank).map(|point| point.1);
        Popularity {
            blocks_written: blocks,
            top_1_percent_written: share(hundredth[0]).unwrap_or(0.0),
            top_1_percent_capacity: if hundredth[1] == 0 {
                None
            } else {
                share(hundredth[1].min(blocks))
            },
            curve,
        }
    }

    /// Distinct bytes, in all and by windows of the three finest widths kept, from `origin_ns` on.
    pub fn working_set(&self, origin_ns: u64) -> WorkingSet {
        let [read, written] = [WAS_READ, WAS_WRITTEN].map(|mark| {
            let blocks = self.table.blocks().filter(|block| block.writes & mark > 0).count();
            (blocks as u64 * self.table.one_in()).saturating_mul(self.size.bytes())
        });
        WorkingSet {
            bytes: self.unique_bytes(),
            read_bytes: read,
            write_bytes: written,
            over_time: self.windows.finish(self.size.bytes(), origin_ns),
        }
    }
}

/// The number of writes increased, which stays below the marks.
fn more_writes(writes: u32, more: u32) -> u32 {
    (writes & WRITES).saturating_add(more).min(WRITES) | (writes & !WRITES)
}

/// 1, 2, 5, 10 ... and the last.
fn ranks(most: u64) -> Vec<u64> {
    let mut ranks = Vec::new();
    let mut decade = 1u64;
    while decade <= most {
        ranks.extend([1, 2, 3, 5, 7].map(|m| m * decade).into_iter().filter(|&rank| rank <= most));
        let Some(next) = decade.checked_mul(10) else { break };
        decade = next;
    }
    ranks.push(most);
    ranks
}

#[cfg(test)]
mod tests;
