//! Tries drives on the measured workloads.

use super::steps::{residual, shorter};
use crate::Error;
use crate::ssd::Parameters;
use crate::twin::replica::Requests;
use ioscape_schema::Measurement;
use std::cell::Cell;

/// The measurements, and the means to try drives on them.
pub struct Trials<'a> {
    /// The measurements.
    pub measured: Vec<&'a Measurement>,
    /// Makes the requests of a workload.
    pub requests: &'a Requests<'a>,
    /// Whether the user wants to stop.
    pub stop: &'a dyn Fn() -> bool,
    /// The number of workloads simulated so far.
    pub simulated: Cell<u64>,
}

impl Trials<'_> {
    /// Returns, for each workload, the logarithm of simulated over measured throughput. Skips the
    /// simulation if `known` returns the residual for a workload's index and measurement;
    /// `is_rough` says which workloads to simulate roughly.
    ///
    /// # Errors
    /// The drive cannot be built, or the user wants to stop.
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
