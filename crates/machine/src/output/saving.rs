//! The result of long work, saved after every step: in the requested output, or else in a copy.

use super::{Destination, Outputs, Tell};
use crate::error::Error;
use std::path::{Path, PathBuf};

/// The message that there is no place for a copy.
const UNSAVED: &str = "Note: neither a folder for temporary files (TMPDIR), nor the home nor the current directory can be written: nothing is \
saved before the end";

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
    /// one if that cannot be written; nowhere, which is reported, if none can.
    pub fn new(outputs: Outputs, what: &'static str, name: &Path, tell: Tell) -> Self {
        let mut all = Self { outputs, what, name: name.to_owned(), copy: None, tell };
        if all.place().is_none() {
            all.copy = Destination::open_elsewhere(name, tell).ok();
            if all.copy.is_none() {
                tell(UNSAVED);
            }
        }
        all
    }

    /// Returns where it is saved before the work is done.
    fn place(&mut self) -> Option<&mut Destination> {
        let output = self.outputs.get(self.what).filter(|output| output.is_replaced());
        self.copy.as_mut().or(output)
    }

    /// Saves the text so far. If that fails, it is saved elsewhere from now on, which is reported
    /// once.
    pub fn save(&mut self, text: &str) {
        let Some(output) = self.place() else { return };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Names;
    use rustix::fs::{CWD, Mode, OFlags, mkfifoat, open};
    use std::fs::File;
    use std::io::Read;

    /// Guards against a defect: where no folder for temporary files could be written, a result for
    /// standard output was refused.
    #[test]
    fn without_a_place_for_a_copy_a_pipe_gets_the_result_at_the_end_alone() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mkfifoat(CWD, &pipe, Mode::RWXU).unwrap();
        let flags = OFlags::RDWR | OFlags::NONBLOCK;
        let mut reader = File::from(open(&pipe, flags, Mode::empty()).unwrap());
        let outputs = Names::new(false, |_| {}).writes("-o", [&pipe]).open().unwrap();
        let mut saved = SavedOutputs::new(outputs, "-o", Path::new("nowhere/r.json"), |_| {});
        assert_eq!(saved.saved_in(), None);
        saved.save("so far");
        assert!(reader.read(&mut [0; 9]).is_err(), "nothing can be read yet");
        saved.outputs.text("-o", "whole").unwrap();
        let mut found = [0; 9];
        assert_eq!(reader.read(&mut found).unwrap(), 5);
    }
}
