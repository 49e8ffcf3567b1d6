//! The drive at the end of a queue: a disk or a solid-state drive.

use crate::array::Array;
use crate::command::{BusNeed, Command, DiskOptions, Done, Stretch, Traffic};
use crate::disk::Disk;
use crate::drive::{Drive, Power};
use crate::ssd::{Model, SECTOR_BYTES, Ssd};
use ioscape_schema::IoFlags;

/// A kind of drive to add to a simulation.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'a> {
    /// A disk and its options.
    Disk(&'a Drive, DiskOptions),
    /// A solid-state drive.
    Flash(&'a Model),
}

/// A drive at work, with its busy time.
#[derive(Clone, Debug)]
pub struct Unit<'a> {
    drive: One<'a>,
    /// The array that the drive belongs to, and its index there.
    place: (Array, u16),
    /// Parity blocks written to the drive, and those of them that were overwritten in its buffer.
    parity: [u64; 2],
    /// Time with at least one command.
    busy: Covered,
    /// The same, plus the time in which the drive wrote back its buffer on its own.
    active: Covered,
    /// Power consumption, if known.
    pub power: Option<Power>,
    /// When the drive turned to the command that now waits for the bus: after any flush before it.
    begun_ns: u64,
    /// Blocks overwritten in its buffer before that command.
    absorbed_before: u64,
}

/// The total length of intervals, added in order of their starts; overlaps count once.
#[derive(Clone, Copy, Debug, Default)]
struct Covered {
    ns: u64,
    until_ns: u64,
    /// Where the last gap between them ended, and how many came since.
    from_ns: u64,
    since: u64,
}

impl Covered {
    #[inline]
    fn add(&mut self, [from_ns, until_ns]: [u64; 2]) {
        self.ns += until_ns.saturating_sub(from_ns.max(self.until_ns));
        if from_ns > self.until_ns {
            (self.from_ns, self.since) = (from_ns, 0);
        }
        self.since += 1;
        self.until_ns = self.until_ns.max(until_ns);
    }

    /// Cuts off what lies beyond `end_ns`.
    fn end_at(&mut self, end_ns: u64) {
        self.ns -= self.until_ns.saturating_sub(end_ns);
        self.until_ns = self.until_ns.min(end_ns);
    }
}

#[derive(Clone, Debug)]
enum One<'a> {
    Disk(Box<Disk<'a>>),
    Flash(Box<Ssd<'a>>),
}

impl<'a> Unit<'a> {
    /// A drive at rest.
    pub fn new(kind: Kind<'a>) -> Self {
        Self::in_array(kind, Array::default(), 0)
    }

    /// A drive at rest that is disk `disk` of an array.
    pub fn in_array(kind: Kind<'a>, array: Array, disk: u16) -> Self {
        let (drive, power) = match kind {
            Kind::Disk(drive, options) => {
                (One::Disk(Box::new(Disk::new(drive, options))), drive.power)
            }
            Kind::Flash(model) => (One::Flash(Box::new(Ssd::new(model))), model.power),
        };
        Self {
            drive,
            place: (array, disk),
            parity: [0; 2],
            busy: Covered::default(),
            active: Covered::default(),
            power,
            begun_ns: 0,
            absorbed_before: 0,
        }
    }

    /// Whether the drive accepts a command while others are in progress.
    pub fn takes_many(&self) -> bool {
        matches!(self.drive, One::Flash(_))
    }

    /// Whether a flush makes the drive do any work.
    pub fn flushes(&self) -> bool {
        match &self.drive {
            One::Disk(disk) => disk.reports_early(),
            One::Flash(_) => true,
        }
    }

    /// The disk; `None` for a solid-state drive.
    pub fn disk(&self) -> Option<&Disk<'a>> {
        match &self.drive {
            One::Disk(disk) => Some(disk),
            One::Flash(_) => None,
        }
    }

    /// Carries out a command on a bus of its own.
    #[inline]
    pub fn serve(&mut self, now_ns: u64, command: Command, flags: IoFlags) -> Done {
        self.absorbed_before = self.in_blocks().0.absorbed;
        self.worked_until(now_ns);
        let done = match &mut self.drive {
            One::Disk(disk) => on_disk(disk, now_ns, command, flags),
            One::Flash(ssd) => ssd.act(now_ns, command, flags),
        };
        self.had(now_ns, done.completed_ns, command);
        done
    }

    /// Accepts a command at `now_ns` and says when it needs the bus; returns `Err` with the
    /// completion of a command that needs none.
    pub fn begin(
        &mut self,
        now_ns: u64,
        command: Command,
        flags: IoFlags,
    ) -> Result<BusNeed, Done> {
        self.absorbed_before = self.in_blocks().0.absorbed;
        self.worked_until(now_ns);
        match &mut self.drive {
            One::Disk(disk) if command.count > 0 => {
                let begun = before(disk, now_ns, command, flags);
                self.begun_ns = begun;
                Ok(begin(disk, begun, command, flags))
            }
            _ => Err(self.serve(now_ns, command, flags)),
        }
    }

    /// Completes a command that began at `now_ns` and got the bus at `granted_ns`.
    pub fn finish(
        &mut self,
        [now_ns, granted_ns]: [u64; 2],
        need: BusNeed,
        command: Command,
    ) -> Done {
        let One::Disk(disk) = &mut self.drive else { return Done::default() };
        let done = behind(disk.finish(granted_ns, need), self.begun_ns - now_ns);
        self.had(now_ns, done.completed_ns, command);
        done
    }

    /// Counts the time in which the drive wrote back its buffer before a command that comes at
    /// `now_ns`.
    #[inline]
    fn worked_until(&mut self, now_ns: u64) {
        if let One::Disk(disk) = &mut self.drive {
            self.active.add(disk.wrote_until(now_ns));
        }
    }

    /// Counts the time in which the drive writes back its buffer after its last command, up to
    /// `end_ns`, when all drives have completed their commands.
    pub fn end_at(&mut self, end_ns: u64) {
        self.worked_until(end_ns);
        self.active.end_at(end_ns);
    }

    /// Counts the time of a command from `from_ns` to `until_ns`, and the time in which the drive
    /// meanwhile wrote back its buffer.
    #[inline]
    fn had(&mut self, from_ns: u64, until_ns: u64, command: Command) {
        self.busy.add([from_ns, until_ns]);
        self.active.add([from_ns, until_ns]);
        if let One::Disk(disk) = &self.drive {
            self.active.add(disk.wrote());
        }
        if command.write {
            self.count_parity(command);
        }
    }

    fn count_parity(&mut self, command: Command) {
        let ((array, disk), (all, block_bytes)) = (self.place, self.in_blocks());
        let parity = array.parity_blocks(disk, [command.block, command.count], block_bytes);
        if parity > 0 {
            // Adjacent data and parity form one command; its overwritten blocks are split in
            // proportion.
            let absorbed = all.absorbed - self.absorbed_before;
            self.parity[0] += parity;
            self.parity[1] += absorbed * parity / command.count;
        }
    }

    /// When its last command was complete; 0 if it had none.
    pub fn completed_ns(&self) -> u64 {
        self.busy.until_ns
    }

    /// Time with at least one command, in nanoseconds.
    pub fn busy_ns(&self) -> u64 {
        self.busy.ns
    }

    /// The last time in which it had a command throughout.
    pub fn stretch(&self) -> Stretch {
        let Covered { from_ns, until_ns, since, .. } = self.busy;
        Stretch { from_ns, until_ns, commands: since }
    }

    /// Time with at least one command or in which a disk wrote back its buffer, in nanoseconds.
    /// Excludes a solid-state drive's work after its commands.
    pub fn active_ns(&self) -> u64 {
        self.active.ns
    }

    /// The drive's write traffic, in bytes.
    pub fn traffic(&self) -> Traffic {
        let (all, block_bytes) = self.in_blocks();
        let [parity_written, parity_absorbed] = self.parity;
        Traffic { parity_written, parity_absorbed, ..all }.in_bytes(block_bytes)
    }

    /// The drive's write traffic in blocks, with parity not counted separately, and the bytes of a
    /// block.
    #[inline]
    fn in_blocks(&self) -> (Traffic, u32) {
        match &self.drive {
            One::Disk(disk) => (disk.traffic, disk.sector_bytes()),
            One::Flash(ssd) => (ssd.traffic(), SECTOR_BYTES),
        }
    }
}

/// Flags that ask for more than a plain read or write.
const SPECIAL: IoFlags = IoFlags::FLUSH.union(IoFlags::FUA);

/// Carries out a command with its flags on a disk with a bus of its own.
#[inline]
pub fn on_disk(disk: &mut Disk<'_>, now_ns: u64, command: Command, flags: IoFlags) -> Done {
    if !flags.intersects(SPECIAL) && command.count > 0 {
        return disk.serve(now_ns, command);
    }
    let begun_ns = before(disk, now_ns, command, flags);
    if command.count == 0 {
        return flushed(now_ns, begun_ns, disk.flush_overhead_ns());
    }
    let need = begin(disk, begun_ns, command, flags);
    behind(disk.finish(need.at_ns, need), begun_ns - now_ns)
}

/// Whether a command is a flush, or has one before it.
pub fn wants_flush(command: Command, flags: IoFlags) -> bool {
    flags.contains(IoFlags::FLUSH) || command.count == 0
}

/// When a disk begins with a command: at once, or when a flush before it is on the medium.
fn before(disk: &mut Disk<'_>, now_ns: u64, command: Command, flags: IoFlags) -> u64 {
    let flushes = wants_flush(command, flags) && disk.reports_early();
    if flushes { disk.flush(now_ns) } else { now_ns }
}

/// Begins a command; a write with FUA bypasses a buffer that would lose it in a power failure.
fn begin(disk: &mut Disk<'_>, begun_ns: u64, command: Command, flags: IoFlags) -> BusNeed {
    if command.write && flags.contains(IoFlags::FUA) && disk.reports_early() {
        disk.begin_through(begun_ns, command)
    } else {
        disk.begin(begun_ns, command)
    }
}

/// Adds the time a command waited for the flush before it.
fn behind(mut done: Done, waited_ns: u64) -> Done {
    done.parts.waited_ns += waited_ns;
    done
}

/// The completion of a flush alone, whose data are on the medium at `safe_ns`.
fn flushed(now_ns: u64, safe_ns: u64, overhead_ns: u64) -> Done {
    let waited_ns = safe_ns - now_ns;
    let parts = crate::Parts { waited_ns, overhead_ns, ..crate::Parts::default() };
    Done { completed_ns: safe_ns + overhead_ns, parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_beyond_the_end_does_not_count() {
        let mut covered = Covered::default();
        [[10, 20], [15, 40]].into_iter().for_each(|times| covered.add(times));
        assert_eq!(covered.ns, 30);
        covered.end_at(35);
        assert_eq!(covered.ns, 25);
        covered.end_at(50);
        assert_eq!(covered.ns, 25);
    }
}
