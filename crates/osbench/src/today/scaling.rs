//! Scaling over processors, in the manner of will-it-scale (Blanchard): one operation performed by
//! one task, by several concurrently, and by as many as there are processors.
//!
//! Tasks share nothing avoidable: each has its own file, pipe or word. What limits their scaling is
//! in the kernel: locks of a directory or of an address space, counters, caches.

use super::{map, page_fault};
use crate::case::{Case, Op, Scene, not_here, repeated, wrong};
use crate::pace::compute;
use crate::team::{Team, TeamPlan};
use crate::waiting::Waiting;
use ioscape_schema::{Locality, OsRule, OsTasks};
use rustix::fs::{CWD, Mode, OFlags, renameat};
use rustix::param::page_size;
use rustix::thread::futex;
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicU32;

/// Name of the benchmark.
const NAME: &str = "scaling";

/// The operation whose work depends on the page size.
const PAGE_FAULT: &str = "page fault";

/// An operation that tasks perform concurrently.
#[derive(Clone, Copy)]
struct Work {
    name: &'static str,
    teaches: &'static str,
    /// Whether it sleeps while it waits for locks: as processes, as threads.
    sleeps: [bool; 2],
    files: bool,
    make: fn(u32) -> io::Result<Op>,
}

const WORKS: [Work; 8] = [
    Work {
        name: "computing",
        teaches: "Additions without the kernel: what the processors themselves lose when all of them work.",
        sleeps: [false; 2],
        files: false,
        make: |_| Ok(compute()),
    },
    Work {
        name: PAGE_FAULT,
        teaches: "The first touch of new pages: the allocator of pages, and with threads one address space.",
        sleeps: [false, true],
        files: false,
        make: |_| page_fault::operation(),
    },
    Work {
        name: "mmap",
        teaches: "Mapping and unmapping: with threads, one lock of the address space.",
        sleeps: [false, true],
        files: false,
        make: |_| map::operation(),
    },
    Work {
        name: "futex",
        teaches: "Waking nobody on a word of one's own: the kernel's table of waiters.",
        sleeps: [false; 2],
        files: false,
        make: |_| Ok(wake_nobody()),
    },
    Work {
        name: "pipe",
        teaches: "A byte into a pipe of one's own and out of it.",
        sleeps: [false; 2],
        files: false,
        make: |_| rustix::pipe::pipe().map_err(io::Error::from).map(|(from, to)| byte(from, to)),
    },
    Work {
        name: "socket",
        teaches: "The same through a pair of sockets.",
        sleeps: [false; 2],
        files: false,
        make: |_| UnixStream::pair().map(|(from, to)| byte(from, to)),
    },
    Work {
        name: "open-close",
        teaches: "Opening and closing a file of one's own in one directory: names, and with threads one table of files.",
        sleeps: [true; 2],
        files: true,
        make: open_close,
    },
    Work {
        name: "rename",
        teaches: "Renaming a file of one's own in one directory: the directory's lock.",
        sleeps: [true; 2],
        files: true,
        make: rename,
    },
];

/// Each operation for each number of tasks, as processes and as threads; those on files only if
/// there is a place for files.
pub(crate) fn cases(counts: &[u32], place: Option<(usize, Locality)>) -> Vec<Case> {
    let mut all = Vec::new();
    for work in WORKS.into_iter().filter(|work| !work.files || place.is_some()) {
        for kind in [OsTasks::Processes, OsTasks::Threads] {
            let case = |&count: &u32| case(work, kind, count);
            let cases = counts.iter().map(case);
            match place.filter(|_| work.files) {
                Some(place) => all.extend(cases.map(|case| case.at(place))),
                None => all.extend(cases),
            }
        }
    }
    all
}

fn case(work: Work, kind: OsTasks, count: u32) -> Case {
    // With several tasks, the kernel itself (its clock, for example) nearly always interrupts one,
    // so only waiting for other programs counts.
    let sleeps = work.sleeps[kind as usize] || count > 1;
    let waiting = if sleeps { Waiting::Queued } else { Waiting::Busy };
    let ready = move |scene: &Scene| {
        let cpus = scene.cpus.get(..count as usize).ok_or_else(|| {
            not_here(format!("this process may run on fewer than {count} processors"))
        })?;
        let (cpus, slower) = (cpus.to_vec(), scene.slower.clone());
        let plan = TeamPlan { kind, count, cpus, slower, waiting };
        let mut team = Team::start(&plan, work.make)?;
        let timing = scene.timed_by_itself();
        let op: Op = Box::new(move |count| {
            timing.set(team.run(count)?);
            Ok(())
        });
        Ok(op)
    };
    let operation = match work.name {
        PAGE_FAULT => page_fault::named(PAGE_FAULT, page_size()),
        name => name.to_owned(),
    };
    let name = format!("{operation}, {count} {}", kind.word(count));
    let mut case = Case::new(NAME, name, work.teaches, ready).by_tasks(count, kind).effort(0.3);
    case.waiting = waiting;
    // As for `rename` by one process: the file system defers work.
    if work.name == "rename" { case.by(OsRule::Mean) } else { case }
}

fn wake_nobody() -> Op {
    let word = Box::new(AtomicU32::new(0));
    repeated(move || {
        futex::wake(&word, futex::Flags::PRIVATE, 1)?;
        Ok(())
    })
}

/// Writes a byte into `to` and reads it from `from`.
fn byte(from: impl AsFd + 'static, to: impl AsFd + 'static) -> Op {
    let mut byte = [1];
    repeated(move || {
        if rustix::io::write(&to, &byte)? != 1 || rustix::io::read(&from, &mut byte)? != 1 {
            return Err(wrong("the byte did not come back"));
        }
        Ok(())
    })
}

/// Returns a name of the task's own.
fn own(kind: &str, task: u32) -> io::Result<CString> {
    CString::new(format!("{kind}-{task}")).map_err(io::Error::other)
}

fn open_close(task: u32) -> io::Result<Op> {
    let name = own("opened", task)?;
    fs::write(format!("opened-{task}"), "x")?;
    Ok(repeated(move || {
        drop(rustix::fs::openat(CWD, &name, OFlags::RDONLY, Mode::empty())?);
        Ok(())
    }))
}

fn rename(task: u32) -> io::Result<Op> {
    fs::write(format!("one-{task}"), "x")?;
    let mut names = [own("one", task)?, own("two", task)?];
    Ok(repeated(move || {
        renameat(CWD, &names[0], CWD, &names[1])?;
        names.swap(0, 1);
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{Ended, ran};

    #[test]
    fn every_operation_has_each_count_of_both_kinds() {
        assert_eq!(cases(&[1, 2, 4], Some((0, Locality::Local))).len(), 8 * 2 * 3);
        assert_eq!(cases(&[1], None).len(), 6 * 2);
        let one = case(WORKS[1], OsTasks::Threads, 2);
        assert_eq!(one.value(2.0), 1e9, "two operations in two nanoseconds");
        let name = format!("{}, 2 threads", page_fault::named("page fault", page_size()));
        assert_eq!((one.case, one.waiting), (name, Waiting::Queued));
        let [alone, both] = [1, 2].map(|count| case(WORKS[0], OsTasks::Processes, count).waiting);
        assert_eq!([alone, both], [Waiting::Busy, Waiting::Queued]);
    }

    #[test]
    fn operations_on_files_are_done_in_the_directory() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().to_owned();
        let scene = Scene { directory, cpus: crate::machine::processors(), ..Scene::default() };
        let files =
            cases(&[1], Some((0, Locality::Local))).into_iter().filter(|case| case.place.is_some());
        for case in files {
            let (name, ended) = (case.case.clone(), ran(case, &scene, 1_000_000));
            assert!(matches!(ended, Ended::Measured(_)), "{name}: {ended:?}");
        }
        assert!(home.path().join("opened-0").exists());
    }
}
