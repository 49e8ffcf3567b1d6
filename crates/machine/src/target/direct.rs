//! What the kernel tells of direct I/O on a file: whether there is any, and the alignment that it needs (statx(2)).

use crate::device::BlockDevice;
use rustix::fs::{AtFlags, StatxFlags};
use std::os::fd::AsFd;

/// What the kernel tells of direct I/O on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectIo {
    /// Nothing.
    Untold,
    /// That there is none: a file system may take `O_DIRECT` all the same, and let the requests go through the file cache.
    Refused,
    /// The alignment of offsets, sizes and memory that it needs, in bytes.
    Aligned(u32),
}

/// The same from the answer of `statx`: the mask of what it tells, and the alignments of offsets and of memory.
fn told(mask: u32, [offset, memory]: [u32; 2]) -> DirectIo {
    match offset.max(memory) {
        _ if mask & StatxFlags::DIOALIGN.bits() == 0 => DirectIo::Untold,
        0 => DirectIo::Refused,
        align => DirectIo::Aligned(align),
    }
}

/// What the kernel tells of direct I/O on `file`.
pub(super) fn direct_io(file: &impl AsFd) -> DirectIo {
    let state = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN);
    let Ok(state) = state else { return DirectIo::Untold };
    told(state.stx_mask, [state.stx_dio_offset_align, state.stx_dio_mem_align])
}

/// Alignment that direct I/O on `file` needs, in bytes; `device` is its number if it is a block device.
pub fn direct_align(file: &impl AsFd, device: Option<(u32, u32)>) -> Option<u32> {
    if let DirectIo::Aligned(align) = direct_io(file) {
        return Some(align);
    }
    let device = BlockDevice::at(device?)?;
    device.queue("logical_block_size")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alignment_of_nothing_is_a_refusal_only_where_the_kernel_tells_of_it() {
        let told_of = StatxFlags::DIOALIGN.bits() | StatxFlags::SIZE.bits();
        assert_eq!(told(told_of, [512, 4]), DirectIo::Aligned(512));
        assert_eq!(told(told_of, [0, 0]), DirectIo::Refused);
        assert_eq!(told(StatxFlags::SIZE.bits(), [0, 0]), DirectIo::Untold);
    }
}
