//! Tests of whole documents: which rows are shared, and what is refused.

use super::super::ratio::tests::prediction;
use super::*;
use ioscape_schema::statistics;
use ioscape_schema::{
    Access, Basis, CampaignCell, CampaignColumn, CampaignResult, CampaignRow, CampaignSample,
    CellPlan, Document, Engine, Evaluation, Measurement, Metric, OsBenchmark, OsResults, OsUnit,
    Outcome, Point, Prediction, ResponseTime, Stop, Validation, ValidationPoint, ValidationRun,
    Verdict, VxFigures, VxFile, VxJob, VxRun, VxWorkload, Vxbench, Warning, WarningKind, Workload,
};

pub(super) fn run(name: &str, workload: Workload, throughput: f64) -> Measurement {
    Measurement {
        name: Some(name.to_owned()),
        throughput_bytes_per_s: throughput,
        throughput_ci95: [0.99 * throughput, 1.01 * throughput],
        ..Measurement::empty(workload, Stop::Confident)
    }
}

pub(super) fn document(outcome: impl Into<Outcome>) -> Document {
    Document { outcome: Some(outcome.into()), ..Document::default() }
}

pub(super) fn compared(
    a: &Document,
    b: &Document,
    fail_if: Option<&str>,
) -> Result<MeasuredComparison, NotComparable> {
    let condition: Option<Condition> = fail_if.map(|text| text.parse().unwrap());
    let (a, b) =
        (NamedDocument { name: "a", document: a }, NamedDocument { name: "b", document: b });
    compare_measured(a, b, condition.as_ref())
}

/// A campaign of one column whose cells ran three times.
pub(super) fn campaign(factor: f64, scatter: [f64; 3]) -> Document {
    let column = CampaignColumn {
        place: "xfs".into(),
        method: "direct".into(),
        ..CampaignColumn::default()
    };
    let row = |index: u32| {
        let sample = |off: f64| CampaignSample {
            throughput_bytes_per_s: factor * off * 1e6 * f64::from(index + 1),
            ..CampaignSample::default()
        };
        let samples = scatter.map(sample).to_vec();
        let throughput_bytes_per_s =
            statistics::median(&scatter) * factor * 1e6 * f64::from(index + 1);
        let settings = vec![ioscape_schema::CampaignSetting {
            name: "iosize".into(),
            text: format!("{}k", 8 << index),
            value: 0.0,
        }];
        CampaignRow {
            settings,
            cells: vec![CampaignCell {
                samples,
                throughput_bytes_per_s,
                ..CampaignCell::default()
            }],
        }
    };
    document(CampaignResult {
        columns: vec![column],
        rows: (0..4).map(row).collect(),
        ..CampaignResult::default()
    })
}

pub(super) fn os(factor: f64) -> Document {
    let processes: Vec<f64> = (0..12).map(|i| factor * (100.0 + f64::from(i % 4))).collect();
    let value = Some(statistics::median(&processes));
    let (name, case, unit) = ("getpid".to_owned(), "system call".to_owned(), OsUnit::Nanos);
    let one = OsBenchmark { name, case, value, unit, processes, ..OsBenchmark::default() };
    document(OsResults { benchmarks: vec![one], ..OsResults::default() })
}

pub(super) fn validated(measurement: Measurement) -> Document {
    let twice = 2.0 * measurement.throughput_bytes_per_s;
    let workload = measurement.workload.clone();
    let point = ValidationPoint {
        prediction: Prediction { workload, ..prediction(twice, [twice; 2]) },
        rounds_bytes_per_s: vec![1e6, 3e6],
        measurement,
        repeated_bytes_per_s: None,
        near_border: false,
        models: Default::default(),
    };
    let validation = Some(Validation { points: vec![point], ..Validation::default() });
    let run = ValidationRun { validation, measurements: Vec::new(), log: None };
    document(Outcome::Validation(Box::new(run)))
}

/// Once, 0.5 % was called faster because each evaluation had simulated the same requests thrice.
#[test]
fn simulations_of_the_same_requests_are_one_round() {
    let of = |engine, rate: f64| {
        let workload = Workload { engine, ..Workload::default() };
        let measurement = run("x", workload, rate);
        let point = Point { value: 1e6, measurement, rounds: vec![rate; 3], spread: None };
        let evaluation = Evaluation { unique_bytes_curve: vec![point], ..Evaluation::default() };
        document(Outcome::Evaluation(Box::new(evaluation)))
    };
    let rounds = |engine| {
        let [one, other] = [5.00e8, 5.02e8].map(|rate| of(engine, rate));
        compared(&one, &other, None).unwrap().rows[0].rounds
    };
    assert_eq!(rounds(Engine::Sim), [1, 1]);
    assert_eq!(rounds(Engine::default()), [3, 3]);
}

#[test]
fn a_document_does_not_differ_from_itself() {
    let measurement = run("x", Workload::default(), 5e8);
    let point = Point {
        value: 1e6,
        measurement: measurement.clone(),
        rounds: vec![2e8, 5e8, 9e8],
        spread: Some(0.5),
    };
    let evaluation = Evaluation { unique_bytes_curve: vec![point], ..Evaluation::default() };
    let total = VxFigures { throughput_bytes_per_s: 5e8, ..VxFigures::default() };
    let vxbench = Vxbench { runs: vec![VxRun { total, ..VxRun::default() }], ..Vxbench::default() };
    for (one, fail_if) in [
        (campaign(1.0, [0.6, 1.0, 1.7]), "throughput < 0.95"),
        (document(vec![measurement.clone()]), "throughput < 0.95"),
        (document(vec![measurement.clone()]), "throughput < 1"),
        (document(vec![measurement.clone()]), "throughput > 1"),
        (document(Outcome::Evaluation(Box::new(evaluation))), "throughput < 0.95"),
        (validated(measurement), "throughput < 0.95"),
        (document(Outcome::Vxbench(vxbench)), "throughput < 0.95"),
        (os(1.0), "time > 1.05"),
    ] {
        let found = compared(&one, &one, Some(fail_if)).unwrap();
        assert!(!found.rows.is_empty());
        for row in &found.rows {
            assert_eq!(
                (row.ratio, row.ci95, row.verdict),
                (1.0, [1.0, 1.0], Verdict::NoDifference)
            );
            assert_eq!(row.basis, Basis::SameMeasurement);
        }
        assert!(found.condition.unwrap().met_by.is_empty());
    }
}

#[test]
fn a_condition_is_met_beyond_chance_only() {
    let quiet = [0.99, 1.0, 1.01];
    let a = campaign(1.0, quiet);
    let slow = compared(&a, &campaign(0.5, [0.98, 1.0, 1.02]), Some("throughput < 0.95")).unwrap();
    assert!(slow.rows.iter().all(|row| row.verdict == Verdict::Slower), "{:?}", slow.rows);
    assert_eq!(slow.condition.unwrap().met_by, [0, 1, 2, 3]);
    assert_eq!(slow.rows[0].name.as_deref(), Some("xfs direct: iosize 8k"));
    let noisy = compared(&a, &campaign(0.9, [0.6, 1.0, 1.7]), Some("throughput < 0.95")).unwrap();
    assert!(noisy.rows.iter().all(|row| row.verdict == Verdict::CannotBeTold));
    assert!(noisy.condition.unwrap().met_by.is_empty());
    let close = compared(&a, &campaign(1.002, [0.991, 1.0, 1.009]), None).unwrap();
    assert!(close.rows.iter().all(|row| row.verdict == Verdict::NoDifference), "{:?}", close.rows);
}

#[test]
fn less_time_per_operation_is_faster() {
    let found = compared(&os(1.0), &os(0.5), None).unwrap();
    assert_eq!((found.rows[0].verdict, found.rows[0].metric), (Verdict::Faster, Metric::Time));
    assert_eq!(found.rows[0].rounds, [12, 12]);
    let other = compared(&os(1.0), &os(0.5), Some("throughput < 0.9")).unwrap_err();
    assert!(other.to_string().contains("only time"), "{other}");
}

#[test]
fn rows_are_shared_by_name_and_workload() {
    let small = Workload { unique_bytes: 1 << 20, ..Workload::default() };
    let a = document(vec![run("x", Workload::default(), 5e8), run("y", small.clone(), 3e6)]);
    let b = document(vec![run("y", small, 2e6), run("z", Workload::default(), 5e8)]);
    let found = compared(&a, &b, None).unwrap();
    assert_eq!((found.rows.len(), found.only_in), (1, [1, 1]));
    assert_eq!(found.rows[0].values, [2e6, 3e6]);
    assert_eq!(found.rows[0].basis, Basis::SingleRun);
}

/// Once, a job that was edited dropped out of `--fail-if`, and nothing said so.
#[test]
fn a_job_that_was_changed_says_how() {
    let of = |edited: Workload| {
        document(vec![run("a", edited, 5e8), run("b", Workload::default(), 3e6)])
    };
    let said = |edited: Workload| {
        let found = compared(&of(Workload::default()), &of(edited), None).unwrap();
        let [other, base] = &found.lone[..] else { panic!("{:?}", found.lone) };
        assert_eq!([&*other.system, &*base.system], ["b", "a"]);
        [other, base].map(|row| row.why.clone())
    };
    let both = said(Workload { access: Access::Dsync, ..Workload::default() });
    let told = ["dsync against buffered", "buffered against dsync"];
    assert_eq!(both, told.map(|how| format!("not the same work: access {how}")));
    let [why, _] = said(Workload { process_num: 8, ..Workload::default() });
    assert_eq!(why, "not the same work: process_num 8 against 1");
    let [why, _] = said(Workload { think_time_ns: 5, ..Workload::default() });
    assert_eq!(why, "not the same work: their options differ");
}

/// Once, a commit that took 150 times as long had no row, since pauses kept throughput equal.
#[test]
fn response_times_of_runs_are_rows_that_rounds_tell_of() {
    let runs = |p50: u64, count: u64, throughput: f64| {
        let timed = |number: u64| {
            let rate = throughput * (1.0 + 1e-3 * number as f64);
            // Two of them fall into one bin.
            let p50 = p50 + number / 2;
            let response_time_ns = ResponseTime { p50, p99: 9, ..ResponseTime::default() };
            Measurement { ios: 9, response_time_ns, ..run("tx", Workload::default(), rate) }
        };
        document((0..count).map(timed).collect::<Vec<_>>())
    };
    let told = |count, throughput| {
        let found = compared(&runs(4_000, count, 1e8), &runs(613_000, count, throughput), None);
        let rows = found.unwrap().rows;
        assert_eq!(rows[1].name.as_deref(), Some("tx, p50 response time"));
        (rows[0].verdict, rows[1].verdict, rows[1].rounds)
    };
    assert_eq!(told(3, 1e8), (Verdict::NoDifference, Verdict::Slower, [3, 3]));
    // How percentiles vary between runs is unknown. As rows, they do not make throughput less sure.
    assert_eq!(told(1, 1.6e8), (Verdict::Faster, Verdict::CannotBeTold, [1, 1]));
}

#[test]
fn repeated_runs_are_rounds() {
    let runs = |all: &[f64]| {
        document(all.iter().map(|t| run("x", Workload::default(), *t)).collect::<Vec<_>>())
    };
    let found =
        compared(&runs(&[1e8, 1.01e8, 0.99e8]), &runs(&[0.7e8, 0.71e8, 0.69e8]), None).unwrap();
    assert_eq!((found.rows.len(), found.rows[0].rounds), (1, [3, 3]));
    assert_eq!((found.rows[0].basis, found.rows[0].verdict), (Basis::Rounds, Verdict::Slower));
}

/// Guards against a defect: the scatter of `cached` was lent to `disk`, which was called slower.
#[test]
fn a_lone_run_does_not_take_its_scatter_from_another_row() {
    let of = |cached: [f64; 2], disk: f64| {
        let all = [("cached", cached[0]), ("cached", cached[1]), ("disk", disk)];
        document(all.map(|(name, rate)| run(name, Workload::default(), rate)).to_vec())
    };
    let (a, b) = (of([5000.0, 5010.0], 50.0), of([4995.0, 5005.0], 46.0));
    let found = compared(&a, &b, Some("throughput < 0.95")).unwrap();
    let disk = &found.rows[1];
    assert_eq!((disk.verdict, disk.basis), (Verdict::CannotBeTold, Basis::SingleRun));
    assert!(found.condition.unwrap().met_by.is_empty());
}

#[test]
fn what_is_not_the_same_work_is_refused() {
    let runs = document(vec![run("x", Workload::default(), 5e8)]);
    let other = compared(&runs, &campaign(1.0, [1.0; 3]), None).unwrap_err();
    assert!(other.to_string().contains("a holds runs and b holds a campaign"), "{other}");
    let direct = Workload { access: Access::Direct, ..Workload::default() };
    let ways = compared(&runs, &document(vec![run("x", direct, 5e8)]), None).unwrap_err();
    assert!(ways.to_string().contains("b with access direct"), "{ways}");
    let named = compared(&runs, &document(vec![run("y", Workload::default(), 5e8)]), None);
    assert!(matches!(named, Err(NotComparable::NothingShared(..))));
    let empty = Document::default();
    assert!(compared(&empty, &empty, None).is_err());
    let predictions = document(Vec::<ioscape_schema::Prediction>::new());
    assert!(matches!(
        compared(&predictions, &predictions, None),
        Err(NotComparable::Unmeasured(..))
    ));
}

/// Guards against a defect: for both, the advice was `ioscape run`, which does not replay traces.
#[test]
fn replays_and_simulations_are_sent_to_the_comparison_of_traces() {
    let replay = document(Outcome::TraceReplay(Box::default()));
    let simulation = document(Outcome::Simulation(Box::default()));
    for (one, what) in [(replay, "a holds a replay of a trace"), (simulation, "a simulation")] {
        let why = compared(&one, &one, None).unwrap_err().to_string();
        assert!(why.contains(what) && why.contains("`ioscape trace compare A B`"), "{why}");
        assert!(!why.contains("`ioscape run`"), "{why}");
    }
}

/// A campaign of single cells with this title and plan, with three runs.
pub(super) fn planned(title: &str, plan: Option<CellPlan>, rate: f64) -> Document {
    let mut document = campaign(rate, [0.99, 1.0, 1.01]);
    if let Some(Outcome::Campaign(campaign)) = &mut document.outcome {
        campaign.title = title.to_owned();
        campaign.rows.iter_mut().for_each(|row| row.cells[0].plan.clone_from(&plan));
    }
    document
}

pub(super) fn plan(workload: VxWorkload, file_bytes: u64) -> CellPlan {
    CellPlan::of_file(VxJob { workload, ..VxJob::default() }, file_bytes)
}

#[test]
fn cells_of_other_work_are_not_compared() {
    let reads = planned("Random reads", Some(plan(VxWorkload::RandRead, 1 << 30)), 2.0);
    let writes = planned("Random writes", Some(plan(VxWorkload::RandWrite, 1 << 30)), 1.0);
    let refused = compared(&reads, &writes, None).unwrap_err().to_string();
    assert!(refused.contains("a and b did not do the same work: rand_write against rand_read"));
    let small = planned("Random reads", Some(plan(VxWorkload::RandRead, 256 << 20)), 1.0);
    let refused = compared(&reads, &small, None).unwrap_err().to_string();
    assert!(refused.contains("files of 256 MiB against 1 GiB"), "{refused}");
    assert!(refused.contains("--max-file-size"), "{refused}");
    let again = planned("Renamed", Some(plan(VxWorkload::RandRead, 1 << 30)), 1.0);
    assert_eq!(compared(&reads, &again, None).unwrap().rows.len(), 4);
}

#[test]
fn campaigns_without_plans_are_compared_as_a_whole() {
    let reads = planned("Random reads", None, 2.0);
    let refused = compared(&reads, &planned("Random writes", None, 1.0), None).unwrap_err();
    assert!(refused.to_string().contains("campaign \"Random writes\" against \"Random reads\""));
    let of = |text: &str, largest: &str| {
        let mut document = planned("Random reads", None, 1.0);
        let identity = &mut document.environment.identity;
        identity.insert("campaign file".to_owned(), text.to_owned());
        identity.insert("largest file".to_owned(), largest.to_owned());
        document
    };
    let refused = compared(&of("1", "1024"), &of("2", "1024"), None).unwrap_err();
    assert!(refused.to_string().contains("not the same text"), "{refused}");
    let (large, mut small) = (of("1", "4096"), of("1", "1024"));
    assert!(compared(&large, &small, None).is_ok(), "no file was as large as either allowed");
    small.warn(Warning::new(WarningKind::SetLimited, "files of up to 4 KiB are limited to 1 KiB"));
    let refused = compared(&large, &small, None).unwrap_err();
    assert!(refused.to_string().contains("largest file 1 KiB against no limit"), "{refused}");
}

#[test]
fn rows_of_the_same_name_that_are_other_work_say_so() {
    let both = |large: u64| {
        let plan = |at: usize| plan(VxWorkload::RandRead, if at == 0 { large } else { 1 << 20 });
        let mut document = planned("Random reads", None, 1.0);
        if let Some(Outcome::Campaign(campaign)) = &mut document.outcome {
            let rows = campaign.rows.iter_mut().enumerate();
            rows.for_each(|(at, row)| row.cells[0].plan = Some(plan(at)));
        }
        document
    };
    let found = compared(&both(1 << 30), &both(256 << 20), None).unwrap();
    assert_eq!((found.rows.len(), found.only_in), (3, [1, 1]));
    let told: Vec<&str> = found.lone.iter().map(|row| row.why.as_str()).collect();
    assert_eq!(
        told,
        [
            "not the same work: files of 256 MiB against 1 GiB",
            "not the same work: files of 1 GiB against 256 MiB"
        ]
    );
}

#[test]
fn cells_have_rows_of_their_times() {
    let mut timed = campaign(1.0, [0.99, 1.0, 1.01]);
    if let Some(Outcome::Campaign(campaign)) = &mut timed.outcome {
        let cell = &mut campaign.rows[0].cells[0];
        cell.operations_per_s = Some(5.0);
        for (at, sample) in cell.samples.iter_mut().enumerate() {
            let times = ResponseTime { p99: 100 + at as u64, max: 200, ..ResponseTime::default() };
            (sample.response_time_ns, sample.fsync_ns) = (Some(times), Some(times));
            sample.operations = Some(5);
            sample.elapsed_s = 1.0 + at as f64;
        }
    }
    let found = compared(&timed, &timed, Some("time > 2")).unwrap();
    let of = |row: &MeasuredRow| (row.metric, row.values[0]);
    let first: Vec<_> = found.rows.iter().take(4).map(of).collect();
    let expected = [(Metric::Rate, 5.0), (Metric::Time, 101.0), (Metric::Time, 101.0)];
    assert_eq!((&first[..3], first[3].0), (&expected[..], Metric::Throughput));
    assert!(found.rows[2].name.as_ref().unwrap().ends_with("p99 fsync"));
}

/// A campaign of one cell, with one run for each of these 99th percentiles, in nanoseconds.
fn late(p99: &[u64]) -> Document {
    let sample = |p99: &u64| CampaignSample {
        throughput_bytes_per_s: 1e6,
        response_time_ns: Some(ResponseTime { p99: *p99, max: u64::MAX, ..Default::default() }),
        ..CampaignSample::default()
    };
    let mut document = campaign(1.0, [1.0; 3]);
    if let Some(Outcome::Campaign(campaign)) = &mut document.outcome {
        campaign.rows.truncate(1);
        campaign.rows[0].cells[0].samples = p99.iter().map(sample).collect();
    }
    document
}

#[test]
fn percentiles_of_a_single_round_or_of_one_bin_tell_no_difference() {
    let verdict = |a: &[u64], b: &[u64]| {
        let found = compared(&late(a), &late(b), Some("time > 1.05")).unwrap();
        let row = found.rows.iter().find(|row| row.metric == Metric::Time).expect("percentiles");
        (row.verdict, found.condition.unwrap().met_by.len())
    };
    assert_eq!(verdict(&[100_000], &[400_000]), (Verdict::CannotBeTold, 0));
    assert_eq!(verdict(&[200_000; 3], &[200_192; 3]), (Verdict::NoDifference, 0));
    let [quick, slow] = [[200_000, 201_000, 199_000], [400_000, 402_000, 398_000]];
    assert_eq!(verdict(&quick, &slow), (Verdict::Slower, 1));
}

#[test]
fn jobs_of_other_options_or_files_are_not_paired() {
    let of = |job: VxJob, size: u64| {
        let total = VxFigures { throughput_bytes_per_s: 5e8, ..VxFigures::default() };
        let file = VxFile { size_bytes: Some(size), ..VxFile::default() };
        let run = VxRun { job, total, files: vec![file], ..VxRun::default() };
        document(Outcome::Vxbench(Vxbench { runs: vec![run], ..Vxbench::default() }))
    };
    let usual = of(VxJob::default(), 1 << 20);
    assert!(compared(&usual, &usual, None).is_ok());
    let refused = compared(&usual, &of(VxJob::default(), 1 << 30), None).unwrap_err();
    assert!(refused.to_string().contains("files of 1 GiB against 1 MiB"), "{refused}");
    let bound = VxJob { iocount: Some(8), ..VxJob::default() };
    assert!(compared(&of(bound.clone(), 1 << 20), &of(bound, 1 << 30), None).is_ok());
    let others = [
        VxJob { dsync: true, ..VxJob::default() },
        VxJob { noreuse: true, ..VxJob::default() },
        VxJob { atomic: true, ..VxJob::default() },
        VxJob { huge_buffers: true, ..VxJob::default() },
        VxJob { queue_depth: Some(8), ..VxJob::default() },
        VxJob { iocount: Some(8), ..VxJob::default() },
        VxJob { rdpct: 10, ..VxJob::default() },
    ];
    for job in others {
        let refused = compared(&usual, &of(job.clone(), 1 << 20), None).unwrap_err();
        assert!(refused.to_string().contains("did not do the same work"), "{job:?}: {refused}");
    }
}

#[test]
fn os_verdicts_are_no_surer_than_the_intervals_shown() {
    let of = |factor: f64, ci95: [f64; 2], slower: f64| {
        let mut document = os(factor);
        if let Some(Outcome::Os(results)) = &mut document.outcome {
            let one = &mut results.benchmarks[0];
            (one.ci95, one.slower) = (Some(ci95), vec![slower; one.processes.len()]);
        }
        document
    };
    let usual = of(1.0, [100.0, 103.0], 1.0);
    let verdict = |other: &Document| compared(&usual, other, None).unwrap().rows[0].verdict;
    assert_eq!(verdict(&of(1.3, [130.0, 134.0], 1.0)), Verdict::Slower);
    assert_eq!(verdict(&of(1.3, [95.0, 134.0], 1.0)), Verdict::CannotBeTold);
    assert_eq!(verdict(&of(1.3, [130.0, 134.0], 1.4)), Verdict::CannotBeTold);
}

#[test]
fn os_results_without_values_say_why_they_have_none() {
    let mut empty = os(1.0);
    if let Some(Outcome::Os(results)) = &mut empty.outcome {
        let one = &mut results.benchmarks[0];
        (one.value, one.not_measured) = (None, Some("others kept the processor busy".to_owned()));
    }
    let refused = compared(&os(1.0), &empty, None).unwrap_err().to_string();
    assert!(refused.contains("b has no getpid, system call: others kept"), "{refused}");
    assert!(!refused.contains("ioscape run"), "{refused}");
}

#[test]
fn os_results_say_why_a_case_is_alone_and_how_the_systems_differ() {
    let of = |seccomp: &str, spectre: &str, value: Option<f64>| {
        let mut document = os(1.0);
        if let Some(Outcome::Os(results)) = &mut document.outcome {
            let text = str::to_owned;
            results.system.settings =
                [("seccomp mode", seccomp)].map(|(k, v)| (text(k), text(v))).into();
            results.system.vulnerabilities = [(text("spectre_v2"), text(spectre))].into();
            let other = OsBenchmark {
                name: text("fork"),
                case: text("exit"),
                value,
                processes: value.into_iter().collect(),
                not_measured: value.is_none().then(|| text("others kept the processor busy")),
                ..OsBenchmark::default()
            };
            results.benchmarks.push(other);
        }
        document
    };
    let found =
        compared(&of("0", "Vulnerable", Some(1.0)), &of("2", "Mitigation: IBRS", None), None);
    let found = found.unwrap();
    assert_eq!(found.lone.len(), 1);
    let lone = &found.lone[0];
    assert_eq!((&*lone.name, &*lone.system), ("fork, exit", "a"));
    assert_eq!(lone.why, "others kept the processor busy");
    assert_eq!(
        found.differences,
        [
            "mitigation of spectre_v2: Mitigation: IBRS on b, Vulnerable on a",
            "seccomp mode: 2 on b, 0 on a"
        ]
    );
}
