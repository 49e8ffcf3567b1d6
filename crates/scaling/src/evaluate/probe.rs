//! The interface to whatever is evaluated: a workload goes in, a measurement comes out.

use ioscape_schema::{Evaluation, Measurement, Purpose, Workload};

/// The longest warm-up relative to the longest measurement, and in seconds.
const WARM_UP: f64 = 8.0;
const WARM_MOST_S: f64 = 10.0;

/// How long a probe should measure, warm-up and layout not counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeLimits {
    /// Measure at least this long, in seconds.
    pub min_s: f64,
    /// Measure for at most this long, in seconds.
    pub cap_s: f64,
}

impl TimeLimits {
    /// The longest warm-up before the measurement, in seconds: where the budget allows only short
    /// measurements, one point whose writes take long to settle must not spend a fifth of it.
    pub fn warm_most_s(self) -> f64 {
        (WARM_UP * self.cap_s).min(WARM_MOST_S)
    }
}

/// What a probe is asked to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeRequest {
    /// The purpose, which goes into the log.
    pub purpose: Purpose,
    /// The workload to run.
    pub workload: Workload,
    /// How long to measure it.
    pub limits: TimeLimits,
    /// How long bringing the cacheable part of the set into the file cache beforehand may take, in
    /// seconds, even where that is longer than usual; 0: no longer than usual.
    pub fill_s: f64,
}

/// How far the evaluation has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// What is being measured now, in words.
    pub phase: &'static str,
    /// Distinct points measured.
    pub points: u32,
    /// Probes still expected; an estimate, since the search adapts.
    pub probes_left: u32,
    /// Seconds spent in probes and between them.
    pub spent_s: f64,
    /// Seconds still expected: probes left at the mean cost of recent ones, at most the budget that
    /// is left.
    pub left_s: f64,
}

/// Whatever can run a workload: a machine, a simulation, or a log of an earlier evaluation.
pub trait Probe {
    /// Why a measurement failed or was interrupted.
    type Error;

    /// Runs one workload; the answer's `workload` is the one asked for, its `cost_s` the whole time
    /// it took, and its `deciding_s` the time since the last answer, if that counts.
    ///
    /// # Errors
    /// An error ends the evaluation, unless [`lacks_room`](Self::lacks_room) says that it need not.
    /// What was measured before is kept in [`Interrupted`].
    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, Self::Error>;

    /// Whether `error` means only that there is no room for the set of `workload`; the evaluation
    /// then goes on with smaller sets.
    fn lacks_room(&self, workload: &Workload, error: &Self::Error) -> bool {
        let _ = (workload, error);
        false
    }

    /// If there is known to be no room for the set of `workload`, returns the seconds of the budget
    /// that finding out took: 0 unless an earlier run of this very evaluation did. The evaluation
    /// then goes on with smaller sets and does not ask for this one.
    fn refused_s(&mut self, workload: &Workload) -> Option<f64> {
        let _ = workload;
        None
    }

    /// Called after every probe with the evaluation so far, so that it can be shown and saved.
    fn progress(&mut self, evaluation: &Evaluation, progress: &Progress) {
        let _ = (evaluation, progress);
    }
}

/// An evaluation that its probe ended early.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the evaluation stopped after {} probes: {error}", partial.probes.len())]
pub struct Interrupted<E> {
    /// The error of the probe.
    pub error: E,
    /// All that was measured until then.
    pub partial: Box<Evaluation>,
}
