//! The rows of a trace that were asked for, batch by batch, with progress and a way to stop.

use crate::args::RowsArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Progress;
use ioscape_schema::{Io, TraceInfo};
use ioscape_trace::analyze::select::Selection;
use ioscape_trace::{Options, Reader, Source, open};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A trace being read.
pub struct Rows {
    reader: Reader,
    wanted: Option<String>,
    selection: Selection,
    progress: Progress,
    stop: Arc<AtomicBool>,
    count: u64,
    interrupted: bool,
}

impl Rows {
    /// Opens the files of one trace.
    ///
    /// # Errors
    /// A file that cannot be opened, or is no trace.
    pub fn open(traces: &[PathBuf], args: &RowsArgs) -> Result<Self, Failure> {
        let sources = traces.iter().map(|path| source(path)).collect::<Result<_, _>>()?;
        let options = Options { format: args.format, skip_bad: args.skip_bad };
        let reader = open(sources, &options).map_err(|e| Failure::Misuse(e.to_string()))?;
        let selection = Selection { from_ns: args.from, to_ns: args.to, device: None };
        Ok(Self {
            reader,
            wanted: args.disk.clone(),
            selection,
            progress: Progress::of_rows(),
            stop: interrupt::flag(),
            count: 0,
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
            return Ok(false);
        }
        let more = self.reader.next_batch(into).map_err(|e| Failure::Failed(e.to_string()))?;
        self.count += into.len() as u64;
        self.progress.rows(self.count);
        if !self.selection.is_all() || self.wanted.is_some() {
            self.find_disk(!more)?;
            self.selection.keep(into);
            if self.wanted.is_some() {
                into.clear();
            }
        }
        Ok(more)
    }

    /// The number of the disk that was asked for: a source may tell its devices as they come.
    fn find_disk(&mut self, ended: bool) -> Result<(), Failure> {
        let Some(wanted) = &self.wanted else { return Ok(()) };
        let devices = &self.reader.info().devices;
        let named = devices.iter().position(|device| device.name == *wanted);
        let number = wanted.parse().ok().filter(|&n: &usize| n < devices.len());
        if let Some(index) = named.or(number).and_then(|index| u16::try_from(index).ok()) {
            self.selection.device = Some(index);
            self.wanted = None;
        } else if ended {
            let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
            return Err(Failure::Misuse(format!(
                "--disk {wanted}: the trace has no such disk, but {}",
                names.join(", ")
            )));
        }
        Ok(())
    }

    /// What holds for the trace as a whole; complete after the last batch.
    pub fn info(&self) -> &TraceInfo {
        self.reader.info()
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

fn source(path: &Path) -> Result<Source, Failure> {
    let name = path.display().to_string();
    let file = File::open(path)
        .map_err(|e| Failure::Misuse(format!("cannot read trace {name}: {e}: check the path")))?;
    let plain = file.metadata().is_ok_and(|about| about.is_file());
    if file.metadata().is_ok_and(|about| about.is_dir()) {
        return Err(Failure::Misuse(format!("{name} is a directory: name the trace's files")));
    }
    Ok(if plain { Source::file(name, file) } else { Source::stream(name, file) })
}

/// What the user calls a trace: its file names without their folders.
pub fn name(traces: &[PathBuf]) -> String {
    let names = traces
        .iter()
        .map(|path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned());
    names.collect::<Vec<_>>().join(", ")
}
