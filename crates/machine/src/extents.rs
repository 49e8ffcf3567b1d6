//! Where a file is on its device (`FIEMAP`, kernel documentation filesystems/fiemap), and its
//! extent size.
#![expect(unsafe_code, reason = "two requests of ioctl(2) have no safe wrapper")]

use rustix::fs::SeekFrom::{Data, Hole};
use rustix::ioctl::opcode;
use std::fs::{File, Metadata};
use std::io;
use std::iter::from_fn;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;

/// `FS_IOC_FIEMAP`, of linux/fs.h.
const FS_IOC_FIEMAP: libc::Ioctl = opcode::read_write::<Head>(b'f', 11) as libc::Ioctl;
/// `FS_IOC_FSGETXATTR`, of linux/fs.h.
const FS_IOC_FSGETXATTR: libc::Ioctl = opcode::read::<Attributes>(b'X', 31) as libc::Ioctl;
/// `FS_IOC_FSSETXATTR`, of linux/fs.h.
const FS_IOC_FSSETXATTR: libc::Ioctl = opcode::write::<Attributes>(b'X', 32) as libc::Ioctl;
/// `FIEMAP_FLAG_SYNC`: allocates dirty data first.
const SYNC: u32 = 1;
/// `FS_XFLAG_EXTSIZE`: the file has an extent size of its own.
const XFLAG_EXTSIZE: u32 = 0x800;
/// `FS_XFLAG_REALTIME` and `FS_XFLAG_RTINHERIT`: the data of the file, or of those made in the
/// directory, is on the realtime device.
const XFLAG_REALTIME: u32 = 0x1 | 0x100;
/// `FIEMAP_EXTENT_LAST`: the last extent.
const LAST: u32 = 0x1;
/// `FIEMAP_EXTENT_UNKNOWN` and `FIEMAP_EXTENT_DELALLOC`: not yet allocated on the device.
const NOWHERE: u32 = 0x2 | 0x4;
/// `FIEMAP_EXTENT_ENCODED`: the bytes on the device differ from the file's contents.
const ENCODED: u32 = 0x8;
/// `FIEMAP_EXTENT_UNWRITTEN`: reserved, without data.
const UNWRITTEN: u32 = 0x800;
/// `FIEMAP_EXTENT_SHARED`: shared with a snapshot or a reflink copy.
const SHARED: u32 = 0x2000;
/// Unit in which the kernel counts the space of files and the sizes and transfers of devices, in
/// bytes, whatever a device's sector size.
pub(crate) const SECTOR: u64 = 512;
/// Number of extents requested at a time.
const BATCH: usize = 256;
/// Largest number of extents examined one by one.
const MOST: usize = 1 << 20;

/// A contiguous piece of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Offset in the file, in bytes.
    pub logical: u64,
    /// Offset on the device, in bytes.
    pub physical: u64,
    /// Length in the file, in bytes.
    pub len: u64,
    /// Whether its length on the device differs and is unknown: it may be compressed.
    pub is_encoded: bool,
}

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct RawExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap`.
#[repr(C)]
struct Head {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
}

/// `struct fiemap` with room for a batch.
#[repr(C)]
struct Map {
    head: Head,
    extents: [RawExtent; BATCH],
}

/// `struct fsxattr`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Attributes {
    flags: u32,
    extsize: u32,
    nextents: u32,
    project: u32,
    cow_extsize: u32,
    pad: [u8; 8],
}

/// Passes the extents of `file` from byte `start` on to `take` in batches, until they end or `take`
/// returns false.
///
/// # Errors
/// The file system does not report extents, or the call failed.
fn batches(
    file: &File,
    flags: u32,
    mut start: u64,
    mut take: impl FnMut(&[RawExtent]) -> bool,
) -> io::Result<()> {
    loop {
        let (length, room) = (u64::MAX - start, BATCH as u32);
        let mut map = Box::new(Map {
            head: Head { start, length, flags, mapped: 0, room, reserved: 0 },
            extents: [RawExtent::default(); BATCH],
        });
        // SAFETY: `map` has the layout of struct fiemap followed by `room` extents, lives on, and
        // is ours to write.
        let result = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP, &raw mut *map) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        let batch = &map.extents[..(map.head.mapped as usize).min(BATCH)];
        let goes_on = take(batch);
        match batch.last() {
            Some(last) if goes_on && last.flags & LAST == 0 && last.length > 0 => {
                start = last.logical.saturating_add(last.length);
            }
            _ => return Ok(()),
        }
    }
}

/// Returns the extents of `file` in file order, after allocating its dirty data.
///
/// # Errors
/// The file system does not report extents, or the call failed.
pub fn extents(file: &File) -> io::Result<Vec<Extent>> {
    first_extents(file, MOST)
}

/// Returns the first extents of `file`, at most about `most`.
pub fn first_extents(file: &File, most: usize) -> io::Result<Vec<Extent>> {
    let mut found: Vec<Extent> = Vec::new();
    batches(file, SYNC, 0, |batch| {
        found.extend(batch.iter().map(|e| Extent {
            logical: e.logical,
            physical: e.physical,
            len: e.length,
            is_encoded: e.flags & ENCODED != 0,
        }));
        found.len() < most
    })?;
    Ok(found)
}

/// Returns offset on the device and length of the parts of `file` that are allocated now. It
/// returns as many as the file system reports, at most about `most`.
pub fn places(file: &File, most: usize) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    // Unreported extents are unknown; those reported before remain.
    let _ = batches(file, 0, 0, |batch| {
        let placed = batch.iter().filter(|extent| extent.flags & NOWHERE == 0);
        found.extend(placed.map(|extent| (extent.physical, extent.length)));
        found.len() < most
    });
    found
}

/// Returns whether the first extent of `file` from byte `start` on is shared with a snapshot or a
/// reflink copy.
pub fn is_shared(file: &File, start: u64) -> io::Result<bool> {
    let mut is_shared = false;
    batches(file, 0, start, |batch| {
        is_shared = batch.first().is_some_and(|first| first.flags & SHARED != 0);
        false
    })?;
    Ok(is_shared)
}

/// Returns how many of the first `bytes` of `file` hold no data: holes, which some file systems
/// make even of written zeros, and space that is only reserved. 0 if the file system reports
/// neither.
pub fn unwritten_bytes(file: &File, bytes: u64) -> u64 {
    let mut written = 0;
    let told = batches(file, SYNC, 0, |batch| {
        let within = |e: &RawExtent| e.logical.saturating_add(e.length).min(bytes);
        let held = batch.iter().filter(|extent| extent.flags & UNWRITTEN == 0);
        written += held.map(|e| within(e).saturating_sub(e.logical)).sum::<u64>();
        batch.last().is_some_and(|last| last.logical < bytes)
    });
    match told {
        Ok(()) => bytes.saturating_sub(written),
        Err(_) => holes(file, bytes).map(|hole| hole.end - hole.start).sum(),
    }
}

/// Returns the bytes that a file occupies in its file system.
pub fn on_storage(state: &Metadata) -> u64 {
    state.blocks().saturating_mul(SECTOR)
}

/// Returns the holes of `file` before byte `end`, in order; empty if its file system does not
/// support holes.
pub(crate) fn holes(file: &File, end: u64) -> impl Iterator<Item = Range<u64>> {
    let mut at = 0;
    from_fn(move || {
        // A file system without holes reports the end of the file.
        let hole = rustix::fs::seek(file, Hole(at)).ok().filter(|hole| *hole < end)?;
        // No data follows the last hole. Any other hole counts as one byte at least, so that the
        // loop ends.
        at = rustix::fs::seek(file, Data(hole)).unwrap_or(end).clamp(hole + 1, end);
        Some(hole..at)
    })
}

/// Returns where writing to `file` before byte `end` takes new space, in order: its holes, except
/// where space is reserved, and what it shares with a snapshot or a copy.
pub(crate) fn unowned(file: &File, end: u64) -> Vec<Range<u64>> {
    let (mut all, reserved) = shared_and_reserved(file, end);
    all.extend(holes(file, end).flat_map(|hole| without(hole, &reserved)));
    all.sort_unstable_by_key(|range| range.start);
    all
}

/// Does the same for one write of each byte on a file system that copies on write: all but reserved
/// space, which the first write takes in place.
pub(crate) fn unreserved(file: &File, end: u64) -> Vec<Range<u64>> {
    without(0..end, &shared_and_reserved(file, end).1)
}

/// Returns the parts of `file` before byte `end` that it shares, and those that are reserved for it
/// alone, each in order.
fn shared_and_reserved(file: &File, end: u64) -> (Vec<Range<u64>>, Vec<Range<u64>>) {
    let (mut shared, mut reserved) = (Vec::new(), Vec::new());
    // A file system that reports no extents shares and reserves nothing, or does not say so.
    let _ = batches(file, 0, 0, |batch| {
        for one in batch.iter().filter(|one| one.logical < end) {
            let range = one.logical..one.logical.saturating_add(one.length).min(end);
            if one.flags & SHARED != 0 {
                shared.push(range);
            } else if one.flags & UNWRITTEN != 0 {
                reserved.push(range);
            }
        }
        batch.last().is_some_and(|last| last.logical < end)
    });
    (shared, reserved)
}

/// Returns `hole` without what is `reserved`, which is in order.
fn without(hole: Range<u64>, reserved: &[Range<u64>]) -> Vec<Range<u64>> {
    let first = reserved.partition_point(|one| one.end <= hole.start);
    let (mut left, mut at) = (Vec::new(), hole.start);
    for one in reserved[first..].iter().take_while(|one| one.start < hole.end) {
        left.push(at..one.start);
        at = one.end;
    }
    left.push(at..hole.end);
    left.retain(|range| !range.is_empty());
    left
}

/// Returns the number of separate pieces on the device; adjacent extents count as one. `None` if
/// lengths on the device are unknown.
pub fn fragments(extents: &[Extent]) -> Option<u64> {
    let follows = |pair: &[Extent]| pair[0].physical.wrapping_add(pair[0].len) == pair[1].physical;
    let joints = extents.windows(2).filter(|pair| follows(pair)).count();
    let is_told = !extents.iter().any(|extent| extent.is_encoded);
    is_told.then_some((extents.len() - joints) as u64)
}

/// Sets the extent size of `file` in bytes, and checks that it took effect.
///
/// # Errors
/// The file system has no extent sizes, or not this one.
pub fn set_extent_size(file: &File, bytes: u32) -> io::Result<()> {
    let mut attributes = get(file)?;
    attributes.flags |= XFLAG_EXTSIZE;
    attributes.extsize = bytes;
    // SAFETY: `attributes` has the layout of struct fsxattr and is only read.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FSSETXATTR, &raw const attributes) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let kept = get(file)?;
    match kept.extsize == bytes && kept.flags & XFLAG_EXTSIZE != 0 {
        true => Ok(()),
        false => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
    }
}

/// Returns whether XFS keeps the data of `file`, or of the files made in that directory, on its
/// realtime device.
pub(crate) fn is_realtime(file: &impl AsFd) -> bool {
    get(file).is_ok_and(|attributes| attributes.flags & XFLAG_REALTIME != 0)
}

fn get(file: &impl AsFd) -> io::Result<Attributes> {
    let mut attributes = Attributes::default();
    let number = file.as_fd().as_raw_fd();
    // SAFETY: `attributes` has the layout of struct fsxattr and is ours to write.
    let result = unsafe { libc::ioctl(number, FS_IOC_FSGETXATTR, &raw mut attributes) };
    if result == 0 { Ok(attributes) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build_directory, skipped};
    use rustix::fs::FallocateFlags;
    use std::os::unix::fs::FileExt;

    #[test]
    fn holes_and_reserved_space_were_never_written() {
        const MIB: u64 = 1 << 20;
        let file = tempfile::tempfile_in(build_directory()).unwrap();
        file.write_all_at(&[1; MIB as usize], MIB).unwrap();
        file.set_len(4 * MIB).unwrap();
        file.sync_all().unwrap();
        if unwritten_bytes(&file, 4 * MIB) == 0 {
            return skipped("the file system tells of no holes");
        }
        assert_eq!(unwritten_bytes(&file, 4 * MIB), 3 * MIB);
        assert_eq!([MIB, 2 * MIB].map(|bytes| unwritten_bytes(&file, bytes)), [MIB; 2]);
        assert_eq!(holes(&file, 3 * MIB).collect::<Vec<_>>(), [0..MIB, 2 * MIB..3 * MIB]);
        if rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, 4 * MIB).is_ok() {
            assert_eq!(unwritten_bytes(&file, 4 * MIB), 3 * MIB, "it is only reserved");
            if first_extents(&file, 1).is_ok() {
                assert_eq!(unowned(&file, 4 * MIB), [], "writing takes no new space");
                // Once, a reserved image on btrfs was refused as if writing it took space.
                assert_eq!(unreserved(&file, 4 * MIB), vec![MIB..2 * MIB; 1]);
            }
        }
    }

    #[test]
    fn what_is_reserved_is_no_part_of_a_hole() {
        let reserved = [2..4, 6..8, 12..20];
        let left = |hole| without(hole, &reserved);
        assert_eq!(left(0..10), [0..2, 4..6, 8..10]);
        assert_eq!(left(5..25), [5..6, 8..12, 20..25]);
        assert_eq!(left(13..19), []);
    }

    #[test]
    fn the_layouts_are_those_of_the_kernel() {
        assert_eq!((size_of::<RawExtent>(), size_of::<Map>() - BATCH * 56), (56, 32));
        let requests = [FS_IOC_FIEMAP, FS_IOC_FSGETXATTR, FS_IOC_FSSETXATTR].map(|one| one as u32);
        assert_eq!(std::mem::offset_of!(Map, extents), 32);
        // PowerPC and others number the directions differently.
        if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            assert_eq!(requests, [0xC020_660B, 0x801C_581F, 0x401C_5820]);
        }
    }

    #[test]
    fn neighbours_on_the_device_are_one_fragment() {
        let at = |logical, physical, len| Extent { logical, physical, len, is_encoded: false };
        assert_eq!(fragments(&[]), Some(0));
        assert_eq!(fragments(&[at(0, 100, 10)]), Some(1));
        assert_eq!(fragments(&[at(0, 100, 10), at(10, 110, 5), at(15, 300, 5)]), Some(2));
        let packed = |e: Extent| Extent { is_encoded: true, ..e };
        assert_eq!(fragments(&[packed(at(0, 100, 10)), packed(at(10, 103, 10))]), None);
    }
}
