//! One disk: controller, buffer and mechanism, serving one command at a time and destaging its
//! buffer in between.
//!
//! A command has two halves with the bus between them, so that several disks can share a bus:
//! [`Disk::begin`] says when and for how long the bus is needed, and [`Disk::finish`] continues
//! once it was granted. The disk's background work (destaging, read-ahead) needs no events: it is
//! worked out up to the time of the next command.

use crate::command::{BusNeed, Command, Done, Parts, STREAMED_OVER_BYTES, WriteCache};
use crate::drive::BusTransfer;
use crate::mechanism::Feed;

mod destage;
mod outlook;
mod reads;
mod state;

pub use outlook::Outlook;
pub use state::Disk;

use state::{Destaging, Half};

impl Disk<'_> {
    /// Executes a command, with a bus that is free when needed.
    #[inline]
    pub fn serve(&mut self, now_ns: u64, command: Command) -> Done {
        let need = self.begin(now_ns, command);
        self.finish(need.at_ns, need)
    }

    /// Starts a command at `now_ns` and returns when it needs the bus.
    #[inline]
    pub fn begin(&mut self, now_ns: u64, command: Command) -> BusNeed {
        self.advance(now_ns);
        if command.write {
            self.begin_write(now_ns, command, self.buffers(&command))
        } else {
            self.begin_read(now_ns, command)
        }
    }

    /// Starts a write that must be on the medium when it completes: it overtakes what waits in the
    /// buffer, unless that is a FIFO.
    pub fn begin_through(&mut self, now_ns: u64, write: Command) -> BusNeed {
        self.advance(now_ns);
        self.begin_write(now_ns, write, false)
    }

    fn begin_write(&mut self, now_ns: u64, command: Command, buffered: bool) -> BusNeed {
        let (drive, asked) = (self.drive, [command.block, command.count]);
        let [overhead_ns, data_after_ns, after_ns] = self.write_times(&command, buffered);
        let mut so_far = Parts { overhead_ns, ..Parts::default() };
        self.traffic.written += command.count;
        let ready = now_ns + overhead_ns;
        if drive.buffer.flushes_first && command.block != self.write_end {
            so_far.waited_ns = self.flushed(ready) - ready;
        }
        let ready = ready + so_far.waited_ns;
        self.give_up_reading_ahead(now_ns, overhead_ns, ready);
        if drive.buffer.segments > 0 {
            self.segments.forget(asked);
            if !drive.buffer.own_write_segment && !drive.buffer.forgets_written {
                self.segments.keep([command.block, command.block + command.count]);
            }
        }
        let (at_ns, half) = if buffered {
            let roomy = self.make_room(ready, self.part(command));
            so_far.waited_ns += roomy - ready;
            (roomy, Half::Buffered { so_far })
        } else {
            self.traffic.absorbed += self.buffer.discard(command.block, command.count);
            // A FIFO destages earlier writes first; a non-volatile buffer lets long writes pass.
            let start = if self.options.cache == WriteCache::Immediate {
                self.drain(ready)
            } else {
                self.idle(ready)
            };
            so_far.waited_ns += start - ready;
            (now_ns + data_after_ns, Half::Through { so_far, start_ns: start, after_ns })
        };
        self.half = Some((command, half));
        let for_ns = drive.bus.arbitration_ns + drive.bus.time_ns(command.count, true);
        BusNeed { at_ns, for_ns }
    }

    /// Times from a write's command to the arm's start, from the command to its data on the bus,
    /// and from its last sector to its completion.
    #[inline]
    fn write_times(&self, command: &Command, buffered: bool) -> [u64; 3] {
        let controller = &self.drive.controller;
        if buffered {
            let before = controller.write_hit_before_ns[self.after()];
            return [before, before, controller.write_hit_after_ns];
        }
        match controller.scattered_write_ns {
            Some(times) if self.last_wrote && command.block != self.write_end => times,
            _ => {
                let before = controller.write_before_ns[self.after()];
                [before, before, controller.write_after_ns]
            }
        }
    }

    /// Whether a write goes into the buffer.
    fn buffers(&self, command: &Command) -> bool {
        let bytes = command.count * u64::from(self.drive.sector_bytes);
        match self.options.cache {
            WriteCache::None => false,
            // The drive itself decides, and does not know whether somebody waits.
            WriteCache::Immediate if self.drive.buffer.flushes_first => self.room > 0,
            // A drive also accepts writes that follow the one in progress, but HP-UX does not ask
            // for it if somebody waits.
            WriteCache::Immediate => command.count <= self.room && !command.synchronous,
            WriteCache::Volatile { .. } => command.count <= self.room,
            WriteCache::Nvram { .. } => command.count <= self.room && bytes <= STREAMED_OVER_BYTES,
        }
    }

    /// The part of a write that goes into the buffer at once: no more than the buffer can hold.
    fn part(&self, command: Command) -> Command {
        Command { count: command.count.min(self.room), ..command }
    }

    /// Continues when the bus was granted at `granted_ns`; returns the outcome of the whole
    /// command.
    #[inline]
    pub fn finish(&mut self, granted_ns: u64, need: BusNeed) -> Done {
        let write = self.half.is_some_and(|(command, _)| command.write);
        let done = self.second_half(granted_ns, need);
        (self.last_completed_ns, self.last_wrote) = (done.completed_ns, write);
        if !write {
            self.read_until_ns = done.completed_ns;
        }
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
                let parts = Parts {
                    bus_ns: on_host - media_end_ns.min(on_host),
                    overhead_ns: so_far.overhead_ns + after,
                    ..so_far
                };
                Done { completed_ns: on_host + after, parts }
            }
            Half::Through { so_far, start_ns, after_ns } => {
                let parts = self.write_through(command, so_far, start_ns, granted_ns, need);
                let overhead_ns = so_far.overhead_ns + after_ns;
                let parts = Parts { overhead_ns, ..parts };
                Done { completed_ns: self.free_ns + after_ns, parts }
            }
            Half::Buffered { so_far } => {
                let (bus_end, waited_ns) = self.write_into_buffer(command, granted_ns);
                let after = drive.controller.write_hit_after_ns;
                let parts = Parts {
                    waited_ns: so_far.waited_ns + waited_ns,
                    bus_ns: bus_end - need.at_ns - waited_ns,
                    overhead_ns: so_far.overhead_ns + after,
                    cached: true,
                    ..so_far
                };
                Done { completed_ns: bus_end + after, parts }
            }
        }
    }

    /// Takes a write into the buffer; returns when the last of it is there, and how long it waited
    /// for space.
    ///
    /// A drive whose buffer is full releases the bus until all of the buffer is on the medium
    /// (DiskSim's low water mark of 0). A head that keeps up never lets the buffer fill.
    #[inline]
    fn write_into_buffer(&mut self, command: Command, granted_ns: u64) -> (u64, u64) {
        let drive = self.drive;
        let (bus, controller) = (&drive.bus, &drive.controller);
        let end = command.block + command.count;
        let (mut part, mut waited_ns) = (self.part(command), 0);
        let mut from_ns = granted_ns + bus.arbitration_ns;
        loop {
            let bus_end = from_ns + bus.time_ns(part.count, true);
            let arrived_ns = if drive.buffer.flushes_first { from_ns } else { bus_end };
            self.advance(arrived_ns);
            self.traffic.absorbed += self.buffer.insert(part.block, part.count, arrived_ns);
            self.write_end = part.block + part.count;
            if self.write_end == end {
                return (bus_end, waited_ns);
            }
            let block = self.write_end;
            part = self.part(Command { block, count: end - block, ..part });
            self.advance(bus_end);
            from_ns = bus_end;
            if !self.keeps_up(bus_end) {
                let reconnect_ns =
                    controller.write_after_ns.saturating_sub(controller.write_hit_after_ns);
                from_ns = self.make_room(bus_end, part) + reconnect_ns + bus.arbitration_ns;
            }
            waited_ns += from_ns - bus_end;
        }
    }

    /// Whether the head began to destage before `now_ns`, and passes blocks at least as fast as
    /// they arrive over the bus.
    fn keeps_up(&self, now_ns: u64) -> bool {
        let layout = &self.drive.mechanism.layout;
        self.destaging.is_some_and(|Destaging { dirty, access }| {
            let sector_ns = layout.span_ns(layout.locate(dirty.block).track, 1);
            access.end_ns - access.transfer_ns < now_ns
                && self.drive.bus.time_ns(1, true) >= sector_ns
        })
    }

    #[inline]
    fn write_through(
        &mut self,
        command: Command,
        so_far: Parts,
        start_ns: u64,
        granted_ns: u64,
        need: BusNeed,
    ) -> Parts {
        let drive = self.drive;
        let bus_end = granted_ns + need.for_ns;
        let from_ns = granted_ns + drive.bus.arbitration_ns;
        let feed = match drive.bus.transfer {
            BusTransfer::StoreAndForward => {
                Feed { from_ns: bus_end, each: 0, whole: true, lead: 0 }
            }
            BusTransfer::ByTrack => {
                Feed { from_ns, each: drive.bus.to_drive, whole: true, lead: 0 }
            }
            BusTransfer::Overlapped => {
                let lead = drive.bus.lead(command.count);
                Feed { from_ns, each: drive.bus.to_drive, whole: false, lead }
            }
        };
        let asked = [command.block, command.count];
        let access = drive.mechanism.access(&mut self.arm, start_ns, feed, asked, true);
        self.free_ns = access.end_ns.max(bus_end);
        self.traffic.destaged += command.count;
        self.write_end = command.block + command.count;
        Parts {
            seek_ns: access.seek_ns,
            bus_ns: self.free_ns - access.end_ns,
            rotation_ns: access.rotation_ns,
            transfer_ns: access.transfer_ns,
            ..so_far
        }
    }
}

#[cfg(test)]
mod tests;
