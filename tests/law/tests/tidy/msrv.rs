//! The oldest Rust that the workspace names is new enough for everything that it is built from.

use super::sources;
use serde_json::Value;
use std::process::Command;

/// A version such as `1.89` or `1.89.0`, for comparison.
fn version(text: &str) -> Vec<u32> {
    text.split('.').map(|part| part.parse().expect("a number")).chain([0]).take(3).collect()
}

/// The names and versions of all packages that need a newer Rust than ours.
fn too_new(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().expect("packages");
    let of = |package: &Value| package["rust_version"].as_str().map(version);
    let ours = packages.iter().find(|p| p["name"] == "ioscape").and_then(of).expect("our version");
    let newer = packages.iter().filter(|p| of(p).is_some_and(|needed| needed > ours));
    newer
        .map(|p| format!("{} {} needs Rust {}", p["name"], p["version"], p["rust_version"]))
        .collect()
}

#[test]
fn no_dependency_needs_a_newer_rust() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let told = Command::new(cargo)
        .args(["metadata", "--locked", "--offline", "--format-version", "1"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(sources::root())
        .output()
        .expect("cargo runs");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let metadata = serde_json::from_slice(&told.stdout).expect("JSON");
    assert_eq!(too_new(&metadata), [""; 0], "raise rust-version, or take an older release");
}

#[test]
fn a_package_that_needs_a_newer_rust_is_found() {
    let package = |name: &str, needs: &str| serde_json::json!({"name": name, "version": "1.0.0", "rust_version": needs});
    let ours = package("ioscape", "1.89");
    let all = [ours, package("old", "1.70.1"), package("same", "1.89.0"), package("new", "1.90")];
    let found = too_new(&serde_json::json!({ "packages": all }));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("new"), "{found:?}");
}
