//! One case of one operating-system micro-benchmark: its value, how it was obtained and how far others disturbed it.

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

impl Locality {
    /// The word in tables and files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Remote => "remote",
        }
    }
}

/// What a value counts.
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

/// What the tasks are that do an operation at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OsTasks {
    /// Processes.
    Processes,
    /// Threads of one process.
    Threads,
}

impl OsTasks {
    /// The word for so many of them.
    pub fn word(self, count: u32) -> &'static str {
        match (self, count) {
            (Self::Processes, 1) => "process",
            (Self::Processes, _) => "processes",
            (Self::Threads, 1) => "thread",
            (Self::Threads, _) => "threads",
        }
    }
}

/// How one number is made of a fresh process's batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OsRule {
    /// Lower quartile of the batches in which no other program used the processor and it ran at full speed; a process with too few of
    /// them does not count.
    #[default]
    CleanQuartile,
    /// Lower quartile of all batches: for operations that sleep, so that waiting is part of them. In a virtual machine a process does not count of which
    /// less than half ran at full speed.
    Quartile,
    /// All time less the processor time others took, over all operations: for work that the kernel defers and does in bursts. A process
    /// in which others took a tenth or more does not count, nor one of which less than four fifths ran at full speed.
    Mean,
    /// One run of the whole benchmark is one number; it counts if no other programs were there, and in a virtual machine if four fifths of its time
    /// were at full speed, by some of its processes.
    Single,
}

/// How far others disturbed a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Contamination {
    /// Share of batches in which no other program used the processor; absent where the kernel does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clean_frac: Option<f64>,
    /// Time that other programs used the processor over the time measured, on some kernels with what the hypervisor took; absent where the kernel does not
    /// report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_delay_frac: Option<f64>,
    /// Share of all processors' time that the hypervisor took meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_frac: Option<f64>,
    /// Share of processes during which the processor computed slower than at full speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowed_frac: Option<f64>,
    /// Processors that other programs kept busy besides those that the case uses: the median over processes; absent where the kernel does
    /// not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_cpus: Option<f64>,
    /// Share of the time in which a quota kept the control group off the processors; above 1 in results of older versions alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_frac: Option<f64>,
}

/// One case of one benchmark.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OsBenchmark {
    /// Name as `--only` takes it: `getpid`.
    pub name: String,
    /// Which case of it: `10 full`.
    pub case: String,
    /// Where its files are; absent where no files are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Locality>,
    /// How many tasks do the operation at the same time; absent where it is one process. `value` is then of all together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u32>,
    /// What those tasks are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_kind: Option<OsTasks>,
    /// The value; absent when it could not be measured, and `not_measured` then says why.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub value: Option<f64>,
    /// What `value` counts.
    pub unit: OsUnit,
    /// Interval that holds the median over the processes that count 95 times of 100: between order statistics from six on, Student's of their
    /// logarithms from three on; absent with fewer. Where the processor was slow without a visible reason it also holds what they would be
    /// at full speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<[f64; 2]>,
    /// MIPS-relative speed, for the cases that the paper has one for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mips_relative: Option<f64>,
    /// How a process's number is made of its batches.
    #[serde(default)]
    pub rule: OsRule,
    /// The number of every fresh process that counts.
    #[serde(default)]
    pub processes: Vec<f64>,
    /// The numbers of processes that do not count, for they were disturbed: evidence, and no results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<f64>,
    /// How many times as long as at full speed a fixed computation took during each of those processes, those that count first: 1 where the
    /// number was made at full speed, or no computation tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slower: Vec<f64>,
    /// Seconds that all processes of the case took, preparation included.
    #[serde(default)]
    pub elapsed_s: f64,
    /// How far others disturbed it.
    #[serde(default)]
    pub contamination: Contamination,
    /// Why there is no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_measured: Option<String>,
    /// What the case tells, in one sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub teaches: String,
    /// Warnings about this case.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

impl OsBenchmark {
    /// Whether the value comes from processes of a processor that was slow without a visible reason.
    pub fn is_slow(&self) -> bool {
        self.value.is_some() && self.processes.iter().zip(&self.slower).any(|(_, by)| *by > 1.0)
    }
}
