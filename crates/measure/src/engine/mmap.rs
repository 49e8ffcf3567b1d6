//! The engine for memory-mapped files: loads and stores on a shared mapping.
#![expect(unsafe_code, reason = "a mapping of a file that only workers of this session change")]

use crate::engine::buffer::{Buffer, Stamp};
use crate::engine::content::Content;
use crate::engine::{Action, Fault, Perform, action};
use ioscape_machine::clock::Clock;
use ioscape_schema::{Op, Request};
use rustix::mm::{MapFlags, ProtFlags};
use std::fs::File;
use std::ptr::NonNull;

/// A mapping of the set, and the buffer of one stream.
pub(crate) struct Mmap<C: Content = Stamp> {
    base: NonNull<u8>,
    len: u64,
    buffer: Buffer,
    content: C,
    flight: C::Flight,
}

impl<C: Content> Mmap<C> {
    /// Maps the first `len` bytes of `file`, writable if `write`.
    pub(crate) fn new(
        file: &File,
        len: u64,
        write: bool,
        buffer: Buffer,
        content: C,
    ) -> Result<Self, Fault> {
        let protection = if write { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        let size = usize::try_from(len).map_err(|_| Fault::new(Action::Map, libc::ENOMEM))?;
        // SAFETY: a new mapping at an address that the kernel chooses overlaps nothing.
        let base = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), size, protection, MapFlags::SHARED, file, 0)
        }
        .map_err(|errno| Fault::new(Action::Map, errno.raw_os_error()))?;
        let base = NonNull::new(base.cast()).ok_or(Fault::new(Action::Map, libc::ENOMEM))?;
        Ok(Self { base, len, buffer, content, flight: C::Flight::default() })
    }

    /// Advises the kernel how the mapping will be used. A kernel that rejects the advice does
    /// without.
    pub(crate) fn advise(&self, advice: rustix::mm::Advice) {
        // SAFETY: the range is this mapping, and none of the advice given here changes its
        // contents.
        let _ =
            unsafe { rustix::mm::madvise(self.base.as_ptr().cast(), self.len as usize, advice) };
    }
}

impl<C: Content> Perform for Mmap<C> {
    /// No system call keeps the reading after the copy.
    #[inline]
    fn now(clock: &Clock) -> u64 {
        clock.raw_in_order()
    }

    #[inline]
    fn prepare(&mut self, request: &Request) {
        self.content.prepare(request, &mut self.buffer, &mut self.flight);
    }

    #[inline]
    fn conclude(&mut self, request: &Request) {
        self.content.conclude(request, &self.buffer, &self.flight);
    }

    #[inline]
    fn perform(&mut self, request: &Request) -> Result<(), Fault> {
        let len = request.len as usize;
        let fits = request.offset.checked_add(len as u64).is_some_and(|end| end <= self.len)
            && len <= self.buffer.len();
        if !fits {
            return Err(Fault::at(action(request.op), request.offset, libc::EINVAL));
        }
        let buffer = self.buffer.as_mut_ptr();
        // SAFETY: the checks above ensure that `offset + len` lies inside the mapping and `len`
        // inside the buffer; these do not overlap. Other workers may change the same bytes
        // meanwhile, but the bytes are never interpreted.
        unsafe {
            let mapped = self.base.as_ptr().add(request.offset as usize);
            match request.op {
                Op::Read => std::ptr::copy_nonoverlapping(mapped, buffer, len),
                Op::Write => std::ptr::copy_nonoverlapping(buffer, mapped, len),
            }
        }
        std::hint::black_box(buffer);
        Ok(())
    }
}

impl<C: Content> Drop for Mmap<C> {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing refers to it any more. A failure would only leave
        // the mapping in place.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.len as usize) };
    }
}
