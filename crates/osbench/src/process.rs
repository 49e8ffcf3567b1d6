//! Runs one case in a fresh process: preparation, warm-up, then short batches until time is up.
#![expect(unsafe_code, reason = "closes inherited descriptors")]

use super::case::{Case, Op, Scene, TOO_LATE, Timing, advised, wrong};
use super::estimate::Batch;
use super::image::Report;
use super::pace::pace_ns;
use super::stop::Stop;
use super::stops::{self, Beat};
use super::waiting::Meter;
use ioscape_machine::affinity::pin;
use ioscape_machine::crew::{Crew, DONE, FAULTED, LONGEST_PAUSE};
use ioscape_machine::error::{Death, EXHAUSTED, Error};
use ioscape_machine::limits::why_killed;
use std::cell::Cell;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The most batches that a process reports.
const BATCHES: usize = 4096;

/// Words of a report: the number of batches or the length of the message, followed by the data.
pub(crate) const WORDS: usize = 1 + 4 * BATCHES;

/// The step of a fresh image that measures a case. Arguments: benchmark, case, processor, time.
pub(crate) const IMAGE: &str = "case";

/// The most turns, of one second each, that a process may take. A suspended machine counts as one.
const PATIENCE: u32 = 300;

/// If others use its processor, a process may take this many times as long as it measures.
const PATIENCE_TO_MEASURE: u64 = 6;

/// The same while it calibrates the length of an operation.
const PATIENCE_TO_CALIBRATE: u64 = 40;

/// The least time allowed for calibration, in nanoseconds: some time slices of others.
const CALIBRATE_LEAST_NS: u64 = 500_000_000;

/// The reason for having no batches in that case.
const NEVER_LONG_ENOUGH: &str =
    "no batch ran long enough undisturbed to learn how long one operation takes";

/// Stands for a delay that the kernel does not report.
pub(crate) const UNTOLD: u64 = u64::MAX;

/// How a process ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// With batches.
    Measured(Vec<Batch>),
    /// Without a batch: others disturbed it too much to learn how long an operation takes.
    Disturbed,
    /// Without its batches, because one took too long; the sentence applies if no process has any.
    Late(String),
    /// With a sentence that says why the case cannot be measured, or what went wrong.
    Refused(String),
    /// Early, because the time of the run was up.
    TimeUp,
}

/// Runs `case` in its own process for about `ns`.
///
/// # Errors
/// The process could not be created, or the user interrupted.
pub(crate) fn run(case: &Case, scene: &Scene, ns: u64, stop: Stop<'_>) -> Result<Ended, Error> {
    let failed = |e| Error::io("start a process for", Path::new(case.name), e);
    let fresh = scene.program.as_ref().filter(|_| case.fresh_image);
    let report = match Report::new(WORDS, fresh.is_some()) {
        Ok(report) => report,
        // Another case may do without a report that an image can map.
        Err(error) if fresh.is_some() => return Ok(Ended::Refused(no_report(&error))),
        Err(error) => return Err(failed(error)),
    };
    let body = |_| match fresh {
        None => measure(case, scene, ns, report.words()),
        Some(program) => {
            let numbers = [scene.cpu.to_string(), ns.to_string()];
            let words = [case.name.to_owned(), case.case.clone()].into_iter().chain(numbers);
            let words: Vec<OsString> = words.map(OsString::from).collect();
            leave_message(report.words(), &report.enter(program, IMAGE, &words))
        }
    };
    let mut crew = Crew::fork(1, body).map_err(failed)?;
    let (mut turns, beat) = (0, Beat::new());
    while !wait(&mut crew, &beat, stop) {
        turns += 1;
        if stop.is_asked() {
            return Err(Error::Interrupted);
        }
        if stop.is_late() {
            return Ok(Ended::TimeUp);
        }
        if turns > PATIENCE {
            return Ok(Ended::Refused("it did not end in five minutes and was stopped".to_owned()));
        }
    }
    stops::note(report.stops());
    ended(crew.first_dead().map(|(_, death)| death), report.words(), stop.is_asked())
}

/// Returns how a process of `case` ended that was not stopped.
#[cfg(test)]
pub(crate) fn ran(case: Case, scene: &Scene, ns: u64) -> Ended {
    let interrupt = &std::sync::atomic::AtomicBool::new(false);
    run(&case.unpinned(), scene, ns, Stop { interrupt, until: None }).unwrap()
}

/// Returns how a process ended, given its death, its report and whether the user asked to end.
fn ended(death: Option<Death>, report: &[AtomicU64], is_asked: bool) -> Result<Ended, Error> {
    Ok(match death {
        Some(Death::Exit(DONE)) => Ended::Measured(read_batches(report)),
        // A signal to the process group also ends the case: that says nothing about the case.
        _ if is_asked => return Err(Error::Interrupted),
        Some(Death::Exit(FAULTED)) => match read_message(report) {
            why if why == NEVER_LONG_ENOUGH => Ended::Disturbed,
            why if why.starts_with(TOO_LATE) => Ended::Late(why),
            why => Ended::Refused(why),
        },
        Some(death) => Ended::Refused(died(death)),
        None => Ended::Refused("its process ended without reporting".to_owned()),
    })
}

/// Measures a case here for about `ns`, reports its batches or an error; returns the exit code.
pub(crate) fn measure(case: &Case, scene: &Scene, ns: u64, report: &[AtomicU64]) -> i32 {
    let outcome = enter(case, scene).and_then(|mut op| {
        let meter = Meter::new(case.waiting, scene.partner.get())?;
        let by_itself = scene.timing.take();
        let stopwatch = Stopwatch { meter, by_itself, tries_pace: scene.judges_pace(case) };
        batches(&mut op, (ns, case.batch_ns), &stopwatch, report)
    });
    outcome.map_or_else(|error| leave_message(report, &advised(error)), |()| DONE)
}

/// Waits a second, or until the processes have ended or must end; returns whether they have ended.
pub(crate) fn wait(crew: &mut Crew, beat: &Beat, stop: Stop<'_>) -> bool {
    let over = || {
        beat.tick(LONGEST_PAUSE);
        stop.is_over()
    };
    let ended = crew.wait(Duration::from_secs(1), over);
    beat.tick(LONGEST_PAUSE);
    ended
}

/// Says why a process that should begin as a fresh image cannot report, and what helps.
fn no_report(error: &io::Error) -> String {
    let advice = match error.raw_os_error() {
        Some(libc::EFBIG) => ": raise the limit of file sizes (ulimit -f)",
        _ => "",
    };
    format!(
        "there is no memory that a fresh image of this program could report in: {error}{advice}"
    )
}

/// Says how a process of a case died, and what helps: `os` lacks other commands' worker options.
pub(crate) fn died(death: Death) -> String {
    match death {
        Death::Signal(libc::SIGKILL) => {
            format!(
                "its process was killed (signal 9), {}: raise the memory limit of its control group, or leave this benchmark out with --only",
                why_killed()
            )
        }
        Death::Exit(EXHAUSTED) => {
            "its process found no memory: raise the limit of memory (ulimit -v), or leave this benchmark out with --only".to_owned()
        }
        death => format!("its process {death}"),
    }
}

/// Closes all inherited descriptors but the three standard ones: calls such as `select` cost more
/// with high descriptor numbers.
fn close_inherited() {
    // SAFETY: this process uses no descriptor of its parent: it reports through memory and exits
    // without the parent's destructors. A kernel without the call leaves them open.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
}

/// Enters the scene's directory and prepares the case.
fn enter(case: &Case, scene: &Scene) -> io::Result<Op> {
    if !scene.directory.as_os_str().is_empty() {
        // Its path may lead through an inherited descriptor, which is closed next.
        std::env::set_current_dir(&scene.directory)?;
    }
    close_inherited();
    if case.pinned {
        pin(scene.cpu)?;
    }
    (case.ready)(scene)
}

fn nanos(from: Instant) -> u64 {
    u64::try_from(from.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Times batches: by the harness, unless the case times itself.
struct Stopwatch {
    meter: Meter,
    by_itself: Option<Rc<Cell<Timing>>>,
    /// Whether the fixed computation runs between batches.
    tries_pace: bool,
}

impl Stopwatch {
    /// Returns the present time of the fixed computation; 0 if it does not run.
    fn pace_ns(&self) -> u64 {
        if self.tries_pace { pace_ns() } else { 0 }
    }
}

/// One batch: its duration, how much of it others used the processor (if known), and the pace of
/// further processors as reported by the case.
struct Timed {
    passed_ns: u64,
    waited_ns: Option<u64>,
    pace_ns: u64,
}

impl Timed {
    fn of(op: &mut Op, ops: u64, watch: &Stopwatch) -> io::Result<Self> {
        let Stopwatch { meter, by_itself, .. } = watch;
        let before = meter.read();
        let start = Instant::now();
        op(ops)?;
        let passed_ns = nanos(start);
        let waited_ns = meter.waited(before, meter.read(), passed_ns);
        Ok(match by_itself.as_ref().map(|timing| timing.get()) {
            None => Self { passed_ns, waited_ns, pace_ns: 0 },
            Some(Timing { passed_ns, waited_ns: told, pace_ns }) => {
                // Assumes that others took the same share of the counted time as of the whole time.
                let real_ns = nanos(start).max(1) as f64;
                let share = |waited: u64| (waited as f64 / real_ns * passed_ns as f64) as u64;
                Self { passed_ns, waited_ns: told.or(waited_ns.map(share)), pace_ns }
            }
        })
    }

    /// Time that others did not take, at least 1 ns.
    fn own_ns(&self) -> u64 {
        self.passed_ns.saturating_sub(self.waited_ns.unwrap_or(0)).max(1)
    }
}

/// Finds how many operations fill a batch. Uses the case's own time, so that an interruption does
/// not pass for a long operation. Also warms up the case.
fn calibrate(op: &mut Op, (ns, batch_ns): (u64, u64), watch: &Stopwatch) -> io::Result<u64> {
    let (mut ops, mut spent) = (1u64, 0u64);
    let begun = Instant::now();
    loop {
        let mut least = u64::MAX;
        for _ in 0..3 {
            let own = Timed::of(op, ops, watch)?.own_ns();
            spent = spent.saturating_add(own);
            least = least.min(own);
        }
        if least > ns {
            return Ok(1);
        }
        let fitting = (ops as f64 * batch_ns as f64 / least as f64).ceil().max(1.0) as u64;
        if least >= batch_ns / 4 {
            if spent > ns / 8 {
                return Ok(fitting);
            }
            ops = fitting;
        } else {
            ops = fitting.min(ops.saturating_mul(8)).max(ops + 1);
        }
        if nanos(begun) > ns.saturating_mul(PATIENCE_TO_CALIBRATE).max(CALIBRATE_LEAST_NS) {
            return Err(wrong(NEVER_LONG_ENOUGH));
        }
    }
}

/// Runs and reports batches of `batch_ns` until the case had `ns` for itself or patience runs out.
fn batches(
    op: &mut Op,
    (ns, batch_ns): (u64, u64),
    watch: &Stopwatch,
    report: &[AtomicU64],
) -> io::Result<()> {
    let ops = calibrate(op, (ns, batch_ns), watch)?;
    let begun = Instant::now();
    let (mut count, mut own) = (0, 0u64);
    let mut pace_before = watch.pace_ns();
    while count < BATCHES && (count < 3 || own < ns && nanos(begun) < ns * PATIENCE_TO_MEASURE) {
        let timed = Timed::of(op, ops, watch)?;
        own = own.saturating_add(timed.own_ns());
        let pace_after = watch.pace_ns();
        let waited = timed.waited_ns.unwrap_or(UNTOLD);
        let pace = pace_before.max(pace_after).max(timed.pace_ns);
        let words = [timed.passed_ns, ops, waited, pace];
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

/// Writes an error's message to a report; returns the matching exit code.
pub(crate) fn leave_message(report: &[AtomicU64], error: &io::Error) -> i32 {
    let text = error.to_string();
    let bytes = &text.as_bytes()[..text.len().min(8 * (report.len() - 1))];
    for (slot, chunk) in report[1..].iter().zip(bytes.chunks(8)) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        slot.store(u64::from_le_bytes(word), Ordering::Relaxed);
    }
    report[0].store(bytes.len() as u64, Ordering::Release);
    FAULTED
}

/// Returns the message in a report.
pub(crate) fn read_message(report: &[AtomicU64]) -> String {
    let len = (report[0].load(Ordering::Acquire) as usize).min(8 * (report.len() - 1));
    let words = report[1..].iter().take(len.div_ceil(8));
    let bytes: Vec<u8> = words.flat_map(|w| w.load(Ordering::Relaxed).to_le_bytes()).collect();
    String::from_utf8_lossy(&bytes[..len]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{not_here, too_late};
    use std::sync::atomic::AtomicBool;

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
        let ended = ran(case, &Scene::default(), 20_000_000);
        let Ended::Measured(batches) = ended else { panic!("{ended:?}") };
        assert!(batches.len() >= 3);
        assert!(batches.iter().all(|b| b.ns > 0 && b.ops == batches[0].ops));
    }

    #[test]
    fn a_killed_case_advises_what_os_has() {
        let case = Case::new("killed", "", "", |_| {
            // SAFETY: it ends only this process, which was forked for the case.
            unsafe { libc::raise(libc::SIGKILL) };
            Ok(Box::new(|_| Ok(())))
        });
        let ended = ran(case, &Scene::default(), 20_000_000);
        let Ended::Refused(why) = ended else { panic!("{ended:?}") };
        assert!(why.contains("killed (signal 9)") && why.contains("control group"), "{why}");
        assert!(why.contains("--only") && !why.contains("--memory"), "{why}");
        let lacking = died(Death::Exit(EXHAUSTED));
        assert!(lacking.contains("ulimit -v") && !lacking.contains("requests"), "{lacking}");
    }

    #[test]
    fn a_limit_of_file_sizes_is_named() {
        let why = no_report(&io::Error::from_raw_os_error(libc::EFBIG));
        assert!(why.contains("ulimit -f") && why.contains("fresh image"), "{why}");
        assert!(!no_report(&io::ErrorKind::OutOfMemory.into()).contains("ulimit"));
    }

    #[test]
    fn a_calibration_survives_interruptions() {
        // The first tries of a short operation take far longer than they compute, as if preempted.
        let case = Case::new("x", "", "", |_| {
            let mut tries = 0;
            Ok(Box::new(move |n| {
                tries += 1;
                if tries <= 9 {
                    std::thread::sleep(Duration::from_millis(30));
                }
                spin(n * 100);
                Ok(())
            }))
        });
        let ended = ran(case, &Scene::default(), 20_000_000);
        let Ended::Measured(batches) = ended else { panic!("{ended:?}") };
        assert!(batches[0].ops > 1, "batches of one operation");
    }

    #[test]
    fn refusals_arrive_as_sentences() {
        let refuse = Case::new("x", "", "", |_| Err(not_here("there is one processor only")));
        let ended = ran(refuse, &Scene::default(), 1);
        assert!(matches!(&ended, Ended::Refused(why) if why == "there is one processor only"));
        let dies = Case::new("x", "", "", |_| panic!("on purpose"));
        let ended = ran(dies, &Scene::default(), 1);
        assert!(matches!(&ended, Ended::Refused(why) if why.contains("exit code")), "{ended:?}");
    }

    #[test]
    fn a_batch_that_takes_too_long_is_no_refusal() {
        let late = Case::new("x", "", "", |_| Ok(Box::new(|_| Err(too_late("it took a second")))));
        let ended = ran(late, &Scene::default(), 1);
        let Ended::Late(why) = ended else { panic!("{ended:?}") };
        assert_eq!(why, "no time for it: it took a second");
    }

    #[test]
    fn inherited_descriptors_are_closed() {
        let _held: Vec<std::fs::File> =
            (0..50).map(|_| std::fs::File::open("/dev/null").unwrap()).collect();
        let case = Case::new("x", "", "", |_| {
            let fd = std::os::fd::AsRawFd::as_raw_fd(&std::fs::File::open("/dev/null")?);
            if fd < 10 { Err(not_here("low")) } else { Err(not_here(format!("{fd}"))) }
        });
        let ended = ran(case, &Scene::default(), 1);
        assert!(matches!(&ended, Ended::Refused(why) if why == "low"), "{ended:?}");
    }

    #[test]
    fn a_case_works_in_its_directory_though_the_way_there_is_an_inherited_descriptor() {
        let home = tempfile::tempdir().unwrap();
        let open = std::fs::File::open(home.path()).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&open);
        let directory = Path::new("/proc/self/fd").join(number.to_string());
        let case = Case::new("x", "", "", |_| {
            std::fs::write("foo", "x")?;
            Err(not_here("it was there"))
        });
        let scene = Scene { directory, ..Scene::default() };
        let ended = ran(case, &scene, 1);
        assert!(matches!(&ended, Ended::Refused(why) if why == "it was there"), "{ended:?}");
        assert!(home.path().join("foo").exists());
    }

    #[test]
    fn a_case_that_ends_by_the_signal_that_asks_us_to_end_is_no_refusal() {
        let report = [const { AtomicU64::new(0) }; WORDS];
        for death in [Death::Signal(libc::SIGTERM), Death::Exit(FAULTED)].map(Some) {
            assert!(matches!(ended(death, &report, true), Err(Error::Interrupted)), "{death:?}");
            assert!(matches!(ended(death, &report, false), Ok(Ended::Refused(_))), "{death:?}");
        }
        let done = ended(Some(Death::Exit(DONE)), &report, true);
        assert!(matches!(done, Ok(Ended::Measured(_))), "{done:?}");
    }

    #[test]
    fn the_end_of_the_time_ends_the_wait() {
        let endless = Case::new("x", "", "", |_| {
            std::thread::sleep(Duration::from_secs(3600));
            Err(not_here("it woke up"))
        });
        let flag = AtomicBool::new(false);
        let stop = Stop { interrupt: &flag, until: Some(Instant::now()) };
        let ended = run(&endless.unpinned(), &Scene::default(), 1, stop).unwrap();
        assert!(matches!(ended, Ended::TimeUp), "{ended:?}");
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
        let stop = Stop { interrupt: &AtomicBool::new(true), until: None };
        let ended = run(&endless.unpinned(), &Scene::default(), 1, stop);
        assert!(matches!(ended, Err(Error::Interrupted)));
    }
}
