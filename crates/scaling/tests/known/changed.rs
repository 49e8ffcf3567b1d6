//! Statements about exchanges that no evaluation could answer.

use crate::exchanges::with_disks;
use crate::made_up::evaluation::{self, evaluate, of_access, with_synchronous};
use crate::made_up::{EXTRA, System as MadeUp, system};
use ioscape_scaling::System;
use ioscape_scaling::model::{ModelKind, WriteDone};
use ioscape_scaling::system::{ChangedSystem, Exchange, TracedApplication};
use ioscape_schema::{
    Access, AccessPattern, Border, BorderOperation, Characterization, Document, Environment,
    Evaluation, Op, Outcome, Prediction, Purpose, RequestClass, Traits, Warning, WarningKind,
    Workload, WritePolicy,
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
            Exchange::Memory(1 << 29),
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

fn with_policy(system: &System, done: WriteDone) -> ChangedSystem<'_> {
    ChangedSystem::new(system, vec![Exchange::WritePolicy(done)]).unwrap()
}

/// Once, writes that go through were 18 times as fast as the synchronous ones that the same
/// evaluation had measured.
#[test]
fn writes_that_go_through_are_told_where_synchronous_ones_were_as_fast() {
    let made_up = system("one cache");
    let mut evaluation = with_synchronous(evaluate(&made_up, 0.01, 5, EXTRA), &made_up);
    let writes = Workload { read_frac: 0.0, unique_bytes: 8 << 20, ..Workload::default() };
    let told = |evaluation: &Evaluation, read_frac| {
        let here = of("ext4", evaluation.clone());
        let asked = Workload { read_frac, ..writes.clone() };
        let through = with_policy(&here, WriteDone::Through);
        let told = through.predict(None, &asked).map(|_| ());
        told.map_err(|not| (not.why, not.missing.map(|missing| missing.workload.access)))
    };
    assert_eq!(told(&evaluation, 0.0), Ok(()));
    evaluation.probes[0].measurement.throughput_bytes_per_s /= 18.0;
    let (why, measured_with) = told(&evaluation, 0.5).unwrap_err();
    assert!(why.contains("wait for storage ran at") && why.contains("--dsync"), "{why}");
    assert_eq!(measured_with, Some(Access::Dsync));
    assert_eq!(told(&evaluation, 1.0), Ok(()), "reads meet no policy of writes");
    evaluation.other_accesses = vec![of_access(evaluation.clone(), Access::Dsync)];
    assert_eq!(told(&evaluation, 0.5).unwrap_err().1, None, "it was measured");
    (evaluation.other_accesses, evaluation.probes) = (Vec::new(), Vec::new());
    let (why, measured_with) = told(&evaluation, 0.5).unwrap_err();
    assert!(why.contains("wait for storage were not measured"), "{why}");
    assert_eq!(measured_with, Some(Access::Dsync));
}

/// Once, a write-back cache made synchronous writes five times slower.
#[test]
fn no_policy_of_the_file_cache_changes_writes_that_bypass_it_or_wait_for_storage() {
    for (access, why) in [(Access::Direct, "bypasses"), (Access::Dsync, "waits for storage")] {
        let evaluation = evaluate(&system("dirty limit"), 0.01, 5, EXTRA);
        let here = of("ext4", of_access(evaluation, access));
        let writes = Workload { read_frac: 0.0, access, ..Workload::default() };
        let own = here.predict(None, &writes).unwrap();
        for done in [WriteDone::Through, WriteDone::Back] {
            let changed = with_policy(&here, done);
            let told = changed.predict(None, &writes).unwrap();
            assert_eq!(Prediction { system: own.system.clone(), ..told }, own);
            let doubts = changed.doubts();
            assert!(doubts.len() == 1 && doubts[0].message.contains(why), "{doubts:?}");
        }
    }
}

/// Once, larger sets were to be measured until writes leave memory.
#[test]
fn what_a_cache_takes_for_a_write_is_not_known_where_every_write_reached_storage() {
    let mut evaluation = evaluate(&system("write-through"), 0.01, 5, EXTRA);
    evaluation.findings.write_policy = Some(WritePolicy::WriteThrough);
    let here = of("ext4", evaluation);
    let back = with_policy(&here, WriteDone::Back);
    let not = back.predict(None, &Workload::default()).unwrap_err();
    assert!(not.why.contains("always reached storage") && not.missing.is_none(), "{}", not.why);
}

/// Once, an application that goes through the file cache was predicted 2.6 times too slow from an
/// evaluation with dsync.
#[test]
fn an_application_that_goes_through_the_file_cache_is_asked_of_no_other_access() {
    let one = application(1 << 20);
    assert_eq!(one.access(), Some(Access::Buffered));
    for access in [Access::Direct, Access::Dsync] {
        let evaluation = evaluate(&system("one cache"), 0.01, 5, EXTRA);
        let here = of("ext4", of_access(evaluation, access));
        let changed = ChangedSystem::new(&here, Vec::new()).unwrap();
        let not = one.on(&changed).unwrap_err();
        assert!(not.why.contains("access buffered was never measured"), "{}", not.why);
        let asked = not.missing.expect("an evaluation tells").workload;
        assert_eq!((asked.access, asked.align_bytes), (Access::Buffered, None));
    }
}

/// A border of these requests at 24 MB.
fn border(operation: BorderOperation) -> Border {
    evaluation::border(operation, [20e6, 24e6, 30e6], 1.5)
}

/// A border within memory, such as the end of a processor's cache, does not show that memory was
/// filled.
#[test]
fn memory_that_no_set_filled_is_not_filled_by_a_border_within_it() {
    let mut evaluation = evaluate(&system("memory only"), 0.01, 5, EXTRA);
    evaluation.borders.push(Border { in_memory: true, ..border(BorderOperation::Read) });
    let system = of("ext4", evaluation);
    let asked =
        |unique_bytes| system.predict(None, &Workload { unique_bytes, ..Workload::default() });
    assert!(asked(64 << 20).is_ok());
    let not = asked(4 << 30).unwrap_err();
    assert!(not.why.contains("outgrows the 1 GiB of memory"), "{}", not.why);
}

/// A level behind a border within memory costs as much as memory does. So it shows nothing about
/// storage, about writes that reach it, or about a cache that grows with memory.
#[test]
fn nothing_is_exchanged_at_a_border_within_memory() {
    let mut evaluation = evaluate(&system("memory only"), 0.01, 5, EXTRA);
    let operations = [BorderOperation::Read, BorderOperation::Write];
    evaluation.borders.extend(operations.map(|of| Border { in_memory: true, ..border(of) }));
    let mut here = of("ext4", evaluation);
    here.document.environment.memory_bytes = Some(128 << 20);
    let lender = of("ext4", evaluate(&system("one cache"), 0.01, 6, EXTRA));
    let asked = Workload { read_frac: 0.0, unique_bytes: 64 << 20, ..Workload::default() };
    for (exchange, why) in [
        (Exchange::WritePolicy(WriteDone::Through), "what another write policy would cost"),
        (Exchange::Storage(Box::new(lender)), "reads of memory only were never seen to leave"),
        (Exchange::Memory(96 << 20), "no cache of the size of its memory"),
    ] {
        let changed = ChangedSystem::new(&here, vec![exchange]).unwrap();
        let not = changed.predict(None, &asked).unwrap_err();
        assert!(not.why.contains(why), "{}", not.why);
    }
}

/// A limit of dirty pages also shows in the mix of reads and writes; a border that only the mix
/// shows may be the end of memory.
#[test]
fn memory_that_no_set_filled_is_not_filled_by_a_limit_of_dirty_pages() {
    let told = |operations: &[BorderOperation]| {
        let mut evaluation = evaluate(&system("memory only"), 0.01, 5, EXTRA);
        evaluation.borders.extend(operations.iter().copied().map(border));
        let large = Workload { unique_bytes: 4 << 30, ..Workload::default() };
        of("ext4", evaluation).predict(None, &large).map(|_| ()).map_err(|not| not.why)
    };
    let why = told(&[BorderOperation::Write, BorderOperation::Mixed]).unwrap_err();
    assert!(why.contains("outgrows the 1 GiB of memory"), "{why}");
    assert_eq!(told(&[BorderOperation::Mixed]), Ok(()));
}

/// The made-up system with reads that all come from memory: the only border is that of the dirty
/// pages.
pub fn with_reads_in_memory(name: &str) -> MadeUp {
    let mut made_up = system(name);
    made_up.levels[0].truncate(1);
    made_up.caches[0].clear();
    made_up
}

/// An application that reads 256 MiB, with this many bytes of memory for itself.
fn application(own_bytes: u64) -> TracedApplication {
    let (unique_bytes, size_mean) = (256 << 20, 16 << 10);
    let class = RequestClass {
        requests: 1000,
        bytes: 1000 * size_mean,
        miss_ratio: vec![(4096.0, 0.5)],
        ..RequestClass::default()
    };
    let pattern = AccessPattern {
        classes: vec![class],
        unique_bytes,
        process_num: 1,
        memory_bytes: Some(own_bytes),
        ..AccessPattern::default()
    };
    traced(pattern, (Access::Buffered, size_mean), 0)
}

/// The application of a pattern of 1000 requests with this access that called `fsync` so many times.
fn traced(
    pattern: AccessPattern,
    (access, size_mean): (Access, u64),
    syncs: u64,
) -> TracedApplication {
    let unique_bytes = pattern.unique_bytes;
    let overall =
        Traits { requests: 1000, unique_bytes, size_mean, syncs, access, ..Traits::default() };
    let command = vec!["/bin/db".to_owned()];
    let found = Characterization { overall, command, pattern: Some(pattern), ..Default::default() };
    TracedApplication::of_calls("db.json", found).unwrap()
}

/// 1000 writes of 16 KiB that waited for `fsync` so long.
fn writes(sync_s: f64) -> AccessPattern {
    let class = RequestClass {
        op: Op::Write,
        requests: 1000,
        bytes: 16_384_000,
        miss_ratio: vec![(4096.0, 0.0)],
        ..RequestClass::default()
    };
    AccessPattern {
        classes: vec![class],
        unique_bytes: 16 << 20,
        unique_write_bytes: 16 << 20,
        process_num: 1,
        sync_s,
        ..AccessPattern::default()
    }
}

/// How long a synchronous write of the evaluation waited, in seconds.
fn synchronous_s(evaluation: &Evaluation) -> f64 {
    let written = evaluation.last(&Purpose::SynchronousWrites).unwrap();
    written.workload.size_mean as f64 / written.throughput_bytes_per_s
}

/// Once, a database with `O_DIRECT` was predicted to wait for `fsync` as on its old storage, although
/// the part with the other access had measured such waits.
#[test]
fn direct_requests_wait_for_fsync_as_long_as_any_access_measured() {
    let limited = system("dirty limit");
    let measured = evaluate(&limited, 0.0, 5, EXTRA);
    let direct = of_access(measured.clone(), Access::Direct);
    let buffered = with_synchronous(measured.clone(), &limited);
    let added_s = 1000.0 * synchronous_s(&buffered);
    let told = |evaluation: &Evaluation, other: &Evaluation| {
        let other_accesses = vec![other.clone()];
        let both = of("ext4", Evaluation { other_accesses, ..evaluation.clone() });
        let changed = ChangedSystem::new(both.with_access(Access::Direct), Vec::new()).unwrap();
        let one = traced(writes(0.0), (Access::Direct, 16_384), 1000);
        let (predicted, mut doubts) = one.on(&changed).unwrap_or_else(|not| panic!("{}", not.why));
        assert!(predicted.extrapolated);
        (predicted, doubts.pop().expect("a doubt").message)
    };
    for (first, second) in [(&buffered, &direct), (&direct, &buffered)] {
        let (found, doubt) = told(first, second);
        assert!(doubt.contains("times as slow here"), "{doubt}");
        assert!(16_384_000.0 / found.interval90[0] > added_s, "{found:?}");
    }
    let synchronous = of_access(measured.clone(), Access::Dsync);
    assert!(told(&direct, &synchronous).1.contains("times as slow here"));
    let (_, doubt) = told(&direct, &measured);
    assert!(
        doubt.contains("was not measured") && doubt.contains("--access direct,dsync"),
        "{doubt}"
    );
}

/// Guards against waits for `fsync` on a slow disk, and those in memory, being carried to other
/// storage within 10 %.
#[test]
fn what_fsync_waited_for_on_other_storage_is_a_guess() {
    let limited = system("dirty limit");
    let evaluation = with_synchronous(evaluate(&limited, 0.0, 5, EXTRA), &limited);
    let wait_s = synchronous_s(&evaluation);
    let here = of("ext4", evaluation);
    let changed = ChangedSystem::new(&here, Vec::new()).unwrap();
    let told = |sync_s: f64, waits_s: f64| {
        let syncs = (waits_s / wait_s).round() as u64;
        let one = traced(writes(sync_s), (Access::Buffered, 16_384), syncs);
        let (predicted, mut doubts) = one.on(&changed).unwrap_or_else(|not| panic!("{}", not.why));
        (predicted, doubts.pop().map(|doubt| doubt.message))
    };
    let seconds = |one: &Prediction| one.interval90.map(|rate| 16_384_000.0 / rate);
    let (usual, none) = told(0.0, 0.0);
    let elapsed_s = 16_384_000.0 / usual.throughput_bytes_per_s;
    assert_eq!((usual.extrapolated, none), (false, None));
    let (little, none) = told(0.01 * elapsed_s, 0.03 * elapsed_s);
    assert_eq!((little.extrapolated, none), (false, None));
    let (slow, doubt) = told(20.0, 20.0);
    let doubt = doubt.expect("a doubt");
    assert!(
        slow.extrapolated && doubt.starts_with("db waited for fsync on the storage"),
        "{doubt}"
    );
    assert!(doubt.contains("times as fast here") && !doubt.contains("slow"), "{doubt}");
    assert!(slow.throughput_bytes_per_s < usual.throughput_bytes_per_s / 2.0, "{slow:?}");
    assert!(seconds(&slow)[1] < elapsed_s, "{slow:?}");
    let (fast, doubt) = told(0.0, 20.0);
    let doubt = doubt.expect("a doubt");
    assert!(fast.extrapolated && doubt.contains("times as slow here"), "{doubt}");
    assert_eq!(fast.throughput_bytes_per_s, usual.throughput_bytes_per_s);
    assert!(seconds(&fast)[0] > 0.99 * (elapsed_s + 20.0), "{fast:?}");
    assert_eq!(fast.interval90[1], usual.interval90[1]);
}

#[test]
fn memory_that_no_set_filled_is_filled_by_what_a_process_has_beside_its_set() {
    let here = evaluated("ext4", 5);
    let changed = ChangedSystem::new(&here, Vec::new()).unwrap();
    let told = |own_bytes| application(own_bytes).on(&changed).map(|told| told.0.extrapolated);
    assert_eq!(told(512 << 20).map_err(|not| not.why), Ok(false));
    let not = told(896 << 20).unwrap_err();
    let why = "its set of 256 MiB and the 896 MiB or more that it had for itself outgrow the 1 GiB";
    assert!(not.why.contains(why), "{}", not.why);
    assert_eq!(not.missing.and_then(|missing| missing.max_unique_bytes), Some(1152 << 20));
}

#[test]
fn of_a_process_that_would_have_no_memory_left_a_guess_is_told_as_one() {
    let here = of("ext4", evaluate(&system("one cache"), 0.01, 6, EXTRA));
    let one = application(300 << 20);
    let told = |exchanges| {
        let changed = ChangedSystem::new(&here, exchanges).unwrap();
        let (predicted, mut doubts) = one.on(&changed).unwrap_or_else(|not| panic!("{}", not.why));
        (predicted.extrapolated, doubts.pop().map(|doubt| doubt.message))
    };
    assert_eq!(told(Vec::new()), (false, None));
    let (is_guess, doubt) = told(vec![Exchange::Memory(256 << 20)]);
    let doubt = doubt.expect("a doubt");
    assert!(is_guess && doubt.starts_with("db had 300 MiB of memory or more"), "{doubt}");
    assert!(doubt.contains("there is 256 MiB"), "{doubt}");
}

/// Once, small files were predicted to stay in the cache of a Raspberry Pi 5, where each takes a page
/// of 16 KiB.
#[test]
fn an_application_counted_in_other_pages_than_those_of_the_file_cache_is_extrapolated() {
    let mut here = of("ext4", evaluate(&system("one cache"), 0.01, 6, EXTRA));
    let one = application(1 << 20);
    let mut told = |page_bytes| {
        here.document.environment.page_bytes = page_bytes;
        let changed = ChangedSystem::new(&here, Vec::new()).unwrap();
        let (predicted, mut doubts) = one.on(&changed).unwrap_or_else(|not| panic!("{}", not.why));
        (predicted.extrapolated, doubts.pop().map(|doubt| doubt.message))
    };
    assert_eq!([told(None), told(Some(4096))], [(false, None), (false, None)]);
    let (is_guess, doubt) = told(Some(16_384));
    let doubt = doubt.expect("a doubt");
    assert!(is_guess && doubt.contains("in pages of 4 KiB, and this file cache"), "{doubt}");
}

/// The control group's evaluation covers sets that outgrow memory, but not where other memory is
/// asked for.
#[test]
fn what_other_memory_would_hold_is_doubted_as_the_guess_that_it_is() {
    let here = of("ext4", evaluate(&with_reads_in_memory("one cache"), 0.01, 5, EXTRA));
    let changed = ChangedSystem::new(&here, vec![Exchange::Memory(8 << 30)]).unwrap();
    let set = Workload { unique_bytes: 3 << 29, ..Workload::default() };
    let told = changed.predict(None, &set).unwrap();
    assert!(told.extrapolated);
    let doubts = here.doubts(ModelKind::Default, &[told], true);
    let is_told = doubts.iter().any(|doubt| doubt.message.contains("1.5 GiB lies outside"));
    assert!(is_told, "{doubts:?}");
}

/// Whether the prediction of `workload` on `by` with the storage of `from` is a guess, or why there
/// is none.
fn borrowed(from: &System, by: &System, workload: &Workload) -> Result<bool, String> {
    let storage = Exchange::Storage(Box::new(from.clone()));
    let changed = ChangedSystem::new(by, vec![storage]).unwrap();
    changed.predict(None, workload).map(|told| told.extrapolated).map_err(|not| not.why)
}

/// Every set of the reads lay in memory: their storage was never seen, and other storage would not
/// serve them.
#[test]
fn storage_is_not_exchanged_for_memory() {
    let here = evaluated("ext4", 5);
    let lender = of("ext4", evaluate(&system("one cache"), 0.01, 6, EXTRA));
    let reads = Workload { read_frac: 1.0, unique_bytes: 16 << 20, ..Workload::default() };
    let why = borrowed(&lender, &here, &reads).unwrap_err();
    assert!(why.contains("never seen to leave memory"), "{why}");
    assert_eq!(borrowed(&lender, &lender, &reads), Ok(false));
}

#[test]
fn a_limit_of_dirty_pages_does_not_show_the_storage_that_reads_would_borrow() {
    let here = of("ext4", evaluate(&system("one cache"), 0.01, 6, EXTRA));
    let of_writes = of("ext4", evaluate(&with_reads_in_memory("dirty limit"), 0.01, 5, EXTRA));
    let reads = Workload { read_frac: 1.0, unique_bytes: 128 << 20, ..Workload::default() };
    let why = borrowed(&of_writes, &here, &reads).unwrap_err();
    assert!(why.contains("so it has none to lend"), "{why}");
    // Writes that go through reach storage, although they show a single level.
    let through = of("ext4", evaluate(&system("write-through"), 0.01, 5, EXTRA));
    for read_frac in [0.0, 1.0] {
        let either = Workload { read_frac, ..reads.clone() };
        assert_eq!(borrowed(&through, &here, &either), Ok(false));
    }
}

/// Writes that never left memory show nothing about the storage that reads come from.
#[test]
fn storage_is_lent_to_reads_by_who_never_saw_writes_reach_it() {
    let here = of("ext4", evaluate(&system("one cache"), 0.01, 6, EXTRA));
    let mut absorbing = system("one cache");
    absorbing.levels[1].truncate(1);
    absorbing.caches[1].clear();
    let lender = of("ext4", evaluate(&absorbing, 0.01, 5, EXTRA));
    let reads = Workload { read_frac: 1.0, unique_bytes: 128 << 20, ..Workload::default() };
    assert_eq!(borrowed(&lender, &here, &reads), Ok(false));
}

/// An evaluation without a file cache.
fn direct(made_up: &MadeUp, seed: u64) -> Evaluation {
    of_access(evaluate(made_up, 0.01, seed, EXTRA), Access::Direct)
}

#[test]
fn without_a_file_cache_all_is_storage_and_memory_changes_nothing() {
    let here = of("ext4", direct(&system("array, no cache"), 5));
    let lender = of("ext4", direct(&with_disks("array, no cache", 3.0), 6));
    let asked = Workload { access: Access::Direct, ..Workload::default() };
    let [own, theirs] = [&here, &lender].map(|one| one.predict(None, &asked).unwrap());
    let with = |exchange| ChangedSystem::new(&here, vec![exchange]).unwrap();
    let lent = with(Exchange::Storage(Box::new(lender.clone())));
    let told = lent.predict(None, &asked).unwrap();
    let ratio = told.throughput_bytes_per_s / theirs.throughput_bytes_per_s;
    assert!((ratio - 1.0).abs() < 1e-6, "it is the lender: {ratio}");
    assert!(told.throughput_bytes_per_s > 2.0 * own.throughput_bytes_per_s);
    let width = |one: &Prediction| (one.interval90[1] / one.interval90[0]).ln();
    assert!(width(&told) > width(&theirs), "what is borrowed widens the interval");
    assert_eq!(lent.doubts(), []);

    let larger = with(Exchange::Memory(1 << 31));
    let told = larger.predict(None, &asked).unwrap();
    assert_eq!(Prediction { system: own.system.clone(), ..told }, own);
    assert_eq!(larger.environment().memory_limit_bytes, Some(1 << 31));
    let doubts = larger.doubts();
    let is_told = doubts.iter().any(|one| one.message.contains("2 GiB changes nothing: access"));
    assert!(is_told && doubts.len() == 1, "{doubts:?}");
}

/// The cost of storage rests entirely on the lender's evaluation.
#[test]
fn whoever_lends_storage_after_an_interruption_is_in_doubt() {
    let here = of("ext4", direct(&system("array, no cache"), 5));
    let mut lender = of("ext4", direct(&with_disks("array, no cache", 3.0), 6));
    lender.name = "there".to_owned();
    lender.document.interrupted = true;
    let storage = Exchange::Storage(Box::new(lender));
    let lent = ChangedSystem::new(&here, vec![storage]).unwrap();
    let said = "the evaluation was interrupted: predictions rest on the finished part";
    assert_eq!(lent.doubts(), [Warning::new(WarningKind::Interrupted, said).at("there")]);
}

#[test]
fn without_a_file_cache_only_the_lender_must_have_been_measured_so_far() {
    let mut narrow = direct(&system("array, no cache"), 5);
    for region in &mut narrow.regions {
        region.curves.process_num.retain(|point| point.value <= 4.0);
    }
    narrow.extra.retain(|point| point.measurement.workload.process_num <= 4);
    let here = of("ext4", narrow);
    let lender = of("ext4", direct(&with_disks("array, no cache", 3.0), 6));
    let asked = Workload { access: Access::Direct, process_num: 16, ..Workload::default() };
    let storage = Exchange::Storage(Box::new(lender.clone()));
    let lent = ChangedSystem::new(&here, vec![storage]).unwrap();
    let [told, theirs] = [lent.predict(None, &asked), lender.predict(None, &asked)]
        .map(|predicted| predicted.unwrap_or_else(|not| panic!("{}", not.why)));
    let ratio = told.throughput_bytes_per_s / theirs.throughput_bytes_per_s;
    assert!((0.8..1.25).contains(&ratio) && !told.extrapolated, "{ratio}");
}
