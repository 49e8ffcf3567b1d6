//! Pages in a real browser: every figure is drawn, nothing is loaded, and the console stays empty.

use super::common::devtools::BROWSERS;
use super::common::{path, run, skipped};
use std::path::Path;
use std::process::Command;

const SMALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/command/data/small.ioscape.json");

/// The page's content after its script ran, and what the browser wrote; absent without a browser.
fn browsed(page: &Path, width: u32) -> Option<(String, String)> {
    let profile = tempfile::tempdir().expect("a temporary directory");
    let started = BROWSERS.iter().find_map(|name| {
        Command::new(name)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--enable-logging=stderr",
                "--dump-dom",
            ])
            .arg(format!("--user-data-dir={}", path(profile.path())))
            .arg(format!("--window-size={width},900"))
            .arg(format!("file://{}", path(page)))
            .output()
            .ok()
    });
    let Some(ended) = started else {
        skipped("there is no Chromium, so no page was opened");
        return None;
    };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Some((text(ended.stdout), text(ended.stderr)))
}

#[test]
fn pages_are_drawn_without_a_word_on_the_console() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (single, joint) = (folder.path().join("one.html"), folder.path().join("all.html"));
    run(&["report", SMALL, "-o", path(&single)]).ended(0);
    run(&["report", SMALL, SMALL, "-o", path(&joint)]).ended(0);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2);
    for (page, systems) in [(&single, 1), (&joint, 2)] {
        for width in [1280, 400] {
            let Some((content, said)) = browsed(page, width) else { return };
            assert!(!said.contains("CONSOLE"), "{said}");
            let figures: Vec<&str> = content.split("<figure").skip(1).collect();
            assert!(figures.len() >= 4 * systems, "{} figures", figures.len());
            for figure in figures {
                let figure = figure.split("</figure>").next().unwrap_or_default();
                let drawn = figure.contains("class=\"pt") || figure.contains("<path");
                assert!(drawn, "an empty figure: {figure}");
            }
            // The script ran: it made the legend's entries buttons.
            assert!(content.contains("aria-pressed=\"true\""));
        }
    }
}
