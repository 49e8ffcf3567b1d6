//! The operating-system micro-benchmarks for a terminal: headlines, one table, and what could not be measured.

use super::ink::Style;
use super::tables::{Column, table};
use crate::os::{self, case, clean, headlines, interval, speed, value};
use ioscape_schema::{OsBenchmark, OsResults};

/// All that the document holds of micro-benchmarks.
pub fn text(results: &OsResults, style: &Style) -> String {
    let mut out = String::from("\n");
    for (name, figure) in headlines(results) {
        out += &style.paragraph("  ", "      ", &format!("{name:<22}{figure}"));
    }
    let (measured, missing): (Vec<&OsBenchmark>, Vec<&OsBenchmark>) =
        results.benchmarks.iter().partition(|one| one.value.is_some());
    if !measured.is_empty() {
        out += &format!("\n{}", benchmarks(&measured, style));
    }
    for one in missing {
        let why = one.not_measured.as_deref().unwrap_or_default();
        let text = format!("{} {}: {why}", one.name, case(one));
        out += &style.paragraph("Not measured: ", "  ", &text);
    }
    if let Some(proof) = &results.mab {
        out += &format!("\n{}", style.paragraph("", "  ", &os::proof(proof)));
    }
    out
}

fn benchmarks(all: &[&OsBenchmark], style: &Style) -> String {
    // A name stands once, at its first case.
    let names = all.iter().enumerate().map(|(index, one)| {
        let again = index > 0 && all[index - 1].name == one.name;
        if again { String::new() } else { one.name.clone() }
    });
    let relative = |one: &&OsBenchmark| one.mips_relative.map_or_else(String::new, speed);
    let columns = [
        Column::words("Benchmark", names),
        Column::words("Case", all.iter().map(|one| case(one))),
        Column::numbers("Value", all.iter().map(|one| value(one))),
        Column::numbers("95 % interval", all.iter().map(|one| interval(one))),
        Column::numbers("Relative", all.iter().map(relative)),
        Column::numbers("Clean", all.iter().map(|one| clean(one))),
    ];
    table(&columns.iter().collect::<Vec<_>>(), style)
}
