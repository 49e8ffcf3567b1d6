//! A case of a benchmark: what it measures, how its number is computed, and how its operation is
//! prepared.

use super::waiting::Waiting;
use ioscape_machine::error::TOO_MANY;
use ioscape_machine::limits::open_files;
use ioscape_schema::toolchain::Toolchain;
use ioscape_schema::{Locality, OsRule, OsTasks, OsUnit};
use std::cell::{Cell, RefCell};
use std::io;
use std::path::PathBuf;
use std::rc::Rc;

/// Shorter than a scheduler's time slice, so that many batches run uninterrupted; longer than 1000
/// clock steps.
const BATCH_NS: u64 = 1_000_000;

/// Nanoseconds of a batch that others easily disturb: a few round trips.
const SHORT_NS: u64 = 200_000;

/// Performs the requested number of operations; prepared in the fresh process that runs it.
pub(crate) type Op = Box<dyn FnMut(u64) -> io::Result<()>>;

/// Returns an operation that calls `once` as often as requested. Operations of a few nanoseconds
/// need a loop of their own.
pub(crate) fn repeated(mut once: impl FnMut() -> io::Result<()> + 'static) -> Op {
    Box::new(move |count| (0..count).try_for_each(|_| once()))
}

/// Prepares an operation; an [`io::ErrorKind::Unsupported`] means that the case cannot be measured
/// here.
pub(crate) type Ready = Box<dyn Fn(&Scene) -> io::Result<Op>>;

/// The environment of a fresh process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    /// A new, empty directory, which is also the current one; an empty path for cases without
    /// files.
    pub(crate) directory: PathBuf,
    /// The processor that runs pinned cases.
    pub(crate) cpu: usize,
    /// All processors that this run may use: that of pinned cases first, and second hardware
    /// threads of the same cores last.
    pub(crate) cpus: Vec<usize>,
    /// The processors among them that are of a slower kind than that of pinned cases.
    pub(crate) slower: Vec<usize>,
    /// Processors of the machine, including those that this run may not use; 0 if unknown.
    pub(crate) online: usize,
    /// Whether this is, or may be, a virtual machine.
    pub(crate) is_virtual: bool,
    /// This program, with the arguments that make it run one step of a benchmark.
    pub(crate) program: Option<Program>,
    /// The thread that alternates with the case, if there is one; the case sets it while it is
    /// prepared.
    pub(crate) partner: Cell<Option<u32>>,
    /// The times that a self-timing case reports for its last batch; the case sets this while it is
    /// prepared.
    pub(crate) timing: RefCell<Option<Rc<Cell<Timing>>>>,
}

impl Scene {
    /// Returns the second processor of cases that use two, if there is one.
    pub(crate) fn other_cpu(&self) -> Option<usize> {
        self.cpus.get(1).copied()
    }

    /// Refuses a case that the scheduler places if this run may use fewer than `wanted` of the
    /// machine's processors: it would measure something else than on the whole machine.
    pub(crate) fn unrestricted(&self, wanted: usize) -> io::Result<()> {
        let (may, online) = (self.cpus.len(), self.online);
        if may == 0 || may >= wanted.min(online) {
            return Ok(());
        }
        Err(not_here(format!(
            "this process may run on {may} of the machine's {online} processors, so that the scheduler could not place this case as on the whole machine: let it run on more (taskset, cpuset)"
        )))
    }

    /// Whether a case is judged by how fast its processor computes. If the scheduler places the
    /// case, slowness is a disturbance only in virtual machines, where another guest causes it.
    /// Elsewhere, moving to an idle processor at a low clock or to a slower kind is part of the
    /// case.
    pub(crate) fn judges_pace(&self, case: &Case) -> bool {
        case.pinned || (self.is_virtual && self.slower.is_empty())
    }

    /// Returns the cell into which a self-timing case writes the times of each batch.
    pub(crate) fn timed_by_itself(&self) -> Rc<Cell<Timing>> {
        let timing = Rc::<Cell<Timing>>::default();
        *self.timing.borrow_mut() = Some(Rc::clone(&timing));
        timing
    }
}

/// The times that a self-timing case reports for a batch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timing {
    /// Duration of the batch, in nanoseconds.
    pub(crate) passed_ns: u64,
    /// How long other programs used a processor of the case; absent if the harness must find out.
    pub(crate) waited_ns: Option<u64>,
    /// The longest time of the fixed computation on any processor of the case but the first.
    pub(crate) pace_ns: u64,
}

/// A program that runs one step of a benchmark per process, given the step's words as its last
/// arguments.
#[derive(Clone, Debug)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// The arguments before the words of the step.
    pub first: Vec<String>,
    /// The source tree and the tools for the steps of the Modified Andrew Benchmark.
    pub toolchain: &'static dyn Toolchain,
}

/// A case of a benchmark.
pub(crate) struct Case {
    /// Benchmark, as `--only` takes it.
    pub(crate) name: &'static str,
    /// Name of the case.
    pub(crate) case: String,
    /// Unit of its value.
    pub(crate) unit: OsUnit,
    /// Bytes that one operation moves, for rates in bytes.
    pub(crate) bytes_per_op: u64,
    /// The rule that turns a process's batches into its number.
    pub(crate) rule: OsRule,
    /// How it detects that other programs used the processor.
    pub(crate) waiting: Waiting,
    /// Whether it shares memory, the last cache, storage or a second processor with programs on
    /// other processors. A process of such a case counts only if there were none. A case that
    /// shares only its core is judged by the fixed computation.
    pub(crate) shares: bool,
    /// How many of the scene's processors it uses if it is pinned.
    pub(crate) processors: usize,
    /// How many tasks perform the operation concurrently, and whether they are processes or
    /// threads.
    pub(crate) tasks: Option<(u32, OsTasks)>,
    /// Operations performed for each one that the harness requests.
    pub(crate) of_each: f64,
    /// Target length of a batch, in nanoseconds.
    pub(crate) batch_ns: u64,
    /// The directory that it uses.
    pub(crate) place: Option<(usize, Locality)>,
    /// Whether the process stays on one processor.
    pub(crate) pinned: bool,
    /// Whether its process begins as a fresh image of the program, if there is a program: for cases
    /// whose cost depends on the memory of the process.
    pub(crate) fresh_image: bool,
    /// Its share of the usual time.
    pub(crate) effort: f64,
    /// What the result teaches.
    pub(crate) teaches: &'static str,
    /// Prepares the operation.
    pub(crate) ready: Ready,
}

impl Case {
    /// A case whose value is the time of an operation that never sleeps, on one processor, without
    /// files.
    pub(crate) fn new(
        name: &'static str,
        case: impl Into<String>,
        teaches: &'static str,
        ready: impl Fn(&Scene) -> io::Result<Op> + 'static,
    ) -> Self {
        Self {
            name,
            case: case.into(),
            unit: OsUnit::Nanos,
            bytes_per_op: 1,
            rule: OsRule::CleanQuartile,
            waiting: Waiting::Busy,
            shares: false,
            processors: 1,
            tasks: None,
            of_each: 1.0,
            batch_ns: BATCH_NS,
            place: None,
            pinned: true,
            fresh_image: false,
            effort: 1.0,
            teaches,
            ready: Box::new(ready),
        }
    }

    /// Uses another rule.
    pub(crate) fn by(mut self, rule: OsRule) -> Self {
        self.rule = rule;
        self
    }

    /// Marks the operation as one that sleeps.
    pub(crate) fn sleeping(mut self) -> Self {
        self.waiting = Waiting::Queued;
        self
    }

    /// Marks the operation as one that depends on programs on other processors.
    pub(crate) fn sharing(mut self) -> Self {
        self.shares = true;
        self
    }

    /// Makes the case one of two processes that alternate on two processors. Each of the two is
    /// idle half of the time, so others interfere more often than on one processor, and batches are
    /// short.
    pub(crate) fn across_two(mut self) -> Self {
        self.processors = 2;
        self.sleeping().sharing().batches_of(SHORT_NS)
    }

    /// Makes several tasks perform the operation concurrently, each on its own processor; the value
    /// is their total rate.
    pub(crate) fn by_tasks(mut self, count: u32, kind: OsTasks) -> Self {
        self.processors = count as usize;
        self.tasks = Some((count, kind));
        self.unit = OsUnit::PerS;
        self.of_each(f64::from(count)).sharing()
    }

    /// Makes one operation of the harness count as `operations` of those that the value counts.
    pub(crate) fn of_each(mut self, operations: f64) -> Self {
        self.of_each = operations;
        self
    }

    /// Sets the length of a batch.
    pub(crate) fn batches_of(mut self, ns: u64) -> Self {
        self.batch_ns = ns;
        self
    }

    /// Lets the scheduler place the case.
    pub(crate) fn unpinned(mut self) -> Self {
        self.pinned = false;
        self.sharing()
    }

    /// Makes its process begin as a fresh image of the program.
    pub(crate) fn in_fresh_image(mut self) -> Self {
        self.fresh_image = true;
        self
    }

    /// Turns the value into a rate of an operation that moves `bytes`.
    pub(crate) fn moving(mut self, bytes: u64) -> Self {
        self.unit = OsUnit::BytesPerS;
        self.bytes_per_op = bytes;
        self
    }

    /// Places its files in a directory; the operation may then sleep until storage or a server
    /// answers.
    pub(crate) fn at(mut self, place: (usize, Locality)) -> Self {
        self.place = Some(place);
        self.sleeping().sharing()
    }

    /// Sets its share of the usual time.
    pub(crate) fn effort(mut self, effort: f64) -> Self {
        self.effort = effort;
        self
    }

    /// Whether every operation forces data to storage.
    pub(crate) fn forces(&self) -> bool {
        forces(self.name, &self.case)
    }

    /// Converts a time per operation to the case's unit.
    pub(crate) fn value(&self, ns_per_op: f64) -> f64 {
        let ns_per_op = ns_per_op / self.of_each;
        match self.unit {
            OsUnit::Nanos => ns_per_op,
            OsUnit::BytesPerS => self.bytes_per_op as f64 * 1e9 / ns_per_op,
            OsUnit::PerS => 1e9 / ns_per_op,
        }
    }
}

/// Whether every operation of the case with this name forces data to storage.
pub(crate) fn forces(name: &str, case: &str) -> bool {
    name == "fsync" || case.ends_with("fsync")
}

/// Returns the error that marks a case as not measurable here.
pub(crate) fn not_here(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, why.into())
}

/// Returns the same error; if too many files are open, or too many processes or threads run, its
/// sentence says what helps.
pub(crate) fn advised(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::EMFILE) => not_here(format!(
            "this needs more than {} open files in one process: raise the limit (ulimit -n)",
            open_files()
        )),
        Some(libc::EAGAIN) => not_here(format!("{error}{TOO_MANY}")),
        _ => error,
    }
}

/// The start of the message of a process that had no time to measure; another process may have had
/// it.
pub(crate) const TOO_LATE: &str = "no time for it: ";

/// Returns the error for something that took too long in this process.
pub(crate) fn too_late(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("{TOO_LATE}{why}"))
}

/// Returns the error for a benchmark that did not do what it should have.
pub(crate) fn wrong(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_scheduler_places_a_case_its_speed_counts_in_virtual_machines_of_one_kind() {
        let case = || Case::new("x", "y", "", |_| Err(not_here("no")));
        let counts = |is_virtual, slower: &[usize], case: &Case| {
            let slower = slower.to_vec();
            Scene { is_virtual, slower, ..Scene::default() }.judges_pace(case)
        };
        assert!(counts(false, &[1], &case()), "where it is pinned");
        let placed = case().unpinned();
        assert!(counts(true, &[], &placed));
        assert!(!counts(false, &[], &placed) && !counts(true, &[1], &placed));
    }

    #[test]
    fn who_may_start_no_more_processes_is_told_the_limit() {
        let told = |errno| advised(io::Error::from_raw_os_error(errno)).to_string();
        assert!(
            told(libc::EAGAIN).contains("ulimit -u") && told(libc::EMFILE).contains("ulimit -n")
        );
        assert!(!told(libc::EIO).contains("ulimit"));
    }

    #[test]
    fn a_part_of_the_machine_is_no_machine() {
        let scene =
            |cpus: usize, online| Scene { cpus: (0..cpus).collect(), online, ..Scene::default() };
        for (may, online, wanted) in [(1, 1, 2), (2, 2, 2), (2, 16, 2), (16, 16, usize::MAX)] {
            assert!(scene(may, online).unrestricted(wanted).is_ok(), "{may} of {online}");
        }
        assert!(Scene::default().unrestricted(2).is_ok(), "not known");
        let error = scene(1, 2).unrestricted(2).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
        assert!(error.to_string().contains("1 of the machine's 2 processors"), "{error}");
        assert!(scene(2, 16).unrestricted(usize::MAX).is_err());
    }
}
