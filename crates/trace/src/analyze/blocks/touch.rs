//! What a request does to the blocks of a partition, and what is counted of it.

use super::block::{First, GROUP, WAS_READ, WAS_WRITTEN, WRITES, more_writes};
use super::partition::Partition;
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
        let Run { from, to, figures_to, read } = touch.run();
        let now = counts.windows.moment(touch.second);
        let mark = if read { WAS_READ } else { WAS_WRITTEN };
        for number in from..to {
            let at = usize::from(number);
            if read && line.was_touched(at, mark, now) {
                continue;
            }
            let before = line.touch(at, mark, now, (number < figures_to).then_some(touch.now_ns));
            counts.windows.count(touch.second, before.last, rules.one_in);
            if !before.known {
                *len += 1;
                counts.tracked += rules.one_in;
            }
            if let Some(last_ns) = before.last_write_ns {
                counts.delays.add_many(touch.now_ns.saturating_sub(last_ns), rules.one_in);
            }
        }
        true
    }

    #[inline]
    fn touch(&mut self, touch: &Touch, rules: Rules, counts: &mut Counts) {
        let (now_ns, Run { from, to, figures_to, read }) = (touch.now_ns, touch.run());
        let now = counts.windows.moment(touch.second);
        let mark = if read { WAS_READ } else { WAS_WRITTEN };
        let mut place = self.seek(touch.key);
        for number in from..to {
            let key = touch.key + u32::from(number - from);
            if number > from {
                place = self.seek_behind(place, key);
            }
            let mut block = self.get(place, rules.base);
            if read && block.last == now && block.writes & mark > 0 {
                continue;
            }
            counts.windows.count(touch.second, block.last, rules.one_in);
            let known = place.known;
            counts.tracked += if known { 0 } else { rules.one_in };
            block.last = now;
            block.writes |= mark;
            let counted = number < figures_to;
            let again = block.writes & WRITES > 0;
            if counted {
                if again {
                    let delay_ns = now_ns.saturating_sub(block.last_write_ns);
                    counts.delays.add_many(delay_ns, rules.one_in);
                }
                block.last_write_ns = now_ns;
                block.writes = more_writes(block.writes, 1);
            }
            place = self.put(place, key, &block, rules.base);
            if rules.part && (!known || (counted && !again)) {
                let written = (counted && !again).then_some(now_ns);
                self.begin(key, (!known).then_some(now), written);
            }
        }
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
