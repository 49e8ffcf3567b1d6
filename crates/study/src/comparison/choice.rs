//! The cheapest of several systems that is fast enough for a workload.

use ioscape_schema::{Cheapest, Choice, Prediction};

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

/// The cheapest system for one workload: `on_each` is its prediction on every system, `prices` are their prices in order.
/// `None` without systems.
pub fn choose(on_each: &[&Prediction], prices: &[f64], at_least: f64) -> Option<Cheapest> {
    let first = on_each.first()?;
    let offers: Vec<Offer<'_>> = on_each
        .iter()
        .zip(prices)
        .map(|(prediction, price)| Offer { prediction, price: *price })
        .collect();
    let choice = cheapest(&offers, at_least).map(|(index, sure)| Choice {
        system: on_each[index].system.clone(),
        price: prices[index],
        throughput_bytes_per_s: on_each[index].throughput_bytes_per_s,
        sure,
    });
    Some(Cheapest {
        name: first.name.clone(),
        workload: first.workload.clone(),
        at_least_bytes_per_s: at_least,
        choice,
    })
}

#[cfg(test)]
mod tests {
    use super::super::ratio::tests::prediction;
    use super::*;

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

    #[test]
    fn a_choice_is_one_of_the_systems_or_none() {
        let (slow, fast) = (prediction(100.0, [90.0, 110.0]), prediction(900.0, [800.0, 1000.0]));
        let chosen = |at_least| choose(&[&slow, &fast], &[10.0, 300.0], at_least).unwrap().choice;
        let price = |at_least| chosen(at_least).map(|choice| choice.price);
        assert_eq!([50.0, 500.0, 1e9].map(price), [Some(10.0), Some(300.0), None]);
        assert_eq!(choose(&[], &[], 1.0), None);
    }
}
