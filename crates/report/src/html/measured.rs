//! A measured comparison on the page: ratios as a picture and a table, and both machines.

use super::figure::Figure;
use super::tables::{machine, table};
use super::values::Values;
use crate::measured::notes;
use crate::plot::Scale;
use crate::ratios;
use crate::text::{between, esc, figure, ratio, row_name};
use ioscape_schema::{Environment, MeasuredComparison, MeasuredRow};
use std::fmt::Write as _;

/// The most rows in a picture; the table holds all.
const DRAWN_MOST: usize = 60;

/// The section: every pair of systems.
pub fn section(all: &[MeasuredComparison]) -> String {
    all.iter().enumerate().map(|(number, one)| pair(one, number)).collect()
}

fn pair(one: &MeasuredComparison, number: usize) -> String {
    let [this, other] = one.systems.each_ref().map(|name| esc(name));
    let mut out = format!("<h2>{this} against {other}, as measured</h2>");
    for note in notes(one) {
        let _ = write!(out, r#"<p class="lead">{}</p>"#, esc(&note));
    }
    if !one.rows.is_empty() {
        out += &picture(one, number, &other);
        out += &ratio_table(&one.rows);
    }
    for (name, environment) in one.systems.iter().zip(&one.environments) {
        if *environment != Environment::default() {
            let _ = write!(
                out,
                "<details><summary>Machine of {}</summary>{}</details>",
                esc(name),
                machine(environment)
            );
        }
    }
    out
}

/// The picture of the ratios to `other`, a system's name as HTML.
fn picture(one: &MeasuredComparison, number: usize, other: &str) -> String {
    let drawn = one.rows.len().min(DRAWN_MOST);
    let caption = format!(
        "Ratio to {other}, with its 95 % interval{}. A line to the edge goes on beyond it. Hollow points: no difference can be told.",
        if drawn < one.rows.len() {
            format!(": the first {drawn} of {} rows", one.rows.len())
        } else {
            String::new()
        }
    );
    let id = format!("measured{number}");
    let title = "Measured ratios";
    let picture = Figure { id: &id, title, caption: &caption, scales: &[Scale::Log10] };
    let rows = &one.rows[..drawn];
    let draw = |_| {
        ratios::measured(one, rows, 1080.0, "wide") + &ratios::measured(one, rows, 350.0, "narrow")
    };
    let values = Values::table("", &ratios::HEAD, ratios::measured_rows(one, rows));
    picture.html(draw, "", &values)
}

fn ratio_table(all: &[MeasuredRow]) -> String {
    let head = ["Row", "Figure", "Other's", "Rounds", "Ratio", "95 % interval", "Verdict"];
    let rows = all.iter().map(|row| {
        let [this, other] = row.rounds;
        vec![
            row_name(row),
            figure(row.metric, row.values[0]),
            figure(row.metric, row.values[1]),
            format!("{this} and {other}"),
            ratio(row.ratio),
            between(row.ci95),
            row.verdict.word().to_owned(),
        ]
    });
    table("runs", &head, rows)
}
