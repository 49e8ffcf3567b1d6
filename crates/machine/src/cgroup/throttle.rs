//! I/O limits: how much a control group lets its processes read from and write to a device.

use super::hierarchy::{Hierarchy, Version};
use crate::text;
use ioscape_schema::units::{Count, Rate};
use std::path::Path;

/// The files of version 1 with one limit each, and the keys in version 2's `io.max`.
const V1: [&str; 4] = [
    "blkio.throttle.read_bps_device",
    "blkio.throttle.write_bps_device",
    "blkio.throttle.read_iops_device",
    "blkio.throttle.write_iops_device",
];
const V2: [&str; 4] = ["rbps=", "wbps=", "riops=", "wiops="];

/// Limits on reads and on writes: two in bytes per second, then two in requests per second; absent
/// if there is none.
type Limits = [Option<u64>; 4];

/// Returns the limits of this process on the disk of this number, in words; empty if it has none.
/// `None` if the kernel does not show control groups that could limit I/O.
pub fn io_limit(disk: (u32, u32)) -> Option<String> {
    let hierarchy = Hierarchy::with("blkio")?;
    Some(in_words(limits(&hierarchy, disk)))
}

/// Returns the lowest limits on `disk`. In version 1 those of the groups above do not count.
fn limits(hierarchy: &Hierarchy, disk: (u32, u32)) -> Limits {
    let in_force = match hierarchy.version {
        Version::V1 => 1,
        Version::V2 => usize::MAX,
    };
    let groups = hierarchy.line().take(in_force);
    let all: Vec<Limits> = groups.map(|group| of_group(hierarchy.version, group, disk)).collect();
    [0, 1, 2, 3].map(|which: usize| all.iter().filter_map(|one| one[which]).min())
}

/// Returns the limits of the group at `directory` on `disk`.
fn of_group(version: Version, directory: &Path, (major, minor): (u32, u32)) -> Limits {
    let of_disk = |file: &str| {
        let all = text::read(directory.join(file))?;
        let mut lines = all.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(disk, _)| text::pair(disk) == Some((major, minor))).map(|l| l.1.to_owned())
    };
    match version {
        Version::V1 => V1.map(|file| of_disk(file)?.parse().ok()),
        Version::V2 => {
            let told = of_disk("io.max").unwrap_or_default();
            let of = |key| told.split(' ').find_map(|pair| pair.strip_prefix(key)?.parse().ok());
            V2.map(of)
        }
    }
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
        let told = |version, disk| {
            let (mount, own) = (home.path().to_owned(), own.clone());
            in_words(limits(&Hierarchy { version, mount, own }, disk))
        };
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
    }
}
