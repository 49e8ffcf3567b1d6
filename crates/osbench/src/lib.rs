//! The operating-system micro-benchmarks of Ousterhout (1990), plus newer ones, all measured by one
//! method.
//!
//! Every case runs in several fresh processes and in new directories. The cases alternate, in a new
//! order each round. A process runs short batches and reduces them to one number by its case's
//! rule. The value is the median over processes, with a distribution-free interval. The result also
//! says how much other programs disturbed it.

mod background;
mod bcopy;
mod beside;
mod caches;
mod case;
mod create_delete;
mod cswitch;
mod dhrystone;
mod division;
mod doubt;
mod estimate;
mod foreign;
mod getpid;
mod home;
mod image;
mod mab;
mod machine;
mod open_close;
mod options;
mod pace;
mod process;
mod read;
mod reasons;
mod result;
mod rounds;
mod select;
mod sizes;
mod step;
mod stop;
mod stops;
mod team;
#[cfg(test)]
mod testing_toolchain;
mod today;
mod waiting;
mod workspace;

pub use case::Program;
pub use options::{OsOptions, RunProgress};
pub use step::step;

use case::{Case, Scene};
use home::Home;
use ioscape_machine::error::Error;
use ioscape_schema::{Environment, Locality, OsResults, Warning};
use rounds::Bench;
use sizes::{PastAll, Sizes};
use std::time::Instant;

/// What a run measured; after an error, what it had measured by then.
#[derive(Debug)]
pub struct Outcome {
    /// The results.
    pub results: OsResults,
    /// The machine, including the file system of the first directory.
    pub environment: Environment,
    /// Warnings about the whole run.
    pub warnings: Vec<Warning>,
    /// The number of cases without a value because time ran out.
    pub without_time: usize,
    /// The error that ended the run early, if any.
    pub finished: Result<(), Error>,
}

/// Refuses names of benchmarks that do not exist.
///
/// # Errors
/// A name is unknown; the error is a sentence that says so.
pub fn check_names(asked: &[String]) -> Result<(), String> {
    let known = names();
    match asked.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(format!("{name:?} is no benchmark: choose from {}", known.join(", "))),
        None => Ok(()),
    }
}

/// Returns the names of the benchmarks in display order.
fn names() -> Vec<&'static str> {
    let mut names = Vec::new();
    for case in smallest_catalog() {
        if !names.contains(&case.name) {
            names.push(case.name);
        }
    }
    names
}

/// Returns all cases in display order.
fn catalog(sizes: &Sizes, places: &[(usize, Locality)]) -> Vec<Case> {
    let mut all = dhrystone::cases();
    all.extend(mab::kernel::cases());
    all.extend(getpid::cases());
    all.extend(cswitch::cases());
    all.extend(select::cases());
    all.extend(bcopy::cases(sizes));
    for &place in places {
        all.extend(read::cases(sizes, place));
        all.extend(open_close::cases(place));
        all.extend(create_delete::cases(place));
    }
    for &place in places {
        all.extend(mab::cases(place));
    }
    all.extend(today::cases(sizes));
    for &place in places {
        all.extend(today::file_cases(place));
    }
    // Contention for names and files arises in the kernel, so one directory is enough.
    all.extend(today::scaling(&sizes.tasks, places.first().copied()));
    all
}

/// Returns the cases for one processor and one directory: at least one of every benchmark.
fn smallest_catalog() -> Vec<Case> {
    let sizes = Sizes { tasks: vec![1], ..Sizes::default() };
    catalog(&sizes, &[(0, Locality::Local)])
}

/// Whether a case belongs to one of the benchmarks in `only`; an empty `only` means all of them.
fn is_asked(case: &Case, only: &[String]) -> bool {
    only.is_empty() || only.iter().any(|name| name == case.name)
}

/// Whether any case of these benchmarks creates files.
fn makes_files(only: &[String]) -> bool {
    smallest_catalog().iter().any(|case| case.place.is_some() && is_asked(case, only))
}

/// Runs the benchmarks. Before each process, `progress` receives the progress so far and a function
/// that returns the outcome so far, so that the caller can save it.
///
/// # Errors
/// A directory is refused before anything is measured. Later errors are part of the outcome.
pub fn run(
    options: &OsOptions,
    progress: &mut dyn FnMut(RunProgress<'_>, &dyn Fn() -> Outcome),
) -> Result<Outcome, Error> {
    let begun = Instant::now();
    stops::watch();
    let (homes, environment) = match makes_files(&options.only) {
        true => home::open(&options.directories)?,
        false => (Vec::new(), home::look(&options.directories)?),
    };
    let cpus = machine::processors();
    let fastest = machine::fastest(&cpus);
    let cpu = fastest.last().copied().unwrap_or(0);
    let (caches, told) = machine::caches(cpu);
    let places: Vec<(usize, Locality)> =
        homes.iter().enumerate().map(|(index, home)| (index, home.place)).collect();
    let tasks = machine::task_counts(cpus.len(), options.all_task_counts);
    let sizes = Sizes { tasks, ..Sizes::find(&caches, told, &options.directories) };
    let mut cases = catalog(&sizes, &places);
    cases.retain(|case| is_asked(case, &options.only));
    let scene = Scene {
        cpu,
        cpus: background::in_order(cpu, &cpus),
        slower: cpus.iter().copied().filter(|cpu| !fastest.contains(cpu)).collect(),
        online: background::online(),
        is_virtual: environment.has_hypervisor() != Some(false),
        program: options.program.clone(),
        ..Scene::default()
    };
    let in_memory =
        homes.iter().filter_map(|home| Some((home.place, home.in_memory.clone()?))).collect();
    let waits =
        |home: &Home| Some(doubt::synchronous(home.place, home.below.synchronous.as_ref()?));
    let synchronous = homes.iter().filter_map(waits).collect();
    let past_all = sizes.past_all();
    let kinds = machine::kinds_warning(cpus.len() - fastest.len(), cpu);
    let ground =
        Ground { begun, caches, told, past_all, in_memory, synchronous, kinds, environment };
    let mut bench = Bench::new(options, cases, scene, homes, begun);
    let finished = bench.all_rounds(&mut |step, bench| {
        progress(step, &|| ground.outcome(bench, Err(Error::Interrupted)));
    });
    Ok(ground.outcome(&bench, finished))
}

/// What is known about the machine before anything is measured.
struct Ground {
    begun: Instant,
    /// Sizes of the processor's caches, in bytes.
    caches: Vec<u64>,
    /// Whether the kernel reported these sizes.
    told: bool,
    /// Which sizes exceed the last cache even if it is larger than reported.
    past_all: PastAll,
    /// The places whose files lie in memory, and what keeps them there.
    in_memory: Vec<(Locality, String)>,
    /// The warnings that changes of a directory wait for storage.
    synchronous: Vec<Warning>,
    /// The warning that some processors are slower than the one that runs pinned cases.
    kinds: Option<Warning>,
    environment: Environment,
}

impl Ground {
    /// Returns the outcome of the run, or of the part that is done.
    fn outcome(&self, bench: &Bench<'_>, finished: Result<(), Error>) -> Outcome {
        let mut results = OsResults {
            system: bench.system(&self.caches),
            elapsed_s: self.begun.elapsed().as_secs_f64(),
            ..bench.results()
        };
        beside::withdraw_uncertain(&mut results.benchmarks, bench.disturbed());
        let unsure = caches::judge(&mut results.benchmarks, self.past_all);
        doubt::all(&mut results, self.told);
        self.in_memory.iter().for_each(|(place, by)| doubt::storage(&mut results, *place, by));
        Outcome {
            results,
            environment: self.environment.clone(),
            warnings: [bench.quota_warning(), bench.time_warning(), unsure, self.kinds.clone()]
                .into_iter()
                .flatten()
                .chain(self.synchronous.clone())
                .collect(),
            without_time: bench.without_time(),
            finished,
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod worlds_tests;
