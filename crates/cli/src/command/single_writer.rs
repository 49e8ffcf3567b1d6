//! Runs the experiment on concurrent writers: its files, runs and progress. `study::writers`
//! decides what to run and what it shows.

use super::vxbench::run_strictly;
use crate::failure::Failure;
use ioscape_machine::parallel::processors;
use ioscape_machine::target::{self, ScratchFolder};
use ioscape_measure::vxbench::Watch;
use ioscape_schema::{Document, WriterScaling};
use ioscape_study::writers::{Arm, Experiment, WriterEffort, Writing};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What was found, and why the remainder was not.
#[derive(Debug, Default)]
pub struct Diagnosis {
    /// Buffered and direct writers.
    pub found: Vec<WriterScaling>,
    /// Why there is no result for direct writers: a file system without direct I/O.
    pub no_direct: Option<String>,
}

/// Runs the experiment in a scratch directory in `folder`; records the environment in `document`,
/// if there is one.
///
/// # Errors
/// The folder cannot be written, or a run failed or was interrupted.
pub fn diagnose(
    folder: &Path,
    effort: WriterEffort,
    watch: &Watch,
    mut document: Option<&mut Document>,
) -> Result<Diagnosis, Failure> {
    let file_system = ioscape_measure::vxbench::place(folder)?.0.name;
    let scratch = ScratchFolder::new_in(folder).map_err(|e| target::unwritable(folder, e))?;
    let mut diagnosis = Diagnosis::default();
    for way in Writing::ALL {
        let experiment = Experiment::new(way, processors() as u32, effort);
        match measure(experiment, &scratch, watch, document.as_deref_mut()) {
            Ok(experiment) => diagnosis.found.push(experiment.conclude(&file_system)),
            // A file system without direct I/O gets half a diagnosis.
            Err(Failure::Misuse(why)) if way.is_direct() => diagnosis.no_direct = Some(why),
            Err(failure) => return Err(failure),
        }
    }
    Ok(diagnosis)
}

/// Lays out the files in `scratch`, makes the runs that the experiment requests, and removes the
/// files.
fn measure(
    mut experiment: Experiment,
    scratch: &ScratchFolder,
    watch: &Watch,
    mut document: Option<&mut Document>,
) -> Result<Experiment, Failure> {
    let mut lay_out = |name: String, bytes| -> Result<PathBuf, Failure> {
        let path = scratch.path().join(name);
        let job = Experiment::layout(bytes);
        run_strictly(&job, std::slice::from_ref(&path), false, watch, document.as_deref_mut())?;
        Ok(path)
    };
    let common = [lay_out("common".to_owned(), experiment.common_file_bytes())?];
    let own = (0..experiment.writers())
        .map(|writer| lay_out(format!("own-{writer}"), experiment.own_file_bytes()))
        .collect::<Result<Vec<_>, _>>()?;
    let begun = Instant::now();
    while let Some(trial) = experiment.next(begun.elapsed().as_secs_f64()) {
        let paths = if trial.arm == Arm::OwnFiles { &own[..] } else { &common };
        let found = run_strictly(&trial.job, paths, true, watch, None)?;
        experiment.record(trial.arm, found.total.throughput_bytes_per_s);
    }
    let cleared = scratch.clear(|| true);
    cleared.map_err(|e| Failure::of_write(&scratch.path().display().to_string(), &e))?;
    Ok(experiment)
}
