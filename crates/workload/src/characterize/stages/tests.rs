//! Applications with known phases.

use super::*;
use ioscape_schema::PhaseRequests;
use ioscape_schema::chance::mix;

const MIB: u64 = 1 << 20;

/// Successive calls on files of 16 MiB each.
struct Made {
    stages: Stages,
    at: u64,
    used: Touched,
}

impl Default for Made {
    fn default() -> Self {
        Self { stages: Stages::default(), at: 0, used: Touched::new(4096) }
    }
}

impl Made {
    fn call(&mut self, file: u32, op: Op, offset: u64, len: u32) {
        let (issued_ns, completed_ns) = (self.at * 1000, self.at * 1000 + 500);
        let request = Request { op, offset, len };
        let call = FileCall { file, request, issued_ns, completed_ns, ..FileCall::default() };
        self.stages.record(&call, &self.used);
        self.at += 1;
    }
}

/// A sort: reads file 0 and writes files 1 to 8 in turn, an eighth each; then merges them into file
/// 9.
fn sort() -> Vec<Phase> {
    let mut made = Made::default();
    for part in 0..8 {
        (0..32).for_each(|i| made.call(0, Op::Read, part * 2 * MIB + i * 65_536, 65_536));
        (0..512).for_each(|i| made.call(1 + part as u32, Op::Write, i * 4096, 4096));
    }
    for turn in 0..32 {
        for file in 1..9 {
            (0..16).for_each(|i| made.call(file, Op::Read, turn * 65_536 + i * 4096, 4096));
        }
        (0..128).for_each(|i| made.call(9, Op::Write, (turn * 128 + i) * 4096, 4096));
    }
    let of = |file: u32| match file {
        0 | 9 => (file, 16 * MIB, 16 * MIB),
        _ => (file, 2 * MIB, 2 * MIB),
    };
    made.stages.finish((0..10).map(of), Activity::default())
}

#[test]
fn a_sort_has_two_phases_and_its_merge_continues_its_runs_in_turn() {
    let phases = sort();
    assert_eq!(phases.len(), 2, "{phases:#?}");
    assert!(phases.iter().all(|phase| phase.validate(48 * MIB, MIB) == Ok(())), "{phases:#?}");
    let near = |bytes: u64, of: u64| bytes.abs_diff(of) <= 2 * MIB;
    assert!(phases.iter().all(|phase| near(phase.bytes, 32 * MIB)), "{phases:#?}");
    let reads: Vec<&PhaseRequests> =
        phases.iter().filter_map(|phase| phase.read.as_ref()).collect();
    assert_eq!(reads.iter().map(|read| read.runs).collect::<Vec<_>>(), [1, 8]);
    assert!((reads[1].turn_frac - 1.0 / 16.0).abs() < 0.01, "{:?}", reads[1]);
    assert!(near(reads[1].from_bytes, 16 * MIB) && near(reads[1].span_bytes, 16 * MIB));
    let writes = phases[1].write.as_ref().expect("writes");
    assert!(near(writes.from_bytes, 32 * MIB) && writes.runs == 1, "{writes:?}");
}

#[test]
fn a_phase_of_writes_alone_goes_to_what_is_written() {
    let mut made = Made::default();
    (0..64).for_each(|i| made.call(0, Op::Read, i * 65_536, 65_536));
    (0..96).for_each(|i| made.call(1, Op::Write, i * 65_536, 65_536));
    let files = [(0, 4 * MIB, 4 * MIB), (1, 6 * MIB, 6 * MIB)];
    let phases = made.stages.finish(files.into_iter(), Activity::default());
    let part = |kind: &Option<PhaseRequests>| {
        kind.as_ref().map(|kind| (kind.from_bytes / MIB, kind.span_bytes / MIB))
    };
    let parts: Vec<_> = phases.iter().map(|one| [part(&one.read), part(&one.write)]).collect();
    assert_eq!(parts, [[Some((0, 4)), None], [None, Some((4, 6))]]);
}

#[test]
fn what_does_not_change_is_one_phase() {
    let mut made = Made::default();
    (0..4096).for_each(|i: u64| {
        let op = if i.is_multiple_of(3) { Op::Write } else { Op::Read };
        made.call(0, op, mix(i) % 65_536 * 4096, 4096);
    });
    let phases = made.stages.finish([(0, 16 * MIB, 256 * MIB)].into_iter(), Activity::default());
    assert_eq!(phases.len(), 1);
    let read = phases[0].read.as_ref().expect("reads");
    assert!(read.jump_frac > 0.99 && read.again_frac == 0.0, "{read:?}");
    assert_eq!(phases[0].write.as_ref().map(|write| write.span_bytes), Some(read.span_bytes));
    let none = Stages::default().finish([(0, MIB, MIB)].into_iter(), Activity::default());
    assert!(none.is_empty());
}

/// Guards against a phase of one window, "from 40 places in turn", where two random reads began at
/// the ends of earlier ones.
#[test]
fn random_reads_that_hit_ends_by_chance_are_in_one_place() {
    let mut made = Made::default();
    (0..1024u64).for_each(|i| {
        let place = match i {
            505 | 509 => mix(i - 45) % 16_384 * 16_384 + 16_384,
            _ => mix(i) % 16_384 * 16_384,
        };
        made.call(0, Op::Read, place, 16_384);
    });
    let phases = made.stages.finish([(0, 256 * MIB, 256 * MIB)].into_iter(), Activity::default());
    let runs: Vec<_> = phases.iter().filter_map(|one| Some(one.read.as_ref()?.runs)).collect();
    assert_eq!(runs, [1], "{phases:#?}");
}

/// So many random requests of up to `pages` pages, seven of ten reads, on a set of this size.
fn random_mix(seed: u64, set: u64, requests: u64, pages: u64) -> Vec<Phase> {
    let mut made = Made::default();
    for i in 0..requests {
        let drawn = mix(mix(seed).wrapping_add(i));
        let op = if drawn % 10 < 7 { Op::Read } else { Op::Write };
        let len = 1 + drawn / 10 % pages;
        let place = drawn / 40 % (set / 4096 - len + 1);
        made.call(0, op, place * 4096, len as u32 * 4096);
    }
    made.stages.finish([(0, set, set)].into_iter(), Activity::default())
}

/// Guards against phases where small sets made random requests hit the ends of earlier ones, or
/// few requests differed by chance: 199 of 200 mixes of 1024 requests on 2 MiB had some, and 52 of
/// 64 requests.
#[test]
fn random_mixes_of_small_sets_have_no_phases() {
    for (set, requests, pages) in [(1, 128, 4), (2, 64, 4), (2, 128, 1), (2, 1024, 4), (4, 512, 1)]
    {
        let is_whole = |seed: &u64| {
            let found = random_mix(*seed, set * MIB, requests, pages);
            found.len() == 1 && found[0].kinds().all(|kind| kind.runs == 1 && kind.jump_frac > 0.8)
        };
        let whole = (0..40).filter(is_whole).count();
        assert!(whole >= 38, "{requests} requests on {set} MiB: {whole} of 40");
    }
}

/// Once, what a few large requests differ by chance hid that all reads came before all writes.
#[test]
fn few_requests_that_differ_in_everything_are_two_phases() {
    let mut made = Made::default();
    for (file, op) in [(0, Op::Read), (1, Op::Write)] {
        (0..7).for_each(|i| made.call(file, op, i * 8 * MIB, 8 << 20));
    }
    let files = (0..2).map(|file| (file, 56 * MIB, 56 * MIB));
    let phases = made.stages.finish(files, Activity::default());
    assert_eq!(phases.len(), 2, "{phases:#?}");
}

#[test]
fn runs_are_told_from_chance_on_a_small_set() {
    let mut made = Made::default();
    for i in 0..1024 {
        made.call(0, Op::Read, (i % 8 * 64 + i / 8 % 64) * 4096, 4096);
        if i % 10 == 9 {
            made.call(0, Op::Read, mix(i) % 512 * 4096, 4096);
        }
    }
    let phases = made.stages.finish([(0, 2 * MIB, 2 * MIB)].into_iter(), Activity::default());
    let runs: Vec<_> = phases.iter().filter_map(|one| Some(one.read.as_ref()?.runs)).collect();
    assert_eq!(runs, [8], "{phases:#?}");
}

/// Guards against phases that reached over the first 4096 files only.
#[test]
fn a_phase_over_many_files_reaches_from_the_first_to_the_last() {
    let mut made = Made::default();
    (0..10_000).for_each(|file| made.call(file, Op::Read, 0, 4096));
    let files = (0..10_000).map(|file| (file, 4096, 4096));
    let phases = made.stages.finish(files, Activity::default());
    let read = phases[0].read.as_ref().expect("reads");
    assert!(phases.len() == 1 && read.span_bytes as f64 > 0.98 * 4096e4, "{phases:?}");
}
