//! Lines of comma-separated values: RFC 4180 quoting, and the columns of a workload.

use crate::text::inert;
use ioscape_schema::{ResponseTime, Workload};

/// The workload's own columns, in the order of both headers.
pub fn of_workload(workload: &Workload) -> [String; 10] {
    [
        workload.unique_bytes.to_string(),
        workload.size_mean.to_string(),
        workload.read_frac.to_string(),
        workload.seq_frac.to_string(),
        workload.process_num.to_string(),
        workload.queue_depth.to_string(),
        workload.engine.to_string(),
        workload.access.to_string(),
        number(workload.direct_above_bytes),
        workload.workers.to_string(),
    ]
}

/// A number, or nothing where there is none.
pub fn number<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Median, 99th percentile and greatest of response times, or three empty fields.
pub fn of_times(times: Option<ResponseTime>) -> [String; 3] {
    [times.map(|t| t.p50), times.map(|t| t.p99), times.map(|t| t.max)].map(number)
}

/// A line of these fields.
pub fn line<'a>(fields: impl Iterator<Item = &'a str>) -> String {
    let fields: Vec<String> = fields.map(field).collect();
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
