//! The requests in flight on a disk, by when they complete.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Requests that have a place of their own: most disks have no more of them in flight for most of the time.
const PLACES: usize = 8;

/// When each completes: few are looked at one and all without a branch, for nobody can guess which have completed; the others are in a
/// heap.
#[derive(Clone, Debug, Default)]
pub struct InFlight {
    /// 0 where there is none.
    few: [u64; PLACES],
    others: BinaryHeap<Reverse<u64>>,
}

impl InFlight {
    /// Takes out those that have completed by `now_ns` and adds one that completes later than at 0; how many there are then.
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

    /// Adds those that complete then, later than at 0.
    pub fn extend(&mut self, ends: impl IntoIterator<Item = u64>) {
        self.others.extend(ends.into_iter().map(Reverse));
    }

    /// When they complete, in no order; those that have since the last arrival are among them.
    pub fn ends(&self) -> impl Iterator<Item = u64> + '_ {
        let few = self.few.iter().copied().filter(|&end| end > 0);
        few.chain(self.others.iter().map(|end| end.0))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends().next().is_none()
    }

    /// The memory it takes beside itself, in bytes.
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
        /// Times that go back too, and requests that had completed before they came.
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
