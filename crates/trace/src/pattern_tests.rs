//! Tests of reuse distances by class of request.

use super::*;
use ioscape_schema::Request;
use proptest::prelude::*;

fn io(op: Op, offset: u64, len: u32) -> Io {
    Io { request: Request { op, offset, len }, completed_ns: 1000, ..Io::default() }
}

fn of(all: &[Io]) -> Vec<RequestClass> {
    let mut builder = PatternBuilder::default();
    all.iter().for_each(|io| builder.update(io, 0));
    builder.finish(Access::Direct).classes
}

#[test]
fn a_loop_is_held_by_a_cache_of_its_size_only() {
    let all: Vec<Io> = (0..300).map(|i| io(Op::Read, (i * 37 % 100) * 8192, 4096)).collect();
    let [class] = &of(&all)[..] else { panic!("one class") };
    assert_eq!((class.requests, class.bytes, class.response_time_ns), (300, 300 * 4096, 1000.0));
    let third = |size: f64| (class.missed(size) * 3.0).round() as u32;
    assert_eq!((third(64.0 * 4096.0), third(128.0 * 4096.0)), (3, 1), "{class:?}");
}

/// Once, 100,000 files of 3 KiB seemed to need a quarter of the cache that they take on a Raspberry
/// Pi 5, whose pages have 16 KiB.
#[test]
fn small_files_take_whole_pages_of_the_cache() {
    let of = |page_bytes| {
        let mut builder = PatternBuilder::within(0, page_bytes);
        (0..200).for_each(|i| builder.update(&io(Op::Read, 0, 3072), i % 100));
        builder.finish(Access::Buffered)
    };
    for page_bytes in [4096, 16_384] {
        let found = of(page_bytes);
        assert_eq!((found.page_bytes, found.unique_bytes), (Some(page_bytes), 100 * page_bytes));
        let missed = |pages: u64| found.classes[0].missed((pages * page_bytes) as f64);
        assert_eq!([missed(64), missed(128)], [1.0, 0.5], "{page_bytes}");
    }
}

#[test]
fn writes_are_absorbed_while_their_page_stays_dirty() {
    // Written, then read among other reads, then written: no use was far from the one before.
    let mut all = vec![io(Op::Write, 0, 4096)];
    for i in 0..64 {
        all.push(io(Op::Read, (1 + 2 * i) << 20, 4096));
        all.push(io(Op::Read, 0, 4096));
    }
    all.push(io(Op::Write, 0, 4096));
    // Lets the dirty page expire, so that it is written in the end.
    all.push(Io { issued_ns: 2 * EXPIRES_NS, ..io(Op::Read, 1 << 30, 4096) });
    let written = |all: &[Io], size: f64| written(PatternBuilder::default(), all, size);
    assert_eq!(written(&all, 16384.0), 0.5, "the first is new, the second absorbed");
    // Without the reads in between, it left a small cache long before.
    all.retain(|io| io.request.op == Op::Write || io.request.offset > 0);
    assert_eq!(written(&all, 16384.0), 1.0);
    assert_eq!(written(&all, 1e6), 0.5);
}

/// The share of bytes that a cache of `size` writes, after what `builder` has seen.
fn written(mut builder: PatternBuilder, all: &[Io], size: f64) -> f64 {
    all.iter().for_each(|io| builder.update(io, 0));
    let classes = builder.finish(Access::Buffered).classes;
    classes.iter().filter(|class| class.op == Op::Write).map(|c| c.missed(size)).sum()
}

/// Writes 16 pages in a row, then reads as many others.
fn a_file_and_others() -> Vec<Io> {
    let file = (0..16).map(|page| io(Op::Write, page << 24, 4096));
    file.chain((0..16).map(|page| io(Op::Read, (page << 24) + 8192, 4096))).collect()
}

#[test]
fn what_is_dirty_at_the_end_is_not_written_but_by_a_small_cache_or_after_its_time() {
    let mut all = a_file_and_others();
    let written = |all: &[Io], size: f64| written(PatternBuilder::default(), all, size);
    assert_eq!(written(&all, 65536.0), 1.0);
    assert_eq!(written(&all, 262_144.0), 0.0);
    all.push(Io { issued_ns: 2 * EXPIRES_NS, ..io(Op::Read, 0, 4096) });
    assert_eq!(written(&all, 262_144.0), 1.0);
}

#[test]
fn what_was_forced_to_storage_was_written_even_if_it_is_deleted_then() {
    for (deletes, file) in [(false, Some(0)), (true, Some(0)), (false, None), (true, None)] {
        let mut builder = PatternBuilder::default();
        a_file_and_others().iter().for_each(|io| builder.update(io, 0));
        builder.written_back(file, 0);
        builder.written_back(Some(1), 9);
        builder.update(&Io { issued_ns: 9, ..io(Op::Write, 1 << 30, 65536) }, 0);
        if deletes {
            builder.give_up(0, 0);
        }
        assert_eq!(written(builder, &[], 1e6), 1.0, "the first, and nothing of the last");
    }
}

/// Once, a database that rewrites a page and forces it each time was predicted to write it once.
#[test]
fn a_file_cache_writes_a_page_again_after_it_was_forced_to_storage() {
    let written = |access, len: u32, deletes: bool| {
        let mut builder = PatternBuilder::default();
        for i in 0..10 {
            let issued_ns = 2 * i;
            for part in 0..4096 / len {
                let offset = u64::from(part * len);
                builder.update(&Io { issued_ns, ..io(Op::Write, offset, len) }, 0);
            }
            if i < 9 || !deletes {
                builder.written_back(Some(0), issued_ns);
            }
        }
        if deletes {
            builder.give_up(0, 0);
        }
        let classes = builder.finish(access).classes;
        let bytes: f64 = classes.iter().map(|one| one.missed(1e6) * one.bytes as f64).sum();
        (bytes / 4096.0).round() as u64
    };
    for len in [4096, 2048] {
        assert_eq!(written(Access::Buffered, len, false), 10, "each time");
        assert_eq!(written(Access::Dsync, len, false), 1, "a drive's cache may keep it");
    }
    assert_eq!(written(Access::Buffered, 4096, true), 9, "deleted before it was forced");
}

#[test]
fn deleted_files_are_written_by_no_cache_that_held_them() {
    let later = Io { issued_ns: 2 * EXPIRES_NS, ..io(Op::Read, 1 << 40, 4096) };
    for (from, expected) in [(0, 0.0), (8 << 24, 0.5), (1 << 40, 1.0)] {
        let mut builder = PatternBuilder::default();
        a_file_and_others().iter().for_each(|io| builder.update(io, 0));
        builder.give_up(0, from);
        builder.give_up(1, 0);
        assert_eq!(builder.unique_bytes(), [131_072, 65536]);
        assert_eq!(written(builder, &[later], 262_144.0), expected);
    }
    // The same place later belongs to another file; nothing is left to write it then.
    let shares = [65536.0, 262_144.0].map(|size| {
        let mut builder = PatternBuilder::default();
        a_file_and_others().iter().for_each(|io| builder.update(io, 0));
        builder.give_up(0, 0);
        written(builder, &a_file_and_others()[..16], size)
    });
    assert_eq!(shares, [0.5, 0.0]);
}

#[test]
fn dropped_pages_are_read_again_by_every_cache() {
    let pass = |op| (0..8).map(move |page| io(op, page << 24, 4096));
    for (first, is_synced, expected) in
        [(Op::Read, false, 1.0), (Op::Write, true, 1.0), (Op::Write, false, 0.0)]
    {
        let mut builder = PatternBuilder::default();
        pass(first).for_each(|io| builder.update(&io, 3));
        if is_synced {
            builder.written_back(Some(3), 0);
        }
        builder.drop_cached(2, 0..u64::MAX);
        builder.drop_cached(3, 0..(4 << 24) + 4095);
        builder.drop_cached(3, 4 << 24..u64::MAX);
        assert_eq!(builder.unique_bytes()[0], 8 * 4096);
        let before = builder.classes.get(&(false, false, 6)).map_or(0.0, |all| all.cold[0]);
        pass(Op::Read).for_each(|io| builder.update(&io, 3));
        let missed = builder.classes[&(false, false, 6)].cold[0] - before;
        assert_eq!(missed / (8.0 * 4096.0), expected, "{first:?} {is_synced}");
        assert_eq!(builder.unique_bytes()[0], 8 * 4096);
    }
}

#[test]
fn small_sequential_requests_share_what_their_page_cost() {
    let all: Vec<Io> = (0..800).map(|i| io(Op::Read, i * 512, 512)).collect();
    for class in of(&all) {
        assert_eq!(class.missed(1e12), 1.0, "each page was new: {class:?}");
    }
}

#[test]
fn sizes_kinds_and_runs_are_told_apart() {
    let mut all = Vec::new();
    for i in 0..100 {
        all.push(io(Op::Read, i << 20, 65536));
        all.push(io(Op::Write, (1 << 40) + i * 4096, 4096));
    }
    let found: Vec<(Op, bool, u64)> =
        of(&all).iter().map(|c| (c.op, c.sequential, c.requests)).collect();
    let known = [(Op::Read, false, 100), (Op::Write, false, 1), (Op::Write, true, 99)];
    assert_eq!(found, known);
    let runs: Vec<f64> = of(&all).iter().map(|c| c.run_bytes).collect();
    assert_eq!(runs[..2], [65536.0, 4096.0]);
    assert!((runs[2] / 409_600.0 - 1.0).abs() < 0.02, "100 writes in a row: {runs:?}");
}

/// Guards against a defect: the first 64 MiB of each request stood for all of it.
#[test]
fn all_bytes_of_a_large_request_count() {
    let len = 192 << 20;
    let mut builder = PatternBuilder::default();
    for op in [Op::Write, Op::Read] {
        (0..2).for_each(|i| builder.update(&io(op, i * u64::from(len), len), 0));
    }
    assert_eq!(builder.unique_bytes(), [2 * u64::from(len); 2]);
    for read in builder.finish(Access::Buffered).classes.iter().filter(|class| class.op == Op::Read)
    {
        assert_eq!([28.0, 29.0].map(|bits| read.missed(f64::exp2(bits))), [1.0, 0.0], "{read:?}");
    }
}

#[test]
fn nine_of_ten_intervals_hold_the_true_share() {
    // Random pages: a cache of half of them misses half, and 32 (1 - ln 2) more until warm.
    let held = (0..100u64).filter(|seed| {
        let draw = |i: u64| mix(seed * 1_000_000 + i) % 64;
        let all: Vec<Io> = (0..3000).map(|i| io(Op::Read, draw(i) << 12, 4096)).collect();
        let class = &of(&all)[0];
        let at = class.miss_ratio.iter().position(|(size, _)| *size == 131_072.0).unwrap();
        let half = class.miss_ratio_half90[at];
        assert!((0.0..0.1).contains(&half), "{class:?}");
        (class.miss_ratio[at].1 - (0.5 + 9.8 / 3000.0)).abs() < half
    });
    let held = held.count();
    assert!((80..=98).contains(&held), "{held}");
}

/// Guards against a table of 165 MiB on a machine, or in a container, of 128 MiB, where the kernel
/// killed the recorder and the recorded command.
#[test]
fn little_memory_bounds_the_pages_that_are_tracked() {
    let most = |bytes| PatternBuilder::within(bytes, 4096).most_pages;
    assert!(most(4 << 20) < 1 << 15, "of 64 MiB");
    assert_eq!([most(0), most(u64::MAX)], [FEWEST_PAGES, MOST_PAGES]);
    let mut builder = PatternBuilder::within(0, 4096);
    (0..40_000).for_each(|i| builder.update(&io(Op::Read, i << 12, 4096), 0));
    assert!(builder.stack.len() <= FEWEST_PAGES);
    let found = builder.unique_bytes()[0] as f64 / 4096.0;
    assert!((found / 40_000.0 - 1.0).abs() < 0.05, "{found}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]
    #[test]
    fn a_sample_is_near_the_whole(seed in 0u64..1000) {
        let all: Vec<Io> = (0..40_000)
            .map(|i| io(Op::Read, (mix(seed * 100_000 + i) % 6000) << 12, 4096))
            .collect();
        let miss = |most_pages: usize| {
            let mut builder = PatternBuilder { most_pages, ..PatternBuilder::default() };
            all.iter().for_each(|io| builder.update(io, 7));
            builder.finish(Access::Buffered).classes[0].missed(2000.0 * 4096.0)
        };
        let (whole, sampled) = (miss(usize::MAX), miss(1000));
        prop_assert!((whole - 2.0 / 3.0).abs() < 0.1, "{}", whole);
        prop_assert!((whole - sampled).abs() < 0.1, "{} {}", whole, sampled);
    }
}
