//! What the document of an evaluation holds beside its exploration: target, settings, and what is
//! known about concurrent writers.

use crate::reach::ReachLimits;
use crate::resume::changed_since;
use ioscape_schema::{
    Access, Document, Evaluation, Probe, Settings, Warning, WarningKind, WriterScaling,
};

/// What is known about concurrent writers.
#[derive(Clone, Debug, Default)]
pub struct KnownWriters {
    /// Buffered and direct writers.
    pub found: Vec<WriterScaling>,
    /// Why nothing is known.
    pub left_out: Option<String>,
}

impl KnownWriters {
    /// The name of this part among those that may be left out.
    pub const NAME: &str = "single writer";

    /// What an evaluation says about them.
    pub fn of(evaluation: &Evaluation) -> Self {
        Self {
            found: evaluation.findings.single_writer.clone(),
            left_out: evaluation.shortened.get(Self::NAME).cloned(),
        }
    }
}

/// Why an evaluation cannot be continued.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotContinued {
    /// The result is of another kind.
    #[error("--resume: the file holds no evaluation to continue")]
    OtherKind,
    /// It is about another target.
    #[error("--resume: the file is about {0:?}, not {1:?}")]
    OtherTarget(String, String),
}

/// The state that an evaluation begins with.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// What the evaluation is asked to do.
    pub settings: Settings,
    /// What is known about concurrent writers.
    pub writers: KnownWriters,
    /// The probes made so far.
    pub probes: Vec<Probe>,
}

impl Beginning {
    /// Returns the state of the interrupted evaluation of `target` in `earlier`, one for each
    /// access. `document` takes over its seed, time and warnings beside its own, and gets a warning if
    /// the environment has changed since.
    ///
    /// # Errors
    /// There is nothing to continue, or the result is about another target.
    pub fn continued(
        earlier: &Document,
        target: &str,
        document: &mut Document,
    ) -> Result<Vec<Self>, NotContinued> {
        let evaluation = earlier.evaluation().ok_or(NotContinued::OtherKind)?;
        if evaluation.target != target {
            let asked = target.to_owned();
            return Err(NotContinued::OtherTarget(evaluation.target.clone(), asked));
        }
        document.seed = earlier.seed;
        document.started_at.clone_from(&earlier.started_at);
        // The warning about the interruption no longer applies to an evaluation that is continued,
        // and those about its measurements are counted again at its end.
        let counted = evaluation.doubts();
        let is_kept =
            |doubt: &&Warning| doubt.kind != WarningKind::Interrupted && !counted.contains(doubt);
        let kept = earlier.warnings.iter().filter(is_kept);
        let here = std::mem::replace(&mut document.warnings, kept.cloned().collect());
        let changed = changed_since(&earlier.environment, &document.environment);
        here.into_iter().chain(changed).for_each(|doubt| document.warn(doubt));
        evaluation.each_access().map(Self::of).collect()
    }

    fn of(evaluation: &Evaluation) -> Result<Self, NotContinued> {
        Ok(Self {
            settings: evaluation.settings.clone().ok_or(NotContinued::OtherKind)?,
            writers: KnownWriters::of(evaluation),
            probes: evaluation.probes.clone(),
        })
    }
}

/// The parts of an evaluation that the exploration does not know.
#[derive(Clone, Debug)]
pub struct EvaluationFrame {
    /// The target as the user named it.
    pub target: String,
    /// What the evaluation is asked to do.
    pub settings: Settings,
    /// What is known about concurrent writers.
    pub writers: KnownWriters,
    /// A sentence put before the findings that says what they hold for, if that is not the machine
    /// as it is.
    pub premise: Option<String>,
    /// The limits on its sets and requests, and so on what the findings hold for.
    pub limits: ReachLimits,
}

impl EvaluationFrame {
    /// Returns the frames of the evaluations of one target that begin with `beginnings`, each
    /// within the `limits` of its settings, with the probes made so far.
    pub fn all(
        target: &str,
        beginnings: Vec<Beginning>,
        limits: impl Fn(&Settings) -> ReachLimits,
    ) -> (Vec<Self>, Vec<Vec<Probe>>) {
        let limits_of = |one: &Beginning| one.settings.memory_limit_bytes;
        let is_free = beginnings.first().is_some_and(|one| limits_of(one).is_none());
        let group = beginnings.iter().find_map(limits_of).filter(|_| is_free);
        let has_direct = beginnings.iter().any(|one| one.settings.base.access == Access::Direct);
        let frame = |one: Beginning| {
            let limits = limits(&one.settings);
            let Beginning { settings, writers, probes } = one;
            let own = settings.memory_limit_bytes;
            let premise = group.map(|group| limits.premise(group, own, has_direct));
            (Self { target: target.to_owned(), settings, writers, premise, limits }, probes)
        };
        beginnings.into_iter().map(frame).unzip()
    }

    /// Returns the evaluation as a document holds it.
    pub fn around(&self, mut evaluation: Evaluation) -> Evaluation {
        evaluation.target.clone_from(&self.target);
        evaluation.settings = Some(self.settings.clone());
        evaluation.findings.sentences.splice(0..0, self.premise.clone());
        let caps = self.limits.caps(evaluation.largest_on_curves());
        evaluation.findings.sentences.extend(caps);
        let KnownWriters { found, left_out } = &self.writers;
        evaluation.findings.single_writer.clone_from(found);
        evaluation.findings.sentences.extend(found.iter().map(|one| one.sentence.clone()));
        let left_out = left_out.iter().map(|why| (KnownWriters::NAME.to_owned(), why.clone()));
        evaluation.shortened.extend(left_out);
        evaluation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resume::BEFORE;
    use crate::writers::{Throughputs, Writing, verdict};
    use ioscape_schema::{Environment, Measurement, Point, Purpose, Stop, Workload};

    const LIMITS: ReachLimits = ReachLimits {
        max_unique_bytes: Some(1 << 30),
        memory_bytes: None,
        ..crate::reach::tests::LIMITS
    };

    fn settings(access: Access, memory_limit_bytes: Option<u64>) -> Settings {
        let base = Workload { access, ..Workload::default() };
        ReachLimits { memory_limit_bytes, ..LIMITS }.settings(base, None)
    }

    /// Guards against a defect: an evaluation with direct I/O was announced although it had been
    /// left out.
    #[test]
    fn no_premise_names_an_evaluation_that_is_not_made() {
        let premises = |ways: &[(Access, Option<u64>)]| -> Vec<String> {
            let begin = |&(access, limit): &(Access, Option<u64>)| Beginning {
                settings: settings(access, limit),
                writers: KnownWriters::default(),
                probes: Vec::new(),
            };
            let limits = |one: &Settings| ReachLimits {
                memory_bytes: Some(24 << 30),
                max_unique_bytes: None,
                layout_bytes_per_s: Some(1e9),
                budget_s: 60.0,
                direct: one.base.access == Access::Direct,
                ..LIMITS
            };
            let beginnings = ways.iter().map(begin).collect();
            let (frames, _) = EvaluationFrame::all("/srv", beginnings, limits);
            frames.into_iter().filter_map(|frame| frame.premise).collect()
        };
        let [whole, group, device] =
            [(Access::Buffered, None), (Access::Buffered, Some(1 << 27)), (Access::Direct, None)];
        let [with, without] = [premises(&[whole, group, device]), premises(&[whole, group])];
        assert_eq!((with.len(), without.len()), (3, 2));
        assert!(with[0].contains("measured with direct I/O, each in a separate evaluation"));
        assert!(without.iter().all(|premise| !premise.contains("direct I/O")), "{without:?}");
        assert!(without[0].contains("group of 128 MiB, in a separate evaluation"));
    }

    #[test]
    fn an_evaluation_that_goes_on_under_another_kernel_keeps_its_doubts_and_gets_one() {
        let under = |kernel: &str, outcome| {
            let environment = Environment { kernel: Some(kernel.into()), ..Environment::default() };
            Document { environment, outcome, ..Document::default() }
        };
        let settings = Some(settings(Access::Buffered, None));
        let begun = Evaluation { target: "/srv".into(), settings, ..Evaluation::default() };
        let mut earlier = under("Linux 6.8", Some(begun.into()));
        let mut goes_on = |kernel: &str| {
            let mut document = under(kernel, None);
            Beginning::continued(&earlier, "/srv", &mut document).expect("it is continued");
            earlier = Document { outcome: earlier.outcome.take(), ..document };
            earlier.warnings.iter().map(|doubt| doubt.place.clone()).collect::<Vec<_>>()
        };
        assert_eq!(goes_on("Linux 6.8"), Vec::<String>::new());
        assert_eq!(goes_on("Linux 6.12"), [BEFORE]);
        assert_eq!(goes_on("Linux 6.12"), [BEFORE], "however often it goes on");
        assert_eq!(goes_on("Linux 6.14"), [BEFORE, BEFORE]);
    }

    /// Guards against a defect: a quota under which an evaluation went on was told nowhere.
    #[test]
    fn an_evaluation_that_goes_on_is_doubted_for_what_is_so_now_too() {
        let doubt = |kind, message: &str| Warning::new(kind, message);
        let quota = |processors: &str| doubt(WarningKind::Stopped, processors);
        let settings = Some(settings(Access::Buffered, None));
        let begun = Evaluation { target: "/srv".into(), settings, ..Evaluation::default() };
        let warnings = vec![quota("0.50"), doubt(WarningKind::Interrupted, "by a signal")];
        let earlier = Document { warnings, outcome: Some(begun.into()), ..Document::default() };
        let warnings = vec![quota("0.50"), quota("0.80")];
        let mut document = Document { warnings: warnings.clone(), ..Document::default() };
        Beginning::continued(&earlier, "/srv", &mut document).expect("it is continued");
        assert_eq!(document.warnings, warnings);
    }

    /// Guards against a defect: "15 of 15 measurements" beside "54 of 54" of the same doubt.
    #[test]
    fn doubts_about_measurements_are_counted_once() {
        let settings = Some(settings(Access::Buffered, None));
        let mut measurement = Measurement::default();
        measurement.warnings.push(Warning::new(WarningKind::Trap, "all lies in memory"));
        let probe = Probe { purpose: Purpose::Interaction, measurement };
        let target = "/srv".to_owned();
        let begun = Evaluation { target, settings, probes: vec![probe], ..Evaluation::default() };
        let earlier = Document {
            warnings: begun.doubts(),
            outcome: Some(begun.into()),
            ..Document::default()
        };
        let mut document = Document::default();
        Beginning::continued(&earlier, "/srv", &mut document).expect("it is continued");
        assert_eq!(document.warnings, []);
    }

    #[test]
    fn what_is_put_around_an_exploration_is_found_in_it() {
        let why = "the budget is below 120 s".to_owned();
        let one = verdict(Writing::Buffered, 4, "xfs", &Throughputs::default());
        let writers = KnownWriters { found: vec![one.clone()], left_out: Some(why.clone()) };
        let settings = settings(Access::Buffered, None);
        let frame = EvaluationFrame {
            target: "/srv".into(),
            settings: settings.clone(),
            writers,
            premise: Some("In a group.".into()),
            limits: LIMITS,
        };
        let measurement = Measurement::empty(Workload::default(), Stop::Confident);
        let largest = Point { value: 1e9, measurement, rounds: Vec::new(), spread: None };
        let unique_bytes_curve = vec![largest];
        let made = frame.around(Evaluation { unique_bytes_curve, ..Evaluation::default() });
        let cap = "The curves end at sets of 954 MiB (--max-unique-bytes 1G would allow larger ones), so findings on the last region hold only up to that size.";
        assert_eq!((&*made.target, &made.settings), ("/srv", &Some(settings)));
        assert_eq!(made.findings.sentences, ["In a group.", cap, &one.sentence]);
        let known = KnownWriters::of(&made);
        assert_eq!((known.found, known.left_out), (vec![one], Some(why)));
    }
}
