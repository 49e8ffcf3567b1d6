//! Tests of rows that lost their figure: which of them fail a condition, and what is reported about
//! them.

use super::condition_met;
use super::tests::{campaign, compared, document, plan, planned, run};
use ioscape_schema::{
    CampaignCell, Document, Measurement, Outcome, ResponseTime, VxWorkload, Warning, WarningKind,
    Workload,
};

/// The first cell of a campaign.
fn first_cell(document: &mut Document) -> &mut CampaignCell {
    match &mut document.outcome {
        Some(Outcome::Campaign(campaign)) => &mut campaign.rows[0].cells[0],
        _ => panic!("no campaign"),
    }
}

/// Guards against a defect: a job that hung passed `--fail-if` and was not even named.
#[test]
fn a_row_that_lost_its_figure_says_so_and_fails_what_must_not_be_slower() {
    let of = |b: f64| {
        let runs = [("a", 5e8), ("b", b)];
        document(runs.map(|(name, rate)| run(name, Workload::default(), rate)).to_vec())
    };
    let met = |fail_if| {
        let found = compared(&of(5e8), &of(0.0), Some(fail_if)).unwrap();
        let [row] = &found.lone[..] else { panic!("{:?}", found.lone) };
        assert_eq!((&*row.name, &*row.system, &*row.why), ("b", "a", "no request ended there"));
        condition_met(&[found])
    };
    let told = met("throughput < 0.95").expect("less than any ratio");
    assert!(told.starts_with("b has no figure of a's b: no request ended there"), "{told}");
    assert_eq!(met("throughput > 1.05"), None);
    let gained = compared(&of(0.0), &of(5e8), Some("throughput < 0.95")).unwrap();
    assert_eq!(condition_met(&[gained]), None);
}

/// Guards against a defect: a run that failed at a job has no row for it, so the job passed where
/// one with 0 B/s failed.
#[test]
fn a_job_that_a_partial_result_lacks_fails_what_must_not_be_slower() {
    let of = |names: &[&str]| {
        let runs = names.iter().map(|name| run(name, Workload::default(), 5e8));
        document(runs.collect::<Vec<_>>())
    };
    let (base, whole) = (of(&["a", "b"]), of(&["a"]));
    let met = |other: &Document| {
        condition_met(&[compared(&base, other, Some("throughput < 0.95")).unwrap()])
    };
    assert_eq!(met(&whole), None);
    let mut partial = Document { interrupted: true, ..whole };
    let told = met(&partial).expect("it is lost");
    assert!(told.starts_with("b has no figure of a's b: there the runs are partial"), "{told}");
    let cause = "the runs are partial: process 0: Input/output error";
    partial.warn(Warning::new(WarningKind::Interrupted, cause));
    assert!(met(&partial).expect("it is lost").contains(cause));
    assert_eq!(condition_met(&[compared(&base, &partial, None).unwrap()]), None);
}

#[test]
fn a_run_that_is_missing_is_told_once_unless_its_times_are_asked_for() {
    let of = |names: &[&str]| {
        let response_time_ns = ResponseTime { p50: 9, p99: 9, ..ResponseTime::default() };
        let timed = |name: &&str| Measurement {
            ios: 900,
            response_time_ns,
            ..run(name, Workload::default(), 5e8)
        };
        document(names.iter().map(timed).collect::<Vec<_>>())
    };
    let told = |fail_if| compared(&of(&["a", "b"]), &of(&["a"]), fail_if).unwrap().lone.len();
    assert_eq!([None, Some("time > 1.05")].map(told), [1, 3]);
}

/// Guards against a defect: the advice was to run the same jobs on both, which had been done.
#[test]
fn a_job_that_hung_fails_a_condition_also_where_nothing_else_is_shared() {
    let of = |name: Option<&str>, rate: f64| {
        let name = name.map(str::to_owned);
        document(vec![Measurement { name, ..run("", Workload::default(), rate) }])
    };
    for (name, row) in [(Some("j"), "j"), (None, "set ")] {
        let (base, hung) = (of(name, 5e8), of(name, 0.0));
        let found = compared(&base, &hung, Some("throughput < 0.95")).unwrap();
        assert_eq!((found.rows.len(), found.only_in), (0, [0, 1]));
        assert_eq!(found.condition.as_ref().map(|one| one.lost.len()), Some(1));
        let told = condition_met(&[found]).expect("it has no figure");
        assert!(told.starts_with(&format!("b has no figure of a's {row}")), "{told}");
        for fail_if in [None, Some("throughput > 1.05"), Some("rate < 0.95")] {
            let refused = compared(&base, &hung, fail_if).unwrap_err().to_string();
            assert!(refused.contains(&format!("; b has no figure of a's {row}")), "{refused}");
            assert!(refused.ends_with("no request ended there"), "{refused}");
        }
        let gained = compared(&hung, &base, None).unwrap_err().to_string();
        assert!(gained.contains("; a has no figure of b's"), "{gained}");
    }
}

#[test]
fn rows_that_meet_a_condition_and_rows_that_lost_their_figure_are_both_told() {
    let of = |rates: [f64; 2]| {
        let runs = [("slow", rates[0]), ("slow", rates[0] * 1.01), ("hung", rates[1])];
        document(runs.map(|(name, rate)| run(name, Workload::default(), rate)).to_vec())
    };
    let found = compared(&of([5e8; 2]), &of([5e7, 0.0]), Some("throughput < 0.95")).unwrap();
    let told = condition_met(&[found]).expect("both fail");
    assert!(told.starts_with("1 of 1 rows of b against a meet `throughput < 0.95`"), "{told}");
    assert!(told.contains("; b has no figure of a's hung: no request ended there"), "{told}");
}

/// Guards against a defect: a cell without a figure failed conditions on another metric, three
/// times.
#[test]
fn a_cell_that_became_impossible_fails_conditions_on_what_it_counts_alone() {
    let [mut base, mut other] = [1.0, 1.0].map(|factor| campaign(factor, [0.99, 1.0, 1.01]));
    let cell = first_cell(&mut base);
    cell.operations_per_s = Some(5.0);
    for sample in &mut cell.samples {
        (sample.operations, sample.elapsed_s) = (Some(5), 1.0);
        sample.response_time_ns =
            Some(ResponseTime { p99: 100, max: 101, ..ResponseTime::default() });
        sample.fsync_ns = Some(ResponseTime { p99: 100, max: 100, ..ResponseTime::default() });
    }
    let impossible = Some("Input/output error".to_owned());
    *first_cell(&mut other) = CampaignCell { impossible, ..CampaignCell::default() };
    let lost = |fail_if| compared(&base, &other, Some(fail_if)).unwrap().condition.unwrap().lost;
    assert_eq!(lost("throughput < 0.95"), Vec::<String>::new());
    assert_eq!(lost("rate < 0.95"), ["xfs direct: iosize 8k"]);
    let times = ["p99 response time", "longest fsync"];
    assert_eq!(lost("time > 1.05"), times.map(|of| format!("xfs direct: iosize 8k, {of}")));
}

#[test]
fn a_cell_of_other_work_that_is_impossible_does_not_fail_a_condition() {
    let of = |large: u64| {
        let mut document = planned("Random reads", Some(plan(VxWorkload::RandRead, 1 << 20)), 1.0);
        first_cell(&mut document).plan = Some(plan(VxWorkload::RandRead, large));
        document
    };
    let condition = |large: u64| {
        let mut other = of(large);
        let cell = first_cell(&mut other);
        let (impossible, plan) = (Some("no room".to_owned()), cell.plan.take());
        *cell = CampaignCell { impossible, plan, ..CampaignCell::default() };
        let found = compared(&of(1 << 30), &other, Some("throughput < 0.95")).unwrap();
        (found.lone[0].why.clone(), found.condition.unwrap().lost.len())
    };
    assert_eq!(condition(1 << 30), ("no room".to_owned(), 1));
    let other = "not the same work: files of 1 GiB against 4 GiB".to_owned();
    assert_eq!(condition(4 << 30), (other, 0));
}

#[test]
fn a_cell_that_became_impossible_fails_a_condition_and_one_that_did_not_run_does_not() {
    let met = |impossible: Option<&str>| {
        let mut other = campaign(1.0, [0.99, 1.0, 1.01]);
        let impossible = impossible.map(str::to_owned);
        *first_cell(&mut other) = CampaignCell { impossible, ..CampaignCell::default() };
        let base = campaign(1.0, [0.99, 1.0, 1.01]);
        condition_met(&[compared(&base, &other, Some("throughput < 0.95")).unwrap()])
    };
    assert!(met(Some("Input/output error")).expect("lost").contains("Input/output error"));
    assert_eq!(met(None), None);
}
