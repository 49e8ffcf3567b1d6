//! A characterized application on the page.

use super::tables::table;
use crate::application::{HEAD, Row, commands, files, overall, processes, sentences};
use crate::text::esc;
use ioscape_schema::Characterization;
use std::fmt::Write as _;

/// The section.
pub fn section(one: &Characterization) -> String {
    let mut out = "<h2>Application</h2>".to_owned();
    for sentence in sentences(one) {
        let _ = write!(out, "<p>{}</p>", esc(&sentence));
    }
    out += &rows("", &[overall(one)], 0);
    let (list, more) = files(one);
    let _ = write!(out, "<h3>Files by bytes moved</h3>{}", rows("File", &list, more));
    let (list, more) = processes(one);
    let _ = write!(out, "<h3>Processes by bytes moved</h3>{}", rows("Process", &list, more));
    let commands = commands(one);
    if !commands.is_empty() {
        out += "<h3>To run the same workload</h3>";
    }
    for command in commands {
        let _ = write!(out, "<p><code>{}</code></p>", esc(&command));
    }
    out
}

fn rows(name: &str, list: &[Row], more: u64) -> String {
    let head: Vec<&str> = [name].into_iter().chain(HEAD).collect();
    let cells = list.iter().map(|row| {
        [row.name.clone()].into_iter().chain(row.cells.iter().cloned()).collect::<Vec<_>>()
    });
    let mut out = table("runs", &head, cells);
    if more > 0 {
        let _ = write!(out, "<p>and {more} more</p>");
    }
    out
}
