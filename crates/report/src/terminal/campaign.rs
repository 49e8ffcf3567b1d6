//! A campaign's tables for the terminal.
//!
//! They show throughput, processor seconds, ratios to the first column of the same work, and the
//! paper's own numbers.

use super::ink::Style;
use super::tables::{Column, of_rows, table};
use crate::clients::TIMES_NOTE;
use crate::text::fine_ratio;
use ioscape_schema::{CampaignCell, CampaignReference, CampaignResult, CampaignRow, is_wide};

/// The minimum width of a column with an interval, including the space after it.
const COLUMN_WIDTH: usize = 34;

/// The tables, each with as many columns as fit.
pub fn text(campaign: &CampaignResult, style: &Style) -> String {
    let mut out = String::new();
    if !campaign.source.is_empty() {
        out += &style.paragraph("", "  ", &campaign.source);
    }
    out += &part("Throughput (95 % interval)", campaign, rate, style);
    out += &ratios("Throughput", campaign, |cell| (cell.ratio, cell.ratio_ci95), style);
    let seconds = "Processor seconds, system and user";
    out += &part(&format!("{seconds} (95 % interval)"), campaign, cpu, style);
    let each = "Processor seconds per byte or operation";
    out += &ratios(each, campaign, |cell| (cell.cpu_ratio, cell.cpu_ratio_ci95), style);
    if campaign.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.response_time_ns.is_some()) {
        out += &part("Response time: median, 99th percentile; fsync apart", campaign, times, style);
        if campaign.clients.is_some() {
            out += &style.paragraph("", "  ", TIMES_NOTE);
        }
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
    let bullet = style.bullet();
    for sentence in &campaign.sentences {
        out += &style.paragraph(bullet, "    ", sentence);
    }
    if let Some(reference) = campaign.reference.as_ref().filter(|one| !one.rows.is_empty()) {
        out += &of_reference(reference, style);
    }
    out
}

/// Columns with cells that cannot be measured, and the first reason for each.
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
    columns_of(heading, campaign, |_| true, show, style)
}

/// A table of the `wanted` columns, selected by number; `show` writes their cells.
fn columns_of(
    heading: &str,
    campaign: &CampaignResult,
    wanted: impl Fn(usize) -> bool,
    show: impl Fn(&CampaignCell) -> String,
    style: &Style,
) -> String {
    let settings = campaign.rows.first().map_or(&[][..], |row| &row.settings);
    let names: Vec<Column> = settings
        .iter()
        .enumerate()
        .map(|(index, setting)| {
            let text = |row: &CampaignRow| {
                row.settings.get(index).map_or_else(String::new, |s| s.text.clone())
            };
            Column::numbers(setting.name.clone(), campaign.rows.iter().map(text))
        })
        .collect();
    let columns: Vec<Column> = campaign
        .columns
        .iter()
        .enumerate()
        .filter(|(index, _)| wanted(*index))
        .map(|(index, column)| {
            let cell = |row: &CampaignRow| row.cells.get(index).map_or_else(String::new, &show);
            Column::numbers(column.name(), campaign.rows.iter().map(cell))
        })
        .collect();
    // Markdown has no width.
    let columns_wide = if style.markdown { usize::MAX } else { style.columns() };
    let room = columns_wide.saturating_sub(12 * names.len());
    let mut out = format!("\n{}\n", style.heading(&style.clean(heading)));
    for chunk in columns.chunks((room / COLUMN_WIDTH).max(1)) {
        let all: Vec<Column> = names.iter().chain(chunk).cloned().collect();
        out += &table(&all, style);
    }
    out
}

/// A ratio and the ends of its interval.
type Ratio = (Option<f64>, Option<[f64; 2]>);

/// The table of ratios to the first column of the same work; empty if no ratio is known.
fn ratios(
    what: &str,
    campaign: &CampaignResult,
    of: fn(&CampaignCell) -> Ratio,
    style: &Style,
) -> String {
    // A single column has no ratios, and neither has any column after a single round.
    let is_told = campaign.rows.iter().flat_map(|row| &row.cells).any(|cell| of(cell).0.is_some());
    let Some(base) = crate::campaign::base(campaign).filter(|_| is_told) else {
        return String::new();
    };
    let heading = format!("{what}, times that of {base} (95 % interval)");
    let wanted = |column| campaign.rows.iter().any(|row| row.base_of(column) != column);
    columns_of(&heading, campaign, wanted, |cell| ratio(of(cell)), style)
}

fn ratio((mean, ends): Ratio) -> String {
    match (mean, ends) {
        (Some(mean), Some(ends)) if is_wide(ends) => format!("{} (uncertain)", short(mean)),
        (Some(mean), Some([low, high])) => {
            format!("{} ({} to {})", short(mean), short(low), short(high))
        }
        _ => "-".to_owned(),
    }
}

/// A ratio as [`fine_ratio`] writes it; from 100 up in scientific notation.
fn short(value: f64) -> String {
    if value >= 100.0 { format!("{:.3e}", value) } else { fine_ratio(value) }
}

fn rate(cell: &CampaignCell) -> String {
    crate::campaign::rate_and_interval(cell).unwrap_or_else(|| "-".to_owned())
}

fn times(cell: &CampaignCell) -> String {
    crate::campaign::times(cell).unwrap_or_else(|| "-".to_owned())
}

fn cpu(cell: &CampaignCell) -> String {
    crate::campaign::cpu_and_interval(cell).unwrap_or_else(|| "-".to_owned())
}

fn of_reference(reference: &CampaignReference, style: &Style) -> String {
    let cells = |row: &Vec<f64>| row.iter().map(f64::to_string).collect();
    let rows: Vec<Vec<String>> = reference.rows.iter().map(cells).collect();
    let mut out = format!("\n{}\n", style.heading("Published numbers"));
    out += &style.paragraph("", "  ", &reference.source);
    out + &of_rows(&reference.columns, &rows, |_| false, style)
}
