//! `ioscape run`: one workload given by options, or several from a job file.

use crate::asked::{jobs_of, whole_jobs_of};
use crate::failure::{Failure, both, verdict};
use crate::machine::{Machine, Measurer, RunLength, within_limits};
use crate::output;
use crate::outputs;
use crate::relay::Relay;
use crate::save::Pace;
use crate::traces::{ROWS, ROWS_MOST, keep_rows};
use ioscape_arguments::RunArgs;
use ioscape_machine::error::Error as MeasureError;
use ioscape_machine::flush_interval_s;
use ioscape_machine::interrupt;
use ioscape_machine::output::{Names, Outputs, numbered};
use ioscape_machine::terminal::Progress;
use ioscape_schema::{Access, Document, Measurement, Stop, Warning, WarningKind, Workload};
use ioscape_study::clients::check_sets;
use ioscape_workload::jobs::Job;
use ioscape_workload::{Stream, iolog};
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The argument for the iologs.
const IOLOG: &str = "--fio-iolog";

/// The argument for the metrics.
const METRICS: &str = "--openmetrics";

/// Longest time to measure each workload in seconds, unless another is requested or its phases take
/// longer.
const SECONDS: f64 = 10.0;

/// Least time to measure each workload, in seconds.
const LEAST_S: f64 = 2.0;

/// Phases may take this many times as long as they took the application.
const SLOWER: f64 = 20.0;

/// Phases may take at least this long, in seconds: a target may be far slower than the system on
/// which the application was recorded.
const PHASES_SECONDS: f64 = 600.0;

/// Most requests in a written iolog, per process.
const IOLOG_MOST: u64 = 2_000_000;

/// Runs the command.
///
/// # Errors
/// Misuse before anything is touched; other failures with all finished jobs saved.
pub fn main(args: &RunArgs) -> Result<(), Failure> {
    let (jobs, doubts) = asked(args)?;
    let memory = within_limits(args.memory);
    let relay = Relay::of(args.together.clients, memory, args.seed);
    let mut outputs = names(args, &jobs).open()?;
    let mut document = output::document(args.seed);
    doubts.into_iter().for_each(|doubt| document.warn(doubt));
    let own = memory.filter(|_| relay.is_none());
    let machine = match opened(args, &jobs, own, relay, &mut document) {
        Ok(machine) => machine,
        Err(failure) => return conclude(Err(failure), Vec::new(), document, args, &mut outputs),
    };
    let mut measurer = Measurer::new(machine, relay, &mut document);
    let mut measurements = Vec::new();
    let finished = run_all(&mut measurer, &jobs, args, &mut outputs, &document, &mut measurements);
    conclude(finished, measurements, document, args, &mut outputs)
}

/// The jobs, and the warnings about them.
///
/// # Errors
/// A job file cannot be read, workloads are invalid, or logs of several jobs are requested, whose
/// files could not be told from those of further processes.
fn asked(args: &RunArgs) -> Result<(Vec<Job>, Vec<Warning>), Failure> {
    let (jobs, doubts) = match args.job_file() {
        // Clients measure at the same time, but their phases have no common start.
        Some(path) if args.together.clients.is_some_and(|clients| clients > 1) => jobs_of(path)?,
        Some(path) => whole_jobs_of(path)?,
        None => (vec![Job::named("run", args.workload.on(Workload::default()))], Vec::new()),
    };
    for job in &jobs {
        if args.together.clients.is_some() && is_verified(job, args) {
            let name = &job.name;
            return Err(Failure::Misuse(format!(
                "job {name:?}: `verify` is not for several clients"
            )));
        }
        job.workload.validate().map_err(|e| Failure::Misuse(format!("job {:?}: {e}", job.name)))?;
    }
    if args.fio_iolog.is_some() && jobs.len() > 1 {
        let count = jobs.len();
        return Err(Failure::Misuse(format!(
            "{IOLOG} is for one job, and these are {count}: give a file of one, or --rows, which writes a file for each"
        )));
    }
    Ok((jobs, doubts))
}

/// Opens the target, with a memory limit for the workers here; `document` receives what is found
/// about the machine.
///
/// # Errors
/// The target cannot be used, a job could not run here, or the harness cannot run.
fn opened(
    args: &RunArgs,
    jobs: &[Job],
    memory: Option<u64>,
    relay: Option<Relay>,
    document: &mut Document,
) -> Result<Machine, Failure> {
    let target = args.target();
    if relay.is_some() {
        Relay::check_shared(target)?;
    }
    let mut machine = Machine::open(target, args.destroy_data, memory, interrupt::flag())?;
    if let Some(relay) = relay {
        let most = jobs.iter().map(|job| job.workload.unique_bytes).max().unwrap_or(0);
        let each = machine.share(Some(relay)).capacity_bytes;
        check_sets(&target.display().to_string(), relay.clients, most, each)
            .map_err(Failure::Misuse)?;
    } else {
        vet(&machine, jobs, args)?;
    }
    machine.keep_rows(if args.rows.is_some() { ROWS_MOST } else { 0 });
    machine.start(document)?;
    Ok(machine)
}

/// Refuses, before the first job runs, every job that could not run here, and a log that fio could
/// not read.
fn vet(machine: &Machine, jobs: &[Job], args: &RunArgs) -> Result<(), Failure> {
    for job in jobs {
        let vetted = machine.vet(&job.workload, is_verified(job, args));
        vetted.map_err(|e| Failure::from(e).about(&format!("job {:?}", job.name)))?;
    }
    let name = machine.path().display().to_string();
    let is_written = args.fio_iolog.is_some();
    let readable = if is_written { iolog::check_name(&name) } else { Ok(()) };
    readable.map_err(|why| Failure::Misuse(format!("{IOLOG}: {why}")))
}

/// Whether the data of a job is verified: as the job says or, if it does not, as the command line
/// says.
fn is_verified(job: &Job, args: &RunArgs) -> bool {
    job.verify.unwrap_or(args.verify)
}

/// Default for the longest time to measure a workload, in seconds.
fn usual_s(workload: &Workload) -> f64 {
    if workload.phases.is_empty() {
        return SECONDS;
    }
    let phases_s: f64 = workload.phases.iter().map(|phase| phase.elapsed_s).sum();
    PHASES_SECONDS.max(SLOWER * phases_s)
}

/// Least time to measure a workload, in seconds: with writes to the file cache, long enough for the
/// kernel to flush them once under its settings.
fn least_s(workload: &Workload, vm_dirty: &BTreeMap<String, u64>) -> f64 {
    let is_flushed = workload.read_frac < 1.0 && workload.access == Access::Buffered;
    let flushed_s = flush_interval_s(vm_dirty).filter(|_| is_flushed);
    flushed_s.map_or(LEAST_S, |s| s.max(LEAST_S))
}

/// Runs the jobs in order. If one fails, the measurements hold the finished jobs; if one is
/// interrupted, also what was measured of it.
fn run_all(
    measurer: &mut Measurer,
    jobs: &[Job],
    args: &RunArgs,
    outputs: &mut Outputs,
    document: &Document,
    measurements: &mut Vec<Measurement>,
) -> Result<(), Failure> {
    let mut pace = Pace::default();
    for (index, job) in jobs.iter().enumerate() {
        let progress = Progress::of_jobs(index, jobs.len(), &job.name);
        let cap_s = job.seconds.or(args.seconds).unwrap_or_else(|| usual_s(&job.workload));
        let verify = is_verified(job, args);
        let least_s = least_s(&job.workload, &document.environment.vm_dirty).min(cap_s);
        let length = RunLength { verify, partial: true, ..RunLength::new(least_s, cap_s) };
        let seed = job.seed.unwrap_or(args.seed);
        let measured = measurer.measure(&job.workload, length, seed, &progress);
        // Blocks that cannot be read back, or a user who does not wait for that, do not spoil what
        // was measured.
        let mut kept = Ok(());
        if let (Err(_), Measurer::Here(machine)) = (&measured, &mut *measurer)
            && let Some(unread) = machine.session.take_unread()
        {
            let on = (args.target(), unread.workload.unique_bytes);
            kept = keep_rows(outputs, &[on], &machine.session.take_rows(), unread.ios, &[]);
            measurements.push(Measurement { name: Some(job.name.clone()), ..unread });
        }
        let mut measurement = match measured {
            Ok(measurement) => measurement,
            Err(error) => return both(Err(error.into()), kept),
        };
        measurement.name = Some(job.name.clone());
        progress.done();
        let written = match measurer {
            Measurer::Here(machine) => write_iologs(outputs, machine.path(), &measurement, seed),
            Measurer::Clients(_) => Ok(()),
        };
        measurements.push(measurement);
        // The last result is saved at the end, after it is printed: a server that does not answer
        // may block the file.
        if index + 1 < jobs.len() {
            save(&mut pace, outputs, document, measurements);
        }
        written?;
        let (Measurer::Here(machine), Some(done)) = (&mut *measurer, measurements.last()) else {
            continue;
        };
        tell_of_iologs(args, machine.path(), done);
        let on = (args.target(), done.workload.unique_bytes);
        let kept = keep_rows(outputs, &[on], &machine.session.take_rows(), done.ios, &[]);
        let ended = match done.stop {
            Stop::Interrupted => Err(MeasureError::Interrupted.into()),
            _ => Ok(()),
        };
        both(ended, kept)?;
    }
    Ok(())
}

/// The command's inputs and outputs.
fn names(args: &RunArgs, jobs: &[Job]) -> Names {
    let processes = jobs.iter().map(|job| job.workload.process_num).max().unwrap_or(1);
    let processes = processes as usize;
    let logs = args.fio_iolog.iter().flat_map(|path| {
        (0..processes)
            .map(move |process| if process > 0 { numbered(path, process) } else { path.clone() })
    });
    let names = outputs::names_of(&args.out).reads("the job file", args.job_file());
    let rows = args.rows.iter().flat_map(|path| {
        (1..=jobs.len()).map(move |job| if job > 1 { numbered(path, job) } else { path.clone() })
    });
    let metrics = args.openmetrics.as_deref();
    let names = names.reads("the target", [args.target()]).writes(IOLOG, logs);
    names.writes(ROWS, rows).writes(METRICS, metrics)
}

/// Saves what is finished, if a later save will replace it, unless it was saved a moment ago.
fn save(pace: &mut Pace, outputs: &mut Outputs, document: &Document, measurements: &[Measurement]) {
    pace.keep(|| {
        let outcome = Some(measurements.to_vec().into());
        let so_far = Document { outcome, interrupted: true, ..document.clone() };
        outputs::save(outputs, &so_far);
    });
}

/// Writes the first requests of each stream, as many as were measured, one file per process.
fn write_iologs(
    outputs: &mut Outputs,
    target: &Path,
    measurement: &Measurement,
    seed: u64,
) -> Result<(), MeasureError> {
    let workload = &measurement.workload;
    let each = measured_of_each(measurement).clamp(1, IOLOG_MOST);
    for (process, destination) in (0..workload.process_num).zip(outputs.all(IOLOG)) {
        let requests = Stream::new(workload, seed, process).take(each as usize);
        destination.write(|draft| {
            let mut out = BufWriter::new(draft.file());
            iolog::write_fio_iolog(&mut out, &target.display().to_string(), requests)?;
            out.flush()
        })?;
    }
    Ok(())
}

/// Number of requests of each process that were measured.
fn measured_of_each(measurement: &Measurement) -> u64 {
    measurement.ios / u64::from(measurement.workload.process_num)
}

/// Reports what prevents replaying the logs of requests to `file`, if they were requested.
fn tell_of_iologs(args: &RunArgs, file: &Path, measurement: &Measurement) {
    if args.fio_iolog.is_some() {
        let notes = iolog_notes(file, args.target().is_dir(), measurement);
        notes.iter().for_each(|note| output::tell(&format!("Note: {IOLOG}: {note}")));
    }
}

/// The same as sentences; `is_scratch` if the file is removed when the run ends.
fn iolog_notes(file: &Path, is_scratch: bool, measurement: &Measurement) -> Vec<String> {
    let gone = is_scratch.then(|| {
        let (file, bytes) = (file.display(), measurement.workload.unique_bytes);
        format!(
            "the log names the scratch file {file}, which is removed. For fio make one as large, `head -c {bytes} /dev/zero > FILE`, and name it instead, `sed -i 's|^{file}|FILE|' LOG`"
        )
    });
    let each = measured_of_each(measurement);
    let cut = (each > IOLOG_MOST).then(|| {
        format!(
            "each log ends after {IOLOG_MOST} requests, and {each} of each process were measured"
        )
    });
    gone.into_iter().chain(cut).collect()
}

/// Writes and prints the document, whole or partial, and says how it ended.
fn conclude(
    finished: Result<(), Failure>,
    measurements: Vec<Measurement>,
    mut document: Document,
    args: &RunArgs,
    outputs: &mut Outputs,
) -> Result<(), Failure> {
    document.interrupted = finished.is_err();
    if finished.is_err() && measurements.is_empty() {
        // Otherwise a scraper would see the figures of an earlier run, as if all were well.
        let metrics = match finished {
            Err(Failure::Interrupted(_)) => Ok(()),
            _ => tell_metrics(&document, args.target(), outputs),
        };
        return both(finished, metrics);
    }
    if let Err(failure) = &finished {
        let message = format!("the runs are partial: {failure}");
        document.warn(Warning::new(WarningKind::Interrupted, message));
    }
    let verified = verdict(measurements.iter().filter_map(|one| one.verify.as_ref()));
    document.outcome = Some(measurements.into());
    let written = outputs::finish(outputs, &document, args.out.json);
    let written = both(written, tell_metrics(&document, args.target(), outputs));
    let finished = finished.map_err(|failure| {
        failure.with(&format!("; what was measured is {}", outputs::whereabouts(outputs)))
    });
    both(finished, both(written, verified))
}

/// Writes the figures for a scraper, if requested; a document without an outcome has none.
fn tell_metrics(document: &Document, target: &Path, outputs: &mut Outputs) -> Result<(), Failure> {
    // "." would mean another directory elsewhere. Links are kept, since names of devices change.
    let target = std::path::absolute(target).unwrap_or_else(|_| target.to_owned());
    let target = target.display().to_string();
    Ok(outputs.text(METRICS, &ioscape_report::openmetrics(document, &target))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_arguments::Command;
    use std::collections::BTreeSet;
    use std::ffi::OsString;

    const FILE: &str = "/srv/.ioscape-scratch-1";

    fn notes(is_scratch: bool, process_num: u32, ios: u64) -> Vec<String> {
        let workload = Workload { process_num, unique_bytes: 12_345, ..Workload::default() };
        let measured = Measurement { ios, ..Measurement::empty(workload, Stop::TimeCap) };
        iolog_notes(Path::new(FILE), is_scratch, &measured)
    }

    #[test]
    fn phases_may_take_longer_than_a_workload_without() {
        let of = |phases: &[f64]| {
            let phase =
                |&elapsed_s: &f64| ioscape_schema::Phase { elapsed_s, ..Default::default() };
            let phases = phases.iter().map(phase).collect();
            usual_s(&Workload { phases, ..Workload::default() })
        };
        assert_eq!([of(&[]), of(&[2.0]), of(&[900.0, 100.0])], [10.0, 600.0, 20_000.0]);
    }

    #[test]
    fn writes_are_measured_until_a_flush_and_reads_are_not() {
        let of = |read_frac, settings: &[(&str, u64)]| {
            let settings = settings.iter().map(|&(key, value)| (key.to_owned(), value)).collect();
            least_s(&Workload { read_frac, ..Workload::default() }, &settings)
        };
        let usual = [("dirty_expire_centisecs", 3000), ("dirty_writeback_centisecs", 500)];
        assert_eq!([0.0, 0.99, 1.0].map(|reads| of(reads, &usual)), [40.0, 40.0, LEAST_S]);
        let often = [("dirty_expire_centisecs", 20), ("dirty_writeback_centisecs", 10)];
        assert_eq!([of(0.0, &often), of(0.0, &[])], [LEAST_S; 2]);
        let direct = Workload { read_frac: 0.0, access: Access::Direct, ..Workload::default() };
        let usual = usual.map(|(key, value)| (key.to_owned(), value)).into();
        assert_eq!(least_s(&direct, &usual), LEAST_S, "nothing is flushed");
    }

    #[test]
    fn whether_its_data_is_verified_a_job_says_before_the_command_line() {
        let of = |words: &[&str], verify| {
            let words = words.iter().map(OsString::from).collect();
            let (cli, _) = ioscape_arguments::parse(words).expect("a command");
            let Command::Run(args) = cli.command else { panic!("another command") };
            is_verified(&Job { verify, ..Job::named("a", Workload::default()) }, &args)
        };
        let own = [None, Some(false), Some(true)];
        assert_eq!(own.map(|own| of(&["ioscape", "run"], own)), [false, false, true]);
        assert_eq!(own.map(|own| of(&["ioscape", "run", "--verify"], own)), [true, false, true]);
    }

    /// Guards against a defect: the metrics of the last good night stayed, and said that all was
    /// well.
    #[test]
    fn metrics_of_a_run_that_failed_at_its_first_job_are_not_those_of_an_earlier_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ioscape.prom");
        let words = ["ioscape", "run", ".", "--openmetrics"].map(OsString::from);
        let words = words.into_iter().chain([file.clone().into_os_string()]).collect();
        let (cli, _) = ioscape_arguments::parse(words).expect("a command");
        let Command::Run(args) = cli.command else { panic!("another command") };
        let mut outputs = names(&args, &[]).open().unwrap();
        let mut left_by = |failure| {
            outputs.text(METRICS, "earlier\n").unwrap();
            let (none, document) = (Vec::new(), Document::default());
            assert!(conclude(Err(failure), none, document, &args, &mut outputs).is_err());
            std::fs::read_to_string(&file).unwrap()
        };
        for of in [Failure::Failed, Failure::Misuse] {
            let left = left_by(of("no room".to_owned()));
            assert!(left.contains("ioscape_run_info{") && !left.contains("earlier"), "{left}");
            assert!(left.ends_with("# EOF\n"), "{left}");
        }
        assert_eq!(left_by(Failure::Interrupted("interrupted".to_owned())), "earlier\n");
    }

    /// Guards against a defect: they also stayed if the disk was full before the run began.
    #[test]
    fn metrics_of_a_run_whose_target_cannot_be_opened_are_not_those_of_an_earlier_one() {
        let folder = tempfile::tempdir().unwrap();
        let [gone, file] = ["gone", "ioscape.prom"].map(|name| folder.path().join(name));
        let words = ["ioscape", "run", "--openmetrics"].map(OsString::from);
        let places = [&file, &gone].map(|path| path.clone().into_os_string());
        let words = words.into_iter().chain(places).collect();
        let (cli, _) = ioscape_arguments::parse(words).expect("a command");
        let Command::Run(args) = cli.command else { panic!("another command") };
        let refused = main(&args).unwrap_err();
        assert!(matches!(refused, Failure::Misuse(_)), "{refused}");
        let left = std::fs::read_to_string(&file).unwrap();
        assert!(left.contains("ioscape_run_info{") && left.ends_with("# EOF\n"), "{left}");
    }

    /// Guards against a defect: 80 jobs of 20 ms flushed 7 MB, four times what 40 did.
    #[test]
    fn results_of_short_jobs_are_not_saved_after_each() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("r.json");
        let mut outputs =
            outputs::names(false).writes(outputs::RESULT, Some(&*file)).open().unwrap();
        let (mut pace, document) = (Pace::default(), Document::default());
        let (mut measurements, mut sizes) = (Vec::new(), BTreeSet::new());
        for _ in 0..100 {
            measurements.push(Measurement::empty(Workload::default(), Stop::TimeCap));
            save(&mut pace, &mut outputs, &document, &measurements);
            sizes.insert(std::fs::metadata(&file).unwrap().len());
        }
        assert!((1..50).contains(&sizes.len()), "{sizes:?}");
    }

    #[test]
    fn a_log_of_a_scratch_file_says_how_fio_can_replay_it() {
        let told = notes(true, 1, 10);
        assert_eq!(told.len(), 1, "{told:?}");
        for named in ["head -c 12345 /dev/zero > FILE", "s|^/srv/.ioscape-scratch-1|FILE|"] {
            assert!(told[0].contains(named), "{told:?}");
        }
        assert!(notes(false, 1, 10).is_empty());
    }

    #[test]
    fn a_log_that_was_cut_says_so() {
        assert!(notes(false, 2, 2 * IOLOG_MOST).is_empty());
        let told = notes(false, 2, 2 * (IOLOG_MOST + 1));
        assert!(told[0].contains("after 2000000 requests, and 2000001 of each"), "{told:?}");
    }
}
