//! The systems whose truth is known, one function each.

mod applications;
mod cache;
mod disk;
mod faults;
mod fio;
mod hidden;
mod model;
mod neighbour;
mod network;
mod os;
mod policy;
mod prediction;
mod starved;
mod tpc_b;
mod traced;
mod twin;
mod vxbench;

use crate::check::{Check, Outcome};
use crate::disk::Parameters;
use crate::lab::{Lab, memory};
use crate::packages;

/// Expectations, or why the system could not be brought up or evaluated.
pub type Checks = Result<Vec<Check>, String>;

/// A disk with one arm, on which most requests take 0.1 ms + seek + 1 ms + bytes / 40 MB/s.
pub fn slow_disk(size_mib: f64) -> Parameters {
    Parameters {
        size_mib,
        seek_min_us: 500.0,
        seek_max_us: 4000.0,
        rotation_us: 1000.0,
        bandwidth_mb_s: 40.0,
        overhead_us: 100.0,
        ..Parameters::default()
    }
}

/// A system, and what is known about it.
pub struct System {
    /// Name, by which it is chosen.
    pub name: &'static str,
    /// What is known.
    pub truth: &'static str,
    /// Debian packages that it needs.
    pub packages: &'static [&'static str],
    /// Whether a miss is never tolerated: its checks allow for a busy machine, and other systems
    /// build on them.
    pub must_hold: bool,
    /// Brings it up, evaluates it, and compares.
    run: fn(&Lab) -> Checks,
}

impl System {
    /// Tries the system.
    pub fn attempt(&self, lab: &Lab) -> Outcome {
        let is_absent =
            |name: &&str| packages::programs(name).iter().any(|program| !lab.has(program));
        let missing: Vec<&str> = self.packages.iter().copied().filter(is_absent).collect();
        if !missing.is_empty() {
            return Outcome::Skipped(format!("apt-get install {}", missing.join(" ")));
        }
        if BY_DIRTY_PAGES.contains(&self.name) && memory::is_version_2() == Some(true) {
            let why = "memory groups are of version 2, which limit dirty pages by themselves";
            return Outcome::Skipped(why.to_owned());
        }
        match (self.run)(lab) {
            Ok(checks) => Outcome::Checked(checks),
            Err(why) => Outcome::Broken(why),
        }
    }
}

/// Systems whose truth is a limit on a device's dirty pages, which must be the only such limit.
const BY_DIRTY_PAGES: [&str; 2] = ["sprite", "dirty-limit"];

/// All systems, in the order in which they are tried. The predictions at the end take an hour and a
/// half on an otherwise idle machine.
pub const ALL: &[System] = &[
    System {
        name: "disk-model",
        truth: "the simulated disk keeps to its parameters and counts what it does",
        packages: &[],
        must_hold: true,
        run: model::simulated_disk,
    },
    System {
        name: "fio",
        truth: "fio replays the same requests at the same speed",
        packages: &["fio"],
        must_hold: false,
        run: fio::replay,
    },
    System {
        name: "fast",
        truth: "fio moves the same bytes at the same speed on a device as fast as memory",
        packages: &["e2fsprogs", "fio"],
        must_hold: false,
        run: fio::fast,
    },
    System {
        name: "vxbench",
        truth: "fio moves the same bytes at the same speed and cost; direct I/O spares processor time; writers to one file wait",
        packages: &["fio"],
        must_hold: false,
        run: vxbench::beside_fio,
    },
    System {
        name: "faults",
        truth: "a disk that fails after some points",
        packages: &[],
        must_hold: true,
        run: faults::in_the_middle,
    },
    System {
        name: "hang",
        truth: "a disk that stops answering below a file system",
        packages: &["e2fsprogs"],
        must_hold: true,
        run: faults::that_hangs,
    },
    System {
        name: "unrelated-hang",
        truth: "a file system beside the one that is measured stops answering",
        packages: &["e2fsprogs", "openssh-sftp-server", "sshfs"],
        must_hold: true,
        run: neighbour::does_not_answer,
    },
    System {
        name: "lost-writes",
        truth: "a disk that loses what the file cache took",
        packages: &[],
        must_hold: true,
        run: faults::lost_writes,
    },
    System {
        name: "verify",
        truth: "a disk that corrupts, drops, misplaces and tears writes",
        packages: &[],
        must_hold: true,
        run: faults::lies,
    },
    System {
        name: "tmpfs",
        truth: "one region",
        packages: &[],
        must_hold: false,
        run: cache::tmpfs,
    },
    System {
        name: "memcg-64",
        truth: "a page cache of 64 MiB",
        packages: &[],
        must_hold: false,
        run: cache::limit_64,
    },
    System {
        name: "memcg-512",
        truth: "a page cache of 512 MiB",
        packages: &[],
        must_hold: false,
        run: cache::limit_512,
    },
    System {
        name: "sprite",
        truth: "writes cached to 24 MiB by the kernel's usual settings, reads to 128 MiB: three plateaus",
        packages: &["e2fsprogs"],
        must_hold: false,
        run: cache::sprite,
    },
    System {
        name: "fast-storage",
        truth: "a page cache of 300 MiB before storage that is 3 to 5 times slower than memory",
        packages: &["e2fsprogs"],
        must_hold: false,
        run: hidden::fast_storage,
    },
    System {
        name: "dirty-limit",
        truth: "a page cache of 200 MiB, of which 48 MiB may be dirty by the kernel's usual settings",
        packages: &["e2fsprogs"],
        must_hold: false,
        run: hidden::dirty_limit,
    },
    System {
        name: "device-cache",
        truth: "direct I/O to a disk with a cache of 80 MiB",
        packages: &[],
        must_hold: false,
        run: hidden::device_cache,
    },
    System {
        name: "dropped-pages",
        truth: "a page cache of 96 MiB that loses everything at every open",
        packages: &[],
        must_hold: false,
        run: hidden::dropped_pages,
    },
    System {
        name: "no-file-cache",
        truth: "a disk with a cache of 48 MiB, of which the kernel keeps nothing: no file cache ends, or has a policy",
        packages: &[],
        must_hold: false,
        run: hidden::no_file_cache,
    },
    System {
        name: "write-through",
        truth: "every write goes to the disk; T = T_disk / (1 - r)",
        packages: &[],
        must_hold: false,
        run: policy::write_through,
    },
    System {
        name: "write-back",
        truth: "writes cancel in the cache",
        packages: &[],
        must_hold: false,
        run: policy::write_back,
    },
    System {
        name: "flush",
        truth: "flushing every second slows cached writes on btrfs, never flushing does not",
        packages: &["btrfs-progs"],
        must_hold: false,
        run: policy::flush,
    },
    System {
        name: "one-arm",
        truth: "sequentiality pays on the disk and not in the cache; concurrency does not pay",
        packages: &["e2fsprogs"],
        must_hold: false,
        run: disk::one_arm,
    },
    System {
        name: "four-arms",
        truth: "concurrency pays on a disk with four arms",
        packages: &["e2fsprogs"],
        must_hold: false,
        run: disk::four_arms,
    },
    System {
        name: "twin-hard-disk",
        truth: "the twin's random requests take what seeks, rotation and rate of the disk make on average",
        packages: &[],
        must_hold: false,
        run: twin::of_a_hard_disk,
    },
    System {
        name: "twin-loop",
        truth: "a device in memory: its twin is as near to workloads it has not seen as a calibrated one must be",
        packages: &[],
        must_hold: false,
        run: twin::of_a_fast_device,
    },
    System {
        name: "twin-limit",
        truth: "20 MB/s behind a credit of 300 MiB: the twin's course finds both, or says that it cannot be told",
        packages: &[],
        must_hold: false,
        run: twin::of_a_limited_disk,
    },
    System {
        name: "sort",
        truth: "GNU sort past memory, and the workload with its parameters",
        packages: &["e2fsprogs"],
        must_hold: false,
        run: applications::sort,
    },
    System {
        name: "tpc-b",
        truth: "TPC-B on SQLite, and the workload with its parameters",
        packages: &["e2fsprogs", "sqlite3"],
        must_hold: false,
        run: applications::tpc_b,
    },
    System {
        name: "app-copy",
        truth: "a tree of small files copied, and the workload with its parameters",
        packages: &["e2fsprogs"],
        must_hold: false,
        run: applications::copy,
    },
    System {
        name: "app-grep",
        truth: "a tree of small files searched, and the workload with its parameters",
        packages: &["e2fsprogs"],
        must_hold: false,
        run: applications::grep,
    },
    System {
        name: "app-gzip",
        truth: "a file compressed, and the workload with its parameters",
        packages: &["e2fsprogs"],
        must_hold: false,
        run: applications::gzip,
    },
    System {
        name: "app-index",
        truth: "an index made and used by SQLite, and the workload with its parameters",
        packages: &["e2fsprogs", "sqlite3"],
        must_hold: false,
        run: applications::index,
    },
    System {
        name: "trace-predict",
        truth: "sort, TPC-B, a compile and a file server, traced once and run with three sizes of memory",
        packages: &["e2fsprogs", "fio", "sqlite3"],
        must_hold: false,
        run: traced::applications,
    },
    System {
        name: "client-server",
        truth: "client cache of 32 MB, server cache of 96 MB",
        packages: &["e2fsprogs", "fuse3", "iproute2", "openssh-sftp-server", "socat", "sshfs"],
        must_hold: false,
        run: network::client_server,
    },
    System {
        name: "nfs-like",
        truth: "writes go to the server one by one: write-through",
        packages: &["fuse3", "iproute2", "openssh-sftp-server", "socat", "sshfs"],
        must_hold: false,
        run: network::nfs_like,
    },
    System {
        name: "dux-like",
        truth: "the client caches writes too: write-cancelling",
        packages: &["glusterfs-client", "glusterfs-server", "iproute2"],
        must_hold: false,
        run: network::dux_like,
    },
    System {
        name: "prediction-here",
        truth: "a directory of the machine's own file system, 1 GiB of memory",
        packages: &[],
        must_hold: false,
        run: prediction::here,
    },
    System {
        name: "prediction-ext4",
        truth: "ext4 on a loop device, 1 GiB of memory",
        packages: &["e2fsprogs"],
        must_hold: false,
        run: prediction::ext4,
    },
    System {
        name: "prediction-xfs",
        truth: "XFS on a loop device, 1 GiB of memory",
        packages: &["xfsprogs"],
        must_hold: false,
        run: prediction::xfs,
    },
    System {
        name: "prediction-btrfs",
        truth: "btrfs on a loop device, 1 GiB of memory",
        packages: &["btrfs-progs"],
        must_hold: false,
        run: prediction::btrfs,
    },
    System {
        name: "prediction-tmpfs",
        truth: "tmpfs",
        packages: &[],
        must_hold: false,
        run: prediction::tmpfs,
    },
    System {
        name: "what-if",
        truth: "ext4 evaluated with 512 MiB of memory, predicted for 256 MiB and 1 GiB, and measured there",
        packages: &[],
        must_hold: false,
        run: prediction::what_if_memory,
    },
    System {
        name: "prediction-network",
        truth: "sshfs over 1 Gbit/s, a client cache of 64 MiB",
        packages: &["fuse3", "iproute2", "openssh-sftp-server", "socat", "sshfs"],
        must_hold: false,
        run: prediction::network,
    },
    System {
        name: "os-starved",
        truth: "the micro-benchmarks on a machine that starves them: each number within 5 % of the quiet one, or none and a reason",
        packages: &[],
        must_hold: false,
        run: starved::os,
    },
    System {
        name: "os-remote",
        truth: "the micro-benchmarks on sshfs: a name costs round trips, the file cache none",
        packages: &["fuse3", "iproute2", "openssh-sftp-server", "socat", "sshfs"],
        must_hold: false,
        run: os::remote,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_whose_truth_is_a_limit_on_dirty_pages_are_there() {
        let is_there = |name: &&str| ALL.iter().any(|system| system.name == *name);
        assert!(BY_DIRTY_PAGES.iter().all(is_there));
    }
}
