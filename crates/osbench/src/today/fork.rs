//! The cost of creating processes: `fork` alone, and `fork` followed by `exec`.
#![expect(unsafe_code, reason = "fork, execveat, execv and waitpid")]

use super::small_program;
use crate::case::{Case, Op, Program, not_here, repeated, wrong};
use ioscape_machine::crew::leave;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;

/// Name of the step that does nothing.
pub(crate) const NOTHING: &str = "nothing";

/// A program that a process can `exec`.
pub(crate) enum Executable {
    /// An open file.
    File(File),
    /// A path with its arguments, and pointers to them.
    Path { _words: Vec<CString>, pointers: Vec<*const libc::c_char> },
}

impl Executable {
    /// Returns the smallest program, after one successful run.
    ///
    /// # Errors
    /// There is none for this architecture, or this system does not execute it.
    pub(crate) fn smallest() -> io::Result<Self> {
        let program = Self::File(small_program::file()?);
        match program.run()? {
            0 => Ok(program),
            status => Err(not_here(format!(
                "this system does not execute a program that is a file in memory: its process ended with {status:#x}"
            ))),
        }
    }

    /// Returns this program, with arguments that make it do nothing.
    pub(crate) fn of(program: &Program) -> io::Result<Self> {
        let path = program.path.as_os_str().as_bytes();
        let rest = program.first.iter().map(|word| word.as_bytes());
        let all = [path].into_iter().chain(rest).chain([NOTHING.as_bytes()]);
        let all = all.map(|word| CString::new(word).map_err(io::Error::other));
        let words = all.collect::<io::Result<Vec<_>>>()?;
        let pointers = words.iter().map(|word| word.as_ptr());
        let pointers = pointers.chain([std::ptr::null()]).collect();
        Ok(Self::Path { _words: words, pointers })
    }

    /// Runs the program in a new process; returns its status as `waitpid` does.
    ///
    /// # Errors
    /// No process can be created.
    fn run(&self) -> io::Result<i32> {
        forked(|| {
            self.execute();
            127
        })
    }

    /// Executes the program in this process; returns only if the kernel refuses.
    pub(crate) fn execute(&self) {
        // SAFETY: `self` owns all words, which are zero-terminated, and their lists end with null.
        unsafe {
            match self {
                Self::File(file) => {
                    let (fd, empty, name) =
                        (file.as_raw_fd(), c"", [c"nothing".as_ptr(), std::ptr::null()]);
                    let none = &name[1];
                    let flags = libc::AT_EMPTY_PATH;
                    libc::syscall(
                        libc::SYS_execveat,
                        fd,
                        CStr::as_ptr(empty),
                        name.as_ptr(),
                        none,
                        flags,
                    );
                }
                Self::Path { pointers, .. } => {
                    libc::execv(pointers[0], pointers.as_ptr());
                }
            }
        }
    }
}

/// The cases.
pub(crate) fn cases() -> Vec<Case> {
    let fork = "A copy of a process that has just begun, which ends at once: page tables and kernel structures copied and freed.";
    let exec = "The same with a program of two or three instructions in it: the kernel's part of every command in a shell.";
    let own = "The same with this program in it: what a large executable adds by loading, relocation and the start of its runtime.";
    let all = [
        Case::new("process", "fork", fork, |_| Ok(operation(None))),
        Case::new("process", "fork and exec, smallest program", exec, |_| {
            Ok(operation(Some(Executable::smallest()?)))
        }),
        Case::new("process", "fork and exec, ioscape", own, |scene| match &scene.program {
            Some(program) => Ok(operation(Some(Executable::of(program)?))),
            None => Err(not_here("there is no program to execute")),
        }),
    ];
    all.into_iter().map(|case| case.sharing().in_fresh_image()).collect()
}

fn operation(program: Option<Executable>) -> Op {
    repeated(move || match program.as_ref().map_or_else(|| forked(|| 0), Executable::run)? {
        0 => Ok(()),
        status => Err(wrong(format!("the new process ended with {status:#x}"))),
    })
}

/// Runs `body` in a new process, which exits with its result unless it calls `exec`; returns the
/// status as `waitpid` does.
///
/// # Errors
/// No process can be created.
pub(crate) fn forked(body: impl Fn() -> i32) -> io::Result<i32> {
    let mut status = 0;
    // SAFETY: this process has one thread; the child exits at the end of `body`, and the parent
    // waits for it.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            leave(body());
        }
        if child < 0 || libc::waitpid(child, &mut status, 0) != child {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_machine::testing::skipped;

    #[test]
    fn the_smallest_program_runs_where_files_in_memory_may_not_be_executed_unless_asked_for() {
        let ended = forked(|| {
            // SAFETY: it affects only processes that this one forks from now on: their namespace
            // has its own setting.
            if unsafe { libc::unshare(libc::CLONE_NEWPID) } != 0 {
                return 2;
            }
            let within = forked(|| match std::fs::write("/proc/sys/vm/memfd_noexec", "1") {
                Ok(()) => i32::from(Executable::smallest().is_err()),
                Err(_) => 2,
            });
            match within {
                Ok(status) if libc::WIFEXITED(status) => libc::WEXITSTATUS(status),
                _ => 3,
            }
        });
        let status = ended.unwrap();
        if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 2 {
            return skipped("needs root, and Linux 6.3 for vm.memfd_noexec");
        }
        assert_eq!(status, 0, "a signal is no success either");
    }
}
