//! A command that runs beside the test: its processes, and signals to them.

use super::{Ran, ioscape, path};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The longest wait for what is certain to come.
const PATIENCE: Duration = Duration::from_secs(600);

/// A run that continues until something ends it.
pub struct Started(pub Child, Option<tempfile::TempDir>, Option<Heard>);

/// What a run has written to standard error, and the lines still to come.
struct Heard(String, Receiver<String>);

impl Started {
    /// Starts the command with these arguments.
    pub fn of(arguments: &[&str]) -> Self {
        Self::spawn(ioscape(arguments))
    }

    /// Starts a command.
    pub fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self::has(command.spawn().expect("it starts"))
    }

    /// Wraps a started command.
    pub fn has(child: Child) -> Self {
        Self(child, None, None)
    }

    /// Runs a short job in `folder` and then an endless one with one process; returns once its
    /// workers are running. The endless job is too slow for its figure to become known. `more` has
    /// its additional settings, one per line.
    pub fn endless(folder: &Path, more: &str) -> Self {
        let place = tempfile::tempdir().expect("a folder");
        let (jobs, result) = (place.path().join("jobs.toml"), place.path().join("r.json"));
        let short = "[defaults]\nunique_bytes = \"1M\"\nsize_mean = \"4k\"\n[[job]]\nname = \"finished\"\nseconds = 0.1";
        let slow = "[[job]]\nname = \"endless\"\nthink_time = \"500ms\"";
        let endless = if more.contains("seconds") { "" } else { "seconds = 1000" };
        fs::write(&jobs, format!("{short}\n{slow}\n{more}\n{endless}\n")).expect("a job file");
        let started = Self::of(&["run", path(folder), path(&jobs), "-o", path(&result)]);
        let mut started = started.until(|run| result.exists() && run.worker().is_some());
        started.1 = Some(place);
        // The first forks are helpers, which are gone before the measured part.
        std::thread::sleep(Duration::from_millis(1500));
        started
    }

    /// Waits for what is certain to come while it runs; if it ends before that, panics with its
    /// exit code and all that it wrote.
    pub fn until(self, has_come: impl Fn(&Self) -> bool) -> Self {
        let mut came = false;
        wait_until(|| {
            let has_ended = self.has_ended();
            came = has_come(&self);
            came || has_ended
        });
        if came {
            return self;
        }
        let Ran { code, out, err } = self.end();
        panic!("it ended with {code:?} before that: {out}\n{err}");
    }

    /// Whether it has ended. It has not been waited for, so its process ID is not reused and
    /// signals to it harm nobody else.
    pub fn has_ended(&self) -> bool {
        let told = fs::read_to_string(format!("/proc/{}/stat", self.0.id()));
        let state = told.as_deref().ok().and_then(|told| told.rsplit(')').next());
        state.is_none_or(|state| state.starts_with(" Z"))
    }

    /// The process that issues requests: the youngest child of the process that does the work.
    pub fn worker(&self) -> Option<u32> {
        children(self.kept()?).last().copied()
    }

    /// The process that does the work.
    pub fn kept(&self) -> Option<u32> {
        children(self.0.id()).last().copied()
    }

    /// All its processes.
    pub fn all(&self) -> Vec<u32> {
        let kept = self.kept().into_iter();
        let below = kept.clone().flat_map(children);
        [self.0.id()].into_iter().chain(kept).chain(below).collect()
    }

    /// Waits until it has written enough to standard error, or has ended; [`Self::end`] returns
    /// everything it writes.
    pub fn listen_until(&mut self, is_enough: impl Fn(&str) -> bool) {
        let pipe = BufReader::new(self.0.stderr.take().expect("a pipe"));
        let (give, lines) = channel();
        std::thread::spawn(move || {
            for line in pipe.split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).into_owned() + "\n";
                if give.send(line).is_err() {
                    break;
                }
            }
        });
        let mut said = String::new();
        while !is_enough(&said) {
            match lines.recv_timeout(PATIENCE) {
                Ok(line) => said += &line,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it says no more than {said:?}"),
            }
        }
        self.2 = Some(Heard(said, lines));
    }

    /// How an endless run ended; checks that the finished job is in its result and in the summary.
    pub fn end_keeping(mut self) -> Ran {
        let place = self.1.take().expect("a run with a finished job");
        let ran = self.end();
        let result = super::read(&place.path().join("r.json"));
        assert!(result.contains("\"finished\"") && ran.out.contains("finished"), "{}", ran.out);
        ran
    }

    /// How it ended.
    pub fn end(self) -> Ran {
        let ended = self.0.wait_with_output().expect("it ends");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let heard = self.2.map(|Heard(said, rest)| said + &rest.iter().collect::<String>());
        let err = heard.unwrap_or_else(|| text(&ended.stderr));
        Ran { code: ended.status.code(), out: text(&ended.stdout), err }
    }
}

/// The living children of a process.
pub fn children(process: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    list.unwrap_or_default().split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// Waits for what is certain to come.
pub fn wait_until(mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "it never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a signal by name.
pub fn signal(process: u32, name: &str) {
    let status = Command::new("kill").args(["-s", name, &process.to_string()]).status();
    assert!(status.expect("kill runs").success());
}
