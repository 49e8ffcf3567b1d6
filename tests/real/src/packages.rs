//! The only list of the Debian packages that the systems need, and of the programs that show
//! whether they are installed.

use crate::lab::network::SFTP_SERVER;

/// A package, and its programs or files that are used.
pub struct Package {
    /// Debian's name.
    pub name: &'static str,
    /// The programs or files that are used.
    pub programs: &'static [&'static str],
}

/// All packages beyond what every Debian installation has.
pub const ALL: &[Package] = &[
    Package { name: "btrfs-progs", programs: &["mkfs.btrfs"] },
    Package { name: "e2fsprogs", programs: &["mkfs.ext4"] },
    Package { name: "fio", programs: &["fio"] },
    Package { name: "fuse3", programs: &["fusermount3"] },
    Package { name: "gcc", programs: &["gcc"] },
    Package { name: "glusterfs-client", programs: &["glusterfs"] },
    Package { name: "glusterfs-server", programs: &["glusterd", "gluster"] },
    Package { name: "iproute2", programs: &["ip", "ss"] },
    Package { name: "mount", programs: &["losetup", "mount", "umount"] },
    Package { name: "openssh-sftp-server", programs: &[SFTP_SERVER] },
    Package { name: "socat", programs: &["socat"] },
    Package { name: "sqlite3", programs: &["sqlite3"] },
    Package { name: "sshfs", programs: &["sshfs"] },
    Package { name: "util-linux", programs: &["nsenter"] },
    Package { name: "xfsprogs", programs: &["mkfs.xfs"] },
];

/// The names, as `apt-get install` takes them.
pub fn names() -> String {
    ALL.iter().map(|package| package.name).collect::<Vec<_>>().join(" ")
}

/// What is used of a package.
pub fn programs(name: &str) -> &'static [&'static str] {
    ALL.iter().find(|package| package.name == name).map_or(&[], |package| package.programs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{retest, systems};

    #[test]
    fn every_package_is_listed_once_and_used() {
        let mut named: Vec<&str> = ALL.iter().map(|package| package.name).collect();
        named.dedup();
        assert_eq!(named.len(), ALL.len());
        assert!(named.is_sorted());
        let used: Vec<&str> = systems::ALL
            .iter()
            .flat_map(|system| system.packages)
            .chain(retest::packages())
            .copied()
            .collect();
        for name in &used {
            assert!(!programs(name).is_empty(), "{name} is not in the list");
        }
        // Every system may mount; the two packages are part of every Debian.
        let everywhere = ["mount", "util-linux"];
        for name in named {
            assert!(used.contains(&name) || everywhere.contains(&name), "{name} is not needed");
        }
    }
}
