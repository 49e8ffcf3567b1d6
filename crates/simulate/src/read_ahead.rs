//! Read-ahead: reading on after a read, into the drive's buffer, until a command needs the arm or
//! the buffer is full.

use crate::drive::{Drive, ReadAheadTo};
use crate::mechanism::{Arm, Feed, Mechanism, Run};

/// How far a drive reads ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Where it stops at the latest.
    to: ReadAheadTo,
    /// Most blocks behind the last request; `None` if it continues past a full buffer.
    most: Option<u64>,
    /// Capacity of the buffer in blocks.
    room: u64,
    /// Blocks of the disk.
    last: u64,
    /// Whether the requested blocks take space from those read ahead.
    keeps_requested: bool,
    /// Whether blocks leave the buffer once they are delivered.
    forgets: bool,
    /// Whether reading stops in the middle of a sector.
    stops_in_sector: bool,
    /// Whether a drive at rest reads on after a read that the buffer answered.
    after_hit: bool,
    /// Whether the buffer is divided into segments.
    in_segments: bool,
}

impl Reach {
    /// Returns the reach of a drive whose buffer, or a segment of it, has `room` blocks.
    pub fn new(drive: &Drive, room: u64) -> Self {
        let to = drive.buffer.read_ahead_to;
        let most = match to {
            // New blocks overwrite the oldest.
            ReadAheadTo::Track => None,
            _ => Some(drive.buffer.read_ahead_blocks.unwrap_or(room)),
        };
        Self {
            to,
            most,
            room,
            last: drive.mechanism.layout.blocks(),
            keeps_requested: drive.buffer.keeps_requested
                && drive.buffer.read_ahead_blocks.is_none(),
            forgets: drive.buffer.forgets_delivered,
            stops_in_sector: drive.buffer.stops_in_sector,
            in_segments: drive.buffer.segments > 0,
            after_hit: drive.buffer.read_ahead_after_hit && drive.buffer.segments > 0,
        }
    }

    /// The block at which read-ahead stops, if the buffer holds blocks from `first` on and the
    /// request covers blocks from `block` up to `end`.
    fn limit(&self, mechanism: &Mechanism, first: u64, [block, end]: [u64; 2]) -> u64 {
        let layout = &mechanism.layout;
        let stop = match self.to {
            _ if end >= self.last => end,
            ReadAheadTo::Buffer => self.last,
            ReadAheadTo::OwnTrack => layout.track_of(end - 1)[1],
            ReadAheadTo::Cylinder => layout.cylinder_end(end - 1),
            ReadAheadTo::Track => {
                let [begin, stop] = layout.track_of(end);
                let more = if first < begin && stop < self.last { stop } else { stop - 1 };
                layout.track_of(more)[1]
            }
        };
        let from = if self.keeps_requested { block } else { end };
        let most = self.most.map_or(stop, |most| from + most);
        most.min(stop).min(self.last).max(end)
    }
}

/// Blocks in the buffer, and those that come without a break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The first block held.
    pub first: u64,
    /// The first block not yet there.
    pub reached: u64,
    /// The block before which the stretch ends.
    pub until: u64,
}

impl Stretch {
    /// Whether a read of blocks from `block` up to `end` needs no access of its own.
    pub fn has(&self, block: u64, end: u64) -> bool {
        (self.first..=self.reached).contains(&block) && end <= self.until
    }
}

/// A stretch of blocks that is being read ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAhead {
    /// First block that the buffer holds.
    first: u64,
    /// Where the stream is known to begin: the first block read ahead, or of a track that was
    /// reached later.
    from: u64,
    /// When the stream began there.
    since_ns: u64,
    /// The track that the head came from at that time; `None` for the track that the arm is on.
    came_from: Option<usize>,
    /// The block where the buffer is full or the disk ends.
    limit: u64,
    reach: Reach,
}

impl ReadAhead {
    /// Reads ahead from `since_ns` on, behind the blocks that the buffer holds, after a request
    /// that ended before block `end`.
    pub fn new([first, from]: [u64; 2], end: u64, since_ns: u64, reach: Reach) -> Self {
        let first = if reach.forgets { end } else { first.max(from.saturating_sub(reach.room)) };
        Self { first, from, since_ns, came_from: None, limit: from, reach }
    }

    /// Lets a stream that has not been asked for begin at another time.
    pub fn begin_at(&mut self, since_ns: u64) {
        self.since_ns = since_ns;
    }

    /// Extends the stream as far as a request for blocks from `request[0]` up to `request[1]`
    /// allows.
    pub fn extend(&mut self, mechanism: &Mechanism, request: [u64; 2]) {
        self.limit = self.reach.limit(mechanism, self.first, request).max(self.limit);
    }

    /// What the buffer holds at `now_ns`, and whether more comes.
    pub fn stretch(&self, mechanism: &Mechanism, arm: &Arm, now_ns: u64) -> Stretch {
        let reached = self.reached(mechanism, arm, now_ns);
        let first = self.first.max(reached.saturating_sub(self.reach.room));
        Stretch { first, reached, until: if reached < self.limit { u64::MAX } else { reached } }
    }

    /// The runs of the stream up to block `end`, from where arm and head were when it began.
    fn runs<'a>(
        &self,
        mechanism: &'a Mechanism,
        arm: &Arm,
        end: u64,
    ) -> impl Iterator<Item = Run> + use<'a> {
        let on = self.came_from.map(|track| &mechanism.layout.tracks()[track]);
        let start = on.map_or(*arm, |on| Arm { cylinder: on.cylinder, head: on.head, ..*arm });
        let stream = [self.from, end.saturating_sub(self.from)];
        mechanism.runs(&start, self.since_ns, Feed::default(), stream, false)
    }

    /// Moves the beginning of the stream to the last track that the head had turned to before
    /// `now_ns`. The stream continues from there exactly as it did from the first track, and reads
    /// need not simulate a long stream again.
    fn begin_later(&mut self, mechanism: &Mechanism, arm: &Arm, now_ns: u64) {
        let (mut since_ns, mut came_from) = (self.since_ns, self.came_from);
        for run in self.runs(mechanism, arm, self.limit) {
            // A head that only now turns to a track can still be stopped first.
            if since_ns >= now_ns {
                break;
            }
            (self.from, self.since_ns, self.came_from) = (run.block, since_ns, came_from);
            (since_ns, came_from) = (run.end_ns, Some(run.track));
        }
    }

    /// How far the stream has come by `now_ns`: the first block not yet read.
    fn reached(&self, mechanism: &Mechanism, arm: &Arm, now_ns: u64) -> u64 {
        for run in self.runs(mechanism, arm, self.limit) {
            if run.end_ns > now_ns {
                let per = mechanism.layout.span_ns(run.track, 1).max(1);
                let read = now_ns.saturating_sub(run.begin_ns) / per;
                return run.block + read.min(u64::from(run.count));
            }
        }
        self.limit
    }

    /// Returns when the last of the requested blocks is in the buffer, and extends the stream
    /// behind them. `None` if the stream does not have them: they begin before the stream or beyond
    /// its present position, or it has stopped and must begin anew.
    pub fn deliver(
        &mut self,
        mechanism: &Mechanism,
        arm: &Arm,
        now_ns: u64,
        [block, count]: [u64; 2],
    ) -> Option<u64> {
        let end = block + count;
        if block < self.first || block > self.limit {
            return None;
        }
        self.begin_later(mechanism, arm, now_ns);
        let stretch = self.stretch(mechanism, arm, now_ns);
        self.first = stretch.first;
        let stopped = stretch.reached == self.limit;
        if !stretch.has(block, end) || (stopped && self.reach.after_hit) {
            return None;
        }
        if self.reach.forgets {
            self.first = end;
        } else if !self.reach.in_segments {
            // A buffer without segments holds only what lies ahead.
            self.first = block.max(self.first);
        }
        let at_ns = self.time_of(mechanism, arm, end);
        if stopped {
            // The buffer was full and the platter has turned on, so only another read can restart
            // the stream.
            return Some(at_ns.min(now_ns));
        }
        self.extend(mechanism, [block, end]);
        Some(at_ns)
    }

    /// When the stream has read all blocks before `end`; if `end` is at or before its beginning,
    /// when it began.
    fn time_of(&self, mechanism: &Mechanism, arm: &Arm, end: u64) -> u64 {
        self.runs(mechanism, arm, end).last().map_or(self.since_ns, |run| run.end_ns)
    }

    /// Stops for a command. Moves the arm to the stream's position, and returns when the arm is
    /// free and when the drive turns to the command.
    ///
    /// A drive with segments that does not stop in a sector finishes what its head is doing before
    /// it turns to the command: the sector, the switch to a track, or the wait there for the first
    /// sector (like DiskSim's "Stop prefetch in sector"). One that does stop in a sector turns to
    /// the command at once, and finishes only a switch meanwhile (as the HP C2490A and the Seagate
    /// ST41601N do; in DiskSim they wait for the switch first). A drive without segments finishes
    /// its sector or switch meanwhile.
    pub fn stop(&self, mechanism: &Mechanism, arm: &mut Arm, now_ns: u64) -> [u64; 2] {
        let (mut free_ns, mut begun_ns) = (self.since_ns, now_ns);
        let mut track = None;
        for run in self.runs(mechanism, arm, self.limit) {
            if run.ready_ns > now_ns && run.block > self.from && free_ns >= now_ns {
                break;
            }
            track = Some(run.track);
            if run.end_ns > now_ns {
                let step_end_ns = step_end_ns(mechanism, &run, now_ns);
                let switches = now_ns < run.ready_ns;
                free_ns = match (self.reach.in_segments, self.reach.stops_in_sector) {
                    (true, false) => {
                        begun_ns = step_end_ns;
                        step_end_ns
                    }
                    (false, false) if now_ns >= run.begin_ns => step_end_ns,
                    _ if switches => step_end_ns,
                    // The wait for the track's first sector can be abandoned.
                    _ => now_ns,
                };
                break;
            }
            free_ns = run.end_ns;
        }
        if let Some(track) = track {
            let on = &mechanism.layout.tracks()[track];
            (arm.cylinder, arm.head) = (on.cylinder, on.head);
        }
        [free_ns.max(now_ns), begun_ns]
    }
}

/// When a head that reads a run finishes its step at `now_ns`: the switch to the track, the wait
/// for the first sector, or a sector.
fn step_end_ns(mechanism: &Mechanism, run: &Run, now_ns: u64) -> u64 {
    if now_ns < run.ready_ns {
        run.ready_ns
    } else if now_ns < run.begin_ns {
        run.begin_ns
    } else {
        let each = mechanism.layout.span_ns(run.track, 1).max(1);
        run.begin_ns + ((now_ns - run.begin_ns) / each + 1) * each
    }
}

#[cfg(test)]
#[path = "read_ahead_tests.rs"]
mod tests;
