//! What the blocks of some devices hold, as their file systems tell it.

use crate::IoType;

/// A range of a device and what is there; [`IoType::Unknown`] is "in use, the map does not tell by what".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypedRange {
    /// Index of the device.
    pub device: u16,
    /// First byte.
    pub from: u64,
    /// Byte after the last.
    pub to: u64,
    /// What is there.
    pub io_type: IoType,
}

/// A map of the blocks of some devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockMap {
    /// In any order; where some overlap, the smaller one counts.
    pub ranges: Vec<TypedRange>,
    /// Devices whose file systems have a journal, which the ranges may not tell: ext4 has it among the files.
    pub journals: Vec<u16>,
    /// Devices whose file systems keep all metadata at known places, but for what tells where a file's blocks are, as ext2,
    /// ext3 and ext4 do. Others, such as XFS without a reverse map, have trees of free space, inodes and headers among the
    /// files too, which a map of what is in use does not tell apart.
    pub extents: Vec<u16>,
    /// Where the file systems lie whose blocks the ranges tell: device, first byte, byte after the last. What is in one of them and in no
    /// range is free.
    pub mapped: Vec<(u16, u64, u64)>,
}
