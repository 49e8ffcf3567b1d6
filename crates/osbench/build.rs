//! Notes the compiler's version, which the integer rating depends on.

use std::process::Command;

fn main() {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler).arg("--version").output();
    let version = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let version = version.unwrap_or_else(|_| "rustc of unknown version".to_owned());
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=IOSCAPE_COMPILER={version}, optimisation level {level}");
}
