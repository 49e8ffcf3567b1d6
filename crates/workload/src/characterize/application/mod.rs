//! Characterizes a whole application: reduces its calls, on many files by many processes, to
//! workloads of five parameters in one pass.

use super::commits::Commits;
use super::phases::{Activity, PAUSE_NS, Phases};
use super::share::{Neighbours, Share, ShareContext};
use super::stages::Stages;
use super::touched::Touched;
use ioscape_schema::{FileCall, Op, Portrait};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Processes listed separately in the result; later ones only count in the totals and in the files.
const PROCESSES_MOST: u32 = 4096;

/// The most files and processes that are listed individually.
const LISTED: usize = 100;

/// Processes that together issue no more than this share of requests and of bytes do not count as
/// concurrent: for example a shell that reads its script while a program runs.
const NEGLIGIBLE: f64 = 0.01;

/// One file, over all processes.
#[derive(Clone, Debug, Default)]
struct File {
    share: Share,
    /// What was read or written, if anything was.
    touched: Option<Touched>,
    commits: Commits,
}

impl File {
    /// Returns the number of distinct bytes, in whole pages.
    fn unique_bytes(&self) -> u64 {
        self.touched.as_ref().map_or(0, Touched::bytes)
    }
}

/// A process's thread of addresses in one file.
#[derive(Clone, Debug, Default)]
struct Thread {
    end: u64,
    run: u64,
    /// When all requests of the current run had completed.
    ended_ns: u64,
    phases: Phases,
}

/// A process, or several that take turns and count as one; see [`Commits`].
#[derive(Clone, Debug, Default)]
struct Actor {
    before: Option<(Op, u32, u64)>,
    phases: Phases,
    writes: bool,
    /// When storage had its last write; absent until it has.
    forced_ns: Option<u64>,
    requests: u64,
    bytes: u64,
}

impl Actor {
    /// Whether its last commit ended before `call`, and no long pause lies between.
    fn is_followed_by(&self, call: &FileCall) -> bool {
        let gap_ns = self.forced_ns.and_then(|forced_ns| call.issued_ns.checked_sub(forced_ns));
        gap_ns.is_some_and(|gap_ns| gap_ns <= PAUSE_NS)
    }
}

/// One process by itself, over all files.
#[derive(Clone, Debug, Default)]
struct Process {
    phases: Phases,
    share: Share,
    /// The actor that its last write counted for.
    wrote_as: Option<u32>,
    /// By file.
    touched: BTreeMap<u32, Touched>,
}

/// Reduces calls to parameters; see [`Traits`](ioscape_schema::Traits) for what comes out.
///
/// `process_num` is the mean number of processes that are in their I/O phase while at least one
/// still has requests to come in its own. A phase lasts from a request to the last request or sync
/// before a pause of ten seconds. A process with several requests in flight at once, other than
/// those of one sequential stream, counts that many times; several that take turns at writing a log,
/// or at reading a file in order, count once. With `think_time_ns`, the rest of a process's phase, a
/// closed system of this many processes issues as many requests per second as the application did,
/// if its requests take as long. Traces of devices measure both differently, because no process
/// waits for their requests: see `trace::characterize`.
///
/// Memory: about 100 bytes for every 2 MiB of a file in which something was touched, doubled if by
/// one of the first 4096 processes, plus a few hundred bytes for every file of every process, and 16
/// for each sync that no request follows.
#[derive(Clone, Debug)]
pub struct Application {
    page_bytes: u64,
    overall: Share,
    files: BTreeMap<u32, File>,
    processes: BTreeMap<u32, Process>,
    actors: BTreeMap<u32, Actor>,
    /// The actor that has moved most of those that write, after that many bytes.
    writer: Option<(u64, u32)>,
    /// By file and actor.
    threads: BTreeMap<(u32, u32), Thread>,
    stages: Stages,
}

impl Application {
    /// Returns one without calls; distinct bytes are counted in whole pages of `page_bytes`, as the
    /// file cache holds them.
    pub fn new(page_bytes: u64) -> Self {
        Self {
            page_bytes,
            overall: Share::default(),
            files: BTreeMap::new(),
            processes: BTreeMap::new(),
            actors: BTreeMap::new(),
            writer: None,
            threads: BTreeMap::new(),
            stages: Stages::default(),
        }
    }

    /// Adds the next call; calls must arrive in the order of completion. Returns the process that
    /// it counts for: another than its own if they take turns.
    pub fn record(&mut self, call: &FileCall) -> u32 {
        let process = self.processes.entry(call.process).or_default();
        let in_detail = call.process < PROCESSES_MOST;
        let File { share, touched, commits } = self.files.entry(call.file).or_default();
        // Those that take turns at a log still do where it goes on in another file.
        let turn =
            |number: &u32| self.actors.get(number).is_some_and(|actor| actor.is_followed_by(call));
        let commit = commits.record(call, process.wrote_as.filter(turn).unwrap_or(call.process));
        let mut shares = vec![share, &mut self.overall];
        if in_detail {
            shares.push(&mut process.share);
        }
        shares.iter_mut().for_each(|share| share.wait(commit.waited));
        let acted = FileCall { process: commit.actor, ..*call };
        if call.is_sync() {
            shares.into_iter().for_each(|share| share.sync(call));
            process.phases.sync(call.issued_ns, call.completed_ns);
            self.sync(&acted);
            return commit.actor;
        }
        let (offset, len) = (call.request.offset, u64::from(call.request.len));
        let end = offset.saturating_add(len);
        let thread = self.threads.entry((call.file, commit.actor)).or_default();
        let follows = thread.run > 0 && thread.end == offset;
        let ended = (!follows && thread.run > 0).then_some(thread.run);
        thread.run = if follows { thread.run + 1 } else { 1 };
        thread.end = end;
        let after_ns = if follows { thread.ended_ns } else { 0 };
        thread.ended_ns = after_ns.max(call.completed_ns);
        thread.phases.add(call.issued_ns, call.completed_ns, after_ns);
        let actor = self.actors.entry(commit.actor).or_default();
        let neighbours = Neighbours {
            follows,
            follows_strictly: actor
                .before
                .is_some_and(|(_, file, last)| (file, last) == (call.file, offset)),
            before: actor.before.map(|(op, ..)| op),
        };
        actor.before = Some((call.request.op, call.file, end));
        for phases in [&mut actor.phases, &mut process.phases] {
            phases.add(call.issued_ns, call.completed_ns, after_ns);
        }
        actor.requests += 1;
        actor.bytes = actor.bytes.saturating_add(len);
        if !call.is_read() {
            actor.writes = true;
            actor.forced_ns = call.is_synchronous.then_some(call.completed_ns);
            process.wrote_as = Some(commit.actor);
            self.writer = self.writer.max(Some((actor.bytes, commit.actor)));
        }
        for share in shares {
            share.request(call, neighbours);
            ended.into_iter().for_each(|length| share.run(length));
        }
        let touched = touched.get_or_insert_with(|| Touched::new(self.page_bytes));
        self.stages.record(&acted, touched);
        touched.touch(offset, len);
        if in_detail {
            let touched = process.touched.entry(call.file);
            touched.or_insert_with(|| Touched::new(self.page_bytes)).touch(offset, len);
        }
        commit.actor
    }

    /// Adds a sync to the phases of its actor. One that never wrote, such as `sync(1)`, waits for
    /// what others wrote: its syncs belong to the largest writer.
    fn sync(&mut self, call: &FileCall) {
        self.stages.sync(call);
        let writes = self.actors.get(&call.process).is_some_and(|actor| actor.writes);
        let writer = self.writer.map_or(call.process, |(_, writer)| writer);
        let actor = self.actors.get_mut(if writes { &call.process } else { &writer });
        let thread = self.threads.get_mut(&(call.file, call.process));
        let phases = actor.map(|actor| {
            if !call.is_write_back {
                actor.forced_ns = Some(call.completed_ns);
            }
            &mut actor.phases
        });
        for phases in phases.into_iter().chain(thread.map(|thread| &mut thread.phases)) {
            phases.sync(call.issued_ns, call.completed_ns);
        }
    }

    /// Returns the parameters of the whole, the files and the processes.
    pub fn finish(mut self) -> Portrait {
        self.end_runs();
        self.files.remove(&FileCall::NO_FILE);
        let beside = |unique_bytes: u64, firsts: usize, activity: Activity| ShareContext {
            unique_bytes,
            firsts: firsts as u64,
            activity,
        };
        let most = largest(self.files.iter().map(|(&number, file)| (&file.share, number)));
        let files = most.iter().filter_map(|number| {
            let file = self.files.get(number)?;
            let threads = self.threads.range((*number, 0)..=(*number, u32::MAX));
            let phases: Vec<&Phases> = threads.map(|(_, thread)| &thread.phases).collect();
            let activity = Activity::of(phases.iter().copied());
            let beside = beside(file.unique_bytes(), phases.len(), activity);
            Some((*number, file.share.traits(&beside)))
        });
        let files: Vec<_> = files.collect();
        let most = largest(self.processes.iter().map(|(&number, one)| (&one.share, number)));
        let processes = most.iter().filter_map(|number| {
            let process = self.processes.get(number)?;
            let unique = process.touched.values().map(Touched::bytes).sum();
            let activity = Activity::of([&process.phases].into_iter());
            Some((*number, process.share.traits(&beside(unique, 1, activity))))
        });
        let processes: Vec<_> = processes.collect();
        let whole: u64 = self.files.values().map(File::unique_bytes).sum();
        let stages = std::mem::take(&mut self.stages);
        let end = |file: &File| file.touched.as_ref().map_or(0, |touched| touched.end);
        let lengths = self.files.iter();
        let lengths = lengths.map(|(&number, file)| (number, file.unique_bytes(), end(file)));
        let activity = self.activity();
        Portrait {
            overall: self.overall.traits(&beside(whole, self.actors.len(), activity)),
            files_left_out: (self.files.len() - files.len()) as u64,
            files,
            processes_left_out: (self.processes.len() - processes.len()) as u64,
            processes,
            phases: stages.finish(lengths, activity),
            ways: self.overall.ways(),
            sync_s: self.overall.sync_s(&activity),
        }
    }

    /// Records the runs that were still in progress.
    fn end_runs(&mut self) {
        for ((file, number), thread) in &self.threads {
            self.overall.run(thread.run);
            if let Some(file) = self.files.get_mut(file) {
                file.share.run(thread.run);
            }
            if let Some(process) = self.processes.get_mut(number) {
                process.share.run(thread.run);
            }
        }
    }

    /// Returns the activity of all processes except negligible ones.
    fn activity(&self) -> Activity {
        let mut by_size: Vec<&Actor> = self.actors.values().collect();
        by_size.sort_by_key(|actor| (actor.requests, actor.bytes));
        let most = |whole: u64| (whole as f64 * NEGLIGIBLE) as u64;
        let (requests, bytes) = (most(self.overall.requests), most(self.overall.bytes));
        let (mut left_requests, mut left_bytes) = (0u64, 0u64);
        let counted = by_size.iter().skip_while(|actor| {
            left_requests += actor.requests;
            left_bytes = left_bytes.saturating_add(actor.bytes);
            left_requests <= requests && left_bytes <= bytes
        });
        let counted: Vec<&Phases> = counted.map(|actor| &actor.phases).collect();
        Activity::of(counted.into_iter())
    }
}

/// Returns the numbers of those with the most bytes.
fn largest<'a>(all: impl Iterator<Item = (&'a Share, u32)>) -> Vec<u32> {
    let mut order: Vec<(Reverse<u64>, u32)> =
        all.map(|(share, number)| (Reverse(share.bytes), number)).collect();
    order.sort_unstable();
    order.into_iter().take(LISTED).map(|(_, number)| number).collect()
}

#[cfg(test)]
mod tests;
