//! What README.md and read-a-landscape.md quote and show is what the program says today about the
//! recorded evaluation; the gallery's pictures are what it draws today from the real measurements
//! and traces.

use super::super::common::{Ran, data, ioscape, path, read, skipped};
use super::blocks::blocks;
use super::place::{has_real_traces, repository, scratch};
use super::run::by_shell;
use std::path::{Path, PathBuf};

/// The text with single spaces between words and no line breaks.
fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The quoted paragraphs of a page.
fn quotations(page: &str) -> Vec<String> {
    let paragraphs = page.split("\n\n").filter(|paragraph| paragraph.starts_with("> "));
    paragraphs.map(|paragraph| flowing(&paragraph.replace("\n> ", " ")[2..])).collect()
}

/// What `report` prints of the recorded evaluation.
fn reported(arguments: &[&str]) -> String {
    let result = repository().join("crates/cli/tests/command/data/landscape.ioscape.json");
    let mut command = ioscape(&["report", result.to_str().expect("a plain name")]);
    command.args(arguments);
    Ran::of(command).ended(0).out
}

/// Checks that every quotation of a page is in the report of the recorded evaluation, and that
/// there are at least `least`.
fn quotes_what_is_said(page: &str, least: usize) {
    let said = flowing(&reported(&["--markdown"]));
    let quoted = quotations(page);
    assert!(quoted.len() >= least, "the page quotes {} sentences", quoted.len());
    let missing: Vec<&String> = quoted.iter().filter(|words| !said.contains(*words)).collect();
    assert!(missing.is_empty(), "quoted, but not said: {missing:#?}\nof:\n{said}");
}

#[test]
fn the_readme_shows_and_quotes_the_recorded_evaluation() {
    let readme = read(&repository().join("README.md"));
    quotes_what_is_said(&readme, 1);
    let pictures = readme.split("![").skip(1).filter_map(|part| part.split("](").nth(1));
    let pictures: Vec<&str> = pictures.filter_map(|part| part.split(')').next()).collect();
    assert_eq!(pictures, ["docs/read-a-landscape.svg"], "another test draws this one again");
    // It was measured by the command that stands below the picture.
    let recorded = read(&repository().join("crates/cli/tests/command/data/landscape.ioscape.json"));
    let recorded: serde_json::Value = serde_json::from_str(&recorded).expect("JSON");
    let words = recorded["command"].as_array().expect("a command").iter();
    let words: Vec<&str> = words.skip(1).filter_map(|word| word.as_str()).collect();
    let typed = words.join(" ").replace(" --html landscape.html", "");
    assert!(readme.contains(&format!("    ioscape {typed}\n")), "{typed}");
}

#[test]
fn the_landscape_that_is_read_is_the_recorded_one() {
    let docs = repository().join("docs");
    quotes_what_is_said(&read(&docs.join("read-a-landscape.md")), 8);
    let (picture, drawn) = (docs.join("read-a-landscape.svg"), reported(&["--svg"]));
    if is_to_draw() {
        std::fs::write(&picture, &drawn).expect("the picture");
    }
    assert!(read(&picture) == drawn, "read-a-landscape.svg is not `report --svg` of today");
}

/// Once, the page said that at most 0.5 of 100 sentences were false, while the table that it names
/// had 0.67.
#[test]
fn the_share_of_false_sentences_is_that_of_the_table_of_made_up_systems() {
    let docs = repository().join("docs");
    let page = read(&docs.join("evaluation.md"));
    let table = page.lines().skip_while(|line| !line.starts_with("| worlds | seeds |")).skip(2);
    let rows = table.take_while(|line| line.starts_with('|'));
    let judged = rows.filter(|row| !row.contains("| aim |") && !row.contains("by rules on slopes"));
    let share = |row: &str| row.split('|').nth(6)?.trim().strip_suffix(" %")?.parse::<f64>().ok();
    let most = judged.filter_map(share).fold(0.0, f64::max);
    let sentence = format!("0 to {most:.1} in 100 were false on made-up systems");
    assert!(read(&docs.join("which-number.md")).contains(&sentence), "{sentence}");
}

/// Whether to redraw the pictures of the documentation: `UPDATE_PICTURES=1`.
fn is_to_draw() -> bool {
    std::env::var_os("UPDATE_PICTURES").is_some()
}

/// Evaluations of the gallery, below `IOSCAPE_DATA`, and their names in its commands.
const EVALUATIONS: [(&str, &str); 4] = [
    ("default-10-minutes.json", "evaluation.ioscape.json"),
    ("quiet-3-minutes-a.json", "quiet-a.ioscape.json"),
    ("quiet-3-minutes-b.json", "quiet-b.ioscape.json"),
    ("quiet-3-minutes-c.json", "quiet-c.ioscape.json"),
];

/// Puts the real evaluations into the directory; `false` if they are not available.
fn has_real_evaluations(folder: &Path) -> bool {
    let Some(from) = data("evaluations") else { return false };
    EVALUATIONS
        .iter()
        .all(|(name, called)| std::fs::copy(from.join(name), folder.join(called)).is_ok())
}

#[test]
fn the_gallery_is_what_its_commands_draw() {
    let place = scratch();
    if !has_real_traces(place.path()) || !has_real_evaluations(place.path()) {
        return skipped("the gallery's measurements and traces are not at hand (IOSCAPE_DATA)");
    }
    let docs = repository().join("docs");
    for block in blocks(&read(&docs.join("gallery.md"))) {
        let commands = block.commands(None).into_iter().map(|command| command.typed);
        // The evaluation was made once, on the machine that the page describes.
        for command in commands.filter(|typed| !typed.starts_with("ioscape evaluate")) {
            by_shell(&command, place.path()).ended(0);
        }
    }
    let shown = std::fs::read_dir(docs.join("gallery")).expect("the gallery");
    let shown: Vec<_> = shown.map(|entry| entry.expect("an entry").path()).collect();
    let is_other = |picture: &&PathBuf| {
        let drawn = place.path().join(picture.file_name().unwrap_or_default());
        if is_to_draw() && drawn.exists() {
            std::fs::copy(&drawn, picture).expect("the picture");
        }
        !drawn.exists() || read(&drawn) != read(picture)
    };
    let other: Vec<&str> = shown.iter().filter(is_other).map(|picture| path(picture)).collect();
    assert!(shown.len() >= 12 && other.is_empty(), "drawn otherwise today: {other:#?}");
}
