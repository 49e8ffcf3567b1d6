//! One case of an operating-system micro-benchmark: its value, how it was obtained, and how much
//! other load disturbed it.

use crate::Warning;
use crate::range::not_negative;
use serde::{Deserialize, Serialize};

/// Where the files of a benchmark are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Locality {
    /// On a file system of this machine.
    Local,
    /// On a file system whose data comes from a server or another program.
    Remote,
}

crate::words!(Locality, Local => "local", Remote => "remote");

/// The unit of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OsUnit {
    /// Nanoseconds per operation: less is faster.
    #[default]
    #[serde(rename = "ns")]
    Nanos,
    /// Bytes per second: more is faster.
    #[serde(rename = "bytes/s")]
    BytesPerS,
    /// Operations per second: more is faster.
    #[serde(rename = "1/s")]
    PerS,
}

/// The kind of the concurrent tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OsTasks {
    /// Processes.
    Processes,
    /// Threads of one process.
    Threads,
}

impl OsTasks {
    /// Returns the word for `count` of them.
    pub fn word(self, count: u32) -> &'static str {
        match (self, count) {
            (Self::Processes, 1) => "process",
            (Self::Processes, _) => "processes",
            (Self::Threads, 1) => "thread",
            (Self::Threads, _) => "threads",
        }
    }
}

/// How the batches of a fresh process are reduced to one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OsRule {
    /// Lower quartile of the batches in which no other program used the processor and it ran at
    /// full speed. A process with too few such batches does not count.
    #[default]
    CleanQuartile,
    /// Lower quartile of all batches, for operations that sleep, so that waiting is part of them.
    /// In a virtual machine a process does not count if less than half of it ran at full speed.
    Quartile,
    /// Total time less the processor time of others, over all operations, for work that the kernel
    /// defers and does in bursts. A process does not count if others took a tenth or more, or if
    /// less than four fifths of it ran at full speed.
    Mean,
    /// One run of the whole benchmark gives one number. It counts if no other programs were running
    /// and, in a virtual machine, if some of its processes ran at full speed for four fifths of its
    /// time.
    Single,
}

/// How much other load disturbed a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Contamination {
    /// Fraction of batches in which no other program used the processor; absent if the kernel does
    /// not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clean_frac: Option<f64>,
    /// Time that other programs used the processor, over the measured time; on some kernels it
    /// includes the hypervisor's. Absent if the kernel does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_delay_frac: Option<f64>,
    /// Fraction of all processors' time that the hypervisor took meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_frac: Option<f64>,
    /// Fraction of processes during which the processor computed below full speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowed_frac: Option<f64>,
    /// Number of processors that other programs kept busy besides those used by the case: the
    /// median over processes. Absent if the kernel does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_cpus: Option<f64>,
    /// Fraction of the time that a quota kept the control group off the processors; above 1 only in
    /// older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_frac: Option<f64>,
}

/// One case of one benchmark.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OsBenchmark {
    /// Name, as accepted by `--only`: `getpid`.
    pub name: String,
    /// The case: `10 full`.
    pub case: String,
    /// Where its files are; absent if it uses none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Locality>,
    /// Number of tasks that do the operation concurrently; absent for a single process. `value` is
    /// their total.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u32>,
    /// The kind of those tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_kind: Option<OsTasks>,
    /// The value; absent if it could not be measured, for the reason in `not_measured`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub value: Option<f64>,
    /// The unit of `value`.
    pub unit: OsUnit,
    /// 95 % interval of the median over the processes that count.
    ///
    /// From six processes on it uses order statistics, from three on Student's t on their logarithms; with
    /// fewer it is absent. If the processor was slow without a visible reason, it also includes the values
    /// at full speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<[f64; 2]>,
    /// MIPS-relative speed, for the cases that have one in the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mips_relative: Option<f64>,
    /// How the batches of a process are reduced to its number.
    #[serde(default)]
    pub rule: OsRule,
    /// The number of every fresh process that counts.
    #[serde(default)]
    pub processes: Vec<f64>,
    /// The numbers of processes that do not count because they were disturbed: evidence, not
    /// results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<f64>,
    /// Slowdown of a fixed computation during each of those processes, counted ones first: 1 means
    /// full speed, or that no computation was tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slower: Vec<f64>,
    /// Seconds that all processes of the case took, including preparation.
    #[serde(default)]
    pub elapsed_s: f64,
    /// How much other load disturbed it.
    #[serde(default)]
    pub contamination: Contamination,
    /// Why there is no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_measured: Option<String>,
    /// What the case teaches, in one sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub teaches: String,
    /// Warnings about this case.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

impl OsBenchmark {
    /// Returns whether the value comes from a processor that was slow without a visible reason.
    pub fn is_slow(&self) -> bool {
        self.value.is_some() && self.processes.iter().zip(&self.slower).any(|(_, by)| *by > 1.0)
    }
}
