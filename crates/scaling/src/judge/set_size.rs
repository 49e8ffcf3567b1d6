//! One kind of requests over the sizes of the set: their curve and their borders of storage.

use ioscape_schema::{Border, BorderOperation, Bounded, Evaluation, Point};

/// The kind of requests in words.
pub(super) fn word(operation: BorderOperation) -> &'static str {
    match operation {
        BorderOperation::Read => "reads",
        BorderOperation::Write => "writes",
        BorderOperation::Mixed => "half reads, half writes",
    }
}

/// Their curve over the sizes of the set.
pub(super) fn set_size_curve(evaluation: &Evaluation, operation: BorderOperation) -> &[Point] {
    evaluation.set_size_curve(operation)
}

/// Their borders of storage, in order.
pub(super) fn of_storage(
    evaluation: &Evaluation,
    operation: BorderOperation,
) -> impl Iterator<Item = &Border> {
    evaluation.of_storage(operation)
}

/// The interval of a border.
pub(super) fn place(border: &Border) -> Bounded {
    Bounded { value: border.unique_bytes, low: border.low, high: border.high }
}

/// First border of storage for one kind of requests in the most probable hypothesis.
///
/// Where writes have no points of their own near it, its place is that of reads, and dirty limits end their cache earlier: then
/// its bounds are the sets of writes on both sides.
pub(super) fn first_border(evaluation: &Evaluation, operation: BorderOperation) -> Option<Bounded> {
    let found = of_storage(evaluation, operation).next().map(place)?;
    let curve = set_size_curve(evaluation, operation);
    let before = curve.iter().rev().find(|point| point.value <= found.low).map(|p| p.value);
    let behind = curve.iter().find(|point| point.value >= found.high).map(|p| p.value);
    let [Some(before), Some(behind)] = [before, behind] else { return Some(found) };
    let is_bracketed = operation != BorderOperation::Write || behind <= BRACKET * before;
    Some(if is_bracketed { found } else { Bounded { low: before, high: behind, ..found } })
}

/// Writes have points of their own near a border if those on both sides of it are no further apart than this factor.
const BRACKET: f64 = 4.0;
