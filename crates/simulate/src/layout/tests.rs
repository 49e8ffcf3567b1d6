//! Tests of the track table: spares, slips, skews, remaps, and impossible plans.

use super::*;
use proptest::prelude::*;

fn zone(first: u32, last: u32, sectors: u32) -> Zone {
    Zone {
        first_cylinder: first,
        last_cylinder: last,
        sectors_per_track: sectors,
        ..Zone::default()
    }
}

fn layout(zones: &[Zone], remaps: &[Remap]) -> Result<Layout, String> {
    let (heads, cylinders, rotation_ns) = (3, 10, 10_000_000);
    Layout::new(&Plan { zones, heads, cylinders, rotation_ns, remaps, ..Plan::default() })
}

#[test]
fn zones_skews_and_spares_put_blocks_where_they_belong() {
    let outer = Zone { spares_per_track: 2, track_skew: 3, cylinder_skew: 7, ..zone(0, 4, 12) };
    let inner = Zone { spares_per_cylinder: 5, offset: 4, ..zone(5, 9, 8) };
    let layout = layout(&[outer, inner], &[]).unwrap();
    assert_eq!(layout.blocks(), 5 * 3 * 10 + 5 * (3 * 8 - 5));
    let address = layout.locate(25);
    assert_eq!((address.track, address.slot, address.left), (2, 5, 5));
    // The fourth track lags by two track skews and one cylinder skew: 13 sectors, modulo 12.
    assert_eq!(layout.angle_ns(3, 0), 10_000_000 / 12);
    let second = layout.locate(150);
    assert_eq!((layout.tracks()[second.track].cylinder, second.slot), (5, 0));
    assert_eq!(layout.angle_ns(second.track, 0), 5_000_000);
    assert_eq!(layout.locate(150 + 18).left, 1, "five spares at the end of the cylinder");
}

#[test]
fn numbering_slips_past_defects_and_follows_moved_blocks() {
    let slipped = Zone { slips: vec![25, 2, 3], ..zone(0, 9, 10) };
    let moved = Remap { block: 40, cylinder: 9, head: 2, sector: 9 };
    let layout = layout(&[slipped], &[moved]).unwrap();
    assert_eq!(layout.blocks(), 297);
    let slots: Vec<u32> = (0..10).map(|b| layout.locate(b).slot).collect();
    assert_eq!(slots, [0, 1, 4, 5, 6, 7, 8, 9, 0, 1]);
    assert_eq!(layout.slot_after(0, 1, 1), 2);
    assert_eq!(layout.slot_after(0, 1, 2), 5, "two sectors are passed over");
    let away = layout.locate(40);
    assert_eq!((layout.tracks()[away.track].cylinder, away.slot, away.left), (9, 9, 1));
    assert_eq!((layout.together(39, 8), layout.together(41, 8)), (1, 8));
}

#[test]
fn regions_may_begin_and_end_within_a_cylinder() {
    let part = Zone { first_head: 1, last_head: Some(0), ..zone(2, 4, 10) };
    let layout = layout(&[part], &[]).unwrap();
    assert_eq!(layout.blocks(), 10 * (2 + 3 + 1));
    assert_eq!((layout.tracks()[0].head, layout.tracks()[5].cylinder), (1, 4));
}

#[test]
fn serpentines_switch_no_head_between_cylinders() {
    for (order, heads) in [
        (TrackOrder::Serpentine, [0, 1, 2, 2, 1, 0]),
        (TrackOrder::SerpentineByNumber, [2, 1, 0, 0, 1, 2]),
    ] {
        let zones = [zone(1, 2, 10)];
        let plan = Plan {
            zones: &zones,
            heads: 3,
            cylinders: 3,
            order,
            rotation_ns: 1000,
            ..Plan::default()
        };
        let found: Vec<u16> = Layout::new(&plan).unwrap().tracks().iter().map(|t| t.head).collect();
        assert_eq!(found, heads);
    }
}

#[test]
fn impossible_plans_are_refused_with_the_zone() {
    for (zones, word) in [
        (vec![zone(0, 4, 10), zone(4, 9, 10)], "overlaps"),
        (vec![zone(0, 10, 10)], "cylinders"),
        (vec![zone(5, 4, 10)], "cylinders"),
        (vec![zone(0, 9, 0)], "no sectors"),
        (vec![Zone { track_skew: 10, ..zone(0, 9, 10) }], "skew"),
        (vec![Zone { first_head: 3, ..zone(0, 9, 10) }], "head"),
        (vec![Zone { slips: vec![4, 4], ..zone(0, 9, 10) }], "slips"),
        (vec![Zone { offset: 10, ..zone(0, 9, 10) }], "offset"),
        (vec![Zone { slips: vec![300], ..zone(0, 9, 10) }], "slip lies beyond"),
        (vec![Zone { slipped_tracks: vec![30], ..zone(0, 9, 10) }], "slipped track"),
        (vec![Zone { pushed_tracks: vec![2, 1], ..zone(0, 9, 10) }], "pushed_tracks"),
        (vec![Zone { unused_at_front: 300, ..zone(0, 9, 10) }], "left for data"),
        (vec![Zone { blocks: Some(301), ..zone(0, 9, 10) }], "promised"),
        (vec![], "zones"),
    ] {
        let why = layout(&zones, &[]).unwrap_err();
        assert!(why.contains(word), "{why}");
    }
    let moved = Remap { block: 0, cylinder: 9, head: 2, sector: 9 };
    assert!(layout(&[zone(0, 9, 10)], &[moved]).is_ok());
    for (wrong, word) in [
        (vec![Remap { cylinder: 11, ..moved }], "remap"),
        (vec![Remap { sector: 10, ..moved }], "remap"),
        (vec![Remap { block: 300, ..moved }], "remap"),
        (vec![moved, moved], "twice"),
    ] {
        let why = layout(&[zone(0, 9, 10)], &wrong).unwrap_err();
        assert!(why.contains(word), "{why}");
    }
}

proptest! {
    #[test]
    fn every_block_has_a_place_of_its_own(
        sectors in 5u32..20,
        spares in 0u32..3,
        front in 0u64..40,
        slips in prop::collection::btree_set(0u64..90, 0..8),
    ) {
        let zone = Zone {
            spares_per_track: spares,
            unused_at_front: front,
            slips: slips.into_iter().collect(),
            ..zone(0, 9, sectors)
        };
        let layout = layout(&[zone], &[]).unwrap();
        let mut last = (0, 0);
        for block in 0..layout.blocks() {
            let address = layout.locate(block);
            let here = (address.track, address.slot + 1);
            prop_assert!(here > last && address.slot < sectors - spares, "{block}: {address:?}");
            prop_assert!(address.left > 0);
            last = here;
        }
    }
}

#[test]
fn spares_may_lie_at_the_end_of_a_zone_and_defects_may_take_whole_tracks() {
    let ended = Zone { slipped_tracks: vec![1, 4], blocks: Some(200), ..zone(0, 9, 10) };
    let layout = layout(&[ended], &[]).unwrap();
    assert_eq!(layout.blocks(), 200);
    let tracks: Vec<usize> = [0, 10, 20, 30, 199].map(|b| layout.locate(b).track).to_vec();
    assert_eq!(tracks, [0, 2, 3, 5, 21]);
    let within = Zone {
        spares_per_cylinder: 3,
        slips_within_cylinder: true,
        slips: vec![4, 31],
        ..zone(0, 9, 10)
    };
    let layout = self::layout(&[within], &[]).unwrap();
    assert_eq!(layout.blocks(), 270, "spares make up for slips");
    assert_eq!((layout.locate(4).slot, layout.locate(26).slot), (5, 7));
    assert_eq!((layout.locate(27).track, layout.locate(28).slot), (3, 2));
}

#[test]
fn cylinders_may_share_their_spares() {
    let shared = Zone {
        spares_per_cylinder: 7,
        cylinders_per_spares: 4,
        slips_within_cylinder: true,
        slips: vec![100],
        ..zone(0, 9, 10)
    };
    let layout = layout(&[shared], &[]).unwrap();
    // Two full ranges of four cylinders; the third is cut in half, and its spares lie beyond the
    // cut.
    assert_eq!(layout.blocks(), 2 * (120 - 7) + 60);
    assert_eq!((layout.locate(112).track, layout.locate(112).slot), (11, 3));
    assert_eq!((layout.locate(113).track, layout.locate(113).slot), (12, 0));
    assert_eq!((layout.track_of(35), layout.cylinder_end(35)), ([30, 40], 60));
}

proptest! {
    #[test]
    fn the_angle_is_the_remainder(time in any::<u64>(), rotation in 1u64..4_000_000_000) {
        let zones = [zone(0, 0, 1)];
        let (heads, cylinders, rotation_ns) = (1, 1, rotation);
        let plan = Plan { zones: &zones, heads, cylinders, rotation_ns, ..Plan::default() };
        prop_assert_eq!(Layout::new(&plan).unwrap().turned_ns(time), time % rotation);
    }
}
