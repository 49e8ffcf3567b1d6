//! Tests of streams: they have the requested parameters, and the sequence never changes.

use super::*;
use crate::sizes::{set_bytes, size_cv};
use crate::{Application, largest_request};
use ioscape_schema::SizeDistribution::{self, Bernoulli, Exponential, Fixed, Normal};
use ioscape_schema::{FileCall, OperationTraits, Phase, PhaseRequests, Traits};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Requests of a run: enough to keep the noise of a fraction below 0.001 and that of the mean size
/// below 0.2 %.
const REQUESTS: usize = 400_000;

/// Characterizes `REQUESTS` requests of a workload's processes, issued in turn; also returns the
/// coefficient of variation of their sizes.
fn characterize(workload: &Workload, seed: u64) -> (Traits, f64) {
    let mut seen = Application::new(4096);
    let mut streams = streams(workload, seed);
    let turns = streams.len() as u64;
    let (mut sum, mut squares) = (0.0, 0.0);
    for index in 0..REQUESTS as u64 {
        let request = streams[(index % turns) as usize].request();
        sum += f64::from(request.len);
        squares += f64::from(request.len).powi(2);
        // The processes' requests overlap: each takes as long as a whole round of turns.
        let (process, issued_ns) = ((index % turns) as u32, index * 1000);
        let completed_ns = issued_ns + turns * 1000;
        seen.record(&FileCall { process, request, issued_ns, completed_ns, ..FileCall::default() });
    }
    let mean = sum / REQUESTS as f64;
    let cv = (squares / REQUESTS as f64 / mean.powi(2) - 1.0).max(0.0).sqrt();
    (seen.finish().overall, cv)
}

/// Checks that `workload` gets the requested parameters within 1 %; its set must have many granules
/// and be visited often.
fn check(workload: &Workload, seed: u64) {
    assert_eq!(workload.validate(), Ok(()));
    let (found, size_cv_found) = characterize(workload, seed);
    let within = |name: &str, found: f64, asked: f64, tolerance: f64| {
        assert!((found - asked).abs() <= tolerance, "{name}: {found} for {asked} in {workload:?}");
    };
    let asked = workload.unique_bytes as f64;
    // Touched bytes count in whole pages.
    within("unique_bytes", found.unique_bytes as f64, asked, 0.01 * asked + 4095.0);
    let asked = workload.size_mean as f64;
    // The observed mean is a whole number of bytes.
    within("size_mean", found.size_mean as f64, asked, 0.01 * asked + 0.5);
    within("size_cv", size_cv_found, size_cv(workload), 0.01);
    within("read_frac", found.read_frac, workload.read_frac, 0.01);
    within("seq_frac", found.seq_frac, workload.seq_frac, 0.01);
    assert_eq!(found.process_num, workload.process_num);
}

/// Reads in long sequential runs of large and small requests; writes at random places, a page each.
#[test]
fn reads_and_writes_have_sizes_and_an_order_of_their_own() {
    let own = ByOperation {
        read: OperationTraits { sizes: vec![(4096, 0.25), (40_960, 0.75)], seq_frac: 0.9 },
        write: OperationTraits { sizes: vec![(4096, 1.0)], seq_frac: 0.0 },
        change_frac: 0.02,
    };
    let (unique_bytes, read_frac) = (256 << 20, 0.2);
    let workload =
        Workload { unique_bytes, read_frac, by_operation: Some(own), ..Workload::default() };
    assert_eq!((workload.validate(), largest_request(&workload)), (Ok(()), 40_960));
    let mut stream = Stream::new(&workload, 3, 0);
    let (mut before, mut ends): (Option<Op>, [Option<u64>; 2]) = (None, [None; 2]);
    let (mut changes, mut count, mut follow, mut large) = (0, [0; 2], [0; 2], 0);
    for request in stream.by_ref().take(REQUESTS) {
        let kind = usize::from(request.op == Op::Write);
        changes += usize::from(before.is_some_and(|before| before != request.op));
        count[kind] += 1;
        follow[kind] += usize::from(ends[kind] == Some(request.offset));
        large += usize::from(kind == 0 && request.len == 40_960);
        assert!(kind == 0 || request.len == 4096, "{request:?}");
        ends[kind] = Some(request.offset + u64::from(request.len));
        before = Some(request.op);
    }
    let share = |part: usize, of: usize| part as f64 / of as f64;
    let near = |found: f64, asked: f64, off: f64| {
        assert!((found - asked).abs() < off, "{found} for {asked}")
    };
    near(share(count[0], REQUESTS), 0.2, 0.02);
    near(share(changes, REQUESTS), 0.02, 0.002);
    near(share(large, count[0]), 0.75, 0.01);
    near(share(follow[0], count[0]), 0.9, 0.01);
    near(share(follow[1], count[1]), 0.0, 0.001);
}

/// Guards against rounding: 6000 bytes are about one and a half granules, and all requests had
/// 4096.
#[test]
fn sizes_between_granules_keep_their_mean() {
    let sizes = vec![(6000, 1.0)];
    let alike = OperationTraits { sizes: sizes.clone(), seq_frac: 0.5 };
    let own = ByOperation { read: alike.clone(), write: alike, change_frac: 0.5 };
    let read = PhaseRequests { sizes, span_bytes: 8 << 20, runs: 1, ..PhaseRequests::default() };
    let phase = Phase { bytes: 1 << 20, read_frac: 1.0, read: Some(read), ..Phase::default() };
    for workload in [
        Workload { by_operation: Some(own), ..Workload::default() },
        Workload { phases: vec![phase], ..Workload::default() },
    ] {
        assert_eq!((workload.validate(), largest_request(&workload)), (Ok(()), 8192));
        let lengths = Stream::new(&workload, 1, 0).take(REQUESTS).map(|one| f64::from(one.len));
        let mean = lengths.sum::<f64>() / REQUESTS as f64;
        assert!((mean / 6000.0 - 1.0).abs() < 0.01, "{mean}");
    }
}

#[test]
fn the_papers_mixes_are_generated_as_asked() {
    for size_distribution in [Normal, Bernoulli, Exponential, Fixed] {
        for (read_frac, seq_frac, process_num) in
            [(0.5, 0.5, 1), (0.0, 0.0, 3), (1.0, 1.0, 2), (0.25, 0.9, 8), (0.9, 0.1, 1)]
        {
            let workload = Workload {
                unique_bytes: 128 << 20,
                size_distribution,
                read_frac,
                seq_frac,
                process_num,
                ..Workload::default()
            };
            check(&workload, 7);
        }
    }
}

#[test]
fn a_request_follows_the_previous_one_whatever_either_does() {
    let workload = Workload { unique_bytes: 1 << 30, ..Workload::default() };
    let requests: Vec<_> = Stream::new(&workload, 3, 0).take(REQUESTS).collect();
    for (before, after) in
        [(Op::Read, Op::Read), (Op::Read, Op::Write), (Op::Write, Op::Read), (Op::Write, Op::Write)]
    {
        let pairs = requests.windows(2).filter(|pair| (pair[0].op, pair[1].op) == (before, after));
        let (mut count, mut followers) = (0.0, 0.0);
        for pair in pairs {
            let end = pair[0].offset + u64::from(pair[0].len);
            let begins_anew =
                pair[1].offset == 0 && end + u64::from(pair[1].len) > set_bytes(&workload);
            count += 1.0;
            followers += f64::from(pair[1].offset == end || begins_anew);
        }
        assert!((followers / count - 0.5_f64).abs() < 0.01, "{before:?} {after:?}: {followers}");
    }
}

#[test]
fn random_offsets_are_uniform() {
    let workload = Workload { seq_frac: 0.0, size_distribution: Fixed, ..Workload::default() };
    let mut tenths = [0.0; 10];
    for request in Stream::new(&workload, 1, 0).take(REQUESTS) {
        let places = set_bytes(&workload) - u64::from(request.len) + 4096;
        tenths[(request.offset * 10 / places) as usize] += 10.0 / REQUESTS as f64;
    }
    assert!(tenths.iter().all(|&share: &f64| (share - 1.0).abs() < 0.02), "{tenths:?}");
}

#[test]
fn every_place_of_a_small_set_is_reached() {
    let workload = Workload {
        unique_bytes: 5 * 4096,
        size_mean: 2 * 4096,
        size_distribution: Fixed,
        seq_frac: 0.0,
        ..Workload::default()
    };
    let places: BTreeSet<_> =
        Stream::new(&workload, 1, 0).take(200).map(|r| r.offset / 4096).collect();
    assert_eq!(places, BTreeSet::from([0, 1, 2, 3]));
}

#[test]
fn the_first_requests_of_a_seed_never_change() {
    let workload = Workload { unique_bytes: 1 << 30, process_num: 4, ..Workload::default() };
    let shown = |seed, process| -> Vec<String> {
        Stream::new(&workload, seed, process)
            .take(10)
            .map(|Request { op, offset, len }| format!("{op:?} {offset} {len}"))
            .collect()
    };
    let golden = [
        "Write 268435456 57344",
        "Read 501682176 32768",
        "Write 501714944 28672",
        "Write 491995136 8192",
        "Read 492003328 53248",
        "Write 492056576 69632",
        "Read 163500032 20480",
        "Read 124764160 49152",
        "Read 124813312 4096",
        "Read 124817408 24576",
    ];
    assert_eq!(shown(42, 1), golden);
    let exponential =
        Workload { size_distribution: Exponential, size_mean: 5000, ..workload.clone() };
    let first: Vec<_> =
        Stream::new(&exponential, 42, 3).take(5).map(|r| (r.offset, r.len)).collect();
    let golden = [
        (805_306_368, 4096),
        (805_310_464, 4096),
        (146_931_712, 4096),
        (1_072_803_840, 4096),
        (1_072_807_936, 4096),
    ];
    assert_eq!(first, golden);
}

#[test]
fn seeds_and_processes_give_sequences_of_their_own() {
    let workload = Workload { process_num: 3, ..Workload::default() };
    let requests = |seed, process| -> Vec<_> {
        Stream::new(&workload, seed, process).take(50).map(|r| (r.op, r.len)).collect()
    };
    let all = [requests(0, 0), requests(0, 1), requests(0, 2), requests(1, 0), requests(1, 1)];
    for (index, one) in all.iter().enumerate() {
        assert!(all[index + 1..].iter().all(|other| one != other), "{index}");
    }
}

#[test]
fn processes_begin_at_their_own_places() {
    let workload = Workload { process_num: 4, ..Workload::default() };
    let starts: Vec<_> = streams(&workload, 9)
        .iter_mut()
        .map(|stream| stream.request().offset * 4 / workload.unique_bytes)
        .collect();
    assert_eq!(starts, [0, 1, 2, 3]);
}

#[test]
fn a_set_of_one_request_is_visited_whole() {
    for size in [1, 512, 4096, 3 << 20] {
        let workload = Workload { unique_bytes: size, size_mean: size, ..Workload::default() };
        for request in Stream::new(&workload, 5, 0).take(100) {
            assert_eq!((request.offset, u64::from(request.len)), (0, size));
        }
    }
}

fn distribution() -> impl Strategy<Value = SizeDistribution> {
    prop::sample::select(vec![Normal, Bernoulli, Exponential, Fixed])
}

prop_compose! {
    /// Workloads whose set is large compared with their requests, and still visited often by
    /// `REQUESTS` of them.
    fn measurable()(
        align in prop::sample::select(vec![1u64, 512, 4096]),
        mean_granules in 2.0f64..300.0,
        means in 1024u64..8192,
        size_distribution in distribution(),
        read_frac in 0.0..=1.0,
        seq_frac in 0.0..=1.0,
        process_num in 1u32..10,
    ) -> Workload {
        let size_mean = (mean_granules * align as f64) as u64;
        Workload {
            unique_bytes: (size_mean * means).next_multiple_of(align),
            size_mean,
            align_bytes: Some(align),
            size_distribution,
            read_frac,
            seq_frac,
            process_num,
            ..Workload::default()
        }
    }
}

prop_compose! {
    /// Any workload at all, mostly invalid ones.
    fn any_workload()(
        unique_bytes in prop_oneof![0u64..100_000, any::<u64>()],
        size_mean in prop_oneof![0u64..100_000, any::<u64>()],
        align_bytes in prop::option::of(prop_oneof![0u64..10_000, any::<u64>()]),
        size_distribution in distribution(),
        read_frac in any::<f64>(),
        seq_frac in prop_oneof![0.0..1.0, any::<f64>()],
        process_num in 0u32..4,
    ) -> Workload {
        Workload {
            unique_bytes, size_mean, align_bytes, size_distribution, read_frac, seq_frac, process_num,
            ..Workload::default()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_asked_is_found(workload in measurable(), seed: u64) {
        check(&workload, seed);
    }

    #[test]
    fn every_request_is_inside_the_set_and_aligned(
        workload in any_workload(),
        seed: u64,
        process: u32,
    ) {
        let grid = Grid::new(&workload);
        let mut stream = Stream::new(&workload, seed, process);
        let mut again = stream.clone();
        for _ in 0..200 {
            let request = stream.request();
            let len = u64::from(request.len);
            prop_assert_eq!((request.offset % grid.align, len % grid.align), (0, 0));
            prop_assert!(len >= grid.align && len <= largest_request(&workload));
            prop_assert!(request.offset <= set_bytes(&workload) - len);
            prop_assert_eq!(again.next(), Some(request));
        }
        prop_assert_eq!(streams(&workload, seed).len(), workload.process_num as usize);
    }

    #[test]
    fn the_same_seed_gives_the_same_requests(workload in measurable(), seed: u64, process in 0u32..10) {
        let shared = streams(&workload, seed);
        if let Some(stream) = shared.get(process as usize) {
            let own = Stream::new(&workload, seed, process);
            prop_assert!(own.take(200).eq(stream.clone().take(200)));
        }
    }
}
