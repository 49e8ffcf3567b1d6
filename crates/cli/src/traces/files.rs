//! The files of a trace: opened once, and whatever they are, readable as the formats need it.

use crate::failure::Failure;
use ioscape_machine::input::{Input, Readable};
use ioscape_machine::{Error, interrupt};
use ioscape_trace::{Format, ReadOptions, Source, needs_file};
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Open files of one trace.
pub struct Files(Vec<Input>);

impl Files {
    /// Opens the files; `-` is standard input.
    ///
    /// # Errors
    /// A file that cannot be opened, a directory, and a file or standard input named twice.
    pub fn open(paths: &[PathBuf]) -> Result<Self, Failure> {
        Ok(Self(Input::open_all(paths)?))
    }

    /// Makes all files readable again, for commands that read a trace twice.
    ///
    /// # Errors
    /// A pipe that cannot be read, begins like no trace (it may be endless), or has more bytes than there is room for.
    pub fn keep(&mut self, format: Option<Format>) -> Result<(), Failure> {
        let stop = interrupt::flag();
        for input in &mut self.0 {
            if let Some(head) = input.beginning().map_err(nothing_done)? {
                let beginning = Source::stream(input.name(), Cursor::new(head));
                let options = ReadOptions { format, ..ReadOptions::default() };
                if let Err(error @ ioscape_trace::Error::Unknown { .. }) =
                    ioscape_trace::open(vec![beginning], &options)
                {
                    return Err(Failure::Misuse(error.to_string()));
                }
            }
            input.keep(&stop).map_err(nothing_done)?;
        }
        Ok(())
    }

    /// Bytes of all files; `None` where a pipe is among them.
    pub fn bytes(&self) -> Option<u64> {
        self.0.iter().map(Input::length).sum()
    }

    /// The files from their beginnings; what is read of them is added to `read`.
    ///
    /// # Errors
    /// A file that cannot be read, and a pipe that was read before.
    pub fn sources(&mut self, read: &Arc<AtomicU64>) -> Result<Vec<Source>, Failure> {
        let stop = interrupt::flag();
        let source = |input: &mut Input| {
            let name = input.name();
            Ok(match input.read(needs_file, read, &stop).map_err(nothing_done)? {
                Readable::File(bytes) => Source::file(name, bytes),
                Readable::Stream(bytes) => Source::stream(name, bytes),
            })
        };
        self.0.iter_mut().map(source).collect()
    }
}

fn nothing_done(error: Error) -> Failure {
    match error {
        Error::Interrupted => Failure::of_measure(&error, ": nothing was done"),
        other => other.into(),
    }
}
