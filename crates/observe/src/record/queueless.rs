//! Disks without a request queue (device mapper, md, bcache, zram): the kernel reports only what
//! arrives there and what completes. Also decides which disks are left to those below them.

use super::disks::RecordedDisk;
use ioscape_machine::error::Error;
use ioscape_machine::text;
use std::path::{Path, PathBuf};

/// The recorded disks that have no queue, and those on which nothing is recorded.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Queueless {
    /// The numbers of the disks whose requests are recorded as they arrive.
    pub numbers: Vec<u32>,
    /// The indices of the disks on which nothing is recorded: their requests are reported for the
    /// disks below, or not at all.
    pub elsewhere: Vec<u16>,
    /// The note that the requests to some disks are recorded where they are carried out.
    pub below: Option<String>,
    /// The note that nothing is reported about some disks.
    pub unseen: Option<String>,
}

impl Queueless {
    /// Classifies the disks by `block`, which is `/sys/block`. If all disks below one are recorded,
    /// it is left to these, so that no request is recorded twice. This includes a drive with
    /// several paths (dm-multipath): it has a queue, and the kernel reports its requests on both
    /// levels.
    ///
    /// # Errors
    /// Nothing would be reported about any of the disks.
    pub fn among(disks: &[RecordedDisk], block: &Path) -> Result<Self, Error> {
        // Nothing is reported about an NVMe drive with several paths: what lies on it is recorded
        // as it arrives there.
        let is_told = |name: &str| !is_of_paths(name) || !has_no_queue(&block.join(name));
        let is_recorded =
            |name: &String| is_told(name) && disks.iter().any(|disk| disk.name == *name);
        let (mut numbers, mut elsewhere) = (Vec::new(), Vec::new());
        let (mut left, mut unseen) = (Vec::new(), Vec::new());
        for (at, disk) in (0..=u16::MAX).zip(disks) {
            let below = below(&block.join(&disk.name));
            if !is_told(&disk.name) {
                unseen.push(disk.name.clone());
                elsewhere.push(at);
            } else if !below.is_empty() && below.iter().all(is_recorded) {
                left.push(format!("{} (on {})", disk.name, below.join(", ")));
                elsewhere.push(at);
            } else if has_no_queue(&block.join(&disk.name)) {
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
        Ok(Self { numbers, elsewhere, below: left, unseen })
    }

    /// The disks that are recorded themselves.
    pub fn recorded<'a>(&self, disks: &'a [RecordedDisk]) -> Vec<&'a RecordedDisk> {
        let all = (0..=u16::MAX).zip(disks);
        all.filter(|(at, _)| !self.elsewhere.contains(at)).map(|(_, disk)| disk).collect()
    }
}

/// The most layers of disks that are examined.
const DEEPEST: u32 = 8;

/// Whether requests to the disk with this name are also recorded on a disk below it, where its
/// blocks have other places.
pub(super) fn is_above(name: &str, recorded: &[&RecordedDisk], block: &Path) -> bool {
    is_within(DEEPEST, name, recorded, block)
}

/// Like [`is_above`], through at most `layers` layers: the file of a loop device may seem to lie on
/// itself if its path belongs to another root.
fn is_within(layers: u32, name: &str, recorded: &[&RecordedDisk], block: &Path) -> bool {
    let Some(layers) = layers.checked_sub(1) else { return false };
    let folder = block.join(name);
    below(&folder).into_iter().chain(below_loop(&folder)).any(|one| {
        let is_recorded = recorded.iter().any(|disk| disk.name == one);
        is_recorded || is_within(layers, &one, recorded, block)
    })
}

/// The disk that holds the file of a loop device.
fn below_loop(disk: &Path) -> Option<String> {
    let file = text::read(disk.join("loop/backing_file"))?;
    RecordedDisk::below(Path::new(&file)).ok().map(|disk| disk.name)
}

/// Why nothing is reported about such a disk, and what to do.
const OF_PATHS: &str = "the kernel tells of its requests under the numbers of its paths, which it shows nowhere, and no disk below it can be named instead: start the kernel with nvme_core.multipath=N";

/// Whether this is an NVMe drive. One without a queue stands for all paths to a drive; the paths
/// themselves have queues.
fn is_of_paths(name: &str) -> bool {
    name.starts_with("nvme")
}

fn has_no_queue(disk: &Path) -> bool {
    disk.exists() && !disk.join("mq").exists()
}

/// The names of the disks that a disk is made of.
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
    use ioscape_machine::testing::skipped;
    use std::os::unix::fs::symlink;

    /// A simulated `/sys/block`: `sda` with a partition, on which `dm-0` lies, with `dm-1` on that;
    /// `md0` on `sda` and `sdb`; `zram0` alone; `nvme0n1` with two paths, and `dm-2` on that;
    /// `dm-5` with a queue, whose paths are `sda` and `sdb`.
    fn made_up() -> tempfile::TempDir {
        let block = tempfile::tempdir().unwrap();
        let at = |path: &str| block.path().join(path);
        for folder in ["sda/mq", "sda/sda1", "sdb/mq", "dm-0/slaves", "dm-1/slaves", "md0/slaves"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        for folder in ["zram0/slaves", "nvme0n1/slaves", "dm-2/slaves", "dm-5/mq", "dm-5/slaves"] {
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
            symlink(at(to), at("dm-5/slaves").join(to)).unwrap();
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
        assert_eq!((all.numbers, all.elsewhere), (vec![5], vec![2, 3, 4]));
        assert_eq!(all.unseen, None);
        let note = all.below.unwrap();
        for told in ["dm-0 (on sda)", "dm-1 (on dm-0)", "md0 (on sda, sdb)", "--device"] {
            assert!(note.contains(told), "{told}: {note}");
        }
    }

    #[test]
    fn a_drive_of_several_paths_that_are_recorded_is_left_to_them() {
        let all = among(&["sda", "sdb", "dm-5"]).unwrap();
        assert_eq!((all.numbers, all.elsewhere), (vec![], vec![2]));
        assert!(all.below.is_some_and(|note| note.contains("dm-5 (on sda, sdb)")));
        for itself in [&["dm-5"][..], &["sda", "dm-5"]] {
            let found = among(itself).unwrap();
            assert_eq!((found.numbers, found.elsewhere, found.below), (vec![], vec![], None));
        }
    }

    #[test]
    fn what_goes_to_a_volume_is_recorded_below_it_too() {
        let block = made_up();
        let is_above = |name: &str, names: &[&str]| {
            let disks = disks(names);
            let recorded = Queueless::among(&disks, block.path()).unwrap().recorded(&disks);
            is_above(name, &recorded, block.path())
        };
        assert!(is_above("dm-1", &["sda", "dm-0", "dm-1"]), "at any depth");
        assert!(is_above("dm-0", &["sda"]), "though it is not named");
        assert!(is_above("md0", &["sda", "md0"]), "though it is recorded itself");
        assert!(!is_above("dm-0", &["dm-0"]) && !is_above("dm-1", &["sdb", "dm-1"]));
        assert!(!is_above("sda", &["sda", "dm-0"]), "no volume");
    }

    #[test]
    fn what_goes_to_a_loop_device_is_recorded_where_its_file_lies_too() {
        let (block, all) = (made_up(), RecordedDisk::all());
        let file = |disk: &RecordedDisk| Path::new("/dev").join(&disk.name);
        let is_itself = |disk: &RecordedDisk| {
            RecordedDisk::below(&file(disk)).is_ok_and(|below| below.number == disk.number)
        };
        let Some(disk) = all.iter().find(|&disk| is_itself(disk)) else {
            return skipped("no disk has a device file here");
        };
        let folder = block.path().join("loop0/loop");
        std::fs::create_dir_all(&folder).unwrap();
        let line = format!("{}\n", file(disk).display());
        std::fs::write(folder.join("backing_file"), line).unwrap();
        assert!(is_above("loop0", &[disk], block.path()));
        assert!(!is_above("loop0", &[], block.path()), "nothing below is recorded");
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
        assert_eq!((found.numbers, found.elsewhere), (vec![1], vec![0]));
        assert_eq!(found.below, None);
        assert!(found.unseen.unwrap().starts_with("nvme0n1: the kernel tells"));
    }
}
