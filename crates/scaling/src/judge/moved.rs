//! Tells whether suspect rounds really were slower or faster than the other rounds of the same
//! points.

use super::drift::FAR;
use ioscape_schema::statistics::median;

/// Fewest suspect rounds, with others of the same points to compare with, that can decide.
pub(super) const WITNESSES: usize = 3;

/// Whether most suspect rounds moved far in the direction expected of them.
///
/// Each item holds the rounds of one point: the speed, above 0, and the direction expected of a
/// suspect round (1 for faster, -1 for slower).
pub(super) fn have_moved(points: impl Iterator<Item = Vec<(f64, Option<f64>)>>) -> bool {
    let moved: Vec<f64> = points.flat_map(|rounds| moved(&rounds)).collect();
    moved.len() >= WITNESSES && median(&moved) > FAR / 2.0
}

/// Returns how far each suspect round of a point lies from the median of the others, in its
/// expected direction, as changes of log throughput; empty if there are no others.
fn moved(rounds: &[(f64, Option<f64>)]) -> Vec<f64> {
    let others: Vec<f64> =
        rounds.iter().filter(|round| round.1.is_none()).map(|one| one.0).collect();
    if others.is_empty() {
        return Vec::new();
    }
    let other = median(&others);
    rounds.iter().filter_map(|&(speed, way)| Some(way? * (speed / other).ln())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::points::Points;
    use crate::testing::reading;
    use ioscape_schema::CurveKey;

    #[test]
    fn rounds_have_moved_where_most_of_them_are_far_off_the_others_of_their_points() {
        let slower = |times: &[f64], has_others| {
            let point = |&by: &f64| match has_others {
                true => vec![(8.0 / by, Some(-1.0)), (8.0, None)],
                false => vec![(8.0 / by, Some(-1.0))],
            };
            have_moved(times.iter().map(point))
        };
        assert!(slower(&[2.0, 1.0, 3.0], true));
        assert!(!slower(&[1.1, 1.0, 3.0], true), "one of three");
        assert!(!slower(&[2.0, 3.0], true), "too few");
        assert!(!slower(&[0.5, 0.5, 0.5], true), "faster");
        assert!(!slower(&[2.0, 2.0, 3.0], false), "nothing beside them");
    }

    /// Guards against two mistakes: a backup that took more than half of a disk's throughput went
    /// unnoticed, and a database on a drive that hardly feels it put every round in doubt.
    #[test]
    fn what_others_read_disturbs_where_rounds_without_it_were_much_faster() {
        let kept = |first: f64, [speed, later]: [f64; 2]| {
            let mut store = Points::default();
            let crowded = (1..=4).map(|set| reading(set, first, 80_000_000));
            let again = (1..=3).map(|set| reading(set, speed, later as u64));
            crowded.chain(again).for_each(|m| store.record(&CurveKey::Pilot.into(), m));
            (store.point(0, 1.0).rounds, store.verdict(3).doubtful)
        };
        assert_eq!(kept(9e5, [2e7, 0.0]), (vec![2e7], true), "a backup that ended");
        assert_eq!(kept(1.9e7, [2e7, 0.0]), (vec![1.9e7, 2e7], false), "hardly felt");
        assert_eq!(kept(9e5, [2e7, 8e7]), (vec![9e5, 2e7], false), "it reads all day");
        assert_eq!(kept(9e5, [4e8, 8e7]), (vec![9e5, 4e8], false), "a drive of two speeds");
    }
}
