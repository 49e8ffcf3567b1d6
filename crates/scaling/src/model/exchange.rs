//! A system that does not exist: the levels of an evaluated one with other memory, other storage or
//! another write policy.
//!
//! The structural model knows where each cache overflows and what each level costs, so both can be
//! exchanged. The Gaussian process' corrections belong to levels. So a workload is corrected to the
//! extent that it now spends its time where measured workloads spent theirs; in storage, by the
//! evaluation of the lender. Intervals widen by the uncertainty of what is borrowed.

use super::caches::{Cache, caches, file_caches, is_of_memory, with_memory};
use super::hierarchy::{HierarchyModel, Member};
use super::input::ModelInput;
use super::lending::{Asked, Lending, Levels};
use super::levels::{Outcome, Served};
use super::parameters::Layout;
use super::predict::Estimate;
use super::residual::Posterior;
use super::system_model::Model;

/// Standard deviation of ln(throughput) that each exchange adds: 5 % for memory, whose rule is well
/// known; 15 % for storage, which two systems drive differently.
pub(super) const BORROWED_MEMORY: f64 = 0.05;
const BORROWED_STORAGE: f64 = 0.15;
/// The same for the write policy, for the time in writes: the cost of storage was measured with
/// writes that the kernel gathers and sorts; where one by one ran otherwise, nothing is told.
const BORROWED_POLICY: f64 = 0.4;
/// A cache holds a set of at most this share of its capacity entirely, whatever else is in it.
const HELD_WITH_EASE: f64 = 0.5;
/// The size of an empty cache: with less than a page it holds nothing.
const CACHE_NONE: f64 = 4096.0;
/// Standard deviations that hold 90 % of a normal distribution.
pub(super) const NORMAL90: f64 = 1.645;

/// When a write counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteDone {
    /// When it reaches storage.
    Through,
    /// When it reaches the cache.
    Back,
}

/// What is exchanged.
#[derive(Clone, Debug, Default)]
pub(super) struct Exchange<'a> {
    /// The memory that the caches live in, in bytes: that of the evaluation, and the other.
    pub(super) memory: Option<[f64; 2]>,
    /// The model of the system that lends its storage.
    pub(super) storage: Option<&'a HierarchyModel>,
    /// When a write counts as done.
    pub(super) write_done: Option<WriteDone>,
    /// Whether a file cache serves reads, so that a level which alone serves an operation may be
    /// memory.
    pub(super) reads_cached: bool,
    /// Whether the cache that reads meet first is surely the file cache, and that of writes.
    pub(super) of_file_cache: [bool; 2],
    /// The requests that other storage is to serve.
    pub(super) asked: Asked,
}

impl Exchange<'_> {
    /// Whether a file cache serves reads, and writes.
    fn cached(&self) -> [bool; 2] {
        [self.reads_cached, self.asked.writes_cached]
    }
}

/// Why nothing is known of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// No cache was found that other memory would change.
    Cache,
    /// The evaluation never saw writes at the level where they would now complete.
    Writes,
    /// The lender's evaluation never reached its storage.
    Storage,
    /// The borrower's evaluation never reached its own storage, which the lender's would replace.
    OwnStorage,
    /// The borrower's reads reached it, but not its writes.
    OwnWrites,
}

/// A doubt about the caches of the evaluation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CacheDoubt {
    /// None: the most probable sizes.
    None,
    /// All sizes are at an end of their 90 % intervals: -1 for the low one, 1 for the high one.
    Sizes(f64),
    /// They grow with memory by the alternative rule.
    Growth,
}

/// The system after the exchange, according to each of its structures.
#[derive(Clone, Debug)]
pub(super) struct Exchanged<'a> {
    here: &'a HierarchyModel,
    exchange: Exchange<'a>,
    /// The structures, the most probable first.
    members: Vec<Changed<'a>>,
}

/// The parameters of one structure after the exchange.
#[derive(Clone, Debug)]
struct Changed<'a> {
    /// The structure as evaluated.
    known: &'a Posterior,
    /// The lender's structure of the same rank, or its most probable one where it has fewer. So a
    /// system that lends itself its own storage stays the same.
    lender: Option<&'a Posterior>,
    /// The structure's share of the prediction.
    weight: f64,
    layout: Layout,
    theta: Vec<f64>,
    /// The parameters by the alternative rule of how a cache grows with memory.
    otherwise: Vec<f64>,
    /// Whether writes complete at another place than in the evaluation.
    writes_moved: bool,
}

impl<'a> Changed<'a> {
    /// The structure of the given rank.
    fn new(rank: usize, own: &'a Member, exchange: &Exchange<'a>) -> Result<Self, Unknown> {
        let lender = exchange.storage.map(|from| match from.members().get(rank) {
            Some(member) => &member.posterior,
            None => from.posterior(),
        });
        let known = &own.posterior;
        let (layout, theta) = known.structure();
        let mut one = Self {
            known,
            lender,
            weight: own.weight,
            layout: layout.clone(),
            theta: theta.to_vec(),
            otherwise: theta.to_vec(),
            writes_moved: false,
        };
        if exchange.reads_cached {
            one.lend_storage(exchange.asked)?;
        }
        let changed = one.change_memory(exchange);
        // For a structure without a cache of that size memory does not matter; but the most
        // probable structure must have one.
        if rank == 0 {
            changed?;
        }
        let before = one.theta.clone();
        one.change_policy(exchange.write_done)?;
        one.writes_moved = one.theta != before;
        Ok(one)
    }

    /// Takes the lender's device costs behind the file cache, at the lender's own reference.
    fn lend_storage(&mut self, asked: Asked) -> Result<(), Unknown> {
        let Some(lender) = self.lender else { return Ok(()) };
        let levels = |(layout, theta)| Levels { layout, theta };
        let (here, there) = (levels(self.known.structure()), levels(lender.structure()));
        let (layout, theta) = lender.structure();
        let away = (self.layout.reference_bytes / layout.reference_bytes).ln();
        for operation in 0..2 {
            let (ours, theirs) = (self.layout.levels[operation], layout.levels[operation]);
            match here.borrowing(&there, operation, asked) {
                Lending::Lent => {}
                Lending::Kept => continue,
                Lending::Unknown => return Err(Unknown::Storage),
                Lending::UnknownHere if operation == 0 => return Err(Unknown::OwnStorage),
                Lending::UnknownHere => return Err(Unknown::OwnWrites),
            }
            let from = layout.level(operation, theirs - 1);
            let at = self.layout.level(operation, ours - 1);
            let crowded = layout.first_level_crowded(theta, operation)
                - self.layout.first_level_crowded(&self.theta, operation);
            for all in [&mut self.theta, &mut self.otherwise] {
                all[at.positions()].copy_from_slice(&theta[from.positions()]);
                all[at.ln_byte_s] += crowded;
                all[at.ln_overhead_s] += theta[from.overhead_growth] * away;
                all[at.ln_byte_s] += theta[from.byte_growth] * away;
            }
        }
        Ok(())
    }

    /// Lets caches grow with memory.
    fn change_memory(&mut self, exchange: &Exchange<'_>) -> Result<(), Unknown> {
        let Some(memory) = exchange.memory else { return Ok(()) };
        let mut found = false;
        for operation in (0..2).filter(|&operation| exchange.cached()[operation]) {
            for level in self.layout.storage_borders(operation) {
                let at = self.layout.border(operation, level).ln_onset;
                let is_sure = exchange.of_file_cache[operation];
                let Some(grown) = with_memory(self.theta[at].exp(), memory, is_sure) else {
                    continue;
                };
                found = true;
                [self.theta[at], self.otherwise[at]] = grown.map(f64::ln);
            }
        }
        if found { Ok(()) } else { Err(Unknown::Cache) }
    }

    /// Changes the write policy: writes that complete in storage pass every cache; those that
    /// complete in the cache go where reads go.
    fn change_policy(&mut self, done: Option<WriteDone>) -> Result<(), Unknown> {
        let Some(done) = done else { return Ok(()) };
        let layout = &self.layout;
        if !layout.leaves_memory(1) {
            return Err(Unknown::Writes);
        }
        let onset = |operation, level| layout.border(operation, level).ln_onset;
        let both = [&mut self.theta, &mut self.otherwise];
        match done {
            WriteDone::Through => {
                let through = 0.0;
                for all in both {
                    (0..layout.levels[1] - 1).for_each(|level| all[onset(1, level)] = through);
                }
            }
            WriteDone::Back if !layout.leaves_memory(0) => return Err(Unknown::Cache),
            WriteDone::Back => {
                let reads: Vec<usize> = layout.storage_borders(0).collect();
                for all in both {
                    for (nth, level) in layout.storage_borders(1).enumerate() {
                        let read = all[onset(0, reads[nth.min(reads.len() - 1)])];
                        let own = onset(1, level);
                        all[own] = all[own].max(read);
                    }
                }
            }
        }
        Ok(())
    }

    /// The parameters with the changed caches but the evaluation's own costs, at which its
    /// corrections are evaluated.
    fn with_own_costs(&self) -> Vec<f64> {
        let mut own = self.known.structure().1.to_vec();
        for operation in 0..2 {
            for level in 0..self.layout.levels[operation] - 1 {
                let at = self.layout.border(operation, level).ln_onset;
                own[at] = self.theta[at];
            }
        }
        own
    }

    /// The lender's parameters with the caches as they are here, so that its storage serves the
    /// same share as here.
    fn with_lent_costs(&self, lender: &Posterior) -> Vec<f64> {
        let (layout, theirs) = lender.structure();
        let mut lent = theirs.to_vec();
        for operation in 0..2 {
            let last = caches(&self.layout, &self.theta, operation).pop();
            let held = last.map_or(0.0, |cache| cache.onset.ln());
            let borders = layout.levels[operation] - 1;
            for level in 0..borders {
                let at = layout.border(operation, level).ln_onset;
                lent[at] = if level + 1 == borders { held } else { lent[at].min(held) };
            }
        }
        lent
    }

    fn doubt(&mut self, doubt: CacheDoubt) {
        match doubt {
            CacheDoubt::None => {}
            CacheDoubt::Growth => self.theta.clone_from(&self.otherwise),
            CacheDoubt::Sizes(end) => {
                for &(onset, sd) in self.known.onsets() {
                    self.theta[onset] += end * NORMAL90 * sd;
                    self.otherwise[onset] += end * NORMAL90 * sd;
                }
            }
        }
    }

    /// Share of the time at `place` in the components that `is_counted` selects by position, reads
    /// first.
    fn share(&self, place: &ModelInput, is_counted: impl Iterator<Item = bool>) -> f64 {
        let shares = self.layout.outcome(&self.theta, place).shares;
        let counted = shares.iter().zip(is_counted).filter(|(_, counted)| *counted);
        counted.map(|(share, _)| share).sum::<f64>().clamp(0.0, 1.0)
    }

    /// Share of the time at `place` that is spent before storage.
    fn near(&self, place: &ModelInput) -> f64 {
        if self.lender.is_some_and(|lender| std::ptr::eq(lender, self.known)) {
            return 0.0;
        }
        self.share(place, self.layout.near_components())
    }

    /// Share of the time at `place` that is spent on writes.
    fn writing(&self, place: &ModelInput) -> f64 {
        self.share(place, self.layout.each_component().map(|(operation, _)| operation == 1))
    }
}

impl<'a> Exchanged<'a> {
    /// The system after an exchange. Structures for which the exchange is unknown are left out; it
    /// is an error if the most probable one is among them.
    pub(super) fn new(here: &'a HierarchyModel, exchange: Exchange<'a>) -> Result<Self, Unknown> {
        // Without a file cache everything is storage, so a system that borrows storage is the
        // lender.
        let here = exchange.storage.filter(|_| !exchange.reads_cached).unwrap_or(here);
        let [first, others @ ..] = here.members() else { return Err(Unknown::Cache) };
        let mut members = vec![Changed::new(0, first, &exchange)?];
        let others = others.iter().zip(1..);
        members.extend(others.filter_map(|(one, rank)| Changed::new(rank, one, &exchange).ok()));
        Ok(Self { here, exchange, members })
    }

    /// The most probable structure.
    fn first(&self) -> &Changed<'a> {
        &self.members[0]
    }

    /// The same on one side of a doubt.
    pub(super) fn doubted(mut self, doubt: CacheDoubt) -> Self {
        self.members.iter_mut().for_each(|one| one.doubt(doubt));
        self
    }

    /// The set that filled the same share of the evaluation's memory, within the measured range.
    /// Where the other memory holds the set with ease, it is the set itself or the nearest one that
    /// the evaluation's memory held with ease, since a small set is served faster.
    pub(super) fn alike(&self, place: &ModelInput, measured: [f64; 2]) -> ModelInput {
        let cached = self.exchange.of_file_cache;
        let is_cached = cached[usize::from(place.read_frac == 0.0)];
        let [from, to] = self.exchange.memory.filter(|_| is_cached).unwrap_or([1.0, 1.0]);
        let set = place.unique_bytes;
        let mut unique_bytes = set * from / to;
        if to > from {
            // What the evaluation's own caches held, whichever of them grow with memory and take
            // writes now.
            let (layout, known) = self.here.posterior().structure();
            let caches = file_caches(layout, known, cached);
            let least = caches.map(|cache| cache.onset).fold(from, f64::min);
            unique_bytes = unique_bytes.max(set.min(HELD_WITH_EASE * least));
        } else if to < from {
            let caches = file_caches(&self.first().layout, &self.first().theta, cached);
            let least = caches.map(|cache| cache.onset).filter(|&onset| onset > CACHE_NONE);
            let ease = HELD_WITH_EASE * least.fold(to, f64::min);
            // Between a set held with ease and one that fills the cache, moves from the set itself
            // to the one that filled the evaluation's cache.
            let filled = ((set / ease).ln() / HELD_WITH_EASE.recip().ln()).clamp(0.0, 1.0);
            unique_bytes = set * (from / to).powf(filled);
        }
        ModelInput { unique_bytes: unique_bytes.max(measured[0].exp()), ..*place }
    }

    /// The prediction at `place`, from the measurements of `model`'s system.
    pub(super) fn estimate(&self, place: &ModelInput, model: &Model) -> Estimate {
        let alike = model.clamped(&self.alike(place, model.measured_sets()));
        let seen = [&model.clamped(place), &alike];
        let each = |one: &Changed<'_>| (one.weight, self.estimate_of(one, place, seen));
        let all: Vec<(f64, Estimate)> = self.members.iter().map(each).collect();
        self.here.mixed(&all, &alike)
    }

    /// The prediction of one structure at `place`; `seen` are the nearest measured place and the
    /// one that was served alike.
    fn estimate_of(
        &self,
        one: &Changed<'_>,
        place: &ModelInput,
        [seen, alike]: [&ModelInput; 2],
    ) -> Estimate {
        let own = one.with_own_costs();
        let at = self.here.estimate_with(one.known, &own, seen, alike);
        let residual = at.log_throughput - one.layout.log_throughput(&own, seen);
        let near = one.near(place);
        let (mut correction, mut half) = (residual, at.half_width);
        if let (Some(from), Some(lender)) = (self.exchange.storage, one.lender) {
            let theirs = one.with_lent_costs(lender);
            let there = from.estimate_with(lender, &theirs, place, place);
            let lent = there.log_throughput - lender.structure().0.log_throughput(&theirs, place);
            correction = near * residual + (1.0 - near) * lent;
            // The correlation of the two errors is unknown, so they count as fully correlated.
            half = near * at.half_width + (1.0 - near) * there.half_width;
        }
        let log = one.layout.log_throughput(&one.theta, place);
        let other = one.layout.log_throughput(&one.otherwise, place);
        let borrowed = self.borrowed(one, place);
        Estimate {
            log_throughput: log + correction,
            half_width: half.hypot(other - log).hypot(NORMAL90 * borrowed),
        }
    }

    /// Share of the time at `place` that is spent before storage.
    pub(super) fn near(&self, place: &ModelInput) -> f64 {
        self.first().near(place)
    }

    /// The caches that `operation` passes, the nearest first.
    pub(super) fn caches(&self, operation: usize) -> Vec<Cache> {
        caches(&self.first().layout, &self.first().theta, operation)
    }

    /// The caches that `operation` passes beside a process with `own` bytes for itself, where the
    /// evaluation had `memory` bytes in all. The file cache shrinks by that much, and a limit that
    /// is a share of memory shrinks in proportion. Caches elsewhere lose nothing.
    pub(super) fn caches_beside(
        &self,
        operation: usize,
        own: f64,
        memory: Option<f64>,
    ) -> Vec<Cache> {
        let (layout, known) = self.first().known.structure();
        let storage: Vec<usize> = layout.storage_borders(operation).collect();
        let evaluated = caches(layout, known, operation);
        let beside = |(level, cache): (usize, Cache)| {
            if operation == 0 && layout.file_cache == Some(level) {
                return cache.left(|bytes| bytes - own);
            }
            let of = |memory: &f64| {
                storage.contains(&level) && is_of_memory(evaluated[level].onset, *memory)
            };
            let now =
                memory.filter(of).map(|memory| self.exchange.memory.map_or(memory, |[_, to]| to));
            now.map_or(cache, |now| cache.left(|bytes| bytes * (1.0 - own / now)))
        };
        let all = self.caches(operation);
        match self.exchange.cached()[operation] {
            true => all.into_iter().enumerate().map(beside).collect(),
            false => all,
        }
    }

    /// Whether an operation was seen to leave memory.
    pub(super) fn leaves_memory(&self, operation: usize) -> bool {
        self.first().layout.leaves_memory(operation)
    }

    /// Whether a cache absorbs writes, so that storage gets them later.
    pub(super) fn written_back(&self) -> bool {
        self.caches(1).first().is_some_and(|cache| cache.onset > CACHE_NONE)
    }

    /// Whether every write completes in storage: as requested, or otherwise as `found`.
    pub(super) fn goes_through(&self, found: bool) -> bool {
        self.exchange.write_done.map_or(found, |done| done == WriteDone::Through)
    }

    /// Throughput of requests of several classes that `processes` issue, by the most probable structure.
    pub(super) fn outcome_of(&self, classes: &[Served], processes: f64) -> Outcome {
        self.first().layout.outcome_of(&self.first().theta, classes, processes)
    }

    /// What the exchange adds to ln(throughput) at `place`, by the most probable structure.
    pub(super) fn gain(&self, place: &ModelInput) -> f64 {
        let (layout, known) = self.here.posterior().structure();
        self.log_throughput(place) - layout.log_throughput(known, place)
    }

    /// What the most probable structure alone predicts.
    pub(super) fn log_throughput(&self, place: &ModelInput) -> f64 {
        self.first().layout.log_throughput(&self.first().theta, place)
    }

    /// The share of the time in which requests wait for storage.
    pub(super) fn device_share(&self, outcome: &Outcome) -> f64 {
        let [reads, writes] = self.first().layout.levels;
        let last = [(0, reads - 1), (1, reads + writes - 1)];
        let at_device = last.into_iter().filter(|&(operation, _)| self.leaves_memory(operation));
        at_device.map(|(_, component)| outcome.shares[component]).sum()
    }

    /// Names of the components, reads first.
    pub(super) fn names(&self) -> Vec<String> {
        let named = |(operation, levels): (usize, usize)| {
            let [verb, way] = [["reads", "from"], ["writes", "to"]][operation];
            // Requests that pass the file cache meet the storage's first cache.
            let nearest = if self.exchange.cached()[operation] { "memory" } else { "cache" };
            let is_known = self.leaves_memory(operation);
            (0..levels).map(move |level| match (level, levels) {
                (_, 1) => verb.to_owned(),
                (0, _) => format!("{verb} {way} {nearest}"),
                (last, _) if last + 1 == levels && !is_known => verb.to_owned(),
                (last, _) if last + 1 == levels => format!("{verb} {way} storage"),
                (other, _) => format!("{verb} {way} cache level {}", other + 1),
            })
        };
        self.first().layout.levels.into_iter().enumerate().flat_map(named).collect()
    }

    /// The borrowed uncertainty at `place`, as standard deviation of ln(throughput): it depends on
    /// where the time is spent.
    fn borrowed(&self, one: &Changed<'_>, place: &ModelInput) -> f64 {
        let far = 1.0 - one.near(place);
        let memory = self.exchange.memory.map_or(0.0, |_| BORROWED_MEMORY);
        let storage = self.exchange.storage.map_or(0.0, |_| BORROWED_STORAGE * far);
        let policy = if one.writes_moved { BORROWED_POLICY * one.writing(place) } else { 0.0 };
        memory.hypot(storage).hypot(policy)
    }
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
mod tests;
