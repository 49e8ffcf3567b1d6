//! What a worker of `vxbench` does: open its files, prepare its streams, issue their requests,
//! report.

use super::files::Opened;
use crate::engine::buffer::{Buffer, HUGE, Stamp};
use crate::engine::content::Content;
use crate::engine::discovered::Discovered;
use crate::engine::dontcache;
use crate::engine::mmap::Mmap;
use crate::engine::psync::Psync;
use crate::engine::uring::Uring;
use crate::engine::{Action, Fault, Perform};
use crate::verify::read_back::read_back;
use crate::verify::{Ledger, NoteBook, Sealed};
use crate::worker::meter::{RunDelay, ThreadTime};
use crate::worker::report::{Cost, REPORT_WORDS, Report};
use crate::worker::rows::{Keep, Rows};
use crate::worker::run::{errno, report_failure, run_streams};
use ioscape_machine::cache;
use ioscape_machine::clock::{Clock, monotonic_ns};
use ioscape_machine::crew::{DONE, FAULTED};
use ioscape_machine::shared::{Shared, bump, phase};
use ioscape_machine::target::atomic_write_bytes;
use ioscape_schema::chance::mix;
use ioscape_schema::{Request, VxJob};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Words of one stream in the shared memory before its rows: its report, the beginning of its first
/// request and the end of its last, the time of its `fsync` plus one, or 0, and whether the kernel
/// told user from system time.
pub(crate) const STREAM_WORDS: usize = REPORT_WORDS + 4;

/// Everything that the workers of a run need to know.
pub(crate) struct Plan<'a> {
    /// Memory shared with the conductor.
    pub(crate) shared: &'a Shared,
    /// The files, one user each.
    pub(crate) files: &'a [Opened],
    /// For each file, whether direct I/O is possible.
    pub(crate) direct: &'a [bool],
    /// The job to carry out.
    pub(crate) job: &'a VxJob,
    /// The clock, calibrated by the conductor.
    pub(crate) clock: &'a Clock,
    /// What the blocks of each file must hold, and where findings are noted, if the run is
    /// verified.
    pub(crate) verify: Option<(&'a [Ledger], &'a NoteBook)>,
}

/// Whether the file system of `file` accepts requests that leave nothing in the cache.
pub(crate) fn takes_dontcache(file: &File) -> bool {
    dontcache::probe(file).is_ok()
}

/// The descriptors through which the streams of a process reach one file.
struct Ways {
    main: File,
    direct: Option<File>,
    dontcache: bool,
    atomic: bool,
}

fn fault(action: Action) -> impl Fn(io::Error) -> Fault {
    move |error| Fault::new(action, error.raw_os_error().unwrap_or(libc::EIO))
}

impl Ways {
    fn open(plan: &Plan<'_>, user: usize) -> Result<Self, Fault> {
        let (one, job) = (&plan.files[user], plan.job);
        let direct = plan.direct[user];
        let mut flags = 0;
        // The paper's treatment of direct requests that are not aligned (p. 19): each waits until
        // its data is on storage.
        let unaligned = job.direct && !job.iosize.is_multiple_of(u64::from(one.direct_align()));
        for (given, flag) in [
            (job.sync, libc::O_SYNC),
            (job.dsync || unaligned, libc::O_DSYNC),
            (job.append, libc::O_APPEND),
        ] {
            flags |= if given { flag } else { 0 };
        }
        let write = job.workload.writes();
        let again = |flags| one.again(flags, write).map_err(fault(Action::Open));
        let main = again(flags)?;
        let direct = direct.then(|| again(flags | libc::O_DIRECT)).transpose()?;
        let dontcache = job.noreuse && takes_dontcache(&one.file);
        for (given, advice) in [
            (job.random, rustix::fs::Advice::Random),
            (job.seq, rustix::fs::Advice::Sequential),
            (job.noreuse && !dontcache, rustix::fs::Advice::NoReuse),
        ] {
            if given {
                rustix::fs::fadvise(&main, 0, None, advice)
                    .map_err(|e| Fault::new(Action::Open, e.raw_os_error()))?;
            }
        }
        let takes =
            |file| atomic_write_bytes(file).is_some_and(|[a, b]| (a..=b).contains(&job.iosize));
        let atomic = job.atomic && direct.as_ref().is_some_and(takes);
        Ok(Self { main, direct, dontcache, atomic })
    }

    /// The same open files for one stream: threads share them, as those of a program do.
    fn share(&self) -> Result<Self, Fault> {
        let again = |file: &File| file.try_clone().map_err(fault(Action::Open));
        let direct = self.direct.as_ref().map(again).transpose()?;
        Ok(Self {
            main: again(&self.main)?,
            direct,
            dontcache: self.dontcache,
            atomic: self.atomic,
        })
    }
}

/// Runs `streams` in this worker process, as threads if there are several; returns its exit code.
pub(crate) fn carry_out<F, S>(plan: &Plan<'_>, streams: Range<u32>, make: &F) -> i32
where
    F: Fn(u32, u32) -> S + Sync,
    S: Iterator<Item = Request>,
{
    let threads = plan.job.nthreads.max(1);
    let users = (streams.start / threads) as usize..streams.end.div_ceil(threads) as usize;
    let opened = users.clone().map(|user| Ways::open(plan, user)).collect::<Result<Vec<_>, _>>();
    let ways = match opened {
        Ok(ways) => ways,
        Err(fault) => return report_failure(plan.shared, streams.start, fault),
    };
    let alone = streams.len() == 1;
    run_streams(plan.shared, streams, |index| {
        let way = &ways[(index / threads) as usize - users.start];
        run_stream(plan, index, alone, way, make)
    })
}

/// Sees that the writes of the run reach storage: pages lost on the way are an error. The files
/// have been open all the time.
pub(crate) fn write_back(plan: &Plan<'_>) -> i32 {
    for (one, user) in plan.files.iter().zip(0..) {
        if let Err(error) = rustix::fs::fdatasync(&one.file) {
            let index = user * plan.job.nthreads.max(1);
            let fault = Fault::new(Action::Sync, error.raw_os_error());
            return report_failure(plan.shared, index, fault);
        }
    }
    DONE
}

/// Drops the files from the file cache, reads all written blocks back, and checks them.
pub(crate) fn read_all_back(plan: &Plan<'_>) -> i32 {
    let Some((ledgers, notes)) = plan.verify else { return DONE };
    let evicted = |one: &Opened| {
        cache::evict(&one.file).map_err(|e| Fault::new(Action::Sync, errno(&e)))?;
        Ok(one.resident())
    };
    let check = |one: &Opened, ledger| {
        notes.at_end().cached(evicted(one)?);
        let goes_on = |_| plan.shared.phase() != phase::STOP;
        read_back(&one.file, ledger, notes.at_end(), goes_on)
    };
    for ((one, ledger), user) in plan.files.iter().zip(ledgers).zip(0..) {
        if let Err(fault) = check(one, ledger) {
            return report_failure(plan.shared, user * plan.job.nthreads.max(1), fault);
        }
    }
    DONE
}

/// Runs a stream; `alone` says whether it is the only one in its process.
fn run_stream<F, S>(plan: &Plan<'_>, index: u32, alone: bool, ways: &Ways, make: &F) -> i32
where
    F: Fn(u32, u32) -> S,
    S: Iterator<Item = Request>,
{
    let words = plan.shared.report(index as usize);
    let rows = words.get(STREAM_WORDS..).filter(|words| !words.is_empty()).map(Rows::new);
    let mut stream = Stream {
        plan,
        index,
        alone,
        report: Report::new(),
        delay: RunDelay::of_this_thread(),
        delayed_ns: None,
        began_ns: 0,
        ended_ns: 0,
        fsync_ns: None,
        split: false,
        rows,
    };
    let outcome = stream.run(ways, make);
    stream.report.fault = outcome.err();
    words[REPORT_WORDS].store(stream.began_ns, Ordering::Relaxed);
    words[REPORT_WORDS + 1].store(stream.ended_ns, Ordering::Relaxed);
    words[REPORT_WORDS + 2].store(stream.fsync_ns.map_or(0, |ns| ns + 1), Ordering::Relaxed);
    words[REPORT_WORDS + 3].store(u64::from(stream.split), Ordering::Relaxed);
    stream.report.store(&words[..REPORT_WORDS]);
    if stream.report.fault.is_some() { FAULTED } else { DONE }
}

/// One stream in its worker.
struct Stream<'a> {
    plan: &'a Plan<'a>,
    index: u32,
    /// Whether it is the only stream in its process.
    alone: bool,
    report: Report,
    delay: RunDelay,
    /// Its run delay at the beginning.
    delayed_ns: Option<u64>,
    /// Its beginning and end on the kernel's monotonic clock: the processor's counter may go on
    /// while the machine is suspended.
    began_ns: u64,
    ended_ns: u64,
    fsync_ns: Option<u64>,
    split: bool,
    rows: Option<Rows<'a>>,
}

impl Stream<'_> {
    fn run<F, S>(&mut self, ways: &Ways, make: &F) -> Result<(), Fault>
    where
        F: Fn(u32, u32) -> S,
        S: Iterator<Item = Request>,
    {
        let Some((ledgers, notes)) = self.plan.verify else {
            let user = (self.index / self.plan.job.nthreads.max(1)) as usize;
            let compresses = self.plan.files[user].file_system.compresses();
            return self.run_with(ways, make, || Stamp::against(compresses));
        };
        let ledger = &ledgers[(self.index / self.plan.job.nthreads.max(1)) as usize];
        let notes = notes.of(self.index as usize);
        self.run_with(ways, make, || Sealed::new(ledger, notes))
    }

    /// Carries out the stream's requests, whose bytes come from `content`.
    fn run_with<F, S, C: Content>(
        &mut self,
        ways: &Ways,
        make: &F,
        content: impl Fn() -> C,
    ) -> Result<(), Fault>
    where
        F: Fn(u32, u32) -> S,
        S: Iterator<Item = Request>,
    {
        let (job, threads) = (self.plan.job, self.plan.job.nthreads.max(1));
        let ways = ways.share()?;
        if job.reserve_only {
            self.wait();
            return Ok(());
        }
        let sync = job.fsync.then(|| ways.main.try_clone().map_err(fault(Action::Open)));
        let sync = sync.transpose()?;
        let (user, thread) = (self.index / threads, self.index % threads);
        let repeat = || (0..job.nrep.max(1)).flat_map(|_| make(user, thread));
        if job.workload.is_mapped() {
            let mut engine = self.mapped(&ways.main, content())?;
            return self.drive(&mut engine, repeat(), sync.as_ref());
        }
        if let Some(depth) = job.queue_depth {
            return self.deep(&ways, depth, repeat(), content, sync.as_ref());
        }
        let main = self.psync(ways.main, content())?;
        let main = if ways.dontcache { main.with_flags(dontcache::DONTCACHE) } else { main };
        match ways.direct {
            // Whole blocks are direct; the rest of a file after them has no size that direct I/O
            // accepts.
            Some(direct) => {
                let direct = self.psync(direct, content())?;
                let direct = if ways.atomic { direct.with_atomic_writes() } else { direct };
                let mut engine = Discovered::new(main, direct, job.iosize.saturating_sub(1));
                self.drive(&mut engine, repeat(), sync.as_ref())
            }
            _ => {
                let mut engine = main;
                self.drive(&mut engine, repeat(), sync.as_ref())
            }
        }
    }

    /// Carries out the requests with several in flight. The rest of a file, which direct I/O does
    /// not accept, follows through the file cache.
    fn deep<C: Content>(
        &mut self,
        ways: &Ways,
        depth: u32,
        mut requests: impl Iterator<Item = Request>,
        content: impl Fn() -> C,
        sync: Option<&File>,
    ) -> Result<(), Fault> {
        let again = |file: &File| file.try_clone().map_err(fault(Action::Open));
        let buffers = (0..depth).map(|_| self.buffer()).collect::<Result<_, _>>()?;
        let file = ways.direct.as_ref().unwrap_or(&ways.main);
        let mut ring = Uring::new(again(file)?, buffers, content())?;
        self.report.unregistered = !ring.is_registered();
        let whole = if ways.direct.is_some() { self.plan.job.iosize } else { 0 };
        let mut rest = Vec::new();
        self.wait();
        // With several streams in one process, the kernel threads of each ring cannot be told
        // apart, and are left out.
        let before = if self.alone { ThreadTime::of_process() } else { ThreadTime::now() };
        let shared = self.plan.shared;
        let mut source = || loop {
            let request = requests.next().filter(|_| shared.phase() != phase::STOP)?;
            if u64::from(request.len) >= whole {
                return Some(request);
            }
            rest.push(request);
        };
        let clock = self.plan.clock;
        ring.all(&mut source, clock, &mut |request, issued, completed| {
            self.record(request, issued, completed);
        })?;
        let mut engine = self.psync(again(&ways.main)?, content())?;
        rest.into_iter().try_for_each(|request| self.one(&mut engine, &request))?;
        self.conclude(before, sync)
    }

    fn psync<C: Content>(&self, file: File, content: C) -> Result<Psync<C>, Fault> {
        Ok(Psync::new(file, self.buffer()?, content))
    }

    fn mapped<C: Content>(&self, file: &File, content: C) -> Result<Mmap<C>, Fault> {
        let (job, user) = (self.plan.job, (self.index / self.plan.job.nthreads.max(1)) as usize);
        let len = self.plan.files[user].extent.range_bytes;
        let engine = Mmap::new(file, len, job.workload.writes(), self.buffer()?, content)?;
        if job.random {
            engine.advise(rustix::mm::Advice::Random);
        }
        if job.seq {
            engine.advise(rustix::mm::Advice::Sequential);
        }
        Ok(engine)
    }

    fn buffer(&self) -> Result<Buffer, Fault> {
        let job = self.plan.job;
        let user = (self.index / job.nthreads.max(1)) as usize;
        let (mut align, mut len) = (1, usize::try_from(job.iosize).unwrap_or(usize::MAX));
        if job.is_direct() {
            align = self.plan.files[user].direct_align() as usize;
        }
        if job.huge_buffers {
            (align, len) = (HUGE.max(align), len.next_multiple_of(HUGE));
        }
        let seed = mix(job.rand_seed) ^ u64::from(self.index);
        let buffer = Buffer::new(len, align, seed);
        let buffer = buffer.ok_or(Fault::new(Action::Resource, libc::ENOMEM))?;
        if job.lock_buffers {
            buffer.lock().map_err(|e| Fault::new(Action::Lock, e.raw_os_error()))?;
        }
        Ok(buffer)
    }

    /// Reports that the stream is ready, and waits for the start.
    fn wait(&mut self) {
        self.plan.shared.live()[self.index as usize].ready.store(1, Ordering::Release);
        self.plan.shared.wait_for_start();
        self.delayed_ns = self.delay.ns();
        self.began_ns = monotonic_ns();
        self.ended_ns = self.began_ns;
    }

    /// Issues all requests, then writes back what was requested; the figures go to the report.
    fn drive<E: Perform>(
        &mut self,
        engine: &mut E,
        requests: impl Iterator<Item = Request>,
        sync: Option<&File>,
    ) -> Result<(), Fault> {
        self.wait();
        let before = ThreadTime::now();
        for request in requests {
            if self.plan.shared.phase() == phase::STOP {
                break;
            }
            self.one(engine, &request)?;
        }
        self.conclude(before, sync)
    }

    /// Carries out one request.
    #[inline]
    fn one<E: Perform>(&mut self, engine: &mut E, request: &Request) -> Result<(), Fault> {
        engine.prepare(request);
        let issued = E::now(self.plan.clock);
        engine.perform(request)?;
        let completed = E::now(self.plan.clock);
        self.record(request, issued, completed);
        engine.conclude(request);
        Ok(())
    }

    #[inline]
    fn record(&mut self, request: &Request, issued: u64, completed: u64) {
        let (op, bytes) = (request.op as usize, u64::from(request.len));
        let ns = self.plan.clock.nanos_between(issued, completed);
        self.report.counters[op].add(bytes, ns);
        bump(&self.plan.shared.live()[self.index as usize].bytes[op], bytes);
        if let Some(rows) = &mut self.rows {
            rows.keep(request, issued, completed);
        }
    }

    /// Writes back what was requested, and completes the report for the work begun at `before`.
    fn conclude(&mut self, before: ThreadTime, sync: Option<&File>) -> Result<(), Fault> {
        let clock = self.plan.clock;
        if let Some(file) = sync {
            let begun = clock.raw();
            rustix::fs::fsync(file).map_err(|e| Fault::new(Action::Sync, e.raw_os_error()))?;
            self.fsync_ns = Some(clock.nanos_between(begun, clock.raw()));
        }
        self.ended_ns = monotonic_ns();
        self.report.waited(self.delay.since(self.delayed_ns));
        let now = before.again();
        let [user_ns, system_ns] = now.since(before);
        self.split = now.is_split_since(before);
        self.report.cost = Cost { user_ns, system_ns, ..Cost::default() };
        Ok(())
    }
}
