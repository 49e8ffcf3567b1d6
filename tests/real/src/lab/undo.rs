//! Ways of undoing a change to the machine: an unmount for a mount, a kill for a process, the old
//! text for a setting.

use super::processes;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// A way to undo a change, recorded before the change is made, so that a later run finds it if this
/// one is killed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Undo {
    /// Writes a text to a kernel file, or an order to a disk.
    Write {
        /// The file.
        path: PathBuf,
        /// What is written.
        text: String,
    },
    /// Unmounts; if that fails, lazily, without waiting for its users.
    Unmount(PathBuf),
    /// Detaches every loop device over a file.
    Detach(PathBuf),
    /// Kills a process with its group, if it is still the one that was started.
    Kill {
        /// Its ID, which is also that of its group.
        pid: u32,
        /// When it was started, in clock ticks since boot.
        started: u64,
    },
    /// Removes a file or an empty directory.
    Remove(PathBuf),
    /// Removes a directory with its contents.
    RemoveTree(PathBuf),
    /// Kills the members of a control group and removes it.
    RemoveGroup(PathBuf),
    /// Kills the processes in a network namespace and removes it.
    RemoveNamespace(String),
    /// Runs a program.
    Run(Vec<String>),
}

/// Attempts, a fifth of a second apart, at steps that may have to wait for a process to end.
const ATTEMPTS: u32 = 25;

impl Undo {
    /// Undoes the change. What is already gone is ignored, so this may be done twice.
    pub fn perform(&self) {
        match self {
            Self::Write { path, text } => {
                let _ = fs::write(path, text);
            }
            Self::Unmount(path) => unmount(path),
            Self::Detach(file) => detach(file),
            Self::Kill { pid, started } => processes::kill_group(*pid, *started),
            Self::Remove(path) => remove(path),
            // If something is still mounted there after all attempts, it must not be emptied.
            Self::RemoveTree(path) if is_mounted_below(path) => {}
            Self::RemoveTree(path) => {
                let _ = fs::remove_dir_all(path);
            }
            Self::RemoveGroup(path) => {
                let members = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
                members.lines().filter_map(|line| line.parse().ok()).for_each(processes::kill);
                let _ = fs::write(path.join("memory.force_empty"), "0");
                until(|| !path.exists() || fs::remove_dir(path).is_ok());
            }
            Self::RemoveNamespace(name) => {
                let pids = processes::output("ip", &["netns", "pids", name]);
                pids.split_whitespace()
                    .filter_map(|pid| pid.parse().ok())
                    .for_each(processes::kill);
                run("ip", &["netns", "del", name]);
            }
            Self::Run(words) => {
                if let Some((program, arguments)) = words.split_first() {
                    run(program, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
                }
            }
        }
    }
}

/// Retries until it succeeds.
fn until(mut succeeds: impl FnMut() -> bool) -> bool {
    (0..ATTEMPTS).any(|attempt| {
        if attempt > 0 {
            sleep(Duration::from_millis(200));
        }
        succeeds()
    })
}

fn detach(file: &Path) {
    for entry in fs::read_dir("/sys/block").into_iter().flatten().flatten() {
        let backing = fs::read_to_string(entry.path().join("loop/backing_file"));
        // The kernel appends a word to the name of a deleted file.
        if backing.is_ok_and(|name| Path::new(name.trim().trim_end_matches(" (deleted)")) == file) {
            run("losetup", &["-d", &format!("/dev/{}", entry.file_name().to_string_lossy())]);
        }
    }
}

fn unmount(path: &Path) {
    let name = path.to_string_lossy();
    if !until(|| !is_mounted(path) || run("umount", &[&name])) {
        run("umount", &["-l", &name]);
    }
}

/// Whether something is mounted there, by the kernel's table: asking a hanging disk would hang.
pub fn is_mounted(path: &Path) -> bool {
    mount_points().iter().any(|point| point == path)
}

fn is_mounted_below(path: &Path) -> bool {
    mount_points().iter().any(|point| point.starts_with(path))
}

fn mount_points() -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    table.lines().filter_map(|line| line.split(' ').nth(1)).map(PathBuf::from).collect()
}

fn remove(path: &Path) {
    // A directory on which something is still mounted must not be accessed.
    if !is_mounted(path) && fs::remove_dir(path).is_err() {
        let _ = fs::remove_file(path);
    }
}

/// Whether the program succeeds.
fn run(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_removed_and_what_is_gone_is_no_concern() {
        let place = std::env::temp_dir().join(format!("ioscape-real-undo-{}", std::process::id()));
        fs::create_dir_all(place.join("a")).unwrap();
        fs::write(place.join("f"), "new").unwrap();
        Undo::Write { path: place.join("f"), text: "old".into() }.perform();
        assert_eq!(fs::read_to_string(place.join("f")).unwrap(), "old");
        for _ in 0..2 {
            Undo::Remove(place.join("f")).perform();
            Undo::Remove(place.join("a")).perform();
            Undo::Unmount(place.clone()).perform();
        }
        assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
        Undo::RemoveTree(place.clone()).perform();
        assert!(!place.exists());
    }

    #[test]
    fn an_undo_survives_on_paper() {
        let all = [
            Undo::Write { path: "/sys/x".into(), text: "1".into() },
            Undo::Kill { pid: 7, started: 9 },
            Undo::RemoveNamespace("x".into()),
        ];
        for undo in all {
            let text = serde_json::to_string(&undo).unwrap();
            assert_eq!(serde_json::from_str::<Undo>(&text).unwrap(), undo);
        }
    }
}
