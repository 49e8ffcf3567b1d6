//! From the workers' reports to a measurement, with every doubt about it.

use super::conduct::Trial;
use super::prepare::Preparation;
use super::{RunOptions, Session};
use crate::stop::{burst_ratio, interval};
use crate::worker::report::{Report, Tally};
use ioscape_machine::memory::memory;
use ioscape_machine::traps::traps;
use ioscape_schema::{
    Access, Direction, Engine, Measurement, ResponseTime, Stop, Warning, WarningKind, Workload,
};

/// Processors that others may keep busy before a run counts as disturbed.
const OTHERS_MAX: f64 = 0.15;

/// Share of processor time the hypervisor may take before a run counts as disturbed.
const STEAL_MAX: f64 = 0.05;

/// Difference between measured response time and Little's law that is still believed.
const LITTLE_MAX: f64 = 0.10;

impl Session {
    /// Sums up a run.
    pub(super) fn summarize(
        &self,
        workload: &Workload,
        options: &RunOptions,
        preparation: &Preparation,
        trial: &Trial,
        overhead_ns: f64,
    ) -> Measurement {
        let mut m = figures(workload, trial);
        m.resident_frac = match workload.engine {
            Engine::Null => None,
            _ => self.resident_frac(workload.unique_bytes),
        };
        if self.target.file_system().is_network_or_fuse || workload.engine == Engine::Null {
            m.storage_read_bytes = None;
        }
        shares(&mut m, overhead_ns);
        m.warnings.extend(preparation.warnings.iter().cloned());
        m.warnings.extend(traps_of(self, workload));
        m.warnings.extend(doubts_of_time(&m, options, trial));
        let disturbances = doubts_of_others(trial);
        m.disturbed = !disturbances.is_empty();
        m.warnings.extend(disturbances);
        m.warnings.extend(doubt_of_little(&m, overhead_ns));
        m.warnings.extend(self.doubt_of_dropped_pages(&m, preparation));
        if preparation.cached && trial.began_slowly {
            m.warnings.push(Warning::new(
                WarningKind::FirstTouch,
                "the first requests were more than three times slower than later ones though the set was cached; \
                 they are not counted",
            ));
        }
        if trial.reports.iter().any(|r| r.unregistered) {
            m.warnings.push(Warning::new(
                WarningKind::Unsupported,
                "the kernel refused to register the io_uring buffers, so plain ones were used: raise the limit of \
                 locked memory (ulimit -l)",
            ));
        }
        m
    }

    /// Pages that left the cache though there was room for them.
    fn doubt_of_dropped_pages(
        &self,
        m: &Measurement,
        preparation: &Preparation,
    ) -> Option<Warning> {
        // Direct writes drop the pages below them, as they should.
        let discovers = m.workload.direct_above_bytes.is_some();
        let resident = m.resident_frac.filter(|f| *f < 0.95 && !discovers)?;
        let memory = memory();
        let unpressed = match &self.group {
            Some(group) => {
                group.usage_bytes().is_some_and(|u| (u as f64) < 0.9 * group.limit_bytes() as f64)
            }
            None => memory.free as f64 > 0.1 * memory.total as f64,
        };
        let fits = (m.workload.unique_bytes as f64) < 0.8 * self.cache_room() as f64;
        (unpressed && fits && preparation.brought_in).then(|| {
            let message = format!(
                "only {:.0} % of the set was in the file cache after the run though memory was free: something drops \
                 pages that are not read again soon, so the cache looks smaller than it is",
                100.0 * resident
            );
            Warning::new(WarningKind::PagesDropped, message)
        })
    }
}

fn traps_of(session: &Session, workload: &Workload) -> Vec<Warning> {
    match workload.engine {
        Engine::Null => Vec::new(),
        _ if workload.may_be_direct() => traps(&session.target, Access::Direct),
        _ => traps(&session.target, workload.access),
    }
}

/// Bytes per second of all streams, each over its own time.
fn throughput(reports: &[Report]) -> f64 {
    let rate = |r: &Report| {
        let bytes: u64 = r.tallies.iter().map(|t| t.bytes).sum();
        if r.elapsed_ns > 0 { bytes as f64 * 1e9 / r.elapsed_ns as f64 } else { 0.0 }
    };
    reports.iter().map(rate).sum()
}

/// All that follows from the counts alone.
fn figures(workload: &Workload, trial: &Trial) -> Measurement {
    let [read, write] = trial.tallies();
    let mut all = read.clone();
    all.merge(&write);
    let throughput = throughput(&trial.reports);
    let longest_s = trial.reports.iter().map(|r| r.elapsed_ns).max().unwrap_or(0) as f64 / 1e9;
    let elapsed_s = if throughput > 0.0 { all.bytes as f64 / throughput } else { longest_s };
    let relative = interval(&trial.rates).map_or(1.0, |i| i.relative().min(1.0));
    let cost = trial.cost();
    let in_flight = f64::from(workload.process_num) * f64::from(workload.queue_depth);
    Measurement {
        name: None,
        workload: workload.clone(),
        ios: all.ios,
        bytes: all.bytes,
        elapsed_s,
        throughput_bytes_per_s: throughput,
        throughput_ci95: [throughput * (1.0 - relative), throughput * (1.0 + relative)],
        response_time_ns: response_time(&all),
        response_time_littles_law_ns: (all.ios > 0)
            .then(|| in_flight * elapsed_s * 1e9 / all.ios as f64),
        read: direction(&read, elapsed_s),
        write: direction(&write, elapsed_s),
        cpu_user_s: cost.user_ns as f64 / 1e9,
        cpu_system_s: cost.system_ns as f64 / 1e9,
        cpu_ns_per_io: (cost.user_ns + cost.system_ns) as f64 / all.ios.max(1) as f64,
        io_time_frac: 0.0,
        io_limited: None,
        stop: trial.stop,
        warm_up_s: trial.warm_up_s,
        cost_s: 0.0,
        burst_ratio: burst_ratio(&trial.rates),
        storage_read_bytes: cost.storage_counted.then_some(cost.storage_read_bytes),
        resident_frac: None,
        witness: ioscape_schema::Witness::default(),
        other_cpu: Some(trial.load.other_cpu),
        disturbed: false,
        warnings: Vec::new(),
    }
}

/// Mean, quantiles and longest of a tally's response times.
pub(crate) fn response_time(tally: &Tally) -> ResponseTime {
    if tally.ios == 0 {
        return ResponseTime::default();
    }
    let at = |quantile| tally.times.value_at_quantile(quantile);
    ResponseTime {
        mean: tally.sum_ns as f64 / tally.ios as f64,
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        max: tally.times.max(),
    }
}

fn direction(tally: &Tally, elapsed_s: f64) -> Option<Direction> {
    (tally.ios > 0).then(|| Direction {
        ios: tally.ios,
        bytes: tally.bytes,
        throughput_bytes_per_s: if elapsed_s > 0.0 { tally.bytes as f64 / elapsed_s } else { 0.0 },
        response_time_ns: response_time(tally),
    })
}

/// Share of the time that the harness and the thinking leave to I/O.
fn shares(m: &mut Measurement, overhead_ns: f64) {
    let streams_ns = m.elapsed_s * 1e9 * f64::from(m.workload.process_num);
    let besides = (overhead_ns + m.workload.think_time_ns as f64) * m.ios as f64;
    let is_null = m.workload.engine == Engine::Null;
    m.io_time_frac = match streams_ns > 0.0 && !is_null {
        true => (1.0 - besides / streams_ns).clamp(0.0, 1.0),
        false => 0.0,
    };
    m.io_limited = (!is_null).then_some(m.io_time_frac > 0.5);
}

fn doubts_of_time(m: &Measurement, options: &RunOptions, trial: &Trial) -> Vec<Warning> {
    let mut doubts = Vec::new();
    if !trial.steady {
        let message = format!(
            "the rate was not steady after {:.1} s of warm-up; allow a longer run",
            m.warm_up_s
        );
        doubts.push(Warning::new(WarningKind::NotSteady, message));
    }
    if m.stop == Stop::TimeCap && m.relative_error() > options.confidence {
        let message = format!(
            "the throughput is known to {:.0} % only, not to the {:.0} % aimed at, when time was up",
            100.0 * m.relative_error(),
            100.0 * options.confidence
        );
        doubts.push(Warning::new(WarningKind::NotConfident, message));
    }
    if m.io_limited == Some(false) {
        let message = format!(
            "only {:.0} % of the time went to I/O: the figure says more about this program than about the system",
            100.0 * m.io_time_frac
        );
        doubts.push(Warning::new(WarningKind::NotIoLimited, message));
    }
    if let Some(stuck) = trial.reports.iter().position(|r| !r.started) {
        let message = format!("process {stuck} was stuck in one request all the time");
        doubts.push(Warning::new(WarningKind::NotSteady, message));
    }
    doubts
}

fn doubts_of_others(trial: &Trial) -> Vec<Warning> {
    let mut doubts = Vec::new();
    if trial.load.other_cpu > OTHERS_MAX {
        let message = format!(
            "other programs kept {:.1} processors busy meanwhile: stop them and measure again",
            trial.load.other_cpu
        );
        doubts.push(Warning::new(WarningKind::LoadByOthers, message));
    }
    if trial.load.steal_frac > STEAL_MAX {
        let message = format!(
            "the hypervisor took {:.0} % of the processor time away meanwhile",
            100.0 * trial.load.steal_frac
        );
        doubts.push(Warning::new(WarningKind::Steal, message));
    }
    doubts
}

/// Requests in flight over request rate must give the measured response time and what the harness adds.
fn doubt_of_little(m: &Measurement, overhead_ns: f64) -> Option<Warning> {
    let law = m.response_time_littles_law_ns.filter(|_| m.workload.engine != Engine::Null)?;
    let processors = std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64);
    // Where streams share a processor, one stream's harness time is the waiting time of others.
    let contention = (f64::from(m.workload.process_num) / processors).max(1.0);
    let depth = f64::from(m.workload.queue_depth);
    let besides = (overhead_ns * contention + m.workload.think_time_ns as f64) * depth;
    let explained = m.response_time_ns.mean + besides;
    // Sleep ends late, so thinking takes longer than asked; what it may add is not doubted.
    let slack = if m.workload.think_time_ns > 0 { 100_000.0 * depth } else { 0.0 };
    ((law - explained).abs() > LITTLE_MAX * law + slack).then(|| {
        let message = format!(
            "requests in flight over request rate gives a response time of {law:.0} ns, but {:.0} ns was measured",
            m.response_time_ns.mean
        );
        Warning::new(WarningKind::LittlesLaw, message)
    })
}
