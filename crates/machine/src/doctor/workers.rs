//! Whether a worker can be forked, and can open as many files as a run has open at once.

use crate::crew::{Crew, DONE};
use crate::error::{Death, Error, advice};
use crate::target::Target;
use ioscape_schema::{Access, Check, CheckState};
use std::fs::File;
use std::io;
use std::time::Duration;

/// Files that a worker of a run has open beside those of the target itself: the target twice, and
/// two of the kernel's counters.
const FILES: usize = 4;
/// Time allowed to the worker.
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns the check of a worker on `target`.
pub fn check(target: &Target) -> Check {
    let forked = Crew::fork(1, |_| open(target)).map(|mut crew| {
        crew.wait(PATIENCE, || false);
        crew.first_dead().map(|(_, death)| death)
    });
    of(forked)
}

/// Opens the files. Returns `DONE`, or the error.
fn open(target: &Target) -> i32 {
    let files: Result<Vec<File>, Error> =
        (0..FILES).map(|_| target.open_file(Access::Buffered, true)).collect();
    match files {
        Ok(_) => DONE,
        Err(Error::Io { source, .. }) => source.raw_os_error().unwrap_or(libc::EIO),
        Err(_) => libc::EIO,
    }
}

/// Returns the check of how a worker ended, if it was `forked`.
fn of(forked: io::Result<Option<Death>>) -> Check {
    let check = |found: String| Check {
        required: true,
        ..Check::works("workers", "every measurement", found)
    };
    let (failed, source) = match forked {
        Ok(Some(Death::Exit(DONE))) => {
            return check("one was forked, and opened what a run opens".to_owned());
        }
        Ok(Some(Death::Exit(errno))) => {
            ("a worker cannot open what a run opens", io::Error::from_raw_os_error(errno))
        }
        Err(source) => ("no worker can be forked", source),
        Ok(Some(_)) => {
            let found = check("a worker was killed".to_owned());
            return found.but(CheckState::Missing, "see the kernel log for what killed it");
        }
        Ok(None) => {
            let found = check(format!("a worker did not end within {} s", PATIENCE.as_secs()));
            return found.but(CheckState::Limited, "try again on a quieter machine");
        }
    };
    let advice = match advice(&source).trim_start_matches("; ") {
        "" => "remove what causes this error",
        advice => advice,
    };
    check(format!("{failed}: {source}")).but(CheckState::Missing, advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::TargetOptions;
    use crate::testing::{build_directory, in_child};
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use std::os::fd::AsRawFd;

    /// Once, a directory could be measured, though no run could open its files.
    #[test]
    fn a_limit_of_open_files_below_what_a_run_opens_is_told() {
        let told = in_child(|| {
            let target = Target::open(&build_directory(), &TargetOptions::default()).unwrap();
            let works = check(&target).state == CheckState::Works;
            let most = Some(target.file().as_raw_fd().unsigned_abs().into());
            let most = Rlimit { current: most, ..getrlimit(Resource::Nofile) };
            let is_limited = setrlimit(Resource::Nofile, most).is_ok();
            let found = check(&target);
            let is_told = found.required
                && found.state == CheckState::Missing
                && found.advice.is_some_and(|advice| advice.contains("ulimit -n"));
            i32::from(works && is_limited && is_told)
        });
        assert_eq!(told, Some(1));
    }

    #[test]
    fn where_no_worker_can_be_forked_the_limits_of_processes_are_named() {
        let found = of(Err(io::Error::from_raw_os_error(libc::EAGAIN)));
        assert_eq!((found.state, found.required), (CheckState::Missing, true));
        let advice = found.advice.unwrap_or_default();
        assert!(advice.starts_with("fewer") && advice.contains("pids.max"), "{advice}");
    }

    #[test]
    fn a_worker_that_does_not_end_in_time_proves_nothing() {
        assert_eq!(of(Ok(None)).state, CheckState::Limited);
    }
}
