//! Lines of comma-separated values: RFC 4180 quoting, and the columns of a workload.

use crate::columns::Column;
use crate::text::inert;
use ioscape_schema::{ResponseTime, Workload};

/// The workload's own columns.
pub const WORKLOAD: [Column<Workload>; 10] = [
    ("unique_bytes", |one| one.unique_bytes.to_string()),
    ("size_mean", |one| one.size_mean.to_string()),
    ("read_frac", |one| one.read_frac.to_string()),
    ("seq_frac", |one| one.seq_frac.to_string()),
    ("process_num", |one| one.process_num.to_string()),
    ("queue_depth", |one| one.queue_depth.to_string()),
    ("engine", |one| one.engine.to_string()),
    ("access", |one| one.access.to_string()),
    ("direct_above_bytes", |one| number(one.direct_above_bytes)),
    ("workers", |one| one.workers.to_string()),
];

/// A number, or nothing where there is none.
pub fn number<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Median, 99th percentile and greatest of response times, or three empty fields.
pub fn of_times(times: Option<ResponseTime>) -> [String; 3] {
    [times.map(|t| t.p50), times.map(|t| t.p99), times.map(|t| t.max)].map(number)
}

/// A line of these fields.
pub fn line<S: AsRef<str>>(fields: impl IntoIterator<Item = S>) -> String {
    let fields: Vec<String> = fields.into_iter().map(|one| field(one.as_ref())).collect();
    fields.join(",") + "\n"
}

/// A field, in quotes where it needs them.
fn field(text: &str) -> String {
    let text = inert(text);
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into_owned()
    }
}
