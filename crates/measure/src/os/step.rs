//! One step of a benchmark in a process of its own: what the hidden command of the program does.

use super::today;
use crate::error::Error;
use std::ffi::OsString;

/// Does the step that `words` name.
///
/// # Errors
/// There is no such step, or it failed.
pub fn step(words: &[OsString]) -> Result<(), Error> {
    let unknown = || Error::Unsupported {
        what: "this step".to_owned(),
        why: "it is for the program's own use: see ioscape os".to_owned(),
    };
    let (name, _rest) = words.split_first().ok_or_else(unknown)?;
    match name.to_str() {
        Some(today::NOTHING) => Ok(()),
        _ => Err(unknown()),
    }
}
