//! What the blocks of devices hold, according to their file systems.

use crate::IoType;

/// A range of a device and its contents; [`IoType::Unknown`] means in use, with unknown contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypedRange {
    /// Index of the device.
    pub device: u16,
    /// First byte.
    pub from: u64,
    /// Byte after the last one.
    pub to: u64,
    /// Contents of the range.
    pub io_type: IoType,
}

/// A map of the blocks of some devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockMap {
    /// Ranges in any order; where some overlap, the smaller one counts.
    pub ranges: Vec<TypedRange>,
    /// Devices whose file systems have a journal, which the ranges may not show: ext4 keeps it
    /// among the files.
    pub journals: Vec<u16>,
    /// Devices whose file systems keep all metadata except block pointers at known places, as ext2,
    /// ext3 and ext4 do. Others, such as XFS without a reverse map, also keep trees of free space,
    /// inodes and headers among the files, where a map of used space does not distinguish them.
    pub extents: Vec<u16>,
    /// Extents of the file systems covered by the ranges: device, first byte, byte after the last
    /// one. Space in one of them that is in no range is free.
    pub mapped: Vec<(u16, u64, u64)>,
}
