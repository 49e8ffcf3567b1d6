//! The state of a disk between commands, and between the two halves of a command.

use crate::cache::{Buffer, Dirty};
use crate::command::{Command, DiskOptions, Parts, Traffic, WriteCache};
use crate::drive::Drive;
use crate::mechanism::{Access, Arm};
use crate::read_ahead::{Reach, ReadAhead};
use crate::segments::Segments;

/// A write on its way to the medium.
#[derive(Clone, Copy, Debug)]
pub(super) struct Destaging {
    pub(super) dirty: Dirty,
    pub(super) access: Access,
}

/// The state between the halves of a command.
#[derive(Clone, Copy, Debug)]
pub(super) enum Half {
    /// A read whose data wait for the bus.
    Read { so_far: Parts, media_end_ns: u64 },
    /// A write to the medium whose arm may start at this time.
    Through { so_far: Parts, start_ns: u64, after_ns: u64 },
    /// A write into the buffer.
    Buffered { so_far: Parts },
}

/// A disk and its state.
#[derive(Clone, Debug)]
pub struct Disk<'a> {
    pub(super) drive: &'a Drive,
    pub(super) options: DiskOptions,
    pub(super) arm: Arm,
    /// When the mechanism is free.
    pub(super) free_ns: u64,
    pub(super) buffer: Buffer<'a>,
    pub(super) room: u64,
    /// Blocks of a segment of the drive's buffer, or of the whole buffer if it has no segments.
    pub(super) segment: u64,
    pub(super) destaging: Option<Destaging>,
    pub(super) ahead: Option<ReadAhead>,
    pub(super) reach: Reach,
    pub(super) segments: Segments,
    /// First block after the last write; used by drives that flush first, and to time writes that
    /// do not follow it.
    pub(super) write_end: u64,
    pub(super) half: Option<(Command, Half)>,
    pub(super) last_completed_ns: u64,
    /// When the last read completed: the buffer is not destaged during a read.
    pub(super) read_until_ns: u64,
    pub(super) last_wrote: bool,
    /// When it last destaged without a break: begin and end.
    pub(super) wrote: [u64; 2],
    /// Counts of blocks and reads.
    pub traffic: Traffic,
}

impl<'a> Disk<'a> {
    /// A disk at rest on its first cylinder.
    pub fn new(drive: &'a Drive, options: DiskOptions) -> Self {
        let bytes = match options.cache {
            WriteCache::None => 0,
            WriteCache::Immediate => drive.buffer.segment_bytes(),
            WriteCache::Volatile { bytes } | WriteCache::Nvram { bytes, .. } => bytes,
        };
        let sector = u64::from(drive.sector_bytes);
        let segment = drive.buffer.segment_bytes() / sector;
        let readable = drive.buffer.segments - u32::from(drive.buffer.own_write_segment);
        Self {
            drive,
            options,
            arm: Arm::default(),
            free_ns: 0,
            buffer: Buffer::default(),
            room: bytes / sector,
            segment,
            destaging: None,
            ahead: None,
            reach: Reach::new(drive, segment),
            segments: Segments::new(readable, segment),
            write_end: u64::MAX,
            half: None,
            last_completed_ns: 0,
            read_until_ns: 0,
            last_wrote: false,
            wrote: [0; 2],
            traffic: Traffic::default(),
        }
    }

    /// Whether it reports any write complete that a power failure would lose.
    pub fn reports_early(&self) -> bool {
        self.options.cache.reports_early()
    }

    /// Bytes of a block.
    pub fn sector_bytes(&self) -> u32 {
        self.drive.sector_bytes
    }

    /// Controller time of a flush: that of a write that the buffer takes. Never 0, since a request
    /// that takes no time would be read as one without a recorded completion.
    pub fn flush_overhead_ns(&self) -> u64 {
        let controller = &self.drive.controller;
        let before_ns = controller.write_hit_before_ns[self.after()];
        (before_ns + controller.write_hit_after_ns).max(1)
    }

    /// Where the arm is.
    pub fn arm(&self) -> &Arm {
        &self.arm
    }

    /// When the last command completed.
    pub fn last_completed_ns(&self) -> u64 {
        self.last_completed_ns
    }

    /// When the mechanism finishes its current work.
    pub fn free_ns(&self) -> u64 {
        self.free_ns
    }

    /// When it last destaged without a break: begin and end, both 0 if it never did.
    pub fn wrote(&self) -> [u64; 2] {
        self.wrote
    }

    /// Corrects the state after an access to the medium, which the simulation completed at
    /// `done_ns` and the real disk at `completed_ns`: turns the platter to where the last of these
    /// blocks ends under the head, and lets what follows the access begin there.
    pub fn resynchronize(&mut self, blocks: [u64; 2], done_ns: u64, completed_ns: u64) {
        let after_media_ns = done_ns.saturating_sub(self.free_ns);
        let end_ns = completed_ns.saturating_sub(after_media_ns);
        self.arm.phase_ns = self.drive.mechanism.phase_after(blocks, end_ns);
        self.free_ns = self.free_ns.min(end_ns);
        self.read_until_ns = self.read_until_ns.min(completed_ns);
        if let Some(ahead) = &mut self.ahead {
            ahead.begin_at(end_ns);
        }
    }

    /// Ends a flush at `end_ns`, if the real disk was faster: what it wrote is on the medium, and
    /// the mechanism is free from then on.
    pub fn was_flushed(&mut self, end_ns: u64) {
        if self.reports_early() {
            self.destaging = None;
            self.free_ns = self.free_ns.min(end_ns);
        }
    }

    /// Index into a pair of times: 0 after a read, 1 after a write.
    #[inline]
    pub(super) fn after(&self) -> usize {
        usize::from(self.last_wrote)
    }
}
