//! `ioscape characterize`: runs a command, watches its system calls, and describes its workload.

use crate::application::patterns;
use crate::failure::{Failure, both};
use crate::output;
use crate::outputs;
use ioscape_arguments::CharacterizeArgs;
use ioscape_machine::cache::page_size;
use ioscape_machine::environment;
use ioscape_machine::interrupt;
use ioscape_machine::terminal;
use ioscape_observe::calls::{CallOptions, CallSink, MappedUse, Recording, record};
use ioscape_schema::{Access, AccessPattern, Characterization, Ending, FileCall, Op, Portrait};
use ioscape_trace::PatternBuilder;
use ioscape_workload::Application;
use ioscape_workload::characterize::{MappedFaults, Unseen, doubts};
use std::ops::Range;

/// Runs the command.
///
/// # Errors
/// The command cannot be run or traced, or it failed itself; in that case its exit code is passed
/// on.
pub fn main(args: &CharacterizeArgs) -> Result<(), Failure> {
    // The summary goes to standard error, where --quiet allows no output.
    if terminal::display().quiet && !args.out.json && !args.out.has_files() {
        let why = "--quiet leaves nothing of the result: name a file for it with -o, or add --json";
        return Err(Failure::misuse(why));
    }
    let mut outputs = outputs::names_of(&args.out).open()?;
    let mut document = output::document(0);
    let options = CallOptions {
        below: args.below.clone(),
        memory_limit: args.memory,
        stdout_to_stderr: output::is_for_result(args.out.json),
        every_call: false,
        interrupt: interrupt::flag(),
        kill: interrupt::second(),
    };
    let page = page_size();
    let patterns = [patterns(page), patterns(page)];
    let mut watched = Watched { seen: Application::new(page), patterns };
    let recording = record(&args.command, &options, &mut watched)?;
    let Watched { seen, patterns } = watched;
    let portrait = seen.finish();
    let unseen = unseen(&recording, &portrait);
    let (sync_s, further_waits) = (portrait.sync_s, portrait.ways.further_waits);
    document.environment = environment::machine(recording.memory_limit);
    document.interrupted = recording.interrupted;
    let mut found = recording.characterization(&args.command, args.below.as_deref(), portrait);
    let pattern = pattern(patterns, &recording, &found);
    found.pattern = Some(AccessPattern { sync_s, further_waits, ..pattern });
    for doubt in doubts(&found, &unseen).into_iter().chain(recording.doubt.clone()) {
        document.warn(doubt);
    }
    document.outcome = Some(found.into());
    both(passed_on(&recording), outputs::finish(&mut outputs, &document, args.out.json))
}

/// What is learned while the command runs.
struct Watched {
    seen: Application,
    /// Of the requests that go through the file cache, and of those that bypass it: a cache that
    /// holds one kind need not hold the other.
    patterns: [PatternBuilder; 2],
}

impl CallSink for Watched {
    fn call(&mut self, call: &FileCall) {
        let process = self.seen.record(call);
        let (file, writes) = (u64::from(call.file), call.request.op == Op::Write);
        let row = FileCall { process, ..*call }.row();
        self.patterns[usize::from(call.is_direct)].update(&row, file);
        if call.request.len == 0 || writes && (call.is_synchronous || call.is_direct) {
            self.write_back_begun(Some(call.file), call.issued_ns);
        }
    }

    fn write_back_begun(&mut self, file: Option<u32>, at_ns: u64) {
        self.patterns.iter_mut().for_each(|one| one.written_back(file.map(u64::from), at_ns));
    }

    fn given_up(&mut self, file: u32, from: u64) {
        self.patterns.iter_mut().for_each(|one| one.give_up(u64::from(file), from));
    }

    fn dropped(&mut self, file: u32, bytes: Range<u64>) {
        self.patterns.iter_mut().for_each(|one| one.drop_cached(u64::from(file), bytes.clone()));
    }
}

/// The access pattern of the requests in detail.
fn pattern(
    patterns: [PatternBuilder; 2],
    recording: &Recording,
    found: &Characterization,
) -> AccessPattern {
    let overall = &found.overall;
    let [cached, direct] = patterns.map(|one| one.finish(overall.access));
    let direct = if overall.access == Access::Direct { direct } else { direct.uncached() };
    AccessPattern {
        process_num: overall.process_num,
        think_time_ns: overall.think_time_ns as f64,
        elsewhere_s: (found.elapsed_s - overall.active_s).max(0.0),
        memory_bytes: recording.memory_bytes,
        ..cached.and(direct)
    }
}

/// What the recorder could not see.
fn unseen(recording: &Recording, portrait: &Portrait) -> Unseen {
    let mapped @ MappedUse { pages, unplaced, unmatched, lost, .. } = recording.mapped;
    Unseen {
        mapped_bytes: recording.files.iter().map(|file| file.mapped_bytes).sum(),
        faults: mapped.is_watched.then_some(MappedFaults { pages, unplaced, unmatched, lost }),
        async_calls: recording.unseen_calls,
        unread_descriptors: recording.unread_descriptors,
        untold_copied_bytes: recording.untold_copied_bytes,
        program_32_bit: recording.foreign.clone(),
        program_unprivileged: recording.unprivileged.clone(),
        unfiltered: !recording.filtered,
        ways: portrait.ways,
    }
}

/// Passes on how the command ended.
fn passed_on(recording: &Recording) -> Result<(), Failure> {
    if recording.interrupted {
        return Err(Failure::Interrupted("interrupted; what was seen so far is above".to_owned()));
    }
    let failure = recording.ending.and_then(Ending::failure);
    failure.map_or(Ok(()), |(code, text)| Err(Failure::Command { code, text }))
}
