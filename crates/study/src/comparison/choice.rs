//! The cheapest of several systems that is fast enough for a workload.

use ioscape_schema::{Cheapest, Choice, Prediction};

/// A system with its price, for one workload.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Offer<'a> {
    /// The system's prediction.
    prediction: &'a Prediction,
    /// The system's price, in the same currency as all other offers.
    price: f64,
}

impl Offer<'_> {
    fn is_to_reach(&self, at_least: f64) -> bool {
        self.prediction.throughput_bytes_per_s >= at_least && self.price.is_finite()
    }

    /// Whether even the low end of the wide interval reaches `at_least`, and the interval is not a
    /// guess.
    fn surely_reaches(&self, at_least: f64) -> bool {
        self.prediction.interval99()[0] >= at_least && !self.prediction.extrapolated
    }

    /// Whether the high end of the wide interval reaches `at_least`, or the interval is a guess.
    fn may_reach(&self, at_least: f64) -> bool {
        let is_possible =
            self.prediction.interval99()[1] >= at_least || self.prediction.extrapolated;
        is_possible && self.price.is_finite()
    }
}

/// Index of the cheapest offer whose predicted throughput is at least `at_least` bytes per second;
/// the faster one at equal prices. `None` if no offer reaches it.
fn cheapest(offers: &[Offer<'_>], at_least: f64) -> Option<usize> {
    let numbered = offers.iter().enumerate().filter(|(_, offer)| offer.is_to_reach(at_least));
    let best = numbered.min_by(|(_, a), (_, b)| {
        let speed = |o: &Offer<'_>| o.prediction.throughput_bytes_per_s;
        a.price.total_cmp(&b.price).then(speed(b).total_cmp(&speed(a)))
    });
    best.map(|(index, _)| index)
}

/// Chooses the cheapest system for one workload: `on_each` is its prediction on every system,
/// `prices` are their prices in order. `None` without systems.
pub fn choose(on_each: &[&Prediction], prices: &[f64], at_least: f64) -> Option<Cheapest> {
    let first = on_each.first()?;
    let offers: Vec<Offer<'_>> = on_each
        .iter()
        .zip(prices)
        .map(|(prediction, price)| Offer { prediction, price: *price })
        .collect();
    let best = cheapest(&offers, at_least).map(|index| offers[index]);
    let limit = best.map_or(f64::INFINITY, |offer| offer.price);
    let rivals: Vec<String> = offers
        .iter()
        .filter(|offer| offer.price < limit && offer.may_reach(at_least))
        .map(|offer| offer.prediction.system.clone())
        .collect();
    let choice = best.map(|offer| Choice {
        system: offer.prediction.system.clone(),
        price: offer.price,
        throughput_bytes_per_s: offer.prediction.throughput_bytes_per_s,
        sure: offer.surely_reaches(at_least) && rivals.is_empty(),
        extrapolated: offer.prediction.extrapolated,
    });
    Some(Cheapest {
        name: first.name.clone(),
        workload: first.workload.clone(),
        at_least_bytes_per_s: at_least,
        choice,
        rivals: Some(rivals),
    })
}

#[cfg(test)]
mod tests {
    use super::super::ratio::tests::prediction;
    use super::*;

    #[test]
    fn the_cheapest_that_reaches_wins() {
        let (slow, fair, fast) = (
            prediction(100.0, [90.0, 110.0]),
            prediction(510.0, [400.0, 650.0]),
            prediction(900.0, [800.0, 1000.0]),
        );
        let offers = [(&fast, 300.0), (&slow, 10.0), (&fair, 80.0)]
            .map(|(prediction, price)| Offer { prediction, price });
        let found = [500.0, 600.0, 1e9].map(|at_least| cheapest(&offers, at_least));
        assert_eq!(found, [Some(2), Some(0), None]);
    }

    /// The price of the chosen system, whether the choice is sure, and how many rivals it has.
    fn chosen(on_each: &[&Prediction], prices: &[f64], at_least: f64) -> (f64, bool, usize) {
        let found = choose(on_each, prices, at_least).expect("systems");
        let choice = found.choice.map_or((f64::INFINITY, false), |one| (one.price, one.sure));
        (choice.0, choice.1, found.rivals.map_or(0, |all| all.len()))
    }

    #[test]
    fn a_choice_is_sure_only_if_it_reaches_and_nothing_cheaper_may() {
        let (slow, fast) = (prediction(100.0, [90.0, 110.0]), prediction(900.0, [800.0, 1000.0]));
        let with = |at_least| chosen(&[&slow, &fast], &[10.0, 300.0], at_least);
        assert_eq!(with(50.0), (10.0, true, 0));
        assert_eq!(with(95.0), (10.0, false, 0), "it may be slower");
        assert_eq!(with(88.0), (10.0, false, 0), "it may be, one time in fifty");
        assert_eq!(with(105.0), (300.0, false, 1), "the cheaper one may reach it");
        assert_eq!(with(115.0), (300.0, false, 1), "one time in fifty");
        assert_eq!(with(120.0), (300.0, true, 0));
        assert_eq!(with(500.0), (300.0, true, 0));
        assert_eq!(with(950.0), (f64::INFINITY, false, 1), "one may, though none is predicted to");
        assert_eq!(with(1e9), (f64::INFINITY, false, 0));
        assert_eq!(choose(&[], &[], 1.0), None);
    }

    #[test]
    fn a_guess_makes_nothing_sure() {
        let guess = Prediction { extrapolated: true, ..prediction(100.0, [90.0, 110.0]) };
        let fast = prediction(900.0, [800.0, 1000.0]);
        assert_eq!(chosen(&[&guess, &fast], &[10.0, 300.0], 50.0), (10.0, false, 0));
        assert_eq!(chosen(&[&guess, &fast], &[10.0, 300.0], 500.0), (300.0, false, 1));
    }
}
