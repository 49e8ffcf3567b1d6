//! A case of a benchmark: what it measures, how its numbers are made, and how its operation is prepared.

use super::waiting::Waiting;
use ioscape_machine::limits::open_files;
use ioscape_schema::toolchain::Toolchain;
use ioscape_schema::{Locality, OsRule, OsTasks, OsUnit};
use std::cell::{Cell, RefCell};
use std::io;
use std::path::PathBuf;
use std::rc::Rc;

/// Shorter than a scheduler's time slice, so that many batches are not interrupted; longer than 1000 clock steps.
const BATCH_NS: u64 = 1_000_000;

/// Nanoseconds of a batch that others disturb easily: some round trips.
const SHORT_NS: u64 = 200_000;

/// Performs as many operations as told; prepared in the fresh process that runs it.
pub(crate) type Op = Box<dyn FnMut(u64) -> io::Result<()>>;

/// The operation that does `once` as often as told. What takes some nanoseconds only has a loop of its own.
pub(crate) fn repeated(mut once: impl FnMut() -> io::Result<()> + 'static) -> Op {
    Box::new(move |count| (0..count).try_for_each(|_| once()))
}

/// Prepares an operation; an [`io::ErrorKind::Unsupported`] says that the case is not measurable here.
pub(crate) type Ready = Box<dyn Fn(&Scene) -> io::Result<Op>>;

/// The surroundings of a fresh process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    /// A new, empty directory that is also the current one; empty path for cases without files.
    pub(crate) directory: PathBuf,
    /// The processor that pinned cases run on.
    pub(crate) cpu: usize,
    /// All processors that this run may use, that of pinned cases first, hardware threads of cores named before last.
    pub(crate) cpus: Vec<usize>,
    /// Those of them that are of a slower kind than that of pinned cases.
    pub(crate) slower: Vec<usize>,
    /// Processors of the machine, those that this run may not use included; 0 where that is not known.
    pub(crate) online: usize,
    /// Whether a hypervisor is beneath, or may be.
    pub(crate) is_virtual: bool,
    /// This program and the words that make it do one step of a benchmark.
    pub(crate) program: Option<Program>,
    /// The thread that alternates with the case, where there is one; noted by the case when it is made ready.
    pub(crate) partner: Cell<Option<u32>>,
    /// What a case that times itself says of its last batch; put here by the case when it is made ready.
    pub(crate) timing: RefCell<Option<Rc<Cell<Timing>>>>,
}

impl Scene {
    /// The processor that cases on two use in addition, if there is one.
    pub(crate) fn other_cpu(&self) -> Option<usize> {
        self.cpus.get(1).copied()
    }

    /// Refuses a case that the scheduler places where this run may use fewer than `wanted` of the machine's processors: it would be another
    /// thing than on the whole machine.
    ///
    /// # Errors
    /// The refusal.
    pub(crate) fn unrestricted(&self, wanted: usize) -> io::Result<()> {
        let (may, online) = (self.cpus.len(), self.online);
        if may == 0 || may >= wanted.min(online) {
            return Ok(());
        }
        Err(not_here(format!(
            "this process may run on {may} of the machine's {online} processors, so that the scheduler could not place this case as on the whole machine: let it run on more (taskset, cpuset)"
        )))
    }

    /// Whether a case is judged by how fast its processor computes. Where the scheduler places it, that is a disturbance in virtual machines alone, by
    /// another guest: elsewhere to come to a processor that rested, at a low clock, or to one of a slower kind is a part of the case.
    pub(crate) fn judges_pace(&self, case: &Case) -> bool {
        case.pinned || (self.is_virtual && self.slower.is_empty())
    }

    /// Where a case that times itself is to write the times of each batch.
    pub(crate) fn timed_by_itself(&self) -> Rc<Cell<Timing>> {
        let timing = Rc::<Cell<Timing>>::default();
        *self.timing.borrow_mut() = Some(Rc::clone(&timing));
        timing
    }
}

/// What a case that times itself says of a batch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timing {
    /// Its time, in nanoseconds.
    pub(crate) passed_ns: u64,
    /// How long other programs used a processor of the case; absent where the harness is to find out.
    pub(crate) waited_ns: Option<u64>,
    /// The longest that the fixed computation took on a processor of the case besides the first.
    pub(crate) pace_ns: u64,
}

/// A program that does one step of a benchmark per process, when the step's words follow the first arguments.
#[derive(Clone, Debug)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// What comes before the words of the step.
    pub first: Vec<String>,
    /// The tree and the tools of the Modified Andrew Benchmark's steps.
    pub toolchain: &'static dyn Toolchain,
}

/// One case.
pub(crate) struct Case {
    /// Benchmark, as `--only` takes it.
    pub(crate) name: &'static str,
    /// The case.
    pub(crate) case: String,
    /// What its value counts.
    pub(crate) unit: OsUnit,
    /// Bytes that one operation moves, for rates in bytes.
    pub(crate) bytes_per_op: u64,
    /// How a process's number is made.
    pub(crate) rule: OsRule,
    /// How it tells that other programs used the processor.
    pub(crate) waiting: Waiting,
    /// Whether it shares memory, the last cache, storage or a second processor with programs on other processors, so that
    /// a process counts only if there were none. What shares the core alone is judged by the fixed computation.
    pub(crate) shares: bool,
    /// How many of the scene's processors it uses, if it is pinned.
    pub(crate) processors: usize,
    /// How many tasks do the same at the same time, and what they are.
    pub(crate) tasks: Option<(u32, OsTasks)>,
    /// Operations that are done for each one that the harness asks for.
    pub(crate) of_each: f64,
    /// Target length of a batch, in nanoseconds.
    pub(crate) batch_ns: u64,
    /// Which of the directories it uses.
    pub(crate) place: Option<(usize, Locality)>,
    /// Whether the process stays on one processor.
    pub(crate) pinned: bool,
    /// Whether its process begins as a fresh image of the program, where there is one: for a case whose cost depends on how much memory it has.
    pub(crate) fresh_image: bool,
    /// Share of the usual time that it gets.
    pub(crate) effort: f64,
    /// What it teaches.
    pub(crate) teaches: &'static str,
    /// Makes it ready.
    pub(crate) ready: Ready,
}

impl Case {
    /// A case whose value is the time of an operation that never sleeps, on one processor, without files.
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

    /// The same, by another rule.
    pub(crate) fn by(mut self, rule: OsRule) -> Self {
        self.rule = rule;
        self
    }

    /// The same, for an operation that sleeps by itself.
    pub(crate) fn sleeping(mut self) -> Self {
        self.waiting = Waiting::Queued;
        self
    }

    /// The same, for an operation that depends on what programs on other processors do.
    pub(crate) fn sharing(mut self) -> Self {
        self.shares = true;
        self
    }

    /// The same, for two processes that alternate on two processors: each of them is free half of the time, so that others get in
    /// between more often than on one, and batches are short.
    pub(crate) fn across_two(mut self) -> Self {
        self.processors = 2;
        self.sleeping().sharing().batches_of(SHORT_NS)
    }

    /// The same, done by several tasks at the same time, each on a processor of its own; the value is the rate of all together.
    pub(crate) fn by_tasks(mut self, count: u32, kind: OsTasks) -> Self {
        self.processors = count as usize;
        self.tasks = Some((count, kind));
        self.unit = OsUnit::PerS;
        self.of_each(f64::from(count)).sharing()
    }

    /// The same, whose operation is so many of those that the value counts.
    pub(crate) fn of_each(mut self, operations: f64) -> Self {
        self.of_each = operations;
        self
    }

    /// The same, in batches of another length.
    pub(crate) fn batches_of(mut self, ns: u64) -> Self {
        self.batch_ns = ns;
        self
    }

    /// The same, wherever the scheduler puts it.
    pub(crate) fn unpinned(mut self) -> Self {
        self.pinned = false;
        self.sharing()
    }

    /// The same, in a process that begins as a fresh image of the program.
    pub(crate) fn in_fresh_image(mut self) -> Self {
        self.fresh_image = true;
        self
    }

    /// The same, as a rate of an operation that moves `bytes`.
    pub(crate) fn moving(mut self, bytes: u64) -> Self {
        self.unit = OsUnit::BytesPerS;
        self.bytes_per_op = bytes;
        self
    }

    /// The same, with files in a directory, which may sleep until storage or a server answers.
    pub(crate) fn at(mut self, place: (usize, Locality)) -> Self {
        self.place = Some(place);
        self.sleeping().sharing()
    }

    /// The same, with another share of the time.
    pub(crate) fn effort(mut self, effort: f64) -> Self {
        self.effort = effort;
        self
    }

    /// Whether every operation forces something to storage.
    pub(crate) fn forces(&self) -> bool {
        forces(self.name, &self.case)
    }

    /// The value in the case's unit for a time per operation.
    pub(crate) fn value(&self, ns_per_op: f64) -> f64 {
        let ns_per_op = ns_per_op / self.of_each;
        match self.unit {
            OsUnit::Nanos => ns_per_op,
            OsUnit::BytesPerS => self.bytes_per_op as f64 * 1e9 / ns_per_op,
            OsUnit::PerS => 1e9 / ns_per_op,
        }
    }
}

/// Whether every operation of the case of this name forces something to storage.
pub(crate) fn forces(name: &str, case: &str) -> bool {
    name == "fsync" || case.ends_with("fsync")
}

/// The error that marks a case as not measurable here.
pub(crate) fn not_here(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, why.into())
}

/// The same error; where too many files were open, a sentence that says what helps.
pub(crate) fn advised(error: io::Error) -> io::Error {
    if error.raw_os_error() != Some(libc::EMFILE) {
        return error;
    }
    not_here(format!(
        "this needs more than {} open files in one process: raise the limit (ulimit -n)",
        open_files()
    ))
}

/// How the sentence of a process begins that had no time for what was to be measured: another process may have had it.
pub(crate) const TOO_LATE: &str = "no time for it: ";

/// The error for what took too long in this process.
pub(crate) fn too_late(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("{TOO_LATE}{why}"))
}

/// The error for a benchmark that did not do what it should have.
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
