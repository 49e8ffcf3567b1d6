//! Documents as outputs: the result file, the page, and standard output.

use crate::failure::{Failure, both};
use crate::output;
use ioscape_arguments::ResultArgs;
use ioscape_machine::output::{Content, Destination, Names, Outputs};
use ioscape_schema::Document;
use std::path::Path;

/// The result file.
pub const RESULT: &str = "-o";
/// The page.
pub const PAGE: &str = "--html";

/// The contents of outputs other than the result, by their arguments. Outputs not listed here are
/// files for other programs.
const HELD: [(&str, Content); 5] = [
    (PAGE, Content::Page),
    ("--rows", Content::Trace),
    ("--state", Content::State),
    ("--jobs", Content::Jobs),
    ("--openmetrics", Content::Metrics),
];

/// A command's inputs and outputs, still empty; `force` allows it to replace any file.
pub fn names(force: bool) -> Names {
    let names = Names::new(force, output::tell).continuing(RESULT, "--resume");
    HELD.into_iter().fold(names, |names, (what, content)| names.holding(what, content))
}

/// The result and the page that `out` requests.
pub fn names_of(out: &ResultArgs) -> Names {
    let names = names(out.force).holding(RESULT, Content::Document);
    names.writes(RESULT, out.output.as_deref()).writes(PAGE, out.html.as_deref())
}

/// Saves a document that a later one will replace, if the output allows that; a failure is
/// reported.
pub fn save(outputs: &mut Outputs, so_far: &Document) {
    if !outputs.get(RESULT).is_some_and(|result| result.is_replaced()) {
        return;
    }
    let saved = output::json(so_far).and_then(|text| Ok(outputs.text(RESULT, &text)?));
    if let Err(failure) = saved {
        output::tell(&format!("ioscape: cannot save the results so far: {failure}"));
    }
}

/// Writes a finished document to the requested files, and prints it as JSON or as a summary. It is
/// printed whatever happens to the files. If a file cannot be written, the document goes to another
/// place, which is named.
///
/// # Errors
/// What could not be written.
pub fn finish(outputs: &mut Outputs, document: &Document, as_json: bool) -> Result<(), Failure> {
    // A server that does not answer may block the file for ever.
    let shown = show(outputs, document, as_json);
    both(write(outputs, document), shown)
}

/// Prints a document. If it is in no file and standard output fails, it is kept elsewhere.
///
/// # Errors
/// Standard output cannot be written.
pub fn show(outputs: &mut Outputs, document: &Document, as_json: bool) -> Result<(), Failure> {
    if outputs.get(RESULT).is_some() {
        return output::show_beside(document, as_json);
    }
    output::show(document, as_json).map_err(|failure| keep(outputs, document, failure))
}

/// Writes a document to the requested files, and elsewhere if one of them cannot be written.
///
/// # Errors
/// What could not be written, and where the document is now.
pub fn write(outputs: &mut Outputs, document: &Document) -> Result<(), Failure> {
    let text = output::json(document)?;
    let result = outputs.text(RESULT, &text).map_err(Failure::from);
    let page = outputs
        .text(PAGE, &ioscape_report::html(document, output::quantity()))
        .map_err(Failure::from);
    if page.is_err() && result.is_ok() && outputs.get(RESULT).is_some() {
        return page;
    }
    let name = output::default_path(document, "ioscape.json");
    both(result, page).map_err(|failure| rescue(outputs, &name, &text, failure))
}

/// Writes text that is not a document to the result file, or prints it. If that fails, it goes
/// elsewhere, under a name that ends in `ending`.
///
/// # Errors
/// What could not be written, and where it is now.
pub fn text(outputs: &mut Outputs, text: &str, ending: &str) -> Result<(), Failure> {
    let written = match outputs.get(RESULT) {
        Some(result) => result.text(text).map_err(Failure::from),
        None => output::print(text),
    };
    written.map_err(|failure| {
        let name = output::default_path(&output::document(0), ending);
        rescue(outputs, &name, text, failure)
    })
}

/// Saves a document elsewhere after `failure`, and says where.
pub fn keep(outputs: &mut Outputs, document: &Document, failure: Failure) -> Failure {
    let name = output::default_path(document, "ioscape.json");
    match output::json(document) {
        Ok(text) => rescue(outputs, &name, &text, failure),
        Err(other) => failure.with(&format!("; {other}")),
    }
}

/// Saves a text elsewhere, and says where.
fn rescue(outputs: &mut Outputs, name: &Path, text: &str, failure: Failure) -> Failure {
    let failure = match failure {
        // A closed reader is a failure only if the result is lost with it.
        Failure::OutputClosed => Failure::Failed(failure.to_string()),
        other => other,
    };
    let Some(copy) = Destination::elsewhere(name, text, output::tell) else {
        return failure.with("; no other place could be written either");
    };
    let more = format!("; the result is in {} instead", copy.path().display());
    outputs.set(RESULT, copy);
    match failure {
        Failure::Interrupted(_) => failure.with(&more),
        other => Failure::Failed(other.to_string()).with(&more),
    }
}

/// Where the user finds the result, to begin a sentence with.
pub fn whereabouts(outputs: &mut Outputs) -> String {
    let result = outputs.get(RESULT);
    result.map_or("above".to_owned(), |result| format!("in {}", result.path().display()))
}
