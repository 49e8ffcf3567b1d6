//! The Modified Andrew Benchmark (Ousterhout 1990, section 9, Tables 7 and 8).
//!
//! Five phases on a source tree: make directories, copy every file, stat every file, read every
//! file, and compile. As in the original there is a process for every file and step. The compiler
//! comes from the caller and is the same on every machine. In the original's run, files are in the
//! file cache when they are read; a cold run is added.

mod cold;
pub(crate) mod kernel;
mod make;
mod phase;
mod spawn;
mod steps;

use super::case::{Case, Program, not_here};
use super::estimate::Batch;
use super::image::Report;
use super::process::{died, leave_message, read_message, wait};
use super::stop::Stop;
use super::stops::{self, Beat};
use ioscape_machine::crew::{Crew, DONE, FAULTED};
use ioscape_machine::error::Death;
use ioscape_schema::toolchain::{Named, Toolchain};
use ioscape_schema::{Locality, MabProof, OsRule};
use phase::Phase;
use spawn::Steps;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The number of trees that get directories; only the first one is filled, as in the original.
const TREES: u32 = 5;

/// Name of the benchmark.
pub(crate) const NAME: &str = MabProof::NAME;

/// Suffix of the cases of cold runs.
const COLD: &str = ", cold";

/// The settings of a run.
pub(crate) struct Setting<'a> {
    /// The program that runs single steps.
    pub(crate) program: &'a Program,
    /// A fresh directory.
    pub(crate) directory: &'a Path,
    /// The command of another compiler; the built-in one if absent.
    pub(crate) compiler: Option<&'a str>,
    /// Whether each phase's input is evicted from the file cache before it.
    pub(crate) cold: bool,
}

/// One run: its phases, and its proof.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    /// Directories, copy, stat, read, compile.
    pub(crate) phases: [Phase; 5],
    /// Whether all objects, archives and the linked program were made, and from which sources.
    pub(crate) proof: MabProof,
}

impl Run {
    /// Returns the values of the warm or cold [`cases`], in their order. Each comes with the pieces
    /// that show how fast its processors were.
    pub(crate) fn values(&self, cold: bool) -> Vec<(f64, Vec<Batch>)> {
        let all: &[Range<usize>] = if cold { &COLD_PHASES } else { &WARM_PHASES };
        let pieces = |phases: &[Phase]| phases.iter().flat_map(Phase::pieces).collect::<Vec<_>>();
        let value = |phases: &Range<usize>| {
            let phases = &self.phases[phases.clone()];
            let ns: f64 = phases.iter().map(|phase| phase.ns as f64).sum();
            let own = pieces(phases);
            // Another compiler's processes do not run the fixed computation, so those of the other
            // phases stand in.
            (ns, if own.is_empty() { pieces(&self.phases) } else { own })
        };
        all.iter().map(value).collect()
    }
}

/// Returns what a run's products prove; the caller adds the program that its processes ended in.
fn proof(tools: &dyn Toolchain, products: &[Named<Vec<u8>>], compiler: Option<&str>) -> MabProof {
    let files = tools.files();
    let hash = tools.fingerprint(products);
    MabProof {
        files: files.len() as u32,
        bytes: files.iter().map(|(_, text)| text.len() as u64).sum(),
        compiles: tools.units().len() as u32,
        whole: compiler.is_some() || hash == tools.known_fingerprint(),
        object_hash: hash,
        compiler: compiler.unwrap_or(MabProof::BUILT_IN).to_owned(),
        ..MabProof::default()
    }
}

/// Names the program that processes ended in: the smallest program, of this many bytes, or this
/// program if `bytes` is 0.
fn ending(bytes: u64) -> String {
    match usize::try_from(bytes) {
        Ok(0) | Err(_) => "ioscape".to_owned(),
        Ok(bytes) => MabProof::small_program(bytes),
    }
}

/// The cases of warm runs, and what each teaches.
const WARM_CASES: [(&str, &str); 7] = [
    ("make directories", "Phase I: twenty directories by five commands."),
    ("copy files", "Phase II: seventy files, a process for each."),
    (
        "look at files",
        "Phase III: the attributes of every file, a process for each, then one process for all.",
    ),
    ("read files", "Phase IV: every file read twice, by a process each time."),
    ("copy", "Phases I to IV: small files and processes."),
    ("compile", "Phase V: seventeen sources compiled, two libraries, one link; mostly computing."),
    ("total", "A programmer's day in miniature: files, processes and computing together."),
];

/// The phases that make up each warm case.
const WARM_PHASES: [Range<usize>; 7] = [0..1, 1..2, 2..3, 3..4, 0..4, 4..5, 0..5];

/// The cases of cold runs: the phases that read contents, and the sums.
const COLD_CASES: [(&str, &str); 5] = [
    (
        "copy files",
        "Phase II with the sources not in the file cache: the cost of using files for the first time.",
    ),
    (
        "read files",
        "Phase IV with the copies not in the file cache, except for the second reading.",
    ),
    ("copy", "Phases I to IV, each file fetched from storage when it is first read in a phase."),
    (
        "compile",
        "Phase V with sources and headers fetched from storage once: little compared with computing.",
    ),
    ("total", "The whole with a file cache emptied between phases: how much the cache saves."),
];

/// The phases that make up each cold case.
const COLD_PHASES: [Range<usize>; 5] = [1..2, 3..4, 0..4, 4..5, 0..5];

/// All cases, warm ones first; the relative speed is computed from `total`.
pub(crate) fn cases(place: (usize, Locality)) -> Vec<Case> {
    let case = |name: String, teaches| {
        let ready = |_: &_| Err(not_here("it is only run as a whole"));
        Case::new(NAME, name, teaches, ready).by(OsRule::Single).unpinned().at(place)
    };
    let warm = WARM_CASES.into_iter().map(|(name, teaches)| case(name.to_owned(), teaches));
    let cold = COLD_CASES.into_iter().map(|(name, teaches)| case(format!("{name}{COLD}"), teaches));
    warm.chain(cold).collect()
}

/// Whether a case belongs to cold runs.
pub(crate) fn is_cold(case: &Case) -> bool {
    case.name == NAME && case.case.ends_with(COLD)
}

/// Words of a run's report: the phases, the size of the program that its processes ended in, and
/// the pace of processors; or the error.
pub(crate) const WORDS: usize = 64;

/// The step of a fresh image that performs a run. Its arguments: the directory, one of the two
/// kinds, and optionally a compiler.
pub(crate) const IMAGE: &str = "andrew";

/// Names of the two kinds of run: with and without evicting each phase's input from the file cache.
pub(crate) const COLD_RUN: &str = "cold";
const WARM_RUN: &str = "warm";

/// Runs the benchmark once.
///
/// # Errors
/// A step failed: the file system refused something, or a process was killed; the user interrupted;
/// or time ran out ([`io::ErrorKind::TimedOut`]).
pub(crate) fn run(setting: &Setting<'_>, stop: Stop<'_>) -> io::Result<Run> {
    let (home, tools) = (setting.directory, setting.program.toolchain);
    let files = tools.files();
    for folder in ["src", "tmp"] {
        fs::create_dir(home.join(folder))?;
    }
    for folder in tools.directories() {
        fs::create_dir(home.join("src").join(folder))?;
    }
    for (path, text) in &files {
        fs::write(home.join("src").join(path), text)?;
    }
    let report = Report::new(WORDS, true)?;
    let warmth = if setting.cold { COLD_RUN } else { WARM_RUN };
    let words = [OsStr::new("."), OsStr::new(warmth)].into_iter();
    let words: Vec<OsString> =
        words.chain(setting.compiler.map(OsStr::new)).map(OsStr::to_owned).collect();
    // The steps are forked from this process, so it must be equally small in every run and have no
    // other threads. It starts in its directory, because the path may lead through a descriptor
    // that a fresh image lacks.
    let mut crew = Crew::fork(1, |_| {
        let failed = match std::env::set_current_dir(home) {
            Ok(()) => report.enter(setting.program, IMAGE, &words),
            Err(error) => error,
        };
        leave_message(report.words(), &failed)
    })?;
    let beat = Beat::new();
    while !wait(&mut crew, &beat, stop) {
        if stop.is_asked() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if stop.is_late() {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    stops::note(report.stops());
    match crew.first_dead() {
        Some((_, Death::Exit(DONE))) => {}
        Some((_, Death::Exit(FAULTED))) => {
            return Err(io::Error::other(read_message(report.words())));
        }
        Some((_, death)) => return Err(io::Error::other(died(death))),
        None => return Err(io::Error::other("its process ended without reporting")),
    }
    let (phases, bytes) = phase::read(report.words());
    let processes_end_in = ending(bytes);
    let products = made(&home.join("testfs1"))?;
    let proof = proof(tools, &products, setting.compiler);
    Ok(Run { phases, proof: MabProof { processes_end_in, ..proof } })
}

/// Performs a run in this process, a fresh image; writes its words or an error to the report, and
/// returns the exit code.
pub(crate) fn serve(setting: &Setting<'_>, report: &[AtomicU64]) -> i32 {
    let files = setting.program.toolchain.files();
    let words = Steps::of(setting.program, steps::step).and_then(|steps| {
        let bytes = steps.smallest_bytes().unwrap_or(0);
        let under_way = RunUnderWay { setting, files: &files, steps };
        Ok(phase::words(&under_way.phases()?, bytes))
    });
    match words {
        Ok(words) => {
            report.iter().zip(words).for_each(|(to, word)| to.store(word, Ordering::Release));
            DONE
        }
        Err(error) => leave_message(report, &error),
    }
}

/// A run in progress, in its own process.
struct RunUnderWay<'a> {
    setting: &'a Setting<'a>,
    files: &'a [Named<String>],
    steps: Steps,
}

impl RunUnderWay<'_> {
    /// Runs all phases in order.
    fn phases(&self) -> io::Result<[Phase; 5]> {
        spawn::quiet()?;
        std::env::set_current_dir(self.setting.directory)?;
        let one = self.phase(|| self.directories())?;
        self.drop_from_cache("src")?;
        let two = self.phase(|| self.copies())?;
        let three = self.phase(|| self.all(&[&["find", "testfs1", "ls"], &["du", "testfs1"]]))?;
        self.drop_from_cache("testfs1")?;
        let four = self.phase(|| {
            self.all(&[&["find", "testfs1", "grep", "kangaroo"], &["find", "testfs1", "wc"]])
        })?;
        self.drop_from_cache("testfs1")?;
        Ok([one, two, three, four, self.phase(|| self.compile())?])
    }

    /// Runs a phase, which consists of `work`.
    fn phase(&self, work: impl FnOnce() -> io::Result<()>) -> io::Result<Phase> {
        let tried = self.steps.paces_ns().len();
        let start = Instant::now();
        work()?;
        let ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Ok(Phase { ns, paces: self.steps.paces_ns().into_iter().skip(tried).collect() })
    }

    fn compile(&self) -> io::Result<()> {
        let Some(compiler) = self.setting.compiler else {
            return self.steps.spawn("testfs1", &["make", "wm"]);
        };
        let told = |e: io::Error| io::Error::other(format!("{e}, with the compiler {compiler:?}"));
        self.steps.spawn("testfs1", &["make", "objects", compiler]).map_err(told)
    }

    /// Evicts the contents of a tree from the file cache if the run is cold.
    fn drop_from_cache(&self, folder: &str) -> io::Result<()> {
        if self.setting.cold { cold::drop_contents(self.files, Path::new(folder)) } else { Ok(()) }
    }

    fn all(&self, commands: &[&[&str]]) -> io::Result<()> {
        commands.iter().try_for_each(|words| self.steps.spawn("", words))
    }

    fn directories(&self) -> io::Result<()> {
        for number in 1..=TREES {
            let root = format!("testfs{number}");
            let folders = self.setting.program.toolchain.directories().iter();
            let inner: Vec<String> = folders.map(|folder| format!("{root}/{folder}")).collect();
            let mut words = vec!["mkdir", &root];
            words.extend(inner.iter().map(String::as_str));
            self.steps.spawn("", &words)?;
        }
        Ok(())
    }

    fn copies(&self) -> io::Result<()> {
        for (path, _) in self.files {
            self.steps.spawn("", &["cp", &format!("src/{path}"), &format!("testfs1/{path}")])?;
        }
        Ok(())
    }
}

/// Returns what was made: every object, archive and the linked program, sorted by name.
fn made(folder: &Path) -> io::Result<Vec<Named<Vec<u8>>>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".o") || name.ends_with(".a") || name == "wm" {
            let bytes = fs::read(folder.join(&name))?;
            all.push((name, bytes));
        }
    }
    all.sort();
    Ok(all)
}

#[cfg(test)]
mod tests;
