//! One running stream of requests: its clock, its counters, and its part in the phases of the run.

use crate::worker::meter::{Meter, RunDelay};
use crate::worker::pauses::Pauses;
use crate::worker::report::Report;
use crate::worker::rows::Keep;
use ioscape_machine::clock::{Clock, monotonic_ns};
use ioscape_machine::parallel::processors;
use ioscape_machine::shared::{Live, Shared, bump, phase};
use ioscape_schema::{Request, Workload};
use rustix::thread::{NanosleepRelativeResult, Timespec, nanosleep};
use std::sync::atomic::Ordering;

/// The longest sleep without checking the phase, so that a stream that thinks for long stops, and
/// begins its measured part, as soon as the others.
const NAP_NS: u64 = 100_000_000;

/// The longest that the end of a pause is waited for awake, and the sleeps from which it follows
/// how late sleepers wake.
const AWAKE_MOST_NS: u64 = 100_000;
const TRIES: u32 = 10;

/// Time between two checks whether the other streams are done as well.
const REST_NS: u64 = 1_000_000;

/// The state of one stream inside its worker. It keeps its requests or, with `()`, only counts
/// them.
pub(crate) struct Stream<'a, K = ()> {
    /// The source of all response times.
    pub(crate) clock: Clock,
    shared: &'a Shared,
    live: &'a Live,
    meter: &'a Meter,
    delay: RunDelay,
    delayed_ns: Option<u64>,
    seen: u32,
    /// When its measured part began, on the kernel's monotonic clock.
    began_ns: u64,
    think_ns: u64,
    pauses: Pauses,
    /// By how much the last pause was too long, at most its length: the next one makes up for it.
    late_ns: u64,
    /// How long before the end of a pause it wakes; 0 to sleep to the end.
    awake_ns: u64,
    /// Bytes left in its share of the workload's phases; without phases, these never end.
    pass_left: u64,
    report: Report,
    kept: K,
}

impl<'a, K: Keep> Stream<'a, K> {
    /// Creates stream number `index` of the run, in the thread that carries it out.
    pub(crate) fn new(
        shared: &'a Shared,
        index: usize,
        clock: Clock,
        meter: &'a Meter,
        workload: &Workload,
        kept: K,
    ) -> Self {
        let live = &shared.live()[index];
        let (seen, began_ns) = (phase::PREPARE, 0);
        let (delay, delayed_ns, report) = (RunDelay::of_this_thread(), None, Report::new());
        let pauses = workload.think_time_ns > 0 || Pauses::are_of(workload);
        Self {
            awake_ns: if pauses { awake_ns(&clock, workload.process_num) } else { 0 },
            clock,
            shared,
            live,
            meter,
            delay,
            delayed_ns,
            seen,
            began_ns,
            think_ns: if Pauses::are_of(workload) { 0 } else { workload.think_time_ns },
            pauses: Pauses::new(workload),
            late_ns: 0,
            pass_left: share_of_phases(workload),
            report,
            kept,
        }
    }

    /// Reports that the stream is ready, and waits for the start.
    pub(crate) fn wait_for_start(&self) {
        self.live.ready.store(1, Ordering::Release);
        self.shared.wait_for_start();
    }

    /// Whether to issue another request. Begins the measured part when the conductor says so.
    #[inline]
    pub(crate) fn goes_on(&mut self) -> bool {
        let phase = self.shared.phase();
        (phase == self.seen || self.enter(phase)) && (self.pass_left > 0 || self.rest())
    }

    /// Ends the measured part when all phases are over, and waits for the other streams. Returns
    /// false, the answer of `goes_on`.
    #[cold]
    fn rest(&mut self) -> bool {
        self.finish();
        while self.shared.phase() != phase::STOP {
            sleep(REST_NS);
        }
        false
    }

    #[cold]
    fn enter(&mut self, phase: u32) -> bool {
        if phase == phase::STOP {
            // A measured part has at least one request, however slow.
            let fresh = self.report.started && self.report.counters.iter().all(|c| c.ios == 0);
            return fresh || self.finish();
        }
        self.seen = phase;
        if phase == phase::MEASURE {
            self.report.counters.iter_mut().for_each(|c| c.clear());
            self.kept.clear();
            (self.late_ns, self.report.thought_ns, self.report.full) = (0, 0, false);
            self.meter.begin();
            self.delayed_ns = self.delay.ns();
            self.report.started = true;
            self.began_ns = monotonic_ns();
            self.live.started.store(1, Ordering::Release);
        }
        true
    }

    /// Ends the measured part. Returns false, the answer of `goes_on`.
    fn finish(&mut self) -> bool {
        self.seen = phase::STOP;
        if !self.report.started {
            // The stream was stuck in one request, or got no processor, throughout the measured
            // part: what it did earlier does not count.
            self.report.counters.iter_mut().for_each(|c| c.clear());
            self.kept.clear();
            self.report.cost = self.meter.end().unwrap_or_default();
            return false;
        }
        // From the kernel's clock: the processor's counter may go on while the machine is
        // suspended, and may differ between processors.
        self.report.elapsed_ns = monotonic_ns().saturating_sub(self.began_ns);
        self.report.waited(self.delay.since(self.delayed_ns));
        if let Some(cost) = self.meter.end() {
            self.report.cost = cost;
        }
        false
    }

    /// Counts a completed request, given the clock's readings at its issue and completion.
    #[inline]
    pub(crate) fn record(&mut self, request: &Request, issued: u64, completed: u64) {
        if self.seen == phase::STOP {
            return;
        }
        let (op, bytes) = (request.op as usize, u64::from(request.len));
        self.report.counters[op].add(bytes, self.clock.nanos_between(issued, completed));
        self.kept.keep(request, issued, completed);
        bump(&self.live.bytes[op], bytes);
        self.pass_left = self.pass_left.saturating_sub(bytes);
    }

    /// Lets the process think for as long as the workload says, once for each of `requests`. The
    /// end of the run ends it.
    ///
    /// Sleepers wake late, by tens of microseconds on an idle machine, and the end of a pause is
    /// waited for awake where each stream has a processor. What is still too long is subtracted
    /// from the next pause, and from no other: an application that waits for a processor does not
    /// make up for it by a burst of requests.
    #[inline]
    pub(crate) fn think(&mut self, requests: u32) {
        if self.think_ns == 0 {
            return;
        }
        self.pause(self.think_ns.saturating_mul(u64::from(requests)));
    }

    /// Whether the process thinks between requests.
    pub(crate) fn thinks(&self) -> bool {
        self.think_ns > 0
    }

    /// Lets the process think before `request`, for as long as the phase of the workload says.
    #[inline]
    pub(crate) fn think_before(&mut self, request: &Request) {
        let asked_ns = self.pauses.before(request);
        if asked_ns > 0 {
            self.pause(asked_ns);
        }
    }

    fn pause(&mut self, asked_ns: u64) {
        let mut left_ns = asked_ns.saturating_sub(std::mem::take(&mut self.late_ns));
        while left_ns > 0 {
            let took_ns = self.nap(left_ns.min(NAP_NS));
            self.report.thought_ns += took_ns;
            self.late_ns = took_ns.saturating_sub(left_ns).min(asked_ns);
            left_ns = left_ns.saturating_sub(took_ns);
            let phase = self.shared.phase();
            if phase == phase::STOP {
                return;
            }
            if left_ns > 0 && phase != self.seen {
                self.enter(phase);
            }
        }
    }

    /// Waits for at least `ns` nanoseconds, the end of them awake; returns how long it took.
    fn nap(&self, ns: u64) -> u64 {
        let from = self.clock.raw();
        sleep(ns.saturating_sub(self.awake_ns));
        loop {
            let took_ns = self.clock.nanos_between(from, self.clock.raw());
            if took_ns >= ns || self.awake_ns == 0 {
                return took_ns.max(ns);
            }
            std::hint::spin_loop();
        }
    }

    /// The report so far, to be completed and stored.
    #[inline]
    pub(crate) fn report_mut(&mut self) -> &mut Report {
        &mut self.report
    }
}

/// Bytes that one process moves in all phases together.
fn share_of_phases(workload: &Workload) -> u64 {
    let processes = u64::from(workload.process_num.max(1));
    workload.pass_bytes().map_or(u64::MAX, |pass| pass.div_ceil(processes))
}

/// How long before the end of a pause a stream wakes: as late as sleepers wake at the least; 0 where
/// `streams` share processors.
fn awake_ns(clock: &Clock, streams: u32) -> u64 {
    let processors = processors();
    if processors == 1 || streams as usize > processors {
        return 0;
    }
    let late_ns = |_| {
        let from = clock.raw();
        sleep(AWAKE_MOST_NS);
        clock.nanos_between(from, clock.raw()).saturating_sub(AWAKE_MOST_NS)
    };
    (0..TRIES).map(late_ns).min().unwrap_or(0).min(AWAKE_MOST_NS)
}

fn sleep(ns: u64) {
    if ns == 0 {
        return;
    }
    let mut rest = timespec(ns);
    while let NanosleepRelativeResult::Interrupted(left) = nanosleep(&rest) {
        rest = left;
    }
}

/// Converts nanoseconds to the system's format.
fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 }
}
