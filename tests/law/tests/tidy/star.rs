//! The star of crates: who may import whom, tests and benches included.

use super::sources;
use std::collections::BTreeSet;
use std::fs;

/// Functions of their inputs: they may import `schema` alone.
pub const PURE: [&str; 7] =
    ["workload", "scaling", "simulate", "trace", "report", "study", "andrew"];

/// Rooms that touch the machine, through `machine`: they may import `schema` and `machine`.
pub const IMPURE: [&str; 3] = ["measure", "osbench", "observe"];

/// What the siblings stand on.
pub const FEET: [&str; 2] = ["schema", "machine"];

/// The command line, which only the head imports: it may import the feet and the pure rooms, whose words its options take.
pub const ARGUMENTS: &str = "arguments";

/// Imports that the star forbids and that are still there, as `(who, whom)`. The list only ever shrinks.
const STILL_THERE: [(&str, &str); 0] = [];

/// Names of the workspace's crates that a crate's manifest depends on, in any of its tables.
fn imports_of(name: &str) -> BTreeSet<String> {
    let path = sources::root().join("crates").join(name).join("Cargo.toml");
    let manifest: toml::Table =
        fs::read_to_string(&path).expect("a manifest").parse().expect("a manifest is TOML");
    siblings_in(&manifest)
}

/// Dependencies of any kind, for any target, that belong to the workspace.
fn siblings_in(manifest: &toml::Table) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (key, value) in manifest {
        let Some(table) = value.as_table() else { continue };
        match key.as_str() {
            "dependencies" | "dev-dependencies" | "build-dependencies" => found
                .extend(table.keys().filter_map(|k| k.strip_prefix("ioscape-")).map(str::to_owned)),
            "target" => table
                .values()
                .filter_map(|t| t.as_table())
                .for_each(|t| found.append(&mut siblings_in(t))),
            _ => {}
        }
    }
    found
}

fn allowed_to(name: &str) -> Vec<&'static str> {
    match name {
        "schema" => Vec::new(),
        "machine" => vec!["schema"],
        ARGUMENTS => [&FEET[..], &PURE].concat(),
        _ if PURE.contains(&name) => vec!["schema"],
        _ => FEET.to_vec(),
    }
}

#[test]
fn the_crates_form_a_star() {
    for name in PURE.iter().chain(&IMPURE).chain(&FEET).chain(&[ARGUMENTS]) {
        for import in imports_of(name) {
            let allowed = allowed_to(name).contains(&import.as_str());
            let excepted = STILL_THERE.contains(&(name, import.as_str()));
            assert!(allowed || excepted, "{name} may import {:?}, not {import}", allowed_to(name));
        }
    }
    for (name, import) in STILL_THERE {
        assert!(imports_of(name).contains(import), "{name} is rid of {import}: shorten the list");
    }
}

#[test]
fn every_crate_has_its_place_in_the_star() {
    let mut known: Vec<&str> = [&PURE[..], &IMPURE, &FEET, &[ARGUMENTS, "cli"]].concat();
    known.sort_unstable();
    assert_eq!(sources::crates(), known, "a new crate: here and in ARCHITECTURE.md");
}

#[test]
fn dependencies_of_every_kind_are_seen() {
    let manifest = "[dependencies]\nserde = '1'\nioscape-a.workspace = true\n\
        [dev-dependencies]\nioscape-b.workspace = true\n\
        [target.'cfg(unix)'.build-dependencies]\nioscape-c.workspace = true\n";
    let found = siblings_in(&manifest.parse().expect("TOML"));
    assert_eq!(found, ["a", "b", "c"].map(str::to_owned).into());
}
