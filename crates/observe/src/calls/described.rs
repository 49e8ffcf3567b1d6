//! Combines a recording and the portrait of its calls into one result.

use super::faults::MappedUse;
use super::files::TracedFile;
use super::threads::TracedProcess;
use ioscape_schema::{
    Characterization, Ending, FileTraits, Portrait, ProcessTraits, TracingCost, Traits, Warning,
};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// What is known of a recording apart from its calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The files, by [`FileCall::file`](ioscape_schema::FileCall::file).
    pub files: Vec<TracedFile>,
    /// The threads that moved bytes, by [`FileCall::process`](ioscape_schema::FileCall::process).
    pub processes: Vec<TracedProcess>,
    /// How the command itself ended.
    pub ending: Option<Ending>,
    /// Whether an interruption ended it.
    pub interrupted: bool,
    /// Nanoseconds from the command's first instruction to the end of its last process.
    pub elapsed_ns: u64,
    /// The number of calls at which a process stopped for the recorder.
    pub calls_traced: u64,
    /// Calls on anything except counted files, by kind.
    pub elsewhere: BTreeMap<&'static str, u64>,
    /// What tracing adds to the times.
    pub cost: TracingCost,
    /// The number of `io_uring` rings set up, or of calls or requests on them, whose bytes cannot
    /// be seen.
    pub unseen_calls: u64,
    /// Descriptors of counted files whose position and flags could not be read. They are assumed to
    /// begin at the first byte, without flags.
    pub unread_descriptors: u64,
    /// Bytes of copies, read and written, whose file system does not say whether it moved them.
    pub untold_copied_bytes: u64,
    /// Faults on mapped files.
    pub mapped: MappedUse,
    /// A 32-bit program that ran; its calls cannot be seen.
    pub foreign: Option<String>,
    /// A setuid or setgid program that ran without its rights because it was traced.
    pub unprivileged: Option<String>,
    /// Whether the filter was in place.
    pub filtered: bool,
    /// The memory limit in force, in bytes.
    pub memory_limit: Option<u64>,
    /// The warning that other limits do not hold under it.
    pub doubt: Option<Warning>,
    /// The most memory that any one of its processes had for itself, even one that nobody waited
    /// for; a lower bound in bytes. It excludes whatever may have been pages of mapped files.
    pub memory_bytes: Option<u64>,
}

impl Recording {
    /// Builds the result. `portrait` sums up the calls of `command`, on files in `below` if only
    /// those were counted.
    pub fn characterization(
        &self,
        command: &[OsString],
        below: Option<&Path>,
        portrait: Portrait,
    ) -> Characterization {
        let elapsed_s = self.elapsed_ns as f64 / 1e9;
        let rate = portrait.overall.bytes as f64 / elapsed_s;
        let command = command.iter().map(|word| word.to_string_lossy().into_owned());
        Characterization {
            files: portrait.files.into_iter().filter_map(|one| self.file(one)).collect(),
            processes: portrait.processes.into_iter().filter_map(|one| self.process(one)).collect(),
            overall: portrait.overall,
            files_left_out: portrait.files_left_out,
            processes_left_out: portrait.processes_left_out,
            command: command.collect(),
            ending: self.ending,
            elapsed_s,
            throughput_bytes_per_s: if elapsed_s > 0.0 { rate } else { 0.0 },
            below: below.map(|path| path.display().to_string()),
            memory_limit_bytes: self.memory_limit,
            calls_traced: self.calls_traced,
            elsewhere: self.elsewhere.iter().map(|(what, n)| ((*what).to_owned(), *n)).collect(),
            unplaced_faults: self.mapped.unplaced_later,
            mapped_unseen_bytes: if self.mapped.is_seen() { 0 } else { self.mapped.bytes_later },
            tracing: self.cost,
            pattern: None,
            phases: portrait.phases,
        }
    }

    fn file(&self, (number, traits): (u32, Traits)) -> Option<FileTraits> {
        let file = self.files.get(number as usize)?;
        Some(FileTraits {
            path: file.path.clone(),
            kind: file.kind,
            opens: file.opens,
            mapped_bytes: file.mapped_bytes,
            traits,
        })
    }

    fn process(&self, (number, traits): (u32, Traits)) -> Option<ProcessTraits> {
        let process = self.processes.get(number as usize)?;
        let (pid, tid, command) = (process.pid, process.tid, process.command.clone());
        Some(ProcessTraits { pid, tid, command, traits })
    }
}
