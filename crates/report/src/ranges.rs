//! The response times of several runs as one picture.
//!
//! A bar runs from the median to the 99th percentile, a line on to the longest time.

use crate::bars::Picture;
use crate::plot::{Axis, Scale, Unit};
use crate::text::{esc, none};
use ioscape_schema::{Measurement, ResponseTime};
use std::fmt::Write as _;

/// One bar: its class (`read`, `write`, `mixed`), its name, its requests and their times.
struct Row<'a> {
    class: &'static str,
    name: &'static str,
    ios: u64,
    times: &'a ResponseTime,
}

impl Row<'_> {
    /// The median, the 90th, 99th and 99.9th percentiles and the longest time; a dash for a
    /// percentile beyond which no request may lie.
    fn told(&self) -> [String; 5] {
        let shown = |ns: u64| Unit::Nanos.show(ns as f64);
        self.times.told(self.ios).map(|ns| ns.map_or_else(none, shown))
    }
}

/// The picture, `width` units wide; empty without runs. `names` are the runs' names as plain text.
pub fn svg(measurements: &[Measurement], names: &[String], width: f64, class: &str) -> String {
    let named = names.iter().zip(measurements.iter().map(rows));
    let picture = Picture {
        label: "Response times of every run, logarithmic",
        class,
        width,
        ends: [52.0, width - 26.0],
        axis: axis(measurements),
        rule: None,
    };
    picture.svg(&named.collect::<Vec<_>>(), |out, row, y| bar(out, row, &picture, y))
}

/// The column heads of the table behind the picture.
pub const HEAD: [&str; 8] =
    ["Run", "Requests", "Mean", "Median", "90 %", "99 %", "99.9 %", "Longest"];

/// The table behind the picture: a row for each bar.
pub fn rows_of_all(measurements: &[Measurement], names: &[String]) -> Vec<Vec<String>> {
    let row = |name: &String, row: &Row| {
        let mean = Unit::Nanos.show(row.times.mean);
        let mut cells = vec![name.clone(), row.name.to_owned(), mean];
        cells.extend(row.told());
        cells
    };
    let named = measurements.iter().zip(names);
    named
        .flat_map(|(one, name)| rows(one).iter().map(|bar| row(name, bar)).collect::<Vec<_>>())
        .collect()
}

fn rows(measurement: &Measurement) -> Vec<Row<'_>> {
    let (times, ios) = (&measurement.response_time_ns, measurement.ios);
    let alone = |class, name| vec![Row { class, name, ios, times }];
    match (&measurement.read, &measurement.write) {
        // No request completed, so no time is known.
        _ if measurement.ios == 0 => Vec::new(),
        (Some(read), Some(write)) => vec![
            Row { class: "read", name: "reads", ios: read.ios, times: &read.response_time_ns },
            Row { class: "write", name: "writes", ios: write.ios, times: &write.response_time_ns },
        ],
        (Some(_), None) => alone("read", "reads"),
        (None, Some(_)) => alone("write", "writes"),
        (None, None) => alone("mixed", "all"),
    }
}

fn axis(measurements: &[Measurement]) -> Axis {
    let times = measurements.iter().flat_map(rows).flat_map(|row| {
        [row.times.p50 as f64, row.times.p99 as f64, row.times.max as f64, row.times.mean]
    });
    Axis::fitted("response time", Scale::Log10, Unit::Nanos, times)
}

fn bar(out: &mut String, row: &Row, picture: &Picture<'_>, y: f64) {
    let ResponseTime { mean, p50, p90, p99, max, .. } = *row.times;
    let [half, nine, tail, far, longest] = row.told();
    let title = format!(
        "{} \u{b7} mean {} \u{b7} median {half}, 90 % {nine}, 99 % {tail}, 99.9 % {far} \u{b7} longest {longest}",
        row.name,
        Unit::Nanos.show(mean)
    );
    let [a, b, c, d] = [p50, p90, p99, max].map(|value| picture.x(value as f64));
    let _ = write!(
        out,
        r#"<g class="series {}" data-name="{}"><text class="small" x="{:.1}" y="{:.1}" text-anchor="end">{}</text><path class="thin" d="M{c:.1} {y:.1}H{d:.1}M{d:.1} {:.1}v8"/><path class="thick" d="M{a:.1} {y:.1}H{c:.1}"/><path class="tick" d="M{b:.1} {:.1}v10"/><path class="pt" d="M{:.1} {y:.1}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"><title>{}</title></path></g>"#,
        row.class,
        row.name,
        picture.ends[0] - 8.0,
        y + 4.0,
        row.name,
        y - 4.0,
        y - 5.0,
        picture.x(mean) - 4.0,
        esc(&title)
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use ioscape_schema::Stop;

    #[test]
    fn a_run_in_which_no_request_ended_has_its_name_and_no_bar() {
        let mut runs = sample::runs();
        runs.push(Measurement::empty(runs[0].workload.clone(), Stop::TimeCap));
        let names = ["a", "b", "c", "d"].map(str::to_owned);
        let drawn = svg(&runs, &names, 350.0, "");
        let count = |what: &str| drawn.matches(what).count();
        assert_eq!((count(r#"class="pt""#), count(r#"class="job""#)), (4, 4));
        assert_eq!(rows_of_all(&runs, &names).len(), 4);
    }

    #[test]
    fn every_direction_of_every_run_has_a_bar() {
        let runs = sample::runs();
        let names = vec!["a <b>".to_owned(), "b".repeat(500), String::new()];
        let svg = svg(&runs, &names, 350.0, "narrow");
        let tree = roxmltree::Document::parse(&svg).unwrap();
        let bars =
            |class| tree.descendants().filter(|n| n.attribute("class") == Some(class)).count();
        assert_eq!((bars("series read"), bars("series write"), bars("job")), (2, 2, 3));
        assert_eq!(super::svg(&[], &[], 350.0, ""), "");
    }
}
