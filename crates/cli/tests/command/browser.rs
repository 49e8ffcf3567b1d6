//! Pages in a real browser: every figure is drawn, nothing is loaded, and the console stays empty.

use super::common::devtools::{BROWSERS, Page};
use super::common::{data, path, run, skipped};
use std::path::{Path, PathBuf};
use std::process::Command;

const SMALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/command/data/small.ioscape.json");

/// Width in pixels of an A4 sheet between its margins.
const PAPER: u32 = 718;
/// The same for a sheet in landscape, on which tables of many columns are printed.
const LANDSCAPE: u32 = 1047;

/// The page's content after its script ran, and the browser's messages; `None` without a browser.
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

/// A trace of 400 reads of one disk in MSR's format, which begins at request number `later`.
fn reads(later: u64) -> String {
    let line = |n: u64| {
        format!(
            "{},host,0,Read,{},8192,200000",
            128_166_372_000_000_000 + n * 400_000,
            n * 7919 % 30_000 * 8192
        )
    };
    (later..later + 400).map(line).collect::<Vec<String>>().join("\n")
}

/// A result of each kind that takes only seconds to make, named after its command.
fn results(folder: &Path) -> Vec<(String, String)> {
    let file = |name: &str| path(&folder.join(name)).to_owned();
    let [data, trace, later, vx] = ["data", "host_0.csv", "host_1.csv", "data/vx"].map(file);
    std::fs::create_dir(&data).expect("a folder");
    std::fs::write(&trace, reads(0)).expect("a trace");
    std::fs::write(&later, reads(400)).expect("a trace");
    let jobs: [(&str, &[&str]); 10] = [
        ("run", &["run", &data, "--unique-bytes", "1M", "--seconds", "100ms"]),
        ("vxbench", &["vxbench", &vx, "-w", "write", "-i", "iosize=64k,iocount=16"]),
        ("os", &["os", "--quick", "--only", "getpid"]),
        (
            "campaign",
            &["campaign", "run", "random-reads", &data, "--rounds", "1", "--max-file-size", "1M"],
        ),
        ("trace", &["trace", "analyze", &trace]),
        ("trace-compare", &["trace", "compare", &trace, &later]),
        ("simulate", &["simulate", &trace, "--drive", "hp-c2200a"]),
        ("predict", &["predict", SMALL, "--workloads", "today"]),
        ("compare", &["compare", SMALL, SMALL]),
        ("doctor", &["doctor", &data]),
    ];
    let mut made = vec![("evaluate".to_owned(), SMALL.to_owned())];
    for (name, words) in jobs {
        let out = file(&format!("{name}.ioscape.json"));
        run(&[words, &["--output", &out]].concat()).ended(0);
        made.push((name.to_owned(), out));
    }
    made.extend(characterized(folder, &trace));
    made
}

/// The characterization of reading a file; `None` where no program may be traced.
fn characterized(folder: &Path, read: &str) -> Option<(String, String)> {
    let out = path(&folder.join("characterize.ioscape.json")).to_owned();
    let ended = run(&["characterize", "-o", &out, "--", "cat", read]);
    if ended.code != Some(0) {
        skipped("no program may be watched here");
        return None;
    }
    Some(("characterize".to_owned(), out))
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
        let bare = page.value("[...document.querySelectorAll('figure')].filter(f => !f.querySelector('.values td')).length");
        if bare != 0 {
            wrong.push(format!("{name}: {bare} figures without a table"));
        }
        page.value("document.querySelectorAll('details').forEach(one => one.open = true)");
        let wide = page.value("document.documentElement.scrollWidth");
        if wide.as_u64().is_none_or(|wide| wide > 400) {
            wrong.push(format!("{name}: {wide} pixels wide with its tables open"));
        }
        page.show_as_printed(PAPER);
        let cut = page.value(&format!("[...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > 1 + (one.querySelector('th:nth-child(10)') ? {LANDSCAPE} : one.clientWidth)).length"));
        if cut != 0 {
            wrong.push(format!("{name}: {cut} tables cut on paper"));
        }
        wrong.extend(page.said().iter().map(|said| format!("{name}: {said}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn legends_answer_to_the_keyboard() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let Some(mut page) = small_page(folder.path(), "") else { return };
    page.value("document.querySelector('.legend li[data-name]').focus()");
    let pressed = "document.activeElement.getAttribute('aria-pressed')";
    for (key, state) in [("Enter", "false"), (" ", "true")] {
        page.press(key);
        assert_eq!(page.value(pressed), state, "after {key:?}");
    }
    assert!(page.said().is_empty(), "{:?}", page.said());
}

/// The page of the small evaluation, opened at a fragment, once its script has made the legend's
/// entries buttons; `None` without a browser.
fn small_page(folder: &Path, part: &str) -> Option<Page> {
    let file = folder.join("page.html");
    run(&["report", "--force", SMALL, "-o", path(&file)]).ended(0);
    let Some(mut page) = Page::open(&format!("file://{}{part}", path(&file)), 1280) else {
        skipped("there is no Chromium, so no page was opened");
        return None;
    };
    page.wait_until("document.querySelector('.legend li[data-name]')?.tabIndex === 0");
    Some(page)
}

#[test]
fn tables_behind_figures_open_by_the_keyboard() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let Some(mut page) = small_page(folder.path(), "") else { return };
    page.value("document.querySelector('#figure-unique-bytes .values summary').focus()");
    let is_open = "document.activeElement.parentElement.open";
    assert_eq!(page.value(is_open), false);
    page.press("Enter");
    page.wait_until(is_open);
    assert!(page.value("document.activeElement.parentElement.offsetHeight").as_f64() > Some(100.0));
}

#[test]
fn links_lead_to_what_is_folded_away() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let Some(mut page) = small_page(folder.path(), "") else { return };
    let every = "[...document.querySelectorAll('figure, .sentences li, .number')].every(one => one.id && one.querySelector(`a[href='#${one.id}']`))";
    assert_eq!(page.value(every), true, "every figure and finding has a link to itself");
    let folded = page.value("document.querySelector('details:not(.values) .sentences li').id");
    let id = folded.as_str().expect("a finding that is folded away").to_owned();
    let is_seen = format!("document.getElementById('{id}').checkVisibility()");
    assert_eq!(page.value(&is_seen), false);
    page.value(&format!("location.hash = '#{id}'"));
    page.wait_until(&is_seen);
    let Some(mut page) = small_page(folder.path(), &format!("#{id}")) else { return };
    page.wait_until(&is_seen);
    assert!(page.said().is_empty(), "{:?}", page.said());
}

#[test]
fn what_is_printed_is_neither_folded_out_nor_cut() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let Some(mut page) = small_page(folder.path(), "") else { return };
    page.value("document.querySelectorAll('details').forEach(one => one.open = true)");
    let seen = |what: &str| {
        format!("[...document.querySelectorAll('{what}')].some(one => one.checkVisibility())")
    };
    let gone = ["nav", ".metrics", ".scale", ".anchor", ".values", "details table"];
    for what in gone {
        assert_eq!(page.value(&seen(what)), true, "{what} on the screen");
    }
    page.show_as_printed(PAPER);
    for what in gone {
        assert_eq!(page.value(&seen(what)), false, "{what} on paper");
    }
    let whole = "[...document.querySelectorAll('figure')].every(one => getComputedStyle(one).breakInside === 'avoid')";
    assert_eq!(page.value(whole), true);
    assert_eq!(page.value(&seen("svg.plot")), true);
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

#[test]
fn real_traces_on_one_page_take_two_megabytes_at_most() {
    let traces = ["hplajw/ajw.1week.srt", "cloudphysics/cloudPhysicsIO.vscsi"].map(data);
    let [Some(first), Some(second)] = traces else {
        return skipped("no traces: set IOSCAPE_DATA to the folder of the data");
    };
    let folder = tempfile::tempdir().expect("a temporary directory");
    let [one, other, page] = ["a.json", "b.json", "c.html"].map(|name| folder.path().join(name));
    for (trace, result) in [(&first, &one), (&second, &other)] {
        run(&["trace", "analyze", path(trace), "-o", path(result)]).ended(0);
    }
    run(&["report", path(&one), path(&other), "-o", path(&page)]).ended(0);
    let text = super::common::read(&page);
    let figures = text.matches("<figure id=\"figure-traces-").count();
    assert!(figures >= 10 && text.len() <= 2 << 20, "{figures} figures, {} bytes", text.len());
}
