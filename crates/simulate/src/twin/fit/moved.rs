//! The times and rates of a drive that a fit adjusts, their bounds, and the workloads that each
//! affects.

use crate::ssd::Parameters;
use ioscape_schema::Measurement;

/// A time or rate that a fit moves (adjusts).
pub struct Moved {
    /// Its key in a drive's file.
    pub name: &'static str,
    pub of: Of,
    pub bounds: [f64; 2],
    by: By,
}

/// The requests whose time it affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Reads,
    Writes,
    Either,
}

impl Moved {
    /// Whether it can affect a workload's throughput: a time of writes alone does not affect a
    /// workload without writes.
    pub fn changes(&self, m: &Measurement) -> bool {
        match self.by {
            By::Reads => m.workload.read_frac > 0.0,
            By::Writes => m.workload.read_frac < 1.0,
            By::Either => true,
        }
    }

    /// Converts a value to milliseconds (a rate to those of a page), and such milliseconds back to
    /// a value.
    pub fn time_ms(&self, value: f64) -> f64 {
        if self.is_rate() { 1e3 * PAGE / value } else { value }
    }

    /// Whether it is a rate in bytes per second.
    pub fn is_rate(&self) -> bool {
        self.bounds == RATE
    }
}

/// Bounds of times in milliseconds, of rates in bytes per second, and (below) of shares.
pub const MS: [f64; 2] = [1e-5, 3e3];
pub const RATE: [f64; 2] = [2e5, 5e12];
/// Bytes of a page.
const PAGE: f64 = 4096.0;
const FRAC: [f64; 2] = [0.01, 2.0];

/// Accesses the number in a drive's parameters.
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

/// How long commands keep the controller busy, if they do.
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

/// A selection of the moved times and rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Those that reads alone determine.
    Reads,
    /// Those that only writes determine.
    Writes,
    All,
}

impl Part {
    /// The times and rates of this part: those of writes only if `writes` is set, and those of a
    /// busy controller only if `of` has a busy time.
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
