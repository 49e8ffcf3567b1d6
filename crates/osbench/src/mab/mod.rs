//! The Modified Andrew Benchmark (Ousterhout 1990, section 9, Tables 7 and 8).
//!
//! Five phases on a tree of sources: make directories, copy every file, stat every file, read every file, and
//! compile. As in the original there is a process for every file and step, and the compiler, which the caller gives, is the same everywhere.
//! Besides the original's run, whose files are in the file cache when they are read, there is a cold one.

mod cold;
pub(crate) mod kernel;
mod make;
mod spawn;
pub(crate) mod steps;

use super::case::{Case, Program, not_here};
use ioscape_schema::toolchain::{Named, Toolchain};
use ioscape_schema::{Locality, MabProof, OsRule};
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Trees that get directories; only the first one is filled, as in the original.
const TREES: u32 = 5;

/// Name of the benchmark.
pub(crate) const NAME: &str = "mab";

/// How the cases of cold runs end.
const COLD: &str = ", cold";

/// What the benchmark is given.
pub(crate) struct Setting<'a> {
    /// The program that does single steps.
    pub(crate) program: &'a Program,
    /// A fresh directory.
    pub(crate) directory: &'a Path,
    /// Another compiler's command; the built-in one if none.
    pub(crate) compiler: Option<&'a str>,
    /// Whether the file cache loses what a phase reads before it.
    pub(crate) cold: bool,
}

/// One run: nanoseconds of each phase, and what it proves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    /// Directories, copy, stat, read, compile.
    pub(crate) phases: [u64; 5],
    /// Whether all objects, archives and the linked program were made, and of what.
    pub(crate) proof: MabProof,
}

impl Run {
    /// The values of the warm or the cold ones of [`cases`], in their order.
    pub(crate) fn values(&self, cold: bool) -> Vec<f64> {
        let [a, b, c, d, e] = self.phases.map(|ns| ns as f64);
        let copy = a + b + c + d;
        if cold { vec![b, d, copy, e, copy + e] } else { vec![a, b, c, d, copy, e, copy + e] }
    }
}

/// What a run proves by its products.
fn proof(tools: &dyn Toolchain, products: &[Named<Vec<u8>>], compiler: Option<&str>) -> MabProof {
    let files = tools.files();
    let hash = tools.fingerprint(products);
    MabProof {
        files: files.len() as u32,
        bytes: files.iter().map(|(_, text)| text.len() as u64).sum(),
        compiles: tools.units().len() as u32,
        whole: compiler.is_some() || hash == tools.known_fingerprint(),
        object_hash: hash,
        compiler: compiler.unwrap_or("built in").to_owned(),
    }
}

/// The cases of warm runs, and what each tells.
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

/// Those of cold runs: the phases that read contents, and the sums.
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

/// All cases, warm ones first; of them `total` counts.
pub(crate) fn cases(place: (usize, Locality)) -> Vec<Case> {
    let case = |name: String, teaches| {
        let ready = |_: &_| Err(not_here("it is only run as a whole"));
        Case::new(NAME, name, teaches, ready).by(OsRule::Single).unpinned().at(place)
    };
    let warm = WARM_CASES.into_iter().map(|(name, teaches)| case(name.to_owned(), teaches));
    let cold = COLD_CASES.into_iter().map(|(name, teaches)| case(format!("{name}{COLD}"), teaches));
    warm.chain(cold).collect()
}

/// Whether a case is one of a cold run.
pub(crate) fn is_cold(case: &Case) -> bool {
    case.name == NAME && case.case.ends_with(COLD)
}

/// Runs the benchmark once.
///
/// # Errors
/// A step failed: the file system refused something, or a process was killed.
pub(crate) fn run(setting: &Setting<'_>) -> io::Result<Run> {
    let home = setting.directory;
    let tools = setting.program.toolchain;
    let files = tools.files();
    for folder in ["src"].into_iter().chain(["tmp"]) {
        fs::create_dir(home.join(folder))?;
    }
    for folder in tools.directories() {
        fs::create_dir(home.join("src").join(folder))?;
    }
    for (path, text) in &files {
        fs::write(home.join("src").join(path), text)?;
    }
    let compiler = setting.compiler.unwrap_or("cc");
    let target = if setting.compiler.is_some() { "objects" } else { "wm" };
    let under = RunUnderWay { setting };
    let one = under.timed(|| under.directories())?;
    under.drop_from_cache(&files, "src")?;
    let two = under.timed(|| under.copies(&files))?;
    let three = under.timed(|| under.all(&[&["find", "testfs1", "ls"], &["du", "testfs1"]]))?;
    under.drop_from_cache(&files, "testfs1")?;
    let four = under.timed(|| {
        under.all(&[&["find", "testfs1", "grep", "kangaroo"], &["find", "testfs1", "wc"]])
    })?;
    under.drop_from_cache(&files, "testfs1")?;
    let five = under.timed(|| {
        let told = |e| match setting.compiler {
            Some(command) => io::Error::other(format!("{e}, with the compiler {command:?}")),
            None => e,
        };
        under.one("testfs1", &["make", target, compiler]).map_err(told)
    })?;
    let phases = [one, two, three, four, five];
    let products = made(&home.join("testfs1"))?;
    Ok(Run { phases, proof: proof(tools, &products, setting.compiler) })
}

/// A run under way.
struct RunUnderWay<'a> {
    setting: &'a Setting<'a>,
}

impl RunUnderWay<'_> {
    /// Time of a phase.
    fn timed(&self, work: impl FnOnce() -> io::Result<()>) -> io::Result<u64> {
        let start = Instant::now();
        work()?;
        Ok(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// Drops the contents of a tree from the file cache, where the run is a cold one.
    fn drop_from_cache(&self, files: &[Named<String>], folder: &str) -> io::Result<()> {
        let Setting { directory, cold, .. } = self.setting;
        if *cold { cold::drop_contents(files, &directory.join(folder)) } else { Ok(()) }
    }

    /// A step in a process of its own, in a directory below the benchmark's.
    fn one(&self, folder: &str, words: &[&str]) -> io::Result<()> {
        let Setting { program, directory, .. } = self.setting;
        let mut command = Command::new(&program.path);
        command.args(&program.first).args(words).current_dir(directory.join(folder));
        spawn::wait(&mut command, words[0])
    }

    fn all(&self, commands: &[&[&str]]) -> io::Result<()> {
        commands.iter().try_for_each(|words| self.one("", words))
    }

    fn directories(&self) -> io::Result<()> {
        for number in 1..=TREES {
            let root = format!("testfs{number}");
            let folders = self.setting.program.toolchain.directories().iter();
            let inner: Vec<String> = folders.map(|folder| format!("{root}/{folder}")).collect();
            let mut words = vec!["mkdir", &root];
            words.extend(inner.iter().map(String::as_str));
            self.one("", &words)?;
        }
        Ok(())
    }

    fn copies(&self, files: &[Named<String>]) -> io::Result<()> {
        for (path, _) in files {
            self.one("", &["cp", &format!("src/{path}"), &format!("testfs1/{path}")])?;
        }
        Ok(())
    }
}

/// What was made: every object, archive and the linked program, in order of names.
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
