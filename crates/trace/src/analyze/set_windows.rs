//! How many distinct blocks are touched in each second, minute, hour? (Working set over time)

use super::time_series::SECOND_NS;
use ioscape_schema::trace_summary::WorkingSetWindows;
use serde::{Deserialize, Serialize};

/// Most windows of one width that are kept.
const MOST_WINDOWS: u64 = 4000;
/// Widths in seconds; each holds a whole number of the one before.
const WIDTHS_S: [u32; 6] = [1, 10, 60, 600, 3600, 86_400];
/// Widths in the result, the finest that are kept.
const LISTED: usize = 3;

/// A second of the clock, counted from 1; the time of 136 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment(u32);

impl Moment {
    /// Before all seconds.
    pub const NEVER: Self = Self(0);

    fn of(time_ns: u64) -> Self {
        Self(u32::try_from(time_ns / SECOND_NS + 1).unwrap_or(u32::MAX))
    }

    /// The second's number, 0 for none.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The second of that number.
    pub fn numbered(number: u32) -> Self {
        Self(number)
    }

    fn window(self, width_s: u32) -> u32 {
        self.0.saturating_sub(1) / width_s
    }
}

/// Distinct blocks by window of one width.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Windows {
    first: Option<u32>,
    blocks: Vec<u64>,
    /// There were too many windows.
    dropped: bool,
}

impl Windows {
    fn add(&mut self, window: u32, blocks: u64) {
        let first = *self.first.get_or_insert(window);
        let place = u64::from(window.saturating_sub(first));
        if self.dropped || place >= MOST_WINDOWS {
            self.dropped = true;
            self.blocks = Vec::new();
            return;
        }
        let place = place as usize;
        if place >= self.blocks.len() {
            self.blocks.resize(place + 1, 0);
        }
        self.blocks[place] += blocks;
    }

    /// Adds those of another part, which may begin before.
    fn merge(&mut self, other: Self) {
        let Some(first) = other.first else { return };
        self.dropped |= other.dropped;
        let before = self.first.map_or(0, |mine| mine.saturating_sub(first));
        if !self.dropped && u64::from(before) < MOST_WINDOWS {
            self.blocks.splice(0..0, std::iter::repeat_n(0, before as usize));
        } else {
            self.dropped = true;
        }
        self.first = Some(self.first.map_or(first, |mine| mine.min(first)));
        for (window, blocks) in (first..).zip(other.blocks) {
            self.add(window, blocks);
        }
        if self.dropped || self.blocks.len() as u64 > MOST_WINDOWS {
            (self.dropped, self.blocks) = (true, Vec::new());
        }
    }

    fn take(&mut self, window: u32, count: u64) {
        let place = window.saturating_sub(self.first.unwrap_or(0)) as usize;
        if let Some(blocks) = self.blocks.get_mut(place) {
            *blocks = blocks.saturating_sub(count);
        }
    }
}

/// Distinct blocks by windows of all widths.
///
/// Windows are nested: a block that is new in one is new in all finer ones. So it is enough to count, within a second, how many
/// widths a touch is new for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SetWindows {
    widths: [Windows; WIDTHS_S.len()],
    /// The second under way and its bounds.
    now: Moment,
    bounds_ns: [u64; 2],
    /// First second of the windows under way, from the finest on.
    begun: [u32; WIDTHS_S.len()],
    /// Touches of this second by the number of widths they are new for.
    new_for: [u64; WIDTHS_S.len() + 1],
}

impl Default for SetWindows {
    fn default() -> Self {
        Self {
            widths: Default::default(),
            now: Moment::NEVER,
            bounds_ns: [1, 0],
            begun: [0; WIDTHS_S.len()],
            new_for: [0; WIDTHS_S.len() + 1],
        }
    }
}

impl SetWindows {
    /// Says what time it is now.
    #[inline]
    pub fn enter(&mut self, time_ns: u64) -> Moment {
        if time_ns < self.bounds_ns[0] || time_ns >= self.bounds_ns[1] {
            self.begin(time_ns);
        }
        self.now
    }

    fn begin(&mut self, time_ns: u64) {
        self.settle();
        self.now = Moment::of(time_ns);
        let second = time_ns / SECOND_NS;
        self.bounds_ns = [second * SECOND_NS, (second + 1).saturating_mul(SECOND_NS)];
        for (begun, width) in self.begun.iter_mut().zip(WIDTHS_S) {
            *begun = self.now.window(width) * width + 1;
        }
    }

    /// Counts a touch, which stands for so many, of a block that was touched last at that time.
    #[inline]
    pub fn count(&mut self, last: Moment, times: u64) {
        // New in no second, so in nothing wider.
        if last.0 >= self.begun[0] {
            return;
        }
        let new_for: u32 = self.begun.iter().map(|&begun| u32::from(last.0 < begun)).sum();
        self.new_for[new_for as usize] += times;
    }

    /// Adds this second to its windows.
    fn settle(&mut self) {
        if self.now == Moment::NEVER {
            return;
        }
        let mut new = 0;
        for (at, width) in WIDTHS_S.into_iter().enumerate().rev() {
            new += std::mem::take(&mut self.new_for[at + 1]);
            self.widths[at].add(self.now.window(width), new);
        }
        self.new_for[0] = 0;
    }

    /// Adds the later part, in which blocks are counted that were touched in the same window here: see
    /// [`counted_twice`](Self::counted_twice).
    pub fn merge(&mut self, later: &Self) {
        self.settle();
        let mut later = later.clone();
        later.settle();
        for (mine, theirs) in self.widths.iter_mut().zip(later.widths) {
            mine.merge(theirs);
        }
        (self.now, self.bounds_ns) = (Moment::NEVER, [1, 0]);
    }

    /// A block's last touch in one part and its first in the next: where both are in one window, it was counted twice, and stands for so many.
    #[inline]
    pub fn counted_twice(&mut self, before: Moment, after: Moment, times: u64) {
        for (windows, width) in self.widths.iter_mut().zip(WIDTHS_S).rev() {
            if before.window(width) != after.window(width) {
                return;
            }
            windows.take(after.window(width), times);
        }
    }

    /// The three finest widths kept, from `origin_ns` on.
    pub fn finish(&self, block_bytes: u64, origin_ns: u64) -> Vec<WorkingSetWindows> {
        let mut all = self.clone();
        all.settle();
        let kept = all.widths.into_iter().zip(WIDTHS_S).filter(|(windows, _)| !windows.dropped);
        let listed = kept.filter_map(|(windows, width)| {
            let window_ns = u64::from(width) * SECOND_NS;
            let start = i128::from(windows.first?) * i128::from(window_ns);
            Some(WorkingSetWindows {
                window_ns,
                start_ns: i64::try_from(start - i128::from(origin_ns)).unwrap_or(i64::MAX),
                bytes: windows.blocks.iter().map(|&blocks| blocks * block_bytes).collect(),
            })
        });
        listed.take(LISTED).collect()
    }
}
