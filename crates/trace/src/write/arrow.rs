//! An Arrow stream: typed columns for other programs, through a pipe. Devices and commands appear
//! by name, because their tables are known only at the end of the trace.

use super::encode::Encode;
use crate::columns::{self, ALL, TABLES, values};
use crate::error::Error;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use ioscape_schema::{Io, TraceInfo};
use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

/// Rows per batch.
const BATCH: usize = 1 << 16;

/// The type of a column.
fn kind(column: &str) -> DataType {
    match column {
        columns::IS_WRITE => DataType::Boolean,
        columns::DEVICE | columns::COMMAND => {
            DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
        }
        columns::PARTITION | columns::ERROR | columns::TYPE => DataType::Int32,
        _ => DataType::Int64,
    }
}

fn failed(error: ArrowError) -> Error {
    Error::Write(match error {
        ArrowError::IoError(_, source) => source,
        other => std::io::Error::other(other),
    })
}

/// Writer of the stream.
pub(super) struct Stream<W: Write> {
    out: Option<W>,
    stream: Option<(SchemaRef, StreamWriter<W>)>,
    rows: Vec<Io>,
    /// Names of the additional columns, and their values row by row.
    more: (&'static [&'static str], Vec<u64>),
    /// Names used so far.
    devices: Arc<StringArray>,
    commands: Arc<StringArray>,
}

impl<W: Write> Stream<W> {
    /// Writes to `out`, with additional columns of these names.
    pub fn new(out: W, more: &'static [&'static str]) -> Self {
        let names = || Arc::new(StringArray::from(Vec::<&str>::new()));
        Self {
            out: Some(out),
            stream: None,
            rows: Vec::new(),
            more: (more, Vec::new()),
            devices: names(),
            commands: names(),
        }
    }

    fn schema(&self, info: &TraceInfo) -> Result<Schema, Error> {
        let own = ALL.iter().map(|name| Field::new(*name, kind(name), false));
        let more = self.more.0.iter().map(|name| Field::new(*name, DataType::Int64, false));
        let tables = serde_json::to_string(info).map_err(|e| Error::Write(e.into()))?;
        let metadata = HashMap::from([(TABLES.to_owned(), tables)]);
        Ok(Schema::new_with_metadata(own.chain(more).collect::<Vec<_>>(), metadata))
    }

    fn write_batch(&mut self, info: &TraceInfo) -> Result<(), Error> {
        if let Some(out) = self.out.take() {
            let schema = Arc::new(self.schema(info)?);
            let stream = StreamWriter::try_new(out, &schema).map_err(failed)?;
            self.stream = Some((schema, stream));
        }
        learn(&mut self.devices, info.devices.iter().map(|device| device.name.as_str()));
        // The unknown command gets an empty name.
        let unknown = info.commands.is_empty().then_some("");
        let commands = info.commands.iter().map(String::as_str).chain(unknown);
        learn(&mut self.commands, commands);
        let own = (0..ALL.len()).map(|column| self.column(column));
        let mut columns = own.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let (names, values) = &mut self.more;
        columns.extend((0..names.len()).map(|column| -> ArrayRef {
            let values = values.iter().skip(column).step_by(names.len()).map(|value| *value as i64);
            Arc::new(values.collect::<Int64Array>())
        }));
        values.clear();
        self.rows.clear();
        let Some((schema, stream)) = &mut self.stream else { return Ok(()) };
        let batch = RecordBatch::try_new(Arc::clone(schema), columns);
        stream.write(&batch.map_err(failed)?).map_err(failed)
    }

    fn column(&self, column: usize) -> Result<ArrayRef, ArrowError> {
        let rows = &self.rows;
        let words = || Int32Array::from(values(column, rows, |value| value as u32 as i32));
        let named = |names: &Arc<StringArray>| -> Result<ArrayRef, ArrowError> {
            let names = Arc::clone(names) as ArrayRef;
            Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(words(), names)?))
        };
        match ALL[column] {
            columns::DEVICE => named(&self.devices),
            columns::COMMAND => named(&self.commands),
            name => Ok(match kind(name) {
                DataType::Boolean => {
                    Arc::new(BooleanArray::from(values(column, rows, |value| value != 0)))
                }
                DataType::Int32 => Arc::new(words()),
                _ => Arc::new(Int64Array::from(values(column, rows, |value| value as i64))),
            }),
        }
    }
}

/// Adds new names. If there are none, the dictionary stays the same and is not sent again.
fn learn<'a>(known: &mut Arc<StringArray>, names: impl Iterator<Item = &'a str> + Clone) {
    use arrow_array::Array;
    if names.clone().count() != known.len() {
        *known = Arc::new(names.map(Some).collect());
    }
}

impl<W: Write + Send> Encode for Stream<W> {
    fn rows(&mut self, rows: &[Io], more: &[u64], info: &TraceInfo) -> Result<(), Error> {
        let width = self.more.0.len();
        for (at, io) in rows.iter().enumerate() {
            self.rows.push(*io);
            let values = (0..width).map(|column| more.get(at * width + column).unwrap_or(&0));
            self.more.1.extend(values);
            if self.rows.len() == BATCH {
                self.write_batch(info)?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, info: &TraceInfo) -> Result<(), Error> {
        if !self.rows.is_empty() || self.out.is_some() {
            self.write_batch(info)?;
        }
        let Some((_, mut stream)) = self.stream else { return Ok(()) };
        stream.finish().map_err(failed)?;
        stream.get_mut().flush().map_err(Error::Write)
    }
}
