//! Whether the number of regions on the set-size axis is certain, and if not, why.

use crate::evaluation::Evaluation;
use crate::statistics::sort_by_number;
use crate::{Border, BorderOperation, Bounded, CurveKey, LevelCount, Measurement, Purpose, Region};

/// Why the number of regions is not stated. If several reasons hold, the first one listed is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CountDoubt<'a> {
    /// Only the pilot measured sets larger than those of the curves, and they were certainly
    /// slower.
    SlowerBeyond,
    /// So few read or write sets were measured that a level could end between them.
    FewSets,
    /// The largest sets of these requests were still filling the file cache while measured. With
    /// direct I/O: the sets beyond a border [were not read in](Evaluation::not_read_in_from).
    Filling(BorderOperation),
    /// [Writes alone slow down further](Evaluation::slower_in_writes_alone) at this border.
    WritesAlone(&'a Border),
    /// The number found is not probable enough.
    Improbable,
}

/// Two sets of the pilot: the largest, which the curves do not reach, and the largest that they
/// reach or nearly reach.
///
/// If the latter was too disturbed to tell, and the largest set is far slower than a smaller one,
/// that smaller set takes its place. The pilot uses its own request size, so its sets can only be
/// compared with one another.
#[derive(Clone, Copy, Debug)]
pub struct PilotPair<'a> {
    /// The smaller set.
    pub within: &'a Measurement,
    /// The larger set.
    pub beyond: &'a Measurement,
    /// How many times slower the larger set is. The bounds include both intervals and the possible
    /// disturbance of either run, which may have been measured only once.
    pub slower: Bounded,
}

impl PilotPair<'_> {
    /// Smallest factor by which the pilot's larger set must exceed all sets of the curves.
    const LARGER: f64 = 1.3;
    /// A slowdown larger than the processors' caches cause among small sets.
    const FAR_SLOWER: f64 = 6.0;

    /// Returns whether the larger set is certainly slower.
    pub fn is_slower(&self) -> bool {
        self.slower.low >= Evaluation::SLOWER
    }
}

/// Possible difference between two runs of one machine, in log throughput, unless its references
/// show a larger one.
const ALONE: f64 = 0.25;
/// Smallest number of steps between references from which a quantile is taken.
const STEPS_LEAST: usize = 4;

fn size(m: &Measurement) -> f64 {
    m.workload.unique_bytes as f64
}

impl Evaluation {
    /// Smallest slowdown of the next level for its border to count.
    pub const SLOWER: f64 = 1.3;

    /// Returns why the number of regions is not stated; `None` if it is stated, or if no
    /// probability is known, as in older results.
    pub fn count_doubt(&self) -> Option<CountDoubt<'_>> {
        let own = self.level_counts.iter().find(|one| one.regions as usize == self.regions.len());
        let is_sure = own.is_some_and(|one| one.probability >= LevelCount::SURE);
        let is_cold = |border: &Border| self.not_read_in_from(border).is_some();
        let filling = [BorderOperation::Read, BorderOperation::Write]
            .into_iter()
            .find(|&of| self.fills_from(of).is_some() || self.of_storage(of).any(is_cold));
        if self.level_counts.is_empty() {
            None
        } else if self.beyond_curves().is_some_and(|pair| pair.is_slower()) {
            Some(CountDoubt::SlowerBeyond)
        } else if self.has_sparse_curves() {
            Some(CountDoubt::FewSets)
        } else if let Some(operation) = filling {
            Some(CountDoubt::Filling(operation))
        } else if let Some(border) = self.slower_in_writes_alone() {
            Some(CountDoubt::WritesAlone(border))
        } else {
            (!is_sure).then_some(CountDoubt::Improbable)
        }
    }

    /// Returns the largest set of the three set-size curves, in bytes.
    pub fn largest_on_curves(&self) -> Option<f64> {
        let all = [BorderOperation::Mixed, BorderOperation::Read, BorderOperation::Write];
        let last = |operation| self.set_size_curve(operation).last().map(|point| point.value);
        all.into_iter().filter_map(last).max_by(f64::total_cmp)
    }

    /// Returns from which to which set a region was measured, in bytes: no further than the curves
    /// reach.
    pub fn seen_range(&self, region: &Region) -> [f64; 2] {
        let [from, to] = region.unique_bytes;
        [from, to.min(self.largest_on_curves().unwrap_or(to))]
    }

    /// Returns what the pilot measured in sets larger than those of the curves; `None` if the
    /// curves reach as far.
    pub fn beyond_curves(&self) -> Option<PilotPair<'_>> {
        let reached = PilotPair::LARGER * self.largest_on_curves()?;
        let is_pilot = |purpose: &Purpose| *purpose == Purpose::Curve(CurveKey::Pilot);
        let probes = || self.probes.iter().filter(|probe| is_pilot(probe.purpose.first()));
        let pilot = || probes().map(|probe| &probe.measurement);
        let largest = |a: &&Measurement, b: &&Measurement| size(a).total_cmp(&size(b));
        let beyond = pilot().max_by(largest).filter(|m| size(m) > reached)?;
        let within = pilot().filter(|m| size(m) <= reached);
        let of_rounds = |m: &'_ Measurement| {
            let rounds = pilot().filter(|round| round.workload == m.workload);
            kept(rounds.collect())
        };
        let beyond = of_rounds(beyond).unwrap_or(beyond);
        let mut pairs: Vec<PilotPair<'_>> =
            within.filter_map(of_rounds).map(|within| self.pair(within, beyond)).collect();
        pairs.sort_by(|a, b| size(b.within).total_cmp(&size(a.within)));
        // The nearest set may have been disturbed, which leaves open how much slower the largest
        // one is.
        let nearest = *pairs.first()?;
        let is_open = nearest.slower.high >= PilotPair::FAR_SLOWER;
        let ends = self.borders.iter().filter(|border| !border.in_memory);
        let last = ends.map(|border| border.low).fold(0.0, f64::max);
        let mut smaller = pairs.into_iter().filter(|pair| is_open && size(pair.within) > last);
        let smaller = smaller.find(|pair| pair.slower.low >= PilotPair::FAR_SLOWER);
        Some(if nearest.is_slower() { nearest } else { smaller.unwrap_or(nearest) })
    }

    /// Returns two sets of the pilot and how many times slower the larger one is.
    fn pair<'a>(&self, within: &'a Measurement, beyond: &'a Measurement) -> PilotPair<'a> {
        let ([low, high], [beyond_low, beyond_high]) = (within.judged_ci95(), beyond.judged_ci95());
        let value = within.judged_bytes_per_s() / beyond.judged_bytes_per_s().max(1.0);
        let unseen = unseen(&self.drift.throughputs);
        let wider = |own: f64| own.ln().hypot(unseen).exp();
        let low = value / wider(value / (low / beyond_high.max(1.0)));
        // Infinite if the larger set may not have moved any data.
        let high = value * wider(high / beyond_low.max(0.0) / value);
        PilotPair { within, beyond, slower: Bounded { value, low, high } }
    }
}

/// Returns the round with the median throughput, among those that were not filling the cache and
/// those of which the throughput without others is known, if any.
fn kept(mut rounds: Vec<&Measurement>) -> Option<&Measurement> {
    if rounds.iter().any(|m| !m.was_filling()) {
        rounds.retain(|m| !m.was_filling());
    }
    if rounds.iter().any(|m| m.undisturbed_bytes_per_s().is_some()) {
        rounds.retain(|m| m.undisturbed_bytes_per_s().is_some());
    }
    sort_by_number(&mut rounds, |m| m.judged_bytes_per_s());
    rounds.get(rounds.len().saturating_sub(1) / 2).copied()
}

/// Returns a difference that two single runs rarely exceed, in log throughput: the 95th percentile
/// of the steps between successive references.
fn unseen(references: &[f64]) -> f64 {
    let steps = references.windows(2).map(|w| (w[0] / w[1]).ln().abs());
    let mut steps: Vec<f64> = steps.filter(|step| step.is_finite()).collect();
    steps.sort_by(f64::total_cmp);
    let rarely = (steps.len() * 19).div_ceil(20).checked_sub(1).and_then(|at| steps.get(at));
    rarely.filter(|_| steps.len() >= STEPS_LEAST).map_or(ALONE, |step| step.max(ALONE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Point, Probe, Region, RegionCurves, Stop, Workload};

    fn run(set: u64, rate: f64) -> Measurement {
        let workload = Workload { unique_bytes: set, ..Workload::default() };
        let mut m = Measurement::empty(workload, Stop::Confident);
        (m.throughput_bytes_per_s, m.throughput_ci95) = (rate, [0.98 * rate, 1.02 * rate]);
        m
    }

    /// One region with this probability, with curves of five sets of up to 5 MiB.
    fn one_region(probability: f64) -> Evaluation {
        let point = |mib: u64| Point {
            value: (mib << 20) as f64,
            measurement: run(mib << 20, 100.0),
            rounds: Vec::new(),
            spread: None,
        };
        let curve: Vec<Point> = (1..=5).map(point).collect();
        let count =
            LevelCount { regions: 1, probability, read_borders: vec![], write_borders: vec![] };
        let (name, curves) = ("region 1".to_owned(), RegionCurves::default());
        let focal = Workload::default();
        Evaluation {
            unique_bytes_read_curve: curve.clone(),
            unique_bytes_write_curve: curve,
            level_counts: vec![count],
            regions: vec![Region { name, unique_bytes: [1e6, 5e6], focal, curves }],
            ..Evaluation::default()
        }
    }

    #[test]
    fn a_number_is_said_where_it_is_probable_and_nothing_else_speaks_against_it() {
        assert_eq!(one_region(0.97).count_doubt(), None);
        assert_eq!(one_region(0.9).count_doubt(), Some(CountDoubt::Improbable));
        let mut sparse = one_region(0.97);
        sparse.unique_bytes_read_curve.pop();
        assert_eq!(sparse.count_doubt(), Some(CountDoubt::FewSets));
        let never_asked = Evaluation { level_counts: Vec::new(), ..sparse };
        assert_eq!(never_asked.count_doubt(), None);
    }

    #[test]
    fn the_largest_sets_that_still_came_into_the_cache_may_hide_a_level() {
        let with_last = |resident| {
            let mut evaluation = one_region(0.97);
            let last = evaluation.unique_bytes_write_curve.last_mut().expect("a point");
            let m = &mut last.measurement;
            (m.workload.unique_bytes, m.workload.read_frac, m.bytes) = (384 << 20, 1.0, 14 << 20);
            m.witness.resident_frac = Some(resident);
            evaluation
        };
        let filling = Some(CountDoubt::Filling(BorderOperation::Write));
        assert_eq!(with_last([0.008, 0.0437]).count_doubt(), filling);
        assert_eq!(with_last([0.25, 0.25]).count_doubt(), None);
    }

    /// A border of these requests within 5 % of this size.
    fn border(operation: BorderOperation, at: f64) -> Border {
        Border {
            operation,
            unique_bytes: at,
            low: 0.95 * at,
            high: 1.05 * at,
            ratio: 3.0,
            in_memory: false,
            slower: None,
        }
    }

    #[test]
    fn a_border_where_sets_are_no_longer_read_in_may_be_no_level() {
        let mut evaluation = one_region(0.97);
        evaluation.borders.push(border(BorderOperation::Read, 3.7e6));
        assert_eq!(evaluation.count_doubt(), None);
        for point in &mut evaluation.unique_bytes_read_curve {
            point.measurement.not_read_in = point.value > 3.7e6;
        }
        assert_eq!(evaluation.count_doubt(), Some(CountDoubt::Filling(BorderOperation::Read)));
    }

    #[test]
    fn a_fall_that_writes_alone_show_may_be_no_level() {
        let border = |at: f64| border(BorderOperation::Write, at);
        let mut gradual = Evaluation { borders: vec![border(2e6)], ..one_region(0.97) };
        assert_eq!(gradual.count_doubt(), None);
        gradual.borders.push(border(4e6));
        assert_eq!(gradual.count_doubt(), Some(CountDoubt::WritesAlone(&border(4e6))));
    }

    #[test]
    fn a_larger_set_that_only_the_pilot_measured_counts_where_it_is_slower() {
        let with_pilot = |rate| {
            let log = |measurement| Probe { purpose: CurveKey::Pilot.into(), measurement };
            let probes = vec![log(run(4 << 20, 100.0)), log(run(32 << 20, rate))];
            Evaluation { probes, ..one_region(0.97) }
        };
        assert_eq!(with_pilot(50.0).count_doubt(), Some(CountDoubt::SlowerBeyond));
        assert_eq!(with_pilot(90.0).count_doubt(), None);
        assert!(one_region(0.97).beyond_curves().is_none());
    }

    /// Guards against "1.46 to 560578472 times slower" for an interval that began at 0.
    #[test]
    fn how_much_slower_a_larger_set_is_has_no_end_where_it_may_not_have_moved() {
        let log = |measurement| Probe { purpose: CurveKey::Pilot.into(), measurement };
        let mut open = run(32 << 20, 10.0);
        open.throughput_ci95[0] = 0.0;
        let probes = vec![log(run(4 << 20, 100.0)), log(open)];
        let evaluation = Evaluation { probes, ..one_region(0.97) };
        let pair = evaluation.beyond_curves().expect("a pair");
        assert!(pair.slower.high.is_infinite() && pair.is_slower(), "{:?}", pair.slower);
    }

    /// Once, on a disk of 40 MB/s, a disturbed run of 23 MiB hid that 347 MiB were six hundred
    /// times slower than 5 MiB.
    #[test]
    fn a_disturbed_run_beside_it_does_not_hide_that_a_larger_set_is_far_slower() {
        let doubt = |smallest: f64, nearest: [f64; 3], ends: &[f64]| {
            let log = |measurement| Probe { purpose: CurveKey::Pilot.into(), measurement };
            let [low, rate, high] = nearest;
            let mut disturbed = run(4 << 20, rate);
            disturbed.throughput_ci95 = [low, high];
            let runs = [run(1 << 20, smallest), disturbed, run(32 << 20, 10.0)];
            let borders = ends.iter().map(|&at| border(BorderOperation::Read, at)).collect();
            Evaluation { probes: runs.map(log).into(), borders, ..one_region(0.97) }.count_doubt()
                == Some(CountDoubt::SlowerBeyond)
        };
        let open = [2.0, 100.0, 200.0];
        assert!(doubt(6000.0, open, &[]));
        assert!(!doubt(30.0, open, &[]), "the processors' caches may do as much");
        assert!(!doubt(6000.0, [11.8, 12.0, 12.2], &[]), "the nearest tells that it is not");
        assert!(!doubt(6000.0, open, &[2e6]), "a border lies between them");
    }

    /// Guards against a verdict by a run beside load, since the references leave out that load.
    #[test]
    fn a_larger_set_is_not_slower_that_others_kept_from_the_processors() {
        let slower = |undisturbed| {
            let log = |measurement| Probe { purpose: CurveKey::Pilot.into(), measurement };
            let mut beside = run(32 << 20, 40.0);
            (beside.elapsed_s, beside.cpu_system_s) = (1.0, 1.0);
            beside.witness.undisturbed_bytes_per_s = undisturbed;
            let probes = vec![log(run(4 << 20, 100.0)), log(beside)];
            let evaluation = Evaluation { probes, ..one_region(0.97) };
            evaluation.beyond_curves().map(|pair| pair.is_slower())
        };
        assert_eq!([slower(None), slower(Some(98.0))], [Some(true), Some(false)]);
    }

    /// Each run meets one of two speeds for seconds at a time, so each looks steady by itself.
    #[test]
    fn a_larger_set_is_not_slower_that_may_have_met_the_slower_of_two_speeds() {
        let slower = |speeds: f64, references: usize, beyond: &[f64]| {
            let log = |measurement| Probe { purpose: CurveKey::Pilot.into(), measurement };
            let large = beyond.iter().map(|&rate| log(run(32 << 20, rate)));
            let mut evaluation = one_region(0.97);
            evaluation.probes = [log(run(4 << 20, 100.0))].into_iter().chain(large).collect();
            let reference = |at: usize| if at.is_multiple_of(2) { 1.0 } else { speeds };
            evaluation.drift.throughputs = (0..references).map(reference).collect();
            evaluation.beyond_curves().map(|pair| pair.is_slower())
        };
        assert_eq!(slower(1.4, 0, &[100.0 / 1.4]), Some(false), "no reference tells");
        assert_eq!(slower(2.0, 20, &[50.0]), Some(false));
        assert_eq!(slower(1.0, 20, &[50.0]), Some(true));
        assert_eq!(slower(2.0, 20, &[25.0]), Some(true));
        assert_eq!(slower(1.0, 20, &[100.0, 98.0, 40.0]), Some(false), "by its median");
    }
}
