//! Arrow streams, and Arrow files, which are streams with a header and a footer: this project's
//! columns, by name, from any program
//! (<https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format>). Devices and
//! commands are names or numbers.

use crate::columns::{self, ALL, NEEDED, TABLES};
use crate::error::{Error, FilePosition};
use crate::read::decode::{BATCH, Decode, Epoch};
use crate::read::gaps::Gaps;
use crate::read::head::{Head, Likeness};
use crate::read::input::Input;
use crate::read::source::Opened;
use crate::read::tables::{Tables, add_unnamed};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, TimestampNanosecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::{ArrowError, DataType, Schema, TimeUnit};
use ioscape_schema::{Io, TraceInfo};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// First bytes of a file, before its stream.
const FILE: &[u8] = b"ARROW1\0\0";
/// First bytes of a stream; the length of the first message follows.
const STREAM: &[u8] = &[0xff; 4];
/// Bytes handed to the decoder at once.
const CHUNK: usize = 1 << 20;

/// Recognizes a file by its first bytes, and a stream by a plausible length of its first message.
pub(super) fn looks_like(head: &Head<'_>) -> Likeness {
    let length = |at: &[u8]| at.first_chunk().map(|bytes| i32::from_le_bytes(*bytes));
    let stream = head.bytes.strip_prefix(STREAM).and_then(length);
    let is_stream = stream.is_some_and(|length| length > 0 && length % 8 == 0);
    Likeness::certain_if(is_stream || head.bytes.starts_with(FILE))
}

/// Opens a decoder for each source.
pub(super) fn open(
    format: &'static str,
    sources: Vec<Opened>,
    skip_bad: bool,
) -> Result<Vec<Box<dyn Decode>>, Error> {
    let decoder = |source: Opened| Batches::boxed(format, source.into_input()?, skip_bad);
    sources.into_iter().map(decoder).collect()
}

/// The decoder of one stream.
struct Batches {
    input: Input,
    decoder: StreamDecoder,
    /// Bytes that the decoder has not taken.
    bytes: Buffer,
    /// The batch that rows are taken from, and how many were taken.
    batch: Option<(RecordBatch, usize)>,
    rows: u64,
    tables: Tables,
    /// What times count from; known with the tables, else with the first row.
    epoch: Option<Epoch>,
    /// Whether neither tables nor a column name the disks.
    names_no_disk: bool,
    /// Whether to leave out rows that lack a value.
    skip_bad: bool,
}

impl Batches {
    fn boxed(format: &str, mut input: Input, skip_bad: bool) -> Result<Box<dyn Decode>, Error> {
        if input.peek(FILE.len())?.starts_with(FILE) {
            input.consume(FILE.len());
        }
        let tables = Tables::new(format, input.name());
        let (decoder, bytes, batch) = Default::default();
        let mut this = Self {
            input,
            decoder,
            bytes,
            batch,
            rows: 0,
            tables,
            epoch: None,
            names_no_disk: false,
            skip_bad,
        };
        this.batch = this.next_batch()?.map(|batch| (batch, 0));
        let Some(schema) = this.decoder.schema() else {
            return Err(this.input.bad_header("an Arrow stream without a schema"));
        };
        this.begin(&schema)?;
        Ok(Box::new(this))
    }

    fn begin(&mut self, schema: &Schema) -> Result<(), Error> {
        if let Some(lacking) = NEEDED.iter().find(|name| schema.index_of(name).is_err()) {
            return Err(self.input.bad_header(format!(
                "an Arrow stream without the column {lacking:?}, so it holds no trace: docs/trace-schema.md names the columns"
            )));
        }
        if let Some(tables) = schema.metadata().get(TABLES) {
            let tables = serde_json::from_str(tables).map_err(|e| {
                self.input.bad_header(format!("the tables in its metadata cannot be read: {e}"))
            })?;
            self.tables.restore(tables);
            self.epoch = Some(Epoch::Start);
        } else {
            self.names_no_disk = schema.index_of(columns::DEVICE).is_err();
        }
        Ok(())
    }

    fn broken(&self, reason: impl Display) -> Error {
        self.broken_row(self.rows, reason)
    }

    /// Returns the error of a row that `before` rows precede and that cannot be left out.
    fn broken_row(&self, before: u64, reason: impl Display) -> Error {
        self.input.bad_header(format!("{}: {reason}", self.position(before)))
    }

    fn position(&self, before: u64) -> FilePosition {
        FilePosition::Record { number: before + 1, byte: self.input.position() }
    }

    /// Returns the next batch with rows.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        loop {
            if self.bytes.is_empty() {
                let bytes = self.input.peek(CHUNK)?;
                let count = bytes.len().min(CHUNK);
                if count == 0 {
                    let ended = self.decoder.finish();
                    return ended.map(|()| None).map_err(|e| self.broken(e));
                }
                self.bytes = Buffer::from(&bytes[..count]);
                self.input.consume(count);
            }
            // The library may panic on damaged streams; that makes them unreadable like any other
            // error.
            let decode = AssertUnwindSafe(|| self.decoder.decode(&mut self.bytes));
            match catch_unwind(decode) {
                Ok(Ok(Some(batch))) if batch.num_rows() > 0 => return Ok(Some(batch)),
                Ok(Ok(_)) => {}
                // After a stream's end comes the footer of a file, or nothing.
                Ok(Err(_)) if self.is_over() => return Ok(None),
                Ok(Err(e)) => return Err(self.broken(packed(&e).unwrap_or(e.to_string()))),
                Err(_) => return Err(self.broken("a damaged Arrow stream")),
            }
        }
    }

    fn is_over(&mut self) -> bool {
        self.decoder.finish().is_ok()
    }

    /// Finds the rows that lack a required value. Such a row is an error unless broken rows are
    /// skipped.
    fn gaps(&self, batch: &RecordBatch) -> Result<Gaps, Error> {
        let mut gaps = Gaps::default();
        for name in NEEDED {
            let column = batch.column_by_name(name);
            let Some(nulls) = column.and_then(|column| column.logical_nulls()) else { continue };
            let absent = (0..nulls.len()).map(|row| nulls.is_null(row));
            if let Some(first) = gaps.add(absent)
                && !self.skip_bad
            {
                let position = self.position(self.rows + first as u64);
                return Err(self.input.bad_record(position, format!("{name} is null")));
            }
        }
        Ok(gaps)
    }

    fn fill(&mut self, batch: &RecordBatch, rows: &mut [Io]) -> Result<(), Error> {
        for (number, name) in ALL.iter().enumerate() {
            let Some(column) = batch.column_by_name(name) else {
                columns::default(number, rows);
                continue;
            };
            let values = match *name {
                columns::DEVICE | columns::COMMAND if !column.data_type().is_integer() => {
                    self.named(name, column)?
                }
                _ => whole(column),
            };
            let Some(values) = values else {
                let kind = column.data_type();
                return Err(self.broken(format!("column {name} is of type {kind}")));
            };
            if !rows.iter_mut().zip(values).all(|(io, value)| columns::set(number, value, io)) {
                return Err(self.broken(columns::out_of_range(name)));
            }
        }
        self.check(rows)
    }

    /// Returns names as their numbers in the tables; a missing name is empty.
    fn named(&mut self, column: &str, names: &dyn Array) -> Result<Option<Vec<u64>>, Error> {
        let tables = &mut self.tables;
        let mut number = |name: &str| tables.number(column, name.as_bytes());
        if let Some(dictionary) = names.as_any_dictionary_opt() {
            let Some(known) = texts(dictionary.values().as_ref()) else { return Ok(None) };
            let known = known.into_iter().map(&mut number).collect::<Result<Vec<_>, _>>();
            let keys = dictionary.keys();
            // The empty name gets a number only if a row has no name.
            let unnamed = if keys.null_count() > 0 { number("") } else { Ok(0) };
            let known = known.map_err(|reason| self.broken(reason))?;
            let unnamed = unnamed.map_err(|reason| self.broken(reason))?;
            let numbered = |key: u64| known.get(usize::try_from(key).ok()?).copied();
            let numbers = whole(keys).unwrap_or_default().into_iter().enumerate();
            let of = |(row, key)| match keys.is_null(row) {
                true => unnamed,
                false => numbered(key).unwrap_or(0),
            };
            return Ok(Some(numbers.map(of).collect()));
        }
        let Some(texts) = texts(names) else { return Ok(None) };
        let numbers = texts.into_iter().map(number).collect::<Result<Vec<_>, _>>();
        numbers.map(Some).map_err(|reason| self.broken(reason))
    }

    /// Checks that commands are in their table and times in order. Adds devices that are in no
    /// table.
    fn check(&mut self, rows: &[Io]) -> Result<(), Error> {
        for (before, io) in (self.rows..).zip(rows) {
            if let Some(why) = columns::backwards(io) {
                return Err(self.broken_row(before, why));
            }
            let devices = &mut self.tables.info.devices;
            if usize::from(io.device) >= devices.len() {
                add_unnamed(devices, usize::from(io.device));
            }
            if io.command > 0 && io.command as usize >= self.tables.info.commands.len() {
                return Err(self.broken("a command that is not in the table"));
            }
        }
        Ok(())
    }
}

/// Returns what to do about a compressed stream, if that is the error: the library names the
/// feature that it lacks.
fn packed(error: &ArrowError) -> Option<String> {
    let text = error.to_string();
    let is_lacking = |codec: &&str| text.contains(&format!("requires the {codec} feature"));
    let codec = ["lz4", "zstd"].into_iter().find(is_lacking)?;
    Some(format!(
        "compressed with {codec}, which is not read: write it with compression=\"uncompressed\""
    ))
}

/// Returns texts of any width; missing ones are empty.
fn texts(column: &dyn Array) -> Option<Vec<&str>> {
    let text = Option::unwrap_or_default;
    Some(match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().iter().map(text).collect(),
        DataType::LargeUtf8 => column.as_string::<i64>().iter().map(text).collect(),
        DataType::Utf8View => column.as_string_view().iter().map(text).collect(),
        _ => return None,
    })
}

/// Returns whole numbers of any width, including timestamps in nanoseconds. Missing ones are 0;
/// negative ones become too large for any column of numbers.
fn whole(column: &dyn Array) -> Option<Vec<u64>> {
    macro_rules! values {
        ($kind:ty) => {{
            let values = column.as_primitive::<$kind>();
            let one = |value: Option<_>| value.map_or(0, |value| value as i64 as u64);
            values.iter().map(one).collect()
        }};
    }
    Some(match column.data_type() {
        DataType::Int8 => values!(Int8Type),
        DataType::Int16 => values!(Int16Type),
        DataType::Int32 => values!(Int32Type),
        DataType::Int64 => values!(Int64Type),
        DataType::UInt8 => values!(UInt8Type),
        DataType::UInt16 => values!(UInt16Type),
        DataType::UInt32 => values!(UInt32Type),
        DataType::UInt64 => values!(UInt64Type),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => values!(TimestampNanosecondType),
        DataType::Boolean => {
            column.as_boolean().iter().map(|value| u64::from(value.unwrap_or(false))).collect()
        }
        DataType::Null => vec![0; column.len()],
        _ => return None,
    })
}

impl Decode for Batches {
    fn decode(&mut self, into: &mut Vec<Io>) -> Result<bool, Error> {
        let (batch, at) = match self.batch.take() {
            Some(batch) => batch,
            None => match self.next_batch()? {
                Some(batch) => (batch, 0),
                None => return Ok(false),
            },
        };
        let count = (batch.num_rows() - at).min(BATCH);
        let (these, mut rows) = (batch.slice(at, count), vec![Io::default(); count]);
        let gaps = self.gaps(&these)?;
        self.fill(&these, &mut rows)?;
        self.rows += count as u64;
        self.tables.info.skipped += gaps.leave_out(0, &mut rows);
        self.epoch = self.epoch.or_else(|| rows.first().map(|io| Epoch::of_first(io.queued_ns)));
        into.extend(rows);
        self.batch = (at + count < batch.num_rows()).then_some((batch, at + count));
        Ok(true)
    }

    fn info(&self) -> &TraceInfo {
        &self.tables.info
    }

    fn epoch(&self) -> Epoch {
        self.epoch.unwrap_or(Epoch::Start)
    }

    fn namesake(&self) -> Option<&str> {
        self.names_no_disk.then(|| self.input.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Int64Array;
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
    use std::sync::Arc;

    /// The writer lacks the same features as the reader.
    #[test]
    fn of_compressed_streams_the_way_out_is_said() {
        let column: Arc<dyn Array> = Arc::new(Int64Array::from(vec![1, 2]));
        let batch = RecordBatch::try_from_iter([("a", column)]).unwrap();
        for (kind, name) in [(CompressionType::LZ4_FRAME, "lz4"), (CompressionType::ZSTD, "zstd")] {
            let options = IpcWriteOptions::default().try_with_compression(Some(kind)).unwrap();
            let writer = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options);
            let error = writer.unwrap().write(&batch).unwrap_err();
            let said = packed(&error).unwrap();
            assert!(said.starts_with(&format!("compressed with {name}, which is not")), "{said}");
        }
        assert_eq!(packed(&ArrowError::DivideByZero), None);
    }
}
