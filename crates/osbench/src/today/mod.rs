//! More of what operating systems do today, measured by the same harness; the paper has no figures for them.

mod fork;
mod fsync;
mod map;
mod names;
mod page_fault;
mod signal;
mod small_program;
mod socket;
mod thread_switch;
mod timestamp;
mod uring;

pub(crate) use fork::NOTHING;
pub(crate) use small_program::bytes as small_program;

use super::case::Case;
use ioscape_schema::Locality;

/// Names of these benchmarks, in the order in which they are shown.
pub(crate) const NAMES: [&str; 11] = [
    "page-fault",
    "mmap",
    "process",
    "thread-switch",
    "timestamp",
    "signal",
    "socket",
    "io-uring",
    "stat",
    "rename",
    "fsync",
];

/// The cases that need no files.
pub(crate) fn cases() -> Vec<Case> {
    let mut all = page_fault::cases();
    all.extend(map::cases());
    all.extend(fork::cases());
    all.extend(thread_switch::cases());
    all.extend(timestamp::cases());
    all.extend(signal::cases());
    all.extend(socket::cases());
    all.extend(uring::cases());
    all
}

/// The cases in a directory.
pub(crate) fn file_cases(place: (usize, Locality)) -> Vec<Case> {
    let mut all = names::cases(place);
    all.extend(fsync::cases(place));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Scene;

    #[test]
    fn every_case_performs_its_operation() {
        let home = tempfile::tempdir().unwrap();
        let scene = Scene { directory: home.path().to_owned(), ..Scene::default() };
        for case in cases() {
            // What needs another program, or a kernel with more, may say so; nothing else may fail.
            match (case.ready)(&scene).and_then(|mut op| op(3)) {
                Ok(()) => {}
                Err(error) => {
                    let kind = error.kind();
                    assert_eq!(kind, std::io::ErrorKind::Unsupported, "{}: {error}", case.name);
                }
            }
        }
    }
}
