//! Options of a session and of each run: memory limit, durations, confidence, and callbacks.

use crate::together::Together;
use ioscape_schema::StopRule;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Options that apply to all runs of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionOptions {
    /// Memory that the workers and the file cache of their I/O may use together, in bytes; absent:
    /// no limit.
    pub memory_limit: Option<u64>,
}

/// A phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The set is written for the first time.
    Layout,
    /// Dirty pages are written back to storage.
    Flush,
    /// The set is read once, so that as much as fits is in the file cache.
    Touch,
    /// The workload runs until its rate is steady.
    WarmUp,
    /// The workload runs and is counted.
    Measure,
    /// All blocks are read back and checked.
    ReadBack,
}

/// Progress of one phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The phase.
    pub phase: Phase,
    /// Bytes moved so far.
    pub bytes_done: u64,
    /// Bytes to move in total; 0 if unknown.
    pub bytes_total: u64,
}

/// How much a run had moved by a certain time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Seconds from the beginning of the measured part.
    pub at_s: f64,
    /// Bytes that all workers had moved by then.
    pub bytes: u64,
}

/// The course of a run: its progress over time.
#[derive(Clone, Debug)]
pub struct Course {
    /// When the first request was issued.
    pub began: Instant,
    /// The marks, in order of time.
    pub marks: Vec<Mark>,
}

/// How long a run may take, how precise its result should be, and who is told.
#[derive(Clone)]
pub struct RunOptions {
    /// The least length of the measured part, in seconds.
    pub min_s: f64,
    /// The greatest length of the measured part, in seconds.
    pub cap_s: f64,
    /// The least length of the warm-up, in seconds.
    pub warm_min_s: f64,
    /// The greatest length of the warm-up, in seconds.
    pub warm_cap_s: f64,
    /// The least length, in seconds, of a warm-up whose rate is so noisy that its mean is not known
    /// to within a tenth: what looks steady within the noise need not be.
    pub warm_noisy_s: f64,
    /// The most seconds that reading the set into the file cache may take.
    pub touch_cap_s: f64,
    /// The most seconds for reading a set that is larger than the file cache, or whose pages are
    /// dropped before every run. Applies where it exceeds the usual limit.
    pub fill_cap_s: f64,
    /// The measured part ends when half the 95 % confidence interval of the throughput is below
    /// this share of it.
    pub confidence: f64,
    /// The most measured requests to keep one by one for
    /// [`Session::take_rows`](super::Session::take_rows). 0 keeps none, at no cost.
    pub rows_most: usize,
    /// Whether the run counts from its first request on, without a warm-up, and records its course
    /// for [`Session::take_course`](super::Session::take_course).
    pub course: bool,
    /// Whether a run that is interrupted in its measured part ends there and yields what was
    /// measured, with [`Stop::Interrupted`](ioscape_schema::Stop::Interrupted).
    pub partial: bool,
    /// Whether every block carries what is needed to check it, reads check it, and all blocks are
    /// read back at the end. Costs nothing if off.
    pub verify: bool,
    /// Set to stop soon. The run then ends with
    /// [`Error::Interrupted`](ioscape_machine::error::Error::Interrupted), unless it is `partial`.
    pub interrupt: Arc<AtomicBool>,
    /// Other machines that run the workload at the same time. The warm-up goes on until all begin
    /// to measure at an agreed time.
    pub together: Option<Arc<dyn Together>>,
    /// The number of other clients of the same run on this machine. Their processor use cannot be
    /// told from that of other programs, and does not count as a disturbance.
    pub beside: u64,
    /// Called a few times a second.
    pub on_progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            min_s: 0.3,
            cap_s: 5.0,
            warm_min_s: 0.2,
            warm_cap_s: 10.0,
            warm_noisy_s: 1.0,
            touch_cap_s: 60.0,
            fill_cap_s: 0.0,
            confidence: 0.03,
            rows_most: 0,
            course: false,
            partial: false,
            verify: false,
            interrupt: Arc::default(),
            together: None,
            beside: 0,
            on_progress: None,
        }
    }
}

impl fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("min_s", &self.min_s)
            .field("cap_s", &self.cap_s)
            .field("confidence", &self.confidence)
            .finish_non_exhaustive()
    }
}

impl RunOptions {
    /// Whether the user asked to stop.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// The rule by which the measured part ends.
    pub(super) fn stop_rule(&self) -> StopRule {
        StopRule { min_s: self.min_s, cap_s: self.cap_s, confidence: self.confidence }
    }

    /// Reports the progress of a phase of the run.
    pub(super) fn tell(&self, phase: Phase, bytes_done: u64, bytes_total: u64) {
        if let Some(told) = &self.on_progress {
            told(Progress { phase, bytes_done, bytes_total });
        }
    }
}
