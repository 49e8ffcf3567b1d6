//! Files and pipes that another user may have planted at the place of an output.

use crate::target::scratch;
use rustix::fs::Stat;
use std::io;
use std::os::fd::OwnedFd;

/// Reason for refusing such an output.
pub(super) const WHY: &str =
    "belongs to another user, who may have put it there: choose another name or folder";

/// Returns the user who became root by `sudo`. That user's own files in a shared folder are
/// trusted, such as a pipe through which root records.
pub(super) fn caller() -> Option<u32> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    std::env::var("SUDO_UID").ok()?.parse().ok()
}

/// Returns whether a user other than us or our `caller` may have put what was `found` into
/// `folder`.
///
/// That is possible if everyone or a group may create files there, as in `/tmp`: the result would
/// go to the owner of the file. In sticky folders the kernel refuses such files to programs that
/// open with `O_CREAT` (`fs.protected_regular`), which we do not use here.
///
/// # Errors
/// The folder cannot be examined.
pub(super) fn is_planted(folder: &OwnedFd, found: &Stat, caller: Option<u32>) -> io::Result<bool> {
    let around = rustix::fs::fstat(folder)?;
    let is_shared = around.st_mode & 0o022 != 0;
    let owner = found.st_uid;
    let is_known = owner == around.st_uid || Some(owner) == caller;
    Ok(is_shared && !is_known && !scratch::is_ours(owner, folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Destination, DestinationOptions};
    use crate::testing::skipped;
    use rustix::fs::{CWD, FileType, Mode};
    use std::fs::{File, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::path::Path;

    const OTHER: u32 = 65534;

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    /// Another user who created the file beforehand would own root's result, or be the only one to
    /// get it.
    #[test]
    fn what_another_user_may_have_put_into_a_folder_for_all_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let [file, pipe] = ["a", "b"].map(|name| dir.path().join(name));
        std::fs::write(&file, "").unwrap();
        let mode = Mode::from_raw_mode(0o622);
        rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, mode, 0).unwrap();
        if chown(&file, Some(OTHER), None).and(chown(&pipe, Some(OTHER), None)).is_err() {
            return skipped("to give a file to another user needs root");
        }
        let open = |path: &Path, force| {
            Destination::open(path, DestinationOptions { force, ..DestinationOptions::default() })
        };
        let asked = [(&file, false), (&file, true), (&pipe, false), (&pipe, true)];
        for (mode, (path, force)) in
            [0o1777, 0o777, 0o2775].into_iter().flat_map(|mode| asked.map(|asked| (mode, asked)))
        {
            set_mode(dir.path(), mode);
            let refused = open(path, force).unwrap_err();
            let told = refused.to_string();
            assert!(refused.is_misuse() && told.contains("put it there"), "{told}");
        }
        set_mode(dir.path(), 0o755);
        drop(open(&pipe, false).unwrap());
        open(&file, false).unwrap().text("x").unwrap();
        assert_eq!(file.metadata().unwrap().uid(), OTHER, "in a folder of ours it stays theirs");
        set_mode(dir.path(), 0o1777);
        chown(dir.path(), Some(OTHER), None).unwrap();
        drop(open(&file, true).unwrap());
    }

    #[test]
    #[expect(unsafe_code, reason = "a thread with the rights of another user")]
    fn what_is_of_the_caller_or_of_whom_we_are_taken_for_is_not_planted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "").unwrap();
        if chown(&path, Some(OTHER), None).is_err() {
            return skipped("to give a file to another user needs root");
        }
        set_mode(dir.path(), 0o1777);
        let folder = OwnedFd::from(File::open(dir.path()).unwrap());
        let found = rustix::fs::stat(&path).unwrap();
        let is_planted = |caller| is_planted(&folder, &found, caller).unwrap();
        assert!(is_planted(None) && is_planted(Some(OTHER - 1)) && !is_planted(Some(OTHER)));
        // As if an NFS server maps root to nobody: new files are nobody's.
        let of_nobody = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                // SAFETY: they have no preconditions, and hold for the calling thread alone.
                let is_other = unsafe {
                    libc::setfsuid(OTHER);
                    libc::setfsuid(u32::MAX) == OTHER as i32
                };
                (is_other && path.metadata().is_ok()).then(|| is_planted(None))
            });
            other.join().unwrap()
        });
        match of_nobody {
            Some(is_planted) => assert!(!is_planted),
            None => skipped("no rights of another user to be had who reaches the file"),
        }
    }
}
