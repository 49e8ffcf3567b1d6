//! The levels of the storage hierarchy: borders of all three set-size curves, and the regions between them.

use super::borders::{Gate, SetBorder, borders};
use super::evidence::Evidence;
use super::in_memory;
use super::regions::regions;
use ioscape_schema::{BorderOperation, CurveKey, Measurement, Workload};

/// The curves whose borders make regions.
const CURVES: [BorderOperation; 3] =
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
}

/// The borders of one curve as it now is; where the mixed curve has one, the others are likely to have it too.
pub(crate) fn borders_of(evidence: &Evidence, operation: BorderOperation) -> Vec<SetBorder> {
    let known: Vec<f64> = match operation {
        BorderOperation::Mixed => Vec::new(),
        _ => borders_of(evidence, BorderOperation::Mixed)
            .iter()
            .map(|b| b.border.unique_bytes)
            .collect(),
    };
    let key = CurveKey::UniqueBytes(operation);
    let mut found = borders(&evidence.samples(key), &known, operation, Gate::FINAL);
    let curve = evidence.curves.get(&key).map_or(&[][..], Vec::as_slice);
    let points: Vec<(f64, &Measurement)> =
        curve.iter().map(|&(value, id)| (value, evidence.points.kept(id))).collect();
    in_memory::mark(&mut found, &points);
    found
}

/// The borders of all curves, and the regions between those of storage, within `range` of `unique_bytes`.
pub(crate) fn found(evidence: &Evidence, range: [f64; 2]) -> (Vec<SetBorder>, Vec<[f64; 2]>) {
    let mut all: Vec<SetBorder> =
        CURVES.into_iter().flat_map(|operation| borders_of(evidence, operation)).collect();
    all.sort_by(|a, b| a.border.unique_bytes.total_cmp(&b.border.unique_bytes));
    let of_storage: Vec<SetBorder> = all.iter().copied().filter(|b| !b.border.in_memory).collect();
    let ranges = regions(&of_storage, range[0], range[1]);
    (all, ranges)
}

/// Finds the levels again in evidence that has more rounds; the regions keep their focal vectors and their curves.
///
/// A region that turns out to be none is dropped.
///
/// # Errors
/// The number of regions found when one of them has no curves; then everything is left as it was.
pub(crate) fn reconsider(
    evidence: &mut Evidence,
    levels: &mut Levels,
    range: [f64; 2],
) -> Result<(), usize> {
    let (borders, ranges) = found(evidence, range);
    let holding = |&[low, high]: &[f64; 2]| {
        let within = |r: &RegionState| (low..=high).contains(&(r.focal.unique_bytes as f64));
        levels.regions.iter().position(within)
    };
    let kept = ranges.iter().map(holding).collect::<Option<Vec<usize>>>().ok_or(ranges.len())?;
    let focal = kept.iter().map(|&old| levels.regions[old].focal.clone());
    let states = ranges.into_iter().zip(focal).map(|(range, focal)| RegionState { range, focal });
    *levels = Levels { borders, regions: states.collect() };
    let renumbered = |(key, curve)| match key {
        CurveKey::Region { region: old, parameter } => {
            let region = kept.iter().position(|&k| k == old)?;
            Some((CurveKey::Region { region, parameter }, curve))
        }
        other => Some((other, curve)),
    };
    let curves = std::mem::take(&mut evidence.curves);
    evidence.curves = curves.into_iter().filter_map(renumbered).collect();
    Ok(())
}
