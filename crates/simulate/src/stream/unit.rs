//! What stands at the end of a queue: a disk, or a solid-state drive.

use crate::command::{BusNeed, Command, DiskOptions, Done, Traffic};
use crate::disk::Disk;
use crate::drive::{Drive, Power};
use crate::ssd::{Model, SECTOR_BYTES, Ssd};
use ioscape_schema::IoFlags;

/// What is added to a simulation.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'a> {
    /// A disk and its switches.
    Disk(&'a Drive, DiskOptions),
    /// A solid-state drive.
    Flash(&'a Model),
}

/// A drive at work, and how long it had something to do.
#[derive(Clone, Debug)]
pub struct Unit<'a> {
    drive: One<'a>,
    /// Time with at least one command, in nanoseconds.
    pub busy_ns: u64,
    /// When the last of its commands is complete.
    pub until_ns: u64,
    /// What it takes from the power supply, if that is known.
    pub power: Option<Power>,
    /// When it turned to the command that waits for the bus: behind the flush before it.
    begun_ns: u64,
}

#[derive(Clone, Debug)]
enum One<'a> {
    Disk(Box<Disk<'a>>),
    Flash(Box<Ssd<'a>>),
}

impl<'a> Unit<'a> {
    /// A drive at rest.
    pub fn new(kind: Kind<'a>) -> Self {
        let (drive, power) = match kind {
            Kind::Disk(drive, options) => {
                (One::Disk(Box::new(Disk::new(drive, options))), drive.power)
            }
            Kind::Flash(model) => (One::Flash(Box::new(Ssd::new(model))), model.power),
        };
        Self { drive, busy_ns: 0, until_ns: 0, power, begun_ns: 0 }
    }

    /// Whether it takes commands as they come, beside those in progress.
    pub fn takes_many(&self) -> bool {
        matches!(self.drive, One::Flash(_))
    }

    /// Whether it has anything to do for a flush.
    pub fn flushes(&self) -> bool {
        match &self.drive {
            One::Disk(disk) => disk.reports_early(),
            One::Flash(_) => true,
        }
    }

    /// The disk; none of a solid-state drive.
    pub fn disk(&self) -> Option<&Disk<'a>> {
        match &self.drive {
            One::Disk(disk) => Some(disk),
            One::Flash(_) => None,
        }
    }

    /// Carries out a command on a bus of its own.
    #[inline]
    pub fn serve(&mut self, now_ns: u64, command: Command, flags: IoFlags) -> Done {
        let done = match &mut self.drive {
            One::Disk(disk) if flags.intersects(SPECIAL) || command.count == 0 => {
                let begun = before(disk, now_ns, command, flags);
                match command.count {
                    0 => flushed(now_ns, begun, disk.flush_overhead_ns()),
                    _ => {
                        let done = disk.serve(begun, command);
                        after(disk, now_ns, begun, done, command, flags)
                    }
                }
            }
            One::Disk(disk) => disk.serve(now_ns, command),
            One::Flash(ssd) => ssd.act(now_ns, command, flags),
        };
        self.had(now_ns, done.completed_ns);
        done
    }

    /// Takes a command at `now_ns` and says when it needs the bus; what needs none is done at once.
    pub fn begin(
        &mut self,
        now_ns: u64,
        command: Command,
        flags: IoFlags,
    ) -> Result<BusNeed, Done> {
        match &mut self.drive {
            One::Disk(disk) if command.count > 0 => {
                let begun = before(disk, now_ns, command, flags);
                self.begun_ns = begun;
                Ok(disk.begin(begun, command))
            }
            _ => Err(self.serve(now_ns, command, flags)),
        }
    }

    /// Goes on with a command that began at `now_ns`, when the bus was granted.
    pub fn finish(
        &mut self,
        [now_ns, granted_ns]: [u64; 2],
        need: BusNeed,
        command: Command,
        flags: IoFlags,
    ) -> Done {
        let One::Disk(disk) = &mut self.drive else { return Done::default() };
        let done = disk.finish(granted_ns, need);
        let done = after(disk, now_ns, self.begun_ns, done, command, flags);
        self.had(now_ns, done.completed_ns);
        done
    }

    #[inline]
    fn had(&mut self, from_ns: u64, until_ns: u64) {
        self.busy_ns += until_ns.saturating_sub(from_ns.max(self.until_ns));
        self.until_ns = self.until_ns.max(until_ns);
    }

    /// What it wrote, in bytes.
    pub fn traffic(&self) -> Traffic {
        match &self.drive {
            One::Disk(disk) => disk.traffic.in_bytes(disk.sector_bytes()),
            One::Flash(ssd) => ssd.traffic().in_bytes(SECTOR_BYTES),
        }
    }
}

/// Flags that are more than a read or write.
const SPECIAL: IoFlags = IoFlags::FLUSH.union(IoFlags::FUA);

/// When a disk begins with a command: at once, or when what is to be flushed before is on the medium.
fn before(disk: &mut Disk<'_>, now_ns: u64, command: Command, flags: IoFlags) -> u64 {
    let flushes = flags.contains(IoFlags::FLUSH) || command.count == 0;
    if flushes && disk.reports_early() { disk.flush(now_ns) } else { now_ns }
}

/// A command as it is told: with the flush before it, and after it where its data must be on the medium.
fn after(
    disk: &mut Disk<'_>,
    now_ns: u64,
    begun_ns: u64,
    mut done: Done,
    command: Command,
    flags: IoFlags,
) -> Done {
    let through = command.write && flags.contains(IoFlags::FUA) && disk.reports_early();
    let safe_ns = if through { disk.flush(done.completed_ns) } else { done.completed_ns };
    done.parts.waited_ns += begun_ns - now_ns + safe_ns - done.completed_ns;
    done.completed_ns = safe_ns;
    done
}

/// A flush alone: what was written is on the medium at `safe_ns`.
fn flushed(now_ns: u64, safe_ns: u64, overhead_ns: u64) -> Done {
    let waited_ns = safe_ns - now_ns;
    let parts = crate::Parts { waited_ns, overhead_ns, ..crate::Parts::default() };
    Done { completed_ns: safe_ns + overhead_ns, parts }
}
