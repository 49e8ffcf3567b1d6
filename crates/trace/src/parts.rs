//! Bytes by part of a trace. The parts are samples of the trace, so the spread between them shows
//! how uncertain its miss ratios are.

/// The number of parts of a trace, each with about the same number of requests.
pub(crate) const PARTS: usize = 32;
/// Half the width of a normal distribution's 90 % interval, in standard deviations.
pub(crate) const NORMAL90: f64 = 1.645;

/// Bytes by the part of the trace that moved them.
pub(crate) type ByPart = [f64; PARTS];

/// Adds `factor` times `other`, part by part.
pub(crate) fn add_each(sum: &mut ByPart, other: &ByPart, factor: f64) {
    sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += factor * other);
}

/// Joins neighbouring parts in pairs.
pub(crate) fn halve(parts: &mut ByPart) {
    *parts = std::array::from_fn(|i| match i < PARTS / 2 {
        true => parts[2 * i] + parts[2 * i + 1],
        false => 0.0,
    });
}

/// Returns the standard deviation of the sum of `missed` over the sum of `moved` when parts are
/// drawn at random with replacement (Efron, "Bootstrap methods", Annals of Statistics 7, 1979), in
/// closed form (Cochran, "Sampling Techniques", 1977, section 6.4). A single part says nothing
/// about others, so it counts as one Bernoulli trial.
pub(crate) fn ratio_deviation(missed: &ByPart, moved: &ByPart) -> f64 {
    let total: f64 = moved.iter().sum();
    let ratio = missed.iter().sum::<f64>() / total;
    let count = moved.iter().filter(|moved| **moved > 0.0).count() as f64;
    if count < 2.0 {
        return (ratio * (1.0 - ratio)).max(0.0).sqrt();
    }
    let off = missed.iter().zip(moved).map(|(missed, moved)| (missed - ratio * moved).powi(2));
    (count / (count - 1.0) * off.sum::<f64>()).sqrt() / total
}
