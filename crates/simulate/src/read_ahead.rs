//! Reading on after a read, into the drive's buffer, until a command needs the arm or the buffer is full.

use crate::mechanism::{Arm, Feed, Mechanism};

/// A stretch of blocks that is being read ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAhead {
    /// First block that the buffer holds.
    first: u64,
    /// First block that was read ahead: where the stream is known to begin.
    from: u64,
    /// When the stream began there.
    since_ns: u64,
    /// The block where the buffer is full or the disk ends.
    limit: u64,
    /// Blocks of the buffer.
    room: u64,
    /// Blocks of the disk.
    last: u64,
}

impl ReadAhead {
    /// Reading ahead from `end`, reached at `end_ns`, after a read that began at `first`.
    pub fn new(first: u64, end: u64, end_ns: u64, room: u64, last: u64) -> Self {
        let first = first.max(end.saturating_sub(room));
        Self {
            first,
            from: end,
            since_ns: end_ns,
            limit: (first.max(end) + room).min(last),
            room,
            last,
        }
    }

    /// How far the stream came by `now_ns`: the first block not yet read, and the time when it was reached if the
    /// stream has stopped there.
    fn reached(&self, mechanism: &Mechanism, arm: &Arm, now_ns: u64) -> u64 {
        let stream = [self.from, self.limit - self.from];
        for run in mechanism.runs(arm, self.since_ns, Feed::default(), stream, false) {
            if run.end_ns > now_ns {
                let per = mechanism.layout.span_ns(run.track, 1).max(1);
                let read = now_ns.saturating_sub(run.begin_ns) / per;
                return run.block + read.min(u64::from(run.count));
            }
        }
        self.limit
    }

    /// When the last of the asked blocks is in the buffer; `None` when the stream does not have them: they begin before
    /// it or beyond where it is now. The stream goes on behind them.
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
        let reached = self.reached(mechanism, arm, now_ns);
        let stopped = reached == self.limit;
        if block > reached || (stopped && end > reached) {
            return None;
        }
        // What was asked is consumed; its room is free for reading on.
        self.first = block.max(self.first);
        let at_ns = self.time_of(mechanism, arm, end);
        if stopped {
            // The buffer was full: the platter turned on, so the stream begins anew only with another read.
            return Some(at_ns.min(now_ns));
        }
        self.limit = (end + self.room).min(self.last).max(self.limit);
        Some(at_ns)
    }

    /// When the stream has read all blocks before `end`.
    fn time_of(&self, mechanism: &Mechanism, arm: &Arm, end: u64) -> u64 {
        let stream = [self.from, end.saturating_sub(self.from)];
        mechanism
            .runs(arm, self.since_ns, Feed::default(), stream, false)
            .last()
            .map_or(self.since_ns, |run| run.end_ns)
    }

    /// Stops for a command: at the end of the sector under the head, or when a switch between tracks is done. Moves the
    /// arm to where the stream came and gives the time when it is free.
    pub fn stop(&self, mechanism: &Mechanism, arm: &mut Arm, now_ns: u64) -> u64 {
        let mut free_ns = self.since_ns;
        let mut track = None;
        let stream = [self.from, self.limit - self.from];
        for run in mechanism.runs(arm, self.since_ns, Feed::default(), stream, false) {
            if run.ready_ns > now_ns && run.block > self.from && free_ns >= now_ns {
                break;
            }
            track = Some(run.track);
            if run.end_ns > now_ns {
                let per = mechanism.layout.span_ns(run.track, 1).max(1);
                let sector_end =
                    run.begin_ns + (now_ns.saturating_sub(run.begin_ns) / per + 1) * per;
                // Waiting for the track's first sector can be given up, switching to it cannot.
                free_ns = if now_ns < run.begin_ns { run.ready_ns.max(now_ns) } else { sector_end };
                break;
            }
            free_ns = run.end_ns;
        }
        if let Some(track) = track {
            let on = &mechanism.layout.tracks()[track];
            (arm.cylinder, arm.head) = (on.cylinder, on.head);
        }
        free_ns.max(now_ns)
    }
}

#[cfg(test)]
#[path = "read_ahead_tests.rs"]
mod tests;
