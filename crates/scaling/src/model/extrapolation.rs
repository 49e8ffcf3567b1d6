//! Which predictions go beyond the measured range, and in which parameter.

use super::system_model::Model;
use ioscape_schema::units::Bytes;
use ioscape_schema::{Parameter, Prediction, Warning, WarningKind};

/// One warning per parameter in which some of `predictions` lie outside the measurements of
/// `model`.
pub fn extrapolations(model: &Model, predictions: &[&Prediction]) -> Vec<Warning> {
    let found = Parameter::ALL.into_iter().filter_map(|p| outside(model, predictions, p));
    let doubt = |what: String| {
        let message =
            format!("{what}: predictions there are extrapolated, and their intervals are guesses");
        Warning::new(WarningKind::Extrapolated, message)
    };
    found.map(doubt).collect()
}

/// Describes the predictions whose `parameter` lies outside the measured range.
fn outside(model: &Model, predictions: &[&Prediction], parameter: Parameter) -> Option<String> {
    let value = |p: &Prediction| p.workload.get(parameter);
    let is_outside = |p: &&&Prediction| {
        p.extrapolated && model.extrapolates(&model.base().clone().with(parameter, value(p)))
    };
    let named = |p: &Prediction| match &p.name {
        Some(name) => format!("{name} ({})", shown(parameter, value(p))),
        None => shown(parameter, value(p)),
    };
    let names: Vec<String> = predictions.iter().filter(is_outside).map(|p| named(p)).collect();
    let measured = measured(model, parameter);
    (!names.is_empty()).then(|| {
        format!("{parameter} of {} lies outside what was measured{measured}", names.join(", "))
    })
}

/// The measured range, in words. It may be less than the evaluation was asked to cover, for example
/// when time was short.
fn measured(model: &Model, parameter: Parameter) -> String {
    let [low, high] = model.measured(parameter).map(|value| shown(parameter, value));
    match low == high {
        true => format!(" (only {low})"),
        false => format!(" ({low} to {high})"),
    }
}

fn shown(parameter: Parameter, value: f64) -> String {
    match parameter {
        Parameter::UniqueBytes | Parameter::SizeMean => Bytes(value).to_string(),
        Parameter::ProcessNum | Parameter::QueueDepth => value.round().to_string(),
        Parameter::ReadFrac | Parameter::SeqFrac => value.to_string(),
    }
}
