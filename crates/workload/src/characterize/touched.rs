//! The set of touched bytes: a map of granules whose memory grows with what was touched, not with
//! the largest offset.

use std::collections::BTreeMap;

/// Granules in a page of the map.
const PAGE_GRANULES: u64 = 512;
/// Words in a page.
const PAGE_WORDS: usize = PAGE_GRANULES as usize / 64;

/// A set of granules of one address space.
///
/// Memory: about 100 bytes for every 512 granules of which at least one was touched.
#[derive(Clone, Debug)]
pub(super) struct Touched {
    pub(super) granule_bytes: u64,
    pages: BTreeMap<u64, Box<[u64; PAGE_WORDS]>>,
    /// The end of the last byte touched.
    pub(super) end: u64,
}

impl Touched {
    pub(super) fn new(granule_bytes: u64) -> Self {
        Self { granule_bytes: granule_bytes.max(1), pages: BTreeMap::new(), end: 0 }
    }

    /// Marks the granules of `len` bytes from `offset`.
    pub(super) fn touch(&mut self, offset: u64, len: u64) {
        if len == 0 {
            return;
        }
        let last_byte = offset.saturating_add(len - 1);
        self.end = self.end.max(last_byte.saturating_add(1));
        let (mut granule, last) = (offset / self.granule_bytes, last_byte / self.granule_bytes);
        loop {
            let page_last = (granule | (PAGE_GRANULES - 1)).min(last);
            let page = self.pages.entry(granule / PAGE_GRANULES);
            let page = page.or_insert_with(|| Box::new([0; PAGE_WORDS]));
            mark(page, granule % PAGE_GRANULES, page_last % PAGE_GRANULES);
            if page_last == last {
                return;
            }
            granule = page_last + 1;
        }
    }

    /// Whether the granule that contains byte `offset` was touched.
    pub(super) fn holds(&self, offset: u64) -> bool {
        let granule = offset / self.granule_bytes;
        let (page, bit) = (granule / PAGE_GRANULES, granule % PAGE_GRANULES);
        let word = self.pages.get(&page).and_then(|page| page.get((bit / 64) as usize));
        word.is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// Returns the bytes of all touched granules.
    pub(super) fn bytes(&self) -> u64 {
        let words = self.pages.values().flat_map(|page| page.iter());
        let granules: u64 = words.map(|word| u64::from(word.count_ones())).sum();
        granules.saturating_mul(self.granule_bytes)
    }
}

/// Sets the bits `first..=last` of a page.
fn mark(page: &mut [u64; PAGE_WORDS], first: u64, last: u64) {
    let (first_word, last_word) = ((first / 64) as usize, (last / 64) as usize);
    for (index, word) in page.iter_mut().enumerate().take(last_word + 1).skip(first_word) {
        let from = if index == first_word { first % 64 } else { 0 };
        let to = if index == last_word { last % 64 } else { 63 };
        *word |= (u64::MAX >> (63 - (to - from))) << from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        #[test]
        fn distinct_bytes_are_counted(ranges in prop::collection::vec((0u64..40_000, 0u64..20_000), 0..40)) {
            let (mut touched, mut bytes) = (Touched::new(1), HashSet::new());
            for (offset, len) in ranges {
                touched.touch(offset, len);
                bytes.extend(offset..offset + len);
            }
            prop_assert_eq!(touched.bytes(), bytes.len() as u64);
        }
    }

    #[test]
    fn the_ends_of_the_address_space_are_touched() {
        let mut touched = Touched::new(4096);
        touched.touch(u64::MAX - 5, u64::from(u32::MAX));
        touched.touch(7, 0);
        assert_eq!(touched.bytes(), 4096);
        let mut touched = Touched::new(1);
        touched.touch(u64::MAX, 2);
        assert_eq!(touched.bytes(), 1);
    }

    #[test]
    fn a_granule_counts_whole() {
        let mut touched = Touched::new(4096);
        touched.touch(0, 100);
        assert_eq!((touched.bytes(), touched.end), (4096, 100));
        assert_eq!([0, 4095, 4096].map(|byte| touched.holds(byte)), [true, true, false]);
        touched.touch(8192, 1);
        assert_eq!((touched.bytes(), touched.end), (8192, 8193));
    }
}
