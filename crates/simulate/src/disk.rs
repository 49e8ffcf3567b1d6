//! One disk at work: controller, buffer and mechanism, one command at a time, its own writing in between.
//!
//! A command has two halves with the bus between them, so that several disks can share a bus: [`Disk::begin`] says when
//! the bus is wanted and for how long, [`Disk::finish`] goes on when it was granted. What the disk does by itself
//! (writing its buffer, reading ahead) needs no events: it is worked out up to the moment of the next command.

use crate::cache::{Buffer, Destage, Dirty, Freeing};
use crate::command::{
    BusNeed, Command, DiskOptions, Done, STREAMED_OVER_BYTES, Traffic, WriteCache,
};
use crate::drive::{BusTransfer, Drive};
use crate::mechanism::{Access, Arm, Feed};
use crate::read_ahead::ReadAhead;

/// A write on its way to the medium.
#[derive(Clone, Copy, Debug)]
struct Destaging {
    dirty: Dirty,
    access: Access,
}

/// Between the halves of a command.
#[derive(Clone, Copy, Debug)]
enum Half {
    /// A read whose data wait for the bus.
    Read { so_far: Done, media_end_ns: u64 },
    /// A write to the medium whose arm may start at this time.
    Through { so_far: Done, start_ns: u64 },
    /// A write into the buffer.
    Buffered { so_far: Done },
}

/// A disk and its state.
#[derive(Clone, Debug)]
pub struct Disk<'a> {
    drive: &'a Drive,
    options: DiskOptions,
    arm: Arm,
    /// When the mechanism is free.
    free_ns: u64,
    buffer: Buffer,
    room: u64,
    destaging: Option<Destaging>,
    ahead: Option<ReadAhead>,
    /// First block after the last write, for the rule of immediate reporting.
    write_end: u64,
    half: Option<(Command, Half)>,
    last_completed_ns: u64,
    last_wrote: bool,
    /// Counts.
    pub traffic: Traffic,
}

impl<'a> Disk<'a> {
    /// A disk at rest on its first cylinder.
    pub fn new(drive: &'a Drive, options: DiskOptions) -> Self {
        let bytes = match options.cache {
            WriteCache::None => 0,
            WriteCache::Immediate => drive.buffer.bytes,
            WriteCache::Nvram { bytes, .. } => bytes,
        };
        Self {
            drive,
            options,
            arm: Arm::default(),
            free_ns: 0,
            buffer: Buffer::default(),
            room: bytes / u64::from(drive.sector_bytes),
            destaging: None,
            ahead: None,
            write_end: u64::MAX,
            half: None,
            last_completed_ns: 0,
            last_wrote: false,
            traffic: Traffic::default(),
        }
    }

    /// Where the arm is.
    pub fn arm(&self) -> &Arm {
        &self.arm
    }

    /// When the last command was complete.
    pub fn last_completed_ns(&self) -> u64 {
        self.last_completed_ns
    }

    /// When the mechanism ends what it does now.
    pub fn free_ns(&self) -> u64 {
        self.free_ns
    }

    /// Turns the platter so that the last of these blocks ends under the head at `end_ns`.
    pub fn resynchronize(&mut self, blocks: [u64; 2], end_ns: u64) {
        self.arm.phase_ns = self.drive.mechanism.phase_after(blocks, end_ns);
        self.free_ns = self.free_ns.min(end_ns);
    }

    /// Seek and rotation that a command would need at `now_ns`, for the host's schedulers.
    pub fn positioning_ns(&self, now_ns: u64, command: &Command) -> u64 {
        let controller = &self.drive.controller;
        let before = if command.write {
            controller.write_before_ns[0]
        } else {
            controller.read_before_ns[0]
        };
        let at = now_ns + before;
        self.drive.mechanism.positioning_ns(&self.arm, at, command.block, command.write)
    }

    /// Takes a command at `now_ns` and says when it needs the bus.
    #[inline]
    pub fn begin(&mut self, now_ns: u64, command: Command) -> BusNeed {
        self.advance(now_ns);
        if command.write {
            self.begin_write(now_ns, command)
        } else {
            self.begin_read(now_ns, command)
        }
    }

    #[inline]
    fn begin_read(&mut self, now_ns: u64, command: Command) -> BusNeed {
        let drive = self.drive;
        let asked = [command.block, command.count];
        let mut done =
            Done { overhead_ns: drive.controller.read_before_ns[self.after()], ..Done::default() };
        let media_end_ns = if self.buffer.holds(command.block, command.count) {
            self.hit(&mut done);
            now_ns + done.overhead_ns
        } else if let Some(end_ns) = self.read_ahead_delivers(now_ns, asked) {
            self.hit(&mut done);
            let ready = now_ns + done.overhead_ns;
            done.transfer_ns = end_ns.saturating_sub(ready);
            end_ns.max(ready)
        } else {
            self.stop_reading_ahead(now_ns);
            let start = (now_ns + done.overhead_ns).max(self.free_ns);
            done.waited_ns = start - now_ns - done.overhead_ns;
            let access =
                drive.mechanism.access(&mut self.arm, start, Feed::default(), asked, false);
            (done.seek_ns, done.rotation_ns) = (access.seek_ns, access.rotation_ns);
            done.transfer_ns = access.transfer_ns;
            self.free_ns = access.end_ns;
            self.start_reading_ahead(asked, access.end_ns);
            self.half = Some((command, Half::Read { so_far: done, media_end_ns: access.end_ns }));
            return self.bus_for(&access, asked);
        };
        self.half = Some((command, Half::Read { so_far: done, media_end_ns }));
        let for_ns = drive.bus.arbitration_ns + drive.bus.time_ns(command.count, false);
        BusNeed { at_ns: media_end_ns - self.early(&done, command.count), for_ns }
    }

    /// How long before the end of the medium's part the data can begin to cross the bus.
    fn early(&self, done: &Done, count: u64) -> u64 {
        match self.drive.bus.transfer {
            BusTransfer::Overlapped => self.overlap(done.transfer_ns, count),
            _ => 0,
        }
    }

    /// When a read from the medium needs the bus.
    #[inline]
    fn bus_for(&self, access: &Access, asked: [u64; 2]) -> BusNeed {
        let bus = &self.drive.bus;
        let for_ns = bus.arbitration_ns + bus.time_ns(asked[1], false);
        match bus.transfer {
            BusTransfer::StoreAndForward => BusNeed { at_ns: access.end_ns, for_ns },
            BusTransfer::ByTrack => {
                let rate = [bus.arbitration_ns, bus.to_host];
                let end_ns = self.drive.mechanism.drained_ns(&self.arm, access, asked, rate);
                BusNeed { at_ns: access.first_end_ns, for_ns: end_ns - access.first_end_ns }
            }
            BusTransfer::Overlapped => BusNeed {
                at_ns: access.end_ns - self.overlap(access.transfer_ns, asked[1]),
                for_ns,
            },
        }
    }

    /// How much of the medium's time the bus is used as well: not before the water mark, and not longer than it has to be.
    fn overlap(&self, transfer_ns: u64, count: u64) -> u64 {
        let bus = &self.drive.bus;
        let marked = transfer_ns - ((transfer_ns * bus.read_water_mark) >> 10);
        marked.min(bus.time_ns(count.saturating_sub(1), false))
    }

    fn hit(&mut self, done: &mut Done) {
        done.cached = true;
        done.overhead_ns = self.drive.controller.hit_before_ns[self.after()];
        self.traffic.read_hits += 1;
    }

    /// When the last of these blocks is in the buffer, if reading ahead has them or comes to them without a break.
    fn read_ahead_delivers(&mut self, now_ns: u64, asked: [u64; 2]) -> Option<u64> {
        let ahead = self.ahead.as_mut()?;
        let end_ns = ahead.deliver(&self.drive.mechanism, &self.arm, now_ns, asked)?;
        Some(end_ns)
    }

    fn start_reading_ahead(&mut self, [block, count]: [u64; 2], end_ns: u64) {
        if self.options.read_ahead && self.drive.buffer.bytes > 0 && self.buffer.is_empty() {
            let room = self.drive.buffer.bytes / u64::from(self.drive.sector_bytes);
            let last = self.drive.mechanism.layout.blocks();
            self.ahead = Some(ReadAhead::new(block, block + count, end_ns, room, last));
        }
    }

    /// Ends reading ahead for a command that needs the mechanism.
    fn stop_reading_ahead(&mut self, now_ns: u64) {
        if let Some(ahead) = self.ahead.take() {
            self.free_ns = ahead.stop(&self.drive.mechanism, &mut self.arm, now_ns);
        }
    }

    fn begin_write(&mut self, now_ns: u64, command: Command) -> BusNeed {
        let drive = self.drive;
        let overhead_ns = if self.buffers(&command) {
            drive.controller.write_hit_before_ns
        } else {
            drive.controller.write_before_ns[self.after()]
        };
        let mut so_far = Done { overhead_ns, ..Done::default() };
        self.traffic.written += command.count;
        let ready = now_ns + overhead_ns;
        if self.ahead.is_some() {
            self.stop_reading_ahead(ready);
        }
        let (at_ns, half) = if self.buffers(&command) {
            let roomy = self.make_room(ready, command);
            so_far.waited_ns = roomy - ready;
            (roomy, Half::Buffered { so_far })
        } else {
            self.traffic.absorbed += self.buffer.discard(command.block, command.count);
            // A FIFO writes what came before first; a non-volatile buffer lets long writes pass.
            let start = if self.options.cache == WriteCache::Immediate {
                self.drain(ready)
            } else {
                self.idle(ready)
            };
            so_far.waited_ns = start - ready;
            (ready, Half::Through { so_far, start_ns: start })
        };
        self.half = Some((command, half));
        let for_ns = drive.bus.arbitration_ns + drive.bus.time_ns(command.count, true);
        BusNeed { at_ns, for_ns }
    }

    /// Which of a pair of times holds: after a read, or after a write.
    #[inline]
    fn after(&self) -> usize {
        usize::from(self.last_wrote)
    }

    /// Whether a write goes into the buffer.
    fn buffers(&self, command: &Command) -> bool {
        let bytes = command.count * u64::from(self.drive.sector_bytes);
        match self.options.cache {
            WriteCache::None => false,
            WriteCache::Immediate => {
                let follows = command.block == self.write_end
                    && (self.destaging.is_some() || !self.buffer.is_empty());
                command.count <= self.room && (follows || !command.synchronous)
            }
            WriteCache::Nvram { .. } => command.count <= self.room && bytes <= STREAMED_OVER_BYTES,
        }
    }

    /// Goes on when the bus was granted at `granted_ns`; gives the whole command.
    #[inline]
    pub fn finish(&mut self, granted_ns: u64, need: BusNeed) -> Done {
        let write = self.half.is_some_and(|(command, _)| command.write);
        let done = self.second_half(granted_ns, need);
        (self.last_completed_ns, self.last_wrote) = (done.completed_ns, write);
        done
    }

    #[inline]
    fn second_half(&mut self, granted_ns: u64, need: BusNeed) -> Done {
        let Some((command, half)) = self.half.take() else { return Done::default() };
        let (drive, bus_end) = (self.drive, granted_ns + need.for_ns);
        match half {
            Half::Read { so_far, media_end_ns } => {
                let last = match drive.bus.transfer {
                    BusTransfer::StoreAndForward | BusTransfer::ByTrack => 0,
                    BusTransfer::Overlapped => media_end_ns + drive.bus.time_ns(1, false),
                };
                let on_host = bus_end.max(last);
                let after = drive.controller.read_after_ns;
                Done {
                    completed_ns: on_host + after,
                    bus_ns: on_host - media_end_ns.min(on_host),
                    overhead_ns: so_far.overhead_ns + after,
                    ..so_far
                }
            }
            Half::Through { so_far, start_ns } => {
                self.write_through(command, so_far, start_ns, granted_ns, need)
            }
            Half::Buffered { so_far } => {
                self.advance(bus_end);
                self.traffic.absorbed += self.buffer.insert(command.block, command.count, bus_end);
                self.write_end = command.block + command.count;
                let after = drive.controller.write_after_ns;
                Done {
                    completed_ns: bus_end + after,
                    bus_ns: bus_end - need.at_ns,
                    overhead_ns: so_far.overhead_ns + after,
                    cached: true,
                    ..so_far
                }
            }
        }
    }

    #[inline]
    fn write_through(
        &mut self,
        command: Command,
        so_far: Done,
        start_ns: u64,
        granted_ns: u64,
        need: BusNeed,
    ) -> Done {
        let drive = self.drive;
        let bus_end = granted_ns + need.for_ns;
        let from_ns = granted_ns + drive.bus.arbitration_ns;
        let feed = match drive.bus.transfer {
            BusTransfer::StoreAndForward => Feed { from_ns: bus_end, each: 0, whole: true },
            BusTransfer::ByTrack => Feed { from_ns, each: drive.bus.to_drive, whole: true },
            BusTransfer::Overlapped => Feed { from_ns, each: drive.bus.to_drive, whole: false },
        };
        let asked = [command.block, command.count];
        let access = drive.mechanism.access(&mut self.arm, start_ns, feed, asked, true);
        self.free_ns = access.end_ns.max(bus_end);
        self.traffic.destaged += command.count;
        self.write_end = command.block + command.count;
        let after = drive.controller.write_after_ns;
        Done {
            completed_ns: self.free_ns + after,
            overhead_ns: so_far.overhead_ns + after,
            seek_ns: access.seek_ns,
            bus_ns: self.free_ns - access.end_ns,
            rotation_ns: access.rotation_ns,
            transfer_ns: access.transfer_ns,
            ..so_far
        }
    }

    /// Works out what the disk did by itself before `now_ns`.
    #[inline]
    fn advance(&mut self, now_ns: u64) {
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

    /// Starts the next write to the medium if it starts before `now_ns`.
    fn destage(&mut self, now_ns: u64) -> bool {
        let Some(oldest) = self.buffer.oldest() else { return false };
        let start = self.free_ns.max(oldest.arrived_ns);
        if start >= now_ns {
            return false;
        }
        let chosen = self.choose(start, oldest);
        self.buffer.remove(chosen.block);
        let asked = [chosen.block, chosen.count];
        let access =
            self.drive.mechanism.access(&mut self.arm, start, Feed::default(), asked, true);
        self.free_ns = access.end_ns;
        self.traffic.destaged += chosen.count;
        self.destaging = Some(Destaging { dirty: chosen, access });
        true
    }

    /// Which stretch is written next.
    fn choose(&self, start: u64, oldest: Dirty) -> Dirty {
        let WriteCache::Nvram { destage: Destage::Satf, .. } = self.options.cache else {
            return oldest;
        };
        let mechanism = &self.drive.mechanism;
        let sector = mechanism.layout.span_ns(mechanism.layout.place(oldest.block).track, 1);
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
            WriteCache::Nvram { freeing: Freeing::AsWritten, .. } => {
                let left = access.end_ns.saturating_sub(now_ns).min(access.transfer_ns);
                (count * left).div_ceil(access.transfer_ns.max(1))
            }
            _ => count,
        }
    }

    /// When the buffer has room for a write, from `ready` on.
    fn make_room(&mut self, ready: u64, command: Command) -> u64 {
        let mut now = ready;
        self.advance(now);
        // The blocks it overwrites in the buffer give their room to it.
        self.traffic.absorbed += self.buffer.discard(command.block, command.count);
        while self.used(now) + command.count > self.room {
            now = match self.destaging {
                Some(destaging) => self.freed(&destaging, now, command.count),
                None => self.free_ns.max(now) + 1,
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
            WriteCache::Nvram { freeing: Freeing::AsWritten, .. }
                if held_most < destaging.dirty.count =>
            {
                let each = destaging.access.transfer_ns / destaging.dirty.count.max(1);
                (end - (each * held_most).min(end)).max(now + 1)
            }
            _ => end,
        }
    }

    /// When the mechanism is done with what it does now.
    fn idle(&mut self, ready: u64) -> u64 {
        self.free_ns.max(ready)
    }

    /// When everything in the buffer is on the medium.
    fn drain(&mut self, ready: u64) -> u64 {
        while !self.buffer.is_empty() {
            let until = self.free_ns.max(ready) + 1;
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

#[cfg(test)]
#[path = "disk_tests.rs"]
mod tests;
