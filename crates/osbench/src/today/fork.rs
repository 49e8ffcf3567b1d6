//! Making processes: `fork` alone, and with `exec` of a program.
#![expect(unsafe_code, reason = "fork, execv and waitpid")]

use crate::case::{Case, Op, Program, not_here, wrong};
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;

/// The step that does nothing.
pub(crate) const NOTHING: &str = "nothing";

/// The cases.
pub(crate) fn cases() -> Vec<Case> {
    let fork = "A copy of this process that ends at once: page tables and kernel structures copied and freed.";
    let exec = "The same with a new program in it: the cost of every command in a shell.";
    vec![
        Case::new("process", "fork", fork, |_| operation(None)).sharing(),
        Case::new("process", "fork and exec", exec, |scene| match &scene.program {
            Some(program) => operation(Some(words(program, NOTHING)?)),
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

fn operation(words: Option<Vec<CString>>) -> io::Result<Op> {
    let mut pointers: Vec<*const libc::c_char> =
        words.iter().flatten().map(|word| word.as_ptr()).collect();
    pointers.push(std::ptr::null());
    Ok(Box::new(move |count| {
        let _words_live = &words;
        (0..count).try_for_each(|_| one(&pointers))
    }))
}

fn one(words: &[*const libc::c_char]) -> io::Result<()> {
    let mut status = 0;
    // SAFETY: this process has one thread; the child executes a program whose words are terminated by null, or leaves at
    // once, and the parent waits for it.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            if !words[0].is_null() {
                libc::execv(words[0], words.as_ptr());
                libc::_exit(127);
            }
            libc::_exit(0);
        }
        if child < 0 || libc::waitpid(child, &mut status, 0) != child {
            return Err(io::Error::last_os_error());
        }
    }
    if status == 0 { Ok(()) } else { Err(wrong(format!("the new process ended with {status:#x}"))) }
}
