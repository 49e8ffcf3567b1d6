//! Stretches of blocks by where they lie on the medium: the one that costs least per block is found without looking at all.

use crate::layout::Layout;
use crate::mechanism::{Arm, Mechanism};
use crate::outward::Outward;
use std::collections::BTreeMap;

/// Where a stretch begins: of one length, to the next power of two, in the order in which arm and head come to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// The length is at most two to this power, and more than half of it.
    length: u32,
    cylinder: u32,
    head: u16,
    angle_ns: u64,
    block: u64,
}

/// What is next to be written, as far as it is known: nanoseconds of positioning per block, and the block.
type Cost = (u64, u64);

/// Stretches of blocks, with how many blocks each has.
#[derive(Clone, Debug)]
pub struct Places<'a> {
    layout: &'a Layout,
    blocks: BTreeMap<Place, u64>,
}

impl<'a> Places<'a> {
    /// No stretches on this disk.
    pub fn new(layout: &'a Layout) -> Self {
        Self { layout, blocks: BTreeMap::new() }
    }

    /// Adds a stretch.
    pub fn put(&mut self, block: u64, count: u64) {
        self.blocks.insert(self.place(block, count), count);
    }

    /// Takes a stretch out.
    pub fn remove(&mut self, block: u64, count: u64) {
        self.blocks.remove(&self.place(block, count));
    }

    fn place(&self, block: u64, count: u64) -> Place {
        let address = self.layout.locate(block);
        let track = &self.layout.tracks()[address.track];
        Place {
            length: count.next_power_of_two().trailing_zeros(),
            cylinder: track.cylinder,
            head: track.head,
            angle_ns: self.layout.angle_ns(address.track, address.slot),
            block,
        }
    }

    /// First block of the stretch that an arm which moves off at `start_ns` can write with the least seek and rotation per block; of
    /// equals the first. `looks` hears of every step of the search.
    pub fn cheapest(
        &self,
        mechanism: &Mechanism,
        arm: &Arm,
        start_ns: u64,
        mut looks: impl FnMut(),
    ) -> Option<u64> {
        let mut best = (u64::MAX, u64::MAX);
        let mut above = Place { length: u32::MAX, ..Place::default() };
        // The longest first: theirs are the lowest costs.
        while let Some((&Place { length, .. }, _)) = self.blocks.range(..above).next_back() {
            above = Place { length, ..Place::default() };
            let longest = 1u64 << length;
            let mut tracks = Outward::new(self.above(length, arm), self.below(length, arm));
            while let Some((cylinder, head)) = tracks
                .step(|&(cylinder, _)| mechanism.seek_at_least_ns(arm, cylinder) / longest > best.0)
            {
                let seek_ns = mechanism.seek_to_head(arm, cylinder, head, true);
                let there = Place { length, cylinder, head, ..Place::default() };
                looks();
                best =
                    self.cheapest_on(there, mechanism, arm, [start_ns, seek_ns], best, &mut looks);
            }
        }
        (best.0 < u64::MAX).then_some(best.1)
    }

    /// The cheapest of the best so far and those on one track, which pass the head one after the other.
    fn cheapest_on(
        &self,
        track: Place,
        mechanism: &Mechanism,
        arm: &Arm,
        [start_ns, seek_ns]: [u64; 2],
        mut best: Cost,
        looks: &mut impl FnMut(),
    ) -> Cost {
        let now_ns = mechanism.angle_at(arm, start_ns + seek_ns);
        let head = Place { angle_ns: now_ns, ..track };
        let end = Place { angle_ns: u64::MAX, block: u64::MAX, ..track };
        for (place, count) in self.blocks.range(head..=end).chain(self.blocks.range(track..head)) {
            looks();
            let position_ns = seek_ns + mechanism.turn_ns(now_ns, place.angle_ns);
            if position_ns >> track.length > best.0 {
                break;
            }
            best = best.min((position_ns / count, place.block));
        }
        best
    }

    /// The tracks of stretches of one length, from the arm's cylinder on.
    fn above(&self, length: u32, arm: &Arm) -> impl Iterator<Item = (u32, u16)> {
        let mut from = Place { length, cylinder: arm.cylinder, ..Place::default() };
        std::iter::from_fn(move || {
            let (&next, _) = self.blocks.range(from..).next()?;
            from = Place { angle_ns: u64::MAX, block: u64::MAX, ..next };
            (next.length == length).then_some((next.cylinder, next.head))
        })
    }

    /// The tracks of stretches of one length before the arm's cylinder, the nearest first.
    fn below(&self, length: u32, arm: &Arm) -> impl Iterator<Item = (u32, u16)> {
        let mut until = Place { length, cylinder: arm.cylinder, ..Place::default() };
        std::iter::from_fn(move || {
            let (&next, _) = self.blocks.range(..until).next_back()?;
            until = Place { angle_ns: 0, block: 0, ..next };
            (next.length == length).then_some((next.cylinder, next.head))
        })
    }
}
