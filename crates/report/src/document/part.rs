//! Finds a part of a page by name, or the picture of a whole result; errors list what there is.

use super::figure_svg::{figure_names, figure_svg};
use super::page::html;
use super::svg::landscape_svg;
use super::table_csv::{table_csv, table_names};
use crate::quantity::Quantity;
use ioscape_schema::Document;

/// The table with this name on a page of ours, as comma-separated values.
///
/// # Errors
/// If the page has no such table: a sentence that names those it has.
pub fn named_table(page: &str, name: &str) -> Result<String, String> {
    table_csv(page, name).ok_or_else(|| absent("table", name, &table_names(page)))
}

/// The figure with this name on a page of ours, as a standalone SVG.
///
/// It shows `quantity` if the page offers that choice.
///
/// # Errors
/// If the page has no such figure: a sentence that names those it has.
pub fn named_figure(page: &str, name: &str, quantity: Quantity) -> Result<String, String> {
    figure_svg(page, name, quantity).ok_or_else(|| absent("figure", name, &figure_names(page)))
}

/// The landscape of an evaluation, or the speeds of rated micro-benchmarks, as a standalone SVG.
///
/// # Errors
/// If the result has no picture of the whole: a sentence that names the figures of its page.
pub fn landscape(document: &Document, quantity: Quantity) -> Result<String, String> {
    landscape_svg(document, quantity).ok_or_else(|| {
        let names = figure_names(&html(document, quantity)).join(", ");
        match names.is_empty() {
            true => "this result has nothing to draw: --json has all its numbers".to_owned(),
            false => format!(
                "this result has no picture of the whole: add --figure NAME for one of its page ({names})"
            ),
        }
    })
}

fn absent(part: &str, name: &str, names: &[String]) -> String {
    match names.is_empty() {
        true => format!("the page of this result has no {part}s"),
        false => format!("the page has no {part} {name}: give {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn what_is_not_there_is_told_with_what_is() {
        let quantity = Quantity::default();
        let page = html(&sample::evaluated(), quantity);
        assert!(landscape(&sample::evaluated(), quantity).unwrap().starts_with("<svg"));
        for name in figure_names(&page) {
            assert!(named_figure(&page, &name, quantity).is_ok(), "{name}");
        }
        let why = named_table(&page, "no-such").unwrap_err();
        assert!(why.starts_with("the page has no table no-such: give "), "{why}");
        assert_eq!(
            named_figure("", "a", quantity).unwrap_err(),
            "the page of this result has no figures"
        );
    }
}
