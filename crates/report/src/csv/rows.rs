//! Lines of comma-separated values: RFC 4180 quoting, and the columns of a workload.

use crate::text::inert;
use ioscape_schema::Workload;

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
        workload.direct_above_bytes.map_or_else(String::new, |above| above.to_string()),
        workload.workers.to_string(),
    ]
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
