//! The operating-system micro-benchmarks of Ousterhout (1990), and more of today's, by one method.
//!
//! Every case runs in several fresh processes, alternating with all others in a new order each time, in new directories.
//! A process runs short batches and yields one number by the rule that its case names; the value is the median over
//! processes, with a distribution-free interval. How far others disturbed it is part of the result.

mod bcopy;
mod case;
mod create_delete;
mod cswitch;
mod dhrystone;
mod estimate;
mod getpid;
mod mab;
mod machine;
mod open_close;
mod pace;
mod partner;
mod process;
mod read;
mod result;
mod select;
mod step;
mod today;
mod toolchain;
mod waiting;
mod workspace;

pub use case::Program;
pub use step::step;
pub use toolchain::{FindHeader, Named, Toolchain};

use case::{Case, Scene};
use ioscape_machine::environment;
use ioscape_machine::error::Error;
use ioscape_machine::load::Snapshot;
use ioscape_machine::target::{Target, TargetOptions};
use ioscape_schema::{Environment, Locality, MabProof, OsResults, OsRule};
use process::Ended;
use result::Gathered;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use workspace::Workspace;

/// Rounds in which processes are repeated whose processor was slowed: of the cases with fewer than this many processes at full
/// pace. First those that have none; six are needed for an interval of their own.
const MORE_ROUNDS: [usize; 8] = [1, 1, 1, 2, 3, 6, 6, 6];

/// What the user asks for.
#[derive(Clone, Debug)]
pub struct OsOptions {
    /// Names of the benchmarks to run; all if empty.
    pub only: Vec<String>,
    /// Directories that file benchmarks run in: one, or a local and a remote one.
    pub directories: Vec<PathBuf>,
    /// Fresh processes per case.
    pub processes: u32,
    /// After this time nothing is repeated for the processor's sake, in seconds.
    pub repeat_until_s: f64,
    /// Time that a process measures, in nanoseconds, before the case's own share.
    pub process_ns: u64,
    /// This program and the words that make it do one step of a benchmark.
    pub program: Option<Program>,
    /// Command of the compiler that the Modified Andrew Benchmark uses; the built-in one if none.
    pub compiler: Option<String>,
    /// Set to end early; what is measured is kept.
    pub interrupt: Arc<AtomicBool>,
}

impl OsOptions {
    /// A full run: some minutes.
    pub fn full() -> Self {
        Self {
            only: Vec::new(),
            directories: vec![PathBuf::from(".")],
            processes: 12,
            repeat_until_s: 270.0,
            process_ns: 150_000_000,
            program: None,
            compiler: None,
            interrupt: Arc::default(),
        }
    }

    /// A quick run: below a minute, with wider intervals.
    pub fn quick() -> Self {
        Self { processes: 6, repeat_until_s: 55.0, process_ns: 45_000_000, ..Self::full() }
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct RunProgress<'a> {
    /// Processes that are done.
    pub done: usize,
    /// Processes in all.
    pub of: usize,
    /// Benchmark and case of the next one.
    pub name: &'a str,
    /// Case of the next one.
    pub case: &'a str,
}

/// What a run came to; with an error, as far as it came.
#[derive(Debug)]
pub struct Outcome {
    /// The results.
    pub results: OsResults,
    /// The machine, with the file system of the first directory.
    pub environment: Environment,
    /// What ended it early.
    pub finished: Result<(), Error>,
}

/// Names of the benchmarks, in the order in which they are shown.
pub fn names() -> Vec<&'static str> {
    let paper = [
        "dhrystone",
        mab::kernel::NAME,
        "getpid",
        "cswitch",
        "select",
        "bcopy",
        "read",
        "open-close",
        "create-delete",
        mab::NAME,
    ];
    paper.into_iter().chain(today::NAMES).collect()
}

/// A directory that the user named, with a workspace in it.
struct Home {
    workspace: Workspace,
    place: Locality,
    in_memory: bool,
}

/// All cases, in the order in which they are shown.
fn catalog(caches: &[u64], places: &[(usize, Locality)]) -> Vec<Case> {
    let mut all = dhrystone::cases();
    all.extend(mab::kernel::cases());
    all.extend(getpid::cases());
    all.extend(cswitch::cases());
    all.extend(select::cases());
    all.extend(bcopy::cases(caches));
    for &place in places {
        all.extend(read::cases(caches, place));
        all.extend(open_close::cases(place));
        all.extend(create_delete::cases(place));
    }
    for &place in places {
        all.extend(mab::cases(place));
    }
    all.extend(today::cases());
    for &place in places {
        all.extend(today::file_cases(place));
    }
    all
}

/// Runs the benchmarks and tells `progress` before each process.
///
/// # Errors
/// A directory is refused, before anything is measured; what happens later is part of the outcome.
pub fn run(
    options: &OsOptions,
    progress: &mut dyn FnMut(RunProgress<'_>),
) -> Result<Outcome, Error> {
    let begun = Instant::now();
    let (homes, environment) = open(options)?;
    let cpus = machine::processors();
    let cpu = cpus.last().copied().unwrap_or(0);
    let (caches, told) = machine::caches(cpu);
    let places: Vec<(usize, Locality)> =
        homes.iter().enumerate().map(|(index, home)| (index, home.place)).collect();
    let mut cases = catalog(&caches, &places);
    cases.retain(|case| options.only.is_empty() || options.only.iter().any(|n| n == case.name));
    let scene = Scene {
        directory: PathBuf::new(),
        cpu,
        other_cpu: cpus.iter().copied().find(|&other| other != cpu),
        program: options.program.clone(),
        partner: Cell::new(None),
    };
    let gathered = cases.iter().map(|_| Gathered::default()).collect();
    let mut bench =
        Bench { options, cases, scene, homes, gathered, proof: None, fastest_ns: u64::MAX };
    let finished = bench.all_rounds(progress);
    let Bench { cases, gathered, proof, homes, fastest_ns, .. } = bench;
    let mut results = OsResults {
        system: machine::system(cpu, &caches),
        mab: proof,
        elapsed_s: begun.elapsed().as_secs_f64(),
        ..OsResults::default()
    };
    results.benchmarks = cases
        .iter()
        .zip(gathered)
        .map(|(case, found)| result::benchmark(case, found, fastest_ns))
        .collect();
    result::doubt(&mut results, told);
    let in_memory = homes.iter().filter(|home| home.in_memory).map(|home| home.place);
    in_memory.for_each(|place| result::doubt_storage(&mut results, place));
    Ok(Outcome { results, environment, finished })
}

/// Refuses anything but a directory, in words that speak of directories only.
fn is_directory(path: &Path) -> Result<(), Error> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(Error::target(path, "is not a directory: name a directory")),
        Err(why) => {
            let text = format!("cannot be examined ({why}): name an existing directory");
            Err(Error::target(path, text))
        }
    }
}

/// Checks the directories and makes a workspace in each.
fn open(options: &OsOptions) -> Result<(Vec<Home>, Environment), Error> {
    let mut homes: Vec<Home> = Vec::new();
    let mut environment = Environment::default();
    for directory in &options.directories {
        is_directory(directory)?;
        let target = Target::open(directory, &TargetOptions::default())?;
        let place = if target.file_system().is_network_or_fuse {
            Locality::Remote
        } else {
            Locality::Local
        };
        if homes.iter().any(|home| home.place == place) {
            let kind = target.file_system().name.clone();
            return Err(Error::target(
                directory,
                format!(
                    "is on a {} file system ({kind}) like the other one: give one local directory and one on a network file system",
                    place.word()
                ),
            ));
        }
        if homes.is_empty() {
            environment = environment::capture(&target, None);
            environment.clock = ioscape_machine::Clock::new().measure();
        }
        let in_memory = matches!(&*target.file_system().name, "tmpfs" | "ramfs");
        drop(target);
        homes.push(Home { workspace: Workspace::new(directory)?, place, in_memory });
    }
    Ok((homes, environment))
}

/// A run under way.
struct Bench<'a> {
    options: &'a OsOptions,
    cases: Vec<Case>,
    scene: Scene,
    homes: Vec<Home>,
    gathered: Vec<Gathered>,
    proof: Option<MabProof>,
    /// Least time of the fixed computation that any process had most of the time.
    fastest_ns: u64,
}

impl Bench<'_> {
    /// Runs every case once per round, each round in another order; then again those whose processor was slowed, in
    /// [`MORE_ROUNDS`], while there is time.
    fn all_rounds(&mut self, progress: &mut dyn FnMut(RunProgress<'_>)) -> Result<(), Error> {
        let whole = |case: &Case| case.rule == OsRule::Single;
        let firsts: Vec<usize> = (0..self.cases.len())
            .filter(|&i| i == 0 || !one_run(&self.cases[i - 1], &self.cases[i]))
            .collect();
        let (begun, rounds) = (Instant::now(), self.options.processes);
        let mut done = 0;
        for round in 0..rounds {
            for at in order(firsts.len(), round) {
                self.turn(firsts[at], (done, firsts.len() * rounds as usize), progress)?;
                done += 1;
            }
        }
        for (round, wanted) in (rounds..).zip(MORE_ROUNDS) {
            let now = order(firsts.len(), round).into_iter().map(|at| firsts[at]);
            let now: Vec<usize> = now
                .filter(|&index| !whole(&self.cases[index]) && self.lacks(index, wanted))
                .collect();
            let of = done + now.len();
            for index in now {
                if begun.elapsed().as_secs_f64() > self.options.repeat_until_s {
                    return Ok(());
                }
                self.turn(index, (done, of), progress)?;
                done += 1;
            }
        }
        Ok(())
    }

    /// Whether fewer processes than wanted ran at full speed.
    fn lacks(&self, index: usize, wanted: usize) -> bool {
        self.gathered[index].at_full_pace(&self.cases[index], self.fastest_ns) < wanted
    }

    /// One process of a case, or one run of the Modified Andrew Benchmark.
    fn turn(
        &mut self,
        index: usize,
        (done, of): (usize, usize),
        progress: &mut dyn FnMut(RunProgress<'_>),
    ) -> Result<(), Error> {
        if self.options.interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let case = &self.cases[index];
        progress(RunProgress { done, of, name: case.name, case: &case.case });
        if self.gathered[index].refused() {
            return Ok(());
        }
        let whole = case.rule == OsRule::Single;
        let before = Snapshot::take();
        let last = if whole { self.andrew(index)? } else { self.one_process(index)? };
        let after = Snapshot::take();
        self.gathered[index..=last].iter_mut().for_each(|g| g.stolen(&before, &after));
        Ok(())
    }

    /// A fresh directory for a case; none for a case without files.
    fn directory(&mut self, index: usize) -> Result<PathBuf, Error> {
        match self.cases[index].place {
            Some((home, _)) => self.homes[home].workspace.fresh(),
            None => Ok(PathBuf::new()),
        }
    }

    /// Runs one case in a fresh process and a fresh directory; gives its index.
    fn one_process(&mut self, index: usize) -> Result<usize, Error> {
        let mut scene = self.scene.clone();
        scene.directory = self.directory(index)?;
        let (case, found) = (&self.cases[index], &mut self.gathered[index]);
        let ns = (self.options.process_ns as f64 * case.effort) as u64;
        let ended = process::run(case, &scene, ns, &self.options.interrupt);
        if case.place.is_some() {
            // The workspace is removed as a whole at the end; a directory that stays until then does no harm.
            let _ = std::fs::remove_dir_all(&scene.directory);
        }
        match ended? {
            Ended::Measured(batches) => {
                let pace = estimate::pace(&batches).filter(|_| case.pinned);
                self.fastest_ns = pace.map_or(self.fastest_ns, |ns| ns.min(self.fastest_ns));
                found.add(batches);
            }
            Ended::Refused(why) => found.refuse(why),
        }
        Ok(index)
    }

    /// Runs the Modified Andrew Benchmark once, whose cases begin at `first`; gives the index of the last one.
    fn andrew(&mut self, first: usize) -> Result<usize, Error> {
        let directory = self.directory(first)?;
        let compiler = self.options.compiler.as_deref();
        let run = match &self.scene.program {
            Some(program) => {
                let cold = mab::is_cold(&self.cases[first]);
                mab::run(&mab::Setting { program, directory: &directory, compiler, cold })
            }
            None => Err(case::not_here("there is no program to do the steps")),
        };
        // As above.
        let _ = std::fs::remove_dir_all(&directory);
        let interrupted = self.options.interrupt.load(Ordering::Relaxed);
        let last = (first..self.cases.len())
            .take_while(|&i| one_run(&self.cases[first], &self.cases[i]))
            .last()
            .unwrap_or(first);
        match run {
            Ok(run) => {
                let values = run.values(mab::is_cold(&self.cases[first]));
                self.gathered[first..=last]
                    .iter_mut()
                    .zip(values)
                    .for_each(|(g, v)| g.add_value(v));
                // One run that did not do all of its work spoils the proof for good.
                if self.proof.as_ref().is_none_or(|proof| proof.whole) {
                    self.proof = Some(run.proof);
                }
            }
            Err(_) if interrupted => return Err(Error::Interrupted),
            Err(error) => {
                self.gathered[first..=last].iter_mut().for_each(|g| g.refuse(error.to_string()));
            }
        }
        Ok(last)
    }
}

/// Whether two cases are numbers of one run of the Modified Andrew Benchmark: at one place, and both warm or both cold.
fn one_run(one: &Case, other: &Case) -> bool {
    let whole = |case: &Case| case.rule == OsRule::Single;
    whole(one)
        && whole(other)
        && one.place == other.place
        && mab::is_cold(one) == mab::is_cold(other)
}

/// A permutation of `0..count` that is another one every round and the same in every run.
fn order(count: usize, round: u32) -> Vec<usize> {
    let mut state = u64::from(round).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut all: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        all.swap(last, (state >> 33) as usize % (last + 1));
    }
    all
}

#[cfg(test)]
mod tests;
