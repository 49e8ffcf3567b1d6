//! A trace on the terminal.

use super::compare::left_out;
use super::headlines::headlines;
use super::tables::{self, Rows};
use super::traits;
use crate::application::commands_of;
use crate::terminal::Style;
use crate::terminal::tables::of_rows;
use ioscape_schema::TraceCharacterization;
use ioscape_schema::trace_summary::{Breakdown, TraceSummary};

/// The trace as text: headlines, load, times, queues, types, placement, writes, and the paper's
/// values.
pub fn text(trace: &TraceSummary, style: &Style) -> String {
    let mut out = String::from("\n");
    // Warnings that explain missing tables come before all tables.
    for doubt in trace.warnings.iter().filter(|doubt| tables::is_first(doubt.kind)) {
        out += &style.paragraph("  ! ", "    ", &doubt.message);
    }
    // The format may have been guessed, and its units with it.
    if !trace.info.format.is_empty() {
        out += &style.paragraph("", "  ", &format!("Format: {}", trace.info.format));
    }
    for (what, value, more) in headlines(trace) {
        out += &style.paragraph("", "  ", &format!("{what}: {value}, {more}"));
    }
    for (title, rows) in [
        match trace.by {
            Breakdown::Partition => ("Load by partition", tables::partitions(trace)),
            Breakdown::Disk => ("Load by disk", tables::disks(trace)),
            Breakdown::Process => ("Load by process", tables::processes(trace)),
        },
        ("Response times", tables::times(trace)),
        ("Queue lengths at arrival", tables::queues(trace)),
        ("Types", tables::types(trace)),
        ("Alignment", tables::alignment(trace)),
        ("Placement", tables::placement(trace)),
        ("Writes", tables::writes(trace)),
        ("Compared with Ruemmler and Wilkes 1993", tables::paper(trace)),
    ] {
        out += &section(title, rows, style);
    }
    if let Some(why) = left_out(trace) {
        out += &style.paragraph("", "  ", &why);
    }
    out
}

/// The most rows of a table on the terminal; the result file has them all.
const MOST_ROWS: usize = 24;

pub(super) fn section(title: &str, Rows { head, rows, left_out }: Rows, style: &Style) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let left_out = left_out + rows.len().saturating_sub(MOST_ROWS);
    let dash = |cell: &String| cell.replace('\u{2013}', "-").replace('\u{b5}', "u");
    let cells = |row: &Vec<String>| row.iter().map(dash).collect();
    let rows: Vec<Vec<String>> = rows.iter().take(MOST_ROWS).map(cells).collect();
    let more = if left_out == 0 { String::new() } else { format!("and {left_out} more\n") };
    let drawn = of_rows(&head, &rows, |at| at == 0, style);
    format!("\n{}\n{drawn}{more}", style.heading(title))
}

/// A trace as workloads of five parameters.
pub fn workloads_text(found: &TraceCharacterization, style: &Style) -> String {
    let mut out = section("Workloads", traits::table(found), style);
    out += &style.paragraph("", "  ", &traits::likeness(found));
    out + &format!("\n{}\n", commands_of(&found.overall.workload).join("\n"))
}
