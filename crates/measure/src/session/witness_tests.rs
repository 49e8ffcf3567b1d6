//! Tests of the witness of a run, and of the doubts that it raises.

use super::*;
use ioscape_schema::measurement::Direction;
use ioscape_schema::{Stop, Workload};

/// No kernel threads and no other clients.
const NONE: Ours =
    Ours { kernel_s: Some(0.0), beside: 0, by_processors: false, in_memory: false, idle: None };

/// One second of one process that wrote 1000 bytes, of which none reached the device if that is
/// not counted.
fn measurement(witness: Witness) -> Measurement {
    let workload = Workload { process_num: 1, ..Workload::default() };
    let device_written_bytes = witness.device_written_bytes.or(Some(0));
    let witness = Witness { device_written_bytes, ..witness };
    Measurement {
        elapsed_s: 1.0,
        bytes: 1000,
        storage_read_bytes: Some(0),
        throughput_bytes_per_s: 1000.0,
        write: Some(Direction { bytes: 1000, ..Direction::default() }),
        witness,
        ..Measurement::empty(workload, Stop::Confident)
    }
}

/// The same, of which the device wrote so many bytes.
fn written(m: &Measurement, device_written: u64) -> Measurement {
    let device_written_bytes = Some(device_written);
    let witness = Witness { device_written_bytes, ..m.witness.clone() };
    Measurement { witness, ..m.clone() }
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
    let mut m = Measurement { workload: many, ..m };
    m.witness.run_delay_s = Some(f64::from(1 << 19));
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
    let beside_quota = |ran: f64, ready: f64, kernel_s, throttled_s| {
        let mut m = measurement(Witness { throttled_s, ..Witness::default() });
        m.workload.process_num = 2 * processors() as u32;
        m.cpu_system_s = ran * all;
        m.witness.run_delay_s = Some((2.0 * ready - ran) * all);
        undisturbed(&m, Ours { kernel_s: Some(kernel_s), ..NONE })
    };
    let of = |ran, ready, kernel_s| beside_quota(ran, ready, kernel_s, None);
    assert!((of(2.0 / 3.0, 1.0, 0.0).unwrap() - 1500.0).abs() < 1e-6);
    assert!((of(1.0, 1.0, 0.0).unwrap() - 1000.0).abs() < 1e-6);
    let by_kernel = of(0.75, 1.0, 0.25).unwrap();
    assert!((by_kernel - 1000.0).abs() < 1e-6, "the kernel had a quarter of each: {by_kernel}");
    let stopped = beside_quota(0.25, 1.0, 0.0, Some(0.75)).unwrap();
    assert!((stopped - 1000.0).abs() < 1e-6, "a quota had three quarters: {stopped}");
    assert_eq!(of(2.0 / 3.0, 0.9, 0.0), None, "they waited for storage, too");
    assert_eq!(of(0.05, 1.0, 0.0), None, "too little to tell");
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
    let m = written(&m, 500);
    let unseen = doubt_of_waiting(&m, by(None)).unwrap().message;
    assert!(unseen.contains("perhaps for threads of the kernel"), "{unseen}");
    assert!(may_wait_for_kernel(&m, by(None)) && !may_wait_for_kernel(&m, NONE));
    if processors() > 1 {
        let mut two = measurement(Witness { run_delay_s: Some(1.0), ..Witness::default() });
        two.workload.process_num = 2;
        assert_eq!(doubt_of_waiting(&two, by(Some(0.48))), None, "each on its processor");
    }
    let on = |name: &str| {
        let file_system = FileSystemInfo { name: name.to_owned(), ..Default::default() };
        Ours::on(&file_system, None, 0, false, None)
    };
    assert!(may_wait_for_kernel(&m, on("ext4")) && !may_wait_for_kernel(&m, on("tmpfs")));
    assert!(!may_wait_for_kernel(&written(&m, 0), by(None)), "nothing is written back");
    let reading = Measurement { write: None, ..m };
    assert!(!may_wait_for_kernel(&reading, by(None)), "nothing is written back");
}

/// Guards against a rate that storage does not reach: its read-ahead goes on while a worker waits for
/// a processor. And against one for reads but not for writes, where the kernel's threads are not seen.
#[test]
fn only_what_stays_in_memory_has_a_rate_without_the_time_of_others() {
    let witness = Witness { run_delay_s: Some(0.75), ..Witness::default() };
    let m = Measurement { cpu_system_s: 0.25, ..measurement(witness) };
    let unseen = Ours { kernel_s: None, ..NONE };
    let cached = Measurement { write: None, ..m.clone() };
    for ours in [NONE, unseen] {
        assert_eq!(undisturbed(&cached, ours), Some(4000.0));
        assert_eq!(undisturbed(&written(&m, 10), ours), Some(4000.0));
        assert_eq!(undisturbed(&written(&m, 11), ours), None);
    }
    let ahead = |read| Measurement { storage_read_bytes: read, ..cached.clone() };
    assert_eq!(undisturbed(&ahead(Some(1000)), NONE), None);
    assert_eq!(undisturbed(&ahead(None), NONE), None, "not counted");
    let mut uncounted = m.clone();
    uncounted.witness.device_written_bytes = None;
    assert_eq!(undisturbed(&uncounted, NONE), None);
    assert_eq!(undisturbed(&uncounted, Ours { in_memory: true, ..NONE }), Some(4000.0));
}

#[test]
fn an_interval_reaches_up_to_the_rate_without_others_where_that_is_unknown() {
    let upper = |run_delay_s, cpu_system_s, device_written| {
        let witness = Witness { run_delay_s: Some(run_delay_s), ..Witness::default() };
        let mut m = written(&measurement(witness), device_written);
        (m.cpu_system_s, m.throughput_ci95) = (cpu_system_s, [990.0, 1010.0]);
        m.witness.lost_frac = most_lost_frac(&m, NONE);
        m.witness.undisturbed_bytes_per_s = undisturbed(&m, NONE);
        widen(&mut m);
        m.throughput_ci95[1]
    };
    assert_eq!(upper(0.5, 0.5, 500), 2000.0);
    assert_eq!(upper(0.5, 0.5, 0), 1010.0, "it is known");
    assert_eq!(upper(0.5, 0.1, 500), 2000.0, "it waits for storage half of the rest");
    assert_eq!(upper(0.05, 0.9, 500), 1010.0, "hardly any");
}

/// Once, references that nobody disturbed were left out as having lost an unknown part of the time.
#[test]
fn a_run_that_lost_no_time_is_undisturbed_whatever_storage_did() {
    let of = |run_delay_s| {
        let witness = Witness { run_delay_s: Some(run_delay_s), ..Witness::default() };
        undisturbed(&written(&measurement(witness), 500), NONE)
    };
    assert_eq!([of(0.0), of(0.09), of(0.11)], [Some(1000.0), Some(1000.0), None]);
}

/// Once, runs of four processes on two processors, which others had for four fifths of the time, were
/// judged as measured and without doubt.
#[test]
fn more_workers_than_processors_lost_no_more_than_the_processors_did_besides() {
    let all = processors() as f64;
    let lost = |ran: f64, waited: f64, others: Option<f64>| {
        let mut m =
            measurement(Witness { run_delay_s: Some(2.0 * all * waited), ..Witness::default() });
        m.workload.process_num = 2 * processors() as u32;
        (m.cpu_system_s, m.other_cpu) = (ran * all, others.map(|others| others * all));
        assert_eq!(
            undisturbed(&m, NONE).is_some(),
            most_lost_frac(&m, NONE).unwrap() < WAITING_MAX
        );
        (100.0 * most_lost_frac(&m, NONE).unwrap()).round()
    };
    assert_eq!(lost(0.2, 0.6, Some(0.8)), 60.0);
    assert_eq!(lost(0.2, 0.6, Some(0.3)), 30.0);
    assert_eq!(lost(0.5, 0.6, None), 50.0);
    assert_eq!(lost(0.5, 0.6, Some(0.0)), 0.0, "they waited for one another");
}

/// Once, the wait of a stream's thread for the kernel's threads that copied for it was told as a
/// load by others, and taken off.
#[test]
fn what_an_io_uring_copies_in_other_threads_is_no_load_by_others() {
    let mut m = measurement(Witness { run_delay_s: Some(0.5), ..Witness::default() });
    m.workload.engine = Engine::IoUring;
    assert_eq!((undisturbed(&m, NONE), doubt_of_waiting(&m, NONE)), (None, None));
    m.workload.access = Access::Direct;
    assert!(doubt_of_waiting(&m, NONE).is_some(), "nothing is copied");
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
    let noted = |m: &Measurement| note_of_quota(m, &m.witness);
    let note = noted(&stopped).unwrap();
    assert!(note.message.contains("stopped the workers for up to 49 % of the time"), "{note}");
    assert_eq!(note.kind, WarningKind::Stopped);
    assert_eq!(noted(&of(Some(0.02), 0.5)), None);
    let mut both = of(Some(0.3), 0.5);
    both.witness.undisturbed_bytes_per_s = undisturbed(&both, NONE);
    let rest = doubt_of_waiting(&both, NONE).unwrap().message;
    // 1000 bytes in 0.8 s, of which the quota took 0.3 s.
    let told =
        "waited for a processor 20 % of the time; in the remaining time they ran at 1.25 kB/s";
    assert!(rest.ends_with(told), "{rest}");
    for no_quota in [None, Some(0.0)] {
        assert!(doubt_of_waiting(&of(no_quota, 0.5), NONE).is_some());
        assert_eq!(noted(&of(no_quota, 0.5)), None);
    }
    let of_others = of(Some(1.0), 0.05);
    assert_eq!(noted(&of_others), None, "its group was stopped, the worker was not");
}

/// Guards against raising cached speeds to 3.3 times what a pod can ever have, where only the groups
/// above the container hold the quota.
#[test]
fn a_quota_that_does_not_show_is_no_load_by_others() {
    let of = |idle, throttled_s| {
        let counted = Witness { run_delay_s: Some(0.7), throttled_s, ..Witness::default() };
        let mut m = measurement(Witness::default());
        (m.cpu_system_s, m.write) = (0.3, None);
        let ours = Ours { idle, ..NONE };
        put(&mut m, &counted, None, &FileSystemInfo::default(), ours);
        let note = note_of_quota(&m, &counted).map_or_else(String::new, |note| note.message);
        (m.judged_bytes_per_s().round(), doubt_of_waiting(&m, ours).is_some(), note)
    };
    for busy in [None, Some(0.0)] {
        assert_eq!(of(busy, None), (3333.0, true, String::new()));
    }
    let (rate, by_others, note) = of(Some(1.7), None);
    assert_eq!((rate, by_others), (1000.0, false));
    assert!(note.starts_with("for up to 70 % of the time") && note.contains("may have"), "{note}");
    let (rate, by_others, note) = of(Some(0.3), None);
    assert_eq!((rate, by_others), (1000.0, true), "both");
    assert!(note.starts_with("for up to 30 % of the time"), "{note}");
    assert!(of(Some(1.7), Some(0.6)).2.contains("(a control group's cpu.max) stopped"));
}

#[test]
fn what_the_cache_took_up_is_not_sustained() {
    let dirty =
        |before, after| Witness { dirty_bytes: Some([before, after]), ..Witness::default() };
    let of = |witness| sustained(&measurement(witness));
    assert_eq!(of(dirty(100, 400)), Some(700.0));
    assert_eq!(of(dirty(400, 100)), Some(1000.0), "written earlier");
    assert_eq!(of(dirty(0, 5000)), Some(0.0));
    assert_eq!(of(Witness::default()), None);
    let direct = Workload { access: Access::Direct, ..Workload::default() };
    let m = Measurement { workload: direct, ..measurement(dirty(0, 900)) };
    assert_eq!(sustained(&m), Some(1000.0), "the dirt of others");
    let m = Measurement { write: None, ..m };
    assert_eq!(sustained(&m), None, "nothing was written");
}

/// Guards against reporting the speed of ZFS's own cache as one that the disks sustain.
#[test]
fn what_a_file_systems_own_cache_took_up_is_not_known_to_be_sustained() {
    let counted = Witness { dirty_bytes: Some([40_000, 40_000]), ..Witness::default() };
    let on = |name: &str, mount_options: &str| {
        let (name, mount_options) = (name.to_owned(), mount_options.to_owned());
        let file_system = FileSystemInfo { name, mount_options, ..FileSystemInfo::default() };
        let mut m = measurement(Witness::default());
        put(&mut m, &counted, None, &file_system, NONE);
        (m.witness.dirty_bytes, m.witness.sustained_write_bytes_per_s)
    };
    assert_eq!([on("zfs", "rw"), on("gpfs", "rw")], [(None, None); 2]);
    let seen = (counted.dirty_bytes, Some(1000.0));
    assert_eq!([on("ext4", "rw"), on("ext4", "rw,dax=always")], [seen; 2]);
}

#[test]
fn the_speed_of_the_cache_is_said_only_while_it_fills() {
    let doubt_in = |own, before, after| {
        let dirty_bytes = Some([before, after]);
        let witness =
            Witness { dirty_bytes, sustained_write_bytes_per_s: Some(300.0), ..Witness::default() };
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
