//! Stretches of blocks by their position on the medium: finds the cheapest per block without
//! examining all of them.

use crate::layout::Layout;
use crate::mechanism::{Arm, Mechanism};
use crate::outward::Outward;
use std::collections::BTreeMap;
use std::collections::btree_map::Range;

/// Stretches on a track that are tried one by one; if there are more, they are tried in the order
/// in which they pass the head.
const FEW_ON_TRACK: usize = 4;

/// Where a stretch begins. Orders by length, rounded up to a power of two, and then as arm and head
/// reach the stretches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// Logarithm of the length to base 2, rounded up.
    length: u32,
    cylinder: u32,
    head: u16,
    angle_ns: u64,
    block: u64,
}

/// The best stretch found so far: nanoseconds of positioning per block, and its first block.
type Cost = (u64, u64);

/// Stretches of blocks, and the number of blocks of each.
#[derive(Clone, Debug)]
pub struct Places<'a> {
    layout: &'a Layout,
    blocks: BTreeMap<Place, u64>,
}

impl<'a> Places<'a> {
    /// Starts without stretches on this disk.
    pub fn new(layout: &'a Layout) -> Self {
        Self { layout, blocks: BTreeMap::new() }
    }

    /// Adds a stretch.
    pub fn put(&mut self, block: u64, count: u64) {
        self.blocks.insert(self.place(block, count), count);
    }

    /// Removes a stretch.
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

    /// Returns the first block of the stretch with the least seek and rotation per block, for an
    /// arm that starts at `start_ns`; of several, the lowest block. `looks` is called at every step
    /// of the search.
    pub fn cheapest(
        &self,
        mechanism: &Mechanism,
        arm: &Arm,
        start_ns: u64,
        mut looks: impl FnMut(),
    ) -> Option<u64> {
        let mut best = (u64::MAX, u64::MAX);
        let mut above = Place { length: u32::MAX, ..Place::default() };
        // The longest first: these have the lowest costs.
        while let Some((&Place { length, .. }, _)) = self.blocks.range(..above).next_back() {
            above = Place { length, ..Place::default() };
            let longest = 1u64 << length;
            let mut places = Outward::new(self.above(length, arm), self.below(length, arm));
            while let Some((place, count)) = places.step(|(place, _)| {
                mechanism.seek_at_least_ns(arm, place.cylinder, true) / longest > best.0
            }) {
                let seek_ns = mechanism.seek_to_head(arm, place.cylinder, place.head, true);
                looks();
                let Some(count) = count else {
                    let times = [start_ns, seek_ns];
                    best = self.cheapest_on(place, mechanism, arm, times, best, &mut looks);
                    continue;
                };
                let turn_ns =
                    mechanism.turn_ns(mechanism.angle_at(arm, start_ns + seek_ns), place.angle_ns);
                best = best.min(((seek_ns + turn_ns) / count, place.block));
            }
        }
        (best.0 < u64::MAX).then_some(best.1)
    }

    /// The cheaper of the best so far and the stretches on one track, in the order in which they
    /// pass the head.
    fn cheapest_on(
        &self,
        on: Place,
        mechanism: &Mechanism,
        arm: &Arm,
        [start_ns, seek_ns]: [u64; 2],
        mut best: Cost,
        looks: &mut impl FnMut(),
    ) -> Cost {
        let now_ns = mechanism.angle_at(arm, start_ns + seek_ns);
        let track = Place { angle_ns: 0, block: 0, ..on };
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

    /// Stretches of one length at or above the arm's cylinder, the nearest first.
    fn above(&self, length: u32, arm: &Arm) -> Way<'_> {
        let from = Place { length, cylinder: arm.cylinder, ..Place::default() };
        Way::new(&self.blocks, self.blocks.range(from..), false, length)
    }

    /// Stretches of one length below the arm's cylinder, the nearest first.
    fn below(&self, length: u32, arm: &Arm) -> Way<'_> {
        let until = Place { length, cylinder: arm.cylinder, ..Place::default() };
        Way::new(&self.blocks, self.blocks.range(..until), true, length)
    }
}

/// Stretches of one length in one direction from the arm. The first few of each track come with
/// their number of blocks. If a track has more, the next comes without, to stand for the whole
/// track, and the search continues behind it.
struct Way<'p> {
    blocks: &'p BTreeMap<Place, u64>,
    places: Range<'p, Place, u64>,
    is_down: bool,
    length: u32,
    /// The last stretch, and how many of its track came before it.
    last: Option<(Place, usize)>,
}

impl<'p> Way<'p> {
    fn new(
        blocks: &'p BTreeMap<Place, u64>,
        places: Range<'p, Place, u64>,
        is_down: bool,
        length: u32,
    ) -> Self {
        Self { blocks, places, is_down, length, last: None }
    }

    /// The stretches behind a track.
    fn behind(&self, on: Place) -> Range<'p, Place, u64> {
        match self.is_down {
            true => self.blocks.range(..Place { angle_ns: 0, block: 0, ..on }),
            false => self.blocks.range(Place { angle_ns: u64::MAX, block: u64::MAX, ..on }..),
        }
    }
}

impl Iterator for Way<'_> {
    type Item = (Place, Option<u64>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let next = if self.is_down { self.places.next_back() } else { self.places.next() };
        let (&place, &count) = next.filter(|(place, _)| place.length == self.length)?;
        let is_same = |last: &Place| (last.cylinder, last.head) == (place.cylinder, place.head);
        let before = self.last.filter(|(last, _)| is_same(last)).map_or(0, |(_, nth)| nth + 1);
        self.last = Some((place, before));
        if before == FEW_ON_TRACK {
            self.places = self.behind(place);
            return Some((place, None));
        }
        Some((place, Some(count)))
    }
}
