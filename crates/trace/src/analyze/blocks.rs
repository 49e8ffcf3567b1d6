//! Which blocks are touched, when again, and how often? (Figures 12 and 13, working set)

use super::log_histogram::LogHistogram;
use super::time_series::{DAY_NS, HOUR_NS, SECOND_NS};
use ioscape_schema::trace_summary::{Overwrites, Popularity, WorkingSet, WorkingSetWindows};
use ioscape_schema::{Io, Op, TraceInfo};
use rustc_hash::FxHashMap;

/// Most blocks of one request that are counted: 64 MiB in blocks of 8 KiB.
pub const MOST_BLOCKS: u64 = 8192;

/// Most blocks in the table: 256 GiB of distinct data in blocks of 8 KiB, in about 3.3 GB.
const MOST_TRACKED: usize = 1 << 25;

/// Bits of a block's number; the device is above them.
const BLOCK_BITS: u32 = 48;

/// The size of the blocks that are counted: a power of two, since each row is divided by it several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSize {
    shift: u32,
}

impl BlockSize {
    /// The largest power of two within `bytes`, from 512 on.
    pub fn of(bytes: u64) -> Self {
        Self { shift: bytes.clamp(512, 1 << 40).ilog2() }
    }

    /// In bytes.
    pub fn bytes(self) -> u64 {
        1 << self.shift
    }
}

/// The blocks that a request touches, as keys that hold the device: as many as its length fills, from the one it begins in. A
/// file system whose blocks do not begin at multiples of the block size on the device so has each of them once.
#[inline]
pub fn touched(io: &Io, size: BlockSize) -> std::ops::Range<u64> {
    if !io.moves_data() {
        return 0..0;
    }
    let first = (io.request.offset >> size.shift) & ((1 << BLOCK_BITS) - 1);
    let first = first | (u64::from(io.device) << BLOCK_BITS);
    let number = (u64::from(io.request.len) + size.bytes() - 1) >> size.shift;
    first..first.saturating_add(number.min(MOST_BLOCKS))
}

/// What is known of one block.
#[derive(Clone, Copy, Debug)]
struct Block {
    first_ns: u64,
    last_ns: u64,
    first_write_ns: u64,
    last_write_ns: u64,
    writes: u32,
    reads: u32,
}

/// Most windows of one width that are kept.
const MOST_WINDOWS: u64 = 4000;
const WINDOWS_NS: [u64; 6] =
    [SECOND_NS, 10 * SECOND_NS, 60 * SECOND_NS, 600 * SECOND_NS, HOUR_NS, DAY_NS];

/// Distinct blocks by window of one width.
#[derive(Clone, Debug)]
struct Windows {
    width_ns: u64,
    first: Option<u64>,
    /// Bounds of the window under way, in shifted time.
    current: [u64; 2],
    at: usize,
    blocks: Vec<u64>,
    alive: bool,
}

impl Windows {
    fn new(width_ns: u64) -> Self {
        Self { width_ns, first: None, current: [1, 0], at: 0, blocks: Vec::new(), alive: true }
    }

    fn enter(&mut self, time: u64) {
        let number = time / self.width_ns;
        let first = *self.first.get_or_insert(number);
        let place = number.saturating_sub(first);
        if place >= MOST_WINDOWS {
            self.alive = false;
            self.blocks = Vec::new();
            return;
        }
        self.at = place as usize;
        if self.at >= self.blocks.len() {
            self.blocks.resize(self.at + 1, 0);
        }
        self.current = [number * self.width_ns, (number + 1).saturating_mul(self.width_ns)];
    }

    fn merge(&mut self, later: &Self) {
        self.alive &= later.alive;
        let (Some(first), true) = (later.first, self.alive) else { return };
        for (index, blocks) in later.blocks.iter().enumerate() {
            self.enter((first + index as u64).saturating_mul(self.width_ns));
            if !self.alive {
                return;
            }
            self.blocks[self.at] += blocks;
        }
        self.current = [1, 0];
    }

    /// One of the blocks counted at `time` had been counted in the same window before.
    fn counted_twice(&mut self, before: u64, time: u64) {
        if self.alive && before / self.width_ns == time / self.width_ns {
            let first = self.first.unwrap_or(0);
            let place = (time / self.width_ns).saturating_sub(first) as usize;
            if let Some(blocks) = self.blocks.get_mut(place) {
                *blocks = blocks.saturating_sub(1);
            }
        }
    }
}

/// A table of all blocks touched: the one part of the analysis that grows with the trace, about 80 bytes a block.
#[derive(Clone, Debug)]
pub struct Blocks {
    size: BlockSize,
    origin_ns: u64,
    table: FxHashMap<u64, Block>,
    windows: Vec<Windows>,
    delays: LogHistogram,
    block_writes: u64,
    cut: u64,
    untracked: u64,
    most: usize,
}

impl Blocks {
    /// Blocks of that size; windows begin where the clock's do.
    pub fn new(size: BlockSize, origin_ns: u64) -> Self {
        Self {
            size,
            origin_ns,
            table: FxHashMap::default(),
            windows: WINDOWS_NS.map(Windows::new).into(),
            delays: LogHistogram::default(),
            block_writes: 0,
            cut: 0,
            untracked: 0,
            most: MOST_TRACKED,
        }
    }

    /// Takes in the next request.
    #[inline]
    pub fn update(&mut self, io: &Io) {
        let keys = touched(io, self.size);
        let number = keys.end - keys.start;
        if number == 0 {
            return;
        }
        self.cut += u64::from(number * self.size.bytes() < u64::from(io.request.len));
        let (now, time) = (io.queued_ns, io.queued_ns.saturating_add(self.origin_ns));
        for windows in &mut self.windows {
            if windows.alive && (time >= windows.current[1] || time < windows.current[0]) {
                windows.enter(time);
            }
        }
        for key in keys {
            if self.table.len() >= self.most && !self.table.contains_key(&key) {
                self.untracked += 1;
                continue;
            }
            let block = self.table.entry(key).or_insert(Block {
                first_ns: now,
                last_ns: u64::MAX,
                first_write_ns: now,
                last_write_ns: now,
                writes: 0,
                reads: 0,
            });
            let fresh = block.last_ns == u64::MAX;
            let last = block.last_ns.saturating_add(self.origin_ns);
            for windows in &mut self.windows {
                if windows.alive && (fresh || last < windows.current[0]) {
                    windows.blocks[windows.at] += 1;
                }
            }
            block.last_ns = now;
            if io.request.op == Op::Read {
                block.reads = block.reads.saturating_add(1);
                continue;
            }
            self.block_writes += 1;
            if block.writes > 0 {
                self.delays.add(now.saturating_sub(block.last_write_ns));
            } else {
                block.first_write_ns = now;
            }
            block.last_write_ns = now;
            block.writes = block.writes.saturating_add(1);
        }
    }

    /// Adds the later part.
    pub fn merge(&mut self, later: Self) {
        for (mine, theirs) in self.windows.iter_mut().zip(&later.windows) {
            mine.merge(theirs);
        }
        for (key, theirs) in later.table {
            let full = self.table.len() >= self.most;
            let Some(mine) = self.table.get_mut(&key) else {
                if full {
                    self.untracked += u64::from(theirs.reads) + u64::from(theirs.writes);
                } else {
                    self.table.insert(key, theirs);
                }
                continue;
            };
            for windows in &mut self.windows {
                let shifted = |ns: u64| ns.saturating_add(self.origin_ns);
                windows.counted_twice(shifted(mine.last_ns), shifted(theirs.first_ns));
            }
            mine.last_ns = theirs.last_ns;
            mine.reads = mine.reads.saturating_add(theirs.reads);
            if theirs.writes > 0 {
                if mine.writes > 0 {
                    self.delays.add(theirs.first_write_ns.saturating_sub(mine.last_write_ns));
                } else {
                    mine.first_write_ns = theirs.first_write_ns;
                }
                mine.last_write_ns = theirs.last_write_ns;
                mine.writes = mine.writes.saturating_add(theirs.writes);
            }
        }
        self.delays.merge(&later.delays);
        self.block_writes += later.block_writes;
        self.cut += later.cut;
        self.untracked += later.untracked;
    }

    /// Touches of blocks that had no more place in the table.
    pub fn untracked(&self) -> u64 {
        self.untracked
    }

    /// Requests longer than what is counted of one.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// Distinct bytes touched, in whole blocks.
    pub fn unique_bytes(&self) -> u64 {
        (self.table.len() as u64).saturating_mul(self.size.bytes())
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
        let written = self.table.values().map(|block| block.writes).filter(|&writes| writes > 0);
        let mut counts: Vec<u32> = written.collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let blocks = counts.len() as u64;
        let capacities: Option<Vec<u64>> = info.devices.iter().map(|d| d.capacity_bytes).collect();
        let capacity: u64 = capacities.unwrap_or_default().iter().sum();
        let hundredth = [blocks.div_ceil(100), capacity / self.size.bytes() / 100];
        let mut ranks: Vec<u64> = ranks(blocks);
        ranks.extend(hundredth.map(|rank| rank.min(blocks)));
        ranks.sort_unstable();
        ranks.dedup();
        let mut curve = Vec::with_capacity(ranks.len());
        let (mut sum, mut rank) = (0u64, 0u64);
        for &until in ranks.iter().filter(|&&until| until > 0) {
            let more = &counts[rank as usize..until as usize];
            sum += more.iter().map(|&writes| u64::from(writes)).sum::<u64>();
            rank = until;
            curve.push((until, sum as f64 / self.block_writes.max(1) as f64));
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

    /// Distinct bytes, in all and by windows of the three finest widths kept.
    pub fn working_set(&self) -> WorkingSet {
        let bytes = |blocks: usize| (blocks as u64).saturating_mul(self.size.bytes());
        let start = |windows: &Windows| {
            let start = i128::from(windows.first.unwrap_or(0)) * i128::from(windows.width_ns);
            i64::try_from(start - i128::from(self.origin_ns)).unwrap_or(i64::MAX)
        };
        let kept = self.windows.iter().filter(|windows| windows.alive && windows.first.is_some());
        WorkingSet {
            bytes: self.unique_bytes(),
            read_bytes: bytes(self.table.values().filter(|block| block.reads > 0).count()),
            write_bytes: bytes(self.table.values().filter(|block| block.writes > 0).count()),
            over_time: kept
                .take(3)
                .map(|windows| WorkingSetWindows {
                    window_ns: windows.width_ns,
                    start_ns: start(windows),
                    bytes: windows.blocks.iter().map(|&n| n * self.size.bytes()).collect(),
                })
                .collect(),
        }
    }
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
mod tests {
    use super::*;
    use ioscape_schema::Request;

    fn io(op: Op, s: u64, offset: u64, len: u32) -> Io {
        let request = Request { op, offset, len };
        Io { request, queued_ns: s * SECOND_NS, ..Io::default() }
    }

    #[test]
    fn blocks_are_counted_from_where_a_request_begins() {
        assert_eq!(touched(&io(Op::Read, 0, 12288, 8192), BlockSize::of(8192)), 1..2);
        assert_eq!(touched(&io(Op::Read, 0, 8192, 8193), BlockSize::of(8192)), 1..3);
        assert!(touched(&io(Op::Write, 0, 0, 0), BlockSize::of(8192)).is_empty());
    }

    #[test]
    fn a_full_table_takes_no_more_blocks_and_says_so() {
        let mut seen = Blocks { most: 2, ..Blocks::new(BlockSize::of(8192), 0) };
        (0..4).chain(0..2).for_each(|b| seen.update(&io(Op::Read, b, b * 8192, 8192)));
        assert_eq!((seen.unique_bytes(), seen.untracked()), (2 * 8192, 2));
    }

    #[test]
    fn overwrites_popularity_and_working_set_of_a_known_stream() {
        let mut seen = Blocks::new(BlockSize::of(8192), 0);
        for (op, s, block) in [
            (Op::Write, 0, 0),
            (Op::Write, 1, 0),
            (Op::Read, 2, 0),
            (Op::Write, 31, 0),
            (Op::Write, 31, 1),
            (Op::Read, 31, 2),
        ] {
            seen.update(&io(op, s, block * 8192, 8192));
        }
        let found = seen.overwrites();
        assert_eq!((found.delay_ns.count, found.block_writes), (2, 4));
        assert_eq!((found.delay_ns.max, found.within_1h), (30e9, 1.0));
        let found = seen.popularity(&TraceInfo::default());
        assert_eq!((found.blocks_written, &found.curve[..]), (2, &[(1, 0.75), (2, 1.0)][..]));
        let set = seen.working_set();
        assert_eq!((set.bytes, set.read_bytes, set.write_bytes), (3 * 8192, 2 * 8192, 2 * 8192));
        let tens = &set.over_time[1];
        assert_eq!((tens.window_ns, &tens.bytes[..]), (10 * SECOND_NS, &[8192, 0, 0, 24576][..]));
    }
}
