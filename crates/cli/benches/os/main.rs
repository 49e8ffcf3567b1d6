//! How steady the micro-benchmarks are from run to run on a loaded machine, and how they agree with `perf bench`, lmbench, hackbench and
//! UnixBench on equivalent calls, in turns.
//!
//! `cargo bench -p ioscape --bench os -- [steady RUNS | peers ROUNDS] [DIR]`; both in the current directory unless told otherwise.
//! `steady` makes its own load: for each processor one Modified Andrew Benchmark after the other, on a file system in memory where
//! there is one. `peers` wants a machine that does nothing else, for the others give the mean of one run with all that disturbs it.
//! The result of every run is kept in `target/tmp/os`, so that what varied can be looked at.
//! lmbench is looked for in `LMBENCH_BIN` and where Debian puts it (section non-free), hackbench in the package `rt-tests`, and
//! `dhry2` of UnixBench in `UNIXBENCH_PGMS`. The exit code is 1 where an aim is missed.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod peers;

use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;

type Failure = Box<dyn Error>;

/// Values of each benchmark and case, one per run.
type Series = BTreeMap<(String, String), Vec<f64>>;

/// Where file systems in memory usually are.
const MEMORY: &str = "/dev/shm";

fn main() -> Result<ExitCode, Failure> {
    let words: Vec<String> = std::env::args().skip(1).filter(|w| !w.starts_with("--")).collect();
    let count = words.iter().find_map(|word| word.parse().ok());
    let named = |name: &str| words.iter().any(|word| word == name);
    let directory = words.iter().find(|w| Path::new(w).is_dir()).map_or(".", String::as_str);
    let mut held = true;
    if named("steady") || !named("peers") {
        held &= steady(count.unwrap_or(10), directory)?;
    }
    if named("peers") || !named("steady") {
        held &= peers::compare(count.unwrap_or(9), directory)?;
    }
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs that compete with what is measured; they end when this goes.
struct Load {
    over: Arc<AtomicBool>,
    loops: Vec<JoinHandle<()>>,
}

impl Load {
    fn start() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let work = |over: Arc<AtomicBool>| {
            while !over.load(Ordering::Relaxed) {
                // A load that fails is seen in the clean share of batches, which is printed.
                let _ = Command::new(env!("CARGO_BIN_EXE_ioscape"))
                    .args(["os", "--quick", "--only", "mab", "--dir"])
                    .arg(memory().unwrap_or_else(std::env::temp_dir))
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .status();
            }
        };
        let one = |_| {
            let over = Arc::clone(&over);
            std::thread::spawn(move || work(over))
        };
        Self { loops: (0..cpus).map(one).collect(), over }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for one in self.loops.drain(..) {
            // A loop that panicked has ended too.
            let _ = one.join();
        }
    }
}

/// A directory in memory.
fn memory() -> Option<PathBuf> {
    Some(PathBuf::from(MEMORY)).filter(|path| path.is_dir())
}

/// Runs under load and holds the variation of each case against its aim; whether all aims are met.
fn steady(runs: usize, directory: &str) -> Result<bool, Failure> {
    let load = Load::start();
    let (mut values, mut clean) = (Series::new(), Series::new());
    for _ in 0..runs {
        once(&["--dir", directory], "", &mut values, &mut clean)?;
        if let Some(memory) = memory() {
            let memory = memory.display().to_string();
            let words = ["--only", "open-close,create-delete", "--dir", &memory];
            once(&words, ", in memory", &mut values, &mut clean)?;
        }
    }
    drop(load);
    println!("{runs} runs on a loaded machine");
    println!(
        "{:16}{:30}{:>12}{:>7}{:>8}{:>7}",
        "benchmark", "case", "median", "clean", "CV, %", "aim"
    );
    let mut held = true;
    for ((name, case), all) in &values {
        let cv = variation(all) * 100.0;
        let aim = aim(name, case);
        let missed = aim.is_some_and(|aim| cv > aim);
        held &= !missed;
        let clean = clean
            .get(&(name.clone(), case.clone()))
            .map_or("-".to_owned(), |c| format!("{:.2}", median(c)));
        let aim = aim.map_or(String::new(), |aim| format!("{aim:.0}"));
        let word = if missed { "  missed" } else { "" };
        println!("{name:16}{case:30}{:>12.4e}{clean:>7}{cv:>8.1}{aim:>7}{word}", median(all));
    }
    Ok(held)
}

/// Most that a case may vary from run to run, in percent; `None` where there is no aim.
fn aim(name: &str, case: &str) -> Option<f64> {
    match (name, case) {
        ("dhrystone" | "getpid", _) | ("cswitch", "same CPU") => Some(2.0),
        ("select", case) if !case.contains("poll") => Some(2.0),
        ("bcopy", case) if case.ends_with("cache") => Some(2.0),
        ("open-close", case) if case.ends_with("in memory") => Some(2.0),
        ("bcopy" | "read" | "open-close", _) | ("cswitch", "two CPUs") => Some(5.0),
        ("create-delete", _) | ("mab", "copy" | "compile" | "total") => Some(10.0),
        _ => None,
    }
}

/// One quick run with further words; gives the processor that pinned cases ran on.
fn once(
    words: &[&str],
    mark: &str,
    values: &mut Series,
    clean: &mut Series,
) -> Result<String, Failure> {
    let output = Command::new(env!("CARGO_BIN_EXE_ioscape"))
        .args(["os", "--quick", "--json"])
        .args(words)
        .stderr(Stdio::inherit())
        .output()?;
    keep(&output.stdout)?;
    let document: Value = serde_json::from_slice(&output.stdout)?;
    for one in document["os"]["benchmarks"].as_array().ok_or("no benchmarks")? {
        let (Some(name), Some(case)) = (one["name"].as_str(), one["case"].as_str()) else {
            continue;
        };
        let key = (name.to_owned(), format!("{case}{mark}"));
        if let Some(value) = one["value"].as_f64() {
            values.entry(key.clone()).or_default().push(value);
        }
        if let Some(share) = one["contamination"]["clean_frac"].as_f64() {
            clean.entry(key).or_default().push(share);
        }
    }
    Ok(document["os"]["system"]["pinned_cpu"].to_string())
}

/// Keeps a result among those of this process, by the number of the process and its own.
fn keep(document: &[u8]) -> Result<(), Failure> {
    static KEPT: AtomicU32 = AtomicU32::new(0);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("os");
    std::fs::create_dir_all(&folder)?;
    let number = KEPT.fetch_add(1, Ordering::Relaxed);
    let name = format!("{}-{number:03}.ioscape.json", std::process::id());
    Ok(std::fs::write(folder.join(name), document)?)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

/// Standard deviation over mean.
fn variation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (squares / (n - 1.0).max(1.0)).sqrt() / mean
}
