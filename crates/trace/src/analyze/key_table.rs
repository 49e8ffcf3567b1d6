//! Values for keys, mostly at one processor cache miss per key; and numbers for keys, in order of
//! first use.
//!
//! A general hash map reads control bytes first and then the entry; in a table much larger than the
//! caches both miss, and the tables of blocks take most of an analysis' time. Here a key and its
//! value lie together, neighbouring keys lie together (requests touch runs of blocks), and
//! [`KeyTable::fetch`] prefetches a slot long before it is used.

use branches::prefetch_read_data;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Initial number of slots; a power of two.
const LEAST: usize = 16;
/// Log2 of the neighbouring keys that share a line of 64 bytes, or two lines if their values exceed
/// 8 bytes.
const NEIGHBOUR_BITS: u32 = 2;

/// The value of a key; one of its values marks an empty slot.
pub trait Value: Copy + PartialEq {
    /// The value that no key has.
    const NONE: Self;
}

impl Value for u32 {
    const NONE: Self = Self::MAX;
}

#[derive(Clone, Copy, Debug)]
struct Slot<V> {
    key: u64,
    value: V,
}

/// Keys and their values: open addressing, at most two thirds full.
#[derive(Clone, Debug)]
pub struct KeyTable<V = u32> {
    slots: Vec<Slot<V>>,
    len: u32,
}

impl<V: Value> Default for KeyTable<V> {
    fn default() -> Self {
        Self { slots: vec![Self::FREE; LEAST], len: 0 }
    }
}

impl<V: Value> KeyTable<V> {
    const FREE: Slot<V> = Slot { key: 0, value: V::NONE };

    /// Where the search for a key begins: multiplicative hashing of all but the lowest bits, which
    /// give the place in the line.
    #[inline]
    fn home(&self, key: u64) -> usize {
        let spread = (key >> NEIGHBOUR_BITS).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let line = (spread >> 32) as usize;
        let near = key as usize & ((1 << NEIGHBOUR_BITS) - 1);
        ((line << NEIGHBOUR_BITS) | near) & (self.slots.len() - 1)
    }

    /// The slot of a key, or the free slot where it belongs.
    #[inline]
    fn seek(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = self.home(key);
        loop {
            let slot = &self.slots[at & mask];
            if slot.value == V::NONE || slot.key == key {
                return at & mask;
            }
            at += 1;
        }
    }

    /// Prefetches the slot of a key.
    #[inline]
    pub fn fetch(&self, key: u64) {
        prefetch_read_data::<_, 0>(&raw const self.slots[self.home(key)]);
    }

    /// The value of a key.
    #[inline]
    pub fn get(&self, key: u64) -> Option<V> {
        let value = self.slots[self.seek(key)].value;
        (value != V::NONE).then_some(value)
    }

    /// Returns the value of a key, and whether the key is new, with the value `new`, which is not
    /// [`Value::NONE`]. Returns `None` for a new key if there are `most` already.
    #[inline]
    pub fn get_or_insert(&mut self, key: u64, new: V, most: usize) -> Option<(&mut V, bool)> {
        let at = self.seek(key);
        if self.slots[at].value != V::NONE {
            return Some((&mut self.slots[at].value, false));
        }
        if self.len() >= most {
            return None;
        }
        let at = self.insert(key, new, at);
        Some((&mut self.slots[at].value, true))
    }

    /// Sets the value of a key, which is not [`Value::NONE`]; returns the previous one.
    #[inline]
    pub fn replace(&mut self, key: u64, value: V) -> Option<V> {
        let at = self.seek(key);
        if self.slots[at].value != V::NONE {
            return Some(std::mem::replace(&mut self.slots[at].value, value));
        }
        self.insert(key, value, at);
        None
    }

    #[inline(never)]
    fn insert(&mut self, key: u64, value: V, mut at: usize) -> usize {
        self.len += 1;
        if self.len as usize * 3 > self.slots.len() * 2 {
            let wider = vec![Self::FREE; self.slots.len() * 2];
            let old = std::mem::replace(&mut self.slots, wider);
            for slot in old.into_iter().filter(|slot| slot.value != V::NONE) {
                let at = self.seek(slot.key);
                self.slots[at] = slot;
            }
            at = self.seek(key);
        }
        self.slots[at] = Slot { key, value };
        at
    }

    /// Number of keys that fit into a table of at most `bytes`.
    pub fn most_within(bytes: usize) -> usize {
        let slots = bytes / size_of::<Slot<V>>();
        slots.checked_ilog2().map_or(0, |log| (2_usize << log) / 3)
    }

    /// Memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<V>>()
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Removes all keys in time that grows with their number: a table that a burst of keys enlarged
    /// shrinks again.
    pub fn clear(&mut self) {
        let enough = (self.len() * 2).next_power_of_two().max(LEAST);
        if self.slots.len() > enough * 4 {
            self.slots = vec![Self::FREE; enough];
        } else {
            self.slots.fill(Self::FREE);
        }
        self.len = 0;
    }

    /// All keys with their values, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, V)> + '_ {
        self.slots.iter().filter(|s| s.value != V::NONE).map(|slot| (slot.key, slot.value))
    }
}

impl<V: Value> FromIterator<(u64, V)> for KeyTable<V> {
    fn from_iter<T: IntoIterator<Item = (u64, V)>>(pairs: T) -> Self {
        let mut table = Self::default();
        for (key, value) in pairs.into_iter().filter(|pair| pair.1 != V::NONE) {
            table.replace(key, value);
        }
        table
    }
}

impl<V: Value + Serialize> Serialize for KeyTable<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pairs: Vec<(u64, V)> = self.iter().collect();
        pairs.serialize(serializer)
    }
}

impl<'de, V: Value + Deserialize<'de>> Deserialize<'de> for KeyTable<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}

impl KeyTable {
    /// Returns the number of a key, or the next number from 0 on if it is new; `None` for a new key
    /// if there are `most` already.
    #[inline]
    pub fn number(&mut self, key: u64, most: usize) -> Option<u32> {
        let next = self.len;
        self.get_or_insert(key, next, most).map(|(number, _)| *number)
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
                    table.fetch(key);
                    prop_assert_eq!(table.number(key, usize::MAX), Some(number));
                }
                prop_assert!(map.contains_key(&7) || table.number(7, map.len()).is_none(), "it is full");
                prop_assert_eq!(table.len(), map.len());
                prop_assert_eq!(table.iter().collect::<HashMap<_, _>>(), map);
                table.clear();
                prop_assert!(table.is_empty() && table.iter().next().is_none());
            }
        }
    }
}
