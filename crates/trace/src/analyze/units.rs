//! An analysis as units that know nothing of one another; each takes in all rows in order, on one
//! thread at a time.

use super::absorption::AbsorbedWrites;
use super::accumulate::Accumulate;
use super::alignment::Alignment;
use super::blocks::{self, BlockSize, Shard};
use super::burstiness::Arrivals;
use super::column::STRIDE;
use super::device_names::DeviceNames;
use super::disks::Disks;
use super::inter_arrival::InterArrival;
use super::io_types::IoTypes;
use super::latency_over_time::LatencyOverTime;
use super::miss_ratio::StackDistances;
use super::partitions::Partitions;
use super::processes::Processes;
use super::rates::{LoadCell, Rates};
use super::response_time::ResponseTime;
use super::span::Span;
use super::uses::Uses;
use ioscape_schema::Io;

/// What is counted of each request alone or of neighbouring requests.
#[derive(Debug)]
pub(super) struct Loads<'a> {
    pub span: &'a mut Span,
    pub partitions: &'a mut Partitions,
    pub inter_arrival: &'a mut InterArrival,
    pub types: &'a mut IoTypes,
    pub alignment: &'a mut Alignment,
    pub arrivals: &'a mut Arrivals,
}

impl Loads<'_> {
    fn update(&mut self, rows: &[Io]) {
        self.span.update_all(rows);
        self.partitions.update_all(rows);
        self.inter_arrival.update_all(rows);
        self.types.update_all(rows);
        self.alignment.update_all(rows);
        self.arrivals.update_all(rows);
    }
}

/// Response times, and the load over time.
#[derive(Debug)]
pub(super) struct Times<'a> {
    pub response_time: &'a mut ResponseTime,
    pub rates: &'a mut Rates,
    pub latency: &'a mut LatencyOverTime,
}

impl Times<'_> {
    fn update(&mut self, rows: &[Io]) {
        self.response_time.update_all(rows);
        // Both count the load; most rows in a batch lie in one step of either.
        let load = LoadCell::of(rows);
        self.rates.update_with(rows, &load);
        self.latency.update_with(rows, &load);
    }
}

/// What is learned from blocks sampled by number.
#[derive(Debug)]
pub(super) struct Used<'a> {
    pub size: BlockSize,
    pub uses: Uses,
    pub distances: &'a mut StackDistances,
    pub processes: &'a mut Processes,
}

impl Used<'_> {
    fn update(&mut self, rows: &[Io], names: &DeviceNames) {
        self.uses.each(rows, self.size, names, |rows, uses| {
            self.distances.update_all(uses);
            self.processes.update_all(rows, uses, names);
        });
    }
}

/// One unit of an analysis, from [`Analysis::units`](super::Analysis::units).
#[derive(Debug)]
pub struct Unit<'a>(pub(super) Kind<'a>);

#[derive(Debug)]
pub(super) enum Kind<'a> {
    Loads(Loads<'a>),
    Times(Times<'a>),
    Disks(&'a mut Disks),
    Used(Used<'a>),
    Written(&'a mut AbsorbedWrites),
    Blocks(&'a mut [Shard]),
}

impl Unit<'_> {
    /// Its subject in a word, for measurements of each unit's cost.
    pub fn name(&self) -> &'static str {
        match self.0 {
            Kind::Loads(_) => "loads",
            Kind::Times(_) => "times",
            Kind::Disks(_) => "disks",
            Kind::Used(_) => "uses of blocks",
            Kind::Written(_) => "written",
            Kind::Blocks(_) => "blocks",
        }
    }

    /// Takes in the next rows, which are [on the clock](super::AnalysisOptions::put_on_the_clock);
    /// `names` has their devices. Rows taken in by units of blocks count after
    /// [`Analysis::settle`](super::Analysis::settle).
    pub fn update(&mut self, rows: &[Io], names: &DeviceNames) {
        let near = rows.chunks(STRIDE);
        match &mut self.0 {
            Kind::Loads(loads) => near.for_each(|rows| loads.update(rows)),
            Kind::Times(times) => near.for_each(|rows| times.update(rows)),
            Kind::Disks(disks) => disks.update_all(rows),
            Kind::Used(used) => used.update(rows, names),
            Kind::Written(absorbed) => near.for_each(|rows| {
                absorbed.gather(rows);
                absorbed.settle();
            }),
            Kind::Blocks(shards) => blocks::gather(shards, rows),
        }
    }
}
