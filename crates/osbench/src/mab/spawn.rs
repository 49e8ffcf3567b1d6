//! Processes of the benchmark: one of its own steps, or another program, run to its end.

use crate::case::Program;
use std::io;
use std::process::{Command, Stdio};

/// Runs a step in a process of its own and waits for it.
pub(crate) fn spawn(program: &Program, words: &[&str]) -> io::Result<()> {
    let mut command = Command::new(&program.path);
    command.args(&program.first).args(words);
    wait(&mut command, words.first().unwrap_or(&""))
}

/// Runs a command whose output nobody reads.
pub(super) fn wait(command: &mut Command, name: &str) -> io::Result<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("the step {name} ended with {status}")))
    }
}
