//! The document as comma-separated values: one row per point.

use crate::outcome::{self, render::Render};
use ioscape_schema::Document;

/// All points of the document, one row each under a header; `None` for a kind of result without
/// rows.
///
/// `curve` is `run` (one row per job of `ioscape run`), `mixed`, `read` or `write` (against
/// `unique_bytes`), `region` (the curves of a region) or `all_parameters`. `rounds` holds the
/// throughput of every round, separated by spaces.
///
/// Predictions, comparisons, validations, micro-benchmarks, campaigns, runs of `vxbench` and
/// simulations have rows and a header of their own. In a comparison, `how` tells whether a row is
/// predicted or measured. Numbers have full precision, in the units of the JSON.
pub fn csv(document: &Document) -> Option<String> {
    outcome::of(document).and_then(Render::csv)
}

#[cfg(test)]
mod tests {
    use super::csv;
    use crate::sample;
    use ioscape_schema::{Outcome, Verdict};

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
            // Commas outside quotes.
            let commas = |part: &str| part.matches(',').count();
            let count = |line: &str| line.split('"').step_by(2).map(commas).sum::<usize>();
            assert!(lines.len() > 1, "{text}");
            assert!(lines[0].split(',').any(|name| name == column), "{text}");
            assert!(lines.iter().all(|line| count(line) == count(lines[0])), "{text}");
        }
    }

    /// Once, the name column also held the workload in words, so it could not be joined with other
    /// tables.
    #[test]
    fn a_measured_row_has_its_name_alone_and_its_workload_in_columns() {
        let mut document = sample::compared();
        let Some(Outcome::Comparison(found)) = &mut document.outcome else { panic!("one") };
        found.comparison.clear();
        let row = found.measured[0].rows[1].clone();
        let text = csv(&document).expect("rows");
        let fields: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        assert_eq!(Some(fields[2][0]), row.name.as_deref(), "{text}");
        let at = fields[0].iter().position(|name| *name == "unique_bytes").expect("a column");
        let known = row.workload.expect("one").unique_bytes.to_string();
        assert_eq!([fields[2][at], fields[3][at]], [known.as_str(), ""], "{text}");
    }

    #[test]
    fn a_comparison_has_rows_of_what_was_predicted_and_of_what_was_measured() {
        let text = csv(&sample::compared()).expect("rows");
        let rows = |how: &str| text.lines().filter(|line| line.contains(how)).count();
        assert_eq!([",predicted,", ",measured,"].map(rows), [3, 3], "{text}");
        let slower = format!(",{}", Verdict::Slower.word());
        let mut measured = text.lines().filter(|line| line.contains(",measured,throughput,"));
        assert!(measured.any(|line| line.ends_with(&slower)), "{text}");
    }
}
