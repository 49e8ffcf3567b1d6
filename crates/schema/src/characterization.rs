//! A real application seen through its system calls: the calls, and the five-parameter workload
//! that they form.

use crate::range::{fraction, not_negative};
use crate::{
    Access, AccessPattern, Advice, Io, Op, Phase, Request, SizeDistribution, Workload,
    workload::SIZE_MEAN_MAX,
};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A call that moved bytes of a file, or waited for them to reach storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCall {
    /// Number of the calling thread, from 0, in order of first appearance.
    pub process: u32,
    /// Number of the file, from 0, in order of first use; [`NO_FILE`](Self::NO_FILE) for a wait for
    /// others than that of one known file.
    pub file: u32,
    /// Number of the open file description (`open(2)`) that it went through; absent for a fault on
    /// a mapping, and where it is not known.
    pub description: Option<u32>,
    /// The bytes moved; a length of 0 is a wait for the file's dirty pages (`fsync` and the like).
    pub request: Request,
    /// Whether the file was opened so that writes reach storage before they return (`O_SYNC`,
    /// `O_DSYNC`).
    pub is_synchronous: bool,
    /// Whether the file was opened to bypass the file cache (`O_DIRECT`).
    pub is_direct: bool,
    /// Whether it waits only until dirty pages were sent to storage, which may still keep them in a
    /// volatile cache (`sync_file_range`).
    pub is_write_back: bool,
    /// The advice given about coming accesses through this descriptor.
    pub advice: Advice,
    /// Start of the call, from the beginning of the recording.
    pub issued_ns: u64,
    /// Return of the call.
    pub completed_ns: u64,
    /// Time since its previous call that the thread was held up: without a processor, or stopped
    /// for the recorder.
    pub held_before_ns: u64,
    /// The same during the call.
    pub held_within_ns: u64,
}

/// Overhead of the recorder in the times it sees, measured with calls that do nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TracingCost {
    /// Nanoseconds added to each call.
    pub in_call_ns: u64,
    /// Nanoseconds added between two calls.
    pub between_calls_ns: u64,
}

/// Counts of requests from calls, a trace or a simulation. They show how well the model describes
/// them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// Number of requests.
    pub requests: u64,
    /// Number of reads.
    pub reads: u64,
    /// Requests that begin where the previous one in their stream ended.
    pub followers: u64,
    /// Requests that follow another one of the same process.
    pub pairs: u64,
    /// Pairs of a read and a write.
    pub changes: u64,
    /// Sizes in bytes with their number of requests, grouped to within one percent.
    pub sizes: Vec<(u64, u64)>,
    /// Lengths of sequential runs, in requests, with their number of runs, grouped to within one
    /// percent.
    pub runs: Vec<(u64, u64)>,
}

/// How well the workload model describes requests. A distance of 0 is explained by chance alone, 1
/// is the largest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelFit {
    /// The model's size distribution that is nearest to the observed sizes.
    pub size_distribution: SizeDistribution,
    /// Distance of the sizes from that distribution.
    pub size_distance: f64,
    /// Distance of the lengths of sequential runs from geometric ones.
    pub run_distance: f64,
    /// Distance of the fraction of read/write changes between successive requests from 2 r (1 - r).
    pub mix_distance: f64,
}

impl ModelFit {
    /// Returns 1 minus the largest of the three distances.
    pub fn goodness(&self) -> f64 {
        1.0 - self.size_distance.max(self.run_distance).max(self.mix_distance).clamp(0.0, 1.0)
    }
}

/// The five parameters of an application, one of its files or processes, and how well they describe
/// it.
///
/// The parameters are those of the self-scaling paper, section 5.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Traits {
    /// Distinct bytes read or written, in whole pages of the file cache (of 4 KiB in older results).
    pub unique_bytes: u64,
    /// Mean number of bytes per call.
    pub size_mean: u64,
    /// The size distribution nearest to the observed sizes.
    pub size_distribution: SizeDistribution,
    /// Alignment in bytes, if all requests have the same size, `size_mean`, that is not a multiple
    /// of the usual alignment; otherwise and in older results absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align_bytes: Option<u64>,
    /// Fraction of requests that are reads.
    #[serde(deserialize_with = "fraction")]
    pub read_frac: f64,
    /// Fraction of bytes that are read. If it is far from `read_frac`, reads and writes differ in
    /// size.
    pub read_bytes_frac: f64,
    /// Fraction of requests that start where the same process's previous request to the same file ended.
    #[serde(deserialize_with = "fraction")]
    pub seq_frac: f64,
    /// Mean number of processes that are doing I/O at the same time, rounded, at least 1.
    pub process_num: u32,
    /// Mean think time of a process between two requests.
    pub think_time_ns: u64,
    /// The access mode, as far as the open flags show it.
    pub access: Access,
    /// 1 minus the largest of the three distances below: at 1 the requests follow the model
    /// exactly, at 0 not at all.
    #[serde(deserialize_with = "fraction")]
    pub goodness: f64,
    /// Largest difference between the cumulative distributions of the observed sizes and of
    /// `size_distribution`.
    pub size_distance: f64,
    /// The same for the lengths of sequential runs, which the model takes as geometric.
    pub run_distance: f64,
    /// Distance of the fraction of read/write changes between successive requests from the model's
    /// 2 r (1 - r).
    pub mix_distance: f64,
    /// Fraction of requests of the other kind (read or write) than the same process's previous
    /// request; absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "fraction")]
    pub change_frac: Option<f64>,
    /// Fraction of requests that start where the same process's previous request to any file ended.
    pub strict_seq_frac: f64,
    /// Number of requests: calls that moved bytes.
    pub requests: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Calls that waited for storage: `fsync`, `fdatasync`, a waiting `sync_file_range`; and, counted
    /// for no file, `msync` with `MS_SYNC`, `sync`, `syncfs` and `fsync` of a directory.
    pub syncs: u64,
    /// Mean response time, without tracing overhead and waits for a processor.
    #[serde(deserialize_with = "not_negative")]
    pub response_time_ns: f64,
    /// Mean time of a sync, corrected likewise.
    pub sync_time_ns: f64,
    /// Seconds in which at least one process was doing I/O.
    pub active_s: f64,
}

impl Traits {
    /// Returns the workload with these parameters, limited to what can be run.
    pub fn workload(&self) -> Workload {
        let size_mean = self.size_mean.clamp(1, SIZE_MEAN_MAX);
        let divides = |align: &u64| align.is_power_of_two() && size_mean.is_multiple_of(*align);
        Workload {
            unique_bytes: self.unique_bytes.max(size_mean),
            size_mean,
            size_distribution: self.size_distribution,
            read_frac: self.read_frac.clamp(0.0, 1.0),
            seq_frac: self.seq_frac.clamp(0.0, 1.0),
            process_num: self.process_num.clamp(1, 4096),
            think_time_ns: self.think_time_ns,
            access: self.access,
            align_bytes: self.align_bytes.filter(divides),
            ..Workload::default()
        }
    }
}

impl Workload {
    /// Returns the workload with the largest alignment, at most the current one, that divides its
    /// size. A fixed size between two multiples would become a mix of both. An invalid alignment
    /// stays, so that it is refused later.
    #[must_use]
    pub fn with_exact_size(self) -> Self {
        let (size, align) = (self.size_mean, self.align());
        if !align.is_power_of_two() || align > size || size.is_multiple_of(align) {
            return self;
        }
        Self { align_bytes: Some(1 << size.trailing_zeros()), ..self }
    }

    /// Returns whether all requests have exactly one size, a multiple of the alignment. A mean of
    /// one such multiple leaves no other size, whatever the distribution.
    pub fn has_one_size(&self) -> bool {
        let (size, align) = (self.size_mean, self.align());
        let is_fixed = self.size_distribution == SizeDistribution::Fixed || size == align;
        is_fixed && self.by_operation.is_none() && size.is_multiple_of(align)
    }

    /// Returns whether this workload with `align_bytes` could make each of its requests. All
    /// requests must have exactly one size, and offsets must not be finer.
    pub fn is_aligned_within(&self, align_bytes: Option<u64>) -> bool {
        let other = Self { align_bytes, ..self.clone() };
        self.has_one_size() && self.align() >= other.align()
    }
}

/// The kind of file that a name denotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A regular file.
    #[default]
    Regular,
    /// A block device.
    BlockDevice,
    /// All files after the first hundred thousand, together.
    Others,
}

/// One file of an application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileTraits {
    /// Path at first use, followed by ` (deleted)` if it no longer had a name.
    pub path: String,
    /// Regular file or block device.
    pub kind: FileKind,
    /// Number of opens.
    pub opens: u64,
    /// Bytes mapped into memory; loads and stores there are not seen.
    pub mapped_bytes: u64,
    /// Its share of the workload.
    #[serde(flatten)]
    pub traits: Traits,
}

/// One process or thread of an application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessTraits {
    /// Process id as given by the system.
    pub pid: u32,
    /// Thread id; equal to `pid` for the first thread.
    pub tid: u32,
    /// The program's name, truncated to 15 bytes.
    pub command: String,
    /// Its share of the workload.
    #[serde(flatten)]
    pub traits: Traits,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The command exited with this code.
    Exit(i32),
    /// The command was killed by this signal.
    Signal(i32),
}

impl Ending {
    /// Returns how a command failed, if it did: the exit code that a shell would give, and a
    /// sentence.
    pub fn failure(self) -> Option<(u8, String)> {
        let (code, text) = match self {
            Self::Exit(0) => return None,
            Self::Exit(code) => (code, format!("the command ended with exit code {code}")),
            Self::Signal(signal) => {
                (128 + signal, format!("the command was killed by signal {signal}"))
            }
        };
        Some((u8::try_from(code).unwrap_or(1), text))
    }
}

/// An application, characterized by the calls it made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Characterization {
    /// All counted files and processes together.
    pub overall: Traits,
    /// The files, in descending order of bytes.
    pub files: Vec<FileTraits>,
    /// The processes and threads, in descending order of bytes.
    pub processes: Vec<ProcessTraits>,
    /// Number of files not listed.
    pub files_left_out: u64,
    /// Number of processes not listed.
    pub processes_left_out: u64,
    /// The command, word by word.
    pub command: Vec<String>,
    /// How it ended; absent if it was interrupted before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// Elapsed time from its start to the end of its last process, including tracing.
    #[serde(deserialize_with = "not_negative")]
    pub elapsed_s: f64,
    /// Bytes moved over `elapsed_s`.
    #[serde(deserialize_with = "not_negative")]
    pub throughput_bytes_per_s: f64,
    /// The folder or file to which counting was restricted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
    /// Memory limit of the control group it ran in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit_bytes: Option<u64>,
    /// Number of calls that stopped for the recorder.
    pub calls_traced: u64,
    /// Calls that read or wrote anything other than regular files and block devices, by kind, and
    /// copies that moved nothing because their files share the blocks now (`clone`).
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub elsewhere: std::collections::BTreeMap<String, u64>,
    /// Faults on mapped files at places that are not known, so that what was read there is not
    /// counted, without the first 64 of each process, which are of what programs map as they start;
    /// absent if there were none, and in older results.
    #[serde(default, skip_serializing_if = "crate::absent::is_default")]
    pub unplaced_faults: u64,
    /// Bytes of mapped files that may have been used where no fault on them was seen, so that
    /// nothing read there is counted: the pages that processes had of them at their ends, and all
    /// that was unmapped before, without the first 4 MiB of each process, which are of what programs
    /// map as they start; absent if there were none, and in older results.
    #[serde(default, skip_serializing_if = "crate::absent::is_default")]
    pub mapped_unseen_bytes: u64,
    /// Overhead of tracing in the times.
    pub tracing: TracingCost,
    /// The requests by kind and size, and their hits in a cache of any size; absent in older
    /// results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<AccessPattern>,
    /// Its phases, in order; absent in older results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
}

impl Characterization {
    /// Kind of the calls [`elsewhere`](Self::elsewhere) whose files could not be identified: some
    /// may be requests.
    pub const UNIDENTIFIED: &str = "unidentified";

    /// Returns the number of calls whose files could not be identified.
    pub fn unidentified_calls(&self) -> u64 {
        self.elsewhere.get(Self::UNIDENTIFIED).copied().unwrap_or(0)
    }

    /// Returns the number of requests to files after the first hundred thousand, which count as one
    /// file: their set, what is used again and what is deleted are not known.
    pub fn merged_requests(&self) -> u64 {
        let merged = self.files.iter().filter(|file| file.kind == FileKind::Others);
        merged.map(|file| file.traits.requests).sum()
    }

    /// Returns the number of calls on unidentified files, requests to merged files and faults
    /// without a place.
    pub fn unseen_requests(&self) -> u64 {
        self.unidentified_calls() + self.merged_requests() + self.unplaced_faults
    }

    /// Returns whether more bytes of mapped files may have been used unseen than were moved.
    pub fn is_mostly_mapped(&self) -> bool {
        self.mapped_unseen_bytes > self.overall.bytes
    }

    /// Returns whether the requests are not the command's workload: more than one per 20 was unseen,
    /// or it may be mostly mapped.
    pub fn is_partial(&self) -> bool {
        self.unseen_requests() > self.overall.requests / 20 || self.is_mostly_mapped()
    }

    /// Returns the name of its program, without folders.
    pub fn program(&self) -> String {
        let name = self.command.first().map(Path::new).and_then(Path::file_name);
        name.map_or("application".to_owned(), |name| name.to_string_lossy().into_owned())
    }
}

impl FileCall {
    /// The number that stands for no known file.
    pub const NO_FILE: u32 = u32::MAX;

    /// Returns the call's duration without the time it was held up, in nanoseconds.
    pub fn own_ns(&self) -> u64 {
        self.completed_ns.saturating_sub(self.issued_ns).saturating_sub(self.held_within_ns)
    }

    /// Returns the call as a row of a trace, without the time it was held up.
    pub fn row(&self) -> Io {
        Io {
            request: self.request,
            process: self.process,
            queued_ns: self.issued_ns,
            issued_ns: self.issued_ns,
            completed_ns: self.issued_ns + self.own_ns(),
            ..Io::default()
        }
    }

    /// Returns whether it waited for dirty pages and moved nothing itself.
    pub fn is_sync(&self) -> bool {
        self.request.len == 0
    }

    /// Returns whether it read.
    pub fn is_read(&self) -> bool {
        self.request.op == Op::Read && !self.is_sync()
    }
}

/// An application described by its calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Portrait {
    /// The application as a whole.
    pub overall: Traits,
    /// The hundred files with most bytes, in descending order, by their numbers in the calls.
    pub files: Vec<(u32, Traits)>,
    /// Number of other files.
    pub files_left_out: u64,
    /// The hundred processes with most bytes, in descending order, by their numbers.
    pub processes: Vec<(u32, Traits)>,
    /// Number of other processes.
    pub processes_left_out: u64,
    /// The phases, in order.
    pub phases: Vec<Phase>,
    /// How its requests passed the file cache.
    pub ways: Ways,
    /// How long it waited for syncs, as in [`AccessPattern::sync_s`].
    pub sync_s: f64,
}

/// How requests passed the file cache: where they differ, a workload's one access does not say it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ways {
    /// Share of the requests that bypassed it (`O_DIRECT`), 0 to 1.
    pub direct_frac: f64,
    /// The same of the bytes.
    pub direct_bytes_frac: f64,
    /// Share of the writes that were synchronous (`O_DSYNC`).
    pub synchronous_frac: f64,
    /// Share of the written bytes that were waited for, by such a write or by a sync after one or
    /// two writes.
    pub waited_bytes_frac: f64,
    /// Whether most writes were both direct and synchronous, which no access expresses.
    pub direct_writes_are_synchronous: bool,
    /// As [`AccessPattern::further_waits`].
    pub further_waits: u64,
}

#[cfg(test)]
#[path = "characterization_tests.rs"]
mod tests;
