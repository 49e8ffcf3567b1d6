//! Direct 4 KiB random reads with 32 requests in flight and registered buffers: ours and fio's in pairs, one right after the other.

use super::{SECONDS, SET_BYTES};
use ioscape_measure::{RunOptions, Session};
use ioscape_schema::{Access, Engine, SizeDistribution, Workload};
use ioscape_workload::Stream;
use std::error::Error;
use std::path::Path;
use std::process::Command;

const PAIRS: usize = 15;
const DEPTH: u32 = 32;

/// Requests per second, and processor time per request in nanoseconds.
#[derive(Clone, Copy)]
struct Turn {
    iops: f64,
    cpu_ns: f64,
}

/// Measures the pairs and prints the medians, and the ratio within pairs with its interval.
pub fn compare(session: &mut Session, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut pairs = Vec::new();
    for pair in 0..PAIRS {
        // Who begins changes from pair to pair.
        pairs.push(if pair % 2 == 0 {
            let first = ours(session)?;
            (first, fio(path)?)
        } else {
            let first = fio(path)?;
            (ours(session)?, first)
        });
    }
    println!(
        "\ndirect 4 KiB random reads, io_uring depth {DEPTH}, registered buffers: {PAIRS} pairs"
    );
    for (name, turn) in [("ours", ours_of as fn(&(Turn, Turn)) -> Turn), ("fio", fio_of)] {
        let median = |figure: fn(Turn) -> f64| sorted(&pairs, |pair| figure(turn(pair)))[PAIRS / 2];
        let (iops, cpu) = (median(|t| t.iops), median(|t| t.cpu_ns));
        println!("{name:8}{iops:>12.0} requests/s{cpu:>8.0} ns of processor time per request");
    }
    for (name, figure) in [("requests/s", iops as fn(Turn) -> f64), ("processor time", cpu)] {
        let ratios = sorted(&pairs, |(ours, fio)| figure(*ours) / figure(*fio));
        // Of 15 values the 4th and the 12th bound the median with 96 % confidence, whatever the distribution.
        let [low, high] = [ratios[3], ratios[PAIRS - 4]];
        println!("{name}, ours over fio's: {:.2} ({low:.2} to {high:.2})", ratios[PAIRS / 2]);
    }
    Ok(())
}

fn ours_of(pair: &(Turn, Turn)) -> Turn {
    pair.0
}

fn fio_of(pair: &(Turn, Turn)) -> Turn {
    pair.1
}

fn iops(turn: Turn) -> f64 {
    turn.iops
}

fn cpu(turn: Turn) -> f64 {
    turn.cpu_ns
}

fn sorted(pairs: &[(Turn, Turn)], figure: impl Fn(&(Turn, Turn)) -> f64) -> Vec<f64> {
    let mut all: Vec<f64> = pairs.iter().map(figure).collect();
    all.sort_by(f64::total_cmp);
    all
}

fn ours(session: &mut Session) -> Result<Turn, Box<dyn Error>> {
    let workload = Workload {
        unique_bytes: SET_BYTES,
        size_mean: 4096,
        size_distribution: SizeDistribution::Fixed,
        read_frac: 1.0,
        seq_frac: 0.0,
        engine: Engine::IoUring,
        access: Access::Direct,
        queue_depth: DEPTH,
        ..Workload::default()
    };
    let options = RunOptions { min_s: SECONDS, cap_s: SECONDS, ..RunOptions::default() };
    let m = session.run(&workload, 4096, &options, |process| {
        let mut stream = Stream::new(&workload, 1, process);
        move || stream.request()
    })?;
    Ok(Turn { iops: m.iops(), cpu_ns: (m.cpu_user_s + m.cpu_system_s) * 1e9 / m.ios as f64 })
}

fn fio(path: &Path) -> Result<Turn, Box<dyn Error>> {
    let output = Command::new("fio")
        .args(["--name=a", "--bs=4k", "--rw=randread", "--time_based", "--direct=1"])
        .args(["--ioengine=io_uring", "--fixedbufs=1", "--registerfiles=1"])
        .args(["--randrepeat=0", "--norandommap", "--output-format=json"])
        .arg(format!("--filename={}", path.display()))
        .arg(format!("--size={SET_BYTES}"))
        .arg(format!("--runtime={SECONDS}"))
        .arg(format!("--iodepth={DEPTH}"))
        .output()?;
    let json: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let job = &json["jobs"][0];
    let number = |v: &serde_json::Value| v.as_f64().ok_or("fio left out a figure");
    let ios = number(&job["read"]["total_ios"])?;
    let runtime_ns = number(&job["read"]["runtime"])? * 1e6;
    let percent = number(&job["usr_cpu"])? + number(&job["sys_cpu"])?;
    Ok(Turn { iops: ios / runtime_ns * 1e9, cpu_ns: percent / 100.0 * runtime_ns / ios })
}
