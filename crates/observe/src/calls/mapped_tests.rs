//! The recorder on loads and stores of mapped files.
#![allow(unsafe_code, reason = "mmap has no safe form")]

use super::description::Shared;
use super::files::{Files, is_in_memory};
use super::numbers::Call;
use super::requests::{Caller, Ledger};
use super::tests::{folder, play_in, requests};
use crate::record::Instance;
use ioscape_machine::testing::{build_directory, skipped};
use ioscape_schema::{FileCall, Op};
use std::fs::File;
use std::io::{Error, Result};
use std::os::fd::AsRawFd;
use std::path::Path;

const PAGE: usize = 4096;
const PAGES: usize = 256;
/// Size in bytes of a file of which every page is loaded.
const LARGE: usize = 32 << 20;
/// Pages far enough apart that none is mapped around another.
const LOADED: [usize; 3] = [200, 40, 120];

/// Whether the kernel reports faults here: tracefs belongs to root, uses the machine's thread
/// numbers, and has events for faults since Linux 6.11.
fn is_told_of_faults() -> bool {
    let event = "events/filemap/mm_filemap_fault/enable";
    let is_there = Instance::new().is_ok_and(|one| one.folder().join(event).exists());
    is_there && crate::namespace::is_outermost() && rustix::param::page_size() == PAGE
}

#[test]
fn pages_that_a_program_loads_are_seen_where_the_kernel_tells_of_faults() {
    let place = folder();
    let (recording, calls) = play_in(place.path(), "mapped");
    let file = recording.files.iter().find(|file| file.mapped_bytes > 0).expect("a mapped file");
    assert_eq!((file.mapped_bytes, file.is_code), ((PAGES * PAGE) as u64, false));
    let found = requests(&calls);
    let loaded: Vec<_> = found.into_iter().filter(|(op, ..)| *op == Op::Read).collect();
    assert_eq!(recording.mapped.is_watched, is_told_of_faults());
    let all = LOADED.map(|page| (Op::Read, (page * PAGE) as u64, PAGE as u32));
    assert_eq!(loaded, if is_told_of_faults() { &all[..] } else { &[] });
    assert_eq!(recording.mapped.pages, loaded.len() as u64);
    assert_eq!(recording.mapped.unmatched > 0, is_told_of_faults(), "those on the program itself");
    let mut syncs = calls.iter().filter(|call| call.is_sync());
    let (before, after) = (syncs.next().expect("a sync"), syncs.next_back().expect("another"));
    for call in calls.iter().filter(|call| call.request.op == Op::Read) {
        let is_between =
            before.completed_ns <= call.issued_ns && call.completed_ns <= after.issued_ns;
        assert!(is_between, "{call:?} is not between {before:?} and {after:?}");
    }
    assert!(after.completed_ns <= recording.elapsed_ns);
}

/// As with LMDB's writable map, and with a store's index files.
#[test]
fn waits_for_dirty_mapped_pages_are_waits_of_no_known_file() {
    let mut sink = |_: &FileCall| ();
    let mut ledger = Ledger::new(Files::new(None), &mut sink);
    let (tid, descriptors) = (std::process::id() as i32, Shared::default());
    let caller = Caller { tid, descriptors: &descriptors };
    let mut waits = |call, flags: i32| {
        let pending = ledger.enter(&caller, call, [0, 4096, flags as u64, 0, 0, 0], 5)?;
        let [moved, _] = ledger.leave(&caller, &pending, 0);
        moved.map(|moved| (moved.is_sync(), moved.file))
    };
    let (mapping, all) = (Call::SyncMapping, Call::SyncAll);
    let found = [(mapping, libc::MS_SYNC), (mapping, libc::MS_ASYNC), (all, 0)]
        .map(|(call, flags)| waits(call, flags));
    let known = Some((true, FileCall::NO_FILE));
    assert_eq!(found, [known, None, known]);
}

/// The memory that this binary had for itself while it played one of its parts.
fn own_bytes(part: &str) -> u64 {
    // Not in the folder for temporary files, which may be a tmpfs: its files are memory.
    let place = tempfile::tempdir_in(build_directory()).expect("a temporary directory");
    play_in(place.path(), part).0.memory_bytes.expect("the kernel says")
}

#[test]
fn a_mapped_file_is_no_memory_of_a_program_itself_whether_it_stays_mapped_or_not() {
    if is_in_memory(build_directory()) {
        return skipped("files beside this binary are memory");
    }
    for part in ["kept", "dropped"] {
        let most = own_bytes(part);
        assert!(most < (LARGE / 2) as u64, "{part}: {most}");
    }
}

/// As with a virtual machine's library of classes, of which little is used.
#[test]
fn of_a_file_that_stays_mapped_only_pages_that_were_loaded_are_unseen() {
    let unseen = |part| {
        let place = tempfile::tempdir_in(build_directory()).expect("a temporary directory");
        play_in(place.path(), part).0.mapped.bytes_later
    };
    let whole = (LARGE - (4 << 20)) as u64;
    let parts = ["touched", "kept", "dropped", "forked"];
    assert_eq!(parts.map(unseen), [0, whole, whole, whole]);
}

#[test]
fn what_a_program_gave_back_before_it_mapped_a_file_was_memory_of_its_own() {
    let most = own_bytes("built");
    assert!(most > (LARGE / 8 * 7) as u64, "{most}");
}

#[test]
fn memory_that_is_mapped_as_a_file_is_memory_of_the_program_itself() {
    let most = own_bytes("shared");
    assert!(most > (LARGE / 8 * 7) as u64, "{most}");
}

/// Fills memory and gives it back, then loads a file.
pub(super) fn built(path: &Path) -> Result<()> {
    drop(std::hint::black_box(vec![1_u8; LARGE]));
    kept(path)
}

/// Loads every page of a file, and leaves it mapped.
pub(super) fn kept(path: &Path) -> Result<()> {
    loaded(&created(path)?, PAGE).map(drop)
}

/// Loads the first page of a file, and leaves all of it mapped.
pub(super) fn touched(path: &Path) -> Result<()> {
    loaded(&created(path)?, LARGE).map(drop)
}

/// Loads every page of a file, and unmaps it.
pub(super) fn dropped(path: &Path) -> Result<()> {
    unmapped(loaded(&created(path)?, PAGE)?)
}

/// Maps a file, of which a forked child loads every page.
pub(super) fn forked(path: &Path) -> Result<()> {
    let start = loaded(&created(path)?, LARGE)?.cast::<u8>();
    // SAFETY: the child only loads pages of the mapping, and ends.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            let pages = (0..LARGE).step_by(PAGE);
            libc::_exit(pages.map(|at| i32::from(start.add(at).read_volatile())).sum());
        }
        if libc::waitpid(child, std::ptr::null_mut(), 0) == child {
            Ok(())
        } else {
            Err(Error::last_os_error())
        }
    }
}

/// Loads every page of shared memory, and unmaps it.
pub(super) fn shared() -> Result<()> {
    let memory = rustix::fs::memfd_create("shared", rustix::fs::MemfdFlags::CLOEXEC)?;
    unmapped(loaded(&File::from(memory), PAGE)?)
}

fn created(path: &Path) -> Result<File> {
    File::options().read(true).write(true).create_new(true).open(path)
}

/// Unmaps what [`loaded`] mapped.
fn unmapped(start: *mut libc::c_void) -> Result<()> {
    // SAFETY: nothing uses the mapping any more.
    let result = unsafe { libc::munmap(start, LARGE) };
    if result == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

/// Maps a new file and loads a page of it every `step` bytes; returns where it is mapped.
fn loaded(file: &File, step: usize) -> Result<*mut libc::c_void> {
    file.set_len(LARGE as u64)?;
    let (fd, len) = (file.as_raw_fd(), LARGE);
    // SAFETY: nothing else uses the mapping, which is as long as the file.
    unsafe {
        let start = libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, fd, 0);
        if start == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        let mut pages = (0..len).step_by(step);
        assert!(pages.all(|at| start.cast::<u8>().add(at).read_volatile() == 0));
        Ok(start)
    }
}

/// Loads three pages of a file that is not in the file cache.
pub(super) fn mapped(path: &Path) -> Result<()> {
    std::fs::write(path, vec![1; PAGES * PAGE])?;
    let file = File::open(path)?;
    file.sync_all()?;
    let (fd, len) = (file.as_raw_fd(), PAGES * PAGE);
    // SAFETY: nothing else uses the mapping, which is as long as the file.
    unsafe {
        libc::posix_fadvise(fd, 0, 0, libc::POSIX_FADV_DONTNEED);
        let start = libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, fd, 0);
        if start == libc::MAP_FAILED || libc::madvise(start, len, libc::MADV_RANDOM) != 0 {
            return Err(Error::last_os_error());
        }
        let loaded = LOADED.map(|page| start.cast::<u8>().add(page * PAGE).read_volatile());
        assert_eq!(loaded, [1; 3]);
        libc::munmap(start, len);
    }
    file.sync_all()
}
