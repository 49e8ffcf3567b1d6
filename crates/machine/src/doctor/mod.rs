//! The abilities of this machine. Each one is tested if that leaves nothing behind, and otherwise
//! read from the kernel.

mod directory;
mod kernel;

use ioscape_schema::Doctor;
use std::path::Path;

/// Checks `directory` and the machine. It creates and removes a scratch file and a control group.
pub fn examine(directory: &Path) -> Doctor {
    let mut checks = directory::checks(directory);
    checks.extend(kernel::checks());
    let directory = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    Doctor { directory: directory.display().to_string(), checks }
}
