//! Tests of whole documents: which rows are shared, and what is refused.

use super::*;
use ioscape_schema::{
    Access, Basis, CampaignCell, CampaignColumn, CampaignResult, CampaignRow, CampaignSample,
    Document, Evaluation, Measurement, Metric, OsBenchmark, OsResults, OsUnit, Outcome, Point,
    Prediction, Stop, Validation, ValidationPoint, ValidationRun, Verdict, VxFigures, VxRun,
    Vxbench, Workload,
};

fn run(name: &str, workload: Workload, throughput: f64) -> Measurement {
    Measurement {
        name: Some(name.to_owned()),
        throughput_bytes_per_s: throughput,
        throughput_ci95: [0.99 * throughput, 1.01 * throughput],
        ..Measurement::empty(workload, Stop::Confident)
    }
}

fn document(outcome: impl Into<Outcome>) -> Document {
    Document { outcome: Some(outcome.into()), ..Document::default() }
}

fn compared(
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
fn campaign(factor: f64, scatter: [f64; 3]) -> Document {
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
            crate::ratio::median(&scatter) * factor * 1e6 * f64::from(index + 1);
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

fn os(factor: f64) -> Document {
    let processes: Vec<f64> = (0..12).map(|i| factor * (100.0 + f64::from(i % 4))).collect();
    let value = Some(crate::ratio::median(&processes));
    let (name, case, unit) = ("getpid".to_owned(), "system call".to_owned(), OsUnit::Nanos);
    let one = OsBenchmark { name, case, value, unit, processes, ..OsBenchmark::default() };
    document(OsResults { benchmarks: vec![one], ..OsResults::default() })
}

fn validated(measurement: Measurement) -> Document {
    let throughput_bytes_per_s = 2.0 * measurement.throughput_bytes_per_s;
    let prediction = Prediction {
        name: None,
        system: String::new(),
        workload: measurement.workload.clone(),
        throughput_bytes_per_s,
        interval90: [throughput_bytes_per_s; 2],
        iops: 1.0,
        response_time_ns: 1.0,
        region: String::new(),
        extrapolated: false,
        application: None,
    };
    let point = ValidationPoint {
        prediction,
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
    assert!(other.to_string().contains("these results have time"), "{other}");
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
