//! A trace as every command reads it: files, pipes or standard input, of any format, the rows asked for, with progress and
//! a way to stop.

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

/// Batches between two looks at the progress.
const BATCHES: u64 = 16;

/// What the user is told who stops a command before it did anything.
const STOPPED: &str = "interrupted while the trace was read: nothing was done";

/// What the user is told who stops a command before it read anything that was asked for.
pub const NOTHING: &str = "interrupted: nothing of the choice was read";

/// A trace being read.
pub struct Rows {
    /// What is chosen of it.
    pub selected: SelectedRows,
    progress: Progress,
    /// Bytes read so far, of as many if that is known.
    bytes: (Arc<AtomicU64>, u64),
    stop: Arc<AtomicBool>,
    batches: u64,
    interrupted: bool,
}

impl Rows {
    /// Opens the files of one trace.
    ///
    /// # Errors
    /// A file that cannot be opened, or is no trace.
    pub fn open(traces: &[PathBuf], args: &RowsArgs) -> Result<Self, Failure> {
        Self::of(&mut Files::open(traces)?, args)
    }

    /// Reads files that are open.
    ///
    /// # Errors
    /// A file that cannot be read, or is no trace.
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
            // The user named what is no trace, or not of that format; nothing was done yet.
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

    /// Replaces the rows in `into` by the next ones asked for, perhaps none; `false` when the trace is over or the user stops.
    ///
    /// # Errors
    /// Bytes that cannot be read, broken records, and a disk that is not in the trace.
    pub fn next(&mut self, into: &mut Vec<Io>) -> Result<bool, Failure> {
        if self.stop.load(Ordering::Relaxed) {
            self.interrupted = true;
            into.clear();
            return Ok(false);
        }
        let more = self.selected.next(into);
        if more.is_err() && self.stop.load(Ordering::Relaxed) {
            // A pipe that is waited for ends with an error.
            return self.next(into);
        }
        self.show();
        more.map_err(failure)
    }

    /// Gives `take` the rows asked for, batch by batch, until the trace is over or the user stops.
    ///
    /// # Errors
    /// As of [`Self::next`].
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

    /// All rows asked for, in memory.
    ///
    /// # Errors
    /// As [`Self::next`]; none was asked for, or the user stopped: nothing was done yet.
    pub fn all(mut self) -> Result<Whole, Failure> {
        let mut rows = Vec::new();
        self.each(|batch, _| rows.extend_from_slice(batch))?;
        self.whole(STOPPED)?;
        Ok(Whole { rows, info: self.info().clone(), asked: self.selected.devices() })
    }

    /// Refuses a choice that holds nothing; to be asked when the trace is over.
    ///
    /// # Errors
    /// No row was chosen.
    pub fn check(&self) -> Result<(), Failure> {
        self.selected.check().map_err(failure)
    }

    /// As of [`Self::check`], also where the user stopped it before there was anything.
    ///
    /// # Errors
    /// No row was chosen, or none until the user stopped it.
    pub fn some(&self) -> Result<(), Failure> {
        self.check().or_else(|none| self.unstopped(NOTHING).and(Err(none)))
    }

    /// Fails with `text` where the user stopped it.
    ///
    /// # Errors
    /// That text.
    pub fn unstopped(&self, text: &str) -> Result<(), Failure> {
        match self.interrupted {
            true => Err(Failure::Interrupted(text.to_owned())),
            false => Ok(()),
        }
    }

    /// Refuses a trace that is not read to its end, with `text`, and a choice that holds nothing.
    ///
    /// # Errors
    /// As of [`Self::unstopped`] and [`Self::check`].
    pub fn whole(&self, text: &str) -> Result<(), Failure> {
        self.unstopped(text)?;
        self.check()
    }

    /// Rows read so far, chosen or not.
    pub fn read(&self) -> u64 {
        self.selected.read()
    }

    /// What holds for the trace as a whole; complete after the last batch.
    pub fn info(&self) -> &TraceInfo {
        self.selected.info()
    }

    /// Whether the user stopped it.
    pub fn interrupted(&self) -> bool {
        self.interrupted
    }

    /// Takes the progress away.
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

/// All rows of a trace that were asked for.
pub struct Whole {
    /// The rows in the order of arrival.
    pub rows: Vec<Io>,
    /// The tables of the trace.
    pub info: TraceInfo,
    /// The devices asked for, as they were asked for; `None` for all.
    pub asked: Option<Vec<u16>>,
}

/// What the user calls a trace: its file names without their folders.
pub fn name(traces: &[PathBuf]) -> String {
    let names = traces
        .iter()
        .map(|path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned());
    names.collect::<Vec<_>>().join(", ")
}
