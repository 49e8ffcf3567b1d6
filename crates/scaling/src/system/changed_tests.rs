//! Tests of predictions for an evaluated system with something exchanged.

use super::*;
use crate::model::ModelKind;
use crate::testing::{border, point, region};
use ioscape_schema::{
    Document, Evaluation, Measurement, Outcome, Probe, Purpose, Region, RegionCurves, Stop,
};
use std::path::Path;

/// A system on which these requests were seen to reach storage.
fn evaluated(operation: BorderOperation) -> System {
    let at = |value: f64| point((Parameter::ReadFrac, value), 1e8, 1);
    let read_frac = [0.0, 0.5, 1.0].map(at).to_vec();
    let curves = RegionCurves { read_frac, ..RegionCurves::default() };
    let region = Region { unique_bytes: [1e6, 1e10], ..region(curves) };
    let border = border(operation, [9e8, 1e9, 1.1e9], 9.0);
    let evaluation =
        Evaluation { borders: vec![border], regions: vec![region], ..Evaluation::default() };
    let outcome = Some(Outcome::Evaluation(Box::new(evaluation)));
    let document = Document { outcome, ..Document::default() };
    System::of(Path::new("here.ioscape.json"), document, ModelKind::Product).unwrap()
}

#[test]
fn nobody_is_sent_to_measure_larger_sets_for_writes_that_stay_in_memory_where_reads_left_it() {
    let is_sent = |operation, error: fn(String) -> WhatIfError| {
        let system = evaluated(operation);
        let changed = ChangedSystem::new(&system, Vec::new()).unwrap();
        let not = changed.refused(&error("here".to_owned()), None, &Workload::default());
        not.missing.is_some()
    };
    assert!(is_sent(BorderOperation::Write, WhatIfError::NoWrites));
    assert!(!is_sent(BorderOperation::Read, WhatIfError::NoWrites));
    assert!(!is_sent(BorderOperation::Read, WhatIfError::NoOwnWrites));
    assert!(is_sent(BorderOperation::Write, WhatIfError::NoOwnStorage));
}

/// Once, nothing was said of a result that a loop device in memory, or a mount without barriers, gave.
#[test]
fn what_measurements_say_against_themselves_is_said_of_predictions() {
    let probe = |access, kind, why: &str| Probe {
        purpose: Purpose::Flush,
        measurement: Measurement {
            warnings: vec![Warning::new(kind, why)],
            ..Measurement::empty(Workload { access, ..Workload::default() }, Stop::TimeCap)
        },
    };
    let mut system = evaluated(BorderOperation::Read);
    let access = system.model.base().access;
    system.evaluation.probes = vec![
        probe(access, WarningKind::Trap, "in memory"),
        probe(access, WarningKind::Trap, "in memory"),
        probe(access, WarningKind::Steal, "stolen"),
        probe(Access::Dsync, WarningKind::Trap, "without barriers"),
    ];
    let traps = |doubts: Vec<Warning>| -> Vec<String> {
        let traps = doubts.into_iter().filter(|doubt| doubt.kind == WarningKind::Trap);
        traps.map(|doubt| doubt.message).collect()
    };
    let predicted = system.predict(None, system.model.base()).unwrap();
    let own =
        |is_own| traps(system.doubts(ModelKind::Product, std::slice::from_ref(&predicted), is_own));
    assert_eq!(own(true), ["in memory"]);
    assert_eq!(own(false), [""; 0], "the storage is another one");
    let borrower = evaluated(BorderOperation::Read);
    let lent = vec![Exchange::Storage(Box::new(system))];
    assert_eq!(traps(ChangedSystem::new(&borrower, lent).unwrap().doubts()), ["in memory"]);
}

/// Once, writes to a drive with much erased flash were predicted, and compared, without its warning.
#[test]
fn what_a_result_says_of_its_storage_goes_with_the_storage() {
    let with = |doubts: &[(WarningKind, &str, &str)]| {
        let mut system = evaluated(BorderOperation::Read);
        let doubts = doubts.iter().map(|&(kind, why, at)| Warning::new(kind, why).at(at));
        system.document.warnings = doubts.collect();
        system
    };
    let hidden = (WarningKind::MemoryLimited, "groups do not show", "");
    let here = with(&[
        (WarningKind::NotSteady, "erased flash", ""),
        (WarningKind::NotSteady, "a short warm-up", "1 of 9 measurements"),
        (WarningKind::Other, "a note", ""),
        hidden,
    ]);
    let told = |doubts: Vec<Warning>| -> Vec<String> {
        doubts.into_iter().map(|doubt| doubt.message).collect()
    };
    let predicted = [here.predict(None, here.model.base()).unwrap()];
    let of = |system: &System, is_own| told(system.doubts(ModelKind::Product, &predicted, is_own));
    assert_eq!(of(&here, true), ["groups do not show", "erased flash"]);
    assert_eq!(of(&here, false), ["groups do not show"]);
    let mut limited = with(&[hidden]);
    limited.document.environment.memory_limit_bytes = Some(1 << 30);
    assert_eq!(of(&limited, true), [""; 0], "a known limit is part of the system");
    let lender = with(&[(WarningKind::Extrapolated, "not calibrated", ""), hidden]);
    let lent = ChangedSystem::new(&here, vec![Exchange::Storage(Box::new(lender))]).unwrap();
    assert_eq!(told(lent.doubts()), ["not calibrated"]);
}
