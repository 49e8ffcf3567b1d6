//! Predicting workloads that were not measured from those that were (self-scaling paper, section
//! 9).
//!
//! [`Model`] is the one that users ask: the levels of the hierarchy, the paper's product, or by
//! default both, each weighted by how far it can be trusted. [`OrthogonalModel`] and
//! [`SinglePointModel`] are the paper's rivals, for comparison only. `docs/prediction.md` describes
//! how the models work and how far each can be trusted.

mod active;
mod application;
mod caches;
mod candidates;
mod closed;
mod exchange;
mod extrapolation;
mod fit;
mod forecast;
mod hierarchy;
mod input;
mod kind;
mod lending;
mod levels;
mod pairing;
mod parameters;
mod pchip;
mod predict;
mod product;
mod random;
mod residual;
mod rivals;
mod scatter;
mod search;
mod slopes;
mod stack;
mod structure;
mod system_model;
mod unmeasured;
mod validate;
mod what_if;

pub use active::next_points;
pub(crate) use application::COMPUTING;
pub(crate) use closed::{numbers_below, rate_at_best, rate_with_pauses};
pub use exchange::WriteDone;
pub use extrapolation::extrapolations;
pub use forecast::predict_application;
pub(crate) use forecast::{by_syncs, synchronous_s};
pub use kind::{KindDifference, OtherKind};
pub use predict::{ModelError, Predict};
pub use random::{bounds_of, random_workloads};
pub use rivals::{
    OrthogonalModel, SinglePointModel, orthogonal_sample, single_point_workload,
    validate_with_rivals,
};
pub use system_model::{Model, ModelKind, predict};
pub(crate) use unmeasured::doubt_of_sizes;
pub use validate::{Validated, validate, validate_what_if};
pub(crate) use what_if::doubts_of_memory;
pub use what_if::{WhatIf, WhatIfError, predict_what_if};
