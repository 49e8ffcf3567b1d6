//! Times and rates of a drive that a fit moves, between which bounds, and which workloads they change.

use crate::ssd::Parameters;
use ioscape_schema::Measurement;

/// A time or rate that is moved.
pub struct Moved {
    /// What it is called in a drive's file.
    pub name: &'static str,
    pub of: fn(&mut Parameters) -> &mut f64,
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

const READS: [Moved; 4] = [
    Moved {
        name: "controller.command_ms",
        of: |p| &mut p.controller.command_ms,
        bounds: MS,
        by: By::Reads,
    },
    Moved { name: "flash.read_ms", of: |p| &mut p.flash.read_ms, bounds: MS, by: By::Either },
    Moved {
        name: "flash.channel_bytes_per_s",
        of: |p| &mut p.flash.channel_bytes_per_s,
        bounds: RATE,
        by: By::Either,
    },
    Moved {
        name: "controller.link_bytes_per_s",
        of: |p| &mut p.controller.link_bytes_per_s,
        bounds: RATE,
        by: By::Reads,
    },
];

const WRITES: [Moved; 4] = [
    Moved {
        name: "controller.flush_ms",
        of: |p| p.controller.flush_ms.get_or_insert(0.01),
        bounds: MS,
        by: By::Writes,
    },
    Moved {
        name: "controller.write_command_ms",
        of: |p| p.controller.write_command_ms.get_or_insert(0.01),
        bounds: MS,
        by: By::Writes,
    },
    Moved {
        name: "controller.link_from_host_bytes_per_s",
        of: |p| p.controller.link_from_host_bytes_per_s.get_or_insert(1e9),
        bounds: RATE,
        by: By::Writes,
    },
    Moved { name: "flash.program_ms", of: |p| &mut p.flash.program_ms, bounds: MS, by: By::Writes },
];

/// For how long commands keep the controller busy, where they do.
const BUSY: [Moved; 3] = [
    Moved {
        name: "controller.wake_ms",
        of: |p| p.controller.wake_ms.get_or_insert(0.01),
        bounds: MS,
        by: By::Either,
    },
    Moved {
        name: "controller.busy_ms",
        of: |p| p.controller.busy_ms.get_or_insert(0.01),
        bounds: MS,
        by: By::Either,
    },
    Moved {
        name: "controller.adjacent_busy_frac",
        of: |p| p.controller.adjacent_busy_frac.get_or_insert(1.0),
        bounds: FRAC,
        by: By::Either,
    },
];

const BUSY_WRITES: [Moved; 3] = [
    Moved {
        name: "controller.write_busy_ms",
        of: |p| p.controller.write_busy_ms.get_or_insert(0.01),
        bounds: MS,
        by: By::Either,
    },
    Moved {
        name: "controller.write_adjacent_busy_frac",
        of: |p| p.controller.write_adjacent_busy_frac.get_or_insert(1.0),
        bounds: FRAC,
        by: By::Either,
    },
    Moved {
        name: "controller.write_copy_bytes_per_s",
        of: |p| p.controller.write_copy_bytes_per_s.get_or_insert(1e12),
        bounds: RATE,
        by: By::Either,
    },
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
