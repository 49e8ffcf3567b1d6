//! Predictions for a system that does not exist: an evaluated one with other memory, other storage
//! or another write policy.

use super::exchange::{Exchange, Exchanged, Unknown, WriteDone};
use super::hierarchy::HierarchyModel;
use super::input::ModelInput;
use super::kind::OtherKind;
use super::lending::Asked;
use super::system_model::{Model, predict, prediction};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Access, Parameter, Prediction, Workload};

/// Share of the time before storage from which on the storage's lender hardly matters.
pub(super) const HARDLY_REACHED: f64 = 0.95;
/// The change of ln(throughput) by an exchange at which the product no longer contributes: half or
/// double.
const PRODUCT_LASTS: f64 = std::f64::consts::LN_2;

/// The exchanges.
#[derive(Clone, Debug, Default)]
pub struct WhatIf {
    /// Memory of the evaluated workers, and the memory they would have, in bytes.
    pub memory_bytes: Option<[u64; 2]>,
    /// The system that lends its storage.
    pub storage: Option<Model>,
    /// When a write counts as done.
    pub write_done: Option<WriteDone>,
}

impl WhatIf {
    /// Whether nothing is exchanged.
    pub(crate) fn is_nothing(&self) -> bool {
        let is_as_before = self.memory_bytes.is_none_or(|[own, other]| own == other);
        is_as_before && self.storage.is_none() && self.write_done.is_none()
    }
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
    /// No cache was found that other memory would change.
    #[error(
        "no cache of the size of its memory was found on {0}, so what other memory would change is not known"
    )]
    NoCache(String),
    /// Writes were never seen to wait for storage.
    #[error(
        "writes to {0} were never seen to leave memory, so what another write policy would cost is not known"
    )]
    NoWrites(String),
    /// The lender's storage was never reached.
    #[error("the evaluation of {0} never reached its storage, so it has none to lend")]
    NoStorage(String),
    /// The storage that other storage would replace was never reached.
    #[error(
        "reads of {0} were never seen to leave memory, so what other storage would change is not known"
    )]
    NoOwnStorage(String),
    /// Reads reached that storage, but not writes.
    #[error(
        "writes to {0} were never seen to leave memory, so what other storage would change is known of reads alone"
    )]
    NoOwnWrites(String),
    /// The exchange asks for more than was measured.
    #[error("{} is beyond what was measured on {target}", told(*parameter, *value))]
    Beyond {
        /// The system whose evaluation does not reach that far.
        target: String,
        /// Whether it is the storage's lender.
        is_lender: bool,
        /// The parameter.
        parameter: Parameter,
        /// The value up to which that would have to be measured, in the parameter's unit.
        value: f64,
    },
}

/// Describes a value of a parameter.
fn told(parameter: Parameter, value: f64) -> String {
    match parameter {
        Parameter::UniqueBytes => format!("a set of {}", Bytes(value)),
        Parameter::SizeMean => format!("a mean size of requests of {}", Bytes(value)),
        _ => format!("{parameter} of {value}"),
    }
}

/// Predicts `workload` on `model`'s system with the exchanges of `what_if`. The prediction is
/// extrapolated where the set is larger than all measured ones, even if the evaluated memory served
/// a smaller one alike.
///
/// # Errors
/// Something that no evaluation measured; nothing is guessed.
pub fn predict_what_if(
    model: &Model,
    what_if: &WhatIf,
    workload: &Workload,
) -> Result<Prediction, WhatIfError> {
    if what_if.is_nothing() {
        return Ok(predict(model, workload)?);
    }
    model.knows(workload)?;
    let lender = what_if.storage.as_ref();
    lender.map_or(Ok(()), |lender| lender.knows(workload))?;
    let writes = workload.read_frac < 1.0;
    let exchanged = exchanged(model, what_if, Model::calibrated_levels, writes)?;
    // Without a file cache everything is storage, so the measurements of the borrower do not
    // matter.
    let whole = lender.filter(|_| !model.base().access.reads_cached());
    let known = whole.unwrap_or(model);
    let place = ModelInput::of(workload);
    let alike = exchanged.alike(&place, known.measured_sets());
    if whole.is_none() {
        let asked = workload.clone().with(Parameter::UniqueBytes, alike.unique_bytes);
        within(model, false, &asked)?;
    }
    if let Some(lender) = lender.filter(|_| exchanged.near(&place) < HARDLY_REACHED) {
        within(lender, true, workload)?;
    }
    let mut estimate = exchanged.estimate(&place, known);
    let gain = if whole.is_some() { 0.0 } else { exchanged.gain(&place) };
    estimate.log_throughput += left_of(known.beyond_levels(&place), gain);
    // Other memory would hold a larger set: how fast memory serves so large a set was never
    // measured.
    estimate.half_width += known.outside(workload);
    let predicted = prediction(model, workload, estimate);
    let region = known.region(alike.unique_bytes);
    Ok(Prediction { region, extrapolated: known.extrapolates(workload), ..predicted })
}

/// The remainder of the product's addition to ln(throughput) where an exchange adds `gain`. The
/// product does not know exchanges: all of its addition remains where they change nothing, and none
/// where they change much. It fades no faster than throughput changes, so that a gain stays a gain.
fn left_of(product: f64, gain: f64) -> f64 {
    product * (1.0 - gain.abs() / product.abs().max(PRODUCT_LASTS)).max(0.0)
}

/// The levels of `model`'s system, as `levels` selects them from a model, with the exchanges of
/// `what_if`, for requests with or without `writes`.
pub(super) fn exchanged<'a>(
    model: &'a Model,
    what_if: &'a WhatIf,
    levels: fn(&Model) -> Option<&HierarchyModel>,
    writes: bool,
) -> Result<Exchanged<'a>, WhatIfError> {
    let none = |one: &'_ Model| WhatIfError::NoLevels(one.target().to_owned());
    let here = levels(model).ok_or_else(|| none(model))?;
    let lender = what_if.storage.as_ref();
    let storage = match lender {
        Some(lender) => Some(levels(lender).ok_or_else(|| none(lender))?),
        None => None,
    };
    let memory = what_if.memory_bytes.filter(|[own, other]| own != other);
    let memory = memory.map(|both| both.map(|bytes| bytes as f64));
    let (write_done, access) = (what_if.write_done, model.base().access);
    let asked = Asked { writes, writes_cached: access == Access::Buffered };
    let reads_cached = access.reads_cached();
    let exchange = Exchange { memory, storage, write_done, reads_cached, asked };
    Exchanged::new(here, exchange).map_err(|unknown| match unknown {
        Unknown::Cache => WhatIfError::NoCache(model.target().to_owned()),
        Unknown::OwnStorage => WhatIfError::NoOwnStorage(model.target().to_owned()),
        Unknown::OwnWrites => WhatIfError::NoOwnWrites(model.target().to_owned()),
        Unknown::Writes => WhatIfError::NoWrites(model.target().to_owned()),
        Unknown::Storage => {
            WhatIfError::NoStorage(lender.map_or_else(String::new, |one| one.target().to_owned()))
        }
    })
}

/// Checks that all five parameters lie within the measured ranges of `model`'s system, which may be
/// the lender.
fn within(model: &Model, is_lender: bool, workload: &Workload) -> Result<(), WhatIfError> {
    let outside = Parameter::ALL.into_iter().find(|parameter| {
        model.extrapolates(&model.base().clone().with(*parameter, workload.get(*parameter)))
    });
    outside.map_or(Ok(()), |parameter| {
        let (target, value) = (model.target().to_owned(), workload.get(parameter));
        Err(WhatIfError::Beyond { target, is_lender, parameter, value })
    })
}
