//! The figures of the page, section by section.

use super::figure::{Figure, below, chosen, hollow, in_sizes, legend, two_sizes};
use super::tables::{interval_of, p99_of, table, table_of, time_of};
use super::values::Values;
use crate::columns::Column;
use crate::figures;
use crate::plot::{Chart, Frame, Scale};
use crate::quantity::Quantity;
use crate::ranges;
use crate::text::{NONE, cached, described, esc, mix, none, run_name};
use crate::witnesses::witnesses;
use ioscape_schema::units::{Bytes, Count, Rate};
use ioscape_schema::{Evaluation, Measurement, Parameter, Region};

const LOG_FIRST: &[Scale] = &[Scale::Log10, Scale::Linear];
const LINEAR_FIRST: &[Scale] = &[Scale::Linear, Scale::Log10];

/// Throughput against the size of the set, and its slope.
pub fn landscape(evaluation: &Evaluation) -> String {
    if !figures::landscape(evaluation, Quantity::Throughput).has_points() {
        return String::new();
    }
    let figure = Figure {
        id: "unique-bytes",
        title: &format!("{} against the size of the set", chosen()),
        caption: "Each level of the storage hierarchy is a plateau; the borders between them are cache sizes. \
                  Dashed lines are borders, the shade around them their error range; dotted ones are within memory, or not sure.",
        scales: LOG_FIRST,
    };
    let mut out = "<h2>Landscape</h2>".to_owned();
    out += r#"<p class="lead">Throughput depends first of all on the size of the working set.</p>"#;
    let chart = |quantity| Some(figures::landscape(evaluation, quantity));
    out += &figure.of_curve(chart, Frame::WIDE);
    out += &both_witnesses(evaluation);
    if let Some(slope) = figures::slope(evaluation) {
        let figure = Figure {
            id: "slope",
            title: "Slope of the mixed curve",
            caption: "Plateaus lie near zero; a deep notch is a border.",
            scales: &[Scale::Linear],
        };
        out += &figure.html(|_| two_sizes(&slope, SLOPE), "", &Values::of(&[&slope]));
    }
    out
}

/// The throughput and residency of the same sets, one above the other.
fn both_witnesses(evaluation: &Evaluation) -> String {
    let Some(shown) = witnesses(evaluation) else { return String::new() };
    let figure = Figure {
        id: "witnesses",
        title: "Two witnesses: throughput, and what stayed in memory",
        caption: "Random requests. By the kernel's counters after each run: the resident share of the set, and that share times the size of \
                  the set. Where a set outgrows the cache the last curve leaves the dashed line and stays level, at the size of the cache. \
                  A border is believed where throughput falls at the same place.",
        scales: &[Scale::Log10],
    };
    let stacked = |chart: &Chart, height: f64| {
        in_sizes(chart, Frame { width: 1080.0, height }, Frame { height, ..Frame::NARROW })
    };
    let top = stacked(&shown.throughput, 260.0);
    let middle = stacked(&shown.share, 190.0);
    let bottom = stacked(&shown.resident, 260.0);
    let values = Values::of(&[&shown.throughput, &shown.share, &shown.resident]);
    figure.html(|_| format!("{top}{middle}{bottom}"), &below(&shown.resident), &values)
}

const SLOPE: Frame = Frame { width: 1080.0, height: 260.0 };

/// A row of charts per region.
pub fn regions(evaluation: &Evaluation) -> String {
    if evaluation.regions.is_empty() {
        return String::new();
    }
    let mut out = "<h2>Regions</h2>".to_owned();
    out += r#"<p class="lead">Within a region one parameter is varied while the others stay at the focal vector
        (dotted line). The charts of a region share their vertical axis, so the curve that changes most matters most.</p>"#;
    for (index, region) in evaluation.regions.iter().enumerate() {
        out += &region_figure(evaluation, index, region);
    }
    out + &focal_table(&evaluation.regions)
}

fn region_figure(evaluation: &Evaluation, index: usize, region: &Region) -> String {
    let charts = |quantity| figures::region(index, region, quantity);
    let of_throughput = charts(Quantity::Throughput);
    let [from, to] = evaluation.seen_range(region);
    let title = format!(
        r#"<span class="chip {}"></span>{}: {} to {}"#,
        figures::region_class(index),
        esc(&region.name),
        Bytes(from),
        Bytes(to)
    );
    let set = Bytes(region.focal.unique_bytes as f64);
    let caption = format!("Focal vector: a set of {set}, {}", esc(&mix(&region.focal)));
    let id = format!("region-{}", index + 1);
    if of_throughput.is_empty() {
        let figure = Figure { id: &id, title: &title, caption: &caption, scales: &[] };
        return figure.html(|_| String::new(), "", &Values::none());
    }
    let scales = scales(&of_throughput);
    let figure = Figure { id: &id, title: &title, caption: &caption, scales };
    figure.by_quantity(
        |quantity, scale| small(&charts(quantity), scale, "four", Frame::SMALL),
        |quantity| region_legend(&charts(quantity), quantity),
        |quantity| of_parameters(&charts(quantity)),
    )
}

/// The values of charts, one for each parameter.
pub fn of_parameters(charts: &[(Parameter, Chart)]) -> Values {
    Values::of(&charts.iter().map(|(_, chart)| chart).collect::<Vec<_>>())
}

/// The scales for charts with a common vertical axis, first the one on which all values can be
/// read.
pub fn scales(charts: &[(Parameter, Chart)]) -> &'static [Scale] {
    match figures::readable_scale(charts) {
        Scale::Linear => LINEAR_FIRST,
        _ => LOG_FIRST,
    }
}

/// The legend of a region's charts: a single line needs none, but median and 99th percentile do.
fn region_legend(charts: &[(Parameter, Chart)], quantity: Quantity) -> String {
    let all: Vec<&Chart> = charts.iter().map(|(_, chart)| chart).collect();
    match (quantity, hollow(&all), all.first()) {
        (Quantity::Latency, more, Some(first)) => legend(&first.series, more),
        (_, "", _) | (_, _, None) => String::new(),
        (_, item, _) => format!(r#"<ul class="legend">{item}</ul>"#),
    }
}

/// Small charts side by side, with one vertical range.
pub fn small(charts: &[(Parameter, Chart)], scale: Scale, grid: &str, frame: Frame) -> String {
    let mut charts = charts.to_vec();
    figures::share_y(&mut charts, scale);
    let mut out = format!(r#"<div class="{grid}">"#);
    for (_, chart) in &charts {
        out += &chart.svg(frame, "");
    }
    out + "</div>"
}

fn focal_table(regions: &[Region]) -> String {
    let head = [
        "Region",
        "unique_bytes",
        "size_mean",
        "read_frac",
        "seq_frac",
        "process_num",
        "At the focal vector",
        "Best measured",
    ];
    let rows = regions.iter().map(|region| {
        let focal = Parameter::ALL.map(|p| crate::text::value_of(p, region.focal.get(p)));
        let at = figures::focal_point(region)
            .map_or_else(none, |point| Rate(point.throughput()).to_string());
        let best = figures::best_point(region).map_or_else(none, |(parameter, point)| {
            let value = crate::text::value_of(parameter, point.value);
            format!("{} ({parameter} {value})", Rate(point.throughput()))
        });
        [region.name.clone()].into_iter().chain(focal).chain([at, best]).collect()
    });
    table("cards", &head, rows)
}

const WIDE_LOW: Frame = Frame { width: 1080.0, height: 340.0 };

/// The selected quantity against the share of reads, all regions in one chart.
pub fn reads_and_writes(evaluation: &Evaluation) -> String {
    let figure = Figure {
        id: "read-frac",
        title: &format!("{} against the share of reads", chosen()),
        caption: "0 % is all writes. A flat line means that writes are cached as well as reads; a cliff at the right \
                  end, that only reads are.",
        scales: LOG_FIRST,
    };
    let drawn = figure.of_curve(|quantity| figures::read_frac(evaluation, quantity), WIDE_LOW);
    if drawn.is_empty() { drawn } else { format!("<h2>Reads and writes</h2>{drawn}") }
}

/// The result of self-scaling all parameters: where the system performs well.
pub fn well(evaluation: &Evaluation) -> String {
    let Some(all) = &evaluation.all_parameters else { return String::new() };
    let charts = figures::all_parameters(all);
    let settled =
        if all.settled { "" } else { " The search did not converge; the vector is its last step." };
    let set = Bytes(all.focal.unique_bytes as f64);
    let caption = format!(
        "Shaded: at least 75 % of the best throughput; dotted: the 75 % point. Focal vector: a set of {set}, {}.{settled}",
        esc(&mix(&all.focal))
    );
    let figure = Figure {
        id: "all-parameters",
        title: "All parameters at their 75 % performance point",
        caption: &caption,
        scales: scales(&charts),
    };
    format!(
        "<h2>Where it performs well</h2>{}",
        figure.html(
            |scale| small(&charts, scale, "five", Frame::MEDIUM),
            "",
            &of_parameters(&charts)
        )
    )
}

/// How steady the machine was, and what the evaluation left out.
pub fn drift(evaluation: &Evaluation) -> String {
    let mut out = String::new();
    if let Some(chart) = figures::drift(evaluation) {
        let caption = esc(&figures::drift_line(evaluation));
        let title = "Speed of the reference workload over time";
        let scales = &[Scale::Linear];
        let figure = Figure { id: "drift", title, caption: &caption, scales };
        out += &figure.html(|_| two_sizes(&chart, SLOPE), "", &Values::of(&[&chart]));
    }
    if !evaluation.shortened.is_empty() {
        let rows = evaluation.shortened.iter().map(|(what, why)| vec![what.clone(), why.clone()]);
        out += &table("words", &["Shortened", "Why"], rows);
    }
    if out.is_empty() { out } else { format!("<h2>Steadiness</h2>{out}") }
}

/// Single runs: their table and their response times.
pub fn runs(measurements: &[Measurement]) -> String {
    if measurements.is_empty() {
        return String::new();
    }
    let names: Vec<String> = measurements.iter().enumerate().map(name).collect();
    let times = response_times("response-times", measurements, &names);
    format!("<h2>Runs</h2>{}{times}", runs_table(measurements))
}

/// The response times of runs with these names in one picture; empty if no run has any.
pub fn response_times(id: &str, runs: &[Measurement], names: &[String]) -> String {
    if runs.iter().all(|run| run.ios == 0) {
        return String::new();
    }
    let figure = Figure {
        id,
        title: "Response times",
        caption: "Bar: median to 99th percentile, with the 90th marked; dot: mean; line: to the longest.",
        scales: &[Scale::Log10],
    };
    let draw =
        |_| ranges::svg(runs, names, 1080.0, "wide") + &ranges::svg(runs, names, 350.0, "narrow");
    let values = Values::table("", &ranges::HEAD, ranges::rows_of_all(runs, names));
    figure.html(draw, "", &values)
}

/// The name of a run, numbered from 0, with its set and mix.
///
/// The name alone would not do: all workloads given by options have the same one.
pub fn name((index, measurement): (usize, &Measurement)) -> String {
    format!("{}: {}", run_name(index + 1, measurement), described(&measurement.workload))
}

fn runs_table(measurements: &[Measurement]) -> String {
    let columns: [Column<(usize, &Measurement)>; 11] = [
        ("Workload", |one| name(*one)),
        ("Throughput", |(_, one)| Rate(one.throughput_bytes_per_s).to_string()),
        ("95 % confidence", |(_, one)| interval_of(one)),
        ("IOPS", |(_, one)| Count(one.iops()).to_string()),
        ("Mean", |(_, one)| time_of(one, one.response_time_ns.mean)),
        ("Median", |(_, one)| time_of(one, one.response_time_ns.p50 as f64)),
        ("99 %", |(_, one)| p99_of(one)),
        ("Longest", |(_, one)| time_of(one, one.response_time_ns.max as f64)),
        ("CPU per I/O", |(_, one)| time_of(one, one.cpu_ns_per_io)),
        ("Cached", |(_, one)| cached(one, NONE)),
        ("Stop", |(_, one)| one.stop.word().to_owned()),
    ];
    table_of("runs", &columns, measurements.iter().enumerate())
}
