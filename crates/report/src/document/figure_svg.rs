//! Extracts any figure of a page as a standalone picture.

use super::key::{self, EDGE};
use super::svg::sheet;
use crate::html::figure::class_of;
use crate::quantity::Quantity;
use std::fmt::Write as _;

/// Where the charts begin, below the heading and a legend of one row.
const TOP: f64 = 84.0;
/// The gap between two charts.
const GAP: f64 = 16.0;
/// How a figure begins on the page; its name follows.
const FIGURE: &str = r#"<figure id="figure-"#;

/// The names of the figures on a page of ours, in order.
pub fn figure_names(page: &str) -> Vec<String> {
    let names = page.split(FIGURE).skip(1).filter_map(|rest| rest.split('"').next());
    names.map(str::to_owned).collect()
}

/// The figure with this name as a standalone SVG; `None` if the page has no such figure.
///
/// It shows the figure as the page does initially, or with `quantity` if the page offers that
/// choice. It has a background and both themes.
pub fn figure_svg(page: &str, name: &str, quantity: Quantity) -> Option<String> {
    let figure = between(page, &format!("{FIGURE}{name}\""), "</figure>")?;
    let heading = between(figure, "<h3>", "<a ").or_else(|| between(figure, "<h3>", "</h3>"));
    let class = format!(r#"class="view {}""#, class_of(quantity));
    let view = figure.split(&class).nth(1).unwrap_or(figure);
    let view = view.split(r#"<div class="view "#).next().unwrap_or(view);
    let charts = charts(first_scale(view));
    let legend = between(view, r#"<ul class="legend">"#, "</ul>").map_or_else(Vec::new, names);
    let width = arranged(&charts, TOP).1 + 2.0 * EDGE;
    let (key, rows) = key::rows(&legend, width, [EDGE, 66.0]);
    let top = TOP + key::ROW * rows.saturating_sub(1) as f64;
    let (placed, _, height) = arranged(&charts, top);
    let mut out = sheet(width, top + height + EDGE / 2.0);
    let heading = without_tags(&of_quantity(heading.unwrap_or_default(), quantity));
    let _ = write!(out, r#"<text class="head" x="{EDGE}" y="42">{heading}</text>"#);
    Some(out + &key + &placed + "</svg>\n")
}

/// Removes the parts of the HTML that are about other quantities than the one shown.
fn of_quantity(html: &str, shown: Quantity) -> String {
    let mut out = html.to_owned();
    for other in Quantity::ALL.into_iter().filter(|quantity| *quantity != shown) {
        let mark = format!(r#"<span class="{}">"#, class_of(other));
        while let Some((before, rest)) = out.split_once(&mark) {
            out = format!("{before}{}", rest.split_once("</span>").map_or("", |(_, rest)| rest));
        }
    }
    out
}

/// The text between the first occurrence of `from` and the next one of `to`.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(from)?;
    Some(rest.split_once(to)?.0)
}

/// The part of the view for the first of the scales that a reader can choose from.
fn first_scale(view: &str) -> &str {
    let mark = r#"<div class="y-"#;
    let rest = view.split_once(mark).map_or(view, |(_, rest)| rest);
    rest.split(mark).next().unwrap_or(rest)
}

/// A chart with its size.
struct Placed<'a> {
    /// The text after `<svg `.
    text: &'a str,
    width: f64,
    height: f64,
}

/// The charts of a figure, without the variants for narrow screens and the swatches of legends.
fn charts(view: &str) -> Vec<Placed<'_>> {
    let all = view.split("<svg ").skip(1).filter_map(|rest| {
        let (text, _) = rest.split_once("</svg>")?;
        let class = between(text, r#"class=""#, "\"")?;
        let is_shown = class.starts_with("plot") && !class.ends_with("narrow");
        let mut size = between(text, r#"viewBox="0 0 "#, "\"")?.split(' ').map(str::parse);
        match (is_shown, size.next()?, size.next()?) {
            (true, Ok(width), Ok(height)) => Some(Placed { text, width, height }),
            _ => None,
        }
    });
    all.collect()
}

/// Arranges the charts from `top` down, in as many columns as fit; also returns the size of the
/// whole.
fn arranged(charts: &[Placed<'_>], top: f64) -> (String, f64, f64) {
    // Room for four of the smallest charts side by side, as on the page.
    const MOST: f64 = 1100.0;
    let (mut x, mut y, mut row, mut wide) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
    let mut out = String::new();
    for chart in charts {
        let Placed { text, width, height } = chart;
        if x > 0.0 && x + width > MOST {
            (x, y, row) = (0.0, y + row + GAP, 0.0);
        }
        let (left, top) = (EDGE + x, top + y);
        let _ = write!(
            out,
            r#"<svg x="{left}" y="{top}" width="{width}" height="{height}" {text}</svg>"#
        );
        wide = wide.max(x + width);
        (x, row) = (x + width + GAP, row.max(*height));
    }
    (out, wide, y + row)
}

/// The names of the series and their signs, as in the legend.
fn names(legend: &str) -> Vec<(&str, &str)> {
    let items = legend.split(r#"<li data-name=""#).skip(1);
    items
        .filter_map(|item| Some((item.split('"').next()?, between(item, "<svg ", "</svg>")?)))
        .collect()
}

/// Removes the tags from HTML.
pub(super) fn without_tags(html: &str) -> String {
    let mut out = String::new();
    let mut is_tag = false;
    for c in html.chars() {
        match c {
            '<' => is_tag = true,
            '>' => is_tag = false,
            _ if !is_tag => out.push(c),
            _ => {}
        }
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::html;
    use crate::sample;

    #[test]
    fn every_figure_of_every_kind_stands_alone_and_is_well_formed() {
        let mut seen = 0;
        for document in sample::hostile() {
            let page = html(&document, Quantity::default());
            for name in figure_names(&page) {
                let svg = figure_svg(&page, &name, Quantity::default()).unwrap();
                let parsed =
                    roxmltree::Document::parse(&svg).unwrap_or_else(|e| panic!("{name}: {e}"));
                let charts = parsed.root_element().children().filter(|c| c.has_tag_name("svg"));
                assert!(charts.count() > 0 || !svg.contains("plot"), "{name} is empty");
                assert!(!svg.contains("<script") && !svg.contains("narrow\""), "{name}");
                seen += 1;
            }
        }
        assert!(seen > 20, "only {seen} figures");
        assert_eq!(figure_svg("", "no-such", Quantity::default()), None);
    }

    #[test]
    fn a_figure_has_its_heading_its_legend_and_the_quantity_asked_for() {
        let page = html(&sample::evaluated(), Quantity::Iops);
        let svg = figure_svg(&page, "unique-bytes", Quantity::Iops).unwrap();
        assert!(
            svg.contains("against the size of the set") && svg.contains("class=\"key\""),
            "{svg}"
        );
        assert!(!svg.contains("throughput, "), "of requests, not of bytes");
        let key = between(&svg, "<g class=\"legend\">", "</g>").expect("a sign");
        assert!(key.contains("class=\"line\"") && key.contains("class=\"pt\""), "{key}");
        assert_eq!(without_tags("<b>a</b> c "), "a c");
    }
}
