//! The files of drives, which the simulating commands read before they simulate.

use ioscape_machine::input::read_text;
use ioscape_machine::terminal;
use ioscape_simulate::catalog::Files;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether the user interrupted waiting for one of the files, a named pipe.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// The files on this machine.
pub struct DriveFiles;

impl Files for DriveFiles {
    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn text(&self, path: &Path) -> Result<String, String> {
        read_text(path).map_err(|e| {
            if e.kind() == ErrorKind::Interrupted {
                INTERRUPTED.store(true, Ordering::Relaxed);
            }
            e.to_string()
        })
    }

    fn names(&self, folder: &Path) -> Result<Vec<String>, String> {
        let entries = std::fs::read_dir(folder).map_err(|e| e.to_string())?;
        Ok(entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect())
    }

    fn left_out(&self, what: &[String]) {
        terminal::tell(&format!("Not simulated: {}", what.join(", ")));
    }
}
