//! A row per simulated request, as Parquet or CSV: when it came, went and was complete, and where its time went.

use crate::failure::Failure;
use ioscape_simulate::{Job, Outcome, Replayed};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::Int64Type;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Rows of a group.
const GROUP: usize = 1 << 18;

/// A column: its name, and what it holds of a request.
type Column = (&'static str, fn(&Outcome, &Job) -> u64);

const COLUMNS: [Column; 15] = [
    ("row", |o, _| u64::from(o.row)),
    ("disk", |o, _| u64::from(o.disk)),
    ("is_write", |o, _| u64::from(o.write)),
    ("block", |_, j| j.command.block),
    ("blocks", |_, j| j.command.count),
    ("queued_ns", |o, _| o.queued_ns),
    ("issued_ns", |o, _| o.issued_ns),
    ("completed_ns", |o, _| o.done.completed_ns),
    ("wait_ns", |o, _| o.done.waited_ns),
    ("overhead_ns", |o, _| o.done.overhead_ns),
    ("bus_ns", |o, _| o.done.bus_ns),
    ("seek_ns", |o, _| o.done.seek_ns),
    ("rotation_ns", |o, _| o.done.rotation_ns),
    ("transfer_ns", |o, _| o.done.transfer_ns),
    ("cached", |o, _| u64::from(o.done.cached)),
];

/// Refuses a name whose ending tells no format.
///
/// # Errors
/// It ends with neither `.csv` nor `.parquet`.
pub fn check_name(path: &Path) -> Result<(), Failure> {
    if path.extension().is_some_and(|ending| ending == "csv" || ending == "parquet") {
        return Ok(());
    }
    Err(Failure::Misuse(format!(
        "--rows {}: the name must end with .csv or .parquet",
        path.display()
    )))
}

/// Writes the rows; a file named `.csv` becomes CSV, any other Parquet.
pub fn write(path: &Path, run: &Replayed, jobs: &[Job]) -> Result<(), Failure> {
    let failed = |e: &std::io::Error| Failure::of_write(&path.display().to_string(), e);
    let file = std::fs::File::create(path).map_err(|e| failed(&e))?;
    let out = std::io::BufWriter::new(file);
    let written = if path.extension().is_some_and(|e| e == "csv") {
        csv(out, run, jobs)
    } else {
        parquet(out, run, jobs).map_err(std::io::Error::other)
    };
    written.map_err(|e| failed(&e))
}

fn csv(mut out: impl Write, run: &Replayed, jobs: &[Job]) -> std::io::Result<()> {
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    writeln!(out, "{}", names.join(","))?;
    for (outcome, job) in run.outcomes.iter().zip(jobs) {
        let values = COLUMNS.iter().map(|(_, value)| value(outcome, job).to_string());
        writeln!(out, "{}", values.collect::<Vec<_>>().join(","))?;
    }
    out.flush()
}

fn schema() -> Result<Type, ParquetError> {
    let field = |(name, _): &Column| {
        Type::primitive_type_builder(name, Physical::INT64)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::integer(64, false)))
            .build()
            .map(Arc::new)
    };
    let fields = COLUMNS.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("simulated").with_fields(fields).build()
}

fn parquet(out: impl Write + Send, run: &Replayed, jobs: &[Job]) -> Result<(), ParquetError> {
    let properties = WriterProperties::builder().set_compression(Compression::LZ4_RAW).build();
    let mut file = SerializedFileWriter::new(out, Arc::new(schema()?), Arc::new(properties))?;
    for (outcomes, jobs) in run.outcomes.chunks(GROUP).zip(jobs.chunks(GROUP)) {
        let mut group = file.next_row_group()?;
        for (_, value) in COLUMNS {
            let values: Vec<i64> =
                outcomes.iter().zip(jobs).map(|(o, j)| value(o, j) as i64).collect();
            if let Some(mut column) = group.next_column()? {
                column.typed::<Int64Type>().write_batch(&values, None, None)?;
                column.close()?;
            }
        }
        group.close()?;
    }
    file.close().map(drop)
}
