//! `ioscape trace import` and `export`: conversion from one format to another.

use crate::failure::{Failure, both};
use crate::output;
use crate::outputs;
use crate::traces::{Output, Rows};
use ioscape_arguments::{ExportArgs, ImportArgs, RowsArgs};
use ioscape_machine::pipeline::pipeline;
use ioscape_schema::{Document, Io, TraceFile, TraceInfo, Warning, WarningKind};
use ioscape_trace::{Error, OutFormat, Writer};
use std::path::PathBuf;
use std::slice;
use std::sync::OnceLock;

/// What a user needs to know to give a log to fio.
const FIO_FILES: &str = "fio reads and writes a file for each disk, in the folder where it is started: called as the disk, with _ for each / and blank";

/// Imports traces.
///
/// # Errors
/// A trace cannot be read, or a file cannot be written.
pub fn import(args: &ImportArgs) -> Result<(), Failure> {
    let format = args.output_format.unwrap_or_else(|| OutFormat::of_name(&args.out.output));
    let names = outputs::names(args.out.force).reads("the trace", &args.inputs);
    let file = Output::new(names, &args.out.output, format)?;
    convert(&args.inputs, &args.rows, file, format, args.out.json)
}

/// Exports a trace.
///
/// # Errors
/// The trace cannot be read, or a file cannot be written.
pub fn export(args: &ExportArgs) -> Result<(), Failure> {
    let rows = RowsArgs { format: args.input_format, choice: args.choice.clone() };
    let names = outputs::names(args.out.force).reads("the trace", [&args.trace]);
    let file = Output::new(names, &args.out.output, args.format)?;
    convert(slice::from_ref(&args.trace), &rows, file, args.format, args.out.json)
}

/// Rows on their way to the writer, with what is new in the tables to which they refer.
type Batch = (Vec<Io>, TraceInfo);

/// What is written, and what is reported about it.
struct Written {
    writer: Writer,
    info: TraceInfo,
    told: TraceFile,
    first_ns: Option<u64>,
    /// Number of rows that the format cannot hold, and a buffer for the other rows of a batch.
    left_out: u64,
    held: Vec<Io>,
}

impl Written {
    fn new(writer: Writer, told: TraceFile) -> Self {
        Self {
            writer,
            info: TraceInfo::default(),
            told,
            first_ns: None,
            left_out: 0,
            held: Vec::new(),
        }
    }

    fn take(&mut self, (rows, news): &Batch) -> Result<(), Error> {
        self.info.learn(news);
        let held = if rows.iter().all(|io| self.writer.holds(io)) {
            rows
        } else {
            self.held.clear();
            self.held.extend(rows.iter().filter(|io| self.writer.holds(io)));
            &self.held
        };
        self.left_out += (rows.len() - held.len()) as u64;
        self.told.count(&mut self.first_ns, held);
        self.writer.rows(held, &self.info)
    }
}

/// The warning about a file whose format cannot hold so many of the requests.
fn without_place(left_out: u64, format: OutFormat) -> Option<Warning> {
    let text = format!("{left_out} requests that move no bytes have no place in {}", format.name());
    (left_out > 0).then(|| Warning::new(WarningKind::TraceIncomplete, text))
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
    let told = TraceFile {
        path: file.path().display().to_string(),
        format: format.name().to_owned(),
        ..TraceFile::begun()
    };
    let mut written = Written::new(writer, told);
    copy(&mut rows, &mut written)?;
    let Written { writer, mut told, left_out, .. } = written;
    if !file.is_through() {
        rows.unstopped(&format!("interrupted; {} was not written", told.path))?;
    }
    // A trace without rows is valid too.
    if rows.read() > 0 && !rows.interrupted() {
        rows.check()?;
    }
    let there = format!("interrupted; {} holds only the first {} requests", told.path, told.rows);
    let ended = writer.finish(rows.info()).map_err(|e| Failure::of_trace(&told.path, e));
    let kept = ended.and_then(|()| file.keep());
    rows.done();
    if rows.interrupted() {
        // Whatever reads the pipe may have been interrupted together with this program.
        return both(rows.unstopped(&there), kept.map(drop));
    }
    told.file_bytes = kept?;
    told.about(rows.info().clone());
    finish(&mut document, vec![told]);
    without_place(left_out, format).into_iter().for_each(|doubt| document.warn(doubt));
    if format == OutFormat::FioLog {
        output::tell(FIO_FILES);
    }
    output::show_beside(&document, json)
}

/// Writes all rows in a different thread from the one that reads.
fn copy(rows: &mut Rows, written: &mut Written) -> Result<(), Failure> {
    let (mut known, failed) = ([0; 2], OnceLock::new());
    let next = |(mut batch, _): Batch| {
        if failed.get().is_some() || !rows.next(&mut batch)? {
            return Ok::<_, Failure>(None);
        }
        let info = rows.info();
        let news = info.since(known);
        known = [info.devices.len(), info.commands.len()];
        Ok(Some((batch, news)))
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

/// Adds the reports on the traces to the document, with their warnings.
pub fn finish(document: &mut Document, told: Vec<TraceFile>) {
    let doubts = told.iter().flat_map(|file| ioscape_trace::doubts(&file.info));
    doubts.for_each(|doubt| document.warn(doubt));
    document.outcome = Some(told.into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Device, IoFlags, Op, Request};
    use std::io::{Read, Seek};

    /// Exports a write, a flush, a discard and a request of no kind: the report, the warning and
    /// the file.
    fn exported(format: OutFormat) -> (TraceFile, Option<Warning>, Vec<u8>) {
        let io = |len, flags| {
            let request = Request { op: Op::Write, offset: 0, len };
            Io { request, flags, ..Io::default() }
        };
        let none = IoFlags::empty();
        let kinds = [(4096, none), (0, IoFlags::FLUSH), (4096, IoFlags::DISCARD), (0, none)];
        let rows = kinds.map(|(len, flags)| io(len, flags)).to_vec();
        let device = Device { name: "sda".to_owned(), ..Device::default() };
        let info = TraceInfo { devices: vec![device], ..TraceInfo::default() };
        let mut file = tempfile::tempfile().expect("a file");
        let writer = Writer::new(format, file.try_clone().expect("a file")).expect("a writer");
        let mut written = Written::new(writer, TraceFile::begun());
        written.take(&(rows, info.clone())).expect("the rows are written");
        let Written { writer, told, left_out, .. } = written;
        writer.finish(&info).expect("the file is written");
        let mut bytes = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("the file is read");
        (told, without_place(left_out, format), bytes)
    }

    #[test]
    fn what_a_format_has_no_place_for_is_not_counted_and_is_told() {
        let records = |format: OutFormat, bytes: &[u8]| match format {
            OutFormat::OracleGeneral => bytes.len() / 24,
            _ => {
                let text = String::from_utf8_lossy(bytes);
                let about = ["fio version", "add", "open", "close"];
                text.lines().filter(|line| !about.iter().any(|word| line.contains(word))).count()
            }
        };
        for (format, count) in
            [(OutFormat::DiskSim, 1), (OutFormat::OracleGeneral, 1), (OutFormat::FioLog, 3)]
        {
            let (told, doubt, bytes) = exported(format);
            assert_eq!((records(format, &bytes), told.rows), (count, count as u64), "{format:?}");
            let text = format!("{} requests that move no bytes have no place in", 4 - count);
            assert!(doubt.is_some_and(|doubt| doubt.message.starts_with(&text)), "{format:?}");
        }
        let (told, doubt, _) = exported(OutFormat::Csv);
        assert_eq!((told.rows, doubt), (4, None));
    }
}
