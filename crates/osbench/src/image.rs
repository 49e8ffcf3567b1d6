//! Processes that begin as a fresh image of this program, by `exec`.
//!
//! Forking a process costs more the more memory it has. A process forked from the conductor has all
//! the data that the run has gathered so far, so its own forks would cost more late in a run than
//! early.
#![expect(unsafe_code, reason = "takes over a descriptor by its number")]

use super::case::Program;
use ioscape_machine::shared::Shared;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{FdFlags, fcntl_setfd};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// Memory for a process's report, shared with the image that the process may `exec`.
#[derive(Debug)]
pub(crate) struct Report {
    memory: Shared,
    /// The file that an image maps again; absent if the process keeps its forked image.
    file: Option<File>,
}

impl Report {
    /// Creates one of this many words; `to_image` says whether the process will `exec` a fresh
    /// image.
    pub(crate) fn new(words: usize, to_image: bool) -> io::Result<Self> {
        if !to_image {
            return Ok(Self { memory: Shared::new(1, words)?, file: None });
        }
        let file = File::from(memfd_create("ioscape-report", MemfdFlags::CLOEXEC)?);
        Ok(Self { memory: Shared::in_file(&file, 1, words)?, file: Some(file) })
    }

    /// Opens the report that this process inherited, from the image before, as the descriptor of
    /// this number.
    ///
    /// # Errors
    /// The text is no descriptor number, or the descriptor is no such file.
    pub(crate) fn inherited(number: &OsStr, words: usize) -> io::Result<Self> {
        let number = number.to_str().and_then(|text| text.parse().ok()).filter(|fd| *fd > 2);
        let number = number.ok_or(io::ErrorKind::InvalidInput)?;
        // SAFETY: a fresh image has opened nothing beyond the standard descriptors yet; a wrong
        // number is reported as an error.
        let file = unsafe { File::from_raw_fd(number) };
        Ok(Self { memory: Shared::in_file(&file, 1, words)?, file: Some(file) })
    }

    /// Returns its words.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        self.memory.report(0)
    }

    /// Records how often this process was stopped and continued.
    pub(crate) fn leave_stops(&self, stops: u64) {
        self.memory.header().progress.store(stops, Ordering::Release);
    }

    /// Returns how often the process recorded that it was stopped and continued.
    pub(crate) fn stops(&self) -> u64 {
        self.memory.header().progress.load(Ordering::Acquire)
    }

    /// Replaces this process by a fresh image of `program`, which runs the step of this name with
    /// these further words and reports here. Returns only if that fails.
    pub(crate) fn enter(&self, program: &Program, step: &str, words: &[OsString]) -> io::Error {
        let why = match &self.file {
            None => io::ErrorKind::InvalidInput.into(),
            Some(file) => match fcntl_setfd(file, FdFlags::empty()) {
                Ok(()) => Command::new(&program.path)
                    .args(&program.first)
                    .args([step, &file.as_raw_fd().to_string()])
                    .args(words)
                    .exec(),
                Err(error) => error.into(),
            },
        };
        let text = format!("cannot begin {} anew: {why}", program.path.display());
        io::Error::new(why.kind(), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing_toolchain::FakeToolchain;

    fn program(path: &str) -> Program {
        Program { path: path.into(), first: Vec::new(), toolchain: &FakeToolchain }
    }

    #[test]
    fn what_an_image_reports_arrives() {
        let report = Report::new(8, true).unwrap();
        let file = report.file.as_ref().unwrap().try_clone().unwrap();
        let number = OsString::from(std::os::fd::IntoRawFd::into_raw_fd(file).to_string());
        let there = Report::inherited(&number, 8).unwrap();
        there.words()[7].store(5, Ordering::Relaxed);
        there.leave_stops(2);
        assert_eq!((report.words()[7].load(Ordering::Relaxed), report.stops()), (5, 2));
        for wrong in ["x", "2", "-1"] {
            assert!(Report::inherited(OsStr::new(wrong), 8).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_program_that_is_gone_is_named() {
        let report = Report::new(8, true).unwrap();
        let error = report.enter(&program("/nonexistent"), "case", &[]);
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("/nonexistent anew"), "{error}");
        let forked = Report::new(8, false).unwrap();
        assert_eq!(forked.enter(&program("/"), "case", &[]).kind(), io::ErrorKind::InvalidInput);
    }
}
