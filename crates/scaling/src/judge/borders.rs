//! Borders of a `unique_bytes` curve: where a level of the hierarchy ends, within which bounds, and
//! which changes are not borders.

use super::segment::{Sample, Segment, segments};
use ioscape_schema::statistics::median;
use ioscape_schema::{Border, BorderOperation, Bounded};

/// What a cut must show to count as a border.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gate {
    /// Least slowdown factor across the window around it.
    pub change: f64,
    /// Least factor by which the next level is slower than the previous level's law predicts.
    pub kink: f64,
}

impl Gate {
    /// For final curves. Memory itself gets slower with the size of the set, by up to a factor of 1.25 across the
    /// window on present machines; a file cache that ends changes performance by far more.
    pub(crate) const FINAL: Self = Self { change: 1.5, kink: 1.3 };
    /// For the coarse pilot, whose points may lie a factor of 4 apart.
    pub(crate) const PILOT: Self = Self { change: 1.2, kink: 1.2 };
}

/// The window reaches from the border divided by this factor to the border times it.
const WINDOW: f64 = 1.25;
/// The kink is judged at this multiple of the border, where it stands out from the noise.
const BEHIND: f64 = 1.6;
/// Cuts of one curve closer than this ratio are one border with a point on its flank.
pub(crate) const SAME_BORDER: f64 = 1.25;

/// Standard deviation of log throughput for which the gates are made.
pub(crate) const USUAL_NOISE: f64 = 0.05;
/// Gates rise by this multiple of the noise beyond [`USUAL_NOISE`]: 2.5 standard deviations of the
/// difference of two points.
const CAUTION: f64 = 3.5;
/// Least factor between the medians of all points before a border and behind it.
const LASTING: f64 = 1.3;

/// A point this close to a border, as a ratio, may belong to either side of it.
const FLANK: f64 = 1.1;

/// Factor between neighbouring points above which the border lies in the gap between them, whatever
/// the laws say.
const CLIFF: f64 = 3.0;

/// A cliff belongs to a cut when its gap comes within this ratio of the cut's.
const CLIFF_REACH: f64 = 1.4;

/// A border with the points it lies between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SetBorder {
    pub border: Border,
    /// Last `unique_bytes` measured before it and first behind it.
    pub gap: [f64; 2],
}

impl SetBorder {
    /// Creates a border of storage, as far as throughput tells.
    pub(crate) fn new(
        operation: BorderOperation,
        place: Bounded,
        ratio: f64,
        gap: [f64; 2],
    ) -> Self {
        let Bounded { value: unique_bytes, low, high } = place;
        let (in_memory, slower) = (false, None);
        let border = Border { operation, unique_bytes, low, high, ratio, in_memory, slower };
        Self { border, gap }
    }
}

/// A candidate: the cut between two neighbouring segments.
#[derive(Clone, Copy)]
struct Cut {
    left: Segment,
    right: Segment,
    position: f64,
    low: f64,
    high: f64,
}

/// Log time per byte at `unique_bytes`, interpolated between values at the samples.
fn interpolate(samples: &[Sample], logs: &[f64], unique_bytes: f64) -> f64 {
    let next = samples.partition_point(|p| p.unique_bytes < unique_bytes);
    if next == 0 {
        return logs[0];
    }
    if next == samples.len() {
        return logs[next - 1];
    }
    let (a, b) = (samples[next - 1].unique_bytes.ln(), samples[next].unique_bytes.ln());
    let part = (unique_bytes.ln() - a) / (b - a);
    logs[next - 1] + part * (logs[next] - logs[next - 1])
}

/// Returns where the two laws meet, if that is next to the gap; U s(U) is continuous at a cache
/// size.
fn intersection(samples: &[Sample], left: &Segment, right: &Segment) -> Option<f64> {
    let position = (right.fit.b - left.fit.b) / (left.fit.a - right.fit.a);
    let (before, behind) = (samples[left.end - 1].unique_bytes, samples[right.first].unique_bytes);
    // The segmentation may put a mild kink one point off.
    let from = samples[left.end.saturating_sub(2).max(left.first)].unique_bytes.max(before / 1.3);
    let to = samples[(right.first + 1).min(right.end - 1)].unique_bytes.min(behind * 1.3);
    let steepens = || right.fit.slope_at(position) > left.fit.slope_at(position);
    (position >= from && position <= to && right.fit.b < 0.0 && steepens()).then_some(position)
}

/// Half the relative width of the position's error bounds: noise over the difference of the two slopes.
fn position_error(samples: &[Sample], left: &Segment, right: &Segment, position: f64) -> f64 {
    let noise = |segment: &Segment| {
        let part = &samples[segment.first..segment.end];
        part.iter().map(|p| p.sigma.powi(2)).sum::<f64>() / (part.len() as f64).powi(2)
    };
    let slopes = right.fit.slope_at(position) - left.fit.slope_at(position);
    2.0 * (noise(left) + noise(right)).sqrt() / slopes.abs().max(0.1) + 0.01
}

/// Moves a cut to the cliff next to it, if there is one.
///
/// The law of the slower level goes to zero at the cache size, so it may claim a point that is
/// still before the cliff. Pages of one request that miss one by one bend it, too.
fn at_cliff(samples: &[Sample], left: Segment, right: Segment) -> (Segment, Segment) {
    let at = |i: usize| samples[i].unique_bytes;
    let is_near = |&i: &usize| {
        at(i - 1) < at(left.end) * CLIFF_REACH && at(i) > at(left.end - 1) / CLIFF_REACH
    };
    let drop = |i: usize| samples[i].s / samples[i - 1].s;
    let steepest =
        (left.first + 1..right.end).filter(is_near).max_by(|&i, &j| drop(i).total_cmp(&drop(j)));
    match steepest.filter(|&i| drop(i) > CLIFF) {
        Some(i) => (Segment { end: i, ..left }, Segment { first: i, ..right }),
        None => (left, right),
    }
}

impl Cut {
    fn new(samples: &[Sample], known: &[f64], left: Segment, right: Segment) -> Self {
        let (left, right) = at_cliff(samples, left, right);
        let (before, behind) =
            (samples[left.end - 1].unique_bytes, samples[right.first].unique_bytes);
        // The border certainly lies between two points whose speeds differ this much.
        let is_cliff = samples[right.first].s > CLIFF * samples[left.end - 1].s;
        let meeting = intersection(samples, &left, &right)
            .filter(|at| !is_cliff || (before..=behind).contains(at));
        let Some(position) = meeting else {
            // Too few points to place the border within a wide gap: take the position of another curve's border.
            let middle = (before * behind).sqrt();
            let distance = |at: &f64| (at / middle).ln().abs();
            let near = |at: &f64| *at >= before / FLANK && *at <= behind * FLANK;
            let nearest = known
                .iter()
                .copied()
                .filter(|at| behind > before * SAME_BORDER && near(at))
                .min_by(|a, b| distance(a).total_cmp(&distance(b)));
            let position = nearest.unwrap_or(middle);
            let (before, behind) = (before.min(position), behind.max(position));
            return Self { left, right, position, low: before, high: behind };
        };
        let error = position_error(samples, &left, &right, position);
        let (mut low, mut high) = (position / (1.0 + error), position * (1.0 + error));
        if (before..=behind).contains(&position) {
            low = low.max(before);
            high = high.min(behind);
        } else {
            low = low.min(behind);
            high = high.max(before);
        }
        Self { left, right, position, low, high }
    }

    /// Returns the log slowdown across the gap alone, which decides between two cuts on one flank.
    fn drop(&self, samples: &[Sample]) -> f64 {
        (samples[self.right.first].s / samples[self.left.end - 1].s).ln()
    }

    fn passes(&self, samples: &[Sample], smooth: &[f64], gate: Gate) -> bool {
        let raw: Vec<f64> = samples.iter().map(|p| p.s.ln()).collect();
        let change = |logs: &[f64]| {
            interpolate(samples, logs, self.position * WINDOW)
                - interpolate(samples, logs, self.position / WINDOW)
        };
        let variance = samples.iter().map(|p| p.noise.powi(2)).sum::<f64>() / samples.len() as f64;
        let more = CAUTION * (variance.sqrt() - USUAL_NOISE).max(0.0);
        // Points mislead through noise, and laws through too few points; both must agree.
        let changes = change(&raw) >= gate.change.ln() + more
            && change(smooth) >= 0.8 * gate.change.ln() + more;
        changes && self.kink(samples).ln() >= gate.kink.ln() + more / 2.0 && self.lasts(samples)
    }

    /// Whether the slowdown lasts: a hierarchy never becomes faster again, and a single outlier does not last.
    fn lasts(&self, samples: &[Sample]) -> bool {
        let middle = |part: &[Sample]| median(&part.iter().map(|p| p.s.ln()).collect::<Vec<_>>());
        middle(&samples[self.right.first..]) - middle(&samples[..self.left.end]) >= LASTING.ln()
    }

    /// Returns how many times slower the next level is than the previous level's law predicts.
    fn kink(&self, samples: &[Sample]) -> f64 {
        let last = samples[self.right.end - 1].unique_bytes;
        let at = (self.position * BEHIND).min(last).max(samples[self.right.first].unique_bytes);
        let end = samples[self.left.end - 1].unique_bytes;
        let extrapolated = self.left.fit.at(at).max(self.left.fit.at(end) / 2.0);
        self.right.fit.at(at) / extrapolated
    }
}

/// Returns the borders of one curve, in order. `samples` are in order of `unique_bytes`; `known`
/// are borders of other curves.
pub(crate) fn borders(
    samples: &[Sample],
    known: &[f64],
    operation: BorderOperation,
    gate: Gate,
) -> Vec<SetBorder> {
    let levels = segments(samples, known);
    let smooth: Vec<f64> = levels
        .iter()
        .flat_map(|l| samples[l.first..l.end].iter().map(|p| l.fit.at(p.unique_bytes).ln()))
        .collect();
    let cuts = levels.windows(2).map(|w| Cut::new(samples, known, w[0], w[1]));
    let mut kept: Vec<Cut> = Vec::new();
    for cut in cuts.filter(|c| c.passes(samples, &smooth, gate)) {
        match kept.last_mut() {
            Some(last) if cut.position < last.position * SAME_BORDER => {
                if cut.drop(samples) > last.drop(samples) {
                    *last = cut;
                }
            }
            _ => kept.push(cut),
        }
    }
    let raw: Vec<f64> = samples.iter().map(|p| p.s.ln()).collect();
    let ends = kept.iter().skip(1).map(|c| samples[c.left.end - 1].unique_bytes);
    let ends: Vec<f64> = ends.chain([f64::INFINITY]).collect();
    let finish = |(cut, end): (&Cut, f64)| {
        let behind = interpolate(samples, &raw, (2.0 * cut.position).min(end));
        let gap = [cut.left.end - 1, cut.right.first].map(|i| samples[i].unique_bytes);
        let ratio = (behind - interpolate(samples, &raw, gap[0])).exp();
        let place = Bounded { value: cut.position, low: cut.low, high: cut.high };
        SetBorder::new(operation, place, ratio, gap)
    };
    // A slowdown that recovers further on is an obstacle, such as a flush that locks the cache, not
    // the end of a level.
    let all = kept.iter().zip(ends).map(finish);
    all.filter(|found| found.border.ratio >= LASTING).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn samples(points: &[(f64, f64)]) -> Vec<Sample> {
        points
            .iter()
            .map(|&(unique_bytes, throughput)| Sample {
                unique_bytes,
                s: 1.0 / throughput,
                sigma: 0.04,
                noise: 0.04,
            })
            .collect()
    }

    fn found(points: &[(f64, f64)]) -> Vec<Border> {
        let all = borders(&samples(points), &[], BorderOperation::Read, Gate::FINAL);
        all.into_iter().map(|b| b.border).collect()
    }

    #[test]
    fn memory_that_slows_down_with_the_set_has_no_border() {
        let cached = [
            (1.0, 23.0),
            (8.0, 20.0),
            (32.0, 15.0),
            (64.0, 12.9),
            (128.0, 9.5),
            (512.0, 4.7),
            (2048.0, 4.4),
        ];
        assert_eq!(found(&cached), []);
    }

    #[test]
    fn a_cliff_lies_in_its_gap() {
        let points = [(1.0, 1e4), (4.0, 1e4), (16.0, 1e4), (23.0, 1e4), (24.0, 20.0), (64.0, 20.0)];
        let border = found(&points)[0];
        assert!((23.0..=24.0).contains(&border.unique_bytes), "{border:?}");
        assert_eq!((border.low, border.high), (23.0, 24.0));
        assert!((border.ratio - 500.0).abs() < 25.0, "{border:?}");
    }

    #[test]
    fn a_dip_before_a_cliff_is_no_border() {
        // Writes to a cache of 50 MB that is locked while it is flushed: slow where a flush takes
        // as long as its interval, fast again where only every other flush is made (figure 8 of
        // Chen & Patterson 1994 dips at 39 MB).
        let fast = [1.0, 3.0, 10.0, 17.0, 23.0].map(|at| (at, 25.0));
        let dip = [(27.0, 12.0), (31.0, 6.0), (35.0, 4.0)];
        let again = [40.0, 43.0, 48.0].map(|at| (at, 24.0));
        let behind = [(51.0, 5.5), (55.0, 2.9), (60.0, 2.2), (71.0, 1.7), (100.0, 1.3)];
        let points = [&fast[..], &dip, &again, &behind].concat();
        // Reads of the same system have told where the cache ends.
        let all = borders(&samples(&points), &[49.6], BorderOperation::Write, Gate::FINAL);
        let places: Vec<f64> = all.iter().map(|b| b.border.unique_bytes).collect();
        assert!(places.iter().all(|at| (48.0..=55.0).contains(at)), "{places:?}");
        assert!(!places.is_empty());
    }

    #[test]
    fn a_rise_is_no_border() {
        assert_eq!(found(&[(1.0, 10.0), (2.0, 10.0), (2.1, 90.0), (8.0, 90.0), (64.0, 90.0)]), []);
    }

    #[test]
    fn a_single_outlier_is_no_border() {
        for factor in [0.3, 3.0] {
            let mut points: Vec<(f64, f64)> = (0..12).map(|i| (1.5f64.powi(i), 100.0)).collect();
            points[6].1 *= factor;
            assert_eq!(found(&points), []);
        }
    }

    #[test]
    fn a_client_and_its_server_have_a_cache_each() {
        // Time per byte of three levels of 14000, 22.4 and 6.85 MB/s; see the hit-ratio law.
        let time = |u: f64| {
            let (client, server) = (32f64, 96f64);
            let disk = (u - server).max(0.0) / 6.85;
            (client.min(u) / 14000.0 + (server.min(u) - client.min(u)) / 22.4 + disk) / u
        };
        let sizes = [
            1.0, 4.0, 16.0, 24.0, 31.0, 33.0, 36.0, 40.0, 64.0, 80.0, 94.0, 98.0, 128.0, 192.0,
            288.0,
        ];
        let points: Vec<(f64, f64)> = sizes.iter().map(|&u| (u, 1.0 / time(u))).collect();
        let borders = found(&points);
        assert_eq!(borders.len(), 2, "{borders:?}");
        assert!((borders[0].unique_bytes / 32.0 - 1.0).abs() < 0.05, "{borders:?}");
        assert!((borders[1].unique_bytes / 96.0 - 1.0).abs() < 0.05, "{borders:?}");
    }

    proptest! {
        #[test]
        fn borders_are_finite_and_within_the_curve(
            throughputs in proptest::collection::vec(1e-3..1e12f64, 0..25),
        ) {
            let points: Vec<(f64, f64)> = throughputs
                .iter()
                .enumerate()
                .map(|(i, &t)| (1e6 * 1.5f64.powi(i as i32), t))
                .collect();
            for border in found(&points) {
                prop_assert!(border.low <= border.unique_bytes && border.unique_bytes <= border.high);
                prop_assert!(border.unique_bytes >= points[0].0);
                prop_assert!(border.unique_bytes <= points[points.len() - 1].0);
                prop_assert!(border.ratio.is_finite());
            }
        }
    }
}
