//! Tests of layout G4: against equivalent zones, surfaces filled in turns, slips, remaps, and what
//! is refused.

use super::super::parse::parse;
use super::*;
use crate::layout::{Layout, Plan, Zone};

fn found(text: &str, blocks: Option<u64>) -> Result<Found, String> {
    layout(&parse(text, "g4").unwrap().blocks[0], blocks)
}

fn plan<'a>(found: &'a Found, zones: &'a [Zone]) -> Plan<'a> {
    Plan {
        zones,
        track_runs: &found.runs,
        slipped_places: &found.slipped_places,
        heads: 2,
        cylinders: 200,
        rotation_ns: 10_000_000,
        remaps: &found.remaps,
        ..Plan::default()
    }
}

/// Two zones, as lists of a cylinder's tracks, each repeated with its skew.
const ZONED: &str = "dm_layout_g4 {
    TP = [ 0, 99, 100, 0, 83, 84 ],
    IDX = [
        [ 0, 0, 0.0, 100, 1, 0.0, 100, 1, TRACK, 0, 0,  100, 0, 0.12, 100, 1, 0.0, 100, 1, TRACK, 0, 1 ],
        [ 0, 0, 0.0, 84, 1, 0.0, 84, 1, TRACK, 1, 0,  84, 0, 0.11904761905, 84, 1, 0.0, 84, 1, TRACK, 1, 1 ],
        [ 0, 0, 0.05, 200, 1, 0.32, 30000, 150, IDX, 0,
          30000, 150, 0.03571428571, 168, 1, 0.33333333333, 8400, 50, IDX, 1 ]
    ],
    Slips = [ 130, 1, 131, 2 ], Remaps = [ ]
}";

#[test]
fn lists_of_tracks_say_the_same_as_zones() {
    let runs = found(ZONED, None).unwrap();
    let zone = |first, last, sectors, skews: [u32; 3]| Zone {
        first_cylinder: first,
        last_cylinder: last,
        sectors_per_track: sectors,
        track_skew: skews[0],
        cylinder_skew: skews[1],
        offset: skews[2],
        ..Zone::default()
    };
    let mut outer = zone(0, 149, 100, [12, 20, 5]);
    outer.slips = vec![130, 131, 132];
    let zones = [outer, zone(150, 199, 84, [10, 18, 3])];
    let by_runs = Layout::new(&plan(&runs, &[])).unwrap();
    let by_zones = Layout::new(&plan(&Found::default(), &zones)).unwrap();
    assert_eq!(by_runs.blocks(), by_zones.blocks());
    for block in 0..by_zones.blocks() {
        let [run, zone] = [&by_runs, &by_zones].map(|layout| layout.locate(block));
        let [on, of] = [by_runs.tracks()[run.track], by_zones.tracks()[zone.track]];
        assert_eq!((run, on.cylinder, on.head), (zone, of.cylinder, of.head), "block {block}");
        let [angle, same] =
            [by_runs.angle_ns(run.track, run.slot), by_zones.angle_ns(zone.track, zone.slot)];
        let apart = angle.abs_diff(same);
        assert!(apart.min(10_000_000 - apart) < 20, "block {block}: {angle} and {same}");
    }
}

#[test]
fn surfaces_are_filled_in_turns_and_on_the_way_back() {
    // Head 0 inwards, head 1 back, both at an angle of a tenth per track; and a list that is cut
    // off.
    let text = "dm_layout_g4 { TP = [ 2, 9, 12 ],
        IDX = [
            [ 0, 0, 0.0, 8, 1, 0.1, 32, 4, TRACK, 0, 0, 32, 3, 0.5, 8, 1, 0.1, 32, -4, TRACK, 0, 1 ],
            [ 0, 10, 0.0, 64, 4, 0.25, 150, 12, IDX, 0 ]
        ], Slips = [], Remaps = [ 3, 2, 11, 1, 10, 12 ] }";
    let all = found(text, None).unwrap();
    let layout = Layout::new(&plan(&all, &[])).unwrap();
    assert_eq!(layout.blocks(), 150);
    let at = |block: u64| {
        let place = layout.locate(block);
        let on = layout.tracks()[place.track];
        // In hundredths of a rotation, since times are whole nanoseconds.
        let angle = (layout.angle_ns(place.track, place.slot) + 50_000) / 100_000 % 100;
        (on.cylinder, on.head, place.slot, angle)
    };
    assert_eq!(at(0), (10, 0, 2, 0));
    assert_eq!(at(8), (11, 0, 2, 10));
    assert_eq!(at(32), (13, 1, 2, 50));
    assert_eq!(at(56), (10, 1, 2, 80));
    assert_eq!(at(64), (14, 0, 2, 25));
    assert_eq!((at(149).0, at(149).1, at(149).2), (20, 0, 7));
    assert_eq!([at(3), at(4)].map(|to| (to.0, to.1, to.2)), [(11, 1, 10), (11, 1, 11)]);
    // Only as many runs are unfolded as the stated number of blocks needs.
    assert_eq!(found(text, Some(9)).unwrap().runs.len(), 2);
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    for (from, to, words) in [
        ("TP = [ 0, 99, 100", "TP = [ 0, 100, 100", "TP, pattern 0"),
        ("TRACK, 0, 1 ]", "TRACK, 7, 1 ]", "no pattern 7"),
        ("TRACK, 0, 1 ]", "TREE, 0, 1 ]", "IDX, list 0, entry 1"),
        ("  100, 0, 0.12", "  90, 0, 0.12", "begins at block 90, where 100 is next"),
        ("150, IDX, 0,", "150, IDX, 2,", "within itself"),
        ("50, IDX, 1 ]", "50, IDX, 9 ]", "there is none"),
        ("131, 2 ]", "131, -2 ]", "Slips, pair 1"),
        ("200, 1, 0.32", "201, 1, 0.32", "holds 200 blocks, where 201"),
        ("Remaps = [ ]", "Remaps = [ 1, 2 ]", "Remaps, row 0"),
        ("IDX = [", "XDI = [", "IDX is missing"),
    ] {
        let text = ZONED.replacen(from, to, 1);
        assert_ne!(text, ZONED, "{from}");
        let error = found(&text, None).map(|_| ()).unwrap_err();
        assert!(error.contains(words), "{to}: {error}");
    }
}
