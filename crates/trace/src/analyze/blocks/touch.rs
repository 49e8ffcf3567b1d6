//! What a request does to the blocks of a partition, and what is counted of it.

use super::block::{First, GROUP, WAS_READ, WAS_WRITTEN, WRITES, more_writes};
use super::entry::Touched;
use super::partition::{Partition, Place};
use crate::analyze::log_histogram::LogHistogram;
use crate::analyze::set_windows::{Moment, SetWindows};

/// Touches of a partition that a place is brought from memory before it is needed.
const AHEAD: usize = 12;

/// Bits of a touch from the lowest on: its partition, where its blocks end, where those end that count in the figures, whether it reads.
const TO_AT: u32 = 7;
const FIGURES_AT: u32 = TO_AT + 3;
const READ_AT: u32 = FIGURES_AT + 3;
const _: () = assert!(GROUP < 1 << (FIGURES_AT - TO_AT));
/// Partitions that a touch can name.
pub(super) const MOST_PARTITIONS: usize = 1 << TO_AT;

/// Where the blocks of a group are: the partition of the table, and the key of the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupPlace {
    pub partition: u16,
    pub key: u32,
}

/// The blocks of one group that a request touches, by their places in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub from: u8,
    pub to: u8,
    /// Where the blocks end whose writes count in Figures 12 and 13, which go by
    /// [`BlockAlign::Request`](super::BlockAlign::Request).
    pub figures_to: u8,
    pub read: bool,
}

impl Run {
    /// What the request does to its blocks.
    #[inline]
    fn mark(self) -> u32 {
        if self.read { WAS_READ } else { WAS_WRITTEN }
    }

    /// The time, where the write of that block counts in the figures.
    #[inline]
    fn written_ns(self, block: u8, now_ns: u64) -> Option<u64> {
        (block < self.figures_to).then_some(now_ns)
    }
}

/// A request's touch of blocks of one group, in 16 bytes: the more of them wait, the more of those of one partition come together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Touch {
    pub now_ns: u64,
    /// The key of the first of its blocks, in its partition.
    pub key: u32,
    /// The place of its second among those under way.
    pub second: u16,
    bits: u16,
}

impl Touch {
    /// In the second of that place.
    #[inline]
    pub fn new(place: GroupPlace, run: Run, now_ns: u64, second: u16) -> Self {
        let bits = place.partition
            | u16::from(run.to) << TO_AT
            | u16::from(run.figures_to) << FIGURES_AT
            | u16::from(run.read) << READ_AT;
        Self { now_ns, key: place.key | u32::from(run.from), second, bits }
    }

    /// Its partition.
    #[inline]
    pub fn partition(&self) -> usize {
        usize::from(self.bits & ((1 << TO_AT) - 1))
    }

    /// Its blocks.
    #[inline]
    pub fn run(&self) -> Run {
        let three = |at: u32| (self.bits >> at) as u8 & 7;
        Run {
            from: (self.key & (GROUP as u32 - 1)) as u8,
            to: three(TO_AT),
            figures_to: three(FIGURES_AT),
            read: self.bits >> READ_AT != 0,
        }
    }
}

/// What is counted of touches, in whatever order.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// First touches.
    pub tracked: u64,
    pub windows: SetWindows,
    /// Times between writes of the same block.
    pub delays: LogHistogram,
}

impl Counts {
    /// Counts a touch of a block, of which that was known before; it stands for so many.
    #[inline]
    fn count(&mut self, touch: &Touch, before: &Touched, one_in: u64) {
        self.windows.count(touch.second, before.last, one_in);
        self.tracked += if before.known { 0 } else { one_in };
        if let Some(last_ns) = before.last_write_ns {
            self.delays.add_many(touch.now_ns.saturating_sub(last_ns), one_in);
        }
    }
}

/// By which rules touches count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// The second that times are kept from.
    pub base: u32,
    /// Each block stands for so many.
    pub one_in: u64,
    /// Of each block its first touch and write are kept.
    pub part: bool,
}

impl Partition {
    /// Counts touches, in their order.
    pub fn touch_all(&mut self, touches: &[Touch], rules: Rules, counts: &mut Counts) {
        touches.iter().take(AHEAD).for_each(|touch| self.fetch(touch.key));
        for (at, touch) in touches.iter().enumerate() {
            if let Some(ahead) = touches.get(at + AHEAD) {
                self.fetch(ahead.key);
            }
            if rules.part || !self.touch_line(touch, rules, counts) {
                self.touch(touch, rules, counts);
            }
        }
    }

    /// Counts a touch of blocks in a line; `false` where there is none, or it has no room: nothing is done then.
    #[inline]
    fn touch_line(&mut self, touch: &Touch, rules: Rules, counts: &mut Counts) -> bool {
        let Some((line, len)) = self.line(touch.key) else { return false };
        let (now, run) = (counts.windows.moment(touch.second), touch.run());
        for number in run.from..run.to {
            let at = usize::from(number);
            let before = line.touch(at, run.mark(), now, run.written_ns(number, touch.now_ns));
            *len += usize::from(!before.known);
            counts.count(touch, &before, rules.one_in);
        }
        true
    }

    #[inline]
    fn touch(&mut self, touch: &Touch, rules: Rules, counts: &mut Counts) {
        let (now, run) = (counts.windows.moment(touch.second), touch.run());
        let mut place = self.seek(touch.key);
        for number in run.from..run.to {
            let key = touch.key + u32::from(number - run.from);
            if number > run.from {
                place = self.seek_behind(place, key);
            }
            let written_ns = run.written_ns(number, touch.now_ns);
            let before = match self.touch_slot(place, run.mark(), now, written_ns, rules.base) {
                Some(before) => before,
                None => self.touch_block(&mut place, key, run.mark(), now, written_ns, rules.base),
            };
            counts.count(touch, &before, rules.one_in);
            if rules.part {
                let is_first = written_ns.filter(|_| before.last_write_ns.is_none());
                if !before.known || is_first.is_some() {
                    self.begin(key, (!before.known).then_some(now), is_first);
                }
            }
        }
    }

    /// Touches a block that is new, or kept in any way; its place is then that one.
    pub(super) fn touch_block(
        &mut self,
        place: &mut Place,
        key: u32,
        mark: u32,
        now: Moment,
        written_ns: Option<u64>,
        base: u32,
    ) -> Touched {
        let mut block = self.get(*place, base);
        let again = written_ns.is_some() && block.writes & WRITES > 0;
        let last_write_ns = again.then_some(block.last_write_ns);
        let before = Touched { known: place.known, last: block.last, last_write_ns };
        block.last = now;
        block.writes |= mark;
        if let Some(ns) = written_ns {
            block.last_write_ns = ns;
            block.writes = more_writes(block.writes, 1);
        }
        *place = self.put(*place, key, &block, base);
        before
    }

    /// Keeps the first touch of a block that is there, or its first write.
    pub fn begin(&mut self, key: u32, touch: Option<Moment>, write_ns: Option<u64>) {
        let Some(first) = self.first(key) else { return };
        *first = First {
            touch: touch.unwrap_or(first.touch),
            write_ns: write_ns.unwrap_or(first.write_ns),
        };
    }
}
