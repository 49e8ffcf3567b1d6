//! From what a worker left behind to the error the user reads.

use crate::engine::{Action, Fault};
use crate::worker::report::Report;
use ioscape_machine::error::{Death, Error};
use ioscape_machine::shared::Shared;
use ioscape_machine::target::Target;
use std::io;

/// The error of the first stream that left a fault.
pub(super) fn reported(shared: &Shared, target: &Target) -> Option<Error> {
    (0..shared.streams())
        .filter_map(|i| Report::load(shared.report(i)))
        .find_map(|report| report.fault)
        .map(|fault| from_fault(fault, target))
}

/// What the death of worker `process` means: its own words where it left any.
pub(super) fn from_death(process: u32, death: Death, shared: &Shared, target: &Target) -> Error {
    reported(shared, target).unwrap_or(Error::Worker { process, death })
}

pub(crate) fn from_fault(fault: Fault, target: &Target) -> Error {
    let source = match fault.action {
        Action::EndOfFile => io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the file ends there, so another program must have shortened it",
        ),
        _ => io::Error::from_raw_os_error(fault.errno),
    };
    if let Some(advice) = ring_advice(fault) {
        return Error::Unsupported {
            what: "the io_uring engine".into(),
            why: format!("{source}: {advice}, or choose the psync engine"),
        };
    }
    Error::Io {
        operation: fault.action.verb(),
        path: target.path().to_owned(),
        offset: (fault.offset != u64::MAX).then_some(fault.offset),
        source,
    }
}

/// What to do where the kernel has io_uring but not for this user.
fn ring_advice(fault: Fault) -> Option<&'static str> {
    match (fault.action, fault.errno) {
        (Action::Ring, libc::ENOSYS | libc::EPERM) => Some(
            "allow it (sysctl kernel.io_uring_disabled, or the container's system call filter)",
        ),
        (Action::Ring, libc::ENOMEM) => Some("raise the limit of locked memory (ulimit -l)"),
        _ => None,
    }
}
