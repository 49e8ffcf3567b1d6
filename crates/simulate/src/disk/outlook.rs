//! What a choice by access time needs to know of a disk: where its arm is, and which reads need no medium.

use super::state::Disk;
use crate::command::Command;
use crate::mechanism::Arm;
use crate::read_ahead::Stretch;

/// A disk at the time when its next command is chosen.
pub struct Outlook<'a> {
    /// That time.
    pub now_ns: u64,
    disk: &'a Disk<'a>,
    /// Where a command that needs the medium finds the arm.
    arm: Arm,
    /// What was read ahead.
    ahead: Option<Stretch>,
}

impl Disk<'_> {
    /// Returns what the choice of a command at `now_ns` depends on.
    pub fn outlook(&self, now_ns: u64) -> Outlook<'_> {
        let (mechanism, mut arm) = (&self.drive.mechanism, self.arm);
        let ahead = self.ahead.as_ref().map(|ahead| {
            ahead.stop(mechanism, &mut arm, now_ns);
            ahead.stretch(mechanism, &self.arm, now_ns)
        });
        Outlook { now_ns, disk: self, arm, ahead }
    }
}

impl Outlook<'_> {
    /// Seek and rotation that a command would need: none for a read of what was read ahead or lies in a segment. Blocks
    /// that wait to be written count as on the medium.
    pub fn positioning_ns(&self, command: &Command) -> u64 {
        let (block, end) = (command.block, command.block + command.count);
        if !command.write && self.stretches().any(|stretch| stretch.has(block, end)) {
            return 0;
        }
        let controller = &self.disk.drive.controller;
        let before =
            if command.write { &controller.write_before_ns } else { &controller.read_before_ns };
        let at = self.now_ns + before[0];
        self.disk.drive.mechanism.positioning_ns(&self.arm, at, block, command.write)
    }

    /// The first and the last block at which a read may begin that needs no medium, for each stretch of the buffer. A
    /// buffer that forgets what it delivers may hold none yet.
    pub fn at_hand(&self) -> impl Iterator<Item = [u64; 2]> {
        let all = self.stretches().map(|stretch| [stretch.first, stretch.reached]);
        all.filter(|[first, last]| first <= last)
    }

    fn stretches(&self) -> impl Iterator<Item = Stretch> {
        let kept = |&[first, end]: &[u64; 2]| Stretch { first, reached: end, until: end };
        self.ahead.into_iter().chain(self.disk.segments.iter().map(kept))
    }

    /// The first block on the arm's cylinder or a later one; `None` unless blocks lie in cylinder
    /// order.
    pub fn first_block_at_arm(&self) -> Option<u64> {
        self.disk.drive.mechanism.layout.first_block_from(self.arm.cylinder)
    }

    /// A lower bound on the seek time of this command and of any farther in the same direction, if they need the medium
    /// and blocks lie in order of cylinders.
    pub fn seek_at_least_ns(&self, command: &Command) -> u64 {
        let layout = &self.disk.drive.mechanism.layout;
        let to = layout.tracks()[layout.locate(command.block).track].cylinder;
        self.disk.drive.mechanism.seek_at_least_ns(&self.arm, to, false)
    }
}
