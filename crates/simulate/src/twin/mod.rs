//! The twin of a real drive: the workloads to measure on it, the drive file that explains the
//! measurements, and how well that file predicts unseen workloads.
//!
//! [`Measure`] stands for the measured drive: a real one, or a simulated one whose known parameters
//! the fit must recover.

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

/// Runs workloads and measures their throughput.
pub trait Measure {
    /// Why a workload could not be measured.
    type Error;

    /// Measures a workload. Every workload bypasses the file cache, or writes to stable storage
    /// ([`ioscape_schema::Access::Dsync`]).
    ///
    /// # Errors
    /// The requests could not be carried out.
    fn measure(&mut self, workload: &Workload) -> Result<Measurement, Self::Error>;
}

/// Measures workloads in order and adds each measurement to `kept`.
///
/// # Errors
/// As [`Measure::measure`]; earlier measurements are kept.
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
mod operations_tests;
#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod sustained_tests;
#[cfg(test)]
mod tests;
