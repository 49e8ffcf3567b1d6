//! Tests of what is said of a run: its doubts and notes.

use super::*;
use ioscape_schema::Phase;

/// A run of one process that lasted so long.
fn lasting(elapsed_s: f64) -> Measurement {
    let workload = Workload { process_num: 1, ..Workload::default() };
    Measurement { elapsed_s, ..Measurement::empty(workload, Stop::Confident) }
}

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

/// Guards against doubting every run with pauses on a disk: it serves its queue one request at a
/// time, 10 ms each, so that the mean is not much more than half the longest.
#[test]
fn a_queue_that_drains_before_its_pauses_is_not_doubted() {
    let doubt = |mean_ns, think_time_ns: u64| {
        let workload = Workload { queue_depth: 8, think_time_ns, ..Workload::default() };
        let mut m = Measurement {
            elapsed_s: 160.0,
            ios: 8000,
            response_time_littles_law_ns: Some(80e6),
            ..Measurement::empty(workload, Stop::TimeCap)
        };
        m.response_time_ns.mean = mean_ns;
        doubt_of_little(&m, 0.0, think_time_ns as f64)
    };
    assert_eq!(doubt(45e6, 10_000_000), None);
    assert!(doubt(120e6, 10_000_000).is_some(), "longer than the whole queue takes");
    assert!(doubt(45e6, 0).is_some(), "a full queue");
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
    let free = |group, enclosing| was_free(true, group, enclosing, &memory);
    assert!(free(None, None) && !free(None, Some(64)));
    assert!(free(Some((Some(10), 64)), Some(64)));
    assert!(!free(Some((Some(60), 64)), None) && !free(Some((None, 64)), None));
    let hidden = [None, Some((Some(10), 64))].map(|group| was_free(false, group, None, &memory));
    assert_eq!(hidden, [false; 2], "a group above may have a limit");
}

/// On 128 processors, agents that use 0.3 of one disturb nobody; on two, they are in the way.
#[test]
fn others_disturb_where_they_may_be_in_the_way_or_are_many() {
    let load = |processors, other_cpu| Load {
        processors,
        other_cpu,
        other_cpu_here: other_cpu,
        ..Load::default()
    };
    let crowded =
        |(processors, others), streams| is_crowded(&load(processors, others), streams, 128.0);
    assert!(!crowded((128.0, 0.3), 16) && !crowded((128.0, 2.0), 16));
    assert!(crowded((128.0, 3.0), 16), "they share caches and memory");
    assert!(crowded((128.0, 0.3), 128) && crowded((2.0, 0.2), 1));
    assert!(!crowded((2.0, 0.1), 2));
    assert!(crowded((0.0, 0.2), 1), "how many there are is not known");
    assert!(is_crowded(&load(64.0, 1.0), 4, 2.0), "they were on the two that are allowed");
    let elsewhere = |others| Load { other_cpu_here: 0.0, ..load(256.0, others) };
    assert!(!is_crowded(&elsewhere(0.2), 1, 1.0), "it had its processor for itself");
    assert!(is_crowded(&elsewhere(6.0), 1, 1.0), "they share caches and memory");
}

/// Guards against calling a run undisturbed whose only busy processor, of 16, lost 60 % of its
/// time.
#[test]
fn what_the_hypervisor_took_counts_by_what_was_wanted() {
    let of = |steal_s: f64, wanted_s: f64| {
        let (stolen, steal_frac) = (steal_s / 3.0, steal_s / wanted_s);
        let load = Load { processors: 16.0, stolen, steal_frac, ..Load::default() };
        doubts_of_others(&load, &lasting(3.0), false)
    };
    let told = of(1.8, 3.0);
    assert!(told[0].message.contains("took 60 % of the processor time that programs wanted"));
    assert_eq!(told[0].kind, WarningKind::Steal);
    assert_eq!(of(0.02, 0.1), [], "a few ticks of an idle machine");
    assert_eq!(of(0.15, 12.0), [], "all processors were busy");
}

/// gocryptfs decrypts what our own requests ask for.
#[test]
fn the_program_that_serves_a_file_system_is_no_load_by_others() {
    let load = Load { processors: 8.0, other_cpu: 0.26, ..Load::default() };
    assert_eq!(doubts_of_others(&load, &lasting(1.0), true), []);
    assert_eq!(doubts_of_others(&load, &lasting(1.0), false).len(), 1);
    let note = note_of_ours(&load, 1, Some("nbd0")).expect("a note").message;
    assert!(note.contains("serves nbd0, kept 0.3 proc"), "{note}");
    let robbed = Load { stolen: 0.1, steal_frac: 0.1, ..load };
    assert_eq!(doubts_of_others(&robbed, &lasting(1.0), true)[0].kind, WarningKind::Steal);
}

/// Guards against doubting every cached point of eight clients on one node, which no quiet
/// machine could have fixed.
#[test]
fn other_clients_of_the_same_run_are_no_load_by_others() {
    let load = Load { processors: 8.0, other_cpu: 0.6, ..Load::default() };
    let note = note_of_ours(&load, 1, None).map(|note| note.message).unwrap_or_default();
    assert!(note.contains("other clients of this run, kept 0.6 processors busy"), "{note}");
    assert_eq!(note_of_ours(&Load { other_cpu: 0.1, ..load }, 1, None), None);
}

#[test]
fn a_file_system_that_caches_nothing_is_not_said_to_have_a_small_cache() {
    assert!(dropped(0.0).contains("keeps nothing") && !dropped(0.0).contains("looks smaller"));
    assert!(dropped(0.3).starts_with("only 30 % of the set") && dropped(0.3).contains("smaller"));
}
