//! What this machine allows: each ability is tried where that leaves nothing behind, else read from the kernel.

mod directory;
mod kernel;

use ioscape_schema::Doctor;
use std::path::Path;

/// Checks `directory` and the machine. A scratch file and a control group are made and removed.
pub fn examine(directory: &Path) -> Doctor {
    let mut checks = directory::checks(directory);
    checks.extend(kernel::checks());
    let directory = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    Doctor { directory: directory.display().to_string(), checks }
}
