//! How large the crates are: lines of their sources without tests and with them, as `ARCHITECTURE.md` states them.

use super::{circles, sources};
use std::fs;
use std::path::{Path, PathBuf};
use syn::spanned::Spanned;

/// A stated size may be off by this share, so that not every change has to touch the table.
const OFF_MOST: f64 = 0.1;

/// Lines of one source that are compiled for tests alone, their attributes and comments included.
fn lines_for_tests(file: &syn::File) -> usize {
    let only = file.items.iter().filter(|item| sources::only_for_tests(sources::attributes(item)));
    only.map(|item| item.span().end().line + 1 - item.span().start().line).sum()
}

/// Whether a source is part of what is shipped; the others serve tests, benches or examples.
fn is_shipped(path: &Path, modules: &[PathBuf]) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name == "build.rs" || modules.iter().any(|m| m == path) && !name.starts_with("testing")
}

/// Lines of a crate, without tests and with them.
fn size(name: &str) -> [usize; 2] {
    let folder = sources::root().join("crates").join(name);
    let modules = circles::files_of_modules(&folder);
    let mut lines = [0, 0];
    for path in sources::below(&folder) {
        let all = sources::text(&path).lines().count();
        let tests = match is_shipped(&path, &modules) {
            true => lines_for_tests(&sources::parsed(&path)),
            false => all,
        };
        lines = [lines[0] + all - tests, lines[1] + all];
    }
    lines
}

/// The size that a row of the table of crates states, if it is that of this crate: ``| `schema` | 6.1 | 7.5 |``, in thousands of lines.
fn stated(row: &str, name: &str) -> Option<[f64; 2]> {
    let mut cells = row.strip_prefix(&format!("| `{name}` | "))?.split(" | ");
    let mut number = || cells.next()?.trim_end_matches(" |").parse().ok();
    Some([number()?, number()?])
}

/// `cargo test -p ioscape-law sizes -- --nocapture` prints the table as it should be.
#[test]
#[expect(clippy::print_stdout, reason = "the table is for whoever asks for it")]
fn the_stated_sizes_of_the_crates_are_right() {
    let text = fs::read_to_string(sources::root().join("ARCHITECTURE.md")).expect("the page");
    let mut off = Vec::new();
    let mut sum = [0, 0];
    for name in sources::crates() {
        let found = size(&name);
        let thousands = found.map(|lines| lines as f64 / 1000.0);
        println!("| `{name}` | {:.1} | {:.1} |", thousands[0], thousands[1]);
        sum = [sum[0] + found[0], sum[1] + found[1]];
        let stated = text.lines().find_map(|row| stated(row, &name));
        let is_near = |[stated, found]: [f64; 2]| (stated - found).abs() <= found * OFF_MOST + 0.05;
        let near = |stated: [f64; 2]| [0, 1].iter().all(|&i| is_near([stated[i], thousands[i]]));
        if !stated.is_some_and(near) {
            off.push(format!("{name}: {thousands:?}, stated {stated:?}"));
        }
    }
    println!("all: {} lines without tests, {} with them", sum[0], sum[1]);
    assert!(
        off.is_empty(),
        "the table of sizes in ARCHITECTURE.md, in thousands of lines: {off:#?}"
    );
}
