//! Lines of comma-separated values: RFC 4180 quoting, and the columns of a workload.

use crate::columns::Column;
use crate::text::inert;
use ioscape_schema::{ResponseTime, Workload};

/// The columns of a workload.
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

/// A number, or an empty field if there is none.
pub fn number<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// The median, 99th percentile and maximum of response times, or three empty fields.
pub fn of_times(times: Option<ResponseTime>) -> [String; 3] {
    [times.map(|t| t.p50), times.map(|t| t.p99), times.map(|t| t.max)].map(number)
}

/// A line of these fields.
pub fn line<S: AsRef<str>>(fields: impl IntoIterator<Item = S>) -> String {
    let fields: Vec<String> = fields.into_iter().map(|one| field(one.as_ref())).collect();
    fields.join(",") + "\n"
}

/// A field, quoted if necessary, and after an apostrophe if a spreadsheet would run it as a
/// formula.
fn field(text: &str) -> String {
    let mut text = inert(text).into_owned();
    if is_formula(&text) {
        text.insert(0, '\'');
    }
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// Whether a spreadsheet might run the text, such as a name from outside, as a formula.
///
/// A signed number is harmless, even followed by a unit or an interval, unless it contains a call.
fn is_formula(text: &str) -> bool {
    let Some(behind) = text.strip_prefix(['+', '-']).filter(|behind| !behind.is_empty()) else {
        return text.starts_with(['=', '@']);
    };
    let is_figure = behind.starts_with(|c: char| c.is_ascii_digit()) || text.parse::<f64>().is_ok();
    let is_call = |pair: &[u8]| pair[0].is_ascii_alphanumeric() && pair[1] == b'(';
    !is_figure || text.contains(['|', '!']) || text.as_bytes().windows(2).any(is_call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_formula_and_a_figure_stays_one() {
        let calls = "-1+cmd|' /C calc'!A0";
        for text in ["=1+1", "@SUM(A1)", "-x", "+A1", "-1+SUM(A1)", calls] {
            assert_eq!(field(text), format!("'{text}"));
        }
        for text in ["-3.2", "-1e-5", "-inf", "+5 MB/s", "-3.2 % (-5 to -1)", "a=b", "x - y", ""] {
            assert_eq!(field(text), text);
        }
        assert_eq!(["-", "+"].map(field), ["-", "+"], "a sign alone is nothing, as in a cell");
        assert_eq!(field("=HYPERLINK(\"x\",1)"), "\"'=HYPERLINK(\"\"x\"\",1)\"");
    }
}
