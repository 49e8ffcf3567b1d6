//! `ioscape predict`: how fast workloads will be on evaluated systems, without running them.

use crate::application;
use crate::asked::asked;
use crate::failure::Failure;
use crate::output;
use crate::outputs;
use ioscape_arguments::{Asked, PredictArgs, WhatIfArg};
use ioscape_scaling::System;
use ioscape_scaling::model::ModelKind;
use ioscape_scaling::system::{ChangedSystem, Exchange, Missing, NotPredicted};
use ioscape_schema::units::{Bytes, bytes_word};
use ioscape_schema::{Document, Parameter, Prediction, Warning, WarningKind};
use ioscape_study::reach;
use ioscape_workload::command_line;

/// What is to be predicted.
enum Question {
    Workloads(Vec<Asked>),
    Application(Box<application::AskedApplication>),
}

/// Runs the command.
///
/// # Errors
/// Results that cannot be used, workloads that cannot be, and output that cannot be written.
pub fn main(args: &PredictArgs) -> Result<(), Failure> {
    let question = question(args)?;
    let names = outputs::names_of(&args.out)
        .reads("--what-if", args.what_if.iter().filter_map(WhatIfArg::storage))
        .reads("the result", &args.results)
        .reads("the trace", &args.trace)
        .reads("--characterization", &args.characterization);
    let mut outputs = names.reads("--workloads", &args.asked.workloads).open()?;
    let systems = System::all(&args.results, output::read_results(&args.results)?, args.model);
    let systems = systems.map_err(Failure::misuse)?;
    let document = predicted(&systems, &question, args)?;
    outputs::finish(&mut outputs, &document, args.out.json)
}

fn question(args: &PredictArgs) -> Result<Question, Failure> {
    if let Some(application) = application::asked(args)? {
        return Ok(Question::Application(Box::new(application)));
    }
    let asked = asked(&args.asked)?;
    if asked.is_empty() {
        return Err(Failure::Misuse(
            "no workload is given: describe one, such as --unique-bytes 10M --read-frac 0.6, or give --workloads paper, today or a job file, or --trace"
                .to_owned(),
        ));
    }
    Ok(Question::Workloads(asked))
}

fn predicted(
    systems: &[System],
    question: &Question,
    args: &PredictArgs,
) -> Result<Document, Failure> {
    let mut document = output::document(systems.first().map_or(0, |one| one.document.seed));
    if let [only] = systems {
        document.environment = only.document.environment.clone();
    }
    if let Question::Application(asked) = question {
        let (_, doubts) = &**asked;
        doubts.iter().for_each(|doubt| document.warn(doubt.clone()));
    }
    let (mut all, mut refusals) = (Vec::new(), Vec::new());
    for system in systems {
        let (predictions, refused) = of_system(system, question, args)?;
        for doubt in system.doubts(args.model, &predictions) {
            document.warn(doubt);
        }
        all.extend(predictions);
        refusals.extend(refused.into_iter().map(|why| (why, system.name.clone())));
    }
    tell_refusals(refusals, all.is_empty(), &mut document)?;
    document.outcome = Some(all.into());
    Ok(document)
}

/// Warns of workloads that are not predicted, each with why and on which system: one of many does not take the others along.
///
/// # Errors
/// Nothing is predicted at all: why the first is not.
pub fn tell_refusals(
    refusals: Vec<(String, String)>,
    is_all: bool,
    document: &mut Document,
) -> Result<(), Failure> {
    for (why, system) in refusals {
        if is_all {
            return Err(Failure::Misuse(why));
        }
        document.warn(Warning::new(WarningKind::Unsupported, why).at(system));
    }
    Ok(())
}

/// What is predicted of a system, and why the rest is not.
fn of_system(
    system: &System,
    question: &Question,
    args: &PredictArgs,
) -> Result<(Vec<Prediction>, Vec<String>), Failure> {
    let exchanges = args.what_if.iter().map(exchange).collect::<Result<Vec<_>, Failure>>()?;
    let changed = |part| ChangedSystem::new(part, exchanges.clone()).map_err(Failure::misuse);
    match question {
        Question::Application(asked) => {
            let (one, _) = &**asked;
            let part = one.access().map_or(system, |access| system.with_access(access));
            Ok(match one.on(&changed(part)?) {
                Ok(predicted) => (vec![predicted], Vec::new()),
                Err(not) => (Vec::new(), vec![refusal(not)]),
            })
        }
        Question::Workloads(asked) => {
            let (mut predictions, mut refusals) = (Vec::new(), Vec::new());
            for one in asked {
                let (part, workload) = one.of(system);
                match changed(part)?.predict(one.name(), &workload) {
                    Ok(predicted) => predictions.push(predicted),
                    Err(not) => refusals.push(refusal(not)),
                }
            }
            Ok((predictions, refusals))
        }
    }
}

/// The exchange that an argument names, its result file read.
pub fn exchange(named: &WhatIfArg) -> Result<Exchange, Failure> {
    Ok(match named {
        WhatIfArg::Memory(bytes) => Exchange::Memory(*bytes),
        WhatIfArg::Storage(path) => {
            let system = System::of(path, output::read_result(path)?, ModelKind::Default);
            Exchange::Storage(Box::new(system.map_err(Failure::misuse)?))
        }
        WhatIfArg::WritePolicy(done) => Exchange::WritePolicy(*done),
    })
}

/// A size to be typed: the next whole GiB from one GiB on.
fn readable(bytes: u64) -> u64 {
    if bytes < 1 << 30 { bytes } else { bytes.next_multiple_of(1 << 30) }
}

/// The end of a command without a prediction.
pub fn refused(not: NotPredicted<'_>) -> Failure {
    Failure::Misuse(refusal(not))
}

/// Why there is no prediction, with the command that would measure what is missing.
pub fn refusal(not: NotPredicted<'_>) -> String {
    let Some(missing) = not.missing else { return not.why };
    let help = match missing.beyond {
        Some((parameter, value)) => not_varied(&missing, parameter, value),
        None => measuring(&missing, missing.system.memory_limit_bytes()),
    };
    format!("{}: {help}", not.why)
}

/// What to type to measure what is missing, in this much memory.
fn measuring(missing: &Missing<'_>, memory: Option<u64>) -> String {
    let target = &missing.system.evaluation.target;
    let reach = missing.max_unique_bytes.map(|bytes| bytes_word(readable(bytes)));
    let reach = reach.map_or_else(String::new, |size| format!(" --max-unique-bytes {size}"));
    match command_line::measuring(target, memory, &missing.workload) {
        Some(command) => format!("measure it with `{command}{reach}`"),
        None => "a simulated system has only what its file describes".to_owned(),
    }
}

/// What to do about a value that an evaluation in the same memory does not come to: larger requests take a larger memory limit.
fn not_varied(missing: &Missing<'_>, parameter: Parameter, value: f64) -> String {
    let limit = missing.system.memory_limit_bytes();
    let enough = match parameter {
        Parameter::SizeMean => reach::limit_for(value as u64),
        _ => None,
    };
    match (limit, enough.filter(|enough| limit.is_some_and(|limit| limit < *enough))) {
        (Some(limit), Some(enough)) => format!(
            "a control group of {} has no room for the buffers of such requests; in a larger one, {}",
            Bytes(limit as f64),
            measuring(missing, Some(enough))
        ),
        _ => "no evaluation measures that".to_owned(),
    }
}
