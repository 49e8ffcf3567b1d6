//! Which of standard input, output and error were closed at program start.
//!
//! Rust opens `/dev/null` in their place before `main`, so that no file gets their numbers. Writes
//! to it would be lost without an error, so the check runs before that.
#![expect(unsafe_code, reason = "a function that the C library calls before main")]

use std::io;
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
        if unsafe { libc::fcntl(number, libc::F_GETFD) } == -1 {
            CLOSED.fetch_or(1 << number, Ordering::Relaxed);
        }
    }
}

/// Returns whether descriptor `number`, 0 to 2, was closed at program start.
pub fn was_closed(number: i32) -> bool {
    (0..3).contains(&number) && CLOSED.load(Ordering::Relaxed) >> number & 1 == 1
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
        true => Err(io::Error::other("it is closed")),
        false => Ok(()),
    }
}
