//! `ioscape compare`: results of one kind compared row by row, evaluated systems also workload by workload and by price.

use crate::args::{CompareArgs, Price};
use crate::asked::{Asked, asked, paper};
use crate::failure::Failure;
use crate::outputs;
use crate::systems::System;
use crate::{output, remedy, systems};
use ioscape_schema::{Document, MeasuredComparison, Outcome, Prediction, SystemComparison};
use ioscape_study::comparison::measured::{
    NamedDocument, NotComparable, compare_measured, has_metric,
};
use ioscape_study::comparison::{choose, compare, differences, other_way};

/// Runs the command.
///
/// # Errors
/// Results and prices that cannot be used, workloads that cannot be, output that cannot be written, and a condition that some
/// row meets.
pub fn main(args: &CompareArgs) -> Result<(), Failure> {
    let asked = asked(&args.asked)?;
    let names = outputs::names_of(&args.out).reads("the result", &args.results);
    let mut outputs = names.reads("--workloads", &args.asked.workloads).open()?;
    let read = args.results.iter().map(|path| output::read_result(path));
    let documents: Vec<Document> = read.collect::<Result<_, _>>()?;
    let names = systems::names(&args.results);
    let is_evaluation = |one: &Document| matches!(one.outcome, Some(Outcome::Evaluation(_)));
    let mut document = output::document(documents.first().map_or(0, |one| one.seed));
    let mut found = SystemComparison::default();
    if documents.iter().all(is_evaluation) {
        found = predicted(args, &documents, asked, &mut document)?;
    } else if !asked.is_empty() || !args.prices.is_empty() {
        return Err(Failure::Misuse(
            "workloads and prices need predictions: give results of `ioscape evaluate`".to_owned(),
        ));
    }
    let is_predicted = !found.comparison.is_empty() && args.fail_if.is_none();
    found.measured = measured(args, &documents, &names, is_predicted)?;
    let failed = failed(&found.measured);
    document.outcome = Some(found.into());
    outputs::pour(&mut outputs, &document, args.out.json)?;
    failed
}

/// Every other document against the first. Where predictions say enough, evaluations need not share a row.
fn measured(
    args: &CompareArgs,
    documents: &[Document],
    names: &[String],
    is_predicted: bool,
) -> Result<Vec<MeasuredComparison>, Failure> {
    let named = |index: usize| NamedDocument { name: &names[index], document: &documents[index] };
    let mut all = Vec::new();
    for other in 1..documents.len() {
        let one = match compare_measured(named(0), named(other), args.fail_if.as_ref()) {
            Err(NotComparable::NothingShared(..)) if is_predicted => continue,
            one => one.map_err(not_comparable)?,
        };
        if let Some(condition) = &args.fail_if
            && let Err(found) = has_metric(&one.rows, condition.metric)
        {
            let (metric, found) = (condition.metric.word(), found.join(" and "));
            return Err(Failure::Misuse(format!(
                "--fail-if {}: no row counts {metric}: these results have {found}",
                condition.text
            )));
        }
        all.push(one);
    }
    Ok(all)
}

fn not_comparable(error: NotComparable) -> Failure {
    let help = match &error {
        NotComparable::Kinds(..) => "measure both with the same command",
        NotComparable::Unmeasured(..) => {
            "measure both with `ioscape run`, or trace summaries with `ioscape trace analyze`"
        }
        NotComparable::Ways { .. } => {
            "measure both the same way, or one against the other with `ioscape ab`"
        }
        NotComparable::NothingShared(..) => {
            "run the same jobs on both, `ioscape run DIR JOBS.toml`"
        }
    };
    Failure::Misuse(format!("{error}; {help}"))
}

/// Whether some row met the condition.
fn failed(measured: &[MeasuredComparison]) -> Result<(), Failure> {
    let mut met = measured.iter().filter_map(|one| one.condition.as_ref().map(|c| (one, c)));
    let Some((one, condition)) = met.find(|(_, condition)| !condition.met_by.is_empty()) else {
        return Ok(());
    };
    Err(Failure::Condition(format!(
        "{} of {} rows of {} against {} meet `{}` beyond chance",
        condition.met_by.len(),
        one.rows.len(),
        one.systems[0],
        one.systems[1],
        condition.fail_if
    )))
}

/// Evaluated systems on the same workloads, by their models.
fn predicted(
    args: &CompareArgs,
    documents: &[Document],
    asked: Vec<Asked>,
    document: &mut Document,
) -> Result<SystemComparison, Failure> {
    let asked = if asked.is_empty() { paper() } else { asked };
    let systems = systems::of(&args.results, documents, args.model)?;
    let prices = prices(&systems, &args.prices)?;
    let mut predictions = Vec::new();
    for system in &systems {
        same_way(&systems[0], system)?;
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
    Ok(filled(&systems, &predictions, prices.as_deref(), args.at_least))
}

/// Refuses systems whose workloads were carried out in different ways.
fn same_way(first: &System, other: &System) -> Result<(), Failure> {
    let Some(how) = other_way(&first.evaluated(), &other.evaluated()) else { return Ok(()) };
    let target = &other.evaluation.target;
    let again = remedy::command(target, other.memory_limit_bytes(), first.model.base());
    let help = again.map_or_else(
        || "evaluate both the same way".to_owned(),
        |c| format!("evaluate {} the same way with `{c}`", other.name),
    );
    Err(Failure::Misuse(format!("{how}: {help}")))
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
fn filled(
    systems: &[System],
    predictions: &[Vec<Prediction>],
    prices: Option<&[f64]>,
    at_least: Option<f64>,
) -> SystemComparison {
    let Some((first, others)) = predictions.split_first() else {
        return SystemComparison::default();
    };
    let ratios = others.iter().enumerate().flat_map(|(index, other)| {
        let pair = prices.map(|prices| [prices[index + 1], prices[0]]);
        let alike = systems[index + 1].model.error_correlation(&systems[0].model);
        other.iter().zip(first).map(move |(one, base)| compare(one, base, alike, pair))
    });
    let mut outcome = SystemComparison { comparison: ratios.collect(), ..Default::default() };
    if let (Some(prices), Some(at_least)) = (prices, at_least) {
        let best = |index: usize| {
            let on_each: Vec<&Prediction> = predictions.iter().map(|one| &one[index]).collect();
            choose(&on_each, prices, at_least)
        };
        outcome.cheapest = (0..first.len()).filter_map(best).collect();
    }
    outcome
}
