//! Records how this program is compiled, because the integer rating depends on it: compiler,
//! optimisation level, profile, link-time optimisation.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler).arg("--version").output();
    let version = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let version = version.unwrap_or_else(|_| "rustc of unknown version".to_owned());
    let level = env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=IOSCAPE_COMPILER={version}, optimisation level {level}");
    let profile = profile().unwrap_or_default();
    println!("cargo:rustc-env=IOSCAPE_PROFILE={profile}");
    println!("cargo:rustc-env=IOSCAPE_LTO={}", lto(&profile).unwrap_or_default());
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    println!("cargo:rustc-env=IOSCAPE_COMPILER_FLAGS={}", code_flags(&flags));
}

/// Returns the options that change the code, without paths: these differ between builds of one
/// program, and results are published.
fn code_flags(encoded: &str) -> String {
    let mut words = encoded.split('\u{1f}');
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        let of_kind = |kind| Some((kind, word.strip_prefix(kind)?));
        let Some((kind, rest)) = ["-C", "--codegen", "-Z"].into_iter().find_map(of_kind) else {
            continue;
        };
        let option = if rest.is_empty() { words.next().unwrap_or_default() } else { rest };
        let option = option.trim_start_matches('=');
        let name = option.split('=').next().unwrap_or_default();
        found.push(format!("{kind} {}", if option.contains('/') { name } else { option }));
    }
    found.join(" ")
}

/// Returns the name of the profile. Cargo only says whether it is like `release`, but the build
/// folder has the profile's name.
fn profile() -> Option<String> {
    let out = env::var("OUT_DIR").ok()?;
    let build = Path::new(&out).ancestors().find(|folder| folder.ends_with("build"))?;
    let name = build.parent()?.file_name()?.to_str()?;
    Some(if name == "debug" { "dev".to_owned() } else { name.to_owned() })
}

/// Returns the profile's link-time optimisation and where it is set: an environment variable or the
/// workspace's manifest. `None` if neither is available, or the profile inherits it from another.
fn lto(profile: &str) -> Option<String> {
    let variable = format!("CARGO_PROFILE_{}_LTO", profile.to_uppercase().replace('-', "_"));
    println!("cargo:rerun-if-env-changed={variable}");
    if let Ok(value) = env::var(variable) {
        return Some(format!("{value}, by the environment"));
    }
    let manifest = Path::new(&env::var_os("CARGO_MANIFEST_DIR")?).join("../../Cargo.toml");
    println!("cargo:rerun-if-changed={}", manifest.display());
    let text = std::fs::read_to_string(manifest).ok()?;
    let section = format!("[profile.{profile}]");
    let lines = text.lines().skip_while(|line| line.trim() != section).skip(1);
    let mut own = lines.take_while(|line| !line.starts_with('['));
    let set = own.find_map(|line| line.strip_prefix("lto = "));
    let unset = ["dev", "release"].contains(&profile).then_some("false");
    let value = set.map(|value| value.trim().trim_matches('"')).or(unset)?;
    Some(format!("{value}, by the manifest"))
}
