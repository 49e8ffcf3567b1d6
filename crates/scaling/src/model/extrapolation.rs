//! Which predictions go beyond what was measured, and in what.

use super::system_model::Model;
use crate::bounds::Bounds;
use ioscape_schema::units::Bytes;
use ioscape_schema::{Parameter, Prediction, Warning, WarningKind};

/// One doubt per parameter that some of `predictions` have outside what `model` was made from, within `bounds`.
pub fn extrapolations(model: &Model, bounds: &Bounds, predictions: &[Prediction]) -> Vec<Warning> {
    let found = Parameter::ALL.into_iter().filter_map(|p| outside(model, bounds, predictions, p));
    let doubt = |what: String| {
        let message =
            format!("{what}: predictions there are extrapolated, and their intervals are guesses");
        Warning::new(WarningKind::Extrapolated, message)
    };
    found.map(doubt).collect()
}

/// The predictions whose `parameter` lies outside what was measured.
fn outside(
    model: &Model,
    bounds: &Bounds,
    predictions: &[Prediction],
    parameter: Parameter,
) -> Option<String> {
    let value = |p: &Prediction| p.workload.get(parameter);
    let is_outside = |p: &&Prediction| {
        p.extrapolated && model.extrapolates(&model.base().clone().with(parameter, value(p)))
    };
    let named = |p: &Prediction| match &p.name {
        Some(name) => format!("{name} ({})", shown(parameter, value(p))),
        None => shown(parameter, value(p)),
    };
    let names: Vec<String> = predictions.iter().filter(is_outside).map(named).collect();
    let covered = covered(bounds, parameter);
    (!names.is_empty()).then(|| {
        format!("{parameter} of {} lies outside what was measured{covered}", names.join(", "))
    })
}

/// The range that the evaluation was asked to cover, in words; empty for fractions.
fn covered(bounds: &Bounds, parameter: Parameter) -> String {
    let [low, high] = match parameter {
        Parameter::UniqueBytes => bounds.unique_bytes,
        Parameter::SizeMean => bounds.size_mean,
        Parameter::ProcessNum => bounds.process_num.map(u64::from),
        Parameter::ReadFrac | Parameter::SeqFrac | Parameter::QueueDepth => {
            return String::new();
        }
    };
    let [low, high] = [low, high].map(|value| shown(parameter, value as f64));
    format!(" (the evaluation covers {low} to {high})")
}

fn shown(parameter: Parameter, value: f64) -> String {
    match parameter {
        Parameter::UniqueBytes | Parameter::SizeMean => Bytes(value).to_string(),
        _ => value.to_string(),
    }
}
