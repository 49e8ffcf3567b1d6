//! Pages in a real browser: every figure is drawn, nothing is loaded, and the console stays empty.

use super::common::devtools::{BROWSERS, Page};
use super::common::{data, path, run, skipped};
use std::path::{Path, PathBuf};
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

/// A result of each kind that takes seconds to make, named after its command.
fn results(folder: &Path) -> Vec<(String, String)> {
    let file = |name: &str| path(&folder.join(name)).to_owned();
    let (data, trace, vx) = (file("data"), file("host_0.csv"), file("data/vx"));
    std::fs::create_dir(&data).expect("a folder");
    let line = |n: u64| {
        format!(
            "{},host,0,Read,{},8192,200000",
            128_166_372_000_000_000 + n * 400_000,
            n * 7919 % 30_000 * 8192
        )
    };
    let rows: Vec<String> = (0..400).map(line).collect();
    std::fs::write(&trace, rows.join("\n")).expect("a trace");
    let job: [&[&str]; 6] = [
        &["run", &data, "--unique-bytes", "1M", "--seconds", "100ms"],
        &["vxbench", &vx, "-w", "write", "-i", "iosize=64k,iocount=16"],
        &["os", "--quick", "--only", "getpid"],
        &["campaign", "run", "random-reads", &data, "--rounds", "1", "--max-file-size", "1M"],
        &["trace", "analyze", &trace],
        &["simulate", &trace, "--drive", "hp-c2200a"],
    ];
    let mut made = vec![("evaluate".to_owned(), SMALL.to_owned())];
    for words in job {
        let out = file(&format!("{}.ioscape.json", words[0]));
        run(&[words, &["--output", &out]].concat()).ended(0);
        made.push((words[0].to_owned(), out));
    }
    made
}

#[test]
fn pages_of_every_kind_fit_a_telephone() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary directory");
    let results = results(folder.path());
    let files: Vec<&str> = results.iter().map(|(_, file)| file.as_str()).collect();
    let mut pages: Vec<(&str, Vec<&str>)> =
        results.iter().map(|(name, file)| (name.as_str(), vec![file.as_str()])).collect();
    pages.push(("all of them", files));
    let mut wrong = Vec::new();
    for (name, files) in pages {
        let page = folder.path().join("page.html");
        run(&[&["report", "--force", "-o", path(&page)], &files[..]].concat()).ended(0);
        let Some(mut page) = Page::open(&format!("file://{}", path(&page)), 400) else {
            return skipped("there is no Chromium, so no page was opened");
        };
        page.wait_until(
            "document.readyState === 'complete' && document.querySelector('h1') !== null",
        );
        let wide = page.value("document.documentElement.scrollWidth");
        if wide.as_u64().is_none_or(|wide| wide > 400) {
            wrong.push(format!("{name}: {wide} pixels wide"));
        }
        let empty = page.value("[...document.querySelectorAll('figure')].filter(f => !f.querySelector('.pt, .series, .line, .cell')).length");
        if empty != 0 {
            wrong.push(format!("{name}: {empty} figures without a mark"));
        }
        wrong.extend(page.said().iter().map(|said| format!("{name}: {said}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn legends_answer_to_the_keyboard() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("page.html");
    run(&["report", SMALL, "-o", path(&file)]).ended(0);
    let Some(mut page) = Page::open(&format!("file://{}", path(&file)), 1280) else {
        return skipped("there is no Chromium, so no page was opened");
    };
    page.wait_until("document.querySelector('.legend li[data-name]')?.tabIndex === 0");
    page.value("document.querySelector('.legend li[data-name]').focus()");
    let pressed = "document.activeElement.getAttribute('aria-pressed')";
    for (key, state) in [("Enter", "false"), (" ", "true")] {
        page.press(key);
        assert_eq!(page.value(pressed), state, "after {key:?}");
    }
    assert!(page.said().is_empty(), "{:?}", page.said());
}

#[test]
fn real_evaluations_on_one_page_take_two_megabytes_at_most() {
    let Some(folder) = data("evaluations") else {
        return skipped("no evaluations: set IOSCAPE_DATA to the folder of the data");
    };
    let entries = std::fs::read_dir(folder).expect("the evaluations");
    let all: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let mut files: Vec<&str> = all.iter().map(|file| path(file)).collect();
    files.retain(|file| file.ends_with(".json"));
    let folder = tempfile::tempdir().expect("a temporary directory");
    let page = folder.path().join("all.html");
    run(&[&["report", "-o", path(&page)], &files[..]].concat()).ended(0);
    let text = super::common::read(&page);
    let figures = text.matches("<figure").count();
    assert!(figures >= 20 && text.len() <= 2 << 20, "{figures} figures, {} bytes", text.len());
}
