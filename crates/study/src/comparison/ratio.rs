//! Two systems on the same workload.

use ioscape_schema::{Comparison, Prediction};

/// Compares two predictions of the same workload: the ratio of throughput is the first's over the second's.
///
/// The interval takes the two errors as independent, so their widths on ln(throughput) add in square; the ratio is
/// significant when the interval leaves 1 out. `prices`, where given, are in any one currency.
pub fn compare(first: &Prediction, second: &Prediction, prices: Option<[f64; 2]>) -> Comparison {
    let logs = |p: &Prediction| {
        let at = p.throughput_bytes_per_s.ln();
        [at, at - p.interval90[0].ln(), p.interval90[1].ln() - at]
    };
    let ([a, a_below, a_above], [b, b_below, b_above]) = (logs(first), logs(second));
    let interval90 =
        [(a - b - a_below.hypot(b_above)).exp(), (a - b + a_above.hypot(b_below)).exp()];
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
        significant: interval90[0] > 1.0 || interval90[1] < 1.0,
        extrapolated: first.extrapolated || second.extrapolated,
        throughput_per_price: usable.map(|prices| [0, 1].map(|i| throughputs[i] / prices[i])),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use ioscape_schema::Workload;

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
        }
    }

    #[test]
    fn widths_add_in_square_and_decide_significance() {
        let a = prediction(400.0, [400.0 / 1.2, 400.0 * 1.2]);
        let b = prediction(200.0, [100.0, 400.0]);
        let both = compare(&a, &b, Some([100.0, 40.0]));
        let width = 1.2f64.ln().hypot(2f64.ln()).exp();
        assert!((both.ratio - 2.0).abs() < 1e-12);
        assert!((both.interval90[1] - 2.0 * width).abs() < 1e-9 && !both.significant);
        assert_eq!(both.throughput_per_price, Some([4.0, 5.0]));
        assert!(compare(&a, &prediction(200.0, [190.0, 210.0]), None).significant);
    }
}
