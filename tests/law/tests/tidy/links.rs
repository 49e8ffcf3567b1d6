//! Every link of the documentation leads somewhere: to a file of the project, and to a heading in it.

use super::sources;
use std::fs;
use std::path::{Path, PathBuf};

/// The pages that users read.
fn pages() -> Vec<PathBuf> {
    let root = sources::root();
    let docs = fs::read_dir(root.join("docs")).expect("docs").map(|e| e.expect("an entry").path());
    let pages = docs.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let names = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "RELEASING.md",
        "tests/real/README.md",
        "python/README.md",
        "crates/cli/benches/overhead/README.md",
        "crates/cli/benches/recording/README.md",
        "reference/ousterhout/README.md",
        "reference/ruemmler-wilkes/README.md",
        "crates/trace/benches/README.md",
    ];
    pages.chain(names.iter().map(|name| root.join(name))).collect()
}

/// The text of a page without its code.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let mut out = String::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        if !fenced {
            out += line;
            out.push('\n');
        }
    }
    out
}

/// Where the links of a page lead, those to other hosts left out.
fn links(text: &str) -> Vec<String> {
    let ends = prose(text);
    let found =
        ends.split("](").skip(1).filter_map(|part| part.split(')').next().map(str::to_owned));
    found.filter(|link| !link.contains("://") && !link.contains(char::is_whitespace)).collect()
}

/// The name by which a heading is linked to.
fn anchor(heading: &str) -> String {
    let kept =
        heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

fn has_heading(page: &Path, wanted: &str) -> bool {
    let text = prose(&fs::read_to_string(page).unwrap_or_default());
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).any(|name| name == wanted)
}

#[test]
fn every_link_leads_somewhere() {
    let mut seen = 0;
    let mut broken = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for link in links(&text) {
            seen += 1;
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => page.clone(),
                _ => page.parent().expect("a folder").join(file),
            };
            if !target.exists() || !(heading.is_empty() || has_heading(&target, heading)) {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(seen > 50, "only {seen} links were found");
    assert_eq!(broken, [""; 0]);
}

#[test]
fn every_page_is_in_the_book() {
    let summary = fs::read_to_string(sources::root().join("docs/SUMMARY.md")).expect("the summary");
    let listed = links(&summary);
    let book = sources::root().join("docs");
    for page in pages().iter().filter(|page| page.parent() == Some(&*book)) {
        let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
        assert!(name == "SUMMARY.md" || listed.contains(&name), "{name} is not in docs/SUMMARY.md");
    }
}

#[test]
fn every_picture_stands_above_its_command() {
    let mut shown = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for part in text.split("![").skip(1) {
            let Some(picture) = part.split("](").nth(1).and_then(|rest| rest.split(')').next())
            else {
                continue;
            };
            let beneath = part.split("\n#").next().unwrap_or_default();
            assert!(beneath.contains("ioscape "), "{}: {picture} has no command", page.display());
            shown.extend(Path::new(picture).file_name().map(|name| name.to_owned()));
        }
    }
    for entry in fs::read_dir(sources::root().join("docs/gallery")).expect("the gallery") {
        let name = entry.expect("an entry").file_name();
        assert!(shown.contains(&name), "no page shows docs/gallery/{}", name.display());
    }
}

#[test]
fn headings_are_linked_to_as_usual() {
    assert_eq!(anchor(" What direct I/O costs"), "what-direct-io-costs");
    assert_eq!(links("[a](b.md#c) `x`\n```\n[d](e)\n```\n[f](https://g)"), ["b.md#c"]);
}
