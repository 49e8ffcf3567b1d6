//! A case of a benchmark: what it measures, how its numbers are made, and how its operation is prepared.

use super::waiting::Waiting;
use ioscape_schema::toolchain::Toolchain;
use ioscape_schema::{Locality, OsRule, OsUnit};
use std::cell::Cell;
use std::io;
use std::path::PathBuf;

/// Shorter than a scheduler's time slice, so that many batches are not interrupted; longer than 1000 clock steps.
const BATCH_NS: u64 = 1_000_000;

/// Nanoseconds of a batch that others disturb easily: some round trips.
const SHORT_NS: u64 = 200_000;

/// Performs as many operations as told; prepared in the fresh process that runs it.
pub(crate) type Op = Box<dyn FnMut(u64) -> io::Result<()>>;

/// Prepares an operation; an [`io::ErrorKind::Unsupported`] says that the case is not measurable here.
pub(crate) type Ready = Box<dyn Fn(&Scene) -> io::Result<Op>>;

/// The surroundings of a fresh process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    /// A new, empty directory that is also the current one; empty path for cases without files.
    pub(crate) directory: PathBuf,
    /// The processor that pinned cases run on.
    pub(crate) cpu: usize,
    /// Another processor, if there is one.
    pub(crate) other_cpu: Option<usize>,
    /// This program and the words that make it do one step of a benchmark.
    pub(crate) program: Option<Program>,
    /// The thread that alternates with the case, where there is one; noted by the case when it is made ready.
    pub(crate) partner: Cell<Option<u32>>,
}

/// A program that does one step of a benchmark per process, when the step's words follow the first arguments.
#[derive(Clone, Debug)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// What comes before the words of the step.
    pub first: Vec<String>,
    /// The tree and the tools of the Modified Andrew Benchmark's steps.
    pub toolchain: &'static dyn Toolchain,
}

/// One case.
pub(crate) struct Case {
    /// Benchmark, as `--only` takes it.
    pub(crate) name: &'static str,
    /// The case.
    pub(crate) case: String,
    /// What its value counts.
    pub(crate) unit: OsUnit,
    /// Bytes that one operation moves, for rates in bytes.
    pub(crate) bytes_per_op: u64,
    /// How a process's number is made.
    pub(crate) rule: OsRule,
    /// How it tells that other programs used the processor.
    pub(crate) waiting: Waiting,
    /// Whether it shares memory, the last cache, storage or a second processor with programs on other processors, so that
    /// a process counts only if there were none. What shares the core alone is judged by the fixed computation.
    pub(crate) shares: bool,
    /// Whether it uses the scene's other processor too.
    pub(crate) on_two: bool,
    /// Target length of a batch, in nanoseconds.
    pub(crate) batch_ns: u64,
    /// Which of the directories it uses.
    pub(crate) place: Option<(usize, Locality)>,
    /// Whether the process stays on one processor.
    pub(crate) pinned: bool,
    /// Share of the usual time that it gets.
    pub(crate) effort: f64,
    /// What it teaches.
    pub(crate) teaches: &'static str,
    /// Makes it ready.
    pub(crate) ready: Ready,
}

impl Case {
    /// A case whose value is the time of an operation that never sleeps, on one processor, without files.
    pub(crate) fn new(
        name: &'static str,
        case: impl Into<String>,
        teaches: &'static str,
        ready: impl Fn(&Scene) -> io::Result<Op> + 'static,
    ) -> Self {
        Self {
            name,
            case: case.into(),
            unit: OsUnit::Nanos,
            bytes_per_op: 1,
            rule: OsRule::CleanQuartile,
            waiting: Waiting::Busy,
            shares: false,
            on_two: false,
            batch_ns: BATCH_NS,
            place: None,
            pinned: true,
            effort: 1.0,
            teaches,
            ready: Box::new(ready),
        }
    }

    /// The same, by another rule.
    pub(crate) fn by(mut self, rule: OsRule) -> Self {
        self.rule = rule;
        self
    }

    /// The same, for an operation that sleeps by itself.
    pub(crate) fn sleeping(mut self) -> Self {
        self.waiting = Waiting::Queued;
        self
    }

    /// The same, for an operation that depends on what programs on other processors do.
    pub(crate) fn sharing(mut self) -> Self {
        self.shares = true;
        self
    }

    /// The same, for two processes that alternate on two processors: each of them is free half of the time, so that others get in
    /// between more often than on one, and batches are short.
    pub(crate) fn across_two(mut self) -> Self {
        self.on_two = true;
        self.sleeping().sharing().batches_of(SHORT_NS)
    }

    /// The same, in batches of another length.
    pub(crate) fn batches_of(mut self, ns: u64) -> Self {
        self.batch_ns = ns;
        self
    }

    /// The same, wherever the scheduler puts it.
    pub(crate) fn unpinned(mut self) -> Self {
        self.pinned = false;
        self.sharing()
    }

    /// The same, as a rate of an operation that moves `bytes`.
    pub(crate) fn moving(mut self, bytes: u64) -> Self {
        self.unit = OsUnit::BytesPerS;
        self.bytes_per_op = bytes;
        self
    }

    /// The same, with files in a directory, which may sleep until storage or a server answers.
    pub(crate) fn at(mut self, place: (usize, Locality)) -> Self {
        self.place = Some(place);
        self.sleeping().sharing()
    }

    /// The same, with another share of the time.
    pub(crate) fn effort(mut self, effort: f64) -> Self {
        self.effort = effort;
        self
    }

    /// The value in the case's unit for a time per operation.
    pub(crate) fn value(&self, ns_per_op: f64) -> f64 {
        match self.unit {
            OsUnit::Nanos => ns_per_op,
            OsUnit::BytesPerS => self.bytes_per_op as f64 * 1e9 / ns_per_op,
            OsUnit::PerS => 1e9 / ns_per_op,
        }
    }
}

/// The error that marks a case as not measurable here.
pub(crate) fn not_here(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, why.into())
}

/// The error for a benchmark that did not do what it should have.
pub(crate) fn wrong(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}
