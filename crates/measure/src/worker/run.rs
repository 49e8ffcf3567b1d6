//! The work of a worker in a run: get ready, wait for the start, issue the requests of its streams,
//! report.

use crate::engine::buffer::{Buffer, Stamp};
use crate::engine::content::Content;
use crate::engine::discovered::Discovered;
use crate::engine::dontcache;
use crate::engine::mmap::Mmap;
use crate::engine::null::Null;
use crate::engine::psync::Psync;
use crate::engine::uring::Uring;
use crate::engine::{Action, Fault, Perform, drive};
use crate::verify::{Ledger, NoteBook, Sealed};
use crate::worker::meter::Meter;
use crate::worker::pauses::Pauses;
use crate::worker::report::{REPORT_WORDS, Report};
use crate::worker::rows::{Keep, Rows};
use crate::worker::stream::Stream;
use ioscape_machine::cgroup::MemoryGroup;
use ioscape_machine::clock::Clock;
use ioscape_machine::crew::{DONE, FAULTED, leave};
use ioscape_machine::error::Error;
use ioscape_machine::shared::Shared;
use ioscape_machine::target::Target;
use ioscape_machine::thread::builder;
use ioscape_schema::{Access, Advice, Engine, Request, Workload};
use std::fs::File;
use std::num::NonZeroU64;
use std::ops::Range;

/// Stack of a worker thread in bytes; the hot loop is shallow.
const STACK_BYTES: usize = 512 << 10;

/// Everything that the workers of a run need to know.
pub(crate) struct Plan<'a> {
    /// Memory shared with the conductor. The words after a stream's report hold its rows.
    pub(crate) shared: &'a Shared,
    /// The target of the I/O.
    pub(crate) target: &'a Target,
    /// The workload to run.
    pub(crate) workload: &'a Workload,
    /// Size of the largest request in bytes.
    pub(crate) buffer_bytes: usize,
    /// The clock, calibrated by the conductor.
    pub(crate) clock: &'a Clock,
    /// The control group for the memory limit.
    pub(crate) group: Option<&'a MemoryGroup>,
    /// What the blocks must hold, and where findings are noted, if the run is verified.
    pub(crate) verify: Option<(&'a Ledger, &'a NoteBook)>,
}

impl Plan<'_> {
    /// Whether any request writes.
    pub(crate) fn writes(&self) -> bool {
        self.workload.read_frac < 1.0
    }

    fn open(&self, access: Access) -> Result<File, Fault> {
        let file = self
            .target
            .open_file(access, self.writes())
            .map_err(|error| Fault::new(Action::Open, errno(&error)))?;
        let advice = match self.workload.advice {
            Advice::Normal => return Ok(file),
            Advice::Random => rustix::fs::Advice::Random,
            Advice::Sequential => rustix::fs::Advice::Sequential,
        };
        // If a file system takes no advice, the run does without: the kernel itself calls it a
        // hint.
        let _ = rustix::fs::fadvise(&file, 0, None, advice);
        Ok(file)
    }

    /// The files through which the sequential runs of an application's phases are read, each with
    /// its own read-ahead. There are twice as many as runs, so that requests elsewhere do not take
    /// the file of a run.
    fn readers(&self) -> Result<Vec<File>, Fault> {
        let reads = self.workload.phases.iter().filter_map(|phase| phase.read.as_ref());
        let runs = reads.map(|read| read.runs).max().filter(|runs| *runs > 1).unwrap_or(0);
        (0..2 * runs).map(|_| self.open(self.workload.access)).collect()
    }

    /// Maps the set from `file`. Faults read ahead by the advice on the mapping, not by that on the
    /// file.
    fn mapping<C: Content>(&self, file: &File, number: u64, content: C) -> Result<Mmap<C>, Fault> {
        let (set, buffer) = (self.workload.unique_bytes, self.buffer(number)?);
        let engine = Mmap::new(file, set, self.writes(), buffer, content)?;
        match self.workload.advice {
            Advice::Normal => {}
            Advice::Random => engine.advise(rustix::mm::Advice::Random),
            Advice::Sequential => engine.advise(rustix::mm::Advice::Sequential),
        }
        Ok(engine)
    }

    fn buffer(&self, number: u64) -> Result<Buffer, Fault> {
        let align = match self.workload.may_be_direct() {
            true => self.target.direct_align().unwrap_or(1) as usize,
            false => 1,
        };
        Buffer::new(self.buffer_bytes, align, number)
            .ok_or(Fault::new(Action::Resource, libc::ENOMEM))
    }
}

/// The system's error number; `EIO` if there is none.
pub(crate) fn errno(error: &Error) -> i32 {
    match error {
        Error::Io { source, .. } => source.raw_os_error().unwrap_or(libc::EIO),
        _ => libc::EIO,
    }
}

/// Runs `streams` in this worker process, as threads if there are several; returns its exit code.
pub(crate) fn carry_out<F, S>(plan: &Plan<'_>, streams: Range<u32>, make: &F) -> i32
where
    F: Fn(u32) -> S + Sync,
    S: FnMut() -> Request + Send,
{
    if let Err(fault) = join(plan.group) {
        return report_failure(plan.shared, streams.start, fault);
    }
    let held = match held(plan.workload, streams.len() as u64) {
        Ok(held) => held,
        Err(fault) => return report_failure(plan.shared, streams.start, fault),
    };
    std::hint::black_box(&held);
    let meter = Meter::new(streams.len() as u32);
    run_streams(plan.shared, streams, |index| run_stream(plan, index, &meter, make))
}

/// Has `run` carry out each of `streams` in this worker process, in threads if there are several.
/// Returns the exit code of all; a thread that fails ends the process at once with its own.
pub(crate) fn run_streams(
    shared: &Shared,
    streams: Range<u32>,
    run: impl Fn(u32) -> i32 + Sync,
) -> i32 {
    if streams.len() == 1 {
        return run(streams.start);
    }
    std::thread::scope(|scope| {
        for index in streams {
            let run = &run;
            let body = move || {
                let code = run(index);
                if code != DONE {
                    leave(code);
                }
            };
            let thread = builder().map(|one| one.stack_size(STACK_BYTES));
            if let Err(error) = thread.and_then(|one| one.spawn_scoped(scope, body)) {
                let errno = error.raw_os_error().unwrap_or(libc::EAGAIN);
                leave(report_failure(shared, index, Fault::new(Action::Resource, errno)));
            }
        }
    });
    DONE
}

/// The memory of `processes` of the workload's processes, all of it touched, so that the file cache
/// cannot use it.
fn held(workload: &Workload, processes: u64) -> Result<Vec<u8>, Fault> {
    let all = u128::from(workload.memory_bytes.unwrap_or(0));
    let share = all * u128::from(processes) / u128::from(workload.process_num.max(1));
    let share = usize::try_from(share).unwrap_or(usize::MAX);
    let mut held = Vec::new();
    held.try_reserve_exact(share).map_err(|_| Fault::new(Action::Resource, libc::ENOMEM))?;
    // A nonzero byte must be in memory.
    held.resize(share, 1);
    Ok(held)
}

/// Joins the control group for the memory limit, if any.
pub(crate) fn join(group: Option<&MemoryGroup>) -> Result<(), Fault> {
    let Some(group) = group else { return Ok(()) };
    group.join().map_err(|e| Fault::new(Action::Join, e.raw_os_error().unwrap_or(libc::EIO)))
}

/// Stores a report that contains only a fault; returns the matching exit code.
pub(crate) fn report_failure(shared: &Shared, index: u32, fault: Fault) -> i32 {
    let report = Report { fault: Some(fault), ..Report::new() };
    report.store(shared.report(index as usize));
    FAULTED
}

fn run_stream<F, S>(plan: &Plan<'_>, index: u32, meter: &Meter, make: &F) -> i32
where
    F: Fn(u32) -> S,
    S: FnMut() -> Request,
{
    if plan.workload.think_time_ns > 0 || Pauses::are_of(plan.workload) {
        // The kernel's usual slack of 50 us would make short think times several times as long.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    }
    match plan.shared.report(index as usize).get(REPORT_WORDS..) {
        None | Some([]) => run_and_report(plan, index, meter, make(index), ()),
        Some(words) => run_and_report(plan, index, meter, make(index), Rows::new(words)),
    }
}

fn run_and_report<S: FnMut() -> Request, K: Keep>(
    plan: &Plan<'_>,
    index: u32,
    meter: &Meter,
    source: S,
    kept: K,
) -> i32 {
    let (clock, workload) = (plan.clock.clone(), plan.workload);
    let mut stream = Stream::new(plan.shared, index as usize, clock, meter, workload, kept);
    let done = match plan.verify {
        None => run_engine(plan, index, &mut stream, source, || {
            Stamp::against(plan.target.file_system().compresses())
        }),
        Some((ledger, notes)) => run_engine(plan, index, &mut stream, source, || {
            Sealed::new(ledger, notes.of(index as usize))
        }),
    };
    done.unwrap_or_else(|fault| hand_in(plan.shared, index, &mut stream, Err(fault)))
}

/// Stores the stream's report; returns the matching exit code.
fn hand_in<K: Keep>(
    shared: &Shared,
    index: u32,
    stream: &mut Stream<'_, K>,
    outcome: Result<(), Fault>,
) -> i32 {
    let report = stream.report_mut();
    report.fault = outcome.err();
    report.store(shared.report(index as usize));
    if report.fault.is_some() { FAULTED } else { DONE }
}

/// Has `engine` carry out the stream, and stores the report before its file is closed. On NFS, CIFS
/// and FUSE, the close waits for everything written.
fn driven<E: Perform, S: FnMut() -> Request, K: Keep>(
    shared: &Shared,
    index: u32,
    stream: &mut Stream<'_, K>,
    mut source: S,
    mut engine: E,
) -> i32 {
    stream.wait_for_start();
    let outcome = drive(&mut engine, &mut source, stream);
    hand_in(shared, index, stream, outcome)
}

/// Runs the workload's engine; returns the exit code, or why there is no engine. `content` makes
/// the contents of the requests, anew for each way to the file.
fn run_engine<S: FnMut() -> Request, K: Keep, C: Content>(
    plan: &Plan<'_>,
    index: u32,
    stream: &mut Stream<'_, K>,
    mut source: S,
    content: impl Fn() -> C,
) -> Result<i32, Fault> {
    let number = u64::from(index) << 32;
    let access = plan.workload.access;
    match plan.workload.engine {
        Engine::Psync => {
            let way = |access| -> Result<Psync<C>, Fault> {
                Ok(Psync::new(plan.open(access)?, plan.buffer(number)?, content()))
            };
            let Some(above) = plan.workload.direct_above_bytes else {
                let engine = way(access)?.with_readers(plan.readers()?);
                return Ok(driven(plan.shared, index, stream, source, engine));
            };
            let direct = way(Access::Direct)?;
            let engine = Discovered::new(way(access)?, direct, above);
            Ok(driven(plan.shared, index, stream, source, engine))
        }
        Engine::IoUring => {
            let depth = u64::from(plan.workload.queue_depth);
            let buffers = (0..depth).map(|i| plan.buffer(number | i)).collect::<Result<_, _>>()?;
            let mut engine = Uring::new(plan.open(access)?, buffers, content())?;
            stream.report_mut().unregistered = !engine.is_registered();
            stream.wait_for_start();
            let outcome = engine.drive(&mut source, stream);
            Ok(hand_in(plan.shared, index, stream, outcome))
        }
        Engine::Mmap => {
            let file = plan.open(access)?;
            let engine = plan.mapping(&file, number, content())?;
            Ok(driven(plan.shared, index, stream, source, engine))
        }
        Engine::Dontcache => {
            let file = plan.open(access)?;
            dontcache::check(&file)?;
            let plain = Psync::new(file, plan.buffer(number)?, content());
            let engine = plain.with_flags(dontcache::DONTCACHE);
            Ok(driven(plan.shared, index, stream, source, engine))
        }
        Engine::Null => Ok(driven(plan.shared, index, stream, source, Null)),
        Engine::Sim => Err(Fault::new(Action::Resource, libc::ENOSYS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_machine::shared::phase;

    /// An engine's file; on close, it notes whether the report was already stored.
    struct Closing<'a>(&'a Shared, &'a mut bool);

    impl Perform for Closing<'_> {
        fn perform(&mut self, _: &Request) -> Result<(), Fault> {
            Ok(())
        }
    }

    impl Drop for Closing<'_> {
        fn drop(&mut self) {
            *self.1 = Report::load(self.0.report(0)).is_some();
        }
    }

    /// Guards against losing a finished run when a server that no longer answers blocks the close
    /// of a file.
    #[test]
    fn what_was_measured_is_handed_in_before_the_file_is_closed() {
        let shared = Shared::new(1, REPORT_WORDS).unwrap();
        shared.set_phase(phase::STOP);
        let (meter, workload) = (Meter::new(1), Workload::default());
        let mut stream = Stream::new(&shared, 0, Clock::new(), &meter, &workload, ());
        let mut was_there = false;
        let source = || unreachable!("the run is over");
        let closing = Closing(&shared, &mut was_there);
        assert_eq!(driven(&shared, 0, &mut stream, source, closing), DONE);
        assert!(was_there);
    }
}
