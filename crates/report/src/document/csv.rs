//! The document as comma-separated values: one row per point.

use crate::outcome::{self, render::Render};
use ioscape_schema::Document;

/// All points of the document, one row each under a header; `None` of a kind of result that has no rows of its own.
///
/// `curve` is `run` (one row per job of `ioscape run`), `mixed`, `read` or `write` (against `unique_bytes`),
/// `region` (the four curves of a region) or `all_parameters`; `rounds` holds the throughput of every round,
/// separated by spaces. Predictions, comparisons, validations, micro-benchmarks, campaigns, runs of `vxbench` and simulations have rows of
/// these instead, under a header of their own; of a comparison that holds both, `how` tells whether a row is predicted or measured. Numbers are
/// in full precision, in the units that the JSON has.
pub fn csv(document: &Document) -> Option<String> {
    outcome::of(document).and_then(Render::csv)
}

#[cfg(test)]
mod tests {
    use super::csv;
    use crate::sample;
    use ioscape_schema::Verdict;

    #[test]
    fn every_row_has_as_many_fields_as_its_header() {
        for (document, column) in [
            (sample::predicted(), "response_time_ns"),
            (sample::compared(), "ratio"),
            (sample::validated(), "product_predicted_bytes_per_s"),
            (sample::micro_benchmarks(), "not_measured"),
            (sample::simulated(), "elapsed_p99_ns"),
        ] {
            let text = csv(&document).expect("rows");
            let lines: Vec<&str> = text.lines().collect();
            // Outside of quotes.
            let commas = |part: &str| part.matches(',').count();
            let count = |line: &str| line.split('"').step_by(2).map(commas).sum::<usize>();
            assert!(lines.len() > 1, "{text}");
            assert!(lines[0].split(',').any(|name| name == column), "{text}");
            assert!(lines.iter().all(|line| count(line) == count(lines[0])), "{text}");
        }
    }

    #[test]
    fn a_comparison_has_rows_of_what_was_predicted_and_of_what_was_measured() {
        let text = csv(&sample::compared()).expect("rows");
        let rows = |how: &str| text.lines().filter(|line| line.contains(how)).count();
        assert_eq!([",predicted,", ",measured,"].map(rows), [3, 3], "{text}");
        let slower = format!(",{}", Verdict::Slower.words());
        let mut measured = text.lines().filter(|line| line.contains(",measured,throughput,"));
        assert!(measured.any(|line| line.ends_with(&slower)), "{text}");
    }
}
