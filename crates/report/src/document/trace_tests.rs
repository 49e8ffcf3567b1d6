//! The page and the text of an analysed trace: whole, escaped, and with the paper beside it.

use crate::{Style, from_json, html, json, terminal};
use ioscape_schema::{
    Device, Document, Io, IoFlags, IoType, Op, Outcome, Request, SCHEMA, TraceInfo, TraceSummary,
    trace_summary::Breakdown,
};
use ioscape_trace::analyze::{Analysis, Options};
use ioscape_trace::characterize::Characterizer;

/// Two disks, one with a name that would act in a page, 4000 requests in bursts over three days.
fn samples() -> [Document; 2] {
    let row = |i: u64| {
        let x = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let queued_ns = i / 5 * 324_000_000_000 + i % 5 * 4_000_000;
        let op = if x >> 60 < 6 { Op::Read } else { Op::Write };
        Io {
            request: Request { op, offset: (x >> 40) % 500 * 8192, len: 4096 << (x >> 20 & 1) },
            queued_ns,
            issued_ns: queued_ns + 1_000_000,
            completed_ns: queued_ns + 9_000_000 + (x >> 44),
            device: (x >> 30 & 1) as u16,
            process: (x >> 28 & 3) as u32,
            command: (x >> 28 & 1) as u32,
            flags: if x & 1024 == 0 { IoFlags::SYNC } else { IoFlags::ASYNC },
            io_type: IoType::ALL[(x >> 16 & 7) as usize],
            ..Io::default()
        }
    };
    let rows: Vec<Io> = (0..4000).map(row).collect();
    let device = |name: &str| Device { name: name.to_owned(), ..Device::default() };
    let info = TraceInfo {
        format: "made up".to_owned(),
        devices: vec![device("plain"), device("<script>x</script>\u{1b}[31m")],
        commands: vec![String::new(), "<b>dd</b>".to_owned()],
        ..TraceInfo::default()
    };
    let mut analysis = Analysis::new(&Options::default());
    analysis.update(&rows);
    let mut workloads = Characterizer::new(8192, None);
    workloads.update(&rows);
    let document = |outcome: Outcome| Document {
        schema: SCHEMA.to_owned(),
        outcome: Some(outcome),
        ..Document::default()
    };
    [
        document(analysis.finish("sample <trace>", &info).into()),
        document(workloads.finish("sample <trace>", &info).into()),
    ]
}

#[test]
fn the_page_has_every_figure_and_escapes_names() {
    let [page, workloads] = samples().map(|document| html(&document));
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
