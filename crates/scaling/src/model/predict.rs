//! What every model provides: a throughput for any workload, an interval, and a reason when there
//! is none.

use super::kind::OtherKind;
use ioscape_schema::Workload;

/// Anything that predicts the throughput of a workload.
pub trait Predict {
    /// Throughput of `workload` in bytes per second; positive and finite for every valid workload.
    fn throughput(&self, workload: &Workload) -> f64;
}

/// Why an evaluation yields no model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The workload is of a kind that was never measured.
    #[error(transparent)]
    OtherKind(#[from] OtherKind),
    /// No measurement to learn from.
    #[error(
        "the evaluation of {target} holds no region with a measured throughput, so nothing can be predicted: run `ioscape evaluate` to its end"
    )]
    Empty {
        /// The evaluation's target.
        target: String,
    },
    /// A rival model lacks some of its points.
    #[error(
        "the {model} model needs {needed} measured workloads with a positive throughput, but {given} were given"
    )]
    Points {
        /// The model's name.
        model: &'static str,
        /// The number of measurements that it needs.
        needed: usize,
        /// The number that were usable.
        given: usize,
    },
}

/// A model's prediction for one workload, in natural logarithms of bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) log_throughput: f64,
    /// Half the width of the 90 % interval.
    pub(crate) half_width: f64,
}
