//! `ioscape compare`: evaluated systems compared workload by workload, and what their performance costs.

use crate::args::{CompareArgs, Price};
use crate::asked::{asked, paper};
use crate::failure::Failure;
use crate::outputs;
use crate::systems::System;
use crate::{output, systems};
use ioscape_schema::{Document, Prediction, SystemComparison};
use ioscape_study::comparison::{choose, compare, differences};

/// Runs the command.
///
/// # Errors
/// Results and prices that cannot be used, workloads that cannot be, and output that cannot be written.
pub fn main(args: &CompareArgs) -> Result<(), Failure> {
    let mut asked = asked(&args.asked)?;
    if asked.is_empty() {
        asked = paper();
    }
    let names = outputs::names_of(&args.out).reads("the result", &args.results);
    let mut outputs = names.reads("--workloads", &args.asked.workloads).open()?;
    let systems = systems::read(&args.results, args.model)?;
    let prices = prices(&systems, &args.prices)?;
    let mut document = output::document(systems.first().map_or(0, |one| one.document.seed));
    let mut predictions = Vec::new();
    for system in &systems {
        let one = system.predict(&asked)?;
        for doubt in system.doubts(args.model, &one) {
            document.warn(doubt);
        }
        predictions.push(one);
    }
    for other in systems.iter().skip(1) {
        differences(&systems[0].evaluated(), &other.evaluated())
            .into_iter()
            .for_each(|doubt| document.warn(doubt));
    }
    fill(&mut document, &predictions, prices.as_deref(), args.at_least);
    outputs::pour(&mut outputs, &document, args.out.json)
}

/// The price of every system in order; `None` when no price is given at all.
fn prices(systems: &[System], given: &[Price]) -> Result<Option<Vec<f64>>, Failure> {
    if given.is_empty() {
        return Ok(None);
    }
    let names: Vec<&str> = systems.iter().map(|system| system.name.as_str()).collect();
    let mut prices = vec![None; systems.len()];
    for price in given {
        let called = |(_, system): &(usize, &System)| system.is_called(&price.name);
        let mut found = systems.iter().enumerate().filter(called).map(|(index, _)| index);
        match (found.next(), found.next()) {
            (Some(only), None) => prices[only] = Some(price.amount),
            (None, _) => {
                return Err(Failure::Misuse(format!(
                    "--price {}: no system has that name: use {}",
                    price.name,
                    names.join(", ")
                )));
            }
            _ => {
                return Err(Failure::Misuse(format!(
                    "--price {}: several systems have that name: use {}",
                    price.name,
                    names.join(", ")
                )));
            }
        }
    }
    match prices.iter().position(Option::is_none) {
        Some(missing) => Err(Failure::Misuse(format!(
            "{0} has no price: add --price {0}=N, or leave all prices out",
            names[missing]
        ))),
        None => Ok(Some(prices.into_iter().flatten().collect())),
    }
}

/// Ratios of every other system to the first, and for each workload the cheapest that is fast enough.
fn fill(
    document: &mut Document,
    predictions: &[Vec<Prediction>],
    prices: Option<&[f64]>,
    at_least: Option<f64>,
) {
    let Some((first, others)) = predictions.split_first() else { return };
    let ratios = others.iter().enumerate().flat_map(|(index, other)| {
        let pair = prices.map(|prices| [prices[index + 1], prices[0]]);
        other.iter().zip(first).map(move |(one, base)| compare(one, base, pair))
    });
    let mut outcome = SystemComparison { comparison: ratios.collect(), cheapest: Vec::new() };
    if let (Some(prices), Some(at_least)) = (prices, at_least) {
        let best = |index: usize| {
            let on_each: Vec<&Prediction> = predictions.iter().map(|one| &one[index]).collect();
            choose(&on_each, prices, at_least)
        };
        outcome.cheapest = (0..first.len()).filter_map(best).collect();
    }
    document.outcome = Some(outcome.into());
}
