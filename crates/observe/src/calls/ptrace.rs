//! Names for the kernel's tracing interface, `ptrace(2)`: kinds of stops, and resuming processes.
#![allow(unsafe_code, reason = "ptrace and waitpid have no safe form")]

use ioscape_machine::doctor::GET_SYSCALL_INFO;
use std::collections::VecDeque;
use std::io;

/// `PTRACE_EVENT_STOP`, which is missing from the C library's headers.
const EVENT_STOP: i32 = 128;

/// All tracing options: follow children, stop at traced calls, and leave no process behind.
const OPTIONS: i32 = libc::PTRACE_O_EXITKILL
    | libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACEEXIT
    | libc::PTRACE_O_TRACESECCOMP;

/// Why a process stopped, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It exited with this code.
    Exited(i32),
    /// It was killed by this signal.
    Killed(i32),
    /// It is about to receive this signal.
    Signal(i32),
    /// Job control suspended it together with its whole process.
    Suspended,
    /// It has just been attached to, or resumes after a suspension.
    Attached,
    /// It created a process or thread.
    Birth,
    /// It executed another program.
    Exec,
    /// It is about to end, and still has its memory.
    Leaving,
    /// It reached a watched call, as the filter reports.
    Filtered,
    /// It enters or leaves a call.
    Call,
}

/// How a process is resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Go {
    /// Until the next event that is not a call.
    On,
    /// Until the next entry or exit of a call.
    ToCall,
}

/// The state of a process that stopped at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallStop {
    /// It enters the call with this number and these arguments.
    Entry(u64, [u64; 6]),
    /// It leaves with this value; an error number is negative.
    Exit(i64),
    /// Neither.
    None,
}

/// `struct ptrace_syscall_info` of `linux/ptrace.h`; the last words are a union.
#[repr(C)]
#[derive(Default)]
struct CallInfo {
    op: u8,
    padding: [u8; 3],
    architecture: u32,
    instruction: u64,
    stack: u64,
    words: [u64; 8],
}

fn request(
    request: libc::c_uint,
    pid: i32,
    address: usize,
    data: usize,
) -> io::Result<libc::c_long> {
    // SAFETY: the requests used here read or write at most what `data` points to, which the callers own and size.
    let result = unsafe {
        libc::ptrace(request as _, pid, address as *mut libc::c_void, data as *mut libc::c_void)
    };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Begins to trace a process without stopping it.
pub(super) fn seize(pid: i32) -> io::Result<()> {
    request(libc::PTRACE_SEIZE as _, pid, 0, OPTIONS as usize).map(drop)
}

/// Resumes a stopped process, with a signal or 0. It is no error if the process is gone.
pub(super) fn resume(pid: i32, go: Go, signal: i32) {
    let kind = match go {
        Go::On => libc::PTRACE_CONT,
        Go::ToCall => libc::PTRACE_SYSCALL,
    };
    let _ = request(kind as _, pid, 0, signal as usize);
}

/// Leaves a suspended process suspended, but learns when it continues.
pub(super) fn listen(pid: i32) {
    let _ = request(libc::PTRACE_LISTEN as _, pid, 0, 0);
}

/// The number that comes with an event: the child's after a fork, the former thread's after an
/// exec.
pub(super) fn message(pid: i32) -> Option<i32> {
    let mut value: libc::c_ulong = 0;
    request(libc::PTRACE_GETEVENTMSG as _, pid, 0, &raw mut value as usize).ok()?;
    i32::try_from(value).ok()
}

/// The call at which a process stopped.
pub(super) fn call(pid: i32) -> io::Result<CallStop> {
    let mut info = CallInfo::default();
    request(GET_SYSCALL_INFO as _, pid, size_of::<CallInfo>(), &raw mut info as usize)?;
    let w = info.words;
    Ok(match info.op {
        1 | 3 => CallStop::Entry(w[0], [w[1], w[2], w[3], w[4], w[5], w[6]]),
        2 => CallStop::Exit(w[0] as i64),
        _ => CallStop::None,
    })
}

/// Stops that are yet to be handled.
#[derive(Debug, Default)]
pub(super) struct Stops(VecDeque<(i32, Stop)>);

impl Stops {
    /// Waits for the next stop or end of any process that this thread traces; `None` if there are
    /// none left.
    ///
    /// All that have stopped by now are served before any of them stops again. The kernel alone
    /// would always report the youngest first: the others would starve.
    pub(super) fn next(&mut self) -> io::Result<Option<(i32, Stop)>> {
        if self.0.is_empty() {
            self.0.extend(wait(0)?);
            while let Some(stop) = wait(libc::WNOHANG)? {
                self.0.push_back(stop);
            }
        }
        Ok(self.0.pop_front())
    }
}

/// Waits for a stop or an end; `None` if there are no processes left or, with `WNOHANG`, none that
/// has stopped.
fn wait(options: i32) -> io::Result<Option<(i32, Stop)>> {
    loop {
        let mut status = 0;
        let options = options | libc::__WALL | libc::__WNOTHREAD;
        // SAFETY: `status` is ours.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, options) };
        match pid {
            0 => return Ok(None),
            1.. => return Ok(Some((pid, decode(status)))),
            _ => {}
        }
        match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ECHILD) => return Ok(None),
            error if error.kind() == io::ErrorKind::Interrupted => {}
            error => return Err(error),
        }
    }
}

fn decode(status: i32) -> Stop {
    if libc::WIFEXITED(status) {
        return Stop::Exited(libc::WEXITSTATUS(status));
    }
    if libc::WIFSIGNALED(status) {
        return Stop::Killed(libc::WTERMSIG(status));
    }
    let signal = libc::WSTOPSIG(status);
    let suspends = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU].contains(&signal);
    match status >> 16 {
        EVENT_STOP if suspends => Stop::Suspended,
        EVENT_STOP => Stop::Attached,
        libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
            Stop::Birth
        }
        libc::PTRACE_EVENT_EXEC => Stop::Exec,
        libc::PTRACE_EVENT_EXIT => Stop::Leaving,
        libc::PTRACE_EVENT_SECCOMP => Stop::Filtered,
        _ if signal == libc::SIGTRAP | 0x80 => Stop::Call,
        _ => Stop::Signal(signal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_are_told_apart() {
        let stopped = |signal: i32, event: i32| (event << 16) | (signal << 8) | 0x7f;
        assert_eq!(decode(3 << 8), Stop::Exited(3));
        assert_eq!(decode(9), Stop::Killed(9));
        assert_eq!(decode(stopped(libc::SIGTERM, 0)), Stop::Signal(libc::SIGTERM));
        assert_eq!(decode(stopped(libc::SIGTRAP | 0x80, 0)), Stop::Call);
        assert_eq!(decode(stopped(libc::SIGTRAP, libc::PTRACE_EVENT_SECCOMP)), Stop::Filtered);
        assert_eq!(decode(stopped(libc::SIGTRAP, libc::PTRACE_EVENT_CLONE)), Stop::Birth);
        assert_eq!(decode(stopped(libc::SIGTRAP, libc::PTRACE_EVENT_EXIT)), Stop::Leaving);
        assert_eq!(decode(stopped(libc::SIGTRAP, EVENT_STOP)), Stop::Attached);
        assert_eq!(decode(stopped(libc::SIGTSTP, EVENT_STOP)), Stop::Suspended);
        assert_eq!(decode(stopped(libc::SIGSTOP, 0)), Stop::Signal(libc::SIGSTOP));
    }
}
