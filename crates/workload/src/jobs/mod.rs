//! Job files: workloads written down as TOML.
//!
//! ```
//! let jobs = ioscape_workload::parse_jobs(r#"
//! [defaults]              # optional: any key but name
//! size_mean = "32k"
//! seconds = 10
//!
//! [[job]]
//! name = "mail"
//! unique_bytes = "2G"
//! read_frac = 0.7
//! seq_frac = 0.1
//! processes = 8
//! "#)?;
//! assert_eq!((jobs[0].workload.process_num, jobs[0].seconds), (8, Some(10.0)));
//! # Ok::<(), ioscape_workload::JobError>(())
//! ```
//!
//! A key that is missing in both the job and `[defaults]` has the value of `Workload::default()`.
//!
//! The keys are documented in `docs/jobs.md`. The names used in result files, `size_distribution`,
//! `process_num`, `think_time_ns` and `align_bytes`, are accepted too.

mod application;
mod draft;
mod error;
mod known;
mod setting;
mod written;

pub use error::{JobError, LineError};
pub use written::job_file;

use crate::jobs::draft::Draft;
use crate::jobs::setting::{Setting, settings};
use ioscape_schema::Workload;
use std::collections::{BTreeMap, BTreeSet};
use toml::de::{DeTable, DeValue};

/// A named workload from a job file.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its name, unique within the file.
    pub name: String,
    /// The workload to run; valid.
    pub workload: Workload,
    /// How long to run it, in seconds, above 0; the program decides if absent.
    pub seconds: Option<f64>,
    /// Seed of its random choices; that of the program if absent.
    pub seed: Option<u64>,
    /// Whether its data is verified; the program decides if absent.
    pub verify: Option<bool>,
    /// Whether it is an application of which only [a part](ioscape_schema::Characterization::is_partial)
    /// was seen.
    pub is_partial: bool,
}

impl Job {
    /// Creates a job from a workload alone.
    pub fn named(name: &str, workload: Workload) -> Self {
        let (name, is_partial) = (name.to_owned(), false);
        Self { name, workload, seconds: None, seed: None, verify: None, is_partial }
    }
}

/// The jobs of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownJobs {
    /// The jobs in the order of execution, each with a valid workload.
    pub jobs: Vec<Job>,
    /// What was left out of the file, with what ioscape does instead. The value names the jobs
    /// concerned; none means all.
    pub left_out: BTreeMap<String, BTreeSet<String>>,
}

impl KnownJobs {
    /// Records what was left out of a job.
    pub(crate) fn leave_out(&mut self, job: &str, all: impl IntoIterator<Item = String>) {
        for what in all {
            self.left_out.entry(what).or_default().insert(job.to_owned());
        }
    }
}

/// Parses a job file: the jobs in the order written, each with a valid workload.
///
/// # Errors
/// The first problem, with its position: the text is no TOML, a key is unknown, a value has the
/// wrong type or is out of range, a job lacks a name or repeats one, or there is no job.
pub fn parse_jobs(text: &str) -> Result<Vec<Job>, JobError> {
    let root = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(text.len(), |span| span.start);
        JobError::at(text, at, format!("this is not TOML: {}", error.message()))
    })?;
    let mut defaults = Draft::default();
    let mut tables = Vec::new();
    for setting in settings(text, root.get_ref(), "the file") {
        match setting.key {
            "defaults" => {
                let table = setting.value.as_table();
                let table = table.ok_or_else(|| setting.must("be a table: write [defaults]"))?;
                defaults.apply_all(settings(text, table, "[defaults]"), false)?;
            }
            "job" => tables = job_tables(text, &setting)?,
            _ => return Err(setting.unknown("[defaults] and [[job]]")),
        }
    }
    if tables.is_empty() {
        return Err(JobError::NoJob);
    }
    let mut names = BTreeSet::new();
    tables.into_iter().map(|table| table.job(&defaults, &mut names)).collect()
}

/// One `[[job]]` table of the file.
struct JobTable<'a> {
    header: Setting<'a>,
    settings: Vec<Setting<'a>>,
}

/// Returns the `[[job]]` tables in the order written.
fn job_tables<'a>(text: &'a str, job: &Setting<'a>) -> Result<Vec<JobTable<'a>>, JobError> {
    let wrong = "be written as a table [[job]] for every job";
    let array = job.value.as_array().ok_or_else(|| job.must(wrong))?;
    let mut tables = Vec::new();
    for (index, value) in array.iter().enumerate() {
        let table = value.get_ref().as_table().ok_or_else(|| job.must(wrong))?;
        let label = match table.get("name").map(|name| name.get_ref()) {
            Some(DeValue::String(name)) => format!("job {name:?}"),
            _ => format!("job {}", index + 1),
        };
        let start = value.span().start;
        let value = value.get_ref();
        let header = Setting { value, key_start: start, start, table: label.clone(), ..*job };
        tables.push(JobTable { header, settings: settings(text, table, &label) });
    }
    Ok(tables)
}

impl JobTable<'_> {
    fn job(self, defaults: &Draft, names: &mut BTreeSet<String>) -> Result<Job, JobError> {
        let mut draft = defaults.clone();
        draft.apply_all(self.settings, true)?;
        let name = draft.name.clone().ok_or_else(|| {
            self.header.fails("name is missing: give every [[job]] a name".into())
        })?;
        if !names.insert(name.clone()) {
            let message = format!("name {name:?} is that of an earlier job: give it another");
            return Err(self.header.fails(message));
        }
        draft.validate(&self.header)?;
        let Draft { workload, seconds, seed, verify, .. } = draft;
        Ok(Job { seconds, seed, verify, ..Job::named(&name, workload) })
    }
}

#[cfg(test)]
mod tests;
