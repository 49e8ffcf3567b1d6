//! Tests of arrays: where blocks lie, and how requests are split.

use super::*;
use proptest::prelude::*;

fn planned(array: &str, block: u64, count: u64, write: bool) -> Vec<(u16, bool, bool, u64, u64)> {
    let command = Command { block, count, write, synchronous: true };
    let mut parts = Vec::new();
    Array::parse(array).unwrap().plan(command, 512, 0, &mut parts);
    let told = |p: &Part| (p.disk, p.second, p.command.write, p.command.block, p.command.count);
    parts.iter().map(told).collect()
}

#[test]
fn a_small_write_with_parity_reads_two_and_writes_two() {
    // Row 0: data on disks 0 to 3, parity on 4. Block 130 is in the second chunk of 128 blocks.
    assert_eq!(
        planned("raid5:5", 130, 8, true),
        [
            (1, false, false, 2, 8),
            (4, false, false, 2, 8),
            (1, true, true, 2, 8),
            (4, true, true, 2, 8)
        ]
    );
    // A full-row write reads nothing.
    let whole = planned("raid5:5", 512, 512, true);
    assert_eq!(whole.len(), 5);
    assert!(whole.iter().all(|part| !part.1 && part.2 && part.3 == 128 && part.4 == 128));
    // A write of three of four chunks reads only the fourth.
    let most = planned("raid5:5", 0, 384, true);
    assert_eq!((most[0], most.len()), ((3, false, false, 0, 128), 5));
}

#[test]
fn parity_is_known_by_its_place() {
    // The end of row 0 and the beginning of row 1.
    let parity =
        |array: &str, disk| Array::parse(array).unwrap().parity_blocks(disk, [120, 16], 512);
    assert_eq!([0, 1, 2, 3, 4].map(|disk| parity("raid5:5", disk)), [0, 0, 0, 8, 8]);
    assert_eq!([0, 1].map(|disk| parity("raid1:2", disk)), [0, 0]);
}

#[test]
fn reads_are_split_by_chunks_and_joined_on_a_disk() {
    assert_eq!(
        planned("raid0:2", 100, 256, false),
        [(0, false, false, 100, 128), (1, false, false, 0, 128)]
    );
    assert_eq!(planned("raid1:3", 7, 2, true).len(), 3);
    assert_eq!(planned("raid1:3", 7, 2, false), [(0, false, false, 7, 2)]);
}

#[test]
fn arrays_are_read_and_told() {
    for text in ["none", "raid0:4:64K", "raid1:2", "raid5:3:16K"] {
        assert_eq!(Array::parse(text).unwrap().to_string(), text);
    }
    for wrong in ["raid6:4", "raid5:2", "raid0", "raid1:2:64K", "raid0:2:100", "raid0:2:64K:1"] {
        assert!(Array::parse(wrong).is_err(), "{wrong}");
    }
    let five = Array::parse("raid5:5").unwrap();
    assert_eq!(five.blocks(1000, 512), 7 * 128 * 4);
}

proptest! {
    #[test]
    fn every_block_has_one_place_and_no_two_share_it(disks in 3u16..7, blocks in 1u64..2000) {
        for level in [Level::Striped, Level::Parity] {
            let array = Array { level, disks, chunk_bytes: 4096 };
            let mut seen = std::collections::BTreeSet::new();
            let mut parts = Vec::new();
            for block in 0..blocks {
                let command = Command { block, count: 1, write: false, synchronous: true };
                array.plan(command, 512, 0, &mut parts);
                prop_assert_eq!(parts.len(), 1);
                let row = parts[0].command.block / 8;
                prop_assert!(level == Level::Striped || u64::from(parts[0].disk) != array.parity_of(row));
                prop_assert!(seen.insert((parts[0].disk, parts[0].command.block)));
            }
            let whole = Command { block: 0, count: blocks, write: false, synchronous: true };
            array.plan(whole, 512, 0, &mut parts);
            prop_assert_eq!(parts.iter().map(|p| p.command.count).sum::<u64>(), blocks);
        }
    }
}

/// Blocks per chunk in the random arrays: few, so that requests take many shapes.
const CHUNK: u64 = 8;

/// A disk and a block on it.
type Place = (u16, u64);

/// The sorted blocks that the parts of this stage read or write, with duplicates.
fn blocks(parts: &[Part], second: bool, write: bool) -> Vec<Place> {
    let some = parts.iter().filter(|part| part.second == second && part.command.write == write);
    let of = |p: &Part| {
        let disk = p.disk;
        (p.command.block..p.command.block + p.command.count).map(move |block| (disk, block))
    };
    let mut all: Vec<Place> = some.flat_map(of).collect();
    all.sort_unstable();
    all
}

/// Left-symmetric RAID 5 computed per block (the table of Linux's md): the place of the data block,
/// and the disk of its parity.
fn left_symmetric(disks: u64, block: u64) -> (Place, u16) {
    let (chunk, within) = (block / CHUNK, block % CHUNK);
    let (row, at) = (chunk / (disks - 1), chunk % (disks - 1));
    let parity = (disks - 1) - row % disks;
    (((((parity + 1 + at) % disks) as u16), row * CHUNK + within), parity as u16)
}

proptest! {
    #[test]
    fn what_is_written_with_parity_can_be_computed_from_what_was_read(disks in 3u64..8, block in 0u64..300, count in 1u64..120) {
        let array = Array { level: Level::Parity, disks: disks as u16, chunk_bytes: 4096 };
        let command = Command { block, count, write: true, synchronous: true };
        let mut parts = Vec::new();
        array.plan(command, 512, 0, &mut parts);
        let read = blocks(&parts, false, false);
        let mut written = [blocks(&parts, false, true), blocks(&parts, true, true)].concat();
        written.sort_unstable();
        prop_assert!(blocks(&parts, true, false).is_empty(), "nothing is read after what was read");
        prop_assert!(written.windows(2).all(|pair| pair[0] != pair[1]), "nothing is written twice");
        let data: Vec<_> = (block..block + count).map(|b| left_symmetric(disks, b)).collect();
        prop_assert!(data.iter().all(|(place, _)| written.binary_search(place).is_ok()));
        let is_data = |place: &Place| data.iter().any(|(other, _)| other == place);
        for &(parity, at) in written.iter().filter(|place| !is_data(place)) {
            // Whatever is not data must be the parity block at the same place in the row.
            prop_assert_eq!(u64::from(parity), disks - 1 - at / CHUNK % disks, "only parity beside data");
            let others = (0..disks as u16).filter(|&disk| disk != parity).map(|disk| (disk, at));
            let known = |place: &Place| read.binary_search(place).is_ok();
            let [new, old]: [Vec<Place>; 2] = [others.clone().filter(is_data).collect(), others.filter(|p| !is_data(p)).collect()];
            let from_old = known(&(parity, at)) && new.iter().all(known);
            prop_assert!(from_old || old.iter().all(known), "parity of {at} is not known: {parts:?}");
        }
        // For every data block that is written, its parity block is written too.
        prop_assert!(data.iter().all(|((_, at), parity)| written.binary_search(&(*parity, *at)).is_ok()));
    }

    #[test]
    fn a_small_write_takes_as_many_accesses_as_the_closed_form(disks in 3u64..12, chunk in 0u64..100, within in 0u64..8, count in 1u64..8) {
        let array = Array { level: Level::Parity, disks: disks as u16, chunk_bytes: 4096 };
        let count = count.min(CHUNK - within);
        let command = Command { block: chunk * CHUNK + within, count, write: true, synchronous: true };
        let mut parts = Vec::new();
        array.plan(command, 512, 0, &mut parts);
        // Two disks are read, or the only one with other data if there are three; two are written.
        let reads = (disks - 2).min(2);
        prop_assert_eq!(parts.iter().filter(|p| !p.command.write && !p.second).count() as u64, reads);
        prop_assert_eq!(parts.iter().filter(|p| p.command.write && p.second).count(), 2);
        prop_assert_eq!(parts.len() as u64, reads + 2);
    }

    #[test]
    fn reads_and_writes_without_parity_touch_every_block_once(disks in 2u64..9, block in 0u64..300, count in 1u64..120, write: bool, level in 0usize..3, copy in 0u16..2) {
        let level = [Level::Striped, Level::Mirrored, Level::Parity][level];
        let disks = if level == Level::Parity { disks.max(3) } else { disks };
        let write = write && level != Level::Parity;
        let array = Array { level, disks: disks as u16, chunk_bytes: 4096 };
        let mut parts = Vec::new();
        array.plan(Command { block, count, write, synchronous: true }, 512, copy, &mut parts);
        let place = |b: u64| match level {
            Level::Parity => left_symmetric(disks, b).0,
            Level::Striped => ((b / CHUNK % disks) as u16, b / CHUNK / disks * CHUNK + b % CHUNK),
            _ => (copy, b),
        };
        let mut truth: Vec<Place> = (block..block + count).map(place).collect();
        if level == Level::Mirrored && write {
            truth = (0..disks as u16).flat_map(|disk| (block..block + count).map(move |b| (disk, b))).collect();
        }
        truth.sort_unstable();
        prop_assert_eq!(blocks(&parts, false, write), truth);
        prop_assert!(parts.iter().all(|part| !part.second && part.command.write == write));
        // Adjacent chunks on a disk are merged into one access.
        let most = parts.iter().map(|p| parts.iter().filter(|q| q.disk == p.disk).count()).max();
        prop_assert!(level == Level::Parity || most == Some(1), "{:?}", parts);
    }
}
