//! What more streams on the same files gain: the kind of sentence with which the white paper sums
//! up its multi-thread tables.

use crate::ratio::paired_ratio;
use ioscape_schema::{CampaignResult, CampaignRow, CampaignSample};

/// Name of the parameter whose growth is described.
const THREADS: &str = "threads";
/// A ratio is not reported if the ends of its interval are further apart than this factor.
const WIDE: f64 = 100.0;

/// Returns a sentence for every column that was measured with few and with many threads: throughput
/// at the most over that at the fewest, for every other setting, from runs of the same rounds. Rows
/// that were left out may give a column several pairs of thread counts; each pair has its own
/// sentence. Empty if `threads` does not vary.
pub fn growth_in_threads(result: &CampaignResult) -> Vec<String> {
    let groups = result.rows_alike_but_for(THREADS);
    let of_column = |column: usize| {
        let name = result.columns[column].name();
        let sentence = move |([few, many], parts): ([&str; 2], Vec<String>)| {
            let parts = parts.join(", ");
            format!("{name}: {many} threads instead of {few} multiply throughput by {parts}.")
        };
        parts(&groups, column).into_iter().map(sentence)
    };
    (0..result.columns.len()).flat_map(of_column).collect()
}

/// What the sentences of a column say of each group, keyed by the words for the fewest and the most
/// threads in it.
fn parts<'a>(
    groups: &[(String, Vec<&'a CampaignRow>)],
    column: usize,
) -> Vec<([&'a str; 2], Vec<String>)> {
    let mut all: Vec<([&str; 2], Vec<String>)> = Vec::new();
    for (shared, rows) in groups {
        let Some(ends) = ends(rows) else { continue };
        let Some(part) = part(shared, ends, column) else { continue };
        let threads = ends.map(|row| row.setting(THREADS).map_or("", |setting| &*setting.text));
        match all.iter_mut().find(|(known, _)| *known == threads) {
            Some((_, parts)) => parts.push(part),
            None => all.push((threads, vec![part])),
        }
    }
    all
}

/// The rows with the fewest and the most threads, unless those counts are equal.
fn ends<'a>(rows: &[&'a CampaignRow]) -> Option<[&'a CampaignRow; 2]> {
    let count = |row: &&&CampaignRow| row.setting(THREADS).map_or(0.0, |setting| setting.value);
    let few = rows.iter().min_by(|a, b| count(a).total_cmp(&count(b)))?;
    let many = rows.iter().max_by(|a, b| count(a).total_cmp(&count(b)))?;
    (count(&many) > count(&few)).then_some([*few, *many])
}

fn part(shared: &str, [few, many]: [&CampaignRow; 2], column: usize) -> Option<String> {
    let rates = |row: &CampaignRow| -> Option<Vec<f64>> {
        let samples = &row.cells.get(column)?.samples;
        Some(samples.iter().map(CampaignSample::rate).collect())
    };
    // Two rounds that differ say nothing.
    let ratio = paired_ratio(&rates(many)?, &rates(few)?)
        .filter(|ratio| ratio.ci95[1] < WIDE * ratio.ci95[0])?;
    let [low, high] = ratio.ci95;
    let with = if shared.is_empty() { String::new() } else { format!(" with {shared}") };
    Some(format!("{:.2}{with} ({low:.2} to {high:.2})", ratio.mean))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{CampaignCell, CampaignColumn, CampaignSetting};

    fn row(iosize: &str, threads: f64, rates: [f64; 2]) -> CampaignRow {
        let setting = |name: &str, text: &str, value| CampaignSetting {
            name: name.into(),
            text: text.into(),
            value,
        };
        let sample = |throughput_bytes_per_s| CampaignSample {
            throughput_bytes_per_s,
            ..CampaignSample::default()
        };
        let cell = CampaignCell { samples: rates.map(sample).into(), ..CampaignCell::default() };
        CampaignRow {
            settings: vec![
                setting("iosize", iosize, 0.0),
                setting("threads", &threads.to_string(), threads),
            ],
            cells: vec![cell, CampaignCell::default()],
        }
    }

    fn table(rows: Vec<CampaignRow>) -> CampaignResult {
        let column = |method: &str| CampaignColumn {
            place: "xfs".into(),
            method: method.into(),
            ..CampaignColumn::default()
        };
        let columns = vec![column("quick"), column("never measured")];
        CampaignResult { columns, rows, ..CampaignResult::default() }
    }

    #[test]
    fn the_most_threads_are_compared_with_the_fewest() {
        let rows = vec![
            row("64k", 1.0, [100.0, 200.0]),
            row("64k", 32.0, [300.0, 600.0]),
            row("64k", 4.0, [1.0, 1.0]),
            row("1M", 1.0, [500.0, 500.0]),
            row("1M", 32.0, [500.0, 500.0]),
        ];
        assert_eq!(
            growth_in_threads(&table(rows)),
            [
                "xfs quick: 32 threads instead of 1 multiply throughput by 3.00 with iosize 64k (3.00 to 3.00), \
                 1.00 with iosize 1M (1.00 to 1.00)."
            ]
        );
    }

    /// Guards against a defect: where files are small, large requests of many threads are left out,
    /// and "32 threads" was said of eight.
    #[test]
    fn groups_with_other_numbers_of_threads_have_sentences_of_their_own() {
        let rows = vec![
            row("64k", 1.0, [100.0, 200.0]),
            row("64k", 32.0, [300.0, 600.0]),
            row("2M", 1.0, [100.0, 100.0]),
            row("2M", 8.0, [200.0, 200.0]),
            row("4M", 1.0, [100.0, 100.0]),
        ];
        assert_eq!(
            growth_in_threads(&table(rows)),
            [
                "xfs quick: 32 threads instead of 1 multiply throughput by 3.00 with iosize 64k (3.00 to 3.00).",
                "xfs quick: 8 threads instead of 1 multiply throughput by 2.00 with iosize 2M (2.00 to 2.00)."
            ]
        );
    }

    #[test]
    fn without_threads_that_vary_nothing_is_said() {
        assert!(growth_in_threads(&table(vec![row("64k", 4.0, [1.0, 2.0])])).is_empty());
        assert!(growth_in_threads(&table(Vec::new())).is_empty());
    }
}
