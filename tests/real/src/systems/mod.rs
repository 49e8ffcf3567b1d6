//! The systems whose truth is known, one function each.

mod applications;
mod cache;
mod disk;
mod faults;
mod fio;
mod network;
mod os;
mod policy;
mod prediction;
mod vxbench;

use crate::check::{Check, Outcome};
use crate::lab::Lab;

/// Expectations, or why the system could not be brought up or evaluated.
pub type Checks = Result<Vec<Check>, String>;

/// A disk whose requests take 0.1 ms + seek + 1 ms + bytes / 40 MB/s.
pub const DISK: &str = "seekmin=500 seekmax=4000 rot=1000 bw=40 ovh=100";

/// One system and what is known of it.
pub struct System {
    /// Name, to choose it by.
    pub name: &'static str,
    /// What is known.
    pub truth: &'static str,
    /// Programs it needs.
    needs: &'static [&'static str],
    /// Brings it up, evaluates it, compares.
    run: fn(&Lab) -> Checks,
}

impl System {
    /// Tries the system.
    pub fn attempt(&self, lab: &Lab) -> Outcome {
        let missing: Vec<&str> = self.needs.iter().copied().filter(|p| !lab.has(p)).collect();
        if !missing.is_empty() {
            return Outcome::Skipped(format!("not installed: {}", missing.join(", ")));
        }
        match (self.run)(lab) {
            Ok(checks) => Outcome::Checked(checks),
            Err(why) => Outcome::Broken(why),
        }
    }
}

/// All of them, in the order tried.
pub const ALL: &[System] = &[
    System {
        name: "fio",
        truth: "fio replays the same requests at the same speed",
        needs: &["fio", "fusermount3"],
        run: fio::replay,
    },
    System {
        name: "vxbench",
        truth: "fio moves the same bytes at the same speed and cost; direct I/O spares processor time; writers to one file wait",
        needs: &["fio"],
        run: vxbench::beside_fio,
    },
    System {
        name: "faults",
        truth: "a disk that fails after some points",
        needs: &["fusermount3"],
        run: faults::in_the_middle,
    },
    System { name: "tmpfs", truth: "one region", needs: &[], run: cache::tmpfs },
    System { name: "memcg-64", truth: "a page cache of 64 MiB", needs: &[], run: cache::limit_64 },
    System {
        name: "memcg-512",
        truth: "a page cache of 512 MiB",
        needs: &[],
        run: cache::limit_512,
    },
    System {
        name: "sprite",
        truth: "writes cached to 24 MB, reads to 128 MB: three plateaus",
        needs: &["fusermount3", "losetup", "mkfs.ext4"],
        run: cache::sprite,
    },
    System {
        name: "write-through",
        truth: "every write goes to the disk; T = T_disk / (1 - r)",
        needs: &["fusermount3"],
        run: policy::write_through,
    },
    System {
        name: "write-back",
        truth: "writes cancel in the cache",
        needs: &["fusermount3"],
        run: policy::write_back,
    },
    System {
        name: "flush",
        truth: "flushing every second slows cached writes on btrfs, never flushing does not",
        needs: &["losetup", "mkfs.btrfs"],
        run: policy::flush,
    },
    System {
        name: "one-arm",
        truth: "sequentiality pays on the disk and not in the cache; concurrency does not pay",
        needs: &["fusermount3", "losetup", "mkfs.ext4"],
        run: disk::one_arm,
    },
    System {
        name: "four-arms",
        truth: "concurrency pays on a disk with four arms",
        needs: &["fusermount3", "losetup", "mkfs.ext4"],
        run: disk::four_arms,
    },
    System {
        name: "sort",
        truth: "GNU sort past memory, and the workload with its parameters",
        needs: &["fusermount3", "losetup", "mkfs.ext4", "sort", "awk"],
        run: applications::sort,
    },
    System {
        name: "tpc-b",
        truth: "TPC-B on SQLite, and the workload with its parameters",
        needs: &["fusermount3", "losetup", "mkfs.ext4", "sqlite3", "awk"],
        run: applications::tpc_b,
    },
    System {
        name: "client-server",
        truth: "client cache of 32 MB, server cache of 96 MB",
        needs: &[
            "fusermount3",
            "losetup",
            "mkfs.ext4",
            "sshfs",
            "socat",
            "/usr/lib/openssh/sftp-server",
            "ip",
        ],
        run: network::client_server,
    },
    System {
        name: "nfs-like",
        truth: "writes go to the server one by one: write-through",
        needs: &["fusermount3", "sshfs", "socat", "/usr/lib/openssh/sftp-server", "ip"],
        run: network::nfs_like,
    },
    System {
        name: "dux-like",
        truth: "the client caches writes too: write-cancelling",
        needs: &["glusterd", "glusterfs", "ip"],
        run: network::dux_like,
    },
];

/// Systems that are tried when named: those that predictions are put to the test on take minutes of a machine that does nothing else.
pub const ON_REQUEST: &[System] = &[
    System {
        name: "prediction-here",
        truth: "a directory of the machine's own file system, 1 GiB of memory",
        needs: &[],
        run: prediction::here,
    },
    System {
        name: "prediction-ext4",
        truth: "ext4 on a loop device, 1 GiB of memory",
        needs: &["losetup", "mkfs.ext4"],
        run: prediction::ext4,
    },
    System {
        name: "prediction-xfs",
        truth: "XFS on a loop device, 1 GiB of memory",
        needs: &["losetup", "mkfs.xfs"],
        run: prediction::xfs,
    },
    System {
        name: "prediction-btrfs",
        truth: "btrfs on a loop device, 1 GiB of memory",
        needs: &["losetup", "mkfs.btrfs"],
        run: prediction::btrfs,
    },
    System { name: "prediction-tmpfs", truth: "tmpfs", needs: &[], run: prediction::tmpfs },
    System {
        name: "prediction-network",
        truth: "sshfs over 1 Gbit/s, a client cache of 64 MiB",
        needs: &["sshfs", "socat", "/usr/lib/openssh/sftp-server", "ip"],
        run: prediction::network,
    },
    System {
        name: "os-remote",
        truth: "the micro-benchmarks on sshfs: a name costs round trips, the file cache none",
        needs: &["fusermount3", "sshfs", "socat", "/usr/lib/openssh/sftp-server", "ip"],
        run: os::remote,
    },
];
