//! Making processes: `fork` alone, and with `exec` of a program.
#![expect(unsafe_code, reason = "fork, execveat, execv and waitpid")]

use super::small_program;
use crate::case::{Case, Op, Program, not_here, wrong};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;

/// The step that does nothing.
pub(crate) const NOTHING: &str = "nothing";

/// What the new process does.
enum Child {
    /// It ends.
    Ends,
    /// It executes an open file.
    Executes(File),
    /// It executes a path.
    Starts(Vec<CString>),
}

/// The cases.
pub(crate) fn cases() -> Vec<Case> {
    let fork = "A copy of this process that ends at once: page tables and kernel structures copied and freed.";
    let exec = "The same with a program of two or three instructions in it: the kernel's part of every command in a shell.";
    let own = "The same with this program in it: what a large executable adds by loading, relocation and the start of its runtime.";
    vec![
        Case::new("process", "fork", fork, |_| operation(Child::Ends)).sharing(),
        Case::new("process", "fork and exec, smallest program", exec, |_| {
            operation(Child::Executes(small_program::file()?))
        })
        .sharing(),
        Case::new("process", "fork and exec, ioscape", own, |scene| match &scene.program {
            Some(program) => operation(Child::Starts(words(program, NOTHING)?)),
            None => Err(not_here("there is no program to execute")),
        })
        .sharing(),
    ]
}

/// The program's words for a step, as `execv` takes them.
fn words(program: &Program, step: &str) -> io::Result<Vec<CString>> {
    let path = program.path.as_os_str().as_bytes();
    let rest = program.first.iter().map(|word| word.as_bytes());
    let all = [path].into_iter().chain(rest).chain([step.as_bytes()]);
    all.map(|word| CString::new(word).map_err(io::Error::other)).collect()
}

fn operation(child: Child) -> io::Result<Op> {
    let name = [c"nothing".as_ptr(), std::ptr::null()];
    let mut pointers: Vec<*const libc::c_char> = match &child {
        Child::Starts(words) => words.iter().map(|word| word.as_ptr()).collect(),
        _ => Vec::new(),
    };
    pointers.push(std::ptr::null());
    Ok(Box::new(move |count| {
        let enter = || {
            // SAFETY: all words are terminated, their lists by null, and `child` owns those of a path as long as this closure lives.
            unsafe {
                match &child {
                    Child::Ends => libc::_exit(0),
                    Child::Executes(file) => {
                        let empty: &CStr = c"";
                        let (fd, flags) = (file.as_raw_fd(), libc::AT_EMPTY_PATH);
                        let none = &name[1];
                        libc::syscall(
                            libc::SYS_execveat,
                            fd,
                            empty.as_ptr(),
                            name.as_ptr(),
                            none,
                            flags,
                        );
                    }
                    Child::Starts(_) => {
                        libc::execv(pointers[0], pointers.as_ptr());
                    }
                }
            }
        };
        (0..count).try_for_each(|_| one(&enter))
    }))
}

fn one(enter: &impl Fn()) -> io::Result<()> {
    let mut status = 0;
    // SAFETY: this process has one thread; the child enters a program, or leaves at once, and the parent waits for it.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            enter();
            libc::_exit(127);
        }
        if child < 0 || libc::waitpid(child, &mut status, 0) != child {
            return Err(io::Error::last_os_error());
        }
    }
    if status == 0 { Ok(()) } else { Err(wrong(format!("the new process ended with {status:#x}"))) }
}
