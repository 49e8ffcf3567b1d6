//! A table of entries in order of their keys, with gaps.
//!
//! Ordered linear probing (Amble and Knuth 1974): the search for a key begins where the key would
//! be if all keys were spread evenly, and ends at the first key that is not smaller. Entries with
//! the same key lie side by side. So most places can be filled, and growing is copying in order.

use branches::prefetch_read_data;

/// Bytes of the places after the last home, for keys that are pushed there.
const TAIL_BYTES: usize = 768;
/// Initial number of homes.
const LEAST: usize = 16;
/// Below this size the homes are doubled when there are too few; above it they grow by a sixth.
const SMALL_BYTES: usize = 16 << 10;
/// Cache lines prefetched for a key: those that a search passes, and those that shift when an entry
/// is inserted before them.
const FETCHED: usize = 3;
/// Bytes of a line of the processor's caches.
const LINE_BYTES: usize = 64;

/// The content of a place.
pub(super) trait Entry: Copy + Default {
    /// The most places that may be filled, in percent.
    const FULL: usize;
    /// What a part of a trace keeps beside an entry.
    type Beside: Copy + Default;
    /// Its key.
    fn key(&self) -> u32;
    /// Whether the place is free.
    fn is_free(&self) -> bool;
}

/// Entries by key.
#[derive(Clone, Debug)]
pub(super) struct Ordered<E: Entry> {
    entries: Vec<E>,
    /// As many as the entries in a part, otherwise none.
    beside: Vec<E::Beside>,
    keeps_beside: bool,
    homes: usize,
    taken: usize,
}

impl<E: Entry> Ordered<E> {
    const TAIL: usize = TAIL_BYTES / size_of::<E>();
    const SMALL: usize = SMALL_BYTES / size_of::<E>();

    /// Creates a table with room for `room` entries, and something beside each if `keeps_beside`.
    pub fn new(keeps_beside: bool, room: usize) -> Self {
        let (entries, beside) = Default::default();
        let mut new = Self { entries, beside, keeps_beside, homes: 0, taken: 0 };
        if room > 0 {
            new.stretch(room * 100 / E::FULL + LEAST);
        }
        new
    }

    /// Whether something is kept beside each entry.
    pub fn keeps_beside(&self) -> bool {
        self.keeps_beside
    }

    #[inline]
    fn home(&self, key: u32) -> usize {
        ((u64::from(key) * self.homes as u64) >> u32::BITS) as usize
    }

    /// Prefetches the place of a key.
    #[inline]
    pub fn fetch(&self, key: u32) {
        let home = self.home(key);
        for at in (0..FETCHED).map(|line| home + line * LINE_BYTES / size_of::<E>()) {
            if let Some(entry) = self.entries.get(at) {
                prefetch_read_data::<_, 0>(&raw const *entry);
            }
        }
    }

    /// Returns where a key is or belongs, and whether it is there; if several entries have the key,
    /// the first place.
    #[inline]
    pub fn seek(&self, key: u32) -> (usize, bool) {
        self.seek_from(self.home(key), key)
    }

    /// Does the same for a key that lies at `at` or after it.
    #[inline]
    pub fn seek_from(&self, mut at: usize, key: u32) -> (usize, bool) {
        while let Some(entry) = self.entries.get(at) {
            if entry.is_free() {
                break;
            }
            if entry.key() >= key {
                return (at, entry.key() == key);
            }
            at += 1;
        }
        (at, false)
    }

    /// Whether the entry at a place has this key.
    #[inline]
    pub fn has(&self, at: usize, key: u32) -> bool {
        self.entries.get(at).is_some_and(|entry| entry.key() == key && !entry.is_free())
    }

    /// The entry at a place.
    #[inline]
    pub fn at(&self, at: usize) -> &E {
        &self.entries[at]
    }

    /// The entry at a place, mutable; its key must stay.
    #[inline]
    pub fn at_mut(&mut self, at: usize) -> &mut E {
        &mut self.entries[at]
    }

    /// What is kept beside the entry at a place, if anything is.
    #[inline]
    pub fn beside(&mut self, at: usize) -> Option<&mut E::Beside> {
        self.beside.get_mut(at)
    }

    /// Whether it must [grow](Self::grow) before another entry.
    #[inline]
    pub fn is_full(&self) -> bool {
        (self.taken + 1) * 100 > self.homes * E::FULL
    }

    /// Inserts an entry where its key belongs.
    pub fn insert(&mut self, at: usize, entry: E) {
        self.taken += 1;
        let mut end = at;
        while self.entries.get(end).is_some_and(|entry| !entry.is_free()) {
            end += 1;
        }
        if end >= self.entries.len() {
            self.lengthen(end + Self::TAIL);
        }
        self.entries.copy_within(at..end, at + 1);
        self.entries[at] = entry;
        if self.keeps_beside {
            self.beside.copy_within(at..end, at + 1);
            self.beside[at] = E::Beside::default();
        }
    }

    fn lengthen(&mut self, to: usize) {
        self.reserve(to);
        self.entries.resize(to, E::default());
        if self.keeps_beside {
            self.beside.resize(to, E::Beside::default());
        }
    }

    /// Makes room.
    pub fn grow(&mut self) {
        let more = if self.homes < Self::SMALL { self.homes } else { self.homes / 6 };
        self.stretch((self.homes + more).max(LEAST));
    }

    /// Copies all entries to `homes` homes, in order, so that every place is written once.
    fn stretch(&mut self, homes: usize) {
        self.homes = homes;
        let old = std::mem::take(&mut self.entries);
        let beside = std::mem::take(&mut self.beside);
        self.lengthen(homes + Self::TAIL);
        let mut next = 0;
        for (from, entry) in old.into_iter().enumerate() {
            let at = self.home(entry.key()).max(next);
            if at >= self.entries.len() {
                self.lengthen(at + Self::TAIL);
            }
            // Free entries go to the next unused place: an unpredictable branch is avoided.
            let at = if entry.is_free() { next } else { at };
            self.entries[at] = entry;
            if let Some(kept) = beside.get(from) {
                self.beside[at] = *kept;
            }
            next = at + usize::from(!entry.is_free());
        }
    }

    /// Reserves room for exactly `to` places.
    fn reserve(&mut self, to: usize) {
        self.entries.reserve_exact(to - self.entries.len());
        if self.keeps_beside {
            self.beside.reserve_exact(to - self.beside.len());
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.taken
    }

    /// Memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<E>() + self.beside.capacity() * size_of::<E::Beside>()
    }

    /// All entries in order of their keys.
    pub fn entries(&self) -> impl Iterator<Item = &E> + '_ {
        self.entries.iter().filter(|entry| !entry.is_free())
    }

    /// All entries in order of their keys, each with its place and what is beside it.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &E, E::Beside)> + '_ {
        let taken = self.entries.iter().enumerate().filter(|(_, entry)| !entry.is_free());
        taken.map(|(at, entry)| (at, entry, self.beside.get(at).copied().unwrap_or_default()))
    }
}
