//! Parquet: typed columns with units in their names, compressed with Snappy, which every reader
//! supports; the tables are in the file's metadata.

use super::column::{Column, Packed};
use super::encode::Encode;
use crate::columns::{self, ALL, SORTED, TABLES};
use crate::error::Error;
use ioscape_schema::{Io, TraceInfo};
use parquet::basic::{Compression, Encoding, Repetition, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescPtr, ColumnPath, Type};
use std::io::Write;
use std::sync::Arc;

/// Rows per row group.
const GROUP: usize = 1 << 18;

/// The physical type of a column: signed and wide enough for every value, because many readers do
/// not support unsigned integers.
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

/// Columns not encoded as differences: few values far apart, or values that hardly repeat.
const DICTIONARY: [&str; 2] = [columns::LENGTH, columns::PROCESS];
const PLAIN: [&str; 2] = [columns::OFFSET, columns::IS_WRITE];

/// Writer settings. Times grow a little from row to row, and most other columns change little or
/// not at all. Encoded as differences they are small, in a fraction of the time that a dictionary
/// takes to find each value.
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

/// The first time column has none before it; the others equal it until a row differs.
const AS_BEFORE: [bool; 3] = [false, true, true];

/// Writer of the columns. Rows are split into columns as they come, while they are in the
/// processor's caches. The rows of a whole group do not fit there and would have to come from
/// memory once per column.
pub(super) struct Columns<W: Write + Send> {
    file: SerializedFileWriter<W>,
    descrs: Vec<ColumnDescPtr>,
    properties: WriterPropertiesPtr,
    /// The columns of the schema, followed by the additional ones.
    columns: Vec<Column>,
    /// Which time columns equal the column before in all rows of the group so far; their values are
    /// not kept.
    as_before: [bool; 3],
    /// Number of rows in the group so far.
    rows: usize,
    sorted: bool,
    latest_ns: u64,
}

impl<W: Write + Send> Columns<W> {
    /// Writes to `out`, with additional columns of these names.
    pub fn new(out: W, more: &'static [&'static str]) -> Result<Self, Error> {
        let schema = Arc::new(schema(more).map_err(failed)?);
        let properties = Arc::new(properties());
        let file =
            SerializedFileWriter::new(out, schema, Arc::clone(&properties)).map_err(failed)?;
        let descrs = file.schema_descr().columns().to_vec();
        let kinds = ALL.iter().map(|name| kind(name)).chain(more.iter().map(|_| Physical::INT64));
        let columns = kinds.map(Column::of).collect();
        Ok(Self {
            file,
            descrs,
            properties,
            columns,
            as_before: AS_BEFORE,
            rows: 0,
            sorted: true,
            latest_ns: 0,
        })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        let mut before: Option<Packed> = None;
        for (number, descr) in self.descrs.iter().enumerate() {
            let as_before = self.as_before.get(number) == Some(&true);
            let packed = match before.filter(|_| as_before) {
                Some(before) => before.renamed(descr)?,
                None => self.columns[number].pack(descr, &self.properties)?,
            };
            packed.write(&mut group)?;
            before = Some(packed);
        }
        self.as_before = AS_BEFORE;
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    /// Starts keeping the time columns that differ from the column before in the next rows.
    fn part_times(&mut self, rows: &[Io]) {
        for number in (1..self.as_before.len()).rev() {
            if self.as_before[number] && !columns::is_as_before(number, rows) {
                self.as_before[number] = false;
                let source = (0..number).rev().find(|&other| !self.as_before[other]).unwrap_or(0);
                let (before, from) = self.columns.split_at_mut(number);
                from[0].copy(&before[source]);
            }
        }
    }

    /// Takes rows that belong to one group; `more` holds the values of the additional columns,
    /// starting with the first row.
    fn take(&mut self, rows: &[Io], more: &[u64]) {
        for io in rows {
            self.sorted &= io.queued_ns >= self.latest_ns;
            self.latest_ns = io.queued_ns;
        }
        self.part_times(rows);
        let (own, further) = self.columns.split_at_mut(ALL.len());
        for (number, column) in own.iter_mut().enumerate() {
            if self.as_before.get(number) != Some(&true) {
                column.take(number, rows);
            }
        }
        let width = further.len();
        for (number, column) in further.iter_mut().enumerate() {
            let of = |at| more.get(at * width + number).map_or(0, |&value| value as i64);
            column.extend((0..rows.len()).map(of));
        }
        self.rows += rows.len();
    }
}

impl<W: Write + Send> Encode for Columns<W> {
    fn rows(&mut self, mut rows: &[Io], mut more: &[u64], _info: &TraceInfo) -> Result<(), Error> {
        while !rows.is_empty() {
            let (these, later) = rows.split_at(rows.len().min(GROUP - self.rows));
            self.take(these, more);
            more = more.get(these.len() * (self.columns.len() - ALL.len())..).unwrap_or_default();
            rows = later;
            if self.rows == GROUP {
                self.write_group().map_err(failed)?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, info: &TraceInfo) -> Result<(), Error> {
        if self.rows > 0 {
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
    use parquet::file::statistics::Statistics;
    use std::sync::Mutex;

    /// Bytes that outlive their writer.
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

    /// `docs/trace-schema.md` says which readers support these encodings.
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

    /// Batches of rows end elsewhere than row groups.
    #[test]
    fn a_group_goes_on_where_the_one_before_was_full() {
        let out = Shared::default();
        let mut columns = Box::new(Columns::new(out.clone(), &["behind_ns", "at"]).unwrap());
        let all: Vec<u64> = (0..300_000).collect();
        for batch in all.chunks(70_001) {
            let row = |&at: &u64| Io { queued_ns: at, ..Io::default() };
            let rows: Vec<Io> = batch.iter().map(row).collect();
            let more: Vec<u64> = batch.iter().flat_map(|at| [7, *at]).collect();
            columns.rows(&rows, &more, &TraceInfo::default()).unwrap();
        }
        columns.finish(&TraceInfo::default()).unwrap();
        let bytes = bytes::Bytes::from(out.0.lock().unwrap().clone());
        let found = ParquetMetaDataReader::new().parse_and_finish(&bytes).unwrap();
        let groups = found.row_groups().iter().map(|group| {
            let range = |column: usize| match group.column(column).statistics() {
                Some(Statistics::Int64(of)) => {
                    [of.min_opt(), of.max_opt()].map(Option::<&i64>::copied)
                }
                _ => [None; 2],
            };
            [range(0), range(ALL.len()), range(ALL.len() + 1)]
        });
        let of = |from: i64, to: i64| [[from, to], [7, 7], [from, to]].map(|range| range.map(Some));
        let end = GROUP as i64;
        assert_eq!(groups.collect::<Vec<_>>(), [of(0, end - 1), of(end, 299_999)]);
    }
}
