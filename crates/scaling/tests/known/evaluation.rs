//! Whole evaluations of made-up machines: drift, interruption, budget, findings.

use crate::machines::{
    Level, MIB, Machine, curves, file_cache, file_system, hierarchy, one_cache, options, shape,
};
use crate::today;
use ioscape_scaling::{EvaluationOptions, Phase, ProbeRequest, RecordedProbe, explore, plan};
use ioscape_schema::{
    Access, BorderOperation, CurveKey, Engine, Evaluation, Parameter, Point, Purpose, Workload,
    WritePolicy,
};

/// Every point of every curve.
fn points(evaluation: &Evaluation) -> Vec<&Point> {
    let of_regions: Vec<&[Point]> = evaluation.regions.iter().flat_map(curves).collect();
    assert!(of_regions.iter().all(|curve| curve.len() >= 2));
    let across = [BorderOperation::Mixed, BorderOperation::Read, BorderOperation::Write];
    let across = across.map(|operation| evaluation.set_size_curve(operation));
    across.into_iter().chain(of_regions).flatten().collect()
}

/// A disk that serves up to 16 requests at once.
fn parallel_disk(workload: &Workload) -> f64 {
    let in_flight = f64::from(workload.queue_depth * workload.process_num);
    1e6 * in_flight.min(16.0)
}

#[test]
fn the_depth_of_the_queue_is_varied_where_requests_are_asynchronous() {
    let mut asked = options(256.0 * MIB);
    asked.base = Workload { engine: Engine::IoUring, access: Access::Direct, ..asked.base };
    let evaluation = explore(&asked, &mut Machine::with_noise(5, 0.01, parallel_disk)).unwrap();
    let region = &evaluation.regions[0];
    let depths: Vec<f64> = region.curves.queue_depth.iter().map(|p| p.value).collect();
    assert!(
        depths.len() >= 5 && depths[0] == 1.0 && depths[depths.len() - 1] == 64.0,
        "{depths:?}"
    );
    let found = &evaluation.findings.queue_depth_for_90_percent[0];
    let enough = 0.9 * 16.0 / f64::from(region.focal.process_num);
    assert!(found.low <= enough && enough <= found.high, "{found:?} for {enough}");

    asked.base.engine = Engine::Psync;
    let alone = explore(&asked, &mut Machine::with_noise(5, 0.01, parallel_disk)).unwrap();
    assert!(alone.regions.iter().all(|region| region.curves.queue_depth.is_empty()));
    assert!(alone.findings.queue_depth_gain.is_empty());
}

/// The settings of one of many evaluations. The probability of the number of regions takes most of
/// the time and is not the point here, so only every fifth asks for it.
fn one_of_many(number: u64, most: f64) -> EvaluationOptions {
    EvaluationOptions { level_counts: number.is_multiple_of(5), ..options(most) }
}

#[test]
fn a_stretch_of_half_speed_is_measured_again() {
    for seed in today::seeds(0..100, 4) {
        let mut machine = Machine::with_noise(seed, 0.02, one_cache);
        machine.drift = |at_s| if (100.0..220.0).contains(&at_s) { 0.5 } else { 1.0 };
        let evaluation = explore(&one_of_many(seed, 1024.0 * MIB), &mut machine).unwrap();
        assert!(evaluation.drift.remeasured >= 5, "{:?}", evaluation.drift);
        assert_eq!(evaluation.drift.unresolved, 0);
        assert!(evaluation.drift.largest > 0.4);
        for point in points(&evaluation) {
            let truth = machine.truth(&point.measurement.workload);
            let error = (point.throughput() / truth - 1.0).abs();
            assert!(error < 0.1, "seed {seed}: off by {error} at {:?}", point.measurement.workload);
        }
        assert_eq!(evaluation.regions.len(), 2, "{:?}", evaluation.borders);
    }
}

#[test]
fn disturbed_points_are_measured_again_and_hopeless_ones_are_marked() {
    let mut machine = Machine::new(3, one_cache);
    machine.disturbed = |number| number % 7 == 3;
    let evaluation = explore(&options(1024.0 * MIB), &mut machine).unwrap();
    assert!(evaluation.drift.remeasured >= 10);
    assert_eq!(evaluation.drift.unresolved, 0);
    assert!(points(&evaluation).iter().all(|p| !p.measurement.disturbed));

    let mut hopeless = Machine::new(3, one_cache);
    hopeless.disturbed = |_| true;
    let evaluation = explore(&options(1024.0 * MIB), &mut hopeless).unwrap();
    assert!(evaluation.drift.unresolved > 20);
    assert!(points(&evaluation).iter().any(|p| !p.measurement.warnings.is_empty()));
}

/// Other programs were busy for some minutes. Guards against using up all rounds of a point within
/// that time, which left it in doubt although hours remained.
#[test]
fn points_of_a_disturbance_that_passes_are_measured_again_when_it_is_over() {
    let mut machine = Machine::with_noise(3, 0.02, one_cache);
    machine.disturbed = |number| (40..80).contains(&number);
    let evaluation = explore(&options(1024.0 * MIB), &mut machine).unwrap();
    assert!(evaluation.drift.remeasured >= 5, "{:?}", evaluation.drift);
    assert_eq!(evaluation.drift.unresolved, 0);
}

/// Guards against sets still in doubt when the regions are decided, because it met both their
/// rounds.
#[test]
fn a_disturbance_that_passes_leaves_no_set_in_doubt_when_the_curves_of_the_regions_begin() {
    let mut machine = Machine::with_noise(3, 0.02, one_cache);
    machine.cost = |_| 0.5;
    machine.disturbed = |number| (40..80).contains(&number);
    let evaluation = explore(&one_of_many(1, 1024.0 * MIB), &mut machine).unwrap();
    let of_region = |purpose: &Purpose| matches!(purpose, Purpose::Curve(CurveKey::Region { .. }));
    let begun = evaluation.probes.iter().position(|one| of_region(one.purpose.first())).unwrap();
    let before = &evaluation.probes[..begun];
    let of_set = |purpose: &Purpose| matches!(purpose, Purpose::Curve(CurveKey::UniqueBytes(_)));
    let on_curves = before.iter().filter(|one| of_set(one.purpose.first()));
    let disturbed = on_curves.map(|one| &one.measurement).filter(|run| run.disturbed);
    let met: Vec<&Workload> = disturbed.map(|run| &run.workload).collect();
    let is_cured = |set: &Workload| {
        before.iter().any(|one| one.measurement.workload == *set && !one.measurement.disturbed)
    };
    assert!(met.len() >= 5 && met.iter().copied().all(is_cured), "{met:?}");
}

/// The options of an evaluation that is interrupted at every probe, so without the costly
/// probabilities of the number of regions.
fn resumable(budget_s: f64) -> EvaluationOptions {
    EvaluationOptions {
        budget_s,
        all_parameters: true,
        level_counts: false,
        ..options(1024.0 * MIB)
    }
}

/// An evaluation of `budget_s` with a probe that fails at `fails_at`.
fn evaluate(budget_s: f64, fails_at: Option<usize>) -> (Result<Evaluation, Evaluation>, Machine) {
    let mut machine = Machine::new(5, one_cache);
    machine.fails_at = fails_at;
    machine.drift = |at_s| if (20.0..45.0).contains(&at_s) { 0.5 } else { 1.0 };
    let options = resumable(budget_s);
    let outcome = explore(&options, &mut machine).map_err(|stopped| {
        assert!(stopped.to_string().contains("failed"));
        *stopped.partial
    });
    (outcome, machine)
}

#[test]
fn an_interrupted_evaluation_resumes_to_the_same_result() {
    let (whole, _) = evaluate(120.0, None);
    let whole = whole.unwrap();
    let count = whole.probes.len();
    for fails_at in 0..count {
        let (partial, mut machine) = evaluate(120.0, Some(fails_at));
        machine.fails_at = None;
        let partial = partial.unwrap_err();
        assert_eq!(partial.probes[..], whole.probes[..fails_at]);
        // Stored as text in between, like a user's file.
        let text = serde_json::to_string(&partial).unwrap();
        let stored: Evaluation = serde_json::from_str(&text).unwrap();
        machine.fails_at = None;
        let mut probe = RecordedProbe::new(stored.probes, machine);
        let resumed = explore(&resumable(120.0), &mut probe).unwrap();
        assert_eq!(probe.left(), 0);
        assert_eq!(resumed, whole, "interrupted at probe {fails_at} of {count}");
    }
}

#[test]
fn another_question_ends_the_recorded_answers() {
    let (whole, _) = evaluate(120.0, None);
    let mut log = whole.unwrap().probes;
    log[10].purpose = "something else".into();
    let mut probe = RecordedProbe::new(log, Machine::new(6, one_cache));
    let options =
        EvaluationOptions { budget_s: 120.0, all_parameters: true, ..options(1024.0 * MIB) };
    let evaluation = explore(&options, &mut probe).unwrap();
    assert_eq!(probe.left(), 0);
    let machine = probe.into_inner();
    assert_eq!(machine.asked, evaluation.probes.len() - 10);
}

#[test]
fn the_budget_is_kept_whatever_points_cost() {
    let costs: [fn(&ioscape_scaling::ProbeRequest) -> f64; 4] = [
        |request| 0.2 + 1.2 * request.limits.cap_s,
        |request| 0.1 + request.workload.unique_bytes as f64 / 5e7,
        |_| 7.0,
        |request| if request.purpose.to_string().contains("read") { 9.0 } else { 0.01 },
    ];
    let budgets = [0.5, 10.0, 60.0, 600.0, 3600.0];
    for (i, cost) in costs.into_iter().enumerate() {
        for (j, budget_s) in budgets.into_iter().enumerate() {
            let mut machine = Machine::new(9, one_cache);
            machine.cost = cost;
            let options =
                EvaluationOptions { budget_s, ..one_of_many((i + j) as u64, 1024.0 * MIB) };
            let evaluation = explore(&options, &mut machine).unwrap();
            let dearest =
                evaluation.probes.iter().map(|p| p.measurement.cost_s).fold(0.0, f64::max);
            assert!(
                evaluation.elapsed_s <= budget_s + dearest,
                "{} s of {budget_s} s",
                evaluation.elapsed_s
            );
            assert!((machine.clock_s - evaluation.elapsed_s).abs() < 1e-6);
            let too_short = evaluation.points_measured < 40;
            assert!(!too_short || !evaluation.shortened.is_empty(), "nothing says what is missing");
        }
    }
}

#[test]
fn a_minute_is_enough_for_a_first_answer() {
    let mut machine = Machine::new(2, one_cache);
    machine.cost = |request| 0.15 + 1.2 * request.limits.cap_s;
    let options =
        EvaluationOptions { budget_s: 60.0, typical_cost_s: 0.6, ..options(1024.0 * MIB) };
    let evaluation = explore(&options, &mut machine).unwrap();
    assert_eq!(evaluation.regions.len(), 2, "{:?}", evaluation.borders);
    let border = evaluation.regions[0].unique_bytes[1] / MIB;
    assert!((border / 100.0 - 1.0).abs() < 0.15, "{border}");
    points(&evaluation);
}

#[test]
fn large_sets_that_take_too_long_leave_no_curve_empty() {
    let costs: [fn(&ProbeRequest) -> f64; 4] = [
        |request| 0.3 + request.workload.unique_bytes as f64 / 0.6e9,
        |request| 0.3 + request.workload.unique_bytes as f64 / 0.8e9,
        |request| 0.3 + request.workload.unique_bytes as f64 / 1.3e9,
        |request| 0.3 + request.workload.unique_bytes as f64 / 2e9,
    ];
    for (i, cost) in costs.into_iter().enumerate() {
        for (j, budget_s) in [100.0, 160.0, 240.0].into_iter().enumerate() {
            let mut machine = Machine::new(2, |workload| shape(workload) * 8e9);
            machine.cost = cost;
            let largest = one_of_many((i + j) as u64, 32.0 * 1024.0 * MIB);
            let options = EvaluationOptions { budget_s, typical_cost_s: 1.0, ..largest };
            let found = explore(&options, &mut machine).unwrap();
            let curves = [&found.unique_bytes_read_curve, &found.unique_bytes_write_curve];
            for curve in curves.into_iter().chain([&found.unique_bytes_curve]) {
                assert!(curve.len() >= 3, "{budget_s} s: {} points", curve.len());
            }
        }
    }
}

/// 20 GiB of memory over 500 MB/s, under three minutes: a round of 32 GiB exceeds any phase's time.
#[test]
fn where_the_largest_set_of_the_pilot_was_slow_all_curves_reach_it() {
    let gib = 1024.0 * MIB;
    let levels = [Level(20.0 * gib, 8e9), Level(1e18, 5e8)];
    for seed in today::seeds(0..12, 3) {
        let mut machine =
            Machine::new(seed, move |w| shape(w) * hierarchy(&levels, w.unique_bytes as f64));
        machine.cost = |request| 0.4 + request.workload.unique_bytes as f64 / 1.6e9;
        let options =
            EvaluationOptions { budget_s: 165.0, typical_cost_s: 1.0, ..options(32.0 * gib) };
        let found = explore(&options, &mut machine).unwrap();
        let curves = [&found.unique_bytes_curve, &found.unique_bytes_read_curve];
        for curve in curves.into_iter().chain([&found.unique_bytes_write_curve]) {
            let last = curve.last().map(|p| p.value);
            assert!(last.is_some_and(|set| set > 20.0 * gib), "seed {seed}: {last:?}");
        }
        assert!(found.elapsed_s <= 170.0, "{} s", found.elapsed_s);
    }
}

/// 128 MiB of memory over 40 MB/s, with a minute: 512 MiB takes too long, 160 to 350 MiB shows the
/// disk.
#[test]
fn where_the_next_set_takes_too_long_a_smaller_one_is_tried() {
    let levels = [Level(110.0 * MIB, 8e9), Level(1e18, 2e7)];
    let mut machine =
        Machine::new(3, move |w| shape(w) * hierarchy(&levels, w.unique_bytes as f64));
    machine.cost = |request| 0.3 + request.workload.unique_bytes as f64 / 25e6;
    let rate = Some(40e6);
    let options = EvaluationOptions {
        budget_s: 55.0,
        typical_cost_s: 0.6,
        layout_bytes_per_s: rate,
        ..options(512.0 * MIB)
    };
    let found = explore(&options, &mut machine).unwrap();
    let largest = found.unique_bytes_curve.last().map_or(0.0, |point| point.value);
    assert!((140.0 * MIB..400.0 * MIB).contains(&largest), "{:.0} MiB", largest / MIB);
    assert!(found.shortened.values().any(|why| why.contains("512 MiB")), "{:?}", found.shortened);
    assert!(found.elapsed_s <= 60.0, "{} s", found.elapsed_s);
}

#[test]
fn ten_minutes_go_into_some_hundred_probes() {
    let mut machine = Machine::new(2, one_cache);
    let evaluation = explore(&options(1024.0 * MIB), &mut machine).unwrap();
    assert!((80..=220).contains(&evaluation.points_measured), "{}", evaluation.points_measured);
    assert!(evaluation.shortened.is_empty(), "{:?}", evaluation.shortened);
    let planned = plan(&options(1024.0 * MIB)).points() as f64;
    let share = f64::from(evaluation.points_measured) / planned;
    assert!((0.3..=1.0).contains(&share), "{share}");
    for progress in &machine.heard {
        assert!(progress.spent_s + progress.left_s <= 600.0 + 5.0);
    }
    assert!(machine.heard.is_sorted_by(|a, b| a.spent_s <= b.spent_s));
}

#[test]
fn every_curve_of_a_region_has_seven_points_before_there_are_points_off_the_curves() {
    let options = EvaluationOptions { interactions: 24, ..options(1024.0 * MIB) };
    let evaluation = explore(&options, &mut Machine::new(2, one_cache)).unwrap();
    assert_eq!(evaluation.regions.len(), 2);
    for region in &evaluation.regions {
        for parameter in
            [Parameter::SizeMean, Parameter::ReadFrac, Parameter::SeqFrac, Parameter::ProcessNum]
        {
            let curve = region.curves.get(parameter).unwrap();
            assert!(curve.len() >= 7, "{parameter:?} in {}: {}", region.name, curve.len());
        }
        let is_mostly_reads = |p: &Point| p.value > 0.75 && p.value < 1.0;
        assert!(region.curves.read_frac.iter().any(is_mostly_reads), "{}", region.name);
    }
    assert!(!evaluation.extra.is_empty());
}

#[test]
fn a_limit_of_points_is_kept_and_the_time_goes_into_repeating_them() {
    let rounds = |evaluation: &Evaluation| {
        let all = points(evaluation);
        all.iter().map(|p| p.rounds.len()).sum::<usize>() as f64 / all.len() as f64
    };
    let evaluate = |seed, points_max| {
        let asked = one_of_many(seed, 1024.0 * MIB);
        let options = EvaluationOptions { points_max, interactions: 24, seed, ..asked };
        explore(&options, &mut Machine::new(seed, one_cache)).unwrap()
    };
    for seed in today::seeds(0..10, 2) {
        let few = evaluate(seed, Some(84));
        assert!((70..=84).contains(&few.points_measured), "{}", few.points_measured);
        let border = few.regions[0].unique_bytes[1] / MIB;
        assert!(few.regions.len() == 2 && (border / 100.0 - 1.0).abs() < 0.1, "{border}");
        assert!(few.extra.len() >= 15, "{}", few.extra.len());
        let many = evaluate(seed, None);
        assert!(many.points_measured > 100 && rounds(&few) > 1.3 * rounds(&many));
    }
}

#[test]
fn the_focal_vector_is_one_for_all_regions() {
    let mut machine = Machine::with_noise(4, 0.01, one_cache);
    let evaluation = explore(&options(1024.0 * MIB), &mut machine).unwrap();
    let [first, second] = &evaluation.regions[..] else { panic!("not two regions") };
    assert_eq!(
        Workload { unique_bytes: 0, ..first.focal.clone() },
        Workload { unique_bytes: 0, ..second.focal.clone() }
    );
    assert_eq!((first.focal.read_frac, first.focal.seq_frac), (0.5, 0.5));
    // Half-way between 4 KiB (0.22) and 1 MiB (1.94) by the law 2 s / (s + 32 KiB): at 38 KiB, near
    // the usual size.
    assert_eq!(first.focal.size_mean, 32 << 10);
    // By 1.5 p / (p + 0.5), 16 processes are 1.45 times as fast as one, which is not twice the
    // throughput.
    assert_eq!(first.focal.process_num, 1);
    for (region, curve) in [(first, &first.curves.seq_frac), (second, &second.curves.size_mean)] {
        let at_focal = curve.iter().any(|p| p.measurement.workload == region.focal);
        assert!(at_focal, "the focal point is on its curves");
    }
}

#[test]
fn write_policies_are_told_apart() {
    use WritePolicy::{NotCached, WriteCancelling, WriteThrough};
    let cases = [
        (file_system(4320e6, 9.8e6, 9.8e6, 9.8e6), Some(WriteThrough), "follows the law"),
        (file_system(14544e6, 5.6e6, 2.3e6, 10e6), Some(WriteThrough), "writes through"),
        (file_system(8634e6, 1313e6, 2.3e6, 10e6), Some(WriteCancelling), "rewrites are absorbed"),
        (file_system(9.9e6, 9.8e6, 9.9e6, 9.8e6), Some(NotCached), "No gain from"),
        (file_system(6500e6, 62e6, 7e6, 10e6), None, "no counter shows whether by the file cache"),
    ];
    for (mut machine, policy, words) in cases {
        let evaluation = explore(&options(1024.0 * MIB), &mut machine).unwrap();
        let findings = &evaluation.findings;
        assert_eq!(findings.write_policy, policy);
        let said = findings.sentences.join("\n");
        assert!(said.contains(words), "{words:?} is missing in:\n{said}");
        assert_eq!(findings.read_cache_bytes.is_some(), policy != Some(NotCached));
    }
}

#[test]
fn findings_have_bounds_that_hold() {
    let evaluation = explore(&options(1024.0 * MIB), &mut Machine::new(8, file_cache)).unwrap();
    let findings = &evaluation.findings;
    for cache in [findings.read_cache_bytes.unwrap(), findings.write_cache_bytes.unwrap()] {
        assert!(cache.low <= cache.value && cache.value <= cache.high);
        assert!((cache.value / MIB / 100.0 - 1.0).abs() < 0.1);
    }
    assert_eq!(findings.size_for_75_percent_bytes.len(), 2);
    for size in &findings.size_for_75_percent_bytes {
        // By the law 2 s / (s + 32 KiB) up to 1 MiB or a quarter of the set: reached near 87 KiB,
        // on a gentle slope.
        assert!((size.value / 89e3).ln().abs() < 0.7, "{size:?}");
        assert!(size.low <= size.value && size.value <= size.high && size.low < size.high);
    }
    for gain in &findings.sequential_gain {
        assert!((gain.value - 1.0).abs() < 0.15 && gain.low < gain.high, "{gain:?}");
    }
    for gain in &findings.concurrency_gain {
        assert!((gain.value - 16.0 / 16.5 * 1.5).abs() < 0.25, "{gain:?}");
    }
    assert!(findings.sentences.iter().all(|s| s.ends_with('.')));
    assert!(findings.flush_slowdown.is_none());
}

#[test]
fn a_flush_that_stalls_writes_is_reported() {
    // Without a device's counters nothing shows that a flush happened at all.
    for (burst_ratio, words) in [(1.9, "1.90 times slower"), (1.1, "cannot be told from this run")]
    {
        let mut machine = file_system(1e10, 15e8, 2e6, 1e7);
        machine.burst_ratio = Some(burst_ratio);
        let options = EvaluationOptions { flush_interval_s: Some(35.0), ..options(1024.0 * MIB) };
        let evaluation = explore(&options, &mut machine).unwrap();
        assert_eq!(evaluation.findings.flush_slowdown.unwrap().value, burst_ratio);
        let said = evaluation.findings.sentences.join("\n");
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_flush_that_does_not_fit_is_left_out_in_words() {
    let mut machine = file_system(1e10, 15e8, 2e6, 1e7);
    let options =
        EvaluationOptions { budget_s: 60.0, flush_interval_s: Some(35.0), ..options(1024.0 * MIB) };
    let evaluation = explore(&options, &mut machine).unwrap();
    assert!(evaluation.findings.flush_slowdown.is_none());
    assert!(evaluation.shortened.contains_key(Phase::Findings.name()));
    assert!(evaluation.findings.sentences.iter().any(|s| s.contains("flushing was not observed")));
}

#[test]
fn direct_access_is_evaluated_without_file_cache_findings() {
    let mut options = options(1024.0 * MIB);
    options.base.access = Access::Direct;
    options.base.align_bytes = Some(4096);
    let mut machine = Machine::new(1, |w| 1e8 * shape(w));
    let evaluation = explore(&options, &mut machine).unwrap();
    assert_eq!(evaluation.findings.write_policy, None);
    assert!(evaluation.probes.iter().all(|p| p.measurement.workload.access == Access::Direct));
}

/// A machine with known 75 % points: each parameter has its own factor.
#[test]
fn all_parameters_settle_at_their_three_quarter_points() {
    for seed in 0..10 {
        let mut machine = Machine::with_noise(seed, 0.02, |w| {
            let unique = if w.unique_bytes as f64 <= 200.0 * MIB { 1.0 } else { 0.05 };
            let size = (w.size_mean as f64).ln();
            let size = ((size - 4096f64.ln()) / (1048576f64.ln() - 4096f64.ln())).clamp(0.0, 1.0);
            let size = 0.2 + 0.8 * size;
            let reads = 0.5 + 0.5 * w.read_frac;
            let processes = f64::from(w.process_num.min(4)) / 4.0;
            1e9 * unique * size * reads * processes * (0.9 + 0.1 * w.seq_frac)
        });
        let asked = one_of_many(seed, 1024.0 * MIB);
        let options = EvaluationOptions { all_parameters: true, budget_s: 900.0, ..asked };
        let evaluation = explore(&options, &mut machine).unwrap();
        let all = evaluation.all_parameters.expect("section 7 was asked for");
        assert!(all.settled, "{all:?}");
        assert_eq!(all.ranges.iter().map(|r| r.parameter).collect::<Vec<_>>(), Parameter::ALL);
        let focal = &all.focal;
        let unique = focal.unique_bytes as f64 / MIB;
        assert!((unique / 200.0 - 1.0).abs() < 0.12, "{unique}");
        // 0.2 + 0.8 x = 0.75 at x = 0.6875 of the way from 4 KiB to 1 MiB on the logarithmic scale: 185 KiB.
        let size = focal.size_mean as f64 / 1024.0;
        assert!((size / 185.0).ln().abs() < 0.35, "{size}");
        assert!((focal.read_frac - 0.5).abs() < 0.1, "{}", focal.read_frac);
        assert_eq!(focal.seq_frac, 0.0);
        // Three of four processes reach 75 % exactly, so noise decides.
        assert!((3..=4).contains(&focal.process_num), "{}", focal.process_num);
    }
}

#[test]
fn odd_machines_and_options_do_not_break_it() {
    let laws: [fn(&Workload) -> f64; 5] = [
        |_| 0.0,
        |_| f64::NAN,
        |_| f64::INFINITY,
        |w| 1e18 / w.unique_bytes as f64,
        |w| if w.unique_bytes % 3 == 0 { 1.0 } else { 1e12 },
    ];
    for law in laws {
        for [low, high] in [[1, 1], [1 << 20, 1 << 20], [1 << 30, 1 << 44], [10, 3]] {
            let mut options = options(1024.0 * MIB);
            options.bounds.unique_bytes = [low, high];
            options.bounds.process_num = [0, 0];
            options.all_parameters = true;
            let mut machine = Machine::new(1, law);
            let evaluation = explore(&options, &mut machine).unwrap();
            assert!(!evaluation.regions.is_empty());
        }
    }
}
