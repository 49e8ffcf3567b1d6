//! Preparation of the set before a run, in a worker of its own: a hung disk then hangs only that
//! worker, and the pages that it brings in are charged to its own memory group.

use crate::engine::buffer::{Buffer, fill, new_number};
use crate::engine::{Action, Fault};
use crate::verify::read_back::read_back;
use crate::verify::{Ledger, NoteBook, seal_all};
use crate::worker::pages::{
    AHEAD_BYTES, ask_for, begin_writing, piece_bytes, pieces, read_nothing_ahead,
};
use crate::worker::run::{errno, join, report_failure};
use ioscape_machine::cache;
use ioscape_machine::cgroup::MemoryGroup;
use ioscape_machine::crew::DONE;
use ioscape_machine::shared::{Shared, phase};
use ioscape_machine::target::Target;
use ioscape_schema::Access;
use rustix::fs::FallocateFlags;
use rustix::io::{Errno, pread, pwrite};
use std::fs::File;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Bytes of the set written or read at a time.
const BLOCK_BYTES: usize = 1 << 20;

/// A task on the set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Write incompressible bytes to this range, then sync it.
    Layout(Range<u64>),
    /// Write dirty pages to storage, and check that none has been lost since the target was opened.
    Flush,
    /// Flush, then drop the pages from the cache.
    Evict,
    /// Read this range once, in order: into the file cache, or past it into any cache that the
    /// device has.
    Touch(Range<u64>, Access),
    /// Read all known blocks back and check them.
    ReadBack,
    /// Truncate the target to this many bytes.
    Shrink(u64),
    /// Give back the pages and blocks of so many bytes from the beginning; those of the whole target
    /// where the file system makes no holes.
    Free(u64),
}

/// The environment of a task.
pub(crate) struct Site<'a> {
    /// Progress goes to the header, a failure to the report of stream 0.
    pub(crate) shared: &'a Shared,
    /// The target.
    pub(crate) target: &'a Target,
    /// The target, open for reading through the file cache since before the workers opened it.
    pub(crate) opened: &'a File,
    /// The control group for the memory limit.
    pub(crate) group: Option<&'a MemoryGroup>,
    /// What the blocks must hold, if known.
    pub(crate) ledger: Option<&'a Ledger>,
    /// Where findings are noted.
    pub(crate) notes: Option<&'a NoteBook>,
}

/// Carries out `task`; returns the exit code.
pub(crate) fn carry_out(task: &Task, site: &Site<'_>) -> i32 {
    let Site { shared, target, opened, group, ledger, notes } = *site;
    let work = || {
        join(group)?;
        if let Task::Touch(range, Access::Buffered) = task {
            // Opening the file once more might empty the cache that is to be filled.
            return touch(opened, range.clone(), shared, target.file_system().comes_by_pages());
        }
        let write = matches!(task, Task::Layout(_));
        let access = if let Task::Touch(_, access) = task { *access } else { Access::Buffered };
        let file =
            target.open_file(access, write).map_err(|e| Fault::new(Action::Open, errno(&e)))?;
        match task {
            Task::Layout(range) => {
                let system = target.file_system();
                // If each write is synced by itself, small ones take far too long.
                let is_small = system.comes_by_pages() && !system.syncs_each_write();
                let piece =
                    if is_small { piece_bytes(&file).min(BLOCK_BYTES) } else { BLOCK_BYTES };
                lay_out(&file, range.clone(), shared, ledger, piece)?;
                sync(&file)
            }
            // A lost page is reported once per open file, so the file that has been open all the
            // time is asked too.
            Task::Flush => sync(target.file()).and_then(|()| sync(&file)),
            Task::Evict => {
                sync(target.file())?;
                cache::evict(&file).map_err(|e| Fault::new(Action::Sync, errno(&e)))
            }
            Task::Touch(range, _) => touch(&file, range.clone(), shared, false),
            Task::ReadBack => {
                let Some((ledger, notes)) = ledger.zip(notes) else { return Ok(()) };
                if target.file_system().comes_by_pages() {
                    read_nothing_ahead(&file);
                }
                read_back(&file, ledger, notes.at_end(), |done| {
                    shared.header().progress.store(done, Ordering::Relaxed);
                    shared.phase() != phase::STOP
                })
                .map(drop)
            }
            Task::Shrink(bytes) => shrink(target, *bytes),
            Task::Free(bytes) => match punch(target.file(), *bytes) {
                Ok(()) => {
                    commit(target);
                    Ok(())
                }
                Err(_) => shrink(target, 0),
            },
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

fn shrink(target: &Target, bytes: u64) -> Result<(), Fault> {
    rustix::fs::ftruncate(target.file(), bytes)
        .map_err(|e| Fault::new(Action::Write, e.raw_os_error()))?;
    // The data that could not be written is cut off: the next flush must not report it to anybody.
    let _ = sync(target.file());
    commit(target);
    Ok(())
}

fn punch(file: &File, bytes: u64) -> Result<(), Errno> {
    let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(file, how, 0, bytes)
}

/// Commits what was given back, which a copy-on-write file system counts as free only then.
fn commit(target: &Target) {
    if target.file_system().copies_on_write() {
        let _ = rustix::fs::syncfs(target.file());
    }
}

fn buffer() -> Result<Buffer, Fault> {
    Buffer::new(BLOCK_BYTES, 1, 0).ok_or(Fault::new(Action::Resource, libc::ENOMEM))
}

/// Splits `range` into blocks and calls `one` with the place and length of each until the conductor
/// stops it.
fn each_block(
    range: Range<u64>,
    shared: &Shared,
    mut one: impl FnMut(u64, usize) -> Result<usize, Fault>,
) -> Result<(), Fault> {
    let mut place = range.start;
    while place < range.end && shared.phase() != phase::STOP {
        let to_next = BLOCK_BYTES as u64 - place % BLOCK_BYTES as u64;
        let len = (range.end - place).min(to_next) as usize;
        place += one(place, len)? as u64;
        shared.header().progress.store(place - range.start, Ordering::Relaxed);
    }
    Ok(())
}

fn lay_out(
    file: &File,
    range: Range<u64>,
    shared: &Shared,
    ledger: Option<&Ledger>,
    piece: usize,
) -> Result<(), Fault> {
    let (mut buffer, number, start) = (buffer()?, new_number(), range.start);
    each_block(range, shared, |place, len| {
        fill(&mut buffer[..len], number ^ place);
        if let Some(ledger) = ledger {
            let block = place..place + len as u64;
            seal_all(ledger, &block, &mut buffer[..len], ledger.lay_out(&block));
        }
        for one in pieces(place, len, piece) {
            write_whole(file, &buffer[one.clone()], place + one.start as u64)?;
        }
        if piece < BLOCK_BYTES {
            begin_writing(file, start, place + len as u64);
        }
        Ok(len)
    })
}

/// Writes all of `bytes`, in several calls if the kernel accepts less at a time.
fn write_whole(file: &File, bytes: &[u8], place: u64) -> Result<(), Fault> {
    let mut done = 0;
    while done < bytes.len() {
        let place = place + done as u64;
        match pwrite(file, &bytes[done..], place) {
            Ok(0) => return Err(Fault::at(Action::Write, place, libc::ENOSPC)),
            Ok(written) => done += written,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Fault::at(Action::Write, place, errno.raw_os_error())),
        }
    }
    Ok(())
}

fn touch(file: &File, range: Range<u64>, shared: &Shared, by_pages: bool) -> Result<(), Fault> {
    let (mut buffer, start, end) = (buffer()?, range.start, range.end);
    if by_pages {
        read_nothing_ahead(file);
    }
    each_block(range, shared, |place, len| {
        if by_pages {
            let from = if place == start { place } else { place + AHEAD_BYTES };
            ask_for(file, from..(place + len as u64 + AHEAD_BYTES).min(end));
        }
        match pread(file, &mut buffer[..len], place) {
            Ok(0) => Err(Fault::at(Action::EndOfFile, place, 0)),
            Ok(read) => Ok(read),
            Err(Errno::INTR) => Ok(0),
            Err(errno) => Err(Fault::at(Action::Read, place, errno.raw_os_error())),
        }
    })
}
