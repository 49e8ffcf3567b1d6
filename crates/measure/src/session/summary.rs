//! Turns the workers' reports into a measurement, with every doubt about it.

use super::conduct::Trial;
use super::options::RunOptions;
use super::prepare::passes_cache;
use super::state::Session;
use super::witness::{self, Ours};
use crate::conductor::stops::{self, Stopped};
use crate::worker::report::{Report, doubt_of_buffers};
use ioscape_machine::cgroup::{MemoryGroup, enclosing_limit};
use ioscape_machine::load::{Load, Snapshot};
use ioscape_machine::memory::{Memory, memory};
use ioscape_machine::parallel::{allowed, processors};
use ioscape_machine::traps::traps;
use ioscape_schema::tally::{doubt_of_confidence, doubt_of_io_share};
use ioscape_schema::{Access, Engine, Measurement, Stop, Warning, WarningKind, Workload};

/// How many processors other programs may keep busy before a run counts as disturbed, if they may
/// need the same ones as we do. If there are enough for all, the share of all processors that they
/// may keep busy, since they share caches and memory with ours.
const OTHERS_MAX: f64 = 0.15;
const OTHERS_SHARE_MAX: f64 = 0.02;

/// Share of processor time that the hypervisor may steal before a run counts as disturbed.
const STEAL_MAX: f64 = 0.05;

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
        let ours = Ours::on(file_system, trial.kernel_s, options.beside);
        m.witness = witness::of(&m, &trial.counted, trial.resident_before, file_system, ours);
        m.warnings.extend(trial.filled.warnings.iter().cloned());
        m.warnings.extend(traps_of(self, workload));
        m.warnings.extend(doubts_of_time(&m, options, trial));
        m.warnings.extend(doubt_of_rows(&m, options, trial.rows.rows.len()));
        m.warnings.extend(witness::note_of_quota(&m));
        let may_be_ours = file_system.is_served_here() || options.beside > 0;
        let mut disturbances = doubts_of_others(&trial.load, workload.process_num, may_be_ours);
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
            m.warnings.extend(note_of_ours(&trial.load, workload.process_num, options.beside));
        }
        match options.verify {
            false => {
                let thinking_ns = trial.thinking_ns(workload);
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
        let unpressed = was_free(group, enclosing_limit(), &memory());
        let fits = (m.workload.unique_bytes as f64) < 0.8 * self.cache_room() as f64;
        (unpressed && fits && trial.filled.brought_in)
            .then(|| Warning::new(WarningKind::PagesDropped, dropped(resident)))
    }
}

/// Whether memory was free for the file cache: in our own `group`, by its usage and limit in bytes,
/// or else on the machine. If this program was started under a limit that others share, how much of
/// that is in use is unknown.
fn was_free(group: Option<(Option<u64>, u64)>, enclosing: Option<u64>, memory: &Memory) -> bool {
    match (group, enclosing) {
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
    let limited = session.group.is_some() && session.target.file_system().caches_elsewhere();
    let unlimited = limited.then(|| {
        let text = "this file system caches files where no control group limits them: the memory limit holds for the processes alone";
        Warning::new(WarningKind::ForeignPages, text)
    });
    let access = match workload.engine {
        Engine::Null => return Vec::new(),
        _ if workload.may_be_direct() => Access::Direct,
        _ => workload.access,
    };
    let of_access = traps(&session.target, access, workload.read_frac < 1.0);
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
    let share_most = OTHERS_SHARE_MAX * load.processors;
    let in_the_way = f64::from(streams) + load.other_cpu > load.processors.min(allowed) - 1.0;
    load.other_cpu > OTHERS_MAX && (in_the_way || load.other_cpu > share_most)
}

/// Notes that other programs used the processors where a program on this machine serves the files
/// for us, or where other clients of the same run work here. That is no disturbance, since neither
/// can be told from unrelated programs.
fn note_of_ours(load: &Load, streams: u32, beside: u64) -> Option<Warning> {
    is_crowded(load, streams, allowed() as f64).then(|| {
        let who = match beside {
            0 => "perhaps the one that serves this file system",
            _ => "among them other clients of this run",
        };
        let message = format!(
            "other programs, {who}, kept {:.1} processors busy during the run",
            load.other_cpu
        );
        Warning::new(WarningKind::LoadByOthers, message)
    })
}

/// What other programs did that disturbed a run with this many `streams`. If `may_be_ours`, the
/// load may be our own, and counts as no disturbance.
fn doubts_of_others(load: &Load, streams: u32, may_be_ours: bool) -> Vec<Warning> {
    let mut doubts = Vec::new();
    if !may_be_ours && is_crowded(load, streams, allowed() as f64) {
        let message = format!(
            "other programs kept {:.1} processors busy during the run: stop them and measure again",
            load.other_cpu
        );
        doubts.push(Warning::new(WarningKind::LoadByOthers, message));
    }
    if load.steal_frac > STEAL_MAX {
        let message = format!(
            "the hypervisor took {:.0} % of the processor time away during the run",
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
    // Sleep ends late, so thinking takes longer than requested; that excess is not doubted. The end
    // of the run cuts the last period, so that the law is no more precise than one request.
    let period = cycle * depth * f64::from(m.workload.process_num) / m.ios.max(1) as f64;
    let slack = if thinking_ns > 0.0 { 100_000.0 * depth + period } else { 0.0 };
    ((law - explained).abs() > LITTLE_MAX * cycle + slack).then(|| {
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
mod tests {
    use super::*;
    use ioscape_schema::Phase;

    /// Guards against doubting the times of cached requests, of which only four of 32 are in flight
    /// at a time: they seemed eight times too short.
    #[test]
    fn a_queue_that_was_never_full_is_said_to_be_and_its_times_are_not_doubted() {
        let engine = Engine::IoUring;
        let workload = Workload { engine, queue_depth: 32, ..Workload::default() };
        let mut m = Measurement {
            response_time_littles_law_ns: Some(64_000.0),
            ..Measurement::empty(workload, Stop::Confident)
        };
        m.response_time_ns.mean = 8000.0;
        assert!(doubt_of_little(&m, 60.0, 0.0).is_some());
        let said = note_of_queue(&m, &[Report::new(), Report::new()]).map(|note| note.message);
        assert!(said.is_some_and(|said| said.contains(" 4.0 of 32 were in flight")));
        let full = Report { full: true, ..Report::new() };
        assert_eq!(note_of_queue(&m, &[Report::new(), full]), None);
    }

    #[test]
    fn a_process_that_never_ran_may_have_got_no_processor() {
        let began = Report { started: true, ..Report::new() };
        assert_eq!(doubt_of_idle(std::slice::from_ref(&began)), None);
        let said = doubt_of_idle(&[began, Report::new()]).map(|doubt| doubt.message);
        let said = said.expect("a doubt");
        assert!(said.starts_with("process 1 ") && said.contains("no processor (2 proc"), "{said}");
    }

    /// Guards against counting the time between two requests twice: the law leaves out the pauses.
    #[test]
    fn littles_law_is_held_against_the_response_alone() {
        let workload = Workload { think_time_ns: 100_000_000, ..Workload::default() };
        let doubt = |law_ns| {
            let mut m = Measurement {
                elapsed_s: 35.5,
                ios: 400,
                response_time_littles_law_ns: Some(law_ns),
                ..Measurement::empty(workload.clone(), Stop::PhasesOver)
            };
            m.response_time_ns.mean = 64e6;
            doubt_of_little(&m, 0.0, 24_750_000.0)
        };
        assert_eq!(doubt(64e6), None);
        assert!(doubt(88_750_000.0).is_some());
    }

    /// Guards against doubting every run with pauses of 4 s, in which only two or three requests
    /// end in ten seconds.
    #[test]
    fn periods_that_the_end_of_the_run_cuts_are_not_doubted() {
        let doubt = |ios: u32, think_time_ns: u64| {
            let workload = Workload { think_time_ns, ..Workload::default() };
            let mut m = Measurement {
                elapsed_s: 10.0,
                ios: ios.into(),
                response_time_littles_law_ns: Some(
                    (10e9 / f64::from(ios) - think_time_ns as f64).max(0.0),
                ),
                ..Measurement::empty(workload, Stop::TimeCap)
            };
            m.response_time_ns.mean = 5e6;
            doubt_of_little(&m, 0.0, think_time_ns as f64)
        };
        assert_eq!([2, 3].map(|ios| doubt(ios, 4_000_000_000)), [None, None]);
        assert!(doubt(3000, 0).is_some(), "off by a third without a pause");
    }

    /// Phases of 10 GiB, which a slow disk reads in 107 s.
    #[test]
    fn phases_that_were_cut_short_are_given_the_time_that_they_need() {
        let phase = Phase { bytes: 100_000, ..Phase::default() };
        let workload = Workload { phases: vec![phase], ..Workload::default() };
        let cut = Measurement {
            bytes: 37_000,
            elapsed_s: 40.0,
            ..Measurement::empty(workload, Stop::TimeCap)
        };
        let said = doubt_of_phases(&cut).map(|doubt| doubt.message).unwrap_or_default();
        assert!(said.starts_with("time ran out after 37 %"), "{said}");
        assert!(said.ends_with("give more time: --seconds 130"), "{said}");
        assert_eq!(doubt_of_phases(&Measurement { stop: Stop::PhasesOver, ..cut }), None);
    }

    /// Guards against reporting that a set of 200 MiB left the cache although memory was free,
    /// where the program was started under a limit of 64 MiB.
    #[test]
    fn memory_beyond_a_limit_is_not_free() {
        let memory = Memory { total: 1000, free: 900, ..Memory::default() };
        assert!(was_free(None, None, &memory) && !was_free(None, Some(64), &memory));
        assert!(was_free(Some((Some(10), 64)), Some(64), &memory));
        assert!(!was_free(Some((Some(60), 64)), None, &memory));
        assert!(!was_free(Some((None, 64)), None, &memory));
    }

    /// On 128 processors, agents that use 0.3 of one disturb nobody; on two, they are in the way.
    #[test]
    fn others_disturb_where_they_may_be_in_the_way_or_are_many() {
        let load = |processors, other_cpu| Load { processors, other_cpu, ..Load::default() };
        let crowded =
            |(processors, others), streams| is_crowded(&load(processors, others), streams, 128.0);
        assert!(!crowded((128.0, 0.3), 16) && !crowded((128.0, 2.0), 16));
        assert!(crowded((128.0, 3.0), 16), "they share caches and memory");
        assert!(crowded((128.0, 0.3), 128) && crowded((2.0, 0.2), 1));
        assert!(!crowded((2.0, 0.1), 2));
        assert!(crowded((0.0, 0.2), 1), "how many there are is not known");
        assert!(is_crowded(&load(64.0, 1.0), 4, 2.0), "they may be on the two that are allowed");
    }

    /// gocryptfs decrypts what our own requests ask for.
    #[test]
    fn the_program_that_serves_a_file_system_is_no_load_by_others() {
        let load = Load { processors: 8.0, other_cpu: 0.26, steal_frac: 0.01 };
        assert_eq!(doubts_of_others(&load, 1, true), []);
        assert_eq!(doubts_of_others(&load, 1, false).len(), 1);
        assert!(note_of_ours(&load, 1, 0).is_some_and(|note| note.message.contains("0.3 proc")));
        let robbed = Load { steal_frac: 0.1, ..load };
        assert_eq!(doubts_of_others(&robbed, 1, true)[0].kind, WarningKind::Steal);
    }

    /// Guards against doubting every cached point of eight clients on one node, which no quiet
    /// machine could have fixed.
    #[test]
    fn other_clients_of_the_same_run_are_no_load_by_others() {
        let load = Load { processors: 8.0, other_cpu: 0.6, ..Load::default() };
        let note = note_of_ours(&load, 1, 7).map(|note| note.message).unwrap_or_default();
        assert!(note.contains("other clients of this run, kept 0.6 processors busy"), "{note}");
        assert_eq!(note_of_ours(&Load { other_cpu: 0.1, ..load }, 1, 7), None);
    }

    #[test]
    fn a_file_system_that_caches_nothing_is_not_said_to_have_a_small_cache() {
        assert!(dropped(0.0).contains("keeps nothing") && !dropped(0.0).contains("looks smaller"));
        assert!(
            dropped(0.3).starts_with("only 30 % of the set") && dropped(0.3).contains("smaller")
        );
    }
}
