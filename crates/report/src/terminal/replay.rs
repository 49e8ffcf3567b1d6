//! Replays of traces for a terminal: what was replayed, how late, and how long the requests took.

use super::ink::Style;
use super::tables::{Column, table};
use crate::replay::{lateness, lead, recorded};
use crate::text::told_time;
use crate::verify;
use ioscape_schema::TraceReplay;
use ioscape_schema::units::{Bytes, Count, Nanos};

/// The replay as text.
pub fn text(replay: &TraceReplay, style: &Style) -> String {
    let mut out = format!("\n{}\n", style.heading("Replay"));
    for words in [Some(lead(replay)), lateness(replay)].into_iter().flatten() {
        out += &style.paragraph("  ", "  ", &words);
    }
    let each = |pick: fn(&ioscape_schema::ReplayedKind) -> String| replay.kinds.iter().map(pick);
    let columns = [
        Column::words("Kind", each(|kind| kind.kind.clone())),
        Column::numbers("Requests", each(|kind| Count(kind.ios as f64).to_string())),
        Column::numbers("Bytes", each(|kind| Bytes(kind.bytes as f64).to_string())),
        Column::numbers("Mean", each(|kind| Nanos(kind.response_time_ns.mean).to_string())),
        Column::numbers("Median", each(|kind| Nanos(kind.response_time_ns.p50 as f64).to_string())),
        Column::numbers("p99", each(|kind| told_time(kind.response_time_ns.p99_of(kind.ios)))),
        Column::numbers(
            "Longest",
            each(|kind| Nanos(kind.response_time_ns.max as f64).to_string()),
        ),
    ];
    out += &table(&columns, style);
    if let Some(words) = recorded(replay) {
        out += &style.paragraph("  ", "  ", &words);
    }
    out + &verify::text(replay.verify.as_ref(), "", style)
}
