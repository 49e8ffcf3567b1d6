//! Percentiles of the latency from waking a thread until it runs: woken by another thread, and by a
//! timer.

use crate::case::{Case, Op, Scene, Timing, too_late};
use crate::cswitch::other;
use ioscape_machine::affinity::pin;
use ioscape_machine::clock::monotonic_ns;
use ioscape_machine::thread::builder;
use ioscape_schema::OsRule;
use ioscape_schema::units::Nanos;
use rustix::thread::{clock_nanosleep_relative, futex, set_current_timer_slack};
use rustix::time::{ClockId, Timespec};
use std::cell::Cell;
use std::io;
use std::num::NonZeroU64;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How long the thread sleeps before it is woken, so that its processor becomes idle.
const PAUSE_NS: u64 = 30_000;

/// Time that the timer is set to.
const TIMER_NS: i64 = 100_000;

/// The sum of a batch's latencies: some hundreds of them, rounded to whole blocks.
const BATCH_NS: u64 = 10_000_000;

/// A percentile, and the number of latencies from which it is taken: enough that five lie beyond
/// it. A process takes at least six such blocks. For the 99th percentile they take half a second
/// with timers, at some 155 us each, and a quarter of a second with threads, at 80 us.
#[derive(Clone, Copy, Debug)]
struct Percentile {
    name: &'static str,
    share: f64,
    block: u64,
}

const PERCENTILES: [Percentile; 3] = [
    Percentile { name: "p50", share: 0.5, block: 10 },
    Percentile { name: "p90", share: 0.9, block: 50 },
    Percentile { name: "p99", share: 0.99, block: 500 },
];

/// The longest that a block may take: a multiple of its time with prompt wake-ups, because the
/// other cases need time as well.
const PATIENCE_NS: u64 = 1_000_000_000;

/// The cases.
pub(crate) fn cases() -> Vec<Case> {
    let thread = "From waking a thread that sleeps on another processor until it runs: what a request waits for before anybody works on it.";
    let timer = "How much later than asked a thread runs that sleeps for 100 us.";
    let mut all = Vec::new();
    for one in PERCENTILES {
        let woken = move |scene: &Scene| by_thread(scene, one);
        all.push(of(
            Case::new("wake-up", format!("another CPU, {}", one.name), thread, woken),
            one,
        ));
    }
    for one in PERCENTILES {
        let late = move |scene: &Scene| by_timer(scene, one);
        all.push(of(Case::new("wake-up", format!("timer, {}", one.name), timer, late), one));
    }
    all
}

/// Makes a whole block one operation, so that a batch with slow wake-ups does not shrink to a
/// percentile of a few. A median is computed like other cases' values. For a high percentile, the
/// fastest batches would be too favourable.
fn of(case: Case, Percentile { share, block, .. }: Percentile) -> Case {
    let case = case.across_two().batches_of(BATCH_NS).of_each(block as f64);
    if share > 0.5 { case.by(OsRule::Mean) } else { case }
}

/// Returns an operation that measures blocks of latencies, each within `patience_ns`; its batch is
/// timed as if every latency were the percentile.
fn percentile(
    timing: Rc<Cell<Timing>>,
    Percentile { share, block, .. }: Percentile,
    patience_ns: u64,
    mut latency: impl FnMut() -> io::Result<u64> + 'static,
) -> Op {
    Box::new(move |blocks| {
        let count = block * blocks;
        let until = monotonic_ns().saturating_add(patience_ns.saturating_mul(blocks));
        let in_time = |found: u64| match monotonic_ns() < until {
            true => Ok(found),
            false => Err(late(block, patience_ns)),
        };
        let all = (0..count).map(|_| latency().and_then(in_time));
        let mut all = all.collect::<io::Result<Vec<u64>>>()?;
        all.sort_unstable();
        let at = (share * all.len() as f64).ceil() as usize;
        let found = all.get(at.saturating_sub(1)).copied().unwrap_or(0);
        let passed_ns = found.saturating_mul(count).max(1);
        timing.set(Timing { passed_ns, ..Timing::default() });
        Ok(())
    })
}

/// Returns the error for a percentile that takes too long: a stall if it happens in one process,
/// the machine if in all.
fn late(block: u64, patience_ns: u64) -> io::Error {
    too_late(&format!(
        "wake-ups are so late here, or other programs keep the processors so busy, that {block} of them, which this percentile takes, take more than {}",
        Nanos(patience_ns as f64)
    ))
}

/// The state that both threads share.
#[derive(Debug, Default)]
struct Bell {
    /// Counts the wake-ups; at the last one `over` is set, which ends the thread.
    rung: AtomicU32,
    /// When the thread last ran; 0 if it has not run yet.
    ran_ns: AtomicU64,
    over: AtomicU32,
}

/// Ends the thread when it is dropped.
struct Sleeper {
    bell: Arc<Bell>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.bell.over.store(1, Ordering::Release);
        ring(&self.bell);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing more to report.
            let _ = thread.join();
        }
    }
}

fn ring(bell: &Bell) {
    bell.rung.fetch_add(1, Ordering::Release);
    // A thread that is not asleep notices the new value by itself.
    let _ = futex::wake(&bell.rung, futex::Flags::PRIVATE, 1);
}

/// Sleeps until the bell rings, records when it ran, and repeats.
fn sleep(bell: &Bell) {
    let mut seen = 0;
    while bell.over.load(Ordering::Acquire) == 0 {
        let rung = bell.rung.load(Ordering::Acquire);
        if rung == seen {
            let _ = futex::wait(&bell.rung, futex::Flags::PRIVATE, seen, None);
        } else {
            seen = rung;
            bell.ran_ns.store(monotonic_ns(), Ordering::Release);
        }
    }
}

fn by_thread(scene: &Scene, one: Percentile) -> io::Result<Op> {
    let cpu = other(scene)?;
    let bell = Arc::new(Bell::default());
    let theirs = Arc::clone(&bell);
    let (tell, told) = std::sync::mpsc::channel();
    let thread = builder()?.spawn(move || {
        // The receiver waits for this, so it exists.
        let _ = tell.send(pin(cpu));
        sleep(&theirs);
    })?;
    let sleeper = Sleeper { bell, thread: Some(thread) };
    told.recv().map_err(io::Error::other)??;
    // The thread is not registered as a partner, because its waiting for a processor is what is
    // measured. The processors' counters show whether others use its processor.
    Ok(percentile(scene.timed_by_itself(), one, PATIENCE_NS, move || {
        let bell = &sleeper.bell;
        bell.ran_ns.store(0, Ordering::Relaxed);
        let asleep = monotonic_ns() + PAUSE_NS;
        while monotonic_ns() < asleep {
            std::hint::spin_loop();
        }
        let begun = monotonic_ns();
        ring(bell);
        loop {
            match bell.ran_ns.load(Ordering::Acquire) {
                0 => std::hint::spin_loop(),
                ran => return Ok(ran.saturating_sub(begun)),
            }
        }
    }))
}

fn by_timer(scene: &Scene, one: Percentile) -> io::Result<Op> {
    // Otherwise the kernel may be 50 us late to save energy.
    set_current_timer_slack(NonZeroU64::new(1))?;
    let asked = Timespec { tv_sec: 0, tv_nsec: TIMER_NS };
    Ok(percentile(scene.timed_by_itself(), one, PATIENCE_NS, move || {
        let begun = monotonic_ns();
        // An interrupted sleep is short and counts as zero latency.
        let _ = clock_nanosleep_relative(ClockId::Monotonic, &asked);
        Ok((monotonic_ns() - begun).saturating_sub(TIMER_NS.unsigned_abs()))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::not_here;

    /// Returns latencies of 10 us, every fiftieth of which is 1 ms.
    fn script() -> impl FnMut() -> io::Result<u64> {
        let mut next = 0;
        move || {
            next += 1;
            Ok(if next % 50 == 0 { 1_000_000 } else { 10_000 })
        }
    }

    #[test]
    fn a_batch_takes_its_percentile_each_time() {
        let timing = Rc::<Cell<Timing>>::default();
        let one = Percentile { name: "", share: 0.9, block: 5 };
        let mut next = 0;
        let mut op = percentile(Rc::clone(&timing), one, PATIENCE_NS, move || {
            next += 1;
            Ok(next)
        });
        op(2).unwrap();
        assert_eq!(timing.get().passed_ns, 90);
    }

    #[test]
    fn a_percentile_is_never_one_of_a_few() {
        let value = |one: Percentile| {
            let timing = Rc::<Cell<Timing>>::default();
            percentile(Rc::clone(&timing), one, PATIENCE_NS, script())(1).unwrap();
            let case = of(Case::new("x", "y", "", |_| Err(not_here("no"))), one);
            case.value(timing.get().passed_ns as f64)
        };
        // Even the smallest batch holds latencies beyond the percentile, whether long or short.
        assert_eq!(PERCENTILES.map(value), [10_000.0, 10_000.0, 1_000_000.0]);
        for one in PERCENTILES {
            assert!(one.block as f64 * (1.0 - one.share) > 4.9, "{one:?}");
        }
    }

    #[test]
    fn a_percentile_without_time_says_so() {
        let error = percentile(Rc::default(), PERCENTILES[2], 0, script())(1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let told = error.to_string();
        assert!(told.starts_with("no time for it") && told.contains("500 of them"), "{told}");
    }

    #[test]
    fn timers_are_late() {
        let scene = Scene::default();
        by_timer(&scene, PERCENTILES[0]).unwrap()(3).unwrap();
        let timing = scene.timing.borrow().as_ref().unwrap().get();
        assert!(timing.passed_ns > 0);
    }
}
