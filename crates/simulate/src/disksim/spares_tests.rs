//! Tests where the blocks of a zone lie among spares and slips, against an independent statement of
//! every sparing scheme's rules.

use super::layout::layout;
use super::parse::parse;
use crate::layout::{Layout, Plan};
use proptest::prelude::*;

const HEADS: u64 = 3;
const CYLINDERS: u64 = 6;
const SECTORS: u64 = 20;
const OF_CYLINDER: u64 = HEADS * SECTORS;

/// The layout of one zone without skews.
fn layout_of(scheme: u64, spares: u64, unused: u64, slips: &[u64]) -> Layout {
    let text = format!(
        "dm_layout_g1 {{ LBN-to-PBN mapping scheme = 0, Sparing scheme used = {scheme}, Rangesize for sparing = 2, Zones = [
            dm_layout_g1_zone {{ First cylinder number = 0, Last cylinder number = {}, Blocks per track = {SECTORS},
            Offset of first block = 0, Skew for track switch = 0, Skew for cylinder switch = 0,
            Empty space at zone front = {unused}, Number of spares = {spares}, slips = {slips:?}, defects = [] }} ] }}",
        CYLINDERS - 1
    );
    let found =
        layout(&parse(&text, "g1").unwrap().blocks[0], HEADS as u16, None, &|_| Err(String::new()));
    let found = found.unwrap();
    Layout::new(&Plan {
        zones: &found.zones,
        heads: HEADS as u16,
        cylinders: CYLINDERS as u32,
        rotation_ns: 10_000_000,
        ..Plan::default()
    })
    .unwrap()
}

/// The sector of each block of one zone, in order of blocks, counted from the zone's first.
fn places(scheme: u64, spares: u64, unused: u64, slips: &[u64]) -> Vec<u64> {
    let layout = layout_of(scheme, spares, unused, slips);
    let place = |block| {
        let at = layout.locate(block);
        at.track as u64 * SECTORS + u64::from(at.slot)
    };
    (0..layout.blocks()).map(place).collect()
}

/// All sectors of the zone that are neither slips nor spares, in order. The zone's parts of `each`
/// sectors have their own spares, the first or last sectors of the part, minus one for every slip
/// there if slips use up spares.
fn kept(each: u64, spares: u64, at_front: bool, takes: bool, slips: &[u64]) -> Vec<u64> {
    let parts = (0..CYLINDERS * OF_CYLINDER / each).flat_map(|part| {
        let all: Vec<u64> = (part * each..(part + 1) * each).collect();
        let is_good = |at: &u64| !slips.contains(at);
        let data = (each - spares) as usize;
        match (takes, at_front) {
            (true, _) => {
                let good: Vec<u64> = all.into_iter().filter(is_good).collect();
                let free = good.len().saturating_sub(data);
                if at_front { good[free..].to_vec() } else { good[..good.len() - free].to_vec() }
            }
            (false, true) => all[spares as usize..].iter().copied().filter(is_good).collect(),
            (false, false) => all[..data].iter().copied().filter(is_good).collect(),
        }
    });
    parts.collect()
}

proptest! {
    #[test]
    fn blocks_lie_where_their_sparing_scheme_has_them(
        slips in prop::collection::btree_set(0..CYLINDERS * OF_CYLINDER, 0..9),
        spares in 0u64..9,
        unused in 0u64..70,
    ) {
        let slips: Vec<u64> = slips.into_iter().collect();
        let behind = |all: Vec<u64>| all.into_iter().skip(unused as usize).collect::<Vec<u64>>();
        for (scheme, at_front, takes) in
            [(2, false, true), (4, false, false), (5, true, true), (6, true, false)]
        {
            let known = behind(kept(OF_CYLINDER, spares, at_front, takes, &slips));
            prop_assert_eq!(places(scheme, spares, unused, &slips), known, "scheme {}", scheme);
        }
        let by_track = behind(kept(SECTORS, spares, false, true, &slips));
        prop_assert_eq!(places(3, spares, unused, &slips), by_track);
        let by_range = behind(kept(2 * OF_CYLINDER, spares, false, true, &slips));
        prop_assert_eq!(places(8, spares, unused, &slips), by_range);
        // The slips of scheme 10 use up no spares of the zone, but blocks.
        let lost = spares + slips.len() as u64;
        let by_zone = behind(kept(CYLINDERS * OF_CYLINDER, lost, false, true, &slips));
        prop_assert_eq!(places(10, spares, unused, &slips), by_zone);
        let none = behind(kept(OF_CYLINDER, 0, false, false, &slips));
        prop_assert_eq!(places(0, 0, unused, &slips), none);
    }
}

/// Follows DiskSim's own arithmetic for blocks behind one slip, far from the ends of cylinders.
#[test]
fn a_slip_counts_the_spares_before_it() {
    let found = places(4, 5, 0, &[OF_CYLINDER + 7]);
    // The second cylinder begins at block 55; its eighth block is the first to move, along with all
    // behind it.
    assert_eq!((found[55 + 6], found[55 + 7]), (OF_CYLINDER + 6, OF_CYLINDER + 8));
    assert_eq!((found[110 - 1], found[110]), (2 * OF_CYLINDER, 2 * OF_CYLINDER + 1));
    let found = places(3, 2, 0, &[SECTORS + 7]);
    assert_eq!((found[18 + 6], found[18 + 7]), (SECTORS + 6, SECTORS + 8));
    assert_eq!((found[36 - 1], found[36]), (SECTORS + 18, 2 * SECTORS));
}

#[test]
fn a_slip_turns_the_cylinders_or_tracks_behind_it_by_a_sector_where_the_scheme_says_so() {
    // A twentieth of a rotation.
    const SECTOR_NS: u64 = 500_000;
    let turned = |scheme, slips: &[u64]| {
        let layout = layout_of(scheme, 2, 0, slips);
        let tracks = 0..layout.tracks().len();
        tracks.map(|track| layout.angle_ns(track, 0) / SECTOR_NS).collect::<Vec<u64>>()
    };
    let from = |firsts: &[u64]| {
        let by = |track: u64| firsts.iter().filter(|first| **first <= track).count() as u64;
        (0..CYLINDERS * HEADS).map(by).collect::<Vec<u64>>()
    };
    for scheme in [2, 4, 5, 6] {
        assert_eq!(turned(scheme, &[7]), from(&[3]), "scheme {scheme}");
        // Two on the second cylinder, and one on each of the last two.
        assert_eq!(turned(scheme, &[64, 99, 259, 340]), from(&[6, 6, 15]), "scheme {scheme}");
    }
    // Slips among the spares count too, at the end of a cylinder and at the front of the next.
    assert_eq!([turned(4, &[59]), turned(6, &[60])], [from(&[3]), from(&[6])]);
    assert_eq!(turned(3, &[7, 99]), from(&[1, 5]));
    for scheme in [1, 7, 8, 9, 10] {
        assert_eq!(turned(scheme, &[7]), from(&[]), "scheme {scheme}");
    }
}
