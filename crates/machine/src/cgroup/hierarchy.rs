//! The mount points of control groups, and the groups that this process is in (cgroups(7)).

use crate::mounts::{self, Mount};
use crate::text;
use std::path::{Path, PathBuf};

/// Where the kernel lists the groups of this process.
const OURS: &str = "/proc/self/cgroup";

/// The interface version of the memory controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// One hierarchy for each controller.
    V1,
    /// The unified hierarchy.
    V2,
}

impl Version {
    /// Returns the name of the file with a group's limit.
    pub fn limit_file(self) -> &'static str {
        match self {
            Self::V1 => "memory.limit_in_bytes",
            Self::V2 => "memory.max",
        }
    }

    /// Returns the name of the file with a group's usage.
    pub fn usage_file(self) -> &'static str {
        match self {
            Self::V1 => "memory.usage_in_bytes",
            Self::V2 => "memory.current",
        }
    }
}

/// Returns whether the kernel has no control groups at all, which `/proc` tells.
pub(super) fn are_absent() -> bool {
    Path::new("/proc/self").exists() && !Path::new(OURS).exists()
}

/// A hierarchy of groups that may hold the memory controller, and our place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hierarchy {
    /// Its interface version.
    pub version: Version,
    /// Its mount point.
    pub mount: PathBuf,
    /// Directory of the group that this process is in.
    pub own: PathBuf,
}

impl Hierarchy {
    /// Returns the hierarchy with the memory controller.
    pub fn find() -> Option<Self> {
        Self::with("memory")
    }

    /// Returns the hierarchy with `controller`: version 1 if mounted, since version 2 then lacks
    /// it.
    pub fn with(controller: &str) -> Option<Self> {
        let groups = text::read(OURS)?;
        let table = mounts::table();
        let parse = |version| Self::parse(version, controller, &table, &groups);
        [Version::V1, Version::V2].into_iter().find_map(parse)
    }

    /// Does the same for a process in these `groups` and a mount `table`.
    pub fn parse(
        version: Version,
        controller: &str,
        table: &[Mount],
        groups: &str,
    ) -> Option<Self> {
        let ours = groups.lines().find_map(|line| group_of(version, controller, line))?;
        let mount = table.iter().find(|mount| match version {
            Version::V1 => {
                mount.kind == "cgroup" && mount.options.split(',').any(|o| o == controller)
            }
            Version::V2 => mount.kind == "cgroup2",
        })?;
        // In a container the path may lie outside the mounted part; the mount point is then the
        // closest approximation.
        let below = Path::new(ours).strip_prefix(&mount.root).ok();
        let below = below.filter(|path| !path.starts_with(".."));
        let own = mount.point.join(below.unwrap_or(Path::new("")));
        Some(Self { version, mount: mount.point.clone(), own })
    }

    /// Returns our group and those above it, nearest first.
    pub fn line(&self) -> impl Iterator<Item = &Path> {
        self.own.ancestors().take_while(|directory| directory.starts_with(&self.mount))
    }

    /// Returns whether nothing hides a limit on this process by `controller`: our group shows, and
    /// so do those above it, or they are told or do not count.
    pub fn shows_limits(&self, controller: &str) -> bool {
        let above = match (self.version, controller) {
            (Version::V1, "blkio") => true,
            (Version::V1, "memory") => hierarchical_limit(&self.own).is_some(),
            _ => false,
        };
        // Where the mounted part lies elsewhere, `own` is an approximation.
        let members = text::read(self.own.join("cgroup.procs")).unwrap_or_default();
        let this = std::process::id().to_string();
        (above || self.begins_at_root()) && members.lines().any(|one| one == this)
    }

    /// Returns whether the mount point is the root of the hierarchy, and not a group below it, as
    /// in a container.
    pub fn begins_at_root(&self) -> bool {
        match self.version {
            Version::V1 => self.mount.join("release_agent").exists(),
            Version::V2 => !self.mount.join("cgroup.type").exists(),
        }
    }

    /// Returns the lowest limit of our group and those above it, in bytes.
    pub fn limit(&self) -> Option<u64> {
        self.line().filter_map(|directory| limit_of(self.version, directory)).min()
    }

    /// Returns the smallest remainder of the limits of our group and those above it, in bytes;
    /// `None` without a limit.
    pub fn room(&self) -> Option<u64> {
        self.line().filter_map(|directory| room_of(self.version, directory)).min()
    }
}

/// Returns the limit of the group at `directory`, in bytes: the one above which its processes are
/// killed, or above which it must reclaim memory (`memory.high` in version 2). In version 1 that of
/// the groups above counts, even where a container does not show them.
fn limit_of(version: Version, directory: &Path) -> Option<u64> {
    let other = match version {
        Version::V1 => hierarchical_limit(directory),
        Version::V2 => text::read_number(directory.join("memory.high")),
    };
    let most = text::read_number(directory.join(version.limit_file()));
    most.into_iter().chain(other).min()
}

/// Returns the lowest limit of the group at `directory` and all above it, in bytes, which version 1
/// tells.
fn hierarchical_limit(directory: &Path) -> Option<u64> {
    text::field(&text::read(directory.join("memory.stat"))?, "hierarchical_memory_limit")
}

/// Returns what the group at `directory` has left of its limit, in bytes. Inactive file pages are
/// reclaimed at once, and about half of the active ones, as the kernel estimates for the whole
/// machine.
fn room_of(version: Version, directory: &Path) -> Option<u64> {
    let limit = limit_of(version, directory)?;
    let used = text::read_number(directory.join(version.usage_file())).unwrap_or(0);
    let stat = text::read(directory.join("memory.stat")).unwrap_or_default();
    // In version 1 the plain count excludes the groups below, which the usage includes.
    let count = |total: &str, plain: &str| {
        text::field(&stat, total).or_else(|| text::field(&stat, plain)).unwrap_or(0)
    };
    let idle = count("total_inactive_file", "inactive_file");
    let used_lately = count("total_active_file", "active_file");
    Some(limit.saturating_sub(used.saturating_sub(idle + used_lately / 2)))
}

/// Returns the path in a line of `/proc/self/cgroup`, if the line is about `controller` in this
/// version.
fn group_of<'a>(version: Version, controller: &str, line: &'a str) -> Option<&'a str> {
    let mut parts = line.splitn(3, ':');
    let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    let matches = match version {
        Version::V1 => controllers.split(',').any(|c| c == controller),
        Version::V2 => number == "0" && controllers.is_empty(),
    };
    matches.then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = r"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";

    fn own(version: Version, table: &str, groups: &str) -> Option<PathBuf> {
        Hierarchy::parse(version, "memory", &mounts::parse(table), groups).map(|h| h.own)
    }

    #[test]
    fn our_group_is_found_in_both_versions() {
        let groups = "5:devices:/\n4:memory:/a/b\n1:name=memory:/x\n0::/u:v";
        let place = |version| own(version, V1, groups).unwrap();
        assert_eq!(place(Version::V1), Path::new("/sys/fs/cgroup/memory/a/b"));
        assert_eq!(place(Version::V2), Path::new("/sys/fs/cgroup/unified/u:v"));
        assert_eq!(own(Version::V1, V1, "5:devices:/\n"), None);
        assert_eq!(own(Version::V1, "", groups), None);
        let processors = V1.replace("memory", "cpu");
        let parsed = mounts::parse(&processors);
        let found =
            Hierarchy::parse(Version::V1, "cpu", &parsed, "2:cpuacct:/a\n1:cpu,x:/b").unwrap();
        assert_eq!(found.own, Path::new("/sys/fs/cgroup/cpu/b"));
    }

    #[test]
    fn a_container_sees_its_group_at_the_mount_point() {
        let table = "9 8 0:9 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup rw";
        let point = Path::new("/sys/fs/cgroup");
        assert_eq!(own(Version::V2, table, "0::/docker/1").unwrap(), point);
        assert_eq!(own(Version::V2, table, "0::/docker/1/x").unwrap(), point.join("x"));
        assert_eq!(own(Version::V2, table, "0::/elsewhere").unwrap(), point);
        let rooted = "9 8 0:9 / /sys/fs/cgroup ro - cgroup2 cgroup rw";
        assert_eq!(own(Version::V2, rooted, "0::/../../other").unwrap(), point);
    }

    #[test]
    fn the_lowest_limit_on_the_way_up_is_in_force() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("a/b");
        std::fs::create_dir_all(&own).unwrap();
        let hierarchy = Hierarchy { version: Version::V2, mount: dir.path().to_owned(), own };
        assert_eq!(hierarchy.limit(), None);
        std::fs::write(dir.path().join("a/b/memory.max"), "max\n").unwrap();
        assert_eq!(hierarchy.limit(), None);
        std::fs::write(dir.path().join("a/memory.max"), "4096000\n").unwrap();
        assert_eq!(hierarchy.limit(), Some(4_096_000));
        std::fs::write(hierarchy.own.join("memory.high"), "1048576\n").unwrap();
        let of = |version| Hierarchy { version, ..hierarchy.clone() }.limit();
        assert_eq!(of(Version::V2), Some(1 << 20), "from there on it gives up its cache");
        assert_eq!(of(Version::V1), None, "it has other files");
        assert_eq!(hierarchy.line().count(), 3);
    }

    /// Guards against taking the machine's memory for the cache of a container whose limit is on a
    /// group above it.
    #[test]
    fn a_limit_above_what_a_container_sees_is_told_or_known_to_be_hidden() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("a");
        std::fs::create_dir(&own).unwrap();
        let write = |path: PathBuf, text: &str| std::fs::write(path, text).unwrap();
        let of = |version| Hierarchy { version, mount: dir.path().to_owned(), own: own.clone() };
        let shows = |version| {
            ["memory", "cpu", "blkio"].map(|controller| of(version).shows_limits(controller))
        };
        write(own.join("memory.limit_in_bytes"), "9223372036854771712\n");
        write(own.join("cgroup.procs"), "1\n");
        assert_eq!(shows(Version::V2), [false; 3], "another group");
        write(own.join("cgroup.procs"), &format!("1\n{}\n", std::process::id()));
        assert_eq!(shows(Version::V1), [false, false, true]);
        assert_eq!(of(Version::V1).limit(), Some(9_223_372_036_854_771_712));
        write(own.join("memory.stat"), "cache 0\nhierarchical_memory_limit 209715200\n");
        assert_eq!(shows(Version::V1), [true, false, true]);
        let (limit, room) = (of(Version::V1).limit(), of(Version::V1).room());
        assert_eq!([limit, room], [Some(200 << 20); 2]);
        write(dir.path().join("release_agent"), "\n");
        assert_eq!([Version::V1, Version::V2].map(shows), [[true; 3]; 2]);
        write(dir.path().join("cgroup.type"), "domain\n");
        assert_eq!(shows(Version::V2), [false; 3]);
    }

    #[test]
    fn what_is_used_of_a_limit_is_not_left() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("a");
        std::fs::create_dir(&own).unwrap();
        let write = |path: PathBuf, text: String| std::fs::write(path, text).unwrap();
        let mib = |count: u64| format!("{}\n", count << 20);
        let room =
            |version| Hierarchy { version, mount: dir.path().to_owned(), own: own.clone() }.room();
        assert_eq!(room(Version::V2), None);
        write(own.join("memory.max"), mib(512));
        write(own.join("memory.current"), mib(450));
        assert_eq!(room(Version::V2), Some(62 << 20));
        write(own.join("memory.stat"), format!("anon 7\ninactive_file {}", mib(30)));
        assert_eq!(room(Version::V2), Some(92 << 20));
        let stat = format!("inactive_file {}active_file {}", mib(30), mib(20));
        write(own.join("memory.stat"), stat);
        assert_eq!(room(Version::V2), Some(102 << 20), "half of what was used lately");
        write(dir.path().join("memory.max"), mib(50));
        assert_eq!(room(Version::V2), Some(50 << 20), "the group above leaves less");
        write(own.join("memory.limit_in_bytes"), mib(256));
        write(own.join("memory.usage_in_bytes"), mib(300));
        assert_eq!(room(Version::V1), Some(0), "more is used than the limit");
        let stat = format!("inactive_file 0\ntotal_inactive_file {}", mib(100));
        write(own.join("memory.stat"), stat);
        assert_eq!(room(Version::V1), Some(56 << 20), "with the groups below");
    }
}
