//! Direct 4 KiB random reads with 32 requests in flight and registered buffers: ours and fio's in pairs, one right after the other.

use super::{blocks, cost, fio_job, measured};
use ioscape_measure::Session;
use ioscape_schema::{Access, Engine, Workload};
use std::error::Error;
use std::path::Path;

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
    let (engine, access) = (Engine::IoUring, Access::Direct);
    let workload = Workload { engine, access, queue_depth: DEPTH, ..blocks() };
    let m = measured(session, &workload, false)?;
    Ok(Turn { iops: m.iops(), cpu_ns: cost(&m).iter().sum() })
}

fn fio(path: &Path) -> Result<Turn, Box<dyn Error>> {
    let options = ["--direct=1", "--ioengine=io_uring", "--fixedbufs=1", "--registerfiles=1"];
    let (iops, cost) = fio_job(path, &options, DEPTH)?;
    Ok(Turn { iops, cpu_ns: cost.iter().sum() })
}
