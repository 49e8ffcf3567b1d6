//! Worker processes: forked, protected from signals meant for the conductor, watched, and reaped.
#![expect(unsafe_code, reason = "fork, signal and _exit")]

use crate::error::Death;
use crate::keeper::silence;
use crate::stuck::{self, Stuck};
use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Exit code of a worker that did all it was told.
pub const DONE: i32 = 0;

/// Exit code of a worker that left a fault in its report.
pub const FAULTED: i32 = 3;

/// Exit code of a worker whose code panicked.
const PANICKED: i32 = 4;

/// Exit code of a worker whose conductor was gone before it began.
const ORPHANED: i32 = 5;

/// Longest pause between two looks at workers that are waited for.
pub const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// How long the kernel may take to end a killed process before it counts as hung.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// A worker that was blocked no longer than this runs.
const RUNS: Duration = Duration::from_secs(2);

/// Workers whose state is asked for at a time, which takes some 20 us each.
const LOOKED_AT: usize = 64;

/// Of those, workers whose control group is looked at, which they share.
const LOOKED_AT_GROUP: usize = 4;

/// Whether this process is a worker.
static IS_WORKER: AtomicBool = AtomicBool::new(false);

/// One worker process.
#[derive(Debug)]
struct Child {
    pid: Pid,
    death: Option<Death>,
    stuck: Stuck,
}

/// All worker processes of one run; those still alive are killed when it is dropped.
#[derive(Debug, Default)]
pub struct Crew {
    children: Vec<Child>,
    /// Whether those alive were killed, so that those still alive then are held by the kernel.
    killed: bool,
}

impl Crew {
    /// Forks `count` workers; each runs `body` with its number and leaves with the code it returns.
    ///
    /// The conductor may have other threads, so a worker must keep away from locks they could hold at this moment:
    /// standard output, the environment, the panic machinery.
    pub fn fork(count: u32, body: impl Fn(u32) -> i32) -> io::Result<Self> {
        silence_workers();
        let mut crew = Self::default();
        for number in 0..count {
            let pid = fork_one(|| body(number))?;
            let stuck = Stuck::watch(pid.as_raw_nonzero().get().unsigned_abs());
            crew.children.push(Child { pid, death: None, stuck });
        }
        Ok(crew)
    }

    /// Notes who has ended meanwhile; whether all have.
    pub fn poll(&mut self) -> bool {
        for child in self.children.iter_mut().filter(|c| c.death.is_none()) {
            child.death = match rustix::process::waitpid(Some(child.pid), WaitOptions::NOHANG) {
                Ok(Some((_, status))) => Some(death(status)),
                Ok(None) | Err(rustix::io::Errno::INTR) => None,
                Err(_) => Some(Death::Exit(-1)),
            };
        }
        self.children.iter().all(|c| c.death.is_some())
    }

    /// The first worker that has ended, by number, and how; one that failed before one that is merely done.
    pub fn first_dead(&self) -> Option<(u32, Death)> {
        let mut dead = self.children.iter().zip(0..).filter_map(|(c, i)| Some((i, c.death?)));
        let first = dead.clone().next();
        dead.find(|(_, death)| *death != Death::Exit(DONE)).or(first)
    }

    /// The process number of the first worker, whether it lives or not; 0 of an empty crew.
    pub fn first_id(&self) -> u32 {
        self.children.first().map_or(0, |child| child.pid.as_raw_nonzero().get().unsigned_abs())
    }

    /// The first worker that has not ended.
    pub fn first_alive(&self) -> Option<u32> {
        self.children.iter().zip(0..).find(|(c, _)| c.death.is_none()).map(|(_, i)| i)
    }

    /// Waits until all have ended, `patience` is over or `give_up` says so; whether all have ended.
    pub fn wait(&mut self, patience: Duration, give_up: impl Fn() -> bool) -> bool {
        let begin = Instant::now();
        let mut pause = Duration::from_micros(200);
        while !self.poll() {
            if begin.elapsed() >= patience || give_up() {
                return false;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        true
    }

    /// Whether the kernel holds all workers that live, each for longer than any device or server that answers takes, as far as this
    /// was asked meanwhile.
    pub fn is_held(&mut self) -> bool {
        let mut held = None;
        for child in self.children.iter_mut().filter(|c| c.death.is_none()) {
            // One that runs is enough; there may be hundreds.
            if child.stuck.held() < RUNS {
                return false;
            }
            held = Some(held.unwrap_or(true) && child.stuck.is_held());
        }
        held.unwrap_or(false)
    }

    /// The first worker that is stopped or frozen; of many only the first are looked at.
    pub fn first_stopped(&self) -> Option<u32> {
        let alive = self.children.iter().zip(0..).filter(|(c, _)| c.death.is_none());
        let id = |c: &Child| c.pid.as_raw_nonzero().get().unsigned_abs();
        let is_stopped = |(at, (c, _)): &(usize, (&Child, u32))| match *at < LOOKED_AT_GROUP {
            true => stuck::is_stopped(id(c)),
            false => stuck::is_halted(id(c)),
        };
        alive.take(LOOKED_AT).enumerate().find(is_stopped).map(|(_, (_, i))| i)
    }

    /// The first worker that has not ended though it should have, and why: somebody stopped it, or the kernel holds it.
    pub fn first_silent(&self) -> (u32, Death) {
        match self.first_stopped() {
            Some(process) => (process, Death::Stopped),
            None => (self.first_alive().unwrap_or(0), Death::Hung),
        }
    }

    /// Kills those still alive and waits a little for their end; whether all have ended.
    pub fn kill(&mut self) -> bool {
        for child in self.children.iter().filter(|c| c.death.is_none()) {
            // It can only be gone already.
            let _ = rustix::process::kill_process(child.pid, Signal::KILL);
        }
        self.killed = true;
        self.wait(KILL_TIMEOUT, || false)
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        if self.first_alive().is_some() && !self.killed {
            self.kill();
        }
    }
}

fn death(status: WaitStatus) -> Death {
    match (status.terminating_signal(), status.exit_status()) {
        (Some(signal), _) => Death::Signal(signal),
        (None, code) => Death::Exit(code.unwrap_or(-1)),
    }
}

fn fork_one(body: impl FnOnce() -> i32) -> io::Result<Pid> {
    let conductor = rustix::process::getpid();
    // SAFETY: the child runs on its own copy of memory, keeps to the C library's fork-safe parts (its allocator among
    // them), and leaves by `_exit`.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let code =
                catch_unwind(AssertUnwindSafe(
                    || {
                        if set_up(conductor) { body() } else { ORPHANED }
                    },
                ));
            leave(code.unwrap_or(PANICKED))
        }
        pid => Pid::from_raw(pid).ok_or_else(|| io::Error::from_raw_os_error(libc::ECHILD)),
    }
}

/// Ends this worker at once: no destructor runs that belongs to the conductor.
pub fn leave(code: i32) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(code) }
}

/// Whether this process is a worker.
pub(crate) fn is_worker() -> bool {
    IS_WORKER.load(Ordering::Relaxed)
}

/// Silences panics of workers: their exit code tells. Done before the fork, because a worker that changed the
/// hook would wait for ever if a thread of the conductor was panicking at that moment.
fn silence_workers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !is_worker() {
                usual(info);
            }
        }));
    });
}

/// Has the kernel keep the exit codes of child processes, also where the program was started with their end ignored: every worker would seem
/// to have failed. Nothing is to be running beside it yet.
pub fn hear_of_children() {
    // SAFETY: the default action installs no handler.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Ties this worker's life to the conductor's and ignores interrupts, which are the conductor's to handle; false if it is gone already.
fn set_up(conductor: Pid) -> bool {
    IS_WORKER.store(true, Ordering::Relaxed);
    // Workers say nothing, and one that the kernel holds must not keep the reader of our outputs waiting.
    silence();
    // Failures would only make the worker less tidy.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    let _ =
        rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    for signal in [libc::SIGINT, libc::SIGXFSZ] {
        // SAFETY: to ignore a signal installs no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    rustix::process::getppid() == Some(conductor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forever() -> i32 {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    #[test]
    fn ends_are_told_apart() {
        let mut crew = Crew::fork(3, |i| match i {
            0 => DONE,
            1 => FAULTED,
            _ => panic!("on purpose"),
        })
        .unwrap();
        assert!(crew.wait(Duration::from_secs(600), || false));
        let deaths: Vec<_> = crew.children.iter().filter_map(|c| c.death).collect();
        assert_eq!(deaths, [Death::Exit(DONE), Death::Exit(FAULTED), Death::Exit(PANICKED)]);
        assert_eq!(crew.first_dead(), Some((1, Death::Exit(FAULTED))));
    }

    #[test]
    fn the_living_are_killed() {
        let mut crew = Crew::fork(2, |_| forever()).unwrap();
        assert!(!crew.wait(Duration::from_secs(60), || true));
        assert_eq!((crew.first_alive(), crew.first_dead()), (Some(0), None));
        assert!(crew.kill());
        assert_eq!(crew.first_dead(), Some((0, Death::Signal(9))));
    }

    #[test]
    fn a_dropped_crew_is_gone() {
        let crew = Crew::fork(1, |_| forever()).unwrap();
        let pid = crew.children[0].pid;
        drop(crew);
        assert!(rustix::process::test_kill_process(pid).is_err());
    }
}
