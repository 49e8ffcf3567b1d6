//! Applications with known parameters: the model's own streams, and a few constructed by hand.

use super::*;
use crate::streams;
use ioscape_schema::chance::mix;
use ioscape_schema::{Access, Request, SizeDistribution, Traits, Workload};
use proptest::prelude::*;

fn call(process: u32, file: u32, op: Op, offset: u64, len: u32) -> FileCall {
    FileCall { process, file, request: Request { op, offset, len }, ..FileCall::default() }
}

/// Returns call number `index` of a process that computes for 30 time units after each request of
/// 10.
fn at(index: u64, call: FileCall) -> FileCall {
    let issued_ns = index * 40_000;
    FileCall { issued_ns, completed_ns: issued_ns + 10_000, ..call }
}

fn finish(calls: impl IntoIterator<Item = FileCall>) -> Portrait {
    let mut seen = Application::new(4096);
    for call in calls {
        seen.record(&call);
    }
    seen.finish()
}

#[test]
fn distinct_bytes_are_counted_in_pages_of_the_file_cache() {
    let mut seen = Application::new(16_384);
    seen.record(&call(0, 0, Op::Read, 0, 3072));
    assert_eq!(seen.finish().overall.unique_bytes, 16_384);
}

/// Characterizes the calls that the workload's streams make in turn on one file.
fn generated(workload: &Workload, each: u64) -> Portrait {
    let mut streams = streams(workload, 7);
    finish((0..each).flat_map(|index| {
        let turn = |(number, stream): (usize, &mut crate::Stream)| {
            let Request { op, offset, len } = stream.request();
            at(index, call(number as u32, 0, op, offset, len))
        };
        streams.iter_mut().enumerate().map(turn).collect::<Vec<_>>()
    }))
}

#[test]
fn the_models_own_workloads_come_back() {
    let workloads = [
        Workload { unique_bytes: 16 << 20, think_time_ns: 30_000, ..Workload::default() },
        Workload {
            unique_bytes: 16 << 20,
            size_mean: 8192,
            size_distribution: SizeDistribution::Fixed,
            read_frac: 0.9,
            seq_frac: 0.2,
            process_num: 3,
            think_time_ns: 30_000,
            ..Workload::default()
        },
        Workload {
            unique_bytes: 16 << 20,
            read_frac: 0.0,
            seq_frac: 0.9,
            process_num: 2,
            think_time_ns: 30_000,
            ..Workload::default()
        },
    ];
    for wanted in workloads {
        let found = generated(&wanted, 6000).overall;
        let workload = found.workload();
        assert!(found.goodness > 0.95, "{found:?}");
        assert_eq!(workload.size_distribution, wanted.size_distribution);
        assert_eq!(workload.process_num, wanted.process_num);
        let apart = |a: f64, b: f64| (a - b).abs();
        let share = workload.unique_bytes as f64 / wanted.unique_bytes as f64;
        assert!((0.99..=1.0).contains(&share), "{found:?}");
        assert!(apart(workload.size_mean as f64 / wanted.size_mean as f64, 1.0) < 0.03);
        assert!(apart(workload.read_frac, wanted.read_frac) < 0.02);
        assert!(apart(workload.seq_frac, wanted.seq_frac) < 0.02, "{found:?}");
        assert!(apart(workload.think_time_ns as f64, 30_000.0) < 100.0, "{found:?}");
        assert_eq!(found.response_time_ns, 10_000.0);
    }
}

#[test]
fn a_copy_is_sequential_in_both_files() {
    let copy = (0..100u64).flat_map(|block| {
        [(0, Op::Read), (1, Op::Write)].map(|(file, op)| {
            at(2 * block + u64::from(file), call(0, file, op, block * 65_536, 65_536))
        })
    });
    let portrait = finish(copy);
    let overall = &portrait.overall;
    assert_eq!((overall.requests, overall.bytes), (200, 200 * 65_536));
    assert_eq!(overall.unique_bytes, 200 * 65_536);
    assert_eq!((overall.read_frac, overall.size_mean), (0.5, 65_536));
    assert_eq!(overall.size_distribution, SizeDistribution::Fixed);
    assert!(overall.seq_frac > 0.99 && overall.strict_seq_frac == 0.0, "{overall:?}");
    assert!(overall.mix_distance > 0.4, "it alternates, the model does not: {overall:?}");
    assert_eq!((portrait.files[0].1.read_frac, portrait.files[1].1.read_frac), (1.0, 0.0));
    assert_eq!(portrait.files[0].1.seq_frac, 1.0);
    assert_eq!(portrait.processes[0].1.unique_bytes, 200 * 65_536);
}

#[test]
fn one_size_between_granules_is_found_as_it_is() {
    let alike = finish((0..400).map(|i| at(i, call(0, 0, Op::Read, i * 5120, 5120)))).overall;
    assert!(alike.goodness > 0.95, "{alike:?}");
    assert_eq!(alike.align_bytes, Some(1024));
    let workload = alike.workload();
    assert_eq!((workload.size_distribution, workload.align()), (SizeDistribution::Fixed, 1024));
    // A file whose last request is shorter still counts in pages.
    let len = |i: u64| if i < 1600 { 65_536 } else { 512 };
    let file = (0..=1600).map(|i| at(i, call(0, 0, Op::Read, i * 65_536, len(i))));
    let file = finish(file).overall;
    assert!(file.goodness > 0.95, "{file:?}");
    let workload = file.workload();
    assert_eq!((workload.size_distribution, workload.align()), (SizeDistribution::Fixed, 4096));
}

#[test]
fn two_sizes_in_turn_are_not_one_of_their_mean() {
    // For 4 KiB and 8 KiB, the workload's own mix is exact.
    for second in [6144u32, 8192] {
        let calls = (0..10_000).map(|i: u64| {
            let (within, len) = if i.is_multiple_of(2) { (0, 4096) } else { (4096, second) };
            at(i, call(0, 0, Op::Read, i / 2 * (4096 + u64::from(second)) + within, len))
        });
        let overall = finish(calls).overall;
        assert!(overall.goodness > 0.75, "{overall:?}");
        let workload = overall.workload();
        assert_eq!(workload.size_distribution, SizeDistribution::Fixed);
        assert_eq!((overall.align_bytes, workload.align_bytes), (None, None), "{second}");
    }
}

#[test]
fn short_processes_that_begin_anywhere_do_not_go_on() {
    let offset = |i: u64| mix(i) % 65_536 * 4096;
    let calls = (0..1000).map(|i| at(i, call(i as u32, 0, Op::Read, offset(i), 4096)));
    let phases = finish(calls).phases;
    let jumps = phases.iter().flat_map(|phase| &phase.read).map(|read| read.jump_frac);
    let jumps: Vec<f64> = jumps.collect();
    assert!(!jumps.is_empty() && jumps.iter().all(|jump| *jump > 0.99), "{jumps:?}");
}

/// As with `pgbench -C`, which uses a new process for every transaction.
#[test]
fn more_processes_than_are_followed_at_once_lose_no_byte_of_the_phases() {
    let calls = (0..20_000).map(|i| at(i, call((i / 2) as u32, 0, Op::Read, i * 4096, 4096)));
    let phases = finish(calls).phases;
    assert_eq!(phases.iter().map(|phase| phase.bytes).sum::<u64>(), 20_000 * 4096);
    let jumps = phases.iter().flat_map(|phase| &phase.read).map(|read| read.jump_frac);
    let jumps: Vec<f64> = jumps.collect();
    let half = |jump: &f64| (jump - 0.5).abs() < 0.01;
    assert!(jumps.iter().all(half), "the second read of each process goes on: {jumps:?}");
}

/// As with `dd bs=80M`: a workload's request has at most 64 MiB.
#[test]
fn calls_that_are_larger_than_a_request_are_several_and_no_byte_is_read_twice() {
    let len: u32 = 80 << 20;
    let calls = (0..2).map(|i| at(i, call(0, 0, Op::Read, i * u64::from(len), len)));
    let phases = finish(calls).phases;
    let workload = Workload { unique_bytes: 2 * u64::from(len), phases, ..Workload::default() };
    assert_eq!((workload.validate(), workload.pass_bytes()), (Ok(()), Some(160 << 20)));
    let all = crate::Stream::new(&workload, 1, 0).take(4);
    let found: Vec<_> = all.map(|one| (one.offset >> 20, one.len >> 20)).collect();
    assert_eq!(found, [(0, 40), (40, 40), (80, 40), (120, 40)]);
}

#[test]
fn syncs_are_no_requests_but_choose_the_access() {
    let sync = |index| FileCall {
        completed_ns: index * 40_000 + 35_000,
        ..at(index, call(0, 0, Op::Write, 0, 0))
    };
    let often =
        (0..50).flat_map(|i| [at(2 * i, call(0, 0, Op::Write, i * 512, 512)), sync(2 * i + 1)]);
    let overall = finish(often).overall;
    assert_eq!((overall.requests, overall.syncs, overall.access), (50, 50, Access::Dsync));
    assert_eq!((overall.response_time_ns, overall.sync_time_ns), (10_000.0, 35_000.0));
    assert_eq!(overall.unique_bytes, 28_672, "whole pages");
    let rarely = (0..50).map(|i| at(i, call(0, 0, Op::Write, i * 512, 512))).chain([sync(50)]);
    assert_eq!(finish(rarely).overall.access, Access::Buffered);
}

/// Writes of 1 s in all, then a sync of 5 s: by the writer itself, or as with `cp; sync` by a
/// process that has read a little.
#[test]
fn a_sync_after_the_last_write_is_part_of_the_phase() {
    for (process, file) in [(0, 0), (1, FileCall::NO_FILE)] {
        let at = |from_ms: u64, to_ms: u64, call| FileCall {
            issued_ns: from_ms * 1_000_000,
            completed_ns: to_ms * 1_000_000,
            ..call
        };
        let write = |i: u64| at(10 * i, 10 * (i + 1), call(0, 0, Op::Write, i << 24, 1 << 24));
        let library = at(1000, 1000, call(1, 1, Op::Read, 0, 832));
        let sync = at(1000, 6000, call(process, file, Op::Write, 0, 0));
        let calls = (0..100).map(write).chain((process == 1).then_some(library)).chain([sync]);
        let overall = finish(calls).overall;
        assert_eq!((overall.active_s, overall.process_num), (6.0, 1));
        assert!(overall.think_time_ns < 1000, "waiting for storage is no computing: {overall:?}");
    }
}

/// Writes by 8 processes, or by one with 8 in flight, then a sync that holds up all of them.
#[test]
fn a_sync_at_the_end_makes_several_writers_no_fewer_and_is_no_pause() {
    let of = |processes: u64, writes: u64, synced_after: u64| {
        let batch = |i: u64| {
            let issued_ns = i * 10_000_000 + i / synced_after * 5_000_000_000;
            let one = move |process: u64| FileCall {
                issued_ns,
                completed_ns: issued_ns + 10_000_000,
                ..call((process % processes) as u32, 0, Op::Write, mix(8 * i + process) << 12, 4096)
            };
            let sync = FileCall {
                issued_ns: issued_ns + 10_000_000,
                completed_ns: issued_ns + 5_010_000_000,
                ..call(0, 0, Op::Write, 0, 0)
            };
            let is_synced = (i + 1).is_multiple_of(synced_after);
            (0..8).map(one).chain(is_synced.then_some(sync))
        };
        finish((0..writes).flat_map(batch))
    };
    for (processes, synced_after) in [(8, 100), (1, 100), (1, 50)] {
        let Portrait { overall, sync_s, .. } = of(processes, 100, synced_after);
        let syncs = (100 / synced_after) as f64;
        assert_eq!((overall.process_num, overall.active_s), (8, 1.0 + 5.0 * syncs));
        assert_eq!(sync_s, 8.0 * 5.0 * syncs, "each of the eight waits");
        assert!(overall.think_time_ns < 1000, "waiting for storage is no computing: {overall:?}");
    }
}

#[test]
fn small_files_take_whole_pages_of_a_set() {
    let Portrait { overall, files, processes, phases, .. } =
        finish((0..50).map(|i| at(i, call(0, i as u32, Op::Read, 0, 700))));
    let sets = [&overall, &files[0].1, &processes[0].1].map(|one| one.unique_bytes);
    assert_eq!(sets, [50 * 4096, 4096, 50 * 4096]);
    assert_eq!(phases[0].read.as_ref().expect("it reads").span_bytes, 50 * 4096);
}

/// As with SQLite's log, of a header and a page for each commit, beside a checkpoint.
#[test]
fn a_sync_after_every_other_write_makes_them_synchronous() {
    let one = |i: u64| {
        let [header, page] =
            [(0, 24), (24, 4096)].map(|(from, len)| call(0, 0, Op::Write, i * 4120 + from, len));
        let checkpoint = i.is_multiple_of(50).then(|| call(0, 1, Op::Write, i << 12, 4096));
        let commit = [header, page, call(0, 0, Op::Write, 0, 0)];
        commit.into_iter().chain(checkpoint).map(move |call| at(i, call))
    };
    let Portrait { overall, ways, .. } = finish((0..300).flat_map(one));
    assert_eq!((overall.access, ways.further_waits), (Access::Dsync, 0));
}

/// As with mail, whose two directories are synced after each file.
#[test]
fn waits_beyond_one_for_each_write_are_counted() {
    for is_synchronous in [false, true] {
        let one = |i: u64| {
            let write = FileCall { is_synchronous, ..call(0, i as u32, Op::Write, 0, 4096) };
            let file = (!is_synchronous).then(|| call(0, i as u32, Op::Write, 0, 0));
            let directory = call(0, FileCall::NO_FILE, Op::Write, 0, 0);
            let all = [Some(write), file, Some(directory), Some(directory)];
            all.into_iter().flatten().map(move |call| at(i, call))
        };
        let Portrait { overall, ways, .. } = finish((0..300).flat_map(one));
        assert_eq!((overall.access, ways.further_waits), (Access::Dsync, 600));
    }
}

/// As with `strict_bytes_per_sync` of RocksDB.
#[test]
fn waits_for_write_back_alone_make_no_access_synchronous() {
    let one = |i: u64| {
        let wait = FileCall { is_write_back: true, ..call(0, 0, Op::Write, 0, 0) };
        [at(2 * i, call(0, 0, Op::Write, i << 18, 1 << 18)), at(2 * i + 1, wait)]
    };
    let overall = finish((0..50).flat_map(one)).overall;
    assert_eq!((overall.syncs, overall.sync_time_ns), (50, 10_000.0));
    assert_eq!(overall.access, Access::Buffered);
}

/// A log of small records that are waited for, beside large writes that are not.
#[test]
fn access_is_that_of_most_bytes() {
    let found = |is_synchronous, is_direct| {
        let one = |i: u64| {
            let log = FileCall { is_synchronous, ..call(0, 0, Op::Write, i * 4096, 4096) };
            let sync = (!is_synchronous).then(|| call(0, 0, Op::Write, 0, 0));
            let large = FileCall { is_direct, ..call(0, 1, Op::Write, i << 20, 1 << 20) };
            let large = (!i.is_multiple_of(10)).then_some(large);
            [Some(log), sync, large].into_iter().flatten().map(move |call| at(i, call))
        };
        finish((0..100).flat_map(one))
    };
    for is_synchronous in [false, true] {
        let Portrait { overall, files, ways, .. } = found(is_synchronous, false);
        assert_eq!((overall.access, files[1].1.access), (Access::Buffered, Access::Dsync));
        assert!(ways.waited_bytes_frac < 0.01, "{ways:?}");
    }
    let Portrait { overall, ways, .. } = found(true, true);
    assert_eq!(overall.access, Access::Direct);
    assert!(ways.direct_frac < 0.5 && ways.direct_bytes_frac > 0.99, "{ways:?}");
}

/// Appends of four processes to one log: a write of 10 us and a sync of 300 us each, `gap_ns` after
/// that of the one before. The log goes on in the next of `files` after so many commits `per_file`.
fn commits_in_turn(gap_ns: u64, per_file: u64, files: u64) -> Portrait {
    let one = |i: u64| {
        let issued_ns = i * (310_000 + gap_ns);
        let file = (i / per_file % files) as u32;
        let [write, sync] = [(i % per_file * 4096, 4096), (0, 0)]
            .map(|(offset, len)| call((i % 4) as u32, file, Op::Write, offset, len));
        let written_ns = issued_ns + 10_000;
        [
            FileCall { issued_ns, completed_ns: written_ns, ..write },
            FileCall { issued_ns: written_ns, completed_ns: written_ns + 300_000, ..sync },
        ]
    };
    finish((0..1000).flat_map(one))
}

/// As with the write leaders of a store: waits for the log's lock are no computing.
#[test]
fn processes_that_take_turns_at_a_log_are_one() {
    let Portrait { overall, phases, processes, .. } = commits_in_turn(20_000, 1000, 1);
    assert_eq!((overall.process_num, overall.access), (1, Access::Dsync));
    assert!(overall.seq_frac > 0.99, "{overall:?}");
    assert!(overall.think_time_ns.abs_diff(20_000) < 1000, "{overall:?}");
    let write = phases[0].write.as_ref().expect("it writes");
    assert!(write.jump_frac < 0.01 && phases[0].think_time_ns < 30_000, "{phases:?}");
    assert_eq!(processes.len(), 4);
    // Processes that compute for longer than they wait need no lock to come one after another.
    assert_eq!(commits_in_turn(1_000_000, 1000, 1).overall.process_num, 4);
}

/// Guards against four processes that compute while they wait for the log: another one begins each
/// file, new (LevelDB) or used again (PostgreSQL).
#[test]
fn processes_that_take_turns_at_a_log_of_many_files_are_one() {
    for files in [20, 3] {
        let Portrait { overall, .. } = commits_in_turn(20_000, 50, files);
        assert_eq!(overall.process_num, 1, "{files} files: {overall:?}");
        assert!(overall.think_time_ns.abs_diff(20_000) < 1000, "{files} files: {overall:?}");
        assert_eq!(commits_in_turn(1_000_000, 50, files).overall.process_num, 4);
    }
}

/// As where mail is delivered, by four processes or by one for each mail: nobody waits for the
/// others' syncs.
#[test]
fn processes_that_each_sync_files_of_their_own_are_several() {
    let found = [4, 1000].map(mail_of);
    assert_eq!(found.map(|one| one.process_num), [4, 4]);
}

/// The traits of 1000 writes by so many processes, each with a sync that reaches into the next
/// three.
fn mail_of(processes: u64) -> Traits {
    let one = |i: u64| {
        let written_ns = i * 100_000 + 10_000;
        let [write, sync] =
            [4096, 0].map(|len| call((i % processes) as u32, i as u32, Op::Write, 0, len));
        [
            FileCall { issued_ns: i * 100_000, completed_ns: written_ns, ..write },
            FileCall { issued_ns: written_ns, completed_ns: written_ns + 300_000, ..sync },
        ]
    };
    let mut calls: Vec<FileCall> = (0..1000).flat_map(one).collect();
    calls.sort_by_key(|call| call.completed_ns);
    finish(calls).overall
}

#[test]
fn direct_writes_that_wait_for_storage_too_are_told() {
    let writes = |is_direct, is_synchronous| {
        let one = |i: u64| {
            let write = call(0, 0, Op::Write, i * 4096, 4096);
            at(i, FileCall { is_direct, is_synchronous, ..write })
        };
        finish((0..10).map(one)).ways.direct_writes_are_synchronous
    };
    let each = [(true, true), (true, false), (false, true)];
    assert_eq!(each.map(|(direct, waits)| writes(direct, waits)), [true, false, false]);
}

#[test]
fn a_shell_that_only_reads_its_script_is_no_concurrency() {
    let worker = (1..999).map(|i| at(i, call(1, 1, Op::Read, i * 4096, 4096)));
    let script = [at(0, call(0, 0, Op::Read, 0, 80))];
    let late = [at(999, call(0, 0, Op::Read, 80, 10))];
    let all = script.into_iter().chain(worker).chain(late);
    assert_eq!(finish(all).overall.process_num, 1);
}

#[test]
fn a_process_with_requests_in_flight_together_is_as_many_processes() {
    let every_us = |i: u64| FileCall {
        issued_ns: i * 1000,
        completed_ns: i * 1000 + 16_000,
        ..call(0, 0, Op::Read, mix(i) % 65_536 * 4096, 4096)
    };
    let portrait = finish((0..1000).map(every_us));
    let overall = &portrait.overall;
    assert_eq!((overall.process_num, overall.response_time_ns), (16, 16_000.0));
    assert!(overall.think_time_ns < 1000, "{overall:?}");
    assert_eq!(portrait.processes[0].1.process_num, 16);
}

/// 100 times 32 reads that are issued together and take 320 us, with pauses of 3 ms between.
fn bursts(offset: impl Fn(u64) -> u64) -> Portrait {
    finish((0..3200).map(|i| {
        let issued_ns = i / 32 * 3_320_000;
        let completed_ns = issued_ns + 320_000;
        FileCall { issued_ns, completed_ns, ..call(0, 0, Op::Read, offset(i), 4096) }
    }))
}

#[test]
fn a_pause_between_bursts_is_one_of_every_request_of_a_burst() {
    let portrait = bursts(|i| mix(i) % 65_536 * 4096);
    assert_eq!(portrait.overall.process_num, 32);
    let thinks = portrait.phases.iter().map(|phase| phase.think_time_ns);
    for think_ns in thinks.chain([portrait.overall.think_time_ns]) {
        assert!((2_900_000..3_100_000).contains(&think_ns), "{think_ns}");
    }
}

/// As a program that copies many files concurrently through one ring.
#[test]
fn several_sequential_streams_in_flight_together_are_so_many_processes() {
    let one = |i: u64| {
        let issued_ns = i / 8 * 1000;
        let (file, offset) = ((i % 8) as u32, i / 8 * 4096);
        let read = call(0, file, Op::Read, offset, 4096);
        FileCall { issued_ns, completed_ns: issued_ns + 900, ..read }
    };
    let overall = finish((0..800).map(one)).overall;
    assert_eq!((overall.seq_frac, overall.process_num), (792.0 / 799.0, 8));
}

#[test]
fn a_sequential_stream_in_bursts_is_one_process() {
    let portrait = bursts(|i| i * 4096);
    assert_eq!(portrait.overall.process_num, 1);
    let thinks = portrait.phases.iter().map(|phase| phase.think_time_ns);
    for think_ns in thinks.chain([portrait.overall.think_time_ns]) {
        assert!((90_000..97_000).contains(&think_ns), "a pause is of 32 requests: {think_ns}");
    }
}

#[test]
fn what_others_hold_up_is_neither_response_nor_thinking() {
    let late = |i| FileCall {
        held_before_ns: 20_000,
        held_within_ns: 4_000,
        ..at(i, call(0, 0, Op::Read, i * 4096, 4096))
    };
    let overall = finish((0..1000).map(late)).overall;
    assert_eq!(overall.response_time_ns, 6_000.0);
    assert!(overall.think_time_ns.abs_diff(10_000) < 100, "{overall:?}");
}

#[test]
fn nothing_is_characterized_too() {
    let portrait = finish([]);
    assert_eq!(portrait.overall.goodness, 0.0);
    assert_eq!(portrait.overall.workload().validate(), Ok(()));
    let only_sync = finish([call(3, 2, Op::Write, 0, 0)]);
    assert_eq!((only_sync.overall.syncs, only_sync.files[0].1.syncs), (1, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_comes_is_a_valid_workload(
        calls in prop::collection::vec(
            (0u32..5, 0u32..4, any::<bool>(), any::<u64>(), 0u32..200_000, any::<u64>(), any::<u64>()), 0..60)
    ) {
        let portrait = finish(calls.into_iter().map(|(process, file, read, offset, len, from, to)| {
            let op = if read { Op::Read } else { Op::Write };
            let offset = offset % (1 << 60);
            FileCall { issued_ns: from / 64, completed_ns: to / 64, ..call(process, file, op, offset, len) }
        }));
        for traits in portrait.files.iter().chain(&portrait.processes).map(|(_, t)| t).chain([&portrait.overall]) {
            prop_assert_eq!(traits.workload().validate(), Ok(()));
            prop_assert!((0.0..=1.0).contains(&traits.goodness), "{:?}", traits);
            prop_assert!(traits.response_time_ns.is_finite() && traits.active_s.is_finite());
        }
    }
}
