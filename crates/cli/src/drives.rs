//! The files of drives: what the simulating commands read before they simulate.

use crate::output;
use ioscape_machine::input::read_text;
use ioscape_simulate::catalog::Files;
use std::path::Path;

/// Files of this machine.
pub struct DriveFiles;

impl Files for DriveFiles {
    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn text(&self, path: &Path) -> Result<String, String> {
        read_text(path).map_err(|e| e.to_string())
    }

    fn names(&self, folder: &Path) -> Result<Vec<String>, String> {
        let entries = std::fs::read_dir(folder).map_err(|e| e.to_string())?;
        Ok(entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect())
    }

    fn left_out(&self, what: &[String]) {
        output::tell(&format!("Not simulated: {}", what.join(", ")));
    }
}
