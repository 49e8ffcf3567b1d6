//! Live disk activity as lines of text, as a terminal screen, and for a scraper.

mod heat;
mod metrics;
mod screen;
mod words;

pub use metrics::top_openmetrics;
pub use screen::draw_top;
pub use words::top_text;

/// The page that shows each second as it arrives as an event from `events`. It loads nothing else.
pub const TOP_PAGE: &str = include_str!("page.html");

#[cfg(test)]
mod sample {
    use ioscape_schema::{TopLatency, TopRow, TopSecond};
    use std::collections::VecDeque;

    fn row(name: &str, process: Option<u32>, ios: u64) -> TopRow {
        let latency = TopLatency { p50_ns: 80_000, p99_ns: Some(2_100_000), max_ns: 40_000_000 };
        TopRow {
            name: name.to_owned(),
            process,
            ios,
            reads: ios / 4,
            writes: ios / 2,
            read_bytes: ios * 1024,
            written_bytes: ios * 12_288,
            latency: (ios > 0).then_some(latency),
            queue_length: ios as f64 / 1000.0,
            in_flight: None,
        }
    }

    /// Three seconds, with names that would act if not escaped.
    pub fn seconds() -> VecDeque<TopSecond> {
        let second = |at: u64| {
            let mut latency_counts = vec![0; TopSecond::LATENCY_STEPS];
            (latency_counts[7], latency_counts[8], latency_counts[12]) = (1000 * at, 70, at);
            let devices = [("vda", 1500), ("vdb", 0)];
            let busy = |(name, ios)| TopRow { in_flight: Some(3), ..row(name, None, ios * at) };
            TopSecond {
                ended_unix_ns: (1_767_225_600 + at) * 1_000_000_000,
                elapsed_s: 1.0,
                lost_events: if at == 2 { 1200 } else { 0 },
                all: row("all", None, 1500 * at),
                devices: devices.map(busy).to_vec(),
                processes: vec![
                    row("mysqld", Some(4711), 1000 * at),
                    row("a\u{1b}[31m\"<b>", Some(9), 500 * at),
                ],
                types: vec![
                    row("write user data", None, 1100 * at),
                    row("read inode", None, 400 * at),
                ],
                latency_counts,
            }
        };
        (1..=3).map(second).collect()
    }
}
