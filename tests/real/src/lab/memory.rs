//! Control groups with a memory limit: a page cache of known size for a program that is not the command under test.

use super::Up;
use super::undo::Undo;
use std::fs;
use std::path::{Path, PathBuf};

/// A group that is up.
pub struct Group {
    directory: PathBuf,
}

impl Group {
    /// Bash that moves the shell, or the subshell that it runs in, into the group.
    pub fn join(&self) -> String {
        format!("echo $BASHPID > '{}/cgroup.procs'", self.directory.display())
    }
}

/// Where groups are made, and the file of their limit (cgroups(7)).
fn hierarchy(mounts: &str) -> Option<(PathBuf, &'static str)> {
    let table = || mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let is_v1 = |words: &[&str]| {
        words.get(2) == Some(&"cgroup")
            && words.get(3).is_some_and(|options| options.split(',').any(|o| o == "memory"))
    };
    let v1 =
        table().find(|words| is_v1(words)).map(|words| (words[1].into(), "memory.limit_in_bytes"));
    let v2 = || table().find(|words| words.get(2) == Some(&"cgroup2"));
    v1.or_else(|| v2().map(|words| (words[1].into(), "memory.max")))
}

impl Up<'_> {
    /// A group whose members may use `mib` MiB together, page cache included.
    ///
    /// # Errors
    /// One sentence if the machine has no such groups.
    pub fn memory_group(&mut self, name: &str, mib: u32) -> Result<Group, String> {
        let mounts = fs::read_to_string("/proc/self/mounts").map_err(|e| format!("mounts: {e}"))?;
        let (root, limit) =
            hierarchy(&mounts).ok_or("no control groups with a memory controller are mounted")?;
        if limit == "memory.max" {
            self.enable(&root.join("cgroup.subtree_control"))?;
        }
        let directory = root.join(format!("ioscape-real-{name}"));
        let fails = |e: std::io::Error| format!("{}: {e}", directory.display());
        self.note(Undo::RemoveGroup(directory.clone()))?;
        fs::create_dir_all(&directory).map_err(fails)?;
        let bytes = u64::from(mib) << 20;
        fs::write(directory.join(limit), bytes.to_string()).map_err(fails)?;
        Ok(Group { directory })
    }

    /// Switches the memory controller on for the groups below.
    fn enable(&mut self, control: &Path) -> Result<(), String> {
        let fails = |e: std::io::Error| format!("{}: {e}", control.display());
        let on = fs::read_to_string(control).map_err(fails)?;
        if on.split_whitespace().any(|name| name == "memory") {
            return Ok(());
        }
        self.note(Undo::Write { path: control.to_owned(), text: "-memory".to_owned() })?;
        fs::write(control, "+memory").map_err(fails)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_version_is_taken_where_it_has_the_controller() {
        let v2 = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0";
        let mixed = "cgroup /c/cpu cgroup rw,cpu 0 0\ncgroup /c/memory cgroup rw,memory 0 0\n";
        let found =
            |text: &str| hierarchy(text).map(|(path, file)| (path.display().to_string(), file));
        assert_eq!(found(v2), Some(("/sys/fs/cgroup".into(), "memory.max")));
        let both = format!("{v2}\n{mixed}");
        assert_eq!(found(&both), Some(("/c/memory".into(), "memory.limit_in_bytes")));
        assert_eq!(found("proc /proc proc rw 0 0"), None);
    }
}
