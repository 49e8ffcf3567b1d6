//! A trace as every command reads it: files, pipes or standard input in any format, the requested
//! rows, with progress and a way to stop.

mod files;
mod output;

pub use files::Files;
pub use output::{Output, ROWS, ROWS_MOST, format_of_rows, keep_rows};

use crate::failure::Failure;
use ioscape_arguments::RowsArgs;
use ioscape_machine::interrupt;
use ioscape_machine::terminal::Progress;
use ioscape_schema::units::Count;
use ioscape_schema::{Io, TraceInfo};
use ioscape_trace::{Error, ReadOptions, SelectError, SelectedRows};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Batches between two updates of the progress.
const BATCHES: u64 = 16;

/// The message for a user who stops a command before it did anything.
const STOPPED: &str = "interrupted while the trace was read: nothing was done";

/// The message for a user who stops a command before it read any requested row.
pub const NOTHING: &str = "interrupted: nothing of the choice was read";

/// A trace being read.
pub struct Rows {
    /// The selected rows.
    pub selected: SelectedRows,
    progress: Progress,
    /// Bytes read so far, and the total if known.
    bytes: (Arc<AtomicU64>, u64),
    stop: Arc<AtomicBool>,
    batches: u64,
    interrupted: bool,
}

impl Rows {
    /// Opens the files of one trace.
    ///
    /// # Errors
    /// A file cannot be opened, or is not a trace.
    pub fn open(traces: &[PathBuf], args: &RowsArgs) -> Result<Self, Failure> {
        Self::of(&mut Files::open(traces)?, args)
    }

    /// Reads files that are open.
    ///
    /// # Errors
    /// A file cannot be read, or is not a trace.
    pub fn of(files: &mut Files, args: &RowsArgs) -> Result<Self, Failure> {
        let read = Arc::new(AtomicU64::new(0));
        let options = ReadOptions {
            format: args.format,
            skip_bad: args.choice.skip_bad,
            from_ns: args.choice.from,
            to_ns: args.choice.to,
        };
        let stop = interrupt::flag();
        let sources = files.sources(&read)?;
        let reader = ioscape_trace::open(sources, &options).map_err(|error| match error {
            _ if stop.load(Ordering::Relaxed) => Failure::Interrupted(STOPPED.to_owned()),
            Error::Read { .. } | Error::Write(_) => Failure::Failed(error.to_string()),
            // The user named a file that is not a trace, or not of that format; nothing has been
            // done yet.
            other => Failure::Misuse(other.to_string()),
        })?;
        let length = files.bytes();
        let progress = match length {
            Some(length) => Progress::of_bytes(length, &reader.info().format),
            None => Progress::of_rows(),
        };
        let choice = &args.choice;
        Ok(Self {
            selected: SelectedRows::new(reader, choice.from, choice.to, &choice.disk),
            progress,
            bytes: (read, length.unwrap_or(0)),
            stop,
            batches: 0,
            interrupted: false,
        })
    }

    /// Replaces the rows in `into` with the next requested ones, perhaps none; `false` when the
    /// trace is over or the user stops.
    ///
    /// # Errors
    /// Bytes cannot be read, records are broken, or a disk is not in the trace.
    pub fn next(&mut self, into: &mut Vec<Io>) -> Result<bool, Failure> {
        if self.stop.load(Ordering::Relaxed) {
            self.interrupted = true;
            into.clear();
            return Ok(false);
        }
        let more = self.selected.next(into);
        if more.is_err() && self.stop.load(Ordering::Relaxed) {
            // Waiting for a pipe ends with an error when the user stops.
            return self.next(into);
        }
        self.show();
        more.map_err(failure)
    }

    /// Passes the requested rows to `take`, batch by batch, until the trace is over or the user
    /// stops.
    pub fn each(&mut self, mut take: impl FnMut(&[Io], &Self)) -> Result<(), Failure> {
        let mut batch = Vec::new();
        while self.next(&mut batch)? {
            take(&batch, self);
        }
        self.done();
        Ok(())
    }

    fn show(&mut self) {
        if self.batches.is_multiple_of(BATCHES) {
            let rows = format!("{} requests", Count(self.read() as f64));
            if self.bytes.1 > 0 {
                self.progress.reached(self.bytes.0.load(Ordering::Relaxed), &rows);
            } else {
                self.progress.doing(&rows);
            }
        }
        self.batches += 1;
    }

    /// Reads all requested rows into memory.
    ///
    /// # Errors
    /// As for [`Self::next`]; no row was selected, or the user stopped, so that nothing was done.
    pub fn all(mut self) -> Result<Whole, Failure> {
        let mut rows = Vec::new();
        self.each(|batch, _| rows.extend_from_slice(batch))?;
        self.whole(STOPPED)?;
        Ok(Whole { rows, info: self.info().clone(), asked: self.selected.devices() })
    }

    /// Refuses an empty selection; to be called when the trace is over.
    ///
    /// # Errors
    /// No row was chosen.
    pub fn check(&self) -> Result<(), Failure> {
        self.selected.check().map_err(failure)
    }

    /// As [`Self::check`], but an interruption before the first selected row counts as one.
    ///
    /// # Errors
    /// No row was selected, or the user stopped before one was.
    pub fn some(&self) -> Result<(), Failure> {
        self.check().or_else(|none| self.unstopped(NOTHING).and(Err(none)))
    }

    /// Fails with `text` if the user stopped reading.
    ///
    /// # Errors
    /// The error with that text.
    pub fn unstopped(&self, text: &str) -> Result<(), Failure> {
        match self.interrupted {
            true => Err(Failure::Interrupted(text.to_owned())),
            false => Ok(()),
        }
    }

    /// Refuses, with `text`, a trace that was not read to its end, and an empty selection.
    pub fn whole(&self, text: &str) -> Result<(), Failure> {
        self.unstopped(text)?;
        self.check()
    }

    /// Rows read so far, selected or not.
    pub fn read(&self) -> u64 {
        self.selected.read()
    }

    /// The properties of the trace as a whole; complete after the last batch.
    pub fn info(&self) -> &TraceInfo {
        self.selected.info()
    }

    /// Whether the user stopped reading.
    pub fn interrupted(&self) -> bool {
        self.interrupted
    }

    /// Removes the progress display.
    pub fn done(&self) {
        self.progress.done();
    }
}

fn failure(error: SelectError) -> Failure {
    match error {
        SelectError::Read(error) => Failure::Failed(error.to_string()),
        other => Failure::misuse(other),
    }
}

/// All requested rows of a trace.
pub struct Whole {
    /// The rows in the order of arrival.
    pub rows: Vec<Io>,
    /// The tables of the trace.
    pub info: TraceInfo,
    /// The requested devices, in the order given; `None` for all.
    pub asked: Option<Vec<u16>>,
}

/// The name of a trace for the user: its file names without their folders.
pub fn name(traces: &[PathBuf]) -> String {
    let names = traces
        .iter()
        .map(|path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned());
    names.collect::<Vec<_>>().join(", ")
}
