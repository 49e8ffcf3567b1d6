//! The write policy of the file cache, from reads, writes and synchronous writes in the cache and behind it.

use super::curve::{Repeatability, at};
use super::residency;
use ioscape_schema::statistics::median;
use ioscape_schema::{
    Access, BorderOperation, Bounded, Evaluation, LevelCount, Measurement, Point, Purpose, Region,
    Witness, WritePolicy,
};

/// Error of a median over that of a mean.
const OF_MEDIAN: f64 = 1.25;
/// Speeds within this factor count as equal.
const ALIKE: f64 = 3.0;
/// Speeds that differ by this factor belong to different levels of the hierarchy.
const APART: f64 = 5.0;
/// Writes to a cached set gain nothing from the cache if they are faster than synchronous ones, or than those to the largest sets, by no more than this
/// factor.
const GAINS_NOTHING: f64 = 1.5;
/// Without a counter that says where writes went, those within this factor of synchronous ones cost as much as these.
const AS_SLOW: f64 = 2.0;
/// Cancelled writes run at memory speed: not slower than reads by more than this factor.
pub(super) const MEMORY: f64 = 20.0;
/// The same if no counter says that they stayed in memory: a drive's own buffer, filled over a bus, also takes writes at a tenth of memory's speed.
const MEMORY_UNSEEN: f64 = 8.0;
/// Writes that are slower than reads by more than this factor do not run at memory speed.
const NO_MEMORY: f64 = 30.0;
/// Largest growth of dirty bytes, as a share of the bytes written, at which all of them count as going to storage.
const STEADY: f64 = 0.1;
/// Least share of the bytes written that the device writes when they go through to it.
const STORED: f64 = 0.5;
/// Largest set, in bytes, whose writes show a write-through cache: hardly any cache allows fewer dirty pages.
const SMALL_SET: f64 = 1_048_576.0;

/// The speeds that reveal the policy, in bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Speeds {
    /// Reads in the first region.
    pub reads: f64,
    /// Writes in the first region.
    pub writes: f64,
    /// Writes in the first region that must reach stable storage.
    pub dsync: Option<f64>,
    /// Writes in the last region; absent when there is only one.
    pub writes_behind: Option<f64>,
}

impl Speeds {
    /// Whether reads are so much slower than writes that they do not come from a cache.
    fn has_slow_reads(self) -> bool {
        self.writes > ALIKE * self.reads
    }

    /// Whether writes are too slow to say, without a counter, that memory takes them.
    fn are_below_memory(self) -> bool {
        self.writes * MEMORY_UNSEEN < self.reads
    }

    /// Whether writes are far faster than those to storage, but below memory speed.
    fn are_absorbed(self) -> bool {
        self.are_below_memory()
            && self.storage().is_some_and(|slower| self.writes >= APART * slower)
    }

    /// The slower of the speeds measured for storage.
    pub(super) fn storage(self) -> Option<f64> {
        match (self.dsync, self.writes_behind) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

/// Where the writes of the first region went while they were measured, by the kernel's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    /// The device wrote at least half of them, and dirty bytes hardly grew.
    Storage,
    /// Less than half of them reached the device, or, if that is not counted, more than half became dirty pages.
    Cache,
    /// A part of them went into the cache.
    Both,
    /// No counter tells, but the processes waited for most of their time, so memory did not take the writes.
    Waited,
    /// No counter tells, but the processes computed for most of their time; they would have waited for a drive's buffer.
    Computed,
    /// Nothing tells.
    Unknown,
}

impl Reached {
    /// Whether no counter tells.
    fn is_unseen(self) -> bool {
        matches!(self, Self::Unknown | Self::Waited | Self::Computed)
    }
}

/// Why no policy is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Untold {
    /// Nothing slower than the first region was measured.
    NothingSlower,
    /// Cache and storage, or the policies in question, are too close in speed to tell apart.
    Close,
    /// The policy differs within the bounds of the speeds, or the number of regions is itself in doubt.
    Uncertain,
    /// The speeds and the kernel's counters contradict each other.
    Counters,
    /// Every set stayed in memory, so that reads were not compared with storage.
    Resident,
    /// Reads are far slower than writes, so that they do not come from a cache.
    SlowReads,
    /// Writes are absorbed, but slower than memory, and no counter says by what.
    Unseen,
    /// The file cache keeps nothing of a set, so another cache was fast.
    NoFileCache,
    /// Writes cost as much as storage in sets that may all hold more than the dirty pages allowed.
    LargeSets,
}

/// Relative 95 % errors of the fields of [`Speeds`], in order.
pub(crate) type Errors = [f64; 4];

pub(crate) fn errors(evaluation: &Evaluation) -> Errors {
    let noise = Repeatability::of(evaluation);
    let error = |region: Option<&Region>, read_frac| {
        let point = region.and_then(|r| at(&r.curves.read_frac, read_frac));
        point.map_or(0.0, |p| noise.error_of(p))
    };
    let (first, last) = (evaluation.regions.first(), evaluation.regions.last());
    let dsync = evaluation.last(&Purpose::SynchronousWrites).map(|m| {
        let point = Point { value: 0.0, measurement: m.clone(), rounds: Vec::new(), spread: None };
        noise.error_of(&point)
    });
    [error(first, 1.0), error(first, 0.0), dsync.unwrap_or(0.0), error(last, 0.0)]
}

/// The speeds with each of them at one of its bounds, in every combination.
fn corners(speeds: Speeds, errors: Errors) -> impl Iterator<Item = Speeds> {
    // All four speeds at their bounds at once are less likely than one in twenty, so the bounds are narrowed.
    let factors = errors.map(|e| (1.0 + e).powf(0.7));
    (0..16).map(move |corner| {
        let factor = |i: usize| if corner >> i & 1 == 1 { factors[i] } else { factors[i].recip() };
        Speeds {
            reads: speeds.reads * factor(0),
            writes: speeds.writes * factor(1),
            dsync: speeds.dsync.map(|d| d * factor(2)),
            writes_behind: speeds.writes_behind.map(|b| b * factor(3)),
        }
    })
}

/// Returns the policy if it is the same wherever the speeds lie within their bounds.
fn certain(speeds: Speeds, errors: Errors, reached: Reached) -> Option<WritePolicy> {
    let policy = judge(speeds, reached)?;
    corners(speeds, errors).all(|moved| judge(moved, reached) == Some(policy)).then_some(policy)
}

/// The speeds of an evaluation; `None` where reads or writes of the first region were not measured.
pub(crate) fn speeds(evaluation: &Evaluation) -> Option<Speeds> {
    let speed = |region: &Region, read_frac| {
        let point = at(&region.curves.read_frac, read_frac)?;
        Some(point.throughput()).filter(|t| *t > 0.0)
    };
    let first = evaluation.regions.first()?;
    let last = evaluation.regions.last().filter(|_| evaluation.regions.len() > 1);
    let dsync = evaluation.last(&Purpose::SynchronousWrites).map(Measurement::judged_bytes_per_s);
    Some(Speeds {
        reads: speed(first, 1.0)?,
        writes: speed(first, 0.0)?,
        dsync: dsync.filter(|t| *t > 0.0),
        writes_behind: last.and_then(|r| speed(r, 0.0)),
    })
}

/// Where the writes of this run went.
fn reached(writes: &Measurement) -> Reached {
    let written = writes.write.map_or(writes.bytes, |w| w.bytes) as f64;
    let grown = writes.witness.dirty_bytes.map(|[before, after]| after.saturating_sub(before));
    let grown = grown.map_or(0.0, |grown| grown as f64 / written.max(1.0));
    match writes.witness.device_written_bytes.map(|bytes| bytes as f64 / written.max(1.0)) {
        Some(stored) if stored < STORED => Reached::Cache,
        None if grown > STORED => Reached::Cache,
        _ if grown > STEADY => Reached::Both,
        Some(_) => Reached::Storage,
        None if writes.waits() => Reached::Waited,
        None if writes.computes() => Reached::Computed,
        None => Reached::Unknown,
    }
}

/// The writes of the first region.
fn writes_in(evaluation: &Evaluation) -> Option<&Measurement> {
    let first = evaluation.regions.first()?;
    at(&first.curves.read_frac, 0.0).map(|point| &point.measurement)
}

fn reached_in(evaluation: &Evaluation) -> Reached {
    writes_in(evaluation).map_or(Reached::Unknown, reached)
}

/// Returns what shows, apart from their speed, that writes of the first region stay in the file cache; `None` if nothing does.
pub(super) fn absorption(evaluation: &Evaluation) -> Option<&'static str> {
    let writes = writes_in(evaluation)?;
    Some(match (reached(writes), writes.witness.device_written_bytes) {
        (Reached::Cache, Some(_)) => "less than half of them reach the device by its counters",
        (Reached::Cache, None) => "more than half of them stay in memory as dirty pages",
        (Reached::Computed, _) => "the processes compute for most of the time, and do not wait",
        _ => return None,
    })
}

/// Derives the policy from the speeds (Unix I/O paper, section 4.2): writes as slow as the disk go through to it, writes faster than it can sustain are
/// cancelled in the cache. `None` if nothing slower was measured, if its speed is too close to tell, or if the counters contradict.
fn judge(speeds: Speeds, reached: Reached) -> Option<WritePolicy> {
    let Speeds { reads, writes, dsync, writes_behind } = speeds;
    let alike = |a: f64, b: f64| a.max(b) <= ALIKE * a.min(b);
    let slower = speeds.storage()?;
    let is_only = writes_behind.is_none();
    if is_only && alike(reads, writes) && dsync.is_some_and(|d| writes <= GAINS_NOTHING * d) {
        return Some(WritePolicy::NotCached);
    }
    let at_next_level = match dsync {
        Some(d) => writes <= ALIKE * d,
        None => writes_behind.is_some_and(|b| alike(writes, b)),
    };
    if at_next_level && reads >= APART * writes {
        // For writes, a cache over fast storage is not much faster than that storage; its reads are far faster than both.
        let is_plain = writes <= AS_SLOW * dsync.unwrap_or(slower) || reads >= NO_MEMORY * writes;
        return match reached {
            Reached::Storage => Some(WritePolicy::WriteThrough),
            Reached::Unknown | Reached::Waited => is_plain.then_some(WritePolicy::WriteThrough),
            Reached::Cache | Reached::Both | Reached::Computed => None,
        };
    }
    let is_absorbed = match reached {
        Reached::Cache => true,
        // If sets that outgrow every cache are written as fast, or reads are slower than from a cache, nothing shows that a cache absorbs what fits.
        Reached::Unknown | Reached::Computed => {
            let is_slower_behind = writes_behind.is_none_or(|b| writes > GAINS_NOTHING * b);
            let is_by_memory = reached == Reached::Computed || !speeds.are_below_memory();
            is_by_memory && is_slower_behind && !speeds.has_slow_reads()
        }
        Reached::Storage | Reached::Both | Reached::Waited => false,
    };
    // Writes at the speed of memory over storage that is nearly as fast: their difference does not show a policy.
    if is_absorbed && writes >= APART * slower {
        return Some(WritePolicy::WriteCancelling);
    }
    // Writes that go through to a drive or a server with a cache of its own are as slow, too; only a counter shows that the file cache keeps some.
    let is_mixed = reached == Reached::Both && writes * NO_MEMORY < reads;
    (is_mixed && writes > ALIKE * slower).then_some(WritePolicy::Mixed)
}

/// Whether the first border of such requests is surely one of the file cache. It is not if the file cache takes no part, or if the drive's own cache may be
/// what ends: no counter shows that writes stayed in memory, and they waited or, within the bounds of the speeds, may be as slow as synchronous ones or
/// slower than memory.
pub(crate) fn is_of_file_cache(evaluation: &Evaluation, operation: BorderOperation) -> bool {
    let reached = reached_in(evaluation);
    let may_lie_behind = |speeds: Speeds| {
        speeds.dsync.is_some_and(|d| speeds.writes <= AS_SLOW * d)
            || (reached == Reached::Unknown && speeds.are_below_memory())
    };
    let is_slower = || {
        speeds(evaluation)
            .is_some_and(|speeds| corners(speeds, errors(evaluation)).any(may_lie_behind))
    };
    let is_behind = operation == BorderOperation::Write
        && match reached {
            Reached::Waited => true,
            Reached::Unknown | Reached::Computed => is_slower(),
            Reached::Storage | Reached::Cache | Reached::Both => false,
        };
    evaluation.has_file_cache(operation) && !is_behind
}

/// Whether writes to a small set are as slow as those of the first region. Those to larger sets are as slow, too, if the file cache writes back but allows
/// fewer dirty pages than they hold.
fn goes_through_in_small_sets(evaluation: &Evaluation, speeds: Speeds) -> bool {
    let smallest = evaluation.unique_bytes_write_curve.first().filter(|p| p.value <= SMALL_SET);
    smallest.is_some_and(|point| point.throughput() <= ALIKE * speeds.writes)
}

/// Whether the target lies on a device and all of the largest set of reads stayed in memory.
fn is_all_resident(evaluation: &Evaluation) -> bool {
    let largest = evaluation.unique_bytes_read_curve.last().map(|point| &point.measurement);
    largest.is_some_and(|m| {
        let Witness { device_read_bytes, device_written_bytes, .. } = m.witness;
        let has_device = device_read_bytes.or(device_written_bytes).is_some();
        has_device && residency::fits(m) == Some(true)
    })
}

/// Returns the write policy of the file cache, or why it is not told; `None` if requests bypass the file cache or too little was measured.
pub(crate) fn write_policy(evaluation: &Evaluation) -> Option<Result<WritePolicy, Untold>> {
    let is_buffered = evaluation.regions.first()?.focal.access == Access::Buffered;
    let speeds = speeds(evaluation).filter(|_| is_buffered)?;
    let reached = reached_in(evaluation);
    let found = certain(speeds, errors(evaluation), reached);
    let has_file_cache = evaluation.has_file_cache(BorderOperation::Write);
    if !has_file_cache && found != Some(WritePolicy::NotCached) {
        return Some(Err(Untold::NoFileCache));
    }
    if speeds.storage().is_none() {
        return Some(Err(Untold::NothingSlower));
    }
    let Some(policy) = found else {
        let by_speed = [Reached::Unknown, Reached::Both].map(|other| judge(speeds, other));
        let is_told_otherwise = by_speed.iter().any(Option::is_some);
        return Some(Err(match (judge(speeds, reached), is_told_otherwise) {
            (Some(_), _) => Untold::Uncertain,
            (None, true) if matches!(reached, Reached::Waited | Reached::Unknown) => Untold::Unseen,
            (None, true) => Untold::Counters,
            (None, false) if speeds.has_slow_reads() => Untold::SlowReads,
            (None, false) if reached.is_unseen() && speeds.are_absorbed() => Untold::Unseen,
            (None, false) => Untold::Close,
        }));
    };
    if policy == WritePolicy::WriteThrough && !goes_through_in_small_sets(evaluation, speeds) {
        return Some(Err(Untold::LargeSets));
    }
    if policy != WritePolicy::NotCached {
        return Some(Ok(policy));
    }
    // A cache that ends somewhere is a cache: that there is none must be as sure as that no level ends.
    let one_region = evaluation.level_counts.iter().find(|c| c.regions == 1);
    let is_sure = one_region.is_some_and(|c| c.probability >= LevelCount::SURE);
    let is_asked = !evaluation.level_counts.is_empty();
    Some(match (is_all_resident(evaluation), is_sure || !is_asked) {
        (true, _) => Err(Untold::Resident),
        (false, true) => Ok(policy),
        (false, false) => Err(Untold::Uncertain),
    })
}

/// How far the curve of a write-through cache departs from its law T(r) = T(0) / (1 - r), as a typical factor with 95 %
/// bounds; `None` without points between the ends.
pub(crate) fn write_through_departure(evaluation: &Evaluation) -> Option<Bounded> {
    let noise = Repeatability::of(evaluation);
    let curve = &evaluation.regions.first()?.curves.read_frac;
    let writes = at(curve, 0.0)?;
    let disk = writes.throughput();
    let between: Vec<&Point> = curve
        .iter()
        .filter(|p| p.value > 0.0 && p.value < 0.97 && disk > 0.0 && p.throughput() > 0.0)
        .collect();
    let departs = |p: &&Point| (p.throughput() * (1.0 - p.value) / disk).ln().abs();
    let departures: Vec<f64> = between.iter().map(departs).collect();
    if departures.is_empty() {
        return None;
    }
    // The median of several is better known than each of them, but not better than the pure writes with which all are compared.
    let errors: Vec<f64> = between.iter().map(|p| noise.error_of(p)).collect();
    let own = OF_MEDIAN * median(&errors) / (errors.len() as f64).sqrt();
    let (middle, error) = (median(&departures), own.hypot(noise.error_of(writes)));
    let [value, low, high] = [middle, (middle - error).max(0.0), middle + error].map(f64::exp);
    Some(Bounded { value, low, high })
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
