//! Where one end of a level lies: how wide the peak of its likelihood is, and within which bounds.

use ioscape_schema::statistics::sort_by_number;

/// Positions at which the likelihood is summed up.
const POSITIONS: f64 = 21.0;
/// A position counts if its likelihood is this share of the largest.
const COUNTS: f64 = 0.005;
/// Probability that an end lies outside its bounds, at either side.
const TAIL: f64 = 0.025;

/// Where an end lies for one kind of requests, in ln(bytes).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    /// Lower bound; the end lies within both bounds with 95 % probability.
    pub low: f64,
    pub at: f64,
    /// Upper bound.
    pub high: f64,
}

/// One place of an end.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: f64,
    /// Its likelihood times the width it stands for.
    weight: f64,
    /// Half that width.
    half: f64,
}

/// Possible places of an end around the most probable one, with the likelihood of each.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    peak: f64,
    all: Vec<Place>,
}

impl Places {
    /// Evaluates `likelihood` at the places within `half` of its peak.
    pub(crate) fn new(peak: f64, half: f64, likelihood: impl Fn(f64) -> f64) -> Self {
        let (mut from, mut to) = (peak - half, peak + half);
        let mut all: Vec<Place> = Vec::new();
        // The second pass covers where the first found something. A peak narrower than a step
        // counts as one step wide, for every number of ends alike.
        for _ in 0..2 {
            let step = (to - from) / POSITIONS;
            // The peak is one of the positions; otherwise, only chance would decide whether a
            // narrow one is found.
            let reach = [(from - peak) / step, (to - peak) / step];
            let positions = reach[0].ceil() as i32..=reach[1].floor() as i32;
            let place = |n: i32| {
                let at = peak + step * f64::from(n);
                Place { at, weight: step * likelihood(at), half: step / 2.0 }
            };
            all = positions.map(place).collect();
            let most = all.iter().map(|p| p.weight).fold(0.0, f64::max);
            let counts = |p: &&Place| p.weight >= COUNTS * most;
            let [first, last] = [all.iter().find(counts), all.iter().rfind(counts)]
                .map(|found| found.map_or(peak, |p| p.at));
            (from, to) = (first.min(peak) - step, last.max(peak) + step);
        }
        Self { peak, all }
    }

    /// The likelihood summed over all places, in ln(bytes).
    pub(crate) fn total(&self) -> f64 {
        self.all.iter().map(|p| p.weight).sum::<f64>().max(1e-9)
    }

    /// Merges all of these places, each set weighted as a whole by its share; the peak is that of
    /// the first.
    pub(crate) fn mixed(all: &[(f64, &Self)]) -> Self {
        let weighted = |(share, places): &(f64, &Self)| -> Vec<Place> {
            let by = share / places.total();
            places.all.iter().map(|p| Place { weight: by * p.weight, ..*p }).collect()
        };
        let peak = all.first().map_or(0.0, |(_, first)| first.peak);
        let mut all: Vec<Place> = all.iter().flat_map(weighted).collect();
        sort_by_number(&mut all, |one| one.at);
        Self { peak, all }
    }

    /// Returns the bounds that enclose 95 % of the likelihood, and the place: the peak if it lies
    /// in the middle half of the likelihood, otherwise the median. The bounds are no closer to it
    /// than `grain`.
    pub(crate) fn bounds(&self, grain: f64) -> Bounds {
        let total: f64 = self.all.iter().map(|p| p.weight).sum();
        let quantile = |share: f64| {
            let mut sum = 0.0;
            let reached = self.all.iter().find(|p| {
                sum += p.weight;
                sum >= share * total
            });
            // The place lies anywhere within its step.
            reached.map_or((self.peak, grain), |p| (p.at, grain.max(p.half)))
        };
        let [(low, below), (high, above)] = [TAIL, 1.0 - TAIL].map(quantile);
        let [(from, _), (middle, _), (to, _)] = [0.25, 0.5, 0.75].map(quantile);
        let at = if (from..=to).contains(&self.peak) { self.peak } else { middle };
        Bounds { low: low.min(at) - below, at, high: high.max(at) + above }
    }
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
            let places = Places::new(5.0, 0.8, normal(sd));
            let (volume, Bounds { low, high, .. }) = (places.total().ln(), places.bounds(0.0));
            assert!((volume - (sd * 2.5066).ln()).abs() < 0.1, "{sd}: {volume}");
            let bounds = [(5.0 - low) / sd, (high - 5.0) / sd];
            assert!(bounds.iter().all(|b| (1.6..3.0).contains(b)), "{sd}: {bounds:?}");
        }
    }

    /// A shoulder on one side moves the positions, which must not skip the peak.
    #[test]
    fn a_narrow_peak_with_a_shoulder_is_not_passed_over() {
        let peak = normal(1e-3);
        let shoulder = |at: f64| if (5.0..5.2).contains(&at) { 0.01 } else { 0.0 };
        let alone = Places::new(5.0, 0.8, &peak).total().ln();
        let beside = Places::new(5.0, 0.8, |at| peak(at) + shoulder(at)).total().ln();
        assert!(beside >= alone && beside < alone + 1.5, "{beside} {alone}");
        let Bounds { low, high, .. } = Places::new(5.0, 0.8, peak).bounds(0.004);
        assert!(low <= 4.996 && high >= 5.004);
    }

    #[test]
    fn bounds_reach_as_far_as_what_is_probable_besides() {
        let known = Places::new(5.0, 0.8, normal(0.01));
        let anywhere = Places::new(5.0, 1.0, |at| if (4.5..6.0).contains(&at) { 1.0 } else { 0.0 });
        let mixed = |share| Places::mixed(&[(share, &known), (1.0 - share, &anywhere)]);
        let Bounds { low, at, high } = mixed(0.8).bounds(0.0);
        // The 2.5 % beyond either bound are an eighth of the other places' 20 %.
        assert!((low - 4.69).abs() < 0.1 && (high - 5.81).abs() < 0.1, "{low} {high}");
        assert_eq!(at, 5.0);
        let Bounds { low, high, .. } = mixed(0.999).bounds(0.0);
        assert!(low > 4.97 && high < 5.03, "{low} {high}");
        // If more speaks for the others, the end is reported in their middle.
        let beyond = Places::new(5.0, 1.0, |at| if (5.5..6.0).contains(&at) { 1.0 } else { 0.0 });
        let at = Places::mixed(&[(0.1, &known), (0.9, &beyond)]).bounds(0.0).at;
        assert!((at - 5.72).abs() < 0.05, "{at}");
    }
}
