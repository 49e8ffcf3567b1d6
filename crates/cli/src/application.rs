//! A traced application to predict: from a trace, or from what `ioscape characterize` found.

use crate::failure::Failure;
use crate::output;
use crate::traces::{self, Rows};
use ioscape_arguments::{PredictArgs, RowsArgs};
use ioscape_scaling::system::TracedApplication;
use ioscape_schema::Outcome;
use ioscape_trace::characterize::Characterizer;
use ioscape_trace::{Format, PatternBuilder};
use ioscape_workload::characterize::fit;
use std::path::{Path, PathBuf};

/// Pages of the file cache, in which distinct bytes are counted.
const PAGE_BYTES: u64 = 4096;

/// The application that the arguments name, if they do.
///
/// # Errors
/// A file that cannot be read, is of another kind, or does not tell what a prediction needs.
pub fn asked(args: &PredictArgs) -> Result<Option<TracedApplication>, Failure> {
    match &args.characterization {
        Some(path) => of_result(path).map(Some),
        None if args.trace.is_empty() => Ok(None),
        None => of_trace(&args.trace, args.format).map(Some),
    }
}

/// An application from what `ioscape characterize` wrote.
fn of_result(path: &Path) -> Result<TracedApplication, Failure> {
    let file = path.display().to_string();
    let Some(Outcome::Characterization(found)) = output::read_result(path)?.outcome else {
        return Err(Failure::Misuse(format!(
            "{file} characterizes no application: give a result of `ioscape characterize`"
        )));
    };
    TracedApplication::of_calls(&file, *found).map_err(Failure::Misuse)
}

/// An application from the rows of a trace.
fn of_trace(paths: &[PathBuf], format: Option<Format>) -> Result<TracedApplication, Failure> {
    let mut rows = Rows::open(paths, &RowsArgs { format, ..RowsArgs::default() })?;
    let (mut seen, mut patterns) =
        (Characterizer::new(PAGE_BYTES, None), PatternBuilder::default());
    rows.each(|batch, _| {
        seen.update(batch);
        batch.iter().for_each(|io| patterns.update(io, u64::from(io.device)));
    })?;
    rows.whole("interrupted while the trace was read")?;
    let name = traces::name(paths);
    let overall = seen.finish(&name, rows.info(), fit).overall;
    TracedApplication::of_rows(name, overall, patterns.finish()).map_err(Failure::Misuse)
}
