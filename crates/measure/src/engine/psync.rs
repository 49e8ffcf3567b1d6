//! The engine of the papers: `pread` and `pwrite`, one request at a time.

use crate::engine::buffer::{Buffer, Stamp};
use crate::engine::content::Content;
use crate::engine::{Fault, Perform, action};
use ioscape_schema::{Op, Request};
use rustix::io::{Errno, ReadWriteFlags, pread, preadv2, pwrite, pwritev2};
use std::fs::File;
use std::io::{IoSlice, IoSliceMut};
use std::ops::Range;

/// `RWF_ATOMIC` of linux/fs.h (kernel 6.11): a direct write reaches storage whole or not at all, or
/// is refused.
const ATOMIC: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x40);

/// File descriptions for reading sequential runs, one per run: the kernel's read-ahead works per
/// open file.
struct Readers {
    /// For each file, where its run continues and when it was last used.
    files: Vec<(File, u64, u64)>,
    used: u64,
    chosen: usize,
}

impl Readers {
    /// Chooses the file whose run `request` continues, or else the least recently used one.
    fn choose(&mut self, request: &Request) {
        let follows = self.files.iter().position(|(_, next, _)| *next == request.offset);
        let oldest = || (0..self.files.len()).min_by_key(|at| self.files[*at].2);
        let Some(chosen) = follows.or_else(oldest) else { return };
        self.used += 1;
        self.chosen = chosen;
        let (_, next, used) = &mut self.files[chosen];
        (*next, *used) = (request.offset + u64::from(request.len), self.used);
    }

    fn file(&self) -> Option<&File> {
        self.files.get(self.chosen).map(|(file, ..)| file)
    }
}

/// An open file and the buffer of one stream.
pub(crate) struct Psync<C: Content = Stamp> {
    file: File,
    buffer: Buffer,
    content: C,
    flight: C::Flight,
    read_flags: ReadWriteFlags,
    write_flags: ReadWriteFlags,
    readers: Option<Readers>,
}

impl<C: Content> Psync<C> {
    /// Creates an engine on `file` for requests of up to the size of `buffer`.
    pub(crate) fn new(file: File, buffer: Buffer, content: C) -> Self {
        let (flight, none) = (C::Flight::default(), ReadWriteFlags::empty());
        Self { file, buffer, content, flight, read_flags: none, write_flags: none, readers: None }
    }

    /// Reads sequential runs through `files`, if there are any.
    pub(crate) fn with_readers(mut self, files: Vec<File>) -> Self {
        let files: Vec<_> = files.into_iter().map(|file| (file, 0, 0)).collect();
        self.readers = (!files.is_empty()).then_some(Readers { files, used: 0, chosen: 0 });
        self
    }

    /// Carries out `change`, something other than a write that changes `range`.
    pub(crate) fn disturb<T>(&mut self, range: &Range<u64>, change: impl FnOnce() -> T) -> T {
        self.content.disturb(range);
        let done = change();
        self.content.disturbed(range);
        done
    }

    /// Passes `flags` with every request (`preadv2` and `pwritev2`).
    pub(crate) fn with_flags(mut self, flags: ReadWriteFlags) -> Self {
        (self.read_flags, self.write_flags) = (flags, flags);
        self
    }

    /// Makes writes atomic: each is carried out whole or not at all.
    pub(crate) fn with_atomic_writes(mut self) -> Self {
        self.write_flags |= ATOMIC;
        self
    }

    /// Issues one system call for the part of the request after its first `done` bytes.
    #[inline]
    fn call(&mut self, request: &Request, done: usize) -> Result<usize, Errno> {
        let len = request.len as usize;
        let buffer = self.buffer.get_mut(done..len).ok_or(Errno::INVAL)?;
        let offset = request.offset + done as u64;
        let (reads, writes) = (self.read_flags, self.write_flags);
        match request.op {
            Op::Read if reads.is_empty() => {
                let reader = self.readers.as_ref().and_then(Readers::file);
                pread(reader.unwrap_or(&self.file), buffer, offset)
            }
            Op::Read => preadv2(&self.file, &mut [IoSliceMut::new(buffer)], offset, reads),
            Op::Write if writes.is_empty() => pwrite(&self.file, buffer, offset),
            Op::Write => pwritev2(&self.file, &[IoSlice::new(buffer)], offset, writes),
        }
    }

    /// Continues a request whose first call was short or was interrupted.
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

impl<C: Content> Perform for Psync<C> {
    #[inline]
    fn prepare(&mut self, request: &Request) {
        if let Some(readers) = self.readers.as_mut().filter(|_| request.op == Op::Read) {
            readers.choose(request);
        }
        self.content.prepare(request, &mut self.buffer, &mut self.flight);
    }

    #[inline]
    fn conclude(&mut self, request: &Request) {
        self.content.conclude(request, &self.buffer, &self.flight);
    }

    #[inline]
    fn perform(&mut self, request: &Request) -> Result<(), Fault> {
        match self.call(request, 0) {
            Ok(moved) if moved == request.len as usize => Ok(()),
            outcome => self.finish(request, outcome),
        }
    }
}
