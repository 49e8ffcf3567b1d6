//! Limits on this process. That of open files: the hard limit for us, the original one for commands
//! that we start.
#![expect(unsafe_code, reason = "what is done between fork and exec has no safe form")]

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

/// The limit before it was raised.
static BEFORE: OnceLock<Rlimit> = OnceLock::new();

/// Raises the soft limit of open files to the hard one; if that is refused, it stays.
pub fn raise_open_files() {
    let before = getrlimit(Resource::Nofile);
    if setrlimit(Resource::Nofile, Rlimit { current: before.maximum, ..before }).is_ok() {
        // Of several calls the first counts.
        let _ = BEFORE.set(before);
    }
}

/// Returns how many files may be open now.
pub fn open_files() -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    limit.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX)
}

/// Returns the largest size in bytes that a file may be written to (`ulimit -f`).
pub fn file_size() -> u64 {
    getrlimit(Resource::Fsize).current.unwrap_or(u64::MAX)
}

/// Says why SIGKILL most often comes: for want of memory or, where a process has a limit of
/// processor time, at the end of that. The soft limit only warns.
pub fn why_killed() -> String {
    let time = getrlimit(Resource::Cpu).maximum.map_or_else(String::new, |most| {
        format!("its limit of processor time was reached ({most} s: raise it with ulimit -t) or ")
    });
    format!("most often because {time}memory ran out")
}

/// Restores the original limit. It may run between fork and exec, since it neither allocates nor
/// takes a lock.
pub fn restore_open_files() -> io::Result<()> {
    BEFORE.get().map_or(Ok(()), |before| setrlimit(Resource::Nofile, *before).map_err(Into::into))
}

/// Makes a program that is about to start use the original limit.
pub fn as_before(program: &mut Command) -> &mut Command {
    // SAFETY: the function may be called between fork and exec.
    unsafe { program.pre_exec(restore_open_files) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::in_child;

    #[test]
    fn who_has_a_limit_of_processor_time_may_have_met_it() {
        let limited = in_child(|| {
            let most = Rlimit { current: Some(1800), maximum: Some(3600) };
            let is_limited = setrlimit(Resource::Cpu, most).is_ok();
            i32::from(is_limited && why_killed().contains("3600 s: raise it with ulimit -t"))
        });
        assert_eq!(limited, Some(1));
    }

    #[test]
    fn more_files_may_be_open_here_and_as_many_as_before_in_a_command() {
        raise_open_files();
        // The kernel may refuse it (fs.nr_open).
        let Some(&before) = BEFORE.get() else { return };
        let raised = getrlimit(Resource::Nofile);
        assert_eq!(raised, Rlimit { current: before.maximum, ..before });
        assert!(before.current.is_none_or(|soft| open_files() as u64 >= soft));
        let soft = before.current.map_or("unlimited".to_owned(), |soft| soft.to_string());
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("test \"$(ulimit -Sn)\" = {soft}")]);
        assert!(as_before(&mut shell).status().unwrap().success());
    }
}
