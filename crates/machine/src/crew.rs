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

/// Exit code of a worker that completed its work.
pub const DONE: i32 = 0;

/// Exit code of a worker that reported a fault.
pub const FAULTED: i32 = 3;

/// Exit code of a worker whose code panicked.
const PANICKED: i32 = 4;

/// Exit code of a worker whose conductor had ended before it began.
const ORPHANED: i32 = 5;

/// Longest pause between two checks on workers being waited for.
pub const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// Time allowed to the kernel to end a killed process before it counts as hung.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// A worker blocked for no longer than this counts as running.
const RUNS: Duration = Duration::from_secs(2);

/// Number of workers whose state is queried at a time, at some 20 us each.
const LOOKED_AT: usize = 64;

/// Number of these for which the control group is checked too; they all share it.
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

/// All worker processes of one run; dropping it kills those still alive.
#[derive(Debug, Default)]
pub struct Crew {
    children: Vec<Child>,
    /// Whether the live ones were killed: any still alive after that is held by the kernel.
    killed: bool,
}

impl Crew {
    /// Forks `count` workers; each runs `body` with its number and exits with the code that it
    /// returns.
    ///
    /// The conductor may have other threads, so a worker must avoid locks that they could hold at
    /// the fork: standard output, the environment, the panic machinery.
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

    /// Records which workers have ended, and returns whether all have.
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

    /// Returns the number of the first worker that has ended and how it ended. A worker that failed
    /// comes before one that completed.
    pub fn first_dead(&self) -> Option<(u32, Death)> {
        let mut dead = self.children.iter().zip(0..).filter_map(|(c, i)| Some((i, c.death?)));
        let first = dead.clone().next();
        dead.find(|(_, death)| *death != Death::Exit(DONE)).or(first)
    }

    /// Returns the process id of the first worker, dead or alive; 0 for an empty crew.
    pub fn first_id(&self) -> u32 {
        self.children.first().map_or(0, |child| child.pid.as_raw_nonzero().get().unsigned_abs())
    }

    /// Returns the first worker that has not ended.
    pub fn first_alive(&self) -> Option<u32> {
        self.children.iter().zip(0..).find(|(c, _)| c.death.is_none()).map(|(_, i)| i)
    }

    /// Waits until all have ended, `patience` has passed, or `give_up` returns true. Returns
    /// whether all have ended.
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

    /// Returns whether the kernel has blocked every live worker for longer than any responding
    /// device or server takes, as far as this has been observed.
    pub fn is_held(&mut self) -> bool {
        let mut held = None;
        for child in self.children.iter_mut().filter(|c| c.death.is_none()) {
            // One running worker decides it; there may be hundreds.
            if child.stuck.held() < RUNS {
                return false;
            }
            held = Some(held.unwrap_or(true) && child.stuck.is_held());
        }
        held.unwrap_or(false)
    }

    /// Returns the first worker that is stopped or frozen; in a large crew only the first workers
    /// are checked.
    pub fn first_stopped(&self) -> Option<u32> {
        let alive = self.children.iter().zip(0..).filter(|(c, _)| c.death.is_none());
        let id = |c: &Child| c.pid.as_raw_nonzero().get().unsigned_abs();
        let is_stopped = |(at, (c, _)): &(usize, (&Child, u32))| match *at < LOOKED_AT_GROUP {
            true => stuck::is_stopped(id(c)),
            false => stuck::is_halted(id(c)),
        };
        alive.take(LOOKED_AT).enumerate().find(is_stopped).map(|(_, (_, i))| i)
    }

    /// Returns the first worker that should have ended but has not, and why: something stopped it,
    /// or the kernel holds it.
    pub fn first_silent(&self) -> (u32, Death) {
        match self.first_stopped() {
            Some(process) => (process, Death::Stopped),
            None => (self.first_alive().unwrap_or(0), Death::Hung),
        }
    }

    /// Kills the live workers and waits briefly for their end. Returns whether all have ended.
    pub fn kill(&mut self) -> bool {
        for child in self.children.iter().filter(|c| c.death.is_none()) {
            // The only possible failure is that it has ended already.
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
    // SAFETY: the child runs on its own copy of memory, uses only fork-safe parts of the C library
    // (including its allocator), and exits by `_exit`.
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

/// Ends this worker at once, without running destructors that belong to the conductor.
pub fn leave(code: i32) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(code) }
}

/// Returns whether this process is a worker.
pub(crate) fn is_worker() -> bool {
    IS_WORKER.load(Ordering::Relaxed)
}

/// Silences panics of workers, whose exit code reports them. This happens before the fork: a worker
/// that changed the hook would hang forever if a thread of the conductor was panicking at that
/// moment.
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

/// Makes the kernel keep the exit codes of child processes even if the program inherited an ignored
/// SIGCHLD; otherwise every worker would seem to have failed. Call it before other threads run.
pub fn hear_of_children() {
    // SAFETY: the default action installs no handler.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Passes a signal on to the conductor.
extern "C" fn pass_on(signal: libc::c_int) {
    // SAFETY: both calls are safe in a handler and have no preconditions.
    unsafe { libc::kill(libc::getppid(), signal) };
}

/// Makes the end of this worker's processor time end the conductor's work, if that listens. The
/// limit holds for each process, and only workers compute.
fn pass_on_end_of_time() {
    let handler = pass_on as *const () as libc::sighandler_t;
    // SAFETY: the handler does what a handler may.
    let before = unsafe { libc::signal(libc::SIGXCPU, handler) };
    if [libc::SIG_DFL, libc::SIG_IGN].contains(&before) {
        // SAFETY: neither action installs a handler.
        unsafe { libc::signal(libc::SIGXCPU, before) };
    }
}

/// Ties this worker's life to the conductor's and ignores interrupts, which the conductor handles.
/// Returns false if the conductor has already ended.
fn set_up(conductor: Pid) -> bool {
    IS_WORKER.store(true, Ordering::Relaxed);
    // Workers print nothing, and one that the kernel holds must not keep a reader of our outputs
    // waiting.
    silence();
    // On failure the worker is merely less tidy.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    let _ =
        rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    for signal in [libc::SIGINT, libc::SIGXFSZ] {
        // SAFETY: ignoring a signal installs no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    pass_on_end_of_time();
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

    /// Once, workers swallowed the signal and were killed at the hard limit, and the run was lost.
    #[test]
    fn the_end_of_a_workers_processor_time_asks_the_conductor_to_end() {
        let flag = crate::interrupt::flag();
        let asked = crate::testing::in_child(|| {
            let raised = |_| {
                // SAFETY: its handler sends a signal.
                unsafe { libc::raise(libc::SIGXCPU) };
                DONE
            };
            let mut crew = Crew::fork(1, raised).unwrap();
            let is_done = crew.wait(Duration::from_secs(600), || false);
            i32::from(is_done && flag.load(Ordering::SeqCst))
        });
        assert_eq!(asked, Some(1));
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
