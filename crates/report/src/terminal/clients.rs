//! An evaluation by several clients on the terminal.
//!
//! It shows the sum against their number, how evenly they were served, and which of them straggled.

use super::chart::picture;
use super::ink::Style;
use super::tables::of_rows;
use crate::clients::curve::{self, EVENNESS, EVENNESS_NOTE};
use crate::clients::measured::number;
use crate::clients::{TIMES_NOTE, by_region, by_region_head};
use ioscape_schema::Evaluation;

/// The most clients that are listed one by one; the page and the result file have them all.
const LISTED_MOST: usize = 16;
/// The most characters of a name in the legend.
const NAMED_MOST: usize = 24;

/// The section; empty for a single machine.
pub fn text(evaluation: &Evaluation, style: &Style) -> String {
    let Some(clients) = number(evaluation) else { return String::new() };
    let lead =
        format!("{clients} clients together; sizes of sets are those of one client. {TIMES_NOTE}");
    let mut out = format!("\n{}\n{}", style.heading("Clients"), style.paragraph("", "  ", &lead));
    for sentence in curve::stragglers(evaluation) {
        out += &style.paragraph("", "  ", &sentence);
    }
    out += &chart(evaluation, style);
    let rows = curve::evenness(evaluation);
    if !rows.is_empty() {
        out += &format!("\n{}", of_rows(&EVENNESS, &rows, |at| at == 0, style));
        out += &style.paragraph("", "  ", EVENNESS_NOTE);
    }
    let each = by_region(evaluation);
    if !each.is_empty() && each.len() <= LISTED_MOST {
        let head = by_region_head(evaluation);
        out += &format!("\n{}", of_rows(&head, &each, |at| at < 2, style));
    }
    out
}

fn chart(evaluation: &Evaluation, style: &Style) -> String {
    let Some(mut chart) = curve::together(evaluation, style.quantity) else {
        return String::new();
    };
    // Our regions have short names, but a name from a foreign result must not widen the legend.
    for series in &mut chart.series {
        series.name = series.name.chars().take(NAMED_MOST).collect();
    }
    let heading = format!("{} by number of clients", style.quantity.heading());
    let drawn = picture(&chart, style.columns().min(100), 9, style);
    format!("\n{}\n{drawn}", style.heading(&heading))
}
