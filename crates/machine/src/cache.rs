//! The kernel's file cache: which parts of a file it holds, and how to drop them.
#![allow(unsafe_code, reason = "cachestat and mincore have no safe wrapper")]

use crate::error::Error;
use rustix::mm::{MapFlags, ProtFlags};
use std::ffi::c_void;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::PathBuf;
use std::ptr;
use std::sync::LazyLock;

/// Number of the `cachestat` system call (Linux 6.5), the same on all architectures except alpha.
const SYS_CACHESTAT: libc::c_long = 451;

/// Type that `statfs` returns for overlayfs, where `cachestat` queries the wrong inode and always
/// counts 0.
const OVERLAYFS: u64 = 0x794c_7630;

/// Bytes of a file that are mapped at a time to query its pages.
const WINDOW: u64 = 1 << 30;

/// Returns the size of a page of memory, in bytes.
pub fn page_size() -> u64 {
    rustix::param::page_size() as u64
}

/// Returns how many of `len` bytes from `offset` are in the file cache, in whole pages; `None` if
/// the kernel cannot say.
///
/// `file` must belong to this user or be writable by it: the kernel hides cache residency of other
/// users' files.
pub fn resident_bytes(file: &impl AsFd, offset: u64, len: u64) -> Option<u64> {
    if len == 0 {
        return Some(0);
    }
    let file = file.as_fd();
    let pages = match cachestat(file.as_raw_fd(), offset, len) {
        Ok(pages) if pages > 0 || !is_overlay(file) => pages,
        Ok(_) => mincore(file, offset, len)?,
        Err(error) if error == libc::EOPNOTSUPP || !has_cachestat() => mincore(file, offset, len)?,
        Err(_) => return None,
    };
    Some(pages.saturating_mul(page_size()).min(len))
}

/// Writes the file's dirty pages to storage, then drops its pages from the cache; memory file systems keep theirs.
///
/// # Errors
/// The data could not be written.
pub fn evict(file: &impl AsFd) -> Result<(), Error> {
    let place = || {
        let link = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
        std::fs::read_link(link).unwrap_or_else(|_| PathBuf::from("the file"))
    };
    // Dirty pages are not dropped, so the order matters.
    rustix::fs::fdatasync(file).map_err(|e| Error::io("flush", &place(), e))?;
    rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)
        .map_err(|e| Error::io("drop from the file cache", &place(), e))
}

/// Starts write-back of the dirty pages in `len` bytes from `offset`, without waiting for it or
/// dropping anything.
pub fn begin_writing(file: &impl AsFd, offset: u64, len: u64) {
    let (Ok(offset), Ok(len)) = (offset.try_into(), len.try_into()) else { return };
    // The result says only whether write-back was started.
    // SAFETY: the kernel reads and writes no memory of ours.
    let _ = unsafe {
        libc::sync_file_range(file.as_fd().as_raw_fd(), offset, len, libc::SYNC_FILE_RANGE_WRITE)
    };
}

fn is_overlay(file: BorrowedFd<'_>) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|found| found.f_type as u64 == OVERLAYFS)
}

/// Returns whether `cachestat` reaches a kernel that has it: a filter of system calls may answer
/// `EPERM` as the kernel does for files of others, but does not look at the file.
fn has_cachestat() -> bool {
    cachestat(-1, 0, 0) == Err(libc::EBADF)
}

/// Returns the pages of the range in the file cache, or the error number.
fn cachestat(file: RawFd, offset: u64, len: u64) -> Result<u64, i32> {
    let range = [offset, len];
    // nr_cache, nr_dirty, nr_writeback, nr_evicted, nr_recently_evicted.
    let mut counts = [0u64; 5];
    // SAFETY: both pointers are to live arrays with the layouts that linux/mman.h gives for struct
    // cachestat_range (two u64) and struct cachestat (five u64). The kernel reads the first, writes
    // the second and keeps neither.
    let result =
        unsafe { libc::syscall(SYS_CACHESTAT, file, range.as_ptr(), counts.as_mut_ptr(), 0) };
    if result == 0 { Ok(counts[0]) } else { Err(last_error()) }
}

fn last_error() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// Whether `mincore` distinguishes resident pages; checked once. gVisor reports every page as
/// resident.
static MINCORE_TELLS: LazyLock<bool> = LazyLock::new(|| tells(untouched()));

/// Returns whether the answer for untouched pages is right; no answer is not wrong.
fn tells(untouched: Option<u64>) -> bool {
    untouched.is_none_or(|pages| pages == 0)
}

/// Returns how many pages `mincore` reports as resident in a new, untouched mapping of one page.
fn untouched() -> Option<u64> {
    let len = rustix::param::page_size();
    // SAFETY: a new mapping at an address chosen by the kernel touches no memory of ours, and it is
    // never accessed.
    let map = unsafe {
        rustix::mm::mmap_anonymous(ptr::null_mut(), len, ProtFlags::READ, MapFlags::PRIVATE).ok()?
    };
    // SAFETY: `map` was made above with this length, and nothing else refers to it.
    unsafe { present(map, len) }
}

/// Returns the pages of the range in the file cache by mapping it without touching it; `None` if
/// the kernel does not tell.
fn mincore(file: BorrowedFd<'_>, offset: u64, len: u64) -> Option<u64> {
    if !*MINCORE_TELLS {
        return None;
    }
    let page = page_size();
    let end = offset.checked_add(len)?;
    let mut from = offset / page * page;
    let mut pages = 0;
    while from < end {
        let part = WINDOW.min(end - from);
        pages += mincore_window(file, from, usize::try_from(part).ok()?)?;
        from += part;
    }
    Some(pages)
}

fn mincore_window(file: BorrowedFd<'_>, from: u64, len: usize) -> Option<u64> {
    // SAFETY: a new mapping at an address chosen by the kernel touches no memory of ours, and it is
    // never accessed.
    let map = unsafe {
        rustix::mm::mmap(ptr::null_mut(), len, ProtFlags::READ, MapFlags::SHARED, file, from)
            .ok()?
    };
    // SAFETY: `map` was made above with this length, and nothing else refers to it.
    unsafe { present(map, len) }
}

/// Returns the resident pages of a mapping, and unmaps it.
///
/// # Safety
/// `map` is a mapping of `len` bytes, and nothing refers to it any more.
unsafe fn present(map: *mut c_void, len: usize) -> Option<u64> {
    let mut present = vec![0u8; len.div_ceil(rustix::param::page_size())];
    // SAFETY: `map` is a mapping of `len` bytes, and `present` has one byte for each page of it.
    let result = unsafe { libc::mincore(map, len, present.as_mut_ptr()) };
    // SAFETY: it has this length, and nothing refers to it any more.
    let unmapped = unsafe { rustix::mm::munmap(map, len) };
    (result == 0 && unmapped.is_ok()).then(|| present.iter().map(|byte| u64::from(byte & 1)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build_directory, in_child, skipped};
    use std::fs::File;
    use std::io::{Read, Write};

    const LEN: u64 = 4 << 20;

    /// A file of `LEN` bytes that is entirely in the file cache. It is in the build directory,
    /// which is on a disk if there is one.
    fn cached() -> (tempfile::NamedTempFile, File) {
        let mut named = tempfile::NamedTempFile::new_in(build_directory()).unwrap();
        named.write_all(&vec![7; LEN as usize]).unwrap();
        let file = named.reopen().unwrap();
        (named, file)
    }

    #[test]
    fn eviction_is_seen_by_both_ways_of_asking() {
        let (_named, mut file) = cached();
        assert_eq!(resident_bytes(&file, 0, LEN), Some(LEN));
        assert_eq!(mincore(file.as_fd(), 0, LEN), Some(LEN / page_size()));
        evict(&file).unwrap();
        if is_memory(&file) {
            return skipped("files of this directory lie in memory and cannot be evicted");
        }
        // The kernel may keep a few pages that it is just using.
        assert!(resident_bytes(&file, 0, LEN).unwrap() <= LEN / 16);
        assert!(mincore(file.as_fd(), 0, LEN).unwrap() <= LEN / 16 / page_size());
        file.read_exact(&mut [0; 4096]).unwrap();
        assert!(resident_bytes(&file, 0, 4096) == Some(4096));
    }

    /// Guards against reporting that a set of four times the memory stays in memory, in a sandbox
    /// that calls all pages resident.
    #[test]
    fn a_kernel_that_says_of_every_page_that_it_is_there_is_not_asked() {
        assert!(*MINCORE_TELLS && untouched() == Some(0), "Linux tells");
        assert!(!tells(Some(1)) && tells(None));
    }

    /// Makes `cachestat` fail in this process, as systemd and older containers do to calls that they
    /// do not know. Returns whether that worked.
    fn forbid_cachestat(error: i32) -> bool {
        const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
        const EQUALS: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
        const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
        let step = |code, jf, k| libc::sock_filter { code, jt: 0, jf, k };
        let mut filter = [
            step(LOAD, 0, 0),
            step(EQUALS, 1, SYS_CACHESTAT as u32),
            step(RETURN, 0, libc::SECCOMP_RET_ERRNO | error as u32),
            step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
        ];
        let whole = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
        // SAFETY: prctl with plain numbers, and with a filter that it copies.
        unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const whole)
                    == 0
        }
    }

    /// Guards against calling the file cache invisible where only a filter hides one of two ways to
    /// ask.
    #[test]
    fn a_filter_that_hides_cachestat_does_not_hide_the_cache() {
        let (_named, file) = cached();
        for error in [libc::EPERM, libc::ENOSYS] {
            let found = in_child(|| {
                let is_forbidden = forbid_cachestat(error);
                let is_seen = resident_bytes(&file, 0, LEN) == Some(LEN);
                i32::from(is_forbidden) + 2 * i32::from(is_seen)
            });
            match found {
                Some(2) => skipped("system calls cannot be filtered here"),
                found => assert_eq!(found, Some(3), "{error}"),
            }
        }
    }

    #[test]
    fn ranges_are_honoured() {
        let (_named, file) = cached();
        assert_eq!(resident_bytes(&file, 0, 0), Some(0));
        assert_eq!(resident_bytes(&file, 4096, 8192), Some(8192));
        assert_eq!(resident_bytes(&file, LEN, LEN), Some(0), "beyond the end");
        assert_eq!(resident_bytes(&file, 0, 2 * LEN), Some(LEN));
        assert_eq!(mincore(file.as_fd(), 5000, 100), Some(1));
    }

    #[test]
    fn what_has_no_pages_cannot_be_flushed() {
        let (reader, _writer) = std::io::pipe().unwrap();
        assert!(evict(&reader).unwrap_err().to_string().starts_with("cannot flush"));
    }

    fn is_memory(file: &File) -> bool {
        let kind = rustix::fs::fstatfs(file).unwrap().f_type as u64;
        [0x0102_1994, 0x8584_58f6].contains(&kind)
    }
}
