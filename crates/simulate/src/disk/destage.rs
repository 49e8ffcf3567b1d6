//! What a disk writes by itself: its write buffer, while nobody asks for anything else.

use super::state::{Destaging, Disk};
use crate::cache::{Destage, Dirty, Freeing};
use crate::command::{Command, WriteCache};
use crate::mechanism::Feed;

impl Disk<'_> {
    /// Works out what the disk did by itself before `now_ns`.
    #[inline]
    pub(super) fn advance(&mut self, now_ns: u64) {
        if self.destaging.is_none() && self.buffer.is_empty() {
            return;
        }
        loop {
            if let Some(destaging) = self.destaging {
                if destaging.access.end_ns > now_ns {
                    return;
                }
                self.destaging = None;
            }
            if !self.destage(now_ns) {
                return;
            }
        }
    }

    /// From when on the disk may do something by itself: reads go before writing the buffer until they are complete.
    fn spare_ns(&self) -> u64 {
        self.free_ns.max(self.read_until_ns)
    }

    /// Starts the next write to the medium if it starts before `now_ns`.
    fn destage(&mut self, now_ns: u64) -> bool {
        let Some(oldest) = self.buffer.oldest() else { return false };
        let start = self.spare_ns().max(oldest.arrived_ns);
        if start >= now_ns {
            return false;
        }
        let chosen = self.choose(start, oldest);
        self.buffer.remove(chosen.block);
        let asked = [chosen.block, chosen.count];
        let feed = self.feed(&chosen);
        let access = self.drive.mechanism.access(&mut self.arm, start, feed, asked, true);
        self.free_ns = access.end_ns;
        self.traffic.destaged += chosen.count;
        self.destaging = Some(Destaging { dirty: chosen, access });
        true
    }

    /// How the data of a stretch come: a drive that flushes first moves its arm while they do.
    fn feed(&self, dirty: &Dirty) -> Feed {
        match self.drive.buffer.flushes_first {
            true => {
                let each = self.drive.bus.to_drive;
                Feed { from_ns: dirty.arrived_ns, each, whole: false, lead: 1 }
            }
            false => Feed::default(),
        }
    }

    /// Which stretch is written next.
    fn choose(&self, start: u64, oldest: Dirty) -> Dirty {
        if !matches!(
            self.options.cache,
            WriteCache::Volatile { .. } | WriteCache::Nvram { destage: Destage::Satf, .. }
        ) {
            return oldest;
        }
        let mechanism = &self.drive.mechanism;
        let sector = mechanism.layout.span_ns(mechanism.layout.locate(oldest.block).track, 1);
        let cost = |dirty: &Dirty| {
            let position = mechanism.positioning_ns(&self.arm, start, dirty.block, true);
            (position + sector * dirty.count) / dirty.count
        };
        self.buffer.iter().min_by_key(|dirty| (cost(dirty), dirty.block)).copied().unwrap_or(oldest)
    }

    /// Blocks of room in use at `now_ns`, those on their way to the medium included.
    fn used(&self, now_ns: u64) -> u64 {
        let leaving = self.destaging.map_or(0, |d| self.still_held(&d, now_ns));
        self.buffer.blocks() + leaving
    }

    /// Blocks of a write in progress that still take room.
    fn still_held(&self, destaging: &Destaging, now_ns: u64) -> u64 {
        let (count, access) = (destaging.dirty.count, &destaging.access);
        match self.options.cache {
            WriteCache::Volatile { .. } | WriteCache::Nvram { freeing: Freeing::AsWritten, .. } => {
                let left = access.end_ns.saturating_sub(now_ns).min(access.transfer_ns);
                (count * left).div_ceil(access.transfer_ns.max(1))
            }
            _ => count,
        }
    }

    /// When the buffer has room for a write, from `ready` on.
    pub(super) fn make_room(&mut self, ready: u64, command: Command) -> u64 {
        let mut now = ready;
        self.advance(now);
        // The blocks it overwrites in the buffer give their room to it.
        self.traffic.absorbed += self.buffer.discard(command.block, command.count);
        while self.used(now) + command.count > self.room {
            now = match self.destaging {
                Some(destaging) => self.freed(&destaging, now, command.count),
                None => self.spare_ns().max(now) + 1,
            };
            self.advance(now);
        }
        now
    }

    /// When a write in progress leaves room for `count` blocks, or ends.
    fn freed(&self, destaging: &Destaging, now: u64, count: u64) -> u64 {
        let end = destaging.access.end_ns.max(now + 1);
        let held_most = self.room.saturating_sub(count + self.buffer.blocks());
        match self.options.cache {
            WriteCache::Volatile { .. } | WriteCache::Nvram { freeing: Freeing::AsWritten, .. }
                if held_most < destaging.dirty.count =>
            {
                let each = destaging.access.transfer_ns / destaging.dirty.count.max(1);
                (end - (each * held_most).min(end)).max(now + 1)
            }
            _ => end,
        }
    }

    /// When the mechanism is done with what it does now.
    pub(super) fn idle(&mut self, ready: u64) -> u64 {
        self.free_ns.max(ready)
    }

    /// When everything written is on the medium, what is on its way there included.
    pub(super) fn flushed(&mut self, ready: u64) -> u64 {
        if self.destaging.is_none() && self.buffer.is_empty() { ready } else { self.drain(ready) }
    }

    /// When everything in the buffer is on the medium.
    pub(super) fn drain(&mut self, ready: u64) -> u64 {
        while !self.buffer.is_empty() {
            let until = self.spare_ns().max(ready) + 1;
            self.advance(until);
        }
        self.free_ns.max(ready)
    }

    /// Writes the rest of the buffer; gives the time when it is done.
    pub fn flush(&mut self, now_ns: u64) -> u64 {
        self.advance(now_ns);
        self.drain(now_ns)
    }
}
