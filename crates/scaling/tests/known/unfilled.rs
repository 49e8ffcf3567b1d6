//! What-if answers where no evaluated set filled the memory, but some did in a control group.

use crate::exchanges::with_disks;
use crate::made_up::evaluation::{BOUNDS, evaluate};
use crate::made_up::{EXTRA, system};
use ioscape_scaling::System;
use ioscape_scaling::model::ModelKind;
use ioscape_scaling::system::{ChangedSystem, Exchange};
use ioscape_schema::{Document, Environment, Evaluation, Outcome, Prediction, Settings, Workload};
use std::path::Path;

/// The memory of the machine, larger than every evaluated set, and that of its control group.
const MEMORY: u64 = 1 << 30;
const LIMIT: u64 = 64 << 20;

/// An evaluation of `evaluated` in `memory`, with that of a control group, if any.
fn system_of(evaluated: Evaluation, memory: u64, group: Option<Evaluation>) -> System {
    let settings = |memory_limit_bytes| Settings {
        unique_bytes: BOUNDS.unique_bytes,
        size_mean: BOUNDS.size_mean,
        process_num: BOUNDS.process_num,
        base: Workload::default(),
        budget_s: 60.0,
        all_parameters: false,
        points_max: None,
        flush_interval_s: None,
        layout_bytes_per_s: None,
        memory_limit_bytes,
    };
    let group = group.map(|one| Evaluation { settings: Some(settings(Some(LIMIT))), ..one });
    let evaluation = Evaluation {
        settings: Some(settings(None)),
        other_accesses: group.into_iter().collect(),
        ..evaluated
    };
    let document = Document {
        environment: Environment { memory_bytes: Some(memory), ..Environment::default() },
        outcome: Some(Outcome::Evaluation(Box::new(evaluation))),
        ..Document::default()
    };
    System::of(Path::new("here"), document, ModelKind::Default).unwrap()
}

fn told(system: &System, exchange: Exchange, workload: &Workload) -> Option<Prediction> {
    ChangedSystem::new(system, vec![exchange]).unwrap().predict(None, workload).ok()
}

/// A machine whose storage only its control group reached; without the group nothing did.
fn unfilled(with_group: bool) -> System {
    let group = evaluate(&with_disks("one cache", 3.0), 0.02, 42, EXTRA);
    let memory_only = evaluate(&system("memory only"), 0.02, 41, EXTRA);
    system_of(memory_only, MEMORY, with_group.then_some(group))
}

fn reads(unique_bytes: u64) -> Workload {
    Workload { unique_bytes, read_frac: 1.0, ..Workload::default() }
}

#[test]
fn other_memory_is_told_from_the_control_group() {
    let here = unfilled(true);
    let with = |memory, workload: &Workload| told(&here, Exchange::Memory(memory), workload);
    let large = reads(4 * MEMORY);
    let plain = here.predict(None, &large).unwrap();
    let [less, more, held] = [MEMORY / 2, 2 * MEMORY, 64 * MEMORY].map(|memory| {
        let one = with(memory, &large).unwrap();
        assert!(one.region.starts_with("group, "), "{one:?}");
        one.throughput_bytes_per_s
    });
    assert!(less < plain.throughput_bytes_per_s * 1.05, "{less} {plain:?}");
    assert!(more > plain.throughput_bytes_per_s * 1.1 && held > 3.0 * more, "{more} {held}");
    // A set that both memories hold with ease is as fast as before, and slower with too little for
    // it.
    let small = reads(256 << 20);
    let plain = here.predict(None, &small).unwrap();
    for memory in [MEMORY / 2, 2 * MEMORY] {
        let same = with(memory, &small).unwrap();
        assert_eq!(Prediction { system: plain.system.clone(), ..same }, plain);
    }
    let less = with(LIMIT, &small).unwrap();
    assert!(less.throughput_bytes_per_s < plain.throughput_bytes_per_s / 3.0, "{less:?}");
}

/// Guards against "no cache was found" where the control group found it, but measured no requests of
/// that size.
#[test]
fn requests_beyond_those_of_the_control_group_are_said_to_be() {
    let here = unfilled(true);
    let changed = ChangedSystem::new(&here, vec![Exchange::Memory(MEMORY / 2)]).unwrap();
    let asked = Workload { size_mean: 64 << 20, ..reads(4 * MEMORY) };
    let refused = changed.predict(Some("scan"), &asked).unwrap_err();
    let why =
        "scan is not predicted: a mean size of requests of 64 MiB is beyond what was measured on";
    assert!(refused.why.starts_with(why), "{}", refused.why);
    assert!(refused.why.ends_with("in a control group of 64 MiB"), "{}", refused.why);
    assert_eq!(refused.missing.unwrap().in_less_memory, Some(64 << 20));
}

#[test]
fn the_control_group_lends_its_storage() {
    let borrower = system_of(evaluate(&system("one cache"), 0.02, 43, EXTRA), LIMIT, None);
    let group = evaluate(&with_disks("one cache", 3.0), 0.02, 42, EXTRA);
    let [with_group, alone] = [unfilled(true), system_of(group, LIMIT, None)].map(|lender| {
        told(&borrower, Exchange::Storage(Box::new(lender)), &reads(256 << 20)).unwrap()
    });
    assert_eq!(with_group, alone);
    // The borrower may be one whose sets left memory in a control group alone.
    let lender = || Exchange::Storage(Box::new(borrower.clone()));
    assert!(told(&unfilled(true), lender(), &reads(256 << 20)).is_some());
}

#[test]
fn without_a_control_group_nothing_is_guessed() {
    let (here, large) = (unfilled(false), reads(4 * MEMORY));
    let changed = ChangedSystem::new(&here, vec![Exchange::Memory(2 * MEMORY)]).unwrap();
    let refused = changed.predict(None, &large).unwrap_err();
    assert!(refused.missing.unwrap().in_less_memory.is_some(), "{}", refused.why);
    let borrower = system_of(evaluate(&system("one cache"), 0.02, 43, EXTRA), LIMIT, None);
    assert!(told(&borrower, Exchange::Storage(Box::new(here)), &reads(256 << 20)).is_none());
}

/// Guards against a cache of 64 GiB on a machine of 24, in results of versions that took `--memory
/// 64G` for a limit there.
#[test]
fn a_limit_beyond_the_machine_is_none() {
    let mut here = unfilled(false);
    for (limit, memory) in [(4 * MEMORY, MEMORY), (LIMIT, LIMIT)] {
        here.document.environment.memory_limit_bytes = Some(limit);
        assert_eq!(here.memory_bytes(), Some(memory));
    }
}
