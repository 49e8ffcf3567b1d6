//! What a measurement leaves open, how hard it pulls, and damped Gauss-Newton steps.

use super::moved::Moved;
use crate::ssd::Parameters;
use ioscape_schema::Measurement;
use nalgebra::{DMatrix, DVector};

/// Requests that a throughput leaves open at least: its interval comes from ten batches or more, each of whole requests. That leaves half a
/// request of each open, and of all together twice the root of ten times as much with 95 % certainty.
const WHOLE: f64 = 3.2;
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

/// Huber's weight of a residual.
fn weight(z: f64) -> f64 {
    (FAR / z.abs()).min(1.0)
}

/// Huber's cost of it.
pub fn cost(z: f64) -> f64 {
    let far = z.abs();
    if far < FAR { z * z } else { FAR * (2.0 * far - FAR) }
}

/// The parameters after a damped step from residuals `z`, in units of what is left open.
pub fn stepped(
    here: &Parameters,
    moved: impl Iterator<Item = &'static Moved>,
    z: Vec<f64>,
    slopes: &DMatrix<f64>,
    damping: f64,
) -> Parameters {
    let z = DVector::from_vec(z);
    let weights = z.map(weight);
    let weighed = DMatrix::from_diagonal(&weights) * slopes;
    let mut normal = slopes.transpose() * &weighed;
    for i in 0..normal.nrows() {
        normal[(i, i)] += damping * (normal[(i, i)] + 1.0);
    }
    let wanted = weighed.transpose() * z;
    let mut parameters = here.clone();
    if let Some(step) = normal.cholesky().map(|normal| normal.solve(&wanted)) {
        for (moved, step) in moved.zip(step.iter()) {
            let value = (moved.of)(&mut parameters);
            let [least, most] = moved.bounds;
            *value = (*value * (-step).clamp(-1.0, 1.0).exp()).clamp(least, most);
        }
    }
    parameters
}
