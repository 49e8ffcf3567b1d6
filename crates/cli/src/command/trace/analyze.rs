//! `ioscape trace analyze`: one pass over a trace, shared by threads.

use crate::args::AnalyzeArgs;
use crate::failure::Failure;
use crate::output;
use crate::outputs;
use crate::traces::{self, Rows};
use ioscape_schema::Io;
use ioscape_trace::analyze::{Analysis, AnalysisOptions};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

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
    let threads = args.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        |threads| threads as usize,
    );
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

/// A segment of the trace by its number.
type Segment = (usize, Vec<Io>);
/// Its analysis, and the segment's memory to be used again.
type Part = (usize, Analysis, Vec<Io>);

/// This thread reads and merges; `workers` others analyse segments of the trace.
fn shared(
    rows: &mut Rows,
    first: Vec<Io>,
    options: &AnalysisOptions,
    workers: usize,
) -> Result<Analysis, Failure> {
    let (give, segments) = sync_channel::<Segment>(workers);
    let segments = Arc::new(Mutex::new(segments));
    let (return_part, parts) = channel::<Part>();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (segments, parts) = (Arc::clone(&segments), return_part.clone());
            scope.spawn(move || work(&segments, &parts, options));
        }
        drop(return_part);
        drop(segments);
        pour(rows, first, options, give, &parts)
    })
}

fn work(segments: &Mutex<Receiver<Segment>>, parts: &Sender<Part>, options: &AnalysisOptions) {
    loop {
        let next = segments.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, rows)) = next else { return };
        let mut part = Analysis::part(options);
        part.update(&rows);
        if parts.send((number, part, rows)).is_err() {
            return;
        }
    }
}

/// Hands out segments and merges the parts in the order of the trace.
fn pour(
    rows: &mut Rows,
    first: Vec<Io>,
    options: &AnalysisOptions,
    give: SyncSender<Segment>,
    parts: &Receiver<Part>,
) -> Result<Analysis, Failure> {
    let mut whole = Analysis::new(options);
    let mut waiting = BTreeMap::new();
    let mut spare: Vec<Vec<Io>> = Vec::new();
    let mut merged = 0;
    let mut settle = |part: Part, spare: &mut Vec<Vec<Io>>| {
        waiting.insert(part.0, part.1);
        spare.push(part.2);
        while let Some(part) = waiting.remove(&merged) {
            whole.merge(part);
            merged += 1;
        }
    };
    let (mut batch, mut segment, mut number) = (first, Vec::with_capacity(SEGMENT), 0);
    let mut more = true;
    while more {
        segment.extend_from_slice(&batch);
        more = rows.next(&mut batch)?;
        if segment.len() >= SEGMENT || !more {
            while let Ok(part) = parts.try_recv() {
                settle(part, &mut spare);
            }
            let mut empty = spare.pop().unwrap_or_default();
            empty.clear();
            let full = std::mem::replace(&mut segment, empty);
            if give.send((number, full)).is_err() {
                break;
            }
            number += 1;
        }
    }
    drop(give);
    for part in parts {
        settle(part, &mut spare);
    }
    Ok(whole)
}
