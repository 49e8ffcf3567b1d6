//! vdbench's parameter files as workloads of five parameters (Oracle Vdbench Users Guide 5.04, raw I/O workloads).
//!
//! Storage definitions (`sd=`), workload definitions (`wd=`) and run definitions (`rd=`) are read; every run becomes a job, or one
//! for each combination of its `for` lists. A parameter either maps to exactly what ioscape does, or is named in
//! [`VdbenchJobs::left_out`] with what ioscape does instead, or is refused by name.

mod lines;
mod parameters;
mod runs;

pub use lines::VdbenchError;

use crate::jobs::Job;
use lines::{Definition, definitions};
use parameters::Parameters;
use runs::Run;
use std::collections::{BTreeMap, BTreeSet};

/// Most jobs of a parameter file: lists multiply.
const JOBS_MOST: usize = 10_000;

/// The jobs of a parameter file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VdbenchJobs {
    /// The jobs in the order in which they are run.
    pub jobs: Vec<Job>,
    /// Parameters that were left out, each with what ioscape does instead.
    pub left_out: BTreeSet<String>,
}

/// Storage or workload definitions by name, and what holds for all of them.
#[derive(Default)]
struct Named {
    default: Parameters,
    all: BTreeMap<String, Parameters>,
}

impl Named {
    fn take(&mut self, definition: &Definition) -> Result<(), VdbenchError> {
        if definition.name == "default" {
            return self.default.take(definition);
        }
        let mut one = self.default.clone();
        one.take(definition)?;
        self.all.insert(definition.name.clone(), one);
        Ok(())
    }

    /// The one definition that a name means, which may end with `*`.
    fn one(&self, line: usize, kind: &str, wanted: &str) -> Result<&Parameters, VdbenchError> {
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
            return Err(VdbenchError::new(line, what));
        }
        first.ok_or_else(|| VdbenchError::new(line, format!("there is no {kind}={wanted}")))
    }
}

/// Reads a parameter file.
///
/// # Errors
/// The first line that cannot be carried out as written.
pub fn parse_vdbench(text: &str) -> Result<VdbenchJobs, VdbenchError> {
    let (mut storage, mut workloads) = (Named::default(), Named::default());
    let mut defaults: Option<Run> = None;
    let mut found = VdbenchJobs::default();
    for definition in definitions(text)? {
        match definition.kind.as_str() {
            "sd" => storage.take(&definition)?,
            "wd" => workloads.take(&definition)?,
            "rd" if definition.name == "default" => defaults = Some(Run::of(&definition, None)?),
            "rd" => {
                let run = Run::of(&definition, defaults.as_ref())?;
                let wd = workloads.one(run.line, "wd", run.workload()?)?;
                let sd = storage.one(run.line, "sd", wd.storage.as_deref().unwrap_or("*"))?;
                let room = JOBS_MOST - found.jobs.len();
                found.jobs.extend(run.jobs(&wd.over(sd), room)?);
                for one in [sd, wd, &run.own] {
                    found.left_out.extend(one.left_out.iter().cloned());
                }
            }
            _ => found.left_out.extend(general(&definition)?),
        }
    }
    match found.jobs.is_empty() {
        true => Err(VdbenchError::new(1, "there is no run: write rd=NAME,wd=NAME,...".to_owned())),
        false => Ok(found),
    }
}

/// A line that is no definition: what is done instead, or why it is refused.
fn general(definition: &Definition) -> Result<Option<String>, VdbenchError> {
    let (kind, name) = (&definition.kind, &definition.name);
    let instead = match kind.as_str() {
        "messagescan" | "monitor" | "report" | "histogram" | "hist" | "startcmd" | "endcmd" => {
            "ioscape runs no commands and has its own results"
        }
        "hd" if matches!(name.as_str(), "localhost" | "default") => "ioscape runs on this host",
        "validate" | "journal" => {
            return Err(definition.refused("leave it out and give `--verify` instead"));
        }
        "fsd" | "fwd" => {
            return Err(definition.refused("workloads of many files are not carried out"));
        }
        "hd" => return Err(definition.refused("ioscape runs on one host: start it there")),
        _ => {
            return Err(definition
                .refused("is nothing that ioscape can carry out: leave it out, or run vdbench"));
        }
    };
    Ok(Some(format!("{kind}: {instead}")))
}

#[cfg(test)]
mod tests;
