//! Times and rates of a drive that a fit moves, between which bounds, and which workloads they change.

use crate::ssd::Parameters;
use ioscape_schema::Measurement;

/// A time or rate that is moved.
pub struct Moved {
    /// What it is called in a drive's file.
    pub name: &'static str,
    pub of: Of,
    pub bounds: [f64; 2],
    by: By,
}

/// Requests that take longer for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Reads,
    Writes,
    Either,
}

impl Moved {
    /// Whether it can change what a workload comes to: what only writes take does not change one that only reads.
    pub fn changes(&self, m: &Measurement) -> bool {
        match self.by {
            By::Reads => m.workload.read_frac > 0.0,
            By::Writes => m.workload.read_frac < 1.0,
            By::Either => true,
        }
    }

    /// A value as milliseconds: of a rate, those of a page; and such milliseconds as a value.
    pub fn time_ms(&self, value: f64) -> f64 {
        if self.is_rate() { 1e3 * PAGE / value } else { value }
    }

    /// Whether it is bytes a second.
    pub fn is_rate(&self) -> bool {
        self.bounds == RATE
    }
}

/// Bounds of milliseconds, of bytes a second, and of shares.
pub const MS: [f64; 2] = [1e-5, 3e3];
pub const RATE: [f64; 2] = [2e5, 5e12];
/// Bytes of a page.
const PAGE: f64 = 4096.0;
const FRAC: [f64; 2] = [0.01, 2.0];

/// Where a drive has it.
type Of = fn(&mut Parameters) -> &mut f64;

const fn time(name: &'static str, by: By, of: Of) -> Moved {
    Moved { name, of, bounds: MS, by }
}

const fn rate(name: &'static str, by: By, of: Of) -> Moved {
    Moved { name, of, bounds: RATE, by }
}

const fn share(name: &'static str, by: By, of: Of) -> Moved {
    Moved { name, of, bounds: FRAC, by }
}

const READS: [Moved; 4] = [
    time("controller.command_ms", By::Reads, |p| &mut p.controller.command_ms),
    time("flash.read_ms", By::Either, |p| &mut p.flash.read_ms),
    rate("flash.channel_bytes_per_s", By::Either, |p| &mut p.flash.channel_bytes_per_s),
    rate("controller.link_bytes_per_s", By::Reads, |p| &mut p.controller.link_bytes_per_s),
];

const WRITES: [Moved; 4] = [
    time("controller.flush_ms", By::Writes, |p| p.controller.flush_ms.get_or_insert(0.01)),
    time("controller.write_command_ms", By::Writes, |p| {
        p.controller.write_command_ms.get_or_insert(0.01)
    }),
    rate("controller.link_from_host_bytes_per_s", By::Writes, |p| {
        p.controller.link_from_host_bytes_per_s.get_or_insert(1e9)
    }),
    time("flash.program_ms", By::Writes, |p| &mut p.flash.program_ms),
];

/// For how long commands keep the controller busy, where they do.
const BUSY: [Moved; 3] = [
    time("controller.wake_ms", By::Either, |p| p.controller.wake_ms.get_or_insert(0.01)),
    time("controller.busy_ms", By::Either, |p| p.controller.busy_ms.get_or_insert(0.01)),
    share("controller.adjacent_busy_frac", By::Either, |p| {
        p.controller.adjacent_busy_frac.get_or_insert(1.0)
    }),
];

const BUSY_WRITES: [Moved; 3] = [
    time("controller.write_busy_ms", By::Either, |p| {
        p.controller.write_busy_ms.get_or_insert(0.01)
    }),
    share("controller.write_adjacent_busy_frac", By::Either, |p| {
        p.controller.write_adjacent_busy_frac.get_or_insert(1.0)
    }),
    rate("controller.write_copy_bytes_per_s", By::Either, |p| {
        p.controller.write_copy_bytes_per_s.get_or_insert(1e12)
    }),
];

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Those that reads alone tell.
    Reads,
    /// The others.
    Writes,
    All,
}

impl Part {
    /// Those of this part; those of writes only with `writes`, and those of a controller that commands keep busy only where they do.
    pub fn moved(self, of: &Parameters, writes: bool) -> impl Iterator<Item = &'static Moved> {
        let busy = of.controller.busy_ms.is_some();
        let (reads, writes) = (self != Self::Writes, self != Self::Reads && writes);
        let some =
            |all: &'static [Moved], if_so: bool| all.iter().take(if if_so { all.len() } else { 0 });
        some(&READS, reads)
            .chain(some(&WRITES, writes))
            .chain(some(&BUSY, reads && busy))
            .chain(some(&BUSY_WRITES, writes && busy))
    }
}
