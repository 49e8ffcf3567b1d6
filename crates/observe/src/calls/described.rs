//! A recording and what its calls amount to, as one result.

use super::Recording;
use ioscape_schema::{Characterization, FileTraits, Portrait, ProcessTraits, Traits};
use std::ffi::OsString;
use std::path::Path;

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
