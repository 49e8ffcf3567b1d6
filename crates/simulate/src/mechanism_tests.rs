//! Tests of accesses that can be worked out by hand, on the simple drive: a sector takes 0.1 ms, a
//! rotation 10 ms.

use super::*;
use crate::testing::{simple, simple_parameters};

const MS: u64 = 1_000_000;

fn access(start_ns: u64, block: u64, count: u64, write: bool) -> Access {
    let mut arm = Arm::default();
    simple().mechanism.access(&mut arm, start_ns, Feed::default(), [block, count], write)
}

#[test]
fn the_platter_turns_to_the_sector() {
    let first = access(0, 30, 10, false);
    assert_eq!((first.seek_ns, first.rotation_ns, first.transfer_ns), (0, 3 * MS, MS));
    let just_missed = access(3 * MS + 1, 30, 10, false);
    assert_eq!(just_missed.rotation_ns, 10 * MS - 1);
}

#[test]
fn a_switch_hides_in_the_skew() {
    // Block 100 is sector 0 of head 1, ten sectors later than that of head 0; a head switch takes
    // half that time.
    let both = access(0, 90, 20, false);
    assert_eq!((both.rotation_ns, both.transfer_ns), (9 * MS, MS + MS + MS));
    let mut arm = Arm::default();
    let other = simple().mechanism.access(&mut arm, 0, Feed::default(), [100, 1], true);
    assert_eq!((other.seek_ns, other.rotation_ns), (MS / 2, MS / 2));
    assert_eq!((arm.cylinder, arm.head), (0, 1));
}

#[test]
fn data_on_the_bus_hold_the_medium_up() {
    let mut arm = Arm::default();
    let feed = Feed { from_ns: MS, each: MS << 20, whole: true, lead: 0 };
    let late = simple().mechanism.access(&mut arm, 0, feed, [10, 1], true);
    assert_eq!((late.seek_ns, late.rotation_ns, late.end_ns), (0, 11 * MS, 11 * MS + MS / 10));
}

#[test]
fn a_head_that_overtakes_the_data_comes_back_for_the_rest() {
    let write = |count, lead| {
        let feed = Feed { from_ns: 0, each: (MS / 5) << 20, whole: false, lead };
        let end_ns = |block| {
            simple().mechanism.access(&mut Arm::default(), 0, feed, [block, count], true).end_ns
        };
        [end_ns(3), end_ns(60)]
    };
    // Two blocks arrive by 0.4 ms, in time for sector 4; the fourth by 0.8 ms, when sector 6 has
    // begun.
    assert_eq!(write(2, 1), [MS / 2, 62 * MS / 10]);
    assert_eq!(write(4, 1), [107 * MS / 10, 64 * MS / 10]);
    // From sector 60 on, the last of 60 blocks arrives by 12 ms, before it is due at 12.9 ms; the
    // last of 90 arrives by 18 ms, after it was due at 15.9 ms.
    assert_eq!([write(60, 1)[1], write(90, 1)[1]], [13 * MS, 26 * MS]);
    assert_eq!(write(90, 2)[1], 26 * MS, "a lead of two blocks is too short for ninety");
}

#[test]
fn on_arrival_a_rotation_reads_a_whole_track() {
    let mut parameters = simple_parameters();
    parameters.mechanism.read_on_arrival = true;
    let mechanism = parameters.build().unwrap().mechanism;
    let mut arm = Arm::default();
    let whole = mechanism.access(&mut arm, 5 * MS, Feed::default(), [0, 100], false);
    assert_eq!((whole.rotation_ns, whole.transfer_ns), (0, 10 * MS));
    let mut arm = Arm::default();
    let ahead = mechanism.access(&mut arm, 5 * MS, Feed::default(), [60, 10], false);
    assert_eq!((ahead.rotation_ns, ahead.transfer_ns), (MS, MS));
    assert_eq!(
        access(5 * MS, 0, 100, false).end_ns,
        20 * MS,
        "without, it waits for the first sector"
    );
}

#[test]
fn on_arrival_a_whole_disk_of_many_tracks_is_read_in_one_access() {
    const CYLINDERS: u32 = 40_000;
    let mut parameters = simple_parameters();
    parameters.mechanism.read_on_arrival = true;
    parameters.seek = crate::seek::SeekCurve::Constant { time: 1.0 };
    parameters.cylinders = CYLINDERS;
    parameters.zones[0].last_cylinder = CYLINDERS - 1;
    let mechanism = parameters.build().unwrap().mechanism;
    let (all, cylinders) = ([0, mechanism.layout.blocks()], u64::from(CYLINDERS));
    // A quarter of a millisecond later, so that no track begins just as the head comes down on it.
    let start_ns = 5 * MS + MS / 4;
    let whole = mechanism.access(&mut Arm::default(), start_ns, Feed::default(), all, false);
    // A rotation for each track, and a head switch or a seek from each to the next.
    let truth = 2 * cylinders * 10 * MS + cylinders * MS / 2 + (cylinders - 1) * MS;
    assert_eq!((whole.rotation_ns, whole.transfer_ns), (0, truth));
    assert_eq!(whole.end_ns, start_ns + truth);
}

#[test]
fn the_phase_is_found_again_from_a_completion() {
    let mechanism = simple().mechanism;
    let mut arm = Arm { phase_ns: 1_234_567, ..Arm::default() };
    let done = mechanism.access(&mut arm, 77 * MS, Feed::default(), [4321, 7], true);
    assert!(mechanism.phase_after([4321, 7], done.end_ns).abs_diff(1_234_567) <= 2);
}

#[test]
fn positioning_is_what_access_then_takes() {
    let mechanism = simple().mechanism;
    for block in [0, 99, 100, 5_000, 19_999] {
        let arm = Arm { cylinder: 40, head: 1, phase_ns: 7 };
        let told = mechanism.positioning_ns(&arm, 12_345, block, true);
        let done = mechanism.access(&mut arm.clone(), 12_345, Feed::default(), [block, 1], true);
        assert_eq!(told, done.seek_ns + done.rotation_ns);
    }
}

#[test]
fn a_read_over_two_tracks_takes_the_bus_when_the_first_is_read() {
    let mechanism = simple().mechanism;
    let mut arm = Arm::default();
    let asked = [90, 20];
    let access = mechanism.access(&mut arm, 0, Feed::default(), asked, false);
    assert_eq!((access.first_end_ns, access.end_ns), (10 * MS, 12 * MS));
    let drained = |setup, each| mechanism.drained_ns(&arm, &access, asked, [setup, each << 20]);
    assert_eq!(drained(MS, MS / 2), 21 * MS, "a slow bus never waits for the medium");
    assert_eq!(drained(0, MS / 20), 12 * MS, "a fast one waits for the last sector");
}
