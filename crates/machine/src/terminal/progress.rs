//! Progress display: one bar on a terminal, nothing in a pipe.

use super::{display, tell};
use crate::thread::builder;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ioscape_schema::text::inert;
use ioscape_schema::units::{Count, Seconds};
use std::io::IsTerminal;
use std::time::Duration;

/// A progress bar on standard error.
#[derive(Clone, Debug)]
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    fn new(length: u64, template: &str) -> Self {
        let is_shown = std::io::stderr().is_terminal() && !display().quiet;
        let target = match is_shown {
            true => ProgressDrawTarget::stderr_with_hz(8),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(length.max(1)), target);
        let style = ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ");
        bar.set_style(style);
        // The ticker panics if no thread can be started.
        if is_shown
            && builder().and_then(|one| one.spawn(|| ())).is_ok_and(|one| one.join().is_ok())
        {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        Self { bar }
    }

    /// Returns the progress of one of several jobs.
    pub fn of_jobs(index: usize, count: usize, name: &str) -> Self {
        let name = inert(name).into_owned();
        let progress = Self::new(1, "{spinner} {prefix} {msg} [{elapsed}]");
        progress.bar.set_prefix(format!("{}/{count} {name}:", index + 1));
        progress
    }

    /// Returns the progress of `count` steps.
    pub fn of_steps(count: usize) -> Self {
        Self::new(count as u64, "[{bar:30}] {percent:>3} % {wide_msg}")
    }

    /// Shows that `done` of `of` steps are done; `doing` says what comes next.
    pub fn step(&self, done: usize, of: usize, doing: &str) {
        self.bar.set_length(of.max(1) as u64);
        self.bar.set_position(done as u64);
        self.doing(doing);
    }

    /// Returns the progress of an evaluation of about `seconds`.
    pub fn of_evaluation(seconds: f64) -> Self {
        Self::new(seconds.ceil() as u64, "[{bar:30}] {percent:>3} % {prefix} {wide_msg}")
    }

    /// Returns the progress through a file of `bytes` bytes.
    pub fn of_bytes(bytes: u64, name: &str) -> Self {
        let name = inert(name).into_owned();
        let progress = Self::new(bytes, "[{bar:30}] {percent:>3} % {prefix} {wide_msg}");
        progress.bar.set_prefix(name);
        progress
    }

    /// Shows that `bytes` are processed; `doing` describes the result so far.
    pub fn reached(&self, bytes: u64, doing: &str) {
        self.bar.set_position(bytes);
        self.doing(doing);
    }

    /// Shows that `spent_s` of the evaluation have passed and about `left_s` remain; `doing` says
    /// what comes next.
    pub fn advance(&self, spent_s: f64, left_s: f64, doing: &str) {
        self.bar.set_length((spent_s + left_s).ceil().max(1.0) as u64);
        self.bar.set_position(spent_s as u64);
        self.bar.set_prefix(format!("about {} left,", Seconds(left_s)));
        self.doing(doing);
    }

    /// Returns the progress through a trace of unknown length.
    pub fn of_rows() -> Self {
        Self::new(1, "{spinner} {msg} [{elapsed}]")
    }

    /// Shows the number of rows read so far.
    pub fn rows(&self, count: u64) {
        self.bar.set_message(format!("{} requests", Count(count as f64)));
    }

    /// Shows the current activity. If there is no bar and output is verbose, it is printed as a
    /// line.
    pub fn doing(&self, what: &str) {
        if display().verbose && self.bar.is_hidden() && self.bar.message() != what {
            tell(what);
        }
        self.bar.set_message(what.to_owned());
    }

    /// Removes the bar.
    pub fn done(&self) {
        self.bar.finish_and_clear();
    }
}
