//! Requests to a solid-state drive other than plain reads and writes: discards, flushes, and writes
//! through the buffer (FUA).

use super::Ssd;
use crate::command::{Command, Done};
use ioscape_schema::IoFlags;

impl Ssd<'_> {
    /// Executes a request with its flags, once the drive's queue has room for it: releases blocks,
    /// flushes first, or completes only once the data are on the medium. Requests must be sent in
    /// order of arrival.
    pub fn act(&mut self, now_ns: u64, command: Command, flags: IoFlags) -> Done {
        self.pass(now_ns);
        self.act_ahead(now_ns, command, flags)
    }

    /// Does the same if earlier requests may still be sent after it: [`pass`](Self::pass) says from
    /// when on none arrives.
    pub fn act_ahead(&mut self, now_ns: u64, command: Command, flags: IoFlags) -> Done {
        let taken_ns = self.queue.take(now_ns);
        let mut done = self.taken(taken_ns, command, flags);
        done.parts.waited_ns += taken_ns - now_ns;
        self.queue.hold(done.completed_ns);
        done
    }

    fn taken(&mut self, now_ns: u64, command: Command, flags: IoFlags) -> Done {
        let drive = self;
        if flags.intersects(IoFlags::DISCARD | IoFlags::ZEROES) {
            return drive.discard(now_ns, command.block, command.count);
        }
        let mut last = None;
        if flags.contains(IoFlags::FLUSH) || command.count == 0 {
            last = Some(drive.flush(now_ns));
        }
        let begun = last.map_or(now_ns, |done: Done| done.completed_ns);
        if command.count > 0 {
            let done = drive.serve(begun, command);
            last = Some(joined(last, done));
        }
        if command.write && flags.contains(IoFlags::FUA) {
            let begun = last.map_or(now_ns, |done| done.completed_ns);
            last = Some(joined(last, drive.secure(begun, command)));
        }
        last.unwrap_or_default()
    }
}

/// The outcome of one action after another.
fn joined(before: Option<Done>, after: Done) -> Done {
    let Some(Done { parts, .. }) = before else { return after };
    let mut all = after;
    all.parts.waited_ns += parts.waited_ns;
    all.parts.overhead_ns += parts.overhead_ns;
    all.parts.bus_ns += parts.bus_ns;
    all.parts.transfer_ns += parts.transfer_ns;
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ssd::{Model, SECTOR_BYTES, find};

    fn generic() -> Model {
        find("generic-ssd").unwrap().build().unwrap()
    }

    fn write(block: u64, count: u64) -> Command {
        Command { block, count, write: true, synchronous: true }
    }

    #[test]
    fn a_write_with_fua_waits_for_its_own_program_and_a_flush_for_all_that_was_written() {
        let model = generic();
        let last = |command, flags| {
            let mut ssd = Ssd::new(&model);
            // 64 MiB sequentially, of which the buffer holds 16 MiB at the end.
            let begun_ns = ssd.act(0, write(0, 128 << 10), IoFlags::empty()).completed_ns;
            let done = ssd.act(begun_ns, command, flags);
            (done.completed_ns - begun_ns, ssd.traffic().held * u64::from(SECTOR_BYTES))
        };
        let (through_ns, held) = last(write(1 << 30, 8), IoFlags::FUA);
        assert!(through_ns < 2_500_000, "room, the program in progress and its own: {through_ns}");
        assert!(held > 8 << 20, "{held} bytes wait as before");
        let (flush_ns, held) = last(write(0, 0), IoFlags::FLUSH);
        assert!(flush_ns > 5_000_000 && held == 0, "{flush_ns} ns for all, {held} bytes are left");
    }

    #[test]
    fn where_every_write_has_fua_it_takes_as_long_as_with_a_flush_behind_it() {
        let model = generic();
        let [mut through, mut flushed] = [0; 2].map(|_| Ssd::new(&model));
        let mut now_ns = 0;
        for (n, count) in (0..200).zip([8, 3, 64, 512].into_iter().cycle()) {
            let command = write(n * 7919 % 100_000 * 8, count);
            let done_ns = through.act(now_ns, command, IoFlags::FUA).completed_ns;
            let written_ns = flushed.act(now_ns, command, IoFlags::empty()).completed_ns;
            assert_eq!(done_ns, flushed.flush(written_ns).completed_ns, "{command:?}");
            now_ns = done_ns + n * 1000;
        }
    }
}
