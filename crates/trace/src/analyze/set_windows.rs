//! How many distinct blocks are touched in each second, minute, hour? (Working set over time)

use super::time_series::SECOND_NS;
use ioscape_schema::trace_summary::WorkingSetWindows;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The most windows of one width that are kept.
const MOST_WINDOWS: u64 = 4000;
/// Widths in seconds; each is a whole multiple of the one before.
const WIDTHS_S: [u32; 6] = [1, 10, 60, 600, 3600, 86_400];
/// Widths in the result: the finest that were kept.
const LISTED: usize = 3;

/// A second of the clock, counted from 1; the range is 136 years.
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

    /// The second with this number.
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
    /// Whether there were too many windows.
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

    /// Adds the windows of another part, which may begin earlier.
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
        for (blocks, window) in other.blocks.into_iter().zip(first..) {
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

/// Distinct blocks by window, for all widths.
///
/// Windows are nested: a block that is new in one is new in all finer ones. So it suffices to
/// count, within a second, for how many widths a touch is new.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SetWindows {
    widths: [Windows; WIDTHS_S.len()],
    /// Seconds entered but not yet settled, and the bounds of the last one.
    #[serde(skip)]
    seconds: Vec<Second>,
    #[serde(skip, default = "nowhere")]
    bounds_ns: [u64; 2],
}

/// A second, and the touches that are new in it.
#[derive(Clone, Debug)]
struct Second {
    now: Moment,
    /// First second of the windows that contain this one, from the finest on.
    begun: [u32; WIDTHS_S.len()],
    /// Touches by the number of widths for which they are new.
    new_for: [u64; WIDTHS_S.len() + 1],
}

/// Bounds that contain no time.
fn nowhere() -> [u64; 2] {
    [1, 0]
}

impl Default for SetWindows {
    fn default() -> Self {
        let (widths, seconds) = Default::default();
        Self { widths, seconds, bounds_ns: nowhere() }
    }
}

impl SetWindows {
    /// Advances to a time.
    #[inline]
    pub fn enter(&mut self, time_ns: u64) {
        if !self.is_now(time_ns) {
            self.begin(time_ns);
        }
    }

    /// Whether a time lies in the second entered last.
    #[inline]
    pub fn is_now(&self, time_ns: u64) -> bool {
        time_ns >= self.bounds_ns[0] && time_ns < self.bounds_ns[1]
    }

    /// Bounds of the second entered last; empty if there is none.
    #[inline]
    pub fn now_ns(&self) -> Range<u64> {
        self.bounds_ns[0]..self.bounds_ns[1]
    }

    /// Number of seconds entered but not [settled](Self::settle).
    #[inline]
    pub fn under_way(&self) -> usize {
        self.seconds.len()
    }

    /// The second at a place among the unsettled ones.
    #[inline]
    pub fn moment(&self, place: u16) -> Moment {
        self.seconds[usize::from(place)].now
    }

    fn begin(&mut self, time_ns: u64) {
        let now = Moment::of(time_ns);
        let second = time_ns / SECOND_NS;
        self.bounds_ns = [second * SECOND_NS, (second + 1).saturating_mul(SECOND_NS)];
        let begun = WIDTHS_S.map(|width| now.window(width) * width + 1);
        self.seconds.push(Second { now, begun, new_for: Default::default() });
    }

    /// Counts a touch in the second at `place`; it stands for `times` touches of a block last
    /// touched at `last`.
    #[inline]
    pub fn count(&mut self, place: u16, last: Moment, times: u64) {
        let second = &mut self.seconds[usize::from(place)];
        // No unpredictable branch: touches that are new for no width are counted too, and ignored.
        let new_for: u32 = second.begun.iter().map(|&begun| u32::from(last.0 < begun)).sum();
        second.new_for[new_for as usize] += times;
    }

    /// Adds the seconds to their windows; a second may be entered again.
    pub fn settle(&mut self) {
        for second in self.seconds.drain(..) {
            let mut new = 0;
            for (at, width) in WIDTHS_S.into_iter().enumerate().rev() {
                new += second.new_for[at + 1];
                self.widths[at].add(second.now.window(width), new);
            }
        }
        self.bounds_ns = nowhere();
    }

    /// Adds the later part. It also counts blocks that were touched in the same window here: see
    /// [`counted_twice`](Self::counted_twice).
    pub fn merge(&mut self, later: Self) {
        for (mine, theirs) in self.widths.iter_mut().zip(later.widths) {
            mine.merge(theirs);
        }
    }

    /// Corrects for a block's last touch in one part and first touch in the next: if both fall in
    /// one window, the block, which stands for `times` blocks, was counted twice.
    #[inline]
    pub fn counted_twice(&mut self, before: Moment, after: Moment, times: u64) {
        for (windows, width) in self.widths.iter_mut().zip(WIDTHS_S).rev() {
            if before.window(width) != after.window(width) {
                return;
            }
            windows.take(after.window(width), times);
        }
    }

    /// The three finest widths that were kept, from `origin_ns` on.
    pub fn finish(&self, block_bytes: u64, origin_ns: u64) -> Vec<WorkingSetWindows> {
        let kept = self.widths.iter().zip(WIDTHS_S).filter(|(windows, _)| !windows.dropped);
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
