//! Everything that is learned from a trace in one pass, part by part: update, merge, finish.
//!
//! Each file answers one question, mostly one of the tables or figures of Ruemmler & Wilkes, "UNIX disk access patterns", 1993.
//! Memory is constant but for the table of blocks. Rows come in the order of their arrival.
//!
//! ```
//! use ioscape_schema::{Device, Io, TraceInfo};
//! use ioscape_trace::analyze::{Analysis, AnalysisOptions};
//!
//! let rows: Vec<Io> = (0..100).map(|i| Io { queued_ns: i * 1000, ..Io::default() }).collect();
//! let options = AnalysisOptions::default();
//! let mut whole = Analysis::new(&options);
//! whole.update(&rows[..40]);
//! let mut later = Analysis::part(&options);
//! later.update(&rows[40..]);
//! whole.merge(later);
//! let summary = whole.finish("example", &TraceInfo::default());
//! assert_eq!((summary.ios, summary.inter_arrival_ns.mean), (100, 1000.0));
//! ```

pub mod absorption;
pub mod accumulate;
pub mod address_map;
pub mod alignment;
pub mod blocks;
pub mod burstiness;
pub mod column;
pub mod counted;
pub mod device_names;
mod disk;
mod disks;
pub mod distance;
mod doubts;
pub mod in_flight;
pub mod inter_arrival;
pub mod io_types;
pub mod key_table;
pub mod latency_over_time;
pub mod log_histogram;
mod long_arrays;
pub mod miss_ratio;
mod names;
mod options;
mod partial;
pub mod partitions;
pub mod processes;
pub mod queue_length;
pub mod rates;
pub mod response_time;
pub mod runs;
pub mod set_windows;
pub mod sketch;
mod span;
pub mod stack_distance;
pub mod state;
pub mod time_series;
pub(crate) mod unarrived;
mod unissued;
mod units;
mod unordered;
pub(crate) mod unpaired;
mod untimed;
mod untold;
mod untyped;
pub mod uses;
pub mod write_groups;

use crate::read::keep_levels;
use absorption::AbsorbedWrites;
use accumulate::Accumulate;
use alignment::Alignment;
pub use blocks::BlockAlign;
use blocks::Blocks;
use device_names::DeviceNames;
use disks::Disks;
use doubts::{Limits, doubts};
use inter_arrival::InterArrival;
use io_types::IoTypes;
use ioscape_schema::trace_summary::{Breakdown, Burstiness, TraceSummary};
use ioscape_schema::{Device, Io, TraceInfo};
use latency_over_time::LatencyOverTime;
use miss_ratio::StackDistances;
pub use names::disk_name;
pub use options::AnalysisOptions;
use partitions::Partitions;
use processes::Processes;
use queue_length::{HEAD, Unseen};
use rates::Rates;
use response_time::ResponseTime;
use serde::{Deserialize, Serialize};
use span::Span;
pub use unissued::tells_issue;
pub use units::Unit;
use units::{Kind, Loads, Times, Used};
pub use untold::without_untold;
use uses::Uses;

/// The most disks in the result, the busiest ones; the load by partition has them all.
const MOST_LISTED: usize = 1024;
/// The most disks whose addresses are drawn over time, busiest first.
const MOST_MAPS: usize = 8;
/// Rows that one analysis takes in before the next one does; they fit into a processor's
/// second-level cache.
const TOGETHER: usize = 4096;
/// All analyses of a trace or of a part of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Analysis {
    options: AnalysisOptions,
    #[serde(skip)]
    names: DeviceNames,
    /// Scratch space for rows with adjusted times.
    #[serde(skip)]
    on_the_clock: Vec<Io>,
    span: Span,
    /// Whether parts of the same time with other disks were merged.
    interleaved: bool,
    disks: Disks,
    partitions: Partitions,
    response_time: ResponseTime,
    inter_arrival: InterArrival,
    types: IoTypes,
    alignment: Alignment,
    rates: Rates,
    latency: LatencyOverTime,
    arrivals: burstiness::Arrivals,
    blocks: Blocks,
    distances: StackDistances,
    processes: Processes,
    absorbed: AbsorbedWrites,
}

impl Analysis {
    /// Starts an analysis at the beginning of a trace.
    pub fn new(options: &AnalysisOptions) -> Self {
        Self::with_head(options, 0)
    }

    /// Starts an analysis of a later part, to be merged into the analysis of what comes before.
    pub fn part(options: &AnalysisOptions) -> Self {
        Self::with_head(options, HEAD)
    }

    fn with_head(options: &AnalysisOptions, head_most: usize) -> Self {
        let size = options.blocks();
        Self {
            options: options.clone(),
            names: DeviceNames::default(),
            on_the_clock: Vec::new(),
            span: Span::default(),
            interleaved: false,
            disks: Disks::new(head_most, options.disk_bytes),
            partitions: Partitions::default(),
            response_time: ResponseTime::default(),
            inter_arrival: InterArrival::default(),
            types: IoTypes::default(),
            alignment: Alignment::default(),
            rates: Rates::default(),
            latency: LatencyOverTime::default(),
            arrivals: burstiness::Arrivals::default(),
            blocks: Blocks::new(size, head_most > 0, options.table_bytes),
            distances: StackDistances::new(size, options.exact_blocks, head_most > 0),
            processes: Processes::new(size),
            absorbed: AbsorbedWrites::new(head_most > 0, options.written_bytes),
        }
    }

    /// Takes in the names of the devices that the next rows may use; blocks are sampled by device
    /// name. Without names, the sample depends on device numbers, which may differ between parts of
    /// a trace.
    pub fn name_devices(&mut self, devices: &[Device]) {
        self.names.learn(devices);
    }

    /// Takes in the next rows, in order of arrival.
    pub fn update(&mut self, ios: &[Io]) {
        self.gather(ios);
        self.settle();
    }

    /// Takes in the next rows as [`update`](Self::update) does, but counts them only at
    /// [`settle`](Self::settle). This is faster the more rows are gathered first.
    pub fn gather(&mut self, ios: &[Io]) {
        let mut on_the_clock = std::mem::take(&mut self.on_the_clock);
        for mut rows in ios.chunks(TOGETHER) {
            if self.options.origin_ns != 0 {
                on_the_clock.clear();
                on_the_clock.extend_from_slice(rows);
                self.options.put_on_the_clock(&mut on_the_clock);
                rows = &on_the_clock;
            }
            let (names, mut units, blocks) = self.parts();
            blocks.gather(rows);
            // One unit after the other, so that its counters stay in the processor's caches.
            units.iter_mut().for_each(|unit| unit.update(rows, names));
        }
        self.on_the_clock = on_the_clock;
    }

    /// Counts what was gathered; call it before the analysis is queried, merged or written.
    pub fn settle(&mut self) {
        self.blocks.settle();
    }

    /// Returns the device names, and the units that take in rows instead of
    /// [`update`](Self::update). Up to `threads` threads may share the units, with the same result.
    /// Each unit must be given all rows; afterwards the analysis must [settle](Self::settle).
    pub fn units(&mut self, threads: usize) -> (&DeviceNames, Vec<Unit<'_>>) {
        let (names, units, blocks) = self.parts();
        let shards = blocks.shares(threads).map(|shards| Unit(Kind::Blocks(shards)));
        (names, shards.chain(units).collect())
    }

    /// The device names, all units except the blocks, and the blocks.
    fn parts(&mut self) -> (&DeviceNames, [Unit<'_>; 5], &mut Blocks) {
        let loads = Loads {
            span: &mut self.span,
            partitions: &mut self.partitions,
            inter_arrival: &mut self.inter_arrival,
            types: &mut self.types,
            alignment: &mut self.alignment,
            arrivals: &mut self.arrivals,
        };
        let times = Times {
            response_time: &mut self.response_time,
            rates: &mut self.rates,
            latency: &mut self.latency,
        };
        let used = Used {
            size: self.options.blocks(),
            uses: Uses::default(),
            distances: &mut self.distances,
            processes: &mut self.processes,
        };
        let kinds = [
            Kind::Loads(loads),
            Kind::Times(times),
            Kind::Disks(&mut self.disks),
            Kind::Used(used),
            Kind::Written(&mut self.absorbed),
        ];
        (&self.names, kinds.map(Unit), &mut self.blocks)
    }

    /// Renumbers devices and commands; the slices map present numbers to new ones.
    fn renumber(&mut self, devices: &[u16], commands: &[u32]) {
        self.processes.renumber(commands);
        if (0..).zip(devices).all(|(at, &number)| at == number) {
            return;
        }
        self.disks.renumber(devices);
        self.partitions.renumber(devices);
        self.blocks.renumber(devices);
        self.distances.renumber(devices);
        self.absorbed.renumber(devices);
    }

    /// Adds what a later [`part`](Self::part) saw, made with the same options; the result is that
    /// of one analysis over both.
    ///
    /// A part that begins before this one ends must have other disks. What depends on the order of
    /// requests across disks is then unknown and left out of the result.
    pub fn merge(&mut self, later: Self) {
        let first_ns = later.span.first_ns;
        let overlaps =
            first_ns.is_some_and(|first| self.span.ios > 0 && first < self.span.last_arrival_ns);
        self.interleaved |= later.interleaved || overlaps;
        self.options.origin_ns = self.options.origin_ns.min(later.options.origin_ns);
        self.span.merge(later.span);
        self.disks.merge(later.disks);
        self.partitions.merge(later.partitions);
        self.response_time.merge(later.response_time);
        self.inter_arrival.merge(later.inter_arrival);
        self.types.merge(later.types);
        self.alignment.merge(later.alignment);
        self.rates.merge(later.rates);
        self.latency.merge(later.latency);
        self.arrivals.merge(later.arrivals);
        self.blocks.merge(later.blocks);
        self.distances.merge(later.distances);
        self.processes.merge(later.processes);
        self.absorbed.merge(later.absorbed, first_ns.unwrap_or(0));
    }

    /// Returns everything found; `name` is what the user calls the trace.
    pub fn finish(&self, name: &str, info: &TraceInfo) -> TraceSummary {
        let origin_ns = self.options.origin_ns;
        let disks = self.disks.busiest(MOST_LISTED);
        let distance = self.disks.distance();
        let sequential = distance.sequential(self.options.interleave_bytes);
        let interleave = Some(sequential.interleave_bytes);
        let begin_ns = self.span.first_ns.unwrap_or(0);
        let listed = disks.iter().map(|(id, disk)| disk.finish(*id, info, interleave, begin_ns));
        let mut listed: Vec<_> = listed.collect();
        listed.sort_by_key(|disk| disk.device);
        let mapped = disks.iter().filter(|(_, disk)| !disk.is_given_up());
        let maps = mapped.map(|(id, disk)| disk.address_map(*id, origin_ns));
        let maps = maps.filter(|map| !map.cells.is_empty());
        let mut maps: Vec<_> = maps.take(MOST_MAPS).collect();
        maps.sort_by_key(|map| map.device);
        let tally = self.blocks.tally();
        let mut summary = TraceSummary {
            name: name.to_owned(),
            info: info.clone(),
            by: Breakdown::default(),
            ios: self.span.ios,
            first_ns: self.span.first_ns.unwrap_or(origin_ns) - origin_ns,
            last_ns: self.span.last_ns.saturating_sub(origin_ns),
            block_bytes: self.options.blocks().bytes(),
            partitions: self.partitions.finish(info),
            response_times: self.response_time.finish(),
            types: self.types.types(),
            alignment: self.alignment.finish(),
            inter_arrival_ns: self.inter_arrival.finish(),
            distances: distance.finish(),
            sequential: Some(sequential),
            over_time: self.latency.timeline(origin_ns),
            hourly: self.rates.hourly(origin_ns),
            daily: self.rates.daily(origin_ns),
            transfer_sizes: self.types.sizes(),
            overwrites: self.blocks.overwrites(),
            popularity: self.blocks.popularity(&tally, self.capacity_bytes(info)),
            absorption: self.absorbed.finish(),
            working_set: self.blocks.working_set(&tally, origin_ns),
            miss_ratio: self.distances.finish(),
            burstiness: self.burstiness(),
            processes: self.processes.finish(info),
            latency_map: self.latency.heat_map(origin_ns),
            address_maps: maps,
            warnings: Vec::new(),
            disks: listed,
        };
        if self.interleaved {
            unordered::forget(&mut summary);
        }
        // A part has only some of the disks that its trace names.
        keep_levels(&mut summary.info, &Vec::from_iter(self.disks.iter().map(|(id, _)| id)));
        let untold = untold::forget(&mut summary);
        summary.warnings = doubts(&self.limits(info), untold, &summary);
        summary
    }

    /// Capacity of all disks that have requests; `None` if any is unknown.
    fn capacity_bytes(&self, info: &TraceInfo) -> Option<u64> {
        let of = |(id, _)| info.devices.get(usize::from(id))?.capacity_bytes;
        self.disks.iter().map(of).sum()
    }

    fn burstiness(&self) -> Burstiness {
        if self.interleaved {
            return Burstiness::default();
        }
        Burstiness {
            dispersion: self.arrivals.dispersion(),
            hurst: self.arrivals.hurst(),
            inter_arrival_scv: self.inter_arrival.squared_cv(),
        }
    }

    /// The names of the disks whose queues are not fully known, and what was missed in total.
    fn unseen(&self, info: &TraceInfo) -> (Vec<String>, Unseen) {
        let mut all = Unseen::default();
        let disks = self.disks.iter().map(|(number, disk)| (number, disk.unseen()));
        let names =
            disks.filter(|(_, unseen)| *unseen != Unseen::default()).map(|(number, unseen)| {
                all.add(&unseen);
                disk_name(info, number)
            });
        (names.collect(), all)
    }

    /// What happened that the results cannot show.
    fn limits(&self, info: &TraceInfo) -> Limits {
        let disks = || self.disks.iter().map(|(_, disk)| disk);
        Limits {
            errors: self.span.errors,
            unlisted_disks: disks().count().saturating_sub(MOST_LISTED) as u64,
            counted_disks: self.disks.given_up(),
            unseen: self.unseen(info),
            cut: self.blocks.cut(),
            untracked: self.blocks.untracked(),
            sample: self.blocks.sample(),
            processes: self.processes.lacking(),
            unwritten: self.absorbed.beyond(),
            interleaved: self.interleaved,
        }
    }
}

#[cfg(test)]
mod tests;
