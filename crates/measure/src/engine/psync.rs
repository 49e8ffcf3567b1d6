//! The engine of the papers: `pread` and `pwrite`, one request at a time.

use crate::engine::buffer::{Buffer, Stamp};
use crate::engine::{Fault, Perform, action};
use ioscape_schema::{Op, Request};
use rustix::io::{Errno, ReadWriteFlags, pread, preadv2, pwrite, pwritev2};
use std::fs::File;
use std::io::{IoSlice, IoSliceMut};

/// An open file and the buffer of one stream.
pub(crate) struct Psync {
    file: File,
    buffer: Buffer,
    stamp: Stamp,
    flags: ReadWriteFlags,
}

impl Psync {
    /// An engine on `file` for requests of up to the size of `buffer`.
    pub(crate) fn new(file: File, buffer: Buffer, stamp: Stamp) -> Self {
        Self { file, buffer, stamp, flags: ReadWriteFlags::empty() }
    }

    /// The same with `flags` on every request (`preadv2` and `pwritev2`).
    pub(crate) fn with_flags(mut self, flags: ReadWriteFlags) -> Self {
        self.flags = flags;
        self
    }

    /// One system call for the part of the request behind its first `done` bytes.
    #[inline]
    fn call(&mut self, request: &Request, done: usize) -> Result<usize, Errno> {
        let len = request.len as usize;
        let buffer = self.buffer.get_mut(done..len).ok_or(Errno::INVAL)?;
        let offset = request.offset + done as u64;
        if !self.flags.is_empty() {
            return match request.op {
                Op::Read => preadv2(&self.file, &mut [IoSliceMut::new(buffer)], offset, self.flags),
                Op::Write => pwritev2(&self.file, &[IoSlice::new(buffer)], offset, self.flags),
            };
        }
        match request.op {
            Op::Read => pread(&self.file, buffer, offset),
            Op::Write => pwrite(&self.file, buffer, offset),
        }
    }

    /// Goes on where the first call of a request ended short or was interrupted.
    #[cold]
    fn finish(
        &mut self,
        request: &Request,
        mut outcome: Result<usize, Errno>,
    ) -> Result<(), Fault> {
        let mut done = 0;
        loop {
            let place = request.offset + done as u64;
            match outcome {
                Ok(0) => return Err(Fault::nothing_moved(request.op, place)),
                Ok(moved) => done += moved,
                Err(Errno::INTR) => {}
                Err(errno) => {
                    return Err(Fault::at(action(request.op), place, errno.raw_os_error()));
                }
            }
            if done >= request.len as usize {
                return Ok(());
            }
            outcome = self.call(request, done);
        }
    }
}

impl Perform for Psync {
    #[inline]
    fn prepare(&mut self, request: &Request) {
        self.stamp.prepare(request, &mut self.buffer);
    }

    #[inline]
    fn perform(&mut self, request: &Request) -> Result<(), Fault> {
        match self.call(request, 0) {
            Ok(moved) if moved == request.len as usize => Ok(()),
            outcome => self.finish(request, outcome),
        }
    }
}
