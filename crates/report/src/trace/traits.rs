//! A trace as workloads of five parameters: one table for page and terminal.

use super::tables::Rows;
use crate::text::{inert, percent};
use ioscape_schema::units::{Bytes, Count, Nanos};
use ioscape_schema::{TraceCharacterization, TraceTraits};

/// The workloads, the whole trace first.
pub fn table(found: &TraceCharacterization) -> Rows {
    let rest = found.disks.iter().chain(&found.processes).chain(&found.windows);
    let row = |one: &TraceTraits| {
        let w = &one.workload;
        vec![
            inert(&one.name).into_owned(),
            Bytes(w.unique_bytes as f64).to_string(),
            Bytes(w.size_mean as f64).to_string(),
            w.size_distribution.to_string(),
            percent(w.read_frac),
            percent(w.seq_frac),
            w.process_num.to_string(),
            Nanos(w.think_time_ns as f64).to_string(),
            Count(one.requests as f64).to_string(),
            format!("{:.2}", one.goodness),
        ]
    };
    let head = vec![
        "Requests of",
        "unique",
        "size",
        "drawn",
        "reads",
        "seq",
        "processes",
        "think",
        "requests",
        "goodness",
    ];
    Rows::whole(head, [&found.overall].into_iter().chain(rest).map(row).collect())
}

/// What limits the likeness of the whole trace, in a sentence.
pub fn likeness(found: &TraceCharacterization) -> String {
    let all = &found.overall;
    let [sizes, runs, mix] =
        [all.size_distance, all.run_distance, all.mix_distance].map(|d| format!("{d:.2}"));
    format!(
        "Goodness {:.2}: 1 less the largest distance from the model, of sizes {sizes}, of sequential runs {runs}, of the order of reads and writes {mix}.",
        all.goodness
    )
}
