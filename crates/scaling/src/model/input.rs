//! Where a workload lies in the five-parameter space, and what was observed there.

use super::kind::same_kind;
use crate::judge::sides::Alike;
use ioscape_schema::statistics::sort_by_number;
use ioscape_schema::{Advice, Evaluation, Measurement, Parameter, Point, Workload};

/// The most observations a model learns from; the cost grows with their third power.
const OBSERVATIONS_MAX: usize = 400;

/// Plausible throughputs, in bytes per second.
const PLAUSIBLE: std::ops::Range<f64> = 1e-6..1e18;

/// The five parameters as plain numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ModelInput {
    /// Size of the set, in bytes, at least 1.
    pub(super) unique_bytes: f64,
    /// Mean request size, in bytes, at least 1.
    pub(super) size_mean: f64,
    /// Fraction of reads, 0 to 1.
    pub(super) read_frac: f64,
    /// Fraction of sequential requests, 0 to 1.
    pub(super) seq_frac: f64,
    /// Number of processes, at least 1.
    pub(super) process_num: f64,
    /// Whether the kernel is advised that requests are random, so that it does not read ahead.
    pub(super) advised: bool,
}

impl ModelInput {
    /// The place of `workload`; a value that no workload may have is moved to the nearest valid
    /// one.
    pub(super) fn of(workload: &Workload) -> Self {
        let fraction = |value: f64| if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.5 };
        Self {
            unique_bytes: (workload.unique_bytes as f64).max(1.0),
            size_mean: (workload.size_mean as f64).max(1.0),
            read_frac: fraction(workload.read_frac),
            seq_frac: fraction(workload.seq_frac),
            process_num: f64::from(workload.process_num).max(1.0),
            advised: workload.advice == Advice::Random,
        }
    }

    /// One of the five parameters on the scale on which it is smooth: the natural logarithm, or a
    /// fraction as it is.
    pub(super) fn scaled(&self, parameter: Parameter) -> f64 {
        let value = match parameter {
            Parameter::UniqueBytes => self.unique_bytes,
            Parameter::SizeMean => self.size_mean,
            Parameter::ReadFrac => self.read_frac,
            Parameter::SeqFrac => self.seq_frac,
            Parameter::ProcessNum => self.process_num,
            // The model holds for the evaluated queue depth.
            Parameter::QueueDepth => 1.0,
        };
        if parameter.is_logarithmic() { value.ln() } else { value }
    }

    /// Whether both are the same place.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.advised == other.advised
            && Parameter::ALL.iter().all(|p| (self.scaled(*p) - other.scaled(*p)).abs() < 1e-9)
    }
}

#[cfg(test)]
impl ModelInput {
    /// Random requests of 10 kB by one process, half of them reads, in a set of 1 MB.
    pub(super) const PLAIN: Self = Self {
        unique_bytes: 1e6,
        size_mean: 1e4,
        read_frac: 0.5,
        seq_frac: 0.0,
        process_num: 1.0,
        advised: false,
    };
}

/// What was measured at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Observation {
    /// Its place.
    pub(super) place: ModelInput,
    /// Natural logarithm of the throughput in bytes per second.
    pub(super) log_throughput: f64,
    /// Standard deviation of that logarithm within the run.
    pub(super) sd: f64,
    /// Whether it lies off all curves: it was measured for the model.
    pub(super) extra: bool,
    /// Share of the set in the file cache, where the kernel reported it: the share of reads that
    /// hit.
    pub(super) resident: Option<f64>,
}

impl Observation {
    /// The observation of `measurement`; `None` when its throughput is not plausible.
    pub(super) fn of(measurement: &Measurement) -> Option<Self> {
        let throughput = measurement.judged_bytes_per_s();
        if !PLAUSIBLE.contains(&throughput) {
            return None;
        }
        let sd = measurement.relative_error() / 1.96;
        Some(Self {
            place: ModelInput::of(&measurement.workload),
            log_throughput: throughput.ln(),
            sd: if sd.is_finite() { sd.clamp(0.0, 1.0) } else { 0.0 },
            extra: false,
            resident: resident(measurement),
        })
    }

    fn of_point(point: &Point) -> Option<Self> {
        let mut observation = Self::of(&point.measurement)?;
        let rounds = point.rounds.len().max(1) as f64;
        let spread = point.spread.filter(|s| s.is_finite() && *s > 0.0).unwrap_or(0.0);
        observation.sd = observation.sd.max(spread.min(1.0) / rounds.sqrt());
        Some(observation)
    }
}

/// Mean share of the set in the file cache, for requests that go through it.
fn resident(measurement: &Measurement) -> Option<f64> {
    let [before, after] = measurement.witness.resident_frac?;
    let share = (before + after) / 2.0;
    (measurement.workload.access.reads_cached() && (0.0..=1.0).contains(&share)).then_some(share)
}

/// The points of every curve, then the extra points.
pub(super) fn points(evaluation: &Evaluation) -> impl Iterator<Item = (&Point, bool)> {
    let curves = evaluation.curves(&Parameter::ALL).flatten().map(|point| (point, false));
    curves.chain(evaluation.extra.iter().map(|point| (point, true)))
}

/// A workload with the engine, access and other settings that all points share; `None` without any
/// point.
pub(super) fn base(evaluation: &Evaluation) -> Option<&Workload> {
    let focal = evaluation.regions.first().map(|region| &region.focal);
    focal.or_else(|| points(evaluation).next().map(|(point, _)| &point.measurement.workload))
}

/// Every usable observation of the evaluation, each place once: curves, extra points, then all
/// other probes with the same kind of workload (pilot sweeps and references are points off the
/// curves for free).
pub(super) fn observations(evaluation: &Evaluation) -> Vec<Observation> {
    let Some(base) = base(evaluation) else { return Vec::new() };
    let mut found: Vec<Observation> = Vec::new();
    for (point, extra) in points(evaluation) {
        if !same_kind(&point.measurement.workload, base) {
            continue;
        }
        let Some(observation) = Observation::of_point(point) else { continue };
        if !found.iter().any(|other| other.place.same(&observation.place)) {
            found.push(Observation { extra, ..observation });
        }
    }
    let on_curves = found.len();
    let mut others: Vec<(ModelInput, Vec<Observation>)> = Vec::new();
    let probes = Alike::of(evaluation).probes.into_iter();
    for probe in probes.filter(|probe| !probe.measurement.disturbed) {
        if !same_kind(&probe.measurement.workload, base) {
            continue;
        }
        let Some(observation) = Observation::of(&probe.measurement) else { continue };
        if found[..on_curves].iter().any(|other| other.place.same(&observation.place)) {
            continue;
        }
        match others.iter_mut().find(|(place, _)| place.same(&observation.place)) {
            Some((_, rounds)) => rounds.push(observation),
            None => others.push((observation.place, vec![observation])),
        }
    }
    found.extend(others.into_iter().filter_map(|(_, rounds)| median(rounds)));
    found.truncate(OBSERVATIONS_MAX);
    found
}

/// Every run of the evaluation that is judged with the others and has a workload of the model's
/// kind, and the logarithm of its throughput, including runs left out of medians.
pub(super) fn runs(evaluation: &Evaluation) -> Vec<(ModelInput, f64)> {
    let Some(base) = base(evaluation) else { return Vec::new() };
    let measured = Alike::of(evaluation).probes.into_iter().map(|probe| &probe.measurement);
    let of_kind = measured.filter(|m| same_kind(&m.workload, base));
    of_kind.map(|m| (ModelInput::of(&m.workload), m.judged_bytes_per_s().ln())).collect()
}

fn median(mut rounds: Vec<Observation>) -> Option<Observation> {
    sort_by_number(&mut rounds, |one| one.log_throughput);
    rounds.get(rounds.len() / 2).copied()
}
