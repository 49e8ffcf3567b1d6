//! What is done to the set before a run, in a worker of its own: a hung disk then hangs that worker alone, and the pages
//! it brings in are charged to the memory group it is in.

use crate::engine::buffer::{Buffer, fill, new_number};
use crate::engine::{Action, Fault};
use crate::verify::read_back::read_back;
use crate::verify::{Ledger, NoteBook, seal_all};
use crate::worker::run::{errno, join, report_failure};
use ioscape_machine::cache;
use ioscape_machine::cgroup::MemoryGroup;
use ioscape_machine::crew::DONE;
use ioscape_machine::shared::{Shared, phase};
use ioscape_machine::target::Target;
use ioscape_schema::Access;
use rustix::fs::Advice;
use rustix::io::{Errno, pread, pwrite};
use std::fs::File;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Bytes of the set that are written or read at a time.
const BLOCK_BYTES: usize = 1 << 20;

/// How far ahead of the reading the pages of a set are asked for, in bytes.
const AHEAD_BYTES: u64 = 8 << 20;

/// A job on the whole set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Write incompressible bytes to this range, then see them on storage.
    Layout(Range<u64>),
    /// Write dirty pages to storage, and see that none was lost since the target was opened.
    Flush,
    /// The same, then drop the pages from the cache.
    Evict,
    /// Read this range once, in order: into the file cache, or past it into what caches of its own the device has.
    Touch(Range<u64>, Access),
    /// Read all blocks that are known back and check them.
    ReadBack,
    /// Cut the target off behind so many bytes.
    Shrink(u64),
}

/// What a task works on.
pub(crate) struct Site<'a> {
    /// How far it is goes to the header, a failure to the report of stream 0.
    pub(crate) shared: &'a Shared,
    /// The target.
    pub(crate) target: &'a Target,
    /// The target, open for reading through the file cache since before the workers opened it.
    pub(crate) opened: &'a File,
    /// The memory limit.
    pub(crate) group: Option<&'a MemoryGroup>,
    /// What the blocks must hold, if that is known.
    pub(crate) ledger: Option<&'a Ledger>,
    /// Where it is noted what they hold.
    pub(crate) notes: Option<&'a NoteBook>,
}

/// Carries out `task`.
pub(crate) fn carry_out(task: &Task, site: &Site<'_>) -> i32 {
    let Site { shared, target, opened, group, ledger, notes } = *site;
    let work = || {
        join(group)?;
        if let Task::Touch(range, Access::Buffered) = task {
            // To open the file once more might empty the cache that is to be filled.
            return touch(opened, range.clone(), shared, by_pages(target));
        }
        let write = matches!(task, Task::Layout(_));
        let access = if let Task::Touch(_, access) = task { *access } else { Access::Buffered };
        let file =
            target.open_file(access, write).map_err(|e| Fault::new(Action::Open, errno(&e)))?;
        match task {
            Task::Layout(range) => {
                let piece =
                    if by_pages(target) { cache::page_size() as usize } else { BLOCK_BYTES };
                lay_out(&file, range.clone(), shared, ledger, piece)?;
                sync(&file)
            }
            // A lost page is reported once for every open file, so the one that was open all the time is asked too.
            Task::Flush => sync(target.file()).and_then(|()| sync(&file)),
            Task::Evict => {
                sync(target.file())?;
                cache::evict(&file).map_err(|e| Fault::new(Action::Sync, errno(&e)))
            }
            Task::Touch(range, _) => touch(&file, range.clone(), shared, false),
            Task::ReadBack => {
                let Some((ledger, notes)) = ledger.zip(notes) else { return Ok(()) };
                read_back(&file, ledger, notes.at_end(), |done| {
                    shared.header().progress.store(done, Ordering::Relaxed);
                    shared.phase() != phase::STOP
                })
                .map(drop)
            }
            Task::Shrink(bytes) => {
                rustix::fs::ftruncate(target.file(), *bytes)
                    .map_err(|e| Fault::new(Action::Write, e.raw_os_error()))?;
                // What could not be written is cut off: nobody is to be told of it by the next flush.
                let _ = sync(target.file());
                Ok(())
            }
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

/// Whether the set comes into the file cache page by page, as requests at random bring it in. What is written or read ahead in large pieces lies in
/// large folios, where ext4 of Linux 6.18 takes 32 us to overwrite 4 KiB and 121 us for 1 MiB; of single pages it takes 2.3 and 415 us. Both are
/// found in cached files, but all rounds and sizes are to meet the same. Who has another cache, or sends each request elsewhere, gets large ones.
fn by_pages(target: &Target) -> bool {
    let system = target.file_system();
    !(system.is_network_or_fuse || system.caches_elsewhere() || system.is_in_memory())
}

fn lay_out(
    file: &File,
    range: Range<u64>,
    shared: &Shared,
    ledger: Option<&Ledger>,
    piece: usize,
) -> Result<(), Fault> {
    let (mut buffer, number) = (buffer()?, new_number());
    each_block(range, shared, |place, len| {
        fill(&mut buffer[..len], number ^ place);
        if let Some(ledger) = ledger {
            let block = place..place + len as u64;
            seal_all(ledger, &block, &mut buffer[..len], ledger.lay_out(&block));
        }
        let mut pieces = (place..).step_by(piece).zip(buffer[..len].chunks(piece));
        pieces.try_for_each(|(place, bytes)| write_whole(file, bytes, place)).map(|()| len)
    })
}

/// Writes all of `bytes`, in several calls if the kernel takes less at a time.
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
    let (mut buffer, end) = (buffer()?, range.end);
    // What the kernel reads ahead by itself comes in large folios, and what it is asked for in single pages.
    if by_pages {
        let _ = rustix::fs::fadvise(file, 0, None, Advice::Random);
    }
    each_block(range, shared, |place, len| {
        let ahead = place + AHEAD_BYTES;
        let more = end.saturating_sub(ahead).min(len as u64);
        if let Some(more) = NonZeroU64::new(more).filter(|_| by_pages) {
            let _ = rustix::fs::fadvise(file, ahead, Some(more), Advice::WillNeed);
        }
        match pread(file, &mut buffer[..len], place) {
            Ok(0) => Err(Fault::at(Action::EndOfFile, place, 0)),
            Ok(read) => Ok(read),
            Err(Errno::INTR) => Ok(0),
            Err(errno) => Err(Fault::at(Action::Read, place, errno.raw_os_error())),
        }
    })
}
