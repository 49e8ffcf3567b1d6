//! Tests that the page is self-contained, safe against injection, complete and well formed.

use super::*;
use crate::curve;
use crate::document::table_csv::table_csv;
use crate::document::{figure_names, figure_svg};
use crate::plot::Unit;
use crate::sample;
use crate::text::{NONE, value_of};
use ioscape_schema::units::Rate;
use ioscape_schema::{
    Evaluation, Measurement, Outcome, Parameter, Point, SimulationAgreement, Stop,
};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

fn page_of(document: &Document) -> String {
    html(document, Quantity::Throughput)
}

fn pages() -> Vec<String> {
    let documents = [
        sample::with_all_parameters(),
        sample::measured(),
        sample::interrupted(),
        sample::predicted(),
        sample::compared(),
        sample::validated(),
        sample::characterized(),
        sample::micro_benchmarks(),
        sample::simulated(),
        sample::simulated_flash(),
        sample::evaluated_by_clients(),
        sample::with_accesses(),
        Document::default(),
        Document { outcome: Some(Outcome::Measurements(Vec::new())), ..Document::default() },
    ];
    let mut pages: Vec<String> = documents.iter().chain(&sample::hostile()).map(page_of).collect();
    pages.push(joint());
    pages
}

/// All kinds of results on one page, including hostile ones.
fn joint() -> String {
    let mut documents =
        vec![sample::evaluated(), sample::with_all_parameters(), sample::with_accesses()];
    documents.push(sample::measured());
    documents.extend(sample::hostile());
    let names = ["a", "b", "<script>alert(1)</script>"].into_iter().cycle();
    let named: Vec<(String, &Document)> = names.map(str::to_owned).zip(&documents).collect();
    super::super::joint_html(&named, &[], "0.1.0", Quantity::Throughput)
}

#[test]
fn systems_stand_side_by_side() {
    let documents = [sample::evaluated(), sample::with_all_parameters(), sample::measured()];
    let names = ["here", "there", "runs"].map(str::to_owned);
    let named: Vec<(String, &Document)> = names.into_iter().zip(&documents).collect();
    let page = super::super::joint_html(&named, &[], "0.1.0", Quantity::Throughput);
    let section = |id: &str| section_of(&page, id);
    let landscapes = section("landscapes");
    for name in ["here", "there"] {
        assert!(landscapes.contains(&format!("<li data-name=\"{name}\"")), "{name}");
        assert!(section("findings").contains(&format!("<th scope=\"col\">{name}</th>")));
    }
    assert!(section("findings").contains("as a share of memory"));
    assert_eq!(section("memory").matches("<figure").count(), 1);
    // Three mixes, each with a table of the points of both systems.
    assert_eq!(landscapes.matches("<figure").count(), 3);
    // Each mix in three quantities, with a row for each of the 25 sets; response times have two
    // lines.
    assert_eq!(landscapes.matches("<small>25 rows</small>").count(), 9);
    assert_eq!(landscapes.matches("<th scope=\"col\">here</th>").count(), 6);
    assert_eq!(landscapes.matches("<th scope=\"col\">here, median</th>").count(), 3);
    assert!(
        section("runs").contains("<td>runs</td>") && !section("runs").contains("<td>here</td>")
    );
    assert!(page.matches("<figure").count() >= 20 && page.len() < 4 << 20, "{}", page.len());
    for (index, name) in ["here", "there", "runs"].iter().enumerate() {
        let link = format!("<a href=\"#result-{}\">{name}</a>", index + 1);
        assert!(page.contains(&link), "{link}");
    }
}

/// Once, the page showed the findings of the first access only, and never said that others were
/// left out.
#[test]
fn every_access_has_its_findings_and_its_points_on_the_page() {
    let document = sample::with_accesses();
    let evaluation = document.evaluation().unwrap();
    let page = page_of(&document);
    for one in evaluation.each_access() {
        for told in one.findings.sentences.iter().chain(one.shortened.values()) {
            assert!(page.contains(&esc(told)), "{told}");
        }
        assert!(page.contains(&format!("<h2>All points of access {}</h2>", one.way())));
    }
    let direct = page.split("<section id=\"access-2\">").nth(1).expect("the section");
    assert!(direct.starts_with("<div class=\"result\"><h2>Access direct</h2>"));
    assert!(page.contains("<a href=\"#access-2\">Access direct</a>"));
    assert!(direct.contains("id=\"figure-access-2-region-1\""));
    assert!(page_of(&sample::evaluated()).contains("<h2>All points</h2>"));
}

/// Once, links of the second access named no figure, and its tables did not count from 1.
#[test]
fn figures_and_tables_of_every_access_are_found_by_their_names() {
    let page = page_of(&sample::with_accesses());
    let drawn = figure_svg(&page, "access-2-region-1", Quantity::Throughput).expect("a figure");
    assert_eq!(Some(drawn), figure_svg(&page, "region-1", Quantity::Throughput));
    let head = |name: &str| {
        let table = table_csv(&page, name).expect("a table");
        table.lines().next().map(str::to_owned)
    };
    assert_eq!(head("access-2-regions"), head("regions"));
    for page in pages() {
        assert_eq!(figure_names(&page).len(), page.matches("<figure").count());
    }
}

#[test]
fn several_results_say_which_of_their_evaluations_are_side_by_side() {
    let documents = [sample::evaluated(), sample::with_accesses()];
    let names = ["here", "there"].map(str::to_owned);
    let named: Vec<(String, &Document)> = names.into_iter().zip(&documents).collect();
    let page = super::super::joint_html(&named, &[], "0.1.0", Quantity::Throughput);
    assert!(section_of(&page, "findings").contains("show the first: there (access buffered)."));
    assert!(page.contains("<section id=\"result-2-access-2-findings\">"));
    let alone = super::super::joint_html(&named[..1], &[], "0.1.0", Quantity::Throughput);
    assert!(!section_of(&alone, "findings").contains("show the first"));
}

#[test]
fn a_region_with_a_queue_is_not_said_to_have_four_charts() {
    let mut document = sample::evaluated();
    let Some(Outcome::Evaluation(one)) = &mut document.outcome else { panic!("another") };
    let curves = &mut one.regions[0].curves;
    curves.queue_depth = curves.process_num.clone();
    assert!(!page_of(&document).contains("four charts"));
}

/// The section of a page, with its contents.
fn section_of<'a>(page: &'a str, id: &str) -> &'a str {
    let begin = page.split(&format!("<section id=\"{id}\">")).nth(1).expect("the section");
    begin.split("</section>").next().unwrap()
}

#[test]
fn simulations_and_runs_stand_side_by_side() {
    let documents =
        [sample::simulated(), sample::measured(), sample::simulated_flash(), sample::measured()];
    let names = ["disk", "before", "flash", "after"].map(str::to_owned);
    let named: Vec<(String, &Document)> = names.into_iter().zip(&documents).collect();
    let compared = sample::comparison().measured;
    let page = super::super::joint_html(&named, &compared, "0.1.0", Quantity::Throughput);
    let simulations = section_of(&page, "simulations");
    assert!(simulations.contains("<td>disk</td>") && simulations.contains("<td>flash</td>"));
    let figure = "<figure id=\"figure-simulations-policies\"";
    let policies = simulations.split(figure).nth(1).expect("the figure");
    let policies = policies.split("</figure>").next().unwrap();
    for (name, class) in [("disk", "r1"), ("flash", "r2")] {
        let line = format!("<g class=\"series {class}\" data-name=\"{name}\"");
        assert!(policies.contains(&line), "{line}");
    }
    let runs = section_of(&page, "runs");
    assert!(runs.contains("before: 1") && runs.contains("after: 3"));
    assert!(section_of(&page, "ratios").contains("/mnt/there against here, as measured"));
    let alone = super::super::joint_html(&named[..2], &[], "0.1.0", Quantity::Throughput);
    assert!(!alone.contains("<section id=\"simulations\">"), "nothing to overlay");
}

/// Once, runs with different set sizes shared a name, so throughputs that differ by a factor of 13
/// stood side by side as one workload.
#[test]
fn runs_that_differ_in_their_sets_alone_are_told_apart() {
    let of_set = |unique_bytes: u64| {
        let mut document = sample::measured();
        let Some(Outcome::Measurements(runs)) = &mut document.outcome else { panic!("another") };
        runs.truncate(1);
        (runs[0].name, runs[0].workload.unique_bytes) = (Some("run".to_owned()), unique_bytes);
        document
    };
    let documents = [of_set(1 << 30), of_set(64 << 30)];
    let names = ["a", "b"].map(str::to_owned);
    let named: Vec<(String, &Document)> = names.into_iter().zip(&documents).collect();
    let page = super::super::joint_html(&named, &[], "0.1.0", Quantity::Throughput);
    let runs = section_of(&page, "runs");
    for (name, set) in [("a", "1 GiB"), ("b", "64 GiB")] {
        let mix = "32 KiB requests, 50 % reads, 50 % sequential, 1 process";
        assert!(runs.contains(&format!("<td>run: {set}, {mix}</td>")), "{runs}");
        assert!(page.contains(&format!("<h2>{name}: {set}, {mix}</h2>")), "{set}");
        assert!(page.contains(&format!("<td>{set}, {mix}</td>")), "the row About: {set}");
    }
}

/// The tags of a page without its style and script: name, whether it closes, and the rest.
fn tags(page: &str) -> Vec<(String, bool, String)> {
    let body = page.split("<body>").nth(1).unwrap().split("<script>").next().unwrap();
    let mut tags = Vec::new();
    for part in body.split('<').skip(1) {
        let inside = part.split('>').next().unwrap();
        let closes = inside.starts_with('/');
        let name = inside.trim_start_matches('/').split([' ', '/']).next().unwrap();
        if !inside.ends_with('/') {
            tags.push((name.to_owned(), closes, inside.to_owned()));
        }
    }
    tags
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let get = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let word = get(0) << 16 | get(1) << 8 | get(2);
        for index in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * index) & 63) as usize] as char;
            out.push(if index <= chunk.len() { letter } else { '=' });
        }
    }
    out
}

#[test]
fn the_policy_names_the_script_that_is_there() {
    assert_eq!(SCRIPT_HASH, base64(&Sha256::digest(SCRIPT)));
    assert!(SCRIPT.lines().count() < 200);
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    for page in pages() {
        for word in ["http:", "https:", "//cdn", " src=", "@import", "url(", "<link", "<iframe"] {
            assert!(!page.contains(word), "{word}");
        }
        assert_eq!(page.matches("href=\"").count(), page.matches("href=\"#").count());
        assert!(page.contains("default-src 'none'"));
    }
}

#[test]
fn hostile_text_stays_text() {
    for document in sample::hostile() {
        let page = page_of(&document);
        assert_eq!(page.matches("<script").count(), 1);
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
        assert!(!page.contains('\u{1b}'));
    }
}

/// The text of a section, without its pictures.
#[test]
fn golden_sections() {
    for (name, heading, document) in [
        ("simulation", "Simulation", sample::simulated()),
        ("simulation_of_flash", "Simulation", sample::simulated_flash()),
        ("clients", "Clients", sample::evaluated_by_clients()),
    ] {
        let page = page_of(&document);
        let body = page.split(&format!("<h2>{heading}</h2>")).nth(1).unwrap();
        let body = body.split("</section>").next().unwrap();
        let parts = body.split("<svg").enumerate();
        let text: String = parts
            .map(|(n, part)| if n == 0 { part } else { part.split("</svg>").nth(1).unwrap() })
            .collect();
        insta::assert_snapshot!(name, text.replace("><", ">\n<"));
    }
}

#[test]
fn tags_are_closed_in_order_and_identifiers_are_unique() {
    const VOID: [&str; 2] = ["input", "meta"];
    for page in pages() {
        let mut open: Vec<String> = Vec::new();
        let mut ids = HashSet::new();
        for (name, closes, inside) in tags(&page) {
            if closes {
                assert_eq!(open.pop().as_deref(), Some(name.as_str()), "near {inside}");
            } else if !VOID.contains(&name.as_str()) {
                open.push(name);
            }
            if let Some(id) = inside.split(" id=\"").nth(1) {
                let id = id.split('"').next().unwrap().to_owned();
                assert!(ids.insert(id.clone()), "{id} twice");
            }
        }
        assert!(open.is_empty(), "{open:?}");
        for (marker, end) in [("href=\"#", '"'), (" for=\"", '"')] {
            for part in page.split(marker).skip(1) {
                let id = part.split(end).next().unwrap();
                assert!(ids.contains(id), "nothing has the identifier {id}");
            }
        }
    }
}

#[test]
fn every_picture_is_well_formed() {
    for page in pages() {
        for part in page.split("<svg").skip(1) {
            let svg = format!("<svg{}</svg>", part.split("</svg>").next().unwrap());
            roxmltree::Document::parse(&svg).unwrap();
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}

#[test]
fn every_figure_has_its_values_behind_it_and_a_link() {
    let mut seen = 0;
    for page in pages() {
        for part in page.split("<figure id=\"").skip(1) {
            let id = part.split('"').next().unwrap();
            let figure = part.split("</figure>").next().unwrap();
            assert!(figure.contains(&format!("href=\"#{id}\"")), "{id} has no link");
            let drawn = figure.contains("<svg class=\"plot");
            assert_eq!(drawn, figure.contains("<details class=\"values\">"), "{id}");
            seen += 1;
        }
    }
    assert!(seen > 100, "only {seen} figures");
}

#[test]
fn the_lines_of_a_simulation_with_a_single_time_lead_somewhere() {
    let mut document = sample::simulated();
    let Some(Outcome::Simulation(one)) = &mut document.outcome else { panic!("another") };
    one.absorption.clear();
    one.cells.iter_mut().for_each(|cell| cell.physical_distribution = vec![[5e6, 1.0]]);
    let agreement = one.agreement.as_mut().expect("recorded times");
    agreement.measured_distribution = vec![[5e6, 1.0]];
    agreement.simulated_distribution = vec![[6e6, 1.0]];
    let page = page_of(&document);
    let lines: Vec<&str> = page.split(r#"<path class="line" d=""#).skip(1).collect();
    for line in &lines {
        let line = line.split('"').next().unwrap();
        assert!(line.contains(['L', 'H']), "{line}");
    }
    assert!(lines.len() > 30, "{} lines", lines.len());
}

/// Once, the page named what a simulation left out only for a single simulation, and only the
/// terminal showed the demerits of traces with their own drives.
#[test]
fn what_a_simulation_left_out_is_told_and_how_far_off_each_trace_is() {
    let mut document = sample::simulated();
    let Some(Outcome::Simulation(one)) = &mut document.outcome else { panic!("another") };
    one.left_out = ["1 discard (<disk>)", "bus: speed"].map(str::to_owned).to_vec();
    let agreement = one.agreement.take().expect("recorded times");
    one.cells[0].drive = Some("its own".to_owned());
    one.cells[0].agreement = Some(SimulationAgreement { demerit: 0.261, ..agreement });
    let page = page_of(&document);
    assert!(page.contains("<p>Not simulated: 1 discard (&lt;disk&gt;); bus: speed.</p>"));
    assert!(page.contains("<td>25.1 ms</td><td>535 us</td><td>26.1 %</td>"));
    let text = crate::terminal(&document, &crate::Style { width: 160, ..Default::default() });
    assert!(text.contains("Not simulated: 1 discard (<disk>); bus: speed."), "{text}");
    assert!(!page_of(&sample::simulated()).contains("Not simulated"));
}

fn curves(evaluation: &Evaluation) -> Vec<(Parameter, &Vec<Point>)> {
    let mut all = vec![
        (Parameter::UniqueBytes, &evaluation.unique_bytes_curve),
        (Parameter::UniqueBytes, &evaluation.unique_bytes_read_curve),
        (Parameter::UniqueBytes, &evaluation.unique_bytes_write_curve),
    ];
    for region in &evaluation.regions {
        all.extend(Parameter::ALL.into_iter().filter_map(|p| Some((p, region.curves.get(p)?))));
    }
    all
}

#[test]
fn every_point_is_in_a_picture_and_in_a_table() {
    let document = sample::evaluated();
    let page = page_of(&document);
    let mut checked = 0;
    for (parameter, points) in curves(document.evaluation().unwrap()) {
        for point in points {
            let (value, rate) = (value_of(parameter, point.value), Rate(point.throughput()));
            assert!(page.contains(&format!("<title>{value} \u{b7} {rate} \u{b7}")));
            let [low, high] = curve::range(point).map(Rate);
            let row = format!("<td>{value}</td><td>{rate}</td><td>{low}</td><td>{high}</td>");
            assert!(page.contains(&row), "{row}");
            checked += 1;
        }
    }
    assert_eq!(checked, 3 * 25 + 3 * 33);
}

#[test]
fn of_a_point_of_which_no_request_ended_no_time_and_no_interval_is_told() {
    let mut document = sample::evaluated();
    let Some(Outcome::Evaluation(one)) = &mut document.outcome else { panic!("another") };
    let point = &mut one.unique_bytes_curve[3];
    point.measurement = Measurement::empty(point.measurement.workload.clone(), Stop::TimeCap);
    point.rounds = vec![0.0];
    let page = page_of(&document);
    let row = format!("<td>0 B/s</td><td>{NONE}</td><td>{NONE}</td><td>1</td>");
    assert!(page.contains(&row), "{row}");
    for wrong in [">0 ns<", " 0 ns", "0 B/s to 0 B/s"] {
        assert!(!page.contains(wrong), "{wrong}");
    }
    assert!(page.contains("0 B/s \u{b7} no request ended"));
}

#[test]
fn the_page_shows_the_quantity_that_was_asked_for() {
    let document = sample::evaluated();
    let mut pages = Quantity::ALL.map(|quantity| html(&document, quantity));
    for (quantity, page) in Quantity::ALL.iter().zip(&mut pages) {
        let first = format!(
            r#"id="metric-{0}" aria-label="show {1}" checked>"#,
            quantity.word(),
            quantity.heading()
        );
        assert_eq!(page.matches(&first).count(), 1, "{quantity:?}");
        assert!(
            page.contains(&format!(r#"<label class="for-{0}" for="metric-{0}">"#, quantity.word()))
        );
        *page = page.replace(" checked>", ">");
    }
    assert!(pages.iter().all(|page| *page == pages[0]));
    assert!(!page_of(&sample::measured()).contains("id=\"metric-"));
    let point = &document.evaluation().unwrap().regions[1].curves.size_mean[3].measurement;
    let tail = Unit::Nanos.show(point.response_time_ns.p99 as f64);
    assert!(pages[0].contains(&format!("99 % {tail}")));
}

#[test]
fn what_is_there_is_shown_and_what_is_not_is_not() {
    let pages = pages();
    let [all, runs, interrupted, predicted, compared, validated, application, micro, ..] =
        &pages[..]
    else {
        unreachable!("a page of each kind")
    };
    assert!(application.contains("--size-mean 6677") && application.contains("/data/in"));
    assert!(
        all.contains("123 MiB") && all.contains("write-cancelling") && all.contains("seed 1994")
    );
    assert!(all.contains("Where it performs well") && !all.contains("<h2>Runs"));
    assert!(runs.contains("Response times") && !runs.contains("<h2>Findings"));
    assert!(runs.contains("9.1 MB/s to 17.7 MB/s") && runs.contains("give --seconds more time"));
    assert!(predicted.contains("20.7 MB/s to 46.5 MB/s") && predicted.contains("extrapolated"));
    assert!(compared.contains("3.10x to 11x") && compared.contains("none is fast enough"));
    assert!(validated.contains("6.2 %") && validated.contains("All workloads"));
    assert!(micro.contains("this machine, remote") && micro.contains("Figure 1"));
    assert!(micro.contains("DS3100 Mach 2.5 penalty") && micro.contains("24800 MIPS"));
    assert!(interrupted.contains("Interrupted.") && interrupted.contains("too short to conclude"));
}
