//! What the kernel counted during a run, set beside its figures: the witness of a measurement, and
//! the doubts it raises.

use ioscape_machine::mounts::FileSystemInfo;
use ioscape_machine::parallel::processors;
use ioscape_schema::tally::doubt_of_steadiness;
use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{Access, Engine, Measurement, Warning, WarningKind, Witness};

/// Dirty pages that grow by less than this share of the bytes written are no longer filling up.
pub(super) const FILLING: f64 = 0.1;

/// Residency counts as steady if it changes by less than these shares of the bytes moved, or of the
/// set: pages of other programs come and go.
const CHANGING: [f64; 2] = [0.1, 0.01];

/// Share of its time that a worker may wait for a processor before the run counts as disturbed.
const WAITING_MAX: f64 = 0.10;

/// If a worker waited for more than this share of its time, too little remains to compute a rate
/// from.
const WAITING_MOST: f64 = 0.9;

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
}

impl Ours {
    /// Where files stay in memory, the kernel writes nothing back.
    pub(super) fn on(file_system: &FileSystemInfo, kernel_s: Option<f64>, beside: u64) -> Self {
        let none = file_system.is_in_memory().then_some(0.0);
        Self { kernel_s: none.or(kernel_s), beside, by_processors: false }
    }
}

/// The witness of `m` on this file system, from what was `counted` in its measured part and the
/// share of its set that was in the file cache before.
pub(super) fn of(
    m: &Measurement,
    counted: &Witness,
    resident_before: Option<f64>,
    file_system: &FileSystemInfo,
    ours: Ours,
) -> Witness {
    if m.workload.engine == Engine::Null {
        return Witness::default();
    }
    let witness = Witness {
        resident_frac: resident_before.zip(m.resident_frac).map(|(a, b)| [a, b]),
        storage_read_bytes: m.storage_read_bytes,
        dirty_bytes: counted.dirty_bytes.filter(|_| !hides_dirty(file_system)),
        served_by_processors: ours.by_processors,
        ..counted.clone()
    };
    let sustained_write_bytes_per_s = sustained(m, &witness);
    let seen = Measurement { witness, ..m.clone() };
    let undisturbed_bytes_per_s = undisturbed(&seen, ours);
    Witness { undisturbed_bytes_per_s, sustained_write_bytes_per_s, ..seen.witness }
}

/// Whether writes wait in a cache whose dirty bytes the kernel does not count. With DAX, nothing
/// waits.
fn hides_dirty(file_system: &FileSystemInfo) -> bool {
    file_system.caches_elsewhere() && !file_system.is_dax()
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
    let waited_s = (m.witness.run_delay_s? - streams as f64 * of_each_s).max(0.0);
    let have_room = streams.saturating_mul(ours.beside.saturating_add(1)) <= processors() as u64;
    (have_room && m.elapsed_s > 0.0).then(|| waited_s / streams as f64 / m.elapsed_s)
}

/// The share of the time of all processors that others had while more streams than processors were
/// ready to run. Absent where that is unknown, and where the streams also waited for anything else.
fn taken_frac(m: &Measurement, ours: Ours) -> Option<f64> {
    let (streams, all) = (m.workload.process_num as usize, processors());
    let is_alone = ours.beside == 0 && m.by_quota_s().unwrap_or(0.0) == 0.0;
    let ran_s = m.cpu_user_s + m.cpu_system_s;
    let ready_s = ran_s + m.witness.run_delay_s?;
    let is_ready = ready_s >= ALWAYS * streams as f64 * m.elapsed_s;
    let all_s = all as f64 * m.elapsed_s;
    let is_told = is_alone && streams > all && is_ready && all_s > 0.0;
    is_told.then(|| (1.0 - (ran_s + ours.kernel_s.unwrap_or(0.0)) / all_s).max(0.0))
}

/// Whether the workers may have waited for kernel threads that cannot be observed but had something
/// to write back.
pub(super) fn may_wait_for_kernel(m: &Measurement, ours: Ours) -> bool {
    let is_written = m.write.is_some_and(|write| write.bytes > 0);
    ours.kernel_s.is_none() && is_written && m.workload.access != Access::Direct
}

/// The rate in the time that no others kept the workers from a processor. Absent for workers that
/// pause: they wait mostly at the end of a pause, which the next one makes up for.
fn undisturbed(m: &Measurement, ours: Ours) -> Option<f64> {
    let pauses = m.workload.think_time_ns > 0 || !m.workload.phases.is_empty();
    if pauses || may_wait_for_kernel(m, ours) {
        return None;
    }
    let lost = waiting_frac(m, ours).or_else(|| taken_frac(m, ours));
    let lost = lost.filter(|share| *share < WAITING_MOST)?;
    Some(m.throughput_bytes_per_s / (1.0 - lost))
}

/// The rate of writes that reached storage. Dirty bytes that decreased count as zero: they were
/// written earlier.
fn sustained(m: &Measurement, witness: &Witness) -> Option<f64> {
    let written = m.write.filter(|write| write.bytes > 0 && m.elapsed_s > 0.0)?.bytes;
    let absorbed = match m.workload.access {
        Access::Buffered => {
            witness.dirty_bytes.map(|[before, after]| after.saturating_sub(before))?
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

/// Notes that a processor quota may have stopped the workers. That is no disturbance, since it does
/// so in every run.
pub(super) fn note_of_quota(m: &Measurement) -> Option<Warning> {
    let stopped_s = m.by_quota_s().filter(|s| *s > WAITING_MAX * m.elapsed_s)?;
    let message = format!(
        "a quota of processor time (a control group's cpu.max) stopped the workers for up to {:.0} % of the time: the throughput may be what \
         the quota allows; raise it to learn what the machine does",
        100.0 * (stopped_s / m.elapsed_s).min(1.0)
    );
    Some(Warning::new(WarningKind::Stopped, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::measurement::Direction;
    use ioscape_schema::{Stop, Workload};

    /// No kernel threads and no other clients.
    const NONE: Ours = Ours { kernel_s: Some(0.0), beside: 0, by_processors: false };

    /// One second of one process that wrote 1000 bytes.
    fn measurement(witness: Witness) -> Measurement {
        let workload = Workload { process_num: 1, ..Workload::default() };
        Measurement {
            elapsed_s: 1.0,
            throughput_bytes_per_s: 1000.0,
            write: Some(Direction { bytes: 1000, ..Direction::default() }),
            witness,
            ..Measurement::empty(workload, Stop::Confident)
        }
    }

    #[test]
    fn time_without_a_processor_is_taken_off() {
        let witness = Witness { run_delay_s: Some(0.5), ..Witness::default() };
        let m = measurement(witness.clone());
        assert_eq!(undisturbed(&m, NONE), Some(2000.0));
        assert!(doubt_of_waiting(&m, NONE).unwrap().message.contains("50 % of the time"));
        // Rates use powers of 1000, like the throughput beside them.
        let witness_of = Witness { undisturbed_bytes_per_s: Some(2000.0), ..witness.clone() };
        let told = doubt_of_waiting(&measurement(witness_of), NONE).unwrap().message;
        assert!(told.ends_with("they ran at 2 kB/s"), "{told}");
        let many = Workload { process_num: 1 << 20, ..m.workload.clone() };
        let m = Measurement { workload: many, ..m };
        assert_eq!(undisturbed(&m, NONE), None, "they wait for one another");
        assert!(doubt_of_waiting(&m, NONE).is_none());
        let starved = Witness { run_delay_s: Some(0.99), ..Witness::default() };
        let m = measurement(starved.clone());
        assert_eq!(undisturbed(&m, NONE), None);
        assert!(doubt_of_waiting(&m, NONE).is_some());
        assert_eq!(undisturbed(&measurement(Witness::default()), NONE), None, "not asked");
        let mut pausing = measurement(witness.clone());
        pausing.workload.think_time_ns = 300_000;
        assert_eq!(undisturbed(&pausing, NONE), None);
    }

    /// Twice as many processes as processors, of which others had a third of the time.
    #[test]
    fn time_of_processors_that_others_had_is_taken_off_from_more_workers_than_processors() {
        let all = processors() as f64;
        let of = |ran: f64, ready: f64| {
            let mut m = measurement(Witness::default());
            m.workload.process_num = 2 * processors() as u32;
            m.cpu_system_s = ran * all;
            m.witness.run_delay_s = Some((2.0 * ready - ran) * all);
            undisturbed(&m, NONE)
        };
        assert!((of(2.0 / 3.0, 1.0).unwrap() - 1500.0).abs() < 1e-6);
        assert!((of(1.0, 1.0).unwrap() - 1000.0).abs() < 1e-6);
        assert_eq!(of(2.0 / 3.0, 0.9), None, "they waited for storage, too");
        assert_eq!(of(0.05, 1.0), None, "too little to tell");
    }

    /// Guards against calling the kernel's encryption a load by others: it uses the other half of
    /// one processor during write-back, in every run.
    #[test]
    fn what_the_kernel_computes_to_write_back_is_no_load_by_others() {
        let witness = Witness { run_delay_s: Some(0.5), ..Witness::default() };
        let m = measurement(witness.clone());
        let by = |kernel_s| Ours { kernel_s, ..NONE };
        assert_eq!(doubt_of_waiting(&m, by(Some(0.48))), None);
        let rate = undisturbed(&m, by(Some(0.48))).unwrap();
        assert!((rate - 1000.0 / 0.98).abs() < 1e-6, "{rate}");
        let rest = doubt_of_waiting(&m, by(Some(0.1))).unwrap().message;
        assert!(rest.ends_with("waited for a processor 40 % of the time"), "{rest}");
        let unseen = doubt_of_waiting(&m, by(None)).unwrap().message;
        assert!(unseen.contains("perhaps for threads of the kernel"), "{unseen}");
        assert!(may_wait_for_kernel(&m, by(None)) && !may_wait_for_kernel(&m, NONE));
        assert_eq!(undisturbed(&m, by(None)), None);
        if processors() > 1 {
            let mut two = measurement(Witness { run_delay_s: Some(1.0), ..Witness::default() });
            two.workload.process_num = 2;
            assert_eq!(doubt_of_waiting(&two, by(Some(0.48))), None, "each on its processor");
        }
        let on = |name: &str| {
            let file_system = FileSystemInfo { name: name.to_owned(), ..Default::default() };
            Ours::on(&file_system, None, 0)
        };
        assert!(may_wait_for_kernel(&m, on("ext4")) && !may_wait_for_kernel(&m, on("tmpfs")));
        let reading = Measurement { write: None, ..m };
        assert!(!may_wait_for_kernel(&reading, by(None)), "nothing is written back");
    }

    #[test]
    fn a_backup_that_reads_from_the_same_device_is_told_and_other_clients_are_not() {
        let device_read_bytes = Some(80_000_000);
        let mut m = measurement(Witness { device_read_bytes, ..Witness::default() });
        let bytes = 1_500_000;
        m.read = Some(Direction { bytes, ..Direction::default() });
        (m.cpu_system_s, m.storage_read_bytes) = (0.05, Some(bytes));
        let told = doubt_of_reads_by_others(&m, NONE).unwrap();
        assert!(told.message.starts_with("others read "), "{told}");
        assert!(told.message.contains("Whether that slowed the run is unknown"), "{told}");
        assert_eq!(told.kind, WarningKind::LoadByOthers);
        assert_eq!(doubt_of_reads_by_others(&m, Ours { beside: 1, ..NONE }), None);
        m.witness.device_read_bytes = Some(bytes);
        assert_eq!(doubt_of_reads_by_others(&m, NONE), None);
    }

    #[test]
    fn clients_that_outnumber_the_processors_wait_for_one_another() {
        let m = measurement(Witness { run_delay_s: Some(0.5), ..Witness::default() });
        let beside = processors() as u64;
        assert_eq!(doubt_of_waiting(&m, Ours { beside, ..NONE }), None);
    }

    /// Guards against reporting, in every run, that other programs had the half of the processor
    /// that a quota withholds.
    #[test]
    fn a_quota_that_stops_the_workers_is_no_load_by_others() {
        let of = |throttled_s, run_delay_s| {
            let run_delay_s = Some(run_delay_s);
            measurement(Witness { run_delay_s, throttled_s, ..Witness::default() })
        };
        let stopped = of(Some(0.49), 0.5);
        assert_eq!(doubt_of_waiting(&stopped, NONE), None);
        let note = note_of_quota(&stopped).unwrap();
        assert!(note.message.contains("stopped the workers for up to 49 % of the time"), "{note}");
        assert_eq!(note.kind, WarningKind::Stopped);
        assert_eq!(note_of_quota(&of(Some(0.02), 0.5)), None);
        let mut both = of(Some(0.3), 0.5);
        both.witness.undisturbed_bytes_per_s = undisturbed(&both, NONE);
        let rest = doubt_of_waiting(&both, NONE).unwrap().message;
        // 1000 bytes in 0.8 s, of which the quota took 0.3 s.
        let told =
            "waited for a processor 20 % of the time; in the remaining time they ran at 1.25 kB/s";
        assert!(rest.ends_with(told), "{rest}");
        for no_quota in [None, Some(0.0)] {
            assert!(doubt_of_waiting(&of(no_quota, 0.5), NONE).is_some());
            assert_eq!(note_of_quota(&of(no_quota, 0.5)), None);
        }
        let of_others = of(Some(1.0), 0.05);
        assert_eq!(note_of_quota(&of_others), None, "its group was stopped, the worker was not");
    }

    #[test]
    fn what_the_cache_took_up_is_not_sustained() {
        let dirty =
            |before, after| Witness { dirty_bytes: Some([before, after]), ..Witness::default() };
        let of = |witness: &Witness| sustained(&measurement(witness.clone()), witness);
        assert_eq!(of(&dirty(100, 400)), Some(700.0));
        assert_eq!(of(&dirty(400, 100)), Some(1000.0), "written earlier");
        assert_eq!(of(&dirty(0, 5000)), Some(0.0));
        assert_eq!(of(&Witness::default()), None);
        let direct = Workload { access: Access::Direct, ..Workload::default() };
        let m = Measurement { workload: direct, ..measurement(Witness::default()) };
        assert_eq!(sustained(&m, &dirty(0, 900)), Some(1000.0), "the dirt of others");
        let m = Measurement { write: None, ..m };
        assert_eq!(sustained(&m, &dirty(0, 0)), None, "nothing was written");
    }

    /// Guards against reporting the speed of ZFS's own cache as one that the disks sustain.
    #[test]
    fn what_a_file_systems_own_cache_took_up_is_not_known_to_be_sustained() {
        let counted = Witness { dirty_bytes: Some([40_000, 40_000]), ..Witness::default() };
        let on = |name: &str, mount_options: &str| {
            let (name, mount_options) = (name.to_owned(), mount_options.to_owned());
            let file_system = FileSystemInfo { name, mount_options, ..FileSystemInfo::default() };
            let found = of(&measurement(Witness::default()), &counted, None, &file_system, NONE);
            (found.dirty_bytes, found.sustained_write_bytes_per_s)
        };
        assert_eq!([on("zfs", "rw"), on("gpfs", "rw")], [(None, None); 2]);
        let seen = (counted.dirty_bytes, Some(1000.0));
        assert_eq!([on("ext4", "rw"), on("ext4", "rw,dax=always")], [seen; 2]);
    }

    #[test]
    fn the_speed_of_the_cache_is_said_only_while_it_fills() {
        let doubt_in = |own, before, after| {
            let dirty_bytes = Some([before, after]);
            let witness = Witness {
                dirty_bytes,
                sustained_write_bytes_per_s: Some(300.0),
                ..Witness::default()
            };
            doubt_of_warm_up(Unsettled::Dirty { own }, &measurement(witness))
        };
        let doubt = |before, after| doubt_in(true, before, after);
        assert!(doubt(100, 800).unwrap().message.contains("this is the speed of the cache"));
        let of_machine = doubt_in(false, 100, 800).unwrap().message;
        assert!(of_machine.contains("this may be the speed of the cache"), "{of_machine}");
        assert!(doubt(100, 150).is_none());
        assert!(doubt(800, 100).is_none());
        assert!(doubt_of_warm_up(Unsettled::Residency, &measurement(Witness::default())).is_none());
        assert!(doubt_of_warm_up(Unsettled::Rate, &measurement(Witness::default())).is_some());
    }

    /// Guards against telling, where the warm-up had time for one query only, that residency still
    /// changed from 100 to 100 %.
    #[test]
    fn residency_is_said_to_change_only_if_it_did_while_measured() {
        let doubt = |resident_frac| {
            let mut m = measurement(Witness { resident_frac, ..Witness::default() });
            m.workload.unique_bytes = 100_000;
            (m.bytes, m.warm_up_s) = (50_000, 10.0);
            doubt_of_warm_up(Unsettled::Residency, &m)
        };
        assert_eq!([doubt(Some([1.0, 1.0])), doubt(Some([0.5, 0.54]))], [None, None]);
        let told = doubt(Some([0.4, 0.6])).unwrap().message;
        assert!(told.contains("(40 % before, 60 % after the run)"), "{told}");
    }
}
