//! What a session reports when a request fails, a worker dies, or the user interrupts.

use crate::common::{Uniform, quick, run, run_with, session, skipped, workload};
use ioscape_machine::{Death, Error, Target, TargetOptions};
use ioscape_measure::{Phase, RunOptions, Session, SessionOptions};
use ioscape_schema::{Access, Engine, Op, Request, Workload};
use rustix::process::{Pid, Signal};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Longer than anybody waits for a test, in seconds.
const FOR_EVER_S: f64 = 1e6;

fn reads() -> Workload {
    Workload { read_frac: 1.0, ..workload() }
}

#[test]
fn reading_past_the_end_names_the_place() {
    let (_dir, mut session) = session();
    let beyond = |_| move || Request { op: Op::Read, offset: 1 << 30, len: 4096 };
    let error = session.run(&reads(), 4096, &quick(), beyond).unwrap_err();
    let Error::Io { operation: "read", offset: Some(offset), .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(*offset, 1 << 30);
    let told = error.to_string();
    let file = session.target().path().display().to_string();
    assert!(told.contains("ends there") && told.contains(&file), "{told}");
}

#[test]
fn a_request_larger_than_the_buffer_is_an_error() {
    let (_dir, mut session) = session();
    for engine in [Engine::Psync, Engine::Mmap, Engine::IoUring] {
        let large = |_| move || Request { op: Op::Read, offset: 0, len: 8192 };
        let error = session.run(&Workload { engine, ..reads() }, 4096, &quick(), large);
        match error.unwrap_err() {
            Error::Io { source, .. } => assert_eq!(source.raw_os_error(), Some(libc::EINVAL)),
            error if error.is_misuse() => skipped(&error.to_string()),
            error => panic!("{error}"),
        }
    }
}

#[test]
fn direct_io_that_the_file_system_refuses_is_refused_with_advice() {
    // The kernel opens no file there for direct I/O, and nothing writes to it.
    let path = Path::new("/sys/devices/system/cpu/present");
    let reading = TargetOptions { destroy_data: true, write_needed: false };
    let Ok(target) = Target::open(path, &reading) else { return skipped("there is no /sys") };
    let session = Session::new(target, SessionOptions::default()).unwrap();
    let direct = Workload { access: Access::Direct, ..reads() };
    let refused = session.vet(&direct, 4096, false).unwrap_err().to_string();
    assert!(refused.contains("refuses O_DIRECT: go through the file cache, or"), "{refused}");
}

#[test]
fn a_set_larger_than_the_target_is_refused() {
    let (_dir, mut session) = session();
    let huge = Workload { unique_bytes: 1 << 60, ..reads() };
    assert!(matches!(run(&mut session, &huge), Err(Error::Target { .. })));
    assert_eq!(session.target().len().unwrap(), 0, "nothing was written");
}

#[test]
fn impossible_workloads_are_refused() {
    let (_dir, mut session) = session();
    for bad in [
        Workload { read_frac: 2.0, ..reads() },
        Workload { engine: Engine::Sim, ..reads() },
        Workload { process_num: 4096, queue_depth: 4096, engine: Engine::IoUring, ..reads() },
        Workload { access: Access::Direct, engine: Engine::Mmap, ..reads() },
    ] {
        let error = run(&mut session, &bad).unwrap_err();
        assert!(error.is_misuse(), "{error}");
    }
}

#[test]
fn an_interrupt_ends_a_run_soon() {
    let (_dir, mut session) = session();
    let interrupt = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&interrupt);
    let options = RunOptions {
        min_s: FOR_EVER_S,
        cap_s: FOR_EVER_S,
        interrupt,
        on_progress: Some(Arc::new(move |progress| {
            if progress.phase == Phase::Measure {
                told.store(true, Ordering::Relaxed);
            }
        })),
        ..quick()
    };
    let outcome = run_with(&mut session, &reads(), &options);
    assert!(matches!(outcome, Err(Error::Interrupted)), "{outcome:?}");
    assert!(run(&mut session, &reads()).is_ok(), "the session goes on");
}

#[test]
fn a_killed_worker_is_reported_by_number() {
    let (_dir, mut session) = session();
    let pairs = Workload { process_num: 2, ..reads() };
    // The second worker's source kills its own process after some requests.
    let source = |process| {
        let mut uniform = Uniform::new(process, 1 << 20, 1.0);
        let mut left = AtomicU64::new(1000);
        move || {
            *left.get_mut() -= u64::from(process == 1);
            if *left.get_mut() == 0 {
                let own = rustix::process::getpid();
                rustix::process::kill_process(own, Signal::KILL).unwrap();
            }
            uniform.next()
        }
    };
    let error = session.run(&pairs, 4096, &quick(), source).unwrap_err();
    let Error::Worker { process: 1, death: Death::Signal(9) } = error else { panic!("{error}") };
    assert_eq!(children(), Vec::<Pid>::new(), "the other worker is gone too");
}

/// Children of this thread that have not been waited for. Only workers forked by this very thread
/// are listed.
fn children() -> Vec<Pid> {
    let own = rustix::thread::gettid().as_raw_nonzero();
    let list = std::fs::read_to_string(format!("/proc/self/task/{own}/children"));
    let list = list.unwrap_or_default();
    list.split_whitespace().filter_map(|w| Pid::from_raw(w.parse().ok()?)).collect()
}

#[test]
fn a_panicking_source_is_a_dead_worker_not_a_dead_program() {
    let (_dir, mut session) = session();
    let source = |_| move || -> Request { panic!("on purpose") };
    let error = session.run(&reads(), 4096, &quick(), source).unwrap_err();
    assert!(matches!(error, Error::Worker { process: 0, death: Death::Exit(_) }), "{error}");
}

#[test]
fn a_shrunken_mapping_is_an_error_sentence() {
    let (_dir, mut session) = session();
    let path = session.target().path().to_owned();
    session.layout(1 << 20, &quick()).unwrap();
    let source = move |_| {
        let path = path.clone();
        let mut uniform = Uniform::new(0, 1 << 20, 1.0);
        move || {
            let file = std::fs::File::options().write(true).open(&path).unwrap();
            file.set_len(0).unwrap();
            uniform.next()
        }
    };
    let mapped = Workload { engine: Engine::Mmap, ..reads() };
    let error = session.run(&mapped, 4096, &quick(), source).unwrap_err();
    assert!(error.to_string().contains("bus error"), "{error}");
}
