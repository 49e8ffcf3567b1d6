//! Parquet: typed columns with units in their names, packed with Snappy: what every reader has; the tables are in the file's metadata.

use super::encode::Encode;
use crate::columns::{self, ALL, SORTED, TABLES, values};
use crate::error::Error;
use ioscape_schema::{Io, TraceInfo};
use parquet::basic::{Compression, Encoding, Repetition, Type as Physical};
use parquet::data_type::{BoolType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};
use std::io::Write;
use std::sync::Arc;

/// Rows of a group.
const GROUP: usize = 1 << 18;

/// The physical type of a column: signed and wide enough for every value, for many readers know no unsigned numbers.
fn kind(column: &str) -> Physical {
    match column {
        columns::IS_WRITE => Physical::BOOLEAN,
        columns::DEVICE | columns::PARTITION | columns::ERROR | columns::TYPE => Physical::INT32,
        _ => Physical::INT64,
    }
}

fn schema(more: &[&str]) -> Result<Type, ParquetError> {
    let field = |(name, physical): (&&str, Physical)| {
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .build()
            .map(Arc::new)
    };
    let own = ALL.iter().map(|name| (name, kind(name)));
    let others = more.iter().map(|name| (name, Physical::INT64));
    let fields = own.chain(others).map(field).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("trace").with_fields(fields).build()
}

/// Columns of few values far apart, and of values that hardly repeat: not packed as differences.
const DICTIONARY: [&str; 2] = [columns::LENGTH, columns::PROCESS];
const PLAIN: [&str; 2] = [columns::OFFSET, columns::IS_WRITE];

/// Times grow a little from row to row, and most else changes little or not at all: as differences they are small, and packed in a
/// fraction of the time that a dictionary takes to find each value.
fn properties() -> WriterProperties {
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("ioscape ", env!("CARGO_PKG_VERSION")).to_owned());
    for column in ALL.iter().filter(|column| !DICTIONARY.contains(column)) {
        let path = ColumnPath::from(*column);
        builder = builder.set_column_dictionary_enabled(path.clone(), false);
        if !PLAIN.contains(column) {
            builder = builder.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
    }
    builder.build()
}

fn failed(error: ParquetError) -> Error {
    Error::Write(std::io::Error::other(error))
}

/// Writer of the columns.
pub(super) struct Columns<W: Write + Send> {
    file: SerializedFileWriter<W>,
    rows: Vec<Io>,
    /// Names of the further columns, and their values row after row.
    more: (&'static [&'static str], Vec<u64>),
    sorted: bool,
    latest_ns: u64,
}

impl<W: Write + Send> Columns<W> {
    /// Writes to `out`, with further columns of these names.
    pub fn new(out: W, more: &'static [&'static str]) -> Result<Self, Error> {
        let schema = Arc::new(schema(more).map_err(failed)?);
        let file =
            SerializedFileWriter::new(out, schema, Arc::new(properties())).map_err(failed)?;
        Ok(Self { file, rows: Vec::new(), more: (more, Vec::new()), sorted: true, latest_ns: 0 })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for column in 0..ALL.len() {
            write_column(&mut group, column, &self.rows)?;
        }
        let (names, values) = &mut self.more;
        for column in 0..names.len() {
            let Some(mut writer) = group.next_column()? else { break };
            let values: Vec<i64> = values
                .iter()
                .skip(column)
                .step_by(names.len())
                .map(|&value| value as i64)
                .collect();
            writer.typed::<Int64Type>().write_batch(&values, None, None)?;
            writer.close()?;
        }
        group.close()?;
        self.rows.clear();
        values.clear();
        Ok(())
    }
}

fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: usize,
    rows: &[Io],
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else { return Ok(()) };
    match kind(ALL[column]) {
        Physical::INT64 => {
            let values = values(column, rows, |value| value as i64);
            writer.typed::<Int64Type>().write_batch(&values, None, None)?;
        }
        Physical::BOOLEAN => {
            let values = values(column, rows, |value| value != 0);
            writer.typed::<BoolType>().write_batch(&values, None, None)?;
        }
        _ => {
            let values = values(column, rows, |value| value as u32 as i32);
            writer.typed::<Int32Type>().write_batch(&values, None, None)?;
        }
    }
    writer.close()
}

impl<W: Write + Send> Encode for Columns<W> {
    fn rows(&mut self, rows: &[Io], more: &[u64], _info: &TraceInfo) -> Result<(), Error> {
        let width = self.more.0.len();
        for (at, io) in rows.iter().enumerate() {
            self.sorted &= io.queued_ns >= self.latest_ns;
            self.latest_ns = io.queued_ns;
            self.rows.push(*io);
            let values = (0..width).map(|column| more.get(at * width + column).unwrap_or(&0));
            self.more.1.extend(values);
            if self.rows.len() == GROUP {
                self.write_group().map_err(failed)?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, info: &TraceInfo) -> Result<(), Error> {
        if !self.rows.is_empty() {
            self.write_group().map_err(failed)?;
        }
        let tables = serde_json::to_string(info).map_err(|e| Error::Write(e.into()))?;
        for (key, value) in [(TABLES, tables), (SORTED, self.sorted.to_string())] {
            self.file.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
        let mut out = self.file.into_inner().map_err(failed)?;
        out.flush().map_err(Error::Write)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::metadata::ParquetMetaDataReader;
    use std::sync::Mutex;

    /// Bytes that are still there when their writer is gone.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// `docs/trace-schema.md` says which readers know these.
    #[test]
    fn encodings_are_those_that_the_documentation_names() {
        let out = Shared::default();
        let mut columns = Box::new(Columns::new(out.clone(), &["behind_ns"]).unwrap());
        let row = |at: u64| Io { queued_ns: at * 1000, process: (at % 7) as u32, ..Io::default() };
        let rows: Vec<Io> = (0..5000).map(row).collect();
        columns.rows(&rows, &[], &TraceInfo::default()).unwrap();
        columns.finish(&TraceInfo::default()).unwrap();
        let bytes = bytes::Bytes::from(out.0.lock().unwrap().clone());
        let found = ParquetMetaDataReader::new().parse_and_finish(&bytes).unwrap();
        for chunk in found.row_group(0).columns() {
            let name = chunk.column_path().string();
            let known = [
                Encoding::PLAIN,
                Encoding::RLE,
                Encoding::RLE_DICTIONARY,
                Encoding::DELTA_BINARY_PACKED,
            ];
            assert!(chunk.encodings().all(|one| known.contains(&one)), "{name}");
            let packed = chunk.encodings().any(|one| one == Encoding::DELTA_BINARY_PACKED);
            let others = [&DICTIONARY[..], &PLAIN, &["behind_ns"]].concat();
            assert_eq!(packed, !others.contains(&name.as_str()), "{name}");
            assert_eq!(chunk.compression(), Compression::SNAPPY, "{name}");
        }
    }
}
