//! I/O limits: how much a control group lets its processes read from and write to a device.

use super::hierarchy::{Hierarchy, Version, are_absent};
use crate::text;
use ioscape_schema::Access;
use ioscape_schema::units::{Count, Rate};
use std::collections::BTreeMap;
use std::path::Path;

/// The files of version 1 with one limit each, and the keys in version 2's `io.max`.
const V1: [&str; 4] = [
    "blkio.throttle.read_bps_device",
    "blkio.throttle.write_bps_device",
    "blkio.throttle.read_iops_device",
    "blkio.throttle.write_iops_device",
];
const V2: [&str; 4] = ["rbps=", "wbps=", "riops=", "wiops="];

/// The kinds of requests that a limit may hold back.
#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    /// How files are accessed.
    pub access: Access,
    /// Whether anything is read.
    pub reads: bool,
    /// Whether anything is written.
    pub writes: bool,
    /// Whether a set is written before that.
    pub lays_out: bool,
}

impl Traffic {
    /// All that a limit may hold back.
    pub const ALL: Self =
        Self { access: Access::Direct, reads: true, writes: true, lays_out: true };
}

/// Limits on reads and on writes: two in bytes per second, then two in requests per second; absent
/// if there is none.
type Limits = [Option<u64>; 4];

/// Returns the limits that hold back `traffic` of this process, in words, by the number of the
/// disk; disks without any are left out. `None` if the kernel does not show control groups that
/// could limit I/O.
pub fn io_limits(traffic: Traffic) -> Option<BTreeMap<(u32, u32), String>> {
    let limits = match Hierarchy::with("blkio") {
        Some(hierarchy) => limits(&hierarchy, traffic),
        None if are_absent() => BTreeMap::new(),
        None => return None,
    };
    Some(limits.into_iter().map(|(disk, limits)| (disk, in_words(limits))).collect())
}

/// Returns the lowest limits on each disk. In version 1 those of the groups above do not count, nor
/// those on buffered writes: the kernel's threads write these back, outside of the group.
fn limits(hierarchy: &Hierarchy, traffic: Traffic) -> BTreeMap<(u32, u32), Limits> {
    let (in_force, is_written_back) = match hierarchy.version {
        Version::V1 => (1, traffic.access == Access::Buffered),
        Version::V2 => (usize::MAX, false),
    };
    let counts = [traffic.reads, traffic.writes && !is_written_back];
    let mut all = BTreeMap::<_, Limits>::new();
    for group in hierarchy.line().take(in_force) {
        let found = of_group(hierarchy.version, group);
        for (disk, which, limit) in found.into_iter().filter(|(_, which, _)| counts[which % 2]) {
            let lowest = &mut all.entry(disk).or_default()[which];
            *lowest = Some(lowest.map_or(limit, |lowest| lowest.min(limit)));
        }
    }
    all
}

/// Returns the limits of the group at `directory`: disk, place in [`Limits`], and value.
fn of_group(version: Version, directory: &Path) -> Vec<((u32, u32), usize, u64)> {
    let read = |file: &str| text::read(directory.join(file)).unwrap_or_default();
    let told = match version {
        Version::V1 => {
            let with_key = |(file, key)| read(file).replace(' ', &format!(" {key}"));
            V1.into_iter().zip(V2).map(with_key).collect::<Vec<_>>().join("\n")
        }
        Version::V2 => read("io.max"),
    };
    let of_line = |line: &str| {
        let (disk, limits) = line.split_once(' ')?;
        let (disk, words) = (text::pair(disk)?, limits.split(' '));
        let value = |key: &str| words.clone().find_map(|w| w.strip_prefix(key)?.parse().ok());
        let told = V2.into_iter().map(value).enumerate();
        Some(told.filter_map(move |(which, limit)| Some((disk, which, limit?))).collect::<Vec<_>>())
    };
    told.lines().filter_map(of_line).flatten().collect()
}

/// Returns the limits in words.
fn in_words(limits: Limits) -> String {
    let [reads, writes, read_requests, write_requests] = limits.map(|one| one.map(|n| n as f64));
    let rate = |what: &str, limit: Option<f64>| Some(format!("{what} up to {}", Rate(limit?)));
    let count =
        |what: &str, limit: Option<f64>| Some(format!("up to {} {what} a second", Count(limit?)));
    let all = [
        rate("reads", reads),
        rate("writes", writes),
        count("reads", read_requests),
        count("writes", write_requests),
    ];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Guards against a defect: a limit of 20 MB/s was measured as the speed of the disk, and
    /// nothing said so.
    #[test]
    fn both_versions_of_an_io_limit_are_read() {
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join("a");
        fs::create_dir(&own).unwrap();
        let told_of = |version, disk, traffic| {
            let (mount, own) = (home.path().to_owned(), own.clone());
            let limits = limits(&Hierarchy { version, mount, own }, traffic);
            limits.get(&disk).map_or_else(String::new, |limits| in_words(*limits))
        };
        let told = |version, disk| told_of(version, disk, Traffic::ALL);
        assert_eq!([Version::V1, Version::V2].map(|version| told(version, (8, 0))), ["", ""]);
        fs::write(own.join("io.max"), "8:1 rbps=1 wbps=1\n8:0 rbps=20000000 wbps=max wiops=100\n")
            .unwrap();
        fs::write(home.path().join("io.max"), "8:0 rbps=50000000 wbps=9000000\n").unwrap();
        assert_eq!(
            told(Version::V2, (8, 0)),
            "reads up to 20 MB/s, writes up to 9 MB/s, up to 100 writes a second",
            "the lowest of the groups"
        );
        assert_eq!(told(Version::V2, (8, 2)), "");
        fs::write(own.join(V1[0]), "7:1 5\n8:0 30000000\n").unwrap();
        fs::write(home.path().join(V1[0]), "8:0 10000000\n").unwrap();
        assert_eq!(told(Version::V1, (8, 0)), "reads up to 30 MB/s", "of its own group alone");
        // Once, a limit on writes was said to bound reads, 150 times faster.
        let (reads, writes) =
            (Traffic { writes: false, ..Traffic::ALL }, Traffic { reads: false, ..Traffic::ALL });
        assert_eq!(told_of(Version::V2, (8, 0), reads), "reads up to 20 MB/s");
        let of_writes = "writes up to 9 MB/s, up to 100 writes a second";
        let buffered = Traffic { access: Access::Buffered, ..writes };
        assert_eq!([writes, buffered].map(|one| told_of(Version::V2, (8, 0), one)), [of_writes; 2]);
        fs::write(own.join(V1[1]), "8:0 2000000\n").unwrap();
        assert_eq!(told_of(Version::V1, (8, 0), writes), "writes up to 2 MB/s");
        assert_eq!(told_of(Version::V1, (8, 0), buffered), "", "written back by the kernel");
    }
}
