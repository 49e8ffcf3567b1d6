//! Rival explanations: other numbers of regions and other ends of a cache, with their
//! probabilities, and why the model of levels differs from what was found.

use super::residency;
use super::set_size::{first_border, word};
use super::slowdown::is_shown;
use super::words::percent;
use ioscape_schema::statistics::sort_by_number;
use ioscape_schema::units::Bytes;
use ioscape_schema::{Border, BorderOperation, Bounded, CountDoubt, Evaluation, LevelCount};

/// Least probability at which another possibility is named.
const WORTH_SAYING: f64 = 0.02;
/// Probability above which the model prefers something to all else.
const PREFERRED: f64 = 0.5;
/// A border of the model and one that was found are the same if they are no further apart than this
/// factor.
const SAME_BORDER: f64 = 1.5;
/// Both kinds of requests whose levels the model counts.
const OPERATIONS: [BorderOperation; 2] = [BorderOperation::Read, BorderOperation::Write];

/// Why the number of regions is not said, in words.
pub(super) fn why_no_count(evaluation: &Evaluation, doubt: CountDoubt) -> String {
    match doubt {
        CountDoubt::SlowerBeyond => format!(
            "sets of more than {} were measured only in the pilot, and are slower there",
            Bytes(evaluation.largest_on_curves().unwrap_or_default())
        ),
        CountDoubt::FewSets => {
            let points = OPERATIONS.map(|operation| evaluation.set_size_curve(operation).len());
            format!(
                "reads and writes by themselves were measured in {} and {} sets only",
                points[0], points[1]
            )
        }
        CountDoubt::Filling(operation) => {
            let mut borders = evaluation.of_storage(operation);
            let cold = || borders.find_map(|border| not_read_in(evaluation, border));
            filling(evaluation, operation).or_else(cold).unwrap_or_default()
        }
        CountDoubt::WritesAlone(border) => writes_alone(border, evaluation.regions.len()),
        CountDoubt::Improbable => rival_counts(evaluation),
    }
}

/// The numbers of regions that are possible, with their probabilities.
fn rival_counts(evaluation: &Evaluation) -> String {
    let (counts, found) = (&evaluation.level_counts, evaluation.regions.len());
    // No probability expresses a disagreement between two ways of judging.
    if let Some(sure) = counts.iter().find(|c| c.probability >= LevelCount::SURE) {
        let why = dissent(evaluation, sure, &OPERATIONS)
            .or_else(|| is_merged(sure, found).then(|| TOO_NARROW.to_owned()))
            .unwrap_or_else(|| format!("the borders found make {found}"));
        return format!("{} by the model of levels, but {why}", sure.regions);
    }
    let own = counts.iter().find(|c| c.regions as usize == found).map_or(0.0, |c| c.probability);
    let likely = counts.iter().filter(|c| c.probability >= WORTH_SAYING);
    let mut named: Vec<(usize, f64)> =
        likely.map(|c| (c.regions as usize, c.probability)).collect();
    if named.iter().all(|(n, _)| *n != found) {
        named.push((found, own));
    }
    let said: Vec<String> = named.iter().map(|(n, p)| format!("{n} ({})", percent(*p))).collect();
    said.join(" or ")
}

/// Says that writes alone get slower at a border behind another one of theirs, so there may be
/// fewer regions.
fn writes_alone(border: &Border, found: usize) -> String {
    format!(
        "at {} only writes slow down further: another level may end there, or the pages written back may lie farther and farther apart; without that border there are fewer than {found} regions",
        Bytes(border.unique_bytes)
    )
}

/// Says that the largest sets of these requests were still being read into the file cache while
/// they were measured; `None` if the largest was not.
///
/// What lies beyond the last steady set is then not seen.
pub(super) fn filling(evaluation: &Evaluation, operation: BorderOperation) -> Option<String> {
    let first = evaluation.fills_from(operation)?;
    Some(format!(
        "the file cache was still filling while {} in sets of {} and larger were measured",
        word(operation),
        Bytes(first)
    ))
}

/// Says that sets beyond this border were not read in before they were measured, while those before
/// it were; `None` if all were alike.
///
/// Such a border shows how much was read in, not the end of a cache.
pub(super) fn not_read_in(evaluation: &Evaluation, border: &Border) -> Option<String> {
    let first = evaluation.not_read_in_from(border)?;
    Some(format!(
        "sets of {} and larger were not read through before {} of them were measured, because that would have taken too long",
        Bytes(first),
        word(border.operation)
    ))
}

const TOO_NARROW: &str = "two borders lie too close together for a region between them";

/// Whether all of the model's levels were found but make fewer regions than it says.
fn is_merged(sure: &LevelCount, found: usize) -> bool {
    !(sure.read_borders.is_empty() && sure.write_borders.is_empty())
        && sure.regions as usize > found
}

/// Why borders that the model of levels is sure of were not found; `None` where all of them were.
fn dissent(
    evaluation: &Evaluation,
    sure: &LevelCount,
    operations: &[BorderOperation],
) -> Option<String> {
    let missing = operations.iter().find_map(|&operation| {
        let is_found = |at: &f64| {
            evaluation.of_storage(operation).any(|b| {
                let factor = b.unique_bytes / at;
                factor.max(factor.recip()) <= SAME_BORDER
            })
        };
        Some((operation, *sure.borders(operation).iter().find(|at| !is_found(at))?))
    });
    let (operation, at) = missing?;
    let of_both = sure.read_borders.iter().any(|read| LevelCount::is_within(*read, [at, at]));
    Some(if stayed_behind(evaluation, operation, at) {
        format!(
            "according to the kernel's counters every set larger than {} stayed in memory",
            Bytes(at)
        )
    } else if operation == BorderOperation::Write && !of_both {
        format!("writes slow down too little at {} to call it a border by itself", Bytes(at))
    } else {
        format!("throughput hardly falls at {}", Bytes(at))
    })
}

/// Whether every set of these requests beyond `at` stayed in memory; false if there is none.
fn stayed_behind(evaluation: &Evaluation, operation: BorderOperation, at: f64) -> bool {
    let curve = evaluation.set_size_curve(operation).iter();
    residency::all_stayed(curve.filter(|point| point.value > at).map(|p| &p.measurement))
}

/// Returns how probable it is that these requests have no border.
///
/// If the model prefers that itself, hypotheses whose end the kernel's counters contradict count
/// for it, too. Otherwise, the two witnesses disagree.
fn probability_of_none(evaluation: &Evaluation, operation: BorderOperation) -> f64 {
    let counts = &evaluation.level_counts;
    let none = probability_at(counts, operation, None);
    let is_contradicted = |count: &&LevelCount| {
        let first = count.borders(operation).first();
        first.is_some_and(|&at| stayed_behind(evaluation, operation, at))
    };
    match none > PREFERRED {
        true => none + counts.iter().filter(is_contradicted).map(|c| c.probability).sum::<f64>(),
        false => none,
    }
}

/// Returns, in words, where rival hypotheses put the first border of `operation`; `None` if all
/// that count agree with `found`.
pub(super) fn rivals(
    evaluation: &Evaluation,
    operation: BorderOperation,
    found: Option<Bounded>,
) -> Option<String> {
    let counts = &evaluation.level_counts;
    let agreed = match found {
        Some(found) => probability_at(counts, operation, Some([found.low, found.high])),
        None => probability_of_none(evaluation, operation),
    };
    if counts.is_empty() || agreed >= LevelCount::SURE {
        return None;
    }
    let ends = first_ends(counts, operation);
    let end = |at: Option<f64>| at.map_or("no border".to_owned(), |at| Bytes(at).to_string());
    if let Some((at, _)) = ends.iter().find(|(_, probability)| *probability >= LevelCount::SURE) {
        let sure = counts.iter().find(|c| c.borders(operation).first().copied() == *at);
        let why = sure.and_then(|sure| dissent(evaluation, sure, &[operation]));
        let why = why.unwrap_or_else(|| {
            format!("the border found is {}", end(found.map(|found| found.value)))
        });
        return Some(format!("{} by the model of levels, but {why}", end(*at)));
    }
    let likely = ends.iter().filter(|(_, probability)| *probability >= WORTH_SAYING);
    let said: Vec<String> = likely
        .map(|(at, probability)| format!("{} ({})", end(*at), percent(*probability)))
        .collect();
    Some(said.join(" or "))
}

/// Returns the first border of `operation`; `None` if another place is too probable, if no witness
/// shows it, or if larger sets were not read in before they were measured.
pub(super) fn told_border(evaluation: &Evaluation, operation: BorderOperation) -> Option<Bounded> {
    let found = first_border(evaluation, operation);
    let first = evaluation.of_storage(operation).next();
    found
        .filter(|found| is_shown(evaluation, operation, *found))
        .filter(|_| rivals(evaluation, operation, found).is_none())
        .filter(|_| first.is_none_or(|border| evaluation.not_read_in_from(border).is_none()))
}

/// Each place of the first border once, with the sum of the probabilities of all numbers of regions that have it there; the
/// most probable first.
fn first_ends(counts: &[LevelCount], operation: BorderOperation) -> Vec<(Option<f64>, f64)> {
    let mut ends: Vec<(Option<f64>, f64)> = Vec::new();
    for count in counts {
        let first = count.borders(operation).first().copied();
        let is_same = |end: &&mut (Option<f64>, f64)| match (end.0, first) {
            (Some(one), Some(other)) => LevelCount::is_within(other, [one, one]),
            (one, other) => one.is_none() && other.is_none(),
        };
        match ends.iter_mut().find(is_same) {
            Some(end) => end.1 += count.probability,
            None => ends.push((first, count.probability)),
        }
    }
    sort_by_number(&mut ends, |one| -one.1);
    ends
}

/// How probable it is that the first border lies within these bounds, or, without any, that there is none.
fn probability_at(
    counts: &[LevelCount],
    operation: BorderOperation,
    bounds: Option<[f64; 2]>,
) -> f64 {
    let is_there = |count: &&LevelCount| match (count.borders(operation).first(), bounds) {
        (Some(at), Some(bounds)) => LevelCount::is_within(*at, bounds),
        (at, bounds) => at.is_none() && bounds.is_none(),
    };
    counts.iter().filter(is_there).map(|count| count.probability).sum()
}

/// How probable it is that one of the borders of `operation` lies at `found`; 1 if that was not
/// computed.
pub(super) fn probability_of(
    evaluation: &Evaluation,
    operation: BorderOperation,
    found: Bounded,
) -> f64 {
    let has = |count: &&LevelCount| count.has_border(operation, [found.low, found.high]);
    let counts = &evaluation.level_counts;
    if counts.is_empty() {
        return 1.0;
    }
    counts.iter().filter(has).map(|c| c.probability).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::region;
    use ioscape_schema::{Measurement, Point, Region, RegionCurves, Stop, Workload};

    fn count(regions: u32, probability: f64, read_borders: &[f64]) -> LevelCount {
        let read_borders = read_borders.to_vec();
        LevelCount { regions, probability, read_borders, write_borders: Vec::new() }
    }

    #[test]
    fn a_place_that_several_numbers_of_regions_share_is_named_once() {
        const GIB: f64 = 1073741824.0;
        let level_counts = vec![
            count(2, 0.5, &[22.0 * GIB]),
            count(3, 0.4, &[22.3 * GIB, 30.0 * GIB]),
            count(1, 0.1, &[]),
        ];
        let evaluation = Evaluation { level_counts, ..Evaluation::default() };
        let said = rivals(&evaluation, BorderOperation::Read, None).unwrap();
        assert_eq!(said, "22 GiB (90 %) or no border (10 %)");
    }

    #[test]
    fn ends_that_the_counters_contradict_speak_for_none_where_the_model_does() {
        let told = |none: f64, resident: Option<f64>| {
            let mut evaluation = Evaluation {
                level_counts: vec![count(1, none, &[]), count(2, 1.0 - none, &[800.0])],
                ..Evaluation::default()
            };
            let mut measurement = crate::testing::measurement(&Workload::default(), 1e9, 1.0, 1e5);
            (measurement.resident_frac, measurement.cpu_system_s) = (resident, 1.0);
            let point = Point { value: 1000.0, measurement, rounds: Vec::new(), spread: None };
            evaluation.unique_bytes_read_curve = vec![point];
            rivals(&evaluation, BorderOperation::Read, None).is_none()
        };
        assert!(told(0.89, Some(1.0)), "model and counters agree");
        assert!(!told(0.89, None), "the counters are silent");
        assert!(!told(0.4, Some(1.0)), "the witnesses differ");
    }

    #[test]
    fn a_disagreement_names_its_reason() {
        let why = |evaluation: &Evaluation| {
            why_no_count(evaluation, evaluation.count_doubt().expect("a doubt"))
        };
        let of = |counts: Vec<LevelCount>, found: usize| {
            let mut evaluation = Evaluation { level_counts: counts, ..Evaluation::default() };
            let region = Region { unique_bytes: [1.0, 5.0], ..region(RegionCurves::default()) };
            evaluation.regions = vec![region; found];
            let sparse = why(&evaluation);
            assert!(sparse.ends_with("were measured in 0 and 0 sets only"), "{sparse}");
            let workload = Workload::default();
            let point = |value: f64| {
                let measurement = Measurement::empty(workload.clone(), Stop::Confident);
                Point { value, measurement, rounds: Vec::new(), spread: None }
            };
            evaluation.unique_bytes_read_curve = (1..6).map(f64::from).map(point).collect();
            evaluation.unique_bytes_write_curve = evaluation.unique_bytes_read_curve.clone();
            why(&evaluation)
        };
        let hardly = of(vec![count(2, 0.99, &[1048576.0])], 1);
        assert_eq!(hardly, "2 by the model of levels, but throughput hardly falls at 1 MiB");
        let writes = LevelCount { write_borders: vec![1048576.0], ..count(2, 0.99, &[]) };
        assert!(of(vec![writes], 1).contains("but writes slow down too little at 1 MiB"));
        assert!(of(vec![count(3, 0.999, &[])], 2).ends_with("but the borders found make 2"));
    }
}
