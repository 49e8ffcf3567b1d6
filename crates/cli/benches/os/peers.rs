//! The same calls by `perf bench`, lmbench and hackbench, and the Dhrystone of UnixBench, in turns with ours.
//!
//! What they print is the mean of all that happened in a run, or the median of its parts. So that a neighbour on the core weighs no more
//! in theirs than in ours, each runs several times shortly and its faster quarter stands for it, as the faster batches do in ours.

use super::{Failure, Series, median, once};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Most that ours and theirs may differ, as a fraction of theirs.
const NEAR: f64 = 0.07;

/// Least rounds for an interval: of six ratios the smallest and the largest enclose the median 97 times of 100.
const ROUNDS_LEAST: usize = 6;

/// Benchmarks that have an equivalent elsewhere.
const OURS: &str = "dhrystone,getpid,cswitch,bcopy,open-close,stat,socket,messages";

/// Short runs of a peer in each round.
const RUNS: usize = 9;

/// Microseconds of an lmbench interval; it looks for one by itself otherwise, and finds none on a virtual machine for minutes.
const ENOUGH: &str = "20000";

/// Whose program a peer is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Suite {
    Perf,
    Lmbench,
    Hackbench,
    UnixBench,
}

/// A call of another suite, and the case of ours that does the same.
struct Peer {
    case: (&'static str, &'static str),
    suite: Suite,
    words: &'static [&'static str],
}

const fn perf(case: (&'static str, &'static str), words: &'static [&'static str]) -> Peer {
    Peer { case, suite: Suite::Perf, words }
}

const fn lmbench(case: (&'static str, &'static str), words: &'static [&'static str]) -> Peer {
    Peer { case, suite: Suite::Lmbench, words }
}

const fn hackbench(case: (&'static str, &'static str), words: &'static [&'static str]) -> Peer {
    Peer { case, suite: Suite::Hackbench, words }
}

/// A program of UnixBench, which runs for so many seconds and counts.
const fn unixbench(case: (&'static str, &'static str), words: &'static [&'static str]) -> Peer {
    Peer { case, suite: Suite::UnixBench, words }
}

/// What each of hackbench's ten senders sends to each of its ten receivers, as `-l` says below: about as many as in a batch of ours, for in
/// shorter runs a message takes longer.
const LOOPS: f64 = 500.0;

/// All of them. The blocks of memory are a quarter of caches of 48 KB and 1 MB; on other machines those two are not equivalent.
const PEERS: [Peer; 14] = [
    unixbench(("dhrystone", "2.1"), &["dhry2", "1"]),
    perf(("getpid", "getppid"), &["syscall", "basic", "-l", "200000"]),
    perf(("cswitch", "same CPU"), &["sched", "pipe", "-l", "8000"]),
    perf(
        ("bcopy", "level 1 cache"),
        &["mem", "memcpy", "-s", "12KB", "-l", "100000", "-f", "default"],
    ),
    perf(
        ("bcopy", "level 2 cache"),
        &["mem", "memcpy", "-s", "256KB", "-l", "4000", "-f", "default"],
    ),
    lmbench(("getpid", "getppid"), &["lat_syscall", "-N", "1", "null"]),
    lmbench(("open-close", "foo"), &["lat_syscall", "-N", "1", "open", "foo"]),
    lmbench(("stat", "foo"), &["lat_syscall", "-N", "1", "stat", "foo"]),
    lmbench(("cswitch", "same CPU"), &["lat_pipe", "-N", "1"]),
    lmbench(("socket", "unix, same CPU"), &["lat_unix", "-N", "1"]),
    lmbench(("bcopy", "level 1 cache"), &["bw_mem", "-N", "1", "12k", "bcopy"]),
    lmbench(("bcopy", "level 2 cache"), &["bw_mem", "-N", "1", "256k", "bcopy"]),
    hackbench(
        ("messages", "10 to 10 processes"),
        &["hackbench", "-g", "1", "-f", "10", "-s", "100", "-l", "500", "-P"],
    ),
    hackbench(
        ("messages", "10 to 10 threads"),
        &["hackbench", "-g", "1", "-f", "10", "-s", "100", "-l", "500", "-T"],
    ),
];

/// What the rounds gave for a peer.
#[derive(Default)]
struct Rounds {
    /// Ours over theirs, by rounds in which both had a value.
    ratios: Vec<f64>,
    theirs: Vec<f64>,
    /// Rounds in which ours had none, as beside other programs.
    without_ours: usize,
}

/// Runs all in turns and prints the ratio of ours to theirs, by rounds in which both ran one after the other, with its median and the
/// distribution-free 95 % interval; whether no interval lies outside what is near enough.
pub fn compare(rounds: usize, directory: &str) -> Result<bool, Failure> {
    let mut found: [Rounds; PEERS.len()] = std::array::from_fn(|_| Rounds::default());
    std::fs::write(Path::new(directory).join("foo"), "x")?;
    for _ in 0..rounds {
        let (mut ours, mut clean) = (Series::new(), Series::new());
        let cpu = once(&["--only", OURS, "--dir", directory], "", &mut ours, &mut clean)?;
        for (peer, found) in PEERS.iter().zip(&mut found) {
            let key = (peer.case.0.to_owned(), peer.case.1.to_owned());
            let Some(theirs) = faster(peer, &cpu, directory) else { continue };
            found.theirs.push(theirs);
            match ours.get(&key).and_then(|values| values.first()) {
                Some(mine) => found.ratios.push(mine / theirs),
                None => found.without_ours += 1,
            }
        }
    }
    std::fs::remove_file(Path::new(directory).join("foo"))?;
    println!(
        "\n{:14}{:22}{:9}{:>12}{:>12}{:>8}   95 % interval, of so many rounds",
        "benchmark", "case", "peer", "ours", "theirs", "ratio"
    );
    Ok(PEERS.iter().zip(&found).fold(true, |held, (peer, found)| show(peer, found) && held))
}

/// Prints one line; whether its interval does not lie outside of what is near enough. A peer that is not there holds nothing up, and says so.
fn show(peer: &Peer, Rounds { ratios, theirs, without_ours }: &Rounds) -> bool {
    let (name, case) = peer.case;
    let suite = match peer.suite {
        Suite::Perf => "perf",
        Suite::Lmbench => "lmbench",
        Suite::Hackbench => "hackbench",
        Suite::UnixBench => "unixbench",
    };
    if theirs.is_empty() {
        println!("{name:14}{case:22}{suite:9} SKIPPED: {} is not to be had", peer.words[0]);
        return true;
    }
    if ratios.is_empty() {
        println!(
            "{name:14}{case:22}{suite:9} no ratio: ours had no value in any of {without_ours} rounds"
        );
        return true;
    }
    let (ratio, value, rounds) = (median(ratios), median(theirs), ratios.len());
    let (range, word) = match interval(ratios) {
        Some([low, high]) => (format!("{low:.3} .. {high:.3}"), judged([low, high])),
        None => ("none".to_owned(), "cannot be told"),
    };
    println!(
        "{name:14}{case:22}{suite:9}{:>12.4e}{value:>12.4e}{ratio:>8.3}   {range:16} of {rounds}: {word}",
        value * ratio
    );
    word != MISSED
}

const MISSED: &str = "missed";

/// What an interval of the ratio says.
fn judged([low, high]: [f64; 2]) -> &'static str {
    let near = 1.0 - NEAR..=1.0 + NEAR;
    match (near.contains(&low) && near.contains(&high), high < *near.start() || low > *near.end()) {
        (true, _) => "near",
        (_, true) => MISSED,
        _ => "cannot be told",
    }
}

/// Order statistics that enclose the median at least 95 times of 100: the k-th from either end, for the largest k with
/// `P(Binomial(n, 1/2) < k) <= 2.5 %`.
fn interval(ratios: &[f64]) -> Option<[f64; 2]> {
    let mut sorted = ratios.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    if n < ROUNDS_LEAST {
        return None;
    }
    let mut probability = 0.5f64.powi(i32::try_from(n).ok()?);
    let (mut below, mut k) = (0.0, 0);
    while below + probability <= 0.025 {
        below += probability;
        probability *= (n - k) as f64 / (k + 1) as f64;
        k += 1;
    }
    Some([sorted[k - 1], sorted[n - k]])
}

/// The peer's value in our unit, by the faster quarter of its runs.
fn faster(peer: &Peer, cpu: &str, directory: &str) -> Option<f64> {
    let mut all: Vec<f64> = (0..RUNS).filter_map(|_| run(peer, cpu, directory)).collect();
    all.sort_by(f64::total_cmp);
    // Rates are better when they are larger.
    if ["bcopy", "dhrystone"].contains(&peer.case.0) {
        all.reverse();
    }
    all.get(all.len() / 4).copied()
}

/// The value of one run in our unit; `None` where it is not installed or says something else.
fn run(peer: &Peer, cpu: &str, directory: &str) -> Option<f64> {
    let mut pinned = Command::new("taskset");
    pinned.args(["-c", cpu]).current_dir(directory).env("ENOUGH", ENOUGH);
    let mut command = match peer.suite {
        Suite::Perf => {
            pinned.args(["perf", "bench"]).args(peer.words);
            pinned
        }
        Suite::Lmbench => {
            pinned.arg(home()?.join(peer.words[0])).args(&peer.words[1..]);
            pinned
        }
        Suite::UnixBench => {
            let programs = PathBuf::from(std::env::var_os("UNIXBENCH_PGMS")?);
            pinned.arg(programs.join(peer.words[0])).args(&peer.words[1..]);
            pinned
        }
        // Where the scheduler places its tasks, as ours.
        Suite::Hackbench => {
            let mut free = Command::new(peer.words[0]);
            free.args(&peer.words[1..]);
            free
        }
    };
    let output = command.stdin(Stdio::null()).output().ok()?;
    // lmbench answers on standard error.
    let text = [output.stdout, output.stderr].concat();
    value(&String::from_utf8_lossy(&text))
}

/// Where lmbench's programs are.
fn home() -> Option<PathBuf> {
    let named = std::env::var_os("LMBENCH_BIN").map(PathBuf::from);
    let debian =
        || std::fs::read_dir("/usr/lib/lmbench/bin").ok()?.flatten().map(|e| e.path()).next();
    named.or_else(debian)
}

/// The number in what a peer printed, in nanoseconds, or bytes or runs per second.
fn value(text: &str) -> Option<f64> {
    // UnixBench: what was counted in the one second that it was given.
    if let Some(counted) = text.split("COUNT|").nth(1) {
        return counted.split('|').next()?.parse().ok();
    }
    let before = |unit: &str| -> Option<f64> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let at = words.iter().position(|word| *word == unit)?;
        words.get(at.checked_sub(1)?)?.parse().ok()
    };
    // hackbench: seconds until all messages have arrived.
    let messages = || -> Option<f64> {
        let seconds: f64 = text.split("Time:").nth(1)?.split_whitespace().next()?.parse().ok()?;
        Some(seconds * 1e9 / (100.0 * LOOPS))
    };
    if let Some(each_ns) = messages() {
        return Some(each_ns);
    }
    let time = before("usecs/op").or_else(|| before("microseconds"));
    let rate = before("GB/sec").map(|rate| rate * f64::from(1 << 30));
    // bw_mem: millions of bytes of a block, and of bytes in a second.
    let pair = || -> Option<f64> {
        let mut words = text.split_whitespace();
        let (_, rate) = (words.next()?.parse::<f64>().ok()?, words.next()?.parse::<f64>().ok()?);
        Some(rate * 1e6)
    };
    time.map(|us| us * 1e3).or(rate).or_else(pair)
}
