//! Locks on parts of a file, as held by databases and virtual machines: POSIX locks and open file
//! description locks.
#![expect(
    unsafe_code,
    reason = "fcntl(2) has a safe wrapper that cannot tell who holds the younger kind"
)]

use crate::text;
use std::fs::File;
use std::os::fd::AsRawFd;

/// Returns who holds a lock on a part of `file`; `None` if nobody is seen to.
pub fn locked_by(file: &File) -> Option<String> {
    // SAFETY: all zeros are a valid `flock`: the whole file.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as libc::c_short;
    // SAFETY: the descriptor is open, and `lock` lives through the call, which only writes to it.
    let asked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLK, &raw mut lock) };
    if asked != 0 || lock.l_type == libc::F_UNLCK as libc::c_short {
        return None;
    }
    // A lock of an open file description belongs to no single process: -1. One in another namespace
    // has no number here: 0.
    Some(match lock.l_pid {
        id if id > 0 => {
            let name = text::read(format!("/proc/{id}/comm")).unwrap_or_default();
            format!("is locked by process {id} ({}): end it first", name.trim())
        }
        _ => "is locked by another program (`lslocks` shows which): end it first".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::lock_part;

    #[test]
    fn a_lock_of_an_open_file_is_seen() {
        let named = tempfile::NamedTempFile::new().unwrap();
        let open = || File::options().read(true).write(true).open(named.path()).unwrap();
        let (holder, asker) = (open(), open());
        assert_eq!(locked_by(&asker), None);
        assert!(lock_part(&holder, libc::F_WRLCK));
        assert!(locked_by(&asker).is_some_and(|who| who.contains("another program")));
        // Unlocked explicitly: a process forked in another test may have a copy of the descriptor.
        assert!(lock_part(&holder, libc::F_UNLCK));
        assert_eq!(locked_by(&asker), None);
    }
}
