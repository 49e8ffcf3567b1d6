//! Do concurrent writers to one file of a file system wait for one another?
//!
//! One writer, several writers on one preallocated file, and several writers on a file each are
//! measured alternately. The gain of several writers on a file each shows what the machine can
//! give; what they lack on one file is the cost of the file system's single-writer lock, the effect
//! that Quick I/O avoids (VERITAS 1996, pp. 32-35).

mod experiment;
mod throughputs;
mod verdict;

pub use experiment::{Experiment, Trial};
pub use throughputs::{Arm, Throughputs};
pub use verdict::verdict;

use ioscape_schema::units::Seconds;

/// Least budget of an evaluation that has time for the experiment, in seconds.
const BUDGET_MIN_S: f64 = 120.0;
/// Share of that budget that laying out the experiment's files may take.
const LAYOUT_SHARE: f64 = 0.02;

/// How much work the experiment may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriterEffort {
    /// Rounds of the three arms.
    rounds: usize,
    /// Part of the file that each writer has, in bytes.
    share_bytes: u64,
    /// Shortest run of one writer, in seconds.
    run_min_s: f64,
    /// No round begins after this many seconds, except for the first two.
    rounds_max_s: f64,
}

impl WriterEffort {
    /// About ten seconds.
    pub const FULL: Self =
        Self { rounds: 7, share_bytes: 16 << 20, run_min_s: 0.2, rounds_max_s: 60.0 };
    /// About six seconds, as part of an evaluation or a campaign.
    pub const SHORT: Self =
        Self { rounds: 9, share_bytes: 4 << 20, run_min_s: 0.06, rounds_max_s: 3.0 };

    /// Bytes written before anything is measured, buffered and direct, on a machine with this many processors.
    pub fn layout_bytes(self, processors: u32) -> u64 {
        let files = Writing::ALL.map(|way| 2 * u64::from(way.writers(processors)));
        files.iter().sum::<u64>() * self.share_bytes
    }

    /// Checks that an evaluation of `budget_s` seconds has time for the experiment if files are
    /// laid out at `layout_bytes_per_s`.
    ///
    /// # Errors
    /// The reason why there is no time.
    pub fn fits(
        self,
        budget_s: f64,
        layout_bytes_per_s: Option<f64>,
        processors: u32,
    ) -> Result<(), String> {
        if budget_s < BUDGET_MIN_S {
            return Err(format!("the budget is below {}", Seconds(BUDGET_MIN_S)));
        }
        let layout_bytes = self.layout_bytes(processors) as f64;
        let layout_s = layout_bytes_per_s.map_or(0.0, |rate| layout_bytes / rate);
        if layout_s > budget_s * LAYOUT_SHARE {
            return Err(format!("laying out its files would take {}", Seconds(layout_s)));
        }
        Ok(())
    }
}

/// A way of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// Through the file cache.
    Buffered,
    /// Bypassing the file cache (`O_DIRECT`).
    Direct,
}

impl Writing {
    /// Both ways.
    pub const ALL: [Self; 2] = [Self::Buffered, Self::Direct];

    /// Whether the file cache is bypassed.
    pub fn is_direct(self) -> bool {
        self == Self::Direct
    }

    /// Size of each write, in bytes.
    pub fn iosize(self) -> u64 {
        match self {
            Self::Buffered => 64 << 10,
            Self::Direct => 16 << 10,
        }
    }

    /// Concurrent writers, from 2 to 16.
    pub fn writers(self, processors: u32) -> u32 {
        // Direct writers wait for the device, so having more of them than processors pays off.
        processors.clamp(if self.is_direct() { 4 } else { 2 }, 16)
    }
}
