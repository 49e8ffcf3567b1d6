//! Which system calls are traced, by their numbers on this processor.

/// A traced call, by what it does to files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// `read`, `readv`: at the file's own position.
    Read,
    /// `write`, `writev`.
    Write,
    /// `pread64`, `preadv`: at the offset in the fourth argument.
    ReadAt,
    /// `pwrite64`, `pwritev`.
    WriteAt,
    /// `preadv2`: like `ReadAt`, but -1 stands for the file's own position.
    ReadAtOrOn,
    /// `pwritev2`.
    WriteAtOrOn,
    /// `lseek`.
    Seek,
    /// `fsync`, `fdatasync`.
    Sync,
    /// `sync_file_range`: file, first byte, length, flags that say whether it waits.
    SyncRange,
    /// `msync`: address, length, flags that say whether it waits.
    SyncMapping,
    /// `fsync` of a directory.
    SyncDirectory,
    /// `sync`, `syncfs`.
    SyncAll,
    /// `posix_fadvise`: file, first byte, length, advice.
    Advise,
    /// `mmap` of a file.
    Map,
    /// `open`, `openat`, `openat2`, `creat`.
    Open,
    /// `close`.
    Close,
    /// `close_range`.
    CloseRange,
    /// `dup`, and the commands of `fcntl` that duplicate.
    Duplicate,
    /// `dup2`, `dup3`.
    DuplicateTo,
    /// `fcntl` with the command that sets flags, or with any other.
    Control,
    /// `sendfile`: output, input, offset in the input.
    SendFile,
    /// `copy_file_range`: input, its offset, output, its offset.
    CopyRange,
    /// `splice`: the same.
    Splice,
    /// `ftruncate`: file, length.
    Truncate,
    /// `unlink`: path.
    Unlink,
    /// `unlinkat`: directory, path.
    UnlinkAt,
    /// `rename`: path, new path.
    Rename,
    /// `renameat`: directory, path, new directory, new path.
    RenameAt,
    /// `renameat2`: as `RenameAt`, then flags.
    RenameAt2,
    /// `unshare`, which may separate a thread's files from those of its siblings.
    Unshare,
    /// `io_submit`: context, count, list.
    Submit,
    /// `io_getevents`, `io_pgetevents`: context, least, most, events.
    Completions,
    /// `io_uring_setup`: entries, parameters.
    RingSetup,
    /// `io_uring_enter`: ring, count, least, flags.
    RingEnter,
    /// `io_uring_register`: ring, command, list, count.
    RingRegister,
}

/// `SYNC_FILE_RANGE_WAIT_BEFORE` and `_AFTER` of `sync_file_range(2)`: without them, the call only
/// starts write-back, and waits for nothing.
pub(super) const WAITS: u64 = 0x1 | 0x4;

const ALL: &[(libc::c_long, Call)] = &[
    (libc::SYS_read, Call::Read),
    (libc::SYS_write, Call::Write),
    (libc::SYS_readv, Call::Read),
    (libc::SYS_writev, Call::Write),
    (libc::SYS_pread64, Call::ReadAt),
    (libc::SYS_pwrite64, Call::WriteAt),
    (libc::SYS_preadv, Call::ReadAt),
    (libc::SYS_pwritev, Call::WriteAt),
    (libc::SYS_preadv2, Call::ReadAtOrOn),
    (libc::SYS_pwritev2, Call::WriteAtOrOn),
    (libc::SYS_lseek, Call::Seek),
    (libc::SYS_fsync, Call::Sync),
    (libc::SYS_fdatasync, Call::Sync),
    (libc::SYS_sync_file_range, Call::SyncRange),
    (libc::SYS_msync, Call::SyncMapping),
    (libc::SYS_sync, Call::SyncAll),
    (libc::SYS_syncfs, Call::SyncAll),
    (libc::SYS_fadvise64, Call::Advise),
    (libc::SYS_mmap, Call::Map),
    (libc::SYS_openat, Call::Open),
    (libc::SYS_openat2, Call::Open),
    (libc::SYS_close, Call::Close),
    (libc::SYS_close_range, Call::CloseRange),
    (libc::SYS_dup, Call::Duplicate),
    (libc::SYS_dup3, Call::DuplicateTo),
    (libc::SYS_fcntl, Call::Control),
    (libc::SYS_sendfile, Call::SendFile),
    (libc::SYS_copy_file_range, Call::CopyRange),
    (libc::SYS_splice, Call::Splice),
    (libc::SYS_unshare, Call::Unshare),
    (libc::SYS_ftruncate, Call::Truncate),
    (libc::SYS_unlinkat, Call::UnlinkAt),
    (libc::SYS_renameat2, Call::RenameAt2),
    (libc::SYS_io_uring_setup, Call::RingSetup),
    (libc::SYS_io_uring_enter, Call::RingEnter),
    (libc::SYS_io_uring_register, Call::RingRegister),
    (libc::SYS_io_submit, Call::Submit),
    (libc::SYS_io_getevents, Call::Completions),
    (IO_PGETEVENTS, Call::Completions),
];

/// Missing from the C library's headers.
#[cfg(target_arch = "x86_64")]
const IO_PGETEVENTS: libc::c_long = 333;
#[cfg(not(target_arch = "x86_64"))]
const IO_PGETEVENTS: libc::c_long = 292;

#[cfg(target_arch = "x86_64")]
const OLDER: &[(libc::c_long, Call)] = &[
    (libc::SYS_open, Call::Open),
    (libc::SYS_creat, Call::Open),
    (libc::SYS_dup2, Call::DuplicateTo),
    (libc::SYS_unlink, Call::Unlink),
    (libc::SYS_rename, Call::Rename),
    (libc::SYS_renameat, Call::RenameAt),
];
#[cfg(target_arch = "aarch64")]
const OLDER: &[(libc::c_long, Call)] = &[(libc::SYS_renameat, Call::RenameAt)];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const OLDER: &[(libc::c_long, Call)] = &[];

/// The kernel's name for this processor (`linux/audit.h`); absent where the numbers of calls are
/// not known here.
pub(super) const ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xC000_003E)
} else if cfg!(target_arch = "aarch64") {
    Some(0xC000_00B7)
} else if cfg!(target_arch = "riscv64") {
    Some(0xC000_00F3)
} else if cfg!(target_arch = "loongarch64") {
    Some(0xC000_0102)
} else {
    None
};

/// The numbers of all watched calls.
pub(super) fn watched() -> impl Iterator<Item = u32> {
    ALL.iter().chain(OLDER).map(|&(number, _)| number as u32)
}

/// The call with this number, if it is watched; `command` is the call's second argument.
pub(super) fn call(number: u64, command: u64) -> Option<Call> {
    let of_number = |&&(known, _): &&(libc::c_long, Call)| known as u64 == number;
    let (_, call) = ALL.iter().chain(OLDER).find(of_number)?;
    let duplicates = [libc::F_DUPFD, libc::F_DUPFD_CLOEXEC].contains(&(command as i32));
    Some(if *call == Call::Control && duplicates { Call::Duplicate } else { *call })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_by_number_and_command() {
        assert_eq!(call(libc::SYS_preadv as u64, 0), Some(Call::ReadAt));
        assert_eq!(call(libc::SYS_fcntl as u64, libc::F_DUPFD as u64), Some(Call::Duplicate));
        assert_eq!(call(libc::SYS_fcntl as u64, libc::F_SETFL as u64), Some(Call::Control));
        assert_eq!(call(libc::SYS_getpid as u64, 0), None);
    }

    #[test]
    fn no_number_is_watched_twice() {
        let mut numbers: Vec<u32> = watched().collect();
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count);
    }
}
