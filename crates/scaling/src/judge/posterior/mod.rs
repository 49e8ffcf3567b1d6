//! How many levels the storage hierarchy has and where they end, with probabilities.
//!
//! One model of all three set-size curves: time per byte is memory's, which declines slowly, plus for each level the share of
//! requests that miss all before it. A level ends at the same size for reads and writes, or for one of them alone. What the
//! kernel says enters as prior and as odds: how much memory holds, and which runs only computed.

mod law;
mod search;

use super::evidence::Evidence;
use super::in_memory::{is_from_memory, waits};
use super::points::PointId;
use ioscape_schema::{BorderOperation, Bounded, CurveKey, LevelCount};
use law::Observed;
use search::{Curves, Hypothesis, OPERATIONS, search};

/// No point is known better than this, in log time: the law itself does not hold exactly.
const LAW: f64 = 0.04;
/// Standard deviation of a point in doubt.
const DOUBTFUL: f64 = 0.5;
/// Probability that something disturbed a point measured once, and the factor by which each further round lowers it.
const DISTURBED: f64 = 0.05;
const AGAIN: f64 = 0.2;
/// Standard deviation of a point with two rounds, over half their distance, if that is more than rounds usually differ.
const APART: f64 = 0.7;
/// Hypotheses less probable than this are not kept.
const NEGLIGIBLE: f64 = 0.001;
/// An end this close to an end of the curves cannot be seen, as a factor.
const MARGIN: f64 = 1.3;

/// The posterior over the number of levels.
#[derive(Clone, Debug)]
pub(crate) struct Posterior {
    /// The hypotheses, by their number of ends from 0 on, with probabilities that sum to 1.
    counts: Vec<(f64, Hypothesis)>,
}

fn observed(evidence: &Evidence, operation: BorderOperation) -> Vec<Observed> {
    let key = CurveKey::UniqueBytes(operation);
    let curve = evidence.curves.get(&key).map_or(&[][..], Vec::as_slice);
    let mut points: Vec<Observed> =
        curve.iter().map(|&(value, id)| observed_point(evidence, value, id)).collect();
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
    // Two rounds that differ do not say which of them was disturbed; of three the median does.
    let apart = if rounds == 2 { APART * point.spread.unwrap_or(0.0) } else { 0.0 };
    let sigma = (scatter / (rounds as f64).sqrt()).max(apart);
    Observed {
        log_set: value.ln(),
        log_time: -evidence.points.throughput(id).ln(),
        sigma: sigma.hypot(LAW).min(1.0),
        disturbed: DISTURBED * AGAIN.powi(rounds as i32 - 1),
        computed: is_from_memory(&point.measurement),
        waited: waits(&point.measurement),
    }
}

/// The posterior of the levels within `range` of `unique_bytes`; `held` is what memory holds by residency.
pub(crate) fn posterior(evidence: &Evidence, held: Option<Bounded>, range: [f64; 2]) -> Posterior {
    let points = OPERATIONS.map(|operation| observed(evidence, operation));
    let curves = Curves { points, held };
    let range = [(range[0] * MARGIN).ln(), (range[1] / MARGIN).ln()];
    Posterior::new(search(&curves, range))
}

impl Posterior {
    fn new(found: Vec<Hypothesis>) -> Self {
        let most = found.iter().map(|h| h.log_probability).fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = found.iter().map(|h| (h.log_probability - most).exp()).collect();
        let sum: f64 = weights.iter().sum();
        Self { counts: weights.into_iter().map(|w| w / sum).zip(found).collect() }
    }

    /// The hypotheses, the most probable first.
    fn ranked(&self) -> Vec<&(f64, Hypothesis)> {
        let mut ranked: Vec<&(f64, Hypothesis)> = self.counts.iter().collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked
    }

    /// The hypotheses as the document keeps them.
    pub(crate) fn level_counts(&self) -> Vec<LevelCount> {
        let sizes = |hypothesis: &Hypothesis, of| -> Vec<f64> {
            let own = hypothesis.ends.iter().filter(|e| e.of.has(of));
            own.map(|e| e.end.log_bytes.exp()).collect()
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
}

#[cfg(test)]
mod tests {
    use super::*;
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
                disturbed: DISTURBED,
                computed: bytes < computed_to,
                waited: false,
            }
        };
        (0..17).map(point).collect()
    }

    fn judged(curve: &[Observed]) -> Posterior {
        let curves =
            Curves { points: [curve.to_vec(), curve.to_vec(), curve.to_vec()], held: None };
        let range = [curve[0].log_set, curve[curve.len() - 1].log_set];
        Posterior::new(search(&curves, range))
    }

    fn probability(posterior: &Posterior, regions: u32) -> f64 {
        let counts = posterior.level_counts();
        counts.iter().filter(|c| c.regions == regions).map(|c| c.probability).sum()
    }

    #[test]
    fn a_cache_over_a_slow_disk_is_certain_and_lies_where_it_ends() {
        let counts = judged(&curve(50.0, 0.05, 0.0)).level_counts();
        assert!(counts[0].regions == 2 && counts[0].probability > 0.95, "{counts:?}");
        for end in [counts[0].read_borders[0], counts[0].write_borders[0]] {
            assert!((end / MIB / 100.0 - 1.0).abs() < 0.05, "{counts:?}");
        }
    }

    #[test]
    fn a_milder_border_in_louder_noise_is_less_certain() {
        let plain = probability(&judged(&curve(50.0, 0.05, 0.0)), 2);
        let mild = probability(&judged(&curve(1.5, 0.25, 0.0)), 2);
        assert!(mild < plain, "{mild} {plain}");
    }

    #[test]
    fn runs_that_only_computed_speak_against_a_border() {
        let silent = judged(&curve(2.0, 0.1, 0.0));
        let computed = judged(&curve(2.0, 0.1, f64::INFINITY));
        let [silent, computed] = [silent, computed].map(|p| probability(&p, 1));
        assert!(computed > silent, "{computed} {silent}");
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
            let curves = Curves { points: [points.clone(), points, Vec::new()], held: None };
            let posterior = Posterior::new(search(&curves, [10.0, 25.0]));
            let sum: f64 = posterior.counts.iter().map(|c| c.0).sum();
            prop_assert!((sum - 1.0).abs() < 1e-9);
        }
    }
}
