//! Keeps what was measured: saves the document after every point, and writes and prints it in the end.

use crate::args::ResultArgs;
use crate::failure::Failure;
use crate::output;
use ioscape_machine::error::Error as MeasureError;
use ioscape_schema::{Document, Evaluation, Warning, WarningKind};
use std::path::PathBuf;

/// What is measured, and kept on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// An evaluation.
    Evaluation,
    /// A validation.
    Validation,
}

impl Work {
    fn word(self) -> &'static str {
        match self {
            Self::Evaluation => "evaluation",
            Self::Validation => "validation",
        }
    }
}

/// Where an evaluation or validation is saved, during and after.
pub struct Keeper {
    /// What is kept.
    work: Work,
    /// The result file.
    result: PathBuf,
    /// Whether the user wants the result file when all is done; it is needed until then in any case.
    keep: bool,
    /// The page.
    page: Option<PathBuf>,
    /// The document itself on standard output instead of the summary.
    json: bool,
    /// A failure to save is reported once, not after every point.
    complained: bool,
}

impl Keeper {
    /// Chooses the places: as asked; unasked, a result and a page in the current directory.
    ///
    /// # Errors
    /// No place can be written.
    pub fn new(work: Work, asked: &ResultArgs, document: &Document) -> Result<Self, Failure> {
        let unasked = asked.files().next().is_none() && !asked.json;
        let here = |ending| output::default_path(document, ending);
        let mut result = asked.output.clone().unwrap_or_else(|| here("ioscape.json"));
        let mut page = asked.html.clone().or_else(|| unasked.then(|| here("html")));
        if asked.output.is_none() && (!unasked || output::check_writable(&result).is_err()) {
            result = std::env::temp_dir().join(result);
            page = if unasked { page.map(|p| std::env::temp_dir().join(p)) } else { page };
        }
        output::check_writable(&result)?;
        let keep = asked.output.is_some() || unasked;
        Ok(Self { work, result, keep, page, json: asked.json, complained: false })
    }

    /// Saves the evaluation as far as it came.
    pub fn save(&mut self, document: &Document, evaluation: &Evaluation) {
        self.save_document(&Document {
            outcome: Some(evaluation.clone().into()),
            interrupted: true,
            ..document.clone()
        });
    }

    /// Saves a document as far as it came.
    pub fn save_document(&mut self, document: &Document) {
        let saved = output::json(document).and_then(|text| output::write_file(&self.result, &text));
        if let (Err(failure), false) = (saved, self.complained) {
            self.complained = true;
            output::tell(&format!("ioscape: cannot save the results so far: {failure}"));
        }
    }

    /// Writes the result, the page and the summary, and says how it ended and where everything is.
    ///
    /// # Errors
    /// What ended the evaluation, or what could not be written.
    pub fn conclude(
        self,
        mut document: Document,
        finished: Result<(), MeasureError>,
    ) -> Result<(), Failure> {
        document.interrupted = matches!(finished, Err(MeasureError::Interrupted));
        if let Err(error) = &finished {
            let message = format!("the {} is partial: {error}", self.work.word());
            document.warn(Warning::new(WarningKind::Interrupted, message));
        }
        for doubt in document.evaluation().map(Evaluation::doubts).unwrap_or_default() {
            document.warn(doubt);
        }
        let text = output::json(&document)?;
        let whole = finished.is_ok();
        if self.keep || !whole {
            output::write_file(&self.result, &text)?;
        }
        if let Some(page) = &self.page {
            output::write_file(page, &ioscape_report::html(&document))?;
        }
        if self.json {
            output::print(&text)?;
        } else {
            output::print(&ioscape_report::terminal(&document, &output::style()))?;
        }
        self.name_places(whole);
        finished.map_err(|error| Failure::of_measure(&error, &self.saved()))
    }

    fn name_places(&self, whole: bool) {
        if self.keep && whole {
            output::tell(&format!("Result: {}", self.result.display()));
        } else if whole {
            // The result is where the user asked for it; the safety copy is no longer needed.
            let _ = std::fs::remove_file(&self.result);
        }
        if let Some(page) = &self.page {
            output::tell(&format!("Page:   {}", page.display()));
        }
    }

    fn saved(&self) -> String {
        let place = self.result.display();
        format!("; everything measured so far is in {place}, continue with --resume {place}")
    }
}
