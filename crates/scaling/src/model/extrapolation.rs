//! Which predictions go beyond the measured range, and in which parameter.

use super::input::ModelInput;
use super::system_model::{Measured, Model};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Op, Parameter, Prediction, Warning, WarningKind};

/// One warning per parameter, and per measured range of it, that some of `predictions` of `model`
/// exceed.
pub fn extrapolations(model: &Model, predictions: &[&Prediction]) -> Vec<Warning> {
    let found = Parameter::ALL.into_iter().flat_map(|p| outside(model, predictions, p));
    found.map(doubt).collect()
}

/// The warning about an application called `name`, many of whose requests are of `size` bytes,
/// outside the measured `range`.
pub(super) fn of_class(model: &Model, name: &str, size: f64, range: Measured) -> Warning {
    let parameter = Parameter::SizeMean;
    let value = shown(parameter, size);
    let measured = measured(model, parameter, range);
    doubt(lies_outside(parameter, &format!("requests of {name} ({value})"), &measured))
}

fn lies_outside(parameter: Parameter, names: &str, measured: &str) -> String {
    format!("{parameter} of {names} lies outside what was measured{measured}")
}

fn doubt(what: String) -> Warning {
    let message =
        format!("{what}: predictions there are extrapolated, and their intervals are guesses");
    Warning::new(WarningKind::Extrapolated, message)
}

/// Describes the predictions whose `parameter` lies outside the measured ranges, range by range.
fn outside(model: &Model, predictions: &[&Prediction], parameter: Parameter) -> Vec<String> {
    let mut found: Vec<(Measured, Vec<String>)> = Vec::new();
    // Sizes of an application are judged by class.
    let is_judged = |one: &&&Prediction| {
        one.extrapolated && (one.application.is_none() || parameter != Parameter::SizeMean)
    };
    for one in predictions.iter().filter(is_judged) {
        let place = ModelInput::of(&one.workload);
        let Some((_, range)) = model.exceeded(parameter, &place, model.region_called(&one.region))
        else {
            continue;
        };
        let value = shown(parameter, one.workload.get(parameter));
        let named = one.name.as_ref().map_or(value.clone(), |name| format!("{name} ({value})"));
        match found.iter_mut().find(|(other, _)| *other == range) {
            Some((_, names)) => names.push(named),
            None => found.push((range, vec![named])),
        }
    }
    let told = |(range, names): (Measured, Vec<String>)| {
        lies_outside(parameter, &names.join(", "), &measured(model, parameter, range))
    };
    found.into_iter().map(told).collect()
}

/// The measured range, in words. It may be less than the evaluation was asked to cover, for example
/// when time was short.
fn measured(model: &Model, parameter: Parameter, Measured { range, among }: Measured) -> String {
    let place = among.map_or(String::new(), |(region, op)| {
        let verb = if op == Op::Read { "reads" } else { "writes" };
        format!(" with {verb} from {} on", model.region_name(region))
    });
    let unscaled = |end: f64| if parameter.is_logarithmic() { end.exp() } else { end };
    let [low, high] = range.map(|end| shown(parameter, unscaled(end)));
    match low == high {
        true => format!("{place} (only {low})"),
        false => format!("{place} ({low} to {high})"),
    }
}

fn shown(parameter: Parameter, value: f64) -> String {
    match parameter {
        Parameter::UniqueBytes | Parameter::SizeMean => Bytes(value).to_string(),
        Parameter::ProcessNum | Parameter::QueueDepth => value.round().to_string(),
        Parameter::ReadFrac | Parameter::SeqFrac => value.to_string(),
    }
}
