//! `ioscape trace import` and `export`: from one format to another.

use crate::failure::Failure;
use crate::output;
use crate::outputs;
use crate::traces::{Output, Rows};
use ioscape_arguments::{ExportArgs, ImportArgs, RowsArgs};
use ioscape_schema::{Document, TraceFile};
use ioscape_trace::{Error, OutFormat, Writer};
use std::path::PathBuf;
use std::slice;

/// Imports traces.
///
/// # Errors
/// A trace that cannot be read, or a file that cannot be written.
pub fn import(args: &ImportArgs) -> Result<(), Failure> {
    let text = args.out.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"));
    let format = if text { OutFormat::Csv } else { OutFormat::Parquet };
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

fn convert(
    inputs: &[PathBuf],
    args: &RowsArgs,
    (file, mut writer): (Output, Writer),
    format: OutFormat,
    json: bool,
) -> Result<(), Failure> {
    let mut document = output::document(0);
    let mut rows = Rows::open(inputs, args)?;
    let mut told = TraceFile {
        path: file.path().display().to_string(),
        format: format.name().to_owned(),
        ..TraceFile::default()
    };
    let (mut first_ns, mut batch) = (None, Vec::new());
    while rows.next(&mut batch)? {
        writer.rows(&batch, rows.info()).map_err(of_trace)?;
        told.count(&mut first_ns, &batch);
    }
    if rows.interrupted() {
        let text = format!("interrupted; {} was not written", file.path().display());
        return Err(Failure::Interrupted(text));
    }
    // A trace of no rows is one too.
    if rows.read() > 0 {
        rows.check()?;
    }
    writer.finish(rows.info()).map_err(of_trace)?;
    told.file_bytes = file.keep()?;
    rows.done();
    told.info = rows.info().clone();
    finish(&mut document, vec![told]);
    output::show(&document, json)
}

/// Puts what is told of the traces into the document, with its warnings.
pub fn finish(document: &mut Document, told: Vec<TraceFile>) {
    let doubts = told.iter().flat_map(|file| ioscape_trace::doubts(&file.info));
    doubts.for_each(|doubt| document.warn(doubt));
    document.outcome = Some(told.into());
}

/// What went wrong on the way.
pub fn of_trace(error: Error) -> Failure {
    Failure::Failed(error.to_string())
}
