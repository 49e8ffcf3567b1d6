//! Replays of traces on the page: what was replayed, how late, and how long the requests took.

use super::tables::table;
use crate::replay::{lateness, lead, recorded};
use crate::text::{esc, told_time};
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
        let [half, _, tail, _, longest] = times.told(kind.ios);
        row.extend([half, tail, longest].map(told_time));
        row
    });
    out + &table("runs", &head, rows) + &verify::html(replay.verify.as_ref(), "")
}
