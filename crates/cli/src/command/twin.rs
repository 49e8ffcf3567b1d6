//! `ioscape twin`: measures a target, fits a simulated drive to it, and judges that by workloads that it has not seen.

use crate::failure::{Failure, both};
use crate::machine::{self, Machine, RunLength};
use crate::output;
use crate::outputs::{self, RESULT};
use ioscape_arguments::TwinArgs;
use ioscape_machine::error::Error as MeasureError;
use ioscape_machine::interrupt;
use ioscape_machine::output::Outputs;
use ioscape_machine::terminal::Progress;
use ioscape_scaling::Bounds;
use ioscape_scaling::model::random_workloads;
use ioscape_schema::text::DRIVE_MARK;
use ioscape_schema::units::{Bytes, Seconds};
use ioscape_schema::{Measurement, Request, Stop, WarningKind, Workload};
use ioscape_simulate::twin::{self, Before, Endure, Endured, Measure, Named, Ran};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// While nothing is measured, the user's wish to stop is looked for so often.
const LOOK: Duration = Duration::from_millis(50);

/// Bytes of the smallest requests that are measured.
const LEAST: u64 = 4096;

/// Runs the command.
///
/// # Errors
/// Misuse before anything is touched; a target that cannot be measured, and output that cannot be written.
pub fn main(args: &TwinArgs) -> Result<(), Failure> {
    if args.json && args.output.is_none() && args.sustain.is_none() {
        return Err(Failure::Misuse(
            "--json and the drive cannot both go to standard output: add -o FILE for the drive"
                .to_owned(),
        ));
    }
    if args.unique_bytes < LEAST {
        let [given, least] = [args.unique_bytes, LEAST].map(|bytes| Bytes(bytes as f64));
        return Err(Failure::Misuse(format!(
            "--unique-bytes {given}: the smallest requests have {least}, so the set needs as much"
        )));
    }
    if args.dry_run {
        let facts = machine::look(&args.target, args.destroy_data)?;
        return output::print(&Plan::of(args, facts.capacity_bytes).text(args));
    }
    let names = outputs::names(args.force).reads("the target", [&args.target]);
    let mut outputs = names.writes(RESULT, &args.output).open()?;
    let mut document = output::document(args.seed);
    let interrupt = interrupt::flag();
    let mut machine = Machine::open(&args.target, args.destroy_data, None, Arc::clone(&interrupt))?;
    let facts = machine.look();
    let plan = Plan::of(args, facts.capacity_bytes);
    machine.start(&mut document)?;
    let begun = Instant::now();
    machine.layout(plan.unique_bytes)?;
    let progress = Progress::of_jobs(0, plan.count(), "twin");
    let mut drive = Real { machine: &mut machine, args, progress: &progress, interrupt, begun };
    let mut found = Found::default();
    if let Err(error) = plan.carry_out(args.seed, &mut drive, &mut found) {
        let measured = found.measurements();
        if measured.is_empty() {
            return Err(error.into());
        }
        document.interrupted = true;
        document.outcome = Some(measured.into());
        return Err(outputs::keep(&mut outputs, &document, error.into()));
    }
    let written = if plan.probes.is_empty() {
        Ok(())
    } else {
        progress.doing("fit");
        let text = drive_file(args, &found, facts.total_bytes)?;
        outputs::text(&mut outputs, &text, "toml")
    };
    progress.done();
    document.outcome = Some(found.measurements().into());
    both(written, show(args, &mut outputs, &document, plan.probes.is_empty()))
}

/// Shows what was measured: where no drive is fitted, that is the result.
fn show(
    args: &TwinArgs,
    outputs: &mut Outputs,
    document: &ioscape_schema::Document,
    alone: bool,
) -> Result<(), Failure> {
    match (alone, args.json) {
        (true, as_json) => outputs::show(outputs, document, as_json),
        (false, true) => output::show_beside(document, true),
        (false, false) => Ok(()),
    }
}

/// Fits a drive to measured workloads, says how well it does, and gives its file.
fn drive_file(args: &TwinArgs, found: &Found, capacity_bytes: u64) -> Result<String, Failure> {
    let requests = requests(args.seed);
    let failed = |e: ioscape_simulate::Error| Failure::Failed(e.to_string());
    let fitted = twin::fit(&found.probed, &requests).map_err(failed)?;
    let name = args.target.display().to_string();
    let write_buffer_bytes = args.write_buffer;
    let sustained = args.sustain.map(|_| &found.endured);
    let [once, repeated] = found.pairs();
    let named = Named {
        name: &name,
        capacity_bytes,
        write_buffer_bytes,
        sustained,
        twice: [&found.first, &found.again],
        repeated: [&once, &repeated],
    };
    let mut verdict = twin::verdict(fitted, &found.judging, &named, &requests).map_err(failed)?;
    verdict.summary.iter().for_each(|line| output::tell(line));
    if let Some(doubt) = no_device(&found.probed) {
        output::tell(&doubt);
        verdict.parameters.sources.insert("target".to_owned(), doubt);
    }
    Ok(format!("{DRIVE_MARK}twin.\n{}", verdict.parameters.text()?))
}

/// That it may not be the twin of a storage device at all, where the measurements say so.
fn no_device(measured: &[Measurement]) -> Option<String> {
    let mut warnings = measured.iter().flat_map(|one| &one.warnings);
    let doubt = warnings.find(|one| one.kind == WarningKind::DirectWithoutDevice)?;
    Some(format!("cannot be told: whether this is the twin of a device; {}", doubt.message))
}

/// What is to be measured.
struct Plan {
    unique_bytes: u64,
    /// Workloads that the drive is fitted to; none where none is asked for.
    probes: Vec<Workload>,
    /// Workloads that it is judged by.
    unseen: Vec<Workload>,
    /// Of these, the first so many are measured twice.
    repeated: usize,
    /// Workloads that are measured first and at last.
    references: Vec<Workload>,
    /// Seconds for which writes and reads run at last, where they do.
    sustain_s: Option<f64>,
}

impl Plan {
    fn of(args: &TwinArgs, capacity_bytes: u64) -> Self {
        let unique_bytes = args.unique_bytes.min(capacity_bytes) >> 12 << 12;
        let fits = args.sustain.is_none() || args.output.is_some();
        let probes = if fits { twin::probes(unique_bytes, true) } else { Vec::new() };
        let unseen = if fits { unseen(args, unique_bytes) } else { Vec::new() };
        let repeated = unseen.len().min(twin::REPEATED);
        let references = if fits { twin::references(unique_bytes) } else { Vec::new() };
        Self { unique_bytes, probes, unseen, repeated, references, sustain_s: args.sustain }
    }

    /// Workloads that are measured to fit and judge a drive.
    fn count(&self) -> usize {
        self.probes.len() + self.unseen.len() + self.repeated + 2 * self.references.len()
    }

    /// Measures all of it; what ran for long comes last, since it may use up what the others need. What was measured before an
    /// error is kept.
    fn carry_out(
        &self,
        seed: u64,
        drive: &mut Real<'_>,
        found: &mut Found,
    ) -> Result<(), MeasureError> {
        twin::all(&self.references, drive, &mut found.first)?;
        let (probes, unseen) = (self.probes.len(), self.unseen.len());
        for at in twin::order(probes + unseen + self.repeated, seed) {
            match at.checked_sub(probes) {
                None => found.probed.push(drive.measure(&self.probes[at])?),
                Some(at) if at < unseen => found.judging.push(drive.measure(&self.unseen[at])?),
                Some(at) => found.repeated.push(drive.measure(&self.unseen[at - unseen])?),
            }
        }
        twin::all(&self.references, drive, &mut found.again)?;
        let Some(seconds) = self.sustain_s else { return Ok(()) };
        let moved = found.fitting().map(|m| m.bytes).sum::<u64>();
        let before = Before { bytes: self.unique_bytes + moved, is_all: moved == 0 };
        let (endured, ended) = twin::endure(drive, self.unique_bytes, seconds, before);
        found.endured = endured;
        ended
    }

    fn text(&self, args: &TwinArgs) -> String {
        let target = args.target.display();
        let set = Bytes(self.unique_bytes as f64);
        let mut text = format!("{target}: a set of {set} is written");
        if !self.probes.is_empty() {
            let count = self.count();
            let most = Seconds(count as f64 * 1.5 * args.seconds);
            text += &format!("; then {count} workloads, about {most} with their warm-ups");
        }
        if let Some(seconds) = self.sustain_s {
            let most = Seconds(twin::longest_s(seconds));
            text += &format!(
                "; then writes and reads for {} each, with rests and small requests {most} at most",
                Seconds(seconds)
            );
        }
        text + "\n"
    }
}

/// What was measured.
#[derive(Default)]
struct Found {
    /// What the drive is fitted to.
    probed: Vec<Measurement>,
    /// What it is judged by.
    judging: Vec<Measurement>,
    /// Some of these once more.
    repeated: Vec<Measurement>,
    /// The same workloads before all others, and after them.
    first: Vec<Measurement>,
    again: Vec<Measurement>,
    /// What ran for long.
    endured: Endured,
}

impl Found {
    /// What was measured to fit and judge a drive.
    fn fitting(&self) -> impl Iterator<Item = &Measurement> {
        let all = [&self.probed, &self.judging, &self.first, &self.again, &self.repeated];
        all.into_iter().flatten()
    }

    /// What was repeated of what the drive is judged by: as it was, and once more.
    fn pairs(&self) -> [Vec<Measurement>; 2] {
        let of = |again: &Measurement| {
            let once = self.judging.iter().find(|m| m.workload == again.workload)?;
            Some((once.clone(), again.clone()))
        };
        let (once, again) = self.repeated.iter().filter_map(of).unzip();
        [once, again]
    }

    /// All of it: what the drive is fitted to, what it is judged by, what was measured twice, and what ran for long.
    fn measurements(self) -> Vec<Measurement> {
        let fitting: Vec<Measurement> = self.fitting().cloned().collect();
        [fitting, self.endured.measurements].concat()
    }
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
    interrupt: Arc<AtomicBool>,
    /// When the set began to be written.
    begun: Instant,
}

impl Measure for Real<'_> {
    type Error = MeasureError;

    fn measure(&mut self, workload: &Workload) -> Result<Measurement, MeasureError> {
        let cap_s = self.args.seconds;
        let effort = RunLength::new(cap_s / 4.0, cap_s);
        self.machine.measure(workload, effort, self.args.seed, Some(self.progress))
    }
}

impl Endure for Real<'_> {
    type Error = MeasureError;

    fn course(
        &mut self,
        workload: &Workload,
        seconds: f64,
    ) -> Result<Ran<MeasureError>, MeasureError> {
        let seed = self.args.seed;
        let (measurement, course) =
            self.machine.measure_course(workload, seconds, seed, self.progress)?;
        let began = course.as_ref().map_or(self.begun, |course| course.began);
        let marks = course.into_iter().flat_map(|course| course.marks);
        let is_cut_off = measurement.stop == Stop::Interrupted;
        Ok(Ran {
            moved: marks.map(|mark| [mark.at_s, mark.bytes as f64]).collect(),
            since_s: began.duration_since(self.begun).as_secs_f64(),
            cut_off: is_cut_off.then_some(MeasureError::Interrupted),
            measurement,
        })
    }

    fn rest(&mut self, seconds: f64) -> Result<(), MeasureError> {
        self.progress.doing(&format!("rest for {}", Seconds(seconds)));
        let begun = Instant::now();
        while begun.elapsed().as_secs_f64() < seconds {
            if self.interrupt.load(Ordering::Relaxed) {
                return Err(MeasureError::Interrupted);
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}
