//! The files of a trace: opened once, and readable as their formats need, whatever they are.

use crate::failure::Failure;
use ioscape_machine::input::{Input, Readable};
use ioscape_machine::{Error, interrupt};
use ioscape_trace::{Format, ReadOptions, Source, needs_file};
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The open files of one trace.
pub struct Files(Vec<Input>);

impl Files {
    /// Opens the files; `-` is standard input.
    ///
    /// # Errors
    /// A file cannot be opened or is a directory, or a file or standard input is named twice.
    pub fn open(paths: &[PathBuf]) -> Result<Self, Failure> {
        Ok(Self(Input::open_all(paths)?))
    }

    /// Makes all files readable a second time, for commands that read a trace twice.
    ///
    /// # Errors
    /// A pipe cannot be read, does not begin like a trace (it may be endless), or has more bytes
    /// than there is room for.
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

    /// Bytes of all files; `None` if one of them is a pipe.
    pub fn bytes(&self) -> Option<u64> {
        self.0.iter().map(Input::length).sum()
    }

    /// The files from the start; the bytes read from them are added to `read`.
    ///
    /// # Errors
    /// A file cannot be read, or a pipe has been read before.
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
