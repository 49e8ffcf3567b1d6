//! Shared by the command's tests: runs the command, as any user, and checks its output.

pub mod client;
pub mod devtools;
pub mod shim;
pub mod started;

use assert_cmd::cargo::cargo_bin;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A finished run.
pub struct Ran {
    /// Exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Ran {
    /// Runs a command to its end.
    pub fn of(mut command: Command) -> Self {
        let ended = command.stdin(Stdio::null()).output().expect("it starts");
        Self {
            code: ended.status.code(),
            out: String::from_utf8_lossy(&ended.stdout).into_owned(),
            err: String::from_utf8_lossy(&ended.stderr).into_owned(),
        }
    }

    /// Expects an exit code.
    pub fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }

    /// Expects words on standard error.
    pub fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.err.contains(word), "must say {word:?}: {}", self.err);
        }
        self
    }
}

/// The command with these arguments.
pub fn ioscape(arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin("ioscape"));
    command.args(arguments);
    command
}

/// The command, for assertions about how it ends.
pub fn program() -> assert_cmd::Command {
    assert_cmd::Command::new(cargo_bin("ioscape"))
}

/// Runs the command to its end.
pub fn run(arguments: &[&str]) -> Ran {
    Ran::of(ioscape(arguments))
}

/// Runs bad input; expects exit code 2, no output and one line that says all of `words`.
pub fn refused(arguments: &[&str], words: &[&str]) {
    let ran = run(arguments).ended(2).says(words);
    assert_eq!((ran.out.as_str(), ran.err.lines().count()), ("", 1), "{arguments:?}: {}", ran.err);
}

/// Another user to run the command as.
pub struct User(u32);

impl User {
    /// Runs the command to its end.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = ioscape(arguments);
        command.uid(self.0).gid(self.0);
        Ran::of(command)
    }
}

/// Returns user `id`, if this is root and the user can reach the command and `folder`; otherwise
/// says why not.
pub fn user_or_skip(id: u32, folder: &Path) -> Option<User> {
    let mut trial = Command::new(cargo_bin("ioscape"));
    trial.arg("--version").uid(id).gid(id).current_dir(folder).stdout(Stdio::null());
    if trial.status().is_ok_and(|status| status.success()) {
        return Some(User(id));
    }
    skipped("the command cannot be run as another user here");
    None
}

/// Says that a test could not be run here, and why.
#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
pub fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
}

/// Whether block requests cannot be recorded here, according to the command: no privilege, no
/// tracefs, or no known disk below a directory.
pub fn cannot_record(ran: &Ran) -> bool {
    let has_no_right = ran.err.contains("recording ") && ran.err.contains(" is not possible here");
    let is_refused = ran.code == Some(2) && (has_no_right || ran.err.contains(": is on "));
    if is_refused {
        skipped(&ran.err);
    }
    is_refused
}

/// A directory of the real data, in `IOSCAPE_DATA` or beside the project, if available.
pub fn data(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("IOSCAPE_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    Some(root.join(name)).filter(|folder| folder.exists())
}

/// A directory in memory, if possible: for work that must be quick even if other work keeps the
/// disk busy.
pub fn in_memory() -> tempfile::TempDir {
    roomy_memory().unwrap_or_else(|| tempfile::tempdir().expect("a folder"))
}

/// A directory in memory with more room than the command leaves free; many containers have none.
pub fn roomy_memory() -> Option<tempfile::TempDir> {
    let about = rustix::fs::statvfs("/dev/shm").ok()?;
    let has_room = about.f_bavail * about.f_frsize >= 256 << 20;
    has_room.then(|| tempfile::tempdir_in("/dev/shm").ok())?
}

/// A path as text.
pub fn path(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// A file's text.
pub fn read(file: &Path) -> String {
    std::fs::read_to_string(file).expect("a file")
}

/// A campaign in a file in `folder` whose own files need not be cold: in memory, and on a file
/// system with a cache of its own, they never are.
pub fn warm_campaign(folder: &Path) -> PathBuf {
    let shown = run(&["campaign", "show", "aged-reads"]).ended(0).out;
    let file = folder.join("warm.toml");
    std::fs::write(&file, shown.replace("cold = true", "cold = false")).expect("a campaign");
    file
}

/// The scratch files in `folder`.
pub fn scratch_files(folder: &Path) -> Vec<PathBuf> {
    let all = scratch_of(folder).into_iter();
    all.filter(|p| p.to_string_lossy().contains(".ioscape-scratch")).collect()
}

/// Everything in `folder` that the command made and the user did not name.
pub fn scratch_of(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path());
    entries
        .filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().contains("ioscape-")))
        .collect()
}
