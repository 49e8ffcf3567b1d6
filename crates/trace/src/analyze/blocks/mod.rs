//! Which blocks are touched, when again, and how often? (Figures 12 and 13, working set)

mod packed;
mod size;

use crate::analyze::key_table::KeyTable;
use crate::analyze::log_histogram::LogHistogram;
use crate::analyze::set_windows::{Moment, SetWindows};
use crate::analyze::time_series::{HOUR_NS, SECOND_NS};
use branches::prefetch_read_data;
use ioscape_schema::trace_summary::{Overwrites, Popularity, WorkingSet};
use ioscape_schema::{Io, Op, TraceInfo};

pub use size::{BLOCK_BITS, BlockAlign, BlockSize, MOST_BLOCKS, on, spread, touched};

/// Most groups in the table: 256 GiB of data in single blocks of 8 KiB, 1 TiB in runs of four, in about 3.5 GB.
const MOST_GROUPS: usize = 1 << 25;

/// Neighbouring blocks kept together: what is known of them fills one line of the processor's caches.
const GROUP: usize = 4;
const GROUP_BITS: u32 = GROUP.ilog2();
/// Most touches that wait.
const MOST_WAITING: usize = 1024;
/// That a block was read, and that it was written, beside the number of its writes in Figures 12 and 13.
const WAS_READ: u32 = 1 << 31;
const WAS_WRITTEN: u32 = 1 << 30;
/// The bits of the number of its writes.
const WRITES: u32 = WAS_WRITTEN - 1;

/// What is known of the blocks of one group.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Group {
    last_write_ns: [u64; GROUP],
    last: [Moment; GROUP],
    writes: [u32; GROUP],
}

/// What a part also keeps of them for its merge.
#[derive(Clone, Copy, Debug, Default)]
struct Firsts {
    write_ns: [u64; GROUP],
    touch: [Moment; GROUP],
}

/// Blocks of one group that a request touches.
#[derive(Clone, Copy, Debug)]
struct Touch {
    group: u64,
    now_ns: u64,
    /// The group's number in the table.
    number: Option<u32>,
    from: u8,
    to: u8,
    /// Where the blocks end whose writes count in Figures 12 and 13, which go by [`BlockAlign::Request`].
    figures_to: u8,
    read: bool,
}

/// A table of all blocks touched: the one part of the analysis that grows with the trace, 20 to 120 bytes a block.
#[derive(Clone, Debug)]
pub struct Blocks {
    size: BlockSize,
    table: KeyTable,
    groups: Vec<Group>,
    /// As many as groups in a part, else none.
    firsts: Vec<Firsts>,
    part: bool,
    tracked: u64,
    windows: SetWindows,
    delays: LogHistogram,
    block_writes: u64,
    cut: u64,
    untracked: u64,
    most: usize,
    waiting: Vec<Touch>,
}

impl Blocks {
    /// Blocks of that size. A `part` can be merged into what comes before.
    pub fn new(size: BlockSize, part: bool) -> Self {
        Self {
            size,
            table: KeyTable::default(),
            groups: Vec::new(),
            firsts: Vec::new(),
            part,
            tracked: 0,
            windows: SetWindows::default(),
            delays: LogHistogram::default(),
            block_writes: 0,
            cut: 0,
            untracked: 0,
            most: MOST_GROUPS,
            waiting: Vec::with_capacity(MOST_WAITING),
        }
    }

    /// Takes in the next requests.
    pub fn update_all(&mut self, ios: &[Io]) {
        self.gather(ios);
        self.find();
        self.settle();
    }

    /// The first of three steps that take in requests: what the next step needs is on its way from memory then. They are best
    /// some microseconds apart, in which other work is done.
    pub fn gather(&mut self, ios: &[Io]) {
        for io in ios {
            let keys = touched(io, self.size);
            let figures_end = touched(io, self.size.begin(BlockAlign::Request)).end;
            let number = keys.end - keys.start;
            self.cut += u64::from(number * self.size.bytes() < self.counted(io));
            let mut key = keys.start;
            while key < keys.end {
                let group = key >> GROUP_BITS;
                let end = keys.end.min((group + 1) << GROUP_BITS);
                let from = (key & (GROUP as u64 - 1)) as u8;
                let to = from + (end - key) as u8;
                let figures_to = from + (figures_end.clamp(key, end) - key) as u8;
                let read = io.request.op == Op::Read;
                let now_ns = io.queued_ns;
                self.table.fetch(group);
                self.waiting.push(Touch {
                    group,
                    now_ns,
                    number: None,
                    from,
                    to,
                    figures_to,
                    read,
                });
                key = end;
                if self.waiting.len() == MOST_WAITING {
                    self.find();
                    self.settle();
                }
            }
        }
    }

    /// Bytes that count as blocks.
    fn counted(&self, io: &Io) -> u64 {
        if io.moves_data() { u64::from(io.request.len) } else { 0 }
    }

    /// The second step: the groups of what was gathered.
    pub fn find(&mut self) {
        for touch in &mut self.waiting {
            touch.number = self.table.number(touch.group, self.most);
            if let Some(group) = touch.number.and_then(|number| self.groups.get(number as usize)) {
                prefetch_read_data::<_, 0>(&raw const *group);
            }
        }
        self.make_room();
    }

    fn make_room(&mut self) {
        self.groups.resize(self.table.len(), Group::default());
        if self.part {
            self.firsts.resize(self.table.len(), Firsts::default());
        }
    }

    /// The third step: counts what was gathered and found.
    pub fn settle(&mut self) {
        let mut touches = std::mem::take(&mut self.waiting);
        touches.drain(..).for_each(|touch| self.touch(&touch));
        self.waiting = touches;
    }

    #[inline]
    fn touch(&mut self, touch: &Touch) {
        let blocks = usize::from(touch.from)..usize::from(touch.to);
        let Some(number) = touch.number.map(|number| number as usize) else {
            self.untracked += blocks.len() as u64;
            return;
        };
        let now = self.windows.enter(touch.now_ns);
        let group = &mut self.groups[number];
        for block in blocks {
            let last = std::mem::replace(&mut group.last[block], now);
            self.windows.count(last);
            let fresh = last == Moment::NEVER;
            self.tracked += u64::from(fresh);
            if fresh && self.part {
                self.firsts[number].touch[block] = now;
            }
            if touch.read {
                group.writes[block] |= WAS_READ;
                continue;
            }
            group.writes[block] |= WAS_WRITTEN;
            if block >= usize::from(touch.figures_to) {
                continue;
            }
            self.block_writes += 1;
            if group.writes[block] & WRITES > 0 {
                self.delays.add(touch.now_ns.saturating_sub(group.last_write_ns[block]));
            } else if self.part {
                self.firsts[number].write_ns[block] = touch.now_ns;
            }
            group.last_write_ns[block] = touch.now_ns;
            group.writes[block] = more_writes(group.writes[block], 1);
        }
    }

    /// Adds the later part.
    pub fn merge(&mut self, later: Self) {
        self.windows.merge(&later.windows);
        for (key, theirs) in later.table.iter() {
            let number = self.table.number(key, self.most);
            self.make_room();
            let at = theirs as usize;
            self.join(number, &later.groups[at], &later.firsts[at]);
        }
        self.delays.merge(&later.delays);
        self.block_writes += later.block_writes;
        self.cut += later.cut;
        self.untracked += later.untracked;
    }

    fn join(&mut self, number: Option<u32>, theirs: &Group, firsts: &Firsts) {
        for block in (0..GROUP).filter(|&block| theirs.last[block] != Moment::NEVER) {
            let writes = theirs.writes[block] & WRITES;
            let Some(number) = number.map(|number| number as usize) else {
                self.untracked += u64::from(writes.max(1));
                continue;
            };
            let group = &mut self.groups[number];
            let last = std::mem::replace(&mut group.last[block], theirs.last[block]);
            if last == Moment::NEVER {
                self.tracked += 1;
            } else {
                self.windows.counted_twice(last, firsts.touch[block]);
            }
            if last == Moment::NEVER && self.part {
                self.firsts[number].touch[block] = firsts.touch[block];
            }
            group.writes[block] |= theirs.writes[block] & !WRITES;
            if writes == 0 {
                continue;
            }
            let first_ns = firsts.write_ns[block];
            if group.writes[block] & WRITES > 0 {
                self.delays.add(first_ns.saturating_sub(group.last_write_ns[block]));
            } else if self.part {
                self.firsts[number].write_ns[block] = first_ns;
            }
            group.last_write_ns[block] = theirs.last_write_ns[block];
            group.writes[block] = more_writes(group.writes[block], writes);
        }
    }

    /// Gives the devices other numbers: `numbers` by the present ones.
    pub fn renumber(&mut self, numbers: &[u16]) {
        let group = |key: u64| on(numbers, key << GROUP_BITS) >> GROUP_BITS;
        self.table = self.table.iter().map(|(key, number)| (group(key), number)).collect();
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
        let written = self.writes().map(|writes| writes & WRITES).filter(|&writes| writes > 0);
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

    /// Distinct bytes, in all and by windows of the three finest widths kept, from `origin_ns` on.
    pub fn working_set(&self, origin_ns: u64) -> WorkingSet {
        let bytes = |blocks: usize| (blocks as u64).saturating_mul(self.size.bytes());
        let written = |writes: &u32| writes & WAS_WRITTEN > 0;
        WorkingSet {
            bytes: self.unique_bytes(),
            read_bytes: bytes(self.writes().filter(|writes| writes & WAS_READ > 0).count()),
            write_bytes: bytes(self.writes().filter(written).count()),
            over_time: self.windows.finish(self.size.bytes(), origin_ns),
        }
    }

    fn writes(&self) -> impl Iterator<Item = u32> + '_ {
        self.groups.iter().flat_map(|group| group.writes)
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
