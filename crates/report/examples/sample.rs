//! Writes the sample document of the tests in any format, for viewing: `sample html > page.html`.

#[path = "../tests/sample/mod.rs"]
mod sample;

use ioscape_report::{Quantity, Style, csv, html, json, landscape_svg, terminal};
use ioscape_schema::Document;
use std::io::Write;

/// A name on the command line, and its document.
type Named = (&'static str, fn() -> Document);

const DOCUMENTS: [Named; 10] = [
    ("clients", sample::evaluated_by_clients),
    ("runs", sample::measured),
    ("predictions", sample::predicted),
    ("comparison", sample::compared),
    ("validation", sample::validated),
    ("characterization", sample::characterized),
    ("os", sample::micro_benchmarks),
    ("simulation", sample::simulated),
    ("flash", sample::simulated_flash),
    ("interrupted", sample::interrupted),
];

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let named = DOCUMENTS.iter().find(|(word, _)| has(word));
    let document = named.map_or_else(sample::with_all_parameters, |(_, document)| document());
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
