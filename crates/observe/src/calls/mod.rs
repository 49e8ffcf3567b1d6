//! What a command does to files: its reads, writes and syncs, and those of all processes that it
//! starts, recorded call by call.
//!
//! It uses `ptrace(2)` with a `seccomp(2)` filter: the kernel stops a process only at the entry and
//! exit of watched calls, and everything else runs at full speed. Where filters are forbidden, it
//! stops at every call, which is slower but sees the same. Requests of `io_submit` and `io_uring`
//! are read from the program's memory at the calls that submit them. For loads and stores on mapped
//! files, the kernel reports faults, to users who have the right to see them. Two things cannot be
//! seen: rings that the kernel polls, and calls of 32-bit programs on a 64-bit system. The
//! recording says if there were any.

mod aio;
mod asynchronous;
mod clones;
mod described;
mod description;
mod descriptors;
mod faults;
mod files;
mod filter;
mod in_flight;
mod interruption;
mod launch;
mod losses;
#[cfg(test)]
mod mapped_tests;
mod mappings;
mod memory;
mod numbers;
mod own_memory;
mod ptrace;
mod registrations;
mod requests;
mod rights;
mod ring;
#[cfg(test)]
mod ring_tests;
mod schedule;
mod sink;
mod submissions;
#[cfg(test)]
mod submitted_tests;
#[cfg(test)]
mod tests;
mod threads;
mod tracer;
#[cfg(test)]
mod turns_tests;

use files::Files;
use ioscape_machine::cgroup::MemoryGroup;
use ioscape_machine::error::Error;
use ioscape_machine::limits::raise_open_files;
use ioscape_machine::thread::builder;
use launch::Start;
use ptrace::{Go, Stop, Stops};
use requests::Ledger;
use rustix::fs::StatVfsMountFlags;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use threads::{LiveThreads, send};

pub use described::Recording;
pub use faults::MappedUse;
pub use files::TracedFile;
pub use sink::CallSink;
pub use threads::TracedProcess;

/// How a command is recorded.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// Counts only files at or below this folder; absent: all files.
    pub below: Option<PathBuf>,
    /// Memory that the command and the file cache of its I/O may use together, in bytes; absent: no limit.
    pub memory_limit: Option<u64>,
    /// Whether the command's standard output goes to standard error.
    pub stdout_to_stderr: bool,
    /// Whether to stop at every call, as where filters are forbidden.
    pub every_call: bool,
    /// Set to stop: all processes that have not been asked yet are asked to end, and are followed
    /// until they have ended.
    pub interrupt: Arc<AtomicBool>,
    /// Set after that to kill the processes that are left.
    pub kill: Arc<AtomicBool>,
}

/// Runs `command` to its end, with all processes that it starts, and passes every call that moved
/// bytes to `sink`.
///
/// The command inherits our standard input, output and error. Calls are passed on in the order of
/// their exits.
///
/// # Errors
/// The command cannot be found or executed, tracing is forbidden, or no memory limit can be set.
pub fn record(
    command: &[OsString],
    options: &CallOptions,
    sink: &mut dyn CallSink,
) -> Result<Recording, Error> {
    let below = options.below.as_deref().map(resolve).transpose()?;
    let group = options.memory_limit.map(MemoryGroup::create).transpose()?;
    let start = Start {
        command,
        stdout_to_stderr: options.stdout_to_stderr,
        every_call: options.every_call,
        group: group.as_ref(),
    };
    raise_open_files();
    let launched = launch::launch(&start)?;
    let ledger = Ledger::new(Files::new(below), sink);
    let (living, root) = (LiveThreads::default(), launched.pid);
    living.add(root, root, None);
    let done = AtomicBool::new(false);
    let flags = [&*options.interrupt, &*options.kill, &done];
    let followed = std::thread::scope(|scope| {
        let watching = || interruption::watch(flags, &living, root);
        if let Err(error) = builder().and_then(|one| one.spawn_scoped(scope, watching)) {
            kill(&living);
            return Err(Error::io("start a thread to watch", Path::new("the command"), error));
        }
        let followed = tracer::Tracer::new(launched, ledger, &living).follow();
        if followed.is_err() {
            kill(&living);
        }
        done.store(true, Ordering::Relaxed);
        followed
    })?;
    let memory_limit = group.as_ref().map(MemoryGroup::limit_bytes);
    let recording = conclude(followed, command, options, memory_limit)?;
    Ok(Recording { doubt: group.as_ref().and_then(MemoryGroup::doubt), ..recording })
}

/// Kills all traced processes and resumes them: a process that ends stops once more before that.
fn kill(living: &LiveThreads) {
    living.processes().into_iter().for_each(|pid| send(pid, libc::SIGKILL));
    let mut stops = Stops::default();
    while let Ok(Some((tid, stop))) = stops.next() {
        if !matches!(stop, Stop::Exited(_) | Stop::Killed(_)) {
            send(tid, libc::SIGKILL);
            ptrace::resume(tid, Go::On, 0);
        }
    }
}

fn conclude(
    mut followed: tracer::Followed,
    command: &[OsString],
    options: &CallOptions,
    memory_limit: Option<u64>,
) -> Result<Recording, Error> {
    if let Some(error) = followed.launched.refusal() {
        return Err(refused(command, &error));
    }
    let interrupted = options.interrupt.load(Ordering::Relaxed);
    if !followed.has_begun {
        let name = Path::new(command.first().map_or("".as_ref(), |c| c.as_os_str()));
        return Err(match interrupted {
            true => Error::Interrupted,
            false => Error::target(name, "it died before it began"),
        });
    }
    Ok(Recording { interrupted, memory_limit, ..followed.recording })
}

/// Resolves the links in a path, so that it matches the paths that the kernel reports for open
/// files.
fn resolve(path: &Path) -> Result<PathBuf, Error> {
    path.canonicalize()
        .map_err(|e| Error::target(path, format!("files below it cannot be counted: {e}")))
}

/// Returns whether nothing may be executed on the file system of a program that is named by its
/// path.
fn is_on_noexec(program: &Path) -> bool {
    program.components().count() > 1
        && rustix::fs::statvfs(program)
            .is_ok_and(|mount| mount.f_flag.contains(StatVfsMountFlags::NOEXEC))
}

fn refused(command: &[OsString], error: &io::Error) -> Error {
    let name = Path::new(command.first().map_or("".as_ref(), |c| c.as_os_str()));
    let reason = match error.raw_os_error() {
        Some(libc::ENOENT) => "there is no such program: check the name and PATH".to_owned(),
        Some(libc::EACCES) if name.is_dir() => "it is a directory".to_owned(),
        Some(libc::EACCES) if is_on_noexec(name) => {
            "its file system is mounted noexec: copy it to another one".to_owned()
        }
        Some(libc::EACCES) => "it may not be executed: check its mode and owner".to_owned(),
        Some(libc::ENOEXEC) => {
            "it is neither a program nor a script that begins with #!".to_owned()
        }
        _ => format!("it cannot be executed: {error}"),
    };
    Error::target(name, reason)
}
