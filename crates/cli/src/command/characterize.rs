//! `ioscape characterize`: runs a command, watches its calls, and says which workload it is.

use crate::args::CharacterizeArgs;
use crate::failure::Failure;
use crate::{interrupt, output};
use ioscape_machine::environment;
use ioscape_measure::calls::{CallOptions, Recording, record};
use ioscape_schema::units::{Bytes, Nanos};
use ioscape_schema::{
    Access, Characterization, Document, Ending, FileTraits, ProcessTraits, Traits, Warning,
    WarningKind,
};
use ioscape_workload::{Application, Portrait};

/// Below this `goodness` the five parameters are doubtful.
const POOR: f64 = 0.5;

/// Tracing that takes more than this share of the time is doubtful.
const COSTLY: f64 = 0.25;

/// Mapped bytes over bytes moved by calls from which mapping is worth a word.
const MAPPED: f64 = 0.1;

/// Waits for dirty pages of more than this share of the time are worth a word.
const WAITS: f64 = 0.05;

/// Fractions of requests and of bytes that differ by more than this, too.
const APART: f64 = 0.2;

/// Runs the command.
///
/// # Errors
/// The command cannot be run or traced, or it failed itself: then its exit code is passed on.
pub fn main(args: &CharacterizeArgs) -> Result<(), Failure> {
    output::check_places(args.out.files())?;
    let mut document = output::document(0);
    let options = CallOptions {
        below: args.below.clone(),
        memory_limit: args.memory,
        stdout_to_stderr: args.out.json,
        every_call: false,
        interrupt: interrupt::flag(),
    };
    let mut seen = Application::default();
    let recording = record(&args.command, &options, &mut |call| seen.record(call))?;
    let portrait = seen.finish(recording.cost, recording.calls_traced);
    document.environment = environment::machine(recording.memory_limit);
    document.interrupted = recording.interrupted;
    let found = characterization(args, &recording, portrait);
    for doubt in doubts(&found, &recording) {
        document.warn(doubt);
    }
    document.outcome = Some(found.into());
    pour(&document, args)?;
    passed_on(&recording)
}

fn characterization(
    args: &CharacterizeArgs,
    recording: &Recording,
    portrait: Portrait,
) -> Characterization {
    let elapsed_s = recording.elapsed_ns as f64 / 1e9;
    let rate = portrait.overall.bytes as f64 / elapsed_s;
    let command = args.command.iter().map(|word| word.to_string_lossy().into_owned());
    Characterization {
        files: portrait.files.into_iter().filter_map(|one| file(recording, one)).collect(),
        processes: portrait
            .processes
            .into_iter()
            .filter_map(|one| process(recording, one))
            .collect(),
        overall: portrait.overall,
        files_left_out: portrait.files_left_out,
        processes_left_out: portrait.processes_left_out,
        command: command.collect(),
        ending: recording.ending,
        elapsed_s,
        throughput_bytes_per_s: if elapsed_s > 0.0 { rate } else { 0.0 },
        below: args.below.as_ref().map(|path| path.display().to_string()),
        memory_limit_bytes: recording.memory_limit,
        calls_traced: recording.calls_traced,
        elsewhere: recording.elsewhere.iter().map(|(what, n)| ((*what).to_owned(), *n)).collect(),
        tracing: recording.cost,
    }
}

fn file(recording: &Recording, (number, traits): (u32, Traits)) -> Option<FileTraits> {
    let file = recording.files.get(number as usize)?;
    Some(FileTraits {
        path: file.path.clone(),
        kind: file.kind,
        opens: file.opens,
        mapped_bytes: file.mapped_bytes,
        traits,
    })
}

fn process(recording: &Recording, (number, traits): (u32, Traits)) -> Option<ProcessTraits> {
    let process = recording.processes.get(number as usize)?;
    let (pid, tid, command) = (process.pid, process.tid, process.command.clone());
    Some(ProcessTraits { pid, tid, command, traits })
}

/// What may be wrong with the result.
fn doubts(found: &Characterization, recording: &Recording) -> Vec<Warning> {
    let mut doubts = unseen(found, recording);
    doubts.extend(fit(&found.overall));
    let cost = recording.cost.in_call_ns + recording.cost.between_calls_ns;
    let share = recording.calls_traced as f64 * cost as f64 / recording.elapsed_ns.max(1) as f64;
    if share > COSTLY {
        let message = format!(
            "about {:.0} % of the time was spent tracing {} calls: the command is faster without it",
            share.min(1.0) * 100.0,
            recording.calls_traced
        );
        doubts.push(Warning::new(WarningKind::TracingCost, message));
    }
    if !recording.filtered {
        let message = "a seccomp filter is not allowed here: the command was stopped at every call, which is slower";
        doubts.push(Warning::new(WarningKind::Unsupported, message));
    }
    if let Some(limit) = recording.memory_limit {
        let message = format!(
            "the command ran in a control group of {}, its file cache included",
            Bytes(limit as f64)
        );
        doubts.push(Warning::new(WarningKind::MemoryLimited, message));
    }
    doubts
}

/// I/O that calls do not show.
fn unseen(found: &Characterization, recording: &Recording) -> Vec<Warning> {
    let mut messages = Vec::new();
    let mapped: f64 = recording.files.iter().map(|file| file.mapped_bytes as f64).sum();
    if mapped > (found.overall.bytes as f64 * MAPPED).max(1.0) {
        messages.push(format!(
            "{} of files were mapped into memory: loads and stores there are not seen",
            Bytes(mapped)
        ));
    }
    if recording.unseen_calls > 0 {
        messages.push(format!(
            "{} calls of io_uring_setup or io_submit were made: requests issued so are not seen",
            recording.unseen_calls
        ));
    }
    if let Some(program) = &recording.foreign {
        messages.push(format!("{program} is a 32-bit program: its calls are not seen"));
    }
    let doubt = |message: String| Warning::new(WarningKind::CallsUnseen, message);
    messages.into_iter().map(doubt).collect()
}

/// How well the five parameters describe it.
fn fit(overall: &Traits) -> Vec<Warning> {
    let mut messages = Vec::new();
    if overall.requests == 0 {
        messages.push("no bytes of counted files were read or written".to_owned());
    } else if overall.goodness < POOR {
        let distances = [
            (overall.size_distance, "its request sizes"),
            (overall.run_distance, "the lengths of its sequential runs"),
            (overall.mix_distance, "the order of its reads and writes"),
        ];
        let worst =
            distances.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map_or("", |one| one.1);
        messages.push(format!(
            "the five parameters describe it badly: {worst} are far from the model's (goodness {:.2})",
            overall.goodness
        ));
    }
    let waited_s = overall.syncs as f64 * overall.sync_time_ns / 1e9;
    if waited_s > overall.active_s * WAITS && overall.access == Access::Buffered {
        messages.push(format!(
            "it waited {} for dirty pages (calls of fsync and its like: {}), which the workload of five parameters does not",
            Nanos(waited_s * 1e9), overall.syncs
        ));
    }
    if (overall.read_frac - overall.read_bytes_frac).abs() > APART {
        messages.push(format!(
            "its reads and writes have different sizes: {:.0} % of the requests read, but {:.0} % of the bytes",
            overall.read_frac * 100.0, overall.read_bytes_frac * 100.0
        ));
    }
    let doubt = |message: String| Warning::new(WarningKind::PoorFit, message);
    messages.into_iter().map(doubt).collect()
}

/// Pours the result out beside the command's own output.
fn pour(document: &Document, args: &CharacterizeArgs) -> Result<(), Failure> {
    output::write(document, &args.out)?;
    if args.out.json {
        return output::show(document, true);
    }
    output::tell(ioscape_report::terminal(document, &output::style_beside()).trim_end());
    Ok(())
}

/// The command's own end as ours.
fn passed_on(recording: &Recording) -> Result<(), Failure> {
    if recording.interrupted {
        return Err(Failure::Interrupted(
            "interrupted; what was seen until then is above".to_owned(),
        ));
    }
    match recording.ending {
        None | Some(Ending::Exit(0)) => Ok(()),
        Some(Ending::Exit(code)) => Err(Failure::Command {
            code: u8::try_from(code).unwrap_or(1),
            text: format!("the command left with exit code {code}"),
        }),
        Some(Ending::Signal(signal)) => Err(Failure::Command {
            code: u8::try_from(128 + signal).unwrap_or(1),
            text: format!("the command was killed by signal {signal}"),
        }),
    }
}
