//! What a measurement leaves open, how hard it pulls, and damped Gauss-Newton steps.

use super::moved::Moved;
use crate::Error;
use crate::ssd::{Model, Parameters};
use crate::twin::replica::{Replica, Requests};
use ioscape_schema::Measurement;
use nalgebra::{DMatrix, DVector};

/// Requests that a throughput leaves open at least: its interval comes from ten batches or more, each of whole requests. That leaves half a
/// request of each open, and of all together twice the root of ten times as much with 95 % certainty.
const WHOLE: f64 = 3.2;
/// The order of several in flight hangs on every nanosecond.
const OPEN_DEEP: f64 = 0.01;
/// A throughput is known well below it, and a search that takes them for known better than so is a fine one.
const WELL: f64 = 0.01;
/// Throughputs that are known no better than to this share are simulated with fewer requests, by its square; at most with so many times fewer.
const SIMULATED_TO: f64 = 0.05;
const SHORTER_MOST: f64 = 16.0;
/// What is simulated roughly has a quarter of the requests.
const ROUGH: u64 = 4;
/// Cost at which nothing is left to be explained.
pub const EXACT: f64 = 1e-7;
/// Distance beyond which the pull is constant.
const FAR: f64 = 3.0;

/// What a measurement leaves open of its throughput. Where few requests happen to be as many in each of equal times, they seem to be known
/// far better than they are.
pub fn known_to(m: &Measurement) -> f64 {
    match m.relative_error() {
        // Only a simulated drive is known exactly.
        0.0 => 0.0,
        told => told.max(WHOLE / m.ios.max(1) as f64),
    }
}

/// Whether a part of the search that takes throughputs for known to `open_least` finds anything that was measured: a fine one does so only where
/// any of them is known well.
pub fn is_worth(open_least: f64, measured: &[&Measurement]) -> bool {
    open_least >= WELL || measured.iter().any(|m| known_to(m) < WELL)
}

/// What a measurement leaves open, of requests one at a time at least `least`, and of several in flight [`OPEN_DEEP`].
pub fn open(m: &Measurement, least: f64) -> f64 {
    let least = if m.workload.queue_depth > 1 { OPEN_DEEP } else { least };
    known_to(m).clamp(least, 1.0)
}

/// The logarithm of simulated over measured throughput, of one request in `shorter`.
pub fn residual(model: &Model, requests: &Requests<'_>, m: &Measurement, shorter: u64) -> f64 {
    let replica = Replica::new(model, requests).shorter(shorter);
    (replica.bytes_per_s(&m.workload) / m.throughput_bytes_per_s).ln()
}

/// Of how many requests one is simulated, roughly or as well as a throughput is known: what fewer requests come to scatters by less.
pub fn shorter(m: &Measurement, is_rough: bool) -> u64 {
    let by = (known_to(m) / SIMULATED_TO).powi(2).clamp(1.0, SHORTER_MOST) as u64;
    if is_rough { by.max(ROUGH) } else { by }
}

/// Huber's weight of a residual.
fn weight(z: f64) -> f64 {
    (FAR / z.abs()).min(1.0)
}

/// Huber's cost of it.
pub fn cost(z: f64) -> f64 {
    let far = z.abs();
    if far < FAR { z * z } else { FAR * (2.0 * far - FAR) }
}

/// Derivatives of residuals, in units of what is left open, by the logarithm of each parameter that is moved: they are `base` of the drive `here`,
/// and `at` tells those of another, in which this was moved.
pub fn slopes(
    here: &Parameters,
    moved: impl Iterator<Item = &'static Moved>,
    base: &[f64],
    step: f64,
    at: impl Fn(&Parameters, &Moved) -> Result<Vec<f64>, Error>,
) -> Result<DMatrix<f64>, Error> {
    let mut columns = Vec::new();
    for moved in moved {
        let mut other = here.clone();
        *(moved.of)(&mut other) *= step.exp();
        let there = at(&other, moved)?;
        let slope = there.iter().zip(base).map(|(there, base)| (there - base) / step);
        columns.push(DVector::from_iterator(base.len(), slope));
    }
    Ok(DMatrix::from_columns(&columns))
}

/// The parameters after a damped step from residuals `z`, in units of what is left open.
pub fn stepped(
    here: &Parameters,
    moved: impl Iterator<Item = &'static Moved>,
    z: Vec<f64>,
    slopes: &DMatrix<f64>,
    damping: f64,
) -> Parameters {
    let mut parameters = here.clone();
    for (moved, step) in moved.zip(step(z, slopes, damping).iter().flatten()) {
        let value = (moved.of)(&mut parameters);
        let [least, most] = moved.bounds;
        *value = (*value * (-step).clamp(-1.0, 1.0).exp()).clamp(least, most);
    }
    parameters
}

/// The damped step of least squares in logarithms, to be taken off.
fn step(z: Vec<f64>, slopes: &DMatrix<f64>, damping: f64) -> Option<DVector<f64>> {
    let z = DVector::from_vec(z);
    let weights = z.map(weight);
    let weighed = DMatrix::from_diagonal(&weights) * slopes;
    let mut normal = slopes.transpose() * &weighed;
    for i in 0..normal.nrows() {
        normal[(i, i)] += damping * (normal[(i, i)] + 1.0);
    }
    let wanted = weighed.transpose() * z;
    normal.cholesky().map(|normal| normal.solve(&wanted))
}
