//! The machine under test as the commands see it: a safely opened target on which workloads are
//! measured.

use crate::failure::Failure;
use crate::output;
use crate::relay::Relay;
use ioscape_machine::cgroup::{Quota, enclosing_limit, shows_limits};
use ioscape_machine::error::Error as MeasureError;
use ioscape_machine::memory::memory;
use ioscape_machine::output::tell_leftovers;
use ioscape_machine::terminal::Progress;
use ioscape_machine::{Target, TargetFacts, TargetOptions};
use ioscape_measure::session::{Course, RunOptions, Session, SessionOptions};
use ioscape_measure::together::Together;
use ioscape_scaling::evaluate::TimeLimits;
use ioscape_schema::units::{Bytes, Seconds};
use ioscape_schema::{Document, Measurement, Warning, WarningKind, Workload};
use ioscape_workload::{Stream, largest_request};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How long to measure one workload.
#[derive(Clone, Copy, Debug)]
pub struct RunLength {
    /// At least this long, in seconds.
    pub min_s: f64,
    /// At most this long, in seconds.
    pub cap_s: f64,
    /// At most this long for the warm-up, in seconds; absent: the default.
    pub warm_most_s: Option<f64>,
    /// Whether the data is verified.
    pub verify: bool,
    /// Whether an interruption by the user gives what was measured so far as the result, instead of
    /// nothing.
    pub partial: bool,
    /// The run ends when half the 95 % confidence interval over the throughput is below this;
    /// absent: the default.
    pub confidence: Option<f64>,
}

impl RunLength {
    /// From `min_s` to `cap_s` seconds, without verifying the data.
    pub fn new(min_s: f64, cap_s: f64) -> Self {
        let (warm_most_s, confidence) = (None, None);
        Self { min_s, cap_s, warm_most_s, verify: false, partial: false, confidence }
    }
}

impl From<TimeLimits> for RunLength {
    fn from(limits: TimeLimits) -> Self {
        let warm_most_s = Some(limits.warm_most_s());
        Self { warm_most_s, ..Self::new(limits.min_s, limits.cap_s) }
    }
}

/// Looks at a target without leaving anything behind.
///
/// # Errors
/// The target cannot be used.
pub fn look(path: &Path, destroy_data: bool) -> Result<TargetFacts, Failure> {
    let options = TargetOptions { destroy_data, write_needed: true };
    let target = Target::open(path, &options)?;
    tell_leftovers(target.leftovers(), output::tell);
    Ok(TargetFacts::of(&target))
}

/// Returns the memory limit to plan with when `asked` is requested: at most the limit under which
/// this program was started, and none beyond the memory of this machine. Another one than asked for
/// is reported to the user.
pub fn within_limits(asked: Option<u64>) -> Option<u64> {
    let Some((limit, note)) = lowered(asked, enclosing_limit(), memory().total) else {
        return asked;
    };
    output::tell(&note);
    limit
}

/// The limit in force if there is less memory than `asked` for, and a note that says so: the one
/// `found` around this program, or none where this machine has `total` bytes, or an unknown number
/// (0).
fn lowered(asked: Option<u64>, found: Option<u64>, total: u64) -> Option<(Option<u64>, String)> {
    let has = found.or((total > 0).then_some(total));
    let (asked, has) = asked.zip(has).filter(|(asked, has)| asked > has)?;
    let [wanted, left] = [asked, has].map(|bytes| Bytes(bytes as f64));
    let note = match found {
        Some(_) => format!(
            "Note: this program was started in a control group of {left}, so that its workers cannot have the {wanted} asked for: {left} is their limit"
        ),
        None => format!(
            "Note: this machine has {left}, less than the {wanted} asked for: no limit is set"
        ),
    };
    Some((found, note))
}

/// The warning that the workers have less memory than the machine: the `limit` in force, or perhaps
/// one of a group above, unless those show.
fn doubt_of_memory(limit: Option<u64>, shows: bool) -> Option<Warning> {
    let message = match limit.map(|bytes| Bytes(bytes as f64)) {
        Some(limit) => format!(
            "the workers run in a control group of {limit}, file cache included; the machine has more memory"
        ),
        None if shows => return None,
        None => "control groups above do not show here: if one of them limits memory, the file cache is smaller than the memory of this machine; ask who runs this container".to_owned(),
    };
    Some(Warning::new(WarningKind::MemoryLimited, message))
}

/// A target in a session.
pub struct Machine {
    /// The session itself.
    pub session: Session,
    /// The options of every run.
    usual: RunOptions,
}

impl Machine {
    /// Opens the target; nothing but the scratch file is touched.
    ///
    /// # Errors
    /// The target cannot be used, or a memory limit cannot be set.
    pub fn open(
        path: &Path,
        destroy_data: bool,
        memory_limit: Option<u64>,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        let target = Target::open(path, &TargetOptions { destroy_data, write_needed: true })?;
        tell_leftovers(target.leftovers(), output::tell);
        let session = Session::new(target, SessionOptions { memory_limit })?;
        Ok(Self { session, usual: RunOptions { interrupt, ..RunOptions::default() } })
    }

    /// Measures the harness and captures the environment before anything else.
    ///
    /// # Errors
    /// The harness cannot run.
    pub fn start(&mut self, document: &mut Document) -> Result<(), MeasureError> {
        let typical = Workload::default();
        self.session.calibrate_with(|process| {
            let mut stream = Stream::new(&typical, document.seed, process);
            move || stream.request()
        })?;
        document.environment = self.session.environment()?;
        let limit = document.environment.memory_limit_bytes;
        let doubts = [
            ioscape_machine::clock::doubt(&document.environment.clock),
            Quota::tight().map(|quota| quota.doubt()),
            doubt_of_memory(limit, shows_limits("memory")),
        ];
        doubts.into_iter().flatten().for_each(|doubt| document.warn(doubt));
        Ok(())
    }

    /// The file that receives the I/O.
    pub fn path(&self) -> &Path {
        self.session.target().path()
    }

    /// The properties of the target that a plan needs.
    pub fn look(&self) -> TargetFacts {
        TargetFacts::of(self.session.target())
    }

    /// The same for each of the clients, if they share the target.
    pub fn share(&self, relay: Option<Relay>) -> TargetFacts {
        let (clients, mut look) = (relay.map_or(1, |relay| relay.clients), self.look());
        look.capacity_bytes /= u64::from(clients);
        look
    }

    /// As [`Session::limit_memory`].
    ///
    /// # Errors
    /// No control group can be made, or the file cache cannot be emptied.
    pub fn limit_memory(&mut self, limit: Option<u64>) -> Result<(), MeasureError> {
        self.session.limit_memory(limit, &self.usual)
    }

    /// As [`Session::layout_rate`].
    ///
    /// # Errors
    /// The layout failed or was interrupted.
    pub fn layout_rate(&mut self, most: u64, enough_s: f64) -> Result<Option<f64>, MeasureError> {
        self.session.layout_rate(most, enough_s, &self.usual)
    }

    /// Lays out a set of `bytes`.
    ///
    /// # Errors
    /// The layout failed or was interrupted.
    pub fn layout(&mut self, bytes: u64) -> Result<(), MeasureError> {
        self.session.layout(bytes, &self.usual)
    }

    /// As [`Session::layout_anew`].
    ///
    /// # Errors
    /// The layout failed or was interrupted.
    pub fn layout_anew(&mut self, bytes: u64) -> Result<(), MeasureError> {
        self.session.layout_anew(bytes, &self.usual)
    }

    /// Refuses, before anything is measured, a workload that [`Self::measure`] would refuse.
    ///
    /// # Errors
    /// The reason why the workload cannot be run here.
    pub fn vet(&self, workload: &Workload, verify: bool) -> Result<(), MeasureError> {
        self.session.vet(workload, largest_request(workload) as usize, verify)
    }

    fn options(&self, effort: RunLength) -> RunOptions {
        RunOptions {
            min_s: effort.min_s,
            cap_s: effort.cap_s,
            warm_cap_s: effort.warm_most_s.unwrap_or(self.usual.warm_cap_s),
            confidence: effort.confidence.unwrap_or(self.usual.confidence),
            warm_noisy_s: effort.cap_s / 2.0,
            verify: effort.verify,
            partial: effort.partial,
            ..self.usual.clone()
        }
    }

    /// From now on, keeps at most `most` measured requests of each run for [`Session::take_rows`].
    pub fn keep_rows(&mut self, most: usize) {
        self.usual.rows_most = most;
    }

    /// From now on, bringing a set into the file cache before a run may take up to `seconds`, even
    /// if that is longer than usual.
    pub fn fill_for(&mut self, seconds: f64) {
        self.usual.fill_cap_s = seconds;
    }

    /// From now on, runs start measuring when the others do; `beside` others run on the same
    /// machine.
    pub fn run_together(&mut self, others: Arc<dyn Together>, beside: u64) {
        (self.usual.together, self.usual.beside) = (Some(others), beside);
    }

    /// Measures one workload for `seconds` from its first request on, recording how much had been
    /// moved at what time. If the user interrupts, the part measured so far is returned.
    pub fn measure_course(
        &mut self,
        workload: &Workload,
        seconds: f64,
        seed: u64,
        progress: &Progress,
    ) -> Result<(Measurement, Option<Course>), MeasureError> {
        progress.doing(&format!("{} for {}", workload.summary(), Seconds(seconds)));
        let options = self.options(RunLength { partial: true, ..RunLength::new(seconds, seconds) });
        let measured = self.run(workload, seed, &RunOptions { course: true, ..options })?;
        Ok((measured, self.session.take_course()))
    }

    /// Measures one workload.
    ///
    /// # Errors
    /// The I/O failed, a worker died, or the user interrupted.
    pub fn measure(
        &mut self,
        workload: &Workload,
        effort: RunLength,
        seed: u64,
        progress: Option<&Progress>,
    ) -> Result<Measurement, MeasureError> {
        if let Some(progress) = progress {
            progress.doing(&workload.summary());
        }
        self.run(workload, seed, &self.options(effort))
    }

    fn run(
        &mut self,
        workload: &Workload,
        seed: u64,
        options: &RunOptions,
    ) -> Result<Measurement, MeasureError> {
        let streams = |process| {
            let mut stream = Stream::new(workload, seed, process);
            move || stream.request()
        };
        self.session.run(workload, largest_request(workload) as usize, options, streams)
    }
}

/// What measures: this machine, or several clients together.
pub enum Measurer {
    /// This machine.
    Here(Box<Machine>),
    /// The clients, each on a set of its own.
    Clients(Relay),
}

/// Why a workload was not measured.
#[derive(Debug, thiserror::Error)]
pub enum NotMeasured {
    /// This machine gives the reason.
    #[error(transparent)]
    Here(#[from] MeasureError),
    /// The clients give the reason.
    #[error(transparent)]
    Clients(#[from] Failure),
}

impl From<NotMeasured> for Failure {
    fn from(why: NotMeasured) -> Self {
        match why {
            NotMeasured::Here(error) => error.into(),
            NotMeasured::Clients(failure) => failure,
        }
    }
}

impl Measurer {
    /// Returns `machine`, or the clients in its place; `document` holds what `machine` found about
    /// the environment.
    pub fn new(machine: Machine, relay: Option<Relay>, document: &mut Document) -> Self {
        let Some(relay) = relay else { return Self::Here(Box::new(machine)) };
        let found = &mut document.environment.memory_limit_bytes;
        *found = least_limit(relay.memory, *found);
        Self::Clients(relay)
    }

    /// As [`Machine::fill_for`], or for each client if they measure.
    pub fn fill_for(&mut self, seconds: f64) {
        match self {
            Self::Here(machine) => machine.fill_for(seconds),
            Self::Clients(relay) => relay.fill_s = seconds,
        }
    }

    /// Measures one workload.
    pub fn measure(
        &mut self,
        workload: &Workload,
        length: RunLength,
        seed: u64,
        progress: &Progress,
    ) -> Result<Measurement, NotMeasured> {
        match self {
            Self::Here(machine) => Ok(machine.measure(workload, length, seed, Some(progress))?),
            Self::Clients(relay) => {
                Ok(relay.measure(workload, length.min_s, length.cap_s, relay.clients, seed)?)
            }
        }
    }
}

/// The memory limit of each client: the one `asked` for, unless the one `found` around this
/// program, such as that of a cluster's job, is lower.
fn least_limit(asked: Option<u64>, found: Option<u64>) -> Option<u64> {
    asked.into_iter().chain(found).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a defect: in a group of 1 GiB, sets of up to 16 GiB were planned, and
    /// predictions assumed a cache of 4 GiB.
    #[test]
    fn no_more_memory_is_planned_with_than_there_is_around_this_program() {
        let (asked, found) = (Some(4 << 30), Some(1 << 30));
        let (limit, note) = lowered(asked, found, 8 << 30).expect("less");
        assert_eq!(limit, found);
        assert!(note.contains("group of 1 GiB") && note.contains("the 4 GiB asked for"), "{note}");
        for (asked, found) in [(found, asked), (found, found), (asked, None), (None, found)] {
            assert_eq!(lowered(asked, found, 8 << 30), None);
        }
    }

    /// Guards against a defect: on a machine of 24 GiB, `--memory 64G` was told as a limit below the
    /// memory of the machine, and predictions assumed a cache of 64 GiB.
    #[test]
    fn no_limit_beyond_the_memory_of_the_machine_is_planned_with() {
        let (limit, note) = lowered(Some(64 << 30), None, 24 << 30).expect("less");
        assert_eq!(limit, None);
        assert!(note.contains("has 24 GiB, less than the 64 GiB asked for"), "{note}");
        assert_eq!(lowered(Some(64 << 30), None, 0), None, "nobody knows");
    }

    #[test]
    fn a_limit_that_may_be_hidden_is_told() {
        let told = |limit, shows| doubt_of_memory(limit, shows).map(|doubt| doubt.message);
        assert_eq!(told(None, true), None);
        assert!(told(None, false).is_some_and(|told| told.contains("do not show here: if one")));
        let limited = [true, false].map(|shows| told(Some(1 << 30), shows));
        assert!(limited.iter().flatten().all(|told| told.contains("group of 1 GiB")));
    }

    /// Guards against a defect: a job with 64 GiB was recorded as having the node's 1 TiB, and
    /// predictions assumed a cache of that size.
    #[test]
    fn the_memory_limit_of_a_clusters_job_holds_for_its_clients() {
        let job = Some(64 << 30);
        assert_eq!(least_limit(None, job), job);
        assert_eq!(least_limit(Some(8 << 30), job), Some(8 << 30));
        assert_eq!(least_limit(Some(256 << 30), job), job);
        assert_eq!(least_limit(Some(8 << 30), None), Some(8 << 30));
    }

    #[test]
    fn sets_of_clients_get_as_long_to_come_in_as_one_of_this_machine() {
        let mut measurer = Measurer::Clients(Relay::of(Some(2), None, 1).expect("clients"));
        measurer.fill_for(30.0);
        assert!(matches!(measurer, Measurer::Clients(relay) if relay.fill_s == 30.0));
    }
}
