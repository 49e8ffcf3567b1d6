//! A keeper for commands that touch storage: a process that touches none itself, so that it can end
//! when told to.
//!
//! A process blocked in the kernel cannot be killed, and its shell waits for it. So the work is
//! done in a child. The keeper passes interruptions on, reports when the child is held, and does
//! not wait for a child that it had to kill.
#![expect(unsafe_code, reason = "fork, signal masks and waiting for signals have no safe wrapper")]

use crate::limits::why_killed;
use crate::shared::Shared;
use crate::stuck::{self, HELD, Stuck};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Exit code after an interruption, as from a shell after SIGINT.
const INTERRUPTED: u8 = 130;

/// Time for a worker to end after an interruption: five seconds minus the rest of the shutdown.
const GRACE: Duration = Duration::from_millis(4300);

/// Signals closer together than this count as one: `timeout` sends one to the process and then to
/// its group.
pub(crate) const ONE: Duration = Duration::from_millis(300);

/// Interval between checks on the child, normally and once it should end.
const LOOK: Duration = Duration::from_secs(1);
const LOOK_AT_END: Duration = Duration::from_millis(100);

/// Time after which a child that should end counts as held by the kernel; one that may finish its
/// work is then given up.
const HELD_AT_END: Duration = Duration::from_secs(3);

/// Signals from a terminal, a shell or a batch system that a keeper passes on. Batch systems warn of
/// a job's end with SIGUSR1 or SIGUSR2, too.
const ASKS: [libc::c_int; 6] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGXCPU, libc::SIGUSR1, libc::SIGUSR2];

/// What a child may do after an interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterInterruption {
    /// End within seconds.
    End,
    /// Finish its work, unless the kernel holds it.
    Finish,
}

/// Whether this process has a keeper.
static KEPT: AtomicBool = AtomicBool::new(false);

/// Returns whether this process has a keeper, which passes interruptions on as SIGUSR1.
pub fn is_kept() -> bool {
    KEPT.load(Ordering::Relaxed)
}

/// Does `work` in a child process and returns its exit code. It also returns in the child, which
/// must exit with that code at once.
///
/// The first of [`ASKS`] reaches the child as SIGUSR1. The wait ends at a second one,
/// or 4.3 s after the first if the child has not ended and `then` does not let it go on. Messages
/// name `subject` and go to `tell`. If no process can be created, `work` is done in this one. Call
/// it before there are other threads.
pub fn keep(
    subject: &str,
    then: AfterInterruption,
    tell: impl Fn(&str),
    work: impl FnOnce() -> u8,
) -> u8 {
    let Ok(shared) = Shared::new(0, 0) else { return work() };
    let (signals, before) = block();
    let keeper = rustix::process::getpid();
    // SAFETY: there is one thread, so the child may do whatever its parent might.
    match unsafe { libc::fork() } {
        0 => {
            // It gets interruptions from its keeper only, as SIGUSR1, but SIGCHLD as usual, and the
            // kernel warns it of its own limit of processor time.
            mask(libc::SIG_UNBLOCK, &set_of([libc::SIGCHLD, libc::SIGXCPU, libc::SIGUSR1]));
            KEPT.store(true, Ordering::Relaxed);
            // Failure would only leave a child behind if its keeper is killed.
            let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
            if rustix::process::getppid() != Some(keeper) {
                return INTERRUPTED;
            }
            let code = work();
            close_outputs();
            shared.header().progress.store(1 + u64::from(code), Ordering::Release);
            code
        }
        // If the fork failed, the result is -1 instead of a process id.
        child => match Pid::from_raw(child.max(0)) {
            Some(child) => Keeper::of(child, subject, then, &shared).wait(&signals, tell),
            None => {
                mask(libc::SIG_SETMASK, &before);
                work()
            }
        },
    }
}

/// The keeper's view of its child.
struct Keeper<'a> {
    child: Pid,
    subject: &'a str,
    then: AfterInterruption,
    shared: &'a Shared,
    stuck: Stuck,
    asked: Option<Instant>,
    finished: Option<Instant>,
    complained: bool,
}

impl<'a> Keeper<'a> {
    fn of(child: Pid, subject: &'a str, then: AfterInterruption, shared: &'a Shared) -> Self {
        let stuck = Stuck::watch(child.as_raw_nonzero().get().unsigned_abs());
        let (asked, finished, complained) = (None, None, false);
        Self { child, subject, then, shared, stuck, asked, finished, complained }
    }

    fn wait(mut self, signals: &libc::sigset_t, tell: impl Fn(&str)) -> u8 {
        loop {
            let signal = next(signals, if self.asked.is_some() { LOOK_AT_END } else { LOOK });
            match rustix::process::waitpid(Some(self.child), WaitOptions::NOHANG) {
                Ok(Some((_, status))) => return self.ended(status, tell),
                Ok(None) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => return INTERRUPTED,
            }
            if signal.is_some_and(|signal| signal != libc::SIGCHLD) && self.interrupt() {
                return self.abandon(INTERRUPTED);
            }
            if let Some(code) = self.overdue(&tell) {
                return self.abandon(code);
            }
        }
    }

    /// Passes the first interruption on. Returns whether this is a further one.
    fn interrupt(&mut self) -> bool {
        if let Some(asked) = self.asked {
            return asked.elapsed() > ONE;
        }
        self.asked = Some(Instant::now());
        let _ = rustix::process::kill_process(self.child, Signal::USR1);
        // A stopped child would not get the signal.
        let _ = rustix::process::kill_process(self.child, Signal::CONT);
        false
    }

    fn is_stopped(&self) -> bool {
        stuck::is_stopped(self.child.as_raw_nonzero().get().unsigned_abs())
    }

    /// Returns whether the child's time after an interruption is up.
    fn had_its_time(&mut self) -> bool {
        let may_finish = self.then == AfterInterruption::Finish;
        self.asked.is_some_and(|asked| asked.elapsed() > GRACE)
            && (!may_finish || self.stuck.held() > HELD_AT_END || self.is_stopped())
    }

    /// Returns what the kernel holds the child on: the results may go to another device or server
    /// than the measured one.
    fn held_on(&self) -> String {
        let file = self.stuck.held_on().map(|file| file.display().to_string());
        file.unwrap_or_else(|| format!("{} (or where the results go)", self.subject))
    }

    /// Returns why the child does not end, as far as known.
    fn held_by(&mut self) -> String {
        if self.is_stopped() {
            return "it is stopped or frozen (a debugger, a control group)".to_owned();
        }
        match self.stuck.held() >= HELD_AT_END {
            true => format!("the kernel holds it in a call on {}", self.held_on()),
            false => {
                "it is still at work, or waits for a processor or for its own processes".to_owned()
            }
        }
    }

    /// Returns the exit code if the wait for the child should end; reports a child that is held.
    fn overdue(&mut self, tell: &impl Fn(&str)) -> Option<u8> {
        let done = self.shared.header().progress.load(Ordering::Acquire);
        if done > 0 && self.finished.is_none() {
            self.finished = Some(Instant::now());
        }
        let code = if done > 0 { (done - 1) as u8 } else { INTERRUPTED };
        if self.had_its_time() {
            let why = self.held_by();
            tell(&format!(
                "process {} did not end within 5 s: {why}; it is killed, and ends when the kernel lets it; what was saved is kept, and the \
                 next run removes its scratch file",
                self.child.as_raw_nonzero(),
            ));
            return Some(code);
        }
        if self.finished.is_some_and(|finished| finished.elapsed() > HELD) {
            let why = self.held_by();
            tell(&format!(
                "all is done, but process {} does not end: {why}; it is killed, and ends when the kernel lets it",
                self.child.as_raw_nonzero(),
            ));
            return Some(code);
        }
        if self.stuck.held() > HELD && !self.complained && self.finished.is_none() {
            self.complained = true;
            tell(&format!(
                "a call of the kernel on {} has not returned for {} s: the device or server below does not answer (see the \
                 kernel log); Ctrl-C gives up, and what was saved is kept",
                self.held_on(),
                HELD.as_secs()
            ));
        }
        None
    }

    /// Kills the child without waiting for it.
    fn abandon(&self, code: u8) -> u8 {
        let _ = rustix::process::kill_process(self.child, Signal::KILL);
        code
    }

    fn ended(&self, status: WaitStatus, tell: impl Fn(&str)) -> u8 {
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => code as u8,
            // It was not listening yet.
            (None, Some(libc::SIGUSR1)) => INTERRUPTED,
            (None, signal) => {
                let signal = signal.unwrap_or(0);
                let why = match signal {
                    libc::SIGKILL => format!(", {}", why_killed()),
                    _ => String::new(),
                };
                tell(&format!("the working process was killed by signal {signal}{why}"));
                128_u8.wrapping_add(signal as u8)
            }
        }
    }
}

/// Returns the set of these signals.
fn set_of(signals: impl IntoIterator<Item = libc::c_int>) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initializes the whole set, to which only signals are added.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// Changes which signals this thread blocks, and returns the previous set; neither allocates nor
/// locks.
fn mask(how: libc::c_int, set: &libc::sigset_t) -> libc::sigset_t {
    let mut before = set_of([]);
    // SAFETY: both are sets; only this thread's mask changes.
    unsafe { libc::pthread_sigmask(how, set, &mut before) };
    before
}

/// Blocks the signals that the keeper waits for; returns their set and the previous mask. Ignored
/// signals stay ignored (`nohup`).
fn block() -> (libc::sigset_t, libc::sigset_t) {
    let asks = ASKS.into_iter().filter(|signal| !is_ignored(*signal));
    let set = set_of(asks.chain([libc::SIGCHLD]));
    (set, mask(libc::SIG_BLOCK, &set))
}

fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: all-zero is a valid `sigaction`; without a new one the kernel only writes the current
    // one.
    unsafe {
        let mut present: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut present) == 0
            && present.sa_sigaction == libc::SIG_IGN
    }
}

/// Lets a program started by a kept process receive interruptions itself, as its user expects.
pub fn let_hear(program: &mut Command) -> &mut Command {
    let unblock = || {
        mask(libc::SIG_UNBLOCK, &set_of(ASKS));
        Ok(())
    };
    // SAFETY: `unblock` neither allocates nor takes a lock.
    unsafe { program.pre_exec(unblock) }
}

/// Makes a program end with the thread that starts it, however that ends.
pub fn end_with_us(program: &mut Command) -> &mut Command {
    let us = rustix::process::getpid();
    let tie = move || -> std::io::Result<()> {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        match rustix::process::getppid() == Some(us) {
            true => Ok(()),
            false => Err(std::io::ErrorKind::Interrupted.into()),
        }
    };
    // SAFETY: `tie` neither allocates nor takes a lock.
    unsafe { program.pre_exec(tie) }
}

/// Returns the next of the signals, or `None` if none comes in time.
fn next(signals: &libc::sigset_t, soon: Duration) -> Option<libc::c_int> {
    let patience = libc::timespec {
        tv_sec: soon.as_secs() as libc::time_t,
        tv_nsec: soon.subsec_nanos() as libc::c_long,
    };
    // SAFETY: `signals` is a set of blocked signals; no details of the signal are requested.
    let signal = unsafe { libc::sigtimedwait(signals, std::ptr::null_mut(), &patience) };
    (signal > 0).then_some(signal)
}

/// Closes the outputs, so that nobody waits for more from a process that the kernel holds at its
/// very end.
fn close_outputs() {
    use std::io::Write;
    let _ = (std::io::stdout().flush(), std::io::stderr().flush());
    silence();
}

/// Redirects standard input, output and error to `/dev/null`.
pub(crate) fn silence() {
    if let Ok(nothing) = std::fs::File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(nothing.as_fd());
        let _ = rustix::stdio::dup2_stdout(nothing.as_fd());
        let _ = rustix::stdio::dup2_stderr(nothing.as_fd());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against saying that the kernel holds a process in a call on its target while it
    /// computes.
    #[test]
    fn a_process_that_is_at_work_is_not_said_to_be_held() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let shared = Shared::new(0, 0).unwrap();
        let mut keeper =
            Keeper::of(Pid::from_child(&child), "/mnt", AfterInterruption::End, &shared);
        let why = keeper.held_by();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(why.contains("still at work") && !why.contains("kernel"), "{why}");
    }
}
