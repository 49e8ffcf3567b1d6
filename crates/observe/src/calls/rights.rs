//! Programs that run without the rights of their file (setuid, setgid): the kernel does not grant
//! these to a program that a user traces.

use ioscape_machine::text;
use rustix::fs::StatVfsMountFlags;
use std::os::unix::fs::MetadataExt;

/// Whether a process runs a setuid or setgid program without the rights that it would have
/// untraced; absent where that is unknown.
pub(super) fn is_unprivileged(tid: i32) -> Option<bool> {
    let path = format!("/proc/{tid}/exe");
    let program = std::fs::metadata(&path).ok().filter(|one| gives_rights(one.mode()))?;
    let mount = rustix::fs::statvfs(&path).ok()?;
    let own = text::read("/proc/self/status")?;
    // It would have none untraced, either.
    let gives_none = mount.f_flag.contains(StatVfsMountFlags::NOSUID)
        || text::field(&own, "NoNewPrivs") == Some(1);
    let status = text::read(format!("/proc/{tid}/status"))?;
    Some(!gives_none && has_lost_rights(&status, program.mode(), program.uid(), program.gid()))
}

const fn gives_rights(mode: u32) -> bool {
    mode & (libc::S_ISUID | libc::S_ISGID) != 0
}

/// Whether the process with this `status` file (proc_pid_status(5)) has other rights than a program
/// with this mode, user and group would give it.
fn has_lost_rights(status: &str, mode: u32, uid: u32, gid: u32) -> bool {
    let effective = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let is_other = |name, owner| effective(name).is_some_and(|is| is != owner);
    // Without the group's right to execute, the setgid bit means something else.
    let is_of_group = mode & libc::S_ISGID != 0 && mode & libc::S_IXGRP != 0;
    (mode & libc::S_ISUID != 0 && is_other("Uid:", uid)) || (is_of_group && is_other("Gid:", gid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_did_not_get_the_rights_of_its_file_is_told() {
        let status = "Name:\tscat\nUid:\t1000\t1000\t1000\t1000\nGid:\t100\t100\t100\t100\n";
        let lost = |mode, uid, gid| has_lost_rights(status, mode, uid, gid);
        assert!(lost(0o104755, 0, 0) && lost(0o102755, 0, 42));
        assert!(!lost(0o104755, 1000, 0), "it is the user's own");
        assert!(!lost(0o100755, 0, 0) && !lost(0o102755, 0, 100) && !lost(0o102644, 0, 42));
        assert!(!has_lost_rights("", 0o104755, 0, 0), "gone meanwhile");
        assert_ne!(is_unprivileged(std::process::id() as i32), Some(true));
    }
}
