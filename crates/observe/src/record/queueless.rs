//! Disks without a queue of requests (device mapper, md, bcache, zram): the kernel tells of them only what arrives and what is done.

use super::disks::RecordedDisk;
use ioscape_machine::error::Error;
use std::path::{Path, PathBuf};

/// The recorded disks that have no queue.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Queueless {
    /// The numbers of those whose requests are told by what arrives there.
    pub numbers: Vec<u32>,
    /// That the requests to others are recorded where they are carried out.
    pub below: Option<String>,
    /// That nothing is told of others.
    pub unseen: Option<String>,
}

impl Queueless {
    /// Looks for them in `block`, which is `/sys/block`. Those on disks that are all recorded are left to these, so that no request is
    /// recorded twice.
    ///
    /// # Errors
    /// Nothing would be told of any of the disks.
    pub fn among(disks: &[RecordedDisk], block: &Path) -> Result<Self, Error> {
        // Nothing is told of a drive of several paths: what lies on it is recorded as it arrives there.
        let is_told = |name: &str| !is_of_paths(name) || !has_no_queue(&block.join(name));
        let is_recorded =
            |name: &String| is_told(name) && disks.iter().any(|disk| disk.name == *name);
        let (mut numbers, mut left, mut unseen) = (Vec::new(), Vec::new(), Vec::new());
        for disk in disks.iter().filter(|disk| has_no_queue(&block.join(&disk.name))) {
            let below = below(&block.join(&disk.name));
            if is_of_paths(&disk.name) {
                unseen.push(disk.name.clone());
            } else if !below.is_empty() && below.iter().all(is_recorded) {
                left.push(format!("{} (on {})", disk.name, below.join(", ")));
            } else {
                numbers.push(disk.number);
            }
        }
        let names = unseen.join(", ");
        if !disks.is_empty() && unseen.len() == disks.len() {
            let what = format!("recording {names}");
            return Err(Error::Unsupported { what, why: OF_PATHS.to_owned() });
        }
        let left = (!left.is_empty()).then(|| {
            let names = left.join(", ");
            format!(
                "requests to {names} are recorded where they are carried out, on the disks below: to record them as they arrive, name the upper disk alone (--device)"
            )
        });
        let unseen = (!unseen.is_empty()).then(|| format!("{names}: {OF_PATHS}"));
        Ok(Self { numbers, below: left, unseen })
    }
}

/// Why nothing is told of such a disk, and what to do.
const OF_PATHS: &str = "the kernel tells of its requests under the numbers of its paths, which it shows nowhere, and no disk below it can be named instead: start the kernel with nvme_core.multipath=N";

/// Whether it stands for all the paths to an NVMe drive: those have queues.
fn is_of_paths(name: &str) -> bool {
    name.starts_with("nvme")
}

fn has_no_queue(disk: &Path) -> bool {
    disk.exists() && !disk.join("mq").exists()
}

/// The disks that one is made of, by their names.
fn below(disk: &Path) -> Vec<String> {
    let whole = |slave: PathBuf| {
        let slave = slave.canonicalize().ok()?;
        let is_partition = slave.join("partition").exists();
        let disk = if is_partition { slave.parent()? } else { &slave };
        Some(disk.file_name()?.to_string_lossy().into_owned())
    };
    let slaves = std::fs::read_dir(disk.join("slaves")).into_iter().flatten().flatten();
    let mut names: Vec<String> = slaves.filter_map(|slave| whole(slave.path())).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A made-up `/sys/block`: `sda` with a partition, on which `dm-0` lies and `dm-1` on that; `md0` on `sda` and `sdb`; `zram0` alone;
    /// `nvme0n1` of two paths, and `dm-2` on that.
    fn made_up() -> tempfile::TempDir {
        let block = tempfile::tempdir().unwrap();
        let at = |path: &str| block.path().join(path);
        for folder in ["sda/mq", "sda/sda1", "sdb/mq", "dm-0/slaves", "dm-1/slaves", "md0/slaves"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        for folder in ["zram0/slaves", "nvme0n1/slaves", "dm-2/slaves"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        std::fs::write(at("sda/sda1/partition"), "1\n").unwrap();
        for (to, link) in [
            ("sda/sda1", "dm-0/slaves/sda1"),
            ("dm-0", "dm-1/slaves/dm-0"),
            ("nvme0n1", "dm-2/slaves/nvme0n1"),
        ] {
            symlink(at(to), at(link)).unwrap();
        }
        for to in ["sda", "sdb"] {
            symlink(at(to), at("md0/slaves").join(to)).unwrap();
        }
        block
    }

    fn disks(names: &[&str]) -> Vec<RecordedDisk> {
        let disk = |(number, name): (u32, &&str)| RecordedDisk {
            name: (*name).to_owned(),
            number,
            capacity_bytes: None,
            sector_bytes: 512,
            partitions: Vec::new(),
        };
        (0..).zip(names).map(disk).collect()
    }

    fn among(names: &[&str]) -> Result<Queueless, Error> {
        Queueless::among(&disks(names), made_up().path())
    }

    #[test]
    fn a_disk_without_a_queue_is_recorded_by_what_arrives_there() {
        let numbers = |names: &[&str]| among(names).unwrap().numbers;
        assert!(numbers(&["sda", "sdb"]).is_empty());
        assert_eq!(numbers(&["dm-0"]), [0]);
        assert_eq!(numbers(&["sdb", "dm-0", "zram0"]), [1, 2], "not what is below");
        assert_eq!(numbers(&["sda", "md0"]), [1], "half of what is below is");
        assert!(numbers(&["absent"]).is_empty(), "nothing is known of it");
        let plain = among(&["sda", "zram0"]).unwrap();
        assert_eq!((plain.below, plain.unseen), (None, None));
    }

    #[test]
    fn a_request_is_not_recorded_once_above_and_once_below() {
        let all = among(&["sda", "sdb", "dm-0", "dm-1", "md0", "zram0"]).unwrap();
        assert_eq!(all.numbers, [5]);
        assert_eq!(all.unseen, None);
        let note = all.below.unwrap();
        for told in ["dm-0 (on sda)", "dm-1 (on dm-0)", "md0 (on sda, sdb)", "--device"] {
            assert!(note.contains(told), "{told}: {note}");
        }
    }

    #[test]
    fn a_drive_of_several_paths_is_refused_alone_and_told_among_others() {
        let refused = among(&["nvme0n1"]).unwrap_err();
        assert!(refused.is_misuse(), "{refused}");
        let text = refused.to_string();
        assert!(text.contains("nvme0n1") && text.contains("nvme_core.multipath=N"), "{text}");
        let note = among(&["sda", "nvme0n1"]).unwrap().unseen.unwrap();
        assert!(note.starts_with("nvme0n1: the kernel tells"), "{note}");
        assert!(Queueless::among(&[], made_up().path()).is_ok());
    }

    #[test]
    fn what_lies_on_a_drive_of_several_paths_is_recorded_as_it_arrives() {
        let found = among(&["nvme0n1", "dm-2"]).unwrap();
        assert_eq!(found.numbers, [1]);
        assert_eq!(found.below, None);
        assert!(found.unseen.unwrap().starts_with("nvme0n1: the kernel tells"));
    }
}
