//! One column of one row group: reads its next values as whole numbers or names.

use super::bytes::Span;
use crate::columns;
use crate::read::decode::BATCH;
use crate::read::tables::{Bad, Tables};
use ioscape_schema::{Io, IoFlags, IoType, Op};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{BoolType, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::SerializedPageReader;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::ColumnDescriptor;
use std::sync::Arc;

/// Values of one type.
pub(super) struct Values<T: DataType> {
    /// `None` if all values are the same; `values` then has enough of them.
    reader: Option<ColumnReaderImpl<T>>,
    values: Vec<T::T>,
    /// For a column with nulls: whether each value is present.
    levels: Option<Vec<i16>>,
}

impl<T: DataType> Values<T> {
    fn open(span: Arc<Span>, chunk: &ColumnChunkMetaData, rows: usize) -> Result<Self> {
        let pages = Box::new(SerializedPageReader::new(span, chunk, rows, None)?);
        let reader = ColumnReaderImpl::new(chunk.column_descr_ptr(), pages);
        let levels = (chunk.column_descr().max_def_level() > 0).then(Vec::new);
        Ok(Self { reader: Some(reader), values: Vec::new(), levels })
    }

    /// Creates as many copies of one value as are read at once.
    fn constant(value: T::T) -> Self {
        Self { reader: None, values: vec![value; BATCH], levels: None }
    }

    /// Whether all values are zero, with which a row begins.
    fn are_zero(&self) -> bool {
        self.reader.is_none() && self.values.first() == Some(&T::T::default())
    }

    /// Reads exactly `count` values; missing ones are zero.
    fn fill(&mut self, count: usize) -> Result<()> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        self.values.clear();
        if let Some(levels) = &mut self.levels {
            levels.clear();
        }
        let mut records = 0;
        while records < count {
            let levels = self.levels.as_mut();
            let (read, ..) =
                reader.read_records(count - records, levels, None, &mut self.values)?;
            if read == 0 {
                return Err(ParquetError::EOF("a column with fewer values than rows".to_owned()));
            }
            records += read;
        }
        if let Some(levels) = &self.levels
            && self.values.len() < count
        {
            self.spread_over(count, &levels.clone());
        }
        if self.values.len() == count {
            Ok(())
        } else {
            Err(ParquetError::General("a column with more values than rows".to_owned()))
        }
    }

    fn spread_over(&mut self, count: usize, levels: &[i16]) {
        let mut found = std::mem::take(&mut self.values).into_iter();
        let of = |level: &i16| {
            if *level > 0 { found.next().unwrap_or_default() } else { T::T::default() }
        };
        self.values = levels.iter().take(count).map(of).collect();
    }
}

/// A column of one of the types that hold whole numbers, or names.
pub(super) enum Column {
    Long(Values<Int64Type>),
    Word(Values<Int32Type>),
    /// Unsigned 32-bit words, which earlier versions wrote.
    Unsigned(Values<Int32Type>),
    Bool(Values<BoolType>),
    /// Names of devices or commands, and their numbers in the tables.
    Names(Values<ByteArrayType>, Vec<u64>),
}

/// Returns the kind of a column's values if they are neither plain whole numbers nor names that the
/// column may have; `None` if they can be read.
pub(super) fn stands_for(name: &str, descr: &ColumnDescriptor) -> Option<&'static str> {
    use ConvertedType::{
        DATE, DECIMAL, TIME_MICROS, TIME_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_MILLIS,
    };
    match (descr.logical_type_ref(), descr.converted_type()) {
        // These count in nanoseconds, as a trace does.
        (Some(LogicalType::Timestamp(of)), _) if of.unit == TimeUnit::NANOS => None,
        (_, DECIMAL)
            if descr.type_scale() == 0
                && matches!(descr.physical_type(), Type::INT32 | Type::INT64) =>
        {
            None
        }
        (Some(LogicalType::Timestamp(_)), _) | (_, TIMESTAMP_MILLIS | TIMESTAMP_MICROS) => {
            Some("timestamp")
        }
        (Some(LogicalType::Time(_)), _) | (_, TIME_MILLIS | TIME_MICROS) => Some("time"),
        (_, DATE) => Some("date"),
        (_, DECIMAL) => Some("decimal"),
        _ => match descr.physical_type() {
            Type::BOOLEAN | Type::INT32 | Type::INT64 => None,
            Type::BYTE_ARRAY if matches!(name, columns::DEVICE | columns::COMMAND) => None,
            Type::INT96 => Some("timestamp"),
            Type::FLOAT | Type::DOUBLE => Some("floating point"),
            Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => Some("text"),
        },
    }
}

/// Returns the single value of a column, if the statistics show that it has no other.
fn only<V: Copy + PartialEq>(of: &ValueStatistics<V>) -> Option<V> {
    of.min_opt().filter(|least| of.max_opt() == Some(*least)).copied()
}

impl Column {
    /// Opens the column of a row group of `rows` rows.
    pub fn open(span: Arc<Span>, chunk: &ColumnChunkMetaData, rows: usize) -> Result<Self> {
        if chunk.num_values() != rows as i64 {
            return Err(ParquetError::General(
                "a column with another number of values than rows".to_owned(),
            ));
        }
        if chunk.column_descr().max_rep_level() > 0 || chunk.column_descr().max_def_level() > 1 {
            return Err(ParquetError::General("a column of lists".to_owned()));
        }
        Ok(match chunk.column_type() {
            Type::INT64 => Self::Long(Values::open(span, chunk, rows)?),
            Type::INT32 => Self::words(chunk, Values::open(span, chunk, rows)?),
            Type::BOOLEAN => Self::Bool(Values::open(span, chunk, rows)?),
            Type::BYTE_ARRAY => Self::Names(Values::open(span, chunk, rows)?, Vec::new()),
            other => return Err(ParquetError::General(format!("a column of type {other}"))),
        })
    }

    /// Returns the column without reading it, if its statistics show a single value and none
    /// missing. In most traces, that holds for many columns.
    pub fn constant(chunk: &ColumnChunkMetaData, rows: usize) -> Option<Self> {
        let descr = chunk.column_descr();
        if chunk.num_values() != rows as i64
            || descr.max_def_level() > 0
            || descr.max_rep_level() > 0
        {
            return None;
        }
        Some(match chunk.statistics()? {
            Statistics::Int64(of) => Self::Long(Values::constant(only(of)?)),
            Statistics::Int32(of) => Self::words(chunk, Values::constant(only(of)?)),
            Statistics::Boolean(of) => Self::Bool(Values::constant(only(of)?)),
            _ => return None,
        })
    }

    fn words(chunk: &ColumnChunkMetaData, values: Values<Int32Type>) -> Self {
        let is_unsigned = chunk.column_descr().converted_type() == ConvertedType::UINT_32;
        if is_unsigned { Self::Unsigned(values) } else { Self::Word(values) }
    }

    fn are_zero(&self) -> bool {
        match self {
            Self::Long(values) => values.are_zero(),
            Self::Word(values) | Self::Unsigned(values) => values.are_zero(),
            Self::Bool(values) => values.are_zero(),
            Self::Names(..) => false,
        }
    }

    /// Reads the next `count` values, at most [`BATCH`].
    pub fn fill(&mut self, count: usize) -> Result<()> {
        match self {
            Self::Long(values) => values.fill(count),
            Self::Word(values) | Self::Unsigned(values) => values.fill(count),
            Self::Bool(values) => values.fill(count),
            Self::Names(values, _) => values.fill(count),
        }
    }

    /// Looks up the names read last in the tables of the column `name`; a missing name is empty.
    ///
    /// # Errors
    /// A table is full.
    pub fn number(&mut self, name: &str, tables: &mut Tables) -> Result<(), Bad> {
        let Self::Names(of, numbers) = self else { return Ok(()) };
        numbers.clear();
        for (row, text) in of.values.iter().enumerate() {
            let level = of.levels.as_ref().and_then(|levels| levels.get(row));
            let text = if level == Some(&0) { &[] } else { text.data() };
            numbers.push(tables.number(name, text)?);
        }
        Ok(())
    }

    /// Returns which of the values read last are missing; `None` if the column cannot have missing
    /// values.
    pub fn absent(&self) -> Option<impl ExactSizeIterator<Item = bool> + Clone> {
        let levels = match self {
            Self::Long(values) => values.levels.as_ref(),
            Self::Word(values) | Self::Unsigned(values) => values.levels.as_ref(),
            Self::Bool(values) => values.levels.as_ref(),
            Self::Names(values, _) => values.levels.as_ref(),
        };
        Some(levels?.iter().map(|level| *level == 0))
    }

    /// Stores the values from place `from` on in their field of `rows`, which must be default rows.
    /// Returns `false` if a value is out of range.
    pub fn scatter(&self, column: usize, from: usize, rows: &mut [Io]) -> bool {
        if self.are_zero() {
            return true;
        }
        match (columns::ALL[column], self) {
            // Fast paths for the widths that this project writes and wrote: no check per value of
            // what it is for.
            (columns::QUEUED, Self::Long(of)) => {
                signed(&of.values[from..], rows, |io, v| io.queued_ns = v)
            }
            (columns::ISSUED, Self::Long(of)) => {
                signed(&of.values[from..], rows, |io, v| io.issued_ns = v)
            }
            (columns::COMPLETED, Self::Long(of)) => {
                signed(&of.values[from..], rows, |io, v| io.completed_ns = v)
            }
            (columns::OFFSET, Self::Long(of)) => {
                signed(&of.values[from..], rows, |io, v| io.request.offset = v)
            }
            (columns::LENGTH, Self::Unsigned(of)) => {
                each(&of.values[from..], rows, |io, v| io.request.len = v.cast_unsigned())
            }
            (columns::PROCESS, Self::Unsigned(of)) => {
                each(&of.values[from..], rows, |io, v| io.process = v.cast_unsigned())
            }
            (columns::LENGTH, Self::Long(of)) => {
                narrow(&of.values[from..], rows, |io, v| io.request.len = v)
            }
            (columns::PROCESS, Self::Long(of)) => {
                narrow(&of.values[from..], rows, |io, v| io.process = v)
            }
            (columns::QUEUE_LENGTH, Self::Long(of)) => {
                narrow(&of.values[from..], rows, |io, v| io.queue_length = v)
            }
            (columns::COMMAND, Self::Long(of)) => {
                narrow(&of.values[from..], rows, |io, v| io.command = v)
            }
            (columns::FLAGS, Self::Long(of)) => {
                narrow(&of.values[from..], rows, |io, v| io.flags = IoFlags::from_bits_retain(v))
            }
            (columns::DEVICE, Self::Word(of)) => {
                narrow(&of.values[from..], rows, |io, v| io.device = v)
            }
            (columns::PARTITION, Self::Word(of)) => {
                narrow(&of.values[from..], rows, |io, v| io.partition = v)
            }
            (columns::ERROR, Self::Word(of)) => {
                narrow(&of.values[from..], rows, |io, v| io.error = v)
            }
            (columns::TYPE, Self::Word(of)) => types(&of.values[from..], rows),
            (columns::IS_WRITE, Self::Bool(of)) => each(&of.values[from..], rows, |io, v| {
                io.request.op = if v { Op::Write } else { Op::Read };
            }),
            (_, Self::Long(of)) => {
                checked(of.values[from..].iter().map(|v| *v as u64), column, rows)
            }
            (_, Self::Word(of)) => {
                let values = of.values[from..].iter().map(|v| i64::from(*v).cast_unsigned());
                checked(values, column, rows)
            }
            (_, Self::Unsigned(of)) => {
                let values = of.values[from..].iter().map(|v| u64::from(v.cast_unsigned()));
                checked(values, column, rows)
            }
            (_, Self::Bool(of)) => {
                checked(of.values[from..].iter().map(|v| u64::from(*v)), column, rows)
            }
            (_, Self::Names(_, numbers)) => checked(numbers[from..].iter().copied(), column, rows),
        }
    }
}

fn each<V: Copy>(values: &[V], rows: &mut [Io], put: impl Fn(&mut Io, V)) -> bool {
    rows.iter_mut().zip(values).for_each(|(io, value)| put(io, *value));
    true
}

/// As [`each`], for values that must not be negative.
fn signed(values: &[i64], rows: &mut [Io], put: impl Fn(&mut Io, u64)) -> bool {
    let mut all = 0;
    for (io, value) in rows.iter_mut().zip(values) {
        all |= *value;
        put(io, value.cast_unsigned());
    }
    all >= 0
}

/// As [`each`], for values that must fit into a smaller type.
fn narrow<V: Copy, N: TryFrom<V>>(values: &[V], rows: &mut [Io], put: impl Fn(&mut Io, N)) -> bool {
    let mut fit = true;
    for (io, value) in rows.iter_mut().zip(values) {
        match N::try_from(*value) {
            Ok(value) => put(io, value),
            Err(_) => fit = false,
        }
    }
    fit
}

fn types(values: &[i32], rows: &mut [Io]) -> bool {
    rows.iter_mut().zip(values).all(|(io, value)| {
        let known = IoType::ALL.get(*value as u32 as usize);
        known.map(|known| io.io_type = *known).is_some()
    })
}

fn checked(values: impl Iterator<Item = u64>, column: usize, rows: &mut [Io]) -> bool {
    let set = columns::setter(column);
    rows.iter_mut().zip(values).all(|(io, value)| set(value, io))
}
