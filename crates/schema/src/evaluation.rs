//! The self-scaling evaluation: curves, regions, borders and what they mean.

use crate::range::not_negative;
use crate::statistics::median;
use crate::units::Bytes;
use crate::{
    Access, Border, BorderOperation, Bounded, Engine, LevelCount, Measurement, Parameter, Purpose,
    Warning, Workload, WriterScaling,
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
    /// Throughput of every round that counts, in bytes per second, in the order measured.
    #[serde(default, deserialize_with = "not_negative")]
    pub rounds: Vec<f64>,
    /// Spread of the rounds: half of largest minus smallest, over the median; absent with one round.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub spread: Option<f64>,
}

impl Point {
    /// Throughput in bytes per second: the median of the rounds, between the middle two when their number is even.
    pub fn throughput(&self) -> f64 {
        match self.rounds.is_empty() {
            true => self.measurement.throughput_bytes_per_s,
            false => median(&self.rounds),
        }
    }

    /// Requests per second at that throughput, of the bytes that a request of the measurement had: rounds are kept by their throughput,
    /// and the bytes of a request hardly differ between them.
    pub fn iops(&self) -> f64 {
        let rate = self.measurement.throughput_bytes_per_s;
        if rate > 0.0 { self.throughput() * self.measurement.iops() / rate } else { 0.0 }
    }
}

/// The curves of the four other parameters in one region (self-scaling paper, figure 7), and that of the queue's depth.
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
    /// Throughput of all clients together against their number, each with a set of its own; where several took part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client_num: Vec<Point>,
    /// Throughput against the depth of the queue; empty where requests are issued one at a time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue_depth: Vec<Point>,
}

impl RegionCurves {
    /// The curve of `parameter`; `None` for `unique_bytes`, whose curve spans all regions.
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

    /// The same, mutable.
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
    /// From and to, in bytes.
    #[serde(deserialize_with = "not_negative")]
    pub unique_bytes: [f64; 2],
    /// The focal vector: the workload at which all other parameters stay while one is varied.
    pub focal: Workload,
    /// The four curves.
    pub curves: RegionCurves,
}

/// Slope of the `unique_bytes` curve (self-scaling paper, figure 6).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlopePoint {
    /// Geometric middle of two neighbouring points, in bytes.
    #[serde(deserialize_with = "not_negative")]
    pub unique_bytes: f64,
    /// Change of log throughput per change of log `unique_bytes`, without unit.
    pub slope: f64,
}

/// How the file cache treats writes (Unix I/O paper, section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// Every write goes to the next level at its speed.
    WriteThrough,
    /// Later writes cancel earlier ones in the cache; writes run at memory speed.
    WriteCancelling,
    /// Between the two.
    Mixed,
    /// Neither reads nor writes are faster in a small set: there is no cache, or nothing slower behind it.
    NotCached,
}

/// A finding that differs from region to region.
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

/// What the papers' authors read off the graphs, in numbers and in words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// Effective file-cache size for reads, in bytes: the first border of pure reads; absent where the file cache takes no part.
    pub read_cache_bytes: Option<Bounded>,
    /// The same for writes: the first border of pure writes.
    pub write_cache_bytes: Option<Bounded>,
    /// Reads, writes or both, where all sets that were measured outgrow no cache for them; absent where that cannot be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub no_border_of: Vec<BorderOperation>,
    /// Write policy; absent when it could not be determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_policy: Option<WritePolicy>,
    /// Undisturbed over mean write throughput in the cache: 1 when flushing costs nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_slowdown: Option<Bounded>,
    /// Least request size that gives 75 % of the best throughput, in bytes.
    #[serde(default)]
    pub size_for_75_percent_bytes: Vec<RegionFinding>,
    /// Throughput of all-sequential over all-random requests.
    #[serde(default)]
    pub sequential_gain: Vec<RegionFinding>,
    /// Best throughput with several processes over that with one.
    #[serde(default)]
    pub concurrency_gain: Vec<RegionFinding>,
    /// Throughput of pure writes over pure reads.
    #[serde(default)]
    pub write_to_read_ratio: Vec<RegionFinding>,
    /// Least depth of the queue with 90 % of the best throughput; only with asynchronous requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue_depth_for_90_percent: Vec<RegionFinding>,
    /// Best throughput with a deeper queue over that with one request at a time; only with asynchronous requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue_depth_gain: Vec<RegionFinding>,
    /// Whether concurrent writers to one file wait for one another, through the file cache and past it; empty where that was
    /// not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub single_writer: Vec<WriterScaling>,
    /// The findings in words, each with its evidence.
    #[serde(default)]
    pub sentences: Vec<String>,
}

/// How the speed of a fixed reference workload moved during the evaluation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Throughput of each re-measurement, in bytes per second, in time order.
    #[serde(deserialize_with = "not_negative")]
    pub throughputs: Vec<f64>,
    /// Their median.
    #[serde(deserialize_with = "not_negative")]
    pub median: f64,
    /// Largest relative distance of one from the median.
    pub largest: f64,
    /// Points that were measured while the reference was off, and measured again.
    pub remeasured: u32,
    /// Points that stayed in doubt because every round was disturbed or time ran out.
    #[serde(default)]
    pub unresolved: u32,
}

/// The range of one parameter in which the system performs well (self-scaling paper, section 7).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FocalRange {
    /// Which parameter.
    pub parameter: Parameter,
    /// The 75 % performance point: the least restrictive value with at least 75 % of the best throughput.
    pub focal: f64,
    /// From and to of the values with at least 75 % of the best throughput.
    #[serde(deserialize_with = "not_negative")]
    pub performs_well: [f64; 2],
    /// The curve with all other parameters at their focal points.
    pub curve: Vec<Point>,
}

/// The first try of section 7: all parameters at their 75 % performance point at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AllParameters {
    /// The focal vector that was found.
    pub focal: Workload,
    /// Whether the iteration settled before its last allowed step.
    pub settled: bool,
    /// One range per parameter, in the papers' order.
    pub ranges: Vec<FocalRange>,
}

/// One call of the probe, in the order made: the raw record, from which an interrupted evaluation resumes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// What it was made for.
    pub purpose: Purpose,
    /// What came out; its `workload` is what was asked.
    pub measurement: Measurement,
}

/// A set that had no room, so that the evaluation went on with smaller ones; an interrupted one resumes past it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RefusedSet {
    /// Probes that were made before.
    pub after_probes: u64,
    /// Its size in bytes.
    pub unique_bytes: u64,
    /// Part of the budget that finding it out took, in seconds; 0 where it was known.
    #[serde(deserialize_with = "not_negative")]
    pub spent_s: f64,
}

/// What an evaluation was asked to do: with the same settings and the same answers it takes the same course.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Smallest and largest `unique_bytes`.
    pub unique_bytes: [u64; 2],
    /// Smallest and largest `size_mean`, in bytes.
    pub size_mean: [u64; 2],
    /// Smallest and largest `process_num`.
    pub process_num: [u32; 2],
    /// The workload that all others differ from in the five parameters only.
    pub base: Workload,
    /// Time the evaluation may take, in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub budget_s: f64,
    /// Whether section 7's search in all parameters was asked for.
    pub all_parameters: bool,
    /// Most different workloads that may be measured; absent without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points_max: Option<u32>,
    /// Time after which a natural flush must have shown itself, in seconds; absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub flush_interval_s: Option<f64>,
    /// Rate at which the set was laid out, in bytes per second; absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "not_negative")]
    pub layout_bytes_per_s: Option<f64>,
    /// Memory limit of the workers, when one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit_bytes: Option<u64>,
}

/// A self-scaling evaluation, whole or as far as it came.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// What was evaluated, as the user named it.
    pub target: String,
    /// What it was asked to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
    /// Smallest and largest `unique_bytes` that was allowed.
    #[serde(default, deserialize_with = "not_negative")]
    pub unique_bytes_range: [f64; 2],
    /// Throughput against `unique_bytes` with the focal mix.
    pub unique_bytes_curve: Vec<Point>,
    /// The same with pure reads, random and without read-ahead: the search for the read cache.
    #[serde(default)]
    pub unique_bytes_read_curve: Vec<Point>,
    /// The same with pure writes, random: the search for the write cache.
    #[serde(default)]
    pub unique_bytes_write_curve: Vec<Point>,
    /// Slope of the curve of the focal mix.
    #[serde(default)]
    pub unique_bytes_slope: Vec<SlopePoint>,
    /// The plateaus, in order of `unique_bytes`.
    pub regions: Vec<Region>,
    /// The borders between levels of the hierarchy.
    pub borders: Vec<Border>,
    /// How probable each number of regions is, the most probable first; empty where it was not asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub level_counts: Vec<LevelCount>,
    /// Workloads off all curves, measured where the prediction was least certain; `value` is their `unique_bytes`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<Point>,
    /// What it means.
    pub findings: Findings,
    /// The first try of section 7, when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_parameters: Option<AllParameters>,
    /// How steady the machine was.
    #[serde(default)]
    pub drift: Drift,
    /// Distinct points measured, repetitions and references not counted.
    pub points_measured: u32,
    /// Sum of the wall time of all probes, in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub elapsed_s: f64,
    /// The phases that were left out or shortened, with the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shortened: BTreeMap<String, String>,
    /// Every probe in order.
    #[serde(default)]
    pub probes: Vec<Probe>,
    /// The sets that had no room, in the order they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_sets: Vec<RefusedSet>,
    /// Whether sets came into the file cache page by page; absent where nothing is said of it, as up to version 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_page: Option<bool>,
    /// The same target evaluated with further accesses, or under a memory limit that its sets outgrow, each by itself and with no
    /// more of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_accesses: Vec<Evaluation>,
}

impl Evaluation {
    /// Fewer points than this leave a curve over the sizes of the set with gaps in which a level could end.
    pub const CURVE_LEAST: usize = 5;

    /// Evaluations of one target with different accesses as one, which is the first with the others in it; `None` without any.
    pub fn joined(mut all: Vec<Self>) -> Option<Self> {
        let others = all.split_off(all.len().min(1));
        Some(Self { other_accesses: others, ..all.pop()? })
    }

    /// This one, then those with other accesses.
    pub fn each_access(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.other_accesses)
    }

    /// The access of its workloads; an evaluation without any measured point tells what was asked for.
    pub fn access(&self) -> Access {
        let asked = self.settings.as_ref().map(|settings| &settings.base);
        let asked = asked.or_else(|| self.regions.first().map(|region| &region.focal));
        asked.map(|workload| workload.access).unwrap_or_default()
    }

    /// Whether the curve of pure reads or of pure writes over the sizes of the set has so few points that a level which ends for
    /// these requests alone could go unseen: then no number of regions is sure.
    pub fn has_sparse_curves(&self) -> bool {
        let curves = [&self.unique_bytes_read_curve, &self.unique_bytes_write_curve];
        curves.iter().any(|curve| curve.len() < Self::CURVE_LEAST)
    }

    /// Whether its sets came into the file cache page by page, as far as it says; `None` where no file cache of a real system takes part.
    pub fn came_by_page(&self) -> Option<Option<bool>> {
        let base = &self.settings.as_ref()?.base;
        let is_cached = base.access != Access::Direct && base.engine != Engine::Sim;
        is_cached.then_some(self.by_page)
    }

    /// Memory limit of its workers, in bytes, if they had one.
    pub fn memory_limit_bytes(&self) -> Option<u64> {
        self.settings.as_ref()?.memory_limit_bytes
    }

    /// What tells it from the others of its target: "direct", "buffered in a control group of 1 GiB".
    pub fn way(&self) -> String {
        let group = |limit| format!(" in a control group of {}", Bytes(limit as f64));
        self.access().to_string() + &self.memory_limit_bytes().map(group).unwrap_or_default()
    }

    /// The last measurement made for exactly `purpose`.
    pub fn last(&self, purpose: &Purpose) -> Option<&Measurement> {
        self.probes.iter().rev().find(|p| p.purpose == *purpose).map(|p| &p.measurement)
    }

    /// The warnings of all probes: one of each kind, with how many measurements it concerns. A measurement may have several of
    /// a kind and counts once.
    pub fn doubts(&self) -> Vec<Warning> {
        let mut seen: Vec<(Warning, usize)> = Vec::new();
        let probes = || self.each_access().flat_map(|one| &one.probes);
        for warning in probes().flat_map(|p| one_of_each_kind(&p.measurement.warnings)) {
            match seen.iter_mut().find(|(w, _)| w.kind == warning.kind) {
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

/// The first warning of each kind.
fn one_of_each_kind(warnings: &[Warning]) -> impl Iterator<Item = &Warning> {
    let is_first = |(at, one): &(usize, &Warning)| {
        warnings[..*at].iter().all(|earlier| earlier.kind != one.kind)
    };
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
}
