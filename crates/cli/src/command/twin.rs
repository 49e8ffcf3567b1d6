//! `ioscape twin`: measures a target, fits a simulated drive to it, and judges that by workloads that it has not seen.

use crate::failure::{Failure, both};
use crate::machine::{Machine, RunLength};
use crate::output;
use crate::outputs::{self, RESULT};
use ioscape_arguments::TwinArgs;
use ioscape_machine::error::Error as MeasureError;
use ioscape_machine::interrupt;
use ioscape_machine::terminal::Progress;
use ioscape_scaling::Bounds;
use ioscape_scaling::model::random_workloads;
use ioscape_schema::text::DRIVE_MARK;
use ioscape_schema::{Measurement, Request, WarningKind, Workload};
use ioscape_simulate::twin::{self, Measure, Named};

/// Runs the command.
///
/// # Errors
/// Misuse before anything is touched; a target that cannot be measured, and output that cannot be written.
pub fn main(args: &TwinArgs) -> Result<(), Failure> {
    let names = outputs::names(args.force).reads("the target", [&args.target]);
    let mut outputs = names.writes(RESULT, &args.output).open()?;
    let mut document = output::document(args.seed);
    let mut machine = Machine::open(&args.target, args.destroy_data, None, interrupt::flag())?;
    let facts = machine.look();
    let unique_bytes = args.unique_bytes.min(facts.capacity_bytes) >> 12 << 12;
    machine.start(&mut document)?;
    machine.layout(unique_bytes)?;
    let probes = twin::probes(unique_bytes, true);
    let (all, unseen) = (probes.len() + args.workloads as usize, unseen(args, unique_bytes));
    let progress = Progress::of_jobs(0, all, "twin");
    let mut drive = Real { machine: &mut machine, args, progress: &progress, measured: Vec::new() };
    let found = twin::all(&probes, &mut drive)
        .and_then(|measured| Ok((measured, twin::all(&unseen, &mut drive)?)));
    let (mut measured, judging) = match found {
        Ok(found) => found,
        Err(error) if drive.measured.is_empty() => return Err(error.into()),
        Err(error) => {
            document.interrupted = true;
            document.outcome = Some(drive.measured.into());
            return Err(outputs::keep(&mut outputs, &document, error.into()));
        }
    };
    progress.doing("fit");
    let requests = requests(args.seed);
    let failed = |e: ioscape_simulate::Error| Failure::Failed(e.to_string());
    let fitted = twin::fit(&measured, &requests).map_err(failed)?;
    let name = args.target.display().to_string();
    let named = Named {
        name: &name,
        capacity_bytes: facts.total_bytes,
        write_buffer_bytes: args.write_buffer,
    };
    let mut verdict = twin::verdict(fitted, &judging, &named, &requests).map_err(failed)?;
    progress.done();
    verdict.summary.iter().for_each(|line| output::tell(line));
    if let Some(doubt) = no_device(&measured) {
        output::tell(&doubt);
        verdict.parameters.sources.insert("target".to_owned(), doubt);
    }
    let text = format!("{DRIVE_MARK}twin.\n{}", verdict.parameters.text()?);
    let written = outputs::text(&mut outputs, &text, "toml");
    measured.extend(judging);
    document.outcome = Some(measured.into());
    let shown = if args.json { output::show_beside(&document, true) } else { Ok(()) };
    both(written, shown)
}

/// That it may not be the twin of a storage device at all, where the measurements say so.
fn no_device(measured: &[Measurement]) -> Option<String> {
    let mut warnings = measured.iter().flat_map(|one| &one.warnings);
    let doubt = warnings.find(|one| one.kind == WarningKind::DirectWithoutDevice)?;
    Some(format!("cannot be told: whether this is the twin of a device; {}", doubt.message))
}

/// Random workloads that the drive is not fitted to.
fn unseen(args: &TwinArgs, unique_bytes: u64) -> Vec<Workload> {
    let bounds = Bounds {
        unique_bytes: [unique_bytes; 2],
        size_mean: twin::UNSEEN_SIZES,
        process_num: [1, twin::UNSEEN_DEPTH],
    };
    let random = random_workloads(&bounds, &twin::base(), args.workloads as usize, args.seed);
    random.into_iter().map(|workload| twin::in_flight(workload, true)).collect()
}

/// The requests of a workload, the same that are measured.
fn requests(seed: u64) -> impl Fn(&Workload) -> Box<dyn FnMut(usize) -> Request> {
    move |workload| {
        let mut streams = ioscape_workload::streams(workload, seed);
        Box::new(move |process| streams[process].request())
    }
}

/// The target as what a twin is made of.
struct Real<'a> {
    machine: &'a mut Machine,
    args: &'a TwinArgs,
    progress: &'a Progress,
    /// All so far.
    measured: Vec<Measurement>,
}

impl Measure for Real<'_> {
    type Error = MeasureError;

    fn measure(&mut self, workload: &Workload) -> Result<Measurement, MeasureError> {
        let cap_s = self.args.seconds;
        let effort = RunLength { min_s: cap_s / 4.0, cap_s, verify: false };
        let one = self.machine.measure(workload, effort, self.args.seed, Some(self.progress))?;
        self.measured.push(one.clone());
        Ok(one)
    }
}
