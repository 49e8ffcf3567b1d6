//! A recording and what its calls amount to, as one result.

use super::faults::MappedUse;
use super::files::TracedFile;
use super::threads::TracedProcess;
use ioscape_schema::{
    Characterization, Ending, FileTraits, Portrait, ProcessTraits, TracingCost, Traits,
};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// What is known of a recording besides its calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The files, by [`FileCall::file`](ioscape_schema::FileCall::file).
    pub files: Vec<TracedFile>,
    /// The threads that moved bytes, by [`FileCall::process`](ioscape_schema::FileCall::process).
    pub processes: Vec<TracedProcess>,
    /// How the command itself ended.
    pub ending: Option<Ending>,
    /// Whether it was ended by an interruption.
    pub interrupted: bool,
    /// From its first instruction to the end of its last process.
    pub elapsed_ns: u64,
    /// Calls that stopped for the recorder.
    pub calls_traced: u64,
    /// Calls on anything but counted files, by its kind.
    pub elsewhere: BTreeMap<&'static str, u64>,
    /// What tracing adds to the times.
    pub cost: TracingCost,
    /// Rings of `io_uring` that were set up, or calls or requests on them, whose bytes are not seen.
    pub unseen_calls: u64,
    /// Descriptors of counted files that were taken to begin at the first byte and to have no flags, since these could not be read.
    pub unread_descriptors: u64,
    /// Faults on mapped files.
    pub mapped: MappedUse,
    /// A 32-bit program that ran, whose calls are not seen.
    pub foreign: Option<String>,
    /// Whether the filter was in place.
    pub filtered: bool,
    /// The memory limit in force, in bytes.
    pub memory_limit: Option<u64>,
    /// Most memory that one of its processes had for itself, whoever waited for it, in bytes and at least: what may have been pages of files that it mapped
    /// does not count.
    pub memory_bytes: Option<u64>,
}

impl Recording {
    /// The result: `portrait` is what the calls of `command` amount to, on files in `below` if only those were counted.
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
