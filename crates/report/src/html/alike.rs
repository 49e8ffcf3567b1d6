//! Results of one kind side by side: runs, `vxbench`, validations, and overlaid figures.
//!
//! Evaluations are in `joint`.

use super::figure::{Figure, legend, two_sizes};
use super::sections;
use super::tables::{interval_of, p99_of, table, table_of, time_of};
use super::values::Values;
use crate::accuracy;
use crate::columns::Column;
use crate::overlay::{NamedChart, by_line};
use crate::plot::{Chart, Frame, Scale, Series};
use crate::text::{fine_seconds, none, percent, told_time as time};
use ioscape_schema::units::{Bytes, Count, Rate};
use ioscape_schema::{Document, Measurement, Outcome, Validation, VxRun};

const LOW: Frame = Frame { width: 1080.0, height: 320.0 };

/// One figure of several systems, with a line for each and a chart for each name of a line.
///
/// Empty if fewer than two systems have the figure, or if their axes have different units, such as
/// hours and days.
pub fn overlaid(id: &str, title: &str, caption: &str, systems: &[NamedChart]) -> String {
    let drawn: Vec<&Chart> =
        systems.iter().map(|(_, chart)| chart).filter(|chart| chart.has_points()).collect();
    let is_alike = drawn
        .windows(2)
        .all(|pair| pair[0].x.label == pair[1].x.label && pair[0].y.label == pair[1].y.label);
    if drawn.len() < 2 || !is_alike {
        return String::new();
    }
    let all: Vec<Chart> = by_line(systems).into_iter().map(|(_, chart)| chart).collect();
    let figure = Figure { id, title, caption, scales: &[Scale::Linear] };
    let draw = |_| match &all[..] {
        [one] => two_sizes(one, LOW),
        all => {
            let each: String = all.iter().map(|chart| chart.svg(Frame::MEDIUM, "")).collect();
            format!(r#"<div class="five">{each}</div>"#)
        }
    };
    let key = legend(&distinct(&all), "");
    figure.html(draw, &key, &of_lines(&all))
}

/// The lines of all charts, each name once: any chart may lack a system.
fn distinct(all: &[Chart]) -> Vec<Series> {
    let mut lines: Vec<Series> = Vec::new();
    for series in all.iter().flat_map(|chart| &chart.series) {
        if lines.iter().all(|known| known.name != series.name) {
            lines.push(series.clone());
        }
    }
    lines
}

/// The values of charts whose lines have the same names, so that only the axes tell them apart.
fn of_lines(all: &[Chart]) -> Values {
    let [one] = all else {
        let named = |chart: &Chart| {
            let mut chart = chart.clone();
            let (line, own) = chart.y.label.rsplit_once(": ").unwrap_or(("", &chart.y.label));
            let (line, own) = (line.to_owned(), own.to_owned());
            chart.series.iter_mut().for_each(|one| one.name = format!("{}, {line}", one.name));
            chart.y.label = own;
            chart
        };
        let named: Vec<Chart> = all.iter().map(named).collect();
        return Values::of(&named.iter().collect::<Vec<_>>());
    };
    Values::of(&[one])
}

/// Single runs of all results: a table, and their response times in one picture.
pub fn runs(named: &[(String, &Document)]) -> String {
    let all = named.iter().flat_map(|(name, document)| {
        let runs = document.measurements().into_iter().flatten().enumerate();
        runs.map(move |run| (name, sections::name(run), run.1))
    });
    let all: Vec<(&String, String, &Measurement)> = all.collect();
    if all.is_empty() {
        return String::new();
    }
    let head =
        ["System", "Workload", "Throughput", "95 % confidence", "IOPS", "Mean", "Median", "99 %"];
    let rows = all.iter().map(|(system, run, one)| {
        let times = &one.response_time_ns;
        let mut row = vec![(*system).clone(), run.clone()];
        row.push(Rate(one.throughput_bytes_per_s).to_string());
        row.push(interval_of(one));
        row.push(Count(one.iops()).to_string());
        row.extend([times.mean, times.p50 as f64].map(|ns| time_of(one, ns)));
        row.push(p99_of(one));
        row
    });
    format!("<h2>Runs</h2>{}{}", table("runs", &head, rows), response_times(&all))
}

/// The most runs in one picture; the table holds all.
const DRAWN_MOST: usize = 40;

fn response_times(all: &[(&String, String, &Measurement)]) -> String {
    if all.len() > DRAWN_MOST {
        return String::new();
    }
    let runs: Vec<Measurement> = all.iter().map(|(.., one)| (*one).clone()).collect();
    let names: Vec<String> =
        all.iter().map(|(system, run, _)| format!("{system}: {run}")).collect();
    sections::response_times("runs-response-times", &runs, &names)
}

/// The totals of `vxbench` runs of all results.
pub fn vxbench(named: &[(String, &Document)]) -> String {
    let runs = named.iter().flat_map(|(name, document)| {
        let runs = match &document.outcome {
            Some(Outcome::Vxbench(one)) => &one.runs[..],
            _ => &[],
        };
        runs.iter().map(move |run| (name, run))
    });
    let runs: Vec<(&String, &VxRun)> = runs.collect();
    if runs.is_empty() {
        return String::new();
    }
    let columns: [Column<(&String, &VxRun)>; 9] = [
        ("System", |(name, _)| (*name).clone()),
        ("Workload", |(_, run)| run.job.workload.word().to_owned()),
        ("Requests of", |(_, run)| Bytes(run.job.iosize as f64).to_string()),
        ("Files", |(_, run)| run.files.len().to_string()),
        ("Bytes", |(_, run)| Bytes(run.total.bytes as f64).to_string()),
        ("Throughput", |(_, run)| Rate(run.total.throughput_bytes_per_s).to_string()),
        ("CPU s", |(_, run)| fine_seconds(run.total.cpu_s())),
        ("p50", |(_, run)| time(run.total.response_time_ns.map(|times| times.p50))),
        ("p99", |(_, run)| {
            time(run.total.response_time_ns.and_then(|times| times.p99_of(run.total.ios)))
        }),
    ];
    format!("<h2>vxbench</h2>{}", table_of("runs", &columns, runs.into_iter()))
}

/// How far predictions were off in each validation.
pub fn validations(named: &[(String, &Document)]) -> String {
    let all = named.iter().filter_map(|(name, document)| match &document.outcome {
        Some(Outcome::Validation(one)) => Some((name, one.validation.as_ref()?)),
        _ => None,
    });
    let all: Vec<(&String, &Validation)> = all.collect();
    if all.is_empty() {
        return String::new();
    }
    let columns: [Column<(&String, &Validation)>; 9] = [
        ("System", |(name, _)| (*name).clone()),
        ("Measured on", |(_, one)| told(Some(one.target.clone()).filter(|one| !one.is_empty()))),
        ("Workloads", |(_, one)| one.workloads.to_string()),
        ("Median error", |(_, one)| percent(one.errors.median_error)),
        ("75 % below", |(_, one)| told(accuracy::below(one, &one.errors)[0].take())),
        ("90 % below", |(_, one)| told(accuracy::below(one, &one.errors)[1].take())),
        ("Off borders", |(_, one)| told(one.errors.enhanced_median_error.map(percent))),
        ("In interval", |(_, one)| told(accuracy::coverage(one, &one.errors))),
        ("Repeatability", |(_, one)| told(one.repeatability_error.map(percent))),
    ];
    format!("<h2>Validations</h2>{}", table_of("", &columns, all.into_iter()))
}

fn told(value: Option<String>) -> String {
    value.unwrap_or_else(none)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{chart, plain_series};
    use crate::plot::Mark;
    use ioscape_schema::Parameter;

    /// A chart of two lines, whose names may contain colons.
    fn drawn(lines: [&str; 2]) -> Chart {
        let line = |name| plain_series(name, "r1", vec![Mark::plain(1.0, 2.0, "")]);
        chart(String::new(), Parameter::ProcessNum, lines.map(line).into())
    }

    #[test]
    fn what_counts_different_things_is_not_drawn_in_one_figure() {
        let (one, mut other) = (drawn(["a", "b"]), drawn(["a", "b"]));
        assert!(!overlaid("x", "", "", &[("a", one.clone()), ("b", other.clone())]).is_empty());
        other.y.label = "something else".to_owned();
        assert_eq!(overlaid("x", "", "", &[("a", one), ("b", other)]), "");
    }

    #[test]
    fn every_system_is_in_the_legend_and_every_line_keeps_its_whole_name() {
        let one = drawn(["hp-97560: none", "hp-97560: immediate"]);
        let systems = [("a", one), ("b", drawn(["hp-97560: nvram", "hp-97560: both"]))];
        let html = overlaid("x", "Policies", "", &systems);
        for shown in ["data-name=\"a\"", "data-name=\"b\"", "hp-97560: none", "hp-97560: nvram"] {
            assert!(html.contains(shown), "{shown}: {html}");
        }
    }
}
