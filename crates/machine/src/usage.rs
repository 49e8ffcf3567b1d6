//! What the kernel counts of a process, of its ended children or of a thread.
#![expect(unsafe_code, reason = "getrusage has no safe wrapper")]

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Returns what `who` has used (getrusage(2)). `RUSAGE_SELF` counts all threads of the process,
/// including those that have ended and the kernel threads that an `io_uring` starts for it.
pub fn usage(who: libc::c_int) -> libc::rusage {
    // SAFETY: all-zero is a valid rusage, which consists of plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is writable and of the right type; failure leaves it zero.
    unsafe { libc::getrusage(who, &mut usage) };
    usage
}

/// Returns its user and system nanoseconds.
pub fn processor_ns(usage: &libc::rusage) -> [u64; 2] {
    let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
    [ns(usage.ru_utime), ns(usage.ru_stime)]
}

/// Returns the nanoseconds that a thread was ready to run but waited for a processor: the second
/// number of its `schedstat` file (kernel documentation, scheduler/sched-stats). `None` if the kernel
/// does not count: then the number of times that it ran, the third, is 0, too.
pub fn waited_ns(schedstat: &File) -> Option<u64> {
    let mut text = [0; 96];
    let len = schedstat.read_at(&mut text, 0).ok()?;
    let words = std::str::from_utf8(&text[..len]).ok()?.split_whitespace();
    let mut numbers = words.skip(1).map_while(|word| word.parse::<u64>().ok());
    let (waited, times) = (numbers.next()?, numbers.next()?);
    (times > 0).then_some(waited)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_second_number_of_a_schedule_is_the_wait() {
        let waited = |text: &str| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            waited_ns(&file)
        };
        assert_eq!(waited("175630535 19176840 433"), Some(19_176_840));
        assert_eq!([waited("0 0 0"), waited("")], [None; 2]);
    }
}
