//! Turns what a worker left behind into the error message that the user reads.

use crate::engine::{Action, Fault, uring};
use crate::worker::report::Report;
use ioscape_machine::doctor::ring_advice;
use ioscape_machine::error::{Death, Error};
use ioscape_machine::shared::Shared;
use std::io;
use std::path::Path;

/// The error that the death of worker `process` amounts to: the fault that it reported, if any.
/// `path_of` gives the file of a stream.
pub(crate) fn from_death<'a>(
    process: u32,
    death: Death,
    shared: &Shared,
    path_of: impl Fn(usize) -> &'a Path,
) -> Error {
    let fault = |stream| Some((stream, Report::load(shared.report(stream))?.fault?));
    match (0..shared.streams()).find_map(fault) {
        Some((stream, fault)) => from_fault(fault, path_of(stream)),
        None => Error::Worker { process, death },
    }
}

/// The error message for a fault in the I/O on `path`.
pub(crate) fn from_fault(fault: Fault, path: &Path) -> Error {
    let source = match fault.action {
        Action::EndOfFile => io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the file ends there, so another program must have shortened it",
        ),
        _ => io::Error::from_raw_os_error(fault.errno),
    };
    if let Some(advice) = advice(fault) {
        return Error::Unsupported {
            what: "the io_uring engine".into(),
            why: format!("{source}: {advice}; the psync engine works without it"),
        };
    }
    if fault.action == Action::Uncached {
        return Error::Unsupported {
            what: "the dontcache engine".into(),
            why: format!(
                "{source}: RWF_DONTCACHE needs Linux 6.14 and a file system that takes it (ext4, XFS, Btrfs); choose the psync engine"
            ),
        };
    }
    if fault.action == Action::Lock {
        return Error::Unsupported {
            what: "-m".into(),
            why: format!(
                "the buffers cannot be locked in memory ({source}): raise the limit (ulimit -l), or leave it out"
            ),
        };
    }
    let offset = (fault.offset != u64::MAX).then_some(fault.offset);
    Error::Io { operation: fault.action.verb(), path: path.to_owned(), offset, source }
}

/// Refuses `what`, which needs many requests in flight, where the kernel allows no `io_uring`. It
/// touches nothing.
///
/// # Errors
/// The kernel's answer, and what to do about it.
pub fn vet_ring(what: &str) -> Result<(), Error> {
    let Err(fault) = uring::trial() else { return Ok(()) };
    let source = io::Error::from_raw_os_error(fault.errno);
    let advice = advice(fault).map_or_else(String::new, |advice| format!("; {advice}"));
    Err(Error::Unsupported {
        what: what.into(),
        why: format!("it needs io_uring, which the kernel refuses: {source}{advice}"),
    })
}

/// What to do where the kernel allows no `io_uring` to this user.
fn advice(fault: Fault) -> Option<&'static str> {
    (fault.action == Action::Ring).then(|| ring_advice(fault.errno)).flatten()
}
