//! Resuming: a probe that answers from the log of an interrupted evaluation before it measures again.

use super::explore::explore;
use super::options::EvaluationOptions;
use super::probe::{Probe, ProbeRequest, Progress};
use ioscape_schema::{Evaluation, Measurement, Probe as Logged, RefusedSet, Workload};
use std::collections::VecDeque;

/// A probe that first answers from a log and then from `inner`.
///
/// [`explore`](crate::evaluate::explore()) is a function of its options and the probe's answers, so with the same options
/// it asks the logged questions again in the same order, and continues where it was interrupted. From the first
/// question that differs from the log, the rest of the log is ignored.
#[derive(Debug)]
pub struct RecordedProbe<P> {
    log: VecDeque<Logged>,
    refused: VecDeque<RefusedSet>,
    /// Answers that were taken from the log.
    answered: u64,
    inner: P,
}

impl<P> RecordedProbe<P> {
    /// A probe over `inner` that knows the answers in `log`, in the order they were given.
    pub fn new(log: Vec<Logged>, inner: P) -> Self {
        Self { log: log.into(), refused: VecDeque::new(), answered: 0, inner }
    }

    /// The same, where the sets in `refused` had no room at their places in the log: they have none
    /// now either, whatever was freed since, so that the course stays that of the log.
    #[must_use]
    pub fn with_refused(self, refused: Vec<RefusedSet>) -> Self {
        Self { refused: refused.into(), ..self }
    }

    /// Answers of the log that have not been asked for yet.
    pub fn left(&self) -> usize {
        self.log.len()
    }

    /// The inner probe.
    pub fn into_inner(self) -> P {
        self.inner
    }
}

/// A probe that answers nothing.
struct Silent;

impl Probe for Silent {
    type Error = ();

    fn measure(&mut self, _: &ProbeRequest) -> Result<Measurement, ()> {
        Err(())
    }
}

/// Returns how many probes in the log of `earlier` count if it is continued with `options`: those
/// before the first question that differs, as it may where another version began the evaluation.
pub fn counted_again(options: &EvaluationOptions, earlier: &Evaluation) -> usize {
    let probe = RecordedProbe::new(earlier.probes.clone(), Silent);
    let mut probe = probe.with_refused(earlier.refused_sets.clone());
    match explore(options, &mut probe) {
        Ok(whole) => whole.probes.len(),
        Err(stopped) => stopped.partial.probes.len(),
    }
}

/// Whether two workloads are the same, up to the precision that a fraction may lose when it is
/// written as text and read again.
fn same(a: &Workload, b: &Workload) -> bool {
    let close = |x: f64, y: f64| (x - y).abs() < 1e-9;
    close(a.read_frac, b.read_frac)
        && close(a.seq_frac, b.seq_frac)
        && Workload { read_frac: b.read_frac, seq_frac: b.seq_frac, ..a.clone() } == *b
}

impl<P: Probe> Probe for RecordedProbe<P> {
    type Error = P::Error;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, Self::Error> {
        let logged = self.log.pop_front().filter(|logged| {
            logged.purpose == request.purpose
                && same(&logged.measurement.workload, &request.workload)
        });
        if let Some(logged) = logged {
            self.answered += 1;
            return Ok(logged.measurement);
        }
        self.log.clear();
        self.refused.clear();
        self.inner.measure(request)
    }

    fn lacks_room(&self, workload: &Workload, error: &Self::Error) -> bool {
        self.inner.lacks_room(workload, error)
    }

    fn refused_s(&mut self, workload: &Workload) -> Option<f64> {
        let next = self.refused.front().filter(|next| {
            next.after_probes == self.answered && next.unique_bytes == workload.unique_bytes
        });
        if let Some(&RefusedSet { spent_s, .. }) = next {
            self.refused.pop_front();
            return Some(spent_s);
        }
        match self.log.is_empty() {
            true => self.inner.refused_s(workload),
            false => None,
        }
    }

    fn progress(&mut self, evaluation: &Evaluation, progress: &Progress) {
        // What the log holds was shown and saved before.
        if evaluation.probes.len() as u64 > self.answered {
            self.inner.progress(evaluation, progress);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::Bounds;
    use crate::evaluate::options::tests::ten_minutes;
    use crate::evaluate::testing::Quota;

    /// Guards against filling the quota up again, and measuring again everything that was measured
    /// after it.
    #[test]
    fn what_was_measured_after_a_set_without_room_is_not_measured_again() {
        let bounds = Bounds { unique_bytes: [1 << 20, 16 << 30], ..ten_minutes().bounds };
        let options = EvaluationOptions {
            bounds,
            budget_s: 120.0,
            layout_bytes_per_s: Some(1e9),
            level_counts: false,
            ..ten_minutes()
        };
        let quota = |asked_most| Quota { asked_most, ..Quota::new(5 << 30) };
        let mut uninterrupted = quota(usize::MAX);
        let whole = explore(&options, &mut uninterrupted).unwrap();
        assert!(whole.refused_sets[0].spent_s > 1.0, "{:?}", whole.refused_sets);
        let until = 40;
        let partial = *explore(&options, &mut quota(until)).unwrap_err().partial;
        assert!(!partial.refused_sets.is_empty() && partial.probes.len() < until);
        assert_eq!(counted_again(&options, &partial), partial.probes.len());
        let mut of_another_version = partial.clone();
        of_another_version.probes[22].purpose = "something else".into();
        assert_eq!(counted_again(&options, &of_another_version), 22);
        let probe = RecordedProbe::new(partial.probes, quota(usize::MAX));
        let mut probe = probe.with_refused(partial.refused_sets);
        let resumed = explore(&options, &mut probe).unwrap();
        assert_eq!(probe.into_inner().asked, uninterrupted.asked - until);
        assert_eq!(resumed, whole);
    }
}
