//! Predictions of applications on made-up systems, by the applications' own locality.

use crate::made_up::evaluation::{border, evaluate, of_access, with_synchronous};
use crate::made_up::{EXTRA, system};
use ioscape_scaling::model::{Model, WhatIf, WhatIfError, WriteDone, predict, predict_application};
use ioscape_schema::{
    Access, AccessPattern, Border, BorderOperation, Evaluation, Op, Prediction, RequestClass,
    Workload, WritePolicy,
};

/// One class of random reads with the given miss ratio at each size of cache.
fn reads(set: u64, missed: impl Fn(f64) -> f64, think_time_ns: f64) -> AccessPattern {
    let sizes = (40..140).map(|step| (f64::from(step) / 4.0).exp2());
    let class = RequestClass {
        op: Op::Read,
        sequential: false,
        requests: 100_000,
        bytes: 100_000 * 16384,
        run_bytes: 16384.0,
        response_time_ns: 0.0,
        miss_ratio_half90: sizes.clone().map(|_| 0.02).collect(),
        miss_ratio: sizes.map(|size| (size, missed(size))).collect(),
    };
    AccessPattern {
        classes: vec![class],
        unique_bytes: set,
        process_num: 1,
        think_time_ns,
        ..AccessPattern::default()
    }
}

#[test]
fn an_application_is_as_fast_as_its_own_locality_lets_it_be() {
    let system = system("one cache");
    let model = Model::new(&evaluate(&system, 0.0, 5, EXTRA)).unwrap();
    let memory = system.caches[0][0].onset;
    let set = (3.0 * memory) as u64;
    let workload = Workload {
        unique_bytes: set,
        size_mean: 16384,
        read_frac: 1.0,
        seq_frac: 0.0,
        process_num: 1,
        ..Workload::default()
    };
    let predicted = |pattern: &AccessPattern| {
        let what_if = WhatIf::default();
        predict_application(&model, &what_if, Some(memory as u64), &workload, pattern).unwrap()
    };
    let uniform = predicted(&reads(set, |size| (1.0 - size / set as f64).max(0.0), 0.0));
    let known = predict(&model, &workload).unwrap().throughput_bytes_per_s;
    let ratio = uniform.throughput_bytes_per_s / known;
    assert!((0.9..1.1).contains(&ratio), "uniform access is the model's own: {ratio}");
    let skewed = predicted(&reads(set, |size| 0.1 * (1.0 - size / set as f64).max(0.0), 0.0));
    assert!(skewed.throughput_bytes_per_s > 3.0 * uniform.throughput_bytes_per_s);
    let hits = |one: &Prediction| one.application.as_ref().unwrap().read_hit_frac;
    assert!(hits(&uniform) < 0.5 && hits(&skewed) > 0.9);
    for one in [&uniform, &skewed] {
        let [low, high] = one.application.as_ref().unwrap().read_hit_interval90.unwrap();
        assert!(low < hits(one) && hits(one) < high, "{low} {} {high}", hits(one));
        assert!(high - low < 0.25, "{low} to {high}");
    }
    // Only the second of computing between requests counts.
    let idle = predicted(&reads(set, |_| 0.0, 1e9));
    assert!((idle.iops - 1.0).abs() < 0.01, "{}", idle.iops);
    let forecast = idle.application.unwrap();
    let sum: f64 = forecast.parts.iter().map(|part| part.seconds).sum();
    assert!((sum / forecast.elapsed_s - 1.0).abs() < 1e-9);
}

/// How much 20 s of waits for `fsync` add to the time of an application that writes 1.6 GB, of
/// which `missed` reaches storage, in seconds.
fn added_s(evaluation: &Evaluation, access: Access, what_if: &WhatIf, missed: f64) -> f64 {
    let model = Model::new(&of_access(evaluation.clone(), access)).unwrap();
    let workload = Workload { read_frac: 0.0, access, ..Workload::default() };
    let mut pattern = reads(16 << 20, |_| missed, 0.0);
    (pattern.classes[0].op, pattern.unique_write_bytes) = (Op::Write, 16 << 20);
    let mut elapsed_s = |sync_s| {
        pattern.sync_s = sync_s;
        let said = predict_application(&model, what_if, None, &workload, &pattern).unwrap();
        said.application.unwrap().elapsed_s
    };
    elapsed_s(20.0) - elapsed_s(0.0)
}

/// Such as a log with `fdatasync` after every write, which makes its access dsync: the evaluation's
/// writes already include that cost.
#[test]
fn waits_for_fsync_count_once_where_every_write_waits_for_storage() {
    let evaluation = evaluate(&system("write-through"), 0.0, 5, 0);
    let as_evaluated = WhatIf::default();
    assert_eq!(added_s(&evaluation, Access::Dsync, &as_evaluated, 1.0), 0.0);
    let waited = added_s(&evaluation, Access::Buffered, &as_evaluated, 1.0);
    assert!((waited - 20.0).abs() < 1e-6, "{waited}");
}

/// A slower level of their costs is no cache that absorbs them: neither computing nor memory
/// shortens their waits.
#[test]
fn each_synchronous_write_waits_for_storage() {
    let evaluation = evaluate(&system("dirty limit"), 0.0, 5, EXTRA);
    let access = Access::Dsync;
    let model = Model::new(&of_access(evaluation, access)).unwrap();
    let workload = Workload { read_frac: 0.0, access, ..Workload::default() };
    let told = |size: u64, think_time_ns, memory_bytes, further_waits| {
        let mut pattern = reads(256 << 20, |_| 1.0, think_time_ns);
        let class = &mut pattern.classes[0];
        (class.op, class.bytes) = (Op::Write, class.requests * size);
        (pattern.unique_write_bytes, pattern.further_waits) = (256 << 20, further_waits);
        let what_if = WhatIf { memory_bytes: Some(memory_bytes), ..WhatIf::default() };
        let said = predict_application(&model, &what_if, None, &workload, &pattern).unwrap();
        said.application.unwrap()
    };
    let memory = system("dirty limit").caches[0][0].onset as u64;
    let alone = told(16384, 0.0, [memory; 2], 0);
    let computing = told(16384, 1e6, [memory; 2], 0);
    let added_s = computing.elapsed_s - alone.elapsed_s;
    assert!((added_s - 100.0).abs() < 1e-6, "100,000 times 1 ms: {added_s}");
    assert_eq!(alone.memory, None);
    for other in [memory / 4, memory * 4] {
        assert_eq!(told(16384, 0.0, [memory, other], 0), alone);
    }
    // As many syncs of directories as writes cost as much as if each were a small write.
    let further_s = told(16384, 0.0, [memory; 2], 100_000).elapsed_s - alone.elapsed_s;
    let small_s = told(4096, 0.0, [memory; 2], 0).elapsed_s;
    assert!((further_s / small_s - 1.0).abs() < 1e-6, "{further_s} {small_s}");
}

#[test]
fn nothing_is_left_to_wait_for_at_fsync_where_a_policy_lets_writes_through() {
    let limited = system("dirty limit");
    let evaluation = with_synchronous(evaluate(&limited, 0.0, 5, EXTRA), &limited);
    let through = WhatIf { write_done: Some(WriteDone::Through), ..WhatIf::default() };
    assert_eq!(added_s(&evaluation, Access::Buffered, &through, 1.0), 0.0);
    let back = |missed| added_s(&evaluation, Access::Buffered, &WhatIf::default(), missed);
    assert!((back(0.0) - 20.0).abs() < 1e-6, "{}", back(0.0));
    assert!(back(1.0).abs() < 1e-6, "storage takes longer than 20 s, in fsync or not");
    // Nor where the policy was found to be write-through: it is then not exchanged, whatever is
    // asked for.
    let mut found = evaluate(&system("write-through"), 0.0, 5, 0);
    found.findings.write_policy = Some(WritePolicy::WriteThrough);
    assert_eq!(added_s(&found, Access::Buffered, &WhatIf::default(), 1.0), 0.0);
}

/// Direct access meets a cache of a controller or an array, which neither grows with this machine's
/// memory nor shares it with a process.
#[test]
fn memory_is_nothing_to_direct_access() {
    let system = system("one cache");
    let evaluation = of_access(evaluate(&system, 0.0, 5, EXTRA), Access::Direct);
    let model = Model::new(&evaluation).unwrap();
    let memory = Some(system.caches[0][0].onset as u64);
    let access = Access::Direct;
    let workload = Workload { read_frac: 1.0, access, ..Workload::default() };
    let told = |memory_bytes| {
        let pattern = AccessPattern { memory_bytes, ..reads(16 << 20, |_| 0.1, 0.0) };
        let what_if = WhatIf::default();
        let said = predict_application(&model, &what_if, memory, &workload, &pattern).unwrap();
        said.application.unwrap()
    };
    let alone = told(None);
    assert_eq!(alone.memory, None);
    let names: Vec<&str> = alone.parts.iter().map(|part| part.name.as_str()).collect();
    assert!(names.contains(&"reads from cache") && names.contains(&"reads from storage"));
    assert!(!names.iter().any(|name| name.contains("memory")), "{names:?}");
    assert_eq!(told(Some(60 << 20)), alone);
}

/// A limit of dirty pages is a share of the memory that processes leave: if they leave a quarter of
/// it, the limit is a quarter too.
#[test]
fn a_limit_that_is_a_share_of_memory_loses_no_more_than_its_share_to_a_process() {
    let system = system("dirty limit");
    let model = Model::new(&evaluate(&system, 0.0, 5, EXTRA)).unwrap();
    let [memory, limit] = [&system.caches[0], &system.caches[1]].map(|caches| caches[0].onset);
    let (own, set) = (0.75 * memory, limit / 8.0);
    let written = reads(set as u64, |size| if size < set { 1.0 } else { 0.01 }, 0.0);
    let mut pattern = AccessPattern { memory_bytes: Some(own as u64), ..written };
    (pattern.classes[0].op, pattern.unique_write_bytes) = (Op::Write, set as u64);
    let unique_bytes = set as u64;
    let workload = Workload { unique_bytes, read_frac: 0.0, ..Workload::default() };
    let what_if = WhatIf::default();
    let all = Some(memory as u64);
    let said = predict_application(&model, &what_if, all, &workload, &pattern).unwrap();
    let forecast = said.application.unwrap();
    assert!(forecast.written_through_frac < 0.02, "{}", forecast.written_through_frac);
    let told = forecast.memory.expect("both caches are of memory");
    assert!(told.curve[0].0 > own, "with less it does not run: {told:?}");
    let found = told.for_90_percent_bytes / (own + set * memory / limit);
    assert!((0.85..1.25).contains(&found), "{found}");
}

#[test]
fn read_ahead_gathers_small_sequential_reads() {
    let system = system("one cache");
    let model = Model::new(&evaluate(&system, 0.0, 5, EXTRA)).unwrap();
    let cold = |size: u64, sequential: bool| {
        let mut pattern = reads(256 << 20, |_| 1.0, 0.0);
        let class = &mut pattern.classes[0];
        class.requests = class.bytes / size;
        (class.sequential, class.run_bytes) = (sequential, 1e8);
        let five = Workload { read_frac: 1.0, ..Workload::default() };
        let what_if = WhatIf::default();
        let said = predict_application(&model, &what_if, None, &five, &pattern).unwrap();
        said.throughput_bytes_per_s
    };
    let [small, large] = [4096, 131_072].map(|size| cold(size, true));
    assert!((small / large - 1.0).abs() < 0.05, "{small} {large}");
    assert!(cold(4096, false) < small / 10.0);
}

#[test]
fn an_application_needs_the_memory_that_its_misses_say() {
    let system = system("one cache");
    let model = Model::new(&evaluate(&system, 0.0, 5, EXTRA)).unwrap();
    let memory = system.caches[0][0].onset;
    // All of its reads go to a hot set of a quarter of the cache's size, or anywhere.
    let needed = |hot: f64, cold: f64| {
        let missed = |size: f64| if size < hot { 1.0 } else { cold };
        let workload = Workload {
            unique_bytes: 256 << 20,
            size_mean: 16384,
            read_frac: 1.0,
            ..Workload::default()
        };
        let pattern = reads(256 << 20, missed, 0.0);
        let what_if = WhatIf::default();
        let own = Some(memory as u64);
        let one = predict_application(&model, &what_if, own, &workload, &pattern).unwrap();
        one.application.unwrap().memory.expect("the cache is as large as memory")
    };
    for factor in [0.5, 2.0] {
        let forecast = needed(factor * memory, 0.0);
        let found = forecast.for_90_percent_bytes / (factor * memory);
        assert!((0.7..1.4).contains(&found), "{factor}: {found}");
        let [low, high] = forecast.for_90_percent_interval90.expect("the trace tells");
        let needs = forecast.for_90_percent_bytes;
        assert!(low <= needs && needs <= high && high < 3.0 * low, "{low} {needs} {high}");
    }
    let curve = needed(2.0 * memory, 0.0).curve;
    assert!(curve.last().unwrap().1 > 5.0 * curve[0].1, "{curve:?}");
}

/// A system whose sets all lie in memory shows no cache. So neither may its reads be said to come
/// from one, nor not to.
#[test]
fn where_no_cache_was_found_what_caches_hold_is_not_known() {
    let evaluation = evaluate(&system("memory only"), 0.0, 5, 0);
    let model = Model::new(&evaluation).unwrap();
    let workload = Workload { read_frac: 1.0, ..Workload::default() };
    let pattern = reads(64 << 20, |_| 0.5, 0.0);
    let said = predict_application(&model, &WhatIf::default(), None, &workload, &pattern).unwrap();
    let forecast = said.application.unwrap();
    assert_eq!(forecast.read_hit_interval90, Some([0.0, 1.0]), "{forecast:?}");
}

/// A border within memory ends a processor's cache; nothing beyond it is read from storage.
#[test]
fn what_lies_behind_a_border_within_memory_is_not_called_storage() {
    let mut evaluation = evaluate(&system("memory only"), 0.0, 5, 0);
    let border = border(BorderOperation::Read, [20e6, 24e6, 30e6], 1.5);
    evaluation.borders.push(Border { in_memory: true, ..border });
    let model = Model::new(&evaluation).unwrap();
    let workload = Workload { read_frac: 1.0, ..Workload::default() };
    let pattern = reads(100 << 20, |size| (1.0 - size / 1e8).max(0.0), 0.0);
    let own = Some(256 << 20);
    let said = predict_application(&model, &WhatIf::default(), own, &workload, &pattern).unwrap();
    let forecast = said.application.unwrap();
    assert_eq!((&forecast.memory, forecast.read_hit_interval90), (&None, Some([0.0, 1.0])));
    let names: Vec<&str> = forecast.parts.iter().map(|part| part.name.as_str()).collect();
    assert!(names.contains(&"reads") && !names.contains(&"reads from storage"), "{names:?}");
}

/// Where no reads were seen to outgrow a cache, the memory they need is unknown, and so is the
/// effect of less memory on them.
#[test]
fn without_a_cache_of_reads_no_memory_is_told() {
    let model = Model::new(&evaluate(&system("memory only"), 0.01, 5, EXTRA)).unwrap();
    let workload = Workload { unique_bytes: 256 << 20, read_frac: 1.0, ..Workload::default() };
    let pattern = reads(256 << 20, |_| 0.5, 0.0);
    let own = 1 << 30;
    let told = |other| {
        let what_if = WhatIf { memory_bytes: Some([own, other]), ..WhatIf::default() };
        predict_application(&model, &what_if, Some(own), &workload, &pattern)
    };
    let same = told(own).unwrap().application.unwrap();
    assert_eq!((same.memory, same.read_hit_interval90), (None, Some([0.0, 1.0])));
    assert!(matches!(told(128 << 20), Err(WhatIfError::NoCache(_))));
}
