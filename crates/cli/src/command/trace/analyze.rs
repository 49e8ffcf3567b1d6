//! `ioscape trace analyze`: one pass over a trace, shared by several threads.

use crate::failure::{Failure, both};
use crate::output;
use crate::outputs;
use crate::traces::{self, Rows};
use ioscape_arguments::AnalyzeArgs;
use ioscape_machine::memory;
use ioscape_machine::output::Outputs;
use ioscape_machine::parallel;
use ioscape_machine::pipeline::pipeline;
use ioscape_schema::Io;
use ioscape_schema::units::Bytes;
use ioscape_trace::analyze::device_names::DeviceNames;
use ioscape_trace::analyze::distance;
use ioscape_trace::analyze::state::{Header, Part as PartState};
use ioscape_trace::analyze::{Analysis, AnalysisOptions};
use std::io::{self, BufWriter, Write};

/// Bytes gathered before each write.
const BUFFER: usize = 1 << 20;

/// The argument for the state.
pub const STATE: &str = "--state";

/// Runs the command.
///
/// # Errors
/// The trace cannot be read, the selection is empty, the interleave is not supported, or the output
/// cannot be written.
pub fn main(args: &AnalyzeArgs) -> Result<(), Failure> {
    let trace = &args.trace;
    if let Some(bytes) = args.interleave.filter(|bytes| !distance::is_counted(*bytes)) {
        return Err(not_counted(bytes));
    }
    let threads = args.threads.map_or_else(parallel::processors, |threads| threads as usize);
    if args.memory.is_some() {
        memory::keep_nothing_freed();
    }
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
    let options = options.on_the_clock(rows.selected.clock().1);
    let options = match args.memory {
        Some(bytes) => options.within(bytes).map_err(|least| too_little(bytes, least))?,
        None => options,
    };
    let whole = match args.state {
        Some(_) => Analysis::part(&options),
        None => Analysis::new(&options),
    };
    let analysis = if threads <= 1 {
        alone(&mut rows, first, whole)?
    } else {
        shared(&mut rows, first, &options, threads, whole)?
    };
    rows.done();
    let name = traces::name(&trace.traces);
    let mut summary = analysis.finish(&name, rows.info());
    summary.by = args.by;
    // A part without requests is valid in a merge too.
    if args.state.is_none() || rows.read() == 0 {
        rows.some()?;
    }
    // A state cut short by an interruption would be merged as if it were complete.
    let written = match rows.interrupted() {
        true => Ok(()),
        false => keep(&mut outputs, analysis, &name, &rows),
    };
    document.interrupted = rows.interrupted();
    document.warnings.clone_from(&summary.warnings);
    document.outcome = Some(summary.into());
    let told = outputs::finish(&mut outputs, &document, trace.out.json);
    both(rows.unstopped("interrupted: what was read is analysed"), both(told, written))
}

fn not_counted(interleave_bytes: u64) -> Failure {
    let bytes = Bytes(interleave_bytes as f64);
    Failure::Misuse(format!("--interleave {bytes}: give 0, or whole KiB up to 256k"))
}

fn too_little(bytes: u64, least: u64) -> Failure {
    let [bytes, least] = [bytes, least].map(|bytes| Bytes(bytes as f64).to_string());
    Failure::Misuse(format!(
        "--memory {bytes} is too little with this --exact-blocks: {least} is the least that does"
    ))
}

/// Writes the state, if requested.
fn keep(outputs: &mut Outputs, analysis: Analysis, name: &str, rows: &Rows) -> Result<(), Failure> {
    let rows = &rows.selected;
    let info = rows.info_of_all_disks();
    let header = Header::of(&analysis, name, &info, rows.clock().0, &rows.asked());
    write_state(outputs, &PartState { header, analysis })
}

/// Writes the state of a part, if requested.
///
/// # Errors
/// The state cannot be written.
pub fn write_state(outputs: &mut Outputs, part: &PartState) -> Result<(), Failure> {
    let Some(state) = outputs.get(STATE) else { return Ok(()) };
    state.write(|draft| {
        let mut out = BufWriter::with_capacity(BUFFER, draft.file());
        let written = part.write(&mut out).map_err(io::Error::other);
        // The true cause is the failure to write the remaining bytes.
        out.flush().and(written)
    })?;
    Ok(())
}

fn alone(rows: &mut Rows, mut batch: Vec<Io>, mut analysis: Analysis) -> Result<Analysis, Failure> {
    analysis.name_devices(&rows.info().devices);
    analysis.gather(&batch);
    while rows.next(&mut batch)? {
        analysis.name_devices(&rows.info().devices);
        analysis.gather(&batch);
    }
    analysis.settle();
    Ok(analysis)
}

/// Rows to be analyzed, and the devices they may have.
type Segment = (Vec<Io>, DeviceNames);

/// This thread reads; all threads share the units of the analysis.
fn shared(
    rows: &mut Rows,
    first: Vec<Io>,
    options: &AnalysisOptions,
    threads: usize,
    mut analysis: Analysis,
) -> Result<Analysis, Failure> {
    let (mut first, mut more) = (Some(first), true);
    let mut devices = DeviceNames::default();
    let next = |(mut segment, _): Segment| {
        segment.clear();
        if let Some(first) = first.take() {
            segment = first;
        }
        while more && segment.is_empty() {
            more = rows.next(&mut segment)?;
        }
        devices.learn(&rows.info().devices);
        options.put_on_the_clock(&mut segment);
        Ok::<_, Failure>((!segment.is_empty()).then(|| (segment, devices.clone())))
    };
    let (_, units) = analysis.units(threads);
    pipeline(threads, units, next, |unit, (rows, devices)| unit.update(rows, devices))?;
    analysis.settle();
    analysis.name_devices(&rows.info().devices);
    Ok(analysis)
}
