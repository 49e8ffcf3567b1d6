//! fio's job files as workloads of five parameters, and fio's JSON output as measurements (fio 3, HOWTO).
//!
//! A key either maps to exactly what ioscape does, or is named in [`KnownJobs::left_out`] with what ioscape does instead, or is
//! refused by name.

mod keys;
mod options;
mod output;
mod section;
mod values;

pub use output::{FioOutput, read_output};

use crate::jobs::{KnownJobs, LineError};
use options::FioOptions;
use section::Section;
use std::collections::BTreeMap;
pub(crate) use values::{bytes, percent};

/// Reads a job file. Jobs that fio runs at the same time are refused, since ioscape runs one after the other.
///
/// # Errors
/// Everything that cannot be carried out as written, by line.
pub fn parse_fio_jobs(text: &str) -> Result<KnownJobs, Vec<LineError>> {
    let (sections, mut refused) = section::sections(text);
    let mut global = FioOptions::default();
    let mut found = KnownJobs::default();
    let mut names = BTreeMap::new();
    for section in &sections {
        // Whatever follows: fio looks at these six letters alone.
        if section.name.starts_with("global") {
            refused.extend(global.take(&section.settings));
            continue;
        }
        let mut options = global.clone();
        refused.extend(options.take(&section.settings));
        if !names.is_empty() && !options.stonewall {
            refused.push(at_once(section));
        }
        let name = told_apart(&mut names, &section.name);
        found.leave_out(&name, options.left_out());
        match options.job(section.line, &name) {
            Ok(job) => found.jobs.push(job),
            // What was refused may be what this job lacks.
            Err(why) if refused.is_empty() => refused.push(why),
            Err(_) => {}
        }
    }
    if names.is_empty() && refused.is_empty() {
        refused.push(LineError::new(1, "there is no job: write [NAME] above its keys".to_owned()));
    }
    refused.sort_by_key(|one| one.line);
    if refused.is_empty() { Ok(found) } else { Err(refused) }
}

/// The job of a section would run at the same time as another.
fn at_once(section: &Section) -> LineError {
    let what = format!("job {:?} would run at the same time as the one before", section.name);
    LineError::new(section.line, what + ": add `stonewall`, ioscape runs one after the other")
}

/// A job's name, with a number from the second of that name on: to fio and vdbench names need not differ.
pub(crate) fn told_apart(seen: &mut BTreeMap<String, usize>, name: &str) -> String {
    let count = seen.entry(name.to_owned()).or_default();
    *count += 1;
    if *count == 1 { name.to_owned() } else { format!("{name} ({count})") }
}

#[cfg(test)]
mod tests;
