//! The devices of a btrfs and its copies of data, as the kernel shows them. The mount table names only
//! one of the devices.

use crate::text::{self, entries};
use std::path::{Path, PathBuf};

/// Returns the directory below `sys` of the btrfs that device `one` belongs to, and the numbers of
/// all its devices.
fn of(sys: &Path, one: (u32, u32)) -> Option<(PathBuf, Vec<(u32, u32)>)> {
    let members = |of_one: PathBuf| {
        let number = |device: PathBuf| text::pair(&text::read(device.join("dev"))?);
        let all: Option<Vec<_>> = entries(of_one.join("devices")).map(number).collect();
        Some((of_one, all?))
    };
    entries(sys.join("fs/btrfs")).filter_map(members).find(|(_, all)| all.contains(&one))
}

/// Returns the numbers of all devices of the btrfs on device `one`; empty if not all are known.
pub(crate) fn devices(sys: &Path, one: (u32, u32)) -> Vec<(u32, u32)> {
    of(sys, one).map(|(_, all)| all).unwrap_or_default()
}

/// Returns whether the btrfs on device `one` was mounted without one of its devices.
pub(crate) fn lacks_device(sys: &Path, one: (u32, u32)) -> bool {
    let is_missing = |device: PathBuf| text::read_number(device.join("missing")) == Some(1);
    of(sys, one).is_some_and(|(of_one, _)| entries(of_one.join("devinfo")).any(is_missing))
}

/// Returns the smallest number of copies among the data profiles of the btrfs on device `one`.
pub(crate) fn copies(sys: &Path, one: (u32, u32)) -> Option<u64> {
    let profiles = entries(of(sys, one)?.0.join("allocation/data"));
    let holds = |path: &PathBuf| text::read_number(path.join("total_bytes")).is_some_and(|n| n > 0);
    let copies = |path: PathBuf| match path.file_name()?.to_str()? {
        "dup" | "raid1" | "raid10" => Some(2),
        "raid1c3" => Some(3),
        "raid1c4" => Some(4),
        _ => Some(1),
    };
    profiles.filter(holds).filter_map(copies).min()
}
