//! How much may be written before it takes more than our part of the free space, here or below a
//! device.

use super::direct::is_in_place;
use crate::cgroup::available_memory;
use crate::device::{BlockDevice, are_files_memory, room_below};
use crate::extents;
use crate::mounts::{self, FileSystemInfo};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::path::Path;

/// Returns the N of 1/N, the part of the free space that a scratch file may take. A copy-on-write
/// file system keeps an old extent until its last block is rewritten, so random rewrites take up to
/// twice the size of the set.
pub(super) fn space_share(system: &FileSystemInfo) -> u64 {
    if system.copies_on_write() { 3 } else { 2 }
}

/// Returns how many bytes from the beginning of `range` of an existing `file` may be written. Our
/// part of the free space must suffice for blocks that it does not own yet; if nothing is
/// overwritten in place, for all, without its reserved space if no byte `is_rewritten`.
pub(super) fn writable_bytes(
    file: &File,
    range: Range<u64>,
    system: &FileSystemInfo,
    are_files_memory: bool,
    is_rewritten: bool,
) -> io::Result<u64> {
    let room = space(file, are_files_memory)?.1 / space_share(system);
    let is_copied = system.copies_on_write() && !is_in_place(file);
    Ok(match is_copied {
        true if is_rewritten => room.min(range.end - range.start),
        true => filled_by(extents::unreserved(file, range.end), range, room),
        false => filled_by(extents::unowned(file, range.end), range, room),
    })
}

/// Returns how far into `range` the `parts` that take new space exceed `room` bytes; its length if
/// they do not.
fn filled_by(parts: Vec<Range<u64>>, range: Range<u64>, mut room: u64) -> u64 {
    for part in parts {
        let start = part.start.max(range.start);
        let bytes = part.end.saturating_sub(start);
        if bytes > room {
            return start + room - range.start;
        }
        room -= bytes;
    }
    range.end - range.start
}

/// Returns how many of the `size` bytes of the block device `number` may be written, from the first
/// one on, once each unless one `is_rewritten`. A loop device is limited like its file. Where that
/// cannot be opened, or lies below a stack of devices, writes may take half of the free space there;
/// on a device in memory, half of the memory that is left.
pub fn room_on_device(number: (u32, u32), size: u64, is_rewritten: bool) -> u64 {
    let Some(device) = BlockDevice::at(number) else { return size };
    let of_file = || {
        let (file, from) = device.backing()?;
        room_in_file(&file, from..from.saturating_add(size), is_rewritten)
    };
    let of_half = || Some(size.min(device.room_below()? / 2));
    of_file().or_else(of_half).unwrap_or(size)
}

/// Returns what [`writable_bytes`] does for the file at `path`; `None` if it is no regular file or
/// cannot be opened.
pub(super) fn room_in_file(path: &Path, range: Range<u64>, is_rewritten: bool) -> Option<u64> {
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let file = File::open(path).ok()?;
    let system = mounts::system_of(&file, path);
    writable_bytes(&file, range, &system, are_files_memory(&system), is_rewritten).ok()
}

/// Returns the size of the file system of `file` and the free space that we may take.
///
/// On a sparse file or a device in memory, what is left below also counts. If files are pages of
/// memory, so does available memory.
pub fn space(file: &impl AsFd, are_files_memory: bool) -> io::Result<(u64, u64)> {
    let state = rustix::fs::fstatvfs(file)?;
    let total = state.f_blocks.saturating_mul(state.f_frsize);
    let free = state.f_bavail.saturating_mul(state.f_frsize);
    // Most callers have a file and no path.
    let below = room_below(&mounts::system_of(file, Path::new("")));
    let free = free.min(below.unwrap_or(u64::MAX));
    if total > 0 && !are_files_memory {
        return Ok((total, free));
    }
    // The file system is in memory or does not report its size: available memory is the bound, or
    // programs would be killed.
    let available = available_memory();
    Ok((total, if total > 0 { free.min(available) } else { available }))
}
