//! The result of long work, saved after every step: in the requested output, or else in a copy.

use super::{Destination, Outputs, Tell};
use crate::error::Error;
use std::path::{Path, PathBuf};

/// Outputs, one of which is saved repeatedly before the work is done.
#[derive(Debug)]
pub struct SavedOutputs {
    /// All outputs.
    pub outputs: Outputs,
    /// The saved one, by the name of its argument.
    what: &'static str,
    /// Its name if it has to go elsewhere.
    name: PathBuf,
    /// Where it is saved meanwhile, if not in its own place.
    copy: Option<Destination>,
    tell: Tell,
}

impl SavedOutputs {
    /// Prepares to save the output `what`. If it is a pipe, which takes the result only once, or
    /// was not requested, a copy `name` is saved in the directory of temporary files, or in another
    /// one if that cannot be written.
    ///
    /// # Errors
    /// No copy can be created.
    pub fn new(
        mut outputs: Outputs,
        what: &'static str,
        name: &Path,
        tell: Tell,
    ) -> Result<Self, Error> {
        let copy = match outputs.get(what).is_some_and(|output| output.is_replaced()) {
            true => None,
            false => Some(Destination::open_elsewhere(name, tell)?),
        };
        Ok(Self { outputs, what, name: name.to_owned(), copy, tell })
    }

    /// Saves the text so far. If that fails, it is saved elsewhere from now on, which is reported
    /// once.
    pub fn save(&mut self, text: &str) {
        let Some(output) = self.copy.as_mut().or(self.outputs.get(self.what)) else { return };
        let Err(error) = output.text(text) else { return };
        match Destination::elsewhere(&self.name, text, self.tell) {
            Some(copy) => {
                let copy = self.copy.insert(copy).path().display();
                (self.tell)(&format!("ioscape: {error}; what is measured is saved in {copy}"));
            }
            None => (self.tell)(&format!("ioscape: {error}: the results so far are not saved")),
        }
    }

    /// Saves it once more, unless the output itself already holds what was saved.
    pub fn save_aside(&mut self, text: &str) {
        if self.outputs.get(self.what).is_none_or(|output| !output.is_replaced()) {
            self.save(text);
        }
    }

    /// Removes the copy, once the output is where the user wants it.
    pub fn remove_copy(&mut self) {
        if let Some(copy) = self.copy.take() {
            copy.remove();
        }
    }

    /// Returns where everything saved so far is.
    pub fn saved_in(&mut self) -> Option<&Path> {
        let output = self.outputs.get(self.what).filter(|output| output.is_replaced());
        output.or(self.copy.as_mut()).map(|output| output.path())
    }
}

impl Destination {
    /// Opens an output that the user did not name: in the current directory, that of temporary
    /// files, or another one.
    ///
    /// # Errors
    /// None of these can be written.
    pub fn open_somewhere(name: &Path, tell: Tell) -> Result<Self, Error> {
        let opened = Self::open_unnamed(name, false, tell);
        opened.or_else(|_| Self::open_elsewhere(name, tell))
    }
}
