//! Regions from borders: which borders count as one, and where the focal point of each region lies.

use super::borders::{SAME_BORDER, SetBorder};
use ioscape_schema::BorderOperation;
use ioscape_schema::statistics::sort_by_number;

/// Least ratio of a region's ends: a narrower one has no room for a stable focal point.
const WIDTH_LEAST: f64 = 1.3;
/// The same for a region between two borders, each with its own error.
const WIDTH_BETWEEN: f64 = 1.5;
/// Least change at a border of the mixed curve for it to take precedence over those of pure reads and writes.
const MIXED_LEAST: f64 = 3.0;
/// The first region counts from this share of its end on: much smaller sets say nothing about its cache.
const FIRST_FROM: f64 = 1.0 / 64.0;

/// Returns the distinct borders of all curves: those within 25 % of each other are one.
///
/// The mixed curve's border takes precedence unless it is a small step, since the regions' focal
/// vectors lie on that curve; otherwise, the border with the largest change does.
fn distinct(borders: &[SetBorder]) -> Vec<SetBorder> {
    let mut sorted = borders.to_vec();
    sort_by_number(&mut sorted, |one| one.border.unique_bytes);
    let mut clusters: Vec<Vec<SetBorder>> = Vec::new();
    for border in sorted {
        match clusters.last_mut() {
            Some(cluster)
                if border.border.unique_bytes < cluster[0].border.unique_bytes * SAME_BORDER =>
            {
                cluster.push(border);
            }
            _ => clusters.push(vec![border]),
        }
    }
    let is_mixed = |b: &SetBorder| b.border.operation == BorderOperation::Mixed;
    let rank = |b: &SetBorder| (is_mixed(b) && ratio_of(b) >= MIXED_LEAST, ratio_of(b));
    let best = |cluster: Vec<SetBorder>| {
        cluster.into_iter().max_by(|a, b| {
            let ((a_mixed, a_ratio), (b_mixed, b_ratio)) = (rank(a), rank(b));
            a_mixed.cmp(&b_mixed).then(a_ratio.total_cmp(&b_ratio))
        })
    };
    clusters.into_iter().filter_map(best).collect()
}

fn ratio_of(border: &SetBorder) -> f64 {
    border.border.ratio.max(1.0)
}

/// Intervals of `unique_bytes` between distinct borders, from `low` to `high`.
///
/// Where a region would be too narrow, the border with the smaller change gives way.
pub(crate) fn regions(borders: &[SetBorder], low: f64, high: f64) -> Vec<[f64; 2]> {
    let mut edges: Vec<(f64, f64)> =
        distinct(borders).iter().map(|b| (b.border.unique_bytes, ratio_of(b))).collect();
    edges.retain(|&(at, _)| at >= low * WIDTH_LEAST && at * WIDTH_LEAST <= high);
    while let Some(narrow) = edges.windows(2).position(|w| w[1].0 < w[0].0 * WIDTH_BETWEEN) {
        let weaker = usize::from(edges[narrow].1 >= edges[narrow + 1].1);
        edges.remove(narrow + weaker);
    }
    let mut ends: Vec<f64> = edges.into_iter().map(|(at, _)| at).collect();
    ends.push(high);
    let mut from = low;
    let mut regions = Vec::new();
    for to in ends {
        regions.push([from, to]);
        from = to;
    }
    regions
}

/// The focal `unique_bytes` of a region, in bytes: its middle, on the logarithmic axis the curve is seen on.
///
/// The last region of several has no natural end; its focal point is two to four times its border, far enough
/// that most requests leave the faster level.
pub(crate) fn focal_unique_bytes(regions: &[[f64; 2]], index: usize) -> f64 {
    let [low, high] = regions[index];
    let is_last = index + 1 == regions.len();
    if is_last && index > 0 {
        (low * high).sqrt().clamp(2.0 * low, 4.0 * low).min(high)
    } else if index == 0 {
        (low.max(high * FIRST_FROM) * high).sqrt()
    } else {
        (low * high).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn border(operation: BorderOperation, at: f64, ratio: f64) -> SetBorder {
        let (low, high) = (at * 0.98, at * 1.02);
        let border = testing::border(operation, [low, at, high], ratio);
        SetBorder { border, gap: [low, high] }
    }

    #[test]
    fn a_write_and_a_read_cache_make_three_regions() {
        let borders = [
            border(BorderOperation::Mixed, 25.0, 100.0),
            border(BorderOperation::Read, 128.0, 90.0),
            border(BorderOperation::Write, 24.0, 80.0),
        ];
        let regions = regions(&borders, 1.0, 512.0);
        assert_eq!(regions, [[1.0, 25.0], [25.0, 128.0], [128.0, 512.0]]);
        let focal: Vec<f64> = (0..3).map(|i| focal_unique_bytes(&regions, i)).collect();
        assert!((focal[1] - 56.6).abs() < 0.1);
        assert_eq!(focal[2], 256.0);
    }

    #[test]
    fn the_weaker_border_of_a_narrow_region_gives_way() {
        let borders =
            [border(BorderOperation::Write, 40.0, 2.0), border(BorderOperation::Read, 51.0, 100.0)];
        assert_eq!(regions(&borders, 1.0, 512.0), [[1.0, 51.0], [51.0, 512.0]]);
    }

    #[test]
    fn without_borders_there_is_one_region() {
        let regions = regions(&[], 1.0, 1024.0);
        assert_eq!(regions, [[1.0, 1024.0]]);
        assert_eq!(focal_unique_bytes(&regions, 0), 128.0);
    }

    #[test]
    fn a_border_at_the_very_end_makes_no_region() {
        assert_eq!(regions(&[border(BorderOperation::Read, 500.0, 9.0)], 1.0, 512.0).len(), 1);
    }
}
