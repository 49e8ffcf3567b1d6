//! The document as comma-separated values: one row per point.

use crate::csv::points;
use crate::outcome::{self, render::Render};
use ioscape_schema::Document;

/// All points of the document, one row each under a header.
///
/// `curve` is `run` (one row per job of `ioscape run`), `mixed`, `read` or `write` (against `unique_bytes`),
/// `region` (the four curves of a region) or `all_parameters`; `rounds` holds the throughput of every round,
/// separated by spaces. A document of predictions, of a comparison, of a validation or of micro-benchmarks has rows of these instead,
/// under a header of their own; one without points has the header alone. Numbers are in full precision, in the units that the JSON has.
pub fn csv(document: &Document) -> String {
    outcome::of(document).and_then(Render::csv).unwrap_or_else(points::none)
}

#[cfg(test)]
mod tests {
    use super::csv;
    use crate::sample;

    #[test]
    fn every_row_has_as_many_fields_as_its_header() {
        for (document, column) in [
            (sample::predicted(), "response_time_ns"),
            (sample::compared(), "ratio"),
            (sample::validated(), "product_predicted_bytes_per_s"),
            (sample::micro_benchmarks(), "not_measured"),
        ] {
            let text = csv(&document);
            let lines: Vec<&str> = text.lines().collect();
            let count = |line: &str| line.split(',').count();
            assert!(lines.len() > 1, "{text}");
            assert!(lines[0].split(',').any(|name| name == column), "{text}");
            assert!(lines.iter().all(|line| count(line) == count(lines[0])), "{text}");
        }
    }
}
