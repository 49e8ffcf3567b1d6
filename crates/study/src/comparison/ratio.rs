//! The ratio of two systems on the same workload.

use ioscape_schema::{Comparison, Prediction};

/// Compares two predictions for the same workload: the ratio is the first system's throughput over
/// the second's.
///
/// `correlation`, 0 to 1, is that of the two models' errors: what both get wrong alike cancels in
/// the ratio, so the widths on ln(throughput) add like the sides of a triangle.
///
/// `prices`, if given, are in the same currency.
pub fn compare(
    first: &Prediction,
    second: &Prediction,
    correlation: f64,
    prices: Option<[f64; 2]>,
) -> Comparison {
    let logs = |p: &Prediction| {
        let at = p.throughput_bytes_per_s.ln();
        [at, at - p.interval90[0].ln(), p.interval90[1].ln() - at]
    };
    let ([a, a_below, a_above], [b, b_below, b_above]) = (logs(first), logs(second));
    let joint = |one: f64, other: f64| {
        (one * one + other * other - 2.0 * correlation * one * other).max(0.0).sqrt()
    };
    // Correlated errors move both throughputs the same way.
    let (below, above) = match correlation > 0.0 {
        true => (joint(a_below, b_below), joint(a_above, b_above)),
        false => (joint(a_below, b_above), joint(a_above, b_below)),
    };
    let interval90 = [(a - b - below).exp(), (a - b + above).exp()];
    let throughputs = [first.throughput_bytes_per_s, second.throughput_bytes_per_s];
    let usable =
        prices.filter(|prices| prices.iter().all(|price| price.is_finite() && *price > 0.0));
    Comparison {
        name: first.name.clone(),
        workload: first.workload.clone(),
        systems: [first.system.clone(), second.system.clone()],
        throughput_bytes_per_s: throughputs,
        ratio: (a - b).exp(),
        interval90,
        significant: false,
        verdict: None,
        extrapolated: first.extrapolated || second.extrapolated,
        throughput_per_price: usable.map(|prices| [0, 1].map(|i| throughputs[i] / prices[i])),
    }
    .judged()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use ioscape_schema::{Verdict, Workload};

    /// A prediction with this throughput and interval.
    pub fn prediction(throughput: f64, interval90: [f64; 2]) -> Prediction {
        Prediction {
            name: None,
            system: "s".into(),
            workload: Workload::default(),
            throughput_bytes_per_s: throughput,
            interval90,
            iops: 1.0,
            response_time_ns: 1.0,
            region: String::new(),
            extrapolated: false,
            application: None,
        }
    }

    #[test]
    fn widths_add_in_square_and_decide_significance() {
        let a = prediction(400.0, [400.0 / 1.2, 400.0 * 1.2]);
        let b = prediction(200.0, [100.0, 400.0]);
        let both = compare(&a, &b, 0.0, Some([100.0, 40.0]));
        let width = 1.2f64.ln().hypot(2f64.ln()).exp();
        assert!((both.ratio - 2.0).abs() < 1e-12);
        assert!((both.interval90[1] - 2.0 * width).abs() < 1e-9 && !both.significant);
        assert_eq!(both.throughput_per_price, Some([4.0, 5.0]));
        assert_eq!(both.price_ratio().map(|(at, _)| at), Some(0.8));
        let narrow = prediction(200.0, [190.0, 210.0]);
        assert!(compare(&a, &narrow, 0.0, None).significant);
        // With 90 % confidence the two differ, but not with 99 %.
        let near = prediction(330.0, [330.0 / 1.01, 330.0 * 1.01]);
        let chance = compare(&a, &near, 0.0, None);
        assert!(chance.interval90[0] > 1.0 && !chance.significant, "{chance:?}");
        assert_eq!(chance.verdict, Some(Verdict::CannotBeTold));
        let guess = compare(&a, &Prediction { extrapolated: true, ..narrow }, 0.0, None);
        assert_eq!((guess.significant, guess.verdict), (false, Some(Verdict::CannotBeTold)));
    }

    #[test]
    fn what_both_models_get_wrong_alike_cancels() {
        let a = prediction(400.0, [200.0, 800.0]);
        let same = compare(&a, &a, 1.0, None);
        assert_eq!((same.ratio, same.interval90), (1.0, [1.0, 1.0]));
        assert_eq!(same.verdict, Some(Verdict::NoDifference));
        assert_eq!(compare(&a, &a, 0.0, None).verdict, Some(Verdict::CannotBeTold));
        let guess = Prediction { extrapolated: true, ..a.clone() };
        assert_eq!(compare(&guess, &guess, 1.0, None).verdict, Some(Verdict::NoDifference));
        let half = compare(&a, &prediction(200.0, [100.0, 400.0]), 0.9, None);
        assert_eq!(half.verdict, Some(Verdict::Faster));
    }
}
