//! `ioscape predict`: how fast workloads will be on evaluated systems, without running them.

use crate::args::PredictArgs;
use crate::asked::{Asked, asked};
use crate::failure::Failure;
use crate::outputs;
use crate::systems::System;
use crate::{output, systems, what_if};
use ioscape_schema::Document;

/// Runs the command.
///
/// # Errors
/// Results that cannot be used, workloads that cannot be, and output that cannot be written.
pub fn main(args: &PredictArgs) -> Result<(), Failure> {
    let asked = asked(&args.asked)?;
    if asked.is_empty() {
        return Err(Failure::Misuse(
            "no workload is given: describe one, such as --unique-bytes 10M --read-frac 0.6, or give --workloads paper, today or a job file"
                .to_owned(),
        ));
    }
    let names = outputs::names_of(&args.out).reads("the result", &args.results);
    let mut outputs = names.reads("--workloads", &args.asked.workloads).open()?;
    let systems = systems::read(&args.results, args.model)?;
    let document = predicted(&systems, &asked, args)?;
    outputs::pour(&mut outputs, &document, args.out.json)
}

fn predicted(systems: &[System], asked: &[Asked], args: &PredictArgs) -> Result<Document, Failure> {
    let mut document = output::document(systems.first().map_or(0, |one| one.document.seed));
    if let [only] = systems {
        document.environment = only.document.environment.clone();
    }
    let mut all = Vec::new();
    for system in systems {
        let predictions = match args.what_if.is_empty() {
            true => system.predict(asked)?,
            false => what_if::predict(system, asked, &args.what_if)?,
        };
        for doubt in system.doubts(args.model, &predictions) {
            document.warn(doubt);
        }
        all.extend(predictions);
    }
    document.outcome = Some(all.into());
    Ok(document)
}
