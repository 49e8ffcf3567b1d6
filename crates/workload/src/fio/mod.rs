//! fio's job files as workloads of five parameters, and fio's JSON output as measurements (fio 3, HOWTO).
//!
//! A key either maps to exactly what ioscape does, or is named in [`FioJobs::left_out`] with what ioscape does instead, or is
//! refused by name.

mod options;
mod output;
mod section;

pub use options::FioError;
pub use output::{FioOutput, read_output};

use crate::jobs::Job;
use options::FioOptions;
pub(crate) use options::{bytes, percent};
use std::collections::BTreeSet;

/// The jobs of a job file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioJobs {
    /// The jobs in the order written.
    pub jobs: Vec<Job>,
    /// Keys that were left out, each with what ioscape does instead.
    pub left_out: BTreeSet<String>,
}

/// Reads a job file. Jobs that fio runs at the same time are refused, since ioscape runs one after the other.
///
/// # Errors
/// The first line that cannot be carried out as written.
pub fn parse_fio_jobs(text: &str) -> Result<FioJobs, FioError> {
    let sections = section::sections(text)?;
    let mut global = FioOptions::default();
    let mut found = FioJobs::default();
    for section in sections {
        if section.name == "global" {
            section
                .settings
                .iter()
                .try_for_each(|(line, key, value)| global.set(*line, key, value))?;
            continue;
        }
        let mut options = global.clone();
        section
            .settings
            .iter()
            .try_for_each(|(line, key, value)| options.set(*line, key, value))?;
        if !found.jobs.is_empty() && !options.stonewall {
            let what =
                format!("job {:?} would run at the same time as the one before", section.name);
            return Err(FioError::new(
                section.line,
                what + ": add `stonewall`, ioscape runs one after the other",
            ));
        }
        found.left_out.extend(options.left_out());
        found.jobs.push(options.job(section.line, &section.name)?);
    }
    match found.jobs.is_empty() {
        true => Err(FioError::new(1, "there is no job: write [NAME] above its keys".to_owned())),
        false => Ok(found),
    }
}

#[cfg(test)]
mod tests;
