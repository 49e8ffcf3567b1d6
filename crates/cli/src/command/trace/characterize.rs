//! `ioscape trace characterize`: the workloads of five parameters that are nearest to a trace.

use crate::failure::{Failure, both};
use crate::output;
use crate::outputs;
use crate::traces::{self, Rows};
use ioscape_arguments::CharacterizeTraceArgs;
use ioscape_trace::characterize::Characterizer;
use ioscape_workload::characterize::fit;
use ioscape_workload::jobs::job_file;

/// The argument for the job file.
const JOBS: &str = "--jobs";

/// Runs the command.
///
/// # Errors
/// The trace cannot be read, the selection is empty, or the output cannot be written.
pub fn main(args: &CharacterizeTraceArgs) -> Result<(), Failure> {
    let trace = &args.trace;
    let names = outputs::names_of(&trace.out).reads("the trace", &trace.traces);
    let mut outputs = names.writes(JOBS, &args.jobs).open()?;
    let mut document = output::document(0);
    let mut rows = Rows::open(&trace.traces, &trace.rows)?;
    let mut seen = Characterizer::new(trace.block, args.window);
    rows.each(|batch, _| seen.update(batch))?;
    let found = seen.finish(&traces::name(&trace.traces), rows.info(), fit);
    if found.overall.requests == 0 {
        rows.whole(traces::NOTHING)?;
        return Err(Failure::Misuse("no request of the trace moves data".to_owned()));
    }
    let written = outputs.text(JOBS, &job_file(&found));
    document.interrupted = rows.interrupted();
    document.warnings = ioscape_trace::doubts_of_workloads(&found, rows.info());
    document.warnings.extend(seen.doubts());
    document.outcome = Some(found.into());
    let told = outputs::finish(&mut outputs, &document, trace.out.json);
    let ended = rows.unstopped("interrupted: what was read is described");
    both(ended, both(written.map_err(Failure::from), told))
}
