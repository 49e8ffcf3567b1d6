//! Runs one case in a fresh process: prepared, warmed up, then short batches until its time is over.

use super::case::{Case, Op, Scene};
use super::estimate::Batch;
use super::pace::pace_ns;
use super::waiting::Meter;
use ioscape_machine::crew::{Crew, DONE, FAULTED};
use ioscape_machine::error::{Death, Error};
use ioscape_machine::shared::Shared;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Most batches that a process reports.
const BATCHES: usize = 4096;

/// Words of a report: how many batches, or how long the message is; then they.
const WORDS: usize = 1 + 4 * BATCHES;

/// Longest that a process may take in all, in turns of a second, so that a machine that was suspended counts once.
const PATIENCE: u32 = 300;

/// The delay that stands for one that the kernel does not tell.
const UNTOLD: u64 = u64::MAX;

/// How a process ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// With batches.
    Measured(Vec<Batch>),
    /// With a sentence about why the case cannot be measured, or went wrong.
    Refused(String),
}

/// Runs `case` in a process of its own for about `ns`.
///
/// # Errors
/// No process could be made, or the user interrupted.
pub(crate) fn run(
    case: &Case,
    scene: &Scene,
    ns: u64,
    interrupt: &AtomicBool,
) -> Result<Ended, Error> {
    let failed = |e| Error::io("start a process for", &scene.directory, e);
    let shared = Shared::new(1, WORDS).map_err(failed)?;
    let body = |_| {
        let outcome = enter(case, scene).and_then(|mut op| {
            let meter = Meter::new(case.waiting, scene.partner.get());
            batches(&mut op, (ns, case.batch_ns), &meter, shared.report(0))
        });
        outcome.map_or_else(|error| leave_message(shared.report(0), &error), |()| DONE)
    };
    let mut crew = Crew::fork(1, body).map_err(failed)?;
    let mut turns = 0;
    while !crew.wait(Duration::from_secs(1), || interrupt.load(Ordering::Relaxed)) {
        turns += 1;
        if interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if turns > PATIENCE {
            return Ok(Ended::Refused("it did not end in five minutes and was stopped".to_owned()));
        }
    }
    Ok(match crew.first_dead() {
        Some((_, Death::Exit(DONE))) => Ended::Measured(read_batches(shared.report(0))),
        Some((_, Death::Exit(FAULTED))) => Ended::Refused(read_message(shared.report(0))),
        Some((_, death)) => Ended::Refused(format!("its process {death}")),
        None => Ended::Refused("its process ended without reporting".to_owned()),
    })
}

/// Enters the scene's directory and prepares the case.
fn enter(case: &Case, scene: &Scene) -> io::Result<Op> {
    if case.pinned {
        pin(scene.cpu)?;
    }
    if !scene.directory.as_os_str().is_empty() {
        std::env::set_current_dir(&scene.directory)?;
    }
    (case.ready)(scene)
}

/// Pins this thread to a processor.
pub(crate) fn pin(cpu: usize) -> io::Result<()> {
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu);
    rustix::thread::sched_setaffinity(None, &set).map_err(io::Error::from)
}

fn nanos(from: Instant) -> u64 {
    u64::try_from(from.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Finds how many operations fill a batch, and warms up meanwhile.
fn calibrate(op: &mut Op, ns: u64, batch_ns: u64) -> io::Result<u64> {
    let mut ops = 1u64;
    let begun = Instant::now();
    loop {
        let mut least = u64::MAX;
        for _ in 0..3 {
            let start = Instant::now();
            op(ops)?;
            least = least.min(nanos(start)).max(1);
            if least > ns {
                return Ok(1);
            }
        }
        let fitting = (ops as f64 * batch_ns as f64 / least as f64).ceil() as u64;
        if least >= batch_ns / 4 {
            if nanos(begun) > ns / 8 {
                return Ok(fitting.max(1));
            }
            ops = fitting.max(1);
        } else {
            ops = fitting.min(ops.saturating_mul(8)).max(ops + 1);
        }
    }
}

/// Runs batches of `batch_ns` for about `ns` and reports them.
fn batches(
    op: &mut Op,
    (ns, batch_ns): (u64, u64),
    meter: &Meter,
    report: &[AtomicU64],
) -> io::Result<()> {
    let ops = calibrate(op, ns, batch_ns)?;
    let begun = Instant::now();
    let mut count = 0;
    let mut pace_before = pace_ns();
    while count < BATCHES && (count < 3 || nanos(begun) < ns) {
        let before = meter.read();
        let start = Instant::now();
        op(ops)?;
        let passed = nanos(start);
        let waited = meter.waited(before, meter.read(), passed);
        let pace_after = pace_ns();
        let words = [passed, ops, waited.unwrap_or(UNTOLD), pace_before.max(pace_after)];
        pace_before = pace_after;
        for (slot, word) in report[1 + 4 * count..].iter().zip(words) {
            slot.store(word, Ordering::Relaxed);
        }
        count += 1;
    }
    report[0].store(count as u64, Ordering::Release);
    Ok(())
}

fn read_batches(report: &[AtomicU64]) -> Vec<Batch> {
    let count = (report[0].load(Ordering::Acquire) as usize).min(BATCHES);
    let word = |at: usize| report[at].load(Ordering::Relaxed);
    let batch = |i: usize| {
        let delay = word(3 + 4 * i);
        Batch {
            ns: word(1 + 4 * i),
            ops: word(2 + 4 * i),
            delay_ns: (delay != UNTOLD).then_some(delay),
            pace_ns: word(4 + 4 * i),
        }
    };
    (0..count).map(batch).collect()
}

fn leave_message(report: &[AtomicU64], error: &io::Error) -> i32 {
    let text = error.to_string();
    let bytes = &text.as_bytes()[..text.len().min(8 * (WORDS - 1))];
    for (slot, chunk) in report[1..].iter().zip(bytes.chunks(8)) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        slot.store(u64::from_le_bytes(word), Ordering::Relaxed);
    }
    report[0].store(bytes.len() as u64, Ordering::Release);
    FAULTED
}

fn read_message(report: &[AtomicU64]) -> String {
    let len = (report[0].load(Ordering::Acquire) as usize).min(8 * (WORDS - 1));
    let words = report[1..].iter().take(len.div_ceil(8));
    let bytes: Vec<u8> = words.flat_map(|w| w.load(Ordering::Relaxed).to_le_bytes()).collect();
    String::from_utf8_lossy(&bytes[..len]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::not_here;

    fn scene() -> Scene {
        let directory = std::path::PathBuf::new();
        Scene {
            directory,
            cpu: 0,
            other_cpu: None,
            program: None,
            partner: std::cell::Cell::new(None),
        }
    }

    fn spin(rounds: u64) {
        for i in 0..rounds {
            std::hint::black_box(i);
        }
    }

    #[test]
    fn batches_come_back_whole() {
        let case = Case::new("spin", "", "", |_| {
            Ok(Box::new(|n| {
                spin(n * 100);
                Ok(())
            }))
        });
        let case = case.unpinned();
        let ended = run(&case, &scene(), 20_000_000, &AtomicBool::new(false)).unwrap();
        let Ended::Measured(batches) = ended else { panic!("{ended:?}") };
        assert!(batches.len() >= 3);
        assert!(batches.iter().all(|b| b.ns > 0 && b.ops == batches[0].ops));
    }

    #[test]
    fn refusals_arrive_as_sentences() {
        let refuse = Case::new("x", "", "", |_| Err(not_here("there is one processor only")));
        let ended = run(&refuse.unpinned(), &scene(), 1, &AtomicBool::new(false)).unwrap();
        assert!(matches!(&ended, Ended::Refused(why) if why == "there is one processor only"));
        let dies = Case::new("x", "", "", |_| panic!("on purpose"));
        let ended = run(&dies.unpinned(), &scene(), 1, &AtomicBool::new(false)).unwrap();
        assert!(matches!(&ended, Ended::Refused(why) if why.contains("exit code")), "{ended:?}");
    }

    #[test]
    fn an_interrupt_ends_the_wait() {
        let endless = Case::new("x", "", "", |_| {
            Ok(Box::new(|_| {
                loop {
                    std::thread::sleep(Duration::from_secs(1));
                }
            }))
        });
        let ended = run(&endless.unpinned(), &scene(), 1, &AtomicBool::new(true));
        assert!(matches!(ended, Err(Error::Interrupted)));
    }
}
