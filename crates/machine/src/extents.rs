//! Where a file lies on its device (`FIEMAP`, kernel documentation filesystems/fiemap), and the extent size it is given.
#![expect(unsafe_code, reason = "two requests of ioctl(2) have no safe wrapper")]

use rustix::fs::SeekFrom::{Data, Hole};
use std::fs::File;
use std::io;
use std::iter::from_fn;
use std::ops::Range;
use std::os::fd::AsRawFd;

/// `FS_IOC_FIEMAP`, of linux/fs.h.
const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B_u32 as libc::Ioctl;
/// `FS_IOC_FSGETXATTR`, of linux/fs.h.
const FS_IOC_FSGETXATTR: libc::Ioctl = 0x801C_581F_u32 as libc::Ioctl;
/// `FS_IOC_FSSETXATTR`, of linux/fs.h.
const FS_IOC_FSSETXATTR: libc::Ioctl = 0x401C_5820_u32 as libc::Ioctl;
/// `FIEMAP_FLAG_SYNC`: dirty data gets its place first.
const SYNC: u32 = 1;
/// `FS_XFLAG_EXTSIZE`: the file has an extent size of its own.
const XFLAG_EXTSIZE: u32 = 0x800;
/// `FIEMAP_EXTENT_LAST`: no other follows.
const LAST: u32 = 0x1;
/// `FIEMAP_EXTENT_UNKNOWN` and `FIEMAP_EXTENT_DELALLOC`: it has no place on the device yet.
const NOWHERE: u32 = 0x2 | 0x4;
/// `FIEMAP_EXTENT_UNWRITTEN`: it is reserved, and holds no data.
const UNWRITTEN: u32 = 0x800;
/// Extents asked for at a time.
const BATCH: usize = 256;
/// Most extents that are looked at one by one.
const MOST: usize = 1 << 20;

/// A contiguous piece of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Where it begins in the file, in bytes.
    pub logical: u64,
    /// Where it begins on the device, in bytes.
    pub physical: u64,
    /// Its length in bytes.
    pub len: u64,
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

/// `struct fiemap` with room for a batch.
#[repr(C)]
struct Map {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
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

/// Hands the extents of `file` to `take`, a batch at a time, until they end or it asks for no more.
///
/// # Errors
/// The file system does not report it, or the call failed.
fn batches(file: &File, flags: u32, mut take: impl FnMut(&[RawExtent]) -> bool) -> io::Result<()> {
    let mut start = 0;
    loop {
        let mut map = Box::new(Map {
            start,
            length: u64::MAX - start,
            flags,
            mapped: 0,
            room: BATCH as u32,
            reserved: 0,
            extents: [RawExtent::default(); BATCH],
        });
        // SAFETY: `map` has the layout of struct fiemap with `room` extents behind it, lives on, and is ours to write.
        let result = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP, &raw mut *map) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        let batch = &map.extents[..(map.mapped as usize).min(BATCH)];
        let goes_on = take(batch);
        match batch.last() {
            Some(last) if goes_on && last.flags & LAST == 0 && last.length > 0 => {
                start = last.logical.saturating_add(last.length);
            }
            _ => return Ok(()),
        }
    }
}

/// The extents of `file` in the order of their places, after its dirty data got theirs.
///
/// # Errors
/// The file system does not report it, or the call failed.
pub fn extents(file: &File) -> io::Result<Vec<Extent>> {
    let mut found: Vec<Extent> = Vec::new();
    batches(file, SYNC, |batch| {
        found.extend(batch.iter().map(|e| Extent {
            logical: e.logical,
            physical: e.physical,
            len: e.length,
        }));
        found.len() < MOST
    })?;
    Ok(found)
}

/// First byte on the device and length of those parts of `file` that have a place there now; as many as the file system reports,
/// about `most` at the most.
pub fn places(file: &File, most: usize) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    // What is not reported is not known; what was reported before stays.
    let _ = batches(file, 0, |batch| {
        let placed = batch.iter().filter(|extent| extent.flags & NOWHERE == 0);
        found.extend(placed.map(|extent| (extent.physical, extent.length)));
        found.len() < most
    });
    found
}

/// How many of the first `bytes` of `file` hold no data: holes, which some file systems make of zeros that are written too, and space that is only
/// reserved. 0 where the file system tells of neither.
pub fn unwritten_bytes(file: &File, bytes: u64) -> u64 {
    let mut written = 0;
    let told = batches(file, SYNC, |batch| {
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

/// The holes of `file` before byte `end`, in order; none where its file system knows of no holes.
pub(crate) fn holes(file: &File, end: u64) -> impl Iterator<Item = Range<u64>> {
    let mut at = 0;
    from_fn(move || {
        // A file system that knows of no holes tells the end of the file.
        let hole = rustix::fs::seek(file, Hole(at)).ok().filter(|hole| *hole < end)?;
        // Behind a last hole there is no data; before other data it holds a byte at least, or this might never end.
        at = rustix::fs::seek(file, Data(hole)).unwrap_or(end).clamp(hole + 1, end);
        Some(hole..at)
    })
}

/// Number of pieces that lie apart on the device: extents that follow one another there count as one.
pub fn fragments(extents: &[Extent]) -> u64 {
    let follows = |pair: &[Extent]| pair[0].physical.wrapping_add(pair[0].len) == pair[1].physical;
    let joints = extents.windows(2).filter(|pair| follows(pair)).count();
    (extents.len() - joints) as u64
}

/// Gives `file` an extent size in bytes, and checks that it took effect.
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

fn get(file: &File) -> io::Result<Attributes> {
    let mut attributes = Attributes::default();
    // SAFETY: `attributes` has the layout of struct fsxattr and is ours to write.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FSGETXATTR, &raw mut attributes) };
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
        }
    }

    #[test]
    fn the_layouts_are_those_of_the_kernel() {
        assert_eq!((size_of::<RawExtent>(), size_of::<Map>() - BATCH * 56), (56, 32));
        assert_eq!(FS_IOC_FIEMAP >> 16 & 0x3fff, 32);
        assert_eq!(size_of::<RawExtent>(), 56);
        assert_eq!(std::mem::offset_of!(Map, extents), 32);
        assert_eq!(size_of::<Attributes>(), 28);
    }

    #[test]
    fn neighbours_on_the_device_are_one_fragment() {
        let at = |logical, physical, len| Extent { logical, physical, len };
        assert_eq!(fragments(&[]), 0);
        assert_eq!(fragments(&[at(0, 100, 10)]), 1);
        assert_eq!(fragments(&[at(0, 100, 10), at(10, 110, 5), at(15, 300, 5)]), 2);
    }
}
