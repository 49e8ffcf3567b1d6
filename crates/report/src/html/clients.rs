//! An evaluation by several clients on the page.
//!
//! It shows their sum against their number, the share of each, whose cache ends where, and
//! stragglers.

use super::figure::{Figure, chosen, legend, two_sizes};
use super::tables::table;
use super::values::{Values, sentences};
use crate::clients::borders::whose_cache;
use crate::clients::curve::{self, EVENNESS, EVENNESS_NOTE};
use crate::clients::measured::number;
use crate::clients::{TIMES_NOTE, by_region, by_region_head};
use crate::levels::{self, Standing};
use crate::plot::{Frame, Scale};
use ioscape_schema::Evaluation;
use ioscape_schema::units::Bytes;

const LOW: Frame = Frame { width: 1080.0, height: 340.0 };
const SCALES: &[Scale] = &[Scale::Log10, Scale::Linear];

/// The section; empty for a single machine.
pub fn section(evaluation: &Evaluation) -> String {
    let Some(clients) = number(evaluation) else { return String::new() };
    let mut out = format!(
        r#"<h2>Clients</h2><p class="lead">{clients} clients loaded the same storage at the same time, each with a set of its own: throughput is their
        sum, and sizes of sets are those of one client. {TIMES_NOTE}</p>"#
    );
    let told = curve::stragglers(evaluation);
    out += &sentences("straggler", (1..).zip(told.iter().map(String::as_str)));
    out += &together(evaluation);
    out += &each(evaluation);
    let rows = curve::evenness(evaluation);
    if !rows.is_empty() {
        let note = format!(r#"<p class="lead">{EVENNESS_NOTE}</p>"#);
        let rows = table("cards", &EVENNESS, rows.into_iter());
        out += &format!("<h3>How evenly they were served</h3>{note}{rows}");
    }
    out + &borders(evaluation, clients)
}

fn together(evaluation: &Evaluation) -> String {
    let figure = Figure {
        id: "client-num",
        title: &format!("{} of all clients against their number", chosen()),
        caption: "At each region's focal vector. Where a line is level, one client already gets what all get together.",
        scales: SCALES,
    };
    figure.of_curve(|quantity| curve::together(evaluation, quantity), LOW)
}

/// Every single client as a picture; the table behind it names the clients.
fn each(evaluation: &Evaluation) -> String {
    let Some(chart) = curve::each(evaluation) else { return String::new() };
    let figure = Figure {
        id: "client-spread",
        title: "Throughput of each client",
        caption: "A point is a client, its bar the 95 % interval. A diamond straggles: its whole interval is below 80 % of the median client.",
        scales: SCALES,
    };
    let values = Values::table("", &by_region_head(evaluation), by_region(evaluation));
    figure.html(
        |scale| two_sizes(&chart.clone().with_y_scale(scale), LOW),
        &legend(&chart.series, ""),
        &values,
    )
}

/// Where caches end, for one client and for all, and whose caches they are.
fn borders(evaluation: &Evaluation, clients: usize) -> String {
    if evaluation.borders.is_empty() {
        return String::new();
    }
    let head =
        ["Border", "Of one client", "At least", "At most", "Of all clients", "Whose cache", "What"];
    let rows = levels::borders(evaluation).into_iter().map(|one| {
        let standing = Standing::of(evaluation, one);
        let bytes = |value: f64| Bytes(value).to_string();
        vec![
            one.operation.word().to_owned(),
            bytes(one.unique_bytes),
            standing.if_there(bytes(one.low)),
            standing.if_there(bytes(one.high)),
            bytes(one.unique_bytes * clients as f64),
            whose_cache(evaluation, one).to_owned(),
            standing.words().to_owned(),
        ]
    });
    format!(
        r#"<h3>Whose cache ends where</h3><p class="lead">The clients' own: throughput falls where sets stop staying in their caches, and what stays is
        as large as the border. Behind the clients: it falls more than their misses explain, or their caches take no part.</p>{}"#,
        table("cards", &head, rows)
    )
}
