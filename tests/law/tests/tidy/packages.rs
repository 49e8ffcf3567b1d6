//! What is published is whole: a crate's sources and tests include no file from outside its folder, and its manifest says what it is.

use super::sources;
use std::path::{Component, Path, PathBuf};

/// Macros whose first word is a path, or the beginning of one.
const MACROS: [&str; 4] = ["include_str!(", "include_bytes!(", "include!(", "concat!("];

/// The paths upwards that a source includes, as they are written.
fn upwards(text: &str) -> Vec<String> {
    let after = |name: &'static str| text.split(name).skip(1).map(str::trim_start);
    let words = MACROS.into_iter().flat_map(after).filter_map(|rest| rest.strip_prefix('"'));
    let words = words.filter_map(|rest| rest.split('"').next());
    words.filter(|path| path.starts_with("../")).map(str::to_owned).collect()
}

/// Where a path leads from `folder`, by its words alone: a link in the crate counts as what is there.
fn leads(folder: &Path, path: &str) -> PathBuf {
    Path::new(path).components().fold(folder.to_owned(), |mut at, part| {
        match part {
            Component::ParentDir => drop(at.pop()),
            part => at.push(part),
        }
        at
    })
}

/// What the manifest of the crate in `home` leaves out of its package.
fn left_out(home: &Path) -> Vec<PathBuf> {
    let manifest: toml::Table = sources::text(&home.join("Cargo.toml")).parse().expect("TOML");
    let listed = manifest["package"].get("exclude").and_then(|list| list.as_array());
    let words = listed.into_iter().flatten().filter_map(|word| word.as_str());
    words.map(|word| home.join(word)).collect()
}

#[test]
fn crates_include_no_file_from_outside() {
    let mut seen = 0;
    for name in sources::crates() {
        let home = sources::root().join("crates").join(&name);
        let left_out = left_out(&home);
        let mut packed = sources::below(&home);
        packed.retain(|source| !left_out.iter().any(|one| source.starts_with(one)));
        for source in packed {
            let folder = source.parent().expect("a folder");
            for path in upwards(&sources::text(&source)) {
                let there = leads(folder, &path);
                assert!(there.starts_with(&home), "{}: {path} is not packed", source.display());
                // The beginning of several names, or one name.
                let is_there = if path.ends_with('/') { there.is_dir() } else { there.is_file() };
                assert!(is_there, "{}: {path} is not there", source.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "only {seen} included files were seen");
}

#[test]
fn every_manifest_says_what_a_registry_asks_for() {
    for name in sources::crates() {
        let manifest =
            sources::text(&sources::root().join("crates").join(&name).join("Cargo.toml"));
        for key in ["description", "license", "readme", "keywords", "categories", "rust-version"] {
            assert!(manifest.lines().any(|line| line.starts_with(key)), "{name}: no {key}");
        }
    }
}
