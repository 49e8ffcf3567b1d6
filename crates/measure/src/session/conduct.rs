//! The conductor: it starts the workers, takes them through the phases, watches them, and collects
//! their reports.

use super::fill::Filled;
use super::options::{Course, Mark, Phase, RunOptions};
use super::sampler::Sampler;
use super::state::Session;
use super::warm_up::WarmUp;
use super::witness::Unsettled;
use crate::conductor::failure;
use crate::conductor::stops::{Stopped, Stops};
use crate::conductor::watched::{READY, Watched};
use crate::together;
use crate::worker::report::{Cost, REPORT_WORDS, Report};
use crate::worker::rows::{self, KeptRows, ROW_WORDS};
use crate::worker::run::{Plan, carry_out};
use ioscape_machine::crew::{Crew, DONE};
use ioscape_machine::error::{Death, Error};
use ioscape_machine::load::{Contending, Load};
use ioscape_machine::shared::{Shared, phase};
use ioscape_machine::usage::{processor_ns, usage};
use ioscape_schema::statistics;
use ioscape_schema::tally::Looks;
use ioscape_schema::{Request, Stop, Tally, Witness, Workers, Workload};
use std::time::{Duration, Instant, SystemTime};

/// The least time that a worker gets to finish its requests in flight, in seconds.
const GRACE_S: f64 = 10.0;

/// Additional time for a request that a slow device or server has not answered yet.
const LATEST: Duration = Duration::from_secs(300);

/// How long before an agreed time the machine's counters are read, which takes a moment.
const NEAR: Duration = Duration::from_millis(10);

/// How long interrupted workers may take to finish their requests in flight, so that the run can be
/// measured up to the interruption.
const CUT_OFF: Duration = Duration::from_secs(2);

/// The least number of slices in which the course of a run is recorded.
const COURSE_SLICES: f64 = 500.0;

/// Workers touch the memory that they hold before they are ready. They are assumed to do so at this
/// rate or faster, in bytes per second.
const TOUCHED_PER_S: f64 = 0.5e9;

/// How much longer the measured part waits for the first answer of storage.
const STALL: Duration = Duration::from_secs(30);

/// How often progress is reported.
const TELL: Duration = Duration::from_millis(200);

/// Everything that a run yields before it is summed up.
pub(super) struct Trial {
    /// The reports, one per stream.
    pub(super) reports: Vec<Report>,
    /// Bytes per second of every slice of the measured part.
    pub(super) rates: Vec<f64>,
    /// Why the run ended.
    pub(super) stop: Stop,
    /// Length of the warm-up in seconds.
    pub(super) warm_up_s: f64,
    /// What was still changing when the warm-up ended; absent if it ended steady.
    pub(super) unsettled: Option<Unsettled>,
    /// Whether the warm-up was much slower at its beginning than at its end.
    pub(super) began_slowly: bool,
    /// What other programs did during the measured part.
    pub(super) load: Load,
    /// Processor seconds that the kernel's own threads used during the measured part and that
    /// workers may have waited for; absent where these threads cannot be observed.
    pub(super) kernel_s: Option<f64>,
    /// What the kernel counted during the measured part.
    pub(super) counted: Witness,
    /// Bytes that the run's control group held while the workers were alive: their buffers leave
    /// less room for the file cache. Absent without a control group.
    pub(super) group_usage: Option<u64>,
    /// What was read into the file cache before the warm-up.
    pub(super) filled: Filled,
    /// Share of the set in the file cache before the measured part.
    pub(super) resident_before: Option<f64>,
    /// The measured requests, if requested.
    pub(super) rows: KeptRows,
    /// Bytes moved by the end of each slice, if requested.
    pub(super) course: Option<Course>,
    /// Stops during the measured part.
    pub(super) stopped: Stopped,
    /// How long a worker that had already reported was waited for in vain, in seconds; absent if
    /// all of them ended.
    pub(super) unclosed_s: Option<f64>,
}

impl Trial {
    /// What the measured part cost all workers together.
    pub(super) fn cost(&self) -> Cost {
        let counted = self.reports.iter().map(|r| r.cost).filter(|c| *c != Cost::default());
        let mut sum = Cost { storage_counted: true, ..Cost::default() };
        for cost in counted {
            sum.user_ns += cost.user_ns;
            sum.system_ns += cost.system_ns;
            sum.storage_read_bytes += cost.storage_read_bytes;
            sum.storage_counted &= cost.storage_counted;
        }
        sum
    }

    /// The counts of all streams together.
    pub(super) fn tally(&self) -> Tally {
        let mut tally = Tally::new(self.rates.clone(), self.stop);
        for report in &self.reports {
            tally.add_stream(&report.counters, report.elapsed_ns);
            tally.add_thinking(report.thought_ns);
        }
        tally
    }

    /// Nanoseconds that a stream thought per request, on average. That is longer than asked where it
    /// waited for a processor, and in phases differs from the workload's own think time.
    pub(super) fn thinking_ns(&self) -> f64 {
        let thought_ns: u64 = self.reports.iter().map(|r| r.thought_ns).sum();
        thought_ns as f64 / self.ios().max(1) as f64
    }

    /// Completed requests of all streams.
    pub(super) fn ios(&self) -> u64 {
        self.reports.iter().flat_map(|r| &r.counters).map(|c| c.ios).sum()
    }
}

/// A run in progress.
struct Run<'a> {
    session: &'a Session,
    options: &'a RunOptions,
    shared: &'a Shared,
    watched: Watched<'a>,
    slice: Duration,
    told: Instant,
    stops: Stops,
    /// Processor time of the kernel's own threads in the measured part.
    kernel: Contending,
    course: Vec<Mark>,
}

impl Session {
    /// Runs `workload` on a set that is ready.
    pub(super) fn conduct<F, S>(
        &self,
        workload: &Workload,
        buffer_bytes: usize,
        options: &RunOptions,
        streams: &F,
    ) -> Result<Trial, Error>
    where
        F: Fn(u32) -> S + Sync,
        S: FnMut() -> Request + Send,
    {
        let path = self.target.path();
        let streams_num = workload.process_num as usize;
        let words = REPORT_WORDS + ROW_WORDS * self.rows_of_a_stream(options, streams_num);
        let shared = Shared::new(streams_num, words)
            .map_err(|e| Error::io("get shared memory for", path, e))?;
        let plan = Plan {
            shared: &shared,
            target: &self.target,
            workload,
            buffer_bytes,
            clock: &self.clock,
            group: self.group.as_ref(),
            verify: self.ledger.as_ref().zip(self.notes.as_ref()),
        };
        let forked = match workload.workers {
            Workers::Processes => {
                Crew::fork(workload.process_num, |p| carry_out(&plan, p..p + 1, streams))
            }
            Workers::Threads => {
                Crew::fork(1, |_| carry_out(&plan, 0..workload.process_num, streams))
            }
        };
        let crew = forked.map_err(|e| Error::io("fork workers for", path, e))?;
        let slice = Duration::from_secs_f64(slice_s(options));
        let told = Instant::now();
        let watched = Watched {
            crew,
            shared: &shared,
            interrupt: &options.interrupt,
            grace: if options.partial { CUT_OFF } else { Duration::ZERO },
            path_of: &|_| path,
        };
        let run = Run {
            session: self,
            options,
            shared: &shared,
            watched,
            slice,
            told,
            stops: Stops::new(),
            kernel: Contending::with((options.beside + 1) * u64::from(workload.process_num)),
            course: Vec::new(),
        };
        run.take_through(workload, buffer_bytes)
    }

    /// The number of rows that each of `streams` may keep.
    fn rows_of_a_stream(&self, options: &RunOptions, streams: usize) -> usize {
        rows::that_fit(options.rows_most, self.options.memory_limit) / streams.max(1)
    }
}

/// Length of a slice in seconds. A run of minimum length has enough slices for a confidence
/// interval.
fn slice_s(options: &RunOptions) -> f64 {
    if options.course {
        return (options.cap_s / COURSE_SLICES).clamp(0.004, 0.05);
    }
    (options.min_s / 15.0).min(options.warm_min_s / 10.0).clamp(0.004, 0.05)
}

/// The longest time that the workers of `workload` may take to get ready; longer if they touch much
/// memory first.
fn until_ready(workload: &Workload) -> Duration {
    let held_bytes = workload.memory_bytes.unwrap_or(0);
    READY + Duration::from_secs_f64(held_bytes as f64 / TOUCHED_PER_S)
}

/// The reports, at least one of which must have a measured part. None has where every stream was
/// stuck in one request, or got no processor, all the time.
fn of_any(reports: Vec<Report>) -> Result<Vec<Report>, Error> {
    match reports.iter().any(|report| report.started) {
        true => Ok(reports),
        false => Err(Error::Worker { process: 0, death: Death::Hung }),
    }
}

impl Run<'_> {
    fn take_through(mut self, workload: &Workload, buffer_bytes: usize) -> Result<Trial, Error> {
        self.watched.await_all(Shared::all_ready, until_ready(workload))?;
        let filled = self.session.fill(workload, self.options)?;
        let mut warm_up = WarmUp::new(workload, self.session);
        let (mut warm_up_s, mut unsettled) = (0.0, None);
        // Phases run only once, and are measured from their first request on.
        if workload.phases.is_empty() {
            self.shared.set_phase(phase::WARM_UP);
            (warm_up_s, unsettled) = self.warm_up(&mut warm_up)?;
        }
        let resident_before = self.session.resident_of(workload);
        let agreed = self.agreed()?;
        let before = self.session.sources.snapshot();
        let [own_before, _] = processor_ns(&usage(libc::RUSAGE_SELF));
        self.begin(agreed);
        self.stops = Stops::new();
        let began = Instant::now();
        self.await_begin()?;
        let (stop, rates) = self.measure(workload)?;
        if let Some(others) = &self.options.together {
            others.slices(&rates);
        }
        let stopped = self.stops.all();
        let elapsed_s = began.elapsed().as_secs_f64();
        let after = self.session.sources.snapshot();
        let group_usage = self.session.group_usage();
        let in_flight =
            u64::from(workload.process_num) * u64::from(workload.queue_depth) * buffer_bytes as u64;
        let (reports, unclosed_s) = self.finish(in_flight as f64, statistics::mean(&rates))?;
        let words = |i: usize| self.shared.report(i).get(REPORT_WORDS..).unwrap_or_default();
        let streams = reports.iter().enumerate().map(|(i, report)| (report, words(i)));
        let rows = match self.options.rows_most {
            0 => KeptRows::default(),
            _ => rows::collect(streams, rows::flags(workload), &self.session.clock),
        };
        let [own_after, _] = processor_ns(&usage(libc::RUSAGE_SELF));
        let workers_ns: u64 = reports.iter().map(|r| r.cost.user_ns).sum();
        let own_s = (workers_ns + own_after.saturating_sub(own_before)) as f64 / 1e9;
        let load = after.load.since(&before.load, own_s, elapsed_s);
        let run_delay_ns: u64 = reports.iter().map(|r| r.run_delay_ns).sum();
        let is_counted = reports.iter().all(|r| r.delay_counted);
        let counted = Witness {
            run_delay_s: is_counted.then_some(run_delay_ns as f64 / 1e9),
            major_faults: Some(reports.iter().map(|r| r.cost.major_faults).sum()),
            ..after.since(&before)
        };
        Ok(Trial {
            reports,
            rates,
            stop,
            warm_up_s,
            unsettled,
            began_slowly: warm_up.began_slowly(),
            load,
            kernel_s: self.kernel.seconds,
            counted,
            group_usage,
            filled,
            resident_before,
            rows,
            course: self.options.course.then_some(Course { began, marks: self.course }),
            stopped,
            unclosed_s,
        })
    }

    /// Waits for one slice.
    fn pass(&mut self, name: Phase) -> Result<(), Error> {
        let began = Instant::now();
        std::thread::sleep(self.slice);
        self.stops.slept(began, self.slice);
        self.watched.look_after_all()?;
        self.stops.look(&self.watched.crew);
        if self.told.elapsed() >= TELL {
            self.told = Instant::now();
            let [read, written] = self.shared.moved();
            self.options.tell(name, read + written, 0);
        }
        Ok(())
    }

    /// Runs until the rate and the caches are steady or time is up. Returns how long that took, and
    /// what was still changing.
    fn warm_up(&mut self, warm_up: &mut WarmUp<'_>) -> Result<(f64, Option<Unsettled>), Error> {
        let mut sampler = Sampler::new(self.shared);
        if self.options.course {
            return Ok((0.0, None));
        }
        loop {
            self.pass(Phase::WarmUp)?;
            warm_up.add(sampler.rate(), self.shared.moved());
            let elapsed_s = sampler.elapsed_s();
            let least_s = match warm_up.is_noisy() {
                true => self.options.warm_noisy_s.max(self.options.warm_min_s),
                false => self.options.warm_min_s,
            };
            let unsettled = warm_up.unsettled();
            if elapsed_s >= least_s && unsettled.is_none() {
                return Ok((elapsed_s, None));
            }
            if elapsed_s >= self.options.warm_cap_s.max(self.options.warm_min_s) {
                return Ok((elapsed_s, unsettled));
            }
        }
    }

    /// Warms up until the agreed starting time is near, and returns that time; `None` if no other
    /// machine takes part.
    fn agreed(&mut self) -> Result<Option<Instant>, Error> {
        let Some(others) = self.options.together.clone() else {
            self.kernel.begin();
            return Ok(None);
        };
        let at = loop {
            match others.begins() {
                Some(begins) => break together::moment(begins),
                None => self.pass(Phase::WarmUp)?,
            }
        };
        self.kernel.begin();
        while together::left(at) >= self.slice + NEAR {
            self.pass(Phase::WarmUp)?;
        }
        std::thread::sleep(together::left(at).saturating_sub(NEAR));
        Ok(Some(at))
    }

    /// Begins the measured part: at once, or at the agreed time.
    fn begin(&self, agreed: Option<Instant>) {
        if let Some(at) = agreed {
            together::wait_until(at);
        }
        self.shared.set_phase(phase::MEASURE);
        if let Some(others) = &self.options.together {
            others.began(SystemTime::now());
        }
    }

    /// Waits until the measured part of every stream has begun, at most as long as that part may
    /// take; if none has, since storage stalls, [`STALL`] longer for the first.
    fn await_begin(&mut self) -> Result<(), Error> {
        let is_late = |begun: &Result<(), Error>| {
            matches!(begun, Err(Error::Worker { death: Death::Hung | Death::Stopped, .. }))
        };
        let patience = Duration::from_secs_f64(self.options.cap_s.clamp(1.0, 1e6));
        let mut begun = self.watched.await_all(Shared::all_started, patience);
        if is_late(&begun) && !self.shared.any_started() {
            begun = self.watched.await_all(Shared::any_started, STALL);
        }
        if is_late(&begun) { Ok(()) } else { begun }
    }

    /// Runs until all phases are over, the confidence interval is narrow enough (without phases),
    /// or time is up. The mean request size of `workload` tells how many requests moved the bytes.
    fn measure(&mut self, workload: &Workload) -> Result<(Stop, Vec<f64>), Error> {
        let pass_bytes = workload.pass_bytes();
        let mut sampler = Sampler::new(self.shared);
        let mut rates = Vec::new();
        let mut looks = Looks::new(self.options.stop_rule());
        loop {
            match self.pass(Phase::Measure) {
                Err(Error::Interrupted) if self.options.partial && !rates.is_empty() => {
                    return Ok((Stop::Interrupted, rates));
                }
                passed => passed?,
            }
            let is_over =
                pass_bytes.is_some_and(|pass| self.shared.moved().iter().sum::<u64>() >= pass);
            // At the end of the phases, processes rest until all have finished. The rate of an idle
            // slice counts only if there is no other.
            if !is_over || rates.is_empty() {
                rates.push(sampler.rate());
            }
            if is_over {
                return Ok((Stop::PhasesOver, rates));
            }
            if self.options.course {
                self.course.push(sampler.mark());
            }
            let ios = sampler.mark().bytes as f64 / workload.size_mean as f64;
            let elapsed_s = sampler.elapsed_s();
            // However narrow the interval is, later phases have other rates, so that only time cuts
            // them short.
            let stop = match pass_bytes {
                Some(_) => looks.is_capped(elapsed_s).then_some(Stop::TimeCap),
                None => looks.look(&rates, ios, elapsed_s),
            };
            if let Some(stop) = stop {
                return Ok((stop, rates));
            }
        }
    }

    /// Waits for workers that were told to stop; returns whether all did. After `grace`, only those
    /// get more time that wait for a device or server and are neither stopped nor held.
    fn drained(&mut self, grace: Duration) -> bool {
        let (options, begun) = (self.options, Instant::now());
        let crew = &mut self.watched.crew;
        while !crew.wait(TELL, || options.is_interrupted()) {
            let held = crew.is_held();
            let late = begun.elapsed() > grace;
            let given_up =
                held || crew.first_stopped().is_some() || begun.elapsed() > grace + LATEST;
            if options.is_interrupted() || (late && given_up) {
                return false;
            }
        }
        true
    }

    /// Tells the workers to stop, collects their reports, and kills those that do not stop. If all
    /// have reported, only the close of their file can still block; the time spent waiting for that
    /// is returned too.
    fn finish(
        &mut self,
        in_flight_bytes: f64,
        rate: f64,
    ) -> Result<(Vec<Report>, Option<f64>), Error> {
        self.shared.set_phase(phase::STOP);
        // Not earlier: on a single processor, reading these counters would keep the workers
        // waiting.
        self.kernel.end();
        let draining_s = if rate > 0.0 { 5.0 * in_flight_bytes / rate } else { 0.0 };
        let grace = Duration::from_secs_f64((GRACE_S + draining_s).min(300.0));
        let (options, begun) = (self.options, Instant::now());
        let is_drained = self.drained(grace);
        let load = |i| {
            let missing = Error::Worker { process: i as u32, death: Death::Exit(DONE) };
            Report::load(self.shared.report(i)).ok_or(missing)
        };
        let all = (0..self.shared.streams()).map(load);
        let reports = all.collect::<Result<Vec<Report>, Error>>().and_then(of_any);
        let crew = &mut self.watched.crew;
        let silent = (!is_drained).then(|| crew.first_silent());
        let waited_s = silent.map(|_| begun.elapsed().as_secs_f64());
        if silent.is_some() {
            crew.kill();
        }
        let target = &self.session.target;
        match (reports, silent, crew.first_dead()) {
            (Ok(all), ..) if all.iter().all(|report| report.fault.is_none()) => Ok((all, waited_s)),
            (_, Some(_), _) | (_, _, Some((_, Death::Signal(_)))) if options.is_interrupted() => {
                Err(Error::Interrupted)
            }
            (_, Some((process, death)), _) => Err(Error::Worker { process, death }),
            (_, _, Some((process, death))) if death != Death::Exit(DONE) => {
                Err(failure::from_death(process, death, self.shared, |_| target.path()))
            }
            (reports, ..) => Ok((reports?, None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against blaming the device for not answering while workers touch 400 GiB, which takes
    /// minutes.
    #[test]
    fn workers_that_touch_much_memory_first_have_longer_to_be_ready() {
        let of = |memory_bytes| until_ready(&Workload { memory_bytes, ..Workload::default() });
        assert_eq!(of(None), READY);
        assert!(of(Some(400 << 30)) > READY + Duration::from_secs(400));
        assert!(of(Some(u64::MAX)) > of(Some(1 << 40)));
    }
}
