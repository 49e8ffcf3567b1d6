//! The first half of a read: from the buffer, from the blocks being read ahead, or from the medium.

use super::state::{Disk, Half};
use crate::command::{BusNeed, Command, Parts};
use crate::drive::BusTransfer;
use crate::mechanism::{Access, Feed};
use crate::read_ahead::ReadAhead;

impl Disk<'_> {
    #[inline]
    pub(super) fn begin_read(&mut self, now_ns: u64, command: Command) -> BusNeed {
        let asked = [command.block, command.count];
        if self.drive.buffer.flushes_first {
            self.flushed(now_ns);
        }
        let mut parts = Parts::default();
        let media_end_ns = if self.holds(command.block, command.count) {
            self.hit(&mut parts);
            now_ns + parts.overhead_ns
        } else if let Some(end_ns) = self.read_ahead_delivers(now_ns, asked) {
            self.hit(&mut parts);
            let ready = now_ns + parts.overhead_ns;
            parts.transfer_ns = end_ns.saturating_sub(ready);
            end_ns.max(ready)
        } else {
            // The blocks read ahead so far become another segment.
            let begun_ns = self.stop_reading_ahead(now_ns);
            match self.held(asked) {
                Some(held) if held[1] >= asked[0] + asked[1] => {
                    self.hit(&mut parts);
                    self.read_on_behind(now_ns, held, asked);
                    now_ns + parts.overhead_ns
                }
                held => return self.read_medium([now_ns, begun_ns], command, held),
            }
        };
        let drive = self.drive;
        self.half = Some((command, Half::Read { so_far: parts, media_end_ns }));
        let for_ns = drive.bus.arbitration_ns + drive.bus.time_ns(command.count, false);
        BusNeed { at_ns: media_end_ns - self.early(&parts, command.count), for_ns }
    }

    /// The segment that holds the beginning of these blocks.
    #[inline]
    fn held(&mut self, asked: [u64; 2]) -> Option<[u64; 2]> {
        if self.segments.is_empty() { None } else { self.segments.find(asked) }
    }

    /// After a read that a segment answered, lets the drive read on behind that segment.
    fn read_on_behind(&mut self, now_ns: u64, held: [u64; 2], asked: [u64; 2]) {
        if self.drive.buffer.read_ahead_after_hit {
            let since = now_ns + self.drive.controller.read_before_ns[self.after()];
            self.segments.take_found();
            let request = [asked[0], asked[0] + asked[1]];
            self.start_reading_ahead(held, request, since.max(self.free_ns));
        }
    }

    /// Reads blocks from the medium, except those at the beginning that a segment holds; the drive
    /// turns to the read at
    /// `begun_ns`.
    #[inline]
    fn read_medium(
        &mut self,
        [now_ns, begun_ns]: [u64; 2],
        command: Command,
        held: Option<[u64; 2]>,
    ) -> BusNeed {
        let drive = self.drive;
        let before_ns = drive.controller.read_before_ns[self.after()];
        let start = (begun_ns + before_ns).max(self.free_ns);
        let (block, end) = (command.block, command.block + command.count);
        let from = held.map_or(block, |held| held[1]);
        let rest = [from, end - from];
        let access = drive.mechanism.access(&mut self.arm, start, Feed::default(), rest, false);
        let so_far = Parts {
            overhead_ns: before_ns,
            waited_ns: start - now_ns - before_ns,
            seek_ns: access.seek_ns,
            rotation_ns: access.rotation_ns,
            transfer_ns: access.transfer_ns,
            ..Parts::default()
        };
        self.free_ns = access.end_ns;
        if self.options.read_ahead {
            if held.is_some() {
                self.segments.take_found();
            }
            let first = held.map_or_else(|| self.first_kept(block, &access), |held| held[0]);
            self.start_reading_ahead([first, end], [block, end], access.end_ns);
        }
        self.half = Some((command, Half::Read { so_far, media_end_ns: access.end_ns }));
        self.bus_for(&access, rest)
    }

    /// The first block kept of a track whose sectors are read from the head's arrival on.
    fn first_kept(&self, block: u64, access: &Access) -> u64 {
        if !self.drive.buffer.reads_from_arrival {
            return block;
        }
        let layout = &self.drive.mechanism.layout;
        let sector_ns = layout.span_ns(layout.locate(block).track, 1).max(1);
        let passed = access.rotation_ns / sector_ns;
        block.saturating_sub(passed).max(layout.track_of(block)[0])
    }

    /// How long before the medium is done the data can begin to cross the bus.
    fn early(&self, parts: &Parts, count: u64) -> u64 {
        match self.drive.bus.transfer {
            BusTransfer::Overlapped => self.overlap(parts.transfer_ns, count, 0),
            _ => 0,
        }
    }

    /// When a read from the medium needs the bus.
    #[inline]
    fn bus_for(&self, access: &Access, asked: [u64; 2]) -> BusNeed {
        let bus = &self.drive.bus;
        let reconnect_ns = self.drive.controller.read_reconnect_ns + bus.arbitration_ns;
        let for_ns = reconnect_ns + bus.time_ns(asked[1], false);
        match bus.transfer {
            BusTransfer::StoreAndForward => BusNeed { at_ns: access.end_ns, for_ns },
            BusTransfer::ByTrack => {
                let rate = [reconnect_ns, bus.to_host];
                let end_ns = self.drive.mechanism.drained_ns(&self.arm, access, asked, rate);
                BusNeed { at_ns: access.first_end_ns, for_ns: end_ns - access.first_end_ns }
            }
            BusTransfer::Overlapped if self.in_one_pass(access) => BusNeed {
                at_ns: access.end_ns - self.overlap(access.transfer_ns, asked[1], reconnect_ns),
                for_ns,
            },
            BusTransfer::Overlapped => {
                let (mark, rate) = (self.mark(asked[1]), [reconnect_ns, bus.to_host]);
                let mechanism = &self.drive.mechanism;
                let [marked_ns, done_ns] =
                    mechanism.delivered_ns(&self.arm, access, asked, mark, rate);
                // Holds the bus no longer than necessary.
                let at_ns = marked_ns.max(done_ns - for_ns.min(done_ns));
                BusNeed { at_ns, for_ns: done_ns - at_ns }
            }
        }
    }

    /// Whether the blocks of a read passed in order at an even pace.
    #[inline]
    fn in_one_pass(&self, access: &Access) -> bool {
        access.first_end_ns == access.end_ns
            && access.transfer_ns < self.drive.mechanism.layout.rotation_ns()
    }

    /// How many blocks of a read of `count` must have been read before it takes the bus; at most
    /// what a segment holds.
    #[inline]
    fn mark(&self, count: u64) -> u64 {
        let held = if self.segment == 0 { count } else { count.min(self.segment) };
        ((held * self.drive.bus.read_water_mark) >> 10).clamp(1, count.max(1))
    }

    /// How long the bus transfer overlaps the medium's: it starts at the water mark, or later if it
    /// then still finishes in time.
    fn overlap(&self, transfer_ns: u64, count: u64, setup_ns: u64) -> u64 {
        let bus = &self.drive.bus;
        let marked = transfer_ns - transfer_ns * self.mark(count) / count.max(1);
        marked.min(bus.time_ns(count.saturating_sub(1), false) + setup_ns)
    }

    fn hit(&mut self, parts: &mut Parts) {
        parts.cached = true;
        parts.overhead_ns = self.drive.controller.hit_before_ns[self.after()];
        self.traffic.read_hits += 1;
    }

    /// When the last of these blocks is in the buffer, if read-ahead has them or reaches them
    /// without a break.
    fn read_ahead_delivers(&mut self, now_ns: u64, asked: [u64; 2]) -> Option<u64> {
        let ahead = self.ahead.as_mut()?;
        ahead.deliver(&self.drive.mechanism, &self.arm, now_ns, asked)
    }

    /// Starts reading ahead at `since_ns` behind the blocks `held`, after a request for blocks from
    /// `request[0]` up to `request[1]`.
    fn start_reading_ahead(&mut self, held: [u64; 2], request: [u64; 2], since_ns: u64) {
        if self.options.read_ahead && self.drive.buffer.bytes > 0 && self.buffer.is_empty() {
            self.segments.make_room();
            let mut ahead = ReadAhead::new(held, request[1], since_ns, self.reach);
            ahead.extend(&self.drive.mechanism, request);
            self.ahead = Some(ahead);
        }
    }

    /// Ends read-ahead for a write that arrives at `now_ns`. A drive with segments stops at once,
    /// and spends the command's overhead once it turns to the command; one without continues until
    /// the write is `ready`.
    pub(super) fn give_up_reading_ahead(&mut self, now_ns: u64, overhead_ns: u64, ready: u64) {
        if self.ahead.is_none() {
            return;
        }
        if self.drive.buffer.segments > 0 {
            let begun_ns = self.stop_reading_ahead(now_ns);
            self.free_ns = self.free_ns.max(begun_ns + overhead_ns);
        } else {
            self.stop_reading_ahead(ready);
        }
    }

    /// Ends read-ahead for a command that needs the mechanism; returns when the drive turns to the
    /// command.
    pub(super) fn stop_reading_ahead(&mut self, now_ns: u64) -> u64 {
        if let Some(ahead) = self.ahead.take() {
            let mechanism = &self.drive.mechanism;
            if self.drive.buffer.segments > 0 {
                let read = ahead.stretch(mechanism, &self.arm, now_ns);
                self.segments.keep([read.first, read.reached]);
            }
            let [free_ns, begun_ns] = ahead.stop(mechanism, &mut self.arm, now_ns);
            self.free_ns = free_ns;
            return begun_ns;
        }
        now_ns
    }
}
