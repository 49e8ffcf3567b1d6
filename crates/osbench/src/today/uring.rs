//! The cost of a no-op request through `io_uring`.
#![expect(unsafe_code, reason = "submission entries are pushed by pointer-free operations only")]

use crate::case::{Case, Op, not_here, wrong};
use io_uring::{IoUring, opcode};
use std::io;

/// Requests submitted together in the second case.
const TOGETHER: u32 = 32;

/// The cases.
pub(crate) fn cases() -> Vec<Case> {
    let one = "Submitting one request and taking its completion: the lower bound of every io_uring figure.";
    let many = "The same per request for 32 at once: they share one entry into the kernel.";
    vec![
        Case::new("io-uring", "no-op", one, |_| operation(1)),
        Case::new("io-uring", "no-op, 32 at once", many, |_| operation(TOGETHER)),
    ]
}

fn operation(together: u32) -> io::Result<Op> {
    let mut ring = IoUring::new(TOGETHER)
        .map_err(|error| not_here(format!("io_uring is not available: {error}")))?;
    Ok(Box::new(move |count| {
        let mut left = count;
        while left > 0 {
            let now = u64::from(together).min(left);
            for _ in 0..now {
                // SAFETY: a no-op refers to no memory.
                let pushed = unsafe { ring.submission().push(&opcode::Nop::new().build()) };
                pushed.map_err(|_| wrong("the submission queue is full"))?;
            }
            ring.submit_and_wait(now as usize)?;
            if ring.completion().count() as u64 != now {
                return Err(wrong("not every request was completed"));
            }
            left -= now;
        }
        Ok(())
    }))
}
