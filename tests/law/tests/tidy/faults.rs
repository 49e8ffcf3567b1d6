//! The table of faults in `docs/faults.md`: every test it names exists.

use crate::sources;
use std::fs;

/// Least number of rows.
const LEAST: usize = 60;

/// The names in the last column of the first table.
fn named() -> Vec<String> {
    let text = fs::read_to_string(sources::root().join("docs/faults.md")).expect("docs/faults.md");
    let rows = text.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let last = |row: &str| {
        let columns: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        assert_eq!(columns.len(), 7, "a row has six columns: {row}");
        columns[6].trim_matches('`').to_owned()
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
    let file = match module.split_once('/') {
        Some((of, module)) => root.join("crates").join(of).join(format!("tests/{module}.rs")),
        None => root.join(format!("crates/cli/tests/command/{module}.rs")),
    };
    fs::read_to_string(file).is_ok_and(|text| text.contains(&format!("#[test]\nfn {test}()")))
}

#[test]
fn every_fault_has_a_test_that_puts_it_in() {
    let named = named();
    assert!(named.len() >= LEAST, "{} rows", named.len());
    for name in named {
        assert!(exists(&name), "docs/faults.md names {name}, which is no test");
    }
}
