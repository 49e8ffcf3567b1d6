//! Control groups: with a memory limit, for a page cache of known size, and with a CPU quota.

use super::Up;
use super::undo::Undo;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A group that is up.
pub struct Group {
    directory: PathBuf,
}

impl Group {
    /// Bash code that moves the shell, or the subshell in which it runs, into the group.
    pub fn join(&self) -> String {
        format!("echo $BASHPID > '{}/cgroup.procs'", self.directory.display())
    }

    /// The file that lists its processes.
    pub fn members(&self) -> String {
        self.directory.join("cgroup.procs").display().to_string()
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.directory.join(file)).ok()
    }

    /// How often an allocation of its members met the limit, so that memory had to be reclaimed;
    /// `None` if the kernel does not report it.
    pub fn ran_out(&self) -> Option<f64> {
        times_at_limit(self.read("memory.failcnt"), self.read("memory.events"))
    }

    /// The most page cache charged to the group in any second until `done`, in bytes; 0 if the
    /// kernel does not report it.
    ///
    /// What its members need for themselves leaves the cache less than the limit.
    pub fn most_page_cache(&self, done: &AtomicBool) -> f64 {
        let mut most = 0.0_f64;
        while !done.load(Ordering::Relaxed) {
            let now = self.read("memory.stat").and_then(|stat| page_cache_bytes(&stat));
            most = most.max(now.unwrap_or(0.0));
            std::thread::sleep(Duration::from_secs(1));
        }
        most
    }

    /// Memory that its members use, in MiB; `None` if the kernel does not report it.
    pub fn used_mib(&self) -> Option<u32> {
        let used = self.read("memory.usage_in_bytes").or_else(|| self.read("memory.current"))?;
        u32::try_from(used.trim().parse::<u64>().ok()? >> 20).ok()
    }
}

/// Bytes of page cache according to a group's `memory.stat`, version 1 or 2.
fn page_cache_bytes(stat: &str) -> Option<f64> {
    let words = |line: &str| {
        line.split_once(' ').map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
    };
    let found = stat.lines().filter_map(words).find(|(name, _)| name == "cache" || name == "file");
    found?.1.parse().ok()
}

/// How often the limit was met, according to version 1 or version 2.
fn times_at_limit(failcnt: Option<String>, events: Option<String>) -> Option<f64> {
    let max = || {
        let lines = events.as_deref()?.lines();
        lines.filter_map(|line| line.strip_prefix("max ")).next().map(str::to_owned)
    };
    failcnt.or_else(max)?.trim().parse().ok()
}

/// Where groups with a controller are created, and whether that is a version 1 hierarchy of its own
/// (cgroups(7)).
fn hierarchy(mounts: &str, controller: &str) -> Option<(PathBuf, bool)> {
    let table = || mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let is_v1 = |words: &[&str]| {
        words.get(2) == Some(&"cgroup")
            && words.get(3).is_some_and(|options| options.split(',').any(|o| o == controller))
    };
    let v1 = table().find(|words| is_v1(words)).map(|words| (words[1].into(), true));
    let v2 = || table().find(|words| words.get(2) == Some(&"cgroup2"));
    v1.or_else(|| v2().map(|words| (words[1].into(), false)))
}

/// Whether memory groups are version 2, where each group has its own limit of dirty pages; `None`
/// if there are none.
pub fn is_version_2() -> Option<bool> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    hierarchy(&mounts, "memory").map(|(_, is_v1)| !is_v1)
}

impl Up<'_> {
    /// Creates a group whose members may together use `mib` MiB, including page cache.
    ///
    /// # Errors
    /// One sentence if the machine has no such groups.
    pub fn memory_group(&mut self, name: &str, mib: u32) -> Result<Group, String> {
        let bytes = (u64::from(mib) << 20).to_string();
        let limits = |v1| vec![(if v1 { "memory.limit_in_bytes" } else { "memory.max" }, &*bytes)];
        self.group(name, "memory", limits)
    }

    /// Creates a group whose members may together use `percent` of one processor, in periods of a
    /// tenth of a second.
    ///
    /// # Errors
    /// One sentence if the machine has no such groups.
    pub fn quota_group(&mut self, name: &str, percent: u32) -> Result<Group, String> {
        let us = (percent * 1000).to_string();
        let both = format!("{us} 100000");
        let limits = |v1| match v1 {
            true => vec![("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", &*us)],
            false => vec![("cpu.max", &*both)],
        };
        self.group(name, "cpu", limits)
    }

    fn group<'a>(
        &mut self,
        name: &str,
        controller: &str,
        limits: impl FnOnce(bool) -> Vec<(&'a str, &'a str)>,
    ) -> Result<Group, String> {
        let mounts = fs::read_to_string("/proc/self/mounts").map_err(|e| format!("mounts: {e}"))?;
        let (root, is_v1) = hierarchy(&mounts, controller).ok_or_else(|| {
            format!("no control groups with the controller {controller} are mounted")
        })?;
        if !is_v1 {
            self.enable(&root.join("cgroup.subtree_control"), controller)?;
        }
        let directory = root.join(format!("ioscape-real-{name}"));
        let fails = |e: std::io::Error| format!("{}: {e}", directory.display());
        self.note(Undo::RemoveGroup(directory.clone()))?;
        fs::create_dir_all(&directory).map_err(fails)?;
        for (file, text) in limits(is_v1) {
            fs::write(directory.join(file), text).map_err(fails)?;
        }
        Ok(Group { directory })
    }

    /// Enables a controller for child groups.
    fn enable(&mut self, control: &Path, controller: &str) -> Result<(), String> {
        let fails = |e: std::io::Error| format!("{}: {e}", control.display());
        let on = fs::read_to_string(control).map_err(fails)?;
        if on.split_whitespace().any(|name| name == controller) {
            return Ok(());
        }
        self.note(Undo::Write { path: control.to_owned(), text: format!("-{controller}") })?;
        fs::write(control, format!("+{controller}")).map_err(fails)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_tell_the_page_cache() {
        assert_eq!(page_cache_bytes("cache 4096\nrss 8192\ntotal_cache 9\n"), Some(4096.0));
        assert_eq!(page_cache_bytes("anon 8192\nfile 12288\nfile_mapped 5\n"), Some(12288.0));
        assert_eq!(page_cache_bytes("rss 1\n"), None);
    }

    #[test]
    fn both_versions_tell_how_often_the_limit_was_met() {
        let events = "low 0\nhigh 3\nmax 17\noom 1\noom_kill 0\n";
        assert_eq!(times_at_limit(None, Some(events.into())), Some(17.0));
        assert_eq!(times_at_limit(Some("5\n".into()), None), Some(5.0));
        assert_eq!(times_at_limit(None, None), None);
    }

    #[test]
    fn the_first_version_is_taken_where_it_has_the_controller() {
        let v2 = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0";
        let mixed = "cgroup /c/cpu cgroup rw,cpu 0 0\ncgroup /c/memory cgroup rw,memory 0 0\n";
        let found = |text: &str| {
            hierarchy(text, "memory").map(|(path, v1)| (path.display().to_string(), v1))
        };
        assert_eq!(found(v2), Some(("/sys/fs/cgroup".into(), false)));
        let both = format!("{v2}\n{mixed}");
        assert_eq!(found(&both), Some(("/c/memory".into(), true)));
        assert_eq!(found("proc /proc proc rw 0 0"), None);
    }
}
