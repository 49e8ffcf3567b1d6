//! The table of faults in `docs/faults.md`: every test it names exists, and no kind of fault is left out.

use crate::sources;
use std::fs;

/// Least number of rows.
const LEAST: usize = 60;

/// What faults there are of.
const KINDS: [&str; 9] = [
    "file",
    "device",
    "memory",
    "process",
    "clock",
    "signal",
    "privilege",
    "output",
    "concurrency",
];

/// Least number of rows of each.
const LEAST_OF_A_KIND: usize = 3;

/// First and last column of the first table.
fn named() -> Vec<(String, String)> {
    let text = fs::read_to_string(sources::root().join("docs/faults.md")).expect("docs/faults.md");
    let rows = text.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let last = |row: &str| {
        let columns: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        assert_eq!(columns.len(), 8, "a row has seven columns: {row}");
        (columns[1].to_owned(), columns[7].trim_matches('`').to_owned())
    };
    rows.map(last).collect()
}

fn exists(name: &str) -> bool {
    let root = sources::root();
    if let Some(system) = name.strip_prefix("ioscape-real ") {
        let text = fs::read_to_string(root.join("tests/real/src/systems/mod.rs"));
        return text.is_ok_and(|text| text.contains(&format!("name: \"{system}\"")));
    }
    let Some((module, test)) = name.split_once("::") else { return false };
    let files = match module.split_once('/') {
        Some((of, module)) => ["tests", "src"]
            .map(|place| root.join(format!("crates/{of}/{place}/{module}.rs")))
            .to_vec(),
        None => vec![root.join(format!("crates/cli/tests/command/{module}.rs"))],
    };
    let has_test = |text: String| {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        lines
            .windows(2)
            .any(|two| two[0] == "#[test]" && two[1].starts_with(&format!("fn {test}()")))
    };
    files.into_iter().any(|file| fs::read_to_string(file).is_ok_and(has_test))
}

#[test]
fn every_fault_has_a_test_that_puts_it_in() {
    let named = named();
    assert!(named.len() >= LEAST, "{} rows", named.len());
    for kind in KINDS {
        let rows = named.iter().filter(|(of, _)| of == kind).count();
        assert!(rows >= LEAST_OF_A_KIND, "{rows} rows of {kind}");
    }
    for (kind, name) in named {
        assert!(KINDS.contains(&kind.as_str()), "{kind} is no kind of fault");
        assert!(exists(&name), "docs/faults.md names {name}, which is no test");
    }
}
