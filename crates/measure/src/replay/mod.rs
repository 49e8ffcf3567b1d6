//! Replays requests on a target at given times: open loop, with at most a given number in flight,
//! reporting how late each one was.
//!
//! Each thread takes the next request, sleeps until it is due, and carries it out. So requests are
//! issued on time as long as one thread is free. Delays by the processors and by the kernel's timer
//! are counted, not hidden.

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
use crate::worker::rows::{self, KeptRows};
use hand::{Hand, KINDS};
use ioscape_machine::cache;
use ioscape_machine::clock::{Clock, monotonic_ns, unix_ns};
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
/// How often progress is reported and interruptions are noticed.
const LOOK: Duration = Duration::from_millis(100);

/// What may stop a replay, and what receives its progress.
#[derive(Clone, Default)]
pub struct ReplayWatch {
    /// Set to stop soon. The result is what was done by then.
    pub interrupt: Arc<AtomicBool>,
    /// Called a few times a second with the number of requests issued so far and the nanoseconds
    /// since the beginning.
    pub on_progress: Option<Arc<dyn Fn(u64, u64) + Send + Sync>>,
}

/// The result of a replay.
#[derive(Debug, Default)]
pub struct Replayed {
    /// The figures of each kind of request that occurred.
    pub kinds: Vec<ReplayedKind>,
    /// Discards that the target does not support.
    pub refused: u64,
    /// Requests that went to another place than in the trace.
    pub moved: u64,
    /// Requests that were made larger, to bounds that direct I/O takes.
    pub rounded: u64,
    /// Requests that were made shorter.
    pub cut: u64,
    /// Time from when the first request was there to the last completion.
    pub elapsed_ns: u64,
    /// How late requests were issued; absent for a replay as fast as possible.
    pub lateness_ns: Option<Distribution>,
    /// Whether the replay was stopped.
    pub interrupted: bool,
    /// The failure that ended the replay: of a request, or of the flush at the end. The figures
    /// cover what was done before it.
    pub failed: Option<Error>,
    /// Doubts about the figures.
    pub warnings: Vec<Warning>,
    /// The first requests in the order of arrival, as they were issued; `queued_ns` is when they
    /// were due.
    pub rows: KeptRows,
}

/// The state shared by the threads of a replay.
struct Shared<'a, S> {
    options: &'a ReplayOptions,
    clock: &'a Clock,
    source: Mutex<S>,
    ready: Barrier,
    /// The most requests that are kept one by one.
    rows_most: u64,
    /// When the first request was there, on the kernel's monotonic clock, which stands still while the machine
    /// is suspended. The clock for the response times may go on then; by that clock, every request
    /// due during the suspension would be issued at once.
    start_ns: OnceLock<u64>,
    stop: AtomicBool,
    fault: Mutex<Option<Fault>>,
    issued: AtomicU64,
    working: AtomicUsize,
}

/// Refuses a replay whose buffers would take more than half of the available memory.
///
/// # Errors
/// The buffers need too much memory.
pub fn check_memory(options: &ReplayOptions) -> Result<(), Error> {
    let each = u64::from(hand::buffer_bytes(options));
    let all = each.saturating_mul(u64::from(options.in_flight.max(1)));
    check_room(all, BUFFERS, None, "allow fewer --in-flight")
}

/// Carries out the requests of `source` on `target`. Their times count from 0, and their places lie
/// within the target.
///
/// # Errors
/// The target cannot be opened for this. A request that fails is reported beside what was done
/// before it.
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

/// Like [`run`], with verification: every written block carries what is needed to check it, and
/// reads check the blocks that `ledger` knows. All of these are read back at the end, unless the
/// replay was stopped or failed.
///
/// # Errors
/// As for [`run`]. Wrong blocks are no error. A failure while reading back is reported beside what
/// was done before.
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

/// Drops the written data from the file cache, reads it back and checks it. Returns whether it
/// finished before `watch` stopped it.
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
        // The kernel reports pages lost on the way to storage only to those who had the file open.
        let synced = options.writes.then(|| rustix::fs::fdatasync(&file))?;
        synced.err().map(|error| Fault::new(Action::Sync, error.raw_os_error()))
    });
    let failed = failed.map(|fault| failure::from_fault(fault, target.path()));
    let start_ns = shared.start_ns.get();
    let began_unix_ns = start_ns.and_then(|at| unix_ns(monotonic_ns().saturating_sub(*at)));
    Ok(Replayed { failed, ..summary(&done, options, watch, stopped, began_unix_ns) })
}

/// Reports progress and passes on interruptions until all threads are done; returns the stops of
/// this program.
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

/// The findings of one thread.
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

/// Counts a thread as done, however it ends.
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
    // Otherwise, the kernel may wake a sleeper 50 us late in order to wake others with it. Where it
    // refuses, that adds to the lateness.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let mut found = Found::default();
    shared.ready.wait();
    while !shared.stop.load(Ordering::Relaxed) {
        let next = (shared.source.lock().unwrap_or_else(PoisonError::into_inner))();
        let Some(placed) = next.map(Into::into) else { break };
        // Time begins with the first request, however long it took to read.
        let start_ns = *shared.start_ns.get_or_init(monotonic_ns);
        let since = || monotonic_ns().saturating_sub(start_ns);
        let io = placed.io;
        // A verified write must not count as under way while it waits until it is due.
        if !C::CHECKS {
            hand.prepare(&io);
        }
        let due_ns = shared.options.speed.map(|speed| due_ns(&io, speed));
        if due_ns.is_some_and(|due_ns| !sleep_until(due_ns, &since, &shared.stop)) {
            break;
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
        if let Some(due_ns) = due_ns {
            found.late.add(0, issued_ns.saturating_sub(due_ns));
        }
        // The outcome of a failed request is unknown: what it began to write stays under way, and
        // is never judged.
        if done.is_ok() {
            hand.conclude(&io);
        }
        match done {
            Ok(Some(kind)) => {
                if number < shared.rows_most {
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

/// Sleeps until `due_ns`; returns false if the replay was stopped first.
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
    began_unix_ns: Option<i64>,
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
        rows: KeptRows { rows, began_unix_ns },
    }
}

#[cfg(test)]
mod tests;
