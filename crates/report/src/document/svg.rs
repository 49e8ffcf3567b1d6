//! Draws the landscape of a system as one standalone picture, for a README or a slide.

use super::joint::with_unique_names;
use super::key::{self, EDGE};
use crate::html::figure::swatch;
use crate::outcome;
use crate::overlay::{EvaluatedSystem, over_sets};
use crate::plot::{Chart, Frame, text_width};
use crate::quantity::Quantity;
use crate::text::{esc, inert, short_time, shortened};
use ioscape_schema::Document;
use std::fmt::Write as _;

const STYLE: &str = include_str!("../plot/chart.css");
const WIDTH: f64 = 1120.0;
const HEIGHT: f64 = 540.0;
/// Where the chart begins, below the title and subtitle.
const TOP: f64 = 84.0;

/// Several evaluated systems in one picture, with a line for each (self-scaling figure 10).
///
/// It shows the quantity against the size of the set, with the mix of the focal vectors. `None` if
/// fewer than two of the documents hold an evaluation.
pub fn joint_svg(named: &[(String, &Document)], quantity: Quantity) -> Option<String> {
    let named = with_unique_names(named);
    let systems = named.iter().filter_map(|(name, document)| EvaluatedSystem::of(name, document));
    let systems: Vec<EvaluatedSystem> = systems.collect();
    if systems.len() < 2 {
        return None;
    }
    let chart = over_sets(quantity, "Half reads", &systems, |one| &one.unique_bytes_curve);
    let title = format!("{} systems", systems.len());
    let about = format!("{} against the size of the set, half reads", quantity.heading());
    Some(picture(&title, &about, &chart?))
}

/// The quantity against the size of the set, with regions and borders, as a standalone SVG.
///
/// The picture has its own background and both themes, so it is readable on white and dark pages.
/// `None` if the document has nothing to draw: neither an evaluation with a measured point nor
/// rated micro-benchmarks.
pub fn landscape_svg(document: &Document, quantity: Quantity) -> Option<String> {
    let subject = outcome::subject(document);
    let subject = inert(&subject);
    let name = shortened(&subject, NAME_MOST);
    Some(picture(&name, &subtitle(document), &chart(document, quantity)?))
}

fn picture(title: &str, subtitle: &str, chart: &Chart) -> String {
    let signed = chart.series.iter().map(|series| (esc(&series.name), swatch(series)));
    let signed: Vec<(String, String)> = signed.collect();
    let key: Vec<_> = signed.iter().map(|(name, sign)| (&**name, &**sign)).collect();
    let beside = WIDTH - EDGE - key::width(&key);
    // The title is about half as large again as the text that `text_width` assumes.
    let has_room = beside > EDGE + text_width(title) * 1.6;
    let place = if has_room { [beside, 42.0] } else { [EDGE, 88.0] };
    // Beside the title, the legend ends at the edge, apart from rounding.
    let (key, rows) = key::rows(&key, WIDTH + 1.0, place);
    let top = TOP + if has_room { 0.0 } else { key::ROW * rows as f64 };
    let frame = Frame { width: WIDTH - 2.0 * EDGE, height: HEIGHT - TOP - EDGE / 2.0 };
    let mut out = sheet(WIDTH, HEIGHT + top - TOP);
    let _ = write!(
        out,
        r#"<text class="head" x="{EDGE}" y="42">{}</text><text class="sub" x="{EDGE}" y="64">{}</text>"#,
        esc(title),
        esc(subtitle)
    );
    let Frame { width, height } = frame;
    let place = format!(r#"<svg x="{EDGE}" y="{top}" width="{width}" height="{height}" "#);
    out.push_str(&key);
    out.push_str(&chart.svg(frame, "").replacen("<svg ", &place, 1));
    out.push_str("</svg>\n");
    out
}

/// The beginning of a standalone picture: its style, and the sheet behind everything.
pub(super) fn sheet(width: f64, height: f64) -> String {
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Arial, sans-serif"><style>{STYLE}.sheet {{ fill: var(--card); stroke: var(--line); }} .head {{ fill: var(--ink); font-size: 19px; font-weight: 650; }} .sub, .key {{ fill: var(--soft); font-size: 13px; }}</style><rect class="sheet" x="0.5" y="0.5" width="{}" height="{}" rx="12"/>"#,
        width - 1.0,
        height - 1.0,
    )
}

fn chart(document: &Document, quantity: Quantity) -> Option<Chart> {
    outcome::of(document)?.chart(quantity).filter(Chart::has_points)
}

/// The longest name, in characters, that leaves room for a short legend beside it.
const NAME_MOST: usize = 56;

fn subtitle(document: &Document) -> String {
    let environment = &document.environment;
    let parts = [
        Some(short_time(&document.started_at)),
        environment.file_system.clone(),
        environment.device.clone(),
        environment.kernel.clone(),
        Some(format!("ioscape {}", document.tool.version)),
    ];
    let known: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    known.join("  \u{b7}  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn nothing_to_draw_is_no_picture() {
        assert_eq!(landscape_svg(&sample::measured(), Quantity::Throughput), None);
        let mut unrated = sample::micro_benchmarks();
        if let Some(ioscape_schema::Outcome::Os(results)) = &mut unrated.outcome {
            results.benchmarks.retain(|one| one.name == "cswitch");
            (results.mips, results.dhrystone_mips) = (None, None);
            results.benchmarks.iter_mut().for_each(|one| one.mips_relative = None);
            results.geometric_mean_mips_relative = None;
        }
        assert_eq!(landscape_svg(&unrated, Quantity::Throughput), None);
    }

    #[test]
    fn the_picture_stands_alone_and_is_well_formed() {
        assert_eq!(landscape_svg(&sample::interrupted(), Quantity::Latency), None, "no point yet");
        for document in [sample::evaluated(), sample::micro_benchmarks()] {
            let svg = landscape_svg(&document, Quantity::Latency).expect("points");
            roxmltree::Document::parse(&svg).unwrap();
            assert_eq!(svg.matches("http").count(), 1, "only the name space");
            assert!(!svg.contains("<script"));
        }
        let figure = landscape_svg(&sample::micro_benchmarks(), Quantity::Throughput);
        let figure = figure.expect("a rating");
        roxmltree::Document::parse(&figure).unwrap();
        assert!(figure.contains("ten machines of 1990"));
        let key = figure.split("<g class=\"legend\">").skip(1);
        let signs: Vec<&str> = key.filter_map(|rest| rest.split("</g>").next()).collect();
        let is_symbol = |sign: &&str| sign.contains("class=\"pt\"") && !sign.contains("\"line\"");
        assert!(signs.len() == 2 && signs.iter().all(is_symbol), "{signs:?}");
        let landscape = landscape_svg(&sample::evaluated(), Quantity::Iops).expect("points");
        assert!(landscape.contains("write 26 MiB"));
        let document = sample::evaluated();
        let named = ["here", "there"].map(|name| (name.to_owned(), &document));
        let both = joint_svg(&named, Quantity::Iops).unwrap();
        roxmltree::Document::parse(&both).unwrap();
        assert!(both.contains("2 systems") && both.contains(">here<") && both.contains(">there<"));
        assert!(joint_svg(&named[..1], Quantity::Iops).is_none());
        let equal = ["here", "here"].map(|name| (name.to_owned(), &document));
        let told_apart = joint_svg(&equal, Quantity::Iops).unwrap();
        assert!(told_apart.contains(">here<") && told_apart.contains(">here (2)<"));
        assert_eq!(shortened(&"x".repeat(200), NAME_MOST).chars().count(), 56);
    }
}
