//! One row type: a workload that is measured, simulated and replayed gives three traces, and the
//! same code analyzes all three.

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin;
use ioscape_schema::Document;
use ioscape_schema::trace_summary::{Load, TraceSummary};
use std::path::Path;

fn ioscape(folder: &Path, words: &str) -> Document {
    let mut command = Command::new(cargo_bin("ioscape"));
    let run = command.current_dir(folder).args(words.split(' ')).arg("--json").assert().success();
    serde_json::from_slice(&run.get_output().stdout).expect("a document")
}

/// The analysis of a trace.
fn analyzed(folder: &Path, trace: &str) -> TraceSummary {
    let document = ioscape(folder, &format!("trace analyze {trace}"));
    document.trace_summary().expect("a summary").clone()
}

/// What no device can change: requests, bytes and sizes of reads and writes.
fn asked(summary: &TraceSummary) -> String {
    let loads: Vec<Load> = summary.partitions.iter().map(|p| p.load).collect();
    format!(
        "{} requests: {loads:?}; {:?}; {:?}",
        summary.ios, summary.types, summary.transfer_sizes
    )
}

#[test]
fn a_workload_measured_simulated_and_replayed_is_analysed_by_the_same_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    // Whole sectors, a set that fits on the drive, and think time that keeps the requests few.
    let workload = "--unique-bytes 4M --size-mean 8k --read-frac 0.6 --seq-frac 0.3 --processes 3 --think-time 2ms";
    let words = format!("run . {workload} --seconds 300ms --rows measured.parquet");
    let document = ioscape(here, &words);
    let measurement = &document.measurements().expect("measurements")[0];
    let measured = analyzed(here, "measured.parquet");

    // The rows agree with the measurement's counts.
    assert_eq!(measured.ios, measurement.ios);
    let load = measured.partitions[0].load;
    assert_eq!(load.moved(), measurement.bytes);
    assert_eq!((measured.partitions.len(), measured.processes.len()), (1, 3));
    assert_eq!(measured.info.format, "measurement");
    assert!(measured.last_ns as f64 <= 1.5e9 * measurement.elapsed_s, "{}", measured.last_ns);
    let mean = measured.response_times.all.elapsed_ns.mean;
    assert!((mean / measurement.response_time_ns.mean - 1.0).abs() < 1e-6, "{mean}");

    ioscape(here, "simulate measured.parquet --drive hp-97560 --rows simulated.parquet");
    ioscape(here, "trace replay measured.parquet . --buffered --rows replayed.parquet");
    let simulated = analyzed(here, "simulated.parquet");
    let replayed = analyzed(here, "replayed.parquet");
    assert_eq!(asked(&simulated), asked(&measured));
    assert_eq!(asked(&replayed), asked(&measured));
    assert_eq!(simulated.inter_arrival_ns, measured.inter_arrival_ns, "they arrive as recorded");
    assert_eq!(simulated.distances, measured.distances);
}
