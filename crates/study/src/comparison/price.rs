//! The prices of systems, and what each workload's throughput costs on them.

use super::{choose, compare};
use ioscape_schema::{Prediction, SystemComparison};
use std::str::FromStr;

/// The price of a system: `NAME=N`.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// The system, by the name of its result file or by its target.
    pub name: String,
    /// Its price, in the currency that all prices are in.
    pub amount: f64,
}

impl FromStr for Price {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.rsplit_once('=').filter(|(name, _)| !name.is_empty());
        let amount = parts.and_then(|(_, amount)| amount.parse().ok());
        match (parts, amount) {
            (Some((name, _)), Some(amount)) if (1e-9..1e15).contains(&amount) => {
                Ok(Self { name: name.to_owned(), amount })
            }
            _ => {
                Err("give NAME=N, the name of a result and a number above 0, such as a=120"
                    .to_owned())
            }
        }
    }
}

/// Why prices do not match the systems; the options are named as users type them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PriceError {
    /// No system has the name.
    #[error("--price {0}: no system has that name: use {1}")]
    Nobody(String, String),
    /// Several systems have the name.
    #[error("--price {0}: several systems have that name: use {1}")]
    Several(String, String),
    /// A system has a price already.
    #[error("--price {0}: that system has a price already: give one for each")]
    Twice(String),
    /// A system has no price, though others do.
    #[error("{0} has no price: add --price {0}=N, or leave all prices out")]
    Missing(String),
}

/// Returns the price of every system in order; `None` if no price is given at all. `is_called` says
/// whether the system with this index in `names` has this name.
///
/// # Errors
/// A price matches no system or several, or a system has no price or two.
pub fn in_order(
    names: &[&str],
    is_called: impl Fn(usize, &str) -> bool,
    given: &[Price],
) -> Result<Option<Vec<f64>>, PriceError> {
    if given.is_empty() {
        return Ok(None);
    }
    let mut prices: Vec<Option<f64>> = vec![None; names.len()];
    let mut different = names.to_vec();
    different.dedup();
    for price in given {
        let mut found = (0..names.len()).filter(|&index| is_called(index, &price.name));
        let (name, all) = (price.name.clone(), different.join(", "));
        match (found.next(), found.next()) {
            (Some(only), None) if prices[only].is_some() => return Err(PriceError::Twice(name)),
            (Some(only), None) => prices[only] = Some(price.amount),
            (None, _) => return Err(PriceError::Nobody(name, all)),
            _ => return Err(PriceError::Several(name, all)),
        }
    }
    match prices.iter().position(Option::is_none) {
        Some(missing) => Err(PriceError::Missing(names[missing].to_owned())),
        None => Ok(Some(prices.into_iter().flatten().collect())),
    }
}

/// Compares every other system with the first, workload by workload, and with `prices` finds the
/// cheapest system that reaches `at_least` bytes per second. `correlation` is that of a system's
/// model errors with the first's, by the indices of the system and of the workload.
pub fn compare_all(
    predictions: &[Vec<Prediction>],
    correlation: impl Fn(usize, usize) -> f64,
    prices: Option<&[f64]>,
    at_least: Option<f64>,
) -> SystemComparison {
    let Some((first, others)) = predictions.split_first() else {
        return SystemComparison::default();
    };
    let correlation = &correlation;
    let ratios = (1..).zip(others).flat_map(|(number, other)| {
        let pair = prices.map(|prices| [prices[number], prices[0]]);
        let both = other.iter().zip(first).enumerate();
        both.map(move |(at, (one, base))| compare(one, base, correlation(number, at), pair))
    });
    let mut outcome = SystemComparison { comparison: ratios.collect(), ..Default::default() };
    if let (Some(prices), Some(at_least)) = (prices, at_least) {
        let best = |workload: usize| {
            let on_each: Vec<&Prediction> = predictions.iter().map(|one| &one[workload]).collect();
            choose(&on_each, prices, at_least)
        };
        outcome.cheapest = (0..first.len()).filter_map(best).collect();
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::super::ratio::tests::prediction;
    use super::*;

    #[test]
    fn a_price_has_a_name_and_a_positive_number() {
        let price = |text: &str| text.parse::<Price>();
        assert_eq!(price("a=b=120"), Ok(Price { name: "a=b".into(), amount: 120.0 }));
        for bad in ["", "a", "=3", "a=", "a=-1", "a=0", "a=nan", "a=inf", "a=1e300"] {
            assert!(price(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_system_has_one_price_or_none_has() {
        let priced = |words: &[&str]| {
            let given: Vec<Price> = words.iter().map(|word| word.parse().unwrap()).collect();
            let names = ["a", "b"];
            in_order(&names, |index, name| names[index] == name || name == "both", &given)
        };
        assert_eq!(priced(&[]), Ok(None));
        assert_eq!(priced(&["b=2", "a=1"]), Ok(Some(vec![1.0, 2.0])));
        assert_eq!(priced(&["a=1"]), Err(PriceError::Missing("b".into())));
        assert!(matches!(priced(&["c=1"]), Err(PriceError::Nobody(name, _)) if name == "c"));
        assert!(matches!(priced(&["both=1"]), Err(PriceError::Several(..))));
        assert_eq!(priced(&["a=1", "b=2", "a=3"]), Err(PriceError::Twice("a".into())));
    }

    #[test]
    fn the_others_are_compared_with_the_first() {
        let [slow, fast] = [100.0, 400.0].map(|at| vec![prediction(at, [at * 0.99, at * 1.01])]);
        let found = compare_all(&[slow, fast], |_, _| 0.0, Some(&[10.0, 20.0]), Some(200.0));
        assert!((found.comparison[0].ratio - 4.0).abs() < 1e-9);
        assert_eq!(found.comparison[0].throughput_per_price, Some([20.0, 10.0]));
        assert_eq!(found.cheapest[0].choice.as_ref().map(|one| one.price), Some(20.0));
        assert!(compare_all(&[], |_, _| 0.0, None, None).comparison.is_empty());
    }
}
