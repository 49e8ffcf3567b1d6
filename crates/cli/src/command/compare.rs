//! `ioscape compare`: compares results of one kind row by row, and evaluated systems also workload
//! by workload and by price.

use super::predict;
use crate::asked::asked;
use crate::failure::{Failure, both};
use crate::output;
use crate::outputs;
use crate::systems::systems;
use ioscape_arguments::{Asked, CompareArgs};
use ioscape_scaling::System;
use ioscape_scaling::model::ModelKind;
use ioscape_scaling::system::names;
use ioscape_schema::{
    Document, Engine, MeasuredComparison, Outcome, Prediction, SystemComparison, Workload,
};
use ioscape_study::clients::number_of;
use ioscape_study::comparison::measured::{
    NamedDocument, NotComparable, compare_all_measured, compare_measured, condition_met,
};
use ioscape_study::comparison::{EvaluatedSystem, differences, other_pages, other_way, price};
use ioscape_workload::command_line;

/// Runs the command.
///
/// # Errors
/// Results, prices or workloads are invalid, the output cannot be written, or some row meets the
/// condition.
pub fn main(args: &CompareArgs) -> Result<(), Failure> {
    let asked = asked(&args.asked)?;
    let outputs = outputs::names_of(&args.out).reads("the result", &args.results);
    let mut outputs = outputs.reads("--workloads", &args.asked.workloads).open()?;
    let documents = output::read_results(&args.results)?;
    let is_evaluation = |one: &Document| matches!(one.outcome, Some(Outcome::Evaluation(_)));
    let mut document = output::document(documents.first().map_or(0, |one| one.seed));
    let mut found = SystemComparison::default();
    if documents.iter().all(is_evaluation) {
        found = predicted(args, &documents, asked, &mut document)?;
    } else if !asked.is_empty() || !args.prices.is_empty() || args.model != ModelKind::Default {
        return Err(Failure::misuse(
            "workloads, prices and --model need predictions: give results of `ioscape evaluate`",
        ));
    }
    let is_predicted = !found.comparison.is_empty() && args.fail_if.is_none();
    found.measured = measured(args, &documents, is_predicted)?;
    let met = condition_met(&found.measured);
    document.outcome = Some(found.into());
    let shown = outputs::finish(&mut outputs, &document, args.out.json);
    both(met.map_or(Ok(()), |text| Err(Failure::Condition(text))), shown)
}

/// Compares every other document with the first. If predictions say enough, evaluations need not
/// share a row.
fn measured(
    args: &CompareArgs,
    documents: &[Document],
    is_predicted: bool,
) -> Result<Vec<MeasuredComparison>, Failure> {
    let names = names(&args.results);
    let named = |index: usize| NamedDocument { name: &names[index], document: &documents[index] };
    let others = (1..documents.len()).map(named);
    if let Some(condition) = &args.fail_if {
        let others: Vec<NamedDocument<'_>> = others.collect();
        return compare_all_measured(named(0), &others, condition).map_err(Failure::misuse);
    }
    let mut all = Vec::new();
    for other in others {
        match compare_measured(named(0), other, None) {
            Err(NotComparable::NothingShared(..) | NotComparable::Ways { .. }) if is_predicted => {}
            one => all.push(one.map_err(Failure::misuse)?),
        }
    }
    Ok(all)
}

/// Compares evaluated systems on the same workloads, by their models.
fn predicted(
    args: &CompareArgs,
    documents: &[Document],
    asked: Vec<Asked>,
    document: &mut Document,
) -> Result<SystemComparison, Failure> {
    let asked = if asked.is_empty() { Asked::paper() } else { asked };
    asked.iter().flat_map(Asked::doubts).for_each(|doubt| document.warn(doubt.clone()));
    let systems = systems(&args.results, documents.to_vec(), args.model)?;
    let names: Vec<&str> = systems.iter().map(|system| system.name.as_str()).collect();
    let is_called = |index: usize, name: &str| systems[index].is_called(name);
    let prices = price::in_order(&names, is_called, &args.prices).map_err(Failure::misuse)?;
    let told = on_all(&systems, &asked, document)?;
    let of_system = |at: usize| told.iter().map(|row| row[at].1.clone()).collect();
    let predictions: Vec<Vec<Prediction>> = (0..systems.len()).map(of_system).collect();
    for (system, predictions) in systems.iter().zip(&predictions) {
        let doubts = system.doubts(args.model, predictions, true).into_iter();
        let doubts = doubts.chain(predict::unforced(system, predictions));
        doubts.for_each(|doubt| document.warn(doubt));
    }
    for other in systems.iter().skip(1) {
        let doubt = differences(&evaluated(&systems[0]), &evaluated(other));
        let pages = other_pages(pages_of(&systems[0]), pages_of(other));
        doubt.into_iter().chain(pages).for_each(|doubt| document.warn(doubt));
    }
    let correlation = |other: usize, at: usize| {
        let [one, base] = [other, 0].map(|system| &told[at][system].0.model);
        one.error_correlation(base)
    };
    Ok(price::compare_all(&predictions, correlation, prices.as_deref(), args.at_least))
}

/// What each system, as evaluated for the access, predicts for a workload.
type Row<'a> = Vec<(&'a System, Prediction)>;

/// The predictions of the systems, in order, for each workload that all of them can predict; the
/// others are warned about.
///
/// # Errors
/// There is no workload that all can predict.
fn on_all<'a>(
    systems: &'a [System],
    asked: &[Asked],
    document: &mut Document,
) -> Result<Vec<Row<'a>>, Failure> {
    let (mut told, mut refusals) = (Vec::new(), Vec::new());
    for one in asked {
        let parts = one.of_all(systems);
        let first = parts.first().map(|(part, _)| *part);
        let on = |(part, workload): (&'a System, Workload)| {
            let refused = |why| (why, part.name.clone());
            first.map_or(Ok(()), |first| same_way(first, part)).map_err(refused)?;
            let predicted = part.predict(one.name(), &workload);
            let found = predicted.map_err(|not| refused(predict::refusal(not)))?;
            Ok((part, one.marked(found)))
        };
        match parts.into_iter().map(on).collect::<Result<Row<'a>, _>>() {
            Ok(row) => told.push(row),
            Err(refusal) => refusals.push(refusal),
        }
    }
    predict::tell_refusals(refusals, told.is_empty(), document)?;
    Ok(told)
}

/// The properties of a system that matter for comparisons.
fn evaluated(system: &System) -> EvaluatedSystem<'_> {
    let (name, base) = (&*system.name, system.model.base());
    let environment = &system.document.environment;
    let memory_limit_bytes = system.memory_limit_bytes();
    let precondition = system.evaluation.precondition;
    let clients = number_of(&system.evaluation);
    EvaluatedSystem { name, base, memory_limit_bytes, precondition, environment, clients }
}

/// The system's name, and whether its sets entered the file cache page by page.
fn pages_of(system: &System) -> (&str, Option<Option<bool>>) {
    (system.name.as_str(), system.evaluation.came_by_page())
}

/// Refuses systems whose workloads were carried out differently.
fn same_way(first: &System, other: &System) -> Result<(), String> {
    let Some(how) = other_way(&evaluated(first), &evaluated(other)) else { return Ok(()) };
    let target = &other.evaluation.target;
    let by_as_many = number_of(&first.evaluation) == number_of(&other.evaluation);
    // The alignment of the first was chosen by its evaluation.
    let base = Workload { align_bytes: None, ..first.model.base().clone() };
    let again = command_line::measuring(target, predict::asked_memory_limit(other), &base);
    let [is_simulated, is_other] =
        [first, other].map(|system| system.model.base().engine == Engine::Sim);
    let help = match again {
        _ if is_simulated != is_other => {
            "a simulated system and a real one share no engine; `ioscape predict` with both results says how fast each is".to_owned()
        }
        // That command measures with a single client.
        Some(command) if by_as_many => {
            format!("evaluate {} the same way with `{command}`", other.name)
        }
        _ => "evaluate both the same way".to_owned(),
    };
    Err(format!("{how}: {help}"))
}
