//! `ioscape trace import` and `export`: from one format to another.

use super::files::{self, Output};
use crate::args::{ExportArgs, ImportArgs};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{interrupt, output};
use ioscape_schema::units::Count;
use ioscape_schema::{Document, Io, Op, TraceFile, TraceInfo};
use ioscape_trace::{Error, Options, OutFormat};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Batches between two looks at the progress.
const BATCHES: u64 = 16;

/// Imports traces.
///
/// # Errors
/// A trace that cannot be read, or a file that cannot be written.
pub fn import(args: &ImportArgs) -> Result<(), Failure> {
    let text = args.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"));
    let format = if text { OutFormat::Csv } else { OutFormat::Parquet };
    let options = Options { format: args.format, skip_bad: args.skip_bad };
    convert(&args.inputs, &options, &args.output, format, args.json)
}

/// Exports a trace.
///
/// # Errors
/// A trace that cannot be read, or a file that cannot be written.
pub fn export(args: &ExportArgs) -> Result<(), Failure> {
    let options = Options { format: None, skip_bad: args.skip_bad };
    convert(std::slice::from_ref(&args.trace), &options, &args.output, args.format, args.json)
}

fn convert(
    inputs: &[PathBuf],
    options: &Options,
    to: &Path,
    format: OutFormat,
    json: bool,
) -> Result<(), Failure> {
    let mut document = output::document(0);
    let opened = files::open(inputs)?;
    let mut reader = ioscape_trace::open(opened.sources, options).map_err(of_open)?;
    let progress = Progress::of_bytes(opened.bytes, &reader.info().format);
    let (file, mut writer) = Output::new(to, format)?;
    let interrupted = interrupt::flag();
    let mut told = TraceFile {
        path: to.display().to_string(),
        format: format.name().to_owned(),
        ..TraceFile::default()
    };
    let mut first_ns = None;
    let mut batch = Vec::new();
    for number in 0u64.. {
        if !reader.next_batch(&mut batch).map_err(of_trace)? {
            break;
        }
        if interrupted.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted(format!(
                "interrupted; {} was not written",
                to.display()
            )));
        }
        writer.rows(&batch, reader.info()).map_err(of_trace)?;
        count(&mut told, &mut first_ns, &batch);
        if number.is_multiple_of(BATCHES) {
            let rows = format!("{} rows", Count(told.rows as f64));
            progress.reached(opened.read.load(Ordering::Relaxed), &rows);
        }
    }
    writer.finish(reader.info()).map_err(of_trace)?;
    told.file_bytes = file.keep()?;
    progress.done();
    finish(&mut document, told, reader.info().clone());
    output::show(&document, json)
}

/// Adds a batch to what is told of the trace.
pub fn count(told: &mut TraceFile, first_ns: &mut Option<u64>, batch: &[Io]) {
    let (Some(first), Some(last)) = (batch.first(), batch.last()) else { return };
    let first = *first_ns.get_or_insert(first.queued_ns);
    told.span_ns = last.queued_ns.saturating_sub(first);
    told.rows += batch.len() as u64;
    for io in batch {
        told.reads += u64::from(io.request.op == Op::Read);
        told.bytes += if io.moves_data() { u64::from(io.request.len) } else { 0 };
    }
}

/// Puts what is told of the trace into the document, with its doubts.
pub fn finish(document: &mut Document, mut told: TraceFile, info: TraceInfo) {
    told.info = info;
    ioscape_trace::doubts(&told.info).into_iter().for_each(|doubt| document.warn(doubt));
    document.trace_files = Some(vec![told]);
}

/// What cannot be opened is the user's to name; nothing was done yet.
pub fn of_open(error: Error) -> Failure {
    match error {
        Error::Read { .. } | Error::Write(_) => Failure::Failed(error.to_string()),
        other => Failure::Misuse(other.to_string()),
    }
}

/// What went wrong on the way.
pub fn of_trace(error: Error) -> Failure {
    Failure::Failed(error.to_string())
}
