//! What read-a-landscape.md quotes and draws is what the program says today of the recorded evaluation.

use super::super::common::{Ran, ioscape, read};
use super::place::repository;

/// Words with single spaces between them, as if there were no ends of lines.
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

#[test]
fn the_landscape_that_is_read_is_the_recorded_one() {
    let docs = repository().join("docs");
    let said = flowing(&reported(&["--markdown"]));
    let page = read(&docs.join("read-a-landscape.md"));
    let quoted = quotations(&page);
    assert!(quoted.len() >= 8, "the page quotes {} sentences", quoted.len());
    let missing: Vec<&String> = quoted.iter().filter(|words| !said.contains(*words)).collect();
    assert!(missing.is_empty(), "quoted, but not said: {missing:#?}\nof:\n{said}");
    let picture = read(&docs.join("read-a-landscape.svg"));
    assert!(picture == reported(&["--svg"]), "read-a-landscape.svg is not `report --svg` of today");
}
