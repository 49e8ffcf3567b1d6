//! The registry of renderers: one row and one file per kind of outcome.

mod campaign;
mod characterization;
mod comparison;
mod doctor;
mod evaluation;
mod measurements;
mod os;
mod predictions;
pub mod render;
mod simulation;
mod trace_characterization;
mod trace_comparison;
mod trace_files;
mod trace_replay;
mod trace_summary;
mod validation;
mod vxbench;

use ioscape_schema::{Document, Outcome};
use render::Render;

/// The renderer of an outcome.
fn renderer(outcome: &Outcome) -> &dyn Render {
    match outcome {
        Outcome::Measurements(all) => all,
        Outcome::Evaluation(one) => &**one,
        Outcome::Predictions(all) => all,
        Outcome::Comparison(one) => one,
        Outcome::Validation(one) => &**one,
        Outcome::Characterization(one) => &**one,
        Outcome::Vxbench(one) => one,
        Outcome::Campaign(one) => &**one,
        Outcome::Os(one) => &**one,
        Outcome::TraceSummary(one) => &**one,
        Outcome::TraceCharacterization(one) => &**one,
        Outcome::TraceComparison(one) => &**one,
        Outcome::TraceFiles(all) => all,
        Outcome::TraceReplay(one) => &**one,
        Outcome::Simulation(one) => &**one,
        Outcome::Doctor(one) => one,
    }
}

/// The renderer of a document's outcome, if it has one.
pub fn of(document: &Document) -> Option<&dyn Render> {
    document.outcome.as_ref().map(renderer)
}

/// The subject of the document: the evaluated target, the systems of predictions, or the number of
/// runs.
pub fn subject(document: &Document) -> String {
    of(document)
        .and_then(Render::subject)
        .unwrap_or_else(|| "a result without measurements".to_owned())
}
