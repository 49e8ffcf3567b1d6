//! The twin of a real drive: which workloads to measure on it, the drive file that explains what was measured, and how well
//! that file foretells workloads that it has not seen.
//!
//! Whoever measures is behind [`Measure`]: a real drive, or a simulated one of known parameters, which must be found again.

pub mod course;
mod doubts;
mod explained;
mod fit;
mod inside;
mod plan;
mod replica;
mod rest;
mod runs;
mod sustained;
mod turns;
mod verdict;
mod written;

pub use explained::Before;
pub use fit::{Ended, Fitted, Looked, fit};
pub use plan::{
    REPEATED, UNSEEN_DEPTH, UNSEEN_SIZES, base, in_flight, order, probes, references, seed_of,
};
pub use replica::{Replica, Requests};
pub use runs::{TwinPlan, TwinRuns, check_sizes};
pub use sustained::{Endure, Endured, Ran, endure, longest_s, steps};
pub use turns::{Rotates, Turns};
pub use verdict::{Errors, Named, TwinPoint, Verdict, verdict};

use ioscape_schema::{Measurement, Workload};

/// What carries a workload out and says how fast it was.
pub trait Measure {
    /// Why it cannot.
    type Error;

    /// Measures a workload. All go past the file cache, or to stable storage ([`ioscape_schema::Access::Dsync`]).
    ///
    /// # Errors
    /// The requests could not be carried out.
    fn measure(&mut self, workload: &Workload) -> Result<Measurement, Self::Error>;
}

/// Measures workloads in their order and keeps what came of each.
///
/// # Errors
/// As of [`Measure::measure`]; what was measured before is kept.
pub fn all<M: Measure>(
    workloads: &[Workload],
    on: &mut M,
    kept: &mut Vec<Measurement>,
) -> Result<(), M::Error> {
    workloads.iter().try_for_each(|workload| {
        kept.push(on.measure(workload)?);
        Ok(())
    })
}

#[cfg(test)]
mod arm_tests;
#[cfg(test)]
mod cache_tests;
#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod sustained_tests;
#[cfg(test)]
mod tests;
