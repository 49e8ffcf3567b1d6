//! How long it takes until a thread runs that is woken, in percentiles: by another thread, and by a timer.

use crate::case::{Case, Op, Scene, Timing};
use crate::cswitch::other;
use crate::process::pin;
use ioscape_machine::clock::monotonic_ns;
use ioscape_machine::thread::builder;
use ioscape_schema::OsRule;
use rustix::thread::{clock_nanosleep_relative, futex, set_current_timer_slack};
use rustix::time::{ClockId, Timespec};
use std::cell::Cell;
use std::io;
use std::num::NonZeroU64;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Time that the thread sleeps before it is woken, so that its processor falls idle.
const PAUSE_NS: u64 = 30_000;

/// Time that the timer is set to.
const TIMER_NS: i64 = 100_000;

/// Latencies of a batch, added up: some hundreds of them.
const BATCH_NS: u64 = 10_000_000;

/// Percentiles, as their names say.
const PERCENTILES: [(&str, f64); 3] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)];

/// The cases.
pub(crate) fn cases() -> Vec<Case> {
    let thread = "From waking a thread that sleeps on another processor until it runs: what a request waits for before anybody works on it.";
    let timer = "How much later than asked a thread runs that sleeps for 100 us.";
    let mut all = Vec::new();
    for (name, share) in PERCENTILES {
        let woken = move |scene: &Scene| by_thread(scene, share);
        all.push(of(Case::new("wake-up", format!("another CPU, {name}"), thread, woken), share));
    }
    for (name, share) in PERCENTILES {
        let late = move |scene: &Scene| by_timer(scene, share);
        all.push(of(Case::new("wake-up", format!("timer, {name}"), timer, late), share));
    }
    all
}

/// A median is made as other cases' values are; of a high percentile the fastest batches would be no fair picture.
fn of(case: Case, share: f64) -> Case {
    let case = case.across_two().batches_of(BATCH_NS);
    if share > 0.5 { case.by(OsRule::Mean) } else { case }
}

/// An operation that measures latencies, whose batch is timed as if each had taken the percentile.
fn percentile(
    timing: Rc<Cell<Timing>>,
    share: f64,
    mut latency: impl FnMut() -> io::Result<u64> + 'static,
) -> Op {
    Box::new(move |count| {
        let mut all = (0..count).map(|_| latency()).collect::<io::Result<Vec<u64>>>()?;
        all.sort_unstable();
        let at = (share * all.len() as f64).ceil() as usize;
        let found = all.get(at.saturating_sub(1)).copied().unwrap_or(0);
        timing.set(Timing { passed_ns: (found * count).max(1), ..Timing::default() });
        Ok(())
    })
}

/// What both threads see.
#[derive(Debug, Default)]
struct Bell {
    /// Counts up for each waking; the last value of all ends the thread.
    rung: AtomicU32,
    /// When the thread last ran; 0 before.
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
            // A thread that panicked has nothing more to tell.
            let _ = thread.join();
        }
    }
}

fn ring(bell: &Bell) {
    bell.rung.fetch_add(1, Ordering::Release);
    // A thread that is not asleep sees the new value by itself.
    let _ = futex::wake(&bell.rung, futex::Flags::PRIVATE, 1);
}

/// Sleeps until the bell rings, notes when it ran, and so on.
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

fn by_thread(scene: &Scene, share: f64) -> io::Result<Op> {
    let cpu = other(scene)?;
    let bell = Arc::new(Bell::default());
    let theirs = Arc::clone(&bell);
    let (tell, told) = std::sync::mpsc::channel();
    let thread = builder()?.spawn(move || {
        // The other end waits for it, so that it is there.
        let _ = tell.send(pin(cpu));
        sleep(&theirs);
    })?;
    let sleeper = Sleeper { bell, thread: Some(thread) };
    told.recv().map_err(io::Error::other)??;
    // It is no partner whose waiting for a processor others caused: that waiting is what is measured. Who else uses its processor is seen by
    // the time of the processors.
    Ok(percentile(scene.timed_by_itself(), share, move || {
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

fn by_timer(scene: &Scene, share: f64) -> io::Result<Op> {
    // Else the kernel may be 50 us late to save energy.
    set_current_timer_slack(NonZeroU64::new(1))?;
    let asked = Timespec { tv_sec: 0, tv_nsec: TIMER_NS };
    Ok(percentile(scene.timed_by_itself(), share, move || {
        let begun = monotonic_ns();
        // An interrupted sleep is a short one, which counts as no latency.
        let _ = clock_nanosleep_relative(ClockId::Monotonic, &asked);
        Ok((monotonic_ns() - begun).saturating_sub(TIMER_NS.unsigned_abs()))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_takes_its_percentile_each_time() {
        let timing = Rc::<Cell<Timing>>::default();
        let mut next = 0;
        let mut op = percentile(Rc::clone(&timing), 0.9, move || {
            next += 1;
            Ok(next)
        });
        op(10).unwrap();
        assert_eq!(timing.get().passed_ns, 90);
    }

    #[test]
    fn timers_are_late() {
        let scene = Scene::default();
        by_timer(&scene, 0.5).unwrap()(3).unwrap();
        let timing = scene.timing.borrow().as_ref().unwrap().get();
        assert!(timing.passed_ns > 0);
    }
}
