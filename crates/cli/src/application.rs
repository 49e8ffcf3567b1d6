//! A traced application to predict: from a trace, or from what `ioscape characterize` found.

use crate::asked::doubts_of;
use crate::failure::Failure;
use crate::output;
use crate::traces::{self, Rows};
use ioscape_arguments::{ChoiceArgs, PredictArgs, RowsArgs};
use ioscape_scaling::system::TracedApplication;
use ioscape_schema::{Outcome, Warning};
use ioscape_trace::PatternBuilder;
use ioscape_trace::characterize::Characterizer;
use ioscape_workload::characterize::fit;
use std::path::Path;

/// Pages of the file cache, in which distinct bytes are counted.
const PAGE_BYTES: u64 = 4096;

/// An application to predict, and what is doubtful about its trace or about how it was watched.
pub type AskedApplication = (TracedApplication, Vec<Warning>);

/// The application that the arguments name, if they do.
///
/// # Errors
/// A file that cannot be read, is of another kind, or does not tell what a prediction needs.
pub fn asked(args: &PredictArgs) -> Result<Option<AskedApplication>, Failure> {
    match &args.characterization {
        Some(path) => of_result(path).map(Some),
        None if args.trace.is_empty() => Ok(None),
        None => of_trace(args).map(Some),
    }
}

/// An application from what `ioscape characterize` wrote.
fn of_result(path: &Path) -> Result<AskedApplication, Failure> {
    let file = path.display().to_string();
    let mut document = output::read_result(path)?;
    let Some(Outcome::Characterization(found)) = document.outcome.take() else {
        return Err(Failure::Misuse(format!(
            "{file} characterizes no application: give a result of `ioscape characterize`"
        )));
    };
    let one = TracedApplication::of_calls(&file, *found).map_err(Failure::Misuse)?;
    Ok((one, doubts_of(&file, &document)))
}

/// An application from the rows of a trace.
fn of_trace(args: &PredictArgs) -> Result<AskedApplication, Failure> {
    let choice = ChoiceArgs { skip_bad: args.skip_bad, ..ChoiceArgs::default() };
    let mut rows = Rows::open(&args.trace, &RowsArgs { format: args.format, choice })?;
    let (mut seen, mut patterns) =
        (Characterizer::new(PAGE_BYTES, None), PatternBuilder::default());
    rows.each(|batch, _| {
        seen.update(batch);
        batch.iter().for_each(|io| patterns.update(io, u64::from(io.device)));
    })?;
    rows.whole("interrupted while the trace was read")?;
    let name = traces::name(&args.trace);
    let overall = seen.finish(&name, rows.info(), fit).overall;
    let doubts = ioscape_trace::doubts(rows.info());
    let doubts = doubts.into_iter().map(|doubt| doubt.at(name.clone())).collect();
    let one = TracedApplication::of_rows(name, overall, patterns.finish());
    Ok((one.map_err(Failure::Misuse)?, doubts))
}
