//! The engine for deep queues: `io_uring` with a registered file and registered buffers, submitted
//! in batches.
#![expect(
    unsafe_code,
    reason = "the kernel is given pointers to buffers that live as long as the ring"
)]

use crate::engine::buffer::{Buffer, Stamp};
use crate::engine::content::Content;
use crate::engine::{Action, Fault, action};
use crate::worker::rows::Keep;
use crate::worker::stream::Stream;
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use ioscape_machine::clock::Clock;
use ioscape_schema::{Op, Request};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// One slot of the queue: its buffer and the request in flight in it.
struct Slot<F> {
    buffer: Buffer,
    request: Request,
    /// Bytes of the request that short transfers have already moved.
    done: u32,
    issued: u64,
    /// What the contents of the request are checked against.
    flight: F,
}

/// The queue is filled in eighths. If all requests were submitted at once, those that complete
/// together would stay together, and the device would find its queue empty while the next ones are
/// generated.
const PARTS: usize = 8;

/// A ring, its slots, and the state of each slot.
pub(crate) struct Uring<C: Content = Stamp> {
    // Declared before the slots, so that it is dropped first: the kernel releases the buffers
    // before they are freed.
    ring: IoUring,
    slots: Vec<Slot<C::Flight>>,
    /// Slots without a request.
    free: Vec<u16>,
    /// Slots whose request must be submitted, for the first time or again.
    unsubmitted: Vec<u16>,
    /// The number of new requests submitted by one call.
    batch: usize,
    registered: bool,
    content: C,
    // The ring holds the registered file; this keeps its description open for plain opcodes too.
    _file: File,
}

impl<C: Content> Uring<C> {
    /// Creates a ring on `file` with one slot per buffer. Must be called by the thread that drives
    /// it.
    pub(crate) fn new(file: File, buffers: Vec<Buffer>, content: C) -> Result<Self, Fault> {
        let depth = buffers.len().clamp(1, 32768) as u32;
        let ring = make_ring(depth).map_err(fault)?;
        ring.submitter().register_files(&[file.as_raw_fd()]).map_err(fault)?;
        let vectors: Vec<_> = buffers
            .iter()
            .map(|b| libc::iovec { iov_base: b.as_ptr().cast_mut().cast(), iov_len: b.len() })
            .collect();
        // SAFETY: the buffers stay in place until the ring, which is dropped before them, is gone.
        let registered = unsafe { ring.submitter().register_buffers(&vectors) }.is_ok();
        let free = (0..buffers.len() as u16).rev().collect();
        let request = Request { op: Op::Read, offset: 0, len: 0 };
        let slots = buffers
            .into_iter()
            .map(|buffer| Slot {
                buffer,
                request,
                done: 0,
                issued: 0,
                flight: C::Flight::default(),
            })
            .collect();
        let batch = (depth as usize / PARTS).max(1);
        let unsubmitted = Vec::new();
        Ok(Self { ring, slots, free, unsubmitted, batch, registered, content, _file: file })
    }

    /// Whether the kernel registered the buffers. It refuses where the limit on locked memory is
    /// too low.
    pub(crate) fn is_registered(&self) -> bool {
        self.registered
    }

    /// Keeps all slots in flight until the conductor stops the run, then waits for the requests in
    /// flight.
    ///
    /// If the process thinks, it does so once all of them have ended, for as long as if it had
    /// issued them one after another.
    pub(crate) fn drive<S: FnMut() -> Request, K: Keep>(
        &mut self,
        source: &mut S,
        stream: &mut Stream<'_, K>,
    ) -> Result<(), Fault> {
        // Requests that ended since the last pause.
        let mut done = 0;
        while stream.goes_on() {
            self.fill(&mut || Some(source()), &stream.clock)?;
            // There is nothing to wait for while a slot is free.
            let is_full = self.free.is_empty();
            stream.report_mut().full |= is_full;
            self.submit(usize::from(is_full))?;
            let now = stream.clock.raw();
            done += self.reap(&mut |request, issued| stream.record(request, issued, now))?;
            // Cached requests end before the next ones are issued, so that there are always free
            // slots.
            let is_round = is_full || done as usize >= self.slots.len();
            if is_round && stream.thinks() {
                // Otherwise, the completions of requests in flight would be seen only after the
                // pause.
                done += self.drain(stream)?;
                stream.think(std::mem::take(&mut done));
            }
        }
        self.drain(stream).map(drop)
    }

    /// Waits for all requests in flight; returns how many ended.
    fn drain<K: Keep>(&mut self, stream: &mut Stream<'_, K>) -> Result<u32, Fault> {
        let mut ended = 0;
        while self.free.len() < self.slots.len() {
            self.submit(1)?;
            let now = stream.clock.raw();
            ended += self.reap(&mut |request, issued| stream.record(request, issued, now))?;
        }
        Ok(ended)
    }

    /// Carries out requests until there are none left, with all slots in flight. Calls `record` for
    /// each request, with the clock at its issue and at its completion.
    pub(crate) fn all(
        &mut self,
        source: &mut impl FnMut() -> Option<Request>,
        clock: &Clock,
        record: &mut impl FnMut(&Request, u64, u64),
    ) -> Result<(), Fault> {
        loop {
            self.fill(source, clock)?;
            let in_flight = self.free.len() < self.slots.len();
            if !in_flight {
                return Ok(());
            }
            let more = !self.free.is_empty() && !self.unsubmitted.is_empty();
            self.submit(usize::from(!more))?;
            let now = clock.raw();
            self.reap(&mut |request, issued| record(request, issued, now))?;
        }
    }

    /// Gives each free slot a request, up to one batch, as long as there are any.
    fn fill<S: FnMut() -> Option<Request>>(
        &mut self,
        source: &mut S,
        clock: &Clock,
    ) -> Result<(), Fault> {
        while self.unsubmitted.len() < self.batch {
            let Some(index) = self.free.pop() else { break };
            let Some(request) = source() else {
                self.free.push(index);
                break;
            };
            let slot = &mut self.slots[usize::from(index)];
            slot.request = request;
            slot.done = 0;
            let Some(bytes) = slot.buffer.get_mut(..slot.request.len as usize) else {
                let Request { op, offset, .. } = slot.request;
                return Err(Fault::at(action(op), offset, libc::EINVAL));
            };
            self.content.prepare(&slot.request, bytes, &mut slot.flight);
            slot.issued = clock.raw();
            self.unsubmitted.push(index);
        }
        Ok(())
    }

    /// Submits everything that is unsubmitted and waits for `want` completions.
    fn submit(&mut self, want: usize) -> Result<(), Fault> {
        let mut waiting = std::mem::take(&mut self.unsubmitted);
        for index in waiting.drain(..) {
            let entry = self.entry(index);
            // SAFETY: the entry points into the slot's buffer, which is not touched until its completion is seen
            // and not freed before the ring.
            unsafe { self.ring.submission().push(&entry) }
                .map_err(|_| Fault::new(Action::Ring, libc::ENOBUFS))?;
        }
        self.unsubmitted = waiting;
        match self.ring.submit_and_wait(want) {
            Ok(_) => Ok(()),
            // Nothing is lost: entries that were not accepted stay in the queue, and completions
            // are reaped next.
            Err(e)
                if matches!(e.raw_os_error(), Some(libc::EINTR | libc::EAGAIN | libc::EBUSY)) =>
            {
                Ok(())
            }
            Err(e) => Err(fault(e)),
        }
    }

    /// The submission entry for the rest of a slot's request.
    fn entry(&mut self, index: u16) -> squeue::Entry {
        let slot = &mut self.slots[usize::from(index)];
        let Request { op, offset, len } = slot.request;
        let (offset, left) = (offset + u64::from(slot.done), len - slot.done);
        let start = slot.buffer[slot.done as usize..].as_mut_ptr();
        let file = types::Fixed(0);
        let entry = match (op, self.registered) {
            (Op::Read, true) => {
                opcode::ReadFixed::new(file, start, left, index).offset(offset).build()
            }
            (Op::Write, true) => {
                opcode::WriteFixed::new(file, start, left, index).offset(offset).build()
            }
            (Op::Read, false) => opcode::Read::new(file, start, left).offset(offset).build(),
            (Op::Write, false) => opcode::Write::new(file, start, left).offset(offset).build(),
        };
        entry.user_data(u64::from(index))
    }

    /// Takes all completions and calls `record` with each finished request and its time of issue;
    /// returns how many finished.
    fn reap(&mut self, record: &mut impl FnMut(&Request, u64)) -> Result<u32, Fault> {
        let mut finished = 0;
        for completion in self.ring.completion() {
            let index = completion.user_data() as u16;
            let Some(slot) = self.slots.get_mut(usize::from(index)) else { continue };
            if progress(slot, &completion)? {
                record(&slot.request, slot.issued);
                self.content.conclude(&slot.request, &slot.buffer, &slot.flight);
                self.free.push(index);
                finished += 1;
            } else {
                self.unsubmitted.push(index);
            }
        }
        Ok(finished)
    }
}

/// Applies a completion to its slot. Returns true when the whole request is done, false when the
/// rest must be submitted.
#[inline]
fn progress<F>(slot: &mut Slot<F>, completion: &cqueue::Entry) -> Result<bool, Fault> {
    let Request { op, offset, len } = slot.request;
    let place = offset + u64::from(slot.done);
    match completion.result() {
        0 => Err(Fault::nothing_moved(op, place)),
        moved if moved > 0 => {
            slot.done = (slot.done + moved as u32).min(len);
            Ok(slot.done == len)
        }
        error if matches!(-error, libc::EINTR | libc::EAGAIN) => Ok(false),
        error => Err(Fault::at(action(op), place, -error)),
    }
}

/// A failure of the ring itself, not of a request.
fn fault(e: io::Error) -> Fault {
    Fault::new(Action::Ring, e.raw_os_error().unwrap_or(libc::EIO))
}

/// Creates a ring and closes it, to find out whether that is possible here.
pub(crate) fn trial() -> Result<(), Fault> {
    make_ring(1).map(drop).map_err(fault)
}

/// Creates a ring with the least overhead that this kernel offers. Older kernels answer `EINVAL` to
/// flags that they do not know.
fn make_ring(depth: u32) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    builder.setup_single_issuer().setup_defer_taskrun();
    let refused = match builder.build(depth) {
        Err(e) if e.raw_os_error() == Some(libc::EINVAL) => e,
        outcome => return outcome,
    };
    let mut builder = IoUring::builder();
    match builder.setup_coop_taskrun().build(depth) {
        Err(e) if e.raw_os_error() == refused.raw_os_error() => IoUring::builder().build(depth),
        outcome => outcome,
    }
}
