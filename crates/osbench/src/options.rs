//! The options of a run, and the progress that it reports.

use super::case::Program;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The options of a run.
#[derive(Clone, Debug)]
pub struct OsOptions {
    /// Names of the benchmarks to run; all if empty.
    pub only: Vec<String>,
    /// Directories for the file benchmarks: one, or a local and a remote one.
    pub directories: Vec<PathBuf>,
    /// Fresh processes per case.
    pub processes: u32,
    /// Time of the whole run in seconds, divided among the cases; a case left without a value says
    /// that no time was left.
    pub budget_s: f64,
    /// Time that a process measures, in nanoseconds, to be multiplied by the case's share; less if
    /// time is short.
    pub process_ns: u64,
    /// Whether scaling is measured with 1, 2, 4 and so on tasks, or only with one and with as many
    /// as there are processors.
    pub all_task_counts: bool,
    /// This program, with the arguments that make it run one step of a benchmark.
    pub program: Option<Program>,
    /// Command of the compiler for the Modified Andrew Benchmark; the built-in one if absent.
    pub compiler: Option<String>,
    /// Set to end early; the measurements so far are kept.
    pub interrupt: Arc<AtomicBool>,
}

impl OsOptions {
    /// A full run: five minutes at most.
    pub fn full() -> Self {
        Self {
            only: Vec::new(),
            directories: vec![PathBuf::from(".")],
            processes: 12,
            budget_s: 300.0,
            process_ns: 150_000_000,
            all_task_counts: true,
            program: None,
            compiler: None,
            interrupt: Arc::default(),
        }
    }

    /// A quick run: a minute at most, with wider intervals.
    pub fn quick() -> Self {
        Self {
            processes: 6,
            budget_s: 60.0,
            process_ns: 45_000_000,
            all_task_counts: false,
            ..Self::full()
        }
    }
}

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunProgress<'a> {
    /// Processes that are done.
    pub done: usize,
    /// All processes of the run.
    pub of: usize,
    /// Benchmark of the next process.
    pub name: &'a str,
    /// Case of the next process.
    pub case: &'a str,
}
