//! What a trace must fit: the size and features of a drive.

use crate::drive::Drive;

/// The size and features of a drive that a trace must fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent<'a> {
    /// What the drive is called.
    pub name: &'a str,
    /// Bytes of a block.
    pub sector_bytes: u32,
    /// Blocks.
    pub blocks: u64,
    /// Whether it acts on discards.
    pub discards: bool,
    /// Whether flushes are requests to it; otherwise they are left out.
    pub flushes: bool,
}

impl Extent<'_> {
    /// Bytes of all blocks.
    pub fn bytes(&self) -> u64 {
        self.blocks * u64::from(self.sector_bytes)
    }
}

impl<'a> From<&'a Drive> for Extent<'a> {
    fn from(drive: &'a Drive) -> Self {
        let blocks = drive.mechanism.layout.blocks();
        Self {
            name: &drive.name,
            sector_bytes: drive.sector_bytes,
            blocks,
            discards: false,
            flushes: false,
        }
    }
}
