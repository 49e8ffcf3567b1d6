//! `getpid`: the cost of entering and leaving the kernel (Ousterhout 1990, section 4, Table 2).
#![expect(unsafe_code, reason = "the bare system call is the thing measured")]

use super::case::{Case, Op};
use ioscape_schema::{OsBenchmark, Warning, WarningKind};
use std::hint::black_box;
use std::io;

/// If the library's function takes less than this share of the bare system call, it cannot have
/// entered the kernel.
const USER_SPACE: f64 = 0.5;

/// The cases: the bare system call, from which the relative speed is computed; the C library's
/// function; and another call that other tools measure.
pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "getpid",
            "system call",
            "Entering and leaving the kernel: the minimum cost of any system call.",
            |_| operation(|| bare(libc::SYS_getpid)),
        ),
        Case::new(
            "getpid",
            "C library",
            "What programs call; some libraries answer it without the kernel.",
            |_| operation(|| i64::from(library())),
        ),
        Case::new(
            "getpid",
            "getppid",
            "The call that perf and lmbench use as the null call; it takes one more lock.",
            |_| operation(|| bare(libc::SYS_getppid)),
        ),
    ]
}

fn operation(call: impl Fn() -> i64 + 'static) -> io::Result<Op> {
    Ok(Box::new(move |count| {
        for _ in 0..count {
            black_box(call());
        }
        Ok(())
    }))
}

fn library() -> libc::pid_t {
    // SAFETY: getpid has no preconditions.
    unsafe { libc::getpid() }
}

/// A system call without arguments, by the bare instruction.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn bare(number: i64) -> i64 {
    let answer: i64;
    // SAFETY: the call takes no arguments and touches none of our memory; the clobbered registers
    // are named.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number => answer,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack, nomem),
        );
    }
    answer
}

/// A system call without arguments, by the bare instruction.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn bare(number: i64) -> i64 {
    let answer: i64;
    // SAFETY: the call takes no arguments and touches none of our memory.
    unsafe {
        std::arch::asm!("svc 0", in("x8") number, lateout("x0") answer, options(nostack, nomem));
    }
    answer
}

/// A system call without arguments.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn bare(number: libc::c_long) -> i64 {
    // SAFETY: the call takes no arguments.
    i64::from(unsafe { libc::syscall(number) })
}

/// Returns the warning that the library answers the function in user space, as HP-UX's did (Table
/// 2), judged by both times.
pub(crate) fn cached(bare_ns: f64, library_ns: f64) -> Option<Warning> {
    (library_ns < bare_ns * USER_SPACE).then(|| {
        Warning::new(
            WarningKind::Trap,
            format!(
                "the C library answers getpid in user space ({library_ns:.1} ns instead of {bare_ns:.1} ns for the system call): only the bare system call enters the kernel, so only it counts"
            ),
        )
    })
}

/// Checks the results for this trap.
pub(crate) fn doubts(all: &[OsBenchmark]) -> Option<Warning> {
    let value = |case: &str| all.iter().find(|b| b.name == "getpid" && b.case == case)?.value;
    cached(value("system call")?, value("C library")?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// The minimum time of a call over many batches.
    fn least_ns(mut op: Op) -> f64 {
        let mut one = || {
            let start = Instant::now();
            op(1000).unwrap();
            start.elapsed().as_nanos() as f64 / 1000.0
        };
        (0..200).map(|_| one()).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn the_bare_call_gives_the_process_id() {
        assert_eq!(bare(libc::SYS_getpid), i64::from(library()));
    }

    #[test]
    fn a_getpid_cached_on_purpose_is_found_out() {
        let real = least_ns(operation(|| bare(libc::SYS_getpid)).unwrap());
        let remembered = bare(libc::SYS_getpid);
        let fake = least_ns(operation(move || remembered).unwrap());
        let found = cached(real, fake).expect("a call that never enters the kernel is found out");
        assert_eq!(found.kind, WarningKind::Trap);
        assert!(cached(real, real * 0.9).is_none());
    }
}
