//! How many levels the storage hierarchy has and where they end, with probabilities.
//!
//! One model covers all three set-size curves. Time per byte is memory's, which declines slowly,
//! plus each level's for the share of requests that miss all before it. A level ends at the same
//! size for reads and writes, or for one of them alone. What the kernel counts enters as prior (how
//! much memory holds) and as odds (which runs only computed).

mod added;
mod alike;
mod climb;
mod decline;
mod ends;
mod hypothesis;
mod law;
mod one_curve;
mod overflow;
mod place;
mod prior;
mod search;
mod set_borders;
mod telling;

use super::borders::SetBorder;
use super::evidence::Evidence;
use super::points::PointId;
use crate::statistics::median_error;
use ends::{Curves, OPERATIONS};
use hypothesis::{Hypothesis, SHOWS};
use ioscape_schema::statistics::sort_by_number;
use ioscape_schema::{BorderOperation, Bounded, CurveKey, LevelCount};
use law::Observed;
use overflow::Requested;
use search::search;
pub(crate) use set_borders::WIDE_GAP;
pub(crate) use telling::Telling;

/// No point is known better than this, in log time: the law itself does not hold exactly.
const LAW: f64 = 0.04;
/// Standard deviation of a point in doubt.
const DOUBTFUL: f64 = 0.5;
/// Probability that something disturbed a point measured once, and the factor by which each further round lowers it.
const DISTURBED: f64 = 0.05;
const AGAIN: f64 = 0.2;
/// Standard deviation of a point with two rounds, over half their distance, if that is more than
/// usual.
const APART: f64 = 0.7;
/// Hypotheses less probable than this are not kept.
const NEGLIGIBLE: f64 = 0.001;
/// An end within this factor of either end of the curves cannot be seen.
const MARGIN: f64 = 1.3;

/// The posterior over the number of levels.
#[derive(Clone, Debug)]
pub(crate) struct Posterior {
    /// The hypotheses in order of their number of ends, from 0, with probabilities that sum to 1.
    counts: Vec<(f64, Hypothesis)>,
    curves: Curves,
}

fn observed(evidence: &Evidence, operation: BorderOperation) -> Vec<Observed> {
    let curve = evidence.on(CurveKey::UniqueBytes(operation)).iter();
    let mut points: Vec<Observed> =
        curve.map(|&(value, id)| observed_point(evidence, value, id)).collect();
    // Where even the smallest sets wait, waiting says nothing of levels.
    let first = points.iter().position(|p| p.computed).unwrap_or(points.len());
    points[..first].iter_mut().for_each(|p| p.waited = false);
    points
}

fn observed_point(evidence: &Evidence, value: f64, id: PointId) -> Observed {
    let point = evidence.points.point(id, value);
    let doubtful = evidence.points.verdict(id).doubtful;
    let within = point.measurement.relative_error() / 1.96;
    let usual = evidence.points.repeatability().unwrap_or_else(|| within.max(0.05));
    let rounds = if doubtful { 1 } else { point.rounds.len().max(1) };
    let scatter = if doubtful { DOUBTFUL } else { usual };
    // Two rounds that differ do not show which one was disturbed; the median of three does.
    let apart = if rounds == 2 { APART * point.spread.unwrap_or(0.0) } else { 0.0 };
    let computed = point.measurement.is_from_memory();
    let filling = point.measurement.was_filling();
    let workload = &point.measurement.workload;
    let sigma = (scatter * median_error(rounds)).max(apart);
    Observed {
        log_set: value.ln(),
        log_time: -evidence.points.throughput(id).ln(),
        sigma: sigma.hypot(LAW).min(1.0),
        scatter,
        disturbed: DISTURBED * AGAIN.powi(rounds as i32 - 1),
        rounds,
        computed,
        // Residency shows where reads come from; writes wait for other reasons, too.
        resident_known: point.measurement.resident_frac.is_some() && workload.read_frac == 1.0,
        waited: !filling && !computed && point.measurement.waits(),
        // Written data is destaged while the next request is in progress.
        together: workload.process_num > 1 || workload.queue_depth > 1 || workload.read_frac == 0.0,
        filling,
        requested: Requested::of(workload),
    }
}

/// Returns the posterior of the levels within `range` of `unique_bytes`; `held` is what memory
/// holds, by residency, and within `limit` writers begin to be held up, by dirty bytes.
pub(crate) fn posterior(
    evidence: &Evidence,
    held: Option<Bounded>,
    limit: Option<[f64; 2]>,
    range: [f64; 2],
) -> Posterior {
    let points = OPERATIONS.map(|operation| observed(evidence, operation));
    let curves = Curves { points, held, limit };
    let range = [(range[0] * MARGIN).ln(), (range[1] / MARGIN).ln()];
    Posterior::new(search(&curves, range), curves)
}

impl Posterior {
    fn new(found: Vec<Hypothesis>, curves: Curves) -> Self {
        let most = found.iter().map(|h| h.log_probability).fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = found.iter().map(|h| (h.log_probability - most).exp()).collect();
        let sum: f64 = weights.iter().sum();
        Self { counts: weights.into_iter().map(|w| w / sum).zip(found).collect(), curves }
    }

    /// The hypotheses, the most probable first.
    fn ranked(&self) -> Vec<&(f64, Hypothesis)> {
        let mut ranked: Vec<&(f64, Hypothesis)> = self.counts.iter().collect();
        sort_by_number(&mut ranked, |one| -one.0);
        ranked
    }

    /// The hypotheses as the document keeps them.
    pub(crate) fn level_counts(&self) -> Vec<LevelCount> {
        let sizes = |hypothesis: &Hypothesis, of| -> Vec<f64> {
            let own = hypothesis.slower_behind(&self.curves, of).into_iter();
            let shown = own.filter(|(_, ratio)| *ratio >= SHOWS);
            shown.map(|(i, _)| hypothesis.ends[i].log_bytes.exp()).collect()
        };
        let likely = self.ranked().into_iter().filter(|(p, _)| *p >= NEGLIGIBLE);
        let count = |(probability, hypothesis): &(f64, Hypothesis)| LevelCount {
            regions: hypothesis.ends.len() as u32 + 1,
            probability: *probability,
            read_borders: sizes(hypothesis, BorderOperation::Read),
            write_borders: sizes(hypothesis, BorderOperation::Write),
        };
        likely.map(count).collect()
    }

    /// The borders of the most probable hypothesis, in order for each kind of requests.
    pub(crate) fn borders(&self) -> Vec<SetBorder> {
        let ranked = self.ranked();
        ranked.first().map_or(Vec::new(), |(_, best)| set_borders::borders(best, &self.curves))
    }
}

#[cfg(test)]
impl Observed {
    /// One round of single-page requests, of which only the rate is known.
    pub(crate) const PLAIN: Self = Self {
        log_set: 0.0,
        log_time: 0.0,
        sigma: 0.1,
        scatter: 0.1,
        disturbed: 0.01,
        rounds: 1,
        computed: false,
        resident_known: false,
        waited: false,
        together: false,
        filling: false,
        requested: Requested::ONE_PAGE,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Border;
    use proptest::prelude::*;

    const MIB: f64 = 1048576.0;

    /// Points of a file cache of 100 MiB over something `slower` times slower, with `noise` that alternates.
    fn curve(slower: f64, noise: f64, computed_to: f64) -> Vec<Observed> {
        let point = |i: i32| {
            let bytes = MIB * 1.7f64.powi(i);
            let missed = (1.0 - 100.0 * MIB / bytes).max(0.0);
            let sign = [1.0, -0.4, 0.3, -1.0, 0.1][i as usize % 5];
            Observed {
                log_set: bytes.ln(),
                log_time: (1e-10 * (1.0 + (slower - 1.0) * missed)).ln() + noise * sign,
                sigma: noise.max(LAW),
                scatter: noise,
                disturbed: DISTURBED,
                rounds: 1,
                computed: bytes < computed_to,
                ..Observed::PLAIN
            }
        };
        (0..17).map(point).collect()
    }

    fn judged(curve: &[Observed]) -> Posterior {
        let curves = Curves { points: [(); 3].map(|()| curve.to_vec()), ..Curves::default() };
        let range = [curve[0].log_set, curve[curve.len() - 1].log_set];
        Posterior::new(search(&curves, range), curves)
    }

    fn probability(posterior: &Posterior, regions: u32) -> f64 {
        let counts = posterior.level_counts();
        counts.iter().filter(|c| c.regions == regions).map(|c| c.probability).sum()
    }

    #[test]
    fn a_cache_over_a_slow_disk_is_certain_and_its_bounds_hold() {
        let posterior = judged(&curve(50.0, 0.05, 0.0));
        assert!(probability(&posterior, 2) > 0.95, "{:?}", posterior.level_counts());
        for SetBorder { border, .. } in posterior.borders() {
            assert!(border.low <= 101.0 * MIB && border.high >= 99.0 * MIB, "{border:?}");
            assert!(border.high < 1.2 * border.low, "{border:?}");
        }
    }

    /// Guards against false precision, as with four clients: the mix fell gradually from 74 MiB on,
    /// and reads, measured in 24, 69 and 118 MiB, were reported to leave the server's memory of 80
    /// MiB at 67.2 to 68.7.
    #[test]
    fn a_wide_gap_of_one_curve_is_not_closed_by_how_the_others_miss() {
        let all = curve(50.0, 0.05, 0.0);
        let mut reads = all.clone();
        let (from, to) = (30.0 * MIB, 110.0 * MIB);
        reads.retain(|p| !(from..to).contains(&p.log_set.exp()));
        let range = [all[0].log_set, all[all.len() - 1].log_set];
        let curves = Curves { points: [reads, all.clone(), all], ..Curves::default() };
        let posterior = Posterior::new(search(&curves, range), curves);
        for SetBorder { border, .. } in posterior.borders() {
            let is_open = border.low < 25.0 * MIB && border.high > 118.0 * MIB;
            let is_close = border.high < 1.2 * border.low;
            let of_reads = border.operation == BorderOperation::Read;
            assert!(if of_reads { is_open } else { is_close }, "{border:?}");
        }
    }

    /// As on a simulated disk of 40 MB/s: mixes of 108 MiB waited for writes, and once one end for
    /// all was put at 103 MiB, although 125 MiB stayed resident.
    #[test]
    fn an_end_of_writes_takes_no_part_of_what_memory_holds() {
        let points = |of: &[(f64, f64, usize)]| -> Vec<Observed> {
            let point = |&(mib, gb_per_s, rounds): &(f64, f64, usize)| Observed {
                log_set: (mib * MIB).ln(),
                log_time: -(gb_per_s * 1e9).ln(),
                sigma: 0.15,
                scatter: 0.15,
                disturbed: DISTURBED,
                rounds,
                waited: gb_per_s < 1.0,
                ..Observed::PLAIN
            };
            of.iter().map(point).collect()
        };
        let reads = points(&[(1.0, 15.6, 1), (6.0, 13.3, 3), (235.0, 0.0123, 3)]);
        let writes = points(&[(1.0, 7.27, 1), (235.0, 0.0235, 1)]);
        let mixed = [
            (1.0, 8.5, 1),
            (5.0, 8.1, 1),
            (23.0, 3.96, 3),
            (95.0, 3.7, 3),
            (108.0, 0.08, 1),
            (235.0, 0.01, 3),
        ];
        let [value, low, high] = [125.0, 122.0, 129.0].map(|mib| mib * MIB);
        let held = Some(Bounded { value, low, high });
        let curves = Curves { points: [reads, writes, points(&mixed)], held, ..Curves::default() };
        let range = [(1.3 * MIB).ln(), (180.0 * MIB).ln()];
        let counts = Posterior::new(search(&curves, range), curves).level_counts();
        let is_held =
            |count: &&LevelCount| count.read_borders.iter().all(|at| (low..=high).contains(at));
        let probable: f64 = counts.iter().filter(is_held).map(|count| count.probability).sum();
        assert!(probable > 0.95, "{counts:?}");
    }

    /// The more precisely the ends are known, the less probable each place is; that must not favour
    /// one more end that explains nothing.
    #[test]
    fn ends_that_are_known_precisely_leave_no_room_for_another() {
        let sizes = [(100.0 * MIB, 200.0), (800.0 * MIB, 6000.0)];
        let point = |i: i32| {
            let bytes = MIB * 1.18f64.powi(i);
            let missed = |size: f64| (1.0 - size / bytes).max(0.0);
            let slower: f64 = sizes.iter().map(|&(size, by)| by * missed(size)).sum();
            let sign = [1.0, -0.4, 0.3, -1.0, 0.1][i as usize % 5];
            Observed {
                log_set: bytes.ln(),
                log_time: (1e-10 * (1.0 + slower)).ln() + 0.02 * sign,
                sigma: 0.02f64.hypot(LAW),
                disturbed: DISTURBED * AGAIN.powi(2),
                rounds: 3,
                ..curve(1.0, 0.02, 0.0)[0]
            }
        };
        let posterior = judged(&(0..55).map(point).collect::<Vec<Observed>>());
        assert!(probability(&posterior, 3) > 0.99, "{:?}", posterior.level_counts());
        assert!(posterior.telling().is_empty(), "{:?}", posterior.telling());
    }

    /// Reads of a made-up machine without any level, in MiB and MB/s; the one at 221 MiB was
    /// disturbed. Once, that point trapped the law of no level, and a level beyond all but the last
    /// set seemed certain, although nothing shows it.
    #[test]
    fn one_set_that_was_disturbed_does_not_keep_the_law_from_the_others() {
        let reads = [
            (1.0, 5348.0),
            (15.0, 5513.0),
            (57.0, 5714.0),
            (113.0, 5509.0),
            (158.0, 5497.0),
            (203.0, 5482.0),
            (221.0, 2104.0),
            (241.0, 5637.0),
            (262.0, 5618.0),
            (310.0, 5384.0),
            (434.0, 5485.0),
            (853.0, 5211.0),
            (3288.0, 5517.0),
            (48889.0, 5249.0),
        ];
        let point = |&(mib, mb_per_s): &(f64, f64)| Observed {
            log_set: (mib * MIB).ln(),
            log_time: -(mb_per_s * 1e6_f64).ln(),
            sigma: 0.06,
            disturbed: DISTURBED * AGAIN,
            rounds: 2,
            ..curve(1.0, 0.06, 0.0)[0]
        };
        let reads: Vec<Observed> = reads.iter().map(point).collect();
        let mut others = reads.clone();
        others.retain(|p| p.log_time < -(3e9_f64).ln());
        let range = [reads[0].log_set, reads[reads.len() - 1].log_set];
        let curves = Curves { points: [reads, others.clone(), others], ..Curves::default() };
        let posterior = Posterior::new(search(&curves, range), curves);
        let counts = posterior.level_counts();
        let ends_late = |c: &&LevelCount| c.read_borders.iter().any(|at| *at > 3e9);
        let late: f64 = counts.iter().filter(ends_late).map(|c| c.probability).sum();
        assert!(late < 0.05, "{counts:?}");
    }

    #[test]
    fn a_mild_border_in_loud_noise_is_not_certain() {
        let posterior = judged(&curve(1.5, 0.25, 0.0));
        let most = posterior.level_counts()[0].probability;
        assert!(most < 0.95, "{:?}", posterior.level_counts());
        assert!(!posterior.telling().is_empty());
    }

    #[test]
    fn runs_that_only_computed_speak_against_a_border() {
        let with = judged(&curve(3.0, 0.1, 0.0));
        let without = judged(&curve(3.0, 0.1, f64::INFINITY));
        assert!(probability(&with, 1) < 0.05, "{:?}", with.level_counts());
        assert!(probability(&without, 1) > 0.95, "{:?}", without.level_counts());
    }

    /// Measured on ext4 over a disk of 9 MB/s, with 128 MiB of memory of which 24 MiB may be dirty,
    /// in MiB and MB/s. Just beyond the dirty limit, a part of the rewrites is absorbed, which
    /// differs from run to run.
    #[test]
    fn writes_just_beyond_a_dirty_limit_are_no_level_of_their_own() {
        let reads = [
            (1.0, 7840.0),
            (4.2, 8628.0),
            (17.3, 5924.0),
            (22.6, 5974.0),
            (23.7, 6297.0),
            (72.1, 5641.0),
        ];
        let slow_reads =
            [(102.9, 5309.0), (112.6, 4489.0), (147.1, 30.3), (210.1, 15.1), (300.0, 10.8)];
        let writes = [
            (1.0, 5829.0),
            (4.2, 3859.0),
            (17.3, 3273.0),
            (22.6, 3089.0),
            (23.7, 45.1),
            (72.1, 8.0),
        ];
        let slow_writes = [(102.9, 8.9), (123.1, 9.0), (147.1, 9.2), (300.0, 9.1)];
        let mixed = [
            (1.0, 7210.0),
            (4.2, 5454.0),
            (17.3, 5605.0),
            (22.6, 4795.0),
            (23.7, 87.1),
            (24.8, 54.8),
        ];
        let slow_mixed = [
            (29.6, 64.2),
            (32.3, 35.2),
            (35.3, 30.3),
            (72.1, 23.3),
            (102.9, 21.1),
            (147.1, 14.5),
            (210.1, 9.0),
            (300.0, 8.7),
        ];
        let curve = |parts: [&[(f64, f64)]; 2]| -> Vec<Observed> {
            let point = |&(mib, mb_per_s): &(f64, f64)| Observed {
                log_set: (mib * MIB).ln(),
                log_time: -(mb_per_s * 1e6).ln(),
                sigma: 0.13,
                scatter: 0.2,
                disturbed: DISTURBED * AGAIN.powi(2),
                rounds: 3,
                computed: mb_per_s > 1000.0,
                waited: mb_per_s < 1000.0,
                ..Observed::PLAIN
            };
            parts.concat().iter().map(point).collect()
        };
        let points = [
            curve([&reads, &slow_reads]),
            curve([&writes, &slow_writes]),
            curve([&mixed, &slow_mixed]),
        ];
        let held = Bounded { value: 124.0 * MIB, low: 121.0 * MIB, high: 127.0 * MIB };
        let curves = Curves { points, held: Some(held), ..Curves::default() };
        let posterior = Posterior::new(search(&curves, [MIB.ln(), (300.0 * MIB).ln()]), curves);
        assert!(probability(&posterior, 3) > 0.9, "{:?}", posterior.level_counts());
    }

    /// Measured by four clients with 24 MiB of memory each over a server with 80, in MiB and MB/s.
    /// Only the mix was measured between 24 and 200 MiB, where writers are held up before readers
    /// leave the server's memory. Once, its place, 51.6 to 66.8 MiB, was reported for reads.
    #[test]
    fn where_reads_leave_a_gap_the_other_curves_do_not_say_alone_where_reads_end() {
        let noisy = curve(1.0, 0.2, 0.0)[0];
        let curve = |points: &[(f64, f64)]| -> Vec<Observed> {
            let point = |&(mib, mb_per_s): &(f64, f64)| Observed {
                log_set: (mib * MIB).ln(),
                log_time: -(mb_per_s * 1e6).ln(),
                sigma: 0.2,
                scatter: 0.2,
                waited: mb_per_s < 200.0,
                together: false,
                ..noisy
            };
            points.iter().map(point).collect()
        };
        let reads =
            curve(&[(1.0, 21143.0), (2.9, 17751.0), (8.3, 9075.0), (24.0, 1757.0), (200.0, 8.2)]);
        let writes = curve(&[(1.0, 345.0), (14.1, 312.0), (200.0, 52.0)]);
        let mixed = curve(&[
            (1.0, 397.0),
            (3.8, 384.0),
            (14.1, 562.0),
            (53.2, 168.0),
            (103.1, 13.9),
            (200.0, 9.7),
        ]);
        let held = Bounded { value: 22.7 * MIB, low: 22.3 * MIB, high: 23.2 * MIB };
        let curves =
            Curves { points: [reads, writes, mixed], held: Some(held), ..Curves::default() };
        let posterior = Posterior::new(search(&curves, [MIB.ln(), (200.0 * MIB).ln()]), curves);
        let borders = posterior.borders();
        let own = borders.iter().filter(|b| b.border.operation == BorderOperation::Read);
        let second = own.map(|b| b.border).find(|b| b.unique_bytes > 30.0 * MIB);
        let Border { low, high, .. } = second.expect("reads of 200 MiB are slower by far");
        assert!(low < 55.0 * MIB && high > 80.0 * MIB, "{second:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn whatever_was_measured_the_probabilities_sum_to_one(
            times in proptest::collection::vec(-40.0..0.0f64, 0..20),
        ) {
            let mut points = curve(2.0, 0.1, 0.0);
            points.truncate(times.len());
            for (point, time) in points.iter_mut().zip(&times) {
                point.log_time = *time;
            }
            let curves = Curves { points: [points.clone(), points, Vec::new()], ..Curves::default() };
            let posterior = Posterior::new(search(&curves, [10.0, 25.0]), curves);
            let sum: f64 = posterior.counts.iter().map(|c| c.0).sum();
            prop_assert!((sum - 1.0).abs() < 1e-9);
            for SetBorder { border, .. } in posterior.borders() {
                prop_assert!(border.low <= border.unique_bytes && border.unique_bytes <= border.high);
            }
        }
    }
}
