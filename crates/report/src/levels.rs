//! What an evaluation says about its caches, borders and regions, and with what certainty.

use ioscape_schema::statistics::sort_by_number;
use ioscape_schema::units::Bytes;
use ioscape_schema::{Border, BorderOperation, Bounded, Evaluation, LevelCount};

/// The borders of an evaluation, in order of size.
pub fn borders(evaluation: &Evaluation) -> Vec<&Border> {
    let mut all: Vec<&Border> = evaluation.borders.iter().collect();
    sort_by_number(&mut all, |one| one.unique_bytes);
    all
}

/// How certain it is that a border is the end of a level of storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A level ends here.
    Sure,
    /// Whether a level ends here cannot be told.
    Unsure,
    /// No level ends here: all data beyond the border still came from memory.
    InMemory,
}

impl Standing {
    /// Returns the standing of `border` in an evaluation.
    pub fn of(evaluation: &Evaluation, border: &Border) -> Self {
        match border.in_memory {
            true => Self::InMemory,
            false if evaluation.may_be_no_level(border) => Self::Unsure,
            false if evaluation.not_read_in_from(border).is_some() => Self::Unsure,
            false if is_sure(evaluation, border) => Self::Sure,
            false => Self::Unsure,
        }
    }

    /// The wording in tables.
    pub fn words(self) -> &'static str {
        match self {
            Self::Sure => "a level ends",
            Self::Unsure => "cannot be told",
            Self::InMemory => "within memory",
        }
    }

    /// Returns `known`, or a dash if the border may not exist.
    ///
    /// Bounds and falls in throughput mean something only if there is a border.
    pub fn if_there(self, known: String) -> String {
        if self == Self::Unsure { "-".to_owned() } else { known }
    }

    /// The remark after a border's size in a figure.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Sure => "",
            Self::Unsure => " (unsure)",
            Self::InMemory => " (in memory)",
        }
    }
}

/// Whether `border` surely ends a level.
///
/// The first border of an operation does if the findings name it as the end of the cache. Any other
/// border does if sets beyond it are surely slower and it is probable enough.
fn is_sure(evaluation: &Evaluation, border: &Border) -> bool {
    let told = match border.operation {
        BorderOperation::Read => evaluation.findings.read_cache_bytes,
        BorderOperation::Write => evaluation.findings.write_cache_bytes,
        BorderOperation::Mixed => None,
    };
    let counts = &evaluation.level_counts;
    if counts.is_empty() || told.is_some_and(|end| end.value == border.unique_bytes) {
        return true;
    }
    if border.slower.is_none_or(|slower| slower.times.low <= 1.0) {
        return false;
    }
    let is_first = evaluation.of_storage(border.operation).next() == Some(border);
    let is_cached = evaluation.has_file_cache(border.operation);
    if is_first && border.operation != BorderOperation::Mixed {
        // Behind the file cache a probable level is not enough: no witness shows its end. Direct
        // access has no finding of its own, so there the probabilities decide.
        return !is_cached && ends_first(counts, border);
    }
    let either = [BorderOperation::Read, BorderOperation::Write];
    let operations = match &border.operation {
        BorderOperation::Mixed => &either[..],
        own => std::slice::from_ref(own),
    };
    let has = |count: &&LevelCount| {
        operations.iter().any(|of| count.has_border(*of, [border.low, border.high]))
    };
    counts.iter().filter(has).map(|count| count.probability).sum::<f64>() >= LevelCount::SURE
}

/// Whether, very probably, `border` ends a level and none ends before it.
fn ends_first(counts: &[LevelCount], border: &Border) -> bool {
    let is_here = |at: &f64| LevelCount::is_within(*at, [border.low, border.high]);
    let is_first =
        |count: &&LevelCount| count.borders(border.operation).first().is_some_and(is_here);
    counts.iter().filter(is_first).map(|count| count.probability).sum::<f64>() >= LevelCount::SURE
}

/// What is known about the end of the cache for reads or for writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CacheEnd {
    /// The cache ends here.
    At(Bounded),
    /// All measured sets perform alike, or stayed in memory.
    Beyond,
    /// Whether or where the cache ends cannot be told; holds the visible border, in bytes, if any.
    Untold(Option<f64>),
    /// No set of pure reads, or of pure writes, was measured.
    Unmeasured(BorderOperation),
    /// The requests bypass the cache.
    Untested,
}

impl CacheEnd {
    /// What the evaluation knows about the cache for `of`, which is reads or writes.
    pub fn of(evaluation: &Evaluation, of: BorderOperation) -> Self {
        let findings = &evaluation.findings;
        let (found, curve) = match of {
            BorderOperation::Write => {
                (findings.write_cache_bytes, &evaluation.unique_bytes_write_curve)
            }
            _ => (findings.read_cache_bytes, &evaluation.unique_bytes_read_curve),
        };
        if !evaluation.has_file_cache(of) {
            return Self::Untested;
        }
        if let Some(found) = found {
            return Self::At(found);
        }
        if curve.is_empty() {
            return Self::Unmeasured(of);
        }
        match evaluation.of_storage(of).next() {
            None if findings.no_border_of.contains(&of) => Self::Beyond,
            border => Self::Untold(border.map(|border| border.unique_bytes)),
        }
    }

    /// The finding in a few words, and the note below it.
    pub fn words(self) -> (String, String) {
        let bytes = |value: f64| Bytes(value).to_string();
        match self {
            Self::At(found) => {
                (bytes(found.value), format!("{} to {}", bytes(found.low), bytes(found.high)))
            }
            Self::Beyond => ("no border".into(), "in the sets that were measured".into()),
            Self::Untold(Some(at)) => ("cannot be told".into(), format!("perhaps {}", bytes(at))),
            Self::Untold(None) => ("cannot be told".into(), "no border shows".into()),
            Self::Unmeasured(of) => {
                let of = if of == BorderOperation::Write { "writes" } else { "reads" };
                ("not measured".into(), format!("no set of pure {of} was measured"))
            }
            Self::Untested => {
                ("not tested".into(), "no set was measured through the file cache".into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use ioscape_schema::{Access, Slower};

    fn count(regions: u32, probability: f64, read_borders: Vec<f64>) -> LevelCount {
        LevelCount { read_borders, ..sample::level_count(regions, probability) }
    }

    #[test]
    fn a_cache_whose_end_is_withheld_cannot_be_told() {
        let mut evaluation = sample::evaluation();
        let read = |evaluation: &Evaluation| CacheEnd::of(evaluation, BorderOperation::Read);
        assert!(matches!(read(&evaluation), CacheEnd::At(_)));
        evaluation.findings.read_cache_bytes = None;
        let (value, under) = read(&evaluation).words();
        assert_eq!((&*value, &*under), ("cannot be told", "perhaps 123 MiB"));
        evaluation.borders.clear();
        assert_eq!(read(&evaluation), CacheEnd::Untold(None));
        evaluation.findings.no_border_of = vec![BorderOperation::Read];
        assert_eq!(read(&evaluation), CacheEnd::Beyond);
        evaluation.regions[0].focal.access = Access::Dsync;
        assert_eq!(read(&evaluation), CacheEnd::Beyond);
        assert_eq!(CacheEnd::of(&evaluation, BorderOperation::Write), CacheEnd::Untested);
        evaluation.regions[0].focal.access = Access::Direct;
        assert_eq!(read(&evaluation), CacheEnd::Untested);
    }

    /// Guards against saying of an evaluation that ended early that it bypassed the file cache.
    #[test]
    fn a_cache_for_reads_is_not_measured_by_sets_of_reads_and_writes() {
        let mut evaluation = sample::evaluation();
        evaluation.findings.read_cache_bytes = None;
        evaluation.unique_bytes_read_curve.clear();
        let (value, under) = CacheEnd::of(&evaluation, BorderOperation::Read).words();
        assert_eq!((&*value, &*under), ("not measured", "no set of pure reads was measured"));
    }

    #[test]
    fn a_border_is_as_sure_as_its_probability_and_its_witness() {
        let mut evaluation = sample::evaluation();
        let read = evaluation.borders.iter().position(|b| b.operation == BorderOperation::Read);
        let mut border = evaluation.borders[read.unwrap()];
        assert_eq!(Standing::of(&evaluation, &border), Standing::Sure, "nothing else is known");
        evaluation.findings.read_cache_bytes = None;
        let there = vec![border.unique_bytes];
        evaluation.level_counts = vec![count(3, 0.6, there.clone()), count(2, 0.4, Vec::new())];
        assert_eq!(Standing::of(&evaluation, &border), Standing::Unsure);
        let known = [Standing::Unsure, Standing::Sure].map(|one| one.if_there("480x".to_owned()));
        assert_eq!(known, ["-", "480x"]);
        assert!(evaluation.count_doubt().is_some());
        evaluation.level_counts = vec![count(3, 0.97, there), count(2, 0.03, Vec::new())];
        assert_eq!(Standing::of(&evaluation, &border), Standing::Unsure, "no witness of reads");
        evaluation.regions[0].focal.access = Access::Direct;
        assert_eq!(Standing::of(&evaluation, &border), Standing::Sure, "a device's cache");
        evaluation.level_counts[0].read_borders.insert(0, border.unique_bytes / 100.0);
        assert_eq!(Standing::of(&evaluation, &border), Standing::Unsure, "another may end first");
        evaluation.level_counts[0].read_borders.remove(0);
        let slower = border.slower;
        let times = Bounded { value: 1.0, low: 0.9, high: 1.1 };
        let alike = Slower { times, unique_bytes: 4.0 * border.unique_bytes };
        for unsure in [Some(alike), None] {
            border.slower = unsure;
            evaluation.borders[read.unwrap()] = border;
            assert_eq!(Standing::of(&evaluation, &border), Standing::Unsure, "nothing is slower");
            let mixed = Border { operation: BorderOperation::Mixed, ..border };
            assert_eq!(Standing::of(&evaluation, &mixed), Standing::Unsure);
        }
        border.slower = slower;
        evaluation.borders[read.unwrap()] = border;
        evaluation.regions[0].focal.access = Access::Buffered;
        let mixed = Border { operation: BorderOperation::Mixed, ..border };
        assert_eq!(Standing::of(&evaluation, &mixed), Standing::Sure);
        let end = Bounded { value: border.unique_bytes, low: border.low, high: border.high };
        evaluation.findings.read_cache_bytes = Some(end);
        assert_eq!(Standing::of(&evaluation, &border), Standing::Sure);
        assert!(evaluation.count_doubt().is_none());
        border.in_memory = true;
        assert_eq!(Standing::of(&evaluation, &border), Standing::InMemory);
    }

    #[test]
    fn a_border_behind_which_sets_were_not_read_in_cannot_be_told() {
        let mut evaluation = sample::evaluation();
        let is_read = |border: &&Border| border.operation == BorderOperation::Read;
        let border = *evaluation.borders.iter().find(is_read).expect("the sample has one");
        assert_eq!(Standing::of(&evaluation, &border), Standing::Sure);
        for point in &mut evaluation.unique_bytes_read_curve {
            point.measurement.not_read_in = point.value > border.unique_bytes;
        }
        assert_eq!(Standing::of(&evaluation, &border), Standing::Unsure);
    }
}
