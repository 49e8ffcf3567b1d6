//! What a machine allows, for a terminal: a line per ability, then what to do about missing ones.

use super::ink::Style;
use super::tables::{Column, table};
use ioscape_schema::{Check, Doctor};

/// The table of checks, what to do, and the verdict.
pub fn text(doctor: &Doctor, style: &Style) -> String {
    let cells = |cell: fn(&Check) -> String| doctor.checks.iter().map(cell);
    let columns = [
        Column::words("Ability", cells(|check| check.name.clone())),
        Column::words("State", cells(|check| check.state.word().to_owned())),
        Column::words("Found", cells(|check| check.found.clone())),
        Column::words("Needed for", cells(|check| check.needed_for.clone())),
    ];
    let mut out = format!("\n{}", table(&columns, style));
    let advised =
        doctor.checks.iter().filter_map(|check| Some((&check.name, check.advice.as_ref()?)));
    let advised: Vec<_> = advised.collect();
    if !advised.is_empty() {
        out += &format!("\n{}\n", style.heading("What to do"));
    }
    for (name, advice) in advised {
        out += &style.paragraph("  ", "    ", &format!("{name}: {advice}"));
    }
    let verdict = match doctor.can_measure() {
        true => "ioscape can measure in this directory.",
        false => "ioscape cannot measure in this directory.",
    };
    out + "\n" + &style.paragraph("", "", verdict)
}
