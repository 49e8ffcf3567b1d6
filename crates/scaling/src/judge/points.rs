//! All points measured so far with their rounds, and which round stands for each point.

use super::drift::References;
pub(crate) use super::drift::positive;
use super::moved;
use ioscape_schema::statistics::{median, sort_by_number};
use ioscape_schema::{Drift, Measurement, Point, Purpose, Warning, WarningKind, Workload};

/// Index of a distinct workload in the store.
pub(crate) type PointId = usize;

/// Least number of repeated points from which repeatability is estimated.
const PAIRS: usize = 4;
/// The mean difference between rounds is taken over this share of the smallest ones, which leaves
/// out occasional disturbances.
const SMALLER: f64 = 0.9;
/// That mean for normal noise of standard deviation 1.
const USUAL_DIFFERENCE: f64 = 0.930;

#[derive(Clone, Debug)]
struct Round {
    measurement: Measurement,
    /// Number of references taken before it; the last of these and the next one are its neighbours.
    references: usize,
}

#[derive(Clone, Debug)]
struct Tracked {
    workload: Workload,
    purpose: Purpose,
    rounds: Vec<Round>,
}

/// Which rounds of a point count, and which one stands for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    /// The round whose throughput is the median of those that count, or the slower one of the middle two.
    kept: usize,
    /// The rounds that count, in the order measured.
    counted: Vec<usize>,
    /// Whether every round was in doubt, so that all of them count.
    pub doubtful: bool,
}

/// Every distinct workload measured, and the references.
#[derive(Clone, Debug, Default)]
pub(crate) struct Points {
    points: Vec<Tracked>,
    references: References,
    /// Whether rounds of the points confirm the references that are far off.
    is_borne_out: bool,
    /// Whether rounds were slower while others read from the device.
    is_slowed_by_reads: bool,
}

/// Mean of the smallest of these, the last of which counts in part; there must be at least one.
fn smaller_mean(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    let counts = SMALLER * all.len() as f64;
    let weight = |i: usize| (counts - i as f64).clamp(0.0, 1.0);
    all.iter().enumerate().map(|(i, one)| weight(i) * one).sum::<f64>() / counts
}

/// Returns the direction expected of a round while others read from the device: slower. The bytes
/// they read are not enough to tell: a backup takes half of a disk's time, but the same bytes are
/// nothing to a drive that serves many requests at once.
fn slower_by_reads(round: &Round) -> Option<f64> {
    round.measurement.read_by_others().map(|_| -1.0)
}

impl Points {
    pub(crate) fn len(&self) -> usize {
        self.points.len()
    }

    pub(crate) fn find(&self, workload: &Workload) -> Option<PointId> {
        self.points.iter().position(|p| p.workload == *workload)
    }

    pub(crate) fn workload(&self, id: PointId) -> &Workload {
        &self.points[id].workload
    }

    pub(crate) fn purpose(&self, id: PointId) -> &Purpose {
        &self.points[id].purpose
    }

    /// The number of references measured since the latest round of a point.
    pub(crate) fn references_since(&self, id: PointId) -> usize {
        let last = self.points[id].rounds.last();
        self.references.len() - last.map_or(0, |round| round.references)
    }

    pub(crate) fn round_count(&self, id: PointId) -> usize {
        self.points[id].rounds.len()
    }

    /// All rounds of a point, in the order measured.
    pub(crate) fn rounds(&self, id: PointId) -> impl Iterator<Item = &Measurement> {
        self.points[id].rounds.iter().map(|round| &round.measurement)
    }

    /// Adds a new point with its first round.
    pub(crate) fn add(
        &mut self,
        workload: Workload,
        purpose: Purpose,
        first: Measurement,
    ) -> PointId {
        self.points.push(Tracked { workload, purpose, rounds: Vec::new() });
        let id = self.points.len() - 1;
        self.add_round(id, first);
        id
    }

    pub(crate) fn add_round(&mut self, id: PointId, measurement: Measurement) {
        let references = self.references.len();
        self.points[id].rounds.push(Round { measurement, references });
        self.weigh_witnesses();
    }

    /// Adds a round to the point with the measurement's workload, or a new point if there is none.
    pub(crate) fn record(&mut self, purpose: &Purpose, measurement: Measurement) {
        match self.find(&measurement.workload) {
            Some(id) => self.add_round(id, measurement),
            None => {
                self.add(measurement.workload.clone(), purpose.clone(), measurement);
            }
        }
    }

    pub(crate) fn add_reference(&mut self, reference: &Measurement) {
        self.references.add(reference);
        self.weigh_witnesses();
    }

    /// Decides again whether the rounds confirm what makes some of them suspect.
    fn weigh_witnesses(&mut self) {
        self.is_borne_out = self.bears_out();
        self.is_slowed_by_reads = self.are_slower_by_reads();
    }

    /// Whether the latest reference is off, so that repeating a point now would not help.
    pub(crate) fn is_off_now(&self) -> bool {
        self.references.is_off_now()
    }

    /// Whether rounds confirm references that wait for storage, as with direct access: rounds
    /// beside a slow or fast one were slow or fast, too. The references alone do not tell, since
    /// their small set may be in the drive's cache at some times and not at others.
    fn bears_out(&self) -> bool {
        let way = |round: &Round| self.references.far_off_beside(round.references);
        self.references.wait() && self.have_moved(way, |_| true)
    }

    /// Whether rounds were slower while others read than while they read far less. A round that is
    /// slow for another reason shows more of the same reads beside its own.
    fn are_slower_by_reads(&self) -> bool {
        let all = self.points.iter().flat_map(|point| &point.rounds);
        let told = all.filter(|round| slower_by_reads(round).is_some());
        let beside = |round: &Round| round.measurement.read_beside_per_s();
        let Some(least) = told.filter_map(beside).min_by(f64::total_cmp) else { return false };
        self.have_moved(slower_by_reads, |round| beside(round).is_some_and(|b| b < least / 2.0))
    }

    /// Whether rounds that wait for storage and have a direction in `way` (1 for faster, -1 for
    /// slower) moved that way from those of their points for which `is_without` holds.
    fn have_moved(
        &self,
        way: impl Fn(&Round) -> Option<f64>,
        is_without: impl Fn(&Round) -> bool,
    ) -> bool {
        let speed = |round: &Round| positive(round.measurement.judged_bytes_per_s());
        let rounds = |point: &Tracked| -> Vec<(f64, Option<f64>)> {
            let waiting = point.rounds.iter().filter(|round| round.measurement.waits());
            let ways = waiting.map(|round| (round, way(round)));
            let told = ways.filter(|(round, way)| way.is_some() || is_without(round));
            told.map(|(round, way)| (speed(round), way)).collect()
        };
        moved::have_moved(self.points.iter().map(rounds))
    }

    /// Whether a round may have been disturbed.
    ///
    /// Other work on the processors does not affect a workload that mostly waits for storage, unless
    /// they serve that storage. A pause does, as does a hypervisor that takes much of its time,
    /// storage that is slower or faster than usual or, where rounds confirm it, reads by others.
    fn is_suspect(&self, round: &Round) -> bool {
        let m = &round.measurement;
        if m.waits() {
            let is_read_beside = self.is_slowed_by_reads && m.read_by_others().is_some();
            return m.was_delayed()
                || is_read_beside
                || (self.is_borne_out
                    && self.references.far_off_beside(round.references).is_some());
        }
        m.disturbed || self.references.is_off_beside(round.references)
    }

    pub(crate) fn verdict(&self, id: PointId) -> Verdict {
        let rounds = &self.points[id].rounds;
        let mut counted: Vec<usize> =
            (0..rounds.len()).filter(|&r| !self.is_suspect(&rounds[r])).collect();
        let doubtful = counted.is_empty();
        if doubtful {
            counted = (0..rounds.len()).collect();
        }
        // A round whose cache was filling shows how far that came; a full cache gives the answer.
        let is_settled = |&r: &usize| !rounds[r].measurement.was_filling();
        if counted.iter().any(is_settled) {
            counted.retain(is_settled);
        }
        // Nor has a rate that others lowered by an unknown amount a median with one that is known.
        let is_known = |&r: &usize| rounds[r].measurement.faster_without_others() == 1.0;
        if counted.iter().any(is_known) {
            counted.retain(is_known);
        }
        let speed = |r: usize| positive(rounds[r].measurement.judged_bytes_per_s());
        let mut order = counted.clone();
        sort_by_number(&mut order, |&at| speed(at));
        let kept = order[(order.len() - 1) / 2];
        Verdict { kept, counted, doubtful }
    }

    /// The measurement that stands for the point.
    pub(crate) fn kept(&self, id: PointId) -> &Measurement {
        &self.points[id].rounds[self.verdict(id).kept].measurement
    }

    /// Its throughput in bytes per second, above 0: the median of the rounds that count.
    pub(crate) fn throughput(&self, id: PointId) -> f64 {
        let rounds = &self.points[id].rounds;
        let speed = |&r: &usize| rounds[r].measurement.judged_bytes_per_s();
        positive(median(&self.verdict(id).counted.iter().map(speed).collect::<Vec<_>>()))
    }

    /// The point as it goes into the result.
    pub(crate) fn point(&self, id: PointId, value: f64) -> Point {
        let verdict = self.verdict(id);
        let all = &self.points[id].rounds;
        let mut measurement = all[verdict.kept].measurement.clone();
        if verdict.doubtful && all.len() > 1 {
            let message = "every round was measured while the machine was disturbed, or slower or faster than usual; repeat the evaluation on a quiet machine";
            measurement.warnings.push(Warning::new(WarningKind::Drift, message));
        }
        let rounds: Vec<f64> =
            verdict.counted.iter().map(|&r| all[r].measurement.judged_bytes_per_s()).collect();
        let low = rounds.iter().copied().fold(f64::INFINITY, f64::min);
        let high = rounds.iter().copied().fold(0.0, f64::max);
        let middle = positive(median(&rounds));
        let spread = (rounds.len() > 1).then(|| (high - low) / 2.0 / middle);
        Point { value, measurement, rounds, spread }
    }

    /// Repeatability: standard deviation of log throughput between undisturbed rounds of one
    /// point. `None` before enough points have a second round.
    ///
    /// This is the mean difference of one round and the next, without the largest tenth. On a
    /// machine with two speeds, half of the pairs meet both, so a median would be all or nothing.
    pub(crate) fn repeatability(&self) -> Option<f64> {
        let differences = |id: PointId| -> Vec<f64> {
            let Verdict { counted, doubtful, .. } = self.verdict(id);
            let log = |r: usize| {
                let round = &self.points[id].rounds[r];
                positive(round.measurement.judged_bytes_per_s()).ln()
            };
            let pairs = counted.windows(2).filter(|_| !doubtful);
            pairs.map(|w| (log(w[0]) - log(w[1])).abs()).collect()
        };
        let repeated: Vec<Vec<f64>> =
            (0..self.len()).map(differences).filter(|own| !own.is_empty()).collect();
        (repeated.len() >= PAIRS).then(|| smaller_mean(repeated.concat()) / USUAL_DIFFERENCE)
    }

    /// How far the references differ from one to the next, as a standard deviation of log throughput; `None` before there are three.
    pub(crate) fn reference_noise(&self) -> Option<f64> {
        self.references.noise()
    }

    /// How steady the machine was, from the references and the rounds of the points in the result.
    pub(crate) fn drift(&self, result: &[PointId]) -> Drift {
        let first_suspect = |p: &&Tracked| p.rounds.len() > 1 && self.is_suspect(&p.rounds[0]);
        let remeasured = self.points.iter().filter(first_suspect).count() as u32;
        let unresolved = result.iter().filter(|&&id| self.verdict(id).doubtful).count() as u32;
        Drift { remeasured, unresolved, ..self.references.drift() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{measurement, reading};
    use ioscape_schema::CurveKey;
    use rand::{RngExt, SeedableRng};
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg32;

    fn store(throughputs: &[(f64, bool)]) -> Points {
        let mut store = Points::default();
        for &(throughput, disturbed) in throughputs {
            let round = measurement(&Workload::default(), throughput, 1.0, throughput);
            store.record(&CurveKey::Pilot.into(), Measurement { disturbed, ..round });
        }
        store
    }

    #[test]
    fn the_median_of_undisturbed_rounds_is_kept() {
        let store = store(&[(50.0, true), (100.0, false), (110.0, false), (90.0, false)]);
        let point = store.point(0, 1.0);
        assert_eq!(point.throughput(), 100.0);
        assert_eq!(point.rounds, [100.0, 110.0, 90.0]);
        assert!((point.spread.unwrap() - 0.1).abs() < 1e-12);
        assert_eq!((store.drift(&[0]).remeasured, store.drift(&[0]).unresolved), (1, 0));
    }

    /// Once, a median was taken over rounds of 13 and 5 GB/s: without the time of others, and with it.
    #[test]
    fn a_round_that_others_slowed_by_an_unknown_amount_counts_only_among_its_like() {
        let mut store = store(&[(50.0, false), (60.0, false), (100.0, false)]);
        for round in &mut store.points[0].rounds[..2] {
            round.measurement.witness.lost_frac = Some(0.5);
        }
        assert!(store.kept(0).undisturbed_bytes_per_s().is_some());
        assert_eq!(store.point(0, 1.0).rounds, [100.0]);
        store.points[0].rounds.pop();
        assert_eq!(store.point(0, 1.0).rounds, [50.0, 60.0]);
    }

    /// Eight processes on two processors, all busy, wait for a processor: other work disturbs them.
    #[test]
    fn waiting_for_a_processor_is_not_waiting_for_storage() {
        let workload = Workload { process_num: 8, ..Workload::default() };
        let kept = |computed_s, run_delay_s| {
            let mut store = Points::default();
            let round = |throughput, disturbed| {
                let mut m = measurement(&workload, throughput, 1.0, throughput);
                (m.elapsed_s, m.cpu_system_s, m.disturbed) = (1.0, computed_s, disturbed);
                m.witness.run_delay_s = run_delay_s;
                m
            };
            let id = store.add(workload.clone(), CurveKey::Pilot.into(), round(50.0, true));
            store.add_round(id, round(100.0, false));
            store.point(id, 1.0).rounds
        };
        assert_eq!(kept(2.0, Some(6.0)), [100.0]);
        assert_eq!(kept(2.0, None), [100.0], "what they waited for is not known");
        assert_eq!(kept(0.4, Some(0.1)), [50.0, 100.0], "they wait for storage");
    }

    /// Once, rounds in which a container was frozen stood for the speed of the disk.
    #[test]
    fn a_pause_or_the_hypervisor_disturbs_what_waits_for_storage() {
        let kept_of = |kind, served_by_processors| {
            let mut store = Points::default();
            let warnings = vec![Warning::new(kind, "for a while")];
            let mut slow = Measurement { disturbed: true, warnings, ..reading(1, 9e5, 0) };
            slow.witness.steal_s = Some(0.5 * slow.elapsed_s);
            slow.witness.served_by_processors = served_by_processors;
            store.record(&CurveKey::Pilot.into(), slow);
            store.record(&CurveKey::Pilot.into(), reading(1, 2e7, 0));
            store.point(0, 1.0).rounds
        };
        let kept = |kind| kept_of(kind, false);
        assert_eq!([kept(WarningKind::Stopped), kept(WarningKind::Steal)], [[2e7], [2e7]]);
        assert_eq!(kept(WarningKind::LoadByOthers), [9e5, 2e7]);
        assert_eq!(kept_of(WarningKind::LoadByOthers, true), [2e7]);
    }

    #[test]
    fn a_round_with_a_full_cache_stands_for_those_whose_cache_was_filling() {
        let mut store = Points::default();
        let workload = Workload { unique_bytes: 1 << 30, read_frac: 1.0, ..Workload::default() };
        let round = |throughput, resident| {
            let mut m = measurement(&workload, throughput, 1.0, throughput);
            (m.bytes, m.resident_frac) = (1 << 24, Some(0.5));
            m.witness.resident_frac = Some(resident);
            m
        };
        let id = store.add(workload.clone(), CurveKey::Pilot.into(), round(10.0, [0.1, 0.12]));
        store.add_round(id, round(12.0, [0.1, 0.12]));
        assert!(store.kept(id).was_filling());
        assert_eq!(store.throughput(id), 11.0);
        store.add_round(id, round(30.0, [0.5, 0.5]));
        assert!(!store.kept(id).was_filling());
        assert_eq!(store.throughput(id), 30.0);
    }

    #[test]
    fn a_point_disturbed_in_all_rounds_is_kept_with_a_warning() {
        let store = store(&[(50.0, true), (60.0, true), (40.0, true)]);
        let point = store.point(0, 1.0);
        assert_eq!(point.throughput(), 50.0);
        assert_eq!(point.measurement.warnings[0].kind, WarningKind::Drift);
        assert_eq!(store.drift(&[0]).unresolved, 1);
    }

    /// The standard deviation of log throughput found in `points` points of two rounds each.
    fn repeated(points: u64, mut throughput: impl FnMut() -> f64) -> Option<f64> {
        let mut store = Points::default();
        for unique_bytes in 1..=points {
            let workload = Workload { unique_bytes, ..Workload::default() };
            let mut round = || {
                let speed = throughput();
                measurement(&workload, speed, 1.0, speed)
            };
            let (first, second) = (round(), round());
            let id = store.add(workload, CurveKey::Pilot.into(), first);
            store.add_round(id, second);
        }
        store.repeatability()
    }

    #[test]
    fn repeatability_is_the_scatter_of_runs_whether_the_noise_is_normal_or_of_two_speeds() {
        let random = &mut Pcg32::seed_from_u64(1);
        assert_eq!(repeated(3, || 1.0), None);
        let mut normal =
            || (0.1 * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, random)).exp();
        let noise = repeated(400, &mut normal).unwrap();
        assert!((noise / 0.1 - 1.0).abs() < 0.08, "{noise}");
        // Every fortieth run at a third of the speed.
        let mut number = 0;
        let disturbed = repeated(400, || {
            number += 1;
            normal() / if number % 40 == 7 { 3.0 } else { 1.0 }
        });
        assert!((disturbed.unwrap() / 0.1 - 1.0).abs() < 0.2, "{disturbed:?}");
        // Two speeds a factor of two apart: the standard deviation is half of that. Slightly more
        // or fewer than half of the pairs meet both.
        for slow in [0.45, 0.55] {
            let mut random = Pcg32::seed_from_u64(2);
            let two = || if random.random_bool(slow) { 0.5 } else { 1.0 };
            let found = repeated(400, two).unwrap();
            assert!((found / (0.5 * 2f64.ln()) - 1.0).abs() < 0.2, "{slow}: {found}");
        }
    }

    #[test]
    fn a_round_next_to_an_odd_reference_does_not_count() {
        let mut store = Points::default();
        let workload = Workload::default();
        for (reference, throughput) in [(10.0, 1.0), (10.0, 2.0), (5.0, 3.0), (10.0, 4.0)] {
            store.add_reference(&measurement(&workload, reference, 1.0, reference));
            let round = measurement(&workload, throughput, 1.0, throughput);
            store.record(&CurveKey::Pilot.into(), round);
        }
        store.add_reference(&measurement(&workload, 10.0, 1.0, 10.0));
        assert_eq!(store.point(0, 1.0).rounds, [1.0, 4.0]);
    }

    /// Rounds of one point that wait for storage, each after a reference that computes for
    /// `of_reference_s`; `speeds` are those of both.
    fn waiting(speeds: &[(f64, f64)], of_reference_s: f64, disturbed: bool) -> Points {
        let workload = Workload::default();
        let run = |throughput, cpu_system_s, disturbed| {
            let run = measurement(&workload, throughput, 1.0, throughput);
            Measurement { cpu_system_s, disturbed, ..run }
        };
        let mut store = Points::default();
        for &(reference, throughput) in speeds {
            store.add_reference(&run(reference, of_reference_s, false));
            store.record(&CurveKey::Pilot.into(), run(throughput, 0.1, disturbed));
        }
        store
    }

    #[test]
    fn what_waits_for_storage_is_in_doubt_by_a_reference_that_waits_for_it_too() {
        let speeds = [10.0, 10.0, 10.0, 2.0, 2.0, 10.0, 10.0, 10.0];
        let kept = |of_reference_s, disturbed| {
            let store = waiting(&speeds.map(|speed| (speed, speed)), of_reference_s, disturbed);
            (store.point(0, 1.0).rounds, store.drift(&[0]).unresolved)
        };
        assert_eq!(kept(0.1, false), (vec![10.0; 5], 0), "the storage was slower");
        assert_eq!(kept(0.9, false), (speeds.to_vec(), 0), "only the processors were");
        assert_eq!(kept(0.1, true), (vec![10.0; 5], 0), "they wait for no processor");
    }

    #[test]
    fn references_that_only_a_cache_of_the_drive_sets_apart_put_nothing_in_doubt() {
        let (cached, not) = ((130.0, 6.0), (6.0, 6.1));
        let store = waiting(&[cached, cached, cached, not, not, cached, cached], 0.1, false);
        let far_off = (0..8).filter(|&at| store.references.far_off_beside(at).is_some()).count();
        assert_eq!(far_off, 3, "two and the round before the first");
        let Verdict { counted, doubtful, .. } = store.verdict(0);
        assert_eq!((counted.len(), doubtful), (7, false));
        let drift = store.drift(&[0]);
        assert_eq!((drift.remeasured, drift.unresolved), (0, 0));
    }
}
