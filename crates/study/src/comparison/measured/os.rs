//! Rows of operating-system micro-benchmarks, and why a row has no figure.

use super::figures::{BETWEEN_RUNS, Figure, NORMAL95};
use super::row::Row;
use ioscape_schema::{Document, MabProof, Metric, OsBenchmark, OsResults, OsUnit, Outcome};

/// A row for every case that has a value and did all its work.
pub(super) fn of_os(results: &OsResults) -> Vec<Row> {
    let row = |one: &OsBenchmark| {
        Some(Row {
            name: Some(results.row(one)),
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
    let whole = results.benchmarks.iter().filter(|one| left_out(results, one).is_none());
    whole.filter_map(row).collect()
}

/// Why a value in an older document does not count.
fn left_out(results: &OsResults, one: &OsBenchmark) -> Option<String> {
    results.proof_of(one).and_then(MabProof::left_out).map(str::to_owned)
}

/// The figure of a case, no more certain than its own interval. The interval also covers the time
/// taken by other processes and, if the processor was slow without a visible reason, the value at
/// full speed.
fn figure(one: &OsBenchmark, value: f64) -> Figure {
    let of_ends = one.ci95.map_or(1.0, |[low, high]| (value / low).max(high / value));
    let counted = one.processes.iter().zip(&one.slower).map(|(_, by)| *by);
    let half = counted.fold(of_ends, f64::max).ln();
    Figure {
        value,
        samples: one.processes.clone(),
        within: [0.0; 2],
        between: BETWEEN_RUNS,
        least_error: if half.is_finite() { half.max(0.0) / NORMAL95 } else { 1.0 },
        is_exact: false,
    }
}

/// The first case without a value, and why it has none; or else how its work differed.
pub(super) fn missing(document: &Document) -> Option<String> {
    let Some(Outcome::Os(results)) = &document.outcome else { return None };
    let why = |one: &OsBenchmark| one.not_measured.clone().or_else(|| left_out(results, one));
    let told = |one: &OsBenchmark| Some(format!("{}: {}", one.usual_row(), why(one)?));
    let other = || {
        let how = results.mab.as_ref()?.other_work()?;
        Some(format!("{} of the usual work: it was {how}", MabProof::NAME))
    };
    results.benchmarks.iter().find_map(told).or_else(other)
}

/// Why a document has no value in a row of this name, if it says so.
pub(super) fn not_measured(document: &Document, row: &str) -> Option<String> {
    let Some(Outcome::Os(results)) = &document.outcome else { return None };
    let one = results.benchmarks.iter().find(|one| one.has_row(row))?;
    let is_other = results.row(one) != row;
    let other = || {
        let how = results.proof_of(one).and_then(MabProof::other_work);
        let how = how.unwrap_or_else(|| "compiled by ioscape's own compiler".to_owned());
        is_other.then(|| format!("not the same work: there it was {how}"))
    };
    one.not_measured.clone().or_else(|| left_out(results, one)).or_else(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Locality;

    /// The Modified Andrew Benchmark with a compiler, in processes that end in `ends_in`.
    fn andrew(compiler: &str, ends_in: &str, whole: bool) -> OsResults {
        let total = OsBenchmark {
            name: MabProof::NAME.into(),
            case: "total".into(),
            place: Some(Locality::Local),
            value: Some(1e9),
            ..OsBenchmark::default()
        };
        let (compiler, processes_end_in) = (compiler.to_owned(), ends_in.to_owned());
        let mab = Some(MabProof { compiler, processes_end_in, whole, ..MabProof::default() });
        OsResults { benchmarks: vec![total], mab, ..OsResults::default() }
    }

    fn names(results: &OsResults) -> Vec<String> {
        of_os(results).into_iter().filter_map(|row| row.name).collect()
    }

    #[test]
    fn an_andrew_benchmark_of_other_work_is_another_row() {
        let usual = andrew(MabProof::BUILT_IN, "a program of 129 bytes", true);
        assert_eq!(names(&usual), ["mab, total (local)"]);
        let elsewhere = andrew(MabProof::BUILT_IN, "a program of 132 bytes", true);
        assert_eq!(names(&elsewhere), names(&usual), "of another architecture");
        let gcc = andrew("gcc -O2", "a program of 129 bytes", true);
        assert_eq!(names(&gcc), ["mab, total (local), compiled by gcc -O2"]);
        let early = andrew(MabProof::BUILT_IN, "", true);
        assert_eq!(names(&early), ["mab, total (local), each step a start of ioscape"]);
        let wrong = andrew(MabProof::BUILT_IN, "a program of 129 bytes", false);
        assert!(names(&wrong).is_empty(), "work was left out");
    }

    #[test]
    fn other_work_is_told_where_a_row_is_alone() {
        let document =
            |results: OsResults| Document { outcome: Some(results.into()), ..Document::default() };
        let why = |results: OsResults, row: &str| not_measured(&document(results), row);
        let small = "a program of 129 bytes";
        let gcc = || andrew("gcc", small, true);
        let told = why(gcc(), "mab, total (local)").unwrap();
        assert_eq!(told, "not the same work: there it was compiled by gcc");
        let told = why(andrew(MabProof::BUILT_IN, small, true), &names(&gcc())[0]).unwrap();
        assert!(told.contains("ioscape's own compiler"), "{told}");
        let told = why(andrew(MabProof::BUILT_IN, small, false), "mab, total (local)").unwrap();
        assert!(told.contains("work was left out"), "{told}");
        assert_eq!(why(gcc(), "mab, copy (local)"), None);
        assert_eq!(why(gcc(), &names(&gcc())[0]), None);
        assert!(missing(&document(gcc())).unwrap().contains("compiled by gcc"));
        assert_eq!(missing(&document(andrew(MabProof::BUILT_IN, small, true))), None);
    }
}
