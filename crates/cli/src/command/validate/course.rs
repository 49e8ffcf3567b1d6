//! The course of a validation: one measurement after the other, each saved, and the verdict at the
//! end.

use crate::failure::Failure;
use crate::save::Keeper;
use ioscape_machine::terminal::Progress;
use ioscape_scaling::model::{Validated, validate_with_rivals};
use ioscape_scaling::system::ChangedSystem;
use ioscape_schema::{Document, Evaluation, Measurement, Outcome, ValidationLog, ValidationRun};
use ioscape_study::validation::{NextMeasurement, ValidationProgress};
use std::time::Instant;

/// The measuring, and where its results are kept on the way.
pub struct Work<'a> {
    /// What is to be done.
    pub log: &'a ValidationLog,
    /// Receives the measurements so far.
    pub document: &'a mut Document,
    /// Saves the document.
    pub keeper: &'a mut Keeper,
}

impl Work<'_> {
    /// Measures what is left, saving after each measurement. At the end the document holds the
    /// measurements and, unless everything was measured, the log. `one` measures a workload.
    ///
    /// # Errors
    /// The errors of `one`, except for misuse: a workload that is too much for the target is left
    /// out.
    pub fn measure(
        &mut self,
        run: &mut ValidationProgress,
        mut one: impl FnMut(&NextMeasurement, &Progress) -> Result<Measurement, Failure>,
    ) -> Result<(), Failure> {
        let (started, budget_s) = (Instant::now(), self.log.budget_s);
        let spent_s = || self.log.spent_s + started.elapsed().as_secs_f64();
        let progress = Progress::of_evaluation(budget_s);
        let outcome = loop {
            let left_s = budget_s - spent_s();
            let next = match run.next(left_s) {
                Ok(Some(next)) => next,
                Ok(None) => break Ok(()),
                Err(out_of_time) => {
                    self.document.warn(out_of_time);
                    break Ok(());
                }
            };
            progress.advance(spent_s(), left_s.max(0.0), next.step.purpose.word());
            match one(&next, &progress) {
                Ok(measurement) => run.record(measurement),
                // A workload that the evaluation never requested may be too much for a small memory
                // limit.
                Err(Failure::Misuse(why)) => run.refuse(why),
                Err(failure) => break Err(failure),
            }
            self.keeper.save(self.document, run.unjudged(self.log, spent_s()));
        };
        progress.done();
        if !run.is_whole() {
            self.document.outcome = Some(run.unjudged(self.log, spent_s()).into());
        }
        outcome
    }
}

/// Judges all models by the measurements, which are of the `changed` system if something is
/// exchanged.
///
/// # Errors
/// No model can be judged by them.
pub fn conclude(
    run: &ValidationProgress,
    log: &ValidationLog,
    evaluation: &Evaluation,
    changed: Option<&ChangedSystem<'_>>,
    document: &mut Document,
) -> Result<(), Failure> {
    run.left_out().into_iter().chain(run.begun()).for_each(|doubt| document.warn(doubt));
    let validated = run.rounds().into_iter();
    let validated: Vec<Validated> =
        validated.map(|(measurement, repeated)| Validated { measurement, repeated }).collect();
    if validated.is_empty() {
        // Without a log there is nothing left to continue: what remains are runs.
        document.outcome.get_or_insert_with(|| run.measurements().into());
        return Ok(());
    }
    let orthogonal = run.schedule().orthogonal.gt(&0).then(|| run.orthogonal());
    let what_if = changed.map(ChangedSystem::what_if);
    let (mut validation, doubts) =
        validate_with_rivals(evaluation, what_if, run.single(), orthogonal.as_deref(), &validated)
            .map_err(|e| Failure::Failed(format!("{e}; everything measured is saved")))?;
    validation.target.clone_from(&log.target);
    if let Some(changed) = changed {
        let predictions = validation.points.iter_mut().map(|point| &mut point.prediction);
        predictions.for_each(|one| changed.name().clone_into(&mut one.system));
    }
    let partial = match document.outcome.take() {
        Some(Outcome::Validation(run)) => *run,
        _ => ValidationRun::default(),
    };
    let whole = ValidationRun { validation: Some(validation), ..partial };
    document.outcome = Some(whole.into());
    let probes = Evaluation { probes: run.probes(), ..Evaluation::default() };
    doubts.into_iter().chain(probes.doubts()).for_each(|doubt| document.warn(doubt));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Stop, Warning, Workload};
    use ioscape_study::validation::{Schedule, ValidationSample};

    #[test]
    fn repetitions_that_do_not_count_are_told_however_the_measuring_ended() {
        let random = (1..=3).map(|i| Workload { unique_bytes: i << 21, ..Workload::default() });
        let (single, orthogonal) = (Workload::default(), Vec::new());
        let sample = ValidationSample { single, random: random.collect(), orthogonal };
        let mut run = ValidationProgress::new(Schedule::new(&sample, 2));
        while run.taken() < 5 {
            let next = run.next(100.0).expect("time is left").expect("a step is left");
            run.record(Measurement::empty(next.step.workload, Stop::Confident));
        }
        let mut document = Document::default();
        // Nothing was evaluated, so nothing is judged.
        let log = ValidationLog::default();
        assert!(conclude(&run, &log, &Evaluation::default(), None, &mut document).is_err());
        let told = |one: &Warning| one.message.contains("not counted: 1 repetition, of a batch");
        assert!(document.warnings.iter().any(told), "{:?}", document.warnings);
    }
}
