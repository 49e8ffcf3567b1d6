//! A request that arrived and has not yet been issued.

use super::event::Event;
use crate::read::text::SECTOR;
use ioscape_schema::IoFlags;

/// What is known of a request from its arrival.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    pub queued_ns: u64,
    /// First sector and bytes, as it arrived.
    pub first: u64,
    pub bytes: u64,
    pub process: u32,
    pub command: u32,
    pub flags: IoFlags,
    /// Whether it has an arrival event of its own, or is the rest of a request that has. An arrival
    /// that only follows from another event may still get one.
    pub is_own: bool,
    /// Whether it was sent on from another device and has no arrival event of its own yet.
    pub is_sent_on: bool,
}

impl Arrival {
    pub fn of(event: &Event, is_own: bool) -> Self {
        let Event { time_ns, sector, bytes, process, command, flags, .. } = *event;
        let (queued_ns, first, is_sent_on) = (time_ns, sector, false);
        Self { queued_ns, first, bytes, process, command, flags, is_own, is_sent_on }
    }

    /// Returns its bytes from a sector on.
    pub fn bytes_from(&self, sector: u64) -> u64 {
        let before = sector.saturating_sub(self.first).saturating_mul(SECTOR);
        self.bytes.saturating_sub(before)
    }

    /// Returns the first sector behind it.
    pub fn end(&self) -> u64 {
        self.first.saturating_add(self.bytes / SECTOR)
    }
}
