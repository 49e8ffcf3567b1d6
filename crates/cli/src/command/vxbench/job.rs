//! One `vxbench` job on files of the user's choice: its plans, its run, and what watches it.

use crate::failure::Failure;
use crate::output;
use ioscape_machine::output::tell_leftovers;
use ioscape_machine::terminal::Progress;
use ioscape_machine::{Clock, environment};
use ioscape_measure::vxbench::{self, Extent, Files, KeptRun, Watch};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Document, VxJob, VxRun};
use ioscape_workload::vxbench::{VxPlan, plan_on};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A watch with Ctrl-C and a progress line that shows the bytes moved.
pub fn watch(interrupt: &Arc<std::sync::atomic::AtomicBool>, progress: &Progress) -> Watch {
    let bar = progress.clone();
    let told = move |bytes: u64| bar.doing(&format!("{} moved", Bytes(bytes as f64)));
    Watch {
        interrupt: Arc::clone(interrupt),
        on_progress: Some(Arc::new(told)),
        ..Watch::default()
    }
}

/// Runs `job` with a user on each of `paths`. Records the environment in the document, if there is
/// one, and keeps up to the given number of first requests individually.
///
/// # Errors
/// Misuse before anything is touched; a failed or interrupted run.
pub fn run_keeping(
    job: &VxJob,
    paths: &[PathBuf],
    destroy_data: bool,
    watch: &Watch,
    kept: (Option<&mut Document>, usize),
) -> Result<KeptRun, Failure> {
    let (plans, files) = open(job, paths, destroy_data)?;
    carry_out(job, (plans, files.with_best_effort()), watch, kept)
}

/// Does the same without keeping requests, for a command that has no `--best-effort`; refusals then
/// do not mention it.
pub fn run_strictly(
    job: &VxJob,
    paths: &[PathBuf],
    destroy_data: bool,
    watch: &Watch,
    document: Option<&mut Document>,
) -> Result<VxRun, Failure> {
    let opened = open(job, paths, destroy_data)?;
    carry_out(job, opened, watch, (document, 0)).map(|kept| kept.run)
}

/// Runs `job` on the files opened for it.
fn carry_out(
    job: &VxJob,
    (plans, files): (Vec<VxPlan>, Files),
    watch: &Watch,
    (document, rows_most): (Option<&mut Document>, usize),
) -> Result<KeptRun, Failure> {
    tell_leftovers(files.leftovers(), output::tell);
    let clock = Clock::new();
    if let Some(document) = document {
        if let Some(found) = environment::capture_on_all(files.places()) {
            document.environment = found;
        }
        output::time(document, &clock);
    }
    let requests = |user: u32, thread| plans[user as usize].requests(job, user, thread);
    Ok(vxbench::run_keeping(files, job, &clock, watch, (requests, rows_most))?)
}

/// Opens the files of a job, with the plan for each; files that are created are removed unless they
/// are kept.
///
/// # Errors
/// Misuse: problems with the job are found before anything is written.
pub fn open(
    job: &VxJob,
    paths: &[PathBuf],
    destroy_data: bool,
) -> Result<(Vec<VxPlan>, Files), Failure> {
    let plans = paths.iter().map(|path| plan_for(job, path)).collect::<Result<Vec<_>, _>>()?;
    let extent = |plan: &VxPlan| Extent {
        range_bytes: plan.range_bytes,
        grow_to: plan.grow_to,
        end_bytes: plan.end_bytes,
    };
    let named: Vec<_> = paths.iter().cloned().zip(plans.iter().map(extent)).collect();
    let files = Files::open(&named, job, destroy_data)?;
    Ok((plans, files))
}

/// The plan of the job for the file at `path`.
fn plan_for(job: &VxJob, path: &Path) -> Result<VxPlan, Failure> {
    let look = vxbench::look(path)?;
    let misuse = |text: String| Failure::Misuse(format!("{}: {text}", path.display()));
    plan_on(job, look.size_bytes, look.is_device).map_err(|error| misuse(error.to_string()))
}
