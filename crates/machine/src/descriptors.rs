//! Descriptors that the program was started with: which of standard input, output and error were
//! closed, and copies of the others.
//!
//! Rust opens `/dev/null` in place of closed ones before `main`, so that no file gets their numbers,
//! and takes a standard output that cannot be written for one that swallows everything. Writes would
//! be lost without an error, so the check runs before that.
#![expect(unsafe_code, reason = "a function that the C library calls before main")]

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU8, Ordering};

/// One bit per descriptor.
static CLOSED: AtomicU8 = AtomicU8::new(0);

// SAFETY: the section holds pointers to functions that are called once, before there are other threads.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    for number in 0..3 {
        // SAFETY: it only reads the flags of a descriptor, which need not exist.
        let flags = unsafe { libc::fcntl(number, libc::F_GETFL) };
        let is_only_read = number > 0 && flags & libc::O_ACCMODE == libc::O_RDONLY;
        if flags == -1 || is_only_read {
            CLOSED.fetch_or(1 << number, Ordering::Relaxed);
        }
    }
}

/// Returns whether descriptor `number`, 0 to 2, was closed at program start, or, for output and
/// error, only open for reading.
pub fn was_closed(number: i32) -> bool {
    (0..3).contains(&number) && CLOSED.load(Ordering::Relaxed) >> number & 1 == 1
}

/// Returns a copy of a descriptor, which shares its access and its place in the file.
///
/// # Errors
/// It is not open, or too many are.
pub fn copy(number: i32) -> io::Result<OwnedFd> {
    // SAFETY: it makes a new descriptor, or none if `number` is not open.
    let copied = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    match copied {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: it is new, so nobody else owns it.
        _ => Ok(unsafe { OwnedFd::from_raw_fd(copied) }),
    }
}

/// Checks that there is a standard output.
///
/// # Errors
/// It was closed at program start.
pub fn standard_output() -> io::Result<()> {
    was_open(1)
}

/// Checks that there is a standard error.
///
/// # Errors
/// It was closed at program start.
pub fn standard_error() -> io::Result<()> {
    was_open(2)
}

fn was_open(number: i32) -> io::Result<()> {
    match was_closed(number) {
        true => Err(io::Error::other("it is closed, or not open for writing")),
        false => Ok(()),
    }
}
