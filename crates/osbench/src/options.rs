//! What the user asks of a run, and what a run tells while it is under way.

use super::case::Program;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What the user asks for.
#[derive(Clone, Debug)]
pub struct OsOptions {
    /// Names of the benchmarks to run; all if empty.
    pub only: Vec<String>,
    /// Directories that file benchmarks run in: one, or a local and a remote one.
    pub directories: Vec<PathBuf>,
    /// Fresh processes per case.
    pub processes: u32,
    /// Time of the whole run, in seconds, divided among the cases; what has no number then says that no time was left.
    pub budget_s: f64,
    /// Time that a process measures, in nanoseconds, before the case's own share; less where the time is short.
    pub process_ns: u64,
    /// Whether scaling is measured by 1, 2, 4 and so on tasks, or only by one and as many as there are processors.
    pub all_task_counts: bool,
    /// This program and the words that make it do one step of a benchmark.
    pub program: Option<Program>,
    /// Command of the compiler that the Modified Andrew Benchmark uses; the built-in one if none.
    pub compiler: Option<String>,
    /// Set to end early; what is measured is kept.
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

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct RunProgress<'a> {
    /// Processes that are done.
    pub done: usize,
    /// Processes in all.
    pub of: usize,
    /// Benchmark and case of the next one.
    pub name: &'a str,
    /// Case of the next one.
    pub case: &'a str,
}
