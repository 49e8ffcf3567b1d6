//! What the blocks of a mounted file system hold: by the file system's own map (`FS_IOC_GETFSMAP`), directories by
//! their extents (`FS_IOC_FIEMAP`); and the blocks of one file.
#![allow(unsafe_code)]

use super::disks;
use ioscape_machine::device::BlockDevice;
use ioscape_machine::error::Error;
use ioscape_machine::extents::places;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Ranges asked for at once.
const AT_ONCE: usize = 1024;
/// Most ranges of one file system.
const MOST_RANGES: usize = 4 << 20;
/// Most directories whose extents are asked for.
const MOST_DIRECTORIES: usize = 200_000;

/// What a range of blocks holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Superblocks, group descriptors, headers of allocation groups.
    Superblock,
    /// Bitmaps or trees of free blocks and inodes.
    Bitmap,
    /// Inodes.
    Inode,
    /// A directory.
    Directory,
    /// Where a file's blocks are.
    Indirect,
    /// The journal or log.
    Journal,
    /// A file's contents.
    UserData,
    /// Something that is in use, the map does not tell what.
    InUse,
}

/// A range of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRange {
    /// The disk's number, as in [`super::RecordedDisk`].
    pub disk: u32,
    /// First byte on the disk.
    pub from: u64,
    /// Byte after the last.
    pub to: u64,
    /// What is there.
    pub holds: Holds,
}

/// The whole disk below a device number and where the device begins on it.
fn place(device: u64) -> Option<(u32, u64)> {
    let device = BlockDevice::at((libc::major(device), libc::minor(device)))?;
    let start = Path::new("/sys/class/block").join(device.name()).join("start");
    let start = ioscape_machine::text::read_number(start).unwrap_or(0) * 512;
    Some((disks::number(device.disk().number), start))
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
/// The owner is a word of its own, not an inode; the last range.
const OF_SPECIAL: u32 = 0x10;
const OF_ATTRIBUTES: u32 = 0x2;
const OF_EXTENT_MAP: u32 = 0x4;
const OF_LAST: u32 = 0x20;

/// What a special owner is: 'X' for words of XFS that ext4 shares, 'f' for ext4's own (`fs/ext4/fsmap.h`).
fn special(owner: u64) -> Option<Holds> {
    match (owner >> 32, owner & 0xffff_ffff) {
        (0, 1) => None,
        (0, 3) | (0x58, 1 | 3) | (0x66, 1 | 2) => Some(Holds::Superblock),
        (0x58, 2) => Some(Holds::Journal),
        (0x58, 4 | 6) | (0x66, 3 | 4) => Some(Holds::Bitmap),
        (0x58, 5) => Some(Holds::Inode),
        _ => Some(Holds::InUse),
    }
}

fn holds(found: &Fsmap) -> Option<Holds> {
    if found.flags & OF_SPECIAL != 0 {
        return special(found.owner);
    }
    let inner = found.flags & (OF_EXTENT_MAP | OF_ATTRIBUTES) != 0;
    Some(if inner { Holds::Indirect } else { Holds::UserData })
}

/// What the blocks of the file system at `mount` hold, ranges in no order, directories last; nothing where the file
/// system tells nothing.
///
/// # Errors
/// The path cannot be opened.
pub fn of_file_system(mount: &Path) -> Result<Vec<BlockRange>, Error> {
    let file = File::open(mount).map_err(|e| Error::io("open", mount, e))?;
    let device = file.metadata().map_err(|e| Error::io("look at", mount, e))?.dev();
    let Some((disk, start)) = place(device) else { return Ok(Vec::new()) };
    let mut ranges = Vec::new();
    let mut low = Fsmap::default();
    loop {
        let found = fsmap(&file, low);
        let last = found.last().copied();
        for one in &found {
            if let Some(holds) = holds(one) {
                let from = start.saturating_add(one.physical);
                ranges.push(BlockRange { disk, from, to: from.saturating_add(one.length), holds });
            }
        }
        match last {
            // The next answer must begin further on, or there would be no end.
            Some(last)
                if last.flags & OF_LAST == 0
                    && ranges.len() < MOST_RANGES
                    && (last.device, last.physical) > (low.device, low.physical) =>
            {
                low = last;
            }
            _ => break,
        }
    }
    if !ranges.is_empty() {
        directories(mount, device, (disk, start), &mut ranges);
    }
    Ok(ranges)
}

/// The ranges after `low`.
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
    // SAFETY: the head is laid out as `struct fsmap_head` and has room for `count` ranges; it lives through the call.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), GETFSMAP, &raw mut *head) };
    let count = if done == 0 { (head.entries as usize).min(AT_ONCE) } else { 0 };
    head.found[..count].to_vec()
}

/// Where a file is on its disk: the disk's number, first byte, byte after the last.
pub(super) fn of_file(file: &File) -> Vec<(u32, u64, u64)> {
    let Some((disk, start)) = file.metadata().ok().and_then(|m| place(m.dev())) else {
        return Vec::new();
    };
    let at = |(from, length): (u64, u64)| (disk, start + from, start + from + length);
    places(file, MOST_RANGES).into_iter().map(at).collect()
}

/// Adds the blocks of the directories of one file system, breadth first from `top`.
fn directories(top: &Path, device: u64, (disk, start): (u32, u64), ranges: &mut Vec<BlockRange>) {
    let mut waiting = std::collections::VecDeque::from([top.to_path_buf()]);
    let mut seen = 0;
    while let Some(folder) = waiting.pop_front() {
        seen += 1;
        if seen > MOST_DIRECTORIES {
            return;
        }
        let Ok(file) = File::open(&folder) else { continue };
        // Asked of the open folder: the entries of a listing tell their kind, but asking each for its device takes longer than
        // all the rest.
        if !file.metadata().is_ok_and(|metadata| metadata.dev() == device) {
            continue;
        }
        for (from, length) in places(&file, MOST_RANGES) {
            let (from, to) = (start + from, start + from + length);
            ranges.push(BlockRange { disk, from, to, holds: Holds::Directory });
        }
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push_back(entry.path());
            }
        }
    }
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
    fn owners_are_told_apart() {
        let at = |owner, flags| holds(&Fsmap { owner, flags, ..Fsmap::default() });
        assert_eq!(at(1, OF_SPECIAL), None, "free space holds nothing");
        assert_eq!(at(0x66 << 32 | 3, OF_SPECIAL), Some(Holds::Bitmap));
        assert_eq!(at(0x58 << 32 | 5, OF_SPECIAL), Some(Holds::Inode));
        assert_eq!(at(2, OF_SPECIAL), Some(Holds::InUse));
        assert_eq!(
            (at(77, 0), at(77, OF_EXTENT_MAP)),
            (Some(Holds::UserData), Some(Holds::Indirect))
        );
    }
}
