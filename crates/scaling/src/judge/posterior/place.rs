//! Where one end of a level lies: how wide the peak of its likelihood is, and within which bounds.

/// Positions at which the likelihood is summed up.
const POSITIONS: f64 = 21.0;
/// A position counts if its likelihood is this share of the largest.
const COUNTS: f64 = 0.005;
/// Probability that an end lies outside its bounds, at either side.
const TAIL: f64 = 0.025;

/// Logarithm of the sum of `likelihood` over the places within `half` of its peak, and the places between which 95 % of it lie, not closer to the
/// peak than `grain`.
pub(crate) fn place(
    peak: f64,
    half: f64,
    grain: f64,
    likelihood: impl Fn(f64) -> f64,
) -> (f64, [f64; 2]) {
    let (mut from, mut to, mut step) = (peak - half, peak + half, 0.0);
    let mut sums: Vec<(f64, f64)> = Vec::new();
    // The second time where the first showed that there is something. What is narrower than these steps counts as one, for every number of ends alike.
    for _ in 0..2 {
        step = (to - from) / POSITIONS;
        // The peak is one of the positions: a narrow one would else be found or not by chance.
        let reach = [(from - peak) / step, (to - peak) / step];
        let positions = reach[0].ceil() as i32..=reach[1].floor() as i32;
        let at = positions.map(|n| peak + step * f64::from(n));
        sums = at.map(|at| (at, step * likelihood(at))).collect();
        let most = sums.iter().map(|s| s.1).fold(0.0, f64::max);
        let counts = |s: &&(f64, f64)| s.1 >= COUNTS * most;
        let [first, last] = [sums.iter().find(counts), sums.iter().rfind(counts)]
            .map(|found| found.map_or(peak, |s| s.0));
        (from, to) = (first.min(peak) - step, last.max(peak) + step);
    }
    let total: f64 = sums.iter().map(|s| s.1).sum();
    let quantile = |share: f64| {
        let mut sum = 0.0;
        let reached = sums.iter().find(|s| {
            sum += s.1;
            sum >= share * total
        });
        reached.map_or(peak, |s| s.0)
    };
    // The place lies anywhere within its step.
    let grain = grain.max(step / 2.0);
    let low = quantile(TAIL).min(peak) - grain;
    let high = quantile(1.0 - TAIL).max(peak) + grain;
    (total.max(1e-9).ln(), [low, high])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(sd: f64) -> impl Fn(f64) -> f64 {
        move |at: f64| (-0.5 * ((at - 5.0) / sd).powi(2)).exp()
    }

    #[test]
    fn peaks_are_as_wide_as_they_are() {
        for sd in [0.01, 0.02, 0.2] {
            let (volume, [low, high]) = place(5.0, 0.8, 0.0, normal(sd));
            assert!((volume - (sd * 2.5066).ln()).abs() < 0.1, "{sd}: {volume}");
            let bounds = [(5.0 - low) / sd, (high - 5.0) / sd];
            assert!(bounds.iter().all(|b| (1.6..3.0).contains(b)), "{sd}: {bounds:?}");
        }
    }

    /// A shoulder at one side moves the positions, which must not pass over the peak.
    #[test]
    fn a_narrow_peak_with_a_shoulder_is_not_passed_over() {
        let peak = normal(1e-3);
        let shoulder = |at: f64| if (5.0..5.2).contains(&at) { 0.01 } else { 0.0 };
        let (alone, _) = place(5.0, 0.8, 0.0, &peak);
        let (beside, _) = place(5.0, 0.8, 0.0, |at| peak(at) + shoulder(at));
        assert!(beside >= alone && beside < alone + 1.5, "{beside} {alone}");
        let (_, [low, high]) = place(5.0, 0.8, 0.004, peak);
        assert!(low <= 4.996 && high >= 5.004);
    }
}
