//! An interrupted validation, as read from its result file.

use super::{Schedule, ValidationProgress};
use crate::resume::BEFORE;
use ioscape_schema::{
    Document, Environment, Measurement, Outcome, ValidationLog, ValidationRun, Warning,
};
use std::path::Path;

/// The state that an interrupted validation left behind.
#[derive(Clone, Debug)]
pub struct EarlierValidation {
    /// Seed of its workloads.
    pub seed: u64,
    /// When it began, as an RFC 3339 time.
    pub started_at: String,
    /// Its machine and target.
    pub environment: Environment,
    /// What it was asked to do.
    pub log: ValidationLog,
    /// The warnings that stay: that it had already been continued on a changed system.
    pub doubts: Vec<Warning>,
    measured: Vec<Measurement>,
}

/// Why a result cannot be continued.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotContinued {
    /// Everything has been measured.
    #[error("the validation is whole: there is nothing to continue")]
    Whole,
    /// The result is of another kind.
    #[error("the file holds no validation to continue")]
    OtherKind,
    /// It is about another target.
    #[error("the file is about {0:?}, not {1:?}")]
    OtherTarget(String, String),
    /// Its measurements are not of this schedule.
    #[error("the file belongs to another evaluation: give the one that the validation began with")]
    OtherEvaluation,
}

impl EarlierValidation {
    /// Reads the validation of `target` from `document`.
    ///
    /// # Errors
    /// There is nothing to continue, or the result is about another target.
    pub fn of(document: Document, target: &Path) -> Result<Self, NotContinued> {
        let Document { seed, started_at, environment, outcome, warnings, .. } = document;
        let doubts = warnings.into_iter().filter(|doubt| doubt.place == BEFORE).collect();
        let run = match outcome {
            Some(Outcome::Validation(run)) => *run,
            _ => ValidationRun::default(),
        };
        let log = run.log.ok_or(match run.validation {
            Some(_) => NotContinued::Whole,
            None => NotContinued::OtherKind,
        })?;
        if Path::new(&log.target) != target {
            let asked = target.display().to_string();
            return Err(NotContinued::OtherTarget(log.target, asked));
        }
        Ok(Self { seed, started_at, environment, log, doubts, measured: run.measurements })
    }

    /// Returns the validation with everything measured so far.
    ///
    /// # Errors
    /// The measurements are not of this schedule.
    pub fn restored(self, schedule: Schedule) -> Result<ValidationProgress, NotContinued> {
        ValidationProgress::restored(schedule, &self.log, self.measured)
            .ok_or(NotContinued::OtherEvaluation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::WarningKind;

    fn document(run: ValidationRun) -> Document {
        Document { outcome: Some(run.into()), ..Document::default() }
    }

    #[test]
    fn only_what_was_interrupted_there_is_continued() {
        let log = ValidationLog { target: "/a".into(), ..ValidationLog::default() };
        let begun = document(ValidationRun { log: Some(log), ..ValidationRun::default() });
        let of = |document: &Document, target: &str| {
            EarlierValidation::of(document.clone(), Path::new(target)).map(|found| found.log.target)
        };
        assert_eq!(of(&begun, "/a"), Ok("/a".into()));
        assert!(matches!(of(&begun, "/b"), Err(NotContinued::OtherTarget(..))));
        assert_eq!(of(&document(ValidationRun::default()), "/a"), Err(NotContinued::OtherKind));
    }

    #[test]
    fn that_it_went_on_on_a_changed_system_stays_doubtful() {
        let log = ValidationLog { target: "/a".into(), ..ValidationLog::default() };
        let mut begun = document(ValidationRun { log: Some(log), ..ValidationRun::default() });
        let of_before = Warning::new(WarningKind::DifferentKinds, "another kernel").at(BEFORE);
        begun.warn(of_before.clone());
        begun.warn(Warning::new(WarningKind::Interrupted, "the validation is partial"));
        let found = EarlierValidation::of(begun, Path::new("/a"));
        assert_eq!(found.map(|found| found.doubts), Ok(vec![of_before]));
    }
}
