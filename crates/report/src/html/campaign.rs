//! A campaign on the page: graphs of throughput and processor time, the table, and the paper's
//! numbers.

use super::figure::{Figure, legend, two_sizes};
use super::tables::table;
use super::values::{Values, sentences};
use crate::clients::TIMES_NOTE;
use crate::curve::SEPARATOR;
use crate::figures::{system_class, system_shape};
use crate::plot::{Axis, Chart, Drawn, Frame, Mark, Scale, Series, Unit};
use crate::text::{esc, fine_ratio, none};
use ioscape_schema::units::counted;
use ioscape_schema::{CampaignCell, CampaignResult, CampaignRow, CampaignSample, is_wide};

const LOW: Frame = Frame { width: 1080.0, height: 320.0 };

/// What the graphs show of several rounds: their range, not an interval as in the table.
const ROUNDS: &str =
    "A point is the median of its rounds, its bar reaches from the lowest to the highest.";

/// What the table shows of several rounds.
const MEDIANS: &str =
    "Rates and processor seconds: the median of the rounds, in brackets its 95 % interval.";

/// A quantity of a cell, shown as a graph.
struct Quantity {
    id: &'static str,
    title: &'static str,
    unit: Unit,
    of_cell: fn(&CampaignCell) -> Option<f64>,
    of_sample: fn(&CampaignSample) -> f64,
}

const QUANTITIES: [Quantity; 4] = [
    Quantity {
        id: "operations",
        title: "Operations per second",
        unit: Unit::Number,
        of_cell: |cell| cell.operations_per_s,
        of_sample: CampaignSample::rate,
    },
    Quantity {
        id: "rate",
        title: "Throughput",
        unit: Unit::Rate,
        of_cell: |cell| cell.operations_per_s.is_none().then_some(cell.throughput_bytes_per_s),
        of_sample: |sample| sample.throughput_bytes_per_s,
    },
    Quantity {
        id: "cpu",
        title: "Processor seconds, system and user",
        unit: Unit::Number,
        of_cell: |cell| Some(cell.cpu_s),
        of_sample: |sample| sample.cpu_s,
    },
    Quantity {
        id: "p99",
        title: "Response time, 99th percentile",
        unit: Unit::Nanos,
        of_cell: |cell| cell.response_time_ns?.p99_below_longest().map(|ns| ns as f64),
        of_sample: |sample| sample.response_time_ns.map_or(0.0, |times| times.p99 as f64),
    },
];

/// Graphs and tables of a campaign.
pub fn campaign(result: &CampaignResult) -> String {
    let mut out = format!("<h2>{}</h2>", esc(&result.title));
    if !result.source.is_empty() {
        out += &format!(r#"<p class="lead">{}</p>"#, esc(&result.source));
    }
    if !result.sentences.is_empty() {
        out += &sentences("finding", (1..).zip(result.sentences.iter().map(String::as_str)));
    }
    for (index, (name, rows)) in result.rows_alike_but_for(&result.x).into_iter().enumerate() {
        for quantity in &QUANTITIES {
            out += &figure(result, quantity, index, &name, &rows);
        }
    }
    out += &cells(result);
    if let Some(reference) = result.reference.as_ref().filter(|one| !one.rows.is_empty()) {
        let head: Vec<&str> = reference.columns.iter().map(String::as_str).collect();
        let rows = reference.rows.iter().map(|row| row.iter().map(f64::to_string).collect());
        out += &format!(
            "<h3>Published numbers</h3><p>{}</p>{}",
            esc(&reference.source),
            table("", &head, rows)
        );
    }
    out
}

fn figure(
    result: &CampaignResult,
    quantity: &Quantity,
    index: usize,
    name: &str,
    rows: &[&CampaignRow],
) -> String {
    let series: Vec<Series> = (0..result.columns.len())
        .map(|column| series(result, quantity, column, rows))
        .filter(|series| !series.marks.is_empty())
        .collect();
    if series.is_empty() {
        return String::new();
    }
    let bytes = result.x.contains("size");
    let places = || series.iter().flat_map(|s| &s.marks).map(|mark| mark.x);
    // Percentages are not compared by ratio, and 0, as for an empty file system, has no logarithm.
    let is_even = result.x.contains("percent") || places().any(|x| x <= 0.0);
    let scale = if is_even { Scale::Linear } else { Scale::Log2 };
    let unit = if bytes { Unit::Bytes } else { Unit::Count };
    let x = Axis::fitted(&result.x, scale, unit, places());
    let y = Axis::new(quantity.title.to_lowercase(), Scale::Linear, quantity.unit, [0.0, 1.0]);
    let chart = Chart::new(format!("{} against {}", quantity.title, result.x), x, y, series);
    let id = format!("campaign-{}-{index}", quantity.id);
    let title = esc(quantity.title);
    let shared = if name.is_empty() { String::new() } else { format!("{}. ", esc(name)) };
    let caption = format!("{shared}{ROUNDS}");
    let scales = &[Scale::Linear, Scale::Log10];
    let figure = Figure { id: &id, title: &title, caption: &caption, scales };
    figure.html(
        |scale| two_sizes(&chart.clone().with_y_scale(scale), LOW),
        &legend(&chart.series, ""),
        &Values::of(&[&chart]),
    )
}

fn series(
    result: &CampaignResult,
    quantity: &Quantity,
    column: usize,
    rows: &[&CampaignRow],
) -> Series {
    let mark = |row: &&CampaignRow| {
        let x = row.setting(&result.x)?;
        let cell = row.cells.get(column).filter(|cell| !cell.samples.is_empty())?;
        let y = (quantity.of_cell)(cell)?;
        let all = cell.samples.iter().map(quantity.of_sample);
        let range = all.fold([y, y], |[low, high], v| [low.min(v), high.max(v)]);
        let parts = [
            format!("{} {}", x.name, x.text),
            quantity.unit.show(y),
            counted(cell.samples.len() as u64, "round"),
        ];
        Some(Mark { x: x.value, y, range, doubtful: false, title: parts.join(SEPARATOR) })
    };
    let (name, class) = (result.columns[column].name(), system_class(column));
    let marks = rows.iter().filter_map(mark).collect();
    Series::new(name, class, system_shape(column), Drawn::Both, marks)
}

/// The table: two columns per place and method, and ratios.
fn cells(result: &CampaignResult) -> String {
    let settings = result.rows.first().map_or(&[][..], |row| &row.settings);
    let mut head: Vec<String> = settings.iter().map(|setting| setting.name.clone()).collect();
    for column in &result.columns {
        let of = |what: &str| format!("{}, {what}", column.name());
        head.extend([column.name(), of("CPU s"), of("p50, p99; of fsync")]);
    }
    let rows = result.rows.iter().map(|row| {
        let names = row.settings.iter().map(|setting| setting.text.clone());
        names
            .chain(row.cells.iter().flat_map(|cell| [rate(cell), cpu(cell), times(cell)]))
            .collect()
    });
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let made = crate::campaign::made(&result.columns);
    let made: String = made.iter().map(|one| format!("<li>{}</li>", esc(one))).collect();
    let made = if made.is_empty() { made } else { format!("<ul>{made}</ul>") };
    let lead = esc(&lead(result));
    let lead = if lead.is_empty() { lead } else { format!(r#"<p class="lead">{lead}</p>"#) };
    format!("<h3>The table</h3>{lead}{}{made}", table("", &head, rows))
}

/// Explains the intervals, the base of the ratios, and the response times, as far as the table has
/// them.
fn lead(result: &CampaignResult) -> String {
    let has =
        |told: fn(&CampaignCell) -> bool| result.rows.iter().flat_map(|row| &row.cells).any(told);
    let mut said = Vec::new();
    if has(|cell| cell.rate_ci95.is_some()) {
        said.push(MEDIANS.to_owned());
    }
    let has_ratios = has(|cell| cell.ratio.is_some() || cell.cpu_ratio.is_some());
    if let Some(base) = crate::campaign::base(result).filter(|_| has_ratios) {
        said.push(format!(
            "\u{d7}: the ratio to {base} (of processor seconds: per byte or operation), from runs of the same round, in brackets its 95 % interval."
        ));
    }
    if result.clients.is_some() && has(|cell| cell.response_time_ns.is_some()) {
        said.push(TIMES_NOTE.to_owned());
    }
    said.join(" ")
}

fn with_ratio(value: String, ratio: Option<f64>, ends: Option<[f64; 2]>) -> String {
    match (ratio, ends) {
        (Some(ratio), Some(ends)) if is_wide(ends) => {
            format!("{value} \u{d7}{} (uncertain)", fine_ratio(ratio))
        }
        (Some(ratio), Some(ends)) => {
            let ([low, high], ratio) = (ends.map(fine_ratio), fine_ratio(ratio));
            format!("{value} \u{d7}{ratio} ({low}\u{2013}{high})")
        }
        _ => value,
    }
}

fn rate(cell: &CampaignCell) -> String {
    if let Some(why) = &cell.impossible {
        return format!("not possible: {why}");
    }
    let own = crate::campaign::rate_and_interval(cell).unwrap_or_else(none);
    with_ratio(own, cell.ratio, cell.ratio_ci95)
}

fn times(cell: &CampaignCell) -> String {
    crate::campaign::times(cell).unwrap_or_else(none)
}

fn cpu(cell: &CampaignCell) -> String {
    let own = crate::campaign::cpu_and_interval(cell).unwrap_or_else(none);
    with_ratio(own, cell.cpu_ratio, cell.cpu_ratio_ci95)
}
