//! Tests that the page and text of an analysed trace are complete, escaped, and cite the paper.

use crate::{Quantity, Style, from_json, html, joint_html, json, terminal};
use ioscape_schema::trace_summary::{
    Absorption, Breakdown, Burstiness, DiskSummary, Distances, Popularity, Runs, Sequential,
    TimeStep, Timeline,
};
use ioscape_schema::{Distribution, Document, Outcome, TraceComparison, TraceSummary};

/// A summary and a characterization of one synthetic trace: 4000 requests in bursts over three
/// days.
///
/// Of its two disks, one has a name that would act in a page if not escaped.
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
    assert!(workloads.contains("goodness") && workloads.contains("--size-dist "));
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
            assert!(text.contains(heading) && text.contains("\nFormat: made up\nReq"), "{text}");
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

/// A hundred sequential writes of one size within a second, at equal intervals.
///
/// Every distribution has a single value, and nothing lasts for two time steps.
fn sequential() -> TraceSummary {
    let of =
        |max: f64| Distribution { count: 100, max, bins: vec![(max, 100)], ..Default::default() };
    let run = Runs { runs: 1, ios: 100, longest: 100, bins: vec![(100.0, 100)], ..Runs::default() };
    let distances = Distances { count: 99, bins: vec![(0.0, 99)], ..Distances::default() };
    let mut disk = DiskSummary { name: "sda".to_owned(), ..DiskSummary::default() };
    (disk.load.ios, disk.load.reads) = (100, Some(0));
    (disk.queue_length, disk.idle_ns) = (of(1.0), of(1e6));
    disk.daily_queue_mean = vec![Some(1.0)];
    disk.sequential = Some(Sequential::default());
    (disk.write_groups, disk.write_bursts) = (run.clone(), run);
    let step = TimeStep { load: disk.load, elapsed_p50_ns: Some(1e6), ..TimeStep::default() };
    let absorbed = vec![[4096.0, 1.0, 0.0]];
    let absorption = Absorption { intervals: 1, bytes: of(4096.0), absorbed, ..Default::default() };
    TraceSummary {
        ios: 100,
        last_ns: 99_000_000,
        inter_arrival_ns: of(1e6),
        distances,
        disks: vec![disk],
        over_time: Timeline { step_ns: 1_000_000_000, start_ns: 0, steps: vec![step] },
        popularity: Popularity { blocks_written: 1, curve: vec![(1, 1.0)], ..Default::default() },
        absorption: vec![absorption],
        burstiness: Burstiness { dispersion: vec![(1_000_000, 2.0)], ..Burstiness::default() },
        ..TraceSummary::default()
    }
}

#[test]
fn the_lines_of_a_sequential_trace_lead_somewhere() {
    let document = |outcome: Outcome| Document { outcome: Some(outcome), ..Document::default() };
    let comparison =
        TraceComparison { traces: [sequential(), sequential()], ..TraceComparison::default() };
    let documents = [document(sequential().into()), document(comparison.into())];
    let mut pages = documents.each_ref().map(|one| html(one, Quantity::Throughput)).to_vec();
    let named = ["a", "b"].map(|name| (name.to_owned(), &documents[0]));
    pages.push(joint_html(&named, &[], "0.1.0", Quantity::Throughput));
    for (page, among) in pages.iter().zip(["", "", "traces-"]) {
        for id in ["inter-arrival", "distances", "groups", "popularity", "absorbed", "queues"] {
            assert!(page.contains(&format!("figure-{among}{id}\"")), "{among}{id}");
        }
        for id in ["daily-queues", "rates", "tails", "dispersion"] {
            assert!(!page.contains(&format!("-{id}\"")), "{id}");
        }
        for line in page.split(r#"<path class="line" d=""#).skip(1) {
            let line = line.split('"').next().unwrap_or_default();
            assert!(line.contains(['L', 'H']), "{line}");
        }
    }
}

#[test]
fn values_of_0_are_told_where_an_axis_has_no_place_for_them() {
    let page = |bins: Vec<(f64, u64)>| {
        let inter_arrival_ns = Distribution { count: 100, max: 1e6, bins, ..Default::default() };
        let trace = TraceSummary { inter_arrival_ns, ..sequential() };
        let document = Document { outcome: Some(trace.into()), ..Document::default() };
        html(&document, Quantity::Throughput)
    };
    let told = page(vec![(0.0, 75), (1e6, 25)]);
    assert!(told.contains("Lines begin at the share of values that are 0: cumulative at 75 %."));
    let drawn = told.split(r#"<figure id="figure-inter-arrival">"#).nth(1).expect("a figure");
    let drawn = drawn.split("</figure>").next().unwrap_or_default();
    let lines = drawn.split(r#"<path class="line" d=""#).skip(1);
    let paths = lines.filter_map(|line| line.split('"').next());
    assert_eq!(paths.filter(|path| path.contains('L')).count(), 4, "two lines in two sizes");
    let none = page(vec![(0.0, 100)]);
    assert!(!none.contains("figure-inter-arrival"), "nothing can be drawn");
}
