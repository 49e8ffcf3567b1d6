//! `vxbench` on the real machine: a given count of requests per stream, with elapsed time, throughput and processor time
//! (VERITAS white paper, 1996, pp. 5-7).

pub mod ageing;
mod files;
mod fill;
mod names;
mod reserve;
pub mod site;
#[cfg(test)]
mod tests;
mod verified;
mod worker;

pub use files::{Extent, Files, Look, look, place};
pub use fill::Filled;

use crate::conductor::stops::{self, Stopped, Stops};
use crate::conductor::watched::{READY, Watched};
use crate::together::{Together, moment, wait_until};
use crate::worker::meter::WAITING_MAX;
use crate::worker::report::{REPORT_WORDS, Report, doubt_of_buffers};
use crate::worker::rows::{self, KeptRows, ROW_WORDS};
use files::Opened;
use ioscape_machine::clock::Clock;
use ioscape_machine::crew::{Crew, DONE};
use ioscape_machine::error::{Death, Error};
use ioscape_machine::extents;
use ioscape_machine::parallel::allowed;
use ioscape_machine::shared::{Shared, phase};
use ioscape_machine::traps::cached_writes;
use ioscape_schema::{
    Counters, Io, IoFlags, Request, VxFigures, VxFile, VxJob, VxRun, VxUsers, Warning, WarningKind,
};
use reserve::{Honesty, read_from_nowhere};
pub use reserve::{blocks_may_be_empty, cold_here_alone};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use verified::Verified;
use worker::{Plan, STREAM_WORDS};

/// Time that interrupted workers get to finish their requests in flight.
const GRACE: Duration = Duration::from_millis(1500);

/// Workers that stay stopped for this long are given up.
const STOPPED: Duration = Duration::from_secs(30);

/// How often progress is reported.
const TELL: Duration = Duration::from_millis(200);

/// If at least this share of a file is in the cache after direct I/O, that I/O was not direct.
const NOT_DIRECT: f64 = 0.5;

/// How often the other machines are asked whether they are ready.
const ASK: Duration = Duration::from_millis(5);

/// What may stop a run, which machines run it at the same time, and what receives its progress.
#[derive(Clone, Default)]
pub struct Watch {
    /// Set to stop soon: the run ends with [`Error::Interrupted`].
    pub interrupt: Arc<AtomicBool>,
    /// Called a few times a second with the bytes moved so far.
    pub on_progress: Option<Arc<dyn Fn(u64) + Send + Sync>>,
    /// Other machines that do their part of the work at the same time.
    pub together: Option<Arc<dyn Together>>,
}

impl Watch {
    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

/// One stream's report, and its beginning and end on the kernel's monotonic clock.
struct StreamOutcome {
    report: Report,
    began_ns: u64,
    ended_ns: u64,
    fsync_ns: Option<u64>,
    split: bool,
}

/// A run, with its individual requests as far as they were kept.
pub struct KeptRun {
    /// The run.
    pub run: VxRun,
    /// Its requests in the order of issue, or the first of them if there was no room for all. Each
    /// file is a device of its own.
    pub rows: KeptRows,
    /// Size of the range of each file that the requests lie in, in bytes.
    pub sizes: Vec<u64>,
}

/// Runs `job` on `files`, one user per file; `requests` returns the requests of a user's thread for
/// one pass.
///
/// # Errors
/// An option cannot be honoured (unless best effort is enough), a request fails, a worker dies, or
/// the user interrupts. Files made for the run are then removed.
pub fn run<F, S>(
    files: Files,
    job: &VxJob,
    clock: &Clock,
    watch: &Watch,
    requests: F,
) -> Result<VxRun, Error>
where
    F: Fn(u32, u32) -> S + Sync,
    S: Iterator<Item = Request>,
{
    run_keeping(files, job, clock, watch, (requests, 0)).map(|kept| kept.run)
}

/// Like [`run`], but keeps the first requests one by one: at most `rows_most` in total, in equal
/// parts for the streams.
pub fn run_keeping<F, S>(
    mut files: Files,
    job: &VxJob,
    clock: &Clock,
    watch: &Watch,
    (requests, rows_most): (F, usize),
) -> Result<KeptRun, Error>
where
    F: Fn(u32, u32) -> S + Sync,
    S: Iterator<Item = Request>,
{
    files::check_memory(job, files.opened.len())?;
    let verified = Verified::of(&files.opened, job)?;
    let mut warnings = Vec::new();
    let (direct, reserved) = prepared(&files, job, &mut warnings)?;
    let shared = shared(&files.opened, job, rows_most)?;
    let before: Vec<Option<u64>> = files.opened.iter().map(Opened::resident).collect();
    let run = Plan {
        shared: &shared,
        files: &files.opened,
        direct: &direct,
        job,
        clock,
        verify: verified.as_ref().map(Verified::parts),
    };
    let (told, stopped) = conduct(&run, watch, &requests)?;
    for ((one, before), _) in files.opened.iter().zip(before).zip(&direct).filter(|(_, is)| **is) {
        let told = job.workload.writes().then(|| cached_writes(&one.file, &one.file_system));
        let doubt = not_direct(one, before, one.resident()).or(told.flatten());
        let doubt = doubt.filter(|doubt| !warnings.contains(doubt));
        warnings.extend(doubt);
    }
    warnings.extend(doubt_of_buffers(told.iter().map(|one| &one.report)));
    warnings.extend(doubt_of_waiting(&told));
    if !job.workload.writes() {
        // Not earlier: asking where a file lies brings that information into memory, and cold reads
        // must fetch it themselves.
        warnings.extend(read_from_nowhere(&files.opened));
    }
    if verified.is_some() {
        watched(&run, watch, 1, None, |_| worker::read_all_back(&run))?;
    }
    let mut honesty = Honesty::new(&files, job, &mut warnings);
    for one in &files.opened {
        honesty.finish(one)?;
    }
    let mut outcome = VxRun { job: job.clone(), warnings, ..VxRun::default() };
    outcome.verify = verified.map(|verified| verified.report(&files.opened));
    let threads = job.nthreads.max(1) as usize;
    for ((one, streams), direct) in files.opened.iter().zip(told.chunks(threads)).zip(direct) {
        outcome.files.push(summary(one, streams, job, direct)?);
    }
    outcome.total = figures(&told);
    for (file, took_s) in outcome.files.iter_mut().zip(reserved) {
        file.reservation_s = took_s;
        if job.reserve_only {
            // The reservations, one after another, are all there is to time.
            file.figures.elapsed_s = took_s.unwrap_or(0.0);
            outcome.total.elapsed_s += file.figures.elapsed_s;
        }
    }
    let rows =
        if rows_most > 0 { kept_rows(&told, &shared, job, clock) } else { KeptRows::default() };
    outcome.warnings.extend(stops::doubt(stopped, outcome.total.elapsed_s));
    let range = |one: &Opened| one.extent.range_bytes.max(one.extent.end_bytes);
    let sizes = files.opened.iter().map(range).collect();
    files.keep();
    Ok(KeptRun { run: outcome, rows, sizes })
}

/// Prepares the files for the requests; returns, for each, whether its requests are direct and the
/// seconds that its reservation took.
fn prepared(
    files: &Files,
    job: &VxJob,
    warnings: &mut Vec<Warning>,
) -> Result<(Vec<bool>, Vec<Option<f64>>), Error> {
    let opened = &files.opened;
    let mut honesty = Honesty::new(files, job, warnings);
    let direct = opened.iter().map(|one| honesty.direct(one)).collect::<Result<Vec<_>, _>>()?;
    let reserved = opened.iter().map(|one| honesty.prepare(one)).collect::<Result<Vec<_>, _>>()?;
    warnings.extend(reserve::below(opened, &direct, job));
    let remote = opened.iter().filter(|_| job.cold);
    warnings.extend(remote.filter_map(|one| cold_here_alone(&one.file_system)).take(1));
    if job.workload.reads() && job.workload.writes() {
        warnings.extend(read_from_nowhere(opened));
    }
    Ok((direct, reserved))
}

/// The requests that the streams kept.
fn kept_rows(told: &[StreamOutcome], shared: &Shared, job: &VxJob, clock: &Clock) -> KeptRows {
    let words = (0..told.len()).map(|index| &shared.report(index)[STREAM_WORDS..]);
    let waited = if job.queue_depth.is_none() { IoFlags::SYNC } else { IoFlags::ASYNC };
    let forced = if job.sync || job.dsync { IoFlags::FUA } else { IoFlags::empty() };
    let streams = told.iter().map(|one| &one.report).zip(words);
    let mut kept = rows::collect(streams, waited | forced, clock);
    // Streams are numbered from 1; those of a file have consecutive numbers.
    let user = |io: &Io| (io.process - 1) / job.nthreads.max(1);
    kept.rows.iter_mut().for_each(|io| io.device = u16::try_from(user(io)).unwrap_or(u16::MAX));
    kept
}

/// The streams of each process.
fn groups(job: &VxJob, users: u32) -> Vec<Range<u32>> {
    let threads = job.nthreads.max(1);
    let all = users.saturating_mul(threads);
    let step = match job.users {
        VxUsers::ProcessesOfThreads => threads,
        VxUsers::Processes => 1,
        VxUsers::Threads => all.max(1),
    };
    (0..all)
        .step_by(step as usize)
        .map(|first| first..first.saturating_add(step).min(all))
        .collect()
}

/// Memory for all streams.
fn shared(opened: &[Opened], job: &VxJob, rows_most: usize) -> Result<Shared, Error> {
    let streams = opened.len() * job.nthreads.max(1) as usize;
    let path = opened.first().map_or(Path::new(""), |one| &one.named);
    let rows = ROW_WORDS * (rows::that_fit(rows_most, None) / streams.max(1));
    Shared::new(streams, STREAM_WORDS + rows)
        .map_err(|e| Error::io("get shared memory for", path, e))
}

/// Runs the streams; returns what they did, and their stops.
fn conduct<F, S>(
    plan: &Plan<'_>,
    watch: &Watch,
    requests: &F,
) -> Result<(Vec<StreamOutcome>, Stopped), Error>
where
    F: Fn(u32, u32) -> S + Sync,
    S: Iterator<Item = Request>,
{
    let (opened, job, shared) = (plan.files, plan.job, plan.shared);
    if opened.is_empty() {
        return Ok((Vec::new(), Stopped::default()));
    }
    let groups = groups(job, opened.len() as u32);
    let body = |number: u32| worker::carry_out(plan, groups[number as usize].clone(), requests);
    let others = watch.together.as_deref();
    let stopped = watched(plan, watch, groups.len() as u32, others, body)?;
    if job.workload.writes() {
        watched(plan, watch, 1, None, |_| worker::write_back(plan))?;
    }
    let done = (0..shared.streams())
        .map(|index| {
            let words = shared.report(index);
            let report = Report::load(&words[..REPORT_WORDS]);
            let word = |number: usize| words[REPORT_WORDS + number].load(Ordering::Relaxed);
            let dead = Error::Worker { process: index as u32, death: Death::Exit(DONE) };
            report
                .map(|report| StreamOutcome {
                    report,
                    began_ns: word(0),
                    ended_ns: word(1),
                    fsync_ns: word(2).checked_sub(1),
                    split: word(3) == 1,
                })
                .ok_or(dead)
        })
        .collect::<Result<_, _>>()?;
    Ok((done, stopped))
}

/// Has `number` workers run `body`, starting together with `others`, and waits until they are done;
/// returns their stops.
fn watched(
    plan: &Plan<'_>,
    watch: &Watch,
    number: u32,
    others: Option<&dyn Together>,
    body: impl Fn(u32) -> i32,
) -> Result<Stopped, Error> {
    let threads = plan.job.nthreads.max(1) as usize;
    let path_of = |stream: usize| plan.files[stream / threads].named.as_path();
    let crew =
        Crew::fork(number, body).map_err(|e| Error::io("fork workers for", path_of(0), e))?;
    let (shared, interrupt) = (plan.shared, &*watch.interrupt);
    let watched = Watched { crew, shared, interrupt, grace: GRACE, path_of: &path_of };
    await_streams(watched, watch, others)
}

/// Starts all streams once they are ready, and waits until they are done.
fn await_streams(
    mut watched: Watched<'_>,
    watch: &Watch,
    others: Option<&dyn Together>,
) -> Result<Stopped, Error> {
    watched.await_all(Shared::all_ready, READY)?;
    if let Some(others) = others {
        wait_until(agreed(&mut watched, others)?);
    }
    watched.shared.set_phase(phase::MEASURE);
    if let Some(others) = others {
        others.began(SystemTime::now());
    }
    let mut stops = Stops::new();
    loop {
        let began = Instant::now();
        let done = watched.crew.wait(TELL, || watch.is_interrupted());
        stops.slept(began, TELL);
        watched.look_after()?;
        if done {
            return Ok(stops.all());
        }
        stops.look(&watched.crew);
        if stops.lasting() > STOPPED {
            let (process, death) = watched.crew.first_silent();
            return Err(Error::Worker { process, death });
        }
        if let Some(told) = &watch.on_progress {
            let [read, written] = watched.shared.moved();
            told(read + written);
        }
    }
}

/// The time at which all machines begin, once that is agreed.
fn agreed(watched: &mut Watched<'_>, others: &dyn Together) -> Result<Instant, Error> {
    loop {
        match others.begins() {
            Some(at) => return Ok(moment(at)),
            None => std::thread::sleep(ASK),
        }
        watched.look_after()?;
    }
}

/// Waits until the other machines begin, or the user interrupts.
fn begin_with(others: &dyn Together, watch: &Watch) {
    while !watch.is_interrupted() {
        if let Some(at) = others.begins() {
            wait_until(moment(at));
            others.began(SystemTime::now());
            return;
        }
        std::thread::sleep(ASK);
    }
}

/// The doubt about streams that waited for a processor, unless they outnumber the processors and so
/// wait for one another.
fn doubt_of_waiting(told: &[StreamOutcome]) -> Option<Warning> {
    let lasted = |one: &StreamOutcome| one.ended_ns.saturating_sub(one.began_ns) as f64;
    let waited: f64 = told.iter().map(|one| one.report.run_delay_ns as f64).sum();
    let share = waited / told.iter().map(lasted).sum::<f64>();
    let message = format!(
        "the streams were ready to run but waited for a processor {:.0} % of the time, which other programs, other clients of this run, threads of the \
         kernel or a quota of processor time took: how much faster the streams would have been otherwise cannot be told; measure again when each has a processor",
        100.0 * share.min(1.0)
    );
    let is_told = told.len() <= allowed() && share > WAITING_MAX;
    is_told.then(|| Warning::new(WarningKind::LoadByOthers, message))
}

/// The doubt that direct I/O went through the file cache after all, since it left its pages there.
fn not_direct(one: &Opened, before: Option<u64>, after: Option<u64>) -> Option<Warning> {
    let gained = after?.saturating_sub(before?);
    let share = gained as f64 / one.extent.range_bytes.max(1) as f64;
    let message = format!(
        "after direct I/O on {} another {:.0} % of the file were in the file cache: {} served it through the cache",
        one.named.display(),
        share * 100.0,
        one.file_system.name
    );
    (share > NOT_DIRECT).then(|| Warning::new(WarningKind::Unsupported, message))
}

/// Sums up what a user's streams did and what became of the file; removes the file if requested.
fn summary(
    one: &Opened,
    streams: &[StreamOutcome],
    job: &VxJob,
    direct: bool,
) -> Result<VxFile, Error> {
    let mut size_bytes = match one.is_device {
        true => None,
        false => Some(one.state()?.len()),
    };
    let extents = extents::extents(&one.file).ok().filter(|_| !one.is_device);
    if job.remove {
        one.unlink().map_err(|error| Error::io("remove", &one.named, error))?;
        size_bytes = None;
    }
    let dontcache = || worker::takes_dontcache(&one.file);
    let by = || if dontcache() { "RWF_DONTCACHE" } else { "POSIX_FADV_NOREUSE" };
    Ok(VxFile {
        path: one.named.display().to_string(),
        figures: figures(streams),
        threads: streams.iter().map(|told| figures(std::slice::from_ref(told))).collect(),
        size_bytes,
        extents: extents.and_then(|found| extents::fragments(&found)),
        direct_align: direct.then(|| one.direct_align()),
        reservation_s: None,
        noreuse_by: (job.noreuse && !job.workload.is_mapped()).then(|| by().to_owned()),
    })
}

/// The figures of several streams together, from the beginning of the first to the end of the last.
fn figures(streams: &[StreamOutcome]) -> VxFigures {
    let began_ns = streams.iter().map(|told| told.began_ns).min().unwrap_or(0);
    let ended_ns = streams.iter().map(|told| told.ended_ns).max().unwrap_or(0);
    let (mut all, mut syncs) = (Counters::new(), Counters::new());
    let mut cpu_ns = [0u64; 2];
    for told in streams {
        told.fsync_ns.into_iter().for_each(|ns| syncs.add(0, ns));
        told.report.counters.iter().for_each(|one| all.merge(one));
        cpu_ns[0] += told.report.cost.user_ns;
        cpu_ns[1] += told.report.cost.system_ns;
    }
    let elapsed_s = ended_ns.saturating_sub(began_ns) as f64 / 1e9;
    VxFigures {
        ios: all.ios,
        bytes: all.bytes,
        elapsed_s,
        throughput_bytes_per_s: if elapsed_s > 0.0 { all.bytes as f64 / elapsed_s } else { 0.0 },
        cpu_user_s: cpu_ns[0] as f64 / 1e9,
        cpu_system_s: cpu_ns[1] as f64 / 1e9,
        cpu_split_told: (all.ios > 0).then(|| streams.iter().all(|told| told.split)),
        response_time_ns: (all.ios > 0).then(|| all.response_time()),
        fsync_ns: (syncs.ios > 0).then(|| syncs.response_time()),
    }
}
