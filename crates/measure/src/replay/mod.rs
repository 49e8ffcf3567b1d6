//! Replays requests on a target at given times: open loop, as many in flight as asked, and how late each one was.
//!
//! Each of the threads takes the next request, sleeps until it is due, and carries it out; so requests are issued on time as long
//! as one thread is free. What the processors and the kernel's timer make late is counted, not hidden.

mod batches;
mod hand;
mod options;

pub use batches::ReplayJob;
pub use options::ReplayOptions;

use crate::conductor::failure;
use crate::conductor::stops::{self, Stopped, Stops};
use crate::engine::buffer::{BUFFERS, Stamp, check_room};
use crate::engine::content::Content;
use crate::engine::{Action, Fault};
use crate::verify::notes::Notes;
use crate::verify::read_back::read_back;
use crate::verify::{Ledger, NoteBook, Sealed};
use crate::worker::rows;
use hand::{Hand, KINDS};
use ioscape_machine::cache;
use ioscape_machine::clock::{Clock, monotonic_ns};
use ioscape_machine::error::Error;
use ioscape_machine::parallel::on_threads;
use ioscape_machine::target::Target;
use ioscape_schema::{
    Access, Counters, Distribution, Io, Placed, ReplayedKind, VerifyReport, Warning,
};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Names of the kinds of requests.
const NAMES: [&str; KINDS] = ["read", "write", "flush", "discard"];
/// How often progress is told and an interruption is seen.
const LOOK: Duration = Duration::from_millis(100);

/// Who may stop a replay, and who is told how far it is.
#[derive(Clone, Default)]
pub struct ReplayWatch {
    /// Set to stop soon; what was done by then is the result.
    pub interrupt: Arc<AtomicBool>,
    /// Called a few times a second with the requests issued so far and the time since the beginning in nanoseconds.
    pub on_progress: Option<Arc<dyn Fn(u64, u64) + Send + Sync>>,
}

/// What was done.
#[derive(Debug, Default)]
pub struct Replayed {
    /// By kind, those that there were.
    pub kinds: Vec<ReplayedKind>,
    /// Discards that the target does not take.
    pub refused: u64,
    /// Requests that went to another place than in the trace.
    pub moved: u64,
    /// Requests whose bounds were rounded.
    pub rounded: u64,
    /// Requests that were made shorter.
    pub cut: u64,
    /// From the beginning to the last completion.
    pub elapsed_ns: u64,
    /// How late requests were issued; absent as fast as possible.
    pub lateness_ns: Option<Distribution>,
    /// Whether it was stopped.
    pub interrupted: bool,
    /// The request or the flush at the end that failed and ended it; what was done before is told all the same.
    pub failed: Option<Error>,
    /// What speaks against the figures.
    pub warnings: Vec<Warning>,
    /// The first requests in the order of their arrival, as they went: `queued_ns` is when they were due.
    pub rows: Vec<Io>,
}

/// What the threads of a replay share.
struct Shared<'a, S> {
    options: &'a ReplayOptions,
    clock: &'a Clock,
    source: Mutex<S>,
    ready: Barrier,
    /// Requests that are kept one by one.
    rows_most: u64,
    /// When it began, on the kernel's monotonic clock, which stands still while the machine is suspended: the clock of the response times may
    /// go on then, and all that would have been due meanwhile would be issued at once.
    start_ns: OnceLock<u64>,
    stop: AtomicBool,
    fault: Mutex<Option<Fault>>,
    issued: AtomicU64,
    working: AtomicUsize,
}

/// Refuses a replay whose buffers would take more than half of the available memory.
///
/// # Errors
/// The refusal.
pub fn check_memory(options: &ReplayOptions) -> Result<(), Error> {
    let each = u64::from(hand::buffer_bytes(options));
    let all = each.saturating_mul(u64::from(options.in_flight.max(1)));
    check_room(all, BUFFERS, None, "allow fewer --in-flight")
}

/// Carries out the requests of `source` on `target`: times are counted from 0, places lie within the target.
///
/// # Errors
/// The target cannot be opened so. A request that fails is told beside what was done before.
pub fn run<S, P>(
    target: &Target,
    options: &ReplayOptions,
    clock: &Clock,
    watch: &ReplayWatch,
    source: S,
) -> Result<Replayed, Error>
where
    S: FnMut() -> Option<P> + Send,
    P: Into<Placed>,
{
    let compresses = target.file_system().compresses();
    let stamp = |_| Stamp::against(compresses);
    run_with(target, options, clock, watch, source, stamp)
}

/// The same; every block that is written carries what it takes to check it, reads check those that `ledger` knows of, and all of
/// them are read back at the end unless the replay was stopped or failed.
///
/// # Errors
/// As of [`run`]; what is found in the blocks is no failure, and a failure of the reading back is told beside what was done before.
pub fn run_verified<S, P>(
    target: &Target,
    ledger: &Ledger,
    options: &ReplayOptions,
    clock: &Clock,
    watch: &ReplayWatch,
    source: S,
) -> Result<(Replayed, VerifyReport), Error>
where
    S: FnMut() -> Option<P> + Send,
    P: Into<Placed>,
{
    let notes = NoteBook::new(options.in_flight.max(1) as usize)
        .map_err(|error| Error::io("get shared memory for", target.path(), error))?;
    let sealed = |number| Sealed::new(ledger, notes.of(number));
    let mut done = run_with(target, options, clock, watch, source, sealed)?;
    if !done.interrupted && done.failed.is_none() {
        match check_all(target, ledger, notes.at_end(), watch) {
            Ok(whole) => done.interrupted = !whole,
            Err(error) => done.failed = Some(error),
        }
    }
    let name = |_| target.path().display().to_string();
    Ok((done, notes.report(ledger.block_bytes, name)))
}

/// Drops what was written from the file cache, reads it back and checks it; whether it came to the end before `watch` stopped it.
fn check_all(
    target: &Target,
    ledger: &Ledger,
    notes: Notes<'_>,
    watch: &ReplayWatch,
) -> Result<bool, Error> {
    let file = target.open_file(Access::Buffered, false)?;
    cache::evict(&file)?;
    let counted = cache::resident_bytes(&file, 0, ledger.bytes());
    notes.cached(target.file_system().resident(counted));
    let goes_on = |_| !watch.interrupt.load(Ordering::Relaxed);
    read_back(&file, ledger, notes, goes_on)
        .map_err(|fault| failure::from_fault(fault, target.path()))
}

fn run_with<S, P, C>(
    target: &Target,
    options: &ReplayOptions,
    clock: &Clock,
    watch: &ReplayWatch,
    source: S,
    content: impl Fn(usize) -> C,
) -> Result<Replayed, Error>
where
    S: FnMut() -> Option<P> + Send,
    P: Into<Placed>,
    C: Content + Send,
{
    let file = target.open_file(options.access, options.writes)?;
    cache::evict(&file)?;
    let threads = options.in_flight.max(1) as usize;
    check_memory(options)?;
    let shared = Shared {
        options,
        clock,
        source: Mutex::new(source),
        ready: Barrier::new(threads),
        rows_most: rows::that_fit(options.rows_most, None) as u64,
        start_ns: OnceLock::new(),
        stop: AtomicBool::new(false),
        fault: Mutex::new(None),
        issued: AtomicU64::new(0),
        working: AtomicUsize::new(threads),
    };
    // Opened before any thread waits for the others.
    let hands = (0..threads).map(|number| Hand::new(target, options, number, content(number)));
    let hands = hands.collect::<Result<Vec<_>, _>>()?;
    let run = |hand| work(hand, &shared);
    let (done, stopped) = on_threads(hands, run, || look(&shared, watch))
        .map_err(|e| Error::io("start the threads of a replay on", target.path(), e))?;
    let done: Vec<_> = done.into_iter().flatten().collect();
    let fault = shared.fault.lock().unwrap_or_else(PoisonError::into_inner).take();
    let failed = fault.or_else(|| {
        // Pages lost on the way to storage are reported to those who had the file open.
        let synced = options.writes.then(|| rustix::fs::fdatasync(&file))?;
        synced.err().map(|error| Fault::new(Action::Sync, error.raw_os_error()))
    });
    let failed = failed.map(|fault| failure::from_fault(fault, target.path()));
    Ok(Replayed { failed, ..summary(&done, options, watch, stopped) })
}

/// Tells progress and passes interruptions on, until all threads are done; the stops of this program.
fn look<S>(shared: &Shared<'_, S>, watch: &ReplayWatch) -> Stopped {
    let mut stops = Stops::new();
    while shared.working.load(Ordering::Acquire) > 0 {
        let began = Instant::now();
        std::thread::park_timeout(LOOK);
        stops.slept(began, LOOK);
        if watch.interrupt.load(Ordering::Relaxed) {
            shared.stop.store(true, Ordering::Relaxed);
        }
        if let (Some(tell), Some(start_ns)) = (&watch.on_progress, shared.start_ns.get()) {
            let since_ns = monotonic_ns().saturating_sub(*start_ns);
            tell(shared.issued.load(Ordering::Relaxed), since_ns);
        }
    }
    stops.all()
}

/// What one thread found.
#[derive(Default)]
struct Found {
    counters: [Counters; KINDS],
    late: Counters,
    refused: u64,
    moved: u64,
    rounded: u64,
    cut: u64,
    last_ns: u64,
    rows: Vec<Io>,
}

/// Counts a thread as done whatever ends it.
struct Working<'a>(&'a AtomicUsize);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn work<S, P, C>(mut hand: Hand<C>, shared: &Shared<'_, S>) -> Found
where
    S: FnMut() -> Option<P>,
    P: Into<Placed>,
    C: Content,
{
    let _working = Working(&shared.working);
    // The kernel may else wake a sleeper 50 us late, to wake others with it; where it refuses, that is part of the lateness.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let mut found = Found::default();
    shared.ready.wait();
    let start_ns = *shared.start_ns.get_or_init(monotonic_ns);
    let since = || monotonic_ns().saturating_sub(start_ns);
    while !shared.stop.load(Ordering::Relaxed) {
        let next = (shared.source.lock().unwrap_or_else(PoisonError::into_inner))();
        let Some(placed) = next.map(Into::into) else { break };
        let io = placed.io;
        // What is checked must not count as under way while it waits for its time.
        if !C::CHECKS {
            hand.prepare(&io);
        }
        if let Some(speed) = shared.options.speed {
            let due_ns = due_ns(&io, speed);
            if !sleep_until(due_ns, &since, &shared.stop) {
                break;
            }
            found.late.add(0, since().saturating_sub(due_ns));
        }
        let number = shared.issued.fetch_add(1, Ordering::Relaxed);
        found.moved += u64::from(placed.moved);
        found.rounded += u64::from(placed.rounded);
        found.cut += u64::from(placed.cut);
        if C::CHECKS {
            hand.prepare(&io);
        }
        let (issued_ns, issued) = (since(), shared.clock.raw());
        let done = hand.carry_out(&io);
        let took_ns = shared.clock.nanos_between(issued, shared.clock.raw());
        found.last_ns = since();
        // What a request left that failed is not known: what it began to write stays under way, which no one judges.
        if done.is_ok() {
            hand.conclude(&io);
        }
        match done {
            Ok(Some(kind)) => {
                if number < shared.rows_most {
                    let due_ns = shared.options.speed.map(|speed| due_ns(&io, speed));
                    let queued_ns = due_ns.unwrap_or(issued_ns).min(issued_ns);
                    let completed_ns = issued_ns + took_ns;
                    found.rows.push(Io { queued_ns, issued_ns, completed_ns, ..io });
                }
                let bytes = u64::from(io.request.len);
                found.counters[kind as usize].add(bytes, took_ns);
            }
            Ok(None) => found.refused += 1,
            Err(fault) => {
                let mut first = shared.fault.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(fault);
                shared.stop.store(true, Ordering::Relaxed);
            }
        }
    }
    found
}

/// When a request is to be issued.
fn due_ns(io: &Io, speed: f64) -> u64 {
    (io.queued_ns as f64 / speed) as u64
}

/// Whether the time came before the replay was stopped.
fn sleep_until(due_ns: u64, since: &impl Fn() -> u64, stop: &AtomicBool) -> bool {
    loop {
        let left = due_ns.saturating_sub(since());
        if left == 0 {
            return true;
        }
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        std::thread::sleep(Duration::from_nanos(left).min(LOOK));
    }
}

fn summary(
    done: &[Found],
    options: &ReplayOptions,
    watch: &ReplayWatch,
    stopped: Stopped,
) -> Replayed {
    let mut counters: [Counters; KINDS] = Default::default();
    let mut late = Counters::new();
    for found in done {
        counters.iter_mut().zip(&found.counters).for_each(|(all, one)| all.merge(one));
        late.merge(&found.late);
    }
    let elapsed_ns = done.iter().map(|found| found.last_ns).max().unwrap_or(0);
    let kind = |(all, name): (&Counters, &str)| ReplayedKind {
        kind: name.to_owned(),
        ios: all.ios,
        bytes: all.bytes,
        response_time_ns: all.response_time(),
    };
    let mut rows: Vec<Io> = done.iter().flat_map(|found| found.rows.iter().copied()).collect();
    rows.sort_by_key(|io| (io.queued_ns, io.issued_ns));
    let kinds = counters.iter().zip(NAMES).filter(|(one, _)| one.ios > 0);
    Replayed {
        kinds: kinds.map(kind).collect(),
        refused: done.iter().map(|found| found.refused).sum(),
        moved: done.iter().map(|found| found.moved).sum(),
        rounded: done.iter().map(|found| found.rounded).sum(),
        cut: done.iter().map(|found| found.cut).sum(),
        elapsed_ns,
        lateness_ns: options.speed.map(|_| late.distribution()),
        interrupted: watch.interrupt.load(Ordering::Relaxed),
        failed: None,
        warnings: stops::doubt(stopped, elapsed_ns as f64 / 1e9).into_iter().collect(),
        rows,
    }
}

#[cfg(test)]
mod tests;
