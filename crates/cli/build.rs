//! Finds the commit that a release is built from; elsewhere results go without it.

#![allow(clippy::print_stdout, reason = "cargo reads what a build script prints")]

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Builds for development would be made anew after every commit, and seldom be of exactly that commit.
    if std::env::var("PROFILE").as_deref() != Ok("release") {
        return;
    }
    if let Some(commit) = commit() {
        println!("cargo:rustc-env=IOSCAPE_COMMIT={commit}");
        watch();
    }
}

/// Asks for this script again once another commit is checked out, or a file that is not committed changes what is built.
fn watch() {
    let heads = ["HEAD", "logs/HEAD"]
        .into_iter()
        .filter_map(|name| git(&["rev-parse", "--git-path", name]));
    let sources = ["../../crates", "../../Cargo.toml", "../../Cargo.lock"].map(str::to_owned);
    // Cargo takes a file that does not exist for one that has changed.
    for path in heads.chain(sources).filter(|path| Path::new(path).exists()) {
        println!("cargo:rerun-if-changed={path}");
    }
}

/// What git says of this clone; nothing in a package or in a clone of something else.
fn commit() -> Option<String> {
    let root = git(&["rev-parse", "--show-toplevel"])?;
    let here = std::env::var_os("CARGO_MANIFEST_DIR")?;
    let ours = Path::new(&here).join("../..").canonicalize().ok()?;
    (Path::new(&root).canonicalize().ok()? == ours).then_some(())?;
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    git(&["describe", "--always", "--dirty", "--abbrev=12"])
}

fn git(words: &[&str]) -> Option<String> {
    let told = Command::new("git").args(words).output().ok()?;
    let text = String::from_utf8(told.stdout).ok()?.trim().to_owned();
    (told.status.success() && !text.is_empty()).then_some(text)
}
