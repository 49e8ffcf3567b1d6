//! What a part covers: its place in the trace, its disks, and the options of its analysis.

use crate::analyze::{Analysis, AnalysisOptions};
use crate::clock::TraceClock;
use ioscape_schema::{TraceInfo, Warning};
use serde::{Deserialize, Serialize};

/// The rows asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// From this time on, on the clock.
    pub from_ns: Option<u64>,
    /// Before this time.
    pub to_ns: Option<u64>,
}

/// When a disk had requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskStretch {
    /// Index in the table of devices.
    pub device: u16,
    /// First arrival, on the clock.
    pub first_ns: u64,
    /// Last arrival.
    pub last_ns: u64,
}

/// The second line of a state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// The version of this program that wrote the state.
    pub version: String,
    /// What the user calls the trace.
    pub name: String,
    /// Number of requests.
    pub ios: u64,
    /// What times count from.
    pub clock: TraceClock,
    /// First arrival, on the clock.
    pub first_ns: u64,
    /// Last arrival.
    pub last_ns: u64,
    /// Longest time between two arrivals.
    pub longest_pause_ns: u64,
    /// The rows asked for.
    pub asked: Asked,
    /// When each disk had requests.
    pub disks: Vec<DiskStretch>,
    /// What is missing between the parts that were merged into this one.
    pub gaps: Vec<Warning>,
    /// The options of the analysis.
    pub options: AnalysisOptions,
    /// What holds for the trace as a whole.
    pub info: TraceInfo,
}

impl Header {
    /// The header of an analyzed part; `asked` counts from the beginning of the trace, as the user
    /// gave it.
    pub fn of(
        analysis: &Analysis,
        name: &str,
        info: &TraceInfo,
        clock: TraceClock,
        asked: &Asked,
    ) -> Self {
        let on_the_clock = |ns: u64| ns.saturating_add(analysis.options.origin_ns);
        let disks = analysis.disks.iter().filter_map(|(device, disk)| {
            let [first_ns, last_ns] = disk.arrivals_ns()?;
            Some(DiskStretch { device, first_ns, last_ns })
        });
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            name: name.to_owned(),
            ios: analysis.span.ios,
            clock,
            first_ns: analysis.span.first_ns.unwrap_or(0),
            last_ns: analysis.span.last_arrival_ns,
            longest_pause_ns: analysis.inter_arrival.longest_ns(),
            asked: Asked {
                from_ns: asked.from_ns.map(on_the_clock),
                to_ns: asked.to_ns.map(on_the_clock),
            },
            disks: disks.collect(),
            gaps: Vec::new(),
            options: analysis.options.clone(),
            info: info.clone(),
        }
    }
}
