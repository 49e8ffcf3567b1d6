//! The map from logical to physical pages, stored only where it differs from the initial state.

/// Pages in a piece of the map.
const PIECE: usize = 64;
/// Marks a piece in its initial state; a map of zeros takes no memory until an entry changes.
const FIRST: u32 = 0;
/// Marks a piece that holds nothing.
const NOTHING: u32 = u32::MAX;
/// Marks a page that holds nothing.
const NOWHERE: u32 = u32::MAX;
/// Marks a page that is where it was at first.
const UNMOVED: u32 = u32::MAX - 1;

/// The map's entry for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Unchanged: where it was at first.
    First,
    /// Nowhere: never written, or discarded.
    Nowhere,
    /// At this physical page.
    At(u32),
}

/// Physical pages by logical page.
#[derive(Clone, Debug)]
pub struct Map {
    /// For every piece, its index in `held`, from 1; or [`FIRST`] or [`NOTHING`].
    pieces: Vec<u32>,
    held: Vec<[u32; PIECE]>,
}

impl Map {
    /// Creates a map of `pages` pages, all where they were at first.
    pub fn new(pages: u32) -> Self {
        Self { pieces: vec![FIRST; (pages as usize).div_ceil(PIECE)], held: Vec::new() }
    }

    /// Where a page is.
    #[inline]
    pub fn get(&self, page: u32) -> Entry {
        match self.pieces[page as usize / PIECE] {
            FIRST => Entry::First,
            NOTHING => Entry::Nowhere,
            piece => match self.held[piece as usize - 1][page as usize % PIECE] {
                NOWHERE => Entry::Nowhere,
                UNMOVED => Entry::First,
                physical => Entry::At(physical),
            },
        }
    }

    /// Puts a page at a physical page, or nowhere.
    pub fn set(&mut self, page: u32, physical: Option<u32>) {
        let (piece, place) = (page as usize / PIECE, page as usize % PIECE);
        let at = self.pieces[piece];
        if at == FIRST || at == NOTHING {
            self.held.push([if at == FIRST { UNMOVED } else { NOWHERE }; PIECE]);
            self.pieces[piece] = self.held.len() as u32;
        }
        self.held[self.pieces[piece] as usize - 1][place] = physical.unwrap_or(NOWHERE);
    }

    /// Records that all pages in the same piece as `page` hold nothing.
    pub fn clear_piece(&mut self, page: u32) {
        let piece = page as usize / PIECE;
        match self.pieces[piece] {
            FIRST | NOTHING => self.pieces[piece] = NOTHING,
            held => self.held[held as usize - 1] = [NOWHERE; PIECE],
        }
    }

    /// Whether a whole piece begins at `page` and ends by `end`.
    pub fn is_whole_piece(page: u32, end: u32) -> bool {
        (page as usize).is_multiple_of(PIECE) && page as usize + PIECE <= end as usize
    }

    /// Number of pages in a piece.
    pub const fn piece() -> u32 {
        PIECE as u32
    }
}
