//! A second of disk activity in words and tables.

use crate::terminal::Style;
use crate::terminal::tables::of_rows;
use crate::text::{inert, whole_percent};
use ioscape_schema::units::{Count, Nanos, Rate};
use ioscape_schema::{TopRow, TopSecond};

/// The heads of the columns after the first.
pub const HEADS: [&str; 7] = ["IOPS", "reads", "read", "written", "p50", "p99", "queue"];
/// The most rows of a table in a pipe.
const MOST_ROWS: usize = 10;

/// The cells of a row after its name.
pub fn cells(second: &TopSecond, row: &TopRow) -> [String; HEADS.len()] {
    let rate = |bytes| Rate(second.per_second(bytes)).to_string();
    let reads = (row.ios > 0).then(|| whole_percent(row.reads as f64 / row.ios as f64));
    let time = |ns: Option<u64>| ns.map(|ns| Nanos(ns as f64).to_string()).unwrap_or_default();
    let now = row.in_flight.map(|now| format!(" ({now} now)")).unwrap_or_default();
    [
        Count(second.per_second(row.ios)).to_string(),
        reads.unwrap_or_default(),
        rate(row.read_bytes),
        rate(row.written_bytes),
        time(row.latency.map(|latency| latency.p50_ns)),
        time(row.latency.and_then(|latency| latency.p99_ns)),
        format!("{:.1}{now}", row.queue_length),
    ]
}

/// The name of a row.
pub fn name(row: &TopRow) -> String {
    let name = inert(&row.name);
    row.process.map_or_else(|| name.clone().into_owned(), |process| format!("{process} {name}"))
}

/// The tables of a second: the head of the first column, and the rows.
pub fn tables(second: &TopSecond) -> [(&'static str, &[TopRow]); 3] {
    [("disk", &second.devices), ("type", &second.types), ("process", &second.processes)]
}

/// When a second ended, and the activity of all disks in it.
pub fn headline(second: &TopSecond) -> String {
    let of_day = second.ended_unix_ns / 1_000_000_000 % 86_400;
    let (hours, minutes, seconds) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let at = format!("{hours:02}:{minutes:02}:{seconds:02} UTC");
    let [ios, reads, read, written, p50, p99, queue] = cells(second, &second.all);
    if second.all.ios == 0 {
        return format!("{at}  no request completed, {queue} under way");
    }
    let p99 = if p99.is_empty() { p99 } else { format!(", p99 {p99}") };
    format!(
        "{at}  {ios} IOPS ({reads} reads), read {read}, written {written}, p50 {p50}{p99}, {queue} under way"
    )
}

/// The remark on lost events; `None` without any.
pub fn losses(lost_events: u64) -> Option<String> {
    let lost = Count(lost_events as f64);
    (lost_events > 0).then(|| {
        format!(
            "{lost} events were lost, so the figures are too low: a larger --buffer loses fewer"
        )
    })
}

/// A second as text for a pipe.
pub fn top_text(second: &TopSecond, style: &Style) -> String {
    let mut out = style.heading(&style.clean(&headline(second))) + "\n";
    out.extend(losses(second.lost_events).map(|text| text + "\n"));
    for (what, rows) in tables(second).into_iter().filter(|(_, rows)| !rows.is_empty()) {
        let shown = &rows[..rows.len().min(MOST_ROWS)];
        let head: Vec<&str> = [what].into_iter().chain(HEADS).collect();
        let filled = |row: &TopRow| [name(row)].into_iter().chain(cells(second, row)).collect();
        let filled: Vec<Vec<String>> = shown.iter().map(filled).collect();
        out += &of_rows(&head, &filled, |at| at == 0, style);
        if rows.len() > shown.len() {
            out += &format!("and {} more\n", rows.len() - shown.len());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_reads_are_not_none_and_nearly_all_are_not_all() {
        let share = |reads: u64| {
            let row = TopRow { ios: 1000, reads, ..TopRow::default() };
            cells(&TopSecond::default(), &row)[1].clone()
        };
        let shares = [0, 3, 254, 997, 1000].map(share);
        assert_eq!(shares, ["0 %", "0.3 %", "25 %", "99.7 %", "100 %"]);
    }
}
