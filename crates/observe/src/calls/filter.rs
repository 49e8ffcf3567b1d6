//! The filter that stops a process only at watched calls: a small program that the kernel runs at
//! every call.

use super::numbers::{ARCHITECTURE, watched};
use libc::sock_filter;

/// Offsets of the fields of the kernel's `seccomp_data`, in bytes. For an argument, this is its
/// lower half, which comes first on these processors.
const NUMBER: u32 = 0;
const PROCESSOR: u32 = 4;
const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

/// Calls from this number on are of the x32 ABI of x86-64, whose numbers mean something else.
const X32: u32 = 0x4000_0000;

/// Where a comparison jumps to.
#[derive(Clone, Copy)]
enum To {
    /// The next instruction.
    Next,
    /// Skips this many instructions after the next one.
    Over(u8),
    /// Lets the call go on.
    Pass,
    /// Stops for the tracer.
    Stop,
}

/// The operation of an instruction: load a field, or compare the loaded value.
const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
const ANY_BIT: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;

/// One instruction whose jumps are not resolved yet: its operation, its operand, and where it jumps
/// if the comparison holds and if it does not.
type Step = (u32, u32, To, To);

fn steps(architecture: u32) -> Vec<Step> {
    let load = |place: u32| (LOAD, place, To::Next, To::Next);
    let mut steps = vec![
        load(PROCESSOR),
        (EQUAL, architecture, To::Next, To::Pass),
        load(NUMBER),
        (AT_LEAST, X32, To::Pass, To::Next),
        // Anonymous memory is mapped all the time.
        (EQUAL, libc::SYS_mmap as u32, To::Next, To::Over(2)),
        load(argument(3)),
        (ANY_BIT, libc::MAP_ANONYMOUS as u32, To::Pass, To::Stop),
        // Locks and flags are queried all the time too.
        (EQUAL, libc::SYS_fcntl as u32, To::Next, To::Over(4)),
        load(argument(1)),
        (EQUAL, libc::F_DUPFD as u32, To::Stop, To::Next),
        (EQUAL, libc::F_DUPFD_CLOEXEC as u32, To::Stop, To::Next),
        (EQUAL, libc::F_SETFL as u32, To::Stop, To::Pass),
    ];
    steps.extend(watched().map(|number| (EQUAL, number, To::Stop, To::Next)));
    steps
}

/// The filter program; `None` on a processor whose call numbers are not known here.
pub(super) fn program() -> Option<Vec<sock_filter>> {
    let steps = steps(ARCHITECTURE?);
    let end = steps.len();
    let jump = |at: usize, to: To| match to {
        To::Next => 0,
        To::Over(count) => count,
        To::Pass => (end - at - 1) as u8,
        To::Stop => (end - at) as u8,
    };
    let placed = |(at, &(code, k, yes, no)): (usize, &Step)| sock_filter {
        code: code as u16,
        jt: jump(at, yes),
        jf: jump(at, no),
        k,
    };
    let mut program: Vec<sock_filter> = steps.iter().enumerate().map(placed).collect();
    let give = (libc::BPF_RET | libc::BPF_K) as u16;
    for k in [libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_TRACE] {
        program.push(sock_filter { code: give, jt: 0, jf: 0, k });
    }
    Some(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the program on a call, as the kernel would.
    fn judge(number: u32, arguments: [u32; 6], architecture: u32) -> u32 {
        let program = program().unwrap();
        let (mut at, mut value) = (0, 0);
        loop {
            let one = program[at];
            let code = u32::from(one.code);
            at += 1;
            if code == libc::BPF_RET | libc::BPF_K {
                return one.k;
            }
            if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS {
                value = match one.k {
                    NUMBER => number,
                    PROCESSOR => architecture,
                    place => arguments[(place as usize - 16) / 8],
                };
                continue;
            }
            let holds = match code & !(libc::BPF_JMP | libc::BPF_K) {
                libc::BPF_JEQ => value == one.k,
                libc::BPF_JGE => value >= one.k,
                _ => value & one.k != 0,
            };
            at += usize::from(if holds { one.jt } else { one.jf });
        }
    }

    #[test]
    fn only_watched_calls_stop() {
        let here = ARCHITECTURE.unwrap();
        let (pass, stop) = (libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_TRACE);
        let plain = |number: libc::c_long| judge(number as u32, [0; 6], here);
        for number in watched().filter(|&n| n != libc::SYS_fcntl as u32) {
            assert_eq!(judge(number, [0; 6], here), stop, "{number}");
        }
        for number in [libc::SYS_getpid, libc::SYS_futex, libc::SYS_ioctl, libc::SYS_fstat] {
            assert_eq!(plain(number), pass, "{number}");
        }
        let with = |number: libc::c_long, index: usize, value: libc::c_int| {
            let mut arguments = [0; 6];
            arguments[index] = value as u32;
            judge(number as u32, arguments, here)
        };
        assert_eq!(with(libc::SYS_mmap, 3, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS), pass);
        assert_eq!(with(libc::SYS_mmap, 3, libc::MAP_SHARED), stop);
        assert_eq!(with(libc::SYS_fcntl, 1, libc::F_GETFL), pass);
        assert_eq!(with(libc::SYS_fcntl, 1, libc::F_SETLK), pass);
        assert_eq!(with(libc::SYS_fcntl, 1, libc::F_DUPFD_CLOEXEC), stop);
        assert_eq!(with(libc::SYS_fcntl, 1, libc::F_SETFL), stop);
        assert_eq!(judge(libc::SYS_read as u32, [0; 6], here ^ 1), pass);
        assert_eq!(judge(libc::SYS_read as u32 | X32, [0; 6], here), pass);
    }
}
