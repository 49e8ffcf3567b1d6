//! The document as text for a terminal: findings first, then numbers, small charts, and doubts.

mod campaign;
mod characterization;
mod chart;
mod ink;
mod models;
mod os;
pub(crate) mod replay;
mod simulation;
pub(crate) mod tables;
mod trace_files;
mod vxbench;

pub use ink::Style;

use crate::figures;
use crate::plot::Chart;
use crate::text::{kind, run_name, short_time, target};
use chart::{Block, block, side_by_side, symbol};
use ioscape_schema::units::{Bytes, Seconds};
use ioscape_schema::{Document, Environment, Evaluation, Measurement, Parameter};

/// The document as text; every line fits `style.width` columns, from 40 up.
///
/// An evaluation shows its findings, regions, borders, the curve over the size of the set and small charts of
/// every region; single runs show a table. Warnings come last. Strings from outside cannot act on the terminal.
pub fn terminal(document: &Document, style: &Style) -> String {
    if let Some(vxbench) = &document.vxbench {
        return vxbench::text(vxbench, style) + &warnings(document, style);
    }
    let mut out = header(document, style);
    if let Some(evaluation) = &document.evaluation {
        out += &evaluation_text(evaluation, style);
    }
    if !document.runs().is_empty() {
        out += &format!("\n{}", tables::runs(document.runs(), style));
    }
    if let Some(one) = &document.characterization {
        out += &characterization::text(one, style);
    }
    out += &models::text(document, style);
    if let Some(table) = &document.campaign {
        out += &campaign::text(table, style);
    }
    if let Some(results) = &document.os {
        out += &os::text(results, style);
    }
    if let Some(trace) = &document.trace_summary {
        out += &crate::trace::text(trace, style);
    }
    if let Some(found) = &document.trace_characterization {
        out += &crate::trace::workloads_text(found, style);
    }
    out += &trace_files::text(document, style);
    if let Some(one) = &document.trace_replay {
        out += &replay::text(one, style);
    }
    if let Some(one) = &document.simulation {
        out += &simulation::text(one, style);
    }
    out + &warnings(document, style)
}

fn header(document: &Document, style: &Style) -> String {
    let mut facts = vec![short_time(&document.started_at)];
    if let Some(evaluation) = &document.evaluation {
        let (points, time) = (evaluation.points_measured, Seconds(evaluation.elapsed_s));
        facts.push(format!("{points} points in {time}"));
    }
    let Environment { file_system, device, kernel, memory_limit_bytes, .. } = &document.environment;
    facts.extend(file_system.clone());
    facts.extend(device.clone());
    facts.extend(kernel.clone());
    facts.extend(memory_limit_bytes.map(|bytes| format!("limit {}", Bytes(bytes as f64))));
    facts.retain(|fact| !fact.is_empty());
    let title = style.paragraph("", "", &format!("ioscape: {}", target(document)));
    let mut out = style.heading(title.trim_end()) + "\n";
    out += &style.paragraph("", "", &facts.join(", "));
    if document.interrupted {
        out += &style.paragraph("", "", "Interrupted: this result holds only what was finished.");
    }
    out
}

fn evaluation_text(evaluation: &Evaluation, style: &Style) -> String {
    let mut out = format!("\n{}\n", style.heading("Findings"));
    let bullet = style.pick("  \u{2022} ", "  * ");
    for sentence in &evaluation.findings.sentences {
        out += &style.paragraph(bullet, "    ", sentence);
    }
    if evaluation.findings.sentences.is_empty() {
        out += "  The evaluation did not come far enough to conclude anything.\n";
    }
    out += &format!("\n{}", tables::headlines(evaluation, style));
    if !evaluation.regions.is_empty() {
        let table = tables::regions(evaluation, style);
        out += &format!("\n{}\n{table}", style.heading("Regions"));
    }
    out += &landscape(evaluation, style);
    for (index, _) in evaluation.regions.iter().enumerate() {
        out += &region(evaluation, index, style);
    }
    out + &rest(evaluation, style)
}

fn landscape(evaluation: &Evaluation, style: &Style) -> String {
    let chart = figures::landscape(evaluation);
    if !chart.has_points() {
        return String::new();
    }
    let heading = style.heading("Throughput against the size of the set");
    let width = style.columns().min(120);
    let drawn = side_by_side(&[block(&chart, width, 15, style)], width);
    format!("\n{heading}\n{drawn}{}", legend(&chart, style))
}

/// The symbols and names of a chart's series, as many in a line as fit.
fn legend(chart: &Chart, style: &Style) -> String {
    let mut entries: Vec<(&str, String, String)> = chart
        .series
        .iter()
        .map(|one| (&*one.class, symbol(one, style).to_string(), style.clean(&one.name)))
        .collect();
    if !chart.markers.is_empty() {
        entries.push(("", style.pick("\u{250a}", ":").to_owned(), "border".to_owned()));
    }
    let mut out = String::new();
    let mut used = 0;
    for (class, symbol, name) in entries {
        let width = name.chars().count() + 5;
        if used > 0 && used + width > style.columns() {
            out.push('\n');
            used = 0;
        }
        out += &format!(
            "{}{} {name}",
            if used == 0 { "  " } else { "   " },
            style.ink(ink::colour(class), &symbol)
        );
        used += width;
    }
    out + "\n"
}

fn region(evaluation: &Evaluation, index: usize, style: &Style) -> String {
    let region = &evaluation.regions[index];
    let columns = style.columns();
    let count = match columns {
        0..64 => 1,
        64..140 => 2,
        _ => 4,
    };
    let width = ((columns + 2) / count - 2).min(60);
    let charts: Vec<(Parameter, Chart)> = figures::region(index, region);
    let blocks: Vec<Block> =
        charts.iter().map(|(_, chart)| block(chart, width, 6, style)).collect();
    if blocks.is_empty() {
        return String::new();
    }
    let [from, to] = region.unique_bytes.map(Bytes);
    let heading = format!("{}: {from} to {to}{}", region.name, tables::best(region));
    let heading = style.paragraph("", "  ", &heading);
    format!("\n{}\n{}", style.heading(heading.trim_end()), side_by_side(&blocks, columns))
}

/// Borders, steadiness and what was left out.
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

fn warnings(document: &Document, style: &Style) -> String {
    let of_run = |(index, run): (usize, &Measurement)| {
        let place = format!("run {}", run_name(index + 1, run));
        let line =
            |w: &ioscape_schema::Warning| format!("{place}: {} ({})", w.message, kind(w.kind));
        run.warnings.iter().map(line).collect::<Vec<_>>()
    };
    let of_case = |one: &ioscape_schema::OsBenchmark| {
        let place = format!("{} {}", one.name, crate::os::case(one));
        let line =
            |w: &ioscape_schema::Warning| format!("{place}: {} ({})", w.message, kind(w.kind));
        one.warnings.iter().map(line).collect::<Vec<_>>()
    };
    let lines: Vec<String> = document
        .warnings
        .iter()
        .map(|warning| format!("{warning} ({})", kind(warning.kind)))
        .chain(document.runs().iter().enumerate().flat_map(of_run))
        .chain(document.os.iter().flat_map(|results| &results.benchmarks).flat_map(of_case))
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", style.ink("1;33", "Doubts"));
    for line in lines {
        out += &style.paragraph("  ! ", "    ", &line);
    }
    out
}

#[cfg(test)]
mod tests;
