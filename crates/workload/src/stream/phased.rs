//! The requests of an application's phases, in order.
//!
//! In a phase, each kind of request (read or write) has its own part of the set, with:
//!
//! - `runs` sequential runs that begin at even distances and are continued in turn. A request stays
//!   in the previous one's run until, with probability `turn_frac`, it is the next run's turn. A
//!   run that reaches the end of the part continues at its beginning.
//! - With probability `jump_frac` a request begins elsewhere, and later requests continue there.
//!   New places come from a fixed permutation of the part, so none repeats before all were used.
//!   With probability `again_frac` a place is reused: it is drawn from the first places of the same
//!   permutation, as many as `again` says.
//!
//! Reads and writes alternate as a Markov chain or, if both kinds come in long rows, in rows of
//! equal length.
//!
//! If reads and writes have the same part, they have the same permutation: what is read is what is
//! written, and both kinds reuse the same places.

use super::chance::{CERTAIN, generator, threshold};
use crate::alias::AliasTable;
use crate::sizes::{Grid, granular};
use ioscape_schema::{ByOperation, Op, Phase, PhaseRequests, Request, Workload};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use std::sync::Arc;

/// The golden ratio's fractional part: steps of this share of a range stay far apart from one
/// another for as long as possible.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// The least number of consecutive requests of a kind that makes a long row.
const ROW_LONG: f64 = 32.0;

/// Properties of one kind of request in one phase, shared by all streams of a workload.
#[derive(Clone, Debug)]
struct Kind {
    sizes: AliasTable,
    /// First granule of its part of the set, and the part's length in granules.
    from: u64,
    span: u64,
    /// Granules between neighbouring places, the number of places, and the step of the permutation.
    unit: u64,
    places: u64,
    step: u64,
    runs: u64,
    turn: u64,
    jump: u64,
    again: u64,
    /// For reuse: numbers of places, each with the cumulative share of requests that go to them.
    narrow: Vec<(u64, u64)>,
}

/// One phase, prepared for drawing.
#[derive(Clone, Debug)]
struct Plan {
    /// Bytes that one process moves in the phase.
    bytes: u64,
    read_after: [u64; 2],
    /// Consecutive requests of each kind, if rows are long.
    stretch: Option<[u64; 2]>,
    kinds: [Option<Kind>; 2],
}

/// The current positions of one kind's requests in a phase.
#[derive(Clone, Debug, Default)]
struct Course {
    /// Where each run continues.
    runs: Vec<u64>,
    /// The run being continued; none if the last request was elsewhere.
    current: Option<usize>,
    /// The run that last had its turn.
    turn: usize,
    /// Where the last request ended, if it belongs to no run.
    next: u64,
}

/// The requests of one process.
#[derive(Clone, Debug)]
pub(super) struct Phased {
    rng: Pcg64Mcg,
    align: u64,
    plans: Arc<[Plan]>,
    process: u64,
    process_num: u64,
    at: usize,
    left: u64,
    last: usize,
    /// Requests left in the current row.
    row: u64,
    courses: [Course; 2],
    /// New places used so far, by kind.
    used: [u64; 2],
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Returns a step that visits all of `places` places.
fn step(places: u64) -> u64 {
    let near = (places as f64 * GOLDEN) as u64;
    (near.max(1)..).find(|one| greatest_common_divisor(*one, places) == 1).unwrap_or(1)
}

impl Kind {
    fn new(one: &PhaseRequests, grid: &Grid, unit_bytes: u64) -> Self {
        let sizes = granular(&one.sizes, grid);
        let from = (one.from_bytes / grid.align).min(grid.set - 1);
        let span = (one.span_bytes / grid.align).clamp(1, grid.set - from);
        let unit = (unit_bytes / grid.align).clamp(1, span);
        let places = span / unit;
        let unit_bytes = (unit * grid.align) as f64;
        let narrow = one.again.iter().map(|[bytes, share]| {
            let within = (bytes / unit_bytes).ceil().min(places as f64) as u64;
            (within.max(1), threshold(*share))
        });
        Self {
            sizes: AliasTable::new(&sizes),
            from,
            span,
            unit,
            places,
            step: step(places),
            runs: u64::from(one.runs.max(1)),
            turn: threshold(one.turn_frac),
            jump: threshold(one.jump_frac),
            again: threshold(one.again_frac),
            narrow: narrow.collect(),
        }
    }

    /// Returns the granule of place `index` of the permutation.
    fn place(&self, index: u64) -> u64 {
        let number = u128::from(index % self.places) * u128::from(self.step);
        self.from + (number % u128::from(self.places)) as u64 * self.unit
    }

    /// Returns the starting positions of process `process` of `process_num`.
    fn begin(&self, process: u64, process_num: u64) -> Course {
        let share = |run: u64| {
            let number = u128::from(process * self.runs + run);
            let all = u128::from(process_num * self.runs);
            self.from + (u128::from(self.span) * number / all) as u64
        };
        let runs = (0..self.runs).map(share).collect();
        Course { runs, current: Some(0), turn: 0, next: self.from }
    }
}

/// Returns how many reads and how many writes come in a row; `None` if either kind comes in short
/// rows, or if there is only one row. Long rows are few, so drawing their lengths at random would
/// change the phase's shares.
fn stretches(phase: &Phase) -> Option<[u64; 2]> {
    let half = phase.change_frac / 2.0;
    let rows = [phase.read_frac, 1.0 - phase.read_frac].map(|share| (share / half).round());
    let are_long = rows.iter().all(|row| row.is_finite() && *row >= ROW_LONG);
    are_long.then(|| rows.map(|row| row as u64))
}

/// Returns the mean request size of a kind, in bytes.
fn size_mean(one: &PhaseRequests) -> u64 {
    one.sizes.iter().map(|(size, share)| *size as f64 * share).sum::<f64>() as u64
}

impl Plan {
    fn new(phase: &Phase, grid: &Grid, process_num: u32) -> Self {
        let part = |one: &PhaseRequests| (one.from_bytes, one.span_bytes);
        let both = phase.read.as_ref().zip(phase.write.as_ref());
        let together = both.is_some_and(|(read, write)| part(read) == part(write));
        let least = phase.kinds().map(size_mean).min().unwrap_or(1);
        let kind = |op| {
            let one = phase.of(op)?;
            Some(Kind::new(one, grid, if together { least } else { size_mean(one) }))
        };
        let order = ByOperation { change_frac: phase.change_frac, ..ByOperation::default() };
        Self {
            bytes: phase.bytes_of_each(process_num),
            read_after: order.read_after(phase.read_frac).map(threshold),
            stretch: stretches(phase),
            kinds: [kind(Op::Read), kind(Op::Write)],
        }
    }
}

impl Phased {
    /// Returns the requests of process number `process` (from 0); `None` if the workload has no
    /// phases.
    pub(super) fn new(workload: &Workload, grid: &Grid, seed: u64, process: u32) -> Option<Self> {
        let process_num = u64::from(workload.process_num.max(1));
        let plan = |phase| Plan::new(phase, grid, workload.process_num);
        let plans = workload.phases.iter().map(plan);
        let plans: Arc<[Plan]> = plans.collect();
        let process = u64::from(process) % process_num;
        let mut one = Self {
            rng: generator(seed, process as u32),
            align: grid.align,
            plans,
            process,
            process_num,
            at: 0,
            left: 0,
            last: 0,
            row: 0,
            courses: [Course::default(), Course::default()],
            used: [0; 2],
        };
        one.begin().then_some(one)
    }

    /// Begins the current phase; returns false if there is none.
    fn begin(&mut self) -> bool {
        let Some(plan) = self.plans.get(self.at) else { return false };
        self.left = plan.bytes;
        let begin = |kind: &Option<Kind>| {
            kind.as_ref().map(|kind| kind.begin(self.process, self.process_num)).unwrap_or_default()
        };
        self.courses = [begin(&plan.kinds[0]), begin(&plan.kinds[1])];
        self.last = usize::from(plan.kinds[0].is_none());
        self.row = plan.stretch.map_or(0, |rows| rows[self.last]);
        true
    }

    /// Returns the next request; the first phase follows the last one.
    pub(super) fn request(&mut self) -> Request {
        let plan = &self.plans[self.at];
        let coins = self.rng.next_u64();
        let wanted = match plan.stretch {
            Some(_) if self.row > 0 => self.last,
            Some(rows) => {
                self.row = rows[1 - self.last];
                1 - self.last
            }
            None => usize::from(coins >> 32 >= plan.read_after[self.last]),
        };
        self.row = self.row.saturating_sub(1);
        let is_write = if plan.kinds[wanted].is_some() { wanted } else { 1 - wanted };
        self.last = is_write;
        let op = if is_write == 0 { Op::Read } else { Op::Write };
        let Some(kind) = &plan.kinds[is_write] else { return Request { op, offset: 0, len: 1 } };
        let len = u64::from(kind.sizes.draw(self.rng.next_u64())).min(kind.span);
        // New places are dealt out to the processes in turn, so that none gets a place of another.
        // The first place comes last, because the first process starts there.
        let fresh = (self.used[is_write] + 1) * self.process_num + self.process;
        let mut draw = Draw { rng: &mut self.rng, fresh, took_fresh: false };
        let start = self.courses[is_write].next(kind, len, coins, &mut draw);
        self.used[is_write] += u64::from(draw.took_fresh);
        let (offset, len) = (start * self.align, len * self.align);
        self.left = self.left.saturating_sub(len);
        if self.left == 0 {
            self.at = (self.at + 1) % self.plans.len();
            self.begin();
        }
        Request { op, offset, len: len as u32 }
    }
}

impl Course {
    /// Returns the granule at which a request of `len` granules begins, decided by the lower 32
    /// random bits of `coins`.
    fn next(&mut self, kind: &Kind, len: u64, coins: u64, draw: &mut Draw<'_>) -> u64 {
        let coin = coins & (CERTAIN - 1);
        if coin < kind.jump {
            self.current = None;
            self.next = kind.place(draw.place(kind));
        } else if coin - kind.jump < kind.turn {
            self.turn = (self.turn + 1) % self.runs.len().max(1);
            self.current = Some(self.turn);
        }
        let next = match self.current.and_then(|run| self.runs.get_mut(run)) {
            Some(run) => run,
            None => &mut self.next,
        };
        let end = kind.from + kind.span;
        let start = if *next + len <= end { *next } else { kind.from };
        *next = start + len;
        start
    }
}

/// The state from which a place is drawn.
struct Draw<'a> {
    rng: &'a mut Pcg64Mcg,
    /// The index of the next place that the process has not used.
    fresh: u64,
    /// Whether that place was taken.
    took_fresh: bool,
}

impl Draw<'_> {
    /// Returns the index of the place for a request elsewhere.
    fn place(&mut self, kind: &Kind) -> u64 {
        let (coin, place) = (self.rng.next_u64(), self.rng.next_u64());
        if coin >> 32 >= kind.again {
            self.took_fresh = true;
            return self.fresh;
        }
        let share = coin & (CERTAIN - 1);
        let within = kind.narrow.iter().find(|(_, below)| share < *below);
        let most = within.map_or(kind.places, |(places, _)| *places);
        ((u128::from(place) * u128::from(most)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use crate::{Application, Stream, streams};
    use ioscape_schema::{FileCall, Op, Phase, PhaseRequests, Request, Workload};
    use std::collections::HashSet;

    const MIB: u64 = 1 << 20;

    fn kind(from: u64, span: u64, size: u64) -> PhaseRequests {
        PhaseRequests {
            sizes: vec![(size, 1.0)],
            from_bytes: from * MIB,
            span_bytes: span * MIB,
            runs: 1,
            ..PhaseRequests::default()
        }
    }

    /// Reads 16 MiB and writes 16 MiB in long rows, then merges four runs of what was written into
    /// 16 MiB more.
    fn sort() -> Workload {
        let first = Phase {
            bytes: 32 * MIB,
            read_frac: 1.0 / 17.0,
            change_frac: 0.004,
            read: Some(kind(0, 16, 65_536)),
            write: Some(kind(16, 16, 4096)),
            ..Phase::default()
        };
        let merge = PhaseRequests { runs: 4, turn_frac: 1.0 / 16.0, ..kind(16, 16, 4096) };
        let second = Phase {
            bytes: 32 * MIB,
            read_frac: 0.5,
            change_frac: 0.02,
            read: Some(merge),
            write: Some(kind(32, 16, 4096)),
            ..Phase::default()
        };
        Workload { unique_bytes: 48 * MIB, phases: vec![first, second], ..Workload::default() }
    }

    fn pass(workload: &Workload) -> Vec<Request> {
        pass_of(workload, 3)
    }

    fn pass_of(workload: &Workload, seed: u64) -> Vec<Request> {
        let mut left = workload.pass_bytes().expect("phases");
        let mut all = Vec::new();
        let mut stream = Stream::new(workload, seed, 0);
        while left > 0 {
            let request = stream.request();
            left = left.saturating_sub(u64::from(request.len));
            all.push(request);
        }
        all
    }

    #[test]
    fn phases_come_in_order_and_each_in_its_part() {
        let workload = sort();
        assert_eq!(workload.validate(), Ok(()));
        let all = pass(&workload);
        let large =
            all.iter().rposition(|one| one.len == 65_536).expect("reads of the first phase");
        let moved: u64 = all[..=large].iter().map(|one| u64::from(one.len)).sum();
        assert!(moved <= 32 * MIB + 65_536, "{moved}");
        for (request, range) in all.iter().map(|one| match (one.op, one.len) {
            (Op::Read, 65_536) => (one, 0..16),
            (Op::Read, _) => (one, 16..32),
            (Op::Write, _) => (one, 16..48),
        }) {
            let end = request.offset + u64::from(request.len);
            assert!(request.offset >= range.start * MIB && end <= range.end * MIB, "{request:?}");
        }
        let mut again = Stream::new(&workload, 3, 0);
        assert!(all.iter().all(|one| *one == again.request()), "the same requests again");
    }

    #[test]
    fn the_phases_of_a_stream_are_found_again() {
        let mut seen = Application::new(4096);
        for (at, request) in (0..).zip(pass(&sort())) {
            let (issued_ns, completed_ns) = (at * 1000, at * 1000 + 500);
            seen.record(&FileCall { request, issued_ns, completed_ns, ..FileCall::default() });
        }
        let found = seen.finish().phases;
        assert_eq!(found.len(), 2, "{found:#?}");
        let read = found[1].read.as_ref().expect("reads");
        assert_eq!((read.runs, found[0].read.as_ref().map(|read| read.runs)), (4, Some(1)));
        assert!((read.turn_frac * 16.0 - 1.0).abs() < 0.2, "{read:?}");
        assert!((found[1].read_frac - 0.5).abs() < 0.1, "{found:#?}");
    }

    #[test]
    fn new_places_cover_the_part_and_old_ones_are_as_narrow_as_asked() {
        let jumps = |again_frac, again| PhaseRequests {
            jump_frac: 1.0,
            again_frac,
            again,
            ..kind(4, 8, 4096)
        };
        let of = |read| {
            let phase =
                Phase { bytes: 8 * MIB, read_frac: 1.0, read: Some(read), ..Phase::default() };
            let all = pass(&Workload { phases: vec![phase], ..Workload::default() });
            assert_eq!(all.len(), 2048);
            all.iter().map(|one| one.offset).collect::<HashSet<_>>().len()
        };
        assert_eq!(of(jumps(0.0, Vec::new())), 2048, "every page once");
        let narrow = of(jumps(1.0, vec![[65_536.0, 0.9], [8.0 * MIB as f64, 1.0]]));
        assert!((16 + 100..16 + 300).contains(&narrow), "{narrow}: a tenth is anywhere");
    }

    #[test]
    fn what_was_read_once_is_read_once_again() {
        let mut seen = Application::new(4096);
        let parts = [(0, Op::Read), (1, Op::Write), (2, Op::Read)].into_iter();
        let calls = parts.flat_map(|(file, op)| (0..256).map(move |at| (file, op, at * 65_536)));
        for (at, (file, op, offset)) in (0..).zip(calls) {
            let request = Request { op, offset, len: 65_536 };
            let (issued_ns, completed_ns) = (at * 1000, at * 1000 + 500);
            let call = FileCall { file, request, issued_ns, completed_ns, ..FileCall::default() };
            seen.record(&call);
        }
        let phases = seen.finish().phases;
        let jumps = phases.iter().flat_map(Phase::kinds).map(|kind| kind.jump_frac);
        assert_eq!((phases.len(), jumps.collect::<Vec<_>>()), (3, vec![0.0; 3]));
        let workload = Workload { unique_bytes: 48 * MIB, phases, ..Workload::default() };
        for seed in 1..=20 {
            let all = pass_of(&workload, seed);
            let places: HashSet<u64> = all.iter().map(|one| one.offset).collect();
            assert_eq!((all.len(), places.len()), (768, 768), "{seed}");
        }
    }

    #[test]
    fn where_the_process_begins_is_the_last_of_the_new_places() {
        let read = PhaseRequests { jump_frac: 1.0, ..kind(4, 8, 4096) };
        let phase = Phase { bytes: 8 * MIB, read_frac: 1.0, read: Some(read), ..Phase::default() };
        let all = pass(&Workload { phases: vec![phase], ..Workload::default() });
        let begin = all.iter().position(|one| one.offset == 4 * MIB);
        assert_eq!((all.len(), begin), (2048, Some(2047)));
    }

    #[test]
    fn no_process_goes_to_the_new_places_of_another() {
        let read = PhaseRequests { jump_frac: 1.0, ..kind(0, 8, 4096) };
        let phase = Phase { bytes: 8 * MIB, read_frac: 1.0, read: Some(read), ..Phase::default() };
        let workload = Workload { phases: vec![phase], process_num: 4, ..Workload::default() };
        let all = streams(&workload, 1).into_iter().flat_map(|stream| stream.take(512));
        assert_eq!(all.map(|one| one.offset).collect::<HashSet<_>>().len(), 2048);
    }

    #[test]
    fn processes_share_a_part() {
        let workload = Workload { process_num: 2, ..sort() };
        let firsts: Vec<u64> = streams(&workload, 1)
            .iter_mut()
            .filter_map(|stream| stream.find(|one| one.op == Op::Read).map(|one| one.offset))
            .collect();
        assert_eq!(firsts, [0, 8 * MIB]);
    }
}
