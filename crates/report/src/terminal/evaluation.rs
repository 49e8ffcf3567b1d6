//! A self-scaling evaluation on the terminal: findings first, then numbers and small charts.

use super::chart::{picture, small};
use super::clients;
use super::ink::Style;
use super::tables;
use crate::figures;
use crate::regional::is_tabled;
use ioscape_schema::Evaluation;
use ioscape_schema::units::Bytes;

/// The findings, tables, charts of every region, borders and steadiness.
pub fn text(evaluation: &Evaluation, style: &Style) -> String {
    let mut out = format!("\n{}\n", style.heading("Findings"));
    let bullet = style.bullet();
    let sentences = evaluation.findings.sentences.iter();
    for sentence in sentences.filter(|sentence| !is_tabled(evaluation, sentence)) {
        out += &style.paragraph(bullet, "    ", sentence);
    }
    if evaluation.findings.sentences.is_empty() {
        out += "  The evaluation was too short to conclude anything.\n";
    }
    out += &format!("\n{}", tables::headlines(evaluation, style));
    out += &tables::by_region(evaluation, style);
    if !evaluation.regions.is_empty() {
        let table = tables::regions(evaluation, style);
        out += &format!("\n{}\n{table}", style.heading("Regions"));
    }
    out += &landscape(evaluation, style);
    for (index, _) in evaluation.regions.iter().enumerate() {
        out += &region(evaluation, index, style);
    }
    out + &clients::text(evaluation, style) + &rest(evaluation, style)
}

fn landscape(evaluation: &Evaluation, style: &Style) -> String {
    let chart = figures::landscape(evaluation, style.quantity);
    if !chart.has_points() {
        return String::new();
    }
    let heading = format!("{} against the size of the set", style.quantity.heading());
    let heading = style.long_heading(&heading);
    format!("\n{heading}\n{}", picture(&chart, style.columns().min(120), 15, style))
}

fn region(evaluation: &Evaluation, index: usize, style: &Style) -> String {
    let region = &evaluation.regions[index];
    let count = match style.columns() {
        0..64 => 1,
        64..140 => 2,
        _ => 4,
    };
    let drawn = small(&figures::region(index, region, style.quantity), count, style);
    if drawn.is_empty() {
        return String::new();
    }
    let [from, to] = evaluation.seen_range(region).map(Bytes);
    let heading = format!("{}: {from} to {to}{}", region.name, tables::best(region));
    format!("\n{}\n{drawn}", style.long_heading(&heading))
}

/// The borders, the steadiness, and what was left out.
fn rest(evaluation: &Evaluation, style: &Style) -> String {
    let mut out = String::new();
    if !evaluation.borders.is_empty() {
        let table = tables::borders(evaluation, style);
        out += &format!("\n{}\n{table}", style.heading("Borders"));
    }
    let drift = figures::drift_line(evaluation);
    if !drift.is_empty() {
        out += &format!("\n{}", style.paragraph("", "", &drift));
    }
    for (what, why) in &evaluation.shortened {
        out += &style.paragraph("", "  ", &format!("Shortened: {what}: {why}"));
    }
    out
}
