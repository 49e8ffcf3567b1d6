//! The findings that differ from region to region, as the rows of one table instead of a sentence each.

use crate::text::{bounded, ratio};
use ioscape_schema::units::Bytes;
use ioscape_schema::{
    Border, BorderOperation, Difference, Evaluation, Findings, Region, RegionFinding, is_uncertain,
};

/// A finding of every region: its name, what was found, and how it is written.
type Row<'a> = (String, &'a [RegionFinding], fn(&RegionFinding) -> String);

/// A row per finding: its name and a cell for each region.
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
            one.map_or_else(|| "\u{2013}".to_owned(), show)
        };
        [name].into_iter().chain(evaluation.regions.iter().map(cell)).collect()
    };
    all.into_iter().filter(|(_, found, _)| !found.is_empty()).map(row).collect()
}

/// The finding holds among the sizes that were tried.
fn size_name(evaluation: &Evaluation) -> String {
    let largest = evaluation.regions.iter().filter_map(|region| region.curves.size_mean.last());
    let largest = largest.map(|point| point.value).fold(0.0, f64::max);
    match largest > 0.0 {
        true => format!("Request size for 75 % of the best up to {}", Bytes(largest)),
        false => "Request size for 75 % of the best".to_owned(),
    }
}

/// How a cell says that a finding is not known.
const NOT_TOLD: &str = "cannot be told";

fn size(found: &RegionFinding) -> String {
    let [value, low, high] = [found.value, found.low, found.high].map(|b| Bytes(b).to_string());
    match is_uncertain(found.low, found.high) {
        true => format!("{NOT_TOLD} ({low} to {high})"),
        false => bounded(&value, &low, &high),
    }
}

fn depth(found: &RegionFinding) -> String {
    let [value, low, high] =
        [found.value, found.low, found.high].map(|d| ((d * 10.0).round() / 10.0).to_string());
    bounded(&value, &low, &high)
}

fn gain(found: &RegionFinding) -> String {
    let [value, low, high] = [found.value, found.low, found.high].map(ratio);
    match found.difference() {
        Difference::More | Difference::Less => bounded(&value, &low, &high),
        Difference::Alike if found.is_nil() => format!("no difference ({low} to {high})"),
        Difference::Alike => format!("less than a fifth ({low} to {high})"),
        Difference::Unknown if is_uncertain(found.low, found.high) => NOT_TOLD.to_owned(),
        Difference::Unknown => format!("{NOT_TOLD} ({low} to {high})"),
    }
}

/// What stands for the size of a file cache that is not told, and why.
pub fn no_cache(
    evaluation: &Evaluation,
    operation: BorderOperation,
) -> (&'static str, &'static str) {
    let is_border = |border: &Border| border.operation == operation && !border.in_memory;
    if !evaluation.has_file_cache(operation) {
        ("not tested", "these requests bypass it or wait for storage")
    } else if evaluation.borders.iter().any(is_border) {
        (NOT_TOLD, "the findings say why")
    } else {
        ("not found", "no border was seen")
    }
}

/// Whether a sentence says what the table says: it speaks of one region.
pub fn is_tabled(evaluation: &Evaluation, sentence: &str) -> bool {
    let of = |region: &Region| sentence.starts_with(&format!("In {}, ", region.name));
    !rows(evaluation).is_empty() && evaluation.regions.iter().any(of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use ioscape_schema::Access;

    #[test]
    fn a_cache_without_a_size_is_not_always_one_that_was_not_found() {
        let mut evaluation = sample::evaluation();
        let read = BorderOperation::Read;
        assert_eq!(no_cache(&evaluation, read).0, NOT_TOLD, "its border is in doubt");
        evaluation.borders.clear();
        assert_eq!(no_cache(&evaluation, read).0, "not found");
        evaluation.regions[0].focal.access = Access::Dsync;
        assert_eq!(no_cache(&evaluation, read).0, "not found");
        assert_eq!(no_cache(&evaluation, BorderOperation::Write).0, "not tested");
    }

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
        assert!(is_tabled(&evaluation, "In region 2, reads are faster."));
        assert!(!is_tabled(&evaluation, "In region 20, reads are faster."));
    }
}
