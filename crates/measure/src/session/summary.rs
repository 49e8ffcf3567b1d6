//! Turns the workers' reports into a measurement, with every doubt about it.

use super::conduct::Trial;
use super::options::RunOptions;
use super::prepare::passes_cache;
use super::state::Session;
use super::witness::{self, Ours};
use crate::conductor::stops::{self, Stopped};
use crate::worker::report::{Report, doubt_of_buffers};
use ioscape_machine::cgroup::{MemoryGroup, Traffic, enclosing_limit, shows_limits};
use ioscape_machine::load::{Load, Snapshot};
use ioscape_machine::memory::{Memory, memory};
use ioscape_machine::parallel::{allowed, processors};
use ioscape_machine::served_here;
use ioscape_machine::traps::traps;
use ioscape_schema::tally::{doubt_of_confidence, doubt_of_io_share};
use ioscape_schema::{Access, Engine, Measurement, Stop, Warning, WarningKind, Workload};

/// How many processors other programs may keep busy before a run counts as disturbed, if they may
/// need the same ones as we do. If there are enough for all, the share of all processors that they
/// may keep busy, since they share caches and memory with ours.
const OTHERS_MAX: f64 = 0.15;
const OTHERS_SHARE_MAX: f64 = 0.02;

/// Share of the processor time that programs wanted which the hypervisor may take before a run
/// counts as disturbed.
const STEAL_MAX: f64 = 0.05;
/// A run is not disturbed by less than this share of its time, since a few ticks are much of the
/// little time that an idle machine wants, or by less than two of the counter's steps.
const STEAL_LEAST: f64 = 0.03;
const STEAL_STEPS_S: f64 = 0.02;

/// The largest relative difference between the measured response time and Little's law that is
/// accepted.
const LITTLE_MAX: f64 = 0.10;

/// How much longer phases may take than at the rate of those that fit into the time, as a factor.
const PHASES_ROOM: f64 = 1.2;

/// How verification affects the figures.
const VERIFIED: &str = "checksums were made and checked between the requests: the throughput includes the time for that, the response \
                        times do not; measure without --verify to learn the speed";

impl Session {
    /// Sums up a run.
    pub(super) fn summarize(
        &self,
        workload: &Workload,
        options: &RunOptions,
        trial: &Trial,
        overhead_ns: f64,
    ) -> Measurement {
        let mut m = figures(workload, trial, overhead_ns);
        m.resident_frac = self.resident_of(workload);
        m.not_read_in = self.not_read_in && passes_cache(workload, options);
        let file_system = self.target.file_system();
        if !file_system.counts_reads() || workload.engine == Engine::Null {
            m.storage_read_bytes = None;
        }
        let (served, is_computed) = served_here(file_system);
        let by_processors = served.is_some() || is_computed;
        let idle = trial.load.idle_here.filter(|_| !shows_limits("cpu"));
        let ours = Ours::on(file_system, trial.kernel_s, options.beside, by_processors, idle);
        witness::put(&mut m, &trial.counted, trial.resident_before, file_system, ours);
        m.warnings.extend(trial.filled.warnings.iter().cloned());
        m.warnings.extend(traps_of(self, workload));
        m.warnings.extend(doubts_of_time(&m, options, trial));
        m.warnings.extend(doubt_of_rows(&m, options, trial.rows.rows.len()));
        m.warnings.extend(witness::note_of_quota(&m, &trial.counted));
        let served = served.filter(|_| options.beside == 0);
        let may_be_ours = served.is_some() || options.beside > 0;
        let mut disturbances = doubts_of_others(&trial.load, &m, may_be_ours);
        if is_robbed(&trial.load, m.elapsed_s) {
            // How much of that the workers lost is not known.
            m.witness.undisturbed_bytes_per_s = None;
        }
        witness::widen(&mut m);
        disturbances.extend(doubt_of_stopping(&mut m, trial.stopped));
        let waiting = witness::doubt_of_waiting(&m, ours);
        match witness::may_wait_for_kernel(&m, ours) {
            true => m.warnings.extend(waiting),
            false => disturbances.extend(waiting),
        }
        m.disturbed = !disturbances.is_empty();
        m.warnings.extend(disturbances);
        m.warnings.extend(witness::doubt_of_reads_by_others(&m, ours));
        if may_be_ours {
            m.warnings.extend(note_of_ours(&trial.load, workload.process_num, served.as_deref()));
        }
        match options.verify {
            false => {
                let thinking_ns = trial.thinking_ns();
                let doubt = doubt_of_little(&m, overhead_ns, thinking_ns);
                let told = doubt.map(|doubt| note_of_queue(&m, &trial.reports).unwrap_or(doubt));
                m.warnings.extend(told);
            }
            // The time between two requests then includes more than the harness's own.
            true => m.warnings.push(Warning::new(WarningKind::Verified, VERIFIED)),
        }
        m.warnings.extend(self.doubt_of_dropped_pages(&m, trial));
        if trial.filled.cached && trial.began_slowly {
            m.warnings.push(Warning::new(
                WarningKind::FirstTouch,
                "the first requests were more than three times slower than later ones though the set was cached; \
                 they are not counted",
            ));
        }
        m.warnings.extend(doubt_of_buffers(trial.reports.iter()));
        m
    }

    /// The doubt about pages that left the cache although there was room for them.
    fn doubt_of_dropped_pages(&self, m: &Measurement, trial: &Trial) -> Option<Warning> {
        // Direct writes drop the pages in their range, as they should.
        let discovers = m.workload.direct_above_bytes.is_some();
        let resident = m.resident_frac.filter(|f| *f < 0.95 && !discovers)?;
        let group = self.group.as_ref().map(|g| (trial.group_usage, g.limit_bytes()));
        let shows = shows_limits("memory");
        let unpressed = was_free(shows, group, enclosing_limit(), &memory());
        let fits = (m.workload.unique_bytes as f64) < 0.8 * self.cache_room() as f64;
        (unpressed && fits && trial.filled.brought_in)
            .then(|| Warning::new(WarningKind::PagesDropped, dropped(resident)))
    }
}

/// Whether memory was free for the file cache: in our own `group`, by its usage and limit in bytes,
/// or else on the machine. If this program was started under a limit that others share, how much of
/// that is in use is unknown. Unless every limit `shows`, a lower one may press even on our group.
fn was_free(
    shows: bool,
    group: Option<(Option<u64>, u64)>,
    enclosing: Option<u64>,
    memory: &Memory,
) -> bool {
    match (group, enclosing) {
        _ if !shows => false,
        (Some((usage, limit)), _) => usage.is_some_and(|u| (u as f64) < 0.9 * limit as f64),
        (None, Some(_)) => false,
        (None, None) => memory.free as f64 > 0.1 * memory.total as f64,
    }
}

/// The message about pages that left the cache or never entered it, as on file systems mounted that
/// way.
fn dropped(resident: f64) -> String {
    if resident < 0.005 {
        return "none of the set was in the file cache after the run though memory was free: this file system keeps nothing \
                there, or drops it at once"
            .to_owned();
    }
    format!(
        "only {:.0} % of the set was in the file cache after the run though memory was free: something drops pages that \
         are not read again soon, so the cache looks smaller than it is",
        100.0 * resident
    )
}

fn traps_of(session: &Session, workload: &Workload) -> Vec<Warning> {
    let unlimited = session.group.as_ref().and_then(|_| session.target.file_system().unlimited());
    let unlimited = unlimited.map(|why| {
        let text = format!("{why}: the memory limit holds for the processes alone");
        Warning::new(WarningKind::ForeignPages, text)
    });
    let access = match workload.engine {
        Engine::Null => return Vec::new(),
        _ if workload.may_be_direct() => Access::Direct,
        _ => workload.access,
    };
    let (reads, writes) = (workload.read_frac > 0.0, workload.read_frac < 1.0);
    let traffic = Traffic { access, reads, writes, lays_out: true };
    let of_access = traps(&session.target, traffic);
    let of_group = session.group.as_ref().and_then(MemoryGroup::doubt);
    let of_others = Snapshot::take().doubt();
    of_access.into_iter().chain(unlimited).chain(of_group).chain(of_others).collect()
}

/// The figures that follow from the counts alone.
fn figures(workload: &Workload, trial: &Trial, overhead_ns: f64) -> Measurement {
    let (counted, cost) = (trial.tally().measurement(workload, overhead_ns), trial.cost());
    Measurement {
        cpu_user_s: cost.user_ns as f64 / 1e9,
        cpu_system_s: cost.system_ns as f64 / 1e9,
        cpu_ns_per_io: (cost.user_ns + cost.system_ns) as f64 / counted.ios.max(1) as f64,
        fill_s: trial.filled.elapsed_s,
        warm_up_s: trial.warm_up_s,
        storage_read_bytes: cost.storage_counted.then_some(cost.storage_read_bytes),
        other_cpu: Some(trial.load.other_cpu),
        ..counted
    }
}

fn doubts_of_time(m: &Measurement, options: &RunOptions, trial: &Trial) -> Vec<Warning> {
    let mut doubts = Vec::new();
    doubts.extend(trial.unsettled.and_then(|what| witness::doubt_of_warm_up(what, m)));
    let is_whole = options.course || !m.workload.phases.is_empty();
    doubts.extend(doubt_of_confidence(m, options.confidence).filter(|_| !is_whole));
    doubts.extend(doubt_of_phases(m));
    doubts.extend(doubt_of_io_share(m));
    // Nothing waits for what an interrupted run wrote.
    let unclosed_s = trial.unclosed_s.filter(|_| trial.stop != Stop::Interrupted);
    doubts.extend(unclosed_s.map(doubt_of_close));
    doubts.extend(doubt_of_idle(&trial.reports));
    doubts
}

/// The doubt about a process whose measured part never began. What it waited for is not known.
fn doubt_of_idle(reports: &[Report]) -> Option<Warning> {
    let idle = reports.iter().position(|report| !report.started)?;
    let message = format!(
        "process {idle} issued no request in the measured part: it was stuck in one, or got no processor ({} processes, {} processors); fewer processes would tell",
        reports.len(),
        allowed()
    );
    Some(Warning::new(WarningKind::NotSteady, message))
}

/// The warning about a process that had reported but had not ended this many seconds later, and was
/// given up.
fn doubt_of_close(waited_s: f64) -> Warning {
    let message = format!(
        "a process had not closed its file {waited_s:.1} s after its last request: the figures leave that out, and what it wrote may not have reached the server or device"
    );
    Warning::new(WarningKind::Other, message)
}

/// The doubt about phases that did not fit into the time.
fn doubt_of_phases(m: &Measurement) -> Option<Warning> {
    let pass = m.workload.pass_bytes().filter(|_| m.stop != Stop::PhasesOver)?;
    let share = m.bytes.max(1) as f64 / pass as f64;
    let enough_s = (PHASES_ROOM * m.elapsed_s / share).ceil();
    let (end, advice) = match m.stop {
        Stop::Interrupted => ("it was interrupted", String::new()),
        _ => ("time ran out", format!("; give more time: --seconds {enough_s}")),
    };
    let message = format!(
        "{end} after {:.0} % of the data that the application's phases move, so this is not its overall throughput{advice}",
        100.0 * share
    );
    Some(Warning::new(WarningKind::BudgetSpent, message))
}

/// The doubt about rows that did not fit into memory.
fn doubt_of_rows(m: &Measurement, options: &RunOptions, kept: usize) -> Option<Warning> {
    (options.rows_most > 0 && (kept as u64) < m.ios).then(|| {
        let message = format!(
            "rows were kept of the first {kept} of {} measured requests: measure for a shorter time to keep all",
            m.ios
        );
        Warning::new(WarningKind::TraceIncomplete, message)
    })
}

/// Whether other programs kept so many processors busy that `streams` of ours, which may use
/// `allowed` of them, may have been slowed down.
fn is_crowded(load: &Load, streams: u32, allowed: f64) -> bool {
    let (room, here) = (load.processors.min(allowed), load.other_cpu_here);
    let in_the_way = here > OTHERS_MAX && f64::from(streams) + here > room - 1.0;
    in_the_way || load.other_cpu > OTHERS_MAX.max(OTHERS_SHARE_MAX * load.processors)
}

/// Whether the hypervisor took noticeable time from the programs of this machine.
fn is_robbed(load: &Load, elapsed_s: f64) -> bool {
    let least_s = (STEAL_LEAST * elapsed_s).max(STEAL_STEPS_S);
    load.steal_frac > STEAL_MAX && load.stolen * elapsed_s > least_s
}

/// Notes that other programs used the processors where one of this machine may have `served` the
/// file system or a disk below, or else where other clients of the same run work here. That is no
/// disturbance, since neither can be told from unrelated programs.
fn note_of_ours(load: &Load, streams: u32, served: Option<&str>) -> Option<Warning> {
    is_crowded(load, streams, allowed() as f64).then(|| {
        let who = match served {
            Some(what) => format!("perhaps the one that serves {what}"),
            None => "among them other clients of this run".to_owned(),
        };
        let message = format!(
            "other programs, {who}, kept {:.1} processors busy during the run",
            load.other_cpu
        );
        Warning::new(WarningKind::LoadByOthers, message)
    })
}

/// What other programs and the hypervisor did that disturbed a run. If `may_be_ours`, the load may
/// be our own, and counts as no disturbance.
fn doubts_of_others(load: &Load, m: &Measurement, may_be_ours: bool) -> Vec<Warning> {
    let mut doubts = Vec::new();
    if !may_be_ours && is_crowded(load, m.workload.process_num, allowed() as f64) {
        let message = format!(
            "other programs kept {:.1} processors busy during the run: stop them and measure again",
            load.other_cpu
        );
        doubts.push(Warning::new(WarningKind::LoadByOthers, message));
    }
    if is_robbed(load, m.elapsed_s) {
        let message = format!(
            "the hypervisor took {:.0} % of the processor time that programs wanted during the run",
            100.0 * load.steal_frac
        );
        doubts.push(Warning::new(WarningKind::Steal, message));
    }
    doubts
}

/// The doubt about workers that were stopped. The throughput then holds for no period at all, so
/// its interval is widened up to what the remaining time may have had.
fn doubt_of_stopping(m: &mut Measurement, stopped: Stopped) -> Option<Warning> {
    if let Some(without) = stops::rate_without(m.bytes, stopped, m.elapsed_s) {
        m.throughput_ci95[1] = m.throughput_ci95[1].max(without);
    }
    stops::doubt(stopped, m.elapsed_s)
}

/// The doubt that arises unless requests in flight over request rate, less the think time, equals
/// the measured response time, plus what the harness adds.
fn doubt_of_little(m: &Measurement, overhead_ns: f64, thinking_ns: f64) -> Option<Warning> {
    let law = m.response_time_littles_law_ns.filter(|_| m.workload.engine != Engine::Null)?;
    // Where streams share a processor, the harness time of one stream is waiting time for the
    // others.
    let contention = (f64::from(m.workload.process_num) / processors() as f64).max(1.0);
    let depth = f64::from(m.workload.queue_depth);
    // The end of the run wakes processes that are still thinking.
    let thinking_ns = thinking_ns.min(m.elapsed_s * 1e9);
    let explained = m.response_time_ns.mean + overhead_ns * contention * depth;
    let cycle = law + thinking_ns * depth;
    // The end of the run cuts the last period, so that the law is no more precise than one request.
    let period = cycle * depth * f64::from(m.workload.process_num) / m.ios.max(1) as f64;
    let slack = if thinking_ns > 0.0 { period } else { 0.0 };
    // A queue drains before each pause: then the law is the time to its last completion.
    let drains = thinking_ns > 0.0 && depth > 1.0;
    let off = if drains { explained - law } else { (explained - law).abs() };
    (off > LITTLE_MAX * cycle + slack).then(|| {
        let message = format!(
            "by Little's law (requests in flight / request rate) the response time is {law:.0} ns, but {:.0} ns was measured",
            m.response_time_ns.mean
        );
        Warning::new(WarningKind::LittlesLaw, message)
    })
}

/// Explains why Little's law for a full queue does not hold for one that was never full: no doubt
/// about the times.
fn note_of_queue(m: &Measurement, reports: &[Report]) -> Option<Warning> {
    let depth = m.workload.queue_depth;
    let share = m.response_time_ns.mean / m.response_time_littles_law_ns?;
    let was_full = reports.iter().any(|report| report.full);
    (m.workload.engine == Engine::IoUring && !was_full && share < 1.0).then(|| {
        let message = format!(
            "the queue never filled, because requests completed first, as they do when the file cache serves them: {:.1} of {depth} were in flight on average; \
             requests that storage serves would fill it",
            share * f64::from(depth)
        );
        Warning::new(WarningKind::Other, message)
    })
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
