//! The self-scaling evaluation: its curves, regions, borders and findings.

use crate::range::not_negative;
use crate::statistics::median;
use crate::units::Bytes;
use crate::{
    Access, Border, BorderOperation, Bounded, Engine, Filled, LevelCount, Measurement, Parameter,
    Purpose, Warning, Workload, WriterScaling,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One point of a single-parameter curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Value of the varied parameter, in its own unit.
    #[serde(deserialize_with = "not_negative")]
    pub value: f64,
    /// The measurement whose throughput is nearest to the median of the rounds.
    pub measurement: Measurement,
    /// Throughput of every round that counts, in bytes per second, in order of measurement. For
    /// processes that computed, it is that of the time in which others did not keep them from the
    /// processors ([`Measurement::judged_bytes_per_s`]).
    #[serde(default, deserialize_with = "not_negative")]
    pub rounds: Vec<f64>,
    /// Spread of the rounds: half the difference between largest and smallest, over the median;
    /// absent with one round.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub spread: Option<f64>,
}

impl Point {
    /// Returns the throughput in bytes per second: the median of the rounds, midway between the
    /// middle two for an even number.
    pub fn throughput(&self) -> f64 {
        match self.rounds.is_empty() {
            true => self.measurement.judged_bytes_per_s(),
            false => median(&self.rounds),
        }
    }

    /// Returns the requests per second at that throughput, using the mean request size of the
    /// measurement. Rounds keep only their throughput, and their request sizes hardly differ.
    pub fn iops(&self) -> f64 {
        let rate = self.measurement.throughput_bytes_per_s;
        if rate > 0.0 { self.throughput() * self.measurement.iops() / rate } else { 0.0 }
    }
}

/// The curves of the four other parameters in one region (self-scaling paper, figure 7), and of the
/// queue depth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RegionCurves {
    /// Throughput against mean request size.
    #[serde(default)]
    pub size_mean: Vec<Point>,
    /// Throughput against the fraction of reads.
    #[serde(default)]
    pub read_frac: Vec<Point>,
    /// Throughput against the fraction of sequential requests.
    #[serde(default)]
    pub seq_frac: Vec<Point>,
    /// Throughput against the number of processes.
    #[serde(default)]
    pub process_num: Vec<Point>,
    /// Total throughput of all clients against their number, each with its own set; if there were
    /// several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client_num: Vec<Point>,
    /// Throughput against the queue depth; empty if requests are issued one at a time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue_depth: Vec<Point>,
}

impl RegionCurves {
    /// Returns the curve of `parameter`; `None` for `unique_bytes`, whose curve spans all regions.
    pub fn get(&self, parameter: Parameter) -> Option<&Vec<Point>> {
        match parameter {
            Parameter::UniqueBytes => None,
            Parameter::SizeMean => Some(&self.size_mean),
            Parameter::ReadFrac => Some(&self.read_frac),
            Parameter::SeqFrac => Some(&self.seq_frac),
            Parameter::ProcessNum => Some(&self.process_num),
            Parameter::QueueDepth => Some(&self.queue_depth),
        }
    }

    /// Returns the same curve for modification.
    pub fn get_mut(&mut self, parameter: Parameter) -> Option<&mut Vec<Point>> {
        match parameter {
            Parameter::UniqueBytes => None,
            Parameter::SizeMean => Some(&mut self.size_mean),
            Parameter::ReadFrac => Some(&mut self.read_frac),
            Parameter::SeqFrac => Some(&mut self.seq_frac),
            Parameter::ProcessNum => Some(&mut self.process_num),
            Parameter::QueueDepth => Some(&mut self.queue_depth),
        }
    }
}

/// A plateau of the `unique_bytes` curve: one level of the storage hierarchy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// Short name such as `region 1`, in order of `unique_bytes`.
    pub name: String,
    /// Lower and upper end, in bytes.
    #[serde(deserialize_with = "not_negative")]
    pub unique_bytes: [f64; 2],
    /// The focal vector: the workload whose other parameters stay fixed while one is varied.
    pub focal: Workload,
    /// The curves of the region.
    pub curves: RegionCurves,
}

/// Slope of the `unique_bytes` curve (self-scaling paper, figure 6).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlopePoint {
    /// Geometric middle of two neighbouring points, in bytes.
    #[serde(deserialize_with = "not_negative")]
    pub unique_bytes: f64,
    /// Change of log throughput per change of log `unique_bytes`, dimensionless.
    pub slope: f64,
}

/// How the file cache treats writes (Unix I/O paper, section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// Every write goes to the next level at that level's speed.
    WriteThrough,
    /// Later writes cancel earlier ones in the cache.
    WriteCancelling,
    /// Between these two.
    Mixed,
    /// Small sets are no faster for reads or writes: there is no cache, or nothing slower beyond
    /// it.
    NotCached,
}

crate::words!(WritePolicy, WriteThrough => "write-through", WriteCancelling => "write-cancelling",
    Mixed => "mixed", NotCached => "not cached");

/// A finding for one region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegionFinding {
    /// Name of the region.
    pub region: String,
    /// Best estimate.
    #[serde(deserialize_with = "not_negative")]
    pub value: f64,
    /// Lower error bound.
    #[serde(deserialize_with = "not_negative")]
    pub low: f64,
    /// Upper error bound.
    #[serde(deserialize_with = "not_negative")]
    pub high: f64,
}

/// What the papers' authors read off the graphs, as numbers and sentences.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// Effective file-cache size for reads, in bytes: the first border of pure reads; absent if the
    /// file cache takes no part.
    pub read_cache_bytes: Option<Bounded>,
    /// The same for writes: the first border of pure writes.
    pub write_cache_bytes: Option<Bounded>,
    /// Reads, writes or both, if no measured set outgrows a cache for them; absent if that cannot
    /// be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub no_border_of: Vec<BorderOperation>,
    /// Write policy; absent if it could not be determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_policy: Option<WritePolicy>,
    /// Undisturbed over mean write throughput in the cache: 1 if flushing costs nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_slowdown: Option<Bounded>,
    /// Smallest request size that gives 75 % of the best throughput, in bytes.
    #[serde(default)]
    pub size_for_75_percent_bytes: Vec<RegionFinding>,
    /// Throughput of purely sequential over purely random requests.
    #[serde(default)]
    pub sequential_gain: Vec<RegionFinding>,
    /// Best throughput with several processes over that with one.
    #[serde(default)]
    pub concurrency_gain: Vec<RegionFinding>,
    /// Throughput of pure writes over pure reads.
    #[serde(default)]
    pub write_to_read_ratio: Vec<RegionFinding>,
    /// Smallest queue depth with 90 % of the best throughput; only with asynchronous requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue_depth_for_90_percent: Vec<RegionFinding>,
    /// Best throughput with a deeper queue over throughput with one request at a time; only with
    /// asynchronous requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue_depth_gain: Vec<RegionFinding>,
    /// Whether concurrent writers to one file wait for one another, both through the file cache and
    /// past it; empty if not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub single_writer: Vec<WriterScaling>,
    /// The findings in words, each with its evidence.
    #[serde(default)]
    pub sentences: Vec<String>,
}

/// How the speed of a fixed reference workload moved during the evaluation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Throughput of each re-measurement, in bytes per second, in time order, without those counted
    /// by `not_compared`: that of [`Measurement::undisturbed_bytes_per_s`] or, if that is unknown of
    /// most, the measured one.
    #[serde(deserialize_with = "not_negative")]
    pub throughputs: Vec<f64>,
    /// Number of re-measurements left out because a hypervisor or other programs had an unknown
    /// part of their time, which is known for most others.
    #[serde(default, skip_serializing_if = "crate::absent::is_default")]
    pub not_compared: u32,
    /// Median of these throughputs.
    #[serde(deserialize_with = "not_negative")]
    pub median: f64,
    /// Largest relative distance of a throughput from the median.
    pub largest: f64,
    /// Number of points measured while the reference was off, and measured again.
    pub remeasured: u32,
    /// Number of points left in doubt because every round was disturbed or time ran out.
    #[serde(default)]
    pub unresolved: u32,
}

/// The range of one parameter in which the system performs well (self-scaling paper, section 7).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FocalRange {
    /// The parameter.
    pub parameter: Parameter,
    /// The 75 % performance point: the least restrictive value that gives at least 75 % of the best
    /// throughput.
    pub focal: f64,
    /// Lowest and highest value with at least 75 % of the best throughput.
    #[serde(deserialize_with = "not_negative")]
    pub performs_well: [f64; 2],
    /// The curve with all other parameters at their focal points.
    pub curve: Vec<Point>,
}

/// The first attempt of section 7: all parameters at their 75 % performance points at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AllParameters {
    /// The focal vector that was found.
    pub focal: Workload,
    /// Whether the iteration settled before its last allowed step.
    pub settled: bool,
    /// One range per parameter, in the papers' order.
    pub ranges: Vec<FocalRange>,
}

/// One call of the probe, in order: the raw record from which an interrupted evaluation resumes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// The purpose of the call.
    pub purpose: Purpose,
    /// The result; its `workload` is the workload requested.
    pub measurement: Measurement,
}

/// A set that did not fit, so that the evaluation went on with smaller sets. A resumed evaluation
/// skips it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RefusedSet {
    /// Number of probes made before.
    pub after_probes: u64,
    /// Its size in bytes.
    pub unique_bytes: u64,
    /// Seconds of the budget spent on finding out; 0 if it was already known.
    #[serde(deserialize_with = "not_negative")]
    pub spent_s: f64,
}

/// The settings of an evaluation: the same settings and the same answers give the same course.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Smallest and largest `unique_bytes`.
    pub unique_bytes: [u64; 2],
    /// Smallest and largest `size_mean`, in bytes.
    pub size_mean: [u64; 2],
    /// Smallest and largest `process_num`.
    pub process_num: [u32; 2],
    /// The base workload; all others differ from it only in the five parameters.
    pub base: Workload,
    /// Time budget of the evaluation, in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub budget_s: f64,
    /// Whether section 7's search in all parameters was requested.
    pub all_parameters: bool,
    /// Largest number of different workloads to measure; absent without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points_max: Option<u32>,
    /// Time after which a natural flush must have shown up, in seconds; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub flush_interval_s: Option<f64>,
    /// Rate at which the set was laid out, in bytes per second; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub layout_bytes_per_s: Option<f64>,
    /// Memory limit of the workers, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit_bytes: Option<u64>,
}

/// A self-scaling evaluation, complete or partial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The evaluated target, as the user named it.
    pub target: String,
    /// The settings of the evaluation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
    /// Smallest and largest `unique_bytes` allowed.
    #[serde(default, deserialize_with = "not_negative")]
    pub unique_bytes_range: [f64; 2],
    /// Throughput against `unique_bytes` with the focal mix.
    pub unique_bytes_curve: Vec<Point>,
    /// The same with random pure reads, without read-ahead: the search for the read cache.
    #[serde(default)]
    pub unique_bytes_read_curve: Vec<Point>,
    /// The same with random pure writes: the search for the write cache.
    #[serde(default)]
    pub unique_bytes_write_curve: Vec<Point>,
    /// Slope of the focal-mix curve.
    #[serde(default)]
    pub unique_bytes_slope: Vec<SlopePoint>,
    /// The plateaus, in order of `unique_bytes`.
    pub regions: Vec<Region>,
    /// The borders between levels of the hierarchy.
    pub borders: Vec<Border>,
    /// Probability of each number of regions, the most probable first; empty if not requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub level_counts: Vec<LevelCount>,
    /// Workloads off all curves, measured where predictions were least certain; `value` is their
    /// `unique_bytes`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<Point>,
    /// The findings.
    pub findings: Findings,
    /// The first attempt of section 7, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_parameters: Option<AllParameters>,
    /// How steady the machine was.
    #[serde(default)]
    pub drift: Drift,
    /// Number of distinct points measured, not counting repetitions and references.
    pub points_measured: u32,
    /// Wall time of all probes and of deciding on them, in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub elapsed_s: f64,
    /// Phases that were skipped or shortened, each with its reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shortened: BTreeMap<String, String>,
    /// Every probe in order.
    #[serde(default)]
    pub probes: Vec<Probe>,
    /// The sets that did not fit, in the order requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_sets: Vec<RefusedSet>,
    /// Whether sets came into the file cache page by page; absent if unknown, as up to version 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_page: Option<bool>,
    /// What the simulated solid-state drive held at first, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition: Option<Filled>,
    /// Evaluations of the same target with further access modes, or under a memory limit that its
    /// sets outgrow. Each has one mode and no further evaluations inside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_accesses: Vec<Evaluation>,
}

impl Evaluation {
    /// Smallest number of points of a set-size curve; with fewer, a level could end in the gaps.
    pub const CURVE_LEAST: usize = 5;

    /// Joins evaluations of one target with different access modes: the first, with the others
    /// inside; `None` without any.
    pub fn joined(mut all: Vec<Self>) -> Option<Self> {
        let others = all.split_off(all.len().min(1));
        Some(Self { other_accesses: others, ..all.pop()? })
    }

    /// Iterates over this evaluation and then those with other access modes.
    pub fn each_access(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.other_accesses)
    }

    /// Returns the access mode of its workloads; without any measured point, the requested one.
    pub fn access(&self) -> Access {
        let asked = self.settings.as_ref().map(|settings| &settings.base);
        let asked = asked.or_else(|| self.regions.first().map(|region| &region.focal));
        asked.map(|workload| workload.access).unwrap_or_default()
    }

    /// Returns whether the set-size curve of pure reads or of pure writes has too few points. A
    /// level that ends for these requests only could then go unseen, so no number of regions is
    /// certain.
    pub fn has_sparse_curves(&self) -> bool {
        let curves = [&self.unique_bytes_read_curve, &self.unique_bytes_write_curve];
        curves.iter().any(|curve| curve.len() < Self::CURVE_LEAST)
    }

    /// Returns whether its sets came into the file cache page by page, if known; `None` if no file
    /// cache of a real system takes part.
    pub fn came_by_page(&self) -> Option<Option<bool>> {
        let base = &self.settings.as_ref()?.base;
        let is_cached = base.access != Access::Direct && base.engine != Engine::Sim;
        is_cached.then_some(self.by_page)
    }

    /// Returns the memory limit of its workers, in bytes, if they had one.
    pub fn memory_limit_bytes(&self) -> Option<u64> {
        self.settings.as_ref()?.memory_limit_bytes
    }

    /// Returns what distinguishes it from the others of its target: "direct", "buffered in a
    /// control group of 1 GiB".
    pub fn way(&self) -> String {
        let group = |limit| format!(" in a control group of {}", Bytes(limit as f64));
        self.access().to_string() + &self.memory_limit_bytes().map(group).unwrap_or_default()
    }

    /// Returns the last measurement made for exactly `purpose`.
    pub fn last(&self, purpose: &Purpose) -> Option<&Measurement> {
        self.probes.iter().rev().find(|p| p.purpose == *purpose).map(|p| &p.measurement)
    }

    /// Returns the warnings of all probes: one of those [alike](Warning::is_like), with the number
    /// of measurements that have it. A measurement with several of them counts once.
    pub fn doubts(&self) -> Vec<Warning> {
        let mut seen: Vec<(Warning, usize)> = Vec::new();
        let probes = || self.each_access().flat_map(|one| &one.probes);
        for warning in probes().flat_map(|p| one_of_each(&p.measurement.warnings)) {
            match seen.iter_mut().find(|(w, _)| w.is_like(warning)) {
                Some((_, count)) => *count += 1,
                None => seen.push((warning.clone(), 1)),
            }
        }
        let all = probes().count();
        seen.into_iter()
            .map(|(warning, count)| {
                let place = match count {
                    1 => format!("1 of {all} measurements"),
                    _ => format!("{count} of {all} measurements, for example"),
                };
                warning.at(place)
            })
            .collect()
    }
}

/// Returns the first of the warnings that are alike.
fn one_of_each(warnings: &[Warning]) -> impl Iterator<Item = &Warning> {
    let is_first =
        |(at, one): &(usize, &Warning)| warnings[..*at].iter().all(|earlier| !earlier.is_like(one));
    warnings.iter().enumerate().filter(is_first).map(|(_, one)| one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Stop, WarningKind};

    #[test]
    fn doubts_are_counted_by_kind() {
        let probe = |kinds: &[WarningKind]| Probe {
            purpose: "unique_bytes".into(),
            measurement: Measurement {
                warnings: kinds.iter().map(|&k| Warning::new(k, "why")).collect(),
                ..Measurement::empty(Workload::default(), Stop::TimeCap)
            },
        };
        let probes = vec![
            probe(&[WarningKind::Steal, WarningKind::NotSteady]),
            probe(&[WarningKind::Steal, WarningKind::Steal]),
            probe(&[]),
        ];
        let doubts = Evaluation { probes, ..Evaluation::default() }.doubts();
        let shown: Vec<String> = doubts.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["2 of 3 measurements, for example: why", "1 of 3 measurements: why"]);
    }

    /// Once, a loop device in memory hid that a control group limited all requests.
    #[test]
    fn each_trap_is_told() {
        let traps = ["kept in memory", "limits this program's I/O"];
        let warnings = traps.map(|why| Warning::new(WarningKind::Trap, why)).to_vec();
        let measurement =
            Measurement { warnings, ..Measurement::empty(Workload::default(), Stop::TimeCap) };
        let probe = Probe { purpose: "unique_bytes".into(), measurement };
        let doubts = Evaluation { probes: vec![probe; 2], ..Evaluation::default() }.doubts();
        let shown: Vec<&str> = doubts.iter().map(|one| &*one.message).collect();
        assert_eq!(shown, traps);
    }
}
