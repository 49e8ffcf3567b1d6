//! Tests that campaigns and runs of `vxbench` are complete, harmless and well formed in every
//! format.

use ioscape_report::{Quantity, Style, csv, from_json, html, json, terminal};
use ioscape_schema::{
    CampaignCell, CampaignColumn, CampaignReference, CampaignResult, CampaignRow, CampaignSample,
    CampaignSetting, Document, Outcome, ResponseTime, SCHEMA, VxFile, VxRun, Vxbench,
};

const HOSTILE: &str = "<script>alert(1)</script>\u{1b}[31m\"'&";

fn cell(index: usize) -> CampaignCell {
    let rate = 1e8 * (index + 1) as f64;
    let sample = CampaignSample {
        bytes: 1 << 26,
        elapsed_s: 0.6,
        throughput_bytes_per_s: rate,
        cpu_s: 0.01,
        fragments: Some(3),
        ..CampaignSample::default()
    };
    CampaignCell {
        samples: vec![sample; 3],
        throughput_bytes_per_s: rate,
        rate_ci95: Some([0.9 * rate, 1.2 * rate]),
        cpu_s: 0.01,
        ratio: (index > 0).then_some(1.5),
        ratio_ci95: (index > 0).then_some([1.25, 1.75]),
        ..CampaignCell::default()
    }
}

fn table() -> Document {
    let columns = ["ext4", "xfs"].map(|place| CampaignColumn {
        place: place.into(),
        method: HOSTILE.into(),
        ..CampaignColumn::default()
    });
    let rows = [64, 256].map(|kib| {
        let setting = |name: &str, text: String, value: f64| CampaignSetting {
            name: name.into(),
            text,
            value,
        };
        CampaignRow {
            settings: vec![
                setting("threads", "4".into(), 4.0),
                setting("iosize", format!("{kib}k"), f64::from(kib) * 1024.0),
            ],
            cells: vec![cell(0), cell(1)],
        }
    });
    let mut result = CampaignResult {
        name: "mine".into(),
        title: format!("Reads {HOSTILE}"),
        source: HOSTILE.into(),
        x: "iosize".into(),
        rounds: 3,
        clients: None,
        columns: columns.into(),
        rows: rows.into(),
        sentences: vec![format!("Writers wait {HOSTILE}")],
        reference: Some(CampaignReference {
            source: "a paper".into(),
            columns: vec!["KB".into(), "KB/s".into()],
            rows: vec![vec![64.0, 31_797.0]],
        }),
    };
    result.rows[1].cells[1] =
        CampaignCell { impossible: Some("no direct I/O".into()), ..CampaignCell::default() };
    Document { schema: SCHEMA.into(), outcome: Some(result.into()), ..Document::default() }
}

#[test]
fn the_terminal_shows_every_number_and_nothing_acts() {
    for width in [40, 80, 160] {
        let text = terminal(&table(), &Style { width, ..Style::default() });
        assert!(!text.contains('\u{1b}'), "{text}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for word in [
            "100 MB/s (90 MB/s to 120 MB/s)",
            "200 MB/s",
            "1.50 (1.25",
            "31797",
            "no direct I/O",
            "256k",
            "Writers wait",
        ] {
            assert!(words.contains(word), "{width}: {word} in {text}");
        }
    }
}

#[test]
fn every_run_is_a_row_and_an_impossible_cell_says_why() {
    let text = csv(&table()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("threads,iosize,place,method,file_system,round,bytes,elapsed_s"));
    assert_eq!(lines.len(), 1 + 3 * 3 + 1, "{text}");
    assert!(lines[1].starts_with("4,65536,ext4,"), "{}", lines[1]);
    assert!(lines[10].ends_with(",no direct I/O"), "{}", lines[10]);
}

#[test]
fn the_page_has_the_graphs_and_no_foreign_script() {
    let page = html(&table(), Quantity::Throughput);
    assert!(!page.contains("<script>alert"), "escaped");
    for word in [
        "figure-campaign-rate-0",
        "figure-campaign-cpu-0",
        "31797",
        "not possible: no direct",
        "Writers wait &lt;script",
    ] {
        assert!(page.contains(word), "{word}");
    }
    assert!(page.contains("threads 4"), "what the rows of a graph share");
}

/// Once, a cell had one range in its graph and another in the table, and nothing explained either.
#[test]
fn the_page_says_what_ranges_are_and_what_ratios_are_to() {
    let mut document = table();
    let page = html(&document, Quantity::Throughput);
    for word in [
        "threads 4. A point is the median of its rounds, its bar reaches from the lowest",
        "the median of the rounds, in brackets its 95 % interval.",
        "\u{d7}: the ratio to ext4 &lt;script",
    ] {
        assert!(page.contains(word), "{word}");
    }
    let Some(Outcome::Campaign(campaign)) = &mut document.outcome else { panic!("another") };
    for cell in campaign.rows.iter_mut().flat_map(|row| &mut row.cells) {
        (cell.ratio, cell.ratio_ci95) = (None, None);
    }
    let page = html(&document, Quantity::Throughput);
    assert!(!page.contains("the ratio to") && page.contains("in brackets"));
    let Some(Outcome::Campaign(campaign)) = &mut document.outcome else { panic!("another") };
    for cell in campaign.rows.iter_mut().flat_map(|row| &mut row.cells) {
        cell.rate_ci95 = None;
    }
    let page = html(&document, Quantity::Throughput);
    assert!(!page.contains("in brackets"), "one round has no interval");
    assert!(!page.contains(r#"<p class="lead"></p>"#));
}

#[test]
fn whose_the_response_times_of_several_clients_are_is_told() {
    let mut document = table();
    let told = |document: &Document| {
        let all = [
            html(document, Quantity::Throughput),
            terminal(document, &Style { width: 160, ..Style::default() }),
        ];
        all.map(|text| text.contains("medians and percentiles are those of the client"))
    };
    let times = Some(ResponseTime::default());
    for (clients, times, expected) in
        [(None, times, false), (Some(4), None, false), (Some(4), times, true)]
    {
        let Some(Outcome::Campaign(campaign)) = &mut document.outcome else { panic!("another") };
        campaign.clients = clients;
        campaign.rows[0].cells[0].response_time_ns = times;
        assert_eq!(told(&document), [expected; 2], "{clients:?} {times:?}");
    }
}

/// Once, the axis was logarithmic, so it left out the base of the comparison: the empty file
/// system.
#[test]
fn an_empty_file_system_is_on_the_graph_of_how_full_it_is() {
    let mut document = table();
    let Some(Outcome::Campaign(campaign)) = &mut document.outcome else { panic!("another") };
    campaign.x = "fill_percent".into();
    let first = campaign.rows[0].clone();
    campaign.rows.push(first);
    for (row, full) in campaign.rows.iter_mut().zip([0.0, 50.0, 90.0]) {
        let (name, text) = ("fill_percent".to_owned(), full.to_string());
        row.settings = vec![CampaignSetting { name, text, value: full }];
        row.cells = vec![cell(0), cell(1)];
    }
    let page = html(&document, Quantity::Throughput);
    let (_, graph) = page.split_once("figure-campaign-rate-0").unwrap();
    let (_, plot) = graph.split_once("<svg class=\"plot").unwrap();
    let (plot, _) = plot.split_once("</svg>").unwrap();
    assert_eq!(plot.matches("class=\"pt\"").count(), 2 * 3, "{plot}");
}

#[test]
fn runs_are_a_table_of_users() {
    let file = VxFile { path: HOSTILE.into(), extents: Some(7), ..VxFile::default() };
    let run = VxRun { files: vec![file], ..VxRun::default() };
    let vxbench = Vxbench { runs: vec![run], ..Vxbench::default() };
    let document =
        Document { schema: SCHEMA.into(), outcome: Some(vxbench.into()), ..Document::default() };
    let page = html(&document, Quantity::Throughput);
    assert!(page.contains("<td>7</td>") && !page.contains("<script>alert"));
    let text = json(&document).unwrap();
    assert_eq!(from_json(&text, "x").unwrap(), document);
}
