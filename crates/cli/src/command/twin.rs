//! `ioscape twin`: measures a target, fits a simulated drive to it, and judges the drive by
//! workloads that it has not seen.

use crate::failure::{Failure, both};
use crate::machine::{self, Machine, RunLength};
use crate::output;
use crate::outputs::{self, RESULT};
use ioscape_arguments::TwinArgs;
use ioscape_machine::TargetFacts;
use ioscape_machine::clock::since_boot;
use ioscape_machine::error::Error as MeasureError;
use ioscape_machine::interrupt;
use ioscape_machine::output::{Content, Names, Outputs};
use ioscape_machine::terminal::Progress;
use ioscape_measure::RunOptions;
use ioscape_measure::session::vet_ring;
use ioscape_scaling::Bounds;
use ioscape_scaling::model::random_workloads;
use ioscape_schema::text::DRIVE_MARK;
use ioscape_schema::units::{Bytes, Seconds};
use ioscape_schema::{
    Document, Environment, Measurement, Outcome, Request, Stop, TwinKept, Workload,
};
use ioscape_simulate::Error;
use ioscape_simulate::twin::{self, Endure, Measure, Ran, Rotates, TwinPlan, TwinRuns};
use ioscape_study::reach::check_capacity;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Half of a throughput's 95 % interval, relative, at which a workload is known well enough; the
/// fit assumes no smaller one.
const KNOWN: f64 = 0.01;
/// How often an interruption by the user is checked for while nothing is measured.
const LOOK: Duration = Duration::from_millis(50);
/// The message for a file that holds nothing to fit a drive to.
const NO_TWIN: &str = "it does not say which measurements of a twin it holds, as a result of `ioscape twin -o FILE --json` does from this version on";

/// Runs the command.
///
/// # Errors
/// Misuse before anything is touched; a target cannot be measured, or output cannot be written.
pub fn main(args: &TwinArgs) -> Result<(), Failure> {
    match (&args.from, &args.target) {
        (Some(from), _) => again(args, from),
        (None, Some(target)) if args.dry_run => {
            drop(names(args).reads("the target", [target]).open()?);
            let facts = machine::look(target, args.destroy_data)?;
            let plan = plan(args, target, &facts)?;
            let usual = RunOptions::default();
            let warm_up_s = [usual.warm_min_s, usual.warm_cap_s];
            output::print(&plan.describe(&target.display().to_string(), args.seconds(), warm_up_s))
        }
        (None, Some(target)) => measured(args, target),
        (None, None) => Err(Failure::Misuse("name a target, or a result (--from)".to_owned())),
    }
}

/// The command's outputs.
fn names(args: &TwinArgs) -> Names {
    let names = outputs::names(args.force).holding(RESULT, Content::Drive);
    names.writes(RESULT, &args.output)
}

/// Measures a target and fits a drive to it.
fn measured(args: &TwinArgs, target: &Path) -> Result<(), Failure> {
    let mut outputs = names(args).reads("the target", [target]).open()?;
    let mut document = output::document(args.seed());
    let interrupt = interrupt::flag();
    let mut machine = Machine::open(target, args.destroy_data, None, Arc::clone(&interrupt))?;
    let facts = machine.look();
    let plan = plan(args, target, &facts)?;
    machine.start(&mut document)?;
    let begun = since_boot();
    machine.layout(plan.unique_bytes())?;
    let progress = Progress::of_jobs(0, plan.count(), "twin");
    let (plan, machine) = (&plan, &mut machine);
    let heard = Arc::clone(&interrupt);
    let mut drive = Real { machine, args, plan, progress: &progress, interrupt, begun };
    let mut runs = TwinRuns::default();
    let carried_out = plan.carry_out(args.seed(), &mut drive, &mut runs);
    let target = target.display().to_string();
    let kept = runs.kept(&target, facts.total_bytes, args.write_buffer());
    document.twin = plan.is_fitted().then_some(kept);
    if let Err(error) = carried_out {
        let measured = runs.measurements();
        if measured.is_empty() {
            return Err(error.into());
        }
        document.interrupted = true;
        document.outcome = Some(measured.into());
        return Err(outputs::keep(&mut outputs, &document, error.into()));
    }
    if plan.is_fitted() {
        progress.doing("fit");
    }
    let stop = || heard.load(Ordering::Relaxed);
    let written = fitted(&mut outputs, &mut document, runs, &stop)?;
    progress.done();
    both(written, show(args, &mut outputs, &document, !plan.is_fitted()))
}

/// Fits a drive again to earlier measurements.
fn again(args: &TwinArgs, from: &Path) -> Result<(), Failure> {
    let refused = |why: &str| Failure::Misuse(format!("--from {}: {why}", from.display()));
    let before = output::read_result(from)?;
    let (Some(kept), Some(Outcome::Measurements(measured))) = (before.twin, before.outcome) else {
        return Err(refused(NO_TWIN));
    };
    let runs = TwinRuns::of(&kept, measured)
        .map_err(|why| refused(&format!("no drive can be fitted to this twin: {why}")))?;
    let write_buffer_bytes = args.write_buffer.unwrap_or(kept.write_buffer_bytes);
    twin::check_sizes(args.unique_bytes(), write_buffer_bytes).map_err(Failure::Misuse)?;
    let mut outputs = names(args).reads("--from", [from]).open()?;
    let now = output::document(args.seed.unwrap_or(before.seed));
    let mut document = Document {
        environment: before.environment,
        host: now.host.clone().and(before.host),
        warnings: before.warnings,
        twin: Some(TwinKept { write_buffer_bytes, ..kept }),
        ..now
    };
    let interrupt = interrupt::flag();
    let stop = || interrupt.load(Ordering::Relaxed);
    let written = fitted(&mut outputs, &mut document, runs, &stop)?;
    both(written, show(args, &mut outputs, &document, false))
}

/// Adds the measurements to the document and writes the drive fitted to them to its file; returns
/// whether the file could be written.
///
/// # Errors
/// No drive was fitted; the measurements are kept.
fn fitted(
    outputs: &mut Outputs,
    document: &mut Document,
    runs: TwinRuns,
    stop: &dyn Fn() -> bool,
) -> Result<Result<(), Failure>, Failure> {
    let now = &*document;
    let drive = now.twin.as_ref().map(|kept| drive_file(kept, now, &runs, stop));
    document.outcome = Some(runs.measurements().into());
    match drive {
        None => Ok(Ok(())),
        Some(Ok(text)) => Ok(outputs::text(outputs, &text, "toml")),
        Some(Err(failure)) => {
            document.interrupted = stop();
            Err(outputs::keep(outputs, document, failure))
        }
    }
}

/// What is to be measured; without a file for the drive, only the long runs.
///
/// # Errors
/// The target has no direct I/O or needs larger requests for it, has too little space, or many
/// requests cannot be in flight.
fn plan(args: &TwinArgs, target: &Path, facts: &TargetFacts) -> Result<TwinPlan, Failure> {
    check_direct(target, facts).map_err(Failure::Misuse)?;
    let capacity_bytes = facts.capacity_bytes;
    check_capacity(&target.display().to_string(), capacity_bytes).map_err(Failure::Misuse)?;
    if args.unique_bytes.is_some_and(|asked| asked > capacity_bytes) {
        let share = match target.is_dir() {
            true => {
                " (half of the free space, a third where the file system copies on write, or less by ulimit -f)"
            }
            false => "",
        };
        return Err(Failure::Misuse(format!(
            "--unique-bytes is more than {} has room for: at most {}{share}; give a smaller size",
            target.display(),
            Bytes(capacity_bytes as f64)
        )));
    }
    vet_ring("twin")?;
    let unseen = args.is_fitted().then_some(|unique_bytes| unseen(args, unique_bytes));
    Ok(TwinPlan::new(args.unique_bytes(), capacity_bytes, unseen, args.sustain))
}

/// Refuses a target without direct I/O, or with larger blocks than a twin's requests.
fn check_direct(target: &Path, facts: &TargetFacts) -> Result<(), String> {
    if let Some(why) = &facts.direct_refusal {
        return Err(format!(
            "{why}: a twin is measured past the file cache, so name a directory on another file system"
        ));
    }
    let (align, usual) = (facts.direct_align.unwrap_or(1), twin::base().align());
    let [needed, requests] = [align, usual].map(|bytes| Bytes(bytes as f64));
    match usual.is_multiple_of(align) {
        true => Ok(()),
        false => Err(format!(
            "direct I/O on {} takes multiples of {needed}, and a twin is fitted to requests of {requests}: name a target with smaller blocks",
            target.display()
        )),
    }
}

/// Shows the measurements; if no drive is fitted, they are the result.
fn show(
    args: &TwinArgs,
    outputs: &mut Outputs,
    document: &Document,
    alone: bool,
) -> Result<(), Failure> {
    match (alone, args.json) {
        (true, as_json) => outputs::show(outputs, document, as_json),
        // -o holds the drive, so that the measurements are nowhere else.
        (false, true) => output::show(document, true)
            .map_err(|failure| outputs::keep(outputs, document, failure)),
        (false, false) => Ok(()),
    }
}

/// Fits a drive to measured workloads, reports how well it does, and returns its file.
fn drive_file(
    kept: &TwinKept,
    document: &Document,
    runs: &TwinRuns,
    stop: &dyn Fn() -> bool,
) -> Result<String, Failure> {
    let TwinKept { target, capacity_bytes, write_buffer_bytes, .. } = kept;
    let (rotates, requests) = (rotates(&document.environment), requests(document.seed));
    let verdict =
        runs.verdict(target, *capacity_bytes, *write_buffer_bytes, rotates, &requests, stop);
    let verdict = verdict.map_err(|error| match error {
        Error::Interrupted => Failure::Interrupted(
            "interrupted: no drive was fitted, all that was measured for it is kept".to_owned(),
        ),
        other => Failure::Failed(other.to_string()),
    })?;
    let warnings = document.warnings.iter().map(ToString::to_string).chain(runs.warnings());
    warnings.chain(verdict.summary).for_each(|line| output::tell(&line));
    Ok(format!("{DRIVE_MARK}twin.\n{}", verdict.parameters.text()?))
}

/// Whether the device reports moving parts. In a virtual machine and on USB, the report alone is
/// worthless: disks and flash there often give it whatever they are. If it is unknown whether there
/// is a hypervisor, there may be one.
fn rotates(environment: &Environment) -> Rotates {
    let is_on_usb = environment.device_link.as_deref() == Some("USB");
    match (environment.rotational, environment.has_hypervisor()) {
        (Some(true), Some(false)) if is_on_usb => Rotates::Perhaps,
        (Some(true), Some(false)) => Rotates::Yes,
        (Some(true), _) => Rotates::Virtual,
        _ => Rotates::No,
    }
}

/// Random workloads to which the drive is not fitted.
fn unseen(args: &TwinArgs, unique_bytes: u64) -> Vec<Workload> {
    let bounds = Bounds {
        unique_bytes: [unique_bytes; 2],
        size_mean: twin::UNSEEN_SIZES,
        process_num: [1, twin::UNSEEN_DEPTH],
    };
    let random = random_workloads(&bounds, &twin::base(), args.workloads() as usize, args.seed());
    random.into_iter().map(|workload| twin::in_flight(workload, true)).collect()
}

/// The requests of a workload: the same ones that are measured.
fn requests(seed: u64) -> impl Fn(&Workload) -> Box<dyn FnMut(usize) -> Request> {
    move |workload| {
        let mut streams = ioscape_workload::streams(workload, twin::seed_of(workload, seed));
        Box::new(move |process| streams[process].request())
    }
}

/// The target, as the measurements for a twin use it.
struct Real<'a> {
    machine: &'a mut Machine,
    args: &'a TwinArgs,
    plan: &'a TwinPlan,
    progress: &'a Progress,
    interrupt: Arc<AtomicBool>,
    /// When writing the set began, as time since boot: a drive regains credit while the machine is
    /// suspended.
    begun: Duration,
}

impl Measure for Real<'_> {
    type Error = MeasureError;

    fn measure(&mut self, workload: &Workload) -> Result<Measurement, MeasureError> {
        let [least_s, most_s] = self.plan.lengths_s(workload, self.args.seconds());
        let length = RunLength { confidence: Some(KNOWN), ..RunLength::new(least_s, most_s) };
        let seed = twin::seed_of(workload, self.args.seed());
        self.machine.measure(workload, length, seed, Some(self.progress))
    }
}

impl Endure for Real<'_> {
    type Error = MeasureError;

    fn course(
        &mut self,
        workload: &Workload,
        seconds: f64,
    ) -> Result<Ran<MeasureError>, MeasureError> {
        let seed = self.args.seed();
        let now = (Instant::now(), since_boot());
        let (measurement, course) =
            self.machine.measure_course(workload, seconds, seed, self.progress)?;
        let began = course.as_ref().map_or(now.0, |course| course.began);
        let marks = course.into_iter().flat_map(|course| course.marks);
        let is_cut_off = measurement.stop == Stop::Interrupted;
        Ok(Ran {
            moved: marks.map(|mark| [mark.at_s, mark.bytes as f64]).collect(),
            since_s: since_s(self.begun, began, now),
            cut_off: is_cut_off.then_some(MeasureError::Interrupted),
            measurement,
        })
    }

    fn rest(&mut self, seconds: f64) -> Result<(), MeasureError> {
        self.progress.doing(&format!("rest for {}", Seconds(seconds)));
        let begun = since_boot();
        loop {
            let left_s = seconds - since_boot().saturating_sub(begun).as_secs_f64();
            if left_s <= 0.0 {
                return Ok(());
            }
            if self.interrupt.load(Ordering::Relaxed) {
                return Err(MeasureError::Interrupted);
            }
            // No longer than requested, since credit is regained all the time.
            std::thread::sleep(Duration::from_secs_f64(left_s).min(LOOK));
        }
    }
}

/// The seconds from `begun`, a time since boot, to `began`, given both clocks `now`.
fn since_s(begun: Duration, began: Instant, now: (Instant, Duration)) -> f64 {
    let (at, since_boot) = now;
    (since_boot.saturating_sub(begun) + began.duration_since(at)).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use ioscape_arguments::{Cli, Command};

    /// Guards against a defect: it was refused only after the set had been laid out, and the advice
    /// named options that the command does not have.
    #[test]
    fn a_target_without_direct_io_or_room_is_refused_before_a_set_is_laid_out() {
        let parsed = Cli::try_parse_from(["ioscape", "twin", "."]).expect("a command");
        let Command::Twin(args) = parsed.command else { panic!("another command") };
        let refused = |direct_refusal: Option<&str>, direct_align, capacity_bytes| {
            let facts = TargetFacts {
                capacity_bytes,
                total_bytes: 1 << 41,
                memory_bytes: None,
                is_in_memory: false,
                unlimited: None,
                comes_by_pages: true,
                direct_doubt: None,
                direct_refusal: direct_refusal.map(str::to_owned),
                direct_align,
                flush_interval_s: None,
            };
            let why = plan(&args, Path::new("."), &facts).err();
            why.map(|why| why.to_string()).unwrap_or_default()
        };
        let told = refused(Some("it refuses O_DIRECT"), None, 1 << 40);
        assert!(told.starts_with("it refuses O_DIRECT: a twin is"), "{told}");
        let told = refused(None, Some(65536), 1 << 40);
        assert!(told.contains("takes multiples of 64 KiB, and a twin"), "{told}");
        assert!(refused(None, Some(4096), 66_048).contains("has room for 64.5 KiB, but"));
        let told = refused(None, Some(4096), 1 << 40);
        assert!(!told.contains("multiples") && !told.contains("room"), "{told}");
    }

    /// Guards against a defect: the credit that came back while the machine was suspended was taken
    /// for that of the rest alone, and a rate limit for a cache.
    #[test]
    fn a_drive_also_rests_while_the_machine_is_suspended() {
        let (begun, hours) = (Duration::from_secs(100), Duration::from_secs(9 * 3600));
        let at = Instant::now();
        let told = since_s(begun, at + Duration::from_secs(3), (at, begun + hours));
        assert_eq!(told, 9.0 * 3600.0 + 3.0);
    }

    #[test]
    fn a_disk_rotates_in_a_container_and_in_a_virtual_machine_only_as_disks_there_do() {
        let of = |rotational, virtualization: Option<&str>| {
            let virtualization = virtualization.map(str::to_owned);
            rotates(&Environment { rotational, virtualization, ..Environment::default() })
        };
        assert_eq!(["none", "docker"].map(|on| of(Some(true), Some(on))), [Rotates::Yes; 2]);
        let on_virtual = [Some("kvm"), Some("kvm, docker"), None].map(|on| of(Some(true), on));
        assert_eq!(on_virtual, [Rotates::Virtual; 3]);
        assert_eq!([Some(false), None].map(|said| of(said, Some("none"))), [Rotates::No; 2]);
    }

    /// Guards against a defect: the twin of every USB stick was called not calibrated.
    #[test]
    fn what_is_on_usb_only_perhaps_rotates() {
        let of = |link: &str| {
            rotates(&Environment {
                rotational: Some(true),
                virtualization: Some("none".to_owned()),
                device_link: Some(link.to_owned()),
                ..Environment::default()
            })
        };
        assert_eq!(["USB", "6.0 Gbps"].map(of), [Rotates::Perhaps, Rotates::Yes]);
    }
}
