//! A real application as its system calls show it: single calls, and the workload of five parameters they add up to.

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
    /// Number of the thread that made it, from 0, in order of first appearance.
    pub process: u32,
    /// Number of the file, from 0, in order of first use.
    pub file: u32,
    /// What was moved; a length of 0 is a wait for the file's dirty pages (`fsync` and the like).
    pub request: Request,
    /// Whether the file was opened so that its writes reach storage before they return (`O_SYNC`, `O_DSYNC`).
    pub is_synchronous: bool,
    /// Whether the file was opened to bypass the file cache (`O_DIRECT`).
    pub is_direct: bool,
    /// What the kernel was told about the accesses to come through this descriptor.
    pub advice: Advice,
    /// When the call began, from the beginning of the recording.
    pub issued_ns: u64,
    /// When it returned.
    pub completed_ns: u64,
    /// How long, since its previous call, others held its thread up: it had no processor, or stopped for the recorder.
    pub held_before_ns: u64,
    /// The same during the call.
    pub held_within_ns: u64,
}

/// What the recorder's own work adds to the times it sees, measured with calls that do nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TracingCost {
    /// Nanoseconds added to each call.
    pub in_call_ns: u64,
    /// Nanoseconds added between two calls.
    pub between_calls_ns: u64,
}

/// Counts of requests, whether of calls, a trace or a simulation, from which follows how well the model describes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// Number of requests.
    pub requests: u64,
    /// Those that read.
    pub reads: u64,
    /// Those that begin where the request before them in their stream ended.
    pub followers: u64,
    /// Requests that have one of the same process before them.
    pub pairs: u64,
    /// Pairs of which one reads and the other writes.
    pub changes: u64,
    /// Sizes in bytes and how many requests have each, kept within one percent.
    pub sizes: Vec<(u64, u64)>,
    /// Lengths of sequential runs in requests and how many runs have each, kept within one percent.
    pub runs: Vec<(u64, u64)>,
}

/// How well the workload model describes requests: 0 is a distance that chance alone explains, 1 the largest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelFit {
    /// The size distribution of the model that is nearest to the sizes.
    pub size_distribution: SizeDistribution,
    /// Distance of the sizes from it.
    pub size_distance: f64,
    /// Distance of the lengths of sequential runs from geometric ones.
    pub run_distance: f64,
    /// Distance of the share of successive requests of different kinds, read and write, from 2 r (1 - r).
    pub mix_distance: f64,
}

impl ModelFit {
    /// 1 less the largest of the three distances.
    pub fn goodness(&self) -> f64 {
        1.0 - self.size_distance.max(self.run_distance).max(self.mix_distance).clamp(0.0, 1.0)
    }
}

/// The five parameters of an application, a file of it, or a process of it, and how well they describe it.
///
/// The parameters are those of the self-scaling paper, section 5.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Traits {
    /// Distinct bytes that were read or written, in whole pages of 4 KiB but never past the last byte touched.
    pub unique_bytes: u64,
    /// Mean of the bytes that a call moved.
    pub size_mean: u64,
    /// The distribution that is nearest to the sizes seen.
    pub size_distribution: SizeDistribution,
    /// Bytes that sizes are multiples of where all requests have one size, `size_mean`, between two multiples of the usual alignment; absent
    /// otherwise, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align_bytes: Option<u64>,
    /// Fraction of requests that are reads.
    #[serde(deserialize_with = "fraction")]
    pub read_frac: f64,
    /// Fraction of bytes that are read: where it is far from `read_frac`, reads and writes have different sizes.
    pub read_bytes_frac: f64,
    /// Fraction of requests that start where the same process's previous request to the same file ended.
    #[serde(deserialize_with = "fraction")]
    pub seq_frac: f64,
    /// Mean number of processes in their I/O phase at the same time, rounded, at least 1.
    pub process_num: u32,
    /// Mean time that a process spends between two requests.
    pub think_time_ns: u64,
    /// How the requests reach storage, as far as the open flags show.
    pub access: Access,
    /// 1 less the largest of the three distances below: 1 is a workload of the model itself, 0 nothing like it.
    #[serde(deserialize_with = "fraction")]
    pub goodness: f64,
    /// Largest difference between the cumulative distributions of the sizes seen and of `size_distribution`.
    pub size_distance: f64,
    /// The same for the lengths of sequential runs, which are geometric in the model.
    pub run_distance: f64,
    /// How far the share of successive requests of different kinds, read and write, is from the model's 2 r (1 - r).
    pub mix_distance: f64,
    /// Fraction of requests that are of the other kind, read or write, than the same process's request before; absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "fraction")]
    pub change_frac: Option<f64>,
    /// Fraction of requests that start where the same process's previous request to any file ended.
    pub strict_seq_frac: f64,
    /// Number of requests: calls that moved bytes.
    pub requests: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Calls that waited for dirty pages: `fsync`, `fdatasync`, `sync_file_range`.
    pub syncs: u64,
    /// Mean time of a request, less what tracing adds and waits for a processor.
    #[serde(deserialize_with = "not_negative")]
    pub response_time_ns: f64,
    /// Mean time of a sync, less the same.
    pub sync_time_ns: f64,
    /// Seconds in which at least one process was in its I/O phase.
    pub active_s: f64,
}

impl Traits {
    /// The workload with these parameters, made valid where an application goes beyond what can be run.
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
    /// The same workload with an alignment that its size is a multiple of, the largest below the one in force: a fixed size between two
    /// multiples would be a mix of both. An alignment that is refused stays, to be refused.
    #[must_use]
    pub fn with_exact_size(self) -> Self {
        let (size, align) = (self.size_mean, self.align());
        if !align.is_power_of_two() || align > size || size.is_multiple_of(align) {
            return self;
        }
        Self { align_bytes: Some(1 << size.trailing_zeros()), ..self }
    }

    /// Whether the same workload with `align_bytes` may make each of its requests: all have one size to the byte, a fixed one that is a multiple
    /// of its alignment, and their places are no finer.
    pub fn is_aligned_within(&self, align_bytes: Option<u64>) -> bool {
        let is_fixed = self.size_distribution == SizeDistribution::Fixed;
        let is_one = is_fixed && self.by_operation.is_none();
        let other = Self { align_bytes, ..self.clone() };
        is_one && self.size_mean.is_multiple_of(self.align()) && self.align() >= other.align()
    }
}

/// What kind of file a name denotes.
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
    /// Path at its first use; ` (deleted)` follows where it no longer had a name.
    pub path: String,
    /// Regular file or block device.
    pub kind: FileKind,
    /// How often it was opened.
    pub opens: u64,
    /// Bytes that were mapped into memory; loads and stores there are not seen.
    pub mapped_bytes: u64,
    /// Its share of the workload.
    #[serde(flatten)]
    pub traits: Traits,
}

/// One process or thread of an application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessTraits {
    /// Process number as the system gave it.
    pub pid: u32,
    /// Thread number; the same as `pid` for the first thread.
    pub tid: u32,
    /// The program's name, at most 15 bytes of it.
    pub command: String,
    /// Its share of the workload.
    #[serde(flatten)]
    pub traits: Traits,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// With this exit code.
    Exit(i32),
    /// Killed by this signal.
    Signal(i32),
}

impl Ending {
    /// How a command failed, if it did: its exit code as a shell gives it, and a sentence.
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
    /// The files, those with most bytes first.
    pub files: Vec<FileTraits>,
    /// The processes and threads, those with most bytes first.
    pub processes: Vec<ProcessTraits>,
    /// Files beyond those listed.
    pub files_left_out: u64,
    /// Processes beyond those listed.
    pub processes_left_out: u64,
    /// The command, word by word.
    pub command: Vec<String>,
    /// How it ended; absent when it was stopped by an interruption before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// From its start to the end of its last process, tracing included.
    #[serde(deserialize_with = "not_negative")]
    pub elapsed_s: f64,
    /// Bytes moved over `elapsed_s`.
    #[serde(deserialize_with = "not_negative")]
    pub throughput_bytes_per_s: f64,
    /// The folder or file outside of which files were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
    /// Memory of the control group it ran in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit_bytes: Option<u64>,
    /// Calls that stopped for the recorder.
    pub calls_traced: u64,
    /// Calls that read or wrote something else than regular files and block devices, by its kind.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub elsewhere: std::collections::BTreeMap<String, u64>,
    /// What tracing adds to the times.
    pub tracing: TracingCost,
    /// The requests by kind and size, and what a cache of any size would hold; absent in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<AccessPattern>,
    /// Its phases, in order; absent in older results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
}

impl Characterization {
    /// The name of its program, without folders.
    pub fn program(&self) -> String {
        let name = self.command.first().map(Path::new).and_then(Path::file_name);
        name.map_or("application".to_owned(), |name| name.to_string_lossy().into_owned())
    }
}

impl FileCall {
    /// How long it took less what others held it up for, in nanoseconds.
    pub fn own_ns(&self) -> u64 {
        self.completed_ns.saturating_sub(self.issued_ns).saturating_sub(self.held_within_ns)
    }

    /// As a row of a trace, less what others held it up for.
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

    /// Whether it waited for dirty pages and moved nothing itself.
    pub fn is_sync(&self) -> bool {
        self.request.len == 0
    }

    /// Whether it read.
    pub fn is_read(&self) -> bool {
        self.request.op == Op::Read && !self.is_sync()
    }
}

/// An application as the calls it made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Portrait {
    /// All of it.
    pub overall: Traits,
    /// The hundred files with most bytes, in this order, by their numbers in the calls.
    pub files: Vec<(u32, Traits)>,
    /// Files beyond those.
    pub files_left_out: u64,
    /// The hundred processes with most bytes, in this order, by their numbers.
    pub processes: Vec<(u32, Traits)>,
    /// Processes beyond those.
    pub processes_left_out: u64,
    /// The phases, in order.
    pub phases: Vec<Phase>,
    /// Whether most writes were direct and synchronous (`O_DIRECT` and `O_DSYNC`), which no access of a workload is.
    pub direct_writes_are_synchronous: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traits_make_a_valid_workload_whatever_they_say() {
        assert_eq!(Traits::default().workload().validate(), Ok(()));
        let odd = Traits {
            size_mean: u64::MAX,
            unique_bytes: 3,
            read_frac: 7.0,
            process_num: 1 << 20,
            ..Traits::default()
        };
        assert_eq!(odd.workload().validate(), Ok(()));
    }

    #[test]
    fn the_workload_has_the_alignment_that_was_found_and_none_of_its_own() {
        let align = |size_mean: u64, align_bytes| {
            let size_distribution = SizeDistribution::Fixed;
            // The mean is exact, as that of 4 KiB and 8 KiB in turn.
            let (requests, bytes) = (2, 2 * size_mean);
            let one = Traits { size_mean, size_distribution, align_bytes, ..Traits::default() };
            Traits { requests, bytes, ..one }.workload().align_bytes
        };
        assert_eq!(align(5120, Some(1024)), Some(1024));
        assert_eq!(align(6144, None), None);
        // What divides no size is no alignment.
        assert_eq!([Some(0), Some(3), Some(4096)].map(|one| align(5120, one)), [None; 3]);
    }

    #[test]
    fn one_size_is_the_same_with_every_alignment_that_is_no_finer() {
        let of = |size_mean, align, other| {
            let size_distribution = SizeDistribution::Fixed;
            let own = Workload { size_mean, size_distribution, ..Workload::default() };
            Workload { align_bytes: align, ..own }.is_aligned_within(other)
        };
        assert!(of(4096, None, None) && of(65_536, Some(65_536), None));
        assert!(of(5120, Some(1024), Some(512)) && !of(5120, None, None));
        assert!(!of(4096, Some(512), None) && !of(5120, Some(1024), None));
    }

    #[test]
    fn an_older_result_tells_no_alignment() {
        let mut text = serde_json::to_value(Traits::default()).unwrap();
        assert!(text.get("align_bytes").is_none());
        assert_eq!(serde_json::from_value::<Traits>(text.clone()).unwrap().align_bytes, None);
        text["align_bytes"] = 1024.into();
        assert_eq!(serde_json::from_value::<Traits>(text).unwrap().align_bytes, Some(1024));
    }

    #[test]
    fn files_carry_their_traits_beside_their_name() {
        let file = FileTraits { path: "a".into(), ..FileTraits::default() };
        let text = serde_json::to_value(&file).unwrap();
        assert_eq!(text["unique_bytes"], 0);
        assert_eq!(serde_json::from_value::<FileTraits>(text).unwrap(), file);
    }
}
