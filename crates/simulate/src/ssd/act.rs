//! What a request asks of a solid-state drive beside reading and writing: discards, flushes, writes through the buffer.

use super::Ssd;
use crate::command::{Command, Done};
use ioscape_schema::IoFlags;

impl Ssd<'_> {
    /// Carries out a request with its flags, once the drive's queue has room for it: releases blocks, flushes before, or is on the medium
    /// before it is complete.
    pub fn act(&mut self, now_ns: u64, command: Command, flags: IoFlags) -> Done {
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
            last = Some(joined(last, drive.flush(begun)));
        }
        last.unwrap_or_default()
    }
}

/// One thing after another.
fn joined(before: Option<Done>, after: Done) -> Done {
    let Some(Done { parts, .. }) = before else { return after };
    let mut all = after;
    all.parts.waited_ns += parts.waited_ns;
    all.parts.overhead_ns += parts.overhead_ns;
    all.parts.bus_ns += parts.bus_ns;
    all.parts.transfer_ns += parts.transfer_ns;
    all
}
