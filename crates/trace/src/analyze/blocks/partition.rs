//! A part of the table of blocks. Blocks in the same state share entries of 16 bytes; if most of a
//! group's blocks differ, the whole group has a line of 64 bytes.

use super::block::{Block, First, GROUP};
use super::entry::{Line, Set, Slot, Touched};
use super::ordered::{Entry, Ordered};
use super::slots::{SetTouch, spill};

/// Mean number of blocks per group from which lines are worth their memory, and below which they
/// waste it.
const DENSE: usize = 3;
const SPARSE: usize = 2;
/// Entries of two groups that take longer to touch than two lines.
const APART: usize = 5;
/// Entries sampled to find out how many a group has.
const FIRSTS: usize = 1024;

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

/// Returns the key of a group's first block, and which block of the group this is.
#[inline]
fn split(key: u32) -> (u32, usize) {
    let within = key & (GROUP as u32 - 1);
    (key - within, within as usize)
}

/// The blocks of a set, by their places in the group.
#[inline]
fn places(set: Set) -> impl Iterator<Item = usize> {
    (0..GROUP as usize).filter(move |at| set >> at & 1 != 0)
}

impl Partition {
    /// Creates an empty partition; a part of a trace keeps the first touch and write of each block.
    pub fn new(keeps_firsts: bool) -> Self {
        Self::of(Layout::Slots(Ordered::new(keeps_firsts, 0)))
    }

    fn of(layout: Layout) -> Self {
        Self { layout, len: 0, spilled: Vec::new() }
    }

    /// Prefetches the place of a key.
    #[inline]
    pub fn fetch(&self, key: u32) {
        let group = split(key).0;
        match &self.layout {
            Layout::Slots(slots) => slots.fetch(group),
            Layout::Lines(lines) => lines.fetch(group),
        }
    }

    /// The line of a key's group, if there is one with room for whatever one more touch may add;
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

    /// Touches blocks of a group, and passes to `tell` what was known and of how many blocks. A
    /// part keeps the first touch and write of a block.
    #[inline]
    pub fn touch_set(&mut self, touch: &SetTouch, tell: &mut impl FnMut(&Touched, u32)) {
        self.make_room(touch.group, touch.base);
        if let Layout::Slots(slots) = &mut self.layout {
            self.len += slots.touch(touch, &mut self.spilled, tell) as usize;
            return;
        }
        for at in places(touch.set) {
            tell(&self.touch_one(touch, touch.group + at as u32), 1);
        }
    }

    fn touch_one(&mut self, touch: &SetTouch, key: u32) -> Touched {
        let found = self.get(key, touch.base);
        let mut block = found.unwrap_or_default();
        let before = touch.apply(&mut block, found.is_some());
        self.put(key, &block, touch.base);
        let is_first = touch.written_ns.filter(|_| before.last_write_ns.is_none());
        if let Some(first) = self.first(key) {
            first.touch = if before.known { first.touch } else { touch.now };
            first.write_ns = is_first.unwrap_or(first.write_ns);
        }
        before
    }

    /// The state of a block, if present; `base` as in [`put`](Self::put).
    pub fn get(&self, key: u32, base: u32) -> Option<Block> {
        match &self.layout {
            Layout::Slots(slots) => {
                let (at, known) = slots.seek_block(key);
                known.then(|| slots.block(at, base, &self.spilled))
            }
            Layout::Lines(lines) => {
                let (group, block) = split(key);
                let (line, found) = lines.seek(group);
                let known = found && lines.at(line).has(block);
                known.then(|| in_line(lines.at(line), block, &self.spilled))
            }
        }
    }

    /// Stores a touched block; its times are counted from the second `base`.
    pub fn put(&mut self, key: u32, block: &Block, base: u32) {
        self.restore(key, block, &First::default(), base);
    }

    /// Does the same, with what a part keeps of a new block's beginning.
    pub fn restore(&mut self, key: u32, block: &Block, first: &First, base: u32) {
        let (group, within) = split(key);
        self.make_room(group, base);
        let is_new = match &mut self.layout {
            Layout::Slots(slots) => slots.put(key, block, first, base, &mut self.spilled),
            Layout::Lines(lines) => {
                let (at, found) = lines.seek(group);
                if !found {
                    // This becomes a valid line once the block is in it.
                    lines.insert(at, Line::of_group(group));
                }
                let is_new = !lines.at(at).has(within);
                put_in_line(lines.at_mut(at), within, block, &mut self.spilled);
                if let Some(kept) = lines.beside(at).filter(|_| is_new) {
                    kept[within] = *first;
                }
                is_new
            }
        };
        self.len += usize::from(is_new);
    }

    /// Makes room for another entry of a group, if it may need one.
    #[inline]
    fn make_room(&mut self, group: u32, base: u32) {
        let is_full = match &self.layout {
            Layout::Slots(slots) => slots.is_full(),
            Layout::Lines(lines) => lines.is_full() && !lines.seek(group).1,
        };
        if is_full {
            self.enlarge(base);
        }
    }

    #[cold]
    fn enlarge(&mut self, base: u32) {
        match &mut self.layout {
            Layout::Slots(slots) => {
                let [entries, blocks, groups] = first_groups(slots);
                if groups > 0 && blocks >= DENSE * groups && 2 * entries >= APART * groups {
                    let room = slots.len() * groups / entries;
                    let lines = Ordered::new(slots.keeps_beside(), room);
                    self.rebuild(Layout::Lines(lines), base);
                } else {
                    slots.grow();
                }
            }
            Layout::Lines(lines) => {
                if self.len < SPARSE * lines.len() {
                    let slots = Ordered::new(lines.keeps_beside(), self.len);
                    self.rebuild(Layout::Slots(slots), base);
                } else {
                    lines.grow();
                }
            }
        }
    }

    /// Moves all blocks to an empty layout.
    fn rebuild(&mut self, layout: Layout, base: u32) {
        let mut new = Self::of(layout);
        for (key, block, first) in self.iter(base) {
            new.restore(key, &block, &first, base);
        }
        *self = new;
    }

    /// The first touch and write of a block in a part of a trace, if they are kept.
    pub fn first(&mut self, key: u32) -> Option<&mut First> {
        match &mut self.layout {
            Layout::Slots(slots) => slots.first(key, &mut self.spilled),
            Layout::Lines(lines) => {
                let (group, block) = split(key);
                let (line, found) = lines.seek(group);
                if !found || !lines.at(line).has(block) {
                    return None;
                }
                lines.beside(line)?.get_mut(block)
            }
        }
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Memory, in bytes.
    pub fn bytes(&self) -> usize {
        let entries = match &self.layout {
            Layout::Slots(slots) => slots.bytes(),
            Layout::Lines(lines) => lines.bytes(),
        };
        entries + self.spilled.capacity() * size_of::<Block>()
    }

    /// Passes to `take` each number of writes with its marks, and how many blocks have it.
    pub fn each_writes(&self, take: &mut impl FnMut(u32, u64)) {
        let mut put = |found: Result<u32, usize>, number: u32| {
            let writes = found.unwrap_or_else(|number| self.spilled[number].writes);
            take(writes, u64::from(number));
        };
        match &self.layout {
            Layout::Slots(slots) => {
                slots.entries().for_each(|slot| put(slot.writes(), slot.set().count_ones()));
            }
            Layout::Lines(lines) => lines.entries().for_each(|line| {
                let known = (0..GROUP as usize).filter(|&at| line.has(at));
                known.for_each(|at| put(line.writes(at), 1));
            }),
        }
    }

    /// All blocks in order of their groups, each with what a part keeps of its beginning.
    pub fn iter(&self, base: u32) -> impl Iterator<Item = (u32, Block, First)> + '_ {
        let (slots, lines) = match &self.layout {
            Layout::Slots(slots) => (Some(slots), None),
            Layout::Lines(lines) => (None, Some(lines)),
        };
        let slots = slots.into_iter().flat_map(move |slots| {
            slots.iter().flat_map(move |(at, slot, first)| {
                let block = slots.block(at, base, &self.spilled);
                let key = slot.key();
                places(slot.set()).map(move |within| (key + within as u32, block, first))
            })
        });
        let lines = lines.into_iter().flat_map(Ordered::iter);
        slots.chain(lines.flat_map(move |(_, line, firsts)| {
            let of = move |(key, at)| (key, in_line(line, at, &self.spilled), firsts[at]);
            line.blocks().map(of)
        }))
    }
}

/// Entries, blocks and distinct groups of the first entries, which represent all because a hash
/// spreads the keys.
fn first_groups(slots: &Ordered<Slot>) -> [usize; 3] {
    let (mut entries, mut blocks, mut groups, mut latest) = (0, 0, 0, None);
    for slot in slots.entries().take(FIRSTS) {
        entries += 1;
        blocks += slot.set().count_ones() as usize;
        groups += usize::from(latest.replace(slot.key()) != Some(slot.key()));
    }
    [entries, blocks, groups]
}

fn in_line(line: &Line, at: usize, spilled: &[Block]) -> Block {
    line.block(at).unwrap_or_else(|number| spilled[number])
}

fn put_in_line(line: &mut Line, at: usize, block: &Block, spilled: &mut Vec<Block>) {
    match line.block(at) {
        Err(number) => spilled[number] = *block,
        Ok(_) if line.put(at, block) => {}
        Ok(_) => line.spill(at, spill(spilled, block)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::set_windows::Moment;
    use ioscape_schema::chance::mix;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Times within the range of a word and beyond it; few writes and many.
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

    /// Touches and puts of blocks of a few groups, to compare with a map of single blocks.
    #[derive(Clone, Debug)]
    enum Step {
        Touch { group: u32, set: Set, mark: u32, second: u32, is_write: bool },
        Put { key: u32, block: Block },
        FirstWrite { key: u32, ns: u64 },
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        // Few groups, which recur, at both ends of the key range.
        let group = (0u32..40, any::<bool>())
            .prop_map(|(group, high)| if high { u32::MAX - 3 - group * 4 } else { group * 4 });
        let second = prop_oneof![8 => 1_000u32..1_010, 1 => Just(1), 1 => Just(u32::MAX)];
        let touch = (group, 1..=15u8, 1u32..3, second, any::<bool>()).prop_map(
            |(group, set, mark, second, is_write)| {
                let mark = mark << 30;
                Step::Touch { group, set, mark, second, is_write }
            },
        );
        let put = (0u32..200, blocks()).prop_map(|(key, block)| Step::Put { key, block });
        let first = (0u32..200, any::<u64>()).prop_map(|(key, ns)| Step::FirstWrite { key, ns });
        prop::collection::vec(prop_oneof![8 => touch, 2 => put, 1 => first], 0..600)
    }

    const BASE: u32 = 500;

    /// Touches blocks of a map, and reports what was known of each.
    fn touch_map(
        map: &mut BTreeMap<u32, (Block, First)>,
        touch: &SetTouch,
        told: &mut Vec<String>,
    ) {
        for key in places(touch.set).map(|at| touch.group + at as u32) {
            let known = map.contains_key(&key);
            let (block, first) = map.entry(key).or_default();
            let before = touch.apply(block, known);
            if !known {
                first.touch = touch.now;
            }
            if let Some(ns) = touch.written_ns.filter(|_| before.last_write_ns.is_none()) {
                first.write_ns = ns;
            }
            told.push(format!("{before:?}"));
        }
    }

    fn touch(partition: &mut Partition, touch: &SetTouch, told: &mut Vec<String>) {
        partition.touch_set(touch, &mut |before, number| {
            told.extend((0..number).map(|_| format!("{before:?}")));
        });
    }

    proptest! {
        #[test]
        fn it_holds_what_a_map_holds(steps in steps(), firsts in any::<bool>()) {
            let (mut partition, mut map) = (Partition::new(firsts), BTreeMap::new());
            for step in steps {
                match step {
                    Step::Touch { group, set, mark, second, is_write } => {
                        let now = Moment::numbered(second);
                        let written_ns = is_write.then_some(u64::from(second - 1) * 1_000_000_000 + 7);
                        let one = SetTouch { group, set, mark, now, written_ns, base: BASE };
                        let (mut told, mut expected) = (Vec::new(), Vec::new());
                        touch(&mut partition, &one, &mut told);
                        touch_map(&mut map, &one, &mut expected);
                        told.sort();
                        expected.sort();
                        prop_assert_eq!(told, expected);
                    }
                    Step::Put { key, block } => {
                        let first = First { touch: block.last, write_ns: 3 };
                        partition.restore(key, &block, &first, BASE);
                        map.entry(key).or_insert((block, first)).0 = block;
                    }
                    Step::FirstWrite { key, ns } => {
                        let kept = partition.first(key);
                        prop_assert_eq!(kept.is_some(), firsts && map.contains_key(&key));
                        if let Some((kept, (_, first))) = kept.zip(map.get_mut(&key)) {
                            (kept.write_ns, first.write_ns) = (ns, ns);
                        }
                    }
                }
            }
            prop_assert_eq!(partition.len(), map.len());
            let mut writes = BTreeMap::new();
            partition.each_writes(&mut |of, number| *writes.entry(of).or_insert(0) += number);
            for (block, _) in map.values() {
                *writes.entry(block.writes).or_default() -= 1;
            }
            prop_assert!(writes.values().all(|&left| left == 0), "{writes:?}");
            let found: BTreeMap<u32, (Block, First)> =
                partition.iter(BASE).map(|(key, block, first)| (key, (block, first))).collect();
            prop_assert_eq!(partition.iter(BASE).count(), map.len());
            for (key, (block, _)) in &map {
                prop_assert_eq!(partition.get(*key, BASE), Some(*block));
            }
            let told = |first: First| if firsts { first } else { First::default() };
            let expected: BTreeMap<u32, (Block, First)> =
                map.into_iter().map(|(key, (block, first))| (key, (block, told(first)))).collect();
            prop_assert_eq!(found, expected);
        }
    }

    /// Blocks of random keys, in slots, in lines and during changes between them.
    #[test]
    fn layouts_change_and_keep_what_is_known() {
        for firsts in [false, true] {
            let (mut partition, mut map) = (Partition::new(firsts), BTreeMap::new());
            let mut was_lines = false;
            for at in 0..60_000u64 {
                // Neighbours that come one by one, then groups of one block.
                let neighbours = at < 20_000;
                let group = (mix(if neighbours { at / 4 } else { at }) as u32) & !3;
                let set = if neighbours { 1 << (at % 4) } else { 1 };
                let now = Moment::numbered(1_000 + at as u32);
                let one = SetTouch { group, set, mark: 1 << 31, now, written_ns: None, base: BASE };
                let (mut told, mut expected) = (Vec::new(), Vec::new());
                touch(&mut partition, &one, &mut told);
                touch_map(&mut map, &one, &mut expected);
                assert_eq!(told, expected);
                was_lines |= matches!(partition.layout, Layout::Lines(_));
            }
            assert!(was_lines && matches!(partition.layout, Layout::Slots(_)));
            let told = |first: First| if firsts { first } else { First::default() };
            let found: BTreeMap<u32, (Block, First)> =
                partition.iter(BASE).map(|(key, block, first)| (key, (block, first))).collect();
            let expected: BTreeMap<u32, (Block, First)> =
                map.into_iter().map(|(key, (block, first))| (key, (block, told(first)))).collect();
            assert_eq!(found, expected);
        }
    }
}
