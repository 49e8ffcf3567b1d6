//! Keeps what was measured: saves the document after every step, and finally writes and prints it.

use crate::failure::{Failure, both};
use crate::output;
use crate::outputs::{self, PAGE, RESULT};
use ioscape_arguments::{EvaluateArgs, ResultArgs};
use ioscape_machine::output::{Destination, Identity, Outputs, SavedOutputs};
use ioscape_scaling::{EvaluationOptions, counted_again};
use ioscape_schema::{Document, Evaluation, Outcome, Warning, WarningKind};
use ioscape_study::frame::EvaluationFrame;
use ioscape_study::resume::CLIENTS;
use std::fmt::Display;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Saving takes at most one part in this many of the time, unless the last saving took very long.
/// Each flushes the whole result, which on a slow drive, perhaps the one under test, may take
/// longer than measuring a point.
const SAVING_SHARE: u32 = 50;

/// Longest time without saving, however long the last saving took: one that waited for other writes
/// says little about the next.
const UNSAVED_MOST: Duration = Duration::from_secs(10);

/// The kinds of work whose results are kept on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// An evaluation.
    Evaluation,
    /// An evaluation of a simulated system, which starts anew instead of being continued.
    Simulation,
    /// A validation.
    Validation,
    /// A campaign.
    Campaign,
}

impl Work {
    fn word(self) -> &'static str {
        match self {
            Self::Evaluation | Self::Simulation => "evaluation",
            Self::Validation => "validation",
            Self::Campaign => "campaign",
        }
    }

    /// Whether `document`, which holds a part of the work, can be continued: of the work of several
    /// clients, only a campaign can. An evaluation without a point has nothing to continue, and
    /// would have the same budget again.
    fn is_continued(self, document: &Document) -> bool {
        let is_alone = !document.environment.identity.contains_key(CLIENTS);
        match self {
            Self::Evaluation => {
                is_alone && document.evaluation().is_some_and(|found| found.points_measured > 0)
            }
            Self::Validation => is_alone,
            Self::Simulation => false,
            Self::Campaign => true,
        }
    }
}

/// Refuses evaluations that cannot be explored, or would lose points of the one they continue.
pub fn check_frames(
    args: &EvaluateArgs,
    frames: &[EvaluationFrame],
    seed: u64,
    earlier: Option<&Document>,
) -> Result<(), Failure> {
    let earlier = earlier.and_then(Document::evaluation);
    let mut earlier = earlier.into_iter().flat_map(Evaluation::each_access);
    for frame in frames {
        let options = EvaluationOptions::of_settings(&frame.settings, seed);
        options.validate().map_err(Failure::misuse)?;
        earlier.next().map_or(Ok(0), |one| counted(&options, one, args))?;
    }
    Ok(())
}

/// Returns how many probes of an earlier evaluation still count; says so if some do not.
///
/// # Errors
/// The others would be lost: the result is to replace their file.
pub fn counted(
    options: &EvaluationOptions,
    earlier: &Evaluation,
    args: &EvaluateArgs,
) -> Result<usize, Failure> {
    let (all, counted) = (earlier.probes.len(), counted_again(options, earlier));
    if counted == all {
        return Ok(all);
    }
    output::tell(&format!(
        "Note: only {counted} of the {all} points measured before count: after these, this version asks for others than \
         the one that began"
    ));
    let of = |path: &Option<PathBuf>| path.as_deref().and_then(Identity::of);
    let is_replaced = of(&args.out.output).is_some_and(|file| of(&args.resume) == Some(file));
    if is_replaced && !args.out.force {
        let why = "-o names the file to continue, whose other points would be lost: name another, or give --force";
        return Err(Failure::Misuse(why.to_owned()));
    }
    Ok(counted)
}

/// Where the result of long work is saved, during the work and at its end.
pub struct Keeper {
    work: Work,
    files: SavedOutputs,
    /// Whether standard output gets the document itself instead of the summary.
    json: bool,
    pace: Pace,
}

/// When to save what will be replaced by a later saving.
#[derive(Debug, Default)]
pub struct Pace(Option<Saved>);

impl Pace {
    /// Does `save`, unless it was done a moment ago.
    pub fn keep(&mut self, save: impl FnOnce()) {
        let begun = Instant::now();
        if self.0.is_some_and(|saved| !saved.is_old(begun)) {
            return;
        }
        save();
        let at = Instant::now();
        self.0 = Some(Saved { at, took: at.duration_since(begun) });
    }
}

/// The last saving.
#[derive(Clone, Copy, Debug)]
struct Saved {
    at: Instant,
    took: Duration,
}

impl Saved {
    /// Whether enough time has passed since the last saving.
    fn is_old(self, now: Instant) -> bool {
        let rest = self.took.saturating_mul(SAVING_SHARE).min(UNSAVED_MOST);
        now.duration_since(self.at) >= rest
    }
}

impl Keeper {
    /// Chooses the files: `outputs` as requested or, without a request, a result and (except for
    /// campaigns) a page in the current directory.
    ///
    /// # Errors
    /// None of them can be written.
    pub fn new(
        work: Work,
        mut outputs: Outputs,
        asked: &ResultArgs,
        document: &Document,
    ) -> Result<Self, Failure> {
        let name = output::default_path(document, "ioscape.json");
        if !asked.has_files() && !asked.json {
            outputs.set(RESULT, Destination::open_somewhere(&name, output::tell)?);
            if work != Work::Campaign {
                let page = output::default_path(document, "html");
                outputs.set(PAGE, Destination::open_somewhere(&page, output::tell)?);
            }
        }
        let files = SavedOutputs::new(outputs, RESULT, &name, output::tell);
        Ok(Self { work, files, json: asked.json, pace: Pace::default() })
    }

    /// Saves the document with its outcome so far, unless it was saved a moment ago.
    pub fn save(&mut self, document: &Document, outcome: impl Into<Outcome>) {
        self.pace.keep(|| {
            let outcome = Some(outcome.into());
            let so_far = Document { outcome, interrupted: true, ..document.clone() };
            if let Ok(text) = output::json(&so_far) {
                self.files.save(&text);
            }
        });
    }

    /// Writes the result, the page and the summary, and says how the work ended and where
    /// everything is.
    ///
    /// # Errors
    /// What ended the work, and what could not be written.
    pub fn conclude(
        self,
        mut document: Document,
        finished: Result<(), impl Display + Into<Failure>>,
    ) -> Result<(), Failure> {
        if let Err(error) = &finished {
            let message = format!("the {} is partial: {error}", self.work.word());
            document.warn(Warning::new(WarningKind::Interrupted, message));
        }
        self.end(document, finished.map_err(Into::into))
    }

    /// Does the same for a document that already says how it ended.
    pub fn end(
        mut self,
        mut document: Document,
        finished: Result<(), Failure>,
    ) -> Result<(), Failure> {
        document.interrupted = finished.is_err();
        for doubt in document.evaluation().map(Evaluation::doubts).unwrap_or_default() {
            document.warn(doubt);
        }
        if finished.is_err() {
            // A result that can be continued is kept even if no result file was requested.
            self.files.save_aside(&output::json(&document)?);
        }
        let shown = outputs::show(&mut self.files.outputs, &document, self.json);
        let written = outputs::write(&mut self.files.outputs, &document);
        self.name_files(finished.is_ok() && written.is_ok());
        let saved = self.files.saved_in().map(|path| path.display().to_string());
        let saved = saved.map_or_else(String::new, |path| {
            let again = match self.work.is_continued(&document) {
                true => continuation(&path, finished.as_ref().err()),
                false => String::new(),
            };
            format!("; everything measured so far is in {path}{again}")
        });
        both(finished.map_err(|failure| failure.with(&saved)), both(written, shown))
    }

    fn name_files(&mut self, whole: bool) {
        if whole {
            if let Some(result) = self.files.outputs.get(RESULT) {
                output::tell(&format!("Result: {}", result.path().display()));
            }
            self.files.remove_copy();
        }
        if let Some(page) = self.files.outputs.get(PAGE) {
            output::tell(&format!("Page:   {}", page.path().display()));
        }
    }
}

/// How to go on from `path`: what failed would fail again, but an interruption is over.
fn continuation(path: &str, ended_by: Option<&Failure>) -> String {
    let when = match ended_by {
        Some(Failure::Interrupted(_)) | None => "",
        Some(_) => " once its cause is gone",
    };
    format!(", continue with --resume {path}{when}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_not_to_be_repeated_as_it_was() {
        let told = |failure| continuation("r.json", Some(&failure));
        let failed = told(Failure::Failed("cannot fork workers".to_owned()));
        assert!(failed.ends_with("--resume r.json once its cause is gone"), "{failed}");
        let interrupted = told(Failure::Interrupted("interrupted".to_owned()));
        assert!(interrupted.ends_with("--resume r.json"), "{interrupted}");
    }

    /// Guards against a defect: the evaluation of an SD card that also held its result took two
    /// minutes more than its ten, for 434 flushes of the card.
    #[test]
    fn savings_take_a_fiftieth_of_the_time() {
        let at = Instant::now();
        let is_old = |ms, after_s| {
            let saved = Saved { at, took: Duration::from_millis(ms) };
            saved.is_old(at + Duration::from_secs(after_s))
        };
        assert!(!is_old(100, 4) && is_old(100, 5));
        assert!(is_old(2, 1), "after every point on a fast drive");
    }

    /// Guards against a defect: after a first saving of 10 s, which waited for the layout to be
    /// written, none followed within 500 s, and a kill lost those points.
    #[test]
    fn a_saving_that_took_long_does_not_silence_the_next() {
        let (at, took) = (Instant::now(), Duration::from_secs(10));
        let is_old = |after_s| Saved { at, took }.is_old(at + Duration::from_secs(after_s));
        assert!(!is_old(9) && is_old(10));
    }

    #[test]
    fn what_clients_do_together_is_continued_if_it_is_a_campaign() {
        let evaluation = Evaluation { points_measured: 1, ..Evaluation::default() };
        let mut document = Document { outcome: Some(evaluation.into()), ..Document::default() };
        let of = |document: &Document| {
            let all = [Work::Evaluation, Work::Validation, Work::Campaign, Work::Simulation];
            all.map(|work| work.is_continued(document))
        };
        assert_eq!(of(&document), [true, true, true, false]);
        document.environment.identity.insert(CLIENTS.to_owned(), "4".to_owned());
        assert_eq!(of(&document), [false, false, true, false]);
    }

    /// Guards against a defect: where the budget was too short for a point, `--resume` was advised,
    /// which keeps that budget and refuses another.
    #[test]
    fn an_evaluation_without_a_point_begins_anew() {
        let document =
            Document { outcome: Some(Evaluation::default().into()), ..Document::default() };
        assert!(!Work::Evaluation.is_continued(&document));
    }
}
