//! Arrays of disks: which disks a request goes to, and in which order (Patterson, Gibson & Katz
//! 1988; Chen et al. 1994).

use crate::command::Command;
use ioscape_schema::units::parse_bytes;
use std::fmt;

/// How a volume's blocks are laid out on its disks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// One disk.
    #[default]
    Single,
    /// Chunks on the disks in turn (RAID 0).
    Striped,
    /// The same blocks on every disk (RAID 1).
    Mirrored,
    /// Chunks on the disks in turn, with one parity chunk per row on rotating disks (RAID 5,
    /// left-symmetric).
    Parity,
}

/// An array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its layout.
    pub level: Level,
    /// Its disks.
    pub disks: u16,
    /// Bytes of a chunk.
    pub chunk_bytes: u64,
}

/// Usual size of a chunk.
const CHUNK_BYTES: u64 = 64 << 10;

/// Most disks of an array.
const DISKS_MOST: u16 = 256;

impl Default for Array {
    fn default() -> Self {
        Self { level: Level::Single, disks: 1, chunk_bytes: CHUNK_BYTES }
    }
}

/// A command to one disk of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Index of the disk.
    pub disk: u16,
    /// Whether this part waits until all first parts are complete.
    pub second: bool,
    /// The command.
    pub command: Command,
}

impl Array {
    /// Reads `none`, `raid0:DISKS[:CHUNK]`, `raid1:DISKS` or `raid5:DISKS[:CHUNK]`.
    ///
    /// # Errors
    /// The text is none of these, or the number of disks or the chunk size is invalid.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut words = text.split(':');
        let (level, least) = match words.next() {
            Some("none") => return Ok(Self::default()),
            Some("raid0") => (Level::Striped, 2),
            Some("raid1") => (Level::Mirrored, 2),
            Some("raid5") => (Level::Parity, 3),
            _ => {
                return Err(format!(
                    "{text:?}: give none, raid0:DISKS, raid1:DISKS or raid5:DISKS"
                ));
            }
        };
        let disks = words.next().and_then(|n| n.parse().ok());
        let Some(disks) = disks.filter(|n| (least..=DISKS_MOST).contains(n)) else {
            return Err(format!("{text}: give {least} to {DISKS_MOST} disks after the colon"));
        };
        let chunk_bytes = match words.next() {
            Some(_) if level == Level::Mirrored => {
                return Err(format!("{text}: a mirror has no chunks"));
            }
            Some(size) => parse_bytes(size).map_err(|e| format!("{text}: {e}"))?,
            None => CHUNK_BYTES,
        };
        if words.next().is_some() || chunk_bytes == 0 || chunk_bytes % 4096 != 0 {
            return Err(format!("{text}: a chunk has a multiple of 4 KiB"));
        }
        Ok(Self { level, disks, chunk_bytes })
    }

    /// The number of blocks of a volume on disks with `blocks` blocks of `sector` bytes each.
    pub fn blocks(&self, blocks: u64, sector: u32) -> u64 {
        let chunk = self.chunk(sector);
        match self.level {
            Level::Single | Level::Mirrored => blocks,
            Level::Striped => blocks / chunk * chunk * u64::from(self.disks),
            Level::Parity => blocks / chunk * chunk * (u64::from(self.disks) - 1),
        }
    }

    fn chunk(&self, sector: u32) -> u64 {
        (self.chunk_bytes / u64::from(sector)).max(1)
    }

    /// Splits a command into commands to the disks; `copy` is the mirror's disk that serves a read.
    pub fn plan(&self, command: Command, sector: u32, copy: u16, into: &mut Vec<Part>) {
        into.clear();
        let part = |disk| Part { disk, second: false, command };
        match self.level {
            Level::Single => into.push(part(0)),
            // A flush goes to every disk.
            _ if command.count == 0 => into.extend((0..self.disks).map(part)),
            Level::Mirrored if !command.write => into.push(part(copy)),
            Level::Mirrored => into.extend((0..self.disks).map(part)),
            Level::Striped => self.striped(command, sector, u64::from(self.disks), into),
            Level::Parity if !command.write => {
                self.striped(command, sector, u64::from(self.disks) - 1, into);
            }
            Level::Parity => self.with_parity(command, sector, into),
        }
        if self.disks > 1 {
            into.sort_by_key(|part| (part.second, part.disk, part.command.block));
            into.dedup_by(|next, before| joined(before, next));
        }
    }

    /// Adds one part per chunk of data that the command touches; a row has `wide` chunks of data.
    fn striped(&self, command: Command, sector: u32, wide: u64, into: &mut Vec<Part>) {
        let chunk = self.chunk(sector);
        let (mut block, end) = (command.block, command.block + command.count);
        while block < end {
            let (number, within) = (block / chunk, block % chunk);
            let count = (chunk - within).min(end - block);
            let (row, disk) = (number / wide, self.disk_of(number / wide, number % wide));
            let command = Command { block: row * chunk + within, count, ..command };
            into.push(Part { disk, second: false, command });
            block += count;
        }
    }

    /// The disk that holds a row's `at`-th data chunk.
    fn disk_of(&self, row: u64, at: u64) -> u16 {
        match self.level {
            Level::Parity => ((self.parity_of(row) + 1 + at) % u64::from(self.disks)) as u16,
            _ => at as u16,
        }
    }

    /// The disk that holds a row's parity chunk.
    fn parity_of(&self, row: u64) -> u64 {
        let disks = u64::from(self.disks);
        disks - 1 - row % disks
    }

    /// Counts how many of these `count` blocks of a disk, from `block` on, hold parity.
    pub fn parity_blocks(&self, disk: u16, [block, count]: [u64; 2], sector: u32) -> u64 {
        if self.level != Level::Parity {
            return 0;
        }
        let (chunk, end) = (self.chunk(sector), block + count);
        let (mut at, mut parity) = (block, 0);
        while at < end {
            let until = ((at / chunk + 1) * chunk).min(end);
            if self.parity_of(at / chunk) == u64::from(disk) {
                parity += until - at;
            }
            at = until;
        }
        parity
    }

    /// Plans a write row by row. A full-row write reads nothing. Otherwise the new parity is
    /// computed from the overwritten data and the old parity, or from the data that stay, whichever
    /// reads fewer disks. Data and parity are written after these reads.
    fn with_parity(&self, command: Command, sector: u32, into: &mut Vec<Part>) {
        let wide = u64::from(self.disks) - 1;
        let row_blocks = self.chunk(sector) * wide;
        let (mut block, end) = (command.block, command.block + command.count);
        let chunk = self.chunk(sector);
        while block < end {
            let mut until = ((block / row_blocks + 1) * row_blocks).min(end);
            // If the write touches the end of one chunk and the start of the next without overlap
            // in the parity chunk, each part updates its own parity blocks.
            let border = (block / chunk + 1) * chunk;
            if border < until && until - border <= block % chunk {
                until = border;
            }
            self.row(Command { block, count: until - block, ..command }, sector, into);
            block = until;
        }
    }

    fn row(&self, command: Command, sector: u32, into: &mut Vec<Part>) {
        let (chunk, wide) = (self.chunk(sector), u64::from(self.disks) - 1);
        let row = command.block / (chunk * wide);
        let from = into.len();
        self.striped(command, sector, wide, into);
        let data: Vec<Part> = into.drain(from..).collect();
        let low = data.iter().map(|part| part.command.block).min().unwrap_or(0);
        let high = data.iter().map(|p| p.command.block + p.command.count).max().unwrap_or(0);
        let all = Command { block: low, count: high - low, ..command };
        let parity = Part { disk: self.parity_of(row) as u16, second: false, command: all };
        let untouched: Vec<Part> = (0..wide)
            .map(|at| Part { disk: self.disk_of(row, at), second: false, command: all })
            .filter(|part| {
                !data.iter().any(|p| (p.disk, p.command.count) == (part.disk, all.count))
            })
            .collect();
        let reads = if untouched.len() < data.len() + 1 {
            untouched
        } else {
            data.iter().copied().chain([parity]).collect()
        };
        let read = |part: Part| Part { command: Command { write: false, ..part.command }, ..part };
        let second = !reads.is_empty();
        into.extend(reads.into_iter().map(read));
        into.extend(data.into_iter().chain([parity]).map(|part| Part { second, ..part }));
    }
}

/// Merges two commands to the same disk if the second continues the first.
fn joined(before: &mut Part, next: &mut Part) -> bool {
    let (first, then) = (&mut before.command, &next.command);
    let joins = (before.disk, before.second, first.write) == (next.disk, next.second, then.write)
        && first.block + first.count == then.block;
    if joins {
        first.count += then.count;
    }
    joins
}

impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (disks, chunk) = (self.disks, self.chunk_bytes >> 10);
        match self.level {
            Level::Single => f.write_str("none"),
            Level::Striped => write!(f, "raid0:{disks}:{chunk}K"),
            Level::Mirrored => write!(f, "raid1:{disks}"),
            Level::Parity => write!(f, "raid5:{disks}:{chunk}K"),
        }
    }
}

#[cfg(test)]
mod tests;
