//! What of a measurement a figure shows: throughput, requests per second or response times.

use crate::plot::{Scale, Unit};

/// What the vertical axis of an evaluation's figures counts.
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

impl Quantity {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Throughput, Self::Iops, Self::Latency];

    /// Its word on the command line and in identifiers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Iops => "iops",
            Self::Latency => "latency",
        }
    }

    /// Its name at the beginning of a heading.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Throughput => "Throughput",
            Self::Iops => "IOPS",
            Self::Latency => "Response time",
        }
    }

    /// What the vertical axis is called.
    pub fn axis_label(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Iops => "requests per second",
            Self::Latency => "response time, median and 99 %",
        }
    }

    /// What the vertical axis counts.
    pub fn unit(self) -> Unit {
        match self {
            Self::Throughput => Unit::Rate,
            Self::Iops => Unit::Count,
            Self::Latency => Unit::Nanos,
        }
    }

    /// The scale that fits where the choice is free: throughputs are compared by their differences in `preferred`, requests
    /// per second and response times by ratio, since they spread over decades.
    pub fn scale(self, preferred: Scale) -> Scale {
        if self == Self::Throughput { preferred } else { Scale::Log10 }
    }
}
