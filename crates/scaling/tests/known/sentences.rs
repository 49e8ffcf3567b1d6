//! What an evaluation says, and what it must not say where witnesses or intervals do not support
//! it.

use crate::machines::{Level, MIB, Machine, file_system, hierarchy, mix, options, shape, steps};
use ioscape_scaling::{EvaluationOptions, Phase, ProbeRequest, explore, findings, judge};
use ioscape_schema::{
    Access, BorderOperation, Engine, Evaluation, LevelCount, Purpose, Workload, WritePolicy,
};
use std::cell::Cell;

fn said(evaluation: &Evaluation) -> String {
    evaluation.findings.sentences.join("\n")
}

#[test]
fn that_writes_stall_for_a_flush_needs_the_device_for_a_witness() {
    let mut machine = file_system(1e10, 15e8, 2e6, 1e7);
    machine.burst_ratio = Some(1.9);
    let options = EvaluationOptions { flush_interval_s: Some(35.0), ..options(1024.0 * MIB) };
    let mut evaluation = explore(&options, &mut machine).unwrap();
    for (written, words) in [
        (None, "a flush may be the cause"),
        (Some(4096), "a flush may be the cause"),
        (Some(1 << 29), "the device wrote as much as a flush does"),
    ] {
        let mut probes = evaluation.probes.iter_mut();
        let probe = probes.find(|p| *p.purpose.first() == Purpose::Flush).expect("a flush");
        probe.measurement.witness.device_written_bytes = written;
        let said = judge(&evaluation).findings.sentences.join("\n");
        assert!(said.contains(words), "{written:?}: {said}");
    }
}

/// A simulated memory so fast that the run ended long before the first flush. Once, "undisturbed over mean: 1.00" was said of it.
#[test]
fn a_run_that_ended_before_the_first_flush_says_nothing_of_it() {
    let mut machine = file_system(1e10, 15e8, 2e6, 1e7);
    (machine.burst_ratio, machine.flush_most_s) = (Some(1.0), 0.3);
    let options = EvaluationOptions { flush_interval_s: Some(35.0), ..options(1024.0 * MIB) };
    let evaluation = explore(&options, &mut machine).unwrap();
    assert_eq!(evaluation.findings.flush_slowdown, None);
    let words = "The cost of flushing is unknown: flushing was not observed: the run ended after 300 ms, before the first flush at 35 s.";
    assert!(said(&evaluation).contains(words), "{}", said(&evaluation));
}

#[test]
fn that_a_flush_does_not_slow_writes_needs_a_flush_and_a_narrow_interval() {
    let options = EvaluationOptions { flush_interval_s: Some(35.0), ..options(1024.0 * MIB) };
    let mut machine = file_system(1e10, 15e8, 2e6, 1e7);
    machine.burst_ratio = Some(1.1);
    let mut evaluation = explore(&options, &mut machine).unwrap();
    for (burst, longest_ms, written, words) in [
        (1.1, 40, Some(1u64 << 29), "A flush does not slow writes in the cache by a factor of 1.5"),
        (1.1, 3000, Some(1 << 29), "single writes stall, for up to 3"),
        (1.1, 40, Some(0), "cannot be told from this run (undisturbed over mean throughput: 1.1"),
        (1.1, 40, None, "a target on a block device would tell"),
        (
            3.0,
            40,
            Some(1 << 29),
            "cannot be told from this run (undisturbed over mean throughput: 1.1",
        ),
        (
            3.0,
            40,
            Some(0),
            "the device wrote less than one does, according to its counters; a longer budget",
        ),
    ] {
        let mut probes = evaluation.probes.iter_mut();
        let probe = probes.find(|p| *p.purpose.first() == Purpose::Flush).expect("a flush");
        probe.measurement.burst_ratio = Some(burst);
        probe.measurement.response_time_ns.p50 = 1000;
        probe.measurement.response_time_ns.max = longest_ms * 1_000_000;
        probe.measurement.witness.device_written_bytes = written;
        let said = judge(&evaluation).findings.sentences.join("\n");
        assert!(said.contains(words), "{burst} {longest_ms} {written:?}: {said}");
        assert!(!said.contains("does not stall"), "{said}");
    }
}

/// 24 GiB of memory over a disk nearly as fast, and no set that outgrows memory: reads were never
/// compared with the disk.
#[test]
fn that_nothing_is_gained_by_a_cache_needs_sets_that_leave_it() {
    let mut machine = file_system(6e9, 3.1e9, 2.9e9, 6e9);
    let mut evaluation = explore(&options(64.0 * MIB), &mut machine).unwrap();
    assert_eq!(evaluation.findings.write_policy, Some(WritePolicy::NotCached));
    let words = "No gain from a cache shows in sets of up to 64 MiB";
    assert!(said(&evaluation).contains(words), "{}", said(&evaluation));
    for probe in &mut evaluation.probes {
        probe.measurement.resident_frac = Some(1.0);
    }
    let without_device = judge(&evaluation).findings.write_policy;
    assert_eq!(without_device, Some(WritePolicy::NotCached), "as on tmpfs");
    for probe in &mut evaluation.probes {
        probe.measurement.witness.device_written_bytes = Some(0);
    }
    let judged = judge(&evaluation);
    assert_eq!(judged.findings.write_policy, None);
    assert!(said(&judged).contains("every set stayed in memory"), "{}", said(&judged));
}

/// A server's cache of 100 MiB, whose client keeps nothing. Guards against calling it the file
/// cache, with write-through.
#[test]
fn a_file_cache_that_keeps_nothing_has_neither_a_size_nor_a_policy() {
    let mut machine = file_system(4320e6, 9.8e6, 9.8e6, 9.8e6);
    let mut evaluation = explore(&options(1024.0 * MIB), &mut machine).unwrap();
    assert_eq!(evaluation.findings.write_policy, Some(WritePolicy::WriteThrough));
    for probe in &mut evaluation.probes {
        let run = &mut probe.measurement;
        (run.resident_frac, run.witness.resident_frac) = (Some(0.0), Some([0.0; 2]));
    }
    let judged = judge(&evaluation);
    assert_eq!(judged.findings.read_cache_bytes, None);
    assert_eq!(judged.findings.write_policy, None);
    let said = said(&judged);
    assert!(!said.contains("effective file cache"), "{said}");
    let words = ["cache behind the file cache", "most of every set was outside the file cache"];
    assert!(words.iter().all(|words| said.contains(words)), "{said}");
}

#[test]
fn why_the_write_policy_is_not_told_is_said() {
    let level = |w: &Workload| 5e9 * shape(w);
    let mut mapped = options(256.0 * MIB);
    mapped.base.engine = Engine::Mmap;
    let evaluation = explore(&mapped, &mut Machine::with_noise(1, 0.02, level)).unwrap();
    assert!(said(&evaluation).contains("stores to mapped files have no synchronous form"));
    assert!(!said(&evaluation).contains("too close"), "{}", said(&evaluation));

    let mut evaluation =
        explore(&options(256.0 * MIB), &mut Machine::with_noise(1, 0.02, level)).unwrap();
    evaluation.probes.retain(|probe| probe.purpose != Purpose::SynchronousWrites);
    let judged = judge(&evaluation);
    assert!(said(&judged).contains("nothing slower than the first region was measured"));
    assert!(!said(&judged).contains("too close"), "{}", said(&judged));

    let mut near = file_system(6.7e9, 3.1e9, 1.0e9, 6.7e9);
    let evaluation = explore(&options(64.0 * MIB), &mut near).unwrap();
    assert!(said(&evaluation).contains("are too close"), "{}", said(&evaluation));
}

/// Writes two and a half times as fast as synchronous ones and a fifth as fast as reads: either a
/// cache over a fast disk, or none.
#[test]
fn that_a_cache_writes_through_is_not_told_by_speeds_alone_where_these_are_close() {
    let mut machine = file_system(8e9, 1.45e9, 0.6e9, 8e9);
    let mut evaluation = explore(&options(64.0 * MIB), &mut machine).unwrap();
    assert_eq!(evaluation.findings.write_policy, None, "{}", said(&evaluation));
    for probe in &mut evaluation.probes {
        let written = probe.measurement.bytes;
        probe.measurement.witness.device_written_bytes = Some(written);
        probe.measurement.witness.dirty_bytes = Some([0, 0]);
    }
    let stored = judge(&evaluation);
    assert_eq!(stored.findings.write_policy, Some(WritePolicy::WriteThrough));
    assert!(said(&stored).contains("writes are 2.4 ("), "{}", said(&stored));
    for probe in &mut evaluation.probes {
        probe.measurement.witness.dirty_bytes = Some([0, probe.measurement.bytes / 2]);
    }
    assert_eq!(judge(&evaluation).findings.write_policy, None, "dirty bytes grew");
}

/// The disk that reads nothing from its cache follows the law; doubt about the points leaves it
/// open.
#[test]
fn the_law_of_a_write_through_cache_is_judged_by_its_interval() {
    let mut machine = file_system(4320e6, 9.8e6, 9.8e6, 9.8e6);
    let mut evaluation = explore(&options(1024.0 * MIB), &mut machine).unwrap();
    assert!(said(&evaluation).contains("follows the law"), "{}", said(&evaluation));
    for probe in &mut evaluation.probes {
        let rate = probe.measurement.throughput_bytes_per_s;
        probe.measurement.throughput_ci95 = [0.5 * rate, 1.5 * rate];
    }
    let judged = judge(&evaluation);
    assert_eq!(judged.findings.write_policy, Some(WritePolicy::WriteThrough));
    assert!(said(&judged).contains("Whether throughput follows the law"), "{}", said(&judged));
}

/// Reads stay equally fast, while writes fall fivefold at half of the largest set; by its counters
/// every set stays in memory.
#[test]
fn residency_alone_does_not_say_that_writes_outgrow_no_cache() {
    let law = |w: &Workload| {
        let writes = steps(&[Level(128.0 * MIB, 4e9), Level(1e18, 0.8e9)], w.unique_bytes as f64);
        shape(w) * mix(w, 5e9, writes)
    };
    let mut evaluation =
        explore(&options(256.0 * MIB), &mut Machine::with_noise(1, 0.02, law)).unwrap();
    let curves =
        [&mut evaluation.unique_bytes_read_curve, &mut evaluation.unique_bytes_write_curve];
    for point in curves.into_iter().flatten() {
        point.measurement.resident_frac = Some(1.0);
    }
    evaluation.borders.clear();
    evaluation.level_counts = vec![LevelCount {
        regions: 2,
        probability: 0.99,
        read_borders: Vec::new(),
        write_borders: Vec::new(),
    }];
    let found = findings(&evaluation);
    assert_eq!(found.no_border_of, [BorderOperation::Read]);
    let said = found.sentences.join("\n");
    assert!(said.contains("No cache border was reached for reads"), "{said}");
    assert!(!said.contains("No cache border was reached for writes"), "{said}");
    assert!(said.contains("whether a cache for writes ends among them cannot be told"), "{said}");
    for point in &mut evaluation.unique_bytes_write_curve {
        point.measurement.cpu_system_s =
            point.measurement.elapsed_s * f64::from(point.measurement.workload.process_num);
    }
    let said = findings(&evaluation).sentences.join("\n");
    assert!(said.contains("No cache border was reached for writes"), "they only compute: {said}");
}

/// A disk with its own cache of 80 MiB.
fn own_cache(w: &Workload) -> f64 {
    let levels = [Level(80.0 * MIB, 3e8), Level(1e18, 5e6)];
    shape(w) * hierarchy(&levels, w.unique_bytes as f64)
}

#[test]
fn the_cache_of_a_device_is_no_file_cache() {
    let of = |access| {
        let mut asked = options(1024.0 * MIB);
        (asked.base.access, asked.base.align_bytes) = (access, Some(4096));
        explore(&asked, &mut Machine::with_noise(1, 0.02, own_cache)).unwrap()
    };
    let direct = of(Access::Direct);
    let sizes = [direct.findings.read_cache_bytes, direct.findings.write_cache_bytes];
    assert_eq!(sizes, [None, None], "{}", said(&direct));
    let words = "A cache behind the file cache, such as the drive's own, ends for reads at";
    let is_80 = |at: &str| said(&direct).contains(&format!("{words} {at} MiB"));
    assert!(is_80("79.9") || is_80("80"), "{}", said(&direct));
    assert!(direct.borders.iter().all(|border| (border.unique_bytes / MIB - 80.0).abs() < 0.4));
    assert!(!said(&direct).contains("effective file cache"), "{}", said(&direct));

    let synchronous = of(Access::Dsync);
    assert!(synchronous.findings.read_cache_bytes.is_some());
    assert_eq!(synchronous.findings.write_cache_bytes, None);
    assert!(said(&synchronous).contains("such as the drive's own, ends for writes at"));
    assert!(!said(&synchronous).contains("effective file cache for writes"));
}

/// A disk that is slower for two minutes, evaluated with direct access; `computed_s` is the
/// processor time of its runs.
fn slower_for_a_while(computed_s: fn(&ProbeRequest) -> f64) -> Evaluation {
    let mut machine = Machine::with_noise(1, 0.02, |workload| shape(workload) * 1e7);
    machine.drift = |at_s| if (100.0..220.0).contains(&at_s) { 0.2 } else { 1.0 };
    machine.computed_s = Some(computed_s);
    let mut asked = options(1024.0 * MIB);
    asked.base.access = Access::Direct;
    explore(&asked, &mut machine).unwrap()
}

#[test]
fn that_storage_was_slower_for_a_while_is_told_by_a_reference_that_waits_for_it() {
    let direct = slower_for_a_while(|_| 0.1);
    assert!(direct.drift.remeasured > 0, "{:?}", direct.drift);
    assert!(said(&direct).contains("reference workload changed its speed"), "{}", said(&direct));
    // A reference in memory shows the processors' speed, which hardly matters to runs that wait for
    // a disk.
    let in_memory = slower_for_a_while(|request| match request.purpose {
        Purpose::Reference => 1.0,
        _ => 0.1,
    });
    assert_eq!((in_memory.drift.remeasured, in_memory.drift.unresolved), (0, 0));
}

/// A plain disk with its own cache. The cache holds the reference's set again after another set was
/// read, as each set is read once before its run.
#[test]
fn references_that_only_the_cache_of_a_disk_sets_apart_say_nothing_of_its_speed() {
    let is_cached = Cell::new(true);
    let mut machine = Machine::with_noise(1, 0.02, move |workload| {
        let is_reference = workload.unique_bytes == 8 << 20
            && workload.read_frac == 1.0
            && workload.seq_frac == 0.0;
        if is_reference {
            return if is_cached.replace(false) { 1.3e8 } else { 6e6 };
        }
        is_cached.set(workload.read_frac > 0.0);
        shape(workload) * 6e6
    });
    machine.computed_s = Some(|_| 0.1);
    let mut asked = options(1024.0 * MIB);
    asked.base.access = Access::Direct;
    let evaluation = explore(&asked, &mut machine).unwrap();
    assert!(evaluation.drift.largest > 0.9, "{:?}", evaluation.drift);
    assert_eq!((evaluation.drift.remeasured, evaluation.drift.unresolved), (0, 0));
    assert!(
        !said(&evaluation).contains("reference workload changed its speed"),
        "{}",
        said(&evaluation)
    );
}

/// Each of its writes waits for storage, whatever is resident.
#[test]
fn synchronous_writes_do_not_stay_in_memory() {
    let mut asked = options(256.0 * MIB);
    asked.base.access = Access::Dsync;
    let law = |w: &Workload| shape(w) * mix(w, 5e9, 5e6);
    let mut evaluation = explore(&asked, &mut Machine::with_noise(1, 0.02, law)).unwrap();
    for point in &mut evaluation.unique_bytes_write_curve {
        point.measurement.resident_frac = Some(1.0);
    }
    let said = findings(&evaluation).sentences.join("\n");
    assert!(!said.contains("No cache border was reached for writes"), "{said}");
}

/// Interrupted at every fifth probe: statements on the number of regions rest on its probability,
/// or say that they do not.
#[test]
fn an_interrupted_evaluation_says_no_more_than_a_finished_one() {
    let law = |w: &Workload| {
        let levels = [Level(80.0 * MIB, 8e9), Level(1e18, 1e7)];
        shape(w) * hierarchy(&levels, w.unique_bytes as f64)
    };
    let asked = EvaluationOptions { budget_s: 120.0, ..options(1024.0 * MIB) };
    let (mut judged, mut early) = (0, 0);
    for fails_at in (0..90).step_by(5) {
        let mut machine = Machine::with_noise(1, 0.1, law);
        machine.fails_at = Some(fails_at);
        let Err(stopped) = explore(&asked, &mut machine) else { break };
        let partial = stopped.partial;
        let is_judged = !partial.level_counts.is_empty();
        judged += usize::from(is_judged);
        early += usize::from(partial.regions.is_empty());
        assert_eq!(partial.regions.is_empty(), !is_judged, "at probe {fails_at}");
    }
    assert!(judged > 5 && early > 0, "{judged} {early}");
}

#[test]
fn what_ended_a_curve_is_the_limit_of_points_or_the_time() {
    let law = |w: &Workload| shape(w) * 5e9;
    let asked = EvaluationOptions { points_max: Some(40), ..options(1024.0 * MIB) };
    let few = explore(&asked, &mut Machine::new(1, own_cache)).unwrap();
    let why: Vec<&String> = few.shortened.values().collect();
    assert!(why.iter().any(|why| why.contains("share of --points was used up")), "{why:?}");
    assert!(!why.iter().any(|why| why.contains("time budget")), "{why:?}");
    let asked = EvaluationOptions { budget_s: 20.0, ..options(1024.0 * MIB) };
    let short = explore(&asked, &mut Machine::new(1, law)).unwrap();
    assert!(short.shortened.values().any(|why| why.contains("did not fit into the time budget")));
}

#[test]
fn reads_of_storage_that_are_left_out_go_by_their_own_name() {
    let mut machine = Machine::new(1, own_cache);
    // The largest set takes so long that it is not measured again.
    machine.cost = |request| match request.workload.unique_bytes as f64 > 900.0 * MIB {
        true => 230.0,
        false => 0.2 + 1.2 * request.limits.cap_s,
    };
    let asked = EvaluationOptions { interactions: 24, ..options(1024.0 * MIB) };
    let found = explore(&asked, &mut machine).unwrap();
    assert!(!found.shortened.contains_key(Phase::Findings.name()), "{:?}", found.shortened);
    let why = &found.shortened["pure reads of storage"];
    assert!(why.starts_with("no time was left for it"), "{why}");
}
