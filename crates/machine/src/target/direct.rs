//! What the kernel reports about direct I/O on a file: whether it is supported, and its alignment
//! (statx(2)).

use crate::device::BlockDevice;
use rustix::fs::{AtFlags, IFlags, StatxFlags};
use std::os::fd::AsFd;

/// What the kernel reports about direct I/O on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectIo {
    /// It reports nothing.
    Untold,
    /// Direct I/O is unsupported. A file system may still accept `O_DIRECT` and use the file cache.
    Refused,
    /// The required alignment of offsets, sizes and memory, in bytes.
    Aligned(u32),
}

/// Interprets the answer of `statx`: the mask of reported fields, and the alignments of offsets and
/// of memory.
fn told(mask: u32, [offset, memory]: [u32; 2]) -> DirectIo {
    match offset.max(memory) {
        _ if mask & StatxFlags::DIOALIGN.bits() == 0 => DirectIo::Untold,
        0 => DirectIo::Refused,
        align => DirectIo::Aligned(align),
    }
}

/// Returns what the kernel reports about direct I/O on `file`.
pub(super) fn direct_io(file: &impl AsFd) -> DirectIo {
    let state = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN);
    let Ok(state) = state else { return DirectIo::Untold };
    told(state.stx_mask, [state.stx_dio_offset_align, state.stx_dio_mem_align])
}

/// Returns whether a copy-on-write file system overwrites `file` in place (`chattr +C`). btrfs
/// keeps no checksums of such a file.
pub fn is_in_place(file: &impl AsFd) -> bool {
    rustix::fs::ioctl_getflags(file).is_ok_and(|flags| flags.contains(IFlags::NOCOW))
}

/// Returns the alignment required for direct I/O on `file`, in bytes. `device` is its number if it
/// is a block device.
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
