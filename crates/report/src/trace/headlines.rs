//! The most important numbers of a trace.

use super::few::{FEW, share};
use crate::plot::Unit;
use crate::text::{duration, percent};
use ioscape_schema::statistics::least_for;
use ioscape_schema::trace_lacks::TraceLacks;
use ioscape_schema::trace_summary::{Times, TraceSummary};
use ioscape_schema::units::{Bytes, Count};

fn bytes(value: u64) -> String {
    Bytes(value as f64).to_string()
}

/// How many of the requests are reads.
fn of_them(reads: u64, ios: u64) -> String {
    match reads {
        1 if ios < FEW => "one of them a read".to_owned(),
        _ if ios < FEW => format!("{reads} of them reads"),
        _ => format!("{} of them reads", share(reads, ios)),
    }
}

/// Fewer requests than this have no rate: it would depend on where the trace was cut.
const RATE_LEAST: u64 = 10;

/// The unit of time for a rate, and its length in seconds.
///
/// It is the second, or a longer unit if the rate per second would be rounded to 0.
pub fn unit_of(per_second: f64) -> (&'static str, f64) {
    let units = [("second", 1.0), ("hour", 3600.0)];
    let found = units.into_iter().find(|(_, seconds)| per_second * seconds >= 0.1);
    found.unwrap_or(("day", 86400.0))
}

/// Requests per second, or per longer unit if that would be rounded to 0.
fn rate(ios: u64, span_ns: f64, at_once: bool) -> String {
    if span_ns <= 0.0 || (at_once && ios >= RATE_LEAST) {
        return "all at one time".to_owned();
    }
    if ios < RATE_LEAST {
        return "too few for a rate".to_owned();
    }
    let per_second = ios as f64 / span_ns * 1e9;
    let (unit, seconds) = unit_of(per_second);
    format!("{:.2} requests per {unit}", per_second * seconds)
}

/// Whether all requests arrive at the same time, whenever they complete.
fn all_at_once(trace: &TraceSummary) -> bool {
    !trace.inter_arrival_ns.is_empty() && trace.inter_arrival_ns.max <= 0.0
}

/// The most important numbers: name, value, and explanation.
pub fn headlines(trace: &TraceSummary) -> Vec<(&'static str, String, String)> {
    let lacks = TraceLacks::of(&trace.info);
    let reads: u64 = trace.partitions.iter().filter_map(|p| p.load.reads).sum();
    let moved: u64 = trace.partitions.iter().map(|p| p.load.moved()).sum();
    let span = trace.last_ns.saturating_sub(trace.first_ns) as f64;
    let Times { physical_ns, elapsed_ns } = &trace.response_times.all;
    let (what, times) = match elapsed_ns.is_empty() {
        true => ("Mean physical time", physical_ns),
        false => ("Mean elapsed time", elapsed_ns),
    };
    let requests = match () {
        () if lacks.operations => "what reads and what writes is not told".to_owned(),
        () if trace.ios == 0 => "none of which anything could be told".to_owned(),
        () if lacks.fast => format!("the slow ones alone, {}", of_them(reads, trace.ios)),
        () => of_them(reads, trace.ios),
    };
    let time = match lacks.fast {
        true => "from the first slow request to the last".to_owned(),
        false => rate(trace.ios, span, all_at_once(trace)),
    };
    let block = bytes(trace.block_bytes);
    let set = match trace.working_set.is_empty() {
        true if lacks.fast => "by the slow requests".to_owned(),
        _ => format!("{} touched, in whole blocks of {block}", bytes(trace.working_set.bytes)),
    };
    let mut lines = vec![
        ("Requests", Count(trace.ios as f64).to_string(), requests),
        ("Time", duration(span), time),
        ("Moved", bytes(moved), set),
    ];
    if !times.is_empty() {
        let show = |ns: f64| Unit::Nanos.show(ns);
        let tail = match times.count >= least_for(990) {
            true => format!("99 % within {}", show(times.p99)),
            false => format!("the longest {}", show(times.max)),
        };
        lines.push((what, show(times.mean), tail));
    }
    lines.extend(misses(trace));
    lines
}

/// The miss ratio with a cache of about a quarter of the touched bytes.
///
/// For a sampled curve, it includes the interval of the exact ratio.
fn misses(trace: &TraceSummary) -> Option<(&'static str, String, String)> {
    let curve = trace.miss_ratio.curves.iter().min_by_key(|curve| curve.one_in)?;
    let quarter = trace.working_set.bytes as f64 / 4.0;
    let off = |size: f64| (size / quarter).ln().abs();
    let points = curve.points.iter().enumerate();
    let (at, &(size, ratio)) = points.min_by(|a, b| off(a.1.0).total_cmp(&off(b.1.0)))?;
    // The curve of a set of a few blocks lacks such a size, and a few requests have no ratio.
    if off(size) > std::f64::consts::LN_2 || trace.ios < FEW {
        return None;
    }
    let cache =
        format!("with {}, about a quarter of what is touched, first touches included", Bytes(size));
    let (value, more) = match curve.interval90.get(at) {
        Some([low, high]) => {
            let [low, high] = [low.max(0.0), high.min(1.0)].map(percent);
            let low = low.trim_end_matches(" %");
            let more = format!(
                "{cache}; one block in {} is followed, and the exact ratio is in brackets for nine traces of ten",
                curve.one_in
            );
            (format!("{} ({low} to {high})", percent(ratio)), more)
        }
        None => (percent(ratio), cache),
    };
    Some(("Misses of an LRU cache", value, more))
}

#[cfg(test)]
mod tests {
    use super::super::tables::{Rows, paper, partitions};
    use super::*;
    use ioscape_schema::trace_summary::{
        Load, MissRatio, MissRatioCurve, PartitionShare, WorkingSet,
    };
    use ioscape_schema::{Distribution, TraceInfo};

    fn with(note: &str) -> TraceSummary {
        let load = Load {
            ios: 50,
            bytes: None,
            reads: Some(50),
            read_bytes: Some(4096),
            write_bytes: Some(0),
        };
        let notes = [(note.to_owned(), String::new())].into();
        TraceSummary {
            info: TraceInfo { notes, ..TraceInfo::default() },
            ios: 50,
            last_ns: 5_000_000_000,
            partitions: vec![PartitionShare { load, ..PartitionShare::default() }],
            ..TraceSummary::default()
        }
    }

    fn all(rows: &Rows) -> String {
        [rows.head.join(" "), rows.rows.concat().join(" ")].concat()
    }

    #[test]
    fn without_operations_no_number_is_of_reads() {
        let trace = with("operations");
        let words: Vec<String> = headlines(&trace).into_iter().map(|line| line.2).collect();
        assert_eq!(words[0], "what reads and what writes is not told");
        assert!(!all(&partitions(&trace)).contains("read"), "{}", all(&partitions(&trace)));
        assert!(!paper(&trace).rows.iter().any(|row| row[0].contains("read")));
        let mut forgotten = trace.clone();
        forgotten.partitions[0].load.forget_operations();
        assert_eq!(all(&partitions(&forgotten)), all(&partitions(&trace)), "the bytes stay");
        assert!(all(&partitions(&with("host"))).contains("reads"));
    }

    #[test]
    fn of_slow_requests_alone_there_is_no_rate() {
        let words: Vec<String> =
            headlines(&with("slow requests alone")).into_iter().map(|line| line.2).collect();
        assert!(
            words.iter().all(|word| !word.contains("requests per") && !word.contains("touched"))
        );
        assert!(paper(&with("slow requests alone")).rows.is_empty());
        assert!(headlines(&with("host"))[1].2.contains("10.00 requests per second"));
    }

    #[test]
    fn without_arrivals_the_time_at_the_device_is_given() {
        let mut trace = with("host");
        let times = Distribution { count: 50, mean: 3e5, max: 1e6, ..Distribution::default() };
        trace.response_times.all.physical_ns = times.clone();
        let said = |trace: &TraceSummary| headlines(trace)[3].0;
        assert_eq!(said(&trace), "Mean physical time");
        trace.response_times.all.elapsed_ns = times;
        assert_eq!(said(&trace), "Mean elapsed time");
    }

    #[test]
    fn a_sampled_miss_ratio_is_said_with_its_bounds() {
        let points = vec![(8192.0, 0.9), (16384.0, 0.5), (65536.0, 0.2)];
        let mut trace = TraceSummary { ios: 5000, ..with("host") };
        trace.working_set = WorkingSet { bytes: 65536, ..WorkingSet::default() };
        let interval90 = vec![[0.8, 1.0], [0.41, 0.62], [0.1, 0.3]];
        let sampled =
            MissRatioCurve { one_in: 16, interval90, points: points.clone(), ..Default::default() };
        trace.miss_ratio = MissRatio { curves: vec![sampled] };
        let (_, value, more) = headlines(&trace).pop().expect("headlines");
        assert_eq!(value, "50 % (41 to 62 %)");
        assert!(more.starts_with("with 16 KiB") && more.contains("one block in 16"), "{more}");
        let exact = MissRatioCurve { one_in: 1, points, ..Default::default() };
        trace.miss_ratio.curves.insert(0, exact);
        assert_eq!(headlines(&trace).pop().expect("headlines").1, "50 %");
    }

    #[test]
    fn what_cannot_be_a_rate_is_none_and_slow_rates_keep_their_digits() {
        let rates = [(1, 1e9), (9, 1e9), (50, 0.0), (50, 5e9), (44_519, 603_060e9), (50, 1e16)];
        let shown = rates.map(|(ios, span)| rate(ios, span, false));
        let [few, fewer, once, second, hour, day] = shown.each_ref().map(String::as_str);
        assert_eq!(
            [few, fewer, once],
            ["too few for a rate", "too few for a rate", "all at one time"]
        );
        assert_eq!([second, hour], ["10.00 requests per second", "265.76 requests per hour"]);
        assert_eq!(day, "0.43 requests per day");
        // All arrive at once, and take a while.
        assert_eq!(rate(50, 5e9, true), "all at one time");
    }

    #[test]
    fn of_few_requests_the_reads_are_counted() {
        let shown = [(1, 4), (4, 4), (0, 4), (99, 1000), (1000, 1000)].map(|(r, n)| of_them(r, n));
        let meant = [
            "one of them a read",
            "4 of them reads",
            "0 of them reads",
            "9.9 % of them reads",
            "100 % of them reads",
        ];
        assert_eq!(shown, meant);
    }
}
