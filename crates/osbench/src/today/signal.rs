//! The cost of a signal to oneself, with a handler.
#![expect(unsafe_code, reason = "installs a signal handler")]

use crate::case::{Case, Op, wrong};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

static HANDLED: AtomicU64 = AtomicU64::new(0);

/// The only case.
pub(crate) fn cases() -> Vec<Case> {
    let teaches =
        "Sending a signal, entering and leaving its handler: how the kernel calls into a program.";
    vec![Case::new("signal", "to oneself", teaches, |_| operation())]
}

extern "C" fn handle(_: libc::c_int) {
    HANDLED.store(HANDLED.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

fn operation() -> io::Result<Op> {
    // SAFETY: all-zero is a valid action without flags; the handler only touches an atomic.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as usize;
        if libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    // The C library's `raise` makes three more calls, to block all signals meanwhile.
    let process = std::process::id();
    let thread = rustix::thread::gettid().as_raw_nonzero().get();
    Ok(Box::new(move |count| {
        let before = HANDLED.load(Ordering::Relaxed);
        for _ in 0..count {
            // SAFETY: the handler is installed, and the signal goes to this very thread.
            unsafe { libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGUSR1) };
        }
        match HANDLED.load(Ordering::Relaxed) - before {
            handled if handled == count => Ok(()),
            handled => Err(wrong(format!("{handled} of {count} signals were handled"))),
        }
    }))
}
