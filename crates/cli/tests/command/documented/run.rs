//! One command of a page: reduced in size, run in a shell, and checked.

use super::super::common::Ran;
use super::blocks::Command;
use super::place::evaluated;
use super::shape::occurs;
use super::tables::{BOUNDS, SMALLER};
use assert_cmd::cargo::cargo_bin;
use std::fs;
use std::path::Path;
use std::process;

/// Seconds after which a command is ended; none should need a tenth of this.
const TOO_LONG: &str = "900";

/// The outcome of a command.
pub enum Outcome {
    /// It ended as the page says, and printed what the page shows.
    Done,
    /// This place cannot do what the command asks for, and the command says so.
    Impossible(String),
    /// The difference from the page.
    Failed(String),
}

/// Replaces `said` where it is a word or the beginning of a path.
fn replaced(text: &str, said: &str, given: &str) -> String {
    let mut found = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(said) {
        let (before, behind) = (&rest[..at], &rest[at + said.len()..]);
        let begins = before.ends_with([' ', '\'', '=']) || before.is_empty() && found.is_empty();
        let ends = said.ends_with('/')
            || behind.is_empty()
            || behind.starts_with([' ', '/', ',', ':', '\n']);
        found.push_str(before);
        found.push_str(if begins && ends { given } else { said });
        rest = behind;
    }
    found + rest
}

/// The text with the replacements of [`SMALLER`] that apply to `command`.
fn smaller(text: &str, command: &str) -> String {
    let rows = SMALLER.iter().filter(|(of, _, _)| command.contains(of));
    rows.fold(text.to_owned(), |text, (_, said, given)| replaced(&text, said, given))
}

/// The command as it is run here.
fn bounded(typed: &str) -> String {
    let mut command = smaller(typed, typed);
    let has_jobs = ["jobs.toml", "sort.ioscape.json"].iter().any(|name| command.contains(name));
    for (of, bound) in BOUNDS {
        let option = bound.split(' ').next().unwrap_or(bound);
        let is_said = command.contains(option) || has_jobs && option == "--unique-bytes";
        if format!("{command} ").starts_with(&format!("{of} ")) && !is_said {
            command.insert_str(of.len(), &format!(" {bound}"));
        }
    }
    command
}

/// Runs a command in a shell in a directory, with the program on its `PATH`.
pub fn by_shell(command: &str, folder: &Path) -> Ran {
    let binary = cargo_bin("ioscape");
    let mut path = binary.parent().expect("a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut shell = process::Command::new("timeout");
    shell.args([TOO_LONG, "sh", "-c", command]).current_dir(folder);
    shell
        .env("PATH", path)
        .env("HOME", folder)
        .env("SLURM_ARRAY_TASK_ID", "0")
        .env("SLURM_CPUS_PER_TASK", "1");
    Ran::of(shell)
}

/// The words of a command that name files, with the files' contents.
fn written(command: &str, folder: &Path) -> String {
    let files =
        command.split_whitespace().map(|word| folder.join(word)).filter(|path| path.is_file());
    files.filter_map(|path| fs::read_to_string(path).ok()).collect::<Vec<_>>().join("\n")
}

/// Replaces what three seconds of evaluation, or one second of recording, wrote by a complete one:
/// how much fits into that time depends on other load.
fn keep_whole(command: &str, folder: &Path) {
    let mut words = command.split_whitespace().skip_while(|word| *word != "-o").skip(1);
    let Some(name) = words.next() else { return };
    let file = folder.join(name);
    if command.starts_with("ioscape evaluate") {
        fs::write(file, evaluated(name)).expect("a file");
    } else if command.starts_with("ioscape trace record") {
        fs::copy(folder.join("day.parquet"), file).expect("a copy");
    }
}

/// Messages with which a command says that this place, or this user, cannot do something.
const IMPOSSIBLE: [&str; 5] = [
    "O_DIRECT",
    "io_uring",
    "a memory limit (--memory)",
    "recording block I/O",
    "a file system in memory",
];

/// Whether the command said that this place cannot do what it asks for; for a campaign, none of it.
fn is_impossible_here(ran: &Ran) -> bool {
    let is_refused = match ran.code {
        Some(1) => ran.err.contains("no cell was measured"),
        code => code == Some(2),
    };
    is_refused && IMPOSSIBLE.iter().any(|what| ran.err.contains(what))
}

/// The command with a minute for its evaluation, if three seconds did not suffice for a point: on a
/// busy disk, laying out the sets may take them all.
fn longer(given: &str, ran: &Ran) -> Option<String> {
    let is_too_short = ran.code == Some(1) && ran.err.contains("within the budget");
    is_too_short.then(|| given.replace("--budget 3s", "--budget 60s"))
}

/// Runs a command of a page and compares the outcome with the page.
pub fn carried_out(command: &Command, folder: &Path) -> Outcome {
    let mut given = bounded(&command.typed);
    let mut ran = by_shell(&given, folder);
    if let Some(again) = longer(&given, &ran) {
        ran = by_shell(&again, folder);
        given = again;
    }
    if is_impossible_here(&ran) && command.code != 2 {
        return Outcome::Impossible(ran.err.trim().to_owned());
    }
    let is_failed_condition = ran.code == Some(3) && given.contains(" --fail-if ");
    if ran.code != Some(command.code) && !is_failed_condition || ran.err.contains("panicked") {
        let (typed, code) = (&command.typed, command.code);
        return Outcome::Failed(format!(
            "{typed}\nas {given}\nended with {:?}, not {code}: {}",
            ran.code, ran.err
        ));
    }
    let here = folder.canonicalize().expect("a folder").display().to_string();
    let printed = [ran.out, ran.err, written(&given, folder)].join("\n").replace(&here, "");
    let missing: Vec<&String> =
        command.states.iter().filter(|line| !occurs(line, &printed)).collect();
    if !missing.is_empty() {
        return Outcome::Failed(format!(
            "{}\nno longer prints {missing:?}, but\n{printed}",
            command.typed
        ));
    }
    keep_whole(&given, folder);
    Outcome::Done
}

#[test]
fn a_command_is_made_smaller_and_bounded_once() {
    assert_eq!(
        bounded("ioscape evaluate /mnt/a"),
        "ioscape evaluate --max-unique-bytes 4M --budget 3s mnt/a"
    );
    assert_eq!(
        bounded("ioscape ab /mnt/a --unique-bytes 1G --budget 1s --seconds 1"),
        "ioscape ab mnt/a --unique-bytes 1M --budget 1s --seconds 1"
    );
    assert_eq!(
        replaced("x /data/a a/data /database", "/data", "data"),
        "x data/a a/data /database"
    );
}
