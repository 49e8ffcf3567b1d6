//! One column of one row group: its next values, as whole numbers.

use super::bytes::Span;
use crate::columns;
use crate::read::decode::BATCH;
use ioscape_schema::{Io, IoFlags, IoType, Op};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{BoolType, DataType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::SerializedPageReader;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::ColumnDescriptor;
use std::sync::Arc;

/// Values of one type.
pub(super) struct Values<T: DataType> {
    /// Nothing where all values are the same: there are enough of them.
    reader: Option<ColumnReaderImpl<T>>,
    values: Vec<T::T>,
    /// For a column that may be null: whether each value is there.
    levels: Option<Vec<i16>>,
}

impl<T: DataType> Values<T>
where
    T::T: Copy + Default,
{
    fn open(span: Arc<Span>, chunk: &ColumnChunkMetaData, rows: usize) -> Result<Self> {
        let pages = Box::new(SerializedPageReader::new(span, chunk, rows, None)?);
        let reader = ColumnReaderImpl::new(chunk.column_descr_ptr(), pages);
        let levels = (chunk.column_descr().max_def_level() > 0).then(Vec::new);
        Ok(Self { reader: Some(reader), values: Vec::new(), levels })
    }

    /// As many of one value as are asked for at once.
    fn constant(value: T::T) -> Self {
        Self { reader: None, values: vec![value; BATCH], levels: None }
    }

    /// Whether all values are those that a row begins with.
    fn are_zero(&self) -> bool {
        self.reader.is_none() && self.values.first() == Some(&T::T::default())
    }

    /// Reads exactly `count` values; absent ones are zero.
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

/// A column of one of the types that hold whole numbers.
pub(super) enum Column {
    Long(Values<Int64Type>),
    Word(Values<Int32Type>),
    /// Words of 32 bits without a sign, which earlier versions wrote.
    Unsigned(Values<Int32Type>),
    Bool(Values<BoolType>),
}

/// What the numbers of a column stand for, where that is something else than themselves.
pub(super) fn stands_for(descr: &ColumnDescriptor) -> Option<&'static str> {
    use ConvertedType::{
        DATE, DECIMAL, TIME_MICROS, TIME_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_MILLIS,
    };
    match (descr.logical_type_ref(), descr.converted_type()) {
        // These count in the units of a trace.
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
        _ => None,
    }
}

/// The one value, where the statistics tell that there is no other.
fn only<V: Copy + PartialEq>(of: &ValueStatistics<V>) -> Option<V> {
    of.min_opt().filter(|least| of.max_opt() == Some(*least)).copied()
}

impl Column {
    /// The column of a row group of `rows` rows.
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
            other => {
                let name = chunk.column_path().string();
                return Err(ParquetError::General(format!(
                    "column {name} is of type {other}, not of whole numbers"
                )));
            }
        })
    }

    /// The column where its statistics tell that it has one value only and none is absent: of most traces that is a good part of the
    /// columns, and they need not be read.
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
        }
    }

    /// Reads the next `count` values, at most [`BATCH`].
    pub fn fill(&mut self, count: usize) -> Result<()> {
        match self {
            Self::Long(values) => values.fill(count),
            Self::Word(values) | Self::Unsigned(values) => values.fill(count),
            Self::Bool(values) => values.fill(count),
        }
    }

    /// Of the values read last, those that are absent; `None` where the column has no place for absent ones.
    pub fn absent(&self) -> Option<impl ExactSizeIterator<Item = bool> + Clone> {
        let levels = match self {
            Self::Long(values) => values.levels.as_ref(),
            Self::Word(values) | Self::Unsigned(values) => values.levels.as_ref(),
            Self::Bool(values) => values.levels.as_ref(),
        };
        Some(levels?.iter().map(|level| *level == 0))
    }

    /// Puts the values from the place `from` on into their field of the rows, which are empty yet; `false` when one is out of range.
    pub fn scatter(&self, column: usize, from: usize, rows: &mut [Io]) -> bool {
        if self.are_zero() {
            return true;
        }
        match (columns::ALL[column], self) {
            // The widths that this project writes and wrote: what a value is for is not asked again for each.
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
        }
    }
}

fn each<V: Copy>(values: &[V], rows: &mut [Io], put: impl Fn(&mut Io, V)) -> bool {
    rows.iter_mut().zip(values).for_each(|(io, value)| put(io, *value));
    true
}

/// As [`each`], of values that must not be below zero.
fn signed(values: &[i64], rows: &mut [Io], put: impl Fn(&mut Io, u64)) -> bool {
    let mut all = 0;
    for (io, value) in rows.iter_mut().zip(values) {
        all |= *value;
        put(io, value.cast_unsigned());
    }
    all >= 0
}

/// As [`each`], of values that must fit into a smaller type.
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
