//! The write buffer: pages that are reported complete but are not yet in the cells.

/// Pages in a piece of the table.
const PIECE: usize = 64;
/// Marks a piece without pages in the buffer; a table of zeros takes no memory until an entry
/// changes.
const NONE: u32 = 0;

/// The buffer's copies of one page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Held {
    /// Whether only part of the copy that waits to be programmed is new; `None` if no copy waits.
    waiting: Option<bool>,
    /// Blocks written to that copy, including repeated ones.
    blocks: u32,
    /// Number of copies being programmed.
    programming: u32,
}

/// Adjacent pages, and how many of them are in the buffer.
#[derive(Clone, Debug)]
struct Piece {
    pages: [Held; PIECE],
    count: u32,
}

/// The pages in the write buffer, by number; only pieces with a page in the buffer take memory.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// For every piece, its index in `held`, from 1; [`NONE`] if it has none.
    pieces: Vec<u32>,
    held: Vec<Piece>,
    /// Unused entries of `held`, from 1.
    free: Vec<u32>,
    used: usize,
    waiting_blocks: u64,
    room: usize,
    /// Blocks of a page.
    page_blocks: u32,
}

impl Buffer {
    /// Creates an empty buffer with space for `room` pages, for a drive of `pages` pages of
    /// `page_blocks` blocks.
    pub fn new(room: usize, pages: u32, page_blocks: u32) -> Self {
        let pieces = vec![NONE; (pages as usize).div_ceil(PIECE)];
        let (held, free) = (Vec::new(), Vec::new());
        Self { pieces, held, free, used: 0, waiting_blocks: 0, room, page_blocks }
    }

    #[inline]
    fn get(&self, page: u32) -> Held {
        match self.pieces[page as usize / PIECE] {
            NONE => Held::default(),
            at => self.held[at as usize - 1].pages[page as usize % PIECE],
        }
    }

    /// Changes what the buffer holds of a page.
    fn set(&mut self, page: u32, held: Held) {
        let piece = &mut self.pieces[page as usize / PIECE];
        if *piece == NONE {
            if held == Held::default() {
                return;
            }
            *piece = self.free.pop().unwrap_or_else(|| {
                self.held.push(Piece { pages: [Held::default(); PIECE], count: 0 });
                self.held.len() as u32
            });
        }
        let one = &mut self.held[*piece as usize - 1];
        let was = std::mem::replace(&mut one.pages[page as usize % PIECE], held);
        one.count += u32::from(held != Held::default());
        one.count -= u32::from(was != Held::default());
        if one.count == 0 {
            self.free.push(std::mem::replace(piece, NONE));
        }
    }

    /// Whether the newest copy of a page is in the buffer.
    #[inline]
    pub fn holds(&self, page: u32) -> bool {
        self.used > 0 && self.get(page) != Held::default()
    }

    /// Whether a read of `blocks` blocks of a page needs no cells: a copy of which only part is new
    /// answers no more than that part.
    #[inline]
    pub fn answers(&self, page: u32, blocks: u64) -> bool {
        if self.used == 0 {
            return false;
        }
        let held = self.get(page);
        let lacks_some = held.waiting == Some(true) && u64::from(held.blocks) < blocks;
        held != Held::default() && !lacks_some
    }

    /// Whether a write to a page would be merged with a copy that waits.
    pub fn is_waiting(&self, page: u32) -> bool {
        self.get(page).waiting.is_some()
    }

    /// Blocks written to the copies that wait.
    pub fn waiting_blocks(&self) -> u64 {
        self.waiting_blocks
    }

    /// Number of copies that take space.
    pub fn used(&self) -> u64 {
        self.used as u64
    }

    /// Whether there is no space for another page.
    pub fn is_full(&self) -> bool {
        self.used >= self.room
    }

    /// Takes `blocks` blocks of a page; `in_part` means that the rest of the page is in the cells.
    ///
    /// If they are merged with a copy that waits, returns how many blocks are certainly
    /// overwritten: those beyond the blocks of a page. Such a copy is whole once as many blocks as
    /// a page has were written to it.
    pub fn take(&mut self, page: u32, in_part: bool, blocks: u32) -> Option<u32> {
        let held = self.get(page);
        let merged = held.waiting.is_some();
        let all = held.blocks.saturating_add(blocks);
        let still = |in_part: bool| in_part && all < self.page_blocks;
        let waiting = Some(held.waiting.map_or(in_part, still));
        self.set(page, Held { waiting, blocks: all, ..held });
        self.waiting_blocks += u64::from(all - held.blocks);
        self.used += usize::from(!merged);
        let beyond = |blocks: u32| blocks.saturating_sub(self.page_blocks);
        merged.then(|| beyond(all) - beyond(held.blocks))
    }

    /// Begins to program a waiting copy; returns whether the rest of the page must be read first.
    pub fn begin(&mut self, page: u32) -> Option<bool> {
        let held = self.get(page);
        let in_part = held.waiting?;
        self.set(page, Held { waiting: None, blocks: 0, programming: held.programming + 1 });
        self.waiting_blocks -= u64::from(held.blocks);
        Some(in_part)
    }

    /// Records that a copy has been programmed.
    pub fn end(&mut self, page: u32) {
        let held = self.get(page);
        if held != Held::default() {
            self.used -= 1;
            self.set(page, Held { programming: held.programming.saturating_sub(1), ..held });
        }
    }

    /// Removes the copies that wait; returns their page numbers.
    pub fn discard(&mut self, pages: std::ops::Range<u32>) -> Vec<u32> {
        let mut gone = Vec::new();
        let mut page = pages.start;
        while page < pages.end {
            if self.pieces[page as usize / PIECE] == NONE {
                let next = (page as usize / PIECE + 1) * PIECE;
                page = u32::try_from(next).unwrap_or(u32::MAX);
                continue;
            }
            let held = self.get(page);
            if held.waiting.is_some() {
                gone.push(page);
                self.set(page, Held { waiting: None, blocks: 0, ..held });
                self.waiting_blocks -= u64::from(held.blocks);
            }
            page += 1;
        }
        self.used -= gone.len();
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_to_a_page_that_waits_are_merged_and_take_no_room() {
        let mut buffer = Buffer::new(2, 100, 8);
        assert_eq!(buffer.take(7, true, 1), None);
        assert_eq!(buffer.take(7, true, 2), Some(0), "they may be others");
        assert!(!buffer.is_full());
        assert_eq!(buffer.take(7, false, 8), Some(3), "a page has no more than eight");
        assert_eq!(buffer.waiting_blocks(), 11);
        assert_eq!(buffer.begin(7), Some(false), "all of it was written");
        assert_eq!(buffer.waiting_blocks(), 0);
        assert_eq!(buffer.take(7, false, 8), None, "the copy before is on its way");
        assert!(buffer.is_full());
        buffer.end(7);
        assert!(buffer.holds(7) && !buffer.is_full());
        buffer.take(70, false, 3);
        assert_eq!(buffer.discard(0..8), [7]);
        assert_eq!(buffer.waiting_blocks(), 3);
        assert_eq!(buffer.discard(8..100), [70]);
        assert!(!buffer.holds(7) && buffer.begin(7).is_none());
    }

    #[test]
    fn a_part_of_a_page_stays_a_part_until_the_rest_is_written() {
        let mut buffer = Buffer::new(2, 100, 8);
        assert!(!buffer.answers(7, 1));
        buffer.take(7, true, 3);
        assert!(buffer.answers(7, 3) && !buffer.answers(7, 4));
        assert!(buffer.take(7, false, 3).is_some());
        assert!(buffer.answers(7, 6) && !buffer.answers(7, 8));
        assert_eq!(buffer.begin(7), Some(true), "two blocks are in the cells alone");
        buffer.take(8, true, 4);
        assert!(buffer.take(8, false, 4).is_some());
        assert!(buffer.answers(8, 8));
        assert_eq!(buffer.begin(8), Some(false));
        assert!(buffer.answers(7, 8), "what is programmed has been completed from the cells");
        buffer.take(9, false, 1);
        assert!(buffer.take(9, false, 1).is_some());
        assert_eq!(buffer.begin(9), Some(false), "nothing of it is in the cells");
    }
}
