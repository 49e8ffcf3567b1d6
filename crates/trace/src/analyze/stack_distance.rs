//! How many distinct keys were used since the last use of a key: its place in an LRU stack, found
//! in logarithmic time.

use super::key_table::KeyTable;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An LRU stack: one bit per use in order of time, set if it is still its key's latest use, and a
/// Fenwick tree over words of these bits.
#[derive(Clone, Debug, Default)]
pub struct Stack {
    slots: KeyTable,
    keys: Vec<u64>,
    live: Vec<u64>,
    tree: Vec<u32>,
    /// Keys of `slots` that were removed; their slot is not live.
    gone: usize,
}

impl Stack {
    /// Uses a key; returns how many distinct keys followed its last use, `None` at its first.
    pub fn touch(&mut self, key: u64) -> Option<u64> {
        if self.keys.len() == self.live.len() * 64 {
            self.make_room();
        }
        let slot = self.keys.len() as u32;
        let before = self.slots.replace(key, slot);
        let is_back = before.is_some_and(|old| !self.is_live(old));
        self.gone -= usize::from(is_back);
        let distance = before.filter(|_| !is_back).map(|old| {
            let newer = self.len() as u64 - self.up_to(old);
            self.end(old);
            newer
        });
        self.keys.push(key);
        self.live[slot as usize / 64] |= 1 << (slot % 64);
        self.add(slot as usize / 64, 1);
        distance
    }

    /// How many distinct keys were used since a key's last use; `None` if it was never used.
    pub fn distance(&self, key: u64) -> Option<u64> {
        let slot = self.slots.get(key).filter(|slot| self.is_live(*slot))?;
        Some(self.len() as u64 - self.up_to(slot))
    }

    /// Removes a key, as if it had never been used; returns whether it was there.
    pub fn remove(&mut self, key: u64) -> bool {
        let slot = self.slots.get(key).filter(|slot| self.is_live(*slot));
        if let Some(slot) = slot {
            self.end(slot);
            self.gone += 1;
        }
        slot.is_some()
    }

    /// Number of distinct keys.
    pub fn len(&self) -> usize {
        self.slots.len() - self.gone
    }

    /// Whether no key was used.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keys, least recently used first.
    pub fn keys(&self) -> impl Iterator<Item = u64> + '_ {
        let live = |slot: &usize| self.is_live(*slot as u32);
        (0..self.keys.len()).filter(live).map(|slot| self.keys[slot])
    }

    fn is_live(&self, slot: u32) -> bool {
        self.live[slot as usize / 64] & (1 << (slot % 64)) != 0
    }

    /// Marks a live slot as no longer its key's latest use.
    fn end(&mut self, slot: u32) {
        self.live[slot as usize / 64] &= !(1 << (slot % 64));
        self.add(slot as usize / 64, u32::MAX);
    }

    /// Renames the keys.
    pub fn rename(&mut self, name: impl Fn(u64) -> u64) {
        let keys: Vec<u64> = self.keys().map(name).collect();
        *self = Self::default();
        keys.into_iter().for_each(|key| {
            self.touch(key);
        });
    }

    /// Number of keys whose latest use is at or before that of `slot`, which must be live.
    fn up_to(&self, slot: u32) -> u64 {
        let word = slot as usize / 64;
        let within = self.live[word] & (u64::MAX >> (63 - slot % 64));
        let (mut index, mut sum) = (word, u64::from(within.count_ones()));
        while index > 0 {
            sum += u64::from(self.tree[index - 1]);
            index &= index - 1;
        }
        sum
    }

    /// Adds to the count of a word; `u32::MAX` subtracts one.
    fn add(&mut self, word: usize, change: u32) {
        let mut index = word + 1;
        while index <= self.tree.len() {
            self.tree[index - 1] = self.tree[index - 1].wrapping_add(change);
            index += index & index.wrapping_neg();
        }
    }

    /// Drops uses that are no key's latest, and doubles the room.
    fn make_room(&mut self) {
        let kept: Vec<u64> = self.keys().collect();
        if self.gone > 0 {
            (self.slots, self.gone) = (KeyTable::default(), 0);
        }
        let words = (kept.len() / 32 + 2).next_power_of_two();
        self.live = vec![0; words];
        self.tree = vec![0; words];
        for (slot, key) in kept.iter().enumerate() {
            self.slots.replace(*key, slot as u32);
            self.live[slot / 64] |= 1 << (slot % 64);
        }
        for word in 0..words {
            let count = self.live[word].count_ones();
            self.add(word, count);
        }
        self.keys = kept;
        self.keys.reserve(words * 64 - self.keys.len());
    }
}

impl Serialize for Stack {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.keys().collect::<Vec<_>>().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Stack {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut stack = Self::default();
        for key in Vec::deserialize(deserializer)? {
            stack.touch(key);
        }
        Ok(stack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn distances_are_those_of_a_plain_list(
            uses in prop::collection::vec((0u64..200, 0u8..8), 0..600)
        ) {
            let mut stack = Stack::default();
            let mut list: Vec<u64> = Vec::new();
            for (key, how) in uses {
                let place = list.iter().rev().position(|&k| k == key).map(|p| p as u64);
                prop_assert_eq!(stack.distance(key), place);
                list.retain(|&k| k != key);
                if how == 0 {
                    stack.remove(key);
                } else {
                    prop_assert_eq!(stack.touch(key), place);
                    list.push(key);
                }
                prop_assert_eq!(stack.len(), list.len());
            }
            prop_assert_eq!(stack.keys().collect::<Vec<_>>(), list);
        }
    }
}
