//! The counts of a stretch of calls, how different two stretches are, and the phase that a stretch
//! becomes.

use super::super::phases::Activity;
use super::place::{Extent, Places};
use super::runs::Step;
use ioscape_schema::phase::RUNS_MOST;
use ioscape_schema::{Advice, FileCall, Op, Phase, PhaseRequests};
use std::collections::BTreeMap;

/// The most files whose extents are kept separately in one window.
const FILES_MOST: usize = 4096;

/// In the order of their counters.
const ADVICES: [Advice; 3] = [Advice::Normal, Advice::Random, Advice::Sequential];

/// Runs count as continued in turn if there is at least one such request for each of them, and one
/// per this many that begin elsewhere ...
const CHANCE: f64 = 8.0;
/// ... and this many times as many of these as random places would have: sizes and places that are
/// not spread evenly hit ends more often.
const BEYOND_CHANCE: f64 = 4.0;

/// Two parts of the set count as one if they share at least this much of their union.
const SAME: f64 = 0.5;

#[derive(Clone, Debug, Default)]
struct Kind {
    requests: u64,
    bytes: u64,
    jumps: u64,
    again: u64,
    /// Turns to runs that were left for the first time, and to others; and the sums of their
    /// depths.
    turns: [u64; 2],
    depth: [u64; 2],
    /// The runs that jumps and turns could have continued, added up.
    open: u64,
    /// Bytes by the advice given to the kernel: none, random, sequential.
    advised: [u64; 3],
    /// Requests and bytes by size.
    sizes: BTreeMap<u32, (u64, u64)>,
    files: BTreeMap<u32, Extent>,
}

/// A stretch of calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    /// Requests after one of the same process: of the same kind, and of the other; and the pauses
    /// before them.
    pairs: [u64; 2],
    think_ns: [u64; 2],
    kinds: [Kind; 2],
}

fn share(part: u64, of: u64) -> f64 {
    part as f64 / of.max(1) as f64
}

impl Kind {
    fn add(&mut self, call: &FileCall, step: Step, is_new: bool) {
        let len = u64::from(call.request.len);
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(len);
        match step {
            Step::Stays => {}
            Step::Turns { again, depth, open } => {
                let at = usize::from(again);
                self.turns[at] += 1;
                self.depth[at] += u64::from(depth);
                self.open += u64::from(open);
            }
            Step::Jumps { open } => {
                self.jumps += 1;
                self.open += u64::from(open);
                self.again += u64::from(!is_new);
            }
        }
        let size = self.sizes.entry(u64::BITS - len.max(1).leading_zeros()).or_default();
        *size = (size.0 + 1, size.1.saturating_add(len));
        self.advised[ADVICES.iter().position(|one| *one == call.advice).unwrap_or(0)] += len;
        let from = call.request.offset;
        let extent = Extent { from, to: from.saturating_add(len), bytes: len };
        self.extend(call.file, extent);
    }

    fn extend(&mut self, file: u32, extent: Extent) {
        if self.files.len() < FILES_MOST || self.files.contains_key(&file) {
            self.files.entry(file).and_modify(|one| one.merge(extent)).or_insert(extent);
            return;
        }
        // The stretch reaches from its first file to its last, which takes the place of the last so
        // far; of those between, only the number of bytes counts.
        let replaced = match self.files.range(file..).next().is_none() {
            true => self.files.pop_last(),
            false if self.files.range(..file).next().is_none() => self.files.pop_first(),
            false => None,
        };
        if let Some((_, one)) = replaced {
            self.files.insert(file, Extent { bytes: one.bytes + extent.bytes, ..extent });
        } else if let Some((_, lower)) = self.files.range_mut(..file).next_back() {
            lower.bytes += extent.bytes;
        }
    }

    fn merge(&mut self, other: Self) {
        self.requests += other.requests;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.jumps += other.jumps;
        self.again += other.again;
        self.open += other.open;
        for at in [0, 1] {
            self.turns[at] += other.turns[at];
            self.depth[at] += other.depth[at];
        }
        self.advised.iter_mut().zip(other.advised).for_each(|(sum, one)| *sum += one);
        for (size, (requests, bytes)) in other.sizes {
            let one = self.sizes.entry(size).or_default();
            *one = (one.0 + requests, one.1.saturating_add(bytes));
        }
        other.files.into_iter().for_each(|(file, extent)| self.extend(file, extent));
    }

    /// Returns the mean depth of turns to runs that were left before, or of all turns if there are
    /// none to such runs.
    fn depth(&self) -> f64 {
        let at = usize::from(self.turns[1] > 0);
        share(self.depth[at], self.turns[at])
    }

    /// Returns the requests that continue another run than the previous one. Returns 0 if they are
    /// fewer than the runs, or so few, compared with those that begin elsewhere, that they hit the
    /// end of an earlier run by chance.
    fn turned(&self, places: &Places) -> u64 {
        let turns: u64 = self.turns.iter().sum();
        let (found, jumps) = (turns as f64, self.jumps as f64);
        let is_chance = || found < BEYOND_CHANCE * self.odds(turns + self.jumps, places) * jumps;
        if found * CHANCE < jumps || found < self.depth() || is_chance() { 0 } else { turns }
    }

    /// Returns the requests that begin elsewhere, also at the end of an earlier run by chance.
    fn jumped(&self, places: &Places) -> u64 {
        self.jumps + self.turns.iter().sum::<u64>() - self.turned(places)
    }

    /// Returns how many of `tries` requests at random places would hit the end of an open run, over
    /// those that would not.
    fn odds(&self, tries: u64, places: &Places) -> f64 {
        let bytes = places.bytes(self.files.keys());
        let hit = share(self.open, bytes) * self.size_mean() / tries.max(1) as f64;
        hit / (1.0 - hit).max(0.01)
    }

    /// Returns the number of runs that are continued in turn.
    fn runs(&self, places: &Places) -> f64 {
        let most = if self.turned(places) == 0 { 1.0 } else { f64::from(RUNS_MOST) };
        self.depth().clamp(1.0, most)
    }

    /// Returns the advice given for more than half of the bytes.
    fn advice(&self) -> Advice {
        let most = self.advised.iter().position(|bytes| *bytes > self.bytes / 2);
        most.map_or(Advice::Normal, |at| ADVICES[at])
    }

    fn size_mean(&self) -> f64 {
        share(self.bytes, self.requests).max(1.0)
    }

    /// Returns how different the kinds are; runs, jumps or sizes that are far apart contribute 1
    /// each.
    fn unlikeness(&self, other: &Self, places: &Places) -> f64 {
        let runs = (self.runs(places) / other.runs(places)).log2() / 3.0;
        let [one, two] = [self, other].map(|kind| share(kind.jumped(places), kind.requests));
        let jumps = one - two;
        let sizes = (self.size_mean() / other.size_mean()).log2() / 4.0;
        runs * runs + jumps * jumps + sizes * sizes
    }

    /// Returns the kind as part of a phase of `process_num` processes, each of which starts in its
    /// own place: these starts are no jumps.
    fn traits(
        &self,
        (from_bytes, span_bytes): (u64, u64),
        process_num: u32,
        places: &Places,
    ) -> PhaseRequests {
        let most = span_bytes.max(1);
        let starts = u64::from(process_num);
        let jumps = self.jumps.saturating_sub(starts);
        let mut sizes: BTreeMap<u64, f64> = BTreeMap::new();
        for (requests, bytes) in self.sizes.values() {
            let size = (share(*bytes, *requests).round() as u64).clamp(1, most);
            *sizes.entry(size).or_default() += share(*requests, self.requests);
        }
        PhaseRequests {
            sizes: sizes.into_iter().collect(),
            from_bytes,
            span_bytes,
            runs: self.runs(places).round() as u32,
            turn_frac: share(self.turned(places), self.requests),
            jump_frac: share(self.jumped(places).saturating_sub(starts), self.requests),
            again_frac: share(self.again.min(jumps), jumps),
            advice: self.advice(),
            again: Vec::new(),
        }
    }
}

impl Window {
    pub(super) fn new(begin_ns: u64) -> Self {
        Self { begin_ns, ..Self::default() }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.kinds.iter().fold(0, |sum, kind| sum.saturating_add(kind.bytes))
    }

    pub(super) fn requests(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.requests).sum()
    }

    /// Adds a call: its relation to the open runs, whether its kind differs from that of its
    /// process's previous request, the pause since then, and whether its page is new.
    pub(super) fn add(
        &mut self,
        call: &FileCall,
        step: Step,
        before: Option<(bool, u64)>,
        is_new: bool,
    ) {
        if let Some((changes, think_ns)) = before {
            self.pairs[usize::from(changes)] += 1;
            self.think_ns[usize::from(changes)] += think_ns;
        }
        self.end_ns = self.end_ns.max(call.completed_ns);
        self.kinds[usize::from(call.request.op == Op::Write)].add(call, step, is_new);
    }

    /// Merges a later stretch into this one.
    pub(super) fn merge(&mut self, later: Self) {
        self.end_ns = self.end_ns.max(later.end_ns);
        for at in [0, 1] {
            self.pairs[at] += later.pairs[at];
            self.think_ns[at] += later.think_ns[at];
        }
        let [read, write] = later.kinds;
        self.kinds[0].merge(read);
        self.kinds[1].merge(write);
    }

    /// Returns the loss of merging both into one phase of an application that moves `all` bytes:
    /// the spread about their common mean, as in Ward's clustering.
    pub(super) fn loss(&self, later: &Self, all: f64, places: &Places) -> f64 {
        let bytes = [self.bytes() as f64, later.bytes() as f64];
        let reads = |one: &Self| share(one.kinds[0].bytes, one.bytes());
        let order = reads(self) - reads(later);
        let kinds = self.kinds.iter().zip(&later.kinds).map(|(one, other)| {
            let weight = share(one.bytes, self.bytes()).min(share(other.bytes, later.bytes()));
            let both = one.requests > 0 && other.requests > 0;
            if both { weight * one.unlikeness(other, places) } else { 0.0 }
        });
        let unlike = order * order + kinds.sum::<f64>();
        bytes[0] * bytes[1] / (bytes[0] + bytes[1]).max(1.0) / all.max(1.0) * unlike
    }

    /// Returns the phase that lasts until `end_ns`, for as many processes as are active; `None` if
    /// nothing with a place was moved.
    pub(super) fn phase(&self, end_ns: u64, places: &Places, activity: Activity) -> Option<Phase> {
        let process_num = activity.processes();
        let [read, write] = &self.kinds;
        let requests = self.requests();
        let whole = (0, places.set);
        let part = |kind: &Kind| places.part(&kind.files).unwrap_or(whole);
        let mut parts = [part(read), part(write)];
        // A kind without requests has no part that could be the same.
        let have_both = read.requests > 0 && write.requests > 0;
        if let Some(both) = common(parts).filter(|_| have_both) {
            parts = [both; 2];
        }
        let of =
            |kind: &Kind, part| (kind.requests > 0).then(|| kind.traits(part, process_num, places));
        // A pause after several concurrent requests is a pause of each of them.
        let pause_ns = |at: usize| share(self.think_ns[at], self.pairs[at]) * activity.in_flight();
        (requests > 0 && places.set > 0).then(|| Phase {
            bytes: self.bytes().max(1),
            elapsed_s: end_ns.saturating_sub(self.begin_ns) as f64 / 1e9,
            read_frac: share(read.requests, requests),
            change_frac: share(self.pairs[1], self.pairs.iter().sum()),
            think_time_ns: pause_ns(0) as u64,
            change_think_time_ns: pause_ns(1) as u64,
            read: of(read, parts[0]),
            write: of(write, parts[1]),
        })
    }
}

/// Returns the union of two parts of the set if they are nearly the same.
fn common([one, other]: [(u64, u64); 2]) -> Option<(u64, u64)> {
    let (from, to) = (one.0.min(other.0), (one.0 + one.1).max(other.0 + other.1));
    let within = (one.0 + one.1).min(other.0 + other.1).saturating_sub(one.0.max(other.0));
    (within as f64 >= SAME * (to - from) as f64).then_some((from, to - from))
}
