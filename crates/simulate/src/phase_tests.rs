//! Tests that skews are found where the marks determine them, and reported as unknown where they do
//! not.

use super::*;
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
