//! Results of models for a terminal: predictions, comparisons of systems, and errors of
//! predictions.

use super::application;
use super::chart::{picture, small};
use super::ink::Style;
use super::tables::{Column, table};
use crate::accuracy::{self, PERFECT};
use crate::text::{certainty, chosen as chosen_system, how, label, percent, ratio, verdict};
use ioscape_schema::units::{Bytes, Count, Nanos, Rate};
use ioscape_schema::{Cheapest, Comparison, ErrorFigures, Prediction, Validation, Workload};

fn headed(heading: &str, body: &str, style: &Style) -> String {
    format!("\n{}\n{body}", style.long_heading(heading))
}

fn note(style: &Style, text: &str) -> String {
    style.paragraph("  ", "  ", text)
}

/// The five parameters of named workloads, one row each.
fn workloads(all: &[(String, &Workload)], style: &Style) -> String {
    let each = |cell: fn(&Workload) -> String| all.iter().map(move |(_, one)| cell(one));
    let mut columns = vec![
        Column::words("Workload", all.iter().map(|(name, _)| name.clone())),
        Column::numbers("Set", each(|w| Bytes(w.unique_bytes as f64).to_string())),
        Column::numbers("Size", each(|w| Bytes(w.size_mean as f64).to_string())),
        Column::numbers("Reads", each(|w| percent(w.read_frac))),
        Column::numbers("Seq.", each(|w| percent(w.seq_frac))),
        Column::numbers("Proc.", each(|w| w.process_num.to_string())),
    ];
    if all.iter().any(|(_, one)| !how(one).is_empty()) {
        columns.push(Column::words("How", each(|w| how(w).join(", "))));
    }
    headed("Workloads", &table(&columns, style), style)
}

/// The remark on intervals if a row is extrapolated.
const GUESS: &str = "; where the note says extrapolated it is a guess";

fn noted(extrapolated: impl Iterator<Item = bool>) -> Option<Column> {
    let marks: Vec<bool> = extrapolated.collect();
    let word = |mark: bool| if mark { "extrapolated" } else { "" }.to_owned();
    marks.contains(&true).then(|| Column::words("Note", marks.into_iter().map(word)))
}

/// The predictions, in a table per system.
pub fn predictions(all: &[Prediction], style: &Style) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut out = String::new();
    let mut before: Vec<(String, Workload)> = Vec::new();
    for system in all.chunk_by(|a, b| a.system == b.system) {
        let names = system.iter().enumerate();
        let asked: Vec<(String, &Workload)> =
            names.map(|(index, one)| (label(one.name.as_ref(), index), &one.workload)).collect();
        if !asked.iter().map(|(name, w)| (name, *w)).eq(before.iter().map(|(n, w)| (n, w))) {
            out += &workloads(&asked, style);
        }
        out += &headed(
            &format!("Predicted on {}", system[0].system),
            &predicted(system, &asked, style),
            style,
        );
        out.extend(system.iter().map(|one| application::forecast(one, style)));
        before = asked.into_iter().map(|(name, w)| (name, w.clone())).collect();
    }
    let guess = if all.iter().any(|one| one.extrapolated) { GUESS } else { "" };
    let text = "From, to: the 90 % prediction interval";
    out + &note(style, &format!("{text}{guess}."))
}

fn predicted(all: &[Prediction], names: &[(String, &Workload)], style: &Style) -> String {
    let each = |cell: fn(&Prediction) -> String| all.iter().map(cell);
    let mut columns = vec![
        Column::words("Workload", names.iter().map(|(name, _)| name.clone())),
        Column::numbers("Throughput", each(|p| Rate(p.throughput_bytes_per_s).to_string())),
        Column::numbers("From", each(|p| Rate(p.interval90[0]).to_string())),
        Column::numbers("To", each(|p| Rate(p.interval90[1]).to_string())),
        Column::numbers("IOPS", each(|p| Count(p.iops).to_string())),
        Column::numbers("Response", each(|p| Nanos(p.response_time_ns).to_string())),
        Column::words("Region", each(|p| p.region.clone())),
    ];
    columns.extend(noted(all.iter().map(|p| p.extrapolated)));
    table(&columns, style)
}

/// The ratios of throughput, in a table per pair of systems.
pub fn comparison(all: &[Comparison], style: &Style) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut out = String::new();
    for (pair, one) in all.chunk_by(|a, b| a.systems == b.systems).enumerate() {
        let asked: Vec<(String, &Workload)> = one
            .iter()
            .enumerate()
            .map(|(index, c)| (label(c.name.as_ref(), index), &c.workload))
            .collect();
        if pair == 0 {
            out += &workloads(&asked, style);
        }
        let [this, other] = &one[0].systems;
        out += &headed(&format!("{this} against {other}"), &compared(one, &asked, style), style);
    }
    let guess = if all.iter().any(|one| one.extrapolated) { GUESS } else { "" };
    let text =
        "Ratio: throughput over that of the other system; from, to: its 90 % prediction interval";
    out + &note(
        style,
        &format!(
            "{text}{guess}. Cannot be told: that interval is a guess, or the 99 % interval, which is half as wide again, includes 1."
        ),
    )
}

fn compared(all: &[Comparison], names: &[(String, &Workload)], style: &Style) -> String {
    let each = |cell: fn(&Comparison) -> String| all.iter().map(cell);
    let mut columns = vec![
        Column::words("Workload", names.iter().map(|(name, _)| name.clone())),
        Column::numbers("Throughput", each(|c| Rate(c.throughput_bytes_per_s[0]).to_string())),
        Column::numbers("Other", each(|c| Rate(c.throughput_bytes_per_s[1]).to_string())),
        Column::numbers("Ratio", each(|c| ratio(c.ratio))),
        Column::numbers("From", each(|c| ratio(c.interval90[0]))),
        Column::numbers("To", each(|c| ratio(c.interval90[1]))),
        Column::words("Verdict", each(|c| verdict(c).to_owned())),
    ];
    columns.extend(noted(all.iter().map(|c| c.extrapolated)));
    let ratios = table(&columns, style);
    if all.iter().all(|c| c.throughput_per_price.is_none()) {
        return ratios;
    }
    let per_price = |index: usize| {
        let cell = move |both: [f64; 2]| Rate(both[index]).to_string();
        all.iter().map(move |c| c.throughput_per_price.map_or_else(|| "-".into(), cell))
    };
    let price_ratio = |cell: fn(f64, [f64; 2]) -> f64| {
        let cell = move |(at, ends)| ratio(cell(at, ends));
        all.iter().map(move |c| c.price_ratio().map_or_else(|| "-".into(), cell))
    };
    let columns = [
        Column::words("Workload", names.iter().map(|(name, _)| name.clone())),
        Column::numbers("Throughput per price", per_price(0)),
        Column::numbers("Other", per_price(1)),
        Column::numbers("Ratio", price_ratio(|at, _| at)),
        Column::numbers("From", price_ratio(|_, [low, _]| low)),
        Column::numbers("To", price_ratio(|_, [_, high]| high)),
    ];
    format!("{ratios}\n{}", table(&columns, style))
}

/// The cheapest system for each workload.
pub fn cheapest(all: &[Cheapest], style: &Style) -> String {
    if all.is_empty() {
        return String::new();
    }
    let names = all.iter().enumerate().map(|(index, one)| label(one.name.as_ref(), index));
    let chosen = |cell: fn(&ioscape_schema::Choice) -> String| {
        all.iter().map(move |one| one.choice.as_ref().map_or_else(|| "-".to_owned(), cell))
    };
    let columns = [
        Column::words("Workload", names),
        Column::words("Cheapest", all.iter().map(chosen_system)),
        Column::numbers("Price", chosen(|c| c.price.to_string())),
        Column::numbers("Throughput", chosen(|c| Rate(c.throughput_bytes_per_s).to_string())),
        Column::words("Certain", all.iter().map(certainty)),
    ];
    let heading = format!("Cheapest with at least {}", Rate(all[0].at_least_bytes_per_s));
    headed(&heading, &table(&columns, style), style)
}

/// The errors of the predictions of each model.
pub fn validation(one: &Validation, style: &Style) -> String {
    let models = accuracy::models(one);
    let each = |cell: fn(&ErrorFigures) -> String| models.iter().map(move |(_, one)| cell(one));
    let or_not = |told: Option<String>| told.unwrap_or_else(|| "-".to_owned());
    let below =
        |at: usize| models.iter().map(move |(_, m)| or_not(accuracy::below(one, m)[at].take()));
    let columns = [
        Column::words("Model", models.iter().map(|(name, _)| (*name).to_owned())),
        Column::numbers("Median error", each(|m| percent(m.median_error))),
        Column::numbers("75 % below", below(0)),
        Column::numbers("90 % below", below(1)),
        Column::numbers(
            "Off borders",
            models.iter().map(|(_, m)| or_not(m.enhanced_median_error.map(percent))),
        ),
        Column::numbers(
            "In interval",
            models.iter().map(|(_, m)| or_not(accuracy::coverage(one, m))),
        ),
    ];
    let heading = format!("Predictions of {} random workloads", one.workloads);
    let mut out = headed(&heading, &table(&columns, style), style);
    out += &note(
        style,
        "Error: |predicted - measured| / measured. Off borders: median without the workloads near a border. In interval: share \
         of the measurements that the 90 % interval holds.",
    );
    if let Some(error) = one.repeatability_error {
        let times = one.error_over_repeatability.map_or_else(String::new, |times| {
            format!(" The default model's median error is {times:.1} times that difference.")
        });
        let text = format!(
            "The same workload, measured twice, differs by {} (median): {PERFECT}.{times}",
            percent(error)
        );
        out += &note(style, &text);
    }
    out + &charts(one, style)
}

fn charts(one: &Validation, style: &Style) -> String {
    let mut out = String::new();
    if let Some(chart) = accuracy::scatter(one) {
        let body = picture(&chart, style.columns().min(100), 18, style);
        out += &headed("Predicted against measured", &body, style);
    }
    let count = if style.columns() < 64 { 1 } else { 2 };
    let drawn = small(&accuracy::errors(one), count, style);
    if !drawn.is_empty() {
        out += &headed("Error against each parameter", &drawn, style);
    }
    out
}
