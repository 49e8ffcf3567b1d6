//! Expectations: what is checked, the value wanted, the value found, and whether they agree.

use ioscape_schema::units::Bytes;
use ioscape_schema::{Border, BorderOperation, Bounded, Document, Evaluation, Point, Region};
use std::fmt;

/// An expectation and its outcome.
pub struct Check {
    /// What was checked.
    pub what: String,
    /// What is true of the system.
    pub want: String,
    /// What was found.
    pub found: String,
    /// Whether the two agree.
    pub holds: bool,
}

/// The outcome for one system.
pub enum Outcome {
    /// It was evaluated and compared.
    Checked(Vec<Check>),
    /// It could not be tried here.
    Skipped(String),
    /// It could not be brought up or evaluated.
    Broken(String),
}

impl Outcome {
    /// Whether there is nothing to complain about, or nothing that another attempt could change.
    pub fn is_good(&self) -> bool {
        match self {
            Self::Checked(checks) => checks.iter().all(|c| c.holds),
            Self::Skipped(_) => true,
            Self::Broken(_) => false,
        }
    }
}

/// The most memory that the kernel takes per byte of a cached file: a buffer head for each page,
/// and a node for every 64 of them.
const RECORDS: f64 = (104.0 + 576.0 / 64.0) / 4096.0;

/// Memory of a worker other than file cache: its buffers, stack and page tables, in bytes.
const WORKER: f64 = 1_048_576.0;

/// The true size in bytes, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// The best estimate.
    pub bytes: f64,
    /// How far off the estimate may be.
    pub slack: f64,
}

impl Truth {
    /// A size that is known exactly.
    pub fn known(bytes: f64) -> Self {
        Self { bytes, slack: 0.0 }
    }

    /// A size read before and after the measurement, which may have changed in between.
    pub fn moving([before, after]: [f64; 2]) -> Self {
        Self { bytes: f64::midpoint(before, after), slack: (before - after).abs() }
    }

    /// The file cache in a control group with this limit, which its members and the kernel also use
    /// for other things.
    pub fn of_group(limit: f64) -> Self {
        let least = limit * (1.0 - RECORDS) - WORKER;
        Self { bytes: f64::midpoint(least, limit), slack: (limit - least) / 2.0 }
    }

    /// Whether these bounds contain the size, as far as it is known.
    fn is_within(&self, [low, high]: [f64; 2]) -> bool {
        low <= self.bytes + self.slack && self.bytes - self.slack <= high
    }

    /// Whether a border is at this size: its bounds contain it, or its best estimate is within this
    /// fraction of it.
    fn is_at(&self, border: &Border, tolerance: f64) -> bool {
        let far = self.slack + tolerance * self.bytes;
        self.is_within([border.low, border.high]) || (border.unique_bytes - self.bytes).abs() <= far
    }
}

impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.slack > 0.0 {
            true => write!(f, "{} +-{}", Bytes(self.bytes), Bytes(self.slack)),
            false => write!(f, "{}", Bytes(self.bytes)),
        }
    }
}

/// Checks that the reported bounds contain the truth; if none are reported, none are wrong.
pub fn covers(what: &str, truth: Truth, told: Option<[f64; 2]>) -> Check {
    let shown = |[low, high]: [f64; 2]| format!("{} to {}", Bytes(low), Bytes(high));
    Check {
        what: format!("{what}: bounds"),
        want: format!("around {truth}"),
        found: told.map_or("none".to_owned(), shown),
        holds: told.is_none_or(|told| truth.is_within(told)),
    }
}

/// Checks that every storage border reported for these requests is one of these.
pub fn no_other_border(
    evaluation: &Evaluation,
    operation: BorderOperation,
    truths: &[Truth],
    tolerance: f64,
) -> Check {
    let is_told = |border: &&Border| border.operation == operation && !border.in_memory;
    let is_other = |border: &&Border| !truths.iter().any(|truth| truth.is_at(border, tolerance));
    let borders = evaluation.borders.iter().filter(is_told).filter(is_other);
    let others: Vec<String> = borders.map(|b| Bytes(b.unique_bytes).to_string()).collect();
    let others = others.join(", ");
    let word = match operation {
        BorderOperation::Read => "reads",
        BorderOperation::Write => "writes",
        BorderOperation::Mixed => "both",
    };
    let listed: Vec<String> = truths.iter().map(Truth::to_string).collect();
    let what = format!("borders of {word} besides {}", listed.join(" and "));
    equal(&what, "none", if others.is_empty() { "none" } else { &others })
}

/// Checks that `found` is within `tolerance` (a fraction) of `want`, both in bytes.
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

/// Checks that `found` lies between `low` and `high`.
pub fn between(what: &str, low: f64, high: f64, found: Option<f64>) -> Check {
    Check {
        what: what.to_owned(),
        want: format!("{low:.3} .. {high:.3}"),
        found: found.map_or("none".to_owned(), |f| format!("{f:.3}")),
        holds: found.is_some_and(|f| (low..=high).contains(&f)),
    }
}

/// Checks that the two texts are equal.
pub fn equal(what: &str, want: &str, found: &str) -> Check {
    Check {
        what: what.to_owned(),
        want: want.to_owned(),
        found: found.to_owned(),
        holds: want == found,
    }
}

/// Reports what was found, without an expectation.
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

/// The bounds of a finding.
pub fn bounds(bounded: Option<&Bounded>) -> Option<[f64; 2]> {
    bounded.map(|b| [b.low, b.high])
}

/// The border nearest to `bytes`, however it was found.
pub fn nearest_border(evaluation: &Evaluation, bytes: f64) -> Option<f64> {
    let distance = |b: &f64| (b / bytes).ln().abs();
    evaluation
        .borders
        .iter()
        .map(|b| b.unique_bytes)
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// Throughput of a curve at `value`, where it must have a point.
pub fn at(curve: &[Point], value: f64) -> Option<f64> {
    curve.iter().find(|p| (p.value - value).abs() < 1e-9).map(Point::throughput)
}

/// Throughput at the end of a curve, divided by that at its beginning.
pub fn end_to_end(curve: &[Point]) -> Option<f64> {
    Some(curve.last()?.throughput() / curve.first()?.throughput())
}

/// The name of the write policy that was found.
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

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1_048_576.0;

    #[test]
    fn bounds_hold_the_truth_or_come_as_near_as_it_is_known() {
        let held = |truth, told| covers("x", truth, told).holds;
        let known = Truth::known(48.0);
        assert!(held(known, Some([42.0, 48.0])) && held(known, Some([48.0, 60.0])));
        assert!(!held(known, Some([42.0, 47.4])) && !held(known, Some([48.1, 60.0])));
        assert!(held(known, None), "nothing is told");
        let moving = Truth::moving([48.0, 47.0]);
        assert_eq!(moving, Truth { bytes: 47.5, slack: 1.0 });
        assert!(held(moving, Some([42.0, 46.5])) && !held(moving, Some([42.0, 46.4])));
    }

    #[test]
    fn a_groups_cache_is_what_is_left_of_its_limit() {
        let cache = Truth::of_group(64.0 * MIB);
        let [low, high] = [cache.bytes - cache.slack, cache.bytes + cache.slack];
        assert!((61.0..61.5).contains(&(low / MIB)), "{cache}");
        assert!((high / MIB - 64.0).abs() < 1e-9, "{cache}");
    }

    fn border(operation: BorderOperation, [low, unique_bytes, high]: [f64; 3]) -> Border {
        let (ratio, in_memory, slower) = (10.0, false, None);
        Border { operation, unique_bytes, low, high, ratio, in_memory, slower }
    }

    #[test]
    fn a_border_that_does_not_exist_is_a_miss() {
        use BorderOperation::{Read, Write};
        let told = |borders: Vec<Border>, operation| {
            let found = Evaluation { borders, ..Evaluation::default() };
            no_other_border(&found, operation, &[Truth::known(24.0), Truth::known(128.0)], 0.2)
        };
        let right = [border(Read, [120.0, 126.0, 127.0]), border(Read, [20.0, 30.0, 40.0])];
        assert!(told(right.to_vec(), Read).holds, "near, or around it");
        let wrong = border(Read, [50.0, 60.0, 70.0]);
        let missed = told(vec![right[0], wrong], Read);
        assert!(!missed.holds);
        assert_eq!((missed.want.as_str(), missed.found.as_str()), ("none", "60 B"));
        assert!(told(vec![wrong], Write).holds, "of other requests");
        assert!(told(vec![Border { in_memory: true, ..wrong }], Read).holds, "no storage");
        assert!(told(Vec::new(), Read).holds);
    }
}
