//! Tests that skews are found where the marks determine them, and reported as unknown where they do
//! not.

use super::*;
use crate::testing::{io, simple_parameters, timed};
use ioscape_schema::{Io, Op};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

#[test]
fn skews_of_thousands_of_sectors_are_found_without_trying_every_pair() {
    let (sectors, rotation_ns) = (4000, 8e6);
    let truth = Skews { track: 1234, cylinder: 987 };
    let mut dice = Pcg64Mcg::new(3);
    let mut below = |most: u64| (dice.next_u64() % most) as i64;
    let mut mark = || {
        let (track, cylinder) = (below(8), below(50_000));
        let turned = track * i64::from(truth.track) + cylinder * i64::from(truth.cylinder);
        let at_ns = (turned % 4000) as f64 / 4000.0 * rotation_ns;
        Mark { at_ns, zone: 0, sector: 0.0, track, cylinder, write: false }
    };
    let marks: Vec<Mark> = (0..FIRST).map(|_| mark()).collect();
    let (length, skews) = best_skews(&marks, &circle(sectors), rotation_ns).unwrap();
    assert_eq!(skews, truth);
    assert!(length > 0.999, "{length}");
}

#[test]
fn marks_on_one_track_or_one_cylinder_or_at_two_places_do_not_tell_skews() {
    let tells = |has: [bool; 2], at: fn(i64) -> [i64; 2]| {
        let mark = |n| {
            let [track, cylinder] = at(n);
            Mark { at_ns: 0.0, zone: 0, sector: 0.0, track, cylinder, write: false }
        };
        let marks: Vec<Mark> = (0..200).map(mark).collect();
        tells_skews(&marks, has)
    };
    assert!(tells([true; 2], |n| [n % 5, n / 5]));
    assert!(!tells([true; 2], |n| [3, n]), "one track");
    assert!(!tells([true; 2], |n| [n / 190, n]), "only ten on another track");
    assert!(!tells([true; 2], |n| [n % 5, 7]), "one cylinder");
    assert!(!tells([true; 2], |n| [n % 2, 3 * (n % 2)]), "two places");
    assert!(tells([false, true], |n| [0, n]), "cylinders of one track have no track skew");
}

#[test]
fn a_drive_of_another_usual_speed_than_the_start_is_found() {
    let mut start = simple_parameters();
    let truth = Parameters { rotation_ms: 60e3 / 5400.0, ..start.clone() };
    let mut dice = Pcg64Mcg::new(5);
    let row = |n: u64| {
        let offset = dice.next_u64() % 20_000 * 512;
        io(Op::Write, offset, 512, n * 29_000_000)
    };
    let rows: Vec<Io> = (0..400).map(row).collect();
    let jobs = timed(&truth, &rows);
    start.rotation_ms = 60e3 / 7200.0;
    let found = found(&start, &start.build().unwrap(), &jobs, &mut || true).unwrap();
    let off = found.parameters.rotation_ms / truth.rotation_ms - 1.0;
    assert!(off.abs() < 1e-5, "{off}");
    assert_eq!((found.parameters.zones, found.untold), (truth.zones, vec![]));
}
