//! Which process has a block device open for writing, through any of its nodes.
//!
//! A lock belongs to one node, and an exclusive open excludes only other exclusive users. So
//! neither detects a virtual machine with its own `/dev`. Root sees what every process has open.

use crate::device::BlockDevice;
use crate::{mounts, text};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Returns which other process has one of the block devices `numbers` open for writing; `None` if
/// none is seen, as for users who may not inspect others' processes.
pub(crate) fn writer_of(numbers: &[(u32, u32)]) -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let clients = numbers.iter().filter_map(|number| BlockDevice::at(*number)?.client());
    writer_beside(numbers, &clients.collect::<Vec<u64>>())
}

/// Does the same but ignores the processes of the threads `clients`, without which there is no
/// device.
fn writer_beside(numbers: &[(u32, u32)], clients: &[u64]) -> Option<String> {
    let own = std::process::id();
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let ids = processes.filter_map(|one| one.file_name().to_str()?.parse::<u32>().ok());
    let is_client = |id: &u32| {
        clients.iter().any(|thread| Path::new(&format!("/proc/{id}/task/{thread}")).exists())
    };
    let mut others = ids.filter(|id| *id != own && !is_client(id));
    let writer = others.find(|id| writes(*id, numbers, own))?;
    let name = text::read(format!("/proc/{writer}/comm")).unwrap_or_default();
    Some(format!("is open for writing in process {writer} ({name}): end it first"))
}

/// Returns whether `process` has one of the block devices open for writing.
///
/// Between fork and exec a child of ours (parent `own`) holds everything that we have open; those
/// descriptors do not count if they will be closed at the exec.
fn writes(process: u32, numbers: &[(u32, u32)], own: u32) -> bool {
    let folder = PathBuf::from(format!("/proc/{process}"));
    let is_child = || is_child_of(own, &text::read(folder.join("status")).unwrap_or_default());
    let opened = std::fs::read_dir(folder.join("fd")).into_iter().flatten().flatten();
    let is_one = |link: &Path| {
        is_node(link) && mounts::block_number(link).is_some_and(|number| numbers.contains(&number))
    };
    let is_written = |descriptor: &OsStr| {
        let told = text::read(folder.join("fdinfo").join(descriptor));
        told.and_then(|told| text::open_flags(&told)).is_some_and(|flags| {
            is_for_writing(flags) && !(flags & libc::O_CLOEXEC != 0 && is_child())
        })
    };
    opened.filter(|entry| is_one(&entry.path())).any(|entry| is_written(&entry.file_name()))
}

/// Returns whether an open file is below `/dev`. Reading the link tells, without touching any file
/// system that may not respond.
fn is_node(link: &Path) -> bool {
    std::fs::read_link(link).is_ok_and(|opened| opened.starts_with("/dev"))
}

/// Returns whether a `status` file (proc_pid_status(5)) is that of a child of process `parent`.
fn is_child_of(parent: u32, status: &str) -> bool {
    text::field(status, "PPid") == Some(u64::from(parent))
}

/// Returns whether a descriptor with these flags may write.
const fn is_for_writing(flags: i32) -> bool {
    flags & (libc::O_WRONLY | libc::O_RDWR) != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attached::attach;
    use crate::target::guard::device_in_use;
    use crate::testing::{build_directory, skipped};
    use rustix::fs::{CWD, FileType, Mode};
    use std::fs::File;
    use std::io::{Read as _, Write as _};
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command};
    use std::time::{Duration, Instant};

    #[test]
    fn only_a_descriptor_that_may_write_counts() {
        let told = |told: &str| {
            text::open_flags(&format!("pos:\t0\nflags:\t{told}\nmnt_id:\t29\nino:\t4\n"))
        };
        let may_write = |octal: &str| told(octal).map(is_for_writing);
        assert_eq!([may_write("02100002"), may_write("0100001")], [Some(true); 2]);
        // Read-only, and opened as a path only.
        assert_eq!([may_write("02100000"), may_write("012000000")], [Some(false); 2]);
        assert_eq!(text::open_flags(""), None, "gone meanwhile");
    }

    #[test]
    fn a_child_is_told_by_its_parent() {
        let status = "Name:\tsh\nTgid:\t12\nPid:\t12\nPPid:\t7\nTracerPid:\t8\n";
        assert!(is_child_of(7, status) && !is_child_of(8, status) && !is_child_of(7, ""));
    }

    /// A child between fork and exec holds what we have open, but is not another user of the
    /// device.
    #[test]
    #[allow(
        unsafe_code,
        reason = "what a child does before it becomes its program can be told in no other way"
    )]
    fn a_child_that_has_not_yet_become_its_program_is_no_writer() {
        let file = tempfile::tempfile_in(build_directory()).unwrap();
        file.set_len(1 << 20).unwrap();
        let Ok((device, _held)) = attach(&file) else {
            return skipped("no loop device can be had");
        };
        let number = mounts::block_number(&device).unwrap();
        let held = File::options().write(true).open(&device).unwrap();
        let [(mut begun, mut has_begun), (mut until, to_end)] =
            [(); 2].map(|()| std::io::pipe().unwrap());
        let mut waiting = Command::new("true");
        let wait = move || {
            has_begun.write_all(&[0])?;
            until.read(&mut [0]).map(drop)
        };
        // SAFETY: between fork and exec the child only uses pipes, which is safe there.
        unsafe { waiting.pre_exec(wait) };
        let child = std::thread::spawn(move || waiting.status());
        begun.read_exact(&mut [0]).unwrap();
        let told = writer_beside(&[number], &[]);
        (&to_end).write_all(&[0]).unwrap();
        assert!(child.join().unwrap().unwrap().success());
        drop(held);
        assert_eq!(told, None);
    }

    /// Returns a loop device on `file`, the handle that keeps it, and a second node for it, as in a
    /// virtual machine with its own.
    fn device_with_two_nodes(file: &File) -> Option<(PathBuf, File, PathBuf)> {
        let (device, held) = attach(file).ok()?;
        let (major, minor) = mounts::block_number(&device)?;
        let node = PathBuf::from(format!("/dev/ioscape-test-{}", std::process::id()));
        let number = rustix::fs::makedev(major, minor);
        let kind = FileType::BlockDevice;
        let mode = Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(CWD, &node, kind, mode, number).ok()?;
        Some((device, held, node))
    }

    /// Starts a process that has `node` open as descriptor 9, by this shell redirection.
    fn opener(node: &Path, redirection: &str) -> Child {
        let script = format!("exec sleep 60 9{redirection}\"$0\"");
        let child = Command::new("sh").args(["-c", &script]).arg(node).spawn().unwrap();
        // The shell opens it before it executes `sleep`.
        let (comm, begun) = (format!("/proc/{}/comm", child.id()), Instant::now());
        while text::read(&comm).as_deref() != Some("sleep") {
            assert!(begun.elapsed() < Duration::from_secs(30), "it never opened it");
            std::thread::sleep(Duration::from_millis(5));
        }
        child
    }

    #[test]
    fn a_device_that_a_process_writes_by_another_node_is_in_use() {
        let file = tempfile::tempfile_in(build_directory()).unwrap();
        file.set_len(1 << 20).unwrap();
        let is_root = rustix::process::geteuid().is_root();
        let made = is_root.then(|| device_with_two_nodes(&file)).flatten();
        let Some((device, _held, node)) = made else {
            return skipped("loop devices and nodes of one's own need root");
        };
        let number = mounts::block_number(&device).unwrap();
        let told = |redirection: &str| {
            let mut child = opener(&node, redirection);
            let told = device_in_use(&device, number);
            let beside = writer_beside(&[number], &[u64::from(child.id())]);
            child.kill().unwrap();
            child.wait().unwrap();
            (told, child.id(), beside)
        };
        let (read, (written, writer, beside)) = (told("<").0, told("<>"));
        std::fs::remove_file(&node).unwrap();
        assert_eq!(read, None, "who only reads loses nothing");
        assert_eq!(beside, None, "who brings its data is no other user of it");
        let name = format!("is open for writing in process {writer} (sleep)");
        assert!(written.as_ref().is_some_and(|why| why.starts_with(&name)), "{written:?}");
    }
}
