//! A characterized application for a terminal: parameters, files, processes, and further commands.

use super::ink::Style;
use super::tables::{Column, table};
use crate::application::{HEAD, Row, commands, files, overall, processes, sentences};
use ioscape_schema::Characterization;

/// The columns of the narrow form, which leaves out requests, think time and response time.
const NARROW: [usize; 7] = [1, 2, 3, 4, 5, 6, 9];

/// The characterization as text.
pub fn text(one: &Characterization, style: &Style) -> String {
    let mut out = String::from("\n");
    for sentence in sentences(one) {
        out += &style.paragraph("", "  ", &sentence);
    }
    out += &headed("Workload", "", &[overall(one)], 0, style);
    let (rows, more) = files(one);
    out += &headed("Files by bytes moved", "File", &rows, more, style);
    let (rows, more) = processes(one);
    if rows.len() > 1 {
        out += &headed("Processes by bytes moved", "Process", &rows, more, style);
    }
    let commands = commands(one);
    if !commands.is_empty() {
        out += &format!("\n{}\n", style.heading("To run the same workload"));
    }
    for command in commands {
        out += &style.paragraph("  ", "    ", &command);
    }
    out
}

fn headed(heading: &str, name: &'static str, rows: &[Row], more: u64, style: &Style) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let wanted: Vec<usize> =
        if style.columns() >= 110 { (0..HEAD.len()).collect() } else { NARROW.to_vec() };
    let mut columns = vec![Column::words(name, rows.iter().map(|row| row.name.clone()))];
    columns.extend(wanted.iter().map(|&index| {
        Column::numbers(HEAD[index], rows.iter().map(move |row| row.cells[index].clone()))
    }));
    let mut out = format!("\n{}\n", style.heading(heading));
    out += &table(&columns, style);
    if more > 0 {
        out += &style.paragraph("  ", "  ", &format!("and {more} more"));
    }
    out
}
