//! The memory controller of version 2 groups: it is enabled for all groups below a parent, and
//! disabled again if only we used it.

use crate::text;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The parents where this process enabled it, each with the groups that existed then.
static SWITCHED_ON: Mutex<Vec<(PathBuf, Vec<OsString>)>> = Mutex::new(Vec::new());

/// The file with the controllers of the groups below.
const SWITCH: &str = "cgroup.subtree_control";
/// The file with the controllers that a group may have.
pub(super) const OFFERED: &str = "cgroup.controllers";

/// The limits of a group, each with its value if there is no limit.
const LIMITS: [(&str, &str); 6] = [
    ("memory.max", "max"),
    ("memory.high", "max"),
    ("memory.min", "0"),
    ("memory.low", "0"),
    ("memory.swap.max", "max"),
    ("memory.zswap.max", "max"),
];

/// Returns whether a group's file lists the memory controller.
pub(super) fn lists(group: &Path, file: &str) -> bool {
    let words = text::read(group.join(file)).unwrap_or_default();
    words.split_whitespace().any(|word| word == "memory")
}

/// Writes to an existing file of a control group.
///
/// # Errors
/// The kernel's refusal.
pub(super) fn put(path: &Path, value: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
}

/// Ensures that groups below `parent` have the memory controller. Returns whether they do.
///
/// # Errors
/// It may not be enabled.
pub(super) fn enable(parent: &Path) -> io::Result<bool> {
    if lists(parent, SWITCH) {
        return Ok(true);
    }
    if !lists(parent, OFFERED) {
        return Ok(false);
    }
    let before = groups(parent);
    match put(&parent.join(SWITCH), "+memory") {
        Ok(()) => {
            let mut all = SWITCHED_ON.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|(one, _)| one != parent);
            all.push((parent.to_owned(), before));
            Ok(true)
        }
        Err(error) => Err(explained(error)),
    }
}

/// Returns the kernel's refusal in words where they say more: only a group without processes can
/// have groups with the controller below it, except for the root.
fn explained(error: io::Error) -> io::Error {
    const OCCUPIED: &str = "it holds processes, so that groups below it get no memory controller";
    match error.kind() {
        ErrorKind::ResourceBusy => io::Error::new(ErrorKind::ResourceBusy, OCCUPIED),
        _ => error,
    }
}

/// Undoes [`enable`] if this process did it, unless someone else uses it by now: their limits would
/// silently vanish. While another group of ours exists, its removal does this.
pub(super) fn restore(parent: &Path) {
    let mut all = SWITCHED_ON.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(at) = all.iter().position(|(one, _)| one == parent) else { return };
    if !is_used(parent, &all[at].1) {
        all.swap_remove(at);
        let _ = put(&parent.join(SWITCH), "-memory");
    }
}

/// Returns whether there is a group that did not exist `before`, or one with a limit.
fn is_used(parent: &Path, before: &[OsString]) -> bool {
    let is_limited = |group: &OsString| {
        let says = |file: &str| text::read(parent.join(group).join(file));
        LIMITS.iter().any(|(file, none)| says(file).is_some_and(|limit| limit != *none))
    };
    groups(parent).iter().any(|group| !before.contains(group) || is_limited(group))
}

/// Returns the names of the groups in `parent`.
fn groups(parent: &Path) -> Vec<OsString> {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    let groups = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    groups.map(|entry| entry.file_name()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Returns an invented group without the controller that contained another group before, and a
    /// function that reads what was last written to its switch.
    fn made_up() -> (tempfile::TempDir, impl Fn() -> String) {
        let parent = tempfile::tempdir().unwrap();
        fs::create_dir(parent.path().join("before")).unwrap();
        fs::write(parent.path().join("cgroup.controllers"), "cpu memory pids\n").unwrap();
        let switch = parent.path().join(SWITCH);
        fs::write(&switch, "").unwrap();
        (parent, move || fs::read_to_string(&switch).unwrap())
    }

    #[test]
    fn it_is_switched_off_again_though_other_groups_are_there() {
        let (parent, written) = made_up();
        restore(parent.path());
        assert_eq!(written(), "", "we did not switch it on");
        assert!(enable(parent.path()).unwrap());
        assert_eq!(written(), "+memory");
        for (file, none) in LIMITS {
            fs::write(parent.path().join("before").join(file), format!("{none}\n")).unwrap();
        }
        restore(parent.path());
        assert_eq!(written(), "-memory");
    }

    #[test]
    fn it_stays_on_while_somebody_uses_it() {
        let (parent, written) = made_up();
        assert!(enable(parent.path()).unwrap());
        let later = parent.path().join("ioscape-1-1");
        fs::create_dir(&later).unwrap();
        restore(parent.path());
        assert_eq!(written(), "+memory", "a group came since");
        fs::remove_dir(&later).unwrap();
        for limit in ["memory.max", "memory.swap.max"] {
            let limit = parent.path().join("before").join(limit);
            fs::write(&limit, "1048576\n").unwrap();
            restore(parent.path());
            assert_eq!(written(), "+memory", "one that was there is limited now");
            fs::write(&limit, "max\n").unwrap();
        }
        restore(parent.path());
        assert_eq!(written(), "-memory", "the last one restores what an earlier one could not");
    }

    /// Once, a privileged container whose only group holds its processes was told that there is no
    /// memory controller, and to mount what was mounted.
    #[test]
    fn a_group_with_processes_is_told() {
        let busy = explained(io::Error::from_raw_os_error(libc::EBUSY));
        assert_eq!(busy.kind(), ErrorKind::ResourceBusy);
        assert!(busy.to_string().starts_with("it holds processes"), "{busy}");
        let other = explained(io::Error::from_raw_os_error(libc::EACCES));
        assert_eq!(other.raw_os_error(), Some(libc::EACCES));
    }

    #[test]
    fn a_group_without_the_controller_is_told() {
        let (parent, written) = made_up();
        fs::write(parent.path().join("cgroup.controllers"), "cpu pids\n").unwrap();
        assert!(!enable(parent.path()).unwrap());
        assert_eq!(written(), "");
    }
}
