//! Which blocks are touched, when again, and how often? (Figures 12 and 13, working set)

mod block;
mod entry;
mod ordered;
mod packed;
mod partition;
mod shard;
mod size;
mod slots;
mod table;
mod touch;

use crate::analyze::log_histogram::LogHistogram;
use crate::analyze::set_windows::SetWindows;
use crate::analyze::time_series::{HOUR_NS, SECOND_NS};
use block::{WAS_READ, WAS_WRITTEN, WRITES};
use ioscape_schema::Io;
use ioscape_schema::trace_summary::{Overwrites, Popularity, WorkingSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use table::Table;

pub use shard::{Shard, gather};
pub use size::{BLOCK_BITS, BlockAlign, BlockSize, MOST_BLOCKS, on, spread, touched};
use table::SHARDS;

/// The default for the most bytes of the table: about 160 million blocks.
pub const MOST_BYTES: usize = 4 << 30;

/// A table of all blocks touched, the one part of the analysis that grows with the trace. A block
/// touched alone takes 20 to 28 bytes; one that always comes with its three neighbours takes a
/// quarter of that; a part of a trace takes as much again. The table is kept in shards, so that
/// threads may share it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Blocks {
    #[serde(deserialize_with = "packed::numbered")]
    shards: Vec<Shard>,
}

impl Blocks {
    /// Creates a table for blocks of this size, of about `most_bytes` at most. A `part` can be
    /// merged into what comes before.
    pub fn new(size: BlockSize, part: bool, most_bytes: usize) -> Self {
        let shard = |number| Shard::new(number, size, part, most_bytes / SHARDS);
        Self { shards: (0..SHARDS).map(shard).collect() }
    }

    /// The shards, in groups for `threads` threads. Each group takes in all requests independently;
    /// the result is the same.
    pub fn shares(&mut self, threads: usize) -> impl Iterator<Item = &mut [Shard]> {
        // Every group looks at every request, so only as many as keep the threads busy.
        self.shards.chunks_mut((2 * SHARDS / threads.max(1)).clamp(1, SHARDS))
    }

    /// Takes in the next requests; they count after [`settle`](Self::settle).
    pub fn gather(&mut self, ios: &[Io]) {
        shard::gather(&mut self.shards, ios);
    }

    /// Counts what was gathered; fastest with many requests at once.
    pub fn settle(&mut self) {
        self.shards.iter_mut().for_each(Shard::settle);
    }

    /// Adds the later part.
    pub fn merge(&mut self, later: Self) {
        self.shards.iter_mut().zip(later.shards).for_each(|(mine, theirs)| mine.merge(theirs));
    }

    /// Renumbers the devices; `numbers` maps present numbers to new ones.
    pub fn renumber(&mut self, numbers: &[u16]) {
        self.shards.iter_mut().for_each(|shard| shard.renumber(|key| on(numbers, key)));
    }

    fn sum(&self, of: impl Fn(&Shard) -> u64) -> u64 {
        self.shards.iter().map(of).sum()
    }

    /// Touches of blocks for which the table had no room.
    pub fn untracked(&self) -> u64 {
        self.sum(|shard| shard.untracked + shard.table.untracked())
    }

    /// One block in this many is followed; and the relative error of the number of blocks at a
    /// probability of 90 %.
    pub fn sample(&self) -> (u64, f64) {
        let one_in = self.shards.iter().map(|shard| shard.table.one_in()).max().unwrap_or(1);
        (one_in, Table::error90(self.shards.iter().map(|shard| &shard.table)))
    }

    /// Requests longer than the part of a request that is counted.
    pub fn cut(&self) -> u64 {
        self.sum(|shard| shard.cut)
    }

    /// The size of the blocks.
    fn size(&self) -> BlockSize {
        self.shards[0].size
    }

    /// Blocks written.
    fn block_writes(&self) -> u64 {
        self.sum(|shard| shard.block_writes)
    }

    /// Distinct bytes touched, in whole blocks.
    pub fn unique_bytes(&self) -> u64 {
        self.sum(|shard| shard.counts.tracked).saturating_mul(self.size().bytes())
    }

    /// Times between writes of the same block.
    pub fn overwrites(&self) -> Overwrites {
        let mut delays = LogHistogram::default();
        self.shards.iter().for_each(|shard| delays.merge(&shard.counts.delays));
        let within = |ns: u64| (delays.count() > 0).then(|| delays.fraction_to(ns));
        Overwrites {
            delay_ns: delays.distribution(),
            block_writes: self.block_writes(),
            count: delays.count(),
            within_1s: within(SECOND_NS),
            within_30s: within(30 * SECOND_NS),
            within_1h: within(HOUR_NS),
        }
    }

    /// Tallies the blocks in one pass over the table, which may be large.
    pub fn tally(&self) -> Tally {
        debug_assert!(self.shards.iter().all(|shard| shard.waiting.is_empty()), "it is settled");
        let mut tally = Tally::default();
        for table in self.shards.iter().map(|shard| &shard.table) {
            tally.add(table);
        }
        tally
    }

    /// How writes spread over the blocks of disks with this total capacity.
    pub fn popularity(&self, tally: &Tally, capacity_bytes: Option<u64>) -> Popularity {
        let by_writes = tally.by_writes.clone();
        let blocks: u64 = by_writes.values().sum();
        let capacity = capacity_bytes.unwrap_or(0);
        let hundredth = [blocks.div_ceil(100), capacity / self.size().bytes() / 100];
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
            curve.push((until, (sum as f64 / self.block_writes().max(1) as f64).min(1.0)));
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

    /// Distinct bytes, in total and by windows of the three finest widths, from `origin_ns` on.
    pub fn working_set(&self, tally: &Tally, origin_ns: u64) -> WorkingSet {
        let bytes = self.size().bytes();
        if self.unique_bytes() == 0 {
            return WorkingSet::default();
        }
        let [read, written] =
            [tally.read, tally.written].map(|blocks| blocks.saturating_mul(bytes));
        let mut windows = SetWindows::default();
        self.shards.iter().for_each(|shard| windows.merge(shard.counts.windows.clone()));
        WorkingSet {
            bytes: self.unique_bytes(),
            read_bytes: Some(read),
            write_bytes: Some(written),
            over_time: windows.finish(bytes, origin_ns),
        }
    }
}

/// Write counts below this are tallied without a search.
const FEW_WRITES: usize = 64;

/// Blocks by the operations on them.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// By number of writes, from 1 on.
    by_writes: BTreeMap<u32, u64>,
    read: u64,
    written: u64,
}

impl Tally {
    /// Counts the blocks of a table.
    fn add(&mut self, table: &Table) {
        let (mut few, mut read, mut written) = ([0u64; FEW_WRITES], 0, 0);
        let one_in = table.one_in();
        table.each_writes(|block, number| {
            read += number * u64::from(block & WAS_READ != 0);
            written += number * u64::from(block & WAS_WRITTEN != 0);
            let writes = block & WRITES;
            match few.get_mut(writes as usize) {
                Some(count) => *count += number,
                None => *self.by_writes.entry(writes).or_default() += number * one_in,
            }
        });
        self.read += read * one_in;
        self.written += written * one_in;
        for (writes, count) in (0..).zip(few).skip(1).filter(|(_, count)| *count > 0) {
            *self.by_writes.entry(writes).or_default() += count * one_in;
        }
    }
}

/// Returns 1, 2, 5, 10 ... and the last.
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
