//! The workloads to be run or predicted: those in files, and those that options name.

use crate::failure::Failure;
use crate::output;
use ioscape_arguments::{Asked, AskedArgs};
use ioscape_machine::input::read_text;
use ioscape_schema::{Document, Ending, Outcome, Warning, WarningKind};
use ioscape_workload::jobs::{Job, KnownJobs};
use std::collections::BTreeSet;
use std::path::Path;

/// Returns the requested workloads; empty if the arguments name none.
///
/// # Errors
/// A set or file does not exist, a file is invalid, or parameters do not go together.
pub fn asked(args: &AskedArgs) -> Result<Vec<Asked>, Failure> {
    let place = args.workloads.as_deref().unwrap_or(Path::new(""));
    if let Some(asked) = args.asked(|| place.exists()).map_err(Failure::Misuse)? {
        return Ok(asked);
    }
    let (jobs, doubts) = whole_jobs_of(place)?;
    let one = |job| match ending(place) {
        "json" => Asked::of_application(steady(job), doubts.clone()),
        _ => Asked::of_job(steady(job), doubts.clone()),
    };
    Ok(jobs.into_iter().map(one).collect())
}

/// As [`whole_jobs_of`], but each job has one workload that holds all the time. The phases of an
/// application are dropped, since they are only useful for running it as a whole.
pub fn jobs_of(path: &Path) -> Result<(Vec<Job>, Vec<Warning>), Failure> {
    let (jobs, doubts) = whole_jobs_of(path)?;
    Ok((jobs.into_iter().map(steady).collect(), doubts))
}

fn steady(job: Job) -> Job {
    Job { workload: job.workload.without_phases(), ..job }
}

/// The warnings about how an application was observed, from the result in `file`; it ended as
/// `ending` says.
pub fn doubts_of(file: &str, document: &Document, ending: Option<Ending>) -> Vec<Warning> {
    let failure = ending.and_then(Ending::failure).map(|(_, text)| text);
    let stopped = document.interrupted.then(|| "the application was stopped".to_owned());
    let cut = failure.or(stopped).map(|how| {
        let message = format!("{how}: what is said of it is what it did until then");
        Warning::new(WarningKind::Interrupted, message)
    });
    document.warnings.iter().cloned().chain(cut).map(|doubt| doubt.at(file)).collect()
}

/// Returns the jobs of a file, each with a valid workload, and the warnings about them. The file is
/// a job file, or a result that characterizes an application and gives one job.
///
/// # Errors
/// The file cannot be read, or is neither of these.
pub fn whole_jobs_of(path: &Path) -> Result<(Vec<Job>, Vec<Warning>), Failure> {
    let name = path.display();
    if ending(path) == "json" {
        let mut document = output::read_result(path)?;
        let Some(Outcome::Characterization(found)) = document.outcome.take() else {
            return Err(Failure::Misuse(format!(
                "{name} characterizes no application, so it holds no workload: give a result of `ioscape characterize` or a job file"
            )));
        };
        let doubts = doubts_of(&name.to_string(), &document, found.ending);
        return Ok((vec![Job::of_application(&found)], doubts));
    }
    let text = read_text(path)
        .map_err(|e| Failure::of_input(format!("cannot read job file {name}: {e}"), &e))?;
    let found = KnownJobs::parse(ending(path), &text);
    let found = found.map_err(|reasons| Failure::refused(&name, &reasons))?;
    let doubts = lost(&name.to_string(), &found);
    doubts.iter().for_each(|doubt| output::tell(&format!("Note: {doubt}")));
    Ok((found.jobs, doubts))
}

/// The options in another program's job file that were left out.
fn lost(file: &str, found: &KnownJobs) -> Vec<Warning> {
    let doubt = |(what, names): (&String, &BTreeSet<String>)| {
        let place = place(file, names, found.jobs.len());
        Warning::new(WarningKind::Unsupported, format!("left out {what}")).at(place)
    };
    found.left_out.iter().map(doubt).collect()
}

/// Most job names that a place lists.
const NAMES_MOST: usize = 5;

/// The place, in a file of so many jobs, of the jobs with these names; only the file if they are
/// all of its jobs or none is named.
fn place(file: &str, names: &BTreeSet<String>, jobs: usize) -> String {
    if names.is_empty() || names.len() == jobs {
        return file.to_owned();
    }
    let told: Vec<String> = names.iter().take(NAMES_MOST).map(|name| format!("{name:?}")).collect();
    let more = names.len() - told.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let word = if names.len() == 1 { "job" } else { "jobs" };
    format!("{file}, {word} {}{more}", told.join(", "))
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
        let ending = Some(Ending::Exit(1));
        let found = Characterization { overall, phases, ending, ..Default::default() };
        document.outcome = Some(found.into());
        std::fs::write(&path, serde_json::to_string(&document).expect("text")).expect("a file");
        let [whole, steady] = [whole_jobs_of(&path), jobs_of(&path)].map(|found| {
            let (jobs, doubts) = found.expect("jobs");
            // Once, what a program did before it failed was predicted as if it were complete.
            assert!(doubts[0].message.starts_with("the command ended with exit code 1:"));
            jobs[0].workload.phases.len()
        });
        assert_eq!((whole, steady), (1, 0));
    }

    #[test]
    fn what_a_job_of_another_program_loses_is_a_doubt_that_names_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("mix.fio");
        let text = "[global]\nsize=1m\ndirect=1\nrefill_buffers\n[a]\nrw=randread\n\
            [b]\nstonewall\nrw=read\n";
        std::fs::write(&path, text).expect("a file");
        let (_, doubts) = whole_jobs_of(&path).expect("jobs");
        let places = |what: &str| {
            let about = doubts.iter().filter(|one| one.message.contains(what));
            about.map(|one| one.place.clone()).collect::<Vec<_>>()
        };
        let file = path.display();
        assert_eq!(places("refill_buffers: "), [file.to_string()]);
        assert_eq!(places("rw=randread: "), [format!("{file}, job \"a\"")]);
    }

    #[test]
    fn what_a_job_of_another_program_loses_is_a_doubt_of_its_prediction() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("mix.fio");
        let text = "[global]\nsize=1m\ndirect=1\nrefill_buffers\n[a]\nrw=randread\n";
        std::fs::write(&path, text).expect("a file");
        let args = AskedArgs { workloads: Some(path), ..AskedArgs::default() };
        let found = asked(&args).expect("workloads");
        let [only] = &found[..] else { panic!("one workload") };
        let is_told = only.doubts().iter().any(|doubt| doubt.message.contains("refill_buffers: "));
        assert!(is_told, "{:?}", only.doubts());
    }

    #[test]
    fn many_names_of_jobs_are_counted() {
        let names: BTreeSet<String> = (1..=7).map(|number| number.to_string()).collect();
        let told = place("a.vdb", &names, 9);
        assert_eq!(told, r#"a.vdb, jobs "1", "2", "3", "4", "5" and 2 more"#);
        assert_eq!(place("a.vdb", &names, 7), "a.vdb");
    }
}
