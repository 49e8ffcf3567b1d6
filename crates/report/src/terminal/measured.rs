//! A measured comparison of two systems, for a terminal.

use super::ink::Style;
use super::tables::{Column, table};
use crate::measured::notes;
use crate::text::{figure, ratio, row_name};
use ioscape_schema::{MeasuredComparison, MeasuredRow, is_wide};

/// Every pair of systems: its rows, and whether the condition was met.
pub fn text(all: &[MeasuredComparison], style: &Style) -> String {
    all.iter().map(|one| pair(one, style)).collect()
}

fn pair(one: &MeasuredComparison, style: &Style) -> String {
    let [this, other] = &one.systems;
    let heading = style.long_heading(&format!("{this} against {other}, as measured"));
    let mut out = format!("\n{heading}\n{}", rows(&one.rows, style));
    for note in notes(one) {
        out += &style.paragraph("  ", "  ", &note);
    }
    out
}

fn rows(all: &[MeasuredRow], style: &Style) -> String {
    if all.is_empty() {
        return String::new();
    }
    let each = |cell: fn(&MeasuredRow) -> String| all.iter().map(cell);
    let columns = [
        Column::words("Row", each(row_name)),
        Column::numbers("Figure", each(|row| figure(row.metric, row.values[0]))),
        Column::numbers("Other", each(|row| figure(row.metric, row.values[1]))),
        Column::numbers("Ratio", each(|row| ratio(row.ratio))),
        Column::numbers("From", each(|row| end(row, 0))),
        Column::numbers("To", each(|row| end(row, 1))),
        Column::words("Verdict", each(|row| row.verdict.word().to_owned())),
    ];
    table(&columns, style)
}

/// An end of the interval; of a wide interval only the end next to 1, if it excludes 1.
fn end(row: &MeasuredRow, which: usize) -> String {
    let [low, high] = row.ci95;
    let is_told = !is_wide(row.ci95) || [low > 1.0, high < 1.0][which];
    if is_told { ratio(row.ci95[which]) } else { "-".to_owned() }
}
