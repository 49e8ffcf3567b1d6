//! The table of all blocks, in partitions by a hash of the block: each grows by itself, and half of them are a sample.

use super::block::{Block, First, GROUP, GROUP_BITS};
use super::partition::{Partition, Place};
use super::size::BLOCK_BITS;
use crate::analyze::key_table::KeyTable;
use crate::analyze::mix::mix;

/// Partitions of blocks; as many more for blocks of far devices and places.
const PARTITIONS: usize = 1 << PARTITION_BITS;
const PARTITION_BITS: u32 = 8;
/// Bits of the number of a near group: 32 TiB in blocks of 8 KiB; devices with a number below 256 are near.
const NEAR_BITS: u32 = 30;
const DEVICE_BITS: u32 = 8;
/// Groups of a far region: 32 MiB in blocks of 8 KiB; and the most regions.
const REGION_BITS: u32 = 10;
const MOST_REGIONS: usize = 1 << (NEAR_BITS - REGION_BITS);
/// Least partitions of a sample: 8 tell how far off it may be.
const LEAST_KEPT: usize = 8;
/// Partitions kept are told to 90 % by so many standard errors.
const Z90: f64 = 1.645;

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

/// Where the blocks of a group are: the partition, and the key of the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupPlace {
    partition: u16,
    key: u32,
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

/// All blocks touched, or a sample of them.
#[derive(Clone, Debug)]
pub(super) struct Table {
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
    pub fn new(part: bool) -> Self {
        let partitions = vec![Partition::new(part); 2 * PARTITIONS];
        let (regions, numbers) = Default::default();
        Self {
            partitions,
            kept: PARTITIONS,
            one_in: 1,
            base: None,
            regions,
            numbers,
            untracked: 0,
            bytes: 0,
        }
    }

    /// The place of a group of blocks, a key without its lowest bits; nothing where it is not followed.
    #[inline]
    pub fn place(&mut self, group: u64) -> Option<GroupPlace> {
        const DEVICE_AT: u32 = BLOCK_BITS - GROUP_BITS;
        let (device, number) = (group >> DEVICE_AT, group & ((1 << DEVICE_AT) - 1));
        if device >> DEVICE_BITS != 0 || number > NEAR {
            return self.far(group);
        }
        // The device has no part in the choice of the partition: parts of a trace may number devices each in its own way.
        let hash = shuffle(number);
        let partition = (hash >> (NEAR_BITS - PARTITION_BITS)) as usize;
        let rest = hash & (NEAR >> PARTITION_BITS);
        let key = (shuffle((rest << DEVICE_BITS) | device) as u32) << GROUP_BITS;
        (partition < self.kept).then_some(GroupPlace { partition: partition as u16, key })
    }

    #[cold]
    fn far(&mut self, group: u64) -> Option<GroupPlace> {
        let (region, within) = (group >> REGION_BITS, group & ((1 << REGION_BITS) - 1));
        let in_device = group & ((1 << (BLOCK_BITS - GROUP_BITS)) - 1);
        let partition = (mix(in_device) >> (64 - PARTITION_BITS)) as usize;
        if partition >= self.kept {
            return None;
        }
        let Some(number) = self.numbers.number(region, MOST_REGIONS) else {
            self.untracked += 1;
            return None;
        };
        if number as usize == self.regions.len() {
            self.regions.push(region);
        }
        let key = shuffle((u64::from(number) << REGION_BITS) | within) as u32;
        Some(GroupPlace { partition: (PARTITIONS + partition) as u16, key: key << GROUP_BITS })
    }

    /// The group of a place.
    fn group(&self, partition: usize, key: u32) -> u64 {
        let rest = unshuffle(u64::from(key >> GROUP_BITS));
        if partition >= PARTITIONS {
            let region = self.regions[(rest >> REGION_BITS) as usize];
            return (region << REGION_BITS) | (rest & ((1 << REGION_BITS) - 1));
        }
        let device = rest & ((1 << DEVICE_BITS) - 1);
        let hash = ((partition as u64) << (NEAR_BITS - PARTITION_BITS)) | (rest >> DEVICE_BITS);
        (device << (BLOCK_BITS - GROUP_BITS)) | unshuffle(hash)
    }

    /// Has a group brought into the caches.
    #[inline]
    pub fn fetch(&self, place: GroupPlace) {
        self.partitions[usize::from(place.partition)].fetch(place.key);
    }

    /// Where a block of a group is, or belongs.
    #[inline]
    pub fn find(&self, place: GroupPlace, block: u8) -> Found {
        let key = place.key | u32::from(block);
        let at = self.partitions[usize::from(place.partition)].seek(key);
        Found { partition: place.partition, key, at }
    }

    /// Where the next block of the group is, of which nothing has been put but the one found before.
    #[inline]
    pub fn find_next(&self, before: &Found) -> Found {
        let (partition, key) = (before.partition, before.key + 1);
        let at = self.partitions[usize::from(partition)].seek_behind(before.at, key);
        Found { partition, key, at }
    }

    /// What is known of a block.
    #[inline]
    pub fn get(&self, found: &Found) -> Block {
        self.partitions[usize::from(found.partition)].get(found.at, self.base.unwrap_or(0))
    }

    /// Keeps a block that was touched.
    #[inline]
    pub fn put(&mut self, found: &Found, block: &Block) {
        // A year to either side.
        let base = *self.base.get_or_insert(block.last.number().saturating_sub(1 << 25));
        let partition = &mut self.partitions[usize::from(found.partition)];
        let before = if found.at.known { 0 } else { partition.bytes() };
        partition.put(found.at, found.key, block, base);
        if !found.at.known {
            self.bytes += partition.bytes() - before;
        }
    }

    /// Takes a block as it is.
    pub fn restore(&mut self, key: u64, block: &Block, first: &First) {
        let Some(place) = self.place(key >> GROUP_BITS) else { return };
        let found = self.find(place, (key & (GROUP - 1)) as u8);
        self.put(&found, block);
        if let Some(kept) = self.first(&found) {
            *kept = *first;
        }
    }

    /// What a part keeps of the beginning of a block that is there.
    pub fn first(&mut self, found: &Found) -> Option<&mut First> {
        self.partitions[usize::from(found.partition)].first(found.key)
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
            if at % PARTITIONS >= self.kept {
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

    /// Number of blocks.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.partitions.iter().map(Partition::len).sum()
    }

    /// Groups that had no place: of more than a million far regions.
    pub fn untracked(&self) -> u64 {
        self.untracked
    }

    /// The memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How far the number of blocks may be off with a probability of 90 %, as a part of it: as the partitions differ.
    pub fn error90(&self) -> f64 {
        let counts = (0..self.kept)
            .map(|at| (self.partitions[at].len() + self.partitions[PARTITIONS + at].len()) as f64);
        let number = self.kept as f64;
        let mean = counts.clone().sum::<f64>() / number;
        let variance = counts.map(|count| (count - mean).powi(2)).sum::<f64>() / (number - 1.0);
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
            let (mut table, mut map) = (Table::new(true), BTreeMap::new());
            for (number, (device, block, shift)) in (1u32..).zip(keys) {
                let key = (device << BLOCK_BITS) | ((block >> shift) & ((1 << BLOCK_BITS) - 1));
                let place = table.place(key >> GROUP_BITS).expect("all are followed");
                let found = table.find(place, (key & (GROUP - 1)) as u8);
                prop_assert_eq!(found.known(), map.contains_key(&key));
                let block = Block { last: Moment::numbered(number), writes: 1 << 31, last_write_ns: 0 };
                table.put(&found, &block);
                map.insert(key, block);
            }
            prop_assert_eq!(table.len(), map.len());
            let found: BTreeMap<u64, Block> = table.iter().map(|(key, block, _)| (key, block)).collect();
            prop_assert_eq!(found, map);
        }
    }

    #[test]
    fn blocks_far_apart_and_neighbours_take_about_as_many_bytes() {
        let bytes_each = |step: u64, number: u64| {
            let mut table = Table::new(false);
            for key in (0..number).map(|at| at * step) {
                let place = table.place(key >> GROUP_BITS).expect("all are followed");
                let found = table.find(place, (key & (GROUP - 1)) as u8);
                let block = Block { last: Moment::numbered(1), writes: 1 << 31, last_write_ns: 0 };
                table.put(&found, &block);
            }
            assert_eq!(table.len() as u64, number);
            table.bytes() as f64 / number as f64
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
        let mut table = Table::new(false);
        let put = |table: &mut Table, group: u64| {
            if let Some(place) = table.place(group) {
                let found = table.find(place, 0);
                table.put(
                    &found,
                    &Block { last: Moment::numbered(1), writes: 1 << 31, last_write_ns: 0 },
                );
            }
        };
        (0..40_000).for_each(|group| put(&mut table, group));
        assert_eq!((table.len(), table.one_in(), table.error90()), (40_000, 1, 0.0));
        let bytes = table.bytes();
        while table.halve() {
            (0..40_000).for_each(|group| put(&mut table, group));
            let found = table.len() as f64 * table.one_in() as f64;
            assert!((found / 40_000.0 - 1.0).abs() < 0.1, "{found}");
            assert!(table.error90() > 0.0 && table.error90() < 0.1);
        }
        assert!(table.one_in() == 32 && table.bytes() < bytes / 16);
    }
}
