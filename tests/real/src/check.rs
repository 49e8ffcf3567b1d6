//! Expectations: what, which value is wanted, which was found, and whether that holds.

use ioscape_schema::units::Bytes;
use ioscape_schema::{Bounded, Document, Evaluation, Point, Region};

/// One expectation and how it went.
pub struct Check {
    /// What was looked at.
    pub what: String,
    /// What is true of the system.
    pub want: String,
    /// What was found.
    pub found: String,
    /// Whether the two agree.
    pub holds: bool,
}

/// What came of one system.
pub enum Outcome {
    /// It was evaluated and compared.
    Checked(Vec<Check>),
    /// It could not be tried here.
    Skipped(String),
    /// It could not be brought up or evaluated.
    Broken(String),
}

impl Outcome {
    /// Nothing to complain of, or nothing that another attempt could change.
    pub fn is_good(&self) -> bool {
        match self {
            Self::Checked(checks) => checks.iter().all(|c| c.holds),
            Self::Skipped(_) => true,
            Self::Broken(_) => false,
        }
    }
}

/// `found` is within `tolerance` (a fraction) of `want`, both in bytes.
pub fn bytes_near(what: &str, want: f64, found: Option<f64>, tolerance: f64) -> Check {
    Check {
        what: what.to_owned(),
        want: format!("{} +-{:.0} %", Bytes(want), tolerance * 100.0),
        found: found.map_or("none".to_owned(), |f| {
            format!("{} ({:+.1} %)", Bytes(f), (f / want - 1.0) * 100.0)
        }),
        holds: found.is_some_and(|f| (f / want - 1.0).abs() <= tolerance),
    }
}

/// `found` lies between `low` and `high`.
pub fn between(what: &str, low: f64, high: f64, found: Option<f64>) -> Check {
    Check {
        what: what.to_owned(),
        want: format!("{low:.3} .. {high:.3}"),
        found: found.map_or("none".to_owned(), |f| format!("{f:.3}")),
        holds: found.is_some_and(|f| (low..=high).contains(&f)),
    }
}

/// The two texts are the same.
pub fn equal(what: &str, want: &str, found: &str) -> Check {
    Check {
        what: what.to_owned(),
        want: want.to_owned(),
        found: found.to_owned(),
        holds: want == found,
    }
}

/// What was found is to be read; nothing is wanted of it.
pub fn named(what: &str, found: &str) -> Check {
    Check { what: what.to_owned(), want: "-".to_owned(), found: found.to_owned(), holds: true }
}

/// The evaluation in a document.
pub fn evaluation(document: &Document) -> Result<&Evaluation, String> {
    document.evaluation().ok_or_else(|| "the result holds no evaluation".to_owned())
}

/// Value of a finding with bounds.
pub fn value(bounded: Option<&Bounded>) -> Option<f64> {
    bounded.map(|b| b.value)
}

/// The border nearest to `bytes`, whatever it was found with.
pub fn nearest_border(evaluation: &Evaluation, bytes: f64) -> Option<f64> {
    let distance = |b: &f64| (b / bytes).ln().abs();
    evaluation
        .borders
        .iter()
        .map(|b| b.unique_bytes)
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// Throughput at `value` of a curve that has a point there.
pub fn at(curve: &[Point], value: f64) -> Option<f64> {
    curve.iter().find(|p| (p.value - value).abs() < 1e-9).map(Point::throughput)
}

/// Throughput at the end of a curve over that at its beginning.
pub fn end_to_end(curve: &[Point]) -> Option<f64> {
    Some(curve.last()?.throughput() / curve.first()?.throughput())
}

/// Word for the write policy that was found.
pub fn policy(evaluation: &Evaluation) -> String {
    evaluation.findings.write_policy.map_or("none".to_owned(), |p| {
        serde_json::to_string(&p).unwrap_or_default().trim_matches('"').to_owned()
    })
}

/// The first and the last region.
pub fn ends(evaluation: &Evaluation) -> Result<(&Region, &Region), String> {
    match (evaluation.regions.first(), evaluation.regions.last()) {
        (Some(first), Some(last)) => Ok((first, last)),
        _ => Err("no region was found".to_owned()),
    }
}
