//! Tests of the terminal text: snapshots, and that no text is too wide or acts on the terminal.

use super::*;
use crate::quantity::Quantity;
use crate::sample;
use ioscape_schema::{Characterization, Outcome, Settings, Workload};
use proptest::prelude::*;

const ASCII: Style = Style {
    width: 80,
    colour: false,
    unicode: false,
    quantity: Quantity::Throughput,
    markdown: false,
};
const UNICODE: Style = Style { unicode: true, ..ASCII };
const MARKDOWN: Style = Style { markdown: true, ..UNICODE };

#[test]
fn golden_text() {
    insta::assert_snapshot!("evaluation_unicode", terminal(&sample::evaluated(), &UNICODE));
    insta::assert_snapshot!("evaluation_ascii", terminal(&sample::evaluated(), &ASCII));
    let latency = Style { quantity: Quantity::Latency, ..UNICODE };
    insta::assert_snapshot!("evaluation_latency", terminal(&sample::evaluated(), &latency));
    insta::assert_snapshot!("runs_unicode", terminal(&sample::measured(), &UNICODE));
    insta::assert_snapshot!("runs_ascii", terminal(&sample::measured(), &ASCII));
    insta::assert_snapshot!("predictions", terminal(&sample::predicted(), &UNICODE));
    insta::assert_snapshot!("comparison", terminal(&sample::compared(), &ASCII));
    insta::assert_snapshot!("validation", terminal(&sample::validated(), &UNICODE));
    insta::assert_snapshot!("characterization", terminal(&sample::characterized(), &UNICODE));
    insta::assert_snapshot!("micro_benchmarks", terminal(&sample::micro_benchmarks(), &UNICODE));
    insta::assert_snapshot!("simulation", terminal(&sample::simulated(), &UNICODE));
    insta::assert_snapshot!("simulation_of_flash", terminal(&sample::simulated_flash(), &ASCII));
    insta::assert_snapshot!("evaluation_markdown", terminal(&sample::evaluated(), &MARKDOWN));
    insta::assert_snapshot!(
        "evaluation_by_clients",
        terminal(&sample::evaluated_by_clients(), &UNICODE)
    );
    insta::assert_snapshot!("interrupted", terminal(&sample::interrupted(), &UNICODE));
}

/// Once, for a command that moved no data, the advice was to run `--unique-bytes 1 --size-mean 1`.
#[test]
fn where_nothing_was_moved_there_is_no_workload_to_run() {
    let mut document = sample::characterized();
    assert!(terminal(&document, &UNICODE).contains("To run the same workload"));
    assert!(!terminal(&document, &UNICODE).contains("THIS.json"), "it has no phases");
    let Some(Outcome::Characterization(one)) = &mut document.outcome else { panic!("another") };
    one.phases = vec![ioscape_schema::Phase::default()];
    assert!(terminal(&document, &UNICODE).contains("ioscape run DIR THIS.json"));
    let Some(Outcome::Characterization(one)) = &mut document.outcome else { panic!("another") };
    let unidentified = one.elsewhere.entry(Characterization::UNIDENTIFIED.to_owned()).or_default();
    *unidentified = one.overall.requests;
    let partial = terminal(&document, &UNICODE);
    assert!(partial.contains("at least 573 MiB") && !partial.contains("To run the same workload"));
    let Some(Outcome::Characterization(one)) = &mut document.outcome else { panic!("another") };
    (one.overall, one.elsewhere) = Default::default();
    assert!(!terminal(&document, &UNICODE).contains("To run the same workload"));
    assert!(
        !crate::document::html(&document, Quantity::Throughput)
            .contains("To run the same workload")
    );
}

/// `Access buffered in a control group of 128 MiB` has 45 columns, `Response time against the size of the set` has 41.
#[test]
fn headings_fit_a_narrow_terminal() {
    let mut document = sample::evaluated();
    let Some(Outcome::Evaluation(one)) = &mut document.outcome else { panic!("another") };
    let mut other = (**one).clone();
    other.settings = Some(Settings {
        unique_bytes: [1 << 16, 1 << 32],
        size_mean: [4096, 4 << 20],
        process_num: [1, 16],
        base: Workload::default(),
        budget_s: 600.0,
        all_parameters: false,
        points_max: None,
        flush_interval_s: None,
        layout_bytes_per_s: None,
        memory_limit_bytes: Some(128 << 20),
    });
    one.other_accesses = vec![other];
    let style = Style { width: 40, quantity: Quantity::Latency, ..UNICODE };
    let text = terminal(&document, &style);
    let heads = ["Access buffered", "Response time against"];
    let is_head = |line: &&str| heads.iter().any(|head| line.starts_with(head));
    let lines: Vec<&str> = text.lines().filter(is_head).collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines.iter().all(|line| line.len() <= 40), "{lines:?}");
}

/// Once, the warnings of a workload given by options were attributed to `run run`.
#[test]
fn a_workload_without_a_name_is_called_run_once() {
    let mut document = sample::measured();
    let Some(Outcome::Measurements(runs)) = &mut document.outcome else { panic!("another") };
    runs.truncate(1);
    runs[0].name = Some("run".to_owned());
    runs[0].warnings =
        vec![ioscape_schema::Warning::new(ioscape_schema::WarningKind::Drift, "it drifted")];
    let said = terminal(&document, &UNICODE);
    assert!(said.contains("! run: it drifted") && !said.contains("run run"), "{said}");
}

/// Removes the colour codes that the renderer itself writes.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').map_or(part, |(_, rest)| rest))
}

#[test]
fn colours_only_add_colours() {
    for document in [sample::evaluated(), sample::validated()].into_iter().chain(sample::hostile())
    {
        let coloured = terminal(&document, &Style { colour: true, ..UNICODE });
        assert!(coloured.contains("\u{1b}[1m"));
        assert_eq!(without_colours(&coloured), terminal(&document, &UNICODE));
    }
}

#[test]
fn names_are_no_markdown_and_tables_have_one_width() {
    for document in
        [sample::micro_benchmarks(), sample::simulated()].into_iter().chain(sample::hostile())
    {
        let text = terminal(&document, &MARKDOWN);
        let mut is_code = false;
        let mut width = 0;
        for line in text.lines() {
            is_code ^= line.starts_with("```");
            let bare = line.replace("\\|", "");
            let cells = bare.matches('|').count();
            assert!(is_code || !line.replace("\\<", "").contains('<'), "{line}");
            assert!(is_code || cells == 0 || width == 0 || cells == width, "{line}");
            width = if is_code { 0 } else { cells };
        }
    }
}

/// A document as terminal text without line breaks, and as a page.
fn both(document: &Document) -> [String; 2] {
    let text = terminal(document, &UNICODE);
    let words: Vec<&str> = text.split_whitespace().collect();
    [words.join(" "), crate::document::html(document, Quantity::Throughput)]
}

#[test]
fn a_perfect_model_is_not_said_to_be_off_by_all_of_the_repeatability() {
    for said in both(&sample::validated()) {
        assert!(!said.contains("no model can be better"));
        assert!(said.contains("a perfect model would be off by 0.7 of that"), "{said}");
    }
}

#[test]
fn an_extrapolated_interval_is_called_a_guess() {
    let mut document = sample::predicted();
    let guess = "where the note says extrapolated it is a guess";
    assert!(both(&document)[0].contains(guess));
    if let Some(Outcome::Predictions(all)) = &mut document.outcome {
        all.iter_mut().for_each(|one| one.extrapolated = false);
    }
    assert!(!both(&document)[0].contains(guess));
}

/// Once, such a run showed a response time of 0 ns and an interval of 0 B/s.
#[test]
fn of_a_run_in_which_no_request_ended_no_time_and_no_interval_is_told() {
    let mut document = sample::measured();
    let Some(Outcome::Measurements(runs)) = &mut document.outcome else { panic!("another") };
    let workload = runs[0].workload.clone();
    let none = ioscape_schema::Measurement::empty(workload, ioscape_schema::Stop::TimeCap);
    runs.push(none.clone());
    let alone = Document { outcome: Some(Outcome::Measurements(vec![none])), ..document.clone() };
    for document in [document, alone] {
        for said in both(&document) {
            assert!(!said.contains(" 0 ns") && !said.contains(">0 ns"), "{said}");
            assert!(said.contains("0 B/s") && !said.contains("0 B/s to 0 B/s"), "{said}");
        }
    }
}

#[test]
fn an_empty_document_is_shown() {
    assert!(terminal(&Document::default(), &ASCII).starts_with("ioscape: "));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_line_fits_and_nothing_acts(width in 40usize..260, unicode in any::<bool>()) {
        let style = Style { width, unicode, ..Style::default() };
        for document in [
            sample::evaluated(),
            sample::evaluated_by_clients(),
            sample::measured(),
            sample::characterized(),
            sample::micro_benchmarks(),
            sample::simulated(),
            sample::simulated_flash(),
        ]
        .into_iter()
        .chain(sample::hostile())
        {
            let text = terminal(&document, &style);
            for line in text.lines() {
                let columns = textwrap::core::display_width(line);
                prop_assert!(columns <= width, "{columns} columns of {width}: {line}");
                prop_assert!(!line.contains(char::is_control));
                prop_assert!(unicode || line.is_ascii(), "{line}");
            }
        }
    }
}
