//! Drives tried on the workloads that were measured.

use super::steps::{residual, shorter};
use crate::Error;
use crate::ssd::Parameters;
use crate::twin::replica::Requests;
use ioscape_schema::Measurement;
use std::cell::Cell;

/// Measurements, and how drives are tried on them.
pub struct Trials<'a> {
    /// What was measured.
    pub measured: Vec<&'a Measurement>,
    /// Makes the requests of a workload.
    pub requests: &'a Requests<'a>,
    /// Whether the user wants to stop.
    pub stop: &'a dyn Fn() -> bool,
    /// Workloads that were simulated so far.
    pub simulated: Cell<u64>,
}

impl Trials<'_> {
    /// Of each workload the logarithm of simulated over measured throughput, of which those need not be simulated that are `known` by their number
    /// and measurement; `is_rough` says which are simulated roughly.
    ///
    /// # Errors
    /// No such drive can be built, or the user wants to stop.
    pub fn residuals(
        &self,
        parameters: &Parameters,
        is_rough: impl Fn(&Measurement) -> bool,
        known: impl Fn(usize, &Measurement) -> Option<f64>,
    ) -> Result<Vec<f64>, Error> {
        if (self.stop)() {
            return Err(Error::Interrupted);
        }
        let model = parameters.build()?;
        let one = |m: &Measurement| {
            self.simulated.set(self.simulated.get() + 1);
            residual(&model, self.requests, m, shorter(m, is_rough(m)))
        };
        let all = self.measured.iter().enumerate();
        Ok(all.map(|(at, m)| known(at, m).unwrap_or_else(|| one(m))).collect())
    }
}
