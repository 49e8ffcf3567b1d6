//! The requests in flight on a disk, by completion time.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Requests with a slot of their own: most disks rarely have more in flight.
const PLACES: usize = 8;

/// Completion times of the requests in flight. The first few are all scanned without a branch,
/// which could not be predicted; the others are in a heap.
#[derive(Clone, Debug, Default)]
pub struct InFlight {
    /// 0 for an empty slot.
    few: [u64; PLACES],
    others: BinaryHeap<Reverse<u64>>,
}

impl InFlight {
    /// Removes the requests completed by `now_ns` and adds one that completes after time 0; returns
    /// the number now in flight.
    #[inline]
    pub fn arrive(&mut self, now_ns: u64, completed_ns: u64) -> u64 {
        let (mut free, mut count) = (PLACES, 1);
        for (at, end) in self.few.iter_mut().enumerate() {
            let is_over = *end <= now_ns;
            *end = if is_over { 0 } else { *end };
            free = if is_over { at } else { free };
            count += u64::from(!is_over);
        }
        if !self.others.is_empty() {
            while self.others.peek().is_some_and(|end| end.0 <= now_ns) {
                self.others.pop();
            }
            count += self.others.len() as u64;
        }
        match self.few.get_mut(free) {
            Some(place) => *place = completed_ns,
            None => self.others.push(Reverse(completed_ns)),
        }
        count
    }

    /// Adds requests by completion time, each after time 0.
    pub fn extend(&mut self, ends: impl IntoIterator<Item = u64>) {
        self.others.extend(ends.into_iter().map(Reverse));
    }

    /// Completion times, in no order, including requests that completed since the last arrival.
    pub fn ends(&self) -> impl Iterator<Item = u64> + '_ {
        let few = self.few.iter().copied().filter(|&end| end > 0);
        few.chain(self.others.iter().map(|end| end.0))
    }

    /// Whether nothing is in flight.
    pub fn is_empty(&self) -> bool {
        self.ends().next().is_none()
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.others.capacity() * size_of::<Reverse<u64>>()
    }
}

impl Serialize for InFlight {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.ends().collect::<Vec<u64>>().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for InFlight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut found = Self::default();
        found.extend(Vec::<u64>::deserialize(deserializer)?);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Includes times that go backwards, and requests that completed before they arrived.
        #[test]
        fn it_counts_what_a_list_counts(
            arrivals in prop::collection::vec((0u64..60, 1u64..90), 0..120),
            shift in 0u32..4,
            cut in 0usize..120,
        ) {
            let (mut found, mut list): (InFlight, Vec<u64>) = Default::default();
            for (at, (gap, end)) in arrivals.into_iter().enumerate() {
                let now = (at as u64 * 8 + gap) >> shift;
                list.retain(|&end| end > now);
                list.push(now.saturating_sub(20) + end);
                prop_assert_eq!(found.arrive(now, now.saturating_sub(20) + end), list.len() as u64);
                if at == cut {
                    let bytes = postcard::to_allocvec(&found).expect("bytes");
                    found = postcard::from_bytes(&bytes).expect("what was written");
                }
                let mut ends: Vec<u64> = found.ends().collect();
                ends.sort_unstable();
                list.sort_unstable();
                prop_assert_eq!((&ends, found.is_empty()), (&list, list.is_empty()));
            }
        }
    }
}
