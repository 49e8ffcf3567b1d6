//! What the tests of several modules share.

use std::path::PathBuf;

/// A directory of the build: on a disk where there is one, unlike the system's directory of temporary files.
pub fn build_directory() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.parent().unwrap().to_owned()
}

/// Says that a test could not be run here, and why.
#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
pub fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
}
