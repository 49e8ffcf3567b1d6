//! Starts the command so that nothing is missed: the tracer attaches before the program is
//! executed.
#![allow(unsafe_code, reason = "fork, exec and the filter have no safe form")]

use super::{filter, ptrace};
use ioscape_machine::cgroup::MemoryGroup;
use ioscape_machine::error::Error;
use ioscape_machine::limits::restore_open_files;
use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The number of calls that do nothing, made before the program begins to measure the cost of
/// tracing.
const TRIALS: usize = 200;

/// First byte of the child's report if the filter is in place.
const FILTERED: u8 = b'f';
/// First byte if it is not, and the tracer must stop at every call.
const UNFILTERED: u8 = b'a';

/// How the command is to be started.
pub(super) struct Start<'a> {
    /// Program and arguments.
    pub(super) command: &'a [OsString],
    /// Whether its standard output goes to standard error instead.
    pub(super) stdout_to_stderr: bool,
    /// Whether to stop at every call, without a filter.
    pub(super) every_call: bool,
    /// The control group that limits its memory.
    pub(super) group: Option<&'a MemoryGroup>,
}

/// A started command that is attached to, and waits with `SIGSTOP` to be resumed for the first
/// time.
pub(super) struct Launched {
    /// Its process number.
    pub(super) pid: i32,
    report: File,
}

impl Launched {
    /// Whether the filter is in place. To be called once, at the command's first stop.
    pub(super) fn is_filtered(&mut self) -> bool {
        let mut word = [0];
        self.report.read_exact(&mut word).is_ok() && word[0] == FILTERED
    }

    /// Why the program could not be executed, if so. To be called when the process is gone.
    pub(super) fn refusal(&mut self) -> Option<io::Error> {
        let mut number = [0; 4];
        self.report.read_exact(&mut number).ok()?;
        Some(io::Error::from_raw_os_error(i32::from_ne_bytes(number)))
    }
}

/// Forks, attaches, and lets the child prepare itself.
///
/// # Errors
/// The arguments cannot be passed on, there is no process or pipe, or tracing is forbidden here.
pub(super) fn launch(start: &Start<'_>) -> Result<Launched, Error> {
    let name = start.command.first().map(Path::new).unwrap_or(Path::new(""));
    let words: Vec<CString> = start
        .command
        .iter()
        .map(|word| CString::new(word.as_bytes()))
        .collect::<Result<_, _>>()
        .map_err(|_| {
            Error::target(
                name,
                "an argument holds a zero byte, which cannot be passed to a program",
            )
        })?;
    let mut pointers: Vec<*const libc::c_char> = words.iter().map(|word| word.as_ptr()).collect();
    pointers.push(std::ptr::null());
    let program = if start.every_call { None } else { filter::program() };
    let pipes = pipe().and_then(|go| Ok((go, pipe()?)));
    let ((go_in, go_out), (report_in, report_out)) =
        pipes.map_err(|e| Error::io("start", name, e))?;
    // SAFETY: the child keeps to async-signal-safe calls until it becomes the program or leaves by `_exit`.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        drop(go_out);
        let ready = Ready { start, program: program.as_deref(), pointers: &pointers };
        become_program(&ready, File::from(go_in), File::from(report_out));
    }
    drop((go_in, report_out));
    if pid < 0 {
        return Err(Error::io("start", name, io::Error::last_os_error()));
    }
    let attached = ptrace::seize(pid).and_then(|()| File::from(go_out).write_all(&[1]));
    if let Err(error) = attached {
        // SAFETY: kills and reaps our own child.
        unsafe {
            libc::kill(pid, libc::SIGKILL);
            libc::waitpid(pid, std::ptr::null_mut(), libc::__WALL);
        }
        return Err(Error::Unsupported {
            what: "tracing a command".into(),
            why: format!("ptrace: {error}; a container may need the capability SYS_PTRACE"),
        });
    }
    Ok(Launched { pid, report: File::from(report_in) })
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}

/// What the child needs. It is made before the fork, since the child must not allocate.
struct Ready<'a> {
    start: &'a Start<'a>,
    program: Option<&'a [libc::sock_filter]>,
    pointers: &'a [*const libc::c_char],
}

/// Takes the child from the fork to the program; never returns.
fn become_program(ready: &Ready<'_>, mut go: File, mut report: File) -> ! {
    let joined = ready.start.group.map_or(Ok(()), MemoryGroup::join);
    let mut word = [0];
    let attached = go.read_exact(&mut word).is_ok();
    if attached {
        // SAFETY: async-signal-safe calls on our own process; the signal set is ours.
        unsafe {
            let mut none = std::mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            if ready.start.stdout_to_stderr {
                libc::dup2(2, 1);
            }
        }
        // This program can only have raised the limit, and anybody may lower it again.
        let _ = restore_open_files();
        let filtered = ready.program.is_some_and(install);
        let _ = report.write_all(&[if filtered { FILTERED } else { UNFILTERED }]);
        let error = match joined {
            Ok(()) => execute(ready.pointers),
            Err(error) => error,
        };
        let number = error.raw_os_error().unwrap_or(libc::EIO);
        let _ = report.write_all(&number.to_ne_bytes());
    }
    // SAFETY: always sound; it runs none of the parent's handlers.
    unsafe { libc::_exit(127) }
}

/// Waits for the tracer, makes the trial calls, and executes the program; returns only if that
/// fails.
fn execute(pointers: &[*const libc::c_char]) -> io::Error {
    // SAFETY: the pointers end with a null and outlive the call; everything else is
    // async-signal-safe.
    unsafe {
        libc::kill(libc::getpid(), libc::SIGSTOP);
        for _ in 0..TRIALS {
            libc::lseek(-1, 0, libc::SEEK_CUR);
        }
        libc::execvp(pointers[0], pointers.as_ptr());
    }
    io::Error::last_os_error()
}

/// Installs the filter for this process and all that it starts; returns false if this system
/// forbids it.
fn install(program: &[libc::sock_filter]) -> bool {
    let whole = libc::sock_fprog {
        len: program.len() as libc::c_ushort,
        filter: program.as_ptr().cast_mut(),
    };
    let try_once = || {
        // SAFETY: the kernel copies the program, which has the given length.
        unsafe {
            libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const whole) == 0
        }
    };
    // Without privilege, only a process that can no longer gain any (from setuid programs) may
    // install a filter.
    try_once()
        // SAFETY: prctl with plain numbers.
        || unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 } && try_once()
}
