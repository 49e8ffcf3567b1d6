//! A campaign's table for the terminal: throughput with ratios, processor seconds, and the paper's own numbers.

use super::ink::Style;
use super::tables::{Column, table};
use crate::text::fine_seconds;
use ioscape_schema::{CampaignCell, CampaignReference, CampaignResult, is_wide};

/// Least width of a column with a ratio, its air included.
const COLUMN_WIDTH: usize = 30;

/// The tables, as many columns side by side as fit.
pub fn text(campaign: &CampaignResult, style: &Style) -> String {
    let mut out = String::new();
    if !campaign.source.is_empty() {
        out += &style.paragraph("", "  ", &campaign.source);
    }
    let first = campaign.columns.first().map(ioscape_schema::CampaignColumn::name);
    let base = match first.filter(|_| campaign.columns.len() > 1) {
        Some(name) => format!(", and times that of {name} (95 % interval)"),
        None => String::new(),
    };
    out += &part(&format!("Throughput{base}"), campaign, rate, style);
    out += &part(&format!("Processor seconds, system and user{base}"), campaign, cpu, style);
    if campaign.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.response_time_ns.is_some()) {
        out += &part("Response time: median, 99th percentile; fsync apart", campaign, times, style);
    }
    for made in crate::campaign::made(&campaign.columns) {
        out += &style.paragraph("  - ", "    ", &made);
    }
    for (column, why) in impossible(campaign) {
        out += &style.paragraph("  - ", "    ", &format!("{column}: {why}"));
    }
    if !campaign.sentences.is_empty() {
        out += "\n";
    }
    let bullet = style.pick("  \u{2022} ", "  * ");
    for sentence in &campaign.sentences {
        out += &style.paragraph(bullet, "    ", sentence);
    }
    if let Some(reference) = campaign.reference.as_ref().filter(|one| !one.rows.is_empty()) {
        out += &of_reference(reference, style);
    }
    out
}

/// Columns with cells that cannot be measured, and the first reason each.
fn impossible(campaign: &CampaignResult) -> Vec<(String, String)> {
    let columns = campaign.columns.iter().enumerate();
    columns
        .filter_map(|(index, column)| {
            let cells = campaign.rows.iter().filter_map(|row| row.cells.get(index));
            let why = cells.filter_map(|cell| cell.impossible.clone()).next()?;
            Some((column.name(), why))
        })
        .collect()
}

fn part(
    heading: &str,
    campaign: &CampaignResult,
    show: fn(&CampaignCell) -> String,
    style: &Style,
) -> String {
    let settings = campaign.rows.first().map_or(&[][..], |row| &row.settings);
    let names: Vec<Column> = settings
        .iter()
        .enumerate()
        .map(|(index, setting)| {
            let text = |row: &ioscape_schema::CampaignRow| {
                row.settings.get(index).map_or_else(String::new, |s| s.text.clone())
            };
            Column::numbers(setting.name.clone(), campaign.rows.iter().map(text))
        })
        .collect();
    let columns: Vec<Column> = campaign
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let cells =
                campaign.rows.iter().map(|row| row.cells.get(index).map_or_else(String::new, show));
            Column::numbers(column.name(), cells)
        })
        .collect();
    let room = style.columns().saturating_sub(12 * names.len());
    let mut out = format!("\n{}\n", style.heading(&style.clean(heading)));
    for chunk in columns.chunks((room / COLUMN_WIDTH).max(1)) {
        let all: Vec<&Column> = names.iter().chain(chunk).collect();
        out += &table(&all, style);
    }
    out
}

fn ratio(mean: Option<f64>, ends: Option<[f64; 2]>) -> String {
    match (mean, ends) {
        (Some(mean), Some(ends)) if is_wide(ends) => format!("  {} (uncertain)", short(mean)),
        (Some(mean), Some([low, high])) => {
            format!("  {} ({} to {})", short(mean), short(low), short(high))
        }
        _ => String::new(),
    }
}

/// Two digits behind the point, fewer for large numbers.
fn short(value: f64) -> String {
    if value >= 100.0 { format!("{:.3e}", value) } else { format!("{value:.2}") }
}

fn rate(cell: &CampaignCell) -> String {
    if cell.samples.is_empty() {
        return "-".to_owned();
    }
    format!("{}{}", crate::campaign::rate(cell), ratio(cell.ratio, cell.ratio_ci95))
}

fn times(cell: &CampaignCell) -> String {
    crate::campaign::times(cell).unwrap_or_else(|| "-".to_owned())
}

fn cpu(cell: &CampaignCell) -> String {
    if cell.samples.is_empty() {
        return "-".to_owned();
    }
    format!("{}{}", fine_seconds(cell.cpu_s), ratio(cell.cpu_ratio, cell.cpu_ratio_ci95))
}

fn of_reference(reference: &CampaignReference, style: &Style) -> String {
    let columns: Vec<Column> = reference
        .columns
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let cell = |row: &Vec<f64>| row.get(index).map_or_else(String::new, f64::to_string);
            Column::numbers(name.clone(), reference.rows.iter().map(cell))
        })
        .collect();
    let mut out = format!("\n{}\n", style.heading("Published numbers"));
    out += &style.paragraph("", "  ", &reference.source);
    out + &table(&columns.iter().collect::<Vec<_>>(), style)
}
