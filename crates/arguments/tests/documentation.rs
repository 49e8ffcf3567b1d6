//! The commands in the documentation parse.

#![expect(clippy::disallowed_methods, reason = "the test reads the pages of the documentation")]

use clap::Parser;
use ioscape_arguments::Cli;
use std::fs;
use std::path::Path;

/// The command lines in a page's code blocks, without trailing remarks, pipes and redirections.
fn commands(page: &str) -> Vec<Vec<&str>> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in page.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let is_code = fenced || line.starts_with("    ");
        if is_code && line.trim_start().starts_with("ioscape ") {
            let alone = line.split(['#', '|', '>', '&']).next().unwrap_or_default();
            let words = alone.split_whitespace().map(|word| word.trim_matches('\''));
            found.push(words.collect());
        }
    }
    found
}

#[test]
fn the_commands_of_the_documentation_can_be_typed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = docs.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let mut seen = 0;
    for path in pages.chain([root.join("README.md")]) {
        let page = fs::read_to_string(&path).unwrap();
        for command in commands(&page) {
            let typed = Cli::try_parse_from(&command);
            assert!(typed.is_ok(), "{}: {}", path.display(), command.join(" "));
            seen += 1;
        }
    }
    assert!(seen > 30, "only {seen} commands were found");
}
