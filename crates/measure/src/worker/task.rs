//! What is done to the set before a run, in a worker of its own: a hung disk then hangs that worker alone, and the pages
//! it brings in are charged to the memory group it is in.

use crate::engine::buffer::{Buffer, fill, mix};
use crate::engine::{Action, Fault};
use crate::worker::run::{errno, join, report_failure};
use ioscape_machine::cache;
use ioscape_machine::cgroup::MemoryGroup;
use ioscape_machine::crew::DONE;
use ioscape_machine::shared::{Shared, phase};
use ioscape_machine::target::Target;
use ioscape_schema::Access;
use rustix::io::{Errno, pread, pwrite};
use std::fs::File;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Size of the requests that lay out and touch the set.
const BLOCK_BYTES: usize = 1 << 20;

/// A job on the whole set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Write incompressible bytes to this range, then see them on storage.
    Layout(Range<u64>),
    /// Write dirty pages to storage, and see that none was lost since the target was opened.
    Flush,
    /// The same, then drop the pages from the cache.
    Evict,
    /// Read this range once, in order.
    Touch(Range<u64>),
}

/// Carries out `task`; how far it is goes to the shared header, a failure to the report of stream 0.
pub(crate) fn carry_out(
    task: &Task,
    shared: &Shared,
    target: &Target,
    group: Option<&MemoryGroup>,
    seed: u64,
) -> i32 {
    let work = || {
        join(group)?;
        let write = matches!(task, Task::Layout(_));
        let file = target
            .open_file(Access::Buffered, write)
            .map_err(|e| Fault::new(Action::Open, errno(&e)))?;
        match task {
            Task::Layout(range) => {
                lay_out(&file, range.clone(), shared, seed)?;
                sync(&file)
            }
            // A lost page is reported once for every open file, so the one that was open all the time is asked too.
            Task::Flush => sync(target.file()).and_then(|()| sync(&file)),
            Task::Evict => {
                sync(target.file())?;
                cache::evict(&file).map_err(|e| Fault::new(Action::Sync, errno(&e)))
            }
            Task::Touch(range) => touch(&file, range.clone(), shared),
        }
    };
    match work() {
        Ok(()) => DONE,
        Err(fault) => report_failure(shared, 0, fault),
    }
}

fn sync(file: &File) -> Result<(), Fault> {
    rustix::fs::fdatasync(file).map_err(|e| Fault::new(Action::Sync, e.raw_os_error()))
}

fn buffer() -> Result<Buffer, Fault> {
    Buffer::new(BLOCK_BYTES, 1, 0).ok_or(Fault::new(Action::Resource, libc::ENOMEM))
}

/// Cuts `range` into blocks and calls `one` with the place and length of each until the conductor says stop.
fn each_block(
    range: Range<u64>,
    shared: &Shared,
    mut one: impl FnMut(u64, usize) -> Result<usize, Fault>,
) -> Result<(), Fault> {
    let mut place = range.start;
    while place < range.end && shared.phase() != phase::STOP {
        let len = (range.end - place).min(BLOCK_BYTES as u64) as usize;
        place += one(place, len)? as u64;
        shared.header().progress.store(place - range.start, Ordering::Relaxed);
    }
    Ok(())
}

fn lay_out(file: &File, range: Range<u64>, shared: &Shared, seed: u64) -> Result<(), Fault> {
    let mut buffer = buffer()?;
    each_block(range, shared, |place, len| {
        fill(&mut buffer[..len], mix(seed) ^ place);
        match pwrite(file, &buffer[..len], place) {
            Ok(0) => Err(Fault::at(Action::Write, place, libc::ENOSPC)),
            Ok(written) => Ok(written),
            Err(Errno::INTR) => Ok(0),
            Err(errno) => Err(Fault::at(Action::Write, place, errno.raw_os_error())),
        }
    })
}

fn touch(file: &File, range: Range<u64>, shared: &Shared) -> Result<(), Fault> {
    let mut buffer = buffer()?;
    each_block(range, shared, |place, len| match pread(file, &mut buffer[..len], place) {
        Ok(0) => Err(Fault::at(Action::EndOfFile, place, 0)),
        Ok(read) => Ok(read),
        Err(Errno::INTR) => Ok(0),
        Err(errno) => Err(Fault::at(Action::Read, place, errno.raw_os_error())),
    })
}
