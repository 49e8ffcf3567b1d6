//! Properties of every what-if answer, whatever the system: on made-up systems, and on the
//! evaluations stored with the project's data.
#![allow(clippy::disallowed_methods, reason = "stored evaluations are read")]

use crate::judge::stored;
use crate::made_up::evaluation::{evaluate, with_synchronous};
use crate::made_up::{Disk, EXTRA, Level, System as MadeUp, system, systems};
use ioscape_scaling::System;
use ioscape_scaling::model::{ModelKind, WriteDone};
use ioscape_scaling::system::{ChangedSystem, Exchange};
use ioscape_schema::{Document, Environment, Evaluation, Outcome, Parameter, Prediction, Workload};
use std::fs;
use std::path::Path;

/// Factors on the memory.
const FACTORS: [f64; 9] = [0.0625, 0.125, 0.25, 0.5, 0.7, 1.4, 2.0, 8.0, 64.0];
/// How much ln(throughput) may fall with more memory, or change where nothing changes.
const SLACK: f64 = 0.05;

/// A made-up system, evaluated in as much memory as its first cache holds.
fn evaluated(one: &MadeUp, seed: u64) -> System {
    of(one, evaluate(one, 0.05, seed, EXTRA))
}

/// The system of an evaluation in as much memory as its first cache holds.
fn of(one: &MadeUp, evaluation: Evaluation) -> System {
    let memory = one.caches[0][0].onset as u64;
    let document = Document {
        environment: Environment { memory_bytes: Some(memory), ..Environment::default() },
        outcome: Some(Outcome::Evaluation(Box::new(evaluation))),
        ..Document::default()
    };
    System::of(Path::new(one.name), document, ModelKind::Default).unwrap()
}

/// All systems except the one that breaks the model's assumptions: with ever more memory its
/// predictions become slower and faster by turns.
fn all() -> impl Iterator<Item = System> {
    let is_kept = |system: &MadeUp| !system.caches[0].is_empty() && !system.untidy;
    let cached = systems().into_iter().filter(is_kept);
    let real = stored().into_iter().map(|path| {
        let document = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        System::of(&path, document, ModelKind::Default).unwrap()
    });
    cached.map(|one| evaluated(&one, 41)).chain(real)
}

/// Random and half sequential reads, half reads, and writes, of sets over the whole measured range.
fn asked(system: &System) -> Vec<Workload> {
    let [least, most] = system.model.measured(Parameter::UniqueBytes);
    let each = |step: u32| {
        let unique_bytes = (least * (most / least).powf(f64::from(step) / 11.0)) as u64;
        let base = Workload { unique_bytes, ..system.model.base().clone() };
        [(1.0, 0.0), (1.0, 0.5), (0.5, 0.0), (0.0, 0.0)].map(|(read_frac, seq_frac)| Workload {
            read_frac,
            seq_frac,
            ..base.clone()
        })
    };
    (0..12).flat_map(each).collect()
}

/// The answer; `None` where it would be a guess.
fn told(system: &System, exchange: Exchange, workload: &Workload) -> Option<Prediction> {
    ChangedSystem::new(system, vec![exchange]).unwrap().predict(None, workload).ok()
}

/// ln(throughput) of `one` over that of `other`.
fn over(one: &Prediction, other: &Prediction) -> f64 {
    (one.throughput_bytes_per_s / other.throughput_bytes_per_s).ln()
}

#[test]
fn more_memory_slows_no_reads_down_and_the_same_changes_nothing() {
    for system in all() {
        let memory = system.memory_bytes().unwrap();
        for workload in asked(&system) {
            let plain = system.predict(None, &workload).unwrap();
            let same = told(&system, Exchange::Memory(memory), &workload).unwrap();
            assert_eq!(Prediction { system: plain.system.clone(), ..same }, plain);
            let mut best: Option<Prediction> = None;
            for factor in FACTORS {
                let other = (memory as f64 * factor) as u64;
                let Some(one) = told(&system, Exchange::Memory(other), &workload) else { continue };
                let name = format!("{}: {workload:?} x {factor}", system.name);
                let set = workload.unique_bytes as f64;
                if set < memory as f64 * factor.min(1.0) / 16.0 {
                    assert!(over(&one, &plain).abs() < SLACK, "held by both: {name}");
                }
                if set > 4.0 * memory as f64 * factor.max(1.0) {
                    assert!(over(&one, &plain).abs() < 2.0 * SLACK, "held by neither: {name}");
                }
                if workload.read_frac == 1.0 {
                    let lost = best.as_ref().map_or(0.0, |best| over(best, &one));
                    assert!(lost < SLACK, "{lost:.3} lost: {name}");
                    best = if lost > 0.0 { best } else { Some(one) };
                }
            }
        }
    }
}

/// Where the time ended before the last region's curves, how many writers storage serves at once is
/// a guess, and so is what memory gains for them. Guards against advice to buy less memory.
#[test]
fn a_guess_at_many_writers_of_storage_is_told_as_one_and_more_memory_slows_down_no_other() {
    let made_up = system("one cache");
    let memory = made_up.caches[0][0].onset;
    let mut evaluation = evaluate(&made_up, 0.05, 41, 0);
    let last = evaluation.regions.last_mut().unwrap();
    last.curves.process_num.retain(|point| point.value == 1.0);
    let here = of(&made_up, evaluation);
    let base = here.model.base().clone();
    for (process_num, times) in [(1, 1.5), (4, 1.5), (4, 4.0), (16, 1.5), (16, 4.0)] {
        let unique_bytes = (memory * times) as u64;
        let asked = Workload { unique_bytes, process_num, ..base.clone() };
        let plain = here.predict(None, &asked).unwrap();
        assert_eq!(plain.extrapolated, process_num > 1, "{asked:?}");
        let [low, high] = plain.interval90;
        assert!((low..=high).contains(&made_up.throughput(&asked)), "{plain:?}");
        let with =
            |factor: f64| told(&here, Exchange::Memory((memory * factor) as u64), &asked).unwrap();
        let held = with(64.0);
        assert!(!held.extrapolated, "{held:?}");
        for factor in [1.1, 1.4, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0] {
            let one = with(factor);
            let is_guess = one.extrapolated || over(&held, &one) > -2.0 * SLACK;
            let is_slower = !plain.extrapolated && over(&plain, &one) > 2.0 * SLACK;
            assert!(is_guess && (one.extrapolated || !is_slower), "x {factor}: {one:?}");
        }
    }
}

/// The system with disks that are `factor` times as fast.
pub fn with_disks(name: &str, factor: f64) -> MadeUp {
    let mut other = system(name);
    for level in other.levels.iter_mut().flatten() {
        if let Level::Disk(disk, _) = level {
            *disk = Disk {
                seek_s: disk.seek_s.map(|seek| seek / factor),
                rotation_s: disk.rotation_s / factor,
                overhead_s: disk.overhead_s / factor,
                bytes_per_s: disk.bytes_per_s * factor,
                ..*disk
            };
        }
    }
    other
}

#[test]
fn faster_storage_slows_nothing_down_and_slower_storage_speeds_nothing_up() {
    for name in ["one cache", "dirty limit"] {
        let here = evaluated(&system(name), 41);
        for factor in [0.3, 3.0] {
            let lender = evaluated(&with_disks(name, factor), 42);
            for workload in asked(&here) {
                let plain = here.predict(None, &workload).unwrap();
                let exchange = Exchange::Storage(Box::new(lender.clone()));
                let Some(one) = told(&here, exchange, &workload) else { continue };
                let gain = over(&one, &plain) * factor.ln().signum();
                assert!(gain > -2.0 * SLACK, "{name} x {factor}: {gain:.3}, {workload:?}");
            }
        }
    }
}

#[test]
fn writes_that_go_through_are_no_faster_and_reads_are_as_they_were() {
    for name in ["one cache", "dirty limit", "log-structured"] {
        let made_up = system(name);
        let evaluation = evaluate(&made_up, 0.05, 41, EXTRA);
        let here = of(&made_up, with_synchronous(evaluation, &made_up));
        for workload in asked(&here) {
            let plain = here.predict(None, &workload).unwrap();
            let exchange = Exchange::WritePolicy(WriteDone::Through);
            let one = told(&here, exchange, &workload).unwrap();
            let gain = over(&one, &plain);
            assert!(gain < SLACK, "{name}: {gain:.3}, {workload:?}");
            assert!(workload.read_frac < 1.0 || gain > -SLACK, "{name}: {gain:.3}, {workload:?}");
        }
    }
}
