//! The write buffer: pages that are reported complete and are not yet in the cells.

use std::collections::BTreeMap;

/// A page in the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Held {
    /// A copy waits to be programmed, and whether only a part of it is new.
    waiting: Option<bool>,
    /// Copies that are being programmed.
    programming: u32,
}

/// Pages in the write buffer.
#[derive(Clone, Debug)]
pub struct Buffer {
    pages: BTreeMap<u32, Held>,
    used: usize,
    room: usize,
}

impl Buffer {
    /// An empty buffer for so many pages.
    pub fn new(room: usize) -> Self {
        Self { pages: BTreeMap::new(), used: 0, room }
    }

    /// Whether a page's newest copy is here.
    #[inline]
    pub fn holds(&self, page: u32) -> bool {
        self.pages.contains_key(&page)
    }

    /// Whether a write to a page would be merged with one that waits.
    pub fn is_waiting(&self, page: u32) -> bool {
        self.pages.get(&page).is_some_and(|held| held.waiting.is_some())
    }

    /// Pages that wait.
    pub fn waiting(&self) -> u64 {
        self.pages.values().filter(|held| held.waiting.is_some()).count() as u64
    }

    /// Whether there is no room for another page.
    pub fn is_full(&self) -> bool {
        self.used >= self.room
    }

    /// Takes a page; `in_part` when the rest of it is in the cells. Gives whether it was merged with a copy that waits.
    pub fn take(&mut self, page: u32, in_part: bool) -> bool {
        let held = self.pages.entry(page).or_default();
        let merged = held.waiting.is_some();
        held.waiting = Some(in_part && held.waiting.unwrap_or(true));
        self.used += usize::from(!merged);
        merged
    }

    /// Begins to program a page that waits; gives whether the rest of it must be read before.
    pub fn begin(&mut self, page: u32) -> Option<bool> {
        let held = self.pages.get_mut(&page)?;
        let in_part = held.waiting.take()?;
        held.programming += 1;
        Some(in_part)
    }

    /// A page is in the cells.
    pub fn end(&mut self, page: u32) {
        if let Some(held) = self.pages.get_mut(&page) {
            held.programming = held.programming.saturating_sub(1);
            self.used -= 1;
            if *held == Held::default() {
                self.pages.remove(&page);
            }
        }
    }

    /// Forgets pages that wait; gives their numbers.
    pub fn discard(&mut self, pages: std::ops::Range<u32>) -> Vec<u32> {
        let mut gone = Vec::new();
        for (&page, held) in self.pages.range_mut(pages) {
            if held.waiting.take().is_some() {
                gone.push(page);
            }
        }
        for page in &gone {
            self.used -= 1;
            if self.pages.get(page) == Some(&Held::default()) {
                self.pages.remove(page);
            }
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_to_a_page_that_waits_are_merged_and_take_no_room() {
        let mut buffer = Buffer::new(2);
        assert!(!buffer.take(7, true));
        assert!(buffer.take(7, true) && !buffer.is_full());
        assert!(buffer.take(7, false));
        assert_eq!(buffer.begin(7), Some(false), "all of it was written");
        assert!(!buffer.take(7, false), "the copy before is on its way");
        assert!(buffer.is_full());
        buffer.end(7);
        assert!(buffer.holds(7) && !buffer.is_full());
        assert_eq!(buffer.discard(0..8), [7]);
        assert!(!buffer.holds(7) && buffer.begin(7).is_none());
    }
}
