//! Keeps what was measured: saves the document after every step, and writes and prints it in the end.

use crate::args::ResultArgs;
use crate::failure::{Failure, both};
use crate::output;
use crate::outputs::{self, PAGE, RESULT};
use ioscape_machine::error::Error as MeasureError;
use ioscape_machine::output::Destination;
use ioscape_machine::output::Outputs;
use ioscape_schema::{Document, Evaluation, Warning, WarningKind};

/// What is measured, and kept on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// An evaluation.
    Evaluation,
    /// A validation.
    Validation,
    /// A campaign.
    Campaign,
}

impl Work {
    fn word(self) -> &'static str {
        match self {
            Self::Evaluation => "evaluation",
            Self::Validation => "validation",
            Self::Campaign => "campaign",
        }
    }
}

/// Where the result of long work is saved, during and after.
pub struct Keeper {
    work: Work,
    outputs: Outputs,
    /// Where it is saved on the way, if not in the place of the result.
    copy: Option<Destination>,
    /// The document itself on standard output instead of the summary.
    json: bool,
}

impl Keeper {
    /// Chooses the places: `outputs` as asked; unasked, a result and (but for campaigns) a page in the current directory.
    ///
    /// # Errors
    /// No place can be written.
    pub fn new(
        work: Work,
        mut outputs: Outputs,
        asked: &ResultArgs,
        document: &Document,
    ) -> Result<Self, Failure> {
        if !asked.has_files() && !asked.json {
            let (result, page) = (unnamed(document, "ioscape.json")?, unnamed(document, "html")?);
            outputs.set(RESULT, result);
            if work != Work::Campaign {
                outputs.set(PAGE, page);
            }
        }
        // A pipe takes the result once.
        let saved_there = outputs.get(RESULT).is_some_and(|place| place.is_replaced());
        let name = output::default_path(document, "ioscape.json");
        let aside = || Destination::open_unnamed(&std::env::temp_dir().join(name), output::tell);
        let copy = if saved_there { None } else { Some(aside()?) };
        Ok(Self { work, outputs, copy, json: asked.json })
    }

    /// Saves the evaluation as far as it came.
    pub fn save(&mut self, document: &Document, evaluation: &Evaluation) {
        self.save_document(&Document {
            outcome: Some(evaluation.clone().into()),
            interrupted: true,
            ..document.clone()
        });
    }

    /// Saves a document as far as it came; elsewhere from now on if its place fails, which is said once.
    pub fn save_document(&mut self, document: &Document) {
        let Ok(text) = output::json(document) else { return };
        let Some(place) = self.copy.as_mut().or(self.outputs.get(RESULT)) else { return };
        let Err(error) = place.text(&text) else { return };
        let name = output::default_path(document, "ioscape.json");
        match Destination::elsewhere(&name, &text, output::tell) {
            Some(copy) => {
                let copy = self.copy.insert(copy).path().display();
                output::tell(&format!("ioscape: {error}; what is measured is saved in {copy}"));
            }
            None => output::tell(&format!("ioscape: {error}: the results so far are not saved")),
        }
    }

    /// Writes the result, the page and the summary, and says how it ended and where everything is.
    ///
    /// # Errors
    /// What ended the work, and what could not be written.
    pub fn conclude(
        self,
        mut document: Document,
        finished: Result<(), MeasureError>,
    ) -> Result<(), Failure> {
        if let Err(error) = &finished {
            let message = format!("the {} is partial: {error}", self.work.word());
            document.warn(Warning::new(WarningKind::Interrupted, message));
        }
        self.end(document, finished.map_err(Failure::from))
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
        let whole = finished.is_ok();
        if !whole && self.outputs.get(RESULT).is_none_or(|place| !place.is_replaced()) {
            // What can be continued is kept, whether a result file was asked for or not.
            self.save_document(&document);
        }
        let written = outputs::write(&mut self.outputs, &document);
        let shown = output::show(&document, self.json);
        self.name_places(whole && written.is_ok());
        let finished = finished.map_err(|failure| failure.with(&self.saved()));
        both(finished, both(written, shown))
    }

    fn name_places(&mut self, whole: bool) {
        if whole {
            if let Some(place) = self.outputs.get(RESULT) {
                output::tell(&format!("Result: {}", place.path().display()));
            }
            // The result is where the user asked for it; the safety copy is no longer needed.
            if let Some(copy) = self.copy.take() {
                copy.remove();
            }
        }
        if let Some(page) = self.outputs.get(PAGE) {
            output::tell(&format!("Page:   {}", page.path().display()));
        }
    }

    fn saved(&mut self) -> String {
        let result = self.outputs.get(RESULT).filter(|place| place.is_replaced());
        let Some(place) = result.or(self.copy.as_mut()) else { return String::new() };
        let place = place.path().display();
        format!("; everything measured so far is in {place}, continue with --resume {place}")
    }
}

/// A place for a file that nobody named: in the current directory, or that of temporary files.
fn unnamed(document: &Document, ending: &str) -> Result<Destination, Failure> {
    let name = output::default_path(document, ending);
    let beside = std::env::temp_dir().join(&name);
    let opened = Destination::open_unnamed(&name, output::tell);
    Ok(opened.or_else(|_| Destination::open_unnamed(&beside, output::tell))?)
}
