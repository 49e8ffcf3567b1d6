//! The processors that a thread may run on, however many the machine has, and the nodes of a NUMA
//! machine that it takes memory from.
#![allow(unsafe_code, reason = "the safe wrappers know 1024 processors and no memory policies")]

use libc::{c_int, c_long, c_ulong};
use std::io;

/// Bits of a word of the kernel's masks.
const BITS: usize = c_ulong::BITS as usize;

/// Words of a mask for more processors than any kernel can have (Linux 6.18: CONFIG_NR_CPUS is at
/// most 8192). The kernel refuses a mask too small for those of the machine.
const WORDS: usize = 65_536 / BITS;

/// Bits of a mask for more nodes than a kernel can have (Linux 6.18: 1024), and no more than a page
/// of memory holds, which the kernel refuses.
const NODES: usize = 4096;

/// The part of a memory policy that is no flag.
const MODE: c_int = 0xff;

/// Returns the numbers of the processors that this thread may run on, in order; empty if the kernel
/// does not tell.
pub fn allowed() -> Vec<usize> {
    let mut mask = [0; WORDS];
    // SAFETY: the kernel writes at most the given number of bytes, all of them in `mask`, and keeps
    // no pointer. After an error the mask is empty.
    unsafe { call(libc::SYS_sched_getaffinity, &mut mask) };
    numbers(&mask)
}

/// Pins this thread to a processor.
///
/// # Errors
/// It may not run there, or there is no such processor.
pub fn pin(cpu: usize) -> io::Result<()> {
    let mut mask = [0; WORDS];
    let word = mask.get_mut(cpu / BITS).ok_or(io::ErrorKind::InvalidInput)?;
    *word = 1 << (cpu % BITS);
    // SAFETY: the kernel reads the given number of bytes, all of them in `mask`, and keeps no
    // pointer.
    match unsafe { call(libc::SYS_sched_setaffinity, &mut mask) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the nodes that this thread's policy binds its memory to, file cache included, as by
/// `numactl --membind`; `None` without one.
pub(crate) fn bound_nodes() -> Option<Vec<usize>> {
    let (mut mode, mut mask) = (0, [0; NODES / BITS]);
    let (address, flags): (c_ulong, c_ulong) = (0, 0);
    let (call, mode_at, mask_at) = (libc::SYS_get_mempolicy, &raw mut mode, mask.as_mut_ptr());
    // SAFETY: the kernel writes one int to `mode` and at most the given number of bits to `mask`,
    // and keeps no pointer.
    let result = unsafe { libc::syscall(call, mode_at, mask_at, NODES, address, flags) };
    (result == 0 && mode & MODE == libc::MPOL_BIND).then(|| numbers(&mask))
}

/// Makes a call about the mask of this thread.
///
/// # Safety
/// The call takes a thread's number, and the length in bytes and the address of a mask.
unsafe fn call(number: c_long, mask: &mut [c_ulong; WORDS]) -> c_long {
    // SAFETY: as the caller promises; the mask lives until the call returns.
    unsafe { libc::syscall(number, 0, size_of_val(mask), mask.as_mut_ptr()) }
}

fn numbers(mask: &[c_ulong]) -> Vec<usize> {
    (0..mask.len() * BITS).filter(|cpu| mask[cpu / BITS] >> (cpu % BITS) & 1 == 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_allowed_the_processor_that_it_is_pinned_to() {
        let all = allowed();
        let last = *all.last().unwrap();
        let found = std::thread::spawn(move || pin(last).map(|()| allowed())).join().unwrap();
        assert_eq!((found.unwrap(), allowed()), (vec![last], all));
    }

    #[test]
    fn a_thread_whose_memory_is_bound_to_a_node_knows_it() {
        let bound = || {
            let (policy, mask) = (libc::MPOL_BIND, [1 as c_ulong; 1]);
            // SAFETY: the kernel reads the given number of bits of the mask, and keeps no pointer.
            let set = unsafe {
                libc::syscall(libc::SYS_set_mempolicy, policy, mask.as_ptr(), c_ulong::BITS)
            };
            (set == 0).then(bound_nodes)
        };
        let here = bound_nodes();
        match std::thread::spawn(bound).join().unwrap() {
            None => crate::testing::skipped("memory cannot be bound to a node here"),
            Some(found) => assert_eq!((found, bound_nodes()), (Some(vec![0]), here)),
        }
    }

    /// Guards against a machine of 1792 processors where all seemed forbidden.
    #[test]
    fn processors_beyond_1024_have_their_place_in_a_mask() {
        let mut mask = [0; WORDS];
        (mask[0], mask[1791 / BITS]) = (0b101, 1 << (1791 % BITS));
        assert_eq!(numbers(&mask), [0, 2, 1791]);
        for none in [65_535, 65_536, usize::MAX] {
            assert!(pin(none).is_err(), "{none}");
        }
    }
}
