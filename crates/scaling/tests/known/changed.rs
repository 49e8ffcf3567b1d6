//! What is said of exchanges that no evaluation could tell of.

use crate::made_up::evaluation::evaluate;
use crate::made_up::{EXTRA, system};
use ioscape_scaling::System;
use ioscape_scaling::model::{ModelKind, WriteDone};
use ioscape_scaling::system::{ChangedSystem, Exchange};
use ioscape_schema::{
    Border, BorderOperation, Document, Environment, Evaluation, Outcome, Workload,
};
use std::path::Path;

fn evaluated(file_system: &str, seed: u64) -> System {
    of(file_system, evaluate(&system("memory only"), 0.01, seed, EXTRA))
}

/// The system of an evaluation in 1 GiB of memory.
fn of(file_system: &str, evaluation: Evaluation) -> System {
    let document = Document {
        environment: Environment {
            file_system: Some(file_system.to_owned()),
            memory_bytes: Some(1 << 30),
            ..Environment::default()
        },
        outcome: Some(Outcome::Evaluation(Box::new(evaluation))),
        ..Document::default()
    };
    System::of(Path::new("here.ioscape.json"), document, ModelKind::Default).unwrap()
}

#[test]
fn nobody_is_sent_to_look_for_the_storage_behind_files_in_memory() {
    let (tmpfs, ext4) = (evaluated("tmpfs", 5), evaluated("ext4", 5));
    let exchanges = |lender: &System| {
        [
            Exchange::Memory(1 << 31),
            Exchange::Storage(Box::new(lender.clone())),
            Exchange::WritePolicy(WriteDone::Through),
        ]
    };
    for (one, is_told_how) in [(&tmpfs, false), (&ext4, true)] {
        let file_system = one.document.environment.file_system.as_deref().unwrap();
        for exchange in exchanges(&evaluated(file_system, 6)) {
            let changed = ChangedSystem::new(one, vec![exchange]).unwrap();
            let not = changed.predict(None, &Workload::default()).unwrap_err();
            assert_eq!(not.missing.is_some(), is_told_how, "{}", not.why);
            assert_eq!(not.why.contains("the files of tmpfs are in memory"), !is_told_how);
        }
    }
}

/// A border within memory, as where a processor's cache ends, does not say that memory was filled.
#[test]
fn memory_that_no_set_filled_is_not_filled_by_a_border_within_it() {
    let mut evaluation = evaluate(&system("memory only"), 0.01, 5, EXTRA);
    evaluation.borders.push(Border {
        operation: BorderOperation::Read,
        unique_bytes: 24e6,
        low: 20e6,
        high: 30e6,
        ratio: 1.5,
        in_memory: true,
        slower: None,
    });
    let system = of("ext4", evaluation);
    let asked =
        |unique_bytes| system.predict(None, &Workload { unique_bytes, ..Workload::default() });
    assert!(asked(64 << 20).is_ok());
    let not = asked(4 << 30).unwrap_err();
    assert!(not.why.contains("outgrows the 1 GiB of memory"), "{}", not.why);
}

/// Reads of which every set lay in memory: what storage they would come from was never seen, and other storage would not serve them.
#[test]
fn storage_is_not_exchanged_for_memory() {
    let here = evaluated("ext4", 5);
    let lender = of("ext4", evaluate(&system("one cache"), 0.01, 6, EXTRA));
    let reads = Workload { read_frac: 1.0, unique_bytes: 16 << 20, ..Workload::default() };
    let borrowed = |from: &System, by: &System| {
        let storage = Exchange::Storage(Box::new(from.clone()));
        let changed = ChangedSystem::new(by, vec![storage]).unwrap();
        changed.predict(None, &reads).map(|told| told.extrapolated).map_err(|not| not.why)
    };
    let why = borrowed(&lender, &here).unwrap_err();
    assert!(why.contains("seen at one level only, which may be memory"), "{why}");
    assert_eq!(borrowed(&lender, &lender), Ok(false));
}
