//! The figures of a run that describe a system's speed: its throughput and its response times.

use ioscape_schema::statistics::least_for;
use ioscape_schema::{Measurement, Metric};

/// Largest relative width of a bin in the histogram of response times, from which percentiles come:
/// two times in the same bin cannot be told apart.
pub(crate) const BIN: f64 = 1e-3;

/// A figure of a run.
pub(crate) struct Quantity {
    /// The metric it belongs to.
    pub(crate) metric: Metric,
    /// What the name of its row adds to the job's name.
    pub(crate) suffix: &'static str,
    /// The least number of requests of which one lies at or beyond it.
    pub(crate) least: u64,
    /// Its value; 0 if no request ended.
    pub(crate) of: fn(&Measurement) -> f64,
}

/// The longest response time, in place of a percentile that some run has too few requests for.
pub(crate) const LONGEST: Quantity = Quantity {
    metric: Metric::Time,
    suffix: ", longest response time",
    least: 1,
    of: |run| run.response_time_ns.max as f64,
};

/// The figures of a run that are compared.
pub(crate) const QUANTITIES: [Quantity; 3] = [
    Quantity {
        metric: Metric::Throughput,
        suffix: "",
        least: 0,
        of: |run| run.throughput_bytes_per_s,
    },
    Quantity {
        metric: Metric::Time,
        suffix: ", p50 response time",
        least: least_for(500),
        of: |run| run.response_time_ns.p50 as f64,
    },
    Quantity {
        metric: Metric::Time,
        suffix: ", p99 response time",
        least: least_for(990),
        of: |run| run.response_time_ns.p99 as f64,
    },
];
