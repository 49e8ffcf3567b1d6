//! The kernel's side of fault injection: a filter that hands every file and device call of a
//! program to its supervisor.
#![expect(unsafe_code, reason = "the kernel's interface for it has no safe wrapper")]

use rustix::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

/// The descriptor of the filter in the program, where the supervisor can fetch it.
const LISTENER: RawFd = 100;

const RECEIVE: libc::c_ulong = 0xc050_2100;
const SEND: libc::c_ulong = 0xc018_2101;
const CONTINUE: u32 = 1;

/// Calls on files and devices, with names for messages. `sigaltstack` is not one of them: it shows
/// that the language's runtime has started, so the dynamic linker's earlier calls are left alone.
pub const CALLS: &[(libc::c_long, &str)] = &[
    (libc::SYS_sigaltstack, "sigaltstack"),
    (libc::SYS_openat, "open"),
    (libc::SYS_read, "read"),
    (libc::SYS_pread64, "read"),
    (libc::SYS_readv, "read"),
    (libc::SYS_preadv, "read"),
    (libc::SYS_preadv2, "read"),
    (libc::SYS_write, "write"),
    (libc::SYS_pwrite64, "write"),
    (libc::SYS_writev, "write"),
    (libc::SYS_pwritev, "write"),
    (libc::SYS_pwritev2, "write"),
    (libc::SYS_copy_file_range, "write"),
    (libc::SYS_fsync, "sync"),
    (libc::SYS_fdatasync, "sync"),
    (libc::SYS_sync_file_range, "sync"),
    (libc::SYS_syncfs, "sync"),
    (libc::SYS_ftruncate, "truncate"),
    (libc::SYS_fallocate, "allocate"),
    (libc::SYS_renameat, "rename"),
    (libc::SYS_renameat2, "rename"),
    (libc::SYS_unlinkat, "unlink"),
    (libc::SYS_mkdirat, "mkdir"),
    (libc::SYS_linkat, "link"),
    (libc::SYS_symlinkat, "link"),
    (libc::SYS_statx, "stat"),
    (libc::SYS_fstat, "stat"),
    (libc::SYS_newfstatat, "stat"),
    (libc::SYS_fstatfs, "stat"),
    (libc::SYS_statfs, "stat"),
    (libc::SYS_getdents64, "list"),
    (libc::SYS_readlinkat, "stat"),
    (libc::SYS_faccessat, "stat"),
    (libc::SYS_faccessat2, "stat"),
    (libc::SYS_fadvise64, "advise"),
    (libc::SYS_flock, "lock"),
    (libc::SYS_fchmod, "chmod"),
    (libc::SYS_fchown, "chmod"),
    (libc::SYS_ioctl, "ioctl"),
    (libc::SYS_io_uring_enter, "ring"),
    (libc::SYS_io_uring_setup, "ring"),
    (libc::SYS_lseek, "seek"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, "open"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_rename, "rename"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_unlink, "unlink"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_rmdir, "unlink"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mkdir, "mkdir"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_stat, "stat"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_lstat, "stat"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_readlink, "stat"),
];

/// Name of a file mapping; anonymous memory is left alone.
pub const MAP: &str = "map";

const fn statement(code: u32, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

fn jump(k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    let code = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    libc::sock_filter { code, jt, jf, k }
}

fn filter() -> Vec<libc::sock_filter> {
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let mut program = vec![
        statement(load, 0),
        jump(libc::SYS_mmap as u32, 0, 2),
        // The file descriptor is the fifth argument, after 16 bytes of other fields.
        statement(load, 16 + 4 * 8),
        jump(u32::MAX, CALLS.len() as u8, CALLS.len() as u8 + 1),
    ];
    for (left, (number, _)) in (0..CALLS.len() as u8).rev().zip(CALLS) {
        program.push(jump(*number as u32, left + 1, 0));
    }
    program.push(statement(libc::BPF_RET, libc::SECCOMP_RET_ALLOW));
    program.push(statement(libc::BPF_RET, libc::SECCOMP_RET_USER_NOTIF));
    program
}

/// A program whose calls wait for an answer.
pub struct Supervised {
    /// The program.
    pub child: Child,
    listener: OwnedFd,
}

/// A waiting call.
#[derive(Clone, Copy)]
pub struct Call {
    id: u64,
    process: u32,
    number: i64,
    arguments: [u64; 6],
}

impl Supervised {
    /// Starts `command` under the filter.
    pub fn spawn(mut command: Command) -> io::Result<Self> {
        let program = filter();
        let install = move || {
            let filter =
                libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
            // SAFETY: plain system calls on values that outlive them; nothing is allocated.
            unsafe {
                if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
                    return Err(io::Error::last_os_error());
                }
                let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
                let mode = libc::SECCOMP_SET_MODE_FILTER;
                let listener = libc::syscall(libc::SYS_seccomp, mode, flags, &raw const filter);
                if listener < 0 || libc::dup2(listener as RawFd, LISTENER) < 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            Ok(())
        };
        // SAFETY: the closure only makes system calls.
        unsafe { command.pre_exec(install) };
        let child = command.spawn()?;
        let listener = fetch(child.id(), LISTENER)?;
        Ok(Self { child, listener })
    }

    /// The next waiting call, if one comes within 50 ms; an error if no process is left.
    pub fn next(&self) -> io::Result<Option<Call>> {
        let mut poll =
            libc::pollfd { fd: self.listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: a single structure that outlives the call.
        let ready = unsafe { libc::poll(&raw mut poll, 1, 50) };
        if ready == 0 {
            return Ok(None);
        }
        if poll.revents & libc::POLLIN == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        // SAFETY: the structure is plain integers; the kernel requires it zeroed and then fills it.
        let mut told: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: as above; the request number belongs to this structure.
        if unsafe { libc::ioctl(self.listener.as_raw_fd(), RECEIVE, &raw mut told) } != 0 {
            // The caller is gone by now.
            return Ok(None);
        }
        let (number, arguments) = (i64::from(told.data.nr), told.data.args);
        Ok(Some(Call { id: told.id, process: told.pid, number, arguments }))
    }

    fn answer(&self, call: &Call, val: i64, error: i32, flags: u32) {
        let mut answer = libc::seccomp_notif_resp { id: call.id, val, error, flags };
        // A caller that was killed meanwhile takes no answer.
        //
        // SAFETY: the structure outlives the call, whose request number belongs to it.
        let _ = unsafe { libc::ioctl(self.listener.as_raw_fd(), SEND, &raw mut answer) };
    }

    /// Lets the kernel carry out the call.
    pub fn pass(&self, call: &Call) {
        self.answer(call, 0, 0, CONTINUE);
    }

    /// Makes the call fail with this error number and no effect.
    pub fn fail(&self, call: &Call, errno: i32) {
        self.answer(call, 0, -errno, 0);
    }

    /// Does half of the call; returns whether that was possible.
    pub fn halve(&self, call: &Call) -> bool {
        let done = half(call);
        done.map(|bytes| self.answer(call, bytes as i64, 0, 0)).is_ok()
    }
}

/// Duplicates descriptor `number` of another process.
fn fetch(process: u32, number: RawFd) -> io::Result<OwnedFd> {
    let owned = |fd: libc::c_long| match fd {
        // SAFETY: the kernel has just created this descriptor for us.
        0.. => Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) }),
        _ => Err(io::Error::last_os_error()),
    };
    // SAFETY: plain integers.
    let handle = owned(unsafe { libc::syscall(libc::SYS_pidfd_open, process, 0) })?;
    // SAFETY: plain integers.
    owned(unsafe { libc::syscall(libc::SYS_pidfd_getfd, handle.as_raw_fd(), number, 0) })
}

/// Does half of a plain read or write in place of its caller; returns the bytes done.
fn half(call: &Call) -> io::Result<usize> {
    let [fd, address, len, offset, ..] = call.arguments;
    let half = (len / 2) as usize;
    if half == 0 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let file = File::from(fetch(call.process, fd as RawFd)?);
    let mut bytes = vec![0u8; half];
    let here = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: half };
    let process = call.process as libc::pid_t;
    let there = |len| libc::iovec { iov_base: address as *mut libc::c_void, iov_len: len };
    let done = match call.number {
        libc::SYS_read => io::Read::read(&mut &file, &mut bytes)?,
        libc::SYS_pread64 => file.read_at(&mut bytes, offset)?,
        libc::SYS_write | libc::SYS_pwrite64 => {
            // SAFETY: the kernel checks the caller's address; ours holds `half` bytes.
            let got =
                unsafe { libc::process_vm_readv(process, &raw const here, 1, &there(half), 1, 0) };
            if got != half as isize {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            return match call.number {
                libc::SYS_write => io::Write::write(&mut &file, &bytes),
                _ => file.write_at(&bytes, offset),
            };
        }
        _ => return Err(io::ErrorKind::Unsupported.into()),
    };
    let here = libc::iovec { iov_len: done, ..here };
    // SAFETY: as above.
    let put = unsafe { libc::process_vm_writev(process, &raw const here, 1, &there(done), 1, 0) };
    if put == done as isize { Ok(done) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

impl Call {
    /// The name of the call.
    pub fn name(&self) -> &'static str {
        let known = CALLS.iter().find(|(number, _)| *number == self.number);
        known.map_or(MAP, |(_, name)| name)
    }

    /// Whether the call writes to standard error.
    pub fn is_word(&self) -> bool {
        self.name() == "write" && self.arguments[0] == 2
    }

    /// Identifies repeated calls from one place: the process, the call and the file.
    pub fn place(&self) -> (u32, i64, u64) {
        let has_file = !matches!(self.name(), "open" | "rename" | "unlink" | "mkdir" | "link");
        (self.process, self.number, if has_file { self.arguments[0] } else { 0 })
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        // It has already ended, unless it hangs.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
