//! Which quantity the figures of an evaluation show.

use clap::ValueEnum;
use ioscape_report::Quantity;

/// What the vertical axis of figures counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Metric {
    /// Bytes per second
    #[default]
    Throughput,
    /// Requests per second
    Iops,
    /// Response times, median and 99th percentile
    Latency,
}

impl From<Metric> for Quantity {
    fn from(metric: Metric) -> Self {
        match metric {
            Metric::Throughput => Self::Throughput,
            Metric::Iops => Self::Iops,
            Metric::Latency => Self::Latency,
        }
    }
}
