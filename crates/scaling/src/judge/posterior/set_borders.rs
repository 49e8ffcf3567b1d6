//! The borders of a hypothesis: which of its ends show in a curve, and between which bounds.

use super::ends::{Curves, OPERATIONS};
use super::hypothesis::{Hypothesis, SHOWS};
use super::law::Observed;
use super::place::Bounds;
use crate::judge::borders::SetBorder;
use ioscape_schema::{BorderOperation, Bounded};

/// Sets on both sides of an end that are further apart than this factor leave its place to the other curves.
pub(crate) const WIDE_GAP: f64 = 2.0;
/// Least number of steady sets beyond a level's end for the law to place it if others there were
/// still filling.
const PLACING: usize = 3;
/// A set beyond an end by less than this factor shows only the beginning of a level; an end this
/// close to what memory holds is the end of memory.
const BESIDE: f64 = 1.1;
/// Standard deviations by which a difference is sure.
const SURELY: f64 = 2.0;
/// A set slower than the one before it by this factor, whose processes waited, lies beyond an end.
const FALLS: f64 = 3.0;

/// The borders of a hypothesis, in order for each kind of requests.
pub(super) fn borders(hypothesis: &Hypothesis, curves: &Curves) -> Vec<SetBorder> {
    OPERATIONS.into_iter().flat_map(|of| borders_of(hypothesis, curves, of)).collect()
}

fn borders_of(
    hypothesis: &Hypothesis,
    curves: &Curves,
    operation: BorderOperation,
) -> Vec<SetBorder> {
    let points: Vec<&Observed> = curves.of(operation).iter().filter(|p| !p.filling).collect();
    let curve = OPERATIONS.iter().position(|of| *of == operation).unwrap_or_default();
    let own = hypothesis.slower_behind(curves, operation).into_iter();
    let ends: Vec<(Bounds, f64)> =
        own.map(|(i, ratio)| (hypothesis.bounds[i][curve], ratio)).collect();
    let border = |(i, &(Bounds { low, at, high }, ratio)): (usize, &(Bounds, f64))| {
        let next = points.partition_point(|p| p.log_set <= at);
        let before = points.get(next.checked_sub(1)?)?;
        let behind = points.get(next)?;
        let next_end = ends.get(i + 1).map_or(f64::INFINITY, |e| e.0.at);
        let open = left_open(curves, operation, at, [before, behind]);
        let is_placed =
            open.is_none() && OPERATIONS.iter().any(|of| places(curves, *of, [at, next_end]));
        let further = points.get(next + open.unwrap_or(0)).unwrap_or(behind).log_set;
        let (low, high) = match is_placed {
            true => (low, high),
            false => (low.min(before.log_set), high.max(further)),
        };
        let high = if falls(before, behind) { high.min(behind.log_set) } else { high };
        let misses = next.checked_sub(2).and_then(|last| misses_from(points[last], before, behind));
        let misses = misses.filter(|_| !is_held(curves, operation, at));
        let low = misses.map_or(low, |from| low.min(from));
        let place = Bounded { value: bytes(at), low: bytes(low), high: bytes(high) };
        let gap = [before, behind].map(|p| bytes(p.log_set));
        (ratio >= SHOWS).then(|| SetBorder::new(operation, place, ratio, gap))
    };
    ends.iter().enumerate().filter_map(border).collect()
}

/// Converts a natural logarithm back to bytes, rounded to those of the set from which it was taken:
/// bounds and gaps are compared with sets.
fn bytes(log: f64) -> f64 {
    log.exp().round()
}

/// Returns `Some` if the curve of reads, or of writes, leaves the place of an end open between two
/// sets, and neither residency nor dirty bytes tell it.
///
/// Then all that is known is these two sets. The value is 1 if the second shows only the beginning
/// of a level, so that the one after it is the bound, and 0 otherwise.
fn left_open(
    curves: &Curves,
    operation: BorderOperation,
    at: f64,
    [before, behind]: [&Observed; 2],
) -> Option<usize> {
    let is_open = operation != BorderOperation::Mixed
        && behind.log_set - before.log_set > WIDE_GAP.ln()
        && !is_held(curves, operation, at)
        && !is_limited(curves, operation, at);
    is_open.then_some(usize::from(behind.log_set - at < BESIDE.ln()))
}

/// Whether residency tells an end of these requests.
fn is_held(curves: &Curves, operation: BorderOperation, at: f64) -> bool {
    let is_beside = |held: Bounded| (held.value.ln() - at).abs() < BESIDE.ln();
    operation == BorderOperation::Read && curves.held.is_some_and(is_beside)
}

/// Whether dirty bytes tell an end of these requests.
fn is_limited(curves: &Curves, operation: BorderOperation, at: f64) -> bool {
    let is_there = |[low, high]: [f64; 2]| (low..=high).contains(&at.exp());
    operation == BorderOperation::Write && curves.limit.is_some_and(is_there)
}

/// Whether the set `behind` surely misses: it is far slower than the one `before` it, and its
/// processes did not compute all the time.
fn falls(before: &Observed, behind: &Observed) -> bool {
    let slower = behind.log_time - before.log_time;
    slower > FALLS.ln() + SURELY * before.sigma.hypot(behind.sigma) && !behind.computed
}

/// Returns from which size on sets miss, in ln(bytes), if the last one `before` an end already does; `None` unless two witnesses show that.
///
/// It is surely slower than the set `within`, and its processes no longer computed all the time as
/// those of `within` did. By its speed alone, memory may decline. The time for the whole of a set
/// grows evenly with what misses, so it leads back from these sets to the speed of `within`.
fn misses_from(within: &Observed, before: &Observed, behind: &Observed) -> Option<f64> {
    let slower = before.log_time - within.log_time;
    let is_slower = slower > SURELY * before.sigma.hypot(within.sigma);
    if !is_slower || before.computed || !within.computed {
        return None;
    }
    let [size, further] = [before, behind].map(|p| p.log_set.exp());
    let slow = before.log_time + SURELY * before.sigma;
    let [fast, slow, slowest] = [within.log_time, slow, behind.log_time].map(f64::exp);
    let missed = (further * slowest - size * slow) / (further - size);
    let held = if missed > slow { (missed - slow) / (missed - fast) } else { 0.0 };
    Some(within.log_set.max((size * held).ln()))
}

/// Whether a curve has sets enough between one end and the next for the law to place the first: at
/// least [`PLACING`] steady ones, or none that was still filling. Otherwise, only the sets on both
/// sides of the end are known.
fn places(curves: &Curves, operation: BorderOperation, [from, to]: [f64; 2]) -> bool {
    let behind = curves.of(operation).iter().filter(|p| p.log_set > from && p.log_set <= to);
    let (filling, steady): (Vec<&Observed>, Vec<&Observed>) = behind.partition(|p| p.filling);
    filling.is_empty() || steady.len() >= PLACING
}

#[cfg(test)]
mod tests {
    use super::super::ends::{LevelEnd, Requests};
    use super::super::overflow::Overflow;
    use super::*;

    const MIB: f64 = 1_048_576.0;

    /// Writes to a simulated system with 205 MiB of dirty pages, by set in MiB and MB/s. The set of 215 MiB waited for a fifth of the time; once, the
    /// border was said to lie at 224 MiB or more.
    #[test]
    fn a_set_that_surely_misses_lies_beyond_the_lower_bound() {
        let point = |(mib, mb_per_s, computed): (f64, f64, bool)| Observed {
            log_set: (mib * MIB).ln(),
            log_time: -(mb_per_s * 1e6_f64).ln(),
            sigma: 0.06,
            computed,
            ..Observed::PLAIN
        };
        let [within, before, behind] =
            [(143.7, 5219.0, true), (215.3, 4158.0, false), (263.6, 870.0, false)].map(point);
        let from = |before: Observed| misses_from(&within, &before, &behind);
        let mib = from(before).unwrap().exp() / MIB;
        assert!((205.0..214.0).contains(&mib), "{mib}");
        assert_eq!(from(Observed { computed: true, ..before }), None, "memory declines");
        assert_eq!(from(Observed { log_time: within.log_time + 0.1, ..before }), None);
        assert_eq!(from(Observed { log_time: behind.log_time, ..before }), Some(within.log_set));
    }

    /// Guards against an upper bound beyond a set that is 14 times slower than the one before it:
    /// that set then did not count as beyond the border.
    #[test]
    fn no_end_lies_beyond_a_set_that_surely_misses() {
        let point = |(mib, mb_per_s): (f64, f64)| Observed {
            log_set: (mib * MIB).ln(),
            log_time: -(mb_per_s * 1e6_f64).ln(),
            sigma: 0.1,
            ..Observed::PLAIN
        };
        let [before, behind, near] = [(24.5, 854.0), (71.1, 60.5), (71.1, 300.0)].map(point);
        assert!(falls(&before, &behind));
        assert!(!falls(&before, &near), "not surely a factor of three");
        assert!(!falls(&before, &Observed { computed: true, ..behind }), "memory declines");
    }

    /// As on a real file system. Once, the bounds were 67108863.99999992 to 155844608.0000002, so
    /// the sets of 67108864 and 155844608 bytes, at which they lie, counted as within them.
    #[test]
    fn bounds_at_sets_are_these_sets() {
        let (before, behind, size) = (67_108_864.0, 155_844_608.0, 100.0 * MIB);
        let point = |bytes: f64| Observed {
            log_set: bytes.ln(),
            log_time: (1e-10 * (1.0 + 49.0 * (1.0 - size / bytes).max(0.0))).ln(),
            sigma: 0.05,
            scatter: 0.05,
            disturbed: 0.01,
            rounds: 2,
            ..Observed::PLAIN
        };
        let sets = [MIB, 8.0 * MIB, 32.0 * MIB, before, behind, 300.0 * MIB, 1000.0 * MIB];
        let curves =
            Curves { points: [(); 3].map(|()| sets.map(point).into()), ..Curves::default() };
        let [low, at, high] = [0.98 * size, size, 1.02 * size].map(f64::ln);
        let hypothesis = Hypothesis {
            ends: vec![LevelEnd { log_bytes: at, overflow: Overflow::Random, of: Requests::All }],
            bounds: vec![[Bounds { low, at, high }; 3]],
            shares: vec![[1.0; 2]],
            log_probability: 0.0,
            ways: Vec::new(),
            volume: 0.0,
            is_hopeless: false,
        };
        let of_writes = |found: &SetBorder| found.border.operation == BorderOperation::Write;
        let found = borders(&hypothesis, &curves).into_iter().find(of_writes).unwrap();
        assert_eq!([found.border.low, found.border.high], [before, behind]);
        assert_eq!(found.gap, [before, behind]);
    }
}
