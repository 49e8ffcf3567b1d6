//! A measurement's uncertainty and weight in the fit, and damped Gauss-Newton steps.

use super::moved::Moved;
use crate::Error;
use crate::ssd::{Model, Parameters};
use crate::twin::replica::{Replica, Requests};
use ioscape_schema::Measurement;
use nalgebra::{DMatrix, DVector};

/// Least uncertainty of a throughput, in requests. Its interval comes from ten or more batches of
/// whole requests, each of which is uncertain by half a request; with 95 % certainty, all together
/// are uncertain by twice the root of ten times as much.
const WHOLE: f64 = 3.2;
/// Least relative uncertainty with several requests in flight, whose order depends on every
/// nanosecond.
const OPEN_DEEP: f64 = 0.01;
/// A throughput with a smaller relative uncertainty is known well, and a pass that assumes a
/// smaller one is a fine pass.
const WELL: f64 = 0.01;
/// Throughputs with a larger relative uncertainty are simulated with fewer requests, in proportion
/// to its square, down to one in [`SHORTER_MOST`].
const SIMULATED_TO: f64 = 0.05;
const SHORTER_MOST: f64 = 16.0;
/// Divisor of the number of requests in rough simulations.
const ROUGH: u64 = 4;
/// Cost below which nothing is left to explain.
pub const EXACT: f64 = 1e-7;
/// Distance, in standard deviations, beyond which a residual pulls with constant force.
const FAR: f64 = 3.0;

/// The relative uncertainty of a measured throughput. Few requests may happen to spread evenly over
/// time, which makes the interval far too narrow; a lower bound corrects that.
pub fn known_to(m: &Measurement) -> f64 {
    match m.relative_error() {
        // Only a simulated drive is known exactly.
        0.0 => 0.0,
        told => told.max(WHOLE / m.ios.max(1) as f64),
    }
}

/// Whether a pass that assumes throughputs to be known to `open_least` is worthwhile: a fine pass
/// is only if some throughput is known well.
pub fn is_worth(open_least: f64, measured: &[&Measurement]) -> bool {
    open_least >= WELL || measured.iter().any(|m| known_to(m) < WELL)
}

/// The uncertainty of a measurement: at least `least` with one request in flight, and at least
/// [`OPEN_DEEP`] with several.
pub fn open(m: &Measurement, least: f64) -> f64 {
    let least = if m.workload.queue_depth > 1 { OPEN_DEEP } else { least };
    known_to(m).clamp(least, 1.0)
}

/// The logarithm of simulated over measured throughput; simulates only one request in `shorter`.
pub fn residual(model: &Model, requests: &Requests<'_>, m: &Measurement, shorter: u64) -> f64 {
    let replica = Replica::new(model, requests).shorter(shorter);
    (replica.bytes_per_s(&m.workload) / m.throughput_bytes_per_s).ln()
}

/// The divisor of the number of requests to simulate: rough simulations and uncertain throughputs
/// need fewer requests.
pub fn shorter(m: &Measurement, is_rough: bool) -> u64 {
    let by = (known_to(m) / SIMULATED_TO).powi(2).clamp(1.0, SHORTER_MOST) as u64;
    if is_rough { by.max(ROUGH) } else { by }
}

/// Huber's weight of a residual.
fn weight(z: f64) -> f64 {
    (FAR / z.abs()).min(1.0)
}

/// Huber's cost of a residual.
pub fn cost(z: f64) -> f64 {
    let far = z.abs();
    if far < FAR { z * z } else { FAR * (2.0 * far - FAR) }
}

/// The derivatives of the residuals by the logarithm of each moved parameter. `base` are the
/// residuals of the drive `here`; `at` computes those of a drive in which one parameter was moved.
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

/// The parameters after a damped step from the residuals `z`, in units of their uncertainty.
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

/// The damped least-squares step in logarithms, to be subtracted.
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
