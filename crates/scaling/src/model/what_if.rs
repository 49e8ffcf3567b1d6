//! Predictions for a system that does not exist: an evaluated one with another memory, other storage or another write policy.

use super::exchange::{Exchange, Exchanged, Unknown, WriteDone};
use super::input::ModelInput;
use super::kind::OtherKind;
use super::system_model::{Model, prediction};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Parameter, Prediction, Workload};

/// Share of the time before storage from which on the lender of the storage hardly matters.
const HARDLY_REACHED: f64 = 0.95;

/// What is exchanged.
#[derive(Clone, Debug, Default)]
pub struct WhatIf {
    /// Memory that the evaluated workers had and that they would have, in bytes.
    pub memory_bytes: Option<[u64; 2]>,
    /// The system that lends its storage.
    pub storage: Option<Model>,
    /// When a write counts as done.
    pub write_done: Option<WriteDone>,
}

/// Why nothing is known of an exchange.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WhatIfError {
    /// The workload, or the lender, is of a kind that was never measured.
    #[error(transparent)]
    OtherKind(#[from] OtherKind),
    /// No model of levels could be made.
    #[error("the levels of {0} are not known: no model of them fits its evaluation")]
    NoLevels(String),
    /// No cache that memory would change.
    #[error(
        "no cache of the size of its memory was found on {0}, so what other memory would change is not known"
    )]
    NoCache(String),
    /// Writes were seen at one level only.
    #[error(
        "writes to {0} were seen at one level only, so what another write policy would cost is not known"
    )]
    NoWrites(String),
    /// The lender's storage was never reached.
    #[error("the evaluation of {0} never reached its storage, so it has none to lend")]
    NoStorage(String),
    /// The exchange asks for more than was measured.
    #[error("{} is beyond what was measured on {target}", told(*parameter, *value))]
    Beyond {
        /// The system whose evaluation does not reach.
        target: String,
        /// Whether it is the system that lends its storage.
        is_lender: bool,
        /// In what.
        parameter: Parameter,
        /// The value that would have to be measured there, in the parameter's unit.
        value: f64,
    },
}

/// A value of a parameter in words.
fn told(parameter: Parameter, value: f64) -> String {
    match parameter {
        Parameter::UniqueBytes => format!("a set of {}", Bytes(value)),
        Parameter::SizeMean => format!("a mean size of requests of {}", Bytes(value)),
        _ => format!("{parameter} of {value}"),
    }
}

/// Predicts `workload` on `model`'s system with what `what_if` exchanges; extrapolated where the set is larger than all that were
/// measured, although the evaluated memory served a smaller one alike.
///
/// # Errors
/// Something that no evaluation saw; nothing is guessed.
pub fn predict_what_if(
    model: &Model,
    what_if: &WhatIf,
    workload: &Workload,
) -> Result<Prediction, WhatIfError> {
    model.knows(workload)?;
    let lender = what_if.storage.as_ref();
    lender.map_or(Ok(()), |lender| lender.knows(workload))?;
    let exchanged = exchanged(model, what_if)?;
    let place = ModelInput::of(workload);
    let alike = exchanged.alike(&place, model.measured_sets());
    let asked = workload.clone().with(Parameter::UniqueBytes, alike.unique_bytes);
    within(model, false, &asked)?;
    if let Some(lender) = lender.filter(|_| exchanged.near(&place) < HARDLY_REACHED) {
        within(lender, true, workload)?;
    }
    let mut estimate = exchanged.estimate(&place, &alike);
    // A larger set that other memory would hold: how fast memory serves so large a set was never seen.
    estimate.half_width += model.outside(workload);
    let predicted = prediction(model, workload, estimate);
    Ok(Prediction { extrapolated: model.extrapolates(workload), ..predicted })
}

/// The levels of `model`'s system with what `what_if` exchanges.
pub(super) fn exchanged<'a>(
    model: &'a Model,
    what_if: &'a WhatIf,
) -> Result<Exchanged<'a>, WhatIfError> {
    let levels = |one: &'_ Model| WhatIfError::NoLevels(one.target().to_owned());
    let here = model.hierarchy().ok_or_else(|| levels(model))?;
    let lender = what_if.storage.as_ref();
    let storage = match lender {
        Some(lender) => Some(lender.hierarchy().ok_or_else(|| levels(lender))?),
        None => None,
    };
    let memory = what_if.memory_bytes.map(|both| both.map(|bytes| bytes as f64));
    let exchange = Exchange { memory, storage, write_done: what_if.write_done };
    Exchanged::new(here, exchange).map_err(|unknown| match unknown {
        Unknown::Cache => WhatIfError::NoCache(model.target().to_owned()),
        Unknown::Writes => WhatIfError::NoWrites(model.target().to_owned()),
        Unknown::Storage => {
            WhatIfError::NoStorage(lender.map_or_else(String::new, |one| one.target().to_owned()))
        }
    })
}

/// Whether all five parameters lie within what was measured on `model`'s system, which may be the lender.
fn within(model: &Model, is_lender: bool, workload: &Workload) -> Result<(), WhatIfError> {
    let outside = Parameter::ALL.into_iter().find(|parameter| {
        model.extrapolates(&model.base().clone().with(*parameter, workload.get(*parameter)))
    });
    outside.map_or(Ok(()), |parameter| {
        let (target, value) = (model.target().to_owned(), workload.get(parameter));
        Err(WhatIfError::Beyond { target, is_lender, parameter, value })
    })
}
