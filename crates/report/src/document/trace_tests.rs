//! The page and the text of an analysed trace: whole, escaped, and with the paper beside it.

use crate::{Quantity, Style, from_json, html, joint_html, json, terminal};
use ioscape_schema::trace_summary::Breakdown;
use ioscape_schema::{Document, Outcome, TraceSummary};

/// A summary and a characterization of one made-up trace: two disks, one with a name that would act in a page, and
/// 4000 requests in bursts over three days.
fn samples() -> [Document; 2] {
    [
        include_str!("../../tests/sample/trace_summary.json"),
        include_str!("../../tests/sample/trace_characterization.json"),
    ]
    .map(|text| from_json(text, "sample").expect("the samples follow the schema"))
}

#[test]
fn the_page_has_every_figure_and_escapes_names() {
    let [page, workloads] = samples().map(|document| html(&document, Quantity::Throughput));
    for id in [
        "rates",
        "read-fraction",
        "times",
        "tails",
        "latency-map",
        "queues",
        "daily-queues",
        "idle",
        "inter-arrival",
        "dispersion",
        "sizes",
        "distances",
        "addresses-0",
        "addresses-1",
        "groups",
        "overwrites",
        "popularity",
        "absorption",
        "absorbed",
        "working-set",
        "miss-ratio",
    ] {
        assert!(page.contains(&format!(r#"<figure id="figure-{id}">"#)), "{id}");
    }
    assert!(!page.contains("<script>x") && !page.contains("<b>dd") && !page.contains('\u{1b}'));
    assert!(page.contains("142.0 ms") && page.contains("Table 4"), "the paper's values are there");
    assert!(workloads.contains("goodness"));
    assert!(!workloads.contains("<b>dd") && !workloads.contains('\u{1b}'));
    for svg in page.split("<svg").skip(1) {
        let end = svg.find("</svg>").expect("an svg ends") + "</svg>".len();
        let text = format!("<svg{}", &svg[..end]);
        roxmltree::Document::parse(&text).unwrap_or_else(|e| panic!("{e}: {}", &text[..200]));
    }
}

#[test]
fn traces_stand_side_by_side_in_every_figure() {
    let [summary, other] = samples();
    let named = [("a", &summary), ("b", &summary), ("c", &other)];
    let named = named.map(|(name, document)| (name.to_owned(), document));
    let page = joint_html(&named, &[], "0.1.0", Quantity::Throughput);
    let section = page.split("<section id=\"traces\">").nth(1).expect("the section");
    let section = section.split("</section>").next().unwrap_or_default();
    assert!(section.contains("<th scope=\"col\">b</th>") && !section.contains(">c</th>"));
    let figures: Vec<&str> = section.split("<figure").skip(1).collect();
    assert_eq!(figures.len(), 18);
    for figure in figures {
        for name in ["a", "b"] {
            assert!(figure.contains(&format!("data-name=\"{name}\"")), "{name}: {figure}");
        }
    }
    assert!(page.len() < 2 << 20, "{} bytes", page.len());
}

#[test]
fn the_text_fits_and_follows_the_breakdown() {
    let [summary, _] = samples();
    let Some(Outcome::TraceSummary(summary)) = summary.outcome else { panic!("a summary") };
    for (by, heading) in [
        (Breakdown::Partition, "Load by partition"),
        (Breakdown::Disk, "Load by disk"),
        (Breakdown::Process, "Load by process"),
    ] {
        let summary = TraceSummary { by, ..(*summary).clone() };
        let document = Document { outcome: Some(summary.into()), ..Document::default() };
        for width in [80, 120] {
            let style = Style { width, ..Style::default() };
            let text = terminal(&document, &style);
            assert!(text.contains(heading), "{text}");
            assert!(text.is_ascii() && !text.contains('\u{1b}'));
            let long =
                text.lines().find(|l| l.chars().count() > width && !l.starts_with("ioscape"));
            assert!(long.is_none(), "{long:?}");
        }
    }
}

#[test]
fn the_document_survives_the_round_trip() {
    for document in samples() {
        let text = json(&document).expect("all numbers are finite");
        assert_eq!(from_json(&text, "t").expect("it is read back"), document);
    }
}
