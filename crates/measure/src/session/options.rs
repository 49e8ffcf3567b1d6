//! How a session and each of its runs go: memory limit, lengths, confidence, and who is told.

use crate::together::Together;
use ioscape_schema::StopRule;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What holds for all runs of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionOptions {
    /// Memory that the workers and the file cache of their I/O may use together, in bytes; absent: no limit.
    pub memory_limit: Option<u64>,
}

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The set is written for the first time.
    Layout,
    /// Dirty pages are written to storage.
    Flush,
    /// The set is read once, so that what fits is in the file cache.
    Touch,
    /// The workload runs until its rate is steady.
    WarmUp,
    /// The workload runs and counts.
    Measure,
    /// All blocks are read back and checked.
    ReadBack,
}

/// How far a part of a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Which part.
    pub phase: Phase,
    /// Bytes moved so far.
    pub bytes_done: u64,
    /// Bytes to move; 0 where the end is not known in bytes.
    pub bytes_total: u64,
}

/// What a run had moved by some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Seconds from the beginning of the measured part.
    pub at_s: f64,
    /// Bytes that all workers had moved by then.
    pub bytes: u64,
}

/// How a run went.
#[derive(Clone, Debug)]
pub struct Course {
    /// When its first request was issued.
    pub began: Instant,
    /// What was moved by when, in order.
    pub marks: Vec<Mark>,
}

/// How long a run may take, how sure it should be, and who is told.
#[derive(Clone)]
pub struct RunOptions {
    /// The measured part lasts at least so long, in seconds.
    pub min_s: f64,
    /// And at most so long.
    pub cap_s: f64,
    /// The warm-up lasts at least so long, in seconds.
    pub warm_min_s: f64,
    /// And at most so long.
    pub warm_cap_s: f64,
    /// A warm-up whose rate varies so much that its mean is not known to a tenth lasts at least so long, in seconds:
    /// what looks steady within the noise need not be.
    pub warm_noisy_s: f64,
    /// Reading the set into the file cache takes at most so long, in seconds.
    pub touch_cap_s: f64,
    /// A set that outgrows the file cache, or whose pages are dropped before every run, is read for up to so long, in seconds, where that is
    /// longer than it otherwise may be.
    pub fill_cap_s: f64,
    /// The measured part ends when half the 95 % confidence interval over the throughput is below this.
    pub confidence: f64,
    /// Most measured requests that are kept one by one for [`Session::take_rows`](super::Session::take_rows); 0 keeps
    /// none, which costs nothing.
    pub rows_most: usize,
    /// Whether the run counts from its first request on, without warming up, and its course is kept for
    /// [`Session::take_course`](super::Session::take_course). Interrupted, it ends there and is measured as far as it went, with
    /// [`Stop::Interrupted`](ioscape_schema::Stop::Interrupted).
    pub course: bool,
    /// Whether every block carries what it takes to check it, reads check it, and all blocks are read back at the end; costs
    /// nothing where not.
    pub verify: bool,
    /// Set to stop soon: the run ends with [`Error::Interrupted`](ioscape_machine::error::Error::Interrupted).
    pub interrupt: Arc<AtomicBool>,
    /// Who else runs it: the warm-up goes on until all begin to measure at an agreed time.
    pub together: Option<Arc<dyn Together>>,
    /// So many other clients of the same run work on this machine: what they compute is not told from what others do, and disturbs nothing.
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

    /// When the measured part ends.
    pub(super) fn stop_rule(&self) -> StopRule {
        StopRule { min_s: self.min_s, cap_s: self.cap_s, confidence: self.confidence }
    }

    /// Tells how far a part of the run is.
    pub(super) fn tell(&self, phase: Phase, bytes_done: u64, bytes_total: u64) {
        if let Some(told) = &self.on_progress {
            told(Progress { phase, bytes_done, bytes_total });
        }
    }
}
