//! The work of one process of the benchmark: copy a file, list one, search one, preprocess,
//! compile, assemble, link.

use super::make;
use super::spawn::{Steps, say};
use ioscape_schema::toolchain::{Named, Toolchain};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

fn bad(why: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_string())
}

/// Performs one step; `None` if there is no such step.
pub(super) fn step(steps: &Steps, words: &[&str]) -> Option<io::Result<()>> {
    let (name, rest) = words.split_first()?;
    let tools = steps.tools;
    Some(match (*name, rest) {
        ("mkdir", all) => all.iter().try_for_each(fs::create_dir),
        ("cp", [from, to]) => copy(from, to),
        ("find", [place, command @ ..]) => find(steps, Path::new(place), command),
        ("ls", [path]) => list(Path::new(path)),
        ("du", [path]) => {
            usage(Path::new(path)).and_then(|total| say(&format!("{total} {path}\n")))
        }
        ("grep", [word, path]) => grep(word, path),
        ("wc", [path]) => count(path),
        ("make", [target]) => make::make(steps, target, None),
        ("make", [target, compiler]) => make::make(steps, target, Some(*compiler)),
        ("cc", all) => drive(steps, all),
        ("cpp", [from, to, folders @ ..]) => expand(tools, from, to, folders),
        ("cc1", [from, to, name]) => read(from)
            .and_then(|text| tools.compile(&text, name).map_err(bad))
            .and_then(|assembly| fs::write(to, assembly)),
        ("as", [from, to, name]) => read(from)
            .and_then(|text| tools.assemble(&text, name).map_err(bad))
            .and_then(|object| replace(to, &object)),
        ("ar", ["r", archive, members @ ..]) => collect(tools, archive, members),
        ("ranlib", [path]) => index(tools, path),
        ("ld", ["-r", "-o", to, files @ ..]) => join(tools, to, files),
        _ => return None,
    })
}

fn read(path: &str) -> io::Result<String> {
    fs::read_to_string(path)
}

/// Writes a file under a temporary name and renames it when it is complete.
fn replace(path: &str, bytes: &[u8]) -> io::Result<()> {
    let unfinished = format!("{path}.tmp");
    fs::write(&unfinished, bytes)?;
    fs::rename(unfinished, path)
}

/// Copies with reads and writes of 8 KB, as `cp` did.
fn copy(from: &str, to: &str) -> io::Result<()> {
    let mut input = fs::File::open(from)?;
    let mut output = fs::File::create(to)?;
    let mut buffer = [0; 8192];
    loop {
        match io::Read::read(&mut input, &mut buffer)? {
            0 => return Ok(()),
            bytes => output.write_all(&buffer[..bytes])?,
        }
    }
}

/// Lists everything at and below `place`, sorted by name.
fn walk(place: &Path, all: &mut Vec<PathBuf>) -> io::Result<()> {
    all.push(place.to_owned());
    if fs::symlink_metadata(place)?.is_dir() {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(place)?.map(|e| e.map(|e| e.path())).collect::<io::Result<_>>()?;
        entries.sort();
        entries.iter().try_for_each(|entry| walk(entry, all))?;
    }
    Ok(())
}

/// Runs a command on everything at and below a place, each in its own process.
fn find(steps: &Steps, place: &Path, command: &[&str]) -> io::Result<()> {
    let mut all = Vec::new();
    walk(place, &mut all)?;
    for path in all {
        let path = path.to_string_lossy();
        let words: Vec<&str> = command.iter().copied().chain([&*path]).collect();
        steps.spawn("", &words)?;
    }
    Ok(())
}

fn list(path: &Path) -> io::Result<()> {
    let mut all = vec![path.to_owned()];
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            all.push(entry?.path());
        }
    }
    for one in all {
        let state = fs::symlink_metadata(&one)?;
        let facts = [u64::from(state.mode()), state.nlink(), state.len(), state.mtime() as u64];
        say(&format!("{facts:?} {}\n", one.display()))?;
    }
    Ok(())
}

fn usage(path: &Path) -> io::Result<u64> {
    let mut all = Vec::new();
    walk(path, &mut all)?;
    let mut blocks = 0;
    for one in all {
        blocks += fs::symlink_metadata(one)?.blocks();
    }
    Ok(blocks / 2)
}

/// Prints the lines of a file that contain a word; a directory has none.
fn grep(word: &str, path: &str) -> io::Result<()> {
    if Path::new(path).is_dir() {
        return Ok(());
    }
    let text = read(path)?;
    text.lines().filter(|line| line.contains(word)).try_for_each(|line| say(&format!("{line}\n")))
}

fn count(path: &str) -> io::Result<()> {
    if Path::new(path).is_dir() {
        return Ok(());
    }
    let text = read(path)?;
    let words = text.split_whitespace().count();
    say(&format!("{} {words} {} {path}\n", text.lines().count(), text.len()))
}

/// The compiler's driver: preprocessor, compiler and assembler, each in its own process, with files
/// between them.
fn drive(steps: &Steps, words: &[&str]) -> io::Result<()> {
    let source = words.iter().find(|word| word.ends_with(".c")).ok_or_else(|| bad("no source"))?;
    let stem = source.trim_end_matches(".c");
    let temporary = |ending: &str| format!("../tmp/{stem}.{}.{ending}", std::process::id());
    let (expanded, assembly) = (temporary("i"), temporary("s"));
    let mut first = vec!["cpp", source, &expanded];
    first.extend(words.iter().filter_map(|word| word.strip_prefix("-I")));
    steps.spawn("", &first)?;
    steps.spawn("", &["cc1", &expanded, &assembly, source])?;
    fs::remove_file(&expanded)?;
    steps.spawn("", &["as", &assembly, &format!("{stem}.o"), source])?;
    fs::remove_file(&assembly)
}

fn expand(tools: &dyn Toolchain, from: &str, to: &str, folders: &[&str]) -> io::Result<()> {
    let text = read(from)?;
    let mut find = |name: &str, quoted: bool, asking: &str| {
        let beside = Path::new(asking).parent().filter(|_| quoted).map(|p| p.join(name));
        let listed = folders.iter().map(|folder| Path::new(folder).join(name));
        beside.into_iter().chain(listed).find_map(|path| {
            let text = fs::read_to_string(&path).ok()?;
            Some((path.to_string_lossy().into_owned(), text))
        })
    };
    fs::write(to, tools.preprocess(&text, from, &mut find).map_err(bad)?)
}

fn contents(names: &[&str]) -> io::Result<Vec<Named<Vec<u8>>>> {
    names.iter().map(|name| Ok(((*name).to_owned(), fs::read(name)?))).collect()
}

fn collect(tools: &dyn Toolchain, archive: &str, names: &[&str]) -> io::Result<()> {
    replace(archive, &tools.archive(&contents(names)?))
}

fn index(tools: &dyn Toolchain, path: &str) -> io::Result<()> {
    let indexed = tools.index(&fs::read(path)?).map_err(|why| bad(format!("{path}: {why}")))?;
    replace(path, &indexed)
}

fn join(tools: &dyn Toolchain, to: &str, files: &[&str]) -> io::Result<()> {
    let (archives, objects): (Vec<&str>, Vec<&str>) =
        files.iter().partition(|file| file.ends_with(".a"));
    let linked = tools.link(&contents(&objects)?, &contents(&archives)?).map_err(bad)?;
    replace(to, &linked)
}
