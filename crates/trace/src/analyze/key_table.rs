//! Numbers for keys, in the order of their first use, with one miss of the processor's caches for a key.
//!
//! A general hash map reads control bytes first and the entry after; of a table far larger than the caches both are missed, and
//! the tables of blocks are most of an analysis' time. Here key and number lie in one place, neighbouring keys lie together
//! (requests touch runs of blocks), and [`KeyTable::warm`] lets the misses of many keys overlap.

/// Slots to begin with; a power of two.
const LEAST: usize = 16;
/// Neighbouring keys that share a line of 64 bytes: two bits.
const NEIGHBOUR_BITS: u32 = 2;
/// The number of a slot that holds no key.
const EMPTY: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Slot {
    key: u64,
    number: u32,
}

const FREE: Slot = Slot { key: 0, number: EMPTY };

/// Keys and their numbers from 0 on: open addressing, at most two thirds full.
#[derive(Clone, Debug)]
pub struct KeyTable {
    slots: Vec<Slot>,
    len: u32,
}

impl Default for KeyTable {
    fn default() -> Self {
        Self { slots: vec![FREE; LEAST], len: 0 }
    }
}

impl KeyTable {
    /// Where a key's search begins: multiplicative hashing of all but the lowest bits, which say where in the line.
    #[inline]
    fn home(&self, key: u64) -> usize {
        let spread = (key >> NEIGHBOUR_BITS).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let line = (spread >> 32) as usize;
        let near = key as usize & ((1 << NEIGHBOUR_BITS) - 1);
        ((line << NEIGHBOUR_BITS) | near) & (self.slots.len() - 1)
    }

    /// The slot of a key, or the free one where it belongs.
    #[inline]
    fn seek(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = self.home(key);
        loop {
            let slot = &self.slots[at & mask];
            if slot.number == EMPTY || slot.key == key {
                return at & mask;
            }
            at += 1;
        }
    }

    /// Reads the place of a key without waiting for it: call it for some hundred keys before they are looked up, and fold what
    /// it gives into something that is used.
    #[inline]
    pub fn warm(&self, key: u64) -> u64 {
        self.slots[self.home(key)].key
    }

    /// The number of a key.
    #[inline]
    pub fn get(&self, key: u64) -> Option<u32> {
        let number = self.slots[self.seek(key)].number;
        (number != EMPTY).then_some(number)
    }

    /// The number of a key, the next one if it is new.
    #[inline]
    pub fn number(&mut self, key: u64) -> u32 {
        let at = self.seek(key);
        let found = self.slots[at].number;
        if found != EMPTY {
            return found;
        }
        self.insert(key, at)
    }

    #[inline(never)]
    fn insert(&mut self, key: u64, at: usize) -> u32 {
        let number = self.len;
        self.slots[at] = Slot { key, number };
        self.len += 1;
        if self.len as usize * 3 > self.slots.len() * 2 {
            let wider = vec![FREE; self.slots.len() * 2];
            let old = std::mem::replace(&mut self.slots, wider);
            for slot in old.into_iter().filter(|slot| slot.number != EMPTY) {
                let at = self.seek(slot.key);
                self.slots[at] = slot;
            }
        }
        number
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets all keys, in a time that grows with their number: a table that one crowd made wide becomes small again.
    pub fn clear(&mut self) {
        let enough = (self.len() * 2).next_power_of_two().max(LEAST);
        if self.slots.len() > enough * 4 {
            self.slots = vec![FREE; enough];
        } else {
            self.slots.fill(FREE);
        }
        self.len = 0;
    }

    /// All keys with their numbers, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.slots.iter().filter(|s| s.number != EMPTY).map(|slot| (slot.key, slot.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn numbers_are_those_of_a_map(keys in prop::collection::vec((any::<u64>(), 0u32..60), 0..300), cut in 0usize..300) {
            let mut table = KeyTable::default();
            let keys: Vec<u64> = keys.into_iter().map(|(key, shift)| key >> shift).collect();
            for part in [&keys[..cut.min(keys.len())], &keys[cut.min(keys.len())..]] {
                let mut map = HashMap::new();
                for &key in part {
                    prop_assert_eq!(table.get(key), map.get(&key).copied());
                    let next = map.len() as u32;
                    let number = *map.entry(key).or_insert(next);
                    prop_assert_eq!(table.number(key), number);
                }
                prop_assert_eq!(table.len(), map.len());
                prop_assert_eq!(table.iter().collect::<HashMap<_, _>>(), map);
                table.clear();
                prop_assert!(table.is_empty() && table.iter().next().is_none());
            }
        }
    }
}
