//! Helpers shared by the tests of several modules.

use std::path::PathBuf;

/// Returns a directory of the build. It is on a disk if there is one, unlike the system's temporary
/// directory.
pub fn build_directory() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.parent().unwrap().to_owned()
}

/// Reports that a test could not run here, and why.
#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
pub fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
}

/// Runs `work`, which must take no lock of ours, in a forked child. Returns its exit code; `None`
/// if it was killed.
#[cfg(test)]
#[expect(unsafe_code, reason = "fork has no safe wrapper")]
pub(crate) fn in_child(work: impl FnOnce() -> i32) -> Option<i32> {
    // SAFETY: the child takes no lock of its parent's, and exits without running its destructors.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: always sound; it ends the child.
        unsafe { libc::_exit(work()) };
    }
    let mut status = 0;
    // SAFETY: `status` is a live integer and `child` our own child.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    (ended == child && libc::WIFEXITED(status)).then(|| libc::WEXITSTATUS(status))
}

/// Locks or unlocks part of an open file, as databases and virtual machines do. Returns whether
/// that worked.
#[cfg(test)]
#[expect(unsafe_code, reason = "fcntl(2) has no safe wrapper for these locks")]
pub(crate) fn lock_part(holder: &std::fs::File, kind: libc::c_int) -> bool {
    use std::os::fd::AsRawFd;
    // SAFETY: all zeros are a valid `flock`.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    (lock.l_type, lock.l_len) = (kind as libc::c_short, 4096);
    // SAFETY: the descriptor is open, and `lock` lives through the call, which only reads it.
    unsafe { libc::fcntl(holder.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) == 0 }
}

/// Runs `check` in a thread with its own mounts, one of which `mount` makes with these words and
/// places.
#[cfg(test)]
pub(crate) fn with_mount(words: &[&str], places: &[&std::path::Path], check: impl FnOnce() + Send) {
    let mount = |words: &[&str], places: &[&std::path::Path]| {
        let ran = std::process::Command::new("mount").args(words).args(places).status();
        ran.is_ok_and(|status| status.success())
    };
    std::thread::scope(|scope| {
        let own = || {
            let is_mounted = crate::namespace::own_mounts().is_ok()
                && mount(&["--make-rprivate", "/"], &[])
                && mount(words, places);
            match is_mounted {
                true => check(),
                false => skipped("mounting needs root"),
            }
        };
        let builder = crate::thread::builder().expect("room for a thread");
        builder.spawn_scoped(scope, own).expect("a thread");
    });
}
