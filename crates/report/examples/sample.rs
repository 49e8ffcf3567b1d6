//! Writes the sample document of the tests in any format, to look at: `sample html > page.html`.

#[path = "../tests/sample/mod.rs"]
mod sample;

use ioscape_report::{Quantity, Style, csv, html, json, landscape_svg, terminal};
use std::io::Write;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let document = if has("clients") {
        sample::evaluated_by_clients()
    } else if has("runs") {
        sample::measured()
    } else if has("predictions") {
        sample::predicted()
    } else if has("comparison") {
        sample::compared()
    } else if has("validation") {
        sample::validated()
    } else if has("characterization") {
        sample::characterized()
    } else if has("os") {
        sample::micro_benchmarks()
    } else if has("simulation") {
        sample::simulated()
    } else if has("flash") {
        sample::simulated_flash()
    } else if has("interrupted") {
        sample::interrupted()
    } else {
        sample::with_all_parameters()
    };
    let width = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(80);
    let named = |quantity: &Quantity| has(quantity.word());
    let quantity = Quantity::ALL.into_iter().find(named).unwrap_or_default();
    let style = Style {
        width,
        colour: has("colour"),
        unicode: !has("ascii"),
        quantity,
        markdown: has("markdown"),
    };
    let text = if has("html") {
        html(&document, quantity)
    } else if has("svg") {
        landscape_svg(&document, quantity).unwrap_or_default()
    } else if has("json") {
        json(&document).unwrap_or_else(|error| error.to_string())
    } else if has("csv") {
        csv(&document).unwrap_or_default()
    } else {
        terminal(&document, &style)
    };
    std::io::stdout().write_all(text.as_bytes())
}
