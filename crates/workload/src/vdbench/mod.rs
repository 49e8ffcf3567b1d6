//! Converts vdbench's parameter files to workloads of five parameters (Oracle Vdbench Users Guide
//! 5.04, raw I/O workloads).
//!
//! Storage definitions (`sd=`), workload definitions (`wd=`) and run definitions (`rd=`) are
//! supported. Every run becomes a job, or one job per combination of its `for` lists. Every
//! parameter maps to exactly what ioscape does, or is listed in [`KnownJobs::left_out`] with what
//! ioscape does instead, or is refused by name.

mod lines;
mod parameters;
mod runs;

use crate::fio::told_apart;
use crate::jobs::{Job, KnownJobs, LineError};
use lines::{Definition, definitions};
use parameters::{Parameters, instead};
use runs::Run;
use std::collections::BTreeMap;

/// The most jobs of a parameter file, because lists multiply.
const JOBS_MOST: usize = 10_000;

/// Storage or workload definitions by name, and their common defaults.
#[derive(Default)]
struct Named {
    default: Parameters,
    all: BTreeMap<String, Parameters>,
}

impl Named {
    /// Keeps a definition; returns errors for what cannot be carried out.
    fn take(&mut self, definition: &Definition) -> Vec<LineError> {
        if definition.name == "default" {
            return self.default.take(definition);
        }
        let mut one = self.default.clone();
        let refused = one.take(definition);
        self.all.insert(definition.name.clone(), one);
        refused
    }

    /// Returns the only definition that a name matches; the name may end with `*`.
    fn one(&self, line: usize, kind: &str, wanted: &str) -> Result<&Parameters, LineError> {
        let means = |name: &str| match wanted.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == wanted,
        };
        let mut found = self.all.iter().filter(|(name, _)| means(name));
        let first = found.next().map(|(_, one)| one);
        if found.next().is_some() || wanted.starts_with('(') {
            let what = format!(
                "{kind}={wanted} are several at the same time: ioscape has one target and runs one workload after the other"
            );
            return Err(LineError::new(line, what));
        }
        first.ok_or_else(|| LineError::new(line, format!("there is no {kind}={wanted}")))
    }
}

/// The state of parsing a parameter file.
#[derive(Default)]
struct Reading {
    storage: Named,
    workloads: Named,
    defaults: Option<Run>,
    names: BTreeMap<String, usize>,
    found: KnownJobs,
    refused: Vec<LineError>,
}

impl Reading {
    fn take(&mut self, definition: &Definition) {
        match definition.kind.as_str() {
            "sd" => self.refused.extend(self.storage.take(definition)),
            "wd" => self.refused.extend(self.workloads.take(definition)),
            "rd" => self.take_run(definition),
            _ => match general(definition) {
                Ok(what) => {
                    self.found.left_out.entry(what).or_default();
                }
                Err(why) => self.refused.push(why),
            },
        }
    }

    fn take_run(&mut self, definition: &Definition) {
        let is_default = definition.name == "default";
        let defaults = self.defaults.as_ref().filter(|_| !is_default);
        let (run, refused) = Run::of(definition, defaults);
        self.refused.extend(refused);
        if is_default {
            self.defaults = Some(run);
        } else if let Err(why) = self.run(&run)
            // This run may lack exactly what was refused.
            && self.refused.is_empty()
        {
            self.refused.push(why);
        }
    }

    /// Adds the jobs of a run.
    fn run(&mut self, run: &Run) -> Result<(), LineError> {
        let wd = match run.workload()? {
            Some(name) => self.workloads.one(run.line, "wd", name)?,
            None => &self.workloads.default,
        };
        let wanted = run.own.storage.as_deref().or(wd.storage.as_deref()).unwrap_or("*");
        let sd = self.storage.one(run.line, "sd", wanted)?;
        let room = JOBS_MOST - self.found.jobs.len();
        for (job, other_order) in run.jobs(&wd.over(sd), room)? {
            let name = told_apart(&mut self.names, &job.name);
            let told = [sd, wd, &run.own].into_iter().flat_map(|one| one.left_out.iter().cloned());
            self.found.leave_out(&name, told.chain(other_order));
            self.found.jobs.push(Job { name, ..job });
        }
        Ok(())
    }
}

/// Parses a parameter file.
///
/// # Errors
/// Everything that cannot be carried out as written, by line.
pub fn parse_vdbench(text: &str) -> Result<KnownJobs, Vec<LineError>> {
    let (definitions, refused) = definitions(text);
    let mut file = Reading { refused, ..Reading::default() };
    definitions.iter().for_each(|definition| file.take(definition));
    if file.found.jobs.is_empty() && file.refused.is_empty() {
        let what = "there is no run: write rd=NAME,wd=NAME,...".to_owned();
        file.refused.push(LineError::new(1, what));
    }
    file.refused.sort_by_key(|one| one.line);
    if file.refused.is_empty() { Ok(file.found) } else { Err(file.refused) }
}

/// Handles a line that is no definition: returns what ioscape does instead, or why it is refused.
fn general(definition: &Definition) -> Result<String, LineError> {
    let (kind, name) = (&definition.kind, &definition.name);
    let instead = match kind.as_str() {
        "messagescan" | "monitor" | "report" | "histogram" | "hist" | "startcmd" | "endcmd"
        | "debug" => "ioscape runs no commands and has its own results",
        "data_errors" => "a run ends at its first error",
        "hd" if is_here(definition) => "ioscape runs on this host",
        "validate" | "journal" => {
            return Err(definition.refused("leave it out and give `--verify` instead"));
        }
        "fsd" | "fwd" => {
            return Err(definition.refused("workloads of many files are not carried out"));
        }
        "hd" => return Err(definition.refused("ioscape runs on one host: start it there")),
        _ => instead(kind).ok_or_else(|| {
            definition
                .refused("is nothing that ioscape can carry out: leave it out, or run vdbench")
        })?,
    };
    let said = if kind == "hd" { format!("hd={name}") } else { kind.clone() };
    Ok(format!("{said}: {instead}"))
}

/// Whether a host definition concerns this host, or all hosts.
fn is_here(definition: &Definition) -> bool {
    let here = ["localhost", "127.0.0.1"];
    let system = definition.parameters.iter().find(|(_, key, _)| key == "system");
    let name = system.map_or(&*definition.name, |(_, _, value)| value);
    here.contains(&name) || definition.name == "default"
}

#[cfg(test)]
mod tests;
