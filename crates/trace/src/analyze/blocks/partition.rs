//! A part of the table of blocks: each block in an entry of 16 bytes, or all of a group in one of 64 where most groups are full.

use super::block::{Block, First, GROUP, GROUP_BITS};
use super::entry::{Line, Slot, Touched};
use super::ordered::{Entry, Ordered};
use crate::analyze::set_windows::Moment;

/// Blocks of a group that make a line worth its memory, and that make it a waste, in the mean.
const DENSE: usize = 3;
const SPARSE: usize = 2;
/// Blocks that are looked at to know how many a group has.
const FIRSTS: usize = 1024;
/// A list of spilled blocks grows by a tenth.
const SPILL_GROWTH: usize = 10;
const LEAST_SPILLED: usize = 16;

/// Where a block is, or belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Of a line, its place times [`GROUP`], and the block in it.
    at: usize,
    /// Whether it is there.
    pub known: bool,
}

#[derive(Clone, Debug)]
enum Layout {
    Slots(Ordered<Slot>),
    Lines(Ordered<Line>),
}

/// Blocks by key.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    layout: Layout,
    len: usize,
    /// Blocks whose values do not fit into their entries.
    spilled: Vec<Block>,
}

/// The key of the first block of a group, and which of them it is.
#[inline]
fn split(key: u32) -> (u32, usize) {
    let within = key & (GROUP as u32 - 1);
    (key - within, within as usize)
}

#[inline]
fn place_in(at: usize) -> (usize, usize) {
    (at >> GROUP_BITS, at & (GROUP as usize - 1))
}

impl Partition {
    /// No blocks yet; a part of a trace keeps what they begin with.
    pub fn new(keeps_firsts: bool) -> Self {
        Self::of(Layout::Slots(Ordered::new(keeps_firsts, 0)))
    }

    fn of(layout: Layout) -> Self {
        Self { layout, len: 0, spilled: Vec::new() }
    }

    /// Has the place of a key brought into the caches while the processor goes on.
    #[inline]
    pub fn fetch(&self, key: u32) {
        match &self.layout {
            Layout::Slots(slots) => slots.fetch(key),
            Layout::Lines(lines) => lines.fetch(key),
        }
    }

    /// The place of a key.
    #[inline]
    pub fn seek(&self, key: u32) -> Place {
        match &self.layout {
            Layout::Slots(slots) => {
                let (at, known) = slots.seek(key);
                Place { at, known }
            }
            Layout::Lines(lines) => {
                let (group, block) = split(key);
                let (line, found) = lines.seek(group);
                let known = found && lines.at(line).has(block);
                Place { at: (line << GROUP_BITS) | block, known }
            }
        }
    }

    /// The line of the group of a key, where there is one and all that can come to be known of its blocks by one more touch fits into it;
    /// and the number of blocks.
    #[inline]
    pub fn line(&mut self, key: u32) -> Option<(&mut Line, &mut usize)> {
        let Layout::Lines(lines) = &mut self.layout else { return None };
        let (at, found) = lines.seek(split(key).0);
        if !found {
            return None;
        }
        Some((lines.at_mut(at), &mut self.len)).filter(|(line, _)| line.has_room())
    }

    /// Touches the block in a place that is known, where that is done in place: see [`Slot::touch`].
    #[inline]
    pub fn touch_slot(
        &mut self,
        place: Place,
        mark: u32,
        now: Moment,
        written_ns: Option<u64>,
        base: u32,
    ) -> Option<Touched> {
        match &mut self.layout {
            Layout::Slots(slots) if place.known => {
                slots.at_mut(place.at).touch(mark, now, written_ns, base)
            }
            _ => None,
        }
    }

    /// The place of the next key of the same group, the one before being in the place `before`.
    #[inline]
    pub fn seek_behind(&self, before: Place, key: u32) -> Place {
        match &self.layout {
            Layout::Slots(slots) => {
                let (at, known) = slots.seek_behind(before.at, key);
                Place { at, known }
            }
            Layout::Lines(lines) => {
                let at = before.at + 1;
                let (line, block) = place_in(at);
                Place { at, known: lines.at(line).has(block) }
            }
        }
    }

    /// What is known of the block in a place; `base` as in [`put`](Self::put).
    #[inline]
    pub fn get(&self, place: Place, base: u32) -> Block {
        if !place.known {
            return Block::default();
        }
        let found = match &self.layout {
            Layout::Slots(slots) => slots.at(place.at).block(base),
            Layout::Lines(lines) => {
                let (line, block) = place_in(place.at);
                lines.at(line).block(block)
            }
        };
        found.unwrap_or_else(|number| self.spilled[number])
    }

    /// Keeps a block that was touched; its times are counted from the second `base`. Its place is then this one.
    #[inline]
    pub fn put(&mut self, place: Place, key: u32, block: &Block, base: u32) -> Place {
        if !place.known {
            return Place { at: self.add(place.at, key, block, base), known: true };
        }
        match &mut self.layout {
            Layout::Slots(slots) => {
                let slot = slots.at_mut(place.at);
                match (slot.block(base), Slot::of(key, block, base)) {
                    (Ok(_), Some(new)) => *slot = new,
                    (Ok(_), None) => *slot = Slot::spilled(key, spill(&mut self.spilled, block)),
                    (Err(number), _) => self.spilled[number] = *block,
                }
            }
            Layout::Lines(lines) => {
                let (line, at) = place_in(place.at);
                put_in_line(lines.at_mut(line), at, block, &mut self.spilled);
            }
        }
        place
    }

    /// Keeps a block that is not there yet and belongs there; where it is then.
    #[inline(never)]
    fn add(&mut self, mut at: usize, key: u32, block: &Block, base: u32) -> usize {
        if self.make_room(at, key, base) {
            at = self.seek(key).at;
        }
        self.len += 1;
        match &mut self.layout {
            Layout::Slots(slots) => {
                let slot = Slot::of(key, block, base)
                    .unwrap_or_else(|| Slot::spilled(key, spill(&mut self.spilled, block)));
                slots.insert(at, slot);
            }
            Layout::Lines(lines) => {
                let (group, (line, within)) = (split(key).0, place_in(at));
                if lines.seek_from(line, group).1 {
                    put_in_line(lines.at_mut(line), within, block, &mut self.spilled);
                } else {
                    let mut new = Line::of_group(group);
                    put_in_line(&mut new, within, block, &mut self.spilled);
                    lines.insert(line, new);
                }
            }
        }
        at
    }

    /// Whether there had to be made room for another key that belongs there.
    fn make_room(&mut self, at: usize, key: u32, base: u32) -> bool {
        match &mut self.layout {
            Layout::Slots(slots) if slots.is_full() => {
                let (blocks, groups) = first_groups(slots);
                if groups > 0 && blocks >= DENSE * groups {
                    let lines = Ordered::new(slots.keeps_beside(), self.len * groups / blocks);
                    self.rebuild(Layout::Lines(lines), base);
                } else {
                    slots.grow();
                }
                true
            }
            Layout::Lines(lines)
                if lines.is_full() && !lines.seek_from(place_in(at).0, split(key).0).1 =>
            {
                if self.len < SPARSE * lines.len() {
                    let slots = Ordered::new(lines.keeps_beside(), self.len);
                    self.rebuild(Layout::Slots(slots), base);
                } else {
                    lines.grow();
                }
                true
            }
            _ => false,
        }
    }

    /// Moves all blocks to an empty layout.
    fn rebuild(&mut self, layout: Layout, base: u32) {
        let mut new = Self::of(layout);
        for (key, block, first) in self.iter(base) {
            new.put(new.seek(key), key, &block, base);
            if let Some(kept) = new.first(key) {
                *kept = first;
            }
        }
        *self = new;
    }

    /// The first touch and write of a block in a part of a trace, where they are kept.
    #[inline]
    pub fn first(&mut self, key: u32) -> Option<&mut First> {
        let place = self.seek(key);
        match &mut self.layout {
            _ if !place.known => None,
            Layout::Slots(slots) => slots.beside(place.at),
            Layout::Lines(lines) => {
                let (line, block) = place_in(place.at);
                lines.beside(line)?.get_mut(block)
            }
        }
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        let entries = match &self.layout {
            Layout::Slots(slots) => slots.bytes(),
            Layout::Lines(lines) => lines.bytes(),
        };
        entries + self.spilled.capacity() * size_of::<Block>()
    }

    /// Gives the number of writes and the marks of every block to `take`, in the order of their keys.
    pub fn each_writes(&self, take: &mut impl FnMut(u32)) {
        let mut put = |found: Result<u32, usize>| {
            take(found.unwrap_or_else(|number| self.spilled[number].writes));
        };
        match &self.layout {
            Layout::Slots(slots) => slots.entries().for_each(|slot| put(slot.writes())),
            Layout::Lines(lines) => lines.entries().for_each(|line| {
                let known = (0..GROUP as usize).filter(|&at| line.has(at));
                known.for_each(|at| put(line.writes(at)));
            }),
        }
    }

    /// All blocks in the order of their keys, each with what a part keeps of its beginning.
    pub fn iter(&self, base: u32) -> impl Iterator<Item = (u32, Block, First)> + '_ {
        let (slots, lines) = match &self.layout {
            Layout::Slots(slots) => (Some(slots), None),
            Layout::Lines(lines) => (None, Some(lines)),
        };
        let known = move |at| self.get(Place { at, known: true }, base);
        let slots = slots.into_iter().flat_map(Ordered::iter);
        let lines = lines.into_iter().flat_map(Ordered::iter);
        let singles = slots.map(move |(at, slot, first)| (slot.key(), known(at), first));
        singles.chain(lines.flat_map(move |(line, blocks, firsts)| {
            let of = move |(key, at)| (key, known((line << GROUP_BITS) | at), firsts[at]);
            blocks.blocks().map(of)
        }))
    }
}

/// Blocks and their distinct groups, of the first ones: keys are spread by a hash, so these stand for all.
fn first_groups(slots: &Ordered<Slot>) -> (usize, usize) {
    let firsts = slots.iter().take(FIRSTS).map(|(_, slot, _)| split(slot.key()).0);
    let (mut blocks, mut groups, mut latest) = (0, 0, None);
    for group in firsts {
        blocks += 1;
        groups += usize::from(latest.replace(group) != Some(group));
    }
    (blocks, groups)
}

#[inline]
fn put_in_line(line: &mut Line, at: usize, block: &Block, spilled: &mut Vec<Block>) {
    match line.block(at) {
        Err(number) => spilled[number] = *block,
        Ok(_) if line.put(at, block) => {}
        Ok(_) => line.spill(at, spill(spilled, block)),
    }
}

/// Keeps a block that fits no entry; its number.
#[cold]
fn spill(spilled: &mut Vec<Block>, block: &Block) -> usize {
    if spilled.len() == spilled.capacity() {
        spilled.reserve_exact(spilled.len() / SPILL_GROWTH + LEAST_SPILLED);
    }
    spilled.push(*block);
    spilled.len() - 1
}

#[cfg(test)]
mod tests {
    use super::super::block::WRITES;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Times within the range of a word and beyond it, few writes and many.
    fn blocks() -> impl Strategy<Value = Block> {
        let last = prop_oneof![1_000u32..1_100, Just(u32::MAX), Just(1)];
        (last, 1u32..4, 0u32..3000, any::<bool>(), 0u64..2_000_000_000).prop_map(
            |(last, marks, writes, same, ns)| {
                let begun = u64::from(last - 1) * 1_000_000_000;
                let last_write_ns = if same { begun + ns % 1_000_000_000 } else { ns };
                Block {
                    last: Moment::numbered(last),
                    writes: (marks << 30) | writes,
                    last_write_ns: if writes > 0 { last_write_ns } else { 0 },
                }
            },
        )
    }

    proptest! {
        /// In place, or out of it and back.
        #[test]
        fn a_touch_in_place_is_one_of_the_block(block in blocks(), now in 900u32..1_200, ns in 0u64..1_000_000_000, mark in 1u32..3, is_write in any::<bool>()) {
            let (base, key, now_ns) = (500, 7, u64::from(now - 1) * 1_000_000_000 + ns);
            let (now, written_ns) = (Moment::numbered(now), is_write.then_some(now_ns));
            let mut partition = Partition::new(false);
            partition.put(partition.seek(key), key, &block, base);
            let mut whole = partition.clone();
            let place = partition.seek(key);
            let found = partition.touch_slot(place, mark << 30, now, written_ns, base);
            let (mut place, again) = (place, is_write && block.writes & WRITES > 0);
            let expected = whole.touch_block(&mut place, key, mark << 30, now, written_ns, base);
            prop_assert_eq!((expected.known, expected.last), (true, block.last));
            prop_assert_eq!(expected.last_write_ns, again.then_some(block.last_write_ns));
            if let Some(found) = found {
                prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"));
                prop_assert_eq!(partition.get(place, base), whole.get(place, base));
            } else {
                prop_assert!(!whole.spilled.is_empty(), "it is kept elsewhere, or is from now on");
            }
        }

        #[test]
        fn it_holds_what_a_map_holds(
            puts in prop::collection::vec((any::<u32>(), 0u32..31, blocks()), 0..400),
            firsts in any::<bool>(),
        ) {
            let base = 500;
            let (mut partition, mut map) = (Partition::new(firsts), BTreeMap::new());
            for (number, (key, shift, block)) in (1u32..).zip(puts) {
                // Small keys crowd at one end, and some come again.
                let key = if shift % 2 == 0 { key >> shift } else { u32::MAX - (key >> shift) };
                let place = partition.seek(key);
                let before: Option<&(Block, u32)> = map.get(&key);
                prop_assert_eq!(place.known, before.is_some());
                prop_assert_eq!(partition.get(place, base), before.map(|one| one.0).unwrap_or_default());
                partition.put(place, key, &block, base);
                if !place.known && firsts {
                    partition.first(key).expect("it is there").touch = Moment::numbered(number);
                }
                let first = before.map_or(number, |one| one.1);
                map.insert(key, (block, first));
            }
            prop_assert_eq!(partition.len(), map.len());
            let found: Vec<_> = partition.iter(base).map(|(key, block, first)| (key, block, first.touch)).collect();
            let told = |first: u32| if firsts { Moment::numbered(first) } else { Moment::NEVER };
            let expected: Vec<_> = map.into_iter().map(|(key, (block, first))| (key, block, told(first))).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
