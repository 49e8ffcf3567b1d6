//! Benchmarks of more recent operating-system features, measured by the same harness; the paper has
//! no figures for them.

mod fork;
mod fsync;
mod map;
mod memory;
mod messages;
mod names;
mod page_fault;
mod region;
mod scaling;
mod signal;
mod small_program;
mod socket;
mod thread;
mod thread_switch;
mod timestamp;
mod uring;
mod wake_up;

pub(crate) use fork::{Executable, NOTHING, cases as process_cases, forked};
pub(crate) use scaling::cases as scaling;
pub(crate) use small_program::bytes as small_program;

use super::case::Case;
use super::sizes::Sizes;
use ioscape_schema::Locality;

/// The cases that need no files.
pub(crate) fn cases(sizes: &Sizes) -> Vec<Case> {
    let mut all = page_fault::cases();
    all.extend(map::cases());
    all.extend(fork::cases());
    all.extend(thread::cases());
    all.extend(thread_switch::cases());
    all.extend(wake_up::cases());
    all.extend(messages::cases());
    all.extend(memory::cases(sizes));
    all.extend(timestamp::cases());
    all.extend(signal::cases());
    all.extend(socket::cases());
    all.extend(uring::cases());
    all
}

/// The cases in a directory.
pub(crate) fn file_cases(place: (usize, Locality)) -> Vec<Case> {
    let mut all = page_fault::file_cases(place);
    all.extend(names::cases(place));
    all.extend(fsync::cases(place));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Scene;
    use crate::process::{Ended, ran};
    use std::io::ErrorKind;

    /// Parts of the names of cases that may be unavailable: they need another program, another
    /// processor or an optional kernel feature.
    const MAY_BE_ABSENT: [&str; 7] = [
        "another CPU",
        "fork and exec",
        "huge page",
        "io-uring",
        "two CPUs",
        ", 2 processes",
        ", 2 threads",
    ];

    fn name(case: &Case) -> String {
        format!("{}, {}", case.name, case.case)
    }

    #[test]
    fn every_case_performs_its_operation() {
        let home = tempfile::tempdir().unwrap();
        let cpus = crate::machine::processors();
        let scene = Scene { directory: home.path().to_owned(), cpus, ..Scene::default() };
        let sizes = Sizes { caches: vec![32 << 10], memory: 1 << 30, ..Sizes::default() };
        for case in cases(&sizes).into_iter().chain(scaling(&[1, 2], None)) {
            let Err(error) = (case.ready)(&scene).and_then(|mut op| op(3)) else { continue };
            let name = name(&case);
            let may_be = match error.kind() {
                ErrorKind::Unsupported => MAY_BE_ABSENT.iter().any(|part| name.contains(part)),
                // Self-timing cases give up if other programs keep the processors busy.
                kind => kind == ErrorKind::TimedOut,
            };
            assert!(may_be, "{name}: {error}");
        }
    }

    #[test]
    fn every_case_in_a_directory_performs_its_operation() {
        let home = tempfile::tempdir().unwrap();
        let scene = Scene { directory: home.path().to_owned(), ..Scene::default() };
        for case in file_cases((0, Locality::Local)) {
            let (name, ended) = (name(&case), ran(case, &scene, 1));
            assert!(matches!(ended, Ended::Measured(_)), "{name}: {ended:?}");
        }
    }
}
