//! A trace as workloads of five parameters: one table for the page and the terminal.

use super::tables::Rows;
use crate::columns::{Column, fields, heads};
use crate::text::{inert, percent};
use ioscape_schema::units::{Bytes, Count, Nanos};
use ioscape_schema::{TraceCharacterization, TraceTraits};

const COLUMNS: [Column<TraceTraits>; 10] = [
    ("Requests of", |one| inert(&one.name).into_owned()),
    ("unique", |one| Bytes(one.workload.unique_bytes as f64).to_string()),
    ("size", |one| Bytes(one.workload.size_mean as f64).to_string()),
    ("drawn", |one| one.workload.size_distribution.to_string()),
    ("reads", |one| percent(one.workload.read_frac)),
    ("seq", |one| percent(one.workload.seq_frac)),
    ("processes", |one| one.workload.process_num.to_string()),
    ("think", |one| Nanos(one.workload.think_time_ns as f64).to_string()),
    ("requests", |one| Count(one.requests as f64).to_string()),
    ("goodness", |one| format!("{:.2}", one.goodness)),
];

/// The table of workloads, the whole trace first.
pub fn table(found: &TraceCharacterization) -> Rows {
    let rest = found.disks.iter().chain(&found.processes).chain(&found.windows);
    let all = [&found.overall].into_iter().chain(rest);
    Rows::whole(heads(&COLUMNS).collect(), all.map(|one| fields(&COLUMNS, one).collect()).collect())
}

/// How closely the workload resembles the whole trace, in a sentence.
pub fn likeness(found: &TraceCharacterization) -> String {
    let all = &found.overall;
    let [sizes, runs, mix] =
        [all.size_distance, all.run_distance, all.mix_distance].map(|d| format!("{d:.2}"));
    format!(
        "Goodness {:.2}: 1 less the largest distance from the model, of sizes {sizes}, of sequential runs {runs}, of the order of reads and writes {mix}.",
        all.goodness
    )
}
