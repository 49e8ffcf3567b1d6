//! What a block is, and which blocks a request touches.

use ioscape_schema::Io;
use ioscape_schema::chance::mix;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The most blocks counted of one request: 64 MiB in blocks of 8 KiB.
pub const MOST_BLOCKS: u64 = 8192;

/// Bits of a block's number; the device takes the bits above.
pub const BLOCK_BITS: u32 = 48;

/// Where the blocks of a request begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockAlign {
    /// At multiples of the block size on the device, as in a cache: a request touches every block
    /// of which it has a byte.
    #[default]
    Aligned,
    /// With the request: it touches as many blocks as its length fills, from the one in which it
    /// begins. A file system whose blocks do not begin at multiples of the block size thus counts
    /// each of them once. This is the reading of Ruemmler & Wilkes 1993.
    Request,
}

impl FromStr for BlockAlign {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "aligned" => Ok(Self::Aligned),
            "request" => Ok(Self::Request),
            _ => Err("one of aligned, request".to_owned()),
        }
    }
}

/// The blocks that are counted; their size is a power of two, because each row is divided by it
/// several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockSize {
    shift: u32,
    align: BlockAlign,
}

impl BlockSize {
    /// The largest power of two within `bytes`, at least 512; aligned.
    pub fn of(bytes: u64) -> Self {
        Self { shift: bytes.clamp(512, 1 << 40).ilog2(), align: BlockAlign::Aligned }
    }

    /// The same size with another alignment.
    #[must_use]
    pub fn begin(self, align: BlockAlign) -> Self {
        Self { align, ..self }
    }

    /// The size in bytes.
    pub fn bytes(self) -> u64 {
        1 << self.shift
    }
}

/// Returns the blocks that a request touches, as keys that include the device.
#[inline]
pub fn touched(io: &Io, size: BlockSize) -> std::ops::Range<u64> {
    if !io.moves_data() {
        return 0..0;
    }
    let within = match size.align {
        BlockAlign::Aligned => io.request.offset & (size.bytes() - 1),
        BlockAlign::Request => 0,
    };
    let first = (io.request.offset >> size.shift) & ((1 << BLOCK_BITS) - 1);
    let first = first | (u64::from(io.device) << BLOCK_BITS);
    let number = (within + u64::from(io.request.len) + size.bytes() - 1) >> size.shift;
    first..first.saturating_add(number.min(MOST_BLOCKS))
}

/// Translates the key of a block, or of anything else numbered within a device, when devices are
/// renumbered; `numbers` maps present numbers to new ones.
pub fn on(numbers: &[u16], key: u64) -> u64 {
    let device = (key >> BLOCK_BITS) as usize;
    let number = numbers.get(device).map_or(device as u64, |&number| u64::from(number));
    (number << BLOCK_BITS) | (key & ((1 << BLOCK_BITS) - 1))
}

/// Returns a number spread evenly over the blocks of all devices, by which blocks are sampled;
/// `device` comes from [`DeviceNames`](crate::analyze::device_names::DeviceNames).
#[inline]
pub fn spread(key: u64, device: u64) -> u64 {
    mix((key & ((1 << BLOCK_BITS) - 1)) ^ device)
}
