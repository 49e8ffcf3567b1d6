//! Resuming: a probe that answers from the log of an interrupted evaluation before it measures again.

use super::probe::{Probe, ProbeRequest, Progress};
use ioscape_schema::{Evaluation, Measurement, Probe as Logged, Workload};
use std::collections::VecDeque;

/// A probe that first answers from a log and then from `inner`.
///
/// [`explore`](crate::evaluate::explore()) is a function of its options and the probe's answers, so with the same options
/// it asks the logged questions again in the same order, and continues where it was interrupted. From the first
/// question that differs from the log, the rest of the log is ignored.
#[derive(Debug)]
pub struct RecordedProbe<P> {
    log: VecDeque<Logged>,
    inner: P,
}

impl<P> RecordedProbe<P> {
    /// A probe over `inner` that knows the answers in `log`, in the order they were given.
    pub fn new(log: Vec<Logged>, inner: P) -> Self {
        Self { log: log.into(), inner }
    }

    /// Answers of the log that were not asked for yet.
    pub fn left(&self) -> usize {
        self.log.len()
    }

    /// The probe below.
    pub fn into_inner(self) -> P {
        self.inner
    }
}

/// Whether two workloads are the same, up to what a fraction may lose when it is written as text and read again.
fn same(a: &Workload, b: &Workload) -> bool {
    let close = |x: f64, y: f64| (x - y).abs() < 1e-9;
    close(a.read_frac, b.read_frac)
        && close(a.seq_frac, b.seq_frac)
        && Workload { read_frac: b.read_frac, seq_frac: b.seq_frac, ..a.clone() } == *b
}

impl<P: Probe> Probe for RecordedProbe<P> {
    type Error = P::Error;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, Self::Error> {
        if let Some(logged) = self.log.pop_front() {
            if logged.purpose == request.purpose
                && same(&logged.measurement.workload, &request.workload)
            {
                return Ok(logged.measurement);
            }
            self.log.clear();
        }
        self.inner.measure(request)
    }

    fn lacks_room(&self, workload: &Workload, error: &Self::Error) -> bool {
        self.inner.lacks_room(workload, error)
    }

    fn has_room(&self, workload: &Workload) -> bool {
        self.inner.has_room(workload)
    }

    fn progress(&mut self, evaluation: &Evaluation, progress: &Progress) {
        if self.log.is_empty() {
            self.inner.progress(evaluation, progress);
        }
    }
}
