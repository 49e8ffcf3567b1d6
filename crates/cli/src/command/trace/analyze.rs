//! `ioscape trace analyze`: one pass over a trace, shared by threads.

use crate::args::AnalyzeArgs;
use crate::failure::Failure;
use crate::output;
use crate::outputs;
use crate::traces::{self, Rows};
use ioscape_machine::parallel;
use ioscape_schema::Io;
use ioscape_trace::analyze::{Analysis, AnalysisOptions};

/// Rows that one thread takes at a time: enough that merging its part costs little beside.
const SEGMENT: usize = 1 << 19;

/// Runs the command.
///
/// # Errors
/// A trace that cannot be read, a choice that holds nothing, and output that cannot be written.
pub fn main(args: &AnalyzeArgs) -> Result<(), Failure> {
    let trace = &args.trace;
    let mut outputs = outputs::names_of(&trace.out).reads("the trace", &trace.traces).open()?;
    let mut rows = Rows::open(&trace.traces, &trace.rows)?;
    let mut document = output::document(0);
    let mut first = Vec::new();
    let mut more = true;
    while more && first.is_empty() {
        more = rows.next(&mut first)?;
    }
    let options = AnalysisOptions {
        block_bytes: trace.block,
        block_align: args.block_align,
        interleave_bytes: args.interleave,
        exact_blocks: args.exact_blocks,
        ..AnalysisOptions::default()
    };
    let options = options.beginning(rows.info());
    let threads = args.threads.map_or_else(parallel::processors, |threads| threads as usize);
    let analysis = if threads <= 1 {
        alone(&mut rows, first, &options)?
    } else {
        shared(&mut rows, first, &options, threads - 1)?
    };
    rows.done();
    let mut summary = analysis.finish(&traces::name(&trace.traces), rows.info());
    summary.by = args.by;
    rows.check()?;
    document.interrupted = rows.interrupted();
    document.warnings.clone_from(&summary.warnings);
    document.outcome = Some(summary.into());
    outputs::pour(&mut outputs, &document, trace.out.json)?;
    if rows.interrupted() {
        return Err(Failure::Interrupted("interrupted: what was read is analysed".to_owned()));
    }
    Ok(())
}

fn alone(
    rows: &mut Rows,
    mut batch: Vec<Io>,
    options: &AnalysisOptions,
) -> Result<Analysis, Failure> {
    let mut analysis = Analysis::new(options);
    analysis.update(&batch);
    while rows.next(&mut batch)? {
        analysis.update(&batch);
    }
    Ok(analysis)
}

/// This thread reads and merges; `workers` others analyse segments of the trace.
fn shared(
    rows: &mut Rows,
    first: Vec<Io>,
    options: &AnalysisOptions,
    workers: usize,
) -> Result<Analysis, Failure> {
    let mut whole = Analysis::new(options);
    let (mut batch, mut more) = (first, true);
    let next = |mut segment: Vec<Io>| {
        segment.clear();
        while more && segment.len() < SEGMENT {
            segment.extend_from_slice(&batch);
            more = rows.next(&mut batch)?;
        }
        Ok::<_, Failure>((!segment.is_empty()).then_some(segment))
    };
    let work = |rows: &Vec<Io>| {
        let mut part = Analysis::part(options);
        part.update(rows);
        part
    };
    parallel::in_order(workers, next, work, |part| whole.merge(part))?;
    Ok(whole)
}
