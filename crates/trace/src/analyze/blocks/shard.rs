//! A part of the table of blocks that a thread can fill independently: every so many-th partition,
//! with its counts.

use super::block::{Block, First, GROUP, GROUP_BITS, WRITES, more_writes};
use super::size::{BlockAlign, BlockSize, touched};
use super::table::{Address, Table};
use super::touch::{Counts, Run, Touch};
use crate::analyze::set_windows::Moment;
use ioscape_schema::{Io, Op};

/// The most touches that wait, not counting the last request's. With their sorted copy they take
/// two mebibytes. Each partition of a large table thus gets hundreds of touches at a time, and the
/// processor keeps its translations of the partition's addresses.
const MOST_WAITING: usize = (1 << 16) - (1 << 12);
/// The most seconds that waiting touches span.
const MOST_SECONDS: usize = 1 << 12;
/// Fewer touches than this are counted unsorted.
const FEW: usize = 256;

/// A table of some of the blocks touched. At its limit it goes on with half of them, each counted
/// twice; earlier counts stand, so sums stay right on average.
#[derive(Clone, Debug)]
pub struct Shard {
    pub(super) number: usize,
    pub(super) size: BlockSize,
    pub(super) table: Table,
    pub(super) counts: Counts,
    /// Blocks written, and requests longer than the part of a request that is counted; the first
    /// shard counts them for all.
    pub(super) block_writes: u64,
    pub(super) cut: u64,
    /// Untracked touches of merged parts.
    pub(super) untracked: u64,
    pub(super) most_bytes: usize,
    pub(super) waiting: Vec<Touch>,
    /// The same sorted by partition, while they are counted.
    pub(super) sorted: Vec<Touch>,
}

impl Shard {
    /// Creates the shard with this number, with a table of about `most_bytes` at most.
    pub(super) fn new(number: usize, size: BlockSize, part: bool, most_bytes: usize) -> Self {
        let (waiting, sorted) = Default::default();
        Self {
            number,
            size,
            table: Table::new(part, number),
            counts: Counts::default(),
            block_writes: 0,
            cut: 0,
            untracked: 0,
            most_bytes,
            waiting,
            sorted,
        }
    }

    /// Sets which of the shards this is.
    pub(super) fn set_number(&mut self, number: usize) {
        self.number = number;
        self.table.set_shard(number);
    }

    /// Takes in a touch; returns whether enough wait now to be [settled](Self::settle_much).
    #[inline]
    fn push(&mut self, address: &Address, run: Run, now_ns: u64) -> bool {
        if let Some(place) = self.table.place(address) {
            // The number always fits.
            let second = self.counts.windows.under_way() as u16 - 1;
            self.waiting.push(Touch::new(place, run, now_ns, second));
        }
        self.waiting.len() >= MOST_WAITING
    }

    /// Advances to a time.
    fn enter(&mut self, time_ns: u64) {
        let windows = &self.counts.windows;
        if windows.under_way() >= MOST_SECONDS && !windows.is_now(time_ns) {
            self.settle();
        }
        self.counts.windows.enter(time_ns);
    }

    /// Counts what was gathered if it is much. That depends only on the requests, so the result is
    /// the same however the shards are divided.
    fn settle_much(&mut self, now_ns: u64) {
        if self.waiting.len() >= MOST_WAITING {
            self.settle();
            self.enter(now_ns);
        }
    }

    /// Counts what was gathered, partition by partition, because the whole table is far larger than
    /// the caches.
    pub(super) fn settle(&mut self) {
        let (mut touches, mut sorted) =
            (std::mem::take(&mut self.waiting), std::mem::take(&mut self.sorted));
        if touches.len() > FEW {
            Table::sort(&touches, &mut sorted);
            std::mem::swap(&mut touches, &mut sorted);
        }
        for run in touches.chunk_by(|one, next| one.partition() == next.partition()) {
            self.table.touch_all(run, &mut self.counts);
        }
        self.counts.windows.settle();
        touches.clear();
        (self.waiting, self.sorted) = (touches, sorted);
        self.make_room();
    }

    /// Goes on with fewer blocks if the table is too large.
    fn make_room(&mut self) {
        while self.table.bytes() > self.most_bytes && self.table.halve() {}
    }

    /// Adds the later part.
    pub(super) fn merge(&mut self, later: Self) {
        self.counts.windows.merge(later.counts.windows);
        while self.table.one_in() < later.table.one_in() && self.table.halve() {}
        for (key, block, first) in later.table.iter() {
            self.join(key, &block, &first);
            self.make_room();
        }
        self.counts.delays.merge(&later.counts.delays);
        self.counts.tracked += later.counts.tracked;
        self.block_writes += later.block_writes;
        self.cut += later.cut;
        self.untracked += later.untracked + later.table.untracked();
    }

    fn join(&mut self, key: u64, theirs: &Block, first: &First) {
        let Some(place) = self.table.place(&Address::of(key >> GROUP_BITS)) else { return };
        let found = self.table.find(place, (key & (GROUP - 1)) as u8);
        let known = self.table.get(&found);
        let mut block = known.unwrap_or_default();
        let one_in = self.table.one_in();
        let last = std::mem::replace(&mut block.last, theirs.last);
        if last != Moment::NEVER {
            self.counts.windows.counted_twice(last, first.touch, one_in);
            self.counts.tracked = self.counts.tracked.saturating_sub(one_in);
        }
        block.writes |= theirs.writes & !WRITES;
        let (mine, more) = (block.writes & WRITES, theirs.writes & WRITES);
        if mine > 0 && more > 0 {
            let delay_ns = first.write_ns.saturating_sub(block.last_write_ns);
            self.counts.delays.add_many(delay_ns, one_in);
        }
        if more > 0 {
            block.last_write_ns = theirs.last_write_ns;
            block.writes = more_writes(block.writes, more);
        }
        self.table.put(&found, &block, first);
        if known.is_some() && mine == 0 && more > 0 {
            self.table.begin(&found, first.write_ns);
        }
    }

    /// Renumbers the devices by a function of the keys; a block stays in its shard.
    pub(super) fn renumber(&mut self, name: impl Fn(u64) -> u64) {
        let mut table = Table::new(self.table.is_part(), self.number);
        while table.one_in() < self.table.one_in() && table.halve() {}
        for (key, block, first) in self.table.iter() {
            table.restore(name(key), &block, &first);
        }
        self.table = table;
    }
}

/// Lets shards with consecutive numbers take in requests, as far as the blocks belong to them. The
/// touches count after [`Blocks::settle`](super::Blocks::settle).
pub fn gather(shards: &mut [Shard], ios: &[Io]) {
    let Some(&mut Shard { number: first, size, .. }) = shards.first_mut() else { return };
    // The second in which all shards are: most requests fall in the previous one's second.
    let mut second_ns = 0..0;
    for io in ios {
        let keys = touched(io, size);
        if keys.is_empty() {
            continue;
        }
        let read = io.request.op == Op::Read;
        // The figures count only writes.
        let of_request = touched(io, size.begin(BlockAlign::Request)).end;
        let figures_end = if read { keys.start } else { of_request.min(keys.end) };
        if first == 0 {
            let counted = (keys.end - keys.start) * size.bytes();
            shards[0].cut += u64::from(counted < u64::from(io.request.len));
            shards[0].block_writes += figures_end - keys.start;
        }
        if !second_ns.contains(&io.queued_ns) {
            shards.iter_mut().for_each(|shard| shard.enter(io.queued_ns));
            second_ns = shards[0].counts.windows.now_ns();
        }
        let mut is_much = false;
        let mut key = keys.start;
        while key < keys.end {
            let group = key >> GROUP_BITS;
            let end = keys.end.min((group + 1) << GROUP_BITS);
            let address = Address::of(group);
            if let Some(shard) = shards.get_mut(address.shard().wrapping_sub(first)) {
                let from = (key & (GROUP - 1)) as u8;
                let place = |until: u64| from + (until - key) as u8;
                let (to, figures_to) = (place(end), place(figures_end.clamp(key, end)));
                is_much |= shard.push(&address, Run { from, to, figures_to, read }, io.queued_ns);
            }
            key = end;
        }
        if is_much {
            shards.iter_mut().for_each(|shard| shard.settle_much(io.queued_ns));
        }
    }
}
