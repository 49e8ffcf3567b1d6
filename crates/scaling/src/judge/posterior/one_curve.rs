//! Where the end of a level lies for the requests of one curve.

use super::ends::{LevelEnd, OPERATIONS};
use super::overflow::Overflow;
use super::place::Places;
use super::prior::log_density;
use super::search::{REACH, Search, moved};
use ioscape_schema::BorderOperation;

/// Most that a curve by itself may say for another place, as log odds.
const MOST_SAID: f64 = 300.0;
/// Places this near to one another are never less probable than the best by more than this factor,
/// whatever one curve's law says: it holds only roughly.
const LEAST_SAID: f64 = 0.1;
/// Probability that a level ends at one size for all its requests, and that it nearly does;
/// otherwise each kind of request has its own.
const SAME: f64 = 0.35;
const NEAR: f64 = 0.35;
/// Standard deviation of where it ends if it nearly does, in ln(bytes). In control groups of 128
/// MiB, reads and writes together slow down at sets a tenth smaller than reads alone.
const NEARLY: f64 = 0.06;

impl Search<'_> {
    /// Returns where an end lies for the requests of one curve.
    ///
    /// That is at the place that all curves share; near it, as when pages waiting for write-back
    /// leave fewer to others; where memory ends by its residency; or where this curve by itself may
    /// have it. What a curve leaves open between two of its sets, the others do not settle for
    /// sure.
    pub(super) fn of_one(
        &self,
        operation: BorderOperation,
        joint: &Places,
        (ends, i): (&[LevelEnd], usize),
        kinds: &[Overflow],
    ) -> Places {
        let index = OPERATIONS.iter().position(|of| *of == operation).unwrap_or_default();
        let before = self.curve(index, ends).log_evidence;
        let says = |at, kind| {
            let ends = moved(ends, i, at, kind);
            match self.is_allowed(&ends) {
                true => (self.curve(index, &ends).log_evidence - before).min(MOST_SAID).exp(),
                false => 0.0,
            }
        };
        let at = ends[i].log_bytes;
        let prior = |place| self.prior.of_one(operation, at, place);
        let likelihood = |at| prior(at) * kinds.iter().map(|&kind| says(at, kind)).sum::<f64>();
        let about = |law: [f64; 2]| {
            let density = |place| log_density(place, law).exp() * likelihood(place);
            Places::new(law[0], 3.0 * law[1], density)
        };
        let near = about([at, NEARLY]);
        let is_near = |held: &[f64; 2]| (held[0] - at).abs() < 3.0 * NEARLY;
        let held = self.prior.held.filter(|_| operation == BorderOperation::Read);
        let held = held.filter(is_near).map(about);
        let alone = Places::new(at, self.gap(index, at).max(REACH.ln()), likelihood);
        let [low, high] = self.prior.range;
        let apart = 1.0 - SAME - NEAR;
        let [same_said, near_said] = [likelihood(at), near.total()];
        let held_said = held.as_ref().map_or(0.0, Places::total);
        let least = LEAST_SAID * same_said.max(near_said).max(held_said);
        let mut all = vec![
            (SAME * same_said.max(least), joint),
            (NEAR * near_said.max(least), &near),
            (apart * alone.total() / (high - low).max(0.1), &alone),
        ];
        all.extend(held.as_ref().map(|held| (apart * held_said.max(least), held)));
        Places::mixed(&all)
    }

    /// Distance of a place from the farther of the two sets of one curve next to it, in log bytes.
    /// The end of the range stands in for a missing set.
    fn gap(&self, index: usize, at: f64) -> f64 {
        let sets = || self.curves.points[index].iter().filter(|p| !p.filling).map(|p| p.log_set);
        let before = sets().filter(|set| *set <= at).fold(self.prior.range[0], f64::max);
        let behind = sets().filter(|set| *set > at).fold(self.prior.range[1], f64::min);
        (at - before).max(behind - at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Posterior;
    use super::super::ends::Curves;
    use super::super::law::Observed;
    use super::super::search::search;
    use ioscape_schema::{Border, BorderOperation};

    const MIB: f64 = 1_048_576.0;

    /// Points for these `sets`, in MiB, of something 30 times slower behind a cache of `cache` MiB.
    fn curve(sets: &[f64], cache: f64) -> Vec<Observed> {
        let point = |(i, &mib): (usize, &f64)| {
            let missed = (1.0 - cache / mib).max(0.0);
            let noise = [0.03, -0.01, 0.01, -0.03, 0.0][i % 5];
            Observed {
                log_set: (mib * MIB).ln(),
                log_time: (1e-10 * (1.0 + 29.0 * missed)).ln() + noise,
                sigma: 0.15,
                scatter: 0.15,
                disturbed: 0.01,
                rounds: 2,
                ..Observed::PLAIN
            }
        };
        sets.iter().enumerate().map(point).collect()
    }

    /// As in a control group of 128 MiB, where reads and writes together slowed down beyond sets of
    /// 108 MiB. Between 107 and 131 MiB no reads were measured; once, 107 to 111 was reported for
    /// them, which the law supported, too, with 15 % of noise. Other evaluations found their end
    /// beyond 118: how requests miss just beyond a cache is known only roughly.
    #[test]
    fn reads_that_were_not_measured_there_need_not_end_where_the_others_do() {
        let often: Vec<f64> = (0..40).map(|i| 1.17f64.powi(i)).collect();
        let seldom = [1.0, 8.0, 32.0, 64.0, 107.0, 131.0, 500.0];
        let points = [curve(&seldom, 108.0), curve(&often, 108.0), curve(&often, 108.0)];
        let curves = Curves { points, ..Curves::default() };
        let posterior = Posterior::new(search(&curves, [MIB.ln(), (530.0 * MIB).ln()]), curves);
        let bounds = |of| {
            let mut found = posterior.borders().into_iter().map(|found| found.border);
            let Border { low, high, .. } = found.find(|b| b.operation == of).unwrap();
            [low / MIB, high / MIB]
        };
        let [low, high] = bounds(BorderOperation::Read);
        assert!(low < 109.0 && high > 112.0, "{low} {high}");
        let [low, high] = bounds(BorderOperation::Mixed);
        assert!(low < 108.0 && high > 108.0 && high < 1.15 * low, "{low} {high}");
    }

    /// Writes in sets of 24 and 71 MiB and none between, of which 40 MiB may be dirty.
    #[test]
    fn dirty_bytes_tell_where_in_a_gap_writes_slow_down() {
        let sets = [1.0, 3.0, 9.0, 24.0, 71.0, 200.0, 500.0];
        let bounds = |limit: Option<[f64; 2]>| {
            let points = [curve(&sets, 1e9), curve(&sets, 40.0), curve(&sets, 40.0)];
            let limit = limit.map(|limit| limit.map(|mib| mib * MIB));
            let curves = Curves { points, limit, ..Curves::default() };
            let range = [MIB.ln(), (500.0 * MIB).ln()];
            let posterior = Posterior::new(search(&curves, range), curves);
            let mut found = posterior.borders().into_iter().map(|found| found.border);
            let Border { low, high, .. } =
                found.find(|b| b.operation == BorderOperation::Write).unwrap();
            [low / MIB, high / MIB]
        };
        let [low, high] = bounds(None);
        assert!(low < 24.1 && high > 70.9, "{low} {high}");
        let [low, high] = bounds(Some([27.0, 53.0]));
        assert!((25.0..40.0).contains(&low) && (40.0..56.0).contains(&high), "{low} {high}");
    }

    /// As with three processes on one processor: as long as storage is not the busiest station,
    /// misses are hidden behind requests that hit, and reads slow down only beyond the end of the
    /// cache. By the law of one process, 4.03 to 4.29 GiB was once reported for a cache of 4 GiB.
    #[test]
    fn misses_that_others_hide_do_not_move_the_end_out_of_its_bounds() {
        for cache in [80.0, 100.0, 130.0] {
            let sets: Vec<f64> = (0..24).map(|i| 16.0 * 2f64.powf(f64::from(i) / 6.0)).collect();
            let hidden = |of: Observed| {
                let misses = 7.0 * (1.0 - cache * MIB / of.log_set.exp()).max(0.0);
                // Three customers at two stations (mean value analysis).
                let sums = [0, 1, 2, 3].map(|n| misses.powi(n));
                let time = sums.iter().sum::<f64>() / sums[..3].iter().sum::<f64>();
                Observed { log_time: (1e-10 * time).ln(), sigma: 0.05, together: true, ..of }
            };
            let points: Vec<Observed> = curve(&sets, cache).into_iter().map(hidden).collect();
            let curves =
                Curves { points: [points.clone(), points.clone(), points], ..Curves::default() };
            let range = [16.0 * MIB, 220.0 * MIB].map(f64::ln);
            let posterior = Posterior::new(search(&curves, range), curves);
            let found = posterior.borders().into_iter().map(|found| found.border);
            let reads = |b: &Border| b.operation == BorderOperation::Read;
            let [low, high] =
                found.into_iter().find(reads).map(|b| [b.low / MIB, b.high / MIB]).unwrap();
            // Misses hidden throughout leave an error of a percent or two.
            assert!(
                low <= 1.02 * cache && cache <= high && high < 1.6 * low,
                "{cache}: {low} {high}"
            );
        }
    }
}
