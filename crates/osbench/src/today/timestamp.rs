//! The cost of reading a clock: without entering the kernel if its clock source allows that, and
//! with a system call.

use crate::case::{Case, Op, wrong};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::io;

/// The cases: the monotonic clock, and the clock of the thread's processor time.
pub(crate) fn cases() -> Vec<Case> {
    let monotonic = "One timestamp of the kernel. Nearly a system call's time means that the clock source \
         (such as hpet or acpi_pm) cannot be read outside the kernel.";
    let thread = "The thread's processor time: a clock that always needs a system call.";
    vec![
        Case::new("timestamp", "monotonic", monotonic, |_| operation(ClockId::Monotonic)),
        Case::new("timestamp", "CPU time", thread, |_| operation(ClockId::ThreadCPUTime)),
    ]
}

fn operation(clock: ClockId) -> io::Result<Op> {
    Ok(Box::new(move |count| {
        let ns = |time: Timespec| time.tv_sec * 1_000_000_000 + time.tv_nsec;
        let mut last = ns(clock_gettime(clock));
        for _ in 0..count {
            let now = ns(clock_gettime(clock));
            if now < last {
                return Err(wrong(format!("the clock went back from {last} to {now} ns")));
            }
            last = now;
        }
        Ok(())
    }))
}
