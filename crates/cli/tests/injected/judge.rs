//! What must hold after a run in which one call failed.

use crate::fault::{Fault, Kind, Run, run};
use crate::seccomp::Supervised;
use assert_cmd::cargo::cargo_bin;
use ioscape_schema::Document;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A command: `W` is its working directory, `F` that of the files it reads; the result's name
/// follows the last word.
pub struct Case {
    pub name: &'static str,
    pub words: &'static [&'static str],
    /// The most faults that are tried.
    pub most: usize,
}

/// Time for an evaluation; and for one where a busy disk takes all of that to lay out the sets.
pub const BRIEF: &str = "2s";
const LONGER: &str = "30s";

/// Directories for work, results, the user's files, and results whose own place fails.
pub struct Place(TempDir);

const PRECIOUS: &str = "what the user would miss";
const TINY: &str = "title = \"tiny\"\nrounds = 1\n[base]\nworkload = \"write\"\nfile_size = \"16k\"\niosize = \"4k\"\n\
                    [[vary]]\nname = \"files\"\nvalues = [1]\n[[method]]\nname = \"buffered\"\n";

impl Place {
    /// Creates a place with an earlier result and a file of the user's beside it.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn new() -> io::Result<Self> {
        let place = Self(tempfile::tempdir()?);
        for folder in ["W", "R", "F", "E"] {
            fs::create_dir(place.of(folder))?;
        }
        fs::write(place.of("F/tiny.toml"), TINY)?;
        fs::write(place.of("F/precious"), PRECIOUS)?;
        fs::write(place.of("W/precious"), PRECIOUS)?;
        fs::write(place.of("R/r.ioscape.json"), EARLIER)?;
        Ok(place)
    }

    fn of(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// All files below, by relative name.
    fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.0.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a folder").flatten() {
                let path = entry.path();
                let name = path.strip_prefix(self.0.path()).expect("below").display().to_string();
                if path.is_dir() && name.len() > 1 {
                    found.push(format!("{name}/"));
                }
                if path.is_dir() { folders.push(path) } else { found.push(name) }
            }
        }
        found
    }

    /// Files that do not belong there.
    fn leftovers(&self, may_be: &[&str]) -> Vec<String> {
        let ours = ["F/tiny.toml", "F/precious", "W/precious", "R/r.ioscape.json"];
        let known = |name: &str| ours.contains(&name) || may_be.contains(&name);
        let elsewhere = self.elsewhere();
        self.files().into_iter().filter(|name| !known(name) && !elsewhere.contains(name)).collect()
    }

    /// Results that went to another place than their own.
    fn elsewhere(&self) -> Vec<String> {
        let is_result = |name: &String| name.starts_with("E/") && name.ends_with(".ioscape.json");
        self.files().into_iter().filter(is_result).collect()
    }
}

/// A result as an earlier run left it.
const EARLIER: &str = include_str!("earlier.ioscape.json");

impl Case {
    fn command(&self, place: &Place, budget: &str) -> Command {
        let mut command = Command::new(cargo_bin("ioscape"));
        for word in self.words {
            let of = |folder: &str| {
                word.starts_with(folder) && word[1..].starts_with('/') || *word == folder
            };
            match of("W") || of("F") {
                true => command.arg(place.of(word)),
                false => command.arg(if *word == BRIEF { budget } else { *word }),
            };
        }
        command.arg(place.of("R/r.ioscape.json")).stdin(Stdio::null());
        command.env("HOME", place.of("E")).env("TMPDIR", place.of("E")).current_dir(place.of("E"));
        let file = |name| fs::File::create(place.of(name)).expect("a file");
        command.stdout(file("out")).stderr(file("err"));
        command
    }

    /// Runs without a fault; returns the number of calls that could meet one of this kind.
    pub fn sound(&self, place: &Place, kind: Kind) -> u32 {
        let (mut done, mut told) = self.faultless(place, kind, BRIEF);
        if told.contains("within the budget") {
            (done, told) = self.faultless(place, kind, LONGER);
        }
        let code = done.status.and_then(|status| status.code());
        assert_eq!(code, Some(0), "{} without a fault: {told}", self.name);
        let _ = fs::remove_file(place.of("W/file"));
        done.calls
    }

    fn faultless(&self, place: &Place, kind: Kind, budget: &str) -> (Run, String) {
        let done = run(self.command(place, budget), Fault { nth: 0, kind }).expect("it runs");
        (done, fs::read_to_string(place.of("err")).unwrap_or_default())
    }

    /// Runs with `fault`; returns whether a call met it.
    ///
    /// # Errors
    /// What is wrong.
    pub fn judge(&self, place: &Place, fault: Fault, shown: bool) -> Result<bool, String> {
        let done =
            run(self.command(place, BRIEF), fault).map_err(|e| format!("it cannot run: {e}"))?;
        let text = |name| fs::read_to_string(place.of(name)).unwrap_or_default();
        let (out, err) = (text("out"), text("err"));
        for name in ["out", "err"] {
            let _ = fs::remove_file(place.of(name));
        }
        if shown {
            eprintln!("{out}\n--\n{err}\n--\n{:?}", place.files());
        }
        let call = done.failed.unwrap_or("no call");
        self.verdict(place, &done, &err).map_err(|why| format!("{call}: {why}; it said: {err}"))?;
        Ok(done.failed.is_some())
    }

    fn verdict(&self, place: &Place, done: &Run, err: &str) -> Result<(), String> {
        let status = done.status.ok_or("it never ended")?;
        if err.contains("panicked") {
            return Err("a panic".into());
        }
        let code = status.code().ok_or(format!("signal {:?}", status.signal()))?;
        if ![0, 1, 2].contains(&code) {
            return Err(format!("exit code {code}"));
        }
        if code != 0 && err.trim().is_empty() {
            return Err(format!("exit code {code} without a word"));
        }
        // Failing to store data is never a success, unless it is reported and a later attempt
        // stored it; words on standard error may be lost.
        let is_lost = matches!(done.failed, Some("sync" | "rename" | "write"))
            && matches!(done.kind, Kind::Eio | Kind::NoSpace)
            && !done.is_word;
        if is_lost && code == 0 && !err.contains("cannot ") {
            return Err("exit code 0".into());
        }
        for file in ["F/precious", "W/precious"] {
            if fs::read_to_string(place.of(file)).ok().as_deref() != Some(PRECIOUS) {
                return Err(format!("{file} was touched"));
            }
        }
        self.result(place, code)?;
        let elsewhere = place.elsewhere();
        for name in &elsewhere {
            let text = fs::read_to_string(place.of(name)).unwrap_or_default();
            serde_json::from_str::<Document>(&text)
                .map_err(|e| format!("{name} is broken: {e}"))?;
        }
        if err.contains("instead") == elsewhere.is_empty() {
            return Err(format!("results elsewhere: {elsewhere:?}"));
        }
        self.nothing_left(place, done, code)
    }

    /// Checks that the result is the complete earlier one or new one; after success, the new one.
    fn result(&self, place: &Place, code: i32) -> Result<(), String> {
        let text = fs::read_to_string(place.of("R/r.ioscape.json"))
            .map_err(|e| format!("the earlier result is gone: {e}"))?;
        let document: Document =
            serde_json::from_str(&text).map_err(|e| format!("the result is broken: {e}"))?;
        match code {
            0 if text == EARLIER => Err("exit code 0, but the result is the earlier one".into()),
            0 if document.interrupted => Err("exit code 0, but the result is partial".into()),
            _ => Ok(()),
        }
    }

    /// Checks that nothing is left, or that the next run removes what could not be removed.
    fn nothing_left(&self, place: &Place, done: &Run, code: i32) -> Result<(), String> {
        // A run whose result was written somewhere was complete, whatever happened next.
        let result = fs::read_to_string(place.of("R/r.ioscape.json")).unwrap_or_default();
        let is_whole = code == 0 || !place.elsewhere().is_empty() || result != EARLIER;
        let may_be: &[&str] =
            if is_whole || done.failed == Some("unlink") { &["W/file"] } else { &[] };
        let left = place.leftovers(may_be);
        if left.is_empty() {
            return Ok(());
        }
        let _ = fs::remove_file(place.of("W/file"));
        let next = run(self.command(place, BRIEF), Fault { nth: 0, kind: Kind::Eio });
        let _ = next.map_err(|e| format!("the next run: {e}"))?;
        let _ = (fs::remove_file(place.of("out")), fs::remove_file(place.of("err")));
        match place.leftovers(&["W/file"]) {
            still if still.is_empty() && !left.iter().any(|name| name == "W/file") => Ok(()),
            still => Err(format!("left behind: {left:?}, and after the next run: {still:?}")),
        }
    }
}

/// Checks whether the kernel allows supervision here.
///
/// # Errors
/// It does not.
pub fn can_supervise() -> io::Result<()> {
    let mut command = Command::new(Path::new("/bin/true"));
    command.stdin(Stdio::null());
    let supervised = Supervised::spawn(command)?;
    while let Ok(call) = supervised.next() {
        if let Some(call) = call {
            supervised.pass(&call);
        }
    }
    Ok(())
}
