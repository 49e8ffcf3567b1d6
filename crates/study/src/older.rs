//! What today's version would not say of an evaluation that an older one made.

use ioscape_schema::{Document, Engine, Environment, Evaluation, Warning, WarningKind};

/// The document with a warning if its evaluation was judged before numbers of regions had
/// probabilities: what it says was not withheld where it cannot be told.
#[must_use]
pub fn doubted(mut document: Document) -> Document {
    let is_old = |one: &Evaluation| {
        let engine = one.settings.as_ref().map(|settings| settings.base.engine);
        // Newer results of a machine say how sets came into the file cache, even with no counts.
        one.level_counts.is_empty() && one.by_page.is_none() && engine != Some(Engine::Sim)
    };
    if document.evaluation().is_some_and(|one| is_old(one) && one.points_measured > 0) {
        let message = "an earlier version judged this, and withheld nothing: its borders, number of regions and write policy may not hold; evaluate again";
        document.warn(Warning::new(WarningKind::DifferentKinds, message));
    }
    document
}

/// A warning if the sets of the evaluation were laid out on a local disk by a version that does not
/// say how they came into the file cache.
pub fn laid_out_otherwise(evaluation: &Evaluation, measured_on: &Environment) -> Option<Warning> {
    let is_untold = evaluation.came_by_page()?.is_none();
    (is_untold && measured_on.device.is_some()).then(|| {
        let message = "an earlier version laid out its sets, in part in large folios: cached requests may be several times faster or slower now; evaluate again";
        Warning::new(WarningKind::DifferentKinds, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::tests::LIMITS;
    use ioscape_schema::{LevelCount, Workload};

    fn document(evaluation: Evaluation) -> Document {
        Document { outcome: Some(evaluation.into()), ..Document::default() }
    }

    /// Guards against a defect: an old "one region, not cached" was shown as sure, of measurements in
    /// which today's version finds a cache.
    #[test]
    fn what_was_judged_without_probabilities_is_doubted() {
        let old = Evaluation { points_measured: 60, ..Evaluation::default() };
        let doubts = |one: &Evaluation| doubted(document(one.clone())).warnings.len();
        assert_eq!(doubts(&old), 1);
        assert_eq!(doubts(&Evaluation { by_page: Some(true), ..old.clone() }), 0);
        let [read_borders, write_borders] = [Vec::new(), Vec::new()];
        let level_counts =
            vec![LevelCount { regions: 1, probability: 1.0, read_borders, write_borders }];
        assert_eq!(doubts(&Evaluation { level_counts, ..old }), 0);
    }

    #[test]
    fn sets_that_may_have_come_in_large_folios_are_doubted() {
        let settings = Some(LIMITS.settings(Workload::default(), None));
        let old = Evaluation { settings, ..Evaluation::default() };
        let mut environment = Environment::default();
        assert_eq!(laid_out_otherwise(&old, &environment), None, "on no device");
        environment.device = Some("vda".to_owned());
        assert!(laid_out_otherwise(&old, &environment).is_some());
    }
}
