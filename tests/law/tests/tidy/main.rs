//! House law as tests: the star of crates, no circles of files, purpose and length, and who may touch the machine.

mod circles;
mod faults;
mod functions;
mod links;
mod msrv;
mod packages;
mod papers;
mod schema;
mod sizes;
mod sources;
mod star;

use star::{ARGUMENTS, FEET, IMPURE, PURE};
use std::fs;

#[test]
fn every_file_opens_with_its_purpose() {
    for path in sources::all() {
        let text = sources::text(&path);
        let first = text.lines().next().unwrap_or_default();
        assert!(first.starts_with("//! ") && first.len() > 20, "{}: {first:?}", path.display());
    }
}

#[test]
fn no_file_is_longer_than_500_lines() {
    for path in sources::all() {
        let lines = sources::text(&path).lines().count();
        assert!(lines <= 500, "{} has {lines} lines: split it", path.display());
    }
}

#[test]
fn a_thread_that_cannot_be_had_is_no_panic() {
    let crates = sources::root().join("crates");
    for path in sources::all().iter().filter(|path| path.starts_with(&crates)) {
        let place = path.strip_prefix(&crates).unwrap_or(path).display().to_string();
        if !place.contains("/src/") || place.ends_with("tests.rs") {
            continue;
        }
        let text = sources::text(path);
        let shipped = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for panicking in ["thread::spawn(", "scope.spawn("] {
            assert!(
                !shipped.contains(panicking),
                "{place}: {panicking}...) panics: thread::Builder"
            );
        }
    }
}

#[test]
fn modules_lie_where_their_names_say() {
    for path in sources::all() {
        let file = sources::parsed(&path);
        let declared = file.items.iter().filter_map(|i| match i {
            syn::Item::Mod(m) => sources::path_attribute(&m.attrs),
            _ => None,
        });
        for target in declared {
            let shared = target.ends_with("tests.rs") || target.contains("tests/");
            assert!(shared, "{}: `#[path]` is for tests and what they share", path.display());
        }
    }
}

#[test]
fn only_impure_rooms_touch_the_machine() {
    let law = fs::read_to_string(sources::root().join("clippy.toml")).expect("the root law");
    let bans = ["Instant::now", "SystemTime::now", "File::open", "fs::write", "thread::spawn"];
    for ban in bans {
        assert!(law.contains(ban), "clippy.toml bans {ban}");
    }
    for name in PURE.into_iter().chain(IMPURE).chain(FEET).chain([ARGUMENTS]) {
        let folder = sources::root().join("crates").join(name);
        let own_law = folder.join("clippy.toml").exists();
        assert_eq!(
            own_law,
            IMPURE.contains(&name) || name == "machine",
            "{name}: a crate's own clippy.toml lifts the bans"
        );
        if own_law {
            continue;
        }
        for path in sources::below(&folder.join("src")) {
            let text = sources::text(&path);
            for ban in bans.iter().chain(&["std::fs::", "std::process::", "std::env::", "unsafe "])
            {
                assert!(!text.contains(ban), "{} uses {ban}", path.display());
            }
        }
    }
}
