//! The calls on one file: how many written bytes its syncs wait for, and which processes take turns.

use super::phases::PAUSE_NS;
use super::turns::Turns;
use ioscape_schema::FileCall;

/// A sync makes at most this many of the writes before it wait for storage, as those of `O_DSYNC`
/// do; a sync after more of them is a flush.
const WRITES_PER_SYNC: u64 = 2;
/// At most this many writers have each made a write that their own sync will wait for. Where a sync
/// leaves more writes, it was a flush, and no later sync waits for these.
const WRITERS_MOST: u64 = 64;

/// What a call is to its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Commit {
    /// The process that it counts for: its own, or the first of those that it takes turns with.
    pub(super) actor: u32,
    /// The writes that it waits for, and their bytes.
    pub(super) waited: (u64, u64),
}

/// The last write to a file.
#[derive(Clone, Copy, Debug)]
struct Last {
    process: u32,
    actor: u32,
    /// Its first byte and its end.
    place: (u64, u64),
    /// When it, or the last sync after it, completed.
    ended_ns: u64,
    /// Whether storage has it.
    is_forced: bool,
}

/// Learns from the calls on one file, in the order of completion.
///
/// Processes that append to a log one after another, each after the sync of the one before (group
/// commit), wait for one another instead of computing. They count as one process, unless the pauses
/// between them are longer than what they wait for storage: independent writers look like that. They
/// remain one where the log goes on in another file, new or used again from its beginning.
#[derive(Clone, Debug, Default)]
pub(super) struct Commits {
    /// Writes that no sync accounts for, and their bytes.
    unsynced: (u64, u64),
    last: Option<Last>,
    reads: Turns,
    /// Total time in writes and syncs, and between them.
    busy_ns: u64,
    idle_ns: u64,
}

impl Commits {
    /// Adds the next call. One that begins the file counts for the process `first`.
    pub(super) fn record(&mut self, call: &FileCall, first: u32) -> Commit {
        if call.is_read() {
            return Commit { actor: self.reads.actor(call), waited: (0, 0) };
        }
        self.busy_ns = self.busy_ns.saturating_add(call.own_ns());
        if call.is_sync() { self.sync(call) } else { self.write(call, first) }
    }

    fn sync(&mut self, call: &FileCall) -> Commit {
        let (writes, bytes) = self.unsynced;
        let made = if call.is_write_back { 0 } else { writes.min(WRITES_PER_SYNC) };
        let waited_bytes =
            (u128::from(bytes) * u128::from(made) / u128::from(writes.max(1))) as u64;
        let is_flush = !call.is_write_back && writes - made > WRITERS_MOST;
        self.unsynced = if is_flush { (0, 0) } else { (writes - made, bytes - waited_bytes) };
        let mut actor = call.process;
        if let Some(last) = &mut self.last {
            last.is_forced |= !call.is_write_back;
            last.ended_ns = last.ended_ns.max(call.completed_ns);
            actor = if last.process == actor { last.actor } else { actor };
        }
        Commit { actor, waited: (made, waited_bytes) }
    }

    fn write(&mut self, call: &FileCall, first: u32) -> Commit {
        let (from, len) = (call.request.offset, u64::from(call.request.len));
        let waited = if call.is_synchronous { (1, len) } else { (0, 0) };
        if !call.is_synchronous {
            self.unsynced.0 += 1;
            self.unsynced.1 = self.unsynced.1.saturating_add(len);
        }
        let actor = self.actor(call, first);
        let ended_ns = self.last.map_or(0, |last| last.ended_ns).max(call.completed_ns);
        let place = (from, from.saturating_add(len));
        let is_forced = call.is_synchronous;
        self.last = Some(Last { process: call.process, actor, place, ended_ns, is_forced });
        Commit { actor, waited }
    }

    /// The process that a write counts for.
    fn actor(&mut self, call: &FileCall, first: u32) -> u32 {
        let Some(last) = self.last else { return first };
        let (from, end) = last.place;
        let begins = from > 0 && call.request.offset == 0;
        let gap_ns = call.issued_ns.checked_sub(last.ended_ns);
        let gap_ns = gap_ns.filter(|gap_ns| *gap_ns <= PAUSE_NS && !begins);
        self.idle_ns = self.idle_ns.saturating_add(gap_ns.unwrap_or(0));
        let takes_turn = last.is_forced
            && gap_ns.is_some()
            && (from..=end).contains(&call.request.offset)
            && self.idle_ns <= self.busy_ns;
        match takes_turn || call.process == last.process {
            true => last.actor,
            false if begins => first,
            false => call.process,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Op, Request};

    /// The writes that `syncs` wait for after as many of 4 KiB.
    fn waited(writes: u64, syncs: u64) -> u64 {
        let call = |len| FileCall {
            request: Request { op: Op::Write, offset: 0, len },
            ..FileCall::default()
        };
        let mut commits = Commits::default();
        let calls = (0..writes).map(|_| call(4096)).chain((0..syncs).map(|_| call(0)));
        let waited = calls.map(|call| commits.record(&call, 0).waited);
        let (made, bytes) = waited.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        assert_eq!(bytes, made * 4096);
        made
    }

    #[test]
    fn a_sync_makes_two_writes_wait_whoever_made_them() {
        assert_eq!(waited(4, 4), 4, "four processes write before the first syncs");
        assert_eq!(waited(1000, 1), 2, "a flush");
        assert_eq!(waited(1000, 500), 2, "what was flushed is not waited for again");
        assert_eq!([waited(0, 1), waited(1, 0)], [0, 0]);
    }
}
