//! One column of a row group of a Parquet file. In most traces, half of the columns have one value
//! in all rows of a group. Their values are not kept, and identical groups are encoded only once,
//! as the same bytes.

use crate::columns;
use bytes::Bytes;
use ioscape_schema::Io;
use parquet::basic::Type as Physical;
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::io::Write;

/// Values of the physical type that is written.
#[derive(Clone)]
enum Values {
    Long(Vec<i64>),
    Word(Vec<i32>),
    Bool(Vec<bool>),
}

impl Values {
    fn of(physical: Physical) -> Self {
        match physical {
            Physical::INT64 => Self::Long(Vec::new()),
            Physical::BOOLEAN => Self::Bool(Vec::new()),
            _ => Self::Word(Vec::new()),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Long(values) => values.is_empty(),
            Self::Word(values) => values.is_empty(),
            Self::Bool(values) => values.is_empty(),
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Long(values) => values.clear(),
            Self::Word(values) => values.clear(),
            Self::Bool(values) => values.clear(),
        }
    }

    /// Adds the values of the column with this number, row by row.
    fn take(&mut self, number: usize, rows: &[Io]) {
        match self {
            Self::Long(values) => columns::extend(values, number, rows, long),
            Self::Word(values) => columns::extend(values, number, rows, word),
            Self::Bool(values) => columns::extend(values, number, rows, |value| value != 0),
        }
    }

    /// Adds a value `times` times.
    fn repeat(&mut self, value: u64, times: usize) {
        match self {
            Self::Long(values) => values.resize(values.len() + times, long(value)),
            Self::Word(values) => values.resize(values.len() + times, word(value)),
            Self::Bool(values) => values.resize(values.len() + times, value != 0),
        }
    }

    /// Writes the values.
    fn write(&self, writer: &mut ColumnWriter<'_>) -> Result<(), ParquetError> {
        match (self, writer) {
            (Self::Long(values), ColumnWriter::Int64ColumnWriter(to)) => {
                to.write_batch(values, None, None)?
            }
            (Self::Word(values), ColumnWriter::Int32ColumnWriter(to)) => {
                to.write_batch(values, None, None)?
            }
            (Self::Bool(values), ColumnWriter::BoolColumnWriter(to)) => {
                to.write_batch(values, None, None)?
            }
            _ => return Err(ParquetError::General("a column of another type".to_owned())),
        };
        Ok(())
    }
}

fn long(value: u64) -> i64 {
    value.cast_signed()
}

fn word(value: u64) -> i32 {
    (value as u32).cast_signed()
}

/// A value, and the number of consecutive rows that have it.
type Run = (u64, usize);

/// The encoded column of a group.
#[derive(Clone)]
pub(super) struct Packed {
    bytes: Bytes,
    told: ColumnCloseResult,
}

impl Packed {
    /// Encodes values.
    fn of(
        values: &Values,
        descr: &ColumnDescPtr,
        properties: &WriterPropertiesPtr,
    ) -> Result<Self, ParquetError> {
        let mut out = TrackedWrite::new(Vec::new());
        let pages = Box::new(SerializedPageWriter::new(&mut out));
        let mut writer = get_column_writer(descr.clone(), properties.clone(), pages);
        values.write(&mut writer)?;
        let told = writer.close()?;
        Ok(Self { bytes: out.into_inner()?.into(), told })
    }

    /// The same values, of the same type, for another column.
    pub fn renamed(&self, descr: &ColumnDescPtr) -> Result<Self, ParquetError> {
        let of = &self.told.metadata;
        let mut metadata = ColumnChunkMetaData::builder(descr.clone())
            .set_compression_codec(of.compression_codec())
            .set_encodings_mask(*of.encodings_mask())
            .set_total_compressed_size(of.compressed_size())
            .set_total_uncompressed_size(of.uncompressed_size())
            .set_num_values(of.num_values())
            .set_data_page_offset(of.data_page_offset())
            .set_dictionary_page_offset(of.dictionary_page_offset());
        if let Some(statistics) = of.statistics() {
            metadata = metadata.set_statistics(statistics.clone());
        }
        if let Some(encodings) = of.page_encoding_stats() {
            metadata = metadata.set_page_encoding_stats(encodings.clone());
        }
        let told = ColumnCloseResult { metadata: metadata.build()?, ..self.told.clone() };
        Ok(Self { bytes: self.bytes.clone(), told })
    }

    /// Writes the column as the next one of a group.
    pub fn write<W: Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        group.append_column(&self.bytes, self.told.clone())
    }
}

/// A column of the group being collected.
pub(super) struct Column {
    /// All rows of the group so far, if they have one value.
    run: Option<Run>,
    /// Empty while all rows have one value.
    values: Values,
    /// The latest group with a single value.
    latest: Option<(Run, Packed)>,
}

impl Column {
    /// Starts without rows.
    pub fn of(physical: Physical) -> Self {
        Self { run: None, values: Values::of(physical), latest: None }
    }

    /// Takes in the values of the column with this number, row by row.
    pub fn take(&mut self, number: usize, rows: &[Io]) {
        let Some(first) = rows.first() else { return };
        if self.values.is_empty() {
            let (value, count) = self.run.unwrap_or_else(|| (columns::get(number, first), 0));
            if columns::all_are(number, rows, value) {
                self.run = Some((value, count + rows.len()));
                return;
            }
        }
        self.unfold();
        self.values.take(number, rows);
    }

    /// Takes in integers.
    pub fn extend(&mut self, values: impl Iterator<Item = i64>) {
        if let Values::Long(long) = &mut self.values {
            long.extend(values);
        }
    }

    /// Expands rows with a single value into separate values.
    fn unfold(&mut self) {
        if let Some((value, count)) = self.run.take() {
            self.values.repeat(value, count);
        }
    }

    /// Copies the rows of another column, which stand for all rows so far.
    pub fn copy(&mut self, other: &Self) {
        (self.run, self.values) = (other.run, other.values.clone());
    }

    /// Returns the encoded rows, and forgets them.
    pub fn pack(
        &mut self,
        descr: &ColumnDescPtr,
        properties: &WriterPropertiesPtr,
    ) -> Result<Packed, ParquetError> {
        let run = self.run;
        let latest = self.latest.as_ref().filter(|latest| Some(latest.0) == run);
        let packed = match latest {
            Some((_, packed)) => packed.clone(),
            None => {
                self.unfold();
                let packed = Packed::of(&self.values, descr, properties)?;
                self.latest = run.map(|run| (run, packed.clone()));
                packed
            }
        };
        self.run = None;
        self.values.clear();
        Ok(packed)
    }
}
