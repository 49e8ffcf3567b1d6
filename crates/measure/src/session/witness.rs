//! What the kernel counted during a run, set beside its figures: the witness of a measurement, and
//! the doubts it raises.

use crate::worker::meter::WAITING_MAX;
use ioscape_machine::mounts::FileSystemInfo;
use ioscape_machine::parallel::{allowed, processors};
use ioscape_schema::tally::doubt_of_steadiness;
use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{Access, Engine, Measurement, Warning, WarningKind, Witness};

/// Dirty pages that grow by less than this share of the bytes written are no longer filling up.
pub(super) const FILLING: f64 = 0.1;

/// Residency counts as steady if it changes by less than these shares of the bytes moved, or of the
/// set: pages of other programs come and go.
const CHANGING: [f64; 2] = [0.1, 0.01];

/// If a worker waited for more than this share of its time, too little remains to compute a rate
/// from.
const WAITING_MOST: f64 = 0.9;

/// A run of which storage moved at most this share of the bytes stayed in memory.
const MOVED: f64 = 0.01;

/// Workers that are ready to run for at least this share of their time wait for processors alone.
const ALWAYS: f64 = 0.95;

/// What was still changing when a warm-up ended at its cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unsettled {
    /// The rate of the workload.
    Rate,
    /// Dirty bytes: they grew with the bytes written. `own` says whether only these workers' bytes
    /// count, in their own group.
    Dirty { own: bool },
    /// The share of the set in the file cache.
    Residency,
}

/// What the workers may have waited for besides other programs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ours {
    /// Seconds that the kernel's own threads, which write back what the workers wrote, took from
    /// one processor; absent where these threads cannot be observed.
    pub(super) kernel_s: Option<f64>,
    /// The number of other clients of the same run on this machine.
    pub(super) beside: u64,
    /// Whether processors of this machine serve the storage.
    pub(super) by_processors: bool,
    /// Whether files stay in memory, so that the kernel writes nothing back.
    pub(super) in_memory: bool,
    /// Average number of processors that were idle for them, where a quota may not show; otherwise
    /// absent.
    pub(super) idle: Option<f64>,
}

impl Ours {
    /// What they are on this file system.
    pub(super) fn on(
        file_system: &FileSystemInfo,
        kernel_s: Option<f64>,
        beside: u64,
        by_processors: bool,
        idle: Option<f64>,
    ) -> Self {
        let in_memory = file_system.is_in_memory();
        let kernel_s = if in_memory { Some(0.0) } else { kernel_s };
        Self { kernel_s, beside, by_processors, in_memory, idle }
    }
}

/// Gives `m` its witness on this file system, from what was `counted` in its measured part and the
/// share of its set that was in the file cache before.
pub(super) fn put(
    m: &mut Measurement,
    counted: &Witness,
    resident_before: Option<f64>,
    file_system: &FileSystemInfo,
    ours: Ours,
) {
    if m.workload.engine == Engine::Null {
        return;
    }
    m.witness = Witness {
        resident_frac: resident_before.zip(m.resident_frac).map(|(a, b)| [a, b]),
        storage_read_bytes: m.storage_read_bytes,
        dirty_bytes: counted.dirty_bytes.filter(|_| !hides_dirty(file_system)),
        served_by_processors: ours.by_processors,
        ..counted.clone()
    };
    m.witness.throttled_s = throttled_s(m, ours);
    m.witness.sustained_write_bytes_per_s = sustained(m);
    m.witness.lost_frac = most_lost_frac(m, ours);
    m.witness.undisturbed_bytes_per_s = undisturbed(m, ours);
}

/// Whether writes wait in a cache whose dirty bytes the kernel does not count. With DAX, nothing
/// waits.
fn hides_dirty(file_system: &FileSystemInfo) -> bool {
    file_system.caches_elsewhere() && !file_system.is_dax()
}

/// The seconds that the streams were ready to run but waited for a processor. Absent where an
/// `io_uring` uses the file cache: its own kernel threads may copy for the streams, and whether these
/// wait is unknown.
fn delay_s(m: &Measurement) -> Option<f64> {
    let copies = m.workload.engine == Engine::IoUring && m.workload.access != Access::Direct;
    m.witness.run_delay_s.filter(|_| !copies)
}

/// The most seconds for which a quota can have stopped each stream: as counted or, if one may not
/// show, as the stream waited for a processor and one was idle for it.
fn throttled_s(m: &Measurement, ours: Ours) -> Option<f64> {
    let streams = f64::from(m.workload.process_num.max(1));
    // It stops all of them at once, and those of other clients.
    let at_once = (streams * (ours.beside as f64 + 1.0)).min(allowed() as f64);
    let of_each_s = |(idle, waited_s)| f64::min(idle * m.elapsed_s / at_once, waited_s / streams);
    let unseen_s = ours.idle.zip(delay_s(m)).map(of_each_s);
    m.witness.throttled_s.into_iter().chain(unseen_s).reduce(f64::max)
}

/// The average share of its time that a stream waited for a processor that others had: neither the
/// kernel, which needs it to write back, nor a quota kept it from one.
///
/// Absent where the seconds of waiting are unknown, and where streams, including those of other
/// clients, outnumber processors, since they then wait for one another.
fn waiting_frac(m: &Measurement, ours: Ours) -> Option<f64> {
    let streams = u64::from(m.workload.process_num.max(1));
    // Each stream is on a processor of its own, as long as there are enough.
    let of_each_s = ours.kernel_s.unwrap_or(0.0) + m.by_quota_s().unwrap_or(0.0);
    let waited_s = (delay_s(m)? - streams as f64 * of_each_s).max(0.0);
    let have_room = streams.saturating_mul(ours.beside.saturating_add(1)) <= processors() as u64;
    (have_room && m.elapsed_s > 0.0).then(|| waited_s / streams as f64 / m.elapsed_s)
}

/// The share of the time of all processors that others, and no quota, had while more streams than
/// processors were ready to run. Absent where that is unknown, and where the streams also waited for
/// anything else.
fn taken_frac(m: &Measurement, ours: Ours) -> Option<f64> {
    let (streams, all) = (m.workload.process_num as usize, processors());
    let ran_s = m.cpu_user_s + m.cpu_system_s;
    let ready_s = ran_s + delay_s(m)?;
    let is_ready = ready_s >= ALWAYS * streams as f64 * m.elapsed_s;
    let all_s = all as f64 * m.elapsed_s;
    let is_told = ours.beside == 0 && streams > all && is_ready && all_s > 0.0;
    let of_each_s = ours.kernel_s.unwrap_or(0.0) + m.by_quota_s().unwrap_or(0.0);
    is_told.then(|| (1.0 - (ran_s + all as f64 * of_each_s) / all_s).max(0.0))
}

fn is_written(m: &Measurement) -> bool {
    m.write.is_some_and(|write| write.bytes > 0)
}

/// Whether storage had no part in the run: no read-ahead or write-back went on while the workers
/// waited for a processor, and no kernel thread worked for them. False where that is not counted.
fn stayed_in_memory(m: &Measurement, ours: Ours) -> bool {
    let written = match is_written(m) && !ours.in_memory {
        true => m.witness.device_written_bytes,
        false => Some(0),
    };
    let moved =
        m.storage_read_bytes.zip(written).map(|(read, written)| read as f64 + written as f64);
    moved.is_some_and(|moved| moved <= MOVED * m.bytes as f64)
}

/// Whether the workers may have waited for kernel threads that cannot be observed but had something
/// to write back.
pub(super) fn may_wait_for_kernel(m: &Measurement, ours: Ours) -> bool {
    let writes_back = is_written(m) && m.workload.access != Access::Direct;
    ours.kernel_s.is_none() && writes_back && !stayed_in_memory(m, ours)
}

/// Whether workers pause: they wait mostly at the end of a pause, which the next one makes up for.
fn pauses(m: &Measurement) -> bool {
    m.workload.think_time_ns > 0 || !m.workload.phases.is_empty()
}

/// The share of the time for which others kept the workers from a processor. Absent for workers that
/// pause.
fn lost_frac(m: &Measurement, ours: Ours) -> Option<f64> {
    waiting_frac(m, ours).or_else(|| taken_frac(m, ours)).filter(|_| !pauses(m))
}

/// The most that this share can be. More streams than processors may also have waited for something
/// else, and at times for one another: others kept them no longer than they were ready in vain, and
/// no more than the processors did besides.
fn most_lost_frac(m: &Measurement, ours: Ours) -> Option<f64> {
    let lost = lost_frac(m, ours);
    if lost.is_some() {
        return lost;
    }
    let (streams, all) = (f64::from(m.workload.process_num), processors() as f64);
    let is_told = ours.beside == 0 && streams > all && m.elapsed_s > 0.0 && !pauses(m);
    let ready = delay_s(m).filter(|_| is_told)? / streams / m.elapsed_s;
    let not_ours = 1.0 - (m.cpu_user_s + m.cpu_system_s) / all / m.elapsed_s;
    let others = m.other_cpu.map_or(1.0, |others| others / all);
    let of_each_s = ours.kernel_s.unwrap_or(0.0) + m.by_quota_s().unwrap_or(0.0);
    Some((ready.min(not_ours).min(others) - of_each_s / m.elapsed_s).max(0.0))
}

/// The rate in the time that no others kept the workers from a processor, if that of the run grows
/// with this time: where storage has a part, it may be storage that sets the rate without them. If
/// hardly any time was lost, it is the measured one then.
fn undisturbed(m: &Measurement, ours: Ours) -> Option<f64> {
    let share = lost_frac(m, ours).filter(|_| stayed_in_memory(m, ours));
    if let Some(lost) = share.filter(|lost| *lost < WAITING_MOST) {
        return Some(m.throughput_bytes_per_s / (1.0 - lost));
    }
    let is_little = most_lost_frac(m, ours).is_some_and(|lost| lost < WAITING_MAX);
    is_little.then_some(m.throughput_bytes_per_s)
}

/// Widens the interval of a run that others kept from the processors, if its rate without them is
/// unknown: it lies between the measured one and that of the remaining time.
pub(super) fn widen(m: &mut Measurement) {
    let most = m.throughput_bytes_per_s * m.faster_without_others();
    m.throughput_ci95[1] = m.throughput_ci95[1].max(most);
}

/// The rate of writes that reached storage. Dirty bytes that decreased count as zero: they were
/// written earlier.
fn sustained(m: &Measurement) -> Option<f64> {
    let written = m.write.filter(|write| write.bytes > 0 && m.elapsed_s > 0.0)?.bytes;
    let absorbed = match m.workload.access {
        Access::Buffered => {
            m.witness.dirty_bytes.map(|[before, after]| after.saturating_sub(before))?
        }
        Access::Direct | Access::Dsync => 0,
    };
    Some(written.saturating_sub(absorbed) as f64 / m.elapsed_s)
}

/// Whether the share of a set of `set` bytes in the file cache changed between two queries, between
/// which `moved` bytes were read and written.
pub(super) fn has_changed([before, after]: [f64; 2], moved: u64, set: u64) -> bool {
    let changed = (after - before).abs() * set as f64;
    changed > (CHANGING[0] * moved as f64).max(CHANGING[1] * set as f64)
}

/// The doubt about a run whose warm-up ended at its cap.
///
/// It blames a cache only if residency kept changing, or dirty bytes growing, in the measured part
/// too. It is certain only about the workers' own dirty bytes: those of the machine also grow with
/// the writes of other programs.
pub(super) fn doubt_of_warm_up(what: Unsettled, m: &Measurement) -> Option<Warning> {
    let message = match what {
        Unsettled::Rate => return Some(doubt_of_steadiness(m.warm_up_s)),
        Unsettled::Dirty { own } => {
            let [before, after] = m.witness.dirty_bytes?;
            let (grown, written) = (after.saturating_sub(before), m.write?.bytes);
            let sustained = m.witness.sustained_write_bytes_per_s?;
            if grown as f64 <= FILLING * written as f64 {
                return None;
            }
            let (grown, written) = (Bytes(grown as f64), Bytes(written as f64));
            match own {
                true => format!(
                    "dirty pages still grew by {grown} while {written} were written, so this is the speed of the cache; less that growth, \
                     writes ran at {}; allow a longer run",
                    Rate(sustained)
                ),
                false => format!(
                    "dirty bytes, those of other programs included, still grew, by {grown} while {written} were written here: this may be \
                     the speed of the cache, unless others wrote them; allow a longer run, or give --memory where a control group can be \
                     made, which counts those of the run alone"
                ),
            }
        }
        Unsettled::Residency => {
            let [before, after] = m.witness.resident_frac?;
            if !has_changed([before, after], m.bytes, m.workload.unique_bytes) {
                return None;
            }
            format!(
                "the share of the set in the file cache still changed after {:.1} s of warm-up ({:.0} % before, {:.0} % \
                 after the run): allow a longer run",
                m.warm_up_s,
                100.0 * before,
                100.0 * after
            )
        }
    };
    Some(Warning::new(WarningKind::NotSteady, message))
}

/// The doubt about a run whose workers had to wait for processors that others used. While a quota
/// stops them, they wait as well.
pub(super) fn doubt_of_waiting(m: &Measurement, ours: Ours) -> Option<Warning> {
    let waiting = waiting_frac(m, ours).filter(|share| *share > WAITING_MAX)?;
    let by = match may_wait_for_kernel(m, ours) {
        true => ", perhaps for threads of the kernel that write back, which are not seen here",
        false => "",
    };
    let without = m.witness.undisturbed_bytes_per_s.map_or_else(String::new, |rate| {
        format!("; in the remaining time they ran at {}", Rate(rate))
    });
    let message = format!(
        "the workers were ready to run but waited for a processor {:.0} % of the time{by}{without}",
        100.0 * waiting.min(1.0)
    );
    Some(Warning::new(WarningKind::LoadByOthers, message))
}

/// The doubt about a run that waited for a device from which other programs read; other clients of
/// the same run do not count. By itself this is no disturbance: a load that saturates a slow disk
/// is hardly noticed on a drive that serves many requests at once, and the run cannot tell them
/// apart.
pub(super) fn doubt_of_reads_by_others(m: &Measurement, ours: Ours) -> Option<Warning> {
    let others = m.read_by_others().filter(|_| ours.beside == 0)?;
    let own = m.storage_read_bytes? as f64;
    let message = format!(
        "others read {} from the device during this run ({}), which itself read {}. Whether that slowed the run is unknown: measure again when they have finished",
        Bytes(others),
        Rate(others / m.elapsed_s),
        Bytes(own)
    );
    Some(Warning::new(WarningKind::LoadByOthers, message))
}

/// Notes that a processor quota, the one that was `counted` or else one that does not show, may have
/// stopped the workers. That is no disturbance, since it does so in every run.
pub(super) fn note_of_quota(m: &Measurement, counted: &Witness) -> Option<Warning> {
    let is_long = |s: &f64| *s > WAITING_MAX * m.elapsed_s;
    let stopped_s = m.by_quota_s().filter(is_long)?;
    let percent = 100.0 * (stopped_s / m.elapsed_s).min(1.0);
    let message = match counted.throttled_s.filter(is_long) {
        Some(_) => format!(
            "a quota of processor time (a control group's cpu.max) stopped the workers for up to {percent:.0} % of the time: the throughput \
             may be what the quota allows; raise it to learn what the machine does"
        ),
        None => format!(
            "for up to {percent:.0} % of the time the workers waited for a processor although one was idle: a quota of a control group above \
             this container, which does not show here, may have stopped them, and the throughput may be what it allows; cpu.stat of that \
             group would tell"
        ),
    };
    Some(Warning::new(WarningKind::Stopped, message))
}

#[cfg(test)]
#[path = "witness_tests.rs"]
mod tests;
