//! Whole traces, read and written in memory.

use crate::memory::Memory;
use ioscape_schema::{Io, TraceInfo};
use ioscape_trace::{Error, OutFormat, ReadOptions, Source, Writer, open};

/// All rows of the sources, and what holds for the trace as a whole.
pub fn read(sources: Vec<Source>, options: &ReadOptions) -> Result<(Vec<Io>, TraceInfo), Error> {
    let mut reader = open(sources, options)?;
    let (mut rows, mut batch) = (Vec::new(), Vec::new());
    while reader.next_batch(&mut batch)? {
        rows.extend_from_slice(&batch);
    }
    Ok((rows, reader.info().clone()))
}

/// Options that name the format of a trace.
pub fn named(format: &str) -> ReadOptions {
    ReadOptions { format: Some(format.parse().unwrap()), ..ReadOptions::default() }
}

/// The bytes of a trace, written a thousand rows at a time.
pub fn written(format: OutFormat, rows: &[Io], info: &TraceInfo) -> Vec<u8> {
    let memory = Memory::default();
    let mut writer = Writer::new(format, memory.clone()).unwrap();
    for batch in rows.chunks(1000) {
        writer.rows(batch, info).unwrap();
    }
    writer.finish(info).unwrap();
    memory.take()
}
