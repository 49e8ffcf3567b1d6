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

/// What cargo says of every package of the workspace, or why it says nothing. Only a package that no build has fetched is asked of the network.
fn metadata() -> Result<Value, String> {
    let ask = |network: &[&str]| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let said = Command::new(cargo)
            .args(["metadata", "--locked", "--format-version", "1"])
            .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
            .args(network)
            .current_dir(sources::root())
            .output()
            .expect("cargo runs");
        match said.status.success() {
            true => Ok(serde_json::from_slice(&said.stdout).expect("JSON")),
            false => Err(String::from_utf8_lossy(&said.stderr).into_owned()),
        }
    };
    ask(&["--offline"]).or_else(|_| ask(&[]))
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn no_dependency_needs_a_newer_rust() {
    let metadata = match metadata() {
        Ok(metadata) => metadata,
        // A lock file that does not fit is a fault of ours, a registry that cannot be reached is not.
        Err(why) if !why.contains("lock file") => {
            eprintln!("SKIPPED: what dependencies need was not checked: {why}");
            return;
        }
        Err(why) => panic!("{why}"),
    };
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
