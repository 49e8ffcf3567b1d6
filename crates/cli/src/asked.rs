//! The workloads that are run or predicted: those of files, and those that options name.

use crate::failure::Failure;
use crate::output;
use ioscape_arguments::{Asked, AskedArgs};
use ioscape_machine::input::read_text;
use ioscape_schema::{Document, Outcome, Warning, WarningKind};
use ioscape_workload::jobs::{Job, KnownJobs};
use std::path::Path;

/// Reads which workloads are asked for; empty when the arguments name none.
///
/// # Errors
/// A set or file that does not exist, a file that is wrong, and parameters that cannot go together.
pub fn asked(args: &AskedArgs) -> Result<Vec<Asked>, Failure> {
    let place = args.workloads.as_deref().unwrap_or(Path::new(""));
    if let Some(asked) = args.asked(|| place.exists()).map_err(Failure::Misuse)? {
        return Ok(asked);
    }
    let (jobs, doubts) = whole_jobs_of(place)?;
    let one = |job| match ending(place) {
        "json" => Asked::of_application(steady(job), doubts.clone()),
        _ => Asked::of_job(steady(job)),
    };
    Ok(jobs.into_iter().map(one).collect())
}

/// As [`whole_jobs_of`], each with a workload that holds all the time: without the phases of an application, which are of use only to who carries them
/// out as a whole.
///
/// # Errors
/// As [`whole_jobs_of`].
pub fn jobs_of(path: &Path) -> Result<(Vec<Job>, Vec<Warning>), Failure> {
    let (jobs, doubts) = whole_jobs_of(path)?;
    Ok((jobs.into_iter().map(steady).collect(), doubts))
}

fn steady(job: Job) -> Job {
    Job { workload: job.workload.without_phases(), ..job }
}

/// What was doubtful when an application was watched, as the result in `file` has it.
pub fn doubts_of(file: &str, document: &Document) -> Vec<Warning> {
    let message = "the application was stopped: what is said of it is what it did until then";
    let stopped = document.interrupted.then(|| Warning::new(WarningKind::Interrupted, message));
    document.warnings.iter().cloned().chain(stopped).map(|doubt| doubt.at(file)).collect()
}

/// The jobs of a file, each with a valid workload, and what is doubtful about them: of a job file, or the one of a result that characterizes an
/// application.
///
/// # Errors
/// The file cannot be read, or is no such file.
pub fn whole_jobs_of(path: &Path) -> Result<(Vec<Job>, Vec<Warning>), Failure> {
    let name = path.display();
    if ending(path) == "json" {
        let mut document = output::read_result(path)?;
        let Some(Outcome::Characterization(found)) = document.outcome.take() else {
            return Err(Failure::Misuse(format!(
                "{name} characterizes no application, so it holds no workload: give a result of `ioscape characterize` or a job file"
            )));
        };
        let doubts = doubts_of(&name.to_string(), &document);
        return Ok((vec![Job::of_application(&found)], doubts));
    }
    let text = read_text(path)
        .map_err(|e| Failure::of_input(format!("cannot read job file {name}: {e}"), &e))?;
    let found = KnownJobs::parse(ending(path), &text);
    let found = found.map_err(|reasons| Failure::refused(&name, &reasons))?;
    found.left_out.iter().for_each(|what| output::tell(&format!("Note: {name}: left out {what}")));
    Ok((found.jobs, Vec::new()))
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Characterization, Phase, PhaseRequests, Traits};

    #[test]
    fn only_who_carries_phases_out_as_a_whole_gets_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.json");
        let sizes = vec![(4096, 1.0)];
        let read = PhaseRequests { sizes, span_bytes: 4096, runs: 1, ..PhaseRequests::default() };
        let phase = Phase { bytes: 4096, read_frac: 1.0, read: Some(read), ..Phase::default() };
        let overall = Traits { unique_bytes: 1 << 20, size_mean: 4096, ..Traits::default() };
        let phases = vec![phase];
        let mut document = output::document(1);
        document.outcome = Some(Characterization { overall, phases, ..Default::default() }.into());
        std::fs::write(&path, serde_json::to_string(&document).expect("text")).expect("a file");
        let [whole, steady] = [whole_jobs_of(&path), jobs_of(&path)].map(|found| {
            let (jobs, _) = found.expect("jobs");
            jobs[0].workload.phases.len()
        });
        assert_eq!((whole, steady), (1, 0));
    }
}
