//! Predictions on made-up systems: their errors, the coverage of their intervals, and that no input
//! makes them panic.

use crate::made_up::evaluation::{BOUNDS, evaluate, explored, validation, with_synchronous};
use crate::made_up::{EXTRA, Level, System, system, systems};
use ioscape_scaling::Bounds;
use ioscape_scaling::model::{
    Model, ModelError, ModelKind, Predict, WhatIf, WhatIfError, WriteDone, next_points, predict,
    predict_what_if, random_workloads,
};
use ioscape_schema::{Advice, BorderOperation, Evaluation, Parameter, Validation, Workload};
use proptest::prelude::*;

#[test]
fn with_noise_the_default_model_comes_near_the_repeatability_error() {
    let mut covered = 0.0;
    for system in systems() {
        let evaluation = evaluate(&system, 0.05, 1, EXTRA);
        let v = validation(&system, &evaluation, 0.05, 1);
        let (best, product) = (&v.models["default"], &v.models["product"]);
        let name = system.name;
        assert!(best.median_error <= 0.10, "{name}: {}", best.median_error);
        assert!(best.p90_error <= 0.30, "{name}: {}", best.p90_error);
        assert!(best.median_error < product.median_error, "{name}: {best:?} {product:?}");
        assert!(best.median_error < v.models["orthogonal"].median_error, "{name}");
        assert!(best.median_error < v.models["single_point"].median_error, "{name}");
        assert!((0.03..0.08).contains(&v.repeatability_error.unwrap()));
        let over = v.error_over_repeatability.unwrap() * v.repeatability_error.unwrap();
        assert!((over - best.median_error).abs() < 1e-12);
        covered += best.interval90_coverage.unwrap() / systems().len() as f64;
    }
    assert!((0.85..=0.97).contains(&covered), "{covered}");
}

#[test]
fn without_noise_the_error_is_the_model_s_own_and_small() {
    for system in systems() {
        let evaluation = evaluate(&system, 0.0, 2, EXTRA);
        let best = validation(&system, &evaluation, 0.0, 2).errors;
        // One system exists to break the model's assumptions, and does.
        let limit = if system.untidy { 0.10 } else { 0.05 };
        let away = best.enhanced_median_error.unwrap();
        assert!(best.median_error <= limit && away <= limit, "{}: {best:?}", system.name);
    }
}

#[test]
fn points_off_the_curves_pay() {
    let all = systems();
    let error = |system: &System, extra: usize| {
        let evaluation = evaluate(system, 0.0, 3, extra);
        validation(system, &evaluation, 0.0, 3).errors.median_error
    };
    let better = all.iter().filter(|system| error(system, EXTRA) < error(system, 0)).count();
    assert!(better * 4 >= all.len() * 3, "{better} of {}", all.len());
}

/// Pure reads behind the last border of `one cache`, where no curve measured: sequential in runs of
/// the read-ahead size and larger, and random.
fn reads_of_storage() -> Vec<Workload> {
    let sets = [200, 350].map(|megabytes| megabytes << 20);
    let reads = [(1.0, 64 << 10), (1.0, 192 << 10), (0.0, 4 << 10), (0.0, 12 << 10)];
    let each = sets.into_iter().flat_map(|unique_bytes| {
        reads.map(|(seq_frac, size_mean)| Workload {
            unique_bytes,
            seq_frac,
            size_mean,
            read_frac: 1.0,
            ..Workload::default()
        })
    });
    each.collect()
}

/// Every evaluation that finds a border of storage measures pure reads behind it, with a tenth of
/// the points, and these improve the model.
#[test]
#[allow(clippy::print_stdout, reason = "the figures stand in docs/prediction.md")]
fn pure_reads_of_storage_are_measured_and_pay() {
    let system = system("one cache");
    let error = |evaluation: &Evaluation| mean_error(&system, evaluation, &reads_of_storage());
    let (mut with, mut without) = (0.0, 0.0);
    for seed in 0..3 {
        let evaluation = explored(&system, 0.05, seed, 120.0, None);
        let is_pure = |w: &Workload| {
            w.read_frac == 1.0
                && w.unique_bytes == BOUNDS.unique_bytes[1]
                && w.advice == Advice::Normal
        };
        let pure: Vec<[f64; 3]> = evaluation
            .extra
            .iter()
            .map(|p| &p.measurement.workload)
            .filter(|w| is_pure(w))
            .map(|w| [w.seq_frac, w.size_mean as f64, f64::from(w.process_num)])
            .collect();
        assert_eq!(pure, [[1.0, 131_072.0, 1.0], [0.0, 4096.0, 1.0], [0.0, 4096.0, 16.0]]);
        let less = less(&evaluation, is_pure);
        println!("{seed}: {:.3} with, {:.3} without", error(&evaluation), error(&less));
        (with, without) = (with + error(&evaluation), without + error(&less));
    }
    assert!(with < without, "{with} {without}");
}

/// Mean error of the model of an evaluation on these workloads, in ln(throughput).
fn mean_error(system: &System, evaluation: &Evaluation, workloads: &[Workload]) -> f64 {
    let model = Model::new(evaluation).unwrap();
    let off = |w: &Workload| (model.throughput(w) / system.throughput(w)).ln().abs();
    workloads.iter().map(off).sum::<f64>() / workloads.len() as f64
}

/// An evaluation without those points off its curves, and their measurements, whose workloads
/// `is_left_out` selects.
fn less(evaluation: &Evaluation, is_left_out: impl Fn(&Workload) -> bool) -> Evaluation {
    let mut less = evaluation.clone();
    less.extra.retain(|p| !is_left_out(&p.measurement.workload));
    less.probes.retain(|p| !is_left_out(&p.measurement.workload));
    less
}

/// Mostly reads and mostly writes in memory, by few and by many processes.
fn one_sided_in_memory() -> Vec<Workload> {
    let mut all = Vec::new();
    for (unique_bytes, size_mean) in
        [(6 << 20, 64 << 10), (24 << 20, 8 << 10), (24 << 20, 256 << 10)]
    {
        for read_frac in [0.0, 0.1, 0.9, 1.0] {
            for process_num in [1, 2, 8] {
                let base = Workload::default();
                all.push(Workload { unique_bytes, size_mean, read_frac, process_num, ..base });
            }
        }
    }
    all
}

/// Where writers wait for one another and readers do not, the curves do not show whose speed-up
/// several processes have.
#[test]
#[allow(clippy::print_stdout, reason = "the figures stand in docs/prediction.md")]
fn pure_reads_and_pure_writes_by_other_processes_are_measured_and_pay() {
    let (mut with, mut without) = (0.0, 0.0);
    for name in ["one cache", "memory only"] {
        let system = System { writers_wait: true, ..system(name) };
        let error =
            |evaluation: &Evaluation| mean_error(&system, evaluation, &one_sided_in_memory());
        for seed in 0..2 {
            let evaluation = explored(&system, 0.05, seed, 120.0, None);
            let focal = &evaluation.regions[0].focal;
            let is_pure = |w: &Workload| {
                let same = Workload {
                    read_frac: w.read_frac,
                    process_num: w.process_num,
                    ..focal.clone()
                };
                *w == same
                    && [0.0, 1.0].contains(&w.read_frac)
                    && w.process_num != focal.process_num
            };
            let pure = evaluation.extra.iter().filter(|p| is_pure(&p.measurement.workload));
            assert_eq!(pure.count(), 2, "{name} {seed}");
            let less = less(&evaluation, is_pure);
            println!("{name} {seed}: {:.3} with, {:.3} without", error(&evaluation), error(&less));
            (with, without) = (with + error(&evaluation), without + error(&less));
        }
    }
    assert!(with < without, "{with} {without}");
}

#[test]
fn a_border_that_was_not_found_is_inferred() {
    let system = system("log-structured");
    let mut evaluation = evaluate(&system, 0.05, 4, EXTRA);
    evaluation.borders.retain(|b| b.operation == BorderOperation::Write);
    evaluation.unique_bytes_read_curve.clear();
    let errors = validation(&system, &evaluation, 0.05, 4).errors;
    assert!(errors.median_error < 0.12 && errors.p90_error < 0.5, "{errors:?}");
}

#[test]
fn reads_and_writes_have_caches_of_their_own_size() {
    let system = system("dirty limit");
    let model = Model::new(&evaluate(&system, 0.0, 5, 0)).unwrap();
    for read_frac in [0.0, 0.5, 1.0] {
        for megabytes in [30, 50, 100] {
            let workload =
                Workload { unique_bytes: megabytes << 20, read_frac, ..Workload::default() };
            let ratio = model.throughput(&workload) / system.throughput(&workload);
            assert!((0.8..1.25).contains(&ratio), "{megabytes} MB, {read_frac}: {ratio}");
        }
    }
}

#[test]
fn a_prediction_obeys_little_and_says_when_it_extrapolates() {
    let evaluation = evaluate(&system("one cache"), 0.05, 6, 0);
    for kind in [ModelKind::Default, ModelKind::Product] {
        let model = Model::of_kind(kind, &evaluation).unwrap();
        assert_eq!(model.kind(), kind);
        let inside = Workload {
            unique_bytes: 16 << 20,
            process_num: 4,
            size_mean: 8192,
            ..Workload::default()
        };
        let p = predict(&model, &inside).unwrap();
        assert!((p.iops * 8192.0 / p.throughput_bytes_per_s - 1.0).abs() < 1e-9);
        assert!((p.response_time_ns * p.iops / 1e9 - 4.0).abs() < 1e-6);
        assert!(
            p.interval90[0] < p.throughput_bytes_per_s
                && p.throughput_bytes_per_s < p.interval90[1]
        );
        assert!(!p.extrapolated && p.region == "region 1");
        let width = |p: &ioscape_schema::Prediction| p.interval90[1] / p.interval90[0];
        let others = [
            Workload { unique_bytes: 1 << 34, ..inside.clone() },
            Workload { process_num: 64, ..inside.clone() },
        ];
        for outside in others {
            let far = predict(&model, &outside).unwrap();
            assert!(far.extrapolated && width(&far) > width(&p), "{outside:?}");
        }
        let thinks = Workload { think_time_ns: 1_000_000, ..inside.clone() };
        let refused = predict(&model, &thinks).unwrap_err();
        assert_eq!(refused.differences[0].setting, "think time");
    }
}

#[test]
fn next_points_are_distinct_valid_and_repeatable() {
    let evaluation = evaluate(&system("write-through"), 0.05, 7, 0);
    let points = next_points(&evaluation, &BOUNDS, 20, 1);
    assert_eq!(points.len(), 20);
    assert_eq!(points[..5], next_points(&evaluation, &BOUNDS, 5, 1)[..]);
    for (i, point) in points.iter().enumerate() {
        assert_eq!(point.validate(), Ok(()));
        assert!(!points[..i].contains(point));
    }
}

#[test]
fn an_empty_evaluation_is_refused_with_its_name() {
    let empty = Evaluation { target: "/mnt/x".into(), ..Evaluation::default() };
    for kind in [ModelKind::Default, ModelKind::Product] {
        let error = Model::of_kind(kind, &empty).unwrap_err();
        assert!(matches!(error, ModelError::Empty { .. }) && error.to_string().contains("/mnt/x"));
    }
    assert!(next_points(&empty, &BOUNDS, 5, 1).is_empty());
}

#[test]
fn a_validation_survives_the_round_trip() {
    let system = system("memory only");
    let v = validation(&system, &evaluate(&system, 0.05, 8, 0), 0.05, 8);
    assert_eq!(v.by_parameter[&Parameter::ReadFrac].iter().map(|b| b.workloads).sum::<u32>(), 100);
    let text = serde_json::to_string(&v).unwrap();
    assert!(text.contains("\"median_error\"") && text.contains("\"interval90_coverage\""));
    let back: Validation = serde_json::from_str(&text).unwrap();
    assert_eq!(back.workloads, v.workloads);
}

/// Damages an evaluation in one of many ways.
fn damage(evaluation: &mut Evaluation, how: u8, value: f64) {
    let region = usize::from(how) % evaluation.regions.len().max(1);
    match how % 12 {
        0 => evaluation.unique_bytes_curve.clear(),
        1 => evaluation.unique_bytes_read_curve.clear(),
        2 => evaluation.unique_bytes_write_curve.truncate(1),
        3 => evaluation.borders.clear(),
        4 => evaluation.borders.iter_mut().for_each(|b| b.unique_bytes = value),
        5 => evaluation.borders.iter_mut().for_each(|b| b.low = value),
        6 => evaluation.regions.truncate(1),
        7 => evaluation.regions.iter_mut().for_each(|r| r.unique_bytes = [value, value]),
        8 => evaluation.regions.iter_mut().for_each(|r| r.curves = Default::default()),
        9 => evaluation.unique_bytes_curve.iter_mut().step_by(2).for_each(|p| {
            p.measurement.throughput_bytes_per_s = value;
        }),
        10 => evaluation.regions.iter_mut().skip(region).for_each(|r| {
            r.curves
                .size_mean
                .iter_mut()
                .for_each(|p| p.measurement.throughput_bytes_per_s = value);
        }),
        _ => evaluation.regions.iter_mut().for_each(|r| {
            r.curves.read_frac.iter_mut().for_each(|p| p.measurement.workload.read_frac = value);
            r.curves.process_num.iter_mut().for_each(|p| p.measurement.workload.process_num = 0);
        }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn damaged_evaluations_never_panic(
        which in 0usize..9,
        damages in prop::collection::vec((0u8..=255, prop_oneof![
            Just(f64::NAN), Just(f64::INFINITY), Just(0.0), Just(-1.0), Just(1e-300), Just(1e300), 0.5f64..1e9
        ]), 1..5)
    ) {
        let systems = systems();
        let mut evaluation = evaluate(&systems[which % systems.len()], 0.05, 9, 0);
        for (how, value) in damages {
            damage(&mut evaluation, how, value);
        }
        for kind in [ModelKind::Default, ModelKind::Product] {
            let Ok(model) = Model::of_kind(kind, &evaluation) else { continue };
            for workload in random_workloads(&BOUNDS, &Workload::default(), 10, 1) {
                let p = predict(&model, &workload).unwrap();
                prop_assert!(p.throughput_bytes_per_s.is_finite() && p.throughput_bytes_per_s > 0.0, "{:?}", p);
                prop_assert!(p.interval90[0] <= p.interval90[1] && p.interval90[1].is_finite(), "{:?}", p);
            }
        }
        next_points(&evaluation, &BOUNDS, 3, 1);
    }
}

/// Median errors on unseen workloads: of the predictions of `predicted`, and of an evaluation of
/// the true system itself.
fn median_errors(truth: &System, largest: u64, predicted: impl Fn(&Workload) -> f64) -> [f64; 2] {
    let own = Model::new(&evaluate(truth, 0.05, 33, 12)).unwrap();
    let bounds = Bounds { unique_bytes: [BOUNDS.unique_bytes[0], largest], ..BOUNDS };
    let mut both = [Vec::new(), Vec::new()];
    for workload in random_workloads(&bounds, &Workload::default(), 100, 77) {
        let measured = truth.throughput(&workload);
        for (errors, said) in both.iter_mut().zip([predicted(&workload), own.throughput(&workload)])
        {
            errors.push((said - measured).abs() / measured);
        }
    }
    both.map(|mut errors| {
        errors.sort_by(f64::total_cmp);
        errors[50]
    })
}

#[test]
#[allow(clippy::print_stdout, reason = "the figures stand in docs/prediction.md")]
fn other_memory_is_predicted_within_a_tenth() {
    for name in ["one cache", "dirty limit"] {
        let here = system(name);
        let model = Model::new(&evaluate(&here, 0.05, 31, 12)).unwrap();
        for factor in [0.5, 2.0] {
            let mut truth = here.clone();
            for cache in truth.caches.iter_mut().flatten() {
                (cache.onset, cache.kept) = (cache.onset * factor, cache.kept * factor);
            }
            let memory = 64u64 << 20;
            let other = (memory as f64 * factor) as u64;
            let what_if = WhatIf { memory_bytes: Some([memory, other]), ..WhatIf::default() };
            let largest = (BOUNDS.unique_bytes[1] as f64 * factor.min(1.0) * 0.99) as u64;
            let said =
                |w: &Workload| predict_what_if(&model, &what_if, w).unwrap().throughput_bytes_per_s;
            let [error, own] = median_errors(&truth, largest, said);
            println!("{name}, memory x {factor}: {error:.3} against {own:.3}");
            assert!(error <= 0.1, "{name} x {factor}: {error} against {own}");
        }
    }
}

#[test]
fn what_memory_holds_is_not_slowed_down_by_more_of_it() {
    for seed in 31..34 {
        let model = Model::new(&evaluate(&system("one cache"), 0.05, seed, 12)).unwrap();
        let set = Workload { unique_bytes: 100 << 20, ..model.base().clone() };
        let told = [4u64, 16, 64, 1024].map(|factor| {
            let memory_bytes = Some([64 << 20, (64 << 20) * factor]);
            let what_if = WhatIf { memory_bytes, ..WhatIf::default() };
            predict_what_if(&model, &what_if, &set).unwrap().throughput_bytes_per_s
        });
        assert!(told.windows(2).all(|pair| pair[1] > 0.97 * pair[0]), "seed {seed}: {told:?}");
    }
}

#[test]
fn what_less_memory_holds_too_is_as_fast_as_before() {
    for seed in 31..34 {
        let model = Model::new(&evaluate(&system("one cache"), 0.05, seed, 12)).unwrap();
        let memory = 64u64 << 20;
        let told = |set: u64, other: u64| {
            let set = Workload { unique_bytes: set, ..model.base().clone() };
            let what_if = WhatIf { memory_bytes: Some([memory, other]), ..WhatIf::default() };
            predict_what_if(&model, &what_if, &set).unwrap().throughput_bytes_per_s
        };
        // An eighth of the memory holds a sixteenth of it with ease.
        let all = [8, 4, 2, 1].map(|part| told(memory / 16, memory / part));
        assert!(all.iter().all(|one| (one / all[3] - 1.0).abs() < 0.03), "seed {seed}: {all:?}");
        // Neither is any set much slower with more memory.
        for part in [2, 4, 8, 16] {
            let all = [8, 6, 4, 3, 2, 1].map(|by| told(memory / part, memory / by));
            assert!(all.windows(2).all(|pair| pair[1] > 0.95 * pair[0]), "seed {seed}: {all:?}");
        }
    }
}

/// A client's cache grows with its memory, the server's does not: the sets that the client held
/// stay held, and are known hardly less well.
#[test]
fn what_memory_held_is_told_as_surely_with_more_of_it() {
    let evaluation = evaluate(&system("client-server"), 0.05, 31, 12);
    let model = Model::of_kind(ModelKind::Levels, &evaluation).unwrap();
    let reads = Workload { unique_bytes: 16 << 20, read_frac: 1.0, ..model.base().clone() };
    let known = predict(&model, &reads).unwrap();
    let what_if = WhatIf { memory_bytes: Some([40 << 20, 40 << 26]), ..WhatIf::default() };
    let larger = predict_what_if(&model, &what_if, &reads).unwrap();
    let width = |p: &ioscape_schema::Prediction| (p.interval90[1] / p.interval90[0]).ln();
    let ratio = larger.throughput_bytes_per_s / known.throughput_bytes_per_s;
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
    assert!(width(&larger) < 1.5 * width(&known), "{} {}", width(&larger), width(&known));
    // The speed of memory for sets larger than any measured one is a guess, the wilder the larger
    // the set.
    let widths = [256u64, 1024, 2048].map(|mebibytes| {
        let set = Workload { unique_bytes: mebibytes << 20, ..reads.clone() };
        width(&predict_what_if(&model, &what_if, &set).unwrap())
    });
    assert!(widths.is_sorted() && widths[1] > widths[0], "{widths:?}");
}

#[test]
#[allow(clippy::print_stdout, reason = "the figures stand in docs/prediction.md")]
fn the_storage_of_another_system_is_predicted_almost_as_well() {
    let (here, there) = (system("one cache"), system("dirty limit"));
    let mut lender = there;
    for levels in &mut lender.levels {
        if let Some(Level::Disk(disk, _)) = levels.last_mut() {
            (disk.seek_s, disk.bytes_per_s) = ([3e-4, 2e-3], 150e6);
        }
    }
    let mut truth = here.clone();
    for (levels, lent) in truth.levels.iter_mut().zip(&lender.levels) {
        *levels.last_mut().unwrap() = *lent.last().unwrap();
    }
    let model = Model::new(&evaluate(&here, 0.05, 31, 12)).unwrap();
    let storage = Some(Model::new(&evaluate(&lender, 0.05, 32, 12)).unwrap());
    let what_if = WhatIf { storage, ..WhatIf::default() };
    let said = |w: &Workload| predict_what_if(&model, &what_if, w).unwrap().throughput_bytes_per_s;
    let [error, own] = median_errors(&truth, (BOUNDS.unique_bytes[1] as f64 * 0.99) as u64, said);
    println!("other storage: {error:.3} against {own:.3}");
    assert!(error <= 1.3 * own.max(0.05), "{error} against {own}");
}

#[test]
fn what_no_evaluation_saw_is_not_guessed() {
    let system = system("one cache");
    let evaluation = with_synchronous(evaluate(&system, 0.05, 31, 0), &system);
    let model = Model::new(&evaluation).unwrap();
    let memory = |from: u64, to: u64| WhatIf {
        memory_bytes: Some([from << 20, to << 20]),
        ..WhatIf::default()
    };
    let large = Workload { unique_bytes: 1 << 29, ..Workload::default() };
    let beyond = predict_what_if(&model, &memory(64, 16), &large).unwrap_err();
    assert!(
        matches!(beyond, WhatIfError::Beyond { parameter: Parameter::UniqueBytes, .. }),
        "{beyond}"
    );
    let none = predict_what_if(&model, &memory(1 << 20, 2 << 20), &Workload::default());
    assert!(matches!(none, Err(WhatIfError::NoCache(_))), "{none:?}");
    let through = WhatIf { write_done: Some(WriteDone::Through), ..WhatIf::default() };
    let writes = Workload { read_frac: 0.0, unique_bytes: 8 << 20, ..Workload::default() };
    let [back, said] = [WhatIf::default(), through]
        .map(|what_if| predict_what_if(&model, &what_if, &writes).unwrap());
    assert!(said.throughput_bytes_per_s < back.throughput_bytes_per_s / 10.0);
    let width = |p: &ioscape_schema::Prediction| p.interval90[1] / p.interval90[0];
    assert!(width(&said) > width(&back), "what is borrowed widens the interval");
    let through = WhatIf { write_done: Some(WriteDone::Through), ..WhatIf::default() };
    let reads = Workload { read_frac: 1.0, ..writes };
    let [back, said] = [WhatIf::default(), through]
        .map(|what_if| predict_what_if(&model, &what_if, &reads).unwrap());
    assert!(width(&said) < 1.01 * width(&back), "reads borrow nothing of a write policy");
}
