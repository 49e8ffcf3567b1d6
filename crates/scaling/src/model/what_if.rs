//! Predictions for a system that does not exist: an evaluated one with other memory, other storage
//! or another write policy.

use super::caches::{file_caches, is_of_memory};
use super::exchange::{BORROWED_MEMORY, Exchange, Exchanged, NORMAL90, Unknown, WriteDone};
use super::hierarchy::HierarchyModel;
use super::input::ModelInput;
use super::kind::OtherKind;
use super::lending::Asked;
use super::predict::Estimate;
use super::system_model::{Model, SIZES_ALIKE, predict, prediction};
use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{Access, Parameter, Prediction, Warning, WarningKind, Workload};

/// Share of the time before storage from which on the storage's lender hardly matters.
pub(super) const HARDLY_REACHED: f64 = 0.95;
/// Times the set, a memory that holds it wholly: also as a cache of a twentieth of memory, which is
/// the least that grows with it.
const HELD_WHOLLY: u64 = 64;
/// Times the set, a memory that holds it with ease while it is only read.
const READ_WITH_EASE: u64 = 2;
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

    /// Whether nothing but memory is exchanged, and both memories hold the set of `workload`.
    pub(crate) fn leaves_held(&self, workload: &Workload) -> bool {
        let is_alone = self.storage.is_none() && self.write_done.is_none();
        self.memory_bytes.filter(|_| is_alone).is_some_and(|[own, other]| {
            let times = match (own <= other, workload.read_frac < 1.0) {
                // More memory only removes misses, and there are none.
                (true, _) => 1,
                (false, true) => HELD_WHOLLY,
                (false, false) => READ_WITH_EASE,
            };
            workload.unique_bytes.saturating_mul(times) <= own.min(other)
        })
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
    /// Every write was found to wait for storage.
    #[error(
        "writes to {0} always reached storage, so what its file cache would take for one is not known; only an evaluation where it writes back tells"
    )]
    AlwaysThrough(String),
    /// Writes that each wait for storage were not measured, or are not what the levels say.
    #[error(
        "{}, so what write-through would cost is not known; --dsync asks for such writes",
        through(target, speeds)
    )]
    Through {
        /// The evaluation's target.
        target: String,
        /// What the levels say of the measured ones, and their speed, in bytes per second.
        speeds: Option<[f64; 2]>,
    },
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

/// Describes what was measured of writes to `target` that each wait for storage.
fn through(target: &str, speeds: &Option<[f64; 2]>) -> String {
    let writes = format!("writes to {target} that wait for storage");
    match speeds.map(|both| both.map(Rate)) {
        Some([told, measured]) => {
            format!("{writes} ran at {measured} where its levels say {told}")
        }
        None => format!("{writes} were not measured"),
    }
}

/// Describes a value of a parameter.
fn told(parameter: Parameter, value: f64) -> String {
    match parameter {
        Parameter::UniqueBytes => format!("a set of {}", Bytes(value)),
        Parameter::SizeMean => format!("a mean size of requests of {}", Bytes(value)),
        _ => format!("{parameter} of {value}"),
    }
}

/// What the exchanges make of a workload.
struct Changed {
    estimate: Estimate,
    /// The region whose sets were served alike.
    region: String,
    /// How far it lies outside what was measured.
    outside: f64,
}

/// Predicts `workload` on `model`'s system with the exchanges of `what_if`. The prediction is
/// extrapolated where the set is larger than all measured ones, even if the evaluated memory served
/// a smaller one alike; and where it contradicts another that was not extrapolated.
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
    let Changed { mut estimate, region, outside } = changed(model, what_if, workload)?;
    let contradiction = contradiction(model, what_if, workload, estimate.log_throughput);
    estimate.half_width = estimate.half_width.max(contradiction);
    let extrapolated = outside > 0.0 || contradiction > 0.0;
    Ok(Prediction { region, extrapolated, ..prediction(model, workload, estimate) })
}

/// By how much ln(throughput) with more memory, which only removes misses, is impossible; 0 where it
/// is not, and where the prediction that contradicts it is extrapolated itself.
fn contradiction(model: &Model, what_if: &WhatIf, workload: &Workload, log: f64) -> f64 {
    let Some([own, other]) = what_if.memory_bytes.filter(|[own, other]| other > own) else {
        return 0.0;
    };
    let with = |memory: u64| {
        let what_if = WhatIf { memory_bytes: Some([own, memory]), ..what_if.clone() };
        let known = changed(model, &what_if, workload).ok().filter(|one| one.outside == 0.0)?;
        Some(known.estimate.log_throughput)
    };
    let held = workload.unique_bytes.saturating_mul(HELD_WHOLLY).max(other);
    impossible(log, with(own), with(held))
}

/// How far `log` lies below `least` or above `most`, where these are known; 0 up to what the rule
/// of memory may be off.
fn impossible(log: f64, least: Option<f64>, most: Option<f64>) -> f64 {
    let slower = least.map_or(0.0, |least| least - log);
    let off = slower.max(most.map_or(0.0, |most| log - most));
    if off > NORMAL90 * BORROWED_MEMORY { off } else { 0.0 }
}

/// The prediction of a workload that both systems know.
fn changed(model: &Model, what_if: &WhatIf, workload: &Workload) -> Result<Changed, WhatIfError> {
    let lender = what_if.storage.as_ref();
    let does = [workload.read_frac > 0.0, workload.read_frac < 1.0];
    let exchanged = exchanged(model, what_if, Model::calibrated_levels, does)?;
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
    let mut outside = known.outside(workload, alike.unique_bytes);
    if let Some(lender) = lender.filter(|_| exchanged.near(&place) < HARDLY_REACHED) {
        within(lender, true, workload)?;
        outside = outside.max(lender.outside_in_storage(workload));
    }
    let gain = if whole.is_some() { 0.0 } else { exchanged.gain(&place) };
    let product = left_of(known.beyond_levels(&place), gain);
    let mut estimate = known.moved(exchanged.estimate(&place, known), product, &alike);
    // Other memory would hold a larger set: how fast memory serves so large a set was never
    // measured.
    estimate.half_width += outside;
    Ok(Changed { estimate, region: known.region(alike.unique_bytes), outside })
}

/// The remainder of the product's addition to ln(throughput) where an exchange adds `gain`. The
/// product does not know exchanges: all of its addition remains where they change nothing, and none
/// where they change much. It fades no faster than throughput changes, so that a gain stays a gain.
fn left_of(product: f64, gain: f64) -> f64 {
    product * (1.0 - gain.abs() / product.abs().max(PRODUCT_LASTS)).max(0.0)
}

/// The levels of `model`'s system, as `levels` selects them from a model, with the exchanges of
/// `what_if`, for requests with or without `reads` and `writes`. Memory changes nothing for those
/// that no file cache serves.
pub(super) fn exchanged<'a>(
    model: &'a Model,
    what_if: &'a WhatIf,
    levels: fn(&Model) -> Option<&HierarchyModel>,
    [reads, writes]: [bool; 2],
) -> Result<Exchanged<'a>, WhatIfError> {
    let none = |one: &'_ Model| WhatIfError::NoLevels(one.target().to_owned());
    let here = levels(model).ok_or_else(|| none(model))?;
    let lender = what_if.storage.as_ref();
    let storage = match lender {
        Some(lender) => Some(levels(lender).ok_or_else(|| none(lender))?),
        None => None,
    };
    let access = model.base().access;
    let write_done = what_if.write_done.filter(|_| writes);
    if write_done == Some(WriteDone::Back) && model.writes_through() {
        return Err(WhatIfError::AlwaysThrough(model.target().to_owned()));
    }
    let is_cached = meets_file_cache(access, [reads, writes]);
    let memory = what_if.memory_bytes.filter(|[own, other]| own != other && is_cached);
    let memory = memory.map(|both| both.map(|bytes| bytes as f64));
    let asked = Asked { writes, writes_cached: access == Access::Buffered };
    let reads_cached = access.reads_cached();
    let of_file_cache = model.of_file_cache();
    let exchange = Exchange { memory, storage, write_done, reads_cached, of_file_cache, asked };
    let of = |exchange| Exchanged::new(here, exchange).map_err(|no| no.told(model, lender));
    if write_done == Some(WriteDone::Through) {
        let alone = Exchange { memory: None, storage: None, ..exchange.clone() };
        check_through(model, &of(alone)?)?;
    }
    of(exchange)
}

impl Unknown {
    /// The same, with the names of `model`'s system and of the `lender` of its storage.
    fn told(self, model: &Model, lender: Option<&Model>) -> WhatIfError {
        let here = model.target().to_owned();
        match self {
            Self::Cache => WhatIfError::NoCache(here),
            Self::OwnStorage => WhatIfError::NoOwnStorage(here),
            Self::OwnWrites => WhatIfError::NoOwnWrites(here),
            Self::Writes => WhatIfError::NoWrites(here),
            Self::Storage => {
                WhatIfError::NoStorage(lender.map_or(String::new(), |one| one.target().to_owned()))
            }
        }
    }
}

/// Checks that what the levels say of writes that go through, without another exchange, was seen of
/// synchronous ones: storage was measured with writes that the kernel gathers and sorts.
fn check_through(model: &Model, levels: &Exchanged<'_>) -> Result<(), WhatIfError> {
    let target = model.target().to_owned();
    let Some(seen) = model.synchronous else {
        return Err(WhatIfError::Through { target, speeds: None });
    };
    let told = levels.estimate(&seen.place, model);
    if (told.log_throughput - seen.log_throughput).abs() <= told.half_width {
        return Ok(());
    }
    let speeds = Some([told.log_throughput, seen.log_throughput].map(f64::exp));
    Err(WhatIfError::Through { target, speeds })
}

/// The doubts about caches that may lie behind the file cache, so that other memory may not change
/// them.
pub(crate) fn doubts_of_memory(model: &Model, what_if: &WhatIf) -> Vec<Warning> {
    let exchanged = what_if.memory_bytes.filter(|[own, other]| own != other);
    let (Some([own, _]), Some(levels)) = (exchanged, model.hierarchy()) else { return Vec::new() };
    let (layout, theta) = levels.posterior().structure();
    // With another write policy, writes pass every cache or meet that of reads.
    let does = [[true, false], [false, what_if.write_done.is_none()]];
    let doubt = |(operation, words): (usize, &str)| {
        let is_cached = meets_file_cache(model.base().access, does[operation]);
        let is_unsure = is_cached && !model.of_file_cache()[operation];
        let unsure = [0, 1].map(|one| one == operation && is_unsure);
        let mut caches = file_caches(layout, theta, unsure);
        let cache = caches.find(|cache| is_of_memory(cache.onset, own as f64))?;
        let message = format!(
            "the cache that ends for {words} at {} may lie behind the file cache, as a drive's own does, and then stays as it is with other memory: the predictions assume so, and their intervals reach to a cache that grows with memory; an evaluation with the other memory would tell",
            Bytes(cache.onset)
        );
        Some(Warning::new(WarningKind::Extrapolated, message))
    };
    [(0, "reads"), (1, "writes")].into_iter().filter_map(doubt).collect()
}

/// Whether a file cache serves the `reads` or the `writes` with this access.
pub(super) fn meets_file_cache(access: Access, [reads, writes]: [bool; 2]) -> bool {
    reads && access.reads_cached() || writes && access == Access::Buffered
}

/// Checks that all five parameters lie within the measured ranges of `model`'s system, which may be
/// the lender.
fn within(model: &Model, is_lender: bool, workload: &Workload) -> Result<(), WhatIfError> {
    let outside = Parameter::ALL.into_iter().find(|parameter| {
        let (value, [low, high]) = (workload.get(*parameter), model.measured(*parameter));
        let alike = if *parameter == Parameter::SizeMean { SIZES_ALIKE } else { 1e-9 };
        value < low * (-alike).exp() || value > high * alike.exp()
    });
    outside.map_or(Ok(()), |parameter| {
        let (target, value) = (model.target().to_owned(), workload.get(parameter));
        Err(WhatIfError::Beyond { target, is_lender, parameter, value })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against refusing 64 MiB in 23 GiB where 24 GiB served them; a cache of writes may be a
    /// small share of memory.
    #[test]
    fn what_both_memories_hold_is_told_from_the_evaluated_one() {
        let held = |own: u64, other: u64, read_frac| {
            let what_if = WhatIf { memory_bytes: Some([own, other]), ..WhatIf::default() };
            let set = Workload { unique_bytes: 64 << 20, read_frac, ..Workload::default() };
            what_if.leaves_held(&set)
        };
        assert!(held(24 << 30, 23 << 30, 0.5) && held(24 << 30, 25 << 30, 0.5));
        assert!(held(1 << 30, 128 << 20, 1.0) && !held(1 << 30, 128 << 20, 0.9));
        assert!(!held(1 << 30, 127 << 20, 1.0) && !held(63 << 20, 1 << 30, 1.0));
        let through = Some(WriteDone::Through);
        let memory_bytes = Some([24 << 30, 23 << 30]);
        let both = WhatIf { memory_bytes, write_done: through, ..WhatIf::default() };
        assert!(!both.leaves_held(&Workload { unique_bytes: 1 << 20, ..Workload::default() }));
    }

    /// Guards against advice to buy less memory, from a prediction beyond what the whole set in
    /// memory reaches.
    #[test]
    fn more_memory_is_neither_slower_than_before_nor_faster_than_all_in_memory() {
        let off = |least, most| impossible(20.0, least, most);
        assert_eq!(off(Some(19.0), Some(21.0)), 0.0);
        assert_eq!(off(Some(20.05), Some(19.95)), 0.0, "within the rule's error");
        assert_eq!([off(Some(20.5), Some(21.0)), off(Some(19.0), Some(19.5))], [0.5; 2]);
        assert_eq!(off(None, None), 0.0);
    }
}
