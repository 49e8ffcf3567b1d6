//! `ioscape trace replay`: a first pass finds out what the trace needs, a second one issues its
//! requests.

use crate::failure::{Failure, both, verdict};
use crate::output;
use crate::outputs;
use crate::traces::{self, Files, ROWS, ROWS_MOST, Rows, keep_rows};
use ioscape_arguments::ReplayArgs;
use ioscape_machine::cgroup::Traffic;
use ioscape_machine::error::Error as MeasureError;
use ioscape_machine::interrupt;
use ioscape_machine::output::tell_leftovers;
use ioscape_machine::terminal::Progress;
use ioscape_machine::{Target, TargetOptions, environment, traps};
use ioscape_measure::replay::{ReplayJob, ReplayOptions, ReplayWatch, Replayed, check_memory};
use ioscape_measure::session::{Phase, RunOptions, Session, SessionOptions};
use ioscape_schema::units::{Bytes, Count};
use ioscape_schema::{Access, Io, TraceInfo, TraceReplay, VerifyReport};
use ioscape_trace::doubts_of_replay;
use ioscape_trace::replay::{
    Placement, Survey, announced, doubt_of_emptied, doubts, is_request, without_place, without_room,
};
use std::slice;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Least size of a scratch file.
const LEAST_BYTES: u64 = 1 << 20;

/// A scratch file may take this fraction (one in so many) of its possible size without permission.
const UNASKED: u64 = 2;

/// Size of the verified blocks: the offsets in block traces are multiples of it.
const SECTOR: u64 = 512;

/// Runs the command.
///
/// # Errors
/// The trace cannot be read, the target is refused, or requests fail; what was done before a
/// failure or an interruption is kept.
pub fn main(args: &ReplayArgs) -> Result<(), Failure> {
    let names = outputs::names_of(&args.out).reads("the trace", [&args.trace]);
    let names = names.reads("the target", [&args.target]);
    let mut outputs = names.writes(ROWS, &args.kept_rows).open()?;
    let mut document = output::document(0);
    // A target is refused before a long trace is read.
    let stop = interrupt::flag();
    let allowed = |writes| TargetOptions { destroy_data: args.destroy_data, write_needed: writes };
    vet(&Target::open(&args.target, &allowed(false))?, args)?;
    let mut files = Files::open(slice::from_ref(&args.trace))?;
    files.keep(args.rows.format)?;
    let (survey, info) = survey(&mut files, args)?;
    let target = Target::open(&args.target, &allowed(survey.writes))?;
    let mut session = Session::new(target, SessionOptions::default())?;
    let access = access(args);
    let align = match access {
        Access::Direct => u64::from(session.target().direct_align().unwrap_or(512)),
        _ => 1,
    };
    let size = room(session.target(), &survey, args)?;
    if args.verify {
        keep_ledger(&mut session, &survey, size, align)?;
    }
    let options = ReplayOptions {
        speed: (!args.as_fast_as_possible).then_some(args.speed),
        in_flight: args.in_flight,
        access,
        largest: survey.largest.saturating_add(2 * align as u32),
        writes: survey.writes,
        rows_most: if args.kept_rows.is_some() { ROWS_MOST } else { 0 },
    };
    // This happens before a scratch file is laid out.
    check_memory(&options)?;
    lay_out(&mut session, size, args, &stop)?;
    let placement = Placement::new(&survey, size, align, args.fit);
    document.environment = environment::capture(session.target(), None);
    output::time(&mut document, session.clock());
    let lays_out = session.target().is_scratch();
    let traffic = Traffic { access, reads: survey.reads, writes: survey.writes, lays_out };
    let told = traps(session.target(), traffic).into_iter();
    told.chain(doubts_of_replay(&info, options.speed.is_some())).for_each(|one| document.warn(one));
    let (mut done, verify, unread) =
        issue(&mut files, args, &placement, &session, &options, &survey, &stop)?;
    let failed = done.failed.take().map(Failure::from).or(unread);
    document.interrupted = done.interrupted || failed.is_some();
    std::mem::take(&mut done.warnings).into_iter().for_each(|doubt| document.warn(doubt));
    let rows = std::mem::take(&mut done.rows);
    let moved = placement.replayed(&survey, options.speed);
    let result = TraceReplay { verify, ..result(args, &options, moved, done) };
    let verified = verdict(result.verify.iter());
    let emptied = doubt_of_emptied(&result, &survey).filter(|_| !session.target().is_device());
    let kept = args.kept_rows.as_ref().and_then(|_| without_room(rows.rows.len() as u64, &result));
    let told = doubts(&result, &survey, &info).into_iter().chain(emptied).chain(kept);
    told.for_each(|doubt| document.warn(doubt));
    let on = (&*args.target, result.target_bytes);
    let written = keep_rows(&mut outputs, &[on], &rows, result.ios(), &info.commands);
    document.outcome = Some(without_place(result, &info).into());
    let told = outputs::finish(&mut outputs, &document, args.out.json);
    let ended = match (failed, document.interrupted) {
        (Some(error), _) => {
            let why = format!("{error}; the result covers what was replayed before");
            Err(Failure::Failed(why))
        }
        (None, true) => {
            Err(Failure::Interrupted("interrupted: the result covers what was replayed".into()))
        }
        (None, false) => Ok(()),
    };
    both(ended, both(both(told, written), verified))
}

/// Whether requests bypass the file cache.
fn access(args: &ReplayArgs) -> Access {
    if args.buffered { Access::Buffered } else { Access::Direct }
}

/// Reports what earlier runs left at the target. Refuses a size if no scratch file is made, and
/// direct I/O on a file system without it.
fn vet(target: &Target, args: &ReplayArgs) -> Result<(), Failure> {
    tell_leftovers(target.leftovers(), output::tell);
    target.open_file(access(args), false).map_err(|error| match error {
        MeasureError::Unsupported { .. } => {
            Failure::from(error).with(": add --buffered, or name another target")
        }
        other => other.into(),
    })?;
    match args.size {
        Some(_) if !target.is_scratch() => Err(Failure::Misuse(format!(
            "--size is that of the scratch file in a directory, and {} is none: leave it out",
            args.target.display()
        ))),
        _ => Ok(()),
    }
}

/// Keeps a ledger of the blocks that the trace needs within the `size` usable bytes of the target.
fn keep_ledger(
    session: &mut Session,
    survey: &Survey,
    size: u64,
    align: u64,
) -> Result<(), Failure> {
    let (changed, advice) = match session.target().is_scratch() {
        // A scratch file is written as a whole.
        true => (None, "replay a part (--disk, --from, --to), or give a smaller --size"),
        false => (changed_mebibytes(survey, size), "replay a part (--disk, --from, --to)"),
    };
    Ok(session.keep_ledger(known_bytes(survey, size, align), SECTOR, changed, advice)?)
}

/// Bytes of the target that requests, rounded to multiples of `align`, can touch.
fn known_bytes(survey: &Survey, size: u64, align: u64) -> u64 {
    survey.bytes().max(LEAST_BYTES).saturating_add(2 * align).min(size)
}

/// The most mebibytes of the target in which anything changes, if known.
fn changed_mebibytes(survey: &Survey, size: u64) -> Option<u64> {
    // A mebibyte that is moved may straddle two at its new place.
    let across = if survey.bytes() > size { 2 } else { 1 };
    survey.changed_mebibytes().map(|count| count * across)
}

/// The result, apart from where requests were moved.
fn result(
    args: &ReplayArgs,
    options: &ReplayOptions,
    moved: TraceReplay,
    done: Replayed,
) -> TraceReplay {
    TraceReplay {
        trace: traces::name(slice::from_ref(&args.trace)),
        target: args.target.display().to_string(),
        access: options.access,
        in_flight: options.in_flight,
        refused: done.refused,
        moved: done.moved,
        rounded: done.rounded,
        cut: done.cut,
        kinds: done.kinds,
        elapsed_ns: done.elapsed_ns,
        lateness_ns: done.lateness_ns,
        ..moved
    }
}

/// The first pass: nothing is touched until the whole trace is known to be sound.
fn survey(files: &mut Files, args: &ReplayArgs) -> Result<(Survey, TraceInfo), Failure> {
    let (mut rows, mut survey) = (Rows::of(files, &args.rows)?, Survey::default());
    rows.each(|batch, _| survey.update(batch))?;
    rows.whole("interrupted: nothing was replayed")?;
    Ok((survey, rows.info().clone()))
}

/// Writes the `size` bytes of a scratch file, so that reads find blocks; their number is reported
/// first.
fn lay_out(
    session: &mut Session,
    size: u64,
    args: &ReplayArgs,
    stop: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    let target = session.target();
    if !target.is_scratch() {
        return Ok(());
    }
    let [file, free] = [size, target.free_bytes()].map(|bytes| Bytes(bytes as f64).to_string());
    let place = args.target.display();
    output::tell(&format!(
        "{place}: a scratch file of {file} is written first, where {free} are free"
    ));
    let progress = Progress::of_bytes(size, "laying out");
    let told = progress.clone();
    let options = RunOptions {
        interrupt: Arc::clone(stop),
        on_progress: Some(Arc::new(move |now| {
            if now.phase == Phase::Layout {
                told.reached(now.bytes_done, &Bytes(now.bytes_total as f64).to_string());
            }
        })),
        ..RunOptions::default()
    };
    session.layout(size, &options)?;
    progress.done();
    Ok(())
}

/// Usable bytes of the target: for a scratch file, what the trace needs, within the free space and
/// the user's limit.
fn room(target: &Target, survey: &Survey, args: &ReplayArgs) -> Result<u64, Failure> {
    let capacity = target.capacity_bytes();
    if !target.is_scratch() {
        return Ok(capacity);
    }
    let needed = survey.bytes().max(LEAST_BYTES).min(capacity);
    let size = args.size.map_or(needed, |most| needed.min(most));
    let place = args.target.display();
    let [file, most, free] =
        [size, capacity, target.free_bytes()].map(|bytes| Bytes(bytes as f64).to_string());
    if args.size.is_none() && size > capacity / UNASKED {
        return Err(Failure::Misuse(format!(
            "{place}: a scratch file of {file} would be written for this trace, where {free} are free: allow it with --size (up to {most} here), give a \
             smaller --size, or replay a part of the trace (--disk, --from, --to)"
        )));
    }
    Ok(size)
}

/// The second pass: this thread reads and places the requests, the replay's threads issue them.
fn issue(
    files: &mut Files,
    args: &ReplayArgs,
    placement: &Placement,
    session: &Session,
    options: &ReplayOptions,
    survey: &Survey,
    stop: &Arc<AtomicBool>,
) -> Result<(Replayed, Option<VerifyReport>, Option<Failure>), Failure> {
    output::tell(&announced(&placement.replayed(survey, options.speed), survey));
    let mut rows = Rows::of(files, &args.rows)?;
    // One progress bar is enough.
    rows.done();
    let all = survey.ios - survey.empty;
    let progress = Progress::of_steps(usize::try_from(all).unwrap_or(usize::MAX));
    let told = progress.clone();
    let watch = ReplayWatch {
        interrupt: Arc::clone(stop),
        on_progress: Some(Arc::new(move |issued, _| {
            let words = format!("{} requests", Count(issued as f64));
            told.step(issued as usize, all as usize, &words);
        })),
    };
    let next = |batch: &mut Vec<Io>| {
        let more = rows.next(batch)?;
        batch.retain(is_request);
        Ok::<_, Failure>(more)
    };
    let job = ReplayJob {
        target: session.target(),
        ledger: session.ledger(),
        options,
        clock: session.clock(),
        watch: &watch,
    };
    let done = job.of_batches(next, |io| placement.place(io));
    progress.done();
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Op, Request};

    fn write(offset: u64) -> Io {
        let request = Request { op: Op::Write, offset, len: 4096 };
        Io { request, ..Io::default() }
    }

    /// Guards against a defect: a scratch file of one gibibyte was refused because the trace's
    /// addresses span a petabyte.
    #[test]
    fn blocks_are_known_as_far_as_the_target_is_used() {
        let mut survey = Survey::default();
        survey.update(&[write(0)]);
        assert_eq!(known_bytes(&survey, 1 << 40, 512), LEAST_BYTES + 1024);
        survey.update(&[write(1 << 50)]);
        assert_eq!(known_bytes(&survey, 1 << 30, 512), 1 << 30);
    }

    #[test]
    fn what_goes_to_another_place_may_lie_across_two_mebibytes() {
        let mut survey = Survey::default();
        survey.update(&[write(0), write(8192), write(1 << 40)]);
        let of = |size| changed_mebibytes(&survey, size);
        assert_eq!([of(1 << 41), of(1 << 30)], [Some(2), Some(4)]);
    }
}
