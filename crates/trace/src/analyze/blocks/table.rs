//! The table of all blocks, in partitions by a hash of the block: each grows independently, and
//! half of them are a sample.

use super::block::{Block, First, GROUP, GROUP_BITS};
use super::entry::SECONDS_BEFORE;
use super::partition::Partition;
use super::size::BLOCK_BITS;
use super::touch::{Counts, GroupPlace, MOST_PARTITIONS, Rules, Touch};
use crate::analyze::key_table::KeyTable;
use crate::analyze::set_windows::Moment;
use ioscape_schema::chance::mix;

/// Partitions of all near blocks; there are as many for blocks of far devices and places.
pub(super) const PARTITIONS: usize = 1 << PARTITION_BITS;
const PARTITION_BITS: u32 = 8;
/// Bits of the number of a near group: 32 TiB in blocks of 8 KiB; devices with a number below 256
/// are near.
const NEAR_BITS: u32 = 30;
const DEVICE_BITS: u32 = 8;
/// Groups of a far region: 32 MiB in blocks of 8 KiB; and the most regions.
const REGION_BITS: u32 = 10;
const MOST_REGIONS: usize = 1 << (NEAR_BITS - REGION_BITS);
/// Tables that share the partitions: each has every so many-th.
pub const SHARDS: usize = 4;
/// Half the width of a 90 % interval, in standard errors, for sampled partitions.
const Z90: f64 = 1.645;
const OWN: usize = PARTITIONS / SHARDS;
const _: () = assert!(2 * OWN <= MOST_PARTITIONS);
/// Fewest partitions of a sample: 8 over all tables, enough to estimate the error. A smaller sample
/// keeps only some groups of each.
const LEAST_KEPT: usize = 8 / SHARDS;
/// Bits by which the groups of a partition are sampled.
const FINE_BITS: u32 = 16;

const ODD: [u64; 2] = [0x27d4_eb2f, 0x1656_67b1];
const NEAR: u64 = (1 << NEAR_BITS) - 1;

/// The number whose product with `odd` is 1 (Newton's method).
const fn inverse(odd: u64) -> u64 {
    let mut x = odd;
    let mut round = 0;
    while round < 6 {
        x = x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)));
        round += 1;
    }
    x
}

/// Shuffles [`NEAR_BITS`] bits reversibly; the higher bits are mixed well.
#[inline]
fn shuffle(x: u64) -> u64 {
    let x = x.wrapping_mul(ODD[0]) & NEAR;
    (x ^ (x >> (NEAR_BITS / 2))).wrapping_mul(ODD[1]) & NEAR
}

fn unshuffle(x: u64) -> u64 {
    let x = x.wrapping_mul(const { inverse(ODD[1]) }) & NEAR;
    (x ^ (x >> (NEAR_BITS / 2))).wrapping_mul(const { inverse(ODD[0]) }) & NEAR
}

/// Where a group of blocks belongs: the number of its partition among all and, for a near group,
/// what else distinguishes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    group: u64,
    partition: usize,
    /// Bits by which the groups of a partition are sampled in turn.
    fine: u32,
    near: Option<u64>,
}

impl Address {
    /// The address of a group, given as a block's key without its lowest bits. The device does not
    /// influence the partition, because parts of a trace may number devices differently.
    #[inline]
    pub fn of(group: u64) -> Self {
        const DEVICE_AT: u32 = BLOCK_BITS - GROUP_BITS;
        let (device, number) = (group >> DEVICE_AT, group & ((1 << DEVICE_AT) - 1));
        if device >> DEVICE_BITS != 0 || number > NEAR {
            let hash = mix(number);
            let partition = (hash >> (64 - PARTITION_BITS)) as usize;
            let fine = (hash << PARTITION_BITS >> (64 - FINE_BITS)) as u32;
            return Self { group, partition, fine, near: None };
        }
        let hash = shuffle(number);
        let rest = hash & (NEAR >> PARTITION_BITS);
        let partition = (hash >> (NEAR_BITS - PARTITION_BITS)) as usize;
        let fine = (rest >> (NEAR_BITS - PARTITION_BITS - FINE_BITS)) as u32;
        Self { group, partition, fine, near: Some((rest << DEVICE_BITS) | device) }
    }

    /// The table to which the group belongs.
    #[inline]
    pub fn shard(&self) -> usize {
        self.partition % SHARDS
    }
}

/// Where a block is, or belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    partition: u16,
    key: u32,
}

/// All blocks touched of one shard, or a sample of them.
#[derive(Clone, Debug)]
pub(super) struct Table {
    shard: usize,
    part: bool,
    partitions: Vec<Partition>,
    /// Number of partitions followed, of both kinds.
    kept: usize,
    /// How often the groups in these were halved.
    halved: u32,
    one_in: u64,
    /// The second from which times are counted.
    base: Option<u32>,
    /// Far regions by number, and their numbers.
    regions: Vec<u64>,
    numbers: KeyTable,
    untracked: u64,
    bytes: usize,
}

impl Table {
    /// Creates an empty table; a `part` keeps first touches.
    pub fn new(part: bool, shard: usize) -> Self {
        let partitions = vec![Partition::new(part); 2 * OWN];
        let (regions, numbers) = Default::default();
        Self {
            shard,
            part,
            partitions,
            kept: OWN,
            halved: 0,
            one_in: 1,
            base: None,
            regions,
            numbers,
            untracked: 0,
            bytes: 0,
        }
    }

    /// Sets which of the tables this is.
    pub fn set_shard(&mut self, shard: usize) {
        self.shard = shard;
    }

    /// Whether first touches are kept.
    pub fn is_part(&self) -> bool {
        self.part
    }

    /// The place of a group that belongs here; `None` if it is not followed.
    #[inline]
    pub fn place(&mut self, address: &Address) -> Option<GroupPlace> {
        let partition = address.partition / SHARDS;
        if partition >= self.kept || address.fine >> (FINE_BITS - self.halved) != 0 {
            return None;
        }
        let Some(near) = address.near else { return self.far(address.group, OWN + partition) };
        let key = (shuffle(near) as u32) << GROUP_BITS;
        Some(GroupPlace { partition: partition as u16, key })
    }

    #[cold]
    fn far(&mut self, group: u64, partition: usize) -> Option<GroupPlace> {
        let (region, within) = (group >> REGION_BITS, group & ((1 << REGION_BITS) - 1));
        let before = self.region_bytes();
        let Some(number) = self.numbers.number(region, MOST_REGIONS) else {
            self.untracked += 1;
            return None;
        };
        if number as usize == self.regions.len() {
            self.regions.push(region);
            self.bytes += self.region_bytes() - before;
        }
        let key = shuffle((u64::from(number) << REGION_BITS) | within) as u32;
        Some(GroupPlace { partition: partition as u16, key: key << GROUP_BITS })
    }

    fn region_bytes(&self) -> usize {
        self.numbers.bytes() + self.regions.capacity() * size_of::<u64>()
    }

    /// The group at a place.
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

    /// Sorts touches by partition and keeps the order within each partition.
    pub fn sort(touches: &[Touch], sorted: &mut Vec<Touch>) {
        let mut places = [0; 2 * OWN];
        touches.iter().for_each(|touch| places[touch.partition()] += 1);
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        sorted.resize(touches.len(), Touch::default());
        for touch in touches {
            let place = &mut places[touch.partition()];
            sorted[*place] = *touch;
            *place += 1;
        }
    }

    /// Counts touches of one partition, in order.
    pub fn touch_all(&mut self, touches: &[Touch], counts: &mut Counts) {
        let Some(first) = touches.first() else { return };
        let base = self.base(counts.windows.moment(first.second));
        let rules = Rules { base, one_in: self.one_in, part: self.part };
        let partition = &mut self.partitions[first.partition()];
        let before = partition.bytes();
        partition.touch_all(touches, rules, counts);
        // It may shrink: lines of groups replace slots of blocks.
        self.bytes = self.bytes + partition.bytes() - before;
    }

    /// The second from which times are counted, chosen at the first touch.
    fn base(&mut self, now: Moment) -> u32 {
        *self.base.get_or_insert(now.number().saturating_sub(SECONDS_BEFORE))
    }

    /// Where a block of a group is, or belongs.
    #[inline]
    pub fn find(&self, place: GroupPlace, block: u8) -> Found {
        Found { partition: place.partition, key: place.key | u32::from(block) }
    }

    /// The state of a block, if present.
    #[inline]
    pub fn get(&self, found: &Found) -> Option<Block> {
        self.partitions[usize::from(found.partition)].get(found.key, self.base.unwrap_or(0))
    }

    /// Stores a touched block and, if it is new, what a part keeps of its beginning.
    #[inline]
    pub fn put(&mut self, found: &Found, block: &Block, first: &First) {
        let base = self.base(block.last);
        let partition = &mut self.partitions[usize::from(found.partition)];
        let before = partition.bytes();
        partition.restore(found.key, block, first, base);
        // It may shrink: lines of groups replace slots of blocks.
        self.bytes = self.bytes + partition.bytes() - before;
    }

    /// Stores a block as it is.
    pub fn restore(&mut self, key: u64, block: &Block, first: &First) {
        let Some(place) = self.place(&Address::of(key >> GROUP_BITS)) else { return };
        let found = self.find(place, (key & (GROUP - 1)) as u8);
        self.put(&found, block, first);
    }

    /// Stores the first write of a block that is present, if first writes are kept.
    pub fn begin(&mut self, found: &Found, write_ns: u64) {
        let partition = &mut self.partitions[usize::from(found.partition)];
        if let Some(first) = partition.first(found.key) {
            first.write_ns = write_ns;
        }
    }

    /// One block in this many is followed.
    #[inline]
    pub fn one_in(&self) -> u64 {
        self.one_in
    }

    /// Gives up half of the partitions or, if few are left, half of the groups in them; `false` if
    /// there is nothing to give up.
    pub fn halve(&mut self) -> bool {
        if self.halved >= FINE_BITS {
            return false;
        }
        self.one_in *= 2;
        if self.kept > LEAST_KEPT {
            self.kept /= 2;
            for (at, partition) in self.partitions.iter_mut().enumerate() {
                if at % OWN >= self.kept {
                    *partition = Partition::new(false);
                }
            }
        } else {
            self.halved += 1;
        }
        if self.halved > 0 || !self.regions.is_empty() {
            self.rebuild();
        }
        self.bytes =
            self.partitions.iter().map(Partition::bytes).sum::<usize>() + self.region_bytes();
        true
    }

    /// Takes in again every block that is still followed; forgets regions without blocks.
    fn rebuild(&mut self) {
        let fresh = Self {
            kept: self.kept,
            halved: self.halved,
            one_in: self.one_in,
            base: self.base,
            untracked: self.untracked,
            ..Self::new(self.part, self.shard)
        };
        let mut old = std::mem::replace(self, fresh);
        let base = old.base.unwrap_or(0);
        for number in 0..old.partitions.len() {
            // Freed one by one, so that both tables together are hardly larger than the old.
            let partition = std::mem::replace(&mut old.partitions[number], Partition::new(false));
            for (key, block, first) in partition.iter(base) {
                let group = old.group(number, key);
                self.restore((group << GROUP_BITS) | u64::from(key) & (GROUP - 1), &block, &first);
            }
        }
    }

    /// All blocks by key, in no particular order, each with what a part keeps of its beginning.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Block, First)> + '_ {
        let base = self.base.unwrap_or(0);
        self.partitions.iter().enumerate().flat_map(move |(number, partition)| {
            partition.iter(base).map(move |(key, block, first)| {
                let low = u64::from(key) & (GROUP - 1);
                ((self.group(number, key) << GROUP_BITS) | low, block, first)
            })
        })
    }

    /// Passes to `take` each number of writes with its marks, and how many blocks have it, in no
    /// particular order.
    pub fn each_writes(&self, mut take: impl FnMut(u32, u64)) {
        self.partitions.iter().for_each(|one| one.each_writes(&mut take));
    }

    /// Groups that had no place because there are more than a million far regions.
    pub fn untracked(&self) -> u64 {
        self.untracked
    }

    /// Memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Number of blocks in each partition that is followed.
    fn lens(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.kept).map(|at| self.partitions[at].len() + self.partitions[OWN + at].len())
    }

    /// Relative error, at a probability of 90 %, of the number of blocks in all tables, estimated
    /// from how the partitions differ.
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
#[path = "table_tests.rs"]
mod tests;
