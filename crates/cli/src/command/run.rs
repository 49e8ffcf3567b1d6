//! `ioscape run`: one workload given by options, or several from a job file.

use crate::args::{RunArgs, WorkloadArgs};
use crate::asked::{described_twice, jobs_of};
use crate::failure::Failure;
use crate::machine::{Effort, Machine};
use crate::progress::Progress;
use crate::{interrupt, output};
use ioscape_machine::error::Error as MeasureError;
use ioscape_schema::{Document, Measurement, Workload};
use ioscape_workload::jobs::Job;
use ioscape_workload::{Stream, iolog};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Most requests a written iolog holds, per process.
const IOLOG_MOST: u64 = 2_000_000;

/// Runs the command.
///
/// # Errors
/// Misuse before anything is touched; failures with all finished jobs saved.
pub fn main(args: &RunArgs) -> Result<(), Failure> {
    let (target, job_file) = places(&args.places)?;
    let jobs = match &job_file {
        Some(path) if args.workload != WorkloadArgs::default() => {
            return Err(described_twice(path));
        }
        Some(path) => jobs_of(path)?,
        None => vec![from_flags(args)],
    };
    for job in &jobs {
        job.workload.validate().map_err(|e| Failure::Misuse(format!("job {:?}: {e}", job.name)))?;
    }
    output::check_places(args.out.files().chain(args.fio_iolog.as_deref()))?;
    let mut document = output::document(args.seed);
    let mut machine = Machine::open(&target, args.destroy_data, args.memory, interrupt::flag())?;
    let mut measurements = Vec::new();
    let finished = machine
        .start(&mut document)
        .and_then(|()| run_all(&mut machine, &jobs, args, &mut measurements));
    conclude(finished, measurements, document, args)
}

/// Tells the target from the job file.
fn places(places: &[PathBuf]) -> Result<(PathBuf, Option<PathBuf>), Failure> {
    let (jobs, targets): (Vec<&PathBuf>, Vec<&PathBuf>) =
        places.iter().partition(|p| p.extension().is_some_and(|e| e == "toml" || e == "json"));
    if jobs.len() > 1 || targets.len() > 1 {
        return Err(Failure::Misuse("give at most one target and one job file".to_owned()));
    }
    let target = targets.first().map_or_else(|| PathBuf::from("."), |p| p.to_path_buf());
    Ok((target, jobs.first().map(|p| p.to_path_buf())))
}

fn from_flags(args: &RunArgs) -> Job {
    let workload = args.workload.on(Workload::default());
    Job { name: "run".to_owned(), workload, seconds: None, seed: None }
}

/// Runs the jobs in order; the measurements hold what is finished when one fails.
fn run_all(
    machine: &mut Machine,
    jobs: &[Job],
    args: &RunArgs,
    measurements: &mut Vec<Measurement>,
) -> Result<(), MeasureError> {
    for (index, job) in jobs.iter().enumerate() {
        let progress = Progress::of_jobs(index, jobs.len(), &job.name);
        let cap_s = job.seconds.unwrap_or(args.seconds);
        let effort = Effort { min_s: cap_s.min(1.0), cap_s };
        let seed = job.seed.unwrap_or(args.seed);
        let mut measurement = machine.measure(&job.workload, effort, seed, Some(&progress))?;
        measurement.name = Some(job.name.clone());
        progress.done();
        if let Some(path) = &args.fio_iolog {
            write_iologs(path, machine.path(), &measurement, seed)?;
        }
        measurements.push(measurement);
    }
    Ok(())
}

/// Writes the first requests of each stream, as many as were measured, one file per process.
fn write_iologs(
    path: &Path,
    target: &Path,
    measurement: &Measurement,
    seed: u64,
) -> Result<(), MeasureError> {
    let workload = &measurement.workload;
    let each = (measurement.ios / u64::from(workload.process_num)).clamp(1, IOLOG_MOST);
    for process in 0..workload.process_num {
        let mut place = path.as_os_str().to_owned();
        if process > 0 {
            place.push(format!(".{process}"));
        }
        let place = PathBuf::from(place);
        let requests = Stream::new(workload, seed, process).take(each as usize);
        File::create(&place)
            .and_then(|file| {
                let mut out = BufWriter::new(file);
                iolog::write_fio_iolog(&mut out, &target.display().to_string(), requests)?;
                out.flush()
            })
            .map_err(|e| MeasureError::io("write", &place, e))?;
    }
    Ok(())
}

/// Writes and prints the document, whole or partial, and says how it ended.
fn conclude(
    finished: Result<(), MeasureError>,
    measurements: Vec<Measurement>,
    mut document: Document,
    args: &RunArgs,
) -> Result<(), Failure> {
    document.interrupted = matches!(finished, Err(MeasureError::Interrupted));
    let results = measurements.len();
    if finished.is_err() && results == 0 {
        return finished.map_err(Failure::from);
    }
    document.outcome = Some(measurements.into());
    output::pour(&document, &args.out)?;
    finished.map_err(|e| {
        let place = args.out.place();
        Failure::of_measure(&e, &format!("; the {results} finished results are {place}"))
    })
}
