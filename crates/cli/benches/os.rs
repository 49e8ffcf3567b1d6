//! How steady the micro-benchmarks are from run to run, and how they agree with `perf bench` on equivalent calls, in turns.
//!
//! `cargo bench -p ioscape --bench os [-- RUNS [DIR]]`: ten quick runs in the current directory unless told otherwise, one of
//! perf after each if it is on the path. lmbench is not used: it is not part of the usual distributions' free sections.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::process::{Command, Stdio};

/// A call of perf, and the case of ours that does the same.
struct Peer {
    /// Benchmark and case.
    case: (&'static str, &'static str),
    /// Arguments after `perf bench`.
    words: &'static [&'static str],
}

const PEERS: [Peer; 3] = [
    Peer { case: ("getpid", "getppid"), words: &["syscall", "basic", "-l", "1000000"] },
    Peer { case: ("cswitch", "same CPU"), words: &["sched", "pipe", "-l", "20000"] },
    Peer {
        case: ("bcopy", "level 1 cache"),
        words: &["mem", "memcpy", "-s", "12KB", "-l", "200000", "-f", "default"],
    },
];

type Series = BTreeMap<(String, String), Vec<f64>>;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).filter(|w| !w.starts_with("--")).collect();
    let runs = words.first().and_then(|w| w.parse().ok()).unwrap_or(10);
    let directory = words.get(1).map_or(".", String::as_str);
    let (mut ours, mut theirs) = (Series::new(), Series::new());
    for _ in 0..runs {
        let cpu = ours_once(directory, &mut ours)?;
        for peer in &PEERS {
            if let Some(value) = perf(peer, &cpu) {
                let (name, case) = peer.case;
                theirs.entry((name.to_owned(), case.to_owned())).or_default().push(value);
            }
        }
    }
    println!("{:16}{:28}{:>14}{:>8}", "benchmark", "case", "median", "CV, %");
    for ((name, case), values) in &ours {
        println!("{name:16}{case:28}{:>14.4e}{:>8.1}", median(values), variation(values) * 100.0);
    }
    println!("\n{:16}{:28}{:>14}{:>14}{:>8}", "against perf", "", "ours", "perf", "ratio");
    for ((name, case), values) in &theirs {
        let (mine, perf) = (median(&ours[&(name.clone(), case.clone())]), median(values));
        println!("{name:16}{case:28}{mine:>14.4e}{perf:>14.4e}{:>8.3}", mine / perf);
    }
    Ok(())
}

/// One quick run; gives the processor that pinned cases ran on.
fn ours_once(directory: &str, all: &mut Series) -> Result<String, Box<dyn Error>> {
    let output = Command::new(env!("CARGO_BIN_EXE_ioscape"))
        .args(["os", "--quick", "--json", "--dir", directory])
        .stderr(Stdio::inherit())
        .output()?;
    let document: Value = serde_json::from_slice(&output.stdout)?;
    for one in document["os"]["benchmarks"].as_array().ok_or("no benchmarks")? {
        if let (Some(name), Some(case), Some(value)) =
            (one["name"].as_str(), one["case"].as_str(), one["value"].as_f64())
        {
            all.entry((name.to_owned(), case.to_owned())).or_default().push(value);
        }
    }
    Ok(document["os"]["system"]["pinned_cpu"].to_string())
}

/// perf's value for the same call in our unit; `None` without perf.
fn perf(peer: &Peer, cpu: &str) -> Option<f64> {
    let output = Command::new("taskset")
        .args(["-c", cpu, "perf", "bench"])
        .args(peer.words)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = |unit: &str| -> Option<f64> {
        let line = text.lines().find(|line| line.contains(unit))?;
        line.split_whitespace().next()?.parse().ok()
    };
    number("usecs/op")
        .map(|us| us * 1e3)
        .or_else(|| number("GB/sec").map(|gb| gb * f64::from(1 << 30)))
        .or_else(|| number("MB/sec").map(|mb| mb * f64::from(1 << 20)))
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Standard deviation over mean.
fn variation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (squares / (n - 1.0).max(1.0)).sqrt() / mean
}
