//! From which value on a curve has a share of its best throughput.

use super::curve::{Repeatability, best};
use ioscape_schema::{Bounded, Point};

/// The last value whose throughput is surely below `share` of the best, by the uncertainty of both;
/// `None` without one.
pub(super) fn surely_below(noise: Repeatability, curve: &[Point], share: f64) -> Option<f64> {
    let best = best(curve)?;
    let is_below = |p: &&Point| noise.ratio(p, best).is_some_and(|r| r.high < share);
    curve.iter().rev().find(is_below).map(|p| p.value)
}

/// Returns how many times slower the last point is than the best, if it surely has less than `share`
/// of the best throughput.
pub(super) fn falls_by(noise: Repeatability, curve: &[Point], share: f64) -> Option<Bounded> {
    let (best, last) = best(curve).zip(curve.last())?;
    noise.ratio(best, last).filter(|by| by.low * share > 1.0)
}

/// Returns the least value from which on a curve has `share` of its best throughput; `None` of a
/// curve of a single point.
///
/// The value is interpolated. Its bounds are measured values, because the curve between two of them
/// is unknown: the last one that is surely below that level, or else the first one; and the first
/// one from which on all surely reach it, or else the last one.
pub(super) fn reached(noise: Repeatability, curve: &[Point], share: f64) -> Option<Bounded> {
    let (best, last) = best(curve).zip(curve.last()).filter(|_| curve.len() > 1)?;
    // The best of several is likely to be a lucky one; it is compared like any other.
    let is_at = |p: &&Point| noise.ratio(p, best).is_some_and(|r| r.low >= share);
    let low = surely_below(noise, curve, share).unwrap_or(curve[0].value);
    let begin = curve.iter().position(|p| p.value >= low).unwrap_or(0);
    // Where the last is surely below, none is reached.
    let value = first_at(&curve[begin..], share * best.throughput()).unwrap_or(low);
    let from = curve.iter().rev().take_while(is_at).last();
    let high = from.map_or(last.value, |p| p.value).max(low);
    Some(Bounded { value: value.clamp(low, high), low, high })
}

/// Least value at which a curve reaches `level`, interpolated on a logarithmic scale.
fn first_at(curve: &[Point], level: f64) -> Option<f64> {
    let reached = curve.iter().position(|p| p.throughput() >= level)?;
    let high = curve[reached].value;
    let Some(before) = reached.checked_sub(1).map(|i| &curve[i]) else { return Some(high) };
    let part = (level - before.throughput()) / (curve[reached].throughput() - before.throughput());
    Some(before.value * (high / before.value).powf(part.clamp(0.0, 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::point;
    use ioscape_schema::{Evaluation, Parameter};
    use proptest::prelude::*;

    proptest! {
        /// Guards against bounds from the line between two sizes, which excluded the true one by a
        /// factor of 1.7 where only 4, 32 and 1024 KiB were measured.
        #[test]
        fn the_bounds_hold_for_any_rising_curve_whichever_points_are_measured(
            half in 2f64..200.0,
            power in 0.5f64..8.0,
            mut sizes in prop::collection::btree_set(2u32..1023, 1..6),
        ) {
            sizes.extend([1, 1024]);
            let speed = |size: f64| 1e9 / (1.0 + (half / size).powf(power));
            let at = |&size: &u32| {
                point((Parameter::SizeMean, f64::from(size)), speed(size.into()), 3)
            };
            let curve: Vec<Point> = sizes.iter().map(at).collect();
            let found = reached(Repeatability::of(&Evaluation::default()), &curve, 0.75).unwrap();
            let truth = (1..=1024).find(|&s| speed(s.into()) >= 0.75 * speed(1024.0)).unwrap();
            prop_assert!(found.low <= f64::from(truth) && f64::from(truth) <= found.high, "{found:?}");
            prop_assert!((found.low..=found.high).contains(&found.value));
        }
    }
}
