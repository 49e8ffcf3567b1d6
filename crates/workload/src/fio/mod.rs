//! Converts fio's job files to workloads of five parameters, and fio's JSON output to measurements
//! (fio 3, HOWTO).
//!
//! Every key maps to exactly what ioscape does, or is listed in [`KnownJobs::left_out`] with what
//! ioscape does instead, or is refused by name.

mod keys;
mod options;
mod output;
mod section;
mod values;

pub use output::{FioOutput, read_output};

use crate::jobs::{KnownJobs, LineError};
pub(crate) use keys::DATA;
use options::FioOptions;
use section::Section;
use std::collections::BTreeMap;
pub(crate) use values::{bytes, percent};

/// Parses a job file. Jobs that fio runs concurrently are refused, because ioscape runs jobs one
/// after the other.
///
/// # Errors
/// Everything that cannot be carried out as written, by line.
pub fn parse_fio_jobs(text: &str) -> Result<KnownJobs, Vec<LineError>> {
    let (sections, mut refused) = section::sections(text);
    let mut global = FioOptions::default();
    let mut found = KnownJobs::default();
    let mut names = BTreeMap::new();
    for section in &sections {
        // fio only looks at these six letters and ignores what follows.
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
            // The job may lack exactly what was refused.
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

/// Returns the error that the job of a section would run concurrently with another.
fn at_once(section: &Section) -> LineError {
    let what = format!("job {:?} would run at the same time as the one before", section.name);
    LineError::new(section.line, what + ": add `stonewall`, ioscape runs one after the other")
}

/// Returns a job's name, with a number from its second occurrence on: fio and vdbench allow
/// duplicate names.
pub(crate) fn told_apart(seen: &mut BTreeMap<String, usize>, name: &str) -> String {
    let count = seen.entry(name.to_owned()).or_default();
    *count += 1;
    if *count == 1 { name.to_owned() } else { format!("{name} ({count})") }
}

#[cfg(test)]
mod tests;
