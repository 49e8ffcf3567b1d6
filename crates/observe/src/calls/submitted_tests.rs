//! The recorder on requests that one call submits and that complete later.
#![allow(unsafe_code, reason = "io_submit has no safe form")]

use super::tests::{folder, play_in, requests};
use ioscape_schema::Op;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

#[test]
fn what_io_submit_takes_is_seen_request_by_request() {
    let place = folder();
    let (recording, calls) = play_in(place.path(), "aio");
    use Op::{Read, Write};
    let known = [(Read, 4096, 4096), (Write, 100, 512), (Read, 19_000, 1000), (Read, 8, 300)];
    let own = requests(&calls);
    assert_eq!(own[own.len() - 4..], known, "the third is short, the last one has two buffers");
    assert_eq!(calls.iter().filter(|call| call.is_sync()).count(), 1);
    assert_eq!(recording.unseen_calls, 0);
    assert!(calls.iter().all(|call| call.issued_ns <= call.completed_ns));
}

/// `struct iocb` of `linux/aio_abi.h` on machines where the lower half of a word comes first.
fn block(command: u64, fd: i32, buffer: u64, len: u64, offset: u64) -> [u64; 8] {
    [0, 0, command | (fd as u64) << 32, buffer, len, offset, 0, 0]
}

/// Submits a read, a write, a read beyond the end, one with two buffers and a sync in one call, and
/// waits for them.
pub(super) fn aio(path: &Path) -> io::Result<()> {
    std::fs::write(path, [1; 20_000])?;
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let (fd, mut buffers) = (file.as_raw_fd(), [[0u8; 4096]; 4]);
    let [a, b, c, d] = buffers.each_mut().map(|buffer| buffer.as_mut_ptr() as u64);
    let vectors = [[d, 100], [d + 100, 200]];
    let blocks = [
        block(0, fd, a, 4096, 4096),
        block(1, fd, b, 512, 100),
        block(0, fd, c, 4096, 19_000),
        block(7, fd, vectors.as_ptr() as u64, 2, 8),
        block(3, fd, 0, 0, 0),
    ];
    let pointers = blocks.each_ref().map(|one| one.as_ptr() as u64);
    let (mut context, mut events) = (0u64, [[0u64; 4]; 5]);
    let failed = |value: libc::c_long| match value {
        0.. => Ok(value),
        _ => Err(io::Error::last_os_error()),
    };
    // SAFETY: every pointer refers to our own memory of the given size, which outlives the
    // requests.
    unsafe {
        failed(libc::syscall(libc::SYS_io_setup, 8, &raw mut context))?;
        let mut left = &pointers[..];
        while !left.is_empty() {
            let count = left.len();
            let taken = libc::syscall(libc::SYS_io_submit, context, count, left.as_ptr());
            left = &left[failed(taken)? as usize..];
        }
        let none = std::ptr::null_mut::<libc::timespec>();
        let events = events.as_mut_ptr();
        failed(libc::syscall(libc::SYS_io_getevents, context, 5, 5, events, none))?;
        failed(libc::syscall(libc::SYS_io_destroy, context)).map(drop)
    }
}
