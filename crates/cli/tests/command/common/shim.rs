//! A shim between the command and the C library, for another clock or no memory.

use super::{ioscape, skipped};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Builds the library from this C source in `folder`, if that is possible here.
pub fn made(folder: &Path, source: &str) -> Option<PathBuf> {
    let (file, library) = (folder.join("shim.c"), folder.join("shim.so"));
    fs::write(&file, source).expect("a file");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).args([&library, &file]).arg("-ldl");
    let made = compiler.stdin(Stdio::null()).output();
    if !made.is_ok_and(|made| made.status.success()) {
        skipped("no C compiler");
        return None;
    }
    Some(library)
}

/// The command with these arguments, with the library preloaded.
pub fn before(shim: &Path, arguments: &[&str]) -> Command {
    let mut command = ioscape(arguments);
    command.env("LD_PRELOAD", shim);
    command
}
