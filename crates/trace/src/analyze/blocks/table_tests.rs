//! What the table keeps of blocks, how many bytes it takes, and what a sample of it shows.

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

/// Puts a block into its table; returns whether it was there, or `None` if it is not followed.
fn put(tables: &mut [Table], key: u64, block: &Block) -> Option<bool> {
    let address = Address::of(key >> GROUP_BITS);
    let table = &mut tables[address.shard()];
    let place = table.place(&address)?;
    let found = table.find(place, (key & (GROUP - 1)) as u8);
    let known = table.get(&found).is_some();
    table.put(&found, block, &First::default());
    Some(known)
}

fn len(tables: &[Table]) -> usize {
    tables.iter().flat_map(|table| &table.partitions).map(Partition::len).sum()
}

fn bytes(tables: &[Table]) -> usize {
    tables.iter().map(Table::bytes).sum()
}

const TOUCHED: Block = Block { last: Moment::NEVER, writes: 1 << 31, last_write_ns: 0 };

#[test]
fn neighbours_take_less_memory_where_the_same_is_known_of_them() {
    let bytes_each = |step: u64, alike: u64, number: u64| {
        let mut tables = tables(false);
        for at in 0..number {
            let last = Moment::numbered((at / alike % 4000) as u32 + 1);
            put(&mut tables, at * step, &Block { last, ..TOUCHED }).expect("all are followed");
        }
        assert_eq!(len(&tables) as u64, number);
        bytes(&tables) as f64 / number as f64
    };
    let sizes = [600_000, 650_000, 700_000, 750_000];
    for number in sizes {
        let [apart, together, alike, pairs] =
            [(97, 1), (1, 1), (1, 4), (1, 2)].map(|(step, alike)| bytes_each(step, alike, number));
        assert!(apart < 25.0, "{apart} bytes for each of {number} blocks far apart");
        assert!(together < 28.0, "{together} bytes for each of {number} neighbours");
        assert!(pairs < 12.5, "{pairs} bytes for each of {number} neighbours alike in pairs");
        assert!(alike < 8.0, "{alike} bytes for each of {number} neighbours alike");
    }
    let mean = sizes.map(|number| bytes_each(97, 1, number)).iter().sum::<f64>() / 4.0;
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
    while tables[0].one_in() < 32 && tables.iter_mut().all(Table::halve) {
        fill(&mut tables);
        let found = len(&tables) as f64 * tables[0].one_in() as f64;
        assert!((found / 40_000.0 - 1.0).abs() < 0.1, "{found}");
        let error = Table::error90(tables.iter());
        assert!(error > 0.0 && error < 0.1, "{error}");
    }
    assert!(tables.iter().all(|table| table.one_in() == 32) && bytes(&tables) < before / 16);
}

/// Near groups and far ones, in regions that a part may number in another order.
#[test]
fn a_sample_of_few_partitions_goes_on_with_a_part_of_their_groups() {
    const FAR: u64 = 1 << 40;
    let groups = |from: u64| (from..from + 400_000).map(|at| at * 3);
    let key = |group: u64| group << GROUP_BITS;
    for from in [0, FAR] {
        let fill = |tables: &mut [Table]| {
            groups(from).for_each(|group| {
                put(tables, key(group), &TOUCHED);
            });
        };
        let (mut early, mut late) = (tables(true), tables(true));
        fill(&mut early);
        let (whole, regions) = (bytes(&early), early[0].regions.len());
        for tables in [&mut early, &mut late] {
            while tables[0].one_in() < 512 && tables.iter_mut().all(Table::halve) {}
        }
        groups(from).rev().for_each(|group| {
            put(&mut late, key(group), &TOUCHED);
        });
        let keys = |tables: &[Table]| {
            let mut keys: Vec<u64> =
                tables.iter().flat_map(Table::iter).map(|(key, ..)| key).collect();
            keys.sort_unstable();
            keys
        };
        assert_eq!(keys(&early), keys(&late), "what is followed does not depend on when");
        let found = len(&early) as f64 * 512.0;
        let off = found / 400_000.0 - 1.0;
        let error = Table::error90(early.iter());
        assert!(off.abs() < 0.15 && error > off.abs() / 4.0 && error < 0.2, "{off} {error}");
        assert!(bytes(&early) < whole / 50, "{} of {whole}", bytes(&early));
        assert!(from == 0 || early[0].regions.len() < regions / 2, "of {regions}");
    }
}
