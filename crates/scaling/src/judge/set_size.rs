//! One kind of request over the set sizes: its name, and where its first level of storage ends.

use super::dirty;
use ioscape_schema::{Border, BorderOperation, Bounded, Evaluation};

/// The kind of requests in words.
pub(super) fn word(operation: BorderOperation) -> &'static str {
    match operation {
        BorderOperation::Read => "reads",
        BorderOperation::Write => "writes",
        BorderOperation::Mixed => "half reads, half writes",
    }
}

/// The interval of a border.
pub(super) fn place(border: &Border) -> Bounded {
    Bounded { value: border.unique_bytes, low: border.low, high: border.high }
}

/// First border of storage for one kind of requests in the most probable hypothesis.
///
/// If writes have no points of their own near it and dirty bytes do not show it, its place comes
/// from reads, although dirty limits end the cache of writes earlier. Then its bounds are the sets
/// of writes on both sides.
pub(super) fn first_border(evaluation: &Evaluation, operation: BorderOperation) -> Option<Bounded> {
    let found = evaluation.of_storage(operation).next().map(place)?;
    let curve = evaluation.set_size_curve(operation);
    let before = curve.iter().rev().find(|point| point.value <= found.low).map(|p| p.value);
    let behind = curve.iter().find(|point| point.value >= found.high).map(|p| p.value);
    let [Some(before), Some(behind)] = [before, behind] else { return Some(found) };
    let is_placed = operation != BorderOperation::Write
        || behind <= BRACKET * before
        || dirty::show(evaluation, found);
    Some(if is_placed { found } else { Bounded { low: before, high: behind, ..found } })
}

/// Writes have points of their own near a border if those on both sides of it are no further apart than this factor.
const BRACKET: f64 = 4.0;
