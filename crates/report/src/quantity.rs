//! The quantity that a figure shows: throughput, requests per second or response times.

use crate::plot::{Scale, Unit};

/// The quantity on the vertical axis of an evaluation's figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes per second.
    #[default]
    Throughput,
    /// Requests per second.
    Iops,
    /// Response times: median and 99th percentile.
    Latency,
}

ioscape_schema::words!(Quantity, "metric", Throughput => "throughput", Iops => "iops",
    Latency => "latency");

impl Quantity {
    /// All quantities, in the order in which the page offers them.
    pub const ALL: [Self; 3] = [Self::Throughput, Self::Iops, Self::Latency];

    /// Its name at the beginning of a heading.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Throughput => "Throughput",
            Self::Iops => "IOPS",
            Self::Latency => "Response time",
        }
    }

    /// The label of the vertical axis.
    pub fn axis_label(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Iops => "requests per second",
            Self::Latency => "response time, median and 99 %",
        }
    }

    /// The unit of the vertical axis.
    pub fn unit(self) -> Unit {
        match self {
            Self::Throughput => Unit::Rate,
            Self::Iops => Unit::Count,
            Self::Latency => Unit::Nanos,
        }
    }

    /// The scale to use where the choice is free: `preferred` for throughput, else logarithmic.
    ///
    /// Requests per second and response times spread over decades, so that ratios matter.
    pub fn scale(self, preferred: Scale) -> Scale {
        if self == Self::Throughput { preferred } else { Scale::Log10 }
    }
}
