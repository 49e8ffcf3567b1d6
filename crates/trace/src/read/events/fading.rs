//! A map of the requests open at each place of a device. A place usually has one request, which
//! costs no more memory than one. Old entries are forgotten, because their end was lost.

use ioscape_schema::Op;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The most places in each generation, and the most requests that share a place with a later one.
/// Older ones are forgotten.
const MOST_OPEN: usize = 1 << 20;
/// The most requests that share one place with a later request.
const MOST_ALIKE: usize = 1 << 10;

/// Device, first sector, and operation; no operation for requests without bytes, such as a flush.
pub(super) type Key = (u32, u64, Option<Op>);

/// A map that forgets old entries.
pub(super) struct Fading<V> {
    young: FxHashMap<Key, V>,
    /// Entries of other places than those in `young`.
    old: FxHashMap<Key, V>,
    /// Entries before the latest at the same place, the earliest first.
    earlier: FxHashMap<Key, VecDeque<V>>,
    /// Number of entries in `earlier`.
    shared: usize,
    forgotten: u64,
}

impl<V> Default for Fading<V> {
    fn default() -> Self {
        Self {
            young: FxHashMap::default(),
            old: FxHashMap::default(),
            earlier: FxHashMap::default(),
            shared: 0,
            forgotten: 0,
        }
    }
}

impl<V: Copy> Fading<V> {
    /// Replaces the latest entry of a place, and returns the previous one.
    pub fn put(&mut self, key: Key, value: V) -> Option<V> {
        if self.young.len() >= MOST_OPEN {
            self.forgotten += self.old.len() as u64;
            self.old = std::mem::take(&mut self.young);
        }
        let before = self.young.insert(key, value);
        if self.old.is_empty() { before } else { self.old.remove(&key).or(before) }
    }

    /// Adds an entry to a place. The previous latest one stays beside it if it `is_open` still;
    /// otherwise it is forgotten and returned.
    pub fn add(&mut self, key: Key, value: V, is_open: impl FnOnce(&V) -> bool) -> Option<V> {
        let before = self.put(key, value)?;
        if !is_open(&before) {
            self.forgotten += 1;
            return Some(before);
        }
        if self.shared >= MOST_OPEN {
            self.forgotten += self.shared as u64;
            self.earlier.clear();
            self.shared = 0;
        }
        let earlier = self.earlier.entry(key).or_default();
        earlier.push_back(before);
        if earlier.len() > MOST_ALIKE {
            earlier.pop_front();
            self.forgotten += 1;
        } else {
            self.shared += 1;
        }
        None
    }

    /// Returns the latest entry of a place.
    pub fn get(&self, key: &Key) -> Option<V> {
        self.young.get(key).or_else(|| self.old.get(key)).copied()
    }

    /// Whether any entry of a place fits.
    pub fn any(&self, key: &Key, fits: impl Fn(&V) -> bool) -> bool {
        self.get(key).is_some_and(|latest| fits(&latest))
            || self.earlier.get(key).is_some_and(|earlier| earlier.iter().any(fits))
    }

    /// Takes out the earliest entry of a place that fits, or the earliest if none does.
    pub fn take_earliest(&mut self, key: &Key, fits: impl Fn(&V) -> bool) -> Option<V> {
        self.take(key, |all| all.iter().position(fits).unwrap_or(0))
    }

    /// Takes out the latest entry of a place that fits, or the latest if none does.
    pub fn take_latest(&mut self, key: &Key, fits: impl Fn(&V) -> bool) -> Option<V> {
        self.take(key, |all| all.iter().rposition(fits).unwrap_or(all.len().saturating_sub(1)))
    }

    /// Takes out all entries of a place, and returns the latest.
    pub fn take_all(&mut self, key: &Key) -> Option<V> {
        if self.shared > 0
            && let Some(earlier) = self.earlier.remove(key)
        {
            self.shared -= earlier.len();
        }
        self.remove(key)
    }

    /// Returns how many entries were put in and not taken out, except those already returned by
    /// [`Self::forgotten`].
    pub fn len(&self) -> u64 {
        (self.young.len() + self.old.len() + self.shared) as u64 + self.forgotten
    }

    /// Returns how many entries fit, without those that were forgotten.
    pub fn count(&self, fits: impl Fn(&Key, &V) -> bool) -> u64 {
        let earlier =
            self.earlier.iter().flat_map(|(key, all)| all.iter().map(move |one| (key, one)));
        let all = self.young.iter().chain(&self.old).chain(earlier);
        all.filter(|(key, one)| fits(key, one)).count() as u64
    }

    /// Returns how many entries were forgotten since the last call.
    pub fn forgotten(&mut self) -> u64 {
        std::mem::take(&mut self.forgotten)
    }

    /// Takes out the entry of a place that `choose` picks from all of them, the earliest first.
    fn take(&mut self, key: &Key, choose: impl FnOnce(&VecDeque<V>) -> usize) -> Option<V> {
        let latest = self.remove(key)?;
        let earlier = if self.shared > 0 { self.earlier.remove(key) } else { None };
        // Usually there is no other.
        let Some(mut all) = earlier else { return Some(latest) };
        all.push_back(latest);
        let at = choose(&all);
        let taken = all.remove(at);
        self.shared -= 1;
        if let Some(latest) = all.pop_back() {
            self.put(*key, latest);
        }
        if !all.is_empty() {
            self.earlier.insert(*key, all);
        }
        taken
    }

    /// Takes out the latest entry of a place.
    fn remove(&mut self, key: &Key) -> Option<V> {
        if self.young.is_empty() && self.old.is_empty() {
            return None;
        }
        let young = self.young.remove(key);
        if young.is_some() || self.old.is_empty() { young } else { self.old.remove(key) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Key = (8, 64, Some(Op::Read));

    #[test]
    fn those_of_one_place_are_taken_in_the_order_that_is_asked_for() {
        let mut open = Fading::default();
        (1..=4).for_each(|value| assert_eq!(open.add(HERE, value, |_| true), None));
        open.add((8, 64, Some(Op::Write)), 9, |_| true);
        assert_eq!((open.len(), open.get(&HERE)), (5, Some(4)));
        assert_eq!(open.count(|key, value| *key == HERE && *value > 1), 3);
        assert_eq!(open.take_earliest(&HERE, |value| value % 2 == 0), Some(2));
        assert_eq!(open.take_latest(&HERE, |value| value % 2 == 1), Some(3));
        assert!(open.any(&HERE, |value| *value == 1) && !open.any(&HERE, |value| *value == 3));
        assert_eq!(open.take_earliest(&HERE, |_| false), Some(1), "the earliest where none fits");
        assert_eq!(open.take_latest(&HERE, |_| false), Some(4));
        assert_eq!((open.len(), open.take_earliest(&HERE, |_| true)), (1, None));
        assert!(open.earlier.is_empty() && open.shared == 0);
    }

    #[test]
    fn what_is_given_up_is_counted() {
        let mut open = Fading::default();
        for value in 0..MOST_ALIKE + 3 {
            open.add(HERE, value, |_| true);
        }
        assert_eq!((open.shared, open.forgotten), (MOST_ALIKE, 2));
        assert_eq!(open.add(HERE, 0, |_| false), Some(MOST_ALIKE + 2));
        assert_eq!((open.shared, open.len()), (MOST_ALIKE, MOST_ALIKE as u64 + 4));
        assert_eq!(open.take_all(&HERE), Some(0));
        assert_eq!((open.shared, open.len()), (0, 3));
        assert_eq!((open.forgotten(), open.forgotten(), open.len()), (3, 0, 0));
    }
}
