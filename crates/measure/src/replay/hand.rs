//! What one thread of a replay does with a request: read, write, flush or discard.
#![expect(unsafe_code, reason = "the discard of a block device has no safe wrapper")]

use super::options::ReplayOptions;
use crate::engine::buffer::Buffer;
use crate::engine::content::Content;
use crate::engine::psync::Psync;
use crate::engine::{Action, Fault, Perform};
use ioscape_machine::error::Error;
use ioscape_machine::target::Target;
use ioscape_schema::{Io, IoFlags, Op, Request};
use rustix::fs::FallocateFlags;
use rustix::io::{Errno, retry_on_intr};
use rustix::ioctl::{Opcode, Setter, ioctl, opcode};
use std::fs::File;
use std::io;

/// The largest buffer of a thread in bytes. Longer requests are carried out in parts.
const MOST_BUFFER: u32 = 4 << 20;

/// `BLKDISCARD` of linux/fs.h.
const DISCARD: Opcode = opcode::none(0x12, 119);

/// The number of kinds of requests.
pub(super) const KINDS: usize = 4;

/// Kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A read.
    Read,
    /// A write, including the flushes before and after it, if any.
    Write,
    /// A flush alone.
    Flush,
    /// A range that is discarded or zeroed.
    Discard,
}

/// The kind of a request.
pub(super) fn kind(io: &Io) -> Kind {
    if io.flags.intersects(IoFlags::DISCARD | IoFlags::ZEROES) {
        Kind::Discard
    } else if io.request.len == 0 {
        Kind::Flush
    } else if io.request.op == Op::Read {
        Kind::Read
    } else {
        Kind::Write
    }
}

/// Size of the buffer of one thread in bytes.
pub(super) fn buffer_bytes(options: &ReplayOptions) -> u32 {
    options.largest.clamp(1, MOST_BUFFER).next_multiple_of(4096)
}

/// One thread's own file and buffer.
pub(super) struct Hand<C: Content> {
    file: File,
    is_device: bool,
    engine: Psync<C>,
    longest: u32,
}

impl<C: Content> Hand<C> {
    pub(super) fn new(
        target: &Target,
        options: &ReplayOptions,
        number: usize,
        content: C,
    ) -> Result<Self, Error> {
        let open = || target.open_file(options.access, options.writes);
        let longest = buffer_bytes(options);
        let seed = number as u64;
        let buffer = Buffer::new(longest as usize, 4096, seed).ok_or_else(|| {
            let none = io::Error::from_raw_os_error(libc::ENOMEM);
            Error::io("get memory for the I/O on", target.path(), none)
        })?;
        let engine = Psync::new(open()?, buffer, content);
        Ok(Self { file: open()?, is_device: target.is_device(), engine, longest })
    }

    /// Does the preparation that does not count towards the response time.
    pub(super) fn prepare(&mut self, io: &Io) {
        if !matches!(kind(io), Kind::Read | Kind::Write) {
            return;
        }
        let len = io.request.len.min(self.longest);
        self.engine.prepare(&Request { len, ..io.request });
    }

    /// Carries out a request and returns its kind; `None` means a discard that the target does not
    /// support.
    pub(super) fn carry_out(&mut self, io: &Io) -> Result<Option<Kind>, Fault> {
        let kind = kind(io);
        match kind {
            Kind::Flush => self.flush()?,
            Kind::Discard => return self.give_back(io),
            Kind::Read => self.move_bytes(&io.request)?,
            Kind::Write => {
                if io.flags.contains(IoFlags::FLUSH) {
                    self.flush()?;
                }
                self.move_bytes(&io.request)?;
                if io.flags.contains(IoFlags::FUA) {
                    self.flush()?;
                }
            }
        }
        Ok(Some(kind))
    }

    fn flush(&self) -> Result<(), Fault> {
        rustix::fs::fdatasync(&self.file).map_err(|e| Fault::new(Action::Sync, e.raw_os_error()))
    }

    fn move_bytes(&mut self, request: &Request) -> Result<(), Fault> {
        let mut part = Request { len: request.len.min(self.longest), ..*request };
        let mut left = request.len;
        while left > 0 {
            part.len = left.min(self.longest);
            self.engine.perform(&part)?;
            left -= part.len;
            if C::CHECKS && left > 0 {
                self.engine.conclude(&part);
                self.engine.prepare(&Request {
                    offset: part.offset + u64::from(part.len),
                    len: left.min(self.longest),
                    ..part
                });
            }
            part.offset += u64::from(part.len);
        }
        Ok(())
    }

    /// Checks what the last part of a request transferred, which does not count towards the
    /// response time.
    pub(super) fn conclude(&mut self, io: &Io) {
        if !matches!(kind(io), Kind::Read | Kind::Write) {
            return;
        }
        let before = (io.request.len - 1) / self.longest * self.longest;
        let (offset, len) = (io.request.offset + u64::from(before), io.request.len - before);
        self.engine.conclude(&Request { offset, len, ..io.request });
    }

    fn give_back(&mut self, io: &Io) -> Result<Option<Kind>, Fault> {
        let (offset, len) = (io.request.offset, u64::from(io.request.len));
        let (file, way) = (&self.file, way(io.flags, self.is_device));
        let give = || match way {
            Some(flags) => rustix::fs::fallocate(file, flags, offset, len),
            None => discard(file, [offset, len]),
        };
        // On a file system in memory, any signal interrupts this call.
        let range = offset..offset.saturating_add(len);
        match self.engine.disturb(&range, || retry_on_intr(give)) {
            Ok(()) => Ok(Some(Kind::Discard)),
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(None),
            Err(e) => Err(Fault::at(Action::Write, offset, e.raw_os_error())),
        }
    }
}

/// Returns how `fallocate` discards or zeroes a range; `None` for the discard of a block device,
/// which would write zeroes for a hole.
pub(super) fn way(flags: IoFlags, is_device: bool) -> Option<FallocateFlags> {
    let how = match flags.contains(IoFlags::ZEROES) {
        true => FallocateFlags::ZERO_RANGE,
        false if is_device => return None,
        false => FallocateFlags::PUNCH_HOLE,
    };
    Some(how | FallocateFlags::KEEP_SIZE)
}

/// Discards a range of a block device: its offset and length, in bytes.
fn discard(device: &File, range: [u64; 2]) -> Result<(), Errno> {
    // SAFETY: the call reads two such numbers.
    unsafe { ioctl(device, Setter::<DISCARD, _>::new(range)) }
}
