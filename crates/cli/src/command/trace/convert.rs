//! `ioscape trace import` and `export`: from one format to another.

use crate::failure::Failure;
use crate::output;
use crate::outputs;
use crate::traces::{Output, Rows};
use ioscape_arguments::{ExportArgs, ImportArgs, RowsArgs, STANDARD};
use ioscape_machine::pipeline::pipeline;
use ioscape_schema::{Document, Io, TraceFile, TraceInfo};
use ioscape_trace::{Error, OutFormat, Writer};
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::{Arc, OnceLock};

/// Imports traces.
///
/// # Errors
/// A trace that cannot be read, or a file that cannot be written.
pub fn import(args: &ImportArgs) -> Result<(), Failure> {
    let format = args.output_format.unwrap_or_else(|| OutFormat::of_name(&args.out.output));
    let names = outputs::names(args.out.force).reads("the trace", &args.inputs);
    let file = Output::new(names, &args.out.output, format)?;
    convert(&args.inputs, &args.rows, file, format, args.out.json)
}

/// Exports a trace.
///
/// # Errors
/// A trace that cannot be read, or a file that cannot be written.
pub fn export(args: &ExportArgs) -> Result<(), Failure> {
    let rows = RowsArgs { format: args.input_format, choice: args.choice.clone() };
    let names = outputs::names(args.out.force).reads("the trace", [&args.trace]);
    let file = Output::new(names, &args.out.output, args.format)?;
    convert(slice::from_ref(&args.trace), &rows, file, args.format, args.out.json)
}

/// Rows on their way to the writer, with the tables that they point into.
type Batch = (Vec<Io>, Arc<TraceInfo>);

/// What is written, and what is told of it.
struct Written {
    writer: Writer,
    told: TraceFile,
    first_ns: Option<u64>,
}

impl Written {
    fn take(&mut self, (rows, info): &Batch) -> Result<(), Error> {
        self.told.count(&mut self.first_ns, rows);
        self.writer.rows(rows, info)
    }
}

fn convert(
    inputs: &[PathBuf],
    args: &RowsArgs,
    (file, writer): (Output, Writer),
    format: OutFormat,
    json: bool,
) -> Result<(), Failure> {
    let mut document = output::document(0);
    let mut rows = Rows::open(inputs, args)?;
    let is_standard = file.path() == Path::new(STANDARD);
    let told = TraceFile {
        path: file.path().display().to_string(),
        format: format.name().to_owned(),
        ..TraceFile::begun()
    };
    let mut written = Written { writer, told, first_ns: None };
    copy(&mut rows, &mut written)?;
    let Written { writer, mut told, .. } = written;
    rows.unstopped(&format!("interrupted; {} was not written", file.path().display()))?;
    // A trace of no rows is one too.
    if rows.read() > 0 {
        rows.check()?;
    }
    writer.finish(rows.info()).map_err(|e| Failure::of_trace(&told.path, e))?;
    told.file_bytes = file.keep()?;
    rows.done();
    told.about(rows.info().clone());
    finish(&mut document, vec![told]);
    output::show_about(is_standard, &document, json)
}

/// Has all rows written, by another thread than the one that reads.
fn copy(rows: &mut Rows, written: &mut Written) -> Result<(), Failure> {
    let (mut info, failed) = (Arc::new(rows.info().clone()), OnceLock::new());
    let next = |(mut batch, _): Batch| {
        if failed.get().is_some() || !rows.next(&mut batch)? {
            return Ok::<_, Failure>(None);
        }
        if *info != *rows.info() {
            info = Arc::new(rows.info().clone());
        }
        Ok(Some((batch, Arc::clone(&info))))
    };
    let name = written.told.path.clone();
    pipeline(2, vec![written], next, |written, batch: &Batch| {
        if failed.get().is_none()
            && let Err(error) = written.take(batch)
        {
            let _ = failed.set(error);
        }
    })?;
    failed.into_inner().map_or(Ok(()), |error| Err(Failure::of_trace(&name, error)))
}

/// Puts what is told of the traces into the document, with its warnings.
pub fn finish(document: &mut Document, told: Vec<TraceFile>) {
    let doubts = told.iter().flat_map(|file| ioscape_trace::doubts(&file.info));
    doubts.for_each(|doubt| document.warn(doubt));
    document.outcome = Some(told.into());
}
