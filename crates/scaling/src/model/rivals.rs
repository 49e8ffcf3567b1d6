//! The paper's rivals: interpolation on an orthogonal sample, and a benchmark that yields a single
//! number.

use super::input::{ModelInput, Observation};
use super::predict::{ModelError, Predict};
use super::random::bounds_of;
use super::validate::{Validated, validate, validate_what_if};
use super::what_if::WhatIf;
use crate::bounds::Bounds;
use ioscape_schema::{
    Evaluation, Measurement, Parameter, Validation, Warning, WarningKind, Workload,
};

/// Number of values per parameter in the papers' order: three, but two for the number of processes,
/// which makes 162 points.
const VALUES: [usize; 5] = [3, 3, 3, 3, 2];

/// The lowest and highest value of each parameter, on the scale on which it is smooth.
fn ranges(bounds: &Bounds) -> [[f64; 2]; 5] {
    let logs = |[low, high]: [u64; 2]| [(low.max(1) as f64).ln(), (high.max(1) as f64).ln()];
    let processes = logs(bounds.process_num.map(u64::from));
    [logs(bounds.unique_bytes), logs(bounds.size_mean), [0.0, 1.0], [0.0, 1.0], processes]
}

/// The papers' nominal workload, otherwise like `base`, with a set in the middle of the space: that
/// of a benchmark that yields a single number.
pub fn single_point_workload(bounds: &Bounds, base: &Workload) -> Workload {
    let middle = |[low, high]: [u64; 2]| (low.max(1) as f64 * high.max(1) as f64).sqrt();
    let nominal = Workload::default();
    let [least, most] = bounds.size_mean;
    let size = nominal.size_mean.clamp(least.min(most), most.max(least));
    base.clone()
        .with(Parameter::UniqueBytes, middle(bounds.unique_bytes).max(size as f64))
        .with(Parameter::SizeMean, size as f64)
        .with(Parameter::ReadFrac, nominal.read_frac)
        .with(Parameter::SeqFrac, nominal.seq_frac)
        .with(Parameter::ProcessNum, f64::from(bounds.process_num[0]))
}

/// Every combination of evenly spaced values of the five parameters: 3·3·3·3·2 = 162 workloads, each like `base` otherwise
/// (self-scaling paper, section 9). Sizes and processes are spaced on their logarithm. `size_mean` is at most `unique_bytes`.
pub fn orthogonal_sample(bounds: &Bounds, base: &Workload) -> Vec<Workload> {
    let ranges = ranges(bounds);
    (0..VALUES.iter().product())
        .map(|index: usize| {
            let (mut left, mut workload) = (index, base.clone());
            for (i, parameter) in Parameter::ALL.into_iter().enumerate().rev() {
                let step = (left % VALUES[i]) as f64 / (VALUES[i] - 1) as f64;
                left /= VALUES[i];
                let value = ranges[i][0] + step * (ranges[i][1] - ranges[i][0]);
                let value = if parameter.is_logarithmic() { value.exp() } else { value };
                workload = workload.with(parameter, value);
            }
            workload.size_mean = workload.size_mean.min(workload.unique_bytes);
            workload
        })
        .collect()
}

/// Multilinear interpolation of ln(throughput) on the measured [`orthogonal_sample`] (figure 14).
#[derive(Clone, Debug)]
pub struct OrthogonalModel {
    ranges: [[f64; 2]; 5],
    log_throughputs: Vec<f64>,
}

impl OrthogonalModel {
    /// The model from the measurements of the whole sample, in the order of [`orthogonal_sample`].
    ///
    /// # Errors
    /// [`ModelError::Points`] when not every workload of the sample has a positive throughput.
    pub fn new(bounds: &Bounds, measurements: &[Measurement]) -> Result<Self, ModelError> {
        let logs: Vec<f64> =
            measurements.iter().filter_map(Observation::of).map(|o| o.log_throughput).collect();
        let needed = VALUES.iter().product();
        if measurements.len() != needed || logs.len() != needed {
            return Err(ModelError::Points { model: "orthogonal", needed, given: logs.len() });
        }
        Ok(Self { ranges: ranges(bounds), log_throughputs: logs })
    }
}

impl Predict for OrthogonalModel {
    fn throughput(&self, workload: &Workload) -> f64 {
        let place = ModelInput::of(workload);
        let mut corners = vec![(0usize, 1.0f64)];
        for (i, parameter) in Parameter::ALL.into_iter().enumerate() {
            let [low, high] = self.ranges[i];
            let share = (place.scaled(parameter) - low) / (high - low);
            let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
            let along = share * (VALUES[i] - 1) as f64;
            let left = (along.floor() as usize).min(VALUES[i] - 2);
            let right_weight = along - left as f64;
            corners = corners
                .into_iter()
                .flat_map(|(index, weight)| {
                    let at = index * VALUES[i] + left;
                    [(at, weight * (1.0 - right_weight)), (at + 1, weight * right_weight)]
                })
                .collect();
        }
        corners
            .iter()
            .map(|(index, weight)| self.log_throughputs[*index] * weight)
            .sum::<f64>()
            .exp()
    }
}

/// A benchmark that sums a system up in one number: every workload is predicted to have that
/// throughput (figure 12).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SinglePointModel {
    throughput: f64,
}

impl SinglePointModel {
    /// The model of the single measurement.
    ///
    /// # Errors
    /// [`ModelError::Points`] when it has no positive throughput.
    pub fn new(measurement: &Measurement) -> Result<Self, ModelError> {
        let observation = Observation::of(measurement);
        let missing = ModelError::Points { model: "single_point", needed: 1, given: 0 };
        Ok(Self { throughput: observation.ok_or(missing)?.log_throughput.exp() })
    }
}

impl Predict for SinglePointModel {
    fn throughput(&self, _: &Workload) -> f64 {
        self.throughput
    }
}

/// Validates the default and the product model, and the rivals that could be made; returns the
/// doubt about them too, if there is any.
///
/// The single-point benchmark is made from `single`. The orthogonal model, where it was asked for,
/// is made from the measured part of its sample. Where `what_if` exchanges something, that
/// prediction is validated, as by [`validate_what_if`].
pub fn validate_with_rivals(
    evaluation: &Evaluation,
    what_if: Option<&WhatIf>,
    single: Option<&Measurement>,
    orthogonal: Option<&[Measurement]>,
    validated: &[Validated],
) -> Result<(Validation, Option<Warning>), ModelError> {
    let bounds = bounds_of(evaluation);
    let single_point = single.and_then(|one| SinglePointModel::new(one).ok());
    let sampled = orthogonal.and_then(|sample| OrthogonalModel::new(&bounds, sample).ok());
    let mut rivals: Vec<(&str, &dyn Predict)> = Vec::new();
    rivals.extend(single_point.iter().map(|model| ("single_point", model as &dyn Predict)));
    rivals.extend(sampled.iter().map(|model| ("orthogonal", model as &dyn Predict)));
    let validation = match what_if {
        None => validate(evaluation, &rivals, validated)?,
        Some(exchanged) => validate_what_if(evaluation, exchanged, &rivals, validated)?,
    };
    let doubt = (orthogonal.is_some() && sampled.is_none()).then(|| {
        let message = "the orthogonal sample was not measured whole, so its model is not shown";
        Warning::new(WarningKind::Unsupported, message)
    });
    Ok((validation, doubt))
}
