//! A session on one target: it prepares the set, runs workloads on it and says what came out and how sure that is.

mod conduct;
pub(crate) mod failure;
mod prepare;
pub(crate) mod summary;
mod warm_up;

use ioscape_machine::cgroup::MemoryGroup;
use ioscape_machine::clock::Clock;
use ioscape_machine::environment;
use ioscape_machine::error::Error;
use ioscape_machine::memory::memory;
use ioscape_machine::target::Target;
use ioscape_schema::{Access, Engine, Environment, Measurement, Op, Request, StopRule, Workload};
use std::fmt;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What holds for all runs of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionOptions {
    /// Memory that the workers and the file cache of their I/O may use together, in bytes; absent: no limit.
    pub memory_limit: Option<u64>,
    /// What the bytes of the set are made from.
    pub seed: u64,
}

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The set is written for the first time.
    Layout,
    /// Dirty pages are written to storage.
    Flush,
    /// The set is read once, so that what fits is in the file cache.
    Touch,
    /// The workload runs until its rate is steady.
    WarmUp,
    /// The workload runs and counts.
    Measure,
}

/// How far a part of a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Which part.
    pub phase: Phase,
    /// Bytes moved so far.
    pub bytes_done: u64,
    /// Bytes to move; 0 where the end is not known in bytes.
    pub bytes_total: u64,
}

/// How long a run may take, how sure it should be, and who is told.
#[derive(Clone)]
pub struct RunOptions {
    /// The measured part lasts at least so long, in seconds.
    pub min_s: f64,
    /// And at most so long.
    pub cap_s: f64,
    /// The warm-up lasts at least so long, in seconds.
    pub warm_min_s: f64,
    /// And at most so long.
    pub warm_cap_s: f64,
    /// A warm-up whose rate varies so much that its mean is not known to a tenth lasts at least so long, in seconds:
    /// what looks steady within the noise need not be.
    pub warm_noisy_s: f64,
    /// Reading the set into the file cache takes at most so long, in seconds.
    pub touch_cap_s: f64,
    /// The measured part ends when half the 95 % confidence interval over the throughput is below this.
    pub confidence: f64,
    /// Set to stop soon: the run ends with [`Error::Interrupted`].
    pub interrupt: Arc<AtomicBool>,
    /// Called a few times a second.
    pub on_progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            min_s: 0.3,
            cap_s: 5.0,
            warm_min_s: 0.2,
            warm_cap_s: 10.0,
            warm_noisy_s: 1.0,
            touch_cap_s: 60.0,
            confidence: 0.03,
            interrupt: Arc::default(),
            on_progress: None,
        }
    }
}

impl fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("min_s", &self.min_s)
            .field("cap_s", &self.cap_s)
            .field("confidence", &self.confidence)
            .finish_non_exhaustive()
    }
}

impl RunOptions {
    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    fn stop_rule(&self) -> StopRule {
        StopRule { min_s: self.min_s, cap_s: self.cap_s, confidence: self.confidence }
    }

    fn tell(&self, phase: Phase, bytes_done: u64, bytes_total: u64) {
        if let Some(told) = &self.on_progress {
            told(Progress { phase, bytes_done, bytes_total });
        }
    }
}

/// One target, its memory limit, and what was done to it so far.
pub struct Session {
    target: Target,
    options: SessionOptions,
    group: Option<MemoryGroup>,
    clock: Clock,
    /// The target, open for questions about its pages.
    file: File,
    /// Bytes from the beginning that hold data of ours.
    laid_out: u64,
    /// Bytes from the beginning that were read since the cache was last emptied by us.
    touched: u64,
    /// The set of the run before, in bytes.
    last_set: u64,
    /// Whether something may have been written since the last flush.
    dirty: bool,
    calibration: Option<(ioscape_schema::environment::Clock, f64)>,
}

impl Session {
    /// Begins a session; makes the control group that holds the memory limit, if there is one.
    ///
    /// # Errors
    /// No control group can be made, or the target cannot be opened.
    pub fn new(target: Target, options: SessionOptions) -> Result<Self, Error> {
        let group = options.memory_limit.map(MemoryGroup::create).transpose()?;
        let file = target.open_file(Access::Buffered, false)?;
        let clock = Clock::new();
        let (laid_out, touched, last_set, dirty, calibration) = (0, 0, 0, false, None);
        Ok(Self {
            target,
            options,
            group,
            clock,
            file,
            laid_out,
            touched,
            last_set,
            dirty,
            calibration,
        })
    }

    /// What the I/O goes to.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The largest set that fits, in bytes.
    pub fn max_unique_bytes(&self) -> u64 {
        self.target.capacity_bytes()
    }

    /// The clock's precision and cost, and what the harness itself needs per request in nanoseconds of processor time,
    /// from a run of the null engine; done once, in about a fifth of a second.
    ///
    /// # Errors
    /// No worker could be made, or it died.
    pub fn calibrate(&mut self) -> Result<(ioscape_schema::environment::Clock, f64), Error> {
        if let Some(known) = self.calibration {
            return Ok(known);
        }
        let overhead = self.null_run(|process| typical_stream(process.into()))?;
        let calibration = (self.clock.measure(), overhead);
        self.calibration = Some(calibration);
        Ok(calibration)
    }

    /// The same with the streams that will really be run, whose generator may cost more or less than a typical one.
    ///
    /// # Errors
    /// As [`Session::calibrate`].
    pub fn calibrate_with<F, S>(
        &mut self,
        streams: F,
    ) -> Result<(ioscape_schema::environment::Clock, f64), Error>
    where
        F: Fn(u32) -> S + Sync,
        S: FnMut() -> Request + Send,
    {
        let overhead = self.null_run(streams)?;
        let calibration = (self.clock.measure(), overhead);
        self.calibration = Some(calibration);
        Ok(calibration)
    }

    fn null_run<F, S>(&self, streams: F) -> Result<f64, Error>
    where
        F: Fn(u32) -> S + Sync,
        S: FnMut() -> Request + Send,
    {
        let workload = Workload { engine: Engine::Null, ..Workload::default() };
        let options = RunOptions {
            min_s: 0.1,
            cap_s: 0.15,
            warm_min_s: 0.05,
            warm_cap_s: 0.05,
            ..RunOptions::default()
        };
        let trial = self.conduct(&workload, 1, &options, &streams)?;
        let cost = trial.cost();
        Ok((cost.user_ns + cost.system_ns) as f64 / trial.ios().max(1) as f64)
    }

    /// The machine, the clock and the harness's own cost.
    ///
    /// # Errors
    /// As [`Session::calibrate`].
    pub fn environment(&mut self) -> Result<Environment, Error> {
        let (clock, harness_overhead_ns_per_io) = self.calibrate()?;
        let captured = environment::capture(&self.target, self.options.memory_limit);
        Ok(Environment { clock, harness_overhead_ns_per_io, ..captured })
    }

    /// Runs `workload` and measures it: `streams` makes the request source of each process, `buffer_bytes` is the size of
    /// the largest request any of them makes.
    ///
    /// The set is laid out, flushed and touched as needed; then the workload warms up until its rate is steady and is
    /// measured until the confidence interval of its throughput is narrow enough.
    ///
    /// # Errors
    /// The workload is impossible here, the set cannot be laid out, a request fails, a worker dies, or the user
    /// interrupts.
    pub fn run<F, S>(
        &mut self,
        workload: &Workload,
        buffer_bytes: usize,
        options: &RunOptions,
        streams: F,
    ) -> Result<Measurement, Error>
    where
        F: Fn(u32) -> S + Sync,
        S: FnMut() -> Request + Send,
    {
        let begin = Instant::now();
        self.check(workload, buffer_bytes)?;
        let (_, overhead_ns) = self.calibrate()?;
        let preparation = self.prepare(workload, options)?;
        let trial = self.conduct(workload, buffer_bytes, options, &streams)?;
        let mut measurement = self.summarize(workload, options, &preparation, &trial, overhead_ns);
        measurement.cost_s = begin.elapsed().as_secs_f64();
        Ok(measurement)
    }

    /// Refuses what cannot be run here before anything is touched.
    fn check(&self, workload: &Workload, buffer_bytes: usize) -> Result<(), Error> {
        let unsupported =
            |what: &str, why: String| Err(Error::Unsupported { what: what.into(), why });
        if let Err(error) = workload.validate() {
            return unsupported("this workload", error.to_string());
        }
        if workload.engine == Engine::Sim {
            return unsupported(
                "the sim engine",
                "it simulates; choose sim:SYSTEM as target".into(),
            );
        }
        let needed = (buffer_bytes as u64)
            .saturating_mul(u64::from(workload.process_num) * u64::from(workload.queue_depth))
            .saturating_mul(1 + u64::from(workload.direct_above_bytes.is_some()));
        let memory = memory().available;
        let room = self.options.memory_limit.unwrap_or(memory).min(memory) / 2;
        if workload.engine != Engine::Null && needed > room.max(1 << 20) {
            let why = format!(
                "its buffers need {} MiB, more than half of the memory at hand ({} MiB): fewer processes, a smaller \
                 queue or smaller requests fit",
                needed >> 20,
                (2 * room) >> 20
            );
            return unsupported("this workload", why);
        }
        let align = u64::from(self.target.direct_align().unwrap_or(1).max(1));
        if workload.may_be_direct() && !workload.align().is_multiple_of(align) {
            let why = format!(
                "requests are multiples of {} bytes, but direct I/O on {} needs multiples of {align}: give larger requests",
                workload.align(),
                self.target.path().display()
            );
            return unsupported("direct access", why);
        }
        if workload.engine != Engine::Null {
            let access = if workload.may_be_direct() { Access::Direct } else { workload.access };
            self.target.open_file(access, workload.read_frac < 1.0)?;
        }
        Ok(())
    }
}

/// A source about as costly as a workload's: random sizes, places and directions.
fn typical_stream(seed: u64) -> impl FnMut() -> Request + Send {
    let sizes: Vec<u32> = (1..=64).map(|i| i * 4096).collect();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut end = 0;
    move || {
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let (coins, place) = (draw(), draw());
        let len = sizes[(coins & 63) as usize];
        let op = if coins & 64 == 0 { Op::Read } else { Op::Write };
        let jump = ((u128::from(place) * (1 << 14)) >> 64) as u64 * 4096;
        let offset = if coins & 128 == 0 { jump } else { end };
        end = (offset + u64::from(len)) & ((64 << 20) - 1);
        Request { op, offset, len }
    }
}
