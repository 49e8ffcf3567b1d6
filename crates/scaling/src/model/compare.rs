//! Two systems on the same workload, and what performance costs.

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

/// A system with its price, for one workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer<'a> {
    /// What the system does.
    pub prediction: &'a Prediction,
    /// What it costs, in the same currency as all other offers.
    pub price: f64,
}

/// Index of the cheapest offer whose predicted throughput is at least `at_least` bytes per second, and whether even the low end
/// of its interval is; of equal prices the faster. `None` when no offer reaches it.
pub fn cheapest(offers: &[Offer<'_>], at_least: f64) -> Option<(usize, bool)> {
    let reach = |offer: &&(usize, &Offer<'_>)| {
        offer.1.prediction.throughput_bytes_per_s >= at_least && offer.1.price.is_finite()
    };
    let numbered: Vec<(usize, &Offer<'_>)> = offers.iter().enumerate().collect();
    let best = numbered.iter().filter(reach).min_by(|(_, a), (_, b)| {
        let speed = |o: &Offer<'_>| o.prediction.throughput_bytes_per_s;
        a.price.total_cmp(&b.price).then(speed(b).total_cmp(&speed(a)))
    });
    best.map(|(index, offer)| (*index, offer.prediction.interval90[0] >= at_least))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Workload;

    fn prediction(throughput: f64, interval90: [f64; 2]) -> Prediction {
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

    #[test]
    fn the_cheapest_that_reaches_wins_and_says_whether_it_is_sure() {
        let (slow, fair, fast) = (
            prediction(100.0, [90.0, 110.0]),
            prediction(510.0, [400.0, 650.0]),
            prediction(900.0, [800.0, 1000.0]),
        );
        let offers = [(&fast, 300.0), (&slow, 10.0), (&fair, 80.0)]
            .map(|(prediction, price)| Offer { prediction, price });
        assert_eq!(cheapest(&offers, 500.0), Some((2, false)));
        assert_eq!(cheapest(&offers, 600.0), Some((0, true)));
        assert_eq!(cheapest(&offers, 1e9), None);
    }
}
