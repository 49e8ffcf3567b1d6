//! What the blocks of a mounted file system hold: from the file system's own map
//! (`FS_IOC_GETFSMAP`), and for directories, from their extents (`FS_IOC_FIEMAP`). Also finds the
//! blocks of a single file.
#![allow(unsafe_code)]

use super::disks::{self, RecordedDisk};
use ioscape_machine::device::BlockDevice;
use ioscape_machine::extents::places;
use ioscape_machine::{mounts, text};
use ioscape_schema::{BlockMap, IoType, TypedRange};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Ranges requested per call.
const AT_ONCE: usize = 1024;
/// The most ranges of one file system.
const MOST_RANGES: usize = 4 << 20;
/// The most directories whose extents are requested.
const MOST_DIRECTORIES: usize = 200_000;

/// The whole disk of a device number, as the kernel packs it for programs (`new_encode_dev`), and
/// where on that disk the device begins and ends.
fn place(device: u64) -> Option<(u32, u64, u64)> {
    let device = BlockDevice::at((libc::major(device), libc::minor(device)))?;
    let folder = Path::new("/sys/class/block").join(device.name());
    let bytes = |name: &str| text::read_number(folder.join(name)).unwrap_or(0).saturating_mul(512);
    let start = bytes("start");
    Some((disks::number(device.disk().number), start, start.saturating_add(bytes("size"))))
}

/// The index of a disk among the recorded ones.
fn index(disks: &[RecordedDisk], number: u32) -> Option<u16> {
    disks.iter().position(|disk| disk.number == number).and_then(|at| u16::try_from(at).ok())
}

/// `struct fsmap` of `linux/fsmap.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Fsmap {
    device: u32,
    flags: u32,
    physical: u64,
    owner: u64,
    offset: u64,
    length: u64,
    reserved: [u64; 3],
}

/// `struct fsmap_head` with room for the answer.
#[repr(C)]
struct FsmapHead {
    iflags: u32,
    oflags: u32,
    count: u32,
    entries: u32,
    reserved: [u64; 6],
    keys: [Fsmap; 2],
    found: [Fsmap; AT_ONCE],
}

/// `_IOWR('X', 59, struct fsmap_head)`: the size is that of the head without the answer.
const GETFSMAP: libc::Ioctl = 0xc0c0_583b_u32 as libc::Ioctl;
/// A flag in the answer's head: the device of a range is a device number, not a code of the file
/// system's own.
const DEVICE_NUMBERS: u32 = 0x1;
/// Flags of a range: its owner is a special code, not an inode; it is the last range.
const OF_SPECIAL: u32 = 0x10;
const OF_ATTRIBUTES: u32 = 0x2;
const OF_EXTENT_MAP: u32 = 0x4;
const OF_LAST: u32 = 0x20;

/// The type of a special owner: 'X' for codes of XFS (`xfs_fs.h`) that ext4 shares, 'f' for ext4's
/// own (`fs/ext4/fsmap.h`).
///
/// One code of XFS may stand for several things: 3 for the trees of free space and for the reverse
/// map of an allocation group, which cannot be told apart. The trees of inodes (4) and of shared
/// blocks (6) match none of the types.
fn special(owner: u64) -> Option<IoType> {
    match (owner >> 32, owner & 0xffff_ffff) {
        (0, 1) => None,
        (0x58, 1) | (0x66, 1 | 2) => Some(IoType::Superblock),
        (0x58, 2) => Some(IoType::Journal),
        (0x66, 3 | 4) => Some(IoType::Bitmap),
        (0x58, 5) => Some(IoType::Inode),
        _ => Some(IoType::Unknown),
    }
}

/// What a range holds, by its owner; `folders` are the inodes of directories.
fn holds(found: &Fsmap, folders: &HashSet<u64>) -> Option<IoType> {
    if found.flags & OF_SPECIAL != 0 {
        return special(found.owner);
    }
    let inner = found.flags & (OF_EXTENT_MAP | OF_ATTRIBUTES) != 0;
    Some(match folders.contains(&found.owner) {
        _ if inner => IoType::Indirect,
        true => IoType::Directory,
        false => IoType::UserData,
    })
}

/// Locates a device by its number in a map: the index of its disk in the recording, and where on
/// that disk it begins. `None` if its disk is not recorded.
type Places<'a> = &'a dyn Fn(u32) -> Option<(u16, u64)>;

/// A range of a map, placed on its disk. That need not be the disk of the file system's data: logs
/// and real-time parts may lie elsewhere.
fn placed(found: &Fsmap, folders: &HashSet<u64>, places: Places<'_>) -> Option<TypedRange> {
    let (device, start) = places(found.device)?;
    let from = start.saturating_add(found.physical);
    let to = from.saturating_add(found.length);
    Some(TypedRange { device, from, to, io_type: holds(found, folders)? })
}

/// What the blocks of all file systems and swap devices on `disks` hold; the devices are the
/// indices of the disks. If a file system reports nothing, its blocks remain unknown.
///
/// Returns `None` once `given_up` says so, which is asked after every directory: a partial map
/// would make false claims about the rest.
pub fn block_map(disks: &[RecordedDisk], given_up: &dyn Fn() -> bool) -> Option<BlockMap> {
    let mut map = BlockMap::default();
    let places = |device: u32| {
        let (number, start, _) = place(device.into())?;
        Some((index(disks, number)?, start))
    };
    // The same number is looked up for every range.
    let known = RefCell::new(HashMap::new());
    let places = |device: u32| *known.borrow_mut().entry(device).or_insert_with(|| places(device));
    for (device, disk) in (0..=u16::MAX).zip(disks) {
        for mount in disk.mounts() {
            of_file_system(&mount, device, &places, &mut map, given_up);
        }
        map.journals.extend(disk.has_journal().then_some(device));
        map.extents.extend(disk.is_ext().then_some(device));
    }
    let swaps = text::read("/proc/swaps").unwrap_or_default();
    map.ranges.extend(swap_devices(&swaps).filter_map(|device| of_swap(&device, disks)));
    (!given_up()).then_some(map)
}

/// The block devices used for swap, from a text like `/proc/swaps`. The blocks of swap files are
/// reported by their file system.
fn swap_devices(table: &str) -> impl Iterator<Item = PathBuf> {
    table.lines().skip(1).filter_map(|line| {
        let (name, about) = line.split_once(char::is_whitespace)?;
        (about.split_whitespace().next()? == "partition")
            .then(|| PathBuf::from(mounts::unescape(name)))
    })
}

/// Where a swap device lies, if its disk is recorded.
fn of_swap(device: &Path, disks: &[RecordedDisk]) -> Option<TypedRange> {
    let (number, from, to) = place(std::fs::metadata(device).ok()?.rdev())?;
    Some(TypedRange { device: index(disks, number)?, from, to, io_type: IoType::Swap })
}

/// Adds where the file system at `mount` lies and what its blocks hold, as ranges in no particular
/// order; only some of them once it is given up.
fn of_file_system(
    mount: &Path,
    device: u16,
    places: Places<'_>,
    map: &mut BlockMap,
    given_up: &dyn Fn() -> bool,
) {
    let Ok(file) = File::open(mount) else { return };
    let Some(number) = file.metadata().ok().map(|about| about.dev()) else { return };
    let Some((_, start, end)) = place(number) else { return };
    let mut low = Fsmap::default();
    let mut found = fsmap(&file, low);
    if found.is_empty() {
        return;
    }
    map.mapped.push((device, start, end));
    let ranges = &mut map.ranges;
    let before = ranges.len();
    let folders = directories(mount, number, (device, start), ranges, given_up);
    while !given_up() {
        let last = found.last().copied();
        for one in &found {
            ranges.extend(placed(one, &folders, places));
        }
        match last {
            // The next answer must begin further on; otherwise, there would be no end.
            Some(last)
                if last.flags & OF_LAST == 0
                    && ranges.len() - before < MOST_RANGES
                    && (last.device, last.physical) > (low.device, low.physical) =>
            {
                low = last;
                found = fsmap(&file, low);
            }
            _ => break,
        }
    }
}

/// The ranges after `low`; none if the file system identifies its devices by codes of its own,
/// which cannot be located.
fn fsmap(file: &File, low: Fsmap) -> Vec<Fsmap> {
    let high = Fsmap {
        device: u32::MAX,
        flags: u32::MAX,
        physical: u64::MAX,
        owner: u64::MAX,
        offset: u64::MAX,
        length: 0,
        reserved: [0; 3],
    };
    let mut head = Box::new(FsmapHead {
        iflags: 0,
        oflags: 0,
        count: AT_ONCE as u32,
        entries: 0,
        reserved: [0; 6],
        keys: [low, high],
        found: [Fsmap::default(); AT_ONCE],
    });
    // SAFETY: the head is laid out as `struct fsmap_head` and has room for `count` ranges; it
    // outlives the call.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), GETFSMAP, &raw mut *head) };
    let told = done == 0 && head.oflags & DEVICE_NUMBERS != 0;
    let count = if told { (head.entries as usize).min(AT_ONCE) } else { 0 };
    head.found[..count].to_vec()
}

/// Where a file lies on its disk: for each extent the disk's number, the first byte, and the byte
/// after the last.
pub(super) fn of_file(file: &File) -> Vec<(u32, u64, u64)> {
    let Some((disk, start, _)) = file.metadata().ok().and_then(|m| place(m.dev())) else {
        return Vec::new();
    };
    let at = |(from, length): (u64, u64)| (disk, start + from, start + from + length);
    places(file, MOST_RANGES).into_iter().map(at).collect()
}

/// Adds the blocks of one file system's directories, breadth first from `top`, where it reports
/// them for a file. Returns their inodes: XFS reports these blocks only by owner. Stops when given
/// up.
fn directories(
    top: &Path,
    number: u64,
    (device, start): (u16, u64),
    ranges: &mut Vec<TypedRange>,
    given_up: &dyn Fn() -> bool,
) -> HashSet<u64> {
    let mut folders = HashSet::new();
    let mut waiting = VecDeque::from([top.to_path_buf()]);
    // Not even opened, since what is mounted there may not answer.
    let elsewhere: HashSet<PathBuf> =
        mounts::table().into_iter().map(|mount| mount.point).collect();
    let mut seen = 0;
    while let Some(folder) = waiting.pop_front() {
        seen += 1;
        if seen > MOST_DIRECTORIES || given_up() {
            break;
        }
        let Ok(file) = File::open(&folder) else { continue };
        // Queried from the open folder: a listing gives the kind of each entry, but querying the
        // device of each would take longer than everything else.
        let Ok(inode) = file.metadata() else { continue };
        if inode.dev() != number {
            continue;
        }
        folders.insert(inode.ino());
        for (from, length) in places(&file, MOST_RANGES) {
            let (from, to) = (start + from, start + from + length);
            ranges.push(TypedRange { device, from, to, io_type: IoType::Directory });
        }
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir())
                && !elsewhere.contains(&entry.path())
            {
                waiting.push_back(entry.path());
            }
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_kernel_sizes() {
        assert_eq!(size_of::<Fsmap>(), 64);
        assert_eq!(size_of::<FsmapHead>() - AT_ONCE * 64, 192);
        assert_eq!(GETFSMAP & 0xffff, 59 | 0x58 << 8);
        assert_eq!(GETFSMAP >> 16 & 0x3fff, 192);
    }

    #[test]
    fn a_walk_that_is_given_up_stops_at_the_next_directory() {
        let top = tempfile::tempdir().unwrap();
        for n in 0..50 {
            std::fs::create_dir(top.path().join(n.to_string())).unwrap();
        }
        let number = std::fs::metadata(top.path()).unwrap().dev();
        let walked = |most: u32| {
            let asked = std::cell::Cell::new(0);
            let given_up = || {
                asked.set(asked.get() + 1);
                asked.get() > most
            };
            directories(top.path(), number, (0, 0), &mut Vec::new(), &given_up).len()
        };
        assert_eq!((walked(0), walked(10), walked(u32::MAX)), (0, 10, 51));
    }

    #[test]
    fn a_log_on_another_disk_is_placed_there_or_nowhere() {
        let (data, log, elsewhere) = (8 << 8 | 1, 259 << 8 | 2, 8 << 8 | 0x21);
        let numbers = |device: u64| (libc::major(device), libc::minor(device));
        let places = |device: u32| match numbers(device.into()) {
            (8, 1) => Some((0, 1 << 20)),
            (259, 2) => Some((3, 4 << 20)),
            _ => None,
        };
        let range = |device, owner| {
            let found =
                Fsmap { device, owner, flags: OF_SPECIAL, length: 4096, ..Fsmap::default() };
            let found = placed(&found, &HashSet::new(), &places)?;
            Some((found.device, found.from, found.to, found.io_type))
        };
        let journal = 0x58 << 32 | 2;
        assert_eq!(range(log, journal), Some((3, 4 << 20, (4 << 20) + 4096, IoType::Journal)));
        assert_eq!(range(elsewhere, journal), None, "its disk is not recorded");
        let super_block = 0x58 << 32 | 1;
        assert_eq!(range(data, super_block).map(|found| (found.0, found.1)), Some((0, 1 << 20)));
        // The higher bits of a minor number above 255 come first.
        assert_eq!(numbers(0x0010_0834), (8, 0x134));
    }

    #[test]
    fn swap_devices_are_told_and_swap_files_are_not() {
        let table = "Filename\tType\tSize\n/dev/vda5  partition\t8 0 -2\n/swap.img file 8 0 -3\n\
            /dev/my\\040volume\tpartition\t8 0 -4\n";
        let found: Vec<PathBuf> = swap_devices(table).collect();
        assert_eq!(found, [Path::new("/dev/vda5"), Path::new("/dev/my volume")]);
        assert_eq!(swap_devices("").count(), 0);
    }

    #[test]
    fn owners_are_told_apart() {
        let folders = HashSet::from([99]);
        let at = |owner, flags| holds(&Fsmap { owner, flags, ..Fsmap::default() }, &folders);
        assert_eq!(at(1, OF_SPECIAL), None, "free space holds nothing");
        assert_eq!(at(0x66 << 32 | 3, OF_SPECIAL), Some(IoType::Bitmap));
        assert_eq!(at(0x58 << 32 | 5, OF_SPECIAL), Some(IoType::Inode));
        assert_eq!(at(2, OF_SPECIAL), Some(IoType::Unknown));
        assert_eq!(at(0x58 << 32 | 1, OF_SPECIAL), Some(IoType::Superblock), "headers of a group");
        for trees in [3, 4, 6] {
            assert_eq!(at(0x58 << 32 | trees, OF_SPECIAL), Some(IoType::Unknown), "{trees}");
        }
        assert_eq!(
            (at(77, 0), at(77, OF_EXTENT_MAP)),
            (Some(IoType::UserData), Some(IoType::Indirect))
        );
        assert_eq!(
            (at(99, 0), at(99, OF_EXTENT_MAP)),
            (Some(IoType::Directory), Some(IoType::Indirect))
        );
    }
}
