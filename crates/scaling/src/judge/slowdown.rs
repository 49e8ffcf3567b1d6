//! How much slower sets are beyond a border, and whether that is sure enough to report the border.

use super::curve::Repeatability;
use super::residency;
use super::set_size::{first_border, place};
use ioscape_schema::{Border, BorderOperation, Bounded, Evaluation, Point, Slower};

/// A set of at least this multiple of a border's upper bound is well beyond the border.
const WELL_BEYOND: f64 = 1.5;

/// Returns how many times slower a set well beyond a border of these requests is than the largest
/// one before it, and the size of the former; `None` if there are no two such sets.
///
/// The set is the first that is surely slower, or else the first. Sets measured while their cache
/// was filling do not count: a filling cache has another speed.
pub(super) fn drop_at(
    evaluation: &Evaluation,
    operation: BorderOperation,
    found: Bounded,
) -> Option<(Bounded, f64)> {
    let (over, beyond) = compared(evaluation, operation, found)?;
    let noise = Repeatability::of(evaluation);
    let drops = || beyond.iter().filter_map(|under| Some((noise.ratio(over, under)?, under.value)));
    drops().find(|drop| is_sure(Some(*drop))).or_else(|| drops().next())
}

/// Whether sets beyond a border are surely slower, by the result of [`drop_at`].
pub(super) fn is_sure(drop: Option<(Bounded, f64)>) -> bool {
    drop.is_some_and(|(drop, _)| drop.low > 1.0)
}

/// Where the next border of the same requests begins, in bytes; infinite without one.
pub(super) fn end_of(evaluation: &Evaluation, operation: BorderOperation, found: Bounded) -> f64 {
    let of_same = evaluation.borders.iter().filter(|b| b.operation == operation);
    let beyond = of_same.filter(|b| b.unique_bytes > found.value);
    beyond.map(|next| next.low).fold(f64::INFINITY, f64::min)
}

/// Where the previous border of the same requests ends, in bytes; 0 without one.
fn begin_of(evaluation: &Evaluation, operation: BorderOperation, found: Bounded) -> f64 {
    let of_same = evaluation.borders.iter().filter(|b| b.operation == operation);
    let before = of_same.filter(|b| b.unique_bytes < found.value);
    before.map(|previous| previous.high.min(found.low)).fold(0.0, f64::max)
}

/// Returns the largest set before a border and those well beyond it, in order, or else the largest
/// beyond it.
///
/// Sets before the previous border or beyond the next one do not count: they differ for another
/// reason as well.
fn compared(
    evaluation: &Evaluation,
    operation: BorderOperation,
    found: Bounded,
) -> Option<(&Point, Vec<&Point>)> {
    let end = end_of(evaluation, operation, found);
    let curve = evaluation.set_size_curve(operation).iter().take_while(|p| p.value <= end);
    let steady = curve.filter(|p| !p.measurement.was_filling());
    let begin = begin_of(evaluation, operation, found);
    let over = steady.clone().filter(|p| p.value >= begin && p.value <= found.low).last()?;
    let beyond = steady.filter(|p| p.value >= found.high && p.value > over.value);
    let mut beyond: Vec<&Point> = beyond.collect();
    let last = beyond.len().checked_sub(1)?;
    let beside = beyond.partition_point(|p| p.value < WELL_BEYOND * found.high);
    Some((over, beyond.split_off(beside.min(last))))
}

/// Returns the sets, in bytes, beyond and before the first border of these requests that must be
/// measured again before it can be reported. Empty if a witness shows the border already, or if
/// there are no two sets to compare.
pub(crate) fn unsure(evaluation: &Evaluation, operation: BorderOperation) -> Vec<f64> {
    let Some(found) = first_border(evaluation, operation) else { return Vec::new() };
    if is_shown(evaluation, operation, found) {
        return Vec::new();
    }
    let sets = compared(evaluation, operation, found);
    sets.map_or(Vec::new(), |(over, beyond)| vec![beyond[0].value, over.value])
}

/// Records for each border how much slower sets beyond it are.
pub(super) fn measure(evaluation: &mut Evaluation) {
    let slower = |border: &Border| {
        let (times, unique_bytes) = drop_at(evaluation, border.operation, place(border))?;
        Some(Slower { times, unique_bytes })
    };
    let all: Vec<Option<Slower>> = evaluation.borders.iter().map(slower).collect();
    evaluation.borders.iter_mut().zip(all).for_each(|(border, slower)| border.slower = slower);
}

/// Whether a witness of its own shows the border of these requests: throughput that is surely lower
/// beyond it or, for reads, residency.
///
/// Residency does not show that writes wait where reads do. Borders whose probability was not
/// computed need no witness.
pub(super) fn is_shown(
    evaluation: &Evaluation,
    operation: BorderOperation,
    found: Bounded,
) -> bool {
    if evaluation.level_counts.is_empty() {
        return true;
    }
    let held = residency::held_in_all(evaluation);
    let agrees = |held: Bounded| held.low <= found.high && found.low <= held.high;
    let is_resident = operation == BorderOperation::Read
        && evaluation.has_file_cache(operation)
        && held.is_some_and(agrees);
    is_resident || is_sure(drop_at(evaluation, operation, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use ioscape_schema::Parameter;

    /// Writes that slow down gradually up to sets of 100 MiB, where a level ends; `speeds` holds
    /// sets in MiB and their speeds.
    fn evaluation(speeds: &[(f64, f64)]) -> Evaluation {
        const MIB: f64 = 1048576.0;
        let point = |&(mib, speed): &(f64, f64)| {
            testing::point((Parameter::UniqueBytes, mib * MIB), speed, 3)
        };
        let border = |place: [f64; 3]| {
            testing::border(BorderOperation::Write, place.map(|mib| mib * MIB), 2.0)
        };
        Evaluation {
            unique_bytes_write_curve: speeds.iter().map(point).collect(),
            borders: [[15.0, 20.0, 60.0], [99.0, 102.0, 107.0]].map(border).to_vec(),
            ..Evaluation::default()
        }
    }

    /// Guards against "cannot be told" where the largest set was surely slower.
    #[test]
    fn a_larger_set_tells_where_the_first_well_beyond_does_not() {
        let mut evaluation = evaluation(&[(60.0, 6e8), (200.0, 4e8), (400.0, 6e7)]);
        evaluation.borders.remove(0);
        evaluation.unique_bytes_write_curve[1].measurement.throughput_ci95 = [1e8, 7e8];
        let of = |evaluation: &Evaluation| {
            drop_at(evaluation, BorderOperation::Write, place(&evaluation.borders[0]))
                .map(|drop| (drop.1 / 1048576.0, is_sure(Some(drop))))
        };
        assert_eq!(of(&evaluation), Some((400.0, true)));
        evaluation.unique_bytes_write_curve.pop();
        assert_eq!(of(&evaluation), Some((200.0, false)));
    }

    #[test]
    fn sets_beyond_the_next_border_do_not_show_how_much_slower_those_before_it_are() {
        let drops = |speeds: &[(f64, f64)]| {
            let evaluation = evaluation(speeds);
            let borders = evaluation.borders.iter();
            let drop = |b: &Border| drop_at(&evaluation, BorderOperation::Write, place(b));
            borders.map(drop).map(|drop| drop.map(|(_, at)| at / 1048576.0)).collect::<Vec<_>>()
        };
        // A bound at a set is that set, which lies beyond.
        let ends = [(10.0, 9e8), (60.0, 6e8), (120.0, 2e7), (300.0, 1e7)];
        assert_eq!(drops(&ends), [Some(60.0), Some(300.0)]);
        let between = [(10.0, 9e8), (70.0, 3e8), (120.0, 2e7), (300.0, 1e7)];
        assert_eq!(drops(&between), [Some(70.0), Some(300.0)]);
        // The last set before the second border lies before the first one, too.
        let before_both = [(10.0, 9e8), (120.0, 2e7), (300.0, 1e7)];
        assert_eq!(drops(&before_both), [None, None]);
    }
}
