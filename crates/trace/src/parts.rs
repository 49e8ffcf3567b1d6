//! Bytes by part of a trace: the parts are samples of it, and tell how much its shares are worth.

/// Parts of a trace, alike in their number of requests, whose difference says how much its shares of misses are worth.
pub(crate) const PARTS: usize = 32;
/// Half the width of the 90 % interval of a normal distribution, in standard deviations.
pub(crate) const NORMAL90: f64 = 1.645;

/// Bytes by the part of the trace in which they were moved.
pub(crate) type ByPart = [f64; PARTS];

/// Adds `factor` times `other`, part by part.
pub(crate) fn add_each(sum: &mut ByPart, other: &ByPart, factor: f64) {
    sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += factor * other);
}

/// Two neighbouring parts become one.
pub(crate) fn halve(parts: &mut ByPart) {
    *parts = std::array::from_fn(|i| match i < PARTS / 2 {
        true => parts[2 * i] + parts[2 * i + 1],
        false => 0.0,
    });
}

/// Standard deviation of the sum of `missed` over that of `moved` between samples of their parts: what drawing parts at random with replacement
/// (Efron, "Bootstrap methods", Annals of Statistics 7, 1979) comes to, in closed form (Cochran, "Sampling Techniques", 1977, section 6.4).
/// One part tells nothing of others, so it counts as one trial.
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
