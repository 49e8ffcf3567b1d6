//! One step of a benchmark in a process of its own: what the hidden command of the program does.

use super::case::Program;
use super::{mab, today};
use ioscape_machine::error::Error;
use std::ffi::OsString;

/// Does the step that `words` name; `program` is how to start further steps.
///
/// # Errors
/// There is no such step, or it failed.
pub fn step(program: &Program, words: &[OsString]) -> Result<(), Error> {
    let unknown = || Error::Unsupported {
        what: "this step".to_owned(),
        why: "it is for the program's own use: see ioscape os".to_owned(),
    };
    let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    let words = words.ok_or_else(unknown)?;
    match words.as_slice() {
        [today::NOTHING] => Ok(()),
        [name, rest @ ..] => {
            let place = rest.last().unwrap_or(name);
            let done = mab::steps::step(program, &words).ok_or_else(unknown)?;
            done.map_err(|error| Error::io("do a step of a benchmark with", place.as_ref(), error))
        }
        [] => Err(unknown()),
    }
}
