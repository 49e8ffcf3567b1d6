//! The abilities of this machine. Each one is tested if that leaves nothing behind, and otherwise
//! read from the kernel.

mod directory;
mod kernel;
mod workers;

use crate::environment;
use ioscape_schema::Doctor;
use std::path::Path;

pub use kernel::{GET_SYSCALL_INFO, ring_advice};

/// Checks `directory` and the machine. It creates and removes a scratch file and a control group.
pub fn examine(directory: &Path) -> Doctor {
    let control_groups = kernel::control_groups();
    let mut checks = directory::checks(directory, control_groups.state);
    let here = environment::machine(None);
    checks.extend(kernel::host(&here));
    checks.extend(kernel::checks(&here, control_groups));
    let directory = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    Doctor { directory: directory.display().to_string(), checks }
}
