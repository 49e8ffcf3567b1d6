//! What a request does to the blocks of a partition, and what is counted of it.

use super::block::{GROUP, WAS_READ, WAS_WRITTEN};
use super::entry::{Set, Touched};
use super::partition::Partition;
use super::slots::SetTouch;
use crate::analyze::log_histogram::LogHistogram;
use crate::analyze::set_windows::SetWindows;

/// How many touches ahead a place is prefetched.
const AHEAD: usize = 12;

/// Bits of a touch, from the lowest on: its partition, where its blocks end, where those counted in
/// the figures end, whether it reads.
const TO_AT: u32 = 7;
const FIGURES_AT: u32 = TO_AT + 3;
const READ_AT: u32 = FIGURES_AT + 3;
const _: () = assert!(GROUP < 1 << (FIGURES_AT - TO_AT));
/// The number of partitions that a touch can name.
pub(super) const MOST_PARTITIONS: usize = 1 << TO_AT;

/// Where the blocks of a group are: the partition of the table, and the key of the first block.
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
    /// End of the blocks whose writes count in Figures 12 and 13, which use
    /// [`BlockAlign::Request`](super::BlockAlign::Request).
    pub figures_to: u8,
    pub read: bool,
}

impl Run {
    /// The mark of the request's operation.
    #[inline]
    fn mark(self) -> u32 {
        if self.read { WAS_READ } else { WAS_WRITTEN }
    }

    /// The time, if the write of that block counts in the figures.
    #[inline]
    fn written_ns(self, block: u8, now_ns: u64) -> Option<u64> {
        (block < self.figures_to).then_some(now_ns)
    }
}

/// A request's touch of blocks of one group. It takes 16 bytes: the more touches wait, the more of
/// one partition can be counted together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Touch {
    pub now_ns: u64,
    /// The key of its first block, in its partition.
    pub key: u32,
    /// The place of its second among the unsettled ones.
    pub second: u16,
    bits: u16,
}

impl Touch {
    /// Creates a touch in the second at that place.
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

/// The counts of touches, independent of their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// First touches.
    pub tracked: u64,
    pub windows: SetWindows,
    /// Times between writes of the same block.
    pub delays: LogHistogram,
}

impl Counts {
    /// Counts a touch of so many blocks in a given previous state.
    // Inlined: a call would take a tenth of the time of a touch.
    #[inline(always)]
    fn count(&mut self, touch: &Touch, before: &Touched, number: u64) {
        self.windows.count(touch.second, before.last, number);
        self.tracked += if before.known { 0 } else { number };
        if let Some(last_ns) = before.last_write_ns {
            self.delays.add_many(touch.now_ns.saturating_sub(last_ns), number);
        }
    }
}

/// The rules by which touches count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// The second from which times are counted.
    pub base: u32,
    /// How many blocks each block stands for.
    pub one_in: u64,
    /// Whether the first touch and write of each block are kept.
    pub part: bool,
}

impl Partition {
    /// Counts touches, in order.
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

    /// Counts a touch of blocks in a line; does nothing and returns `false` if there is no line, or
    /// no room in it.
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
        let group = touch.key & !(GROUP as u32 - 1);
        let counted_to = run.figures_to.clamp(run.from, run.to);
        let written_ns = (counted_to > run.from).then_some(touch.now_ns);
        // Only few writes have just some of their blocks count in the figures.
        for (from, to, written_ns) in
            [(run.from, counted_to, written_ns), (counted_to, run.to, None)]
        {
            if from < to {
                let (set, mark, base) = (blocks(from, to), run.mark(), rules.base);
                let of_set = SetTouch { group, set, mark, now, written_ns, base };
                self.touch_set(&of_set, &mut |before, number| {
                    counts.count(touch, before, rules.one_in * u64::from(number));
                });
            }
        }
    }
}

/// The blocks of a group from one place to another.
#[inline]
fn blocks(from: u8, to: u8) -> Set {
    (1 << to) - (1 << from)
}
