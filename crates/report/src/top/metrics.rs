//! The last second as OpenMetrics text, by disk and by type.

use crate::openmetrics::{Family, Sample, gauge, label};
use ioscape_schema::{TopRow, TopSecond};

/// Returns the samples of a row, without the labels that name it.
type Of = fn(&TopSecond, &TopRow) -> Vec<Sample>;

const FAMILIES: [(Family, Of); 4] = [
    (
        gauge(
            "top_ios_per_second",
            "",
            "Requests completed per second (IOPS); others are flushes and discards. Series by device and by type count the same requests: do not add them.",
        ),
        rates,
    ),
    (
        gauge(
            "top_throughput_bytes_per_second",
            "bytes_per_second",
            "Bytes moved per second. Series by device and by type count the same bytes: do not add them.",
        ),
        throughput,
    ),
    (gauge("top_latency_seconds", "seconds", "Times from arrival to completion."), latency),
    (gauge("top_queue_length", "", "Requests under way, in the mean."), queue),
];

/// A second as OpenMetrics text. It omits processes, each of which would be a new series.
pub fn top_openmetrics(second: &TopSecond) -> String {
    let rows = [("device", &second.devices), ("type", &second.types)];
    let rows = || rows.into_iter().flat_map(|(what, rows)| rows.iter().map(move |row| (what, row)));
    let mut out = String::new();
    for (family, of) in &FAMILIES {
        out += &family.text(rows().flat_map(|(what, row)| {
            let named = label(what, &row.name);
            let labelled = move |(end, more, value)| (end, [named.clone(), more].concat(), value);
            of(second, row).into_iter().map(labelled)
        }));
    }
    let lost =
        gauge("top_lost_events", "", "Events that the kernel could not keep in the last second.");
    out += &lost.text(std::iter::once(("", Vec::new(), second.lost_events as f64)));
    out + "# EOF\n"
}

/// The rate of each operation in a second.
fn by_operation(second: &TopSecond, counts: &[(&str, u64)]) -> Vec<Sample> {
    let sample =
        |&(operation, count): &_| ("", label("operation", operation), second.per_second(count));
    counts.iter().map(sample).collect()
}

fn rates(second: &TopSecond, row: &TopRow) -> Vec<Sample> {
    let other = row.ios.saturating_sub(row.reads + row.writes);
    by_operation(second, &[("read", row.reads), ("write", row.writes), ("other", other)])
}

fn throughput(second: &TopSecond, row: &TopRow) -> Vec<Sample> {
    by_operation(second, &[("read", row.read_bytes), ("write", row.written_bytes)])
}

fn latency(_: &TopSecond, row: &TopRow) -> Vec<Sample> {
    let Some(told) = row.latency else { return Vec::new() };
    let quantiles = [("0.5", Some(told.p50_ns)), ("0.99", told.p99_ns), ("1", Some(told.max_ns))];
    let told = quantiles.into_iter().filter_map(|(quantile, ns)| Some((quantile, ns?)));
    told.map(|(quantile, ns)| ("", label("quantile", quantile), ns as f64 / 1e9)).collect()
}

fn queue(_: &TopSecond, row: &TopRow) -> Vec<Sample> {
    vec![("", Vec::new(), row.queue_length)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::sample;

    #[test]
    fn disks_and_types_have_series_and_processes_none() {
        let text = top_openmetrics(&sample::seconds()[1]);
        assert!(text.starts_with(ioscape_schema::text::METRICS_MARK) && text.ends_with("# EOF\n"));
        for line in [
            r#"ioscape_top_ios_per_second{device="vda",operation="read"} 750"#,
            r#"ioscape_top_ios_per_second{device="vda",operation="write"} 1500"#,
            r#"ioscape_top_ios_per_second{device="vda",operation="other"} 750"#,
            r#"ioscape_top_latency_seconds{type="read inode",quantile="0.99"} 0.0021"#,
            r#"ioscape_top_queue_length{device="vdb"} 0"#,
            "ioscape_top_lost_events{} 1200",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("mysqld") && !text.contains(r#"{device="vdb",quantile"#));
    }
}
