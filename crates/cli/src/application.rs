//! A traced application to be predicted, from a trace or a result of `ioscape characterize`.

use crate::asked::doubts_of;
use crate::failure::Failure;
use crate::output;
use crate::traces::{self, Rows};
use ioscape_arguments::PredictArgs;
use ioscape_machine::cgroup::available_memory;
use ioscape_scaling::system::TracedApplication;
use ioscape_schema::{Access, Outcome, Warning};
use ioscape_trace::PatternBuilder;
use ioscape_trace::characterize::Characterizer;
use ioscape_workload::characterize::fit;
use std::path::Path;

/// Page size in which distinct bytes of a trace are counted: which machine's it is, traces do not tell.
const PAGE_BYTES: u64 = 4096;

/// The pages of a pattern take at most one part in this many of the available memory: the rest is for
/// the file cache, which is what an application is observed with.
const AVAILABLE_PARTS: u64 = 16;

/// An application to be predicted, and the warnings about its trace or about how it was observed.
pub type AskedApplication = (TracedApplication, Vec<Warning>);

/// Returns what learns an access pattern in pages of `page_bytes`, as many as there is room for.
pub fn patterns(page_bytes: u64) -> PatternBuilder {
    PatternBuilder::within(available_memory() / AVAILABLE_PARTS, page_bytes)
}

/// Returns the application that the arguments name, if any.
///
/// # Errors
/// A file cannot be read, is of another kind, or lacks what a prediction needs.
pub fn asked(args: &PredictArgs) -> Result<Option<AskedApplication>, Failure> {
    match &args.characterization {
        Some(path) => of_result(path).map(Some),
        None if args.trace.is_empty() => Ok(None),
        None => of_trace(args).map(Some),
    }
}

/// Reads an application from a result of `ioscape characterize`.
fn of_result(path: &Path) -> Result<AskedApplication, Failure> {
    let file = path.display().to_string();
    let mut document = output::read_result(path)?;
    let Some(Outcome::Characterization(found)) = document.outcome.take() else {
        return Err(Failure::Misuse(format!(
            "{file} characterizes no application: give a result of `ioscape characterize`"
        )));
    };
    let doubts = doubts_of(&file, &document, found.ending);
    let one = TracedApplication::of_calls(&file, *found).map_err(Failure::Misuse)?;
    Ok((one, doubts))
}

/// Reads an application from the rows of a trace.
fn of_trace(args: &PredictArgs) -> Result<AskedApplication, Failure> {
    let mut rows = Rows::open(&args.trace, &args.rows)?;
    let (mut seen, mut patterns) = (Characterizer::new(PAGE_BYTES, None), patterns(PAGE_BYTES));
    rows.each(|batch, _| {
        seen.update(batch);
        batch.iter().for_each(|io| patterns.update(io, u64::from(io.device)));
    })?;
    rows.whole("interrupted while the trace was read")?;
    let name = traces::name(&args.trace);
    let found = seen.finish(&name, rows.info(), fit);
    let disks = TracedApplication::doubt_of_disks(&found);
    let overall = found.overall;
    let doubts = ioscape_trace::doubts(rows.info());
    let doubts = doubts.into_iter().chain(seen.doubt_of_completions());
    let doubts = doubts.map(|doubt| doubt.at(name.clone()));
    let order = TracedApplication::doubt_of_order(&name, &overall);
    let doubts = doubts.chain(order).chain(disks).collect();
    let one = TracedApplication::of_rows(name, overall, patterns.finish(Access::Direct));
    Ok((one.map_err(Failure::Misuse)?, doubts))
}
