//! Predictions compared with measurements (self-scaling paper, section 9, figures 12 to 15 and 24).

use super::kind::OtherKind;
use super::predict::{ModelError, Predict};
use super::system_model::{Model, predict};
use super::what_if::{WhatIf, predict_what_if};
use ioscape_schema::{
    ErrorBin, ErrorFigures, Evaluation, Measurement, Parameter, Prediction, Validation,
    ValidationPoint, Workload,
};
use std::collections::BTreeMap;

/// A border's zone starts this factor below its low bound ...
const ZONE_BELOW: f64 = 1.05;
/// ... and ends this factor above its high bound: the paper leaves out 20 to 27 MB around the
/// SPARCstation's border of 20 MB.
const ZONE_ABOVE: f64 = 1.35;
/// Bins per parameter in the figure of errors.
const BINS: usize = 5;

/// A workload that was measured to validate models on; it is the measurement's workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Validated {
    /// The first measurement.
    pub measurement: Measurement,
    /// Further measurements of the same workload.
    pub repeated: Vec<Measurement>,
}

fn error(predicted: f64, measured: f64) -> f64 {
    (predicted - measured).abs() / measured
}

/// The value below which a share `q` of `values` lies, with linear interpolation between
/// neighbours; 0 for no values.
fn quantile(mut values: Vec<f64>, q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return 0.0 };
    let at = q * last as f64;
    let (below, above) = (values[at.floor() as usize], values[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

fn near_border(evaluation: &Evaluation, unique_bytes: f64) -> bool {
    let near = |low: f64, high: f64| (low / ZONE_BELOW..=high * ZONE_ABOVE).contains(&unique_bytes);
    evaluation.borders.iter().any(|b| near(b.low.min(b.unique_bytes), b.high.max(b.unique_bytes)))
}

/// The predictions of one model for every point.
struct Column<'a> {
    points: &'a [ValidationPoint],
    predicted: Vec<f64>,
    intervals: Option<Vec<[f64; 2]>>,
}

impl Column<'_> {
    fn errors(&self) -> impl Iterator<Item = f64> {
        let measured = self.points.iter().map(ValidationPoint::measured_bytes_per_s);
        self.predicted.iter().zip(measured).map(|(predicted, measured)| error(*predicted, measured))
    }

    fn figures(&self) -> ErrorFigures {
        let errors: Vec<f64> = self.errors().collect();
        let away: Vec<f64> = self
            .errors()
            .zip(self.points)
            .filter(|(_, p)| !p.near_border)
            .map(|(e, _)| e)
            .collect();
        let covered = |intervals: &Vec<[f64; 2]>| {
            let inside = intervals.iter().zip(self.points).map(|(own, p)| held(*own, p));
            inside.sum::<f64>() / intervals.len().max(1) as f64
        };
        ErrorFigures {
            median_error: quantile(errors.clone(), 0.5),
            p75_error: quantile(errors.clone(), 0.75),
            p90_error: quantile(errors, 0.9),
            enhanced_median_error: (!away.is_empty()).then(|| quantile(away, 0.5)),
            interval90_coverage: self.intervals.as_ref().map(covered),
        }
    }
}

/// The share of a workload's measurements that an interval holds: the interval is for single
/// measurements, and the median of rounds is steadier than those.
fn held([low, high]: [f64; 2], point: &ValidationPoint) -> f64 {
    let median = [point.measured_bytes_per_s()];
    let rounds = match point.rounds_bytes_per_s.is_empty() {
        true => &median[..],
        false => &point.rounds_bytes_per_s,
    };
    rounds.iter().filter(|round| (low..=high).contains(*round)).count() as f64 / rounds.len() as f64
}

fn bins(points: &[ValidationPoint], errors: &[f64], parameter: Parameter) -> Vec<ErrorBin> {
    let scaled = |value: f64| if parameter.is_logarithmic() { value.max(1.0).ln() } else { value };
    let unscaled = |value: f64| if parameter.is_logarithmic() { value.exp() } else { value };
    let values: Vec<f64> =
        points.iter().map(|p| scaled(p.measurement.workload.get(parameter))).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let width = (high - low) / BINS as f64;
    let bin_of = |value: f64| (((value - low) / width) as usize).min(BINS - 1);
    (0..BINS)
        .filter_map(|bin| {
            let inside = values.iter().zip(errors).filter(|(value, _)| bin_of(**value) == bin);
            let errors: Vec<f64> = inside.map(|(_, error)| *error).collect();
            let from = low + width * bin as f64;
            (!errors.is_empty()).then(|| ErrorBin {
                range: [unscaled(from), unscaled(from + width)],
                workloads: errors.len() as u32,
                median_error: quantile(errors, 0.5),
            })
        })
        .collect()
}

/// The validated points, the models, and the evaluation's borders.
struct Contest<'a> {
    /// The default model's prediction; `None` where it has none.
    default: &'a dyn Fn(&Workload) -> Result<Option<Prediction>, OtherKind>,
    /// Models with intervals, by name.
    parts: &'a [(&'a str, Model)],
    /// Models without, by name.
    rivals: &'a [(&'a str, &'a dyn Predict)],
    near_border: &'a dyn Fn(f64) -> bool,
}

impl Contest<'_> {
    fn judge(&self, validated: &[Validated]) -> Result<Validation, ModelError> {
        let used = validated.iter().filter(|v| usable(&v.measurement));
        let points = used.filter_map(|v| self.point(v).transpose());
        let points = points.collect::<Result<Vec<_>, OtherKind>>()?;
        summary(self.parts, points)
    }

    fn point(&self, validated: &Validated) -> Result<Option<ValidationPoint>, OtherKind> {
        let workload = &validated.measurement.workload;
        let Some(prediction) = (self.default)(workload)? else { return Ok(None) };
        let parts = self.parts.iter();
        let parts = parts.map(|(name, part)| ((*name).to_owned(), part.throughput(workload)));
        let rivals = self.rivals.iter();
        let rivals = rivals.map(|(name, rival)| ((*name).to_owned(), rival.throughput(workload)));
        let all = std::iter::once(&validated.measurement).chain(&validated.repeated);
        let rounds: Vec<f64> = all.filter(|m| usable(m)).map(|m| m.judged_bytes_per_s()).collect();
        Ok(Some(ValidationPoint {
            prediction,
            measurement: validated.measurement.clone(),
            repeated_bytes_per_s: rounds.get(1).copied(),
            rounds_bytes_per_s: rounds,
            near_border: (self.near_border)(workload.unique_bytes as f64),
            models: rivals.chain(parts).collect(),
        }))
    }
}

fn usable(measurement: &Measurement) -> bool {
    let throughput = measurement.throughput_bytes_per_s;
    throughput.is_finite() && throughput > 0.0
}

/// Compares the predictions of `evaluation`'s default model, of its parts (levels and product) and
/// of `rivals` by name with `validated`: with the median of a workload's rounds. Measurements
/// without a positive throughput are left out.
///
/// # Errors
/// [`ModelError::Empty`] when the evaluation yields no model, and
/// [`ModelError::OtherKind`] when a measured workload is of a kind that it never asked for.
pub fn validate(
    evaluation: &Evaluation,
    rivals: &[(&str, &dyn Predict)],
    validated: &[Validated],
) -> Result<Validation, ModelError> {
    let (model, product) = (Model::new(evaluation)?, Model::product(evaluation)?);
    let levels = model.of_levels().map(|levels| ("levels", levels));
    let parts: Vec<(&str, Model)> = [("product", product)].into_iter().chain(levels).collect();
    let contest = Contest {
        default: &|workload| predict(&model, workload).map(Some),
        parts: &parts,
        rivals,
        near_border: &|unique_bytes| near_border(evaluation, unique_bytes),
    };
    contest.judge(validated)
}

/// Compares the predictions of `evaluation`'s model, for the system after the exchanges of
/// `what_if`, with what was measured there. Beside them stand `as_evaluated`, its predictions
/// without the exchange; workloads without a prediction are left out.
pub fn validate_what_if(
    evaluation: &Evaluation,
    what_if: &WhatIf,
    rivals: &[(&str, &dyn Predict)],
    validated: &[Validated],
) -> Result<Validation, ModelError> {
    let model = Model::new(evaluation)?;
    let shrunk = what_if.memory_bytes.map_or(1.0, |[own, other]| own as f64 / other.max(1) as f64);
    let parts = [("as_evaluated", model.clone())];
    let contest = Contest {
        default: &|workload| Ok(predict_what_if(&model, what_if, workload).ok()),
        parts: &parts,
        rivals,
        near_border: &|unique_bytes| near_border(evaluation, unique_bytes * shrunk),
    };
    contest.judge(validated)
}

/// The median difference of two consecutive rounds of the same workload.
fn repeatability(points: &[ValidationPoint]) -> Option<f64> {
    let pairs = points.iter().flat_map(|point| point.rounds_bytes_per_s.windows(2));
    let apart: Vec<f64> = pairs.map(|pair| error(pair[1], pair[0])).collect();
    (!apart.is_empty()).then(|| quantile(apart, 0.5))
}

fn summary(
    parts: &[(&str, Model)],
    points: Vec<ValidationPoint>,
) -> Result<Validation, ModelError> {
    let mut models = BTreeMap::new();
    let column = |all: &mut dyn Iterator<Item = &Prediction>| {
        let (predicted, intervals) = all.map(|p| (p.throughput_bytes_per_s, p.interval90)).unzip();
        Column { points: &points, predicted, intervals: Some(intervals) }
    };
    let default = column(&mut points.iter().map(|p| &p.prediction));
    let errors: Vec<f64> = default.errors().collect();
    models.insert("default".to_owned(), default.figures());
    for (name, part) in parts {
        let said = points.iter().map(|p| predict(part, &p.measurement.workload));
        let said: Vec<Prediction> = said.collect::<Result<_, OtherKind>>()?;
        models.insert((*name).to_owned(), column(&mut said.iter()).figures());
    }
    let names = points.first().map(|p| p.models.keys().cloned().collect()).unwrap_or_default();
    let names: Vec<String> = names;
    for name in names.into_iter().filter(|name| parts.iter().all(|part| part.0 != name)) {
        let predicted = points.iter().map(|p| p.models[&name]).collect();
        let figures = Column { points: &points, predicted, intervals: None }.figures();
        models.insert(name, figures);
    }
    let repeatability_error = repeatability(&points);
    let by_parameter = Parameter::ALL.into_iter().map(|p| (p, bins(&points, &errors, p))).collect();
    let errors_of_default = default.figures();
    Ok(Validation {
        target: String::new(),
        workloads: points.len() as u32,
        repeatability_error,
        error_over_repeatability: repeatability_error
            .filter(|repeated| *repeated > 0.0)
            .map(|repeated| errors_of_default.median_error / repeated),
        errors: errors_of_default,
        models,
        by_parameter,
        points,
    })
}
