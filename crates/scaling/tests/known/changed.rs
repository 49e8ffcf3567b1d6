//! What is said of exchanges that no evaluation could tell of.

use crate::made_up::evaluation::evaluate;
use crate::made_up::{EXTRA, system};
use ioscape_scaling::System;
use ioscape_scaling::model::{ModelKind, WriteDone};
use ioscape_scaling::system::{ChangedSystem, Exchange};
use ioscape_schema::{Document, Environment, Outcome, Workload};
use std::path::Path;

fn evaluated(file_system: &str, seed: u64) -> System {
    let evaluation = evaluate(&system("memory only"), 0.01, seed, EXTRA);
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
