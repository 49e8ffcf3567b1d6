//! The mechanism: where arm, head and platter are, and how long an access takes from there.

use crate::layout::{Layout, SectorAddress};

/// Where the arm is, and how the platter's angle follows from the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arm {
    /// Cylinder under the heads.
    pub cylinder: u32,
    /// Head in use.
    pub head: u16,
    /// Angle of the platter at time 0, as a time of rotation.
    pub phase_ns: u64,
}

/// How long the parts of one access took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Seek, head switch and settling.
    pub seek_ns: u64,
    /// Waiting for the first sector.
    pub rotation_ns: u64,
    /// From the first sector's beginning to the last one's end, switches between tracks included.
    pub transfer_ns: u64,
    /// When the last sector has passed.
    pub end_ns: u64,
    /// When the last sector of the first track has passed.
    pub first_end_ns: u64,
}

/// Data that arrive over a bus to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feed {
    /// When the first block begins to arrive.
    pub from_ns: u64,
    /// Time per block, in 2^-20 ns.
    pub each: u64,
    /// Whether all data of a track must have arrived before it is written.
    pub whole: bool,
    /// Blocks that must have arrived before anything is written, unless `whole`; at least the first
    /// block of a track must.
    pub lead: u64,
}

impl Feed {
    /// When a run of `count` blocks can be written that `before` blocks precede.
    #[inline]
    fn ready_ns(&self, before: u64, count: u64) -> u64 {
        self.all_ns(if self.whole { before + count } else { self.lead.max(before + 1) })
    }

    /// When the first `count` blocks have arrived.
    #[inline]
    fn all_ns(&self, count: u64) -> u64 {
        self.from_ns + ((count * self.each) >> 20)
    }

    /// The feed of the data behind the first `done` blocks.
    fn after(self, done: u64) -> Self {
        let lead = self.lead.saturating_sub(done);
        Self { from_ns: self.all_ns(done), lead, ..self }
    }

    /// By how much the last block of a run arrives too late for the head, which reaches the last
    /// sector at `last_ns`.
    #[inline]
    fn late_ns(&self, before: u64, count: u64, last_ns: u64) -> u64 {
        if self.whole {
            return 0;
        }
        self.all_ns(before + count).saturating_sub(last_ns)
    }
}

/// An unbroken run of sectors in a stream of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First block.
    pub block: u64,
    /// Blocks.
    pub count: u32,
    /// When its first sector begins to pass.
    pub begin_ns: u64,
    /// When its last sector has passed.
    pub end_ns: u64,
    /// When the head was on the track; it cannot be interrupted before.
    pub ready_ns: u64,
    /// Index of its track.
    pub track: usize,
}

/// Times of the moving parts, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// Where the blocks lie.
    pub layout: Layout,
    /// Seek time by distance in cylinders.
    pub seek_ns: Vec<u32>,
    /// The least seek time over a distance and all longer ones.
    pub seek_from_ns: Vec<u32>,
    /// Switching to another head of the same cylinder.
    pub head_switch_ns: u64,
    /// The least time that a write needs to get to its track.
    pub write_seek_least_ns: u64,
    /// Settling time of a write, in addition to a seek or head switch.
    pub write_settle_ns: i64,
    /// Whether reading begins with whichever sector of a track comes first.
    pub read_on_arrival: bool,
    /// Whether writing does so, too.
    pub write_on_arrival: bool,
}

impl Mechanism {
    /// Time to get the arm and head to a track.
    #[inline]
    pub fn seek_to(&self, arm: &Arm, track: usize, write: bool) -> u64 {
        let to = &self.layout.tracks()[track];
        self.seek_to_head(arm, to.cylinder, to.head, write)
    }

    /// Time to move the arm to a cylinder and switch to this head there.
    #[inline]
    pub fn seek_to_head(&self, arm: &Arm, cylinder: u32, head: u16, write: bool) -> u64 {
        let distance = cylinder.abs_diff(arm.cylinder);
        let mut time = u64::from(self.seek_ns[distance as usize]);
        if head != arm.head {
            time = time.max(self.head_switch_ns);
        }
        if write && time > 0 {
            time = time.saturating_add_signed(self.write_settle_ns);
        }
        time
    }

    /// Rotation from the angle at `now_ns` to `angle_ns`.
    #[inline]
    fn wait(&self, arm: &Arm, now_ns: u64, angle_ns: u64) -> u64 {
        self.turn_ns(self.angle_at(arm, now_ns), angle_ns)
    }

    /// The platter's angle at `now_ns`, as a time of rotation.
    #[inline]
    pub fn angle_at(&self, arm: &Arm, now_ns: u64) -> u64 {
        self.layout.turned_ns(now_ns + arm.phase_ns)
    }

    /// Rotation from one angle to another.
    #[inline]
    pub fn turn_ns(&self, from_ns: u64, to_ns: u64) -> u64 {
        if to_ns >= from_ns { to_ns - from_ns } else { to_ns + self.layout.rotation_ns() - from_ns }
    }

    /// When a run of `count` blocks ends, `before` blocks into the data, if its data arrive as
    /// `feed` says. Its sectors would have passed by `end_ns`; a sector that passes before its data
    /// have arrived is written a rotation later, as are all after it.
    #[inline]
    fn fed_ns(&self, feed: &Feed, [before, count]: [u64; 2], end_ns: u64, sector_ns: u64) -> u64 {
        match feed.late_ns(before, count, end_ns.saturating_sub(sector_ns)) {
            0 => end_ns,
            late => end_ns + late.div_ceil(self.layout.rotation_ns()) * self.layout.rotation_ns(),
        }
    }

    /// Accesses `count` blocks from `block`. The arm starts at `start_ns`, and data to be written
    /// arrive as `feed` says. Leaves the arm at the end of the access.
    #[inline]
    pub fn access(
        &self,
        arm: &mut Arm,
        start_ns: u64,
        feed: Feed,
        [block, count]: [u64; 2],
        write: bool,
    ) -> Access {
        let (access, done) = self.pass(arm, start_ns, feed, [block, count], write);
        if done == count {
            return access;
        }
        self.pass_on(arm, (access, done), feed, [block, count], write)
    }

    /// Performs the access, or only the part of it on one track if that track is accessed from the
    /// head's arrival on; also returns the number of blocks done.
    #[inline]
    fn pass(
        &self,
        arm: &mut Arm,
        start_ns: u64,
        feed: Feed,
        [block, count]: [u64; 2],
        write: bool,
    ) -> (Access, u64) {
        let address = self.layout.locate(block);
        let least_ns = if write { self.write_seek_least_ns } else { 0 };
        let seek_ns = self.seek_to(arm, address.track, write).max(least_ns);
        let there = start_ns + seek_ns;
        settle_on(arm, &self.layout, address.track);
        let on_arrival = if write { self.write_on_arrival } else { self.read_on_arrival };
        let together = u64::from(self.layout.together(block, address.left));
        if !on_arrival && (1..=together).contains(&count) {
            return (self.within_track(arm, seek_ns, feed, &address, [there, count]), count);
        }
        let mut runs = self.runs(arm, there, feed, [block, count], write);
        let Some(first) = runs.next() else {
            let nothing =
                Access { seek_ns, end_ns: there, first_end_ns: there, ..Access::default() };
            return (nothing, count);
        };
        let arrived_ns = first.ready_ns.max(feed.all_ns(u64::from(first.count)));
        if on_arrival && arrived_ns + self.layout.rotation_ns() < first.end_ns {
            return (self.on_arrival(seek_ns, [there, arrived_ns]), u64::from(first.count));
        }
        let last = runs.last().unwrap_or(first);
        settle_on(arm, &self.layout, last.track);
        let access = Access {
            seek_ns,
            rotation_ns: first.begin_ns - there,
            transfer_ns: last.end_ns - first.begin_ns,
            end_ns: last.end_ns,
            first_end_ns: first.end_ns,
        };
        (access, count)
    }

    /// Continues an access after its first `done` blocks, track by track, where each is accessed
    /// from the head's arrival on.
    fn pass_on(
        &self,
        arm: &mut Arm,
        (mut access, mut done): (Access, u64),
        feed: Feed,
        [block, count]: [u64; 2],
        write: bool,
    ) -> Access {
        let mut rest = feed.after(done);
        while done < count {
            let asked = [block + done, count - done];
            let (next, more) = self.pass(arm, access.end_ns, rest, asked, write);
            access.transfer_ns += next.end_ns - access.end_ns;
            access.end_ns = next.end_ns;
            (rest, done) = (rest.after(more), done + more);
        }
        access
    }

    /// An access within a single run, from when the head is on its track at `there`.
    #[inline]
    fn within_track(
        &self,
        arm: &Arm,
        seek_ns: u64,
        feed: Feed,
        address: &SectorAddress,
        [there, count]: [u64; 2],
    ) -> Access {
        let (track, slot) = (address.track, address.slot);
        let from = there.max(feed.ready_ns(0, count));
        let begin_ns = from + self.wait(arm, from, self.layout.angle_ns(track, slot));
        let after = self.layout.slot_after(track, slot, count as u32);
        let passed_ns = begin_ns + self.layout.span_ns(track, after - slot);
        let end_ns = self.fed_ns(&feed, [0, count], passed_ns, self.layout.span_ns(track, 1));
        Access {
            seek_ns,
            rotation_ns: begin_ns - there,
            transfer_ns: end_ns - begin_ns,
            end_ns,
            first_end_ns: end_ns,
        }
    }

    /// An access whose head came down in the middle of a run. At `begin_ns` all of its data have
    /// arrived, so one rotation from then on accesses the whole run.
    fn on_arrival(&self, seek_ns: u64, [there, begin_ns]: [u64; 2]) -> Access {
        let transfer_ns = self.layout.rotation_ns();
        let end_ns = begin_ns + transfer_ns;
        let rotation_ns = begin_ns - there;
        Access { seek_ns, rotation_ns, transfer_ns, end_ns, first_end_ns: end_ns }
    }

    /// When all data of a read have crossed the bus. The read takes the bus as soon as its first
    /// track is read; the data follow `setup_ns` later, as they come from the medium, at `each`
    /// (2^-20 ns) per block. Never before the last sector has passed.
    pub fn drained_ns(
        &self,
        arm: &Arm,
        access: &Access,
        asked: [u64; 2],
        [setup_ns, each]: [u64; 2],
    ) -> u64 {
        let time = |blocks: u32| (u64::from(blocks) * each) >> 20;
        if access.first_end_ns == access.end_ns {
            return access.end_ns + setup_ns + ((asked[1] * each) >> 20);
        }
        let mut arm = *arm;
        settle_on(&mut arm, &self.layout, self.layout.locate(asked[0]).track);
        let there = access.end_ns - access.transfer_ns - access.rotation_ns;
        let mut drained = 0;
        for run in self.runs(&arm, there, Feed::default(), asked, false) {
            let from = if drained == 0 {
                access.first_end_ns + setup_ns
            } else {
                drained.max(run.begin_ns)
            };
            drained = from + time(run.count);
        }
        drained.max(access.end_ns)
    }

    /// When the `mark`-th block of a read has passed the head, and when all of its blocks have
    /// crossed the bus. The bus takes them in order, at `each` (2^-20 ns) per block, beginning
    /// `setup_ns` after the mark.
    pub fn delivered_ns(
        &self,
        arm: &Arm,
        access: &Access,
        asked: [u64; 2],
        mark: u64,
        [setup_ns, each]: [u64; 2],
    ) -> [u64; 2] {
        let time = |blocks: u64| (blocks * each) >> 20;
        let (mut arm, [block, all]) = (*arm, asked);
        settle_on(&mut arm, &self.layout, self.layout.locate(block).track);
        let there = access.end_ns - access.transfer_ns - access.rotation_ns;
        let (mut before, mut marked_ns, mut done_ns) = (0, 0, 0);
        let mut take = |run: &Run, latest_ns: u64| {
            let count = u64::from(run.count);
            let each_ns = (run.end_ns - run.begin_ns) / count;
            let passed = |nth: u64| (run.begin_ns + nth * each_ns).min(latest_ns);
            if (before + 1..=before + count).contains(&mark) {
                marked_ns = passed(mark - before);
            }
            for nth in [1, count] {
                done_ns = done_ns.max(passed(nth) + time(all - before - nth + 1));
            }
            before += count;
        };
        let mut runs = self.runs(&arm, there, Feed::default(), asked, false);
        if let Some(first) = runs.next() {
            // A head that came down in the middle of the run has read the run's end already.
            take(&first, access.first_end_ns);
            let done = u64::from(first.count);
            let rest = [block + done, all - done];
            self.runs(&arm, access.first_end_ns, Feed::default(), rest, false)
                .for_each(|run| take(&run, u64::MAX));
        }
        [marked_ns, done_ns.max(marked_ns + setup_ns + time(all))]
    }

    /// The runs of a stream of blocks, from where the arm is at `there_ns`.
    #[inline]
    pub fn runs<'a>(
        &'a self,
        arm: &Arm,
        there_ns: u64,
        feed: Feed,
        [block, count]: [u64; 2],
        write: bool,
    ) -> impl Iterator<Item = Run> + use<'a> {
        let mut arm = *arm;
        let (mut at, end, mut now) = (block, block + count, there_ns);
        std::iter::from_fn(move || {
            if at == end {
                return None;
            }
            let address = self.layout.locate(at);
            let ready_ns = now + self.seek_to(&arm, address.track, write);
            settle_on(&mut arm, &self.layout, address.track);
            let count = u64::from(self.layout.together(at, address.left)).min(end - at);
            let from = ready_ns.max(feed.ready_ns(at - block, count));
            let begin_ns =
                from + self.wait(&arm, from, self.layout.angle_ns(address.track, address.slot));
            let after = self.layout.slot_after(address.track, address.slot, count as u32);
            let passed_ns = begin_ns + self.layout.span_ns(address.track, after - address.slot);
            let sector_ns = self.layout.span_ns(address.track, 1);
            let end_ns = self.fed_ns(&feed, [at - block, count], passed_ns, sector_ns);
            let run = Run {
                block: at,
                count: count as u32,
                begin_ns,
                end_ns,
                ready_ns,
                track: address.track,
            };
            (at, now) = (at + count, end_ns);
            Some(run)
        })
    }

    /// Seek and rotation to the first sector, for schedulers.
    #[inline]
    pub fn positioning_ns(&self, arm: &Arm, now_ns: u64, block: u64, write: bool) -> u64 {
        let address = self.layout.locate(block);
        let seek = self.seek_to(arm, address.track, write);
        let angle = self.layout.angle_ns(address.track, address.slot);
        seek + self.wait(arm, now_ns + seek, angle)
    }

    /// A lower bound on the seek time, of a read or a write, to this cylinder or any farther in the
    /// same direction. If all are known to be writes, it includes their settling time.
    #[inline]
    pub fn seek_at_least_ns(&self, arm: &Arm, cylinder: u32, all_write: bool) -> u64 {
        let least = u64::from(self.seek_from_ns[cylinder.abs_diff(arm.cylinder) as usize]);
        let settles = all_write && least > 0;
        let settle_ns = self.write_settle_ns;
        least.saturating_add_signed(if settles { settle_ns } else { settle_ns.min(0) })
    }

    /// The phase at which the last of these blocks ends under the head at `end_ns`.
    pub fn phase_after(&self, [block, count]: [u64; 2], end_ns: u64) -> u64 {
        let address = self.layout.locate(block + count.max(1) - 1);
        let rotation = self.layout.rotation_ns();
        let angle = self.layout.angle_ns(address.track, address.slot)
            + self.layout.span_ns(address.track, 1);
        (angle + rotation - end_ns % rotation) % rotation
    }
}

/// Puts the arm on a track.
fn settle_on(arm: &mut Arm, layout: &Layout, track: usize) {
    let on = &layout.tracks()[track];
    (arm.cylinder, arm.head) = (on.cylinder, on.head);
}

#[cfg(test)]
#[path = "mechanism_tests.rs"]
mod tests;
