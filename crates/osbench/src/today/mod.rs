//! More of what operating systems do today, measured by the same harness; the paper has no figures for them.

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
    use std::io::ErrorKind;

    #[test]
    fn every_case_performs_its_operation() {
        let home = tempfile::tempdir().unwrap();
        let cpus = crate::machine::processors();
        let scene = Scene { directory: home.path().to_owned(), cpus, ..Scene::default() };
        let sizes = Sizes { caches: vec![32 << 10], memory: 1 << 30, ..Sizes::default() };
        for case in cases(&sizes).into_iter().chain(scaling(&[1, 2], None)) {
            // What needs another program, a kernel with more or more time may say so; nothing else may fail.
            match (case.ready)(&scene).and_then(|mut op| op(3)) {
                Ok(()) => {}
                Err(error) => {
                    let may_be = [ErrorKind::Unsupported, ErrorKind::TimedOut];
                    assert!(may_be.contains(&error.kind()), "{}: {error}", case.name);
                }
            }
        }
    }
}
