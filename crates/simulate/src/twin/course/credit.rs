//! The credit of a burst: the bytes moved beyond the last rate before that rate held, with an
//! interval.

use super::phase::Phase;
use ioscape_schema::Bounded;
use ioscape_schema::statistics::mean;

/// The 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.96;
/// Least relative uncertainty of the bytes moved, which are counted in requests and steps.
const KNOWN: f64 = 1e-3;

/// The bytes moved beyond the last rate in the steps before it held, with a 95 % interval.
pub fn credit(step_s: f64, rates: &[f64], last: &Phase) -> Bounded {
    // The step in which the burst ends belongs to both parts.
    let until = (last.steps.start + 1).min(rates.len());
    let (before, after) = rates.split_at(until);
    let steps = until as f64;
    let moved: f64 = before.iter().sum();
    let value = (moved - last.level.mean * steps).max(0.0) * step_s;
    // The last rate is a mean over some steps; during the burst it varied as much, but unseen.
    let of_rate = last.half(rates) * steps * (1.0 + last.steps.len() as f64 / steps).sqrt();
    let half = of_rate.hypot(NORMAL * at_border(after)) * step_s;
    let half = half.max(KNOWN * moved.min(value / step_s) * step_s);
    Bounded { value, low: (value - half).max(0.0), high: value + half }
}

/// The standard deviation of the bytes that a step counts in place of a neighbour, as a rate over
/// one step. Such shifts make neighbours deviate in opposite directions. They occur because
/// requests count on completion, and because limits may grant their rate in lumps.
fn at_border(rates: &[f64]) -> f64 {
    let middle = mean(rates);
    let pairs = rates.windows(2).map(|pair| (pair[0] - middle) * (pair[1] - middle));
    let count = rates.len().saturating_sub(1).max(1) as f64;
    (-pairs.sum::<f64>() / count).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::phase::phases;
    use super::*;

    fn told(rates: &[f64]) -> Bounded {
        credit(0.5, rates, phases(rates).last().expect("a part"))
    }

    #[test]
    fn what_goes_beyond_the_last_rate_is_credit_and_noise_leaves_it_open() {
        let plain: Vec<f64> = (0..120).map(|i| if i < 20 { 9e6 } else { 2e6 }).collect();
        let found = told(&plain);
        assert!((found.value - 7e7).abs() < 1.0, "{found:?}");
        assert!(found.high - found.low < 3e-3 * found.value && found.low < found.value);
        // If bytes come in lumps, the credit is known to about one lump.
        let lumps: Vec<f64> = plain
            .iter()
            .enumerate()
            .map(|(i, &rate)| if i < 20 { rate } else { rate * [0.5, 1.5][i % 2] })
            .collect();
        let found = told(&lumps);
        let half = (found.high - found.low) / 2.0;
        assert!((0.3e6..3e6).contains(&half), "{found:?} of lumps of a million");
        assert!(found.low < 7e7 && found.high > 7e7, "{found:?}");
    }
}
