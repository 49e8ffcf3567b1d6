//! Replays of traces on the page: what was replayed, how late, and how long the requests took.

use super::tables::table;
use crate::replay::{lateness, lead, recorded};
use crate::text::{esc, none};
use crate::verify;
use ioscape_schema::TraceReplay;
use ioscape_schema::units::{Bytes, Count, Nanos};

/// The section.
pub fn section(replay: &TraceReplay) -> String {
    let mut out = format!(r#"<h2>Replay</h2><p class="lead">{}</p>"#, esc(&lead(replay)));
    for words in [lateness(replay), recorded(replay)].into_iter().flatten() {
        out += &format!("<p>{}</p>", esc(&words));
    }
    let head = ["Kind", "Requests", "Bytes", "Mean", "Median", "p99", "Longest"];
    let rows = replay.kinds.iter().map(|kind| {
        let times = &kind.response_time_ns;
        let mut row = vec![
            kind.kind.clone(),
            Count(kind.ios as f64).to_string(),
            Bytes(kind.bytes as f64).to_string(),
            Nanos(times.mean).to_string(),
        ];
        // Of fewer requests, none lies beyond the percentile.
        row.extend([(times.p50, 1), (times.p99, 100), (times.max, 1)].map(|(ns, least)| {
            if kind.ios < least { none() } else { Nanos(ns as f64).to_string() }
        }));
        row
    });
    out + &table("runs", &head, rows) + &verify::html(replay.verify.as_ref(), "")
}
