//! House law as tests: the star of crates, a purpose line in every file, and who may touch the machine.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Functions of their inputs: they may import `schema` alone.
const PURE: [&str; 7] = ["workload", "scaling", "simulate", "trace", "report", "study", "andrew"];

/// Rooms that touch the machine, through `machine`: they may import `schema` and `machine`.
const IMPURE: [&str; 3] = ["measure", "osbench", "observe"];

/// What the siblings stand on.
const FEET: [&str; 2] = ["schema", "machine"];

/// Crates whose tests still import a sibling: such tests belong at the head.
const TESTS_TO_MOVE: [(&str, &str); 2] = [("measure", "workload"), ("report", "trace")];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the workspace is there")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the project can be read") {
        let path = entry.expect("an entry can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            sources(&path, found);
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
}

fn all_sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    sources(&root(), &mut found);
    assert!(found.len() > 30, "the walk finds the sources");
    found
}

/// Names of the workspace crates in one table of a crate's manifest.
fn siblings_in(name: &str, table: &str) -> BTreeSet<String> {
    let path = root().join("crates").join(name).join("Cargo.toml");
    let manifest: toml::Table =
        fs::read_to_string(&path).expect("a manifest").parse().expect("a manifest is TOML");
    let dependencies = manifest.get(table).and_then(|t| t.as_table().cloned()).unwrap_or_default();
    dependencies.keys().filter_map(|k| k.strip_prefix("ioscape-")).map(str::to_owned).collect()
}

#[test]
fn the_crates_form_a_star() {
    let may_import = |name: &str, allowed: &[&str]| {
        let allowed: BTreeSet<String> = allowed.iter().map(|&a| a.to_owned()).collect();
        for table in ["dependencies", "dev-dependencies"] {
            let mut imports = siblings_in(name, table);
            if table == "dev-dependencies" {
                imports.retain(|other| !TESTS_TO_MOVE.contains(&(name, other)));
            }
            assert!(imports.is_subset(&allowed), "{name} may import {allowed:?}, not {imports:?}");
        }
    };
    may_import("schema", &[]);
    may_import("machine", &["schema"]);
    PURE.iter().for_each(|name| may_import(name, &["schema"]));
    IMPURE.iter().for_each(|name| may_import(name, &FEET));
    let folders: BTreeSet<String> = fs::read_dir(root().join("crates"))
        .expect("the crates are there")
        .map(|e| e.expect("an entry can be read").file_name().to_string_lossy().into_owned())
        .collect();
    let known: BTreeSet<String> =
        PURE.iter().chain(&IMPURE).chain(&FEET).chain(&["cli"]).map(|&n| n.to_owned()).collect();
    assert_eq!(
        folders, known,
        "a new crate takes its place in the star, here and in ARCHITECTURE.md"
    );
}

#[test]
fn every_file_opens_with_its_purpose() {
    for path in all_sources() {
        let text = fs::read_to_string(&path).expect("a source is text");
        let first = text.lines().next().unwrap_or_default();
        assert!(first.starts_with("//! ") && first.len() > 20, "{}: {first:?}", path.display());
    }
}

#[test]
fn no_file_is_longer_than_500_lines() {
    for path in all_sources() {
        let lines = fs::read_to_string(&path).expect("a source is text").lines().count();
        assert!(lines <= 500, "{} has {lines} lines: split it", path.display());
    }
}

#[test]
fn only_impure_rooms_touch_the_machine() {
    let law = fs::read_to_string(root().join("clippy.toml")).expect("the root law");
    let bans = ["Instant::now", "SystemTime::now", "File::open", "fs::write", "thread::spawn"];
    for ban in bans {
        assert!(law.contains(ban), "clippy.toml bans {ban}");
    }
    for name in PURE.into_iter().chain(IMPURE).chain(FEET) {
        let folder = root().join("crates").join(name);
        let own_law = folder.join("clippy.toml").exists();
        assert_eq!(
            own_law,
            IMPURE.contains(&name) || name == "machine",
            "{name}: a crate's own clippy.toml lifts the bans"
        );
        if own_law {
            continue;
        }
        let mut found = Vec::new();
        sources(&folder.join("src"), &mut found);
        for path in found {
            let text = fs::read_to_string(&path).expect("a source is text");
            for ban in bans.iter().chain(&["std::fs::", "std::process::", "std::env::", "unsafe "])
            {
                assert!(!text.contains(ban), "{} uses {ban}", path.display());
            }
        }
    }
}
