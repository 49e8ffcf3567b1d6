//! `ioscape trace analyze`: one pass over a trace, shared by threads.

use crate::args::AnalyzeArgs;
use crate::failure::Failure;
use crate::output;
use crate::outputs;
use crate::traces::{self, Rows};
use ioscape_machine::output::Outputs;
use ioscape_machine::parallel;
use ioscape_schema::Io;
use ioscape_trace::analyze::device_names::DeviceNames;
use ioscape_trace::analyze::state::{Header, Part as PartState};
use ioscape_trace::analyze::{Analysis, AnalysisOptions};
use std::io::{self, BufWriter};

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 20;
/// Rows that one thread takes at a time: enough that merging its part costs little beside.
const SEGMENT: usize = 1 << 19;

/// The state, by the name of its argument.
pub const STATE: &str = "--state";

/// Runs the command.
///
/// # Errors
/// A trace that cannot be read, a choice that holds nothing, and output that cannot be written.
pub fn main(args: &AnalyzeArgs) -> Result<(), Failure> {
    let trace = &args.trace;
    let names = outputs::names_of(&trace.out).writes(STATE, args.state.as_deref());
    let mut outputs = names.reads("the trace", &trace.traces).open()?;
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
    let options = options.on_the_clock(rows.clock().1);
    let threads = args.threads.map_or_else(parallel::processors, |threads| threads as usize);
    let whole = match args.state {
        Some(_) => Analysis::part(&options),
        None => Analysis::new(&options),
    };
    let analysis = if threads <= 1 {
        alone(&mut rows, first, whole)?
    } else {
        shared(&mut rows, first, &options, threads - 1, whole)?
    };
    rows.done();
    let name = traces::name(&trace.traces);
    let mut summary = analysis.finish(&name, rows.info());
    summary.by = args.by;
    // A part without requests has a place in a merge too.
    if args.state.is_none() || rows.read() == 0 {
        rows.check()?;
    }
    keep(&mut outputs, analysis, &name, &rows)?;
    document.interrupted = rows.interrupted();
    document.warnings.clone_from(&summary.warnings);
    document.outcome = Some(summary.into());
    outputs::pour(&mut outputs, &document, trace.out.json)?;
    if rows.interrupted() {
        return Err(Failure::Interrupted("interrupted: what was read is analysed".to_owned()));
    }
    Ok(())
}

/// Writes the state, if it is asked for.
fn keep(outputs: &mut Outputs, analysis: Analysis, name: &str, rows: &Rows) -> Result<(), Failure> {
    let header = Header::of(&analysis, name, rows.info(), rows.clock().0, &rows.asked());
    write_state(outputs, &PartState { header, analysis })
}

/// Writes the state of a part, if it is asked for.
///
/// # Errors
/// The place does not take it.
pub fn write_state(outputs: &mut Outputs, part: &PartState) -> Result<(), Failure> {
    let Some(state) = outputs.get(STATE) else { return Ok(()) };
    state.write(|draft| {
        let out = BufWriter::with_capacity(BUFFER, draft.file());
        part.write(out).map_err(io::Error::other)
    })?;
    Ok(())
}

fn alone(rows: &mut Rows, mut batch: Vec<Io>, mut analysis: Analysis) -> Result<Analysis, Failure> {
    analysis.name_devices(&rows.info().devices);
    analysis.update(&batch);
    while rows.next(&mut batch)? {
        analysis.name_devices(&rows.info().devices);
        analysis.update(&batch);
    }
    Ok(analysis)
}

/// Rows that one thread takes, and the devices they may have.
type Segment = (Vec<Io>, DeviceNames);

/// This thread reads and merges; `workers` others analyse segments of the trace.
fn shared(
    rows: &mut Rows,
    first: Vec<Io>,
    options: &AnalysisOptions,
    workers: usize,
    mut whole: Analysis,
) -> Result<Analysis, Failure> {
    let (mut batch, mut more) = (first, true);
    let mut devices = DeviceNames::default();
    let next = |(mut segment, _): Segment| {
        segment.clear();
        while more && segment.len() < SEGMENT {
            segment.extend_from_slice(&batch);
            more = rows.next(&mut batch)?;
        }
        devices.learn(&rows.info().devices);
        Ok::<_, Failure>((!segment.is_empty()).then(|| (segment, devices.clone())))
    };
    let work = |(rows, devices): &Segment| {
        let mut part = Analysis::part(options).with_names(devices.clone());
        part.update(rows);
        part
    };
    parallel::in_order(workers, next, work, |part| whole.merge(part))?;
    Ok(whole)
}
