//! Results of models on the page: predictions, comparisons of systems, and errors of predictions.

use super::figure::{Figure, below, legend, two_sizes};
use super::sections::{of_parameters, small};
use super::tables::{table, table_of};
use super::values::Values;
use crate::accuracy::{self, PERFECT};
use crate::columns::Column;
use crate::plot::{Frame, Scale, Unit};
use crate::ratios;
use crate::terminal::application::told;
use crate::text::{
    between, certainty, chosen, described, duration, esc, fine_seconds, label, none, percent,
    ratio, verdict,
};
use ioscape_schema::units::{Bytes, Count, Rate, counted};
use ioscape_schema::{Cheapest, Comparison, Prediction, Validation, ValidationPoint, Workload};
use std::fmt::Write as _;

/// Name and parameters in one cell.
fn named(name: Option<&String>, index: usize, workload: &Workload) -> String {
    format!("{}: {}", label(name, index), described(workload))
}

fn noted(text: &str, extrapolated: bool) -> String {
    match (text.is_empty(), extrapolated) {
        (_, false) => text.to_owned(),
        (true, true) => "extrapolated".to_owned(),
        (false, true) => format!("{text}, extrapolated"),
    }
}

/// The predictions, in one table per system.
pub fn predictions(all: &[Prediction]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut out = "<h2>Predictions</h2>".to_owned();
    out += r#"<p class="lead">Workloads that were not run. The 90 % interval holds nine of ten measurements of such a workload; outside the
        measured range it is a guess and marked as such.</p>"#;
    let head =
        ["Workload", "Throughput", "90 % interval", "IOPS", "Mean response", "Region", "Note"];
    for system in all.chunk_by(|a, b| a.system == b.system) {
        let rows = system.iter().enumerate().map(|(index, one)| {
            let [low, high] = one.interval90.map(Rate);
            vec![
                named(one.name.as_ref(), index, &one.workload),
                Rate(one.throughput_bytes_per_s).to_string(),
                format!("{low} to {high}"),
                Count(one.iops).to_string(),
                Unit::Nanos.show(one.response_time_ns),
                one.region.clone(),
                noted("", one.extrapolated),
            ]
        });
        let _ = write!(out, "<h3>{}</h3>{}", esc(&system[0].system), table("runs", &head, rows));
        out.extend(system.iter().map(application));
    }
    out
}

/// Where an application spends its time, what the caches hold, and its throughput by memory.
fn application(prediction: &Prediction) -> String {
    let Some(one) = &prediction.application else { return String::new() };
    let parts = one.parts.iter().map(|part| {
        vec![
            part.name.clone(),
            fine_seconds(part.seconds),
            percent(part.seconds / one.elapsed_s.max(f64::MIN_POSITIVE)),
        ]
    });
    let mut out = format!(
        "<h4>Where {} go</h4>{}",
        duration(one.elapsed_s * 1e9),
        table("runs", &["Time goes to", "Seconds", "Share"], parts)
    );
    for sentence in told(one, &prediction.workload) {
        let _ = write!(out, "<p>{}</p>", esc(&sentence));
    }
    if let Some(memory) = &one.memory {
        let rows = memory
            .curve
            .iter()
            .map(|(bytes, rate)| vec![Bytes(*bytes).to_string(), Rate(*rate).to_string()]);
        out += &table("runs", &["Memory", "Throughput"], rows);
    }
    out
}

/// The ratios as a picture and a table.
pub fn comparison(all: &[Comparison]) -> String {
    let Some(first) = all.first() else { return String::new() };
    let other = esc(&first.systems[1]);
    let caption = format!(
        "Predicted throughput over that of {other}: to the right of 1 faster, to the left slower. The line is the 90 % prediction \
         interval of the measured ratio. Of hollow points it cannot be told which is faster: that interval is a guess, or the 99 % interval includes 1."
    );
    let figure = Figure {
        id: "ratios",
        title: "Ratio of throughput",
        caption: &caption,
        scales: &[Scale::Log10],
    };
    let draw = |_| ratios::svg(all, 1080.0, "wide") + &ratios::svg(all, 350.0, "narrow");
    let key = legend(&ratios::key(all), "");
    let values = Values::table("", &ratios::HEAD, ratios::rows(all));
    format!("<h2>Comparison</h2>{}{}", figure.html(draw, &key, &values), ratio_table(all))
}

fn ratio_table(all: &[Comparison]) -> String {
    let columns: [Column<(usize, &Comparison)>; 11] = [
        ("Workload", |(index, one)| named(one.name.as_ref(), *index, &one.workload)),
        ("System", |(_, one)| one.systems[0].clone()),
        ("Throughput", |(_, one)| Rate(one.throughput_bytes_per_s[0]).to_string()),
        ("Other's", |(_, one)| Rate(one.throughput_bytes_per_s[1]).to_string()),
        ("Ratio", |(_, one)| ratio(one.ratio)),
        ("90 % interval", |(_, one)| {
            let [low, high] = one.interval90.map(ratio);
            format!("{low} to {high}")
        }),
        ("Verdict", |(_, one)| noted(verdict(one), one.extrapolated)),
        ("Per price", |(_, one)| per_price(one, 0)),
        ("Other's", |(_, one)| per_price(one, 1)),
        ("Ratio per price", |(_, one)| one.price_ratio().map_or_else(none, |(at, _)| ratio(at))),
        ("90 % interval", |(_, one)| {
            one.price_ratio().map_or_else(none, |(_, ends)| between(ends))
        }),
    ];
    let pairs = all.chunk_by(|a, b| a.systems == b.systems);
    table_of("runs", &columns, pairs.flat_map(|pair| pair.iter().enumerate()))
}

/// The throughput of one of the two systems over its price.
fn per_price(one: &Comparison, which: usize) -> String {
    one.throughput_per_price.map_or_else(none, |both| Rate(both[which]).to_string())
}

/// The cheapest system for every workload.
pub fn cheapest(all: &[Cheapest]) -> String {
    let Some(first) = all.first() else { return String::new() };
    let head = ["Workload", "Cheapest", "Price", "Throughput", "Certain"];
    let rows = all.iter().enumerate().map(|(index, one)| {
        let name = label(one.name.as_ref(), index);
        let [price, rate] = one.choice.as_ref().map_or_else(
            || [none(), none()],
            |choice| [choice.price.to_string(), Rate(choice.throughput_bytes_per_s).to_string()],
        );
        vec![name, chosen(one), price, rate, certainty(one)]
    });
    format!(
        "<h2>Cheapest with at least {}</h2>{}",
        Rate(first.at_least_bytes_per_s),
        table("", &head, rows)
    )
}

const SQUARE: Frame = Frame { width: 1080.0, height: 640.0 };

/// The errors of predictions: figures, models, pictures, and every workload.
pub fn validation(one: &Validation) -> String {
    let mut out = "<h2>Predictions compared with measurements</h2>".to_owned();
    let _ = write!(
        out,
        r#"<p class="lead">{} random workloads over the whole space were predicted, then measured. An error is |predicted - measured| / measured.</p>"#,
        one.workloads
    );
    out += &numbers(one);
    out += &models(one);
    if let Some(chart) = accuracy::scatter(one) {
        let figure = Figure {
            id: "scatter",
            title: "Predicted against measured",
            caption: "Every point is a workload, its bar the 90 % interval; one without an end goes on beyond the picture. The nearer to \
                      the diagonal, the better. A benchmark with a single number predicts the same for all: the dashed line.",
            scales: &[Scale::Log10],
        };
        let values = Values::of(&[&chart]);
        out += &figure.html(|_| two_sizes(&chart, SQUARE), &below(&chart), &values);
    }
    let charts = accuracy::errors(one);
    if !charts.is_empty() {
        let figure = Figure {
            id: "errors",
            title: "Error by parameter",
            caption: "Median error of the default model against each parameter, on one vertical axis.",
            scales: &[Scale::Linear],
        };
        let draw = |scale| small(&charts, scale, "five", Frame::MEDIUM);
        out += &figure.html(draw, "", &of_parameters(&charts));
    }
    out + &points(&one.points)
}

fn numbers(one: &Validation) -> String {
    let mut out = r#"<dl class="numbers">"#.to_owned();
    let mut number = |name: &str, value: Option<String>, more: &str| {
        let value = value.unwrap_or_else(none);
        let _ = write!(
            out,
            r#"<div class="number"><dt>{name}</dt><dd class="big">{value}</dd><dd class="low">{more}</dd></div>"#
        );
    };
    let errors = &one.errors;
    let words = ["three of four", "nine of ten"].into_iter();
    let below = words.zip(accuracy::below(one, errors));
    let below = below.filter_map(|(part, error)| Some(format!("{part} below {}", error?)));
    let more = below.collect::<Vec<_>>().join(", ");
    number("Median error", Some(percent(errors.median_error)), &more);
    let more = "median without the workloads near a border";
    number("Off the borders", errors.enhanced_median_error.map(percent), more);
    let more = "of the measurements lie within; 90 % should";
    number("In the 90 % interval", accuracy::coverage(one, errors), more);
    let times = one.error_over_repeatability.map_or_else(String::new, |times| {
        format!("; the median error is {times:.1} times that difference")
    });
    let more = format!("median difference of the same workload measured twice: {PERFECT}{times}");
    number("Repeatability", one.repeatability_error.map(percent), &more);
    out + "</dl>"
}

fn models(one: &Validation) -> String {
    let head = ["Model", "Median error", "75 % below", "90 % below", "Off borders", "In interval"];
    let rows = accuracy::models(one).into_iter().map(|(name, figures)| {
        let [p75, p90] = accuracy::below(one, figures);
        let off_borders = figures.enhanced_median_error.map(percent);
        let more = [p75, p90, off_borders, accuracy::coverage(one, figures)];
        let more = more.map(|told| told.unwrap_or_else(none));
        [name.to_owned(), percent(figures.median_error)].into_iter().chain(more).collect()
    });
    table("", &head, rows)
}

fn points(all: &[ValidationPoint]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let head = [
        "Workload",
        "Measured",
        "Rounds",
        "Predicted",
        "90 % interval",
        "Error",
        "Region",
        "Near a border",
        "Other models",
    ];
    let rows = all.iter().map(|point| {
        let (prediction, measured) = (&point.prediction, point.measured_bytes_per_s());
        let [low, high] = prediction.interval90.map(Rate);
        let off = (prediction.throughput_bytes_per_s - measured).abs() / measured;
        let others: Vec<String> =
            point.models.iter().map(|(name, rate)| format!("{name} {}", Rate(*rate))).collect();
        vec![
            described(&point.measurement.workload),
            Rate(measured).to_string(),
            rounds(point),
            Rate(prediction.throughput_bytes_per_s).to_string(),
            format!("{low} to {high}"),
            percent(off),
            prediction.region.clone(),
            if point.near_border { "yes" } else { "" }.to_owned(),
            others.join(", "),
        ]
    });
    format!(
        "<details><summary>All workloads<small>{}</small></summary>{}</details>",
        counted(all.len() as u64, "point"),
        table("runs", &head, rows)
    )
}

/// Every round of a workload, in the order of measurement.
fn rounds(point: &ValidationPoint) -> String {
    let earlier = [Some(point.measurement.throughput_bytes_per_s), point.repeated_bytes_per_s];
    let all: Vec<f64> = if point.rounds_bytes_per_s.is_empty() {
        earlier.into_iter().flatten().collect()
    } else {
        point.rounds_bytes_per_s.clone()
    };
    all.into_iter().map(|rate| Rate(rate).to_string()).collect::<Vec<_>>().join(", ")
}
