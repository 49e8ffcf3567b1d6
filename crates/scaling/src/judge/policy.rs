//! The write policy of the file cache, from reads, writes and synchronous writes in the cache and behind it.

use super::curve::{Repeatability, at};
use crate::statistics::median;
use ioscape_schema::{Access, Evaluation, Point, Purpose, Region, WritePolicy};

/// Probability from which on something is said without doubt.
const SURE: f64 = 0.95;
/// Speeds within this factor count as equal.
const ALIKE: f64 = 3.0;
/// Speeds that differ by this factor belong to different levels of the hierarchy.
const APART: f64 = 5.0;
/// Writes to a set in the cache that are faster than synchronous ones by no more than this factor gain nothing by it.
const GAINS_NOTHING: f64 = 1.5;
/// Writes that are cancelled run at memory speed: not slower than reads by more than this factor.
const MEMORY: f64 = 30.0;

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

/// Relative 95 % errors of the speeds, in their order.
type Errors = [f64; 4];

fn errors(evaluation: &Evaluation) -> Errors {
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

/// The policy if it is the same wherever the speeds lie within their bounds.
fn certain(speeds: Speeds, errors: Errors) -> Option<WritePolicy> {
    let policy = judge(speeds)?;
    // All four speeds at their bounds at once are less likely than one in twenty.
    let factors = errors.map(|e| (1.0 + e).powf(0.7));
    let at_corner = |corner: usize| {
        let factor = |i: usize| if corner >> i & 1 == 1 { factors[i] } else { factors[i].recip() };
        judge(Speeds {
            reads: speeds.reads * factor(0),
            writes: speeds.writes * factor(1),
            dsync: speeds.dsync.map(|d| d * factor(2)),
            writes_behind: speeds.writes_behind.map(|b| b * factor(3)),
        })
    };
    (0..16).all(|corner| at_corner(corner) == Some(policy)).then_some(policy)
}

/// The speeds of an evaluation; `None` where reads or writes of the first region were not measured.
pub(crate) fn speeds(evaluation: &Evaluation) -> Option<Speeds> {
    let speed = |region: &Region, read_frac| {
        let point = at(&region.curves.read_frac, read_frac)?;
        Some(point.throughput()).filter(|t| *t > 0.0)
    };
    let first = evaluation.regions.first()?;
    let last = evaluation.regions.last().filter(|_| evaluation.regions.len() > 1);
    let dsync = evaluation.last(&Purpose::SynchronousWrites).map(|m| m.throughput_bytes_per_s);
    Some(Speeds {
        reads: speed(first, 1.0)?,
        writes: speed(first, 0.0)?,
        dsync: dsync.filter(|t| *t > 0.0),
        writes_behind: last.and_then(|r| speed(r, 0.0)),
    })
}

/// Derives the policy from the speeds (Unix I/O paper, section 4.2): writes as slow as the disk go through to it,
/// writes faster than it can sustain are cancelled in the cache. `None` when nothing slower was measured to compare with, or
/// when what is slower is too near to tell.
pub(crate) fn judge(speeds: Speeds) -> Option<WritePolicy> {
    let Speeds { reads, writes, dsync, writes_behind } = speeds;
    let alike = |a: f64, b: f64| a.max(b) <= ALIKE * a.min(b);
    let slower = match (dsync, writes_behind) {
        (None, None) => return None,
        (Some(a), Some(b)) => a.min(b),
        (a, b) => a.or(b)?,
    };
    let is_only = writes_behind.is_none();
    if is_only && alike(reads, writes) && dsync.is_some_and(|d| writes <= GAINS_NOTHING * d) {
        return Some(WritePolicy::NotCached);
    }
    let at_next_level = match dsync {
        Some(d) => writes <= ALIKE * d,
        None => writes_behind.is_some_and(|b| alike(writes, b)),
    };
    if at_next_level && reads >= APART * writes {
        return Some(WritePolicy::WriteThrough);
    }
    if writes * MEMORY >= reads {
        // Writes at the speed of memory over storage that is nearly as fast: their difference does not show a policy.
        return (writes >= APART * slower).then_some(WritePolicy::WriteCancelling);
    }
    (writes > ALIKE * slower).then_some(WritePolicy::Mixed)
}

/// The write policy of the file cache; `None` past the file cache or when too little was measured.
pub(crate) fn write_policy(evaluation: &Evaluation) -> Option<WritePolicy> {
    let is_buffered = evaluation.regions.first()?.focal.access == Access::Buffered;
    let policy = certain(speeds(evaluation)?, errors(evaluation)).filter(|_| is_buffered)?;
    // A cache that ends somewhere is a cache: that there is none needs to be as sure as that no level ends.
    let one_region = evaluation.level_counts.iter().find(|c| c.regions == 1);
    let is_sure = one_region.is_some_and(|c| c.probability >= SURE);
    let is_asked = !evaluation.level_counts.is_empty();
    (policy != WritePolicy::NotCached || !is_asked || is_sure).then_some(policy)
}

/// How far the curve of a write-through cache departs from its law T(r) = T(0) / (1 - r), as a typical factor;
/// `None` without points between the ends.
pub(crate) fn write_through_departure(curve: &[Point]) -> Option<f64> {
    let disk = at(curve, 0.0)?.throughput();
    let departures: Vec<f64> = curve
        .iter()
        .filter(|p| p.value > 0.0 && p.value < 0.97 && disk > 0.0 && p.throughput() > 0.0)
        .map(|p| (p.throughput() * (1.0 - p.value) / disk).ln().abs())
        .collect();
    (!departures.is_empty()).then(|| median(&departures).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use WritePolicy::{Mixed, NotCached, WriteCancelling, WriteThrough};

    /// Speeds in the cache and behind it as measured on real file systems over a disk of 10 MB/s.
    #[test]
    fn policies_of_real_file_systems() {
        let cases = [
            ("FUSE write-through", 4320.0, 9.8, 9.8, Some(9.8), WriteThrough),
            ("FUSE write-back", 8953.0, 4093.0, 9.6, Some(9.8), WriteCancelling),
            ("FUSE without cache", 9.9, 9.8, 9.9, None, NotCached),
            ("ext4", 17272.0, 1468.0, 2.3, Some(10.0), WriteCancelling),
            ("ext4, nothing slower found", 17272.0, 1468.0, 2.3, None, WriteCancelling),
            ("ext4 -o sync", 14544.0, 5.6, 2.3, Some(5.0), WriteThrough),
            ("DUX-like", 8634.0, 1313.0, 0.4, Some(4.0), WriteCancelling),
            ("sshfs, writes pipelined", 6500.0, 62.0, 7.0, Some(30.0), Mixed),
            ("tmpfs", 17000.0, 7000.0, 7000.0, None, NotCached),
        ];
        for (name, reads, writes, dsync, writes_behind, expected) in cases {
            let speeds = Speeds { reads, writes, dsync: Some(dsync), writes_behind };
            assert_eq!(judge(speeds), Some(expected), "{name}");
        }
    }

    #[test]
    fn a_policy_must_hold_within_the_bounds() {
        let near =
            Speeds { reads: 100.0, writes: 50.0, dsync: Some(9.0), writes_behind: Some(9.5) };
        assert_eq!(certain(near, [0.02; 4]), Some(WriteCancelling));
        assert_eq!(certain(near, [0.3; 4]), None);
        // Half as fast as reads, three times as fast as synchronous writes: 24 GiB of memory over a disk of 1 GB/s.
        let fast = Speeds { reads: 6.7, writes: 3.1, dsync: Some(1.1), writes_behind: None };
        assert_eq!(judge(fast), None);
    }

    #[test]
    fn without_anything_slower_there_is_no_verdict() {
        let speeds = Speeds { reads: 9.0, writes: 9.0, dsync: None, writes_behind: None };
        assert_eq!(judge(speeds), None);
        let through = Speeds { reads: 900.0, writes_behind: Some(8.0), ..speeds };
        assert_eq!(judge(through), Some(WriteThrough));
    }
}
