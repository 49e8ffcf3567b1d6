//! Documents of models' results: predictions, a comparison with prices, and a validation.

use super::{document_of, measurement};
use ioscape_schema::{
    Basis, Cheapest, Choice, Comparison, ConditionResult, Document, ErrorBin, ErrorFigures,
    LoneRow, MeasuredComparison, MeasuredRow, Metric, Parameter, Prediction, SystemComparison,
    Validation, ValidationPoint, ValidationRun, Verdict, Workload,
};

const NAMES: [&str; 3] = ["workstation", "scientific_read", "database"];

fn workloads() -> [Workload; 3] {
    let workload = |unique_bytes: u64, size_mean, read_frac, seq_frac, process_num| Workload {
        unique_bytes: unique_bytes << 20,
        size_mean,
        read_frac,
        seq_frac,
        process_num,
        ..Workload::default()
    };
    [
        workload(1, 4 << 10, 0.8, 0.8, 1),
        workload(250, 100 << 10, 0.8, 0.5, 1),
        workload(500, 4 << 10, 0.2, 0.1, 2),
    ]
}

fn prediction(system: &str, index: usize, throughput: f64, width: f64) -> Prediction {
    let workload = workloads()[index].clone();
    let iops = throughput / workload.size_mean as f64;
    Prediction {
        name: Some(NAMES[index].to_owned()),
        system: system.to_owned(),
        throughput_bytes_per_s: throughput,
        interval90: [throughput / width, throughput * width],
        iops,
        response_time_ns: f64::from(workload.process_num) / iops * 1e9,
        workload,
        region: format!("region {}", index + 1),
        extrapolated: index == 2,
        application: None,
    }
}

/// Three workloads on two systems, one of them extrapolated, and one workload without a name.
pub fn predictions() -> Vec<Prediction> {
    let on = |system: &'static str, speeds: [f64; 3]| {
        (0..3).map(move |index| prediction(system, index, speeds[index], 1.2 + 0.3 * index as f64))
    };
    let mut all: Vec<Prediction> = on("here", [2.1e9, 31e6, 1.4e6]).collect();
    all.extend(on("/mnt/there", [1.9e9, 180e6, 9.7e6]));
    all.push(Prediction { name: None, system: "alone".into(), ..all[1].clone() });
    all
}

/// The document of these predictions.
pub fn predicted() -> Document {
    document_of(predictions())
}

/// Two systems on three workloads with prices; none is fast enough for the last.
pub fn comparison() -> SystemComparison {
    let one = |index: usize, speeds: [f64; 2], interval90: [f64; 2]| {
        Comparison {
            name: Some(NAMES[index].to_owned()),
            workload: workloads()[index].clone(),
            systems: ["/mnt/there".to_owned(), "here".to_owned()],
            throughput_bytes_per_s: speeds,
            ratio: speeds[0] / speeds[1],
            interval90,
            significant: false,
            verdict: None,
            extrapolated: index == 2,
            throughput_per_price: Some([speeds[0] / 120.0, speeds[1] / 80.0]),
        }
        .judged()
    };
    let all = vec![
        one(0, [1.9e9, 2.1e9], [0.7, 1.17]),
        one(1, [180e6, 31e6], [3.1, 10.9]),
        one(2, [9.7e6, 1.4e6], [2.2, 21.8]),
    ];
    let cheapest = |index: usize, choice: Option<Choice>| Cheapest {
        name: Some(NAMES[index].to_owned()),
        workload: workloads()[index].clone(),
        at_least_bytes_per_s: 150e6,
        rivals: Some(if index == 1 { vec!["here".to_owned()] } else { Vec::new() }),
        choice,
    };
    let choice = |system: &str, price, throughput_bytes_per_s, sure| Choice {
        system: system.to_owned(),
        price,
        throughput_bytes_per_s,
        sure,
        extrapolated: false,
    };
    let choices = vec![
        cheapest(0, Some(choice("here", 80.0, 2.1e9, true))),
        cheapest(1, Some(choice("/mnt/there", 120.0, 180e6, false))),
        cheapest(2, None),
    ];
    SystemComparison { comparison: all, cheapest: choices, measured: vec![measured()] }
}

/// A measured comparison: three rows with three verdicts, one with a name to be escaped.
fn measured() -> MeasuredComparison {
    let row = |index: usize, ratio: f64, width: f64, basis, verdict| MeasuredRow {
        name: (index > 0).then(|| format!("<{}>", NAMES[index])),
        workload: (index < 2).then(|| workloads()[index].clone()),
        metric: if index == 2 { Metric::Time } else { Metric::Throughput },
        values: [ratio * 4e6, 4e6],
        rounds: [3, 1],
        samples: None,
        ratio,
        ci95: [ratio / width, ratio * width],
        basis,
        verdict,
    };
    MeasuredComparison {
        kind: "measurements".into(),
        systems: ["/mnt/there".into(), "here".into()],
        environments: Default::default(),
        rows: vec![
            row(0, 1.01, 1.02, Basis::Rounds, Verdict::NoDifference),
            row(1, 0.5, 1.1, Basis::SingleRun, Verdict::Slower),
            row(2, 0.9, 1.4, Basis::Rounds, Verdict::CannotBeTold),
        ],
        only_in: [0, 2],
        lone: vec![
            LoneRow {
                name: "<b>alone</b>".into(),
                system: "here".into(),
                why: "it was not measured there".into(),
            },
            LoneRow { name: "other".into(), system: "here".into(), why: String::new() },
        ],
        differences: vec!["seccomp mode is 2 on /mnt/there and 0 on here".into()],
        margin: 0.05,
        condition: Some(ConditionResult {
            fail_if: "throughput < 0.95".into(),
            met_by: vec![1],
            lost: Vec::new(),
        }),
    }
}

/// The document of this comparison.
pub fn compared() -> Document {
    document_of(comparison())
}

fn point(number: u32) -> ValidationPoint {
    let share = f64::from(number) / 24.0;
    let workload = Workload::default()
        .with(Parameter::UniqueBytes, (2f64.powf(20.0 + 11.0 * share)).round())
        .with(Parameter::ReadFrac, f64::from(number * 7 % 10) / 10.0);
    let measured = 4e9 * (-6.0 * share).exp();
    let predicted = measured * (1.0 + 0.04 * (f64::from(number * 5 % 9) - 4.0));
    ValidationPoint {
        prediction: Prediction {
            name: None,
            system: "/data".into(),
            workload: workload.clone(),
            throughput_bytes_per_s: predicted,
            interval90: [predicted / 1.15, predicted * 1.15],
            iops: predicted / 32768.0,
            response_time_ns: 32768.0 / predicted * 1e9,
            region: "region 1".into(),
            extrapolated: false,
            application: None,
        },
        measurement: measurement(workload, measured),
        repeated_bytes_per_s: Some(measured * 1.03),
        rounds_bytes_per_s: vec![measured, measured * 1.03],
        near_border: (10..14).contains(&number),
        models: [("product".to_owned(), predicted * 1.1), ("single_point".to_owned(), 1e9)].into(),
    }
}

fn figures(scale: f64, interval90_coverage: Option<f64>) -> ErrorFigures {
    ErrorFigures {
        median_error: 0.062 * scale,
        p75_error: 0.098 * scale,
        p90_error: 0.181 * scale,
        enhanced_median_error: Some(0.051 * scale),
        interval90_coverage,
    }
}

/// Twenty-five workloads, predicted and measured twice.
pub fn validation() -> Validation {
    let bins = |ranges: [[f64; 2]; 3]| -> Vec<ErrorBin> {
        let bin = |(index, range): (usize, [f64; 2])| ErrorBin {
            range,
            workloads: 8,
            median_error: [0.04, 0.11, 0.05][index],
        };
        ranges.into_iter().enumerate().map(bin).collect()
    };
    let fractions = [[0.0, 0.3], [0.3, 0.6], [0.6, 1.0]];
    let mib = 1024.0 * 1024.0;
    Validation {
        target: "/data".to_owned(),
        workloads: 25,
        errors: figures(1.0, Some(0.92)),
        repeatability_error: Some(0.03),
        error_over_repeatability: Some(1.4),
        models: [
            ("single_point".to_owned(), figures(12.0, None)),
            ("product".to_owned(), figures(2.0, Some(0.88))),
            ("default".to_owned(), figures(1.0, Some(0.92))),
        ]
        .into(),
        by_parameter: [
            (
                Parameter::UniqueBytes,
                bins([[mib, 8.0 * mib], [8.0 * mib, 64.0 * mib], [64.0 * mib, 2048.0 * mib]]),
            ),
            (Parameter::SizeMean, bins([[4096.0, 16384.0], [16384.0, 65536.0], [65536.0, mib]])),
            (Parameter::ReadFrac, bins(fractions)),
            (Parameter::SeqFrac, bins(fractions)),
            (Parameter::ProcessNum, bins([[1.0, 2.0], [2.0, 5.0], [5.0, 16.0]])),
        ]
        .into(),
        points: (0..25).map(point).collect(),
    }
}

/// The document of this validation.
pub fn validated() -> Document {
    document_of(ValidationRun { validation: Some(validation()), ..ValidationRun::default() })
}
