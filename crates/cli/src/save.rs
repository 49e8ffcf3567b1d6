//! Keeps what was measured: saves the document after every step, and writes and prints it in the end.

use crate::failure::{Failure, both};
use crate::output;
use crate::outputs::{self, PAGE, RESULT};
use ioscape_arguments::ResultArgs;
use ioscape_machine::output::{Destination, Outputs, SavedOutputs};
use ioscape_schema::{Document, Evaluation, Outcome, Warning, WarningKind};
use ioscape_study::resume::CLIENTS;
use std::fmt::Display;
use std::time::{Duration, Instant};

/// Savings take at most one part in so many of the time, unless the one before took very long: each flushes the whole result, which on a slow drive, perhaps
/// the one under test, may take longer than measuring a point.
const SAVING_SHARE: u32 = 50;

/// After so long the next saving follows however long the last one took: one that waited for what others wrote says little of the next.
const UNSAVED_MOST: Duration = Duration::from_secs(10);

/// What is measured, and kept on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// An evaluation.
    Evaluation,
    /// An evaluation of a simulated system, which is begun anew and not continued.
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

    /// Whether `document`, which holds a part of it, can be continued: of what several clients do together only a campaign.
    fn is_continued(self, document: &Document) -> bool {
        match self {
            Self::Evaluation | Self::Validation => {
                !document.environment.identity.contains_key(CLIENTS)
            }
            Self::Simulation => false,
            Self::Campaign => true,
        }
    }
}

/// Where the result of long work is saved, during and after.
pub struct Keeper {
    work: Work,
    files: SavedOutputs,
    /// The document itself on standard output instead of the summary.
    json: bool,
    saved: Option<Saved>,
}

/// The last saving.
#[derive(Clone, Copy, Debug)]
struct Saved {
    at: Instant,
    took: Duration,
}

impl Saved {
    /// Whether it is long enough ago.
    fn is_old(self, now: Instant) -> bool {
        let rest = self.took.saturating_mul(SAVING_SHARE).min(UNSAVED_MOST);
        now.duration_since(self.at) >= rest
    }
}

impl Keeper {
    /// Chooses the files: `outputs` as asked; unasked, a result and (but for campaigns) a page in the current directory.
    ///
    /// # Errors
    /// None can be written.
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
        let files = SavedOutputs::new(outputs, RESULT, &name, output::tell)?;
        Ok(Self { work, files, json: asked.json, saved: None })
    }

    /// Saves the document with its outcome as far as it came, unless that was done a moment ago.
    pub fn save(&mut self, document: &Document, outcome: impl Into<Outcome>) {
        let begun = Instant::now();
        if self.saved.is_some_and(|saved| !saved.is_old(begun)) {
            return;
        }
        let outcome = Some(outcome.into());
        let so_far = Document { outcome, interrupted: true, ..document.clone() };
        if let Ok(text) = output::json(&so_far) {
            self.files.save(&text);
        }
        let at = Instant::now();
        self.saved = Some(Saved { at, took: at.duration_since(begun) });
    }

    /// Writes the result, the page and the summary, and says how it ended and where everything is.
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

    /// The same where the document says itself how it ended.
    ///
    /// # Errors
    /// As of [`Self::conclude`].
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
            // What can be continued is kept, whether a result file was asked for or not.
            self.files.save_aside(&output::json(&document)?);
        }
        let written = outputs::write(&mut self.files.outputs, &document);
        let shown = outputs::show(&mut self.files.outputs, &document, self.json);
        self.name_files(finished.is_ok() && written.is_ok());
        let saved = self.files.saved_in().map(|path| path.display().to_string());
        let saved = saved.map_or_else(String::new, |path| {
            let again = match self.work.is_continued(&document) {
                true => format!(", continue with --resume {path}"),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// An evaluation of an SD card, with its result on it, took two minutes more than its ten for 434 flushes of that card.
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

    /// A first saving of 10 s, which waited for what had been laid out, let none follow within 500 s: a kill lost them.
    #[test]
    fn a_saving_that_took_long_does_not_silence_the_next() {
        let (at, took) = (Instant::now(), Duration::from_secs(10));
        let is_old = |after_s| Saved { at, took }.is_old(at + Duration::from_secs(after_s));
        assert!(!is_old(9) && is_old(10));
    }

    #[test]
    fn what_clients_do_together_is_continued_if_it_is_a_campaign() {
        let mut document = Document::default();
        let of = |document: &Document| {
            let all = [Work::Evaluation, Work::Validation, Work::Campaign, Work::Simulation];
            all.map(|work| work.is_continued(document))
        };
        assert_eq!(of(&document), [true, true, true, false]);
        document.environment.identity.insert(CLIENTS.to_owned(), "4".to_owned());
        assert_eq!(of(&document), [false, false, true, false]);
    }
}
