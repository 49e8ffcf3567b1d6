//! A realistic document for tests and for viewing: the papers' Sprite system, a thousand times
//! faster.
#![allow(dead_code, unused_imports)] // Every test file that includes this module uses a part of it.

mod application;
mod clients;
mod micro;
mod models;
mod simulated;

pub use application::characterized;
pub use clients::{evaluated_by_clients, evaluation_by_clients};
pub use micro::{micro_benchmarks, os_results};
pub use models::{compared, comparison, predicted, predictions, validated, validation};
pub use simulated::{simulated, simulated_flash, simulation};

use ioscape_schema::{
    Access, AllParameters, Border, BorderOperation, Bounded, Document, Drift, Environment,
    Evaluation, Findings, FocalRange, LevelCount, Measurement, Outcome, Parameter, Point, Region,
    RegionCurves, RegionFinding, SCHEMA, SlopePoint, Slower, Stop, Tool, ValidationRun, Warning,
    WarningKind, Workload, WritePolicy,
};

const MIB: f64 = 1024.0 * 1024.0;

/// A name that must never reach a terminal or a page unescaped.
pub const HOSTILE: &str = "/data/<script>alert(1)</script>\u{1b}[31m\"'&";

/// Noise from -1 to 1 that depends on `value` alone, so that it is the same on every run.
fn wobble(value: f64) -> f64 {
    f64::from((value.to_bits() >> 33) as u32 % 7) / 3.0 - 1.0
}

/// One measurement with `throughput` bytes per second; its other figures follow from it.
pub fn measurement(workload: Workload, throughput: f64) -> Measurement {
    let elapsed_s = 1.6;
    let ios = (throughput * elapsed_s / workload.size_mean as f64).max(1.0) as u64;
    let mean = elapsed_s * 1e9 * f64::from(workload.process_num) / ios as f64;
    let times = |scale: f64| {
        serde_json::json!({
            "mean": mean * scale, "p50": (mean * scale * 0.7) as u64,
            "p90": (mean * scale * 1.6) as u64, "p99": (mean * scale * 5.0) as u64,
            "p999": (mean * scale * 18.0) as u64, "max": (mean * scale * 61.0) as u64,
        })
    };
    let bytes = (throughput * elapsed_s) as u64;
    let half = |share: f64, scale: f64| {
        (share > 0.0).then(|| {
            serde_json::json!({
                "ios": (ios as f64 * share) as u64, "bytes": (bytes as f64 * share) as u64,
                "throughput_bytes_per_s": throughput * share, "response_time_ns": times(scale),
            })
        })
    };
    let mut value = serde_json::json!({
        "workload": workload, "ios": ios, "bytes": bytes, "elapsed_s": elapsed_s,
        "throughput_bytes_per_s": throughput,
        "throughput_ci95": [throughput * 0.97, throughput * 1.03],
        "response_time_ns": times(1.0), "cpu_user_s": 0.1, "cpu_system_s": 0.6,
        "cpu_ns_per_io": 3200.0, "io_time_frac": 0.93, "io_limited": true, "stop": "confident",
        "warm_up_s": 0.4, "cost_s": 2.9, "resident_frac": 1.0, "storage_read_bytes": bytes / 9,
    });
    for (name, share) in [("read", workload.read_frac), ("write", 1.0 - workload.read_frac)] {
        if let Some(half) = half(share, 1.0) {
            value[name] = half;
        }
    }
    serde_json::from_value(value).expect("the sample follows the schema")
}

fn point(base: &Workload, parameter: Parameter, value: f64, throughput: f64) -> Point {
    let spread = 0.02 + 0.015 * wobble(value * 3.0).abs();
    let rounds = vec![throughput, throughput * (1.0 - spread), throughput * (1.0 + spread)];
    let measurement = measurement(base.clone().with(parameter, value), throughput);
    Point { value, measurement, rounds, spread: Some(spread) }
}

/// The throughput of a set of `mib` MiB: fast up to the first border, slow beyond the second.
fn level(mib: f64, first: f64, second: f64, speeds: [f64; 3]) -> f64 {
    let [fast, middle, slow] = speeds;
    let speed = if mib <= first {
        fast
    } else if mib <= second {
        middle * (second / mib).powf(0.35)
    } else {
        slow * (1.0 + second / mib * 0.15)
    };
    speed * (1.0 + 0.03 * wobble(mib))
}

fn unique_bytes_curve(read_frac: f64, borders: [f64; 2], speeds: [f64; 3]) -> Vec<Point> {
    let base = Workload { read_frac, ..Workload::default() };
    let sizes = [
        0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 20.0, 24.0, 28.0, 32.0, 48.0, 64.0,
        96.0, 118.0, 128.0, 140.0, 192.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0,
    ];
    let [first, second] = borders;
    let at = |mib: f64| level(mib, first, second, speeds) * 1e6;
    sizes.map(|mib| point(&base, Parameter::UniqueBytes, mib * MIB, at(mib))).into()
}

fn curve(
    focal: &Workload,
    parameter: Parameter,
    values: &[f64],
    at: impl Fn(f64) -> f64,
) -> Vec<Point> {
    let noisy = |value: f64| at(value) * (1.0 + 0.015 * wobble(value));
    values.iter().map(|&value| point(focal, parameter, value, noisy(value))).collect()
}

/// A region whose curves have the shapes in the papers.
///
/// `read_to_write` is the speed of reads over that of writes, `gain` that of sequential access.
fn region(number: u32, range: [f64; 2], speed: f64, read_to_write: f64, gain: f64) -> Region {
    let unique_bytes = (range[0] * range[1]).sqrt() * MIB;
    let focal = Workload::default().with(Parameter::UniqueBytes, unique_bytes);
    let half = 0.5 + 0.5 / read_to_write;
    let size = |bytes: f64| speed * 1.9 * bytes / (bytes + 29e3);
    let read = |frac: f64| speed * half / (frac / read_to_write + (1.0 - frac)).max(0.05);
    let sequential = |frac: f64| speed * (1.0 + (gain - 1.0) * (frac - 0.5));
    let process = |number: f64| speed * (1.0 + 0.4 * (1.0 - 1.0 / number));
    let sizes: Vec<f64> = (9..=22).map(|power| f64::from(1u32 << power)).collect();
    let fractions = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0];
    let curves = RegionCurves {
        size_mean: curve(&focal, Parameter::SizeMean, &sizes, size),
        read_frac: curve(&focal, Parameter::ReadFrac, &fractions, read),
        seq_frac: curve(&focal, Parameter::SeqFrac, &fractions, sequential),
        process_num: curve(&focal, Parameter::ProcessNum, &[1.0, 2.0, 4.0, 8.0, 16.0], process),
        ..RegionCurves::default()
    };
    let unique_bytes = [range[0] * MIB, range[1] * MIB];
    Region { name: format!("region {number}"), unique_bytes, focal, curves }
}

fn slopes(points: &[Point]) -> Vec<SlopePoint> {
    let slope = |pair: &[Point]| {
        let (a, b) = (&pair[0], &pair[1]);
        let unique_bytes = (a.value * b.value).sqrt();
        let slope = (b.throughput() / a.throughput()).ln() / (b.value / a.value).ln();
        SlopePoint { unique_bytes, slope }
    };
    points.windows(2).map(slope).collect()
}

fn border(operation: BorderOperation, mib: f64, error: f64, ratio: f64) -> Border {
    let bytes = mib * MIB;
    let (low, high) = (bytes * (1.0 - error), bytes * (1.0 + error));
    let times = |value: f64, low: f64, high: f64| Bounded { value, low, high };
    let beyond = |times| Some(Slower { times, unique_bytes: 4.0 * bytes });
    let slower = match operation {
        BorderOperation::Read => beyond(times(480.0, 410.0, 562.0)),
        BorderOperation::Write => beyond(times(2.0, 0.8, 5.0)),
        BorderOperation::Mixed => None,
    };
    Border { operation, unique_bytes: bytes, low, high, ratio, in_memory: false, slower }
}

fn findings(regions: &[Region]) -> Findings {
    let each = |values: [f64; 3]| {
        let one = |(region, value): (&Region, f64)| RegionFinding {
            region: region.name.clone(),
            value,
            low: value * 0.9,
            high: value * 1.1,
        };
        regions.iter().zip(values).map(one).collect()
    };
    let sentences = [
        "The file cache holds 123 MiB of data that is read (118 to 128 MiB): a working set above that goes to the \
         disk for most requests, 480 times slower.",
        "It holds 26 MiB of data that is written (24 to 28 MiB), so between 26 and 123 MiB reads are cached and \
         writes are not.",
        "Writes that fit are cancelled in the cache: pure writes of small sets run at 0.94 of the speed of reads.",
        "Requests of at least 128 KiB get 75 % of the best throughput on the disk.",
        "Behind the cache sequential requests are 3.1 times as fast as random ones; inside it makes no difference.",
    ];
    Findings {
        read_cache_bytes: Some(Bounded { value: 123.0 * MIB, low: 118.0 * MIB, high: 128.0 * MIB }),
        write_cache_bytes: Some(Bounded { value: 26.0 * MIB, low: 24.0 * MIB, high: 28.0 * MIB }),
        write_policy: Some(WritePolicy::WriteCancelling),
        flush_slowdown: Some(Bounded { value: 1.21, low: 1.1, high: 1.3 }),
        size_for_75_percent_bytes: each([65536.0, 131_072.0, 131_072.0]),
        sequential_gain: each([1.02, 1.4, 3.1]),
        concurrency_gain: each([1.38, 1.31, 1.37]),
        write_to_read_ratio: each([0.94, 0.0125, 1.25]),
        sentences: sentences.map(String::from).into(),
        ..Findings::default()
    }
}

fn undoubted() -> Evaluation {
    let mixed = unique_bytes_curve(0.5, [24.0, 118.0], [6900.0, 42.0, 13.6]);
    let regions = vec![
        region(1, [0.0625, 24.0], 6.9e9, 1.06, 1.02),
        region(2, [28.0, 118.0], 52e6, 80.0, 1.35),
        region(3, [140.0, 4096.0], 14e6, 0.8, 2.1),
    ];
    let reference = [6.91e9, 6.87e9, 6.94e9, 6.71e9, 6.9e9, 6.02e9, 6.88e9, 6.9e9, 6.93e9];
    Evaluation {
        target: HOSTILE.into(),
        unique_bytes_range: [65536.0, 4096.0 * MIB],
        unique_bytes_slope: slopes(&mixed),
        unique_bytes_curve: mixed,
        unique_bytes_read_curve: unique_bytes_curve(1.0, [118.0, 118.0], [7300.0, 90.0, 12.1]),
        unique_bytes_write_curve: unique_bytes_curve(0.0, [24.0, 24.0], [6600.0, 26.0, 15.2]),
        borders: vec![
            border(BorderOperation::Mixed, 26.0, 0.07, 140.0),
            border(BorderOperation::Write, 26.0, 0.07, 254.0),
            border(BorderOperation::Mixed, 129.0, 0.08, 2.9),
            border(BorderOperation::Read, 123.0, 0.04, 480.0),
        ],
        findings: findings(&regions),
        regions,
        drift: Drift {
            throughputs: reference.into(),
            median: 6.9e9,
            largest: 0.128,
            remeasured: 3,
            unresolved: 1,
            ..Drift::default()
        },
        points_measured: 174,
        elapsed_s: 592.0,
        shortened: [("process_num".to_owned(), "8 instead of 16 processes".to_owned())].into(),
        ..Evaluation::default()
    }
}

fn document() -> Document {
    Document {
        schema: SCHEMA.into(),
        tool: Tool { version: "0.1.0".into(), ..Tool::default() },
        command: ["ioscape", "evaluate", HOSTILE, "--budget", "10m"].map(String::from).into(),
        seed: 1994,
        started_at: "2026-11-05T14:03:27Z".into(),
        environment: Environment {
            kernel: Some("Linux 6.18.5".into()),
            cpu_model: Some("AMD EPYC 9354 32-Core Processor".into()),
            cpu_count: Some(2),
            memory_bytes: Some(8 << 30),
            memory_limit_bytes: Some(256 << 20),
            file_system: Some("ext4".into()),
            mount_options: Some("rw,relatime,discard,errors=remount-ro".into()),
            file_system_bytes: Some(252 << 30),
            free_bytes: Some(79 << 30),
            device: Some("vda".into()),
            scheduler: Some("none".into()),
            rotational: Some(true),
            read_ahead_bytes: Some(131_072),
            vm_dirty: [("dirty_ratio".to_owned(), 20), ("dirty_background_ratio".to_owned(), 10)]
                .into(),
            virtualization: Some("kvm".into()),
            harness_overhead_ns_per_io: 61.0,
            load_before: Some(0.04),
            ..Environment::default()
        },
        warnings: vec![
            Warning::new(
                WarningKind::MemoryLimited,
                "The workers ran under a limit of 256 MiB: borders above it are those of the limit, not of the machine.",
            ),
            Warning::new(
                WarningKind::Drift,
                "The reference workload was 12.8 % slower once; three points were measured again and one stays in doubt.",
            )
            .at("unique_bytes = 96 MiB"),
        ],
        ..Document::default()
    }
}

/// A number of regions with its probability, without borders.
pub fn level_count(regions: u32, probability: f64) -> LevelCount {
    LevelCount { regions, probability, read_borders: Vec::new(), write_borders: Vec::new() }
}

/// The document of an outcome.
fn document_of(outcome: impl Into<Outcome>) -> Document {
    Document { outcome: Some(outcome.into()), ..document() }
}

/// A complete evaluation: three regions, all figures, doubts, hostile names.
pub fn evaluation() -> Evaluation {
    let mut evaluation = undoubted();
    let doubtful = &mut evaluation.unique_bytes_curve[15].measurement;
    doubtful.disturbed = true;
    doubtful.stop = Stop::TimeCap;
    evaluation
}

/// The document of this evaluation.
pub fn evaluated() -> Document {
    document_of(evaluation())
}

/// The document of this evaluation, with the first attempt of section 7.
pub fn with_all_parameters() -> Document {
    let mut evaluation = evaluation();
    let first = evaluation.regions[0].clone();
    let range = |parameter, focal, from, to, curve: &[Point]| FocalRange {
        parameter,
        focal,
        performs_well: [from, to],
        curve: curve.to_vec(),
    };
    let curves = &first.curves;
    let ranges = vec![
        range(
            Parameter::UniqueBytes,
            24.0 * MIB,
            65536.0,
            24.0 * MIB,
            &evaluation.unique_bytes_curve,
        ),
        range(Parameter::SizeMean, 65536.0, 65536.0, 4194304.0, &curves.size_mean),
        range(Parameter::ReadFrac, 0.0, 0.0, 1.0, &curves.read_frac),
        range(Parameter::SeqFrac, 0.0, 0.0, 1.0, &curves.seq_frac),
        range(Parameter::ProcessNum, 1.0, 1.0, 16.0, &curves.process_num),
    ];
    evaluation.all_parameters = Some(AllParameters { focal: first.focal, settled: true, ranges });
    document_of(evaluation)
}

/// The same target also with direct access, for which findings and omissions differ.
pub fn with_accesses() -> Document {
    let mut direct = evaluation();
    direct.regions.iter_mut().for_each(|region| region.focal.access = Access::Direct);
    direct.findings.sentences = vec!["Past the file cache <nothing> is kept.".to_owned()];
    direct.shortened = [("region 3".to_owned(), "the budget was over".to_owned())].into();
    document_of(Evaluation { other_accesses: vec![direct], ..evaluation() })
}

/// Single runs: three jobs, one of them not confident.
pub fn runs() -> Vec<Measurement> {
    let job = |unique_bytes: u64, size_mean, read_frac, throughput| {
        let workload = Workload { unique_bytes, size_mean, read_frac, ..Workload::default() };
        measurement(workload, throughput)
    };
    let mut jobs = vec![
        job(64 << 20, 32 << 10, 0.5, 5.92e9),
        job(2 << 30, 4096, 1.0, 13.4e6),
        job(2 << 30, 1 << 20, 0.0, 182e6),
    ];
    jobs[1].stop = Stop::TimeCap;
    jobs[1].throughput_ci95 = [9.1e6, 17.7e6];
    jobs[1].resident_frac = Some(0.118);
    jobs[1].warnings.push(Warning::new(
        WarningKind::NotConfident,
        "The confidence interval is 32 % wide; give --seconds more time.",
    ));
    jobs
}

/// The document of these runs.
pub fn measured() -> Document {
    document_of(runs())
}

/// A document without results, as after an early interruption.
pub fn interrupted() -> Document {
    let evaluation = Evaluation { target: "/data".into(), ..Evaluation::default() };
    Document { interrupted: true, ..document_of(evaluation) }
}

/// Every kind of outcome with every free text replaced by the hostile one.
pub fn hostile() -> Vec<Document> {
    let unfinished = ValidationRun { measurements: runs(), ..ValidationRun::default() };
    let documents = [
        with_all_parameters(),
        evaluated_by_clients(),
        measured(),
        predicted(),
        compared(),
        validated(),
        document_of(unfinished),
        characterized(),
        micro_benchmarks(),
        simulated(),
        simulated_flash(),
    ];
    documents.iter().map(tainted).collect()
}

fn tainted(document: &Document) -> Document {
    let mut value = serde_json::to_value(document).expect("the sample is serializable");
    taint(&mut value, "");
    serde_json::from_value(value).expect("words of enumerations were kept")
}

fn taint(value: &mut serde_json::Value, key: &str) {
    const WORDS: [&str; 15] = [
        "kind",
        "operation",
        "write_policy",
        "engine",
        "access",
        "workers",
        "size_distribution",
        "stop",
        "parameter",
        "rule",
        "schema",
        "unit",
        "metric",
        "basis",
        "verdict",
    ];
    match value {
        // The place of a micro-benchmark is a fixed word, that of a warning is free text.
        serde_json::Value::String(text) if text == "local" || text == "remote" => {}
        serde_json::Value::String(text) if !WORDS.contains(&key) => HOSTILE.clone_into(text),
        serde_json::Value::Array(values) => values.iter_mut().for_each(|value| taint(value, key)),
        serde_json::Value::Object(fields) => {
            fields.iter_mut().for_each(|(key, value)| taint(value, key));
        }
        _ => {}
    }
}
