//! The table of all blocks, in partitions by a hash of the block: each grows by itself, and half of them are a sample.

use super::block::{Block, First, GROUP, GROUP_BITS};
use super::partition::{Partition, Place};
use super::size::BLOCK_BITS;
use super::touch::{Counts, Rules, Touch};
use crate::analyze::key_table::KeyTable;
use crate::analyze::mix::mix;
use crate::analyze::set_windows::Moment;

/// Partitions of all blocks; as many more for blocks of far devices and places.
pub(super) const PARTITIONS: usize = 1 << PARTITION_BITS;
const PARTITION_BITS: u32 = 8;
/// Bits of the number of a near group: 32 TiB in blocks of 8 KiB; devices with a number below 256 are near.
const NEAR_BITS: u32 = 30;
const DEVICE_BITS: u32 = 8;
/// Groups of a far region: 32 MiB in blocks of 8 KiB; and the most regions.
const REGION_BITS: u32 = 10;
const MOST_REGIONS: usize = 1 << (NEAR_BITS - REGION_BITS);
/// Tables that share out the partitions: each has every so many-th.
pub const SHARDS: usize = 4;
/// Partitions kept are told to 90 % by so many standard errors.
const Z90: f64 = 1.645;
const OWN: usize = PARTITIONS / SHARDS;
/// Least partitions of a sample: 8 in all tell how far off it may be.
const LEAST_KEPT: usize = 8 / SHARDS;

const ODD: [u64; 2] = [0x27d4_eb2f, 0x1656_67b1];
const NEAR: u64 = (1 << NEAR_BITS) - 1;

/// The number whose product with `odd` is 1 (Newton).
const fn inverse(odd: u64) -> u64 {
    let mut x = odd;
    let mut round = 0;
    while round < 6 {
        x = x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)));
        round += 1;
    }
    x
}

/// [`NEAR_BITS`] bits shuffled, reversibly; the higher ones well.
#[inline]
fn shuffle(x: u64) -> u64 {
    let x = x.wrapping_mul(ODD[0]) & NEAR;
    (x ^ (x >> (NEAR_BITS / 2))).wrapping_mul(ODD[1]) & NEAR
}

fn unshuffle(x: u64) -> u64 {
    let x = x.wrapping_mul(const { inverse(ODD[1]) }) & NEAR;
    (x ^ (x >> (NEAR_BITS / 2))).wrapping_mul(const { inverse(ODD[0]) }) & NEAR
}

/// Where a group of blocks belongs: the number of its partition among all, and of a near one what else tells it from others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    group: u64,
    partition: usize,
    near: Option<u64>,
}

impl Address {
    /// Of a group, a key of a block without its lowest bits. The device has no part in the choice of the partition: parts of a trace
    /// may number devices each in its own way.
    #[inline]
    pub fn of(group: u64) -> Self {
        const DEVICE_AT: u32 = BLOCK_BITS - GROUP_BITS;
        let (device, number) = (group >> DEVICE_AT, group & ((1 << DEVICE_AT) - 1));
        if device >> DEVICE_BITS != 0 || number > NEAR {
            let partition = (mix(number) >> (64 - PARTITION_BITS)) as usize;
            return Self { group, partition, near: None };
        }
        let hash = shuffle(number);
        let rest = hash & (NEAR >> PARTITION_BITS);
        let partition = (hash >> (NEAR_BITS - PARTITION_BITS)) as usize;
        Self { group, partition, near: Some((rest << DEVICE_BITS) | device) }
    }

    /// The table it belongs to.
    #[inline]
    pub fn shard(&self) -> usize {
        self.partition % SHARDS
    }
}

/// Where the blocks of a group are: the partition of the table, and the key of the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupPlace {
    pub partition: u16,
    pub key: u32,
}

/// Where a block is, or belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    partition: u16,
    key: u32,
    at: Place,
}

impl Found {
    /// Whether it is there.
    pub fn known(&self) -> bool {
        self.at.known
    }
}

/// All blocks touched of one shard, or a sample of them.
#[derive(Clone, Debug)]
pub(super) struct Table {
    shard: usize,
    part: bool,
    partitions: Vec<Partition>,
    /// Partitions that are followed, of both kinds.
    kept: usize,
    one_in: u64,
    /// The second that times are counted from.
    base: Option<u32>,
    /// Far regions by number, and their numbers.
    regions: Vec<u64>,
    numbers: KeyTable,
    untracked: u64,
    bytes: usize,
}

impl Table {
    /// No blocks yet; a `part` keeps first touches.
    pub fn new(part: bool, shard: usize) -> Self {
        let partitions = vec![Partition::new(part); 2 * OWN];
        let (regions, numbers) = Default::default();
        Self {
            shard,
            part,
            partitions,
            kept: OWN,
            one_in: 1,
            base: None,
            regions,
            numbers,
            untracked: 0,
            bytes: 0,
        }
    }

    /// Says which of the tables it is.
    pub fn set_shard(&mut self, shard: usize) {
        self.shard = shard;
    }

    /// Whether first touches are kept.
    pub fn is_part(&self) -> bool {
        self.part
    }

    /// The place of a group that belongs here; nothing where it is not followed.
    #[inline]
    pub fn place(&mut self, address: &Address) -> Option<GroupPlace> {
        let partition = address.partition / SHARDS;
        if partition >= self.kept {
            return None;
        }
        let Some(near) = address.near else { return self.far(address.group, OWN + partition) };
        let key = (shuffle(near) as u32) << GROUP_BITS;
        Some(GroupPlace { partition: partition as u16, key })
    }

    #[cold]
    fn far(&mut self, group: u64, partition: usize) -> Option<GroupPlace> {
        let (region, within) = (group >> REGION_BITS, group & ((1 << REGION_BITS) - 1));
        let Some(number) = self.numbers.number(region, MOST_REGIONS) else {
            self.untracked += 1;
            return None;
        };
        if number as usize == self.regions.len() {
            self.regions.push(region);
        }
        let key = shuffle((u64::from(number) << REGION_BITS) | within) as u32;
        Some(GroupPlace { partition: partition as u16, key: key << GROUP_BITS })
    }

    /// The group of a place.
    fn group(&self, partition: usize, key: u32) -> u64 {
        let rest = unshuffle(u64::from(key >> GROUP_BITS));
        if partition >= OWN {
            let region = self.regions[(rest >> REGION_BITS) as usize];
            return (region << REGION_BITS) | (rest & ((1 << REGION_BITS) - 1));
        }
        let device = rest & ((1 << DEVICE_BITS) - 1);
        let partition = (partition * SHARDS + self.shard) as u64;
        let hash = (partition << (NEAR_BITS - PARTITION_BITS)) | (rest >> DEVICE_BITS);
        (device << (BLOCK_BITS - GROUP_BITS)) | unshuffle(hash)
    }

    /// Puts touches in the order of their partitions, those of one in the order they had.
    pub fn sort(touches: &[Touch], sorted: &mut Vec<Touch>) {
        let mut places = [0; 2 * OWN];
        touches.iter().for_each(|touch| places[usize::from(touch.partition)] += 1);
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        sorted.resize(touches.len(), Touch::default());
        for touch in touches {
            let place = &mut places[usize::from(touch.partition)];
            sorted[*place] = *touch;
            *place += 1;
        }
    }

    /// Counts touches of one partition, in their order.
    pub fn touch_all(&mut self, touches: &[Touch], counts: &mut Counts) {
        let Some(first) = touches.first() else { return };
        let rules = Rules { base: self.base(first.now), one_in: self.one_in, part: self.part };
        let partition = &mut self.partitions[usize::from(first.partition)];
        let before = partition.bytes();
        partition.touch_all(touches, rules, counts);
        // It may take less: lines of groups in the place of slots of blocks.
        self.bytes = self.bytes + partition.bytes() - before;
    }

    /// The second that times are counted from, chosen by the first of them.
    fn base(&mut self, now: Moment) -> u32 {
        // A year to either side.
        *self.base.get_or_insert(now.number().saturating_sub(1 << 25))
    }

    /// Where a block of a group is, or belongs.
    #[inline]
    pub fn find(&self, place: GroupPlace, block: u8) -> Found {
        let key = place.key | u32::from(block);
        let at = self.partitions[usize::from(place.partition)].seek(key);
        Found { partition: place.partition, key, at }
    }

    /// What is known of a block.
    #[inline]
    pub fn get(&self, found: &Found) -> Block {
        self.partitions[usize::from(found.partition)].get(found.at, self.base.unwrap_or(0))
    }

    /// Keeps a block that was touched.
    #[inline]
    pub fn put(&mut self, found: &Found, block: &Block) {
        let base = self.base(block.last);
        let partition = &mut self.partitions[usize::from(found.partition)];
        let before = partition.bytes();
        partition.put(found.at, found.key, block, base);
        // It may take less: lines of groups in the place of slots of blocks.
        self.bytes = self.bytes + partition.bytes() - before;
    }

    /// Takes a block as it is.
    pub fn restore(&mut self, key: u64, block: &Block, first: &First) {
        let Some(place) = self.place(&Address::of(key >> GROUP_BITS)) else { return };
        let found = self.find(place, (key & (GROUP - 1)) as u8);
        self.put(&found, block);
        self.begin(&found, Some(first.touch), Some(first.write_ns));
    }

    /// Keeps the first touch of a block that is there, or its first write, where those are kept.
    pub fn begin(&mut self, found: &Found, touch: Option<Moment>, write_ns: Option<u64>) {
        if self.part {
            self.partitions[usize::from(found.partition)].begin(found.key, touch, write_ns);
        }
    }

    /// Every so many-th block is followed.
    #[inline]
    pub fn one_in(&self) -> u64 {
        self.one_in
    }

    /// Gives up half of the partitions; `false` when too few would be left.
    pub fn halve(&mut self) -> bool {
        if self.kept <= LEAST_KEPT {
            return false;
        }
        self.kept /= 2;
        self.one_in *= 2;
        for (at, partition) in self.partitions.iter_mut().enumerate() {
            if at % OWN >= self.kept {
                *partition = Partition::new(false);
            }
        }
        self.bytes = self.partitions.iter().map(Partition::bytes).sum();
        true
    }

    /// All blocks by their keys, in an order of no meaning, each with what a part keeps of its beginning.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Block, First)> + '_ {
        let base = self.base.unwrap_or(0);
        self.partitions.iter().enumerate().flat_map(move |(number, partition)| {
            partition.iter(base).map(move |(key, block, first)| {
                let low = u64::from(key) & (GROUP - 1);
                ((self.group(number, key) << GROUP_BITS) | low, block, first)
            })
        })
    }

    /// What is known of all blocks, in an order of no meaning.
    pub fn blocks(&self) -> impl Iterator<Item = Block> + '_ {
        let base = self.base.unwrap_or(0);
        self.partitions.iter().flat_map(move |one| one.iter(base).map(|(_, block, _)| block))
    }

    /// Groups that had no place: of more than a million far regions.
    pub fn untracked(&self) -> u64 {
        self.untracked
    }

    /// The memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Blocks in each partition that is followed.
    fn lens(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.kept).map(|at| self.partitions[at].len() + self.partitions[OWN + at].len())
    }

    /// How far the number of blocks in all tables may be off with a probability of 90 %, as a part of it: as the partitions differ.
    pub fn error90<'a>(tables: impl Iterator<Item = &'a Self>) -> f64 {
        let counts: Vec<f64> = tables.flat_map(Self::lens).map(|len| len as f64).collect();
        let number = counts.len() as f64;
        let mean = counts.iter().sum::<f64>() / number;
        let squares: f64 = counts.iter().map(|count| (count - mean).powi(2)).sum();
        let variance = squares / (number - 1.0);
        let unseen = 1.0 - number / PARTITIONS as f64;
        if mean > 0.0 { Z90 * (variance / number * unseen).sqrt() / mean } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::set_windows::Moment;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn shuffling_is_undone(x in 0..=NEAR) {
            prop_assert_eq!(unshuffle(shuffle(x)), x);
            prop_assert!(shuffle(x) <= NEAR);
        }

        #[test]
        fn near_and_far_blocks_keep_their_keys(keys in prop::collection::vec((0u64..300, any::<u64>(), 0u32..64), 0..200)) {
            let (mut tables, mut map) = (tables(true), BTreeMap::new());
            for (number, (device, block, shift)) in (1u32..).zip(keys) {
                let key = (device << BLOCK_BITS) | ((block >> shift) & ((1 << BLOCK_BITS) - 1));
                let block = Block { last: Moment::numbered(number), writes: 1 << 31, last_write_ns: 0 };
                prop_assert_eq!(put(&mut tables, key, &block), Some(map.contains_key(&key)));
                map.insert(key, block);
            }
            prop_assert_eq!(len(&tables), map.len());
            let all = tables.iter().flat_map(Table::iter);
            let found: BTreeMap<u64, Block> = all.map(|(key, block, _)| (key, block)).collect();
            prop_assert_eq!(found, map);
        }
    }

    fn tables(part: bool) -> Vec<Table> {
        (0..SHARDS).map(|shard| Table::new(part, shard)).collect()
    }

    /// Puts a block into its table: whether it was there; nothing where it is not followed.
    fn put(tables: &mut [Table], key: u64, block: &Block) -> Option<bool> {
        let address = Address::of(key >> GROUP_BITS);
        let table = &mut tables[address.shard()];
        let place = table.place(&address)?;
        let found = table.find(place, (key & (GROUP - 1)) as u8);
        table.put(&found, block);
        Some(found.known())
    }

    fn len(tables: &[Table]) -> usize {
        tables.iter().flat_map(|table| &table.partitions).map(Partition::len).sum()
    }

    fn bytes(tables: &[Table]) -> usize {
        tables.iter().map(Table::bytes).sum()
    }

    const TOUCHED: Block = Block { last: Moment::NEVER, writes: 1 << 31, last_write_ns: 0 };

    #[test]
    fn blocks_far_apart_and_neighbours_take_about_as_many_bytes() {
        let bytes_each = |step: u64, number: u64| {
            let mut tables = tables(false);
            for key in (0..number).map(|at| at * step) {
                put(&mut tables, key, &TOUCHED).expect("all are followed");
            }
            assert_eq!(len(&tables) as u64, number);
            bytes(&tables) as f64 / number as f64
        };
        let sizes = [600_000, 650_000, 700_000, 750_000];
        for number in sizes {
            let [apart, together] = [97, 1].map(|step| bytes_each(step, number));
            assert!(apart < 25.0, "{apart} bytes for each of {number} blocks far apart");
            assert!(together < 28.0, "{together} bytes for each of {number} neighbours");
        }
        let mean = sizes.map(|number| bytes_each(97, number)).iter().sum::<f64>() / 4.0;
        assert!(mean < 23.0, "{mean}");
    }

    #[test]
    fn a_half_of_it_is_a_sample() {
        let mut tables = tables(false);
        let fill = |tables: &mut [Table]| {
            (0..40_000).for_each(|group| {
                put(tables, group << GROUP_BITS, &TOUCHED);
            });
        };
        fill(&mut tables);
        assert_eq!((len(&tables), Table::error90(tables.iter())), (40_000, 0.0));
        let before = bytes(&tables);
        while tables.iter_mut().all(Table::halve) {
            fill(&mut tables);
            let found = len(&tables) as f64 * tables[0].one_in() as f64;
            assert!((found / 40_000.0 - 1.0).abs() < 0.1, "{found}");
            let error = Table::error90(tables.iter());
            assert!(error > 0.0 && error < 0.1, "{error}");
        }
        assert!(tables.iter().all(|table| table.one_in() == 32) && bytes(&tables) < before / 16);
    }
}
