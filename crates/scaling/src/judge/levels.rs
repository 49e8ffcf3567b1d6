//! The levels of the storage hierarchy: borders of all three set-size curves, and the regions between them.

use super::borders::{Gate, SetBorder, borders};
use super::dirty;
use super::evidence::Evidence;
use super::in_memory;
use super::points::PointId;
pub(crate) use super::posterior::Telling;
use super::posterior::{WIDE_GAP, posterior};
use super::regions::{focal_unique_bytes, regions};
use super::residency;
use ioscape_schema::statistics::sort_by_number;
use ioscape_schema::{BorderOperation, Bounded, CurveKey, LevelCount, Measurement, Workload};

/// Set sizes are whole pages of this size, in bytes.
const PAGE: f64 = 4096.0;

/// The curves whose borders make regions.
pub(super) const CURVES: [BorderOperation; 3] =
    [BorderOperation::Mixed, BorderOperation::Read, BorderOperation::Write];

/// A region before its curves are final.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RegionState {
    /// From and to, in bytes.
    pub range: [f64; 2],
    /// Its focal vector.
    pub focal: Workload,
}

/// Where one level of the hierarchy ends and the next begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    /// Borders of all curves, in order of `unique_bytes`.
    pub borders: Vec<SetBorder>,
    /// Regions between the borders of storage.
    pub regions: Vec<RegionState>,
    /// How probable each number of regions is, the most probable first; empty until that is
    /// computed.
    pub counts: Vec<LevelCount>,
}

/// Returns the borders of one curve as measured so far. Where the mixed curve has one, the others
/// are likely to have it, too.
pub(crate) fn borders_of(evidence: &Evidence, operation: BorderOperation) -> Vec<SetBorder> {
    let known: Vec<f64> = match operation {
        BorderOperation::Mixed => Vec::new(),
        _ => borders_of(evidence, BorderOperation::Mixed)
            .iter()
            .map(|b| b.border.unique_bytes)
            .collect(),
    };
    let key = CurveKey::UniqueBytes(operation);
    let samples = evidence.samples(key);
    let mut found = borders(&samples, &known, operation, Gate::FINAL);
    let curve = evidence.on(key).iter();
    let points: Vec<(f64, &Measurement)> =
        curve.map(|&(value, id)| (value, evidence.points.kept(id))).collect();
    in_memory::mark(&mut found, &points);
    residency::confirm(&mut found, &samples, operation, held(evidence));
    found
}

/// Returns what the file cache holds, by residency: of the sets on the curve of reads, or else on
/// all three.
fn held(evidence: &Evidence) -> Option<Bounded> {
    let held_of = |curves: &[BorderOperation]| {
        let ids = curves.iter().flat_map(|of| evidence.ids(CurveKey::UniqueBytes(*of)));
        let rounds: Vec<&Measurement> = ids.flat_map(|id| evidence.points.rounds(id)).collect();
        residency::held(rounds.into_iter())
    };
    residency::of_reads_or(held_of(&[BorderOperation::Read]), || held_of(&CURVES))
}

/// Returns between which sets writers begin to be held up, by the dirty bytes of the curve of writes.
fn limit(evidence: &Evidence) -> Option<[f64; 2]> {
    let ids = evidence.ids(CurveKey::UniqueBytes(BorderOperation::Write)).into_iter();
    dirty::limit(ids.flat_map(|id| evidence.points.rounds(id)))
}

fn sorted(mut borders: Vec<SetBorder>) -> Vec<SetBorder> {
    sort_by_number(&mut borders, |one| one.border.unique_bytes);
    borders
}

/// The regions between the borders of storage, within `range` of `unique_bytes`.
fn ranges(borders: &[SetBorder], range: [f64; 2]) -> Vec<[f64; 2]> {
    let of_storage: Vec<SetBorder> =
        borders.iter().copied().filter(|b| !b.border.in_memory).collect();
    regions(&of_storage, range[0], range[1])
}

/// Borders, regions and how probable their number is.
pub(crate) struct Judged {
    pub borders: Vec<SetBorder>,
    /// From and to of each region, in bytes.
    pub ranges: Vec<[f64; 2]>,
    /// How probable each number of regions is, the most probable first.
    pub counts: Vec<LevelCount>,
    /// The next set-size measurements that would tell how many levels there are; empty if that is
    /// known, or if nothing would tell.
    pub telling: Vec<Telling>,
}

/// Judges the levels by everything measured so far: the most probable ones if `asks` is set,
/// otherwise those found by the rules of [`borders`](super::borders), whose number has no
/// probability.
pub(crate) fn judged(evidence: &Evidence, range: [f64; 2], asks: bool) -> Judged {
    let all = CURVES.into_iter().flat_map(|operation| borders_of(evidence, operation));
    let by_rules = sorted(all.collect());
    let is_measured = |of: BorderOperation| !evidence.on(CurveKey::UniqueBytes(of)).is_empty();
    if !asks || !CURVES.into_iter().any(is_measured) {
        let (ranges, counts, telling) = (ranges(&by_rules, range), Vec::new(), Vec::new());
        return Judged { borders: by_rules, ranges, counts, telling };
    }
    let posterior = posterior(evidence, held(evidence), limit(evidence), range);
    let mut of_levels = confirmed(posterior.borders(), &by_rules);
    of_levels.retain(|border| !is_contradicted(evidence, border));
    // Settle where a curve's own border lies before how many there are; the latter would only
    // repeat rounds beside it.
    let mut telling = within_gaps(evidence, &of_levels);
    telling.extend(posterior.telling());
    let in_memory = by_rules.into_iter().filter(|b| b.border.in_memory);
    let borders = sorted(of_levels.into_iter().chain(in_memory).collect());
    let ranges = ranges(&borders, range);
    Judged { borders, ranges, counts: posterior.level_counts(), telling }
}

/// A level that ends for writes alone must be slower by this factor, unless the rules see its
/// border as well.
///
/// Writes also slow down gradually without the end of a cache, since a flush finds more to write in
/// a larger set.
const WRITES_ALONE: f64 = 3.0;

/// Two borders are the same if they are no further apart than this factor.
const SAME_BORDER: f64 = 1.5;

/// Whether every set beyond a border stayed in memory, by the kernel's counters.
///
/// Then the witnesses disagree: neither the end of a level of storage is reported nor, against the
/// probabilities, that there is none.
fn is_contradicted(evidence: &Evidence, found: &SetBorder) -> bool {
    let curve = evidence.on(CurveKey::UniqueBytes(found.border.operation)).iter();
    let behind = curve.filter(|(value, _)| *value >= found.gap[1]);
    residency::all_stayed(behind.map(|&(_, id)| evidence.points.kept(id)))
}

/// Returns the middles of the wide gaps that the curves of reads and writes leave around their
/// borders, except gaps in which a set was measured while its cache was filling.
fn within_gaps(evidence: &Evidence, borders: &[SetBorder]) -> Vec<Telling> {
    let is_open = |found: &&SetBorder| {
        let [from, to] = found.gap;
        let within = |(value, _): &(f64, PointId)| *value > from && *value < to;
        let operation = found.border.operation;
        operation != BorderOperation::Mixed
            && to > WIDE_GAP * from
            && !evidence.on(CurveKey::UniqueBytes(operation)).iter().any(within)
    };
    let middle = |found: &SetBorder| Telling {
        operation: found.border.operation,
        unique_bytes: (found.gap[0] * found.gap[1]).sqrt(),
    };
    borders.iter().filter(is_open).map(middle).collect()
}

/// Drops the posterior's borders that are mild, hold for writes alone and are not seen by the
/// rules. Their number of regions then differs from the posterior's, so none is reported.
///
/// Beyond an earlier border of theirs, writes slow down anyway, so a border of reads does not
/// confirm a mild one that writes hardly place: with 205 MiB of dirty pages, writes seemed to slow
/// down once more where the file cache of 1 GiB ends for reads, "between 486 MiB and 1.32 GiB", but
/// only followed the law of the first border.
fn confirmed(borders: Vec<SetBorder>, by_rules: &[SetBorder]) -> Vec<SetBorder> {
    let near = |one: &SetBorder, other: &SetBorder| {
        let factor = one.border.unique_bytes / other.border.unique_bytes;
        factor.max(1.0 / factor) <= SAME_BORDER
    };
    let is_of = |one: &SetBorder, operation| one.border.operation == operation;
    let reads: Vec<SetBorder> =
        borders.iter().copied().filter(|b| is_of(b, BorderOperation::Read)).collect();
    let first_of_writes = borders.iter().copied().find(|b| is_of(b, BorderOperation::Write));
    let is_further = |one: &SetBorder| {
        is_of(one, BorderOperation::Write) && first_of_writes.is_some_and(|first| first != *one)
    };
    let is_placed = |one: &SetBorder| one.border.high <= WIDE_GAP * one.border.low;
    let is_own = |one: &SetBorder| !is_further(one) || is_placed(one);
    let is_confirmed = |one: &SetBorder| {
        one.border.ratio >= WRITES_ALONE
            || (is_own(one) && reads.iter().any(|read| near(one, read)))
            || by_rules.iter().any(|rule| is_of(one, rule.border.operation) && near(one, rule))
    };
    borders.into_iter().filter(is_confirmed).collect()
}

/// Finds the levels again in evidence that has more rounds; regions keep their focal vectors and
/// curves.
///
/// A region that turns out not to exist is dropped. If several turn out to be one, the one with the
/// most measurements stays. A region that turns up late gets a focal vector but has no curves yet;
/// the number of these is returned.
pub(crate) fn reconsider(
    evidence: &mut Evidence,
    levels: &mut Levels,
    range: [f64; 2],
    asks: bool,
) -> usize {
    let judged = judged(evidence, range, asks);
    settle(evidence, levels, judged)
}

/// Does the same as [`reconsider`] with a judgement already made.
pub(crate) fn settle(evidence: &mut Evidence, levels: &mut Levels, judged: Judged) -> usize {
    let Judged { borders, ranges, counts, .. } = judged;
    // If regions turn out to be one, keep the one with more measurements: one that turned up late
    // has nothing to keep.
    let measured = |&old: &usize| {
        let of_region =
            |key: &CurveKey| matches!(key, CurveKey::Region { region, .. } if *region == old);
        evidence
            .curves
            .iter()
            .filter(|(key, _)| of_region(key))
            .map(|(_, c)| c.len())
            .sum::<usize>()
    };
    let holding = |&[low, high]: &[f64; 2]| {
        let within =
            |&old: &usize| (low..=high).contains(&(levels.regions[old].focal.unique_bytes as f64));
        (0..levels.regions.len()).rev().filter(within).max_by_key(measured)
    };
    let kept: Vec<Option<usize>> = ranges.iter().map(holding).collect();
    let focal = |(index, old): (usize, &Option<usize>)| {
        let unique_bytes = (focal_unique_bytes(&ranges, index) / PAGE).round().max(1.0) * PAGE;
        let template = levels.regions.first().map(|r| r.focal.clone()).unwrap_or_default();
        let new = Workload { unique_bytes: unique_bytes as u64, ..template };
        let focal = old.map_or(new, |old| levels.regions[old].focal.clone());
        RegionState { range: ranges[index], focal }
    };
    let regions = kept.iter().enumerate().map(focal).collect();
    *levels = Levels { borders, regions, counts };
    let renumbered = |(key, curve)| match key {
        CurveKey::Region { region: old, parameter } => {
            let region = kept.iter().position(|&k| k == Some(old))?;
            Some((CurveKey::Region { region, parameter }, curve))
        }
        other => Some((other, curve)),
    };
    let curves = std::mem::take(&mut evidence.curves);
    evidence.curves = curves.into_iter().filter_map(renumbered).collect();
    kept.iter().filter(|old| old.is_none()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{border, measurement};
    use ioscape_schema::Parameter;

    /// As in an evaluation of a control group, where a third region turned up between the two and
    /// then proved to be none.
    #[test]
    fn of_regions_that_turn_out_to_be_one_that_with_curves_stays() {
        let region = |range, unique_bytes| RegionState {
            range,
            focal: Workload { unique_bytes, ..Workload::default() },
        };
        let mut levels = Levels {
            regions: vec![
                region([1.0, 499.0], 62),
                region([499.0, 979.0], 699),
                region([979.0, 2048.0], 1012),
            ],
            ..Levels::default()
        };
        let key = |region| CurveKey::Region { region, parameter: Parameter::SeqFrac };
        let mut evidence = Evidence::default();
        for region in [0, 2] {
            evidence.curves.insert(key(region), vec![(0.0, region), (1.0, 7)]);
        }
        let ranges = vec![[1.0, 499.0], [499.0, 2048.0]];
        let judged = Judged { borders: vec![], ranges, counts: vec![], telling: vec![] };
        assert_eq!(settle(&mut evidence, &mut levels, judged), 0);
        let focal: Vec<u64> = levels.regions.iter().map(|r| r.focal.unique_bytes).collect();
        assert_eq!(focal, [62, 1012]);
        assert_eq!(evidence.curves.keys().copied().collect::<Vec<_>>(), [key(0), key(1)]);
        assert_eq!(evidence.curves[&key(1)], [(0.0, 2), (1.0, 7)]);
    }

    #[test]
    fn a_mild_further_border_of_writes_is_not_taken_over_from_reads() {
        use BorderOperation::{Read, Write};
        let placed = |operation, at: f64, ratio| SetBorder {
            border: border(operation, [0.9 * at, at, 1.1 * at], ratio),
            gap: [0.9 * at, 1.1 * at],
        };
        let found = |operation, at: f64, ratio| SetBorder {
            border: border(operation, [0.47 * at, at, 1.3 * at], ratio),
            ..placed(operation, at, ratio)
        };
        let (reads, limit) = (found(Read, 1026.0, 84.0), found(Write, 245.0, 26.0));
        let of_writes = |borders: Vec<SetBorder>, by_rules: &[SetBorder]| {
            let kept = confirmed(borders, by_rules).into_iter();
            kept.filter(|b| b.border.operation == Write).count()
        };
        let further = |ratio| vec![reads, limit, found(Write, 1026.0, ratio)];
        assert_eq!(of_writes(further(1.6), &[reads, limit]), 1);
        assert_eq!(of_writes(further(1.6), &[found(Write, 1100.0, 1.5)]), 2, "the rules see it");
        assert_eq!(of_writes(further(4.0), &[]), 2);
        assert_eq!(of_writes(vec![reads, limit, placed(Write, 1026.0, 1.6)], &[]), 2);
        assert_eq!(of_writes(vec![reads, found(Write, 1026.0, 1.6)], &[]), 1, "their first one");
    }

    #[test]
    fn a_wide_gap_about_a_border_is_measured_once_in_its_middle() {
        let found = |operation, gap: [f64; 2]| {
            let [low, high] = gap;
            SetBorder { border: border(operation, [low, 1.1 * low, high], 9.0), gap }
        };
        let mut evidence = Evidence::default();
        let reads = CurveKey::UniqueBytes(BorderOperation::Read);
        evidence.curves.insert(reads, vec![(24.0, 0), (216.0, 1)]);
        let wide = found(BorderOperation::Read, [24.0, 216.0]);
        let others = [
            found(BorderOperation::Mixed, [24.0, 216.0]),
            found(BorderOperation::Write, [24.0, 40.0]),
        ];
        let telling = within_gaps(&evidence, &[wide, others[0], others[1]]);
        let [Telling { operation, unique_bytes }] = telling[..] else { panic!("{telling:?}") };
        assert_eq!(operation, BorderOperation::Read);
        assert!((unique_bytes - 72.0).abs() < 1e-9, "{unique_bytes}");
        // The set measured there does not count: it was still being read into the cache.
        evidence.curves.insert(reads, vec![(24.0, 0), (72.0, 2), (216.0, 1)]);
        assert!(within_gaps(&evidence, &[wide]).is_empty());
    }

    /// Reads, writes and their mix over a cache of 100 MiB. The writes leave a gap between two sets
    /// whose sizes do not survive the round trip through logarithms.
    #[test]
    fn a_gap_between_two_sets_is_open_whatever_their_bytes() {
        const MIB: f64 = 1_048_576.0;
        let often: Vec<f64> = (0..27).map(|i| (MIB * 1.3f64.powi(i)).round()).collect();
        let gap = [67_108_864.0, 155_844_608.0];
        let seldom = [MIB, 4.0 * MIB, 16.0 * MIB, gap[0], gap[1], 300.0 * MIB, 900.0 * MIB];
        let mut evidence = Evidence::default();
        for (operation, read_frac, sets) in [
            (BorderOperation::Read, 1.0, &often[..]),
            (BorderOperation::Write, 0.0, &seldom[..]),
            (BorderOperation::Mixed, 0.5, &often[..]),
        ] {
            let key = CurveKey::UniqueBytes(operation);
            for &set in sets {
                let workload = Workload { size_mean: 4096, read_frac, ..Workload::default() };
                let workload = workload.with(Parameter::UniqueBytes, set);
                let speed = 1e10 / (1.0 + 49.0 * (1.0 - 100.0 * MIB / set).max(0.0));
                let run = measurement(&workload, speed, 1.0, speed);
                let id = evidence.points.add(workload, key.into(), run);
                evidence.put(key, set, id);
            }
        }
        let Judged { borders, telling, .. } = judged(&evidence, [MIB, 1000.0 * MIB], true);
        let of_writes = |found: &&SetBorder| found.border.operation == BorderOperation::Write;
        assert_eq!(borders.iter().find(of_writes).map(|found| found.gap), Some(gap));
        let Telling { operation, unique_bytes } = telling[0];
        assert_eq!(operation, BorderOperation::Write);
        assert!((unique_bytes / (gap[0] * gap[1]).sqrt() - 1.0).abs() < 1e-9, "{unique_bytes}");
    }
}
