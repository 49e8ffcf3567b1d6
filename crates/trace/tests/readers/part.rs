//! A time range of a Parquet trace is read from the row groups that hold it, and the tables are
//! those of the whole trace.

use crate::whole;
use ioscape_schema::{Device, Io, Op, Request, TraceInfo};
use ioscape_trace::{OutFormat, ReadOptions, Reader, Source, open};
use std::io::Cursor;

/// Rows per row group, as the writer makes them.
const GROUP: u64 = 1 << 18;

fn row(n: u64) -> Io {
    let device = u16::from(n >= 2 * GROUP);
    let request = Request { op: Op::Read, offset: n * 4096, len: 4096 };
    Io { request, queued_ns: n, issued_ns: n, completed_ns: n, device, ..Io::default() }
}

fn info() -> TraceInfo {
    let device = |name: &str| Device { name: name.to_owned(), ..Device::default() };
    let commands = vec![String::new()];
    TraceInfo { devices: vec![device("a"), device("b")], commands, ..TraceInfo::default() }
}

fn written(rows: impl Iterator<Item = u64>) -> Vec<u8> {
    whole::written(OutFormat::Parquet, &rows.map(row).collect::<Vec<_>>(), &info())
}

fn opened(files: &[&[u8]], from_ns: Option<u64>, to_ns: Option<u64>) -> Reader {
    let source = |bytes: &&[u8]| Source::file("t", Cursor::new(bytes.to_vec()));
    let options = ReadOptions { from_ns, to_ns, ..ReadOptions::default() };
    open(files.iter().map(source).collect(), &options).unwrap()
}

fn times(mut reader: Reader) -> (Vec<u64>, TraceInfo) {
    let (mut times, mut batch) = (Vec::new(), Vec::new());
    while reader.next_batch(&mut batch).unwrap() {
        times.extend(batch.iter().map(|io| io.queued_ns));
    }
    (times, reader.info().clone())
}

#[test]
fn groups_outside_are_not_read() {
    let bytes = written(0..3 * GROUP);
    let stretch = |from, to| {
        let (times, told) = times(opened(&[&bytes], from, to));
        assert_eq!(told, info());
        [times[0], times[times.len() - 1] + 1]
    };
    assert_eq!(stretch(None, None), [0, 3 * GROUP]);
    assert_eq!(stretch(Some(GROUP), None), [GROUP, 3 * GROUP]);
    assert_eq!(stretch(Some(GROUP - 1), Some(GROUP)), [0, GROUP]);
    assert_eq!(stretch(Some(GROUP + 7), Some(2 * GROUP + 1)), [GROUP, 3 * GROUP]);
    assert_eq!(stretch(Some(GROUP), Some(2 * GROUP)), [GROUP, 2 * GROUP]);
    // Nothing there: one group shows that the trace has requests at other times.
    assert_eq!(stretch(Some(9 * GROUP), None), [0, GROUP]);
}

/// Once, the first rows read decided what a time of 0 is, and so the part that was asked for.
#[test]
fn a_part_is_read_as_the_whole_is() {
    const MS: u64 = 1_000_000;
    // Times at the device of 2 ms, later of 1 ms, and of every fifth request none.
    let row = |at: u64| {
        let took_ms = if at.is_multiple_of(5) { 0 } else { 2 - u64::from(at >= GROUP) };
        Io { completed_ns: (at + took_ms) * MS, ..row(at * MS) }
    };
    let rows = (0..3 * GROUP).map(row).collect::<Vec<_>>();
    let bytes = whole::written(OutFormat::Parquet, &rows, &info());
    let read = |from_ns: Option<u64>| {
        let (mut reader, mut rows, mut batch) = (opened(&[&bytes], from_ns, None), vec![], vec![]);
        while reader.next_batch(&mut batch).unwrap() {
            rows.extend(batch.iter().filter(|io| io.queued_ns >= from_ns.unwrap_or(0)).copied());
        }
        rows
    };
    assert!(read(None) == rows && read(Some(GROUP * MS)) == rows[GROUP as usize..]);
}

#[test]
fn files_of_one_trace_have_its_tables_whatever_part_is_read() {
    let files = [written(0..2 * GROUP), written(2 * GROUP..3 * GROUP)];
    let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    let (_, whole) = times(opened(&files, None, None));
    let (early, told) = times(opened(&files, None, Some(GROUP)));
    // The other file's first group comes too, because selecting rows is the caller's task.
    assert!(early.iter().filter(|time| **time < GROUP).eq(&(0..GROUP).collect::<Vec<_>>()));
    assert_eq!(told.devices, whole.devices);
    assert_eq!(told.commands, whole.commands);
}
