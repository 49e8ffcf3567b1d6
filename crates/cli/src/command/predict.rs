//! `ioscape predict`: how fast workloads will be on evaluated systems, without running them.

use crate::application;
use crate::asked::asked;
use crate::failure::Failure;
use crate::output;
use crate::outputs;
use crate::systems::systems;
use ioscape_arguments::{Asked, PredictArgs, WhatIfArg};
use ioscape_machine::mounts::FileSystemInfo;
use ioscape_machine::traps::judge;
use ioscape_scaling::System;
use ioscape_scaling::model::ModelKind;
use ioscape_scaling::system::{ChangedSystem, Exchange, Missing, NotPredicted};
use ioscape_schema::units::{Bytes, bytes_word};
use ioscape_schema::{Access, Document, Parameter, Prediction, Warning, WarningKind, Workload};
use ioscape_study::older::laid_out_otherwise;
use ioscape_study::reach;
use ioscape_workload::command_line;

/// What is to be predicted.
enum Question {
    Workloads(Vec<Asked>),
    Application(Box<application::AskedApplication>),
}

impl Question {
    /// The warnings about it that hold for any system.
    fn doubts(&self) -> Vec<Warning> {
        match self {
            Self::Workloads(asked) => asked.iter().flat_map(Asked::doubts).cloned().collect(),
            Self::Application(asked) => asked.1.clone(),
        }
    }
}

/// Runs the command.
///
/// # Errors
/// Results or workloads are invalid, or the output cannot be written.
pub fn main(args: &PredictArgs) -> Result<(), Failure> {
    let question = question(args)?;
    let names = outputs::names_of(&args.out)
        .reads("--what-if", args.what_if.iter().filter_map(WhatIfArg::storage))
        .reads("the result", &args.results)
        .reads("the trace", &args.trace)
        .reads("--characterization", &args.characterization);
    let mut outputs = names.reads("--workloads", &args.asked.workloads).open()?;
    let systems = systems(&args.results, output::read_results(&args.results)?, args.model)?;
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
    question.doubts().into_iter().for_each(|doubt| document.warn(doubt));
    let (mut all, mut refusals) = (Vec::new(), Vec::new());
    for system in systems {
        let Said { predictions, refusals: refused, doubts } = of_system(system, question, args)?;
        let older = laid_out_otherwise(&system.evaluation, &system.document.environment);
        let older = older.map(|doubt| doubt.at(&*system.name));
        let is_lent = args.what_if.iter().any(|one| matches!(one, WhatIfArg::Storage(_)));
        let own = system.doubts(args.model, &predictions, !is_lent).into_iter();
        let memory = unforced(system, &predictions);
        own.chain(doubts).chain(older).chain(memory).for_each(|doubt| document.warn(doubt));
        all.extend(predictions);
        refusals.extend(refused.into_iter().map(|why| (why, system.name.clone())));
    }
    tell_refusals(refusals, all.is_empty(), &mut document)?;
    document.outcome = Some(all.into());
    Ok(document)
}

/// The doubt about synchronous writes on a system that does not force them to storage.
pub fn unforced(system: &System, predictions: &[Prediction]) -> Option<Warning> {
    let there = &system.document.environment;
    let name = there.file_system.clone()?;
    let mount_options = there.mount_options.clone().unwrap_or_default();
    let place = FileSystemInfo { name, mount_options, ..FileSystemInfo::default() };
    let is_asked = predictions.iter().any(|one| one.workload.access == Access::Dsync);
    let mut doubts = judge(&place, Access::Dsync, true).into_iter().filter(|_| is_asked);
    let doubt = doubts.find(|doubt| doubt.kind == WarningKind::Trap);
    doubt.map(|doubt| doubt.at(&*system.name))
}

/// Warns about workloads that are not predicted, each with the reason and the system: one of many
/// does not stop the others.
///
/// # Errors
/// Nothing is predicted at all: the reason for the first workload.
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

/// The predictions for a system, the reasons for the missing ones, and the warnings about the
/// exchanges.
#[derive(Default)]
struct Said {
    predictions: Vec<Prediction>,
    refusals: Vec<String>,
    doubts: Vec<Warning>,
}

impl Said {
    fn add(&mut self, told: Result<(Prediction, Vec<Warning>), NotPredicted<'_>>) {
        match told {
            Ok((predicted, doubts)) => {
                self.predictions.push(predicted);
                self.doubts.extend(doubts);
            }
            Err(not) => self.refusals.push(refusal(not)),
        }
    }
}

fn of_system(system: &System, question: &Question, args: &PredictArgs) -> Result<Said, Failure> {
    let exchanges = args.what_if.iter().map(exchange).collect::<Result<Vec<_>, Failure>>()?;
    let exchanged = |part| ChangedSystem::new(part, exchanges.clone()).map_err(Failure::misuse);
    let mut said = Said::default();
    match question {
        Question::Application(asked) => {
            let (one, _) = &**asked;
            let part = one.access().map_or(system, |access| system.with_access(access));
            let changed = exchanged(part)?;
            let told = one.on(&changed);
            said.add(told.map(|(found, own)| (found, [changed.doubts(), own].concat())));
        }
        Question::Workloads(asked) => {
            for one in asked {
                let (part, workload) = one.of(system);
                let changed = exchanged(part)?;
                let told = changed.predict(one.name(), &workload);
                said.add(told.map(|found| (one.marked(found), changed.doubts())));
            }
        }
    }
    Ok(said)
}

/// The exchange that an argument names, with its result file read.
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

/// A size that is easy to type: rounded up to a whole GiB from one GiB on.
fn readable(bytes: u64) -> u64 {
    if bytes < 1 << 30 { bytes } else { bytes.checked_next_multiple_of(1 << 30).unwrap_or(bytes) }
}

/// The failure of a command without a prediction.
pub fn refused(not: NotPredicted<'_>) -> Failure {
    Failure::Misuse(refusal(not))
}

/// Why there is no prediction, with the command that would measure what is missing.
pub fn refusal(not: NotPredicted<'_>) -> String {
    let Some(missing) = not.missing else { return not.why };
    let help = match missing.beyond {
        Some((parameter, value)) => not_varied(&missing, parameter, value),
        None => measuring(&missing, asked_memory_limit(missing.system)),
    };
    format!("{}: {help}", not.why)
}

/// The memory limit to give with `--memory` again, in bytes. A limit under which the evaluation was
/// merely started, as in a container, applies without the option. Results of old versions do not
/// distinguish the two.
pub fn asked_memory_limit(system: &System) -> Option<u64> {
    match &system.evaluation.settings {
        Some(settings) => settings.memory_limit_bytes,
        None => system.memory_limit_bytes(),
    }
}

/// Memory, in bytes, that sets outgrow on almost any file system, and that holds the buffers of
/// ordinary requests.
const LESS_MEMORY: u64 = 256 << 20;

/// The memory, in bytes, of an evaluation that needs little of it and measures requests of this mean
/// size; `None` if none does.
fn less_memory_for(size_mean: u64) -> Option<u64> {
    // An application's mean may be less than the least size that is measured.
    Some(reach::limit_for(size_mean.max(4096))?.max(LESS_MEMORY))
}

/// The command that measures what is missing, in this much memory, if there is room for its sets.
fn measuring(missing: &Missing<'_>, memory: Option<u64>) -> String {
    let System { evaluation, document, .. } = missing.system;
    let room = document.environment.free_bytes.zip(missing.max_unique_bytes);
    // A file that was there before may hold more than is free beside it.
    let lacks = |(free, needed): &(u64, u64)| {
        free < needed && evaluation.unique_bytes_range[1] <= *free as f64
    };
    if let Some((free, needed)) = room.filter(lacks) {
        let [free, needed] = [free, needed].map(|bytes| Bytes(bytes as f64));
        let none =
            format!("no set of {needed} fits on {}, which had {free} free", evaluation.target);
        let enough = missing.in_less_memory.and_then(less_memory_for);
        return match enough.and_then(|memory| command(missing, Some(memory))) {
            Some(command) => format!("{none}; ask a result of `{command}` instead"),
            None => none,
        };
    }
    let command = command(missing, memory);
    let reach = missing.max_unique_bytes.map(|bytes| bytes_word(readable(bytes)));
    match (command, reach) {
        (Some(command), Some(size)) if command.starts_with("ioscape evaluate ") => {
            format!("measure it with `{command} --max-unique-bytes {size}`")
        }
        (Some(command), _) => format!("measure it with `{command}`"),
        (None, _) => "a simulated system has only what its file describes".to_owned(),
    }
}

/// The command that measures what is missing: an evaluation, or a run if no evaluation would align
/// such requests.
fn command(missing: &Missing<'_>, memory: Option<u64>) -> Option<String> {
    let (target, workload) = (&missing.system.evaluation.target, &missing.workload);
    let evaluated = missing.system.with_access(workload.access).model.base();
    let is_evaluated = evaluated.access == workload.access;
    let aligned = evaluated.align_bytes.filter(|_| is_evaluated);
    let is_aligned_alike = is_evaluated && aligned == workload.align_bytes;
    let is_free = is_aligned_alike || workload.is_aligned_within(aligned);
    let run = || command_line::running(target, memory, workload);
    if is_evaluated && !is_free {
        return run();
    }
    let align_bytes = workload.align_bytes.filter(|_| !is_free);
    let asked = Workload { align_bytes, ..workload.clone() };
    let evaluation = command_line::measuring(target, memory, &asked);
    evaluation.filter(|command| command.starts_with("ioscape evaluate ")).or_else(run)
}

/// What to do about a value that an evaluation in the same memory does not reach: larger requests
/// need a larger memory limit.
fn not_varied(missing: &Missing<'_>, parameter: Parameter, value: f64) -> String {
    let enough = match parameter {
        Parameter::SizeMean => reach::limit_for(value as u64),
        _ => None,
    };
    let limit = missing.system.memory_limit_bytes();
    let Some((limit, enough)) = limit.zip(enough).filter(|(limit, enough)| limit < enough) else {
        return "no evaluation measures that".to_owned();
    };
    let limit = Bytes(limit as f64);
    match asked_memory_limit(missing.system) {
        Some(_) => format!(
            "a control group of {limit} has no room for the buffers of such requests; in a larger one, {}",
            measuring(missing, Some(enough))
        ),
        None => format!(
            "no evaluation under the memory limit of {limit} that this one was started under measures that: start it with more"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against advice to evaluate in memory without room for the requests asked about.
    #[test]
    fn less_memory_has_room_for_the_requests() {
        let [small, large] = [LESS_MEMORY, 512 << 20].map(Some);
        assert_eq!([100, 4096, 1 << 20].map(less_memory_for), [small, small, large]);
        assert_eq!(less_memory_for(64 << 20), None);
    }
}
