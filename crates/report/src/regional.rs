//! The findings that differ from region to region, as one table instead of a sentence each.

use crate::text::{bounded, none, ratio};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Difference, Evaluation, Findings, Region, RegionFinding, is_uncertain};

/// A finding of every region: its name, its values, and how to write one.
type Row<'a> = (String, &'a [RegionFinding], Show);

/// Writes the finding of a region.
type Show = fn(&Evaluation, &Region, &RegionFinding) -> String;

/// Returns a row per finding: its name and a cell for each region.
pub fn rows(evaluation: &Evaluation) -> Vec<Vec<String>> {
    let Findings {
        size_for_75_percent_bytes,
        sequential_gain,
        concurrency_gain,
        write_to_read_ratio,
        queue_depth_for_90_percent,
        queue_depth_gain,
        ..
    } = &evaluation.findings;
    let all: [Row; 6] = [
        (size_name(evaluation), size_for_75_percent_bytes, size),
        ("Sequential over random".to_owned(), sequential_gain, gain),
        ("Several processes over one".to_owned(), concurrency_gain, gain),
        ("A deep queue over one request".to_owned(), queue_depth_gain, gain),
        ("Queue depth for 90 % of the best".to_owned(), queue_depth_for_90_percent, depth),
        ("Writes over reads".to_owned(), write_to_read_ratio, gain),
    ];
    let row = |(name, found, show): Row| {
        let cell = |region: &Region| {
            let one = found.iter().find(|one| one.region == region.name);
            one.map_or_else(none, |one| show(evaluation, region, one))
        };
        [name].into_iter().chain(evaluation.regions.iter().map(cell)).collect()
    };
    all.into_iter().filter(|(_, found, _)| !found.is_empty()).map(row).collect()
}

/// The largest request size that was tried in a region, in bytes.
fn largest_size(region: &Region) -> Option<f64> {
    region.curves.size_mean.last().map(|point| point.value)
}

/// The largest request size that was tried, if it is the same in all regions.
fn common_size(evaluation: &Evaluation) -> Option<f64> {
    let mut all = evaluation.regions.iter().filter_map(largest_size);
    let first = all.next()?;
    all.all(|size| size == first).then_some(first)
}

/// The name of the size finding, with the largest size tried, which limits the finding.
fn size_name(evaluation: &Evaluation) -> String {
    match common_size(evaluation) {
        Some(largest) => format!("Request size for 75 % of the best up to {}", Bytes(largest)),
        None => "Request size for 75 % of the best".to_owned(),
    }
}

/// The text of a cell whose finding is not known.
const NOT_TOLD: &str = "cannot be told";

fn size(evaluation: &Evaluation, region: &Region, found: &RegionFinding) -> String {
    let [value, low, high] = [found.value, found.low, found.high].map(|b| Bytes(b).to_string());
    let said = match is_uncertain(found.low, found.high) {
        true => format!("{NOT_TOLD} ({low} to {high})"),
        false => bounded(&value, &low, &high),
    };
    // The largest size differs from region to region, since a request must be smaller than its set.
    let own = largest_size(region).filter(|_| common_size(evaluation).is_none());
    own.map_or(said.clone(), |largest| format!("{said}, up to {}", Bytes(largest)))
}

/// The queue depth, worded like the sentence on the region's queue.
fn depth(evaluation: &Evaluation, region: &Region, found: &RegionFinding) -> String {
    let gains = &evaluation.findings.queue_depth_gain;
    let gain = gains.iter().find(|one| one.region == region.name);
    let depths = region.curves.queue_depth.as_slice();
    let most = depths.last().map_or(f64::INFINITY, |last| last.value);
    // The low end is at the first depth even if no depth of the curve is surely too small.
    let is_too_little = depths.first().is_none_or(|first| found.low > first.value)
        || gain.is_some_and(|gain| gain.low > 1.0 / 0.9);
    let [value, low, high] =
        [found.value, found.low, found.high].map(|d| ((d * 10.0).round() / 10.0).to_string());
    match gain.map(|one| (one.difference(), one.is_nil())) {
        Some((Difference::Less, _)) => "a deeper queue is slower".to_owned(),
        Some((Difference::Alike, true)) => "a deeper queue is no faster".to_owned(),
        Some((Difference::Alike, false)) => {
            "a deeper queue differs by less than a fifth".to_owned()
        }
        Some((Difference::Unknown, _)) => NOT_TOLD.to_owned(),
        _ if found.high > most / 2.0 && is_too_little => {
            format!("above {low}; whether below {most} {NOT_TOLD}")
        }
        _ if found.high > most / 2.0 => format!("{NOT_TOLD} ({low} to {most})"),
        _ if is_uncertain(found.low, found.high) => format!("{NOT_TOLD} ({low} to {high})"),
        _ => bounded(&value, &low, &high),
    }
}

fn gain(_: &Evaluation, _: &Region, found: &RegionFinding) -> String {
    times(found)
}

/// How many times faster, as far as the interval allows a statement.
pub fn times(found: &RegionFinding) -> String {
    let [value, low, high] = [found.value, found.low, found.high].map(ratio);
    match found.difference() {
        Difference::More | Difference::Less => bounded(&value, &low, &high),
        Difference::Alike if found.is_nil() => format!("no difference ({low} to {high})"),
        Difference::Alike => format!("less than a fifth ({low} to {high})"),
        Difference::Unknown if is_uncertain(found.low, found.high) => NOT_TOLD.to_owned(),
        Difference::Unknown => format!("{NOT_TOLD} ({low} to {high})"),
    }
}

/// Whether a sentence repeats the table: it is about a single region.
pub fn is_tabled(evaluation: &Evaluation, sentence: &str) -> bool {
    let of = |region: &Region| sentence.starts_with(&format!("In {}, ", region.name));
    !rows(evaluation).is_empty() && evaluation.regions.iter().any(of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use ioscape_schema::Point;

    #[test]
    fn a_cell_says_a_ratio_only_where_the_interval_does() {
        let mut evaluation = sample::evaluation();
        let found =
            |value, low, high| RegionFinding { region: "region 1".into(), value, low, high };
        evaluation.findings.sequential_gain = vec![found(1.1, 0.8, 1.6)];
        evaluation.findings.concurrency_gain = vec![found(1.0, 0.9, 1.1)];
        let rows = rows(&evaluation);
        let first: Vec<&str> = rows.iter().map(|row| &*row[1]).collect();
        assert_eq!(
            first,
            [
                "64 KiB (57.6 KiB to 70.4 KiB)",
                "cannot be told (0.80x to 1.60x)",
                "less than a fifth (0.90x to 1.10x)",
                "less than a fifth (0.85x to 1.03x)"
            ]
        );
        assert_eq!(rows[0][0], "Request size for 75 % of the best up to 4 MiB");
        assert_eq!(rows[1][2], "\u{2013}");
        evaluation.regions[0].curves.size_mean.truncate(3);
        let capped = super::rows(&evaluation).swap_remove(0);
        assert_eq!(capped[0], "Request size for 75 % of the best");
        assert_eq!(capped[1], "64 KiB (57.6 KiB to 70.4 KiB), up to 2 KiB");
        assert!(capped[2].ends_with(", up to 4 MiB"), "{capped:?}");
        assert!(is_tabled(&evaluation, "In region 2, reads are faster."));
        assert!(!is_tabled(&evaluation, "In region 20, reads are faster."));
    }
    #[test]
    fn a_depth_is_told_as_in_its_sentence() {
        let mut evaluation = sample::evaluation();
        let point = evaluation.regions[0].curves.size_mean[0].clone();
        let points = [1.0, 64.0].map(|value| Point { value, ..point.clone() });
        evaluation.regions[0].curves.queue_depth = points.into();
        let cell = |gain: [f64; 2], low: f64, value: f64, high: f64| {
            let found =
                |low, value, high| RegionFinding { region: "region 1".into(), value, low, high };
            let mut evaluation = evaluation.clone();
            evaluation.findings.queue_depth_gain = vec![found(gain[0], gain[0], gain[1])];
            let saturated = found(low, value, high);
            depth(&evaluation, &evaluation.regions[0], &saturated)
        };
        assert_eq!(cell([4.0, 5.0], 32.0, 58.0, 64.0), "above 32; whether below 64 cannot be told");
        assert_eq!(cell([4.0, 5.0], 1.0, 12.0, 64.0), "above 1; whether below 64 cannot be told");
        assert_eq!(cell([1.066, 1.59], 1.0, 12.0, 64.0), "cannot be told (1 to 64)");
        assert_eq!(cell([4.0, 5.0], 8.0, 12.0, 16.0), "12 (8 to 16)");
        assert_eq!(cell([4.0, 5.0], 1.0, 12.0, 16.0), "cannot be told (1 to 16)");
        assert_eq!(cell([0.8, 3.0], 8.0, 12.0, 16.0), "cannot be told");
        assert_eq!(cell([0.97, 1.04], 8.0, 12.0, 16.0), "a deeper queue is no faster");
        for slight in [[1.02, 1.15], [0.95, 1.05], [0.91, 0.97]] {
            let said = cell(slight, 8.0, 12.0, 16.0);
            assert_eq!(said, "a deeper queue differs by less than a fifth", "{slight:?}");
        }
    }
}
