//! What the hidden command of the program does in a process of its own: nothing, so that what starting the program costs is known.

use super::today;
use ioscape_machine::error::Error;
use std::ffi::OsString;

/// Does the step that `words` name.
///
/// # Errors
/// There is no such step.
pub fn step(words: &[OsString]) -> Result<(), Error> {
    match words {
        [name] if name == today::NOTHING => Ok(()),
        _ => Err(Error::Unsupported {
            what: "this step".to_owned(),
            why: "it is for the program's own use: see ioscape os".to_owned(),
        }),
    }
}
