//! Rows of operating-system micro-benchmarks, why one has no figure, and how two systems differ in what changes their figures.

use super::figures::{Figure, NORMAL95};
use super::row::{NamedDocument, Row};
use ioscape_schema::{Document, Metric, OsBenchmark, OsResults, OsSystem, OsUnit, Outcome};
use std::collections::BTreeSet;

/// Settings that change what system calls and processors take, by their names in the document, and what it means that one is absent.
const SETTINGS: [(&str, Option<&str>); 8] = [
    ("processes are made from", Some("the measuring program with all that it had gathered")),
    ("seccomp mode", None),
    ("quota of processor time", Some("none")),
    ("asked of the kernel at start", Some("nothing")),
    ("frequency governor", None),
    ("clock source", None),
    ("transparent huge pages", None),
    ("build", Some("with optimisation")),
];
/// A value of a setting as shown has at most so many characters.
const SHOWN_MOST: usize = 60;

/// A row for every case that has a value.
pub(super) fn of_os(results: &OsResults) -> Vec<Row> {
    let row = |one: &OsBenchmark| {
        Some(Row {
            name: Some(name(one)),
            workload: None,
            work: None,
            metric: match one.unit {
                OsUnit::Nanos => Metric::Time,
                OsUnit::BytesPerS => Metric::Throughput,
                OsUnit::PerS => Metric::Rate,
            },
            figure: figure(one, one.value?),
        })
    };
    results.benchmarks.iter().filter_map(row).collect()
}

fn name(one: &OsBenchmark) -> String {
    let place = one.place.map(|place| format!(" ({})", place.word())).unwrap_or_default();
    format!("{}, {}{place}", one.name, one.case)
}

/// The figure of a case, no surer than its own interval: that also holds what others took from it, and, where the processor was
/// slow without a visible reason, what it would be at full speed.
fn figure(one: &OsBenchmark, value: f64) -> Figure {
    let of_ends = one.ci95.map_or(1.0, |[low, high]| (value / low).max(high / value));
    let counted = one.processes.iter().zip(&one.slower).map(|(_, by)| *by);
    let half = counted.fold(of_ends, f64::max).ln();
    Figure {
        value,
        samples: one.processes.clone(),
        within: 0.0,
        least_error: if half.is_finite() { half.max(0.0) / NORMAL95 } else { 1.0 },
        is_exact: false,
    }
}

/// The first case without a value, and why it has none.
pub(super) fn missing(document: &Document) -> Option<String> {
    let Some(Outcome::Os(results)) = &document.outcome else { return None };
    let told = |one: &OsBenchmark| Some(format!("{}: {}", name(one), one.not_measured.as_ref()?));
    results.benchmarks.iter().find_map(told)
}

/// Why a document has no value in a row of this name, where it says so.
pub(super) fn not_measured(document: &Document, row: &str) -> Option<String> {
    let Some(Outcome::Os(results)) = &document.outcome else { return None };
    results.benchmarks.iter().find(|one| name(one) == row)?.not_measured.clone()
}

/// How the systems of two results differ in mitigations, seccomp, quotas and other settings that change their figures, where both
/// tell; one sentence each.
pub(super) fn differences(first: NamedDocument<'_>, second: NamedDocument<'_>) -> Vec<String> {
    let (Some(Outcome::Os(one)), Some(Outcome::Os(other))) =
        (&first.document.outcome, &second.document.outcome)
    else {
        return Vec::new();
    };
    let differs = |what: &str, ours: &str, theirs: &str| {
        let [ours, theirs] = [ours, theirs].map(shown);
        format!("{what}: {theirs} on {}, {ours} on {}", second.name, first.name)
    };
    let names = one.system.vulnerabilities.keys().chain(other.system.vulnerabilities.keys());
    let known: BTreeSet<&String> = names.collect();
    let weaknesses = known.into_iter().filter_map(|name| {
        let [ours, theirs] = [one, other].map(|all| all.system.vulnerabilities.get(name));
        let (ours, theirs) = (ours?, theirs?);
        (ours != theirs).then(|| differs(&format!("mitigation of {name}"), ours, theirs))
    });
    let settings = SETTINGS.into_iter().filter_map(|(name, absent)| {
        let [ours, theirs] = [one, other].map(|all| setting(&all.system, name, absent));
        let (ours, theirs) = (ours?, theirs?);
        (ours != theirs).then(|| differs(name, ours, theirs))
    });
    weaknesses.chain(settings).collect()
}

/// A setting as a document tells it; what is absent is `absent` where the document tells any settings.
fn setting<'a>(system: &'a OsSystem, name: &str, absent: Option<&'a str>) -> Option<&'a str> {
    let all = &system.settings;
    all.get(name).map(String::as_str).or_else(|| absent.filter(|_| !all.is_empty()))
}

fn shown(text: &str) -> String {
    let short: String = text.chars().take(SHOWN_MOST).collect();
    if short.len() < text.len() { format!("{short}...") } else { short }
}
