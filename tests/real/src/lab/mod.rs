//! The laboratory: brings systems up, takes them down however a run ends, and runs the command
//! under test on them.

mod journal;
mod own;
mod processes;
mod undo;

pub mod memory;
pub mod network;
pub mod settings;
pub mod storage;

use ioscape_schema::Document;
use journal::{Entry, Journal};
use rustix::fs::{FlockOperation, flock};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use undo::Undo;

/// The directory unless `IOSCAPE_REAL_PLACE` is set: not in `/tmp`, which may be in memory.
const PLACE: &str = "/var/tmp/ioscape-real";

/// Exit code of an interrupted run.
const INTERRUPTED: i32 = 130;

/// The laboratory, ready to use, and the command under test.
pub struct Lab {
    place: PathBuf,
    command: PathBuf,
    journal: Arc<Journal>,
    // Held for the laboratory's lifetime: two laboratories would take down each other's systems.
    _lock: File,
}

/// A system that is up; dropping it undoes its changes to the machine, newest first.
pub struct Up<'a> {
    lab: &'a Lab,
    entries: Vec<Entry>,
}

impl Drop for Up<'_> {
    fn drop(&mut self) {
        self.entries.iter().rev().for_each(|entry| self.lab.journal.undo(*entry));
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.journal.close();
    }
}

impl Lab {
    /// Prepares the directory, after undoing what a killed run left.
    ///
    /// # Errors
    /// One sentence: not root, another run in progress, no command to test.
    pub fn set_up() -> Result<Self, String> {
        let mut lab = Self::swept()?;
        lab.command = command_under_test()?;
        Ok(lab)
    }

    /// The directory after undoing what a killed run left, without a command to test.
    ///
    /// # Errors
    /// One sentence: not root, another run in progress, or a directory not owned by root alone.
    pub fn swept() -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("needs root".to_owned());
        }
        let named = std::env::var_os("IOSCAPE_REAL_PLACE");
        let named = named.map_or_else(|| PLACE.into(), PathBuf::from);
        let (place, lock, journal) = opened(&named)?;
        let fails = |e: std::io::Error| format!("{}: {e}", place.display());
        fs::create_dir_all(place.join("results")).map_err(fails)?;
        let journal = Arc::new(journal);
        undo_when_interrupted(Arc::clone(&journal))?;
        for directory in ["mnt", "w"] {
            let path = place.join(directory);
            // Mounts in it are noted later, so they are undone first.
            journal.note(Undo::RemoveTree(path.clone()))?;
            fs::create_dir_all(&path).map_err(fails)?;
        }
        Ok(Self { place, command: PathBuf::new(), journal, _lock: lock })
    }

    /// After an interruption, leaves the rest to the thread that takes everything down, because a
    /// system's outcome then means nothing.
    pub fn stop_if_interrupted(&self) {
        while self.journal.is_closed() {
            std::thread::park();
        }
    }

    /// A path in the laboratory's directory.
    pub fn path(&self, below: &str) -> PathBuf {
        self.place.join(below)
    }

    /// Runs a line of shell in the laboratory's directory and returns its output.
    ///
    /// # Errors
    /// One sentence with the line's standard error.
    pub fn shell(&self, line: &str) -> Result<String, String> {
        let output = self.run(line)?;
        let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if output.status.success() {
            Ok(printed)
        } else {
            let why = String::from_utf8_lossy(&output.stderr);
            Err(format!("`{line}`: {}: {}", output.status, why.trim()))
        }
    }

    /// Runs a line in its own process group, which is killed with this run. Background processes of
    /// the line are killed when it ends, so that they do not affect the next one; what should stay
    /// is started [beside](Up::beside).
    fn run(&self, line: &str) -> Result<Output, String> {
        let mut command = Command::new("bash");
        command.args(["-c", line]).current_dir(&self.place).stdin(Stdio::null()).process_group(0);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|e| format!("bash: {e}"))?;
        let pid = child.id();
        let noted = self.note_process(pid);
        let output = child.wait_with_output().map_err(|e| format!("bash: {e}"));
        processes::kill_left(pid);
        self.journal.forget(noted?);
        output
    }

    fn note_process(&self, pid: u32) -> Result<Entry, String> {
        let kill = Undo::Kill { pid, started: processes::started(pid).unwrap_or(0) };
        let noted = self.journal.note(kill.clone());
        if noted.is_err() {
            kill.perform();
        }
        noted
    }

    /// A system with nothing in it yet.
    pub fn up(&self) -> Up<'_> {
        Up { lab: self, entries: Vec::new() }
    }

    /// Path of the command under test.
    pub fn binary(&self) -> String {
        self.command.display().to_string()
    }

    /// Whether a program is installed; an absolute path is checked as it is.
    pub fn has(&self, program: &str) -> bool {
        if program.starts_with('/') {
            Path::new(program).exists()
        } else {
            self.shell(&format!("command -v {program}")).is_ok()
        }
    }

    /// Evaluates `target` (relative to the laboratory's directory) with additional options.
    ///
    /// # Errors
    /// One sentence from the command, or about its result.
    pub fn evaluate(&self, target: &str, options: &str) -> Result<Document, String> {
        self.command(&format!("evaluate {target} --json {options}"))
    }

    /// Runs the command under test with arguments that ask for JSON, and keeps the result.
    ///
    /// # Errors
    /// One sentence from the command, or about its result.
    pub fn command(&self, arguments: &str) -> Result<Document, String> {
        let text = self.shell(&format!("'{}' {arguments}", self.command.display()))?;
        let name: String =
            arguments.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
        let kept = self.place.join("results").join(format!("{name:.60}.ioscape.json"));
        fs::write(&kept, &text).map_err(|e| format!("{}: {e}", kept.display()))?;
        serde_json::from_str(&text).map_err(|e| format!("the result cannot be read: {e}"))
    }
}

impl Up<'_> {
    /// Notes how to undo the next change.
    fn note(&mut self, undo: Undo) -> Result<(), String> {
        self.entries.push(self.lab.journal.note(undo)?);
        Ok(())
    }

    /// Runs a line of shell as part of bringing the system up.
    fn shell(&self, line: &str) -> Result<String, String> {
        self.lab.shell(line)
    }

    /// Creates a directory in the laboratory, which is removed with its contents.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn directory(&mut self, below: &str) -> Result<PathBuf, String> {
        let path = self.lab.path(below);
        self.note(Undo::RemoveTree(path.clone()))?;
        fs::create_dir_all(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(path)
    }

    /// Creates a directory as a mount point, and notes the unmount.
    fn mount_point(&mut self, below: &str) -> Result<PathBuf, String> {
        let path = self.lab.path(below);
        self.note(Undo::Remove(path.clone()))?;
        self.note(Undo::Unmount(path.clone()))?;
        fs::create_dir_all(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(path)
    }

    /// Starts a program that serves until the system is taken down; its output goes to a log.
    fn start(&mut self, name: &str, words: &[&str]) -> Result<(), String> {
        let fails = |e: std::io::Error| format!("{name}: {e}");
        let log = File::create(self.log(name)).map_err(fails)?;
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(&self.lab.place).stdin(Stdio::null());
        command.process_group(0).stdout(log.try_clone().map_err(fails)?).stderr(log);
        let child = command.spawn().map_err(fails)?;
        self.entries.push(self.lab.note_process(child.id())?);
        Ok(())
    }

    /// Starts a program that runs beside the command under test until the system is taken down.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn beside(&mut self, name: &str, words: &[&str]) -> Result<(), String> {
        self.start(name, words)
    }

    fn log(&self, name: &str) -> PathBuf {
        self.lab.path(&format!("w/{name}.log"))
    }

    /// Waits up to ten seconds for a condition; quotes the program's log if it does not come true.
    ///
    /// # Errors
    /// It did not come true.
    pub fn wait_for(&self, name: &str, mut holds: impl FnMut() -> bool) -> Result<(), String> {
        for _ in 0..200 {
            if holds() {
                return Ok(());
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let log = fs::read_to_string(self.log(name)).unwrap_or_default();
        Err(format!("{name} did not come up within 10 s: {}", log.trim()))
    }
}

/// Locks the directory and undoes what a killed run left; returns its path, lock, and journal.
fn opened(named: &Path) -> Result<(PathBuf, File, Journal), String> {
    let place = own::folder(named)?;
    let lock = own::file(&place.join("lock"))?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| format!("another run uses {}", place.display()))?;
    let (journal, left) = Journal::open(&place.join("undo"))?;
    if left > 0 {
        crate::say(&format!("undid {left} changes that an earlier run left on this machine"));
    }
    Ok((place, lock, journal))
}

/// On a signal, undoes everything and exits.
fn undo_when_interrupted(journal: Arc<Journal>) -> Result<(), String> {
    let mut signals =
        Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(|e| format!("signals: {e}"))?;
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            crate::say("\ninterrupted: taking everything down");
            journal.close();
            std::process::exit(INTERRUPTED);
        }
    });
    Ok(())
}

/// The binary under test: `IOSCAPE_BIN`, or the one built beside this program.
fn command_under_test() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os("IOSCAPE_BIN") {
        return Ok(PathBuf::from(named));
    }
    let own = std::env::current_exe().map_err(|e| format!("where am I: {e}"))?;
    let beside = own.with_file_name("ioscape");
    if beside.is_file() {
        Ok(beside)
    } else {
        Err(format!("{} is not built: run `cargo build --release` first", beside.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::time::Duration;

    fn named(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("ioscape-real-lab-{name}-{}", std::process::id()))
    }

    #[test]
    fn what_another_user_may_have_left_to_be_undone_is_not_performed() {
        let place = named("foreign");
        fs::create_dir_all(&place).unwrap();
        let done = named("foreign-done");
        let undo = Undo::Run(vec!["touch".to_owned(), done.display().to_string()]);
        fs::write(place.join("undo"), serde_json::to_string(&undo).unwrap()).unwrap();
        match rustix::process::geteuid().is_root() {
            true => chown(&place, Some(65534), None).unwrap(),
            false => fs::set_permissions(&place, Permissions::from_mode(0o707)).unwrap(),
        }
        let why = opened(&place).err().unwrap();
        assert!(why.contains("belongs to another user or is writable by others"), "{why}");
        assert!(!done.exists(), "it was performed");
        fs::remove_dir_all(&place).unwrap();
    }

    #[test]
    fn what_a_line_leaves_in_the_background_ends_with_it() {
        let (place, lock, journal) = opened(&named("background")).unwrap();
        let command = PathBuf::new();
        let lab = Lab { place, command, journal: Arc::new(journal), _lock: lock };
        let said = lab.shell("sleep 1000 > /dev/null 2>&1 & echo $!").unwrap();
        let pid: u32 = said.parse().unwrap();
        let has_ended = |_| {
            std::thread::sleep(Duration::from_millis(10));
            !processes::is_running(pid)
        };
        assert!((0..500).any(has_ended), "process {pid} runs on");
        fs::remove_dir_all(&lab.place).unwrap();
    }
}
