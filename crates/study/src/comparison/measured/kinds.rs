//! What the runs of a shared row are said to do differently from what its options say, as another
//! program's may: the ratio includes that, too.

use super::row::{NamedDocument, Row};
use super::rows::{Runs, runs};
use ioscape_schema::{Measurement, WarningKind, Workload};
use std::collections::BTreeSet;

/// What the runs of one system do differently and those of the other do not, in the rows that both
/// have; one sentence each.
pub(super) fn differences(
    first: NamedDocument<'_>,
    second: NamedDocument<'_>,
    pairs: &[(&Row, &Row)],
) -> Vec<String> {
    let [ours, theirs] = [first, second].map(|one| (one.name, runs(&[one])));
    let of_row = |(row, _): &(&Row, &Row)| {
        [[&theirs, &ours], [&ours, &theirs]].map(|both| alone(both, row)).concat()
    };
    pairs.iter().flat_map(of_row).collect()
}

/// What the first of two systems does differently in a row and the second does not.
fn alone([here, there]: [&(&str, Runs<'_>); 2], row: &Row) -> Vec<String> {
    let [own, others] = [here, there].map(|(_, runs)| told(runs, row));
    let described = || row.workload.as_ref().map(Workload::summary);
    let name = row.name.clone().or_else(described).unwrap_or_default();
    own.difference(&others).map(|what| format!("{name} of {}: {what}", here.0)).collect()
}

/// What a document says about its runs of a row.
fn told<'a>(runs: &'a Runs<'_>, row: &'a Row) -> BTreeSet<&'a str> {
    let of_name = runs.get(&row.name.as_deref()).into_iter().flatten();
    let is_of_row = |one: &&&Measurement| row.workload.as_ref() == Some(&one.workload);
    let doubts = of_name.filter(is_of_row).flat_map(|one| &one.warnings);
    let of_kind = doubts.filter(|doubt| doubt.kind == WarningKind::DifferentKinds);
    of_kind.map(|doubt| doubt.message.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{compared, document, run};
    use super::*;
    use ioscape_schema::{Document, Warning};

    /// Runs of these jobs, each with a warning of this kind.
    fn doubted(jobs: &[&str], kind: WarningKind) -> Document {
        let one = |job: &&str| Measurement {
            warnings: vec![Warning::new(kind, "files of its own")],
            ..run(job, Workload::default(), 5e8)
        };
        document(jobs.iter().map(one).collect::<Vec<_>>())
    }

    fn told(first: &Document, second: &Document) -> Vec<String> {
        compared(first, second, None).expect("a row that both have").differences
    }

    /// Guards against a defect: "slower" was said of processes on their own files against processes
    /// on one file, without a word on that.
    #[test]
    fn what_only_one_system_does_otherwise_in_a_row_is_a_difference() {
        let ours = document(vec![run("mix", Workload::default(), 5e8)]);
        let theirs = doubted(&["mix"], WarningKind::DifferentKinds);
        assert_eq!(told(&ours, &theirs), ["mix of b: files of its own"]);
        assert_eq!(told(&theirs, &ours), ["mix of a: files of its own"]);
        assert_eq!(told(&theirs, &theirs), Vec::<String>::new());
    }

    #[test]
    fn other_doubts_and_rows_of_one_system_alone_are_no_difference() {
        let ours = document(vec![run("mix", Workload::default(), 5e8)]);
        let unsure = doubted(&["mix"], WarningKind::NotConfident);
        assert_eq!(told(&ours, &unsure), Vec::<String>::new());
        let more = doubted(&["mix", "log"], WarningKind::DifferentKinds);
        assert_eq!(told(&ours, &more), ["mix of b: files of its own"]);
    }
}
