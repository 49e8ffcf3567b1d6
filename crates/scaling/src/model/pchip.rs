//! Shape-preserving interpolation: a curve that is monotone wherever its points are.

use ioscape_schema::statistics::sort_by_number;

/// A piecewise cubic Hermite curve with the slopes of Fritsch and Butland ("A method for constructing local monotone
/// piecewise cubic interpolants", SIAM J. Sci. Stat. Comput. 5, 1984), which is constant beyond its ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pchip {
    knots: Vec<[f64; 3]>,
}

impl Pchip {
    /// The curve through `points` (abscissa, ordinate) in any order. Points that are not finite are
    /// left out, and points with the same abscissa are replaced by their mean.
    pub(super) fn through(points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let mut points: Vec<(f64, f64)> =
            points.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        sort_by_number(&mut points, |one| one.0);
        let merged: Vec<[f64; 2]> = points
            .chunk_by(|a, b| b.0 - a.0 <= 1e-12 * a.0.abs().max(1.0))
            .map(|same| [same[0].0, same.iter().map(|p| p.1).sum::<f64>() / same.len() as f64])
            .collect();
        let slopes = slopes(&merged);
        Self { knots: merged.iter().zip(slopes).map(|(&[x, y], slope)| [x, y, slope]).collect() }
    }

    /// The ordinate at `x`; `None` for a curve without points.
    pub(super) fn at(&self, x: f64) -> Option<f64> {
        let (first, last) = (self.knots.first()?, self.knots.last()?);
        if x.is_nan() || x <= first[0] {
            return Some(first[1]);
        }
        if x >= last[0] {
            return Some(last[1]);
        }
        let right = self.knots.partition_point(|knot| knot[0] <= x).min(self.knots.len() - 1);
        let ([x0, y0, d0], [x1, y1, d1]) = (self.knots[right - 1], self.knots[right]);
        let width = x1 - x0;
        let t = (x - x0) / width;
        let (t2, t3) = (t * t, t * t * t);
        let ends = y0 * (2.0 * t3 - 3.0 * t2 + 1.0) + y1 * (3.0 * t2 - 2.0 * t3);
        Some(ends + width * (d0 * (t3 - 2.0 * t2 + t) + d1 * (t3 - t2)))
    }
}

fn slopes(points: &[[f64; 2]]) -> Vec<f64> {
    let widths: Vec<f64> = points.windows(2).map(|w| w[1][0] - w[0][0]).collect();
    let secants: Vec<f64> =
        points.windows(2).zip(&widths).map(|(w, h)| (w[1][1] - w[0][1]) / h).collect();
    let last = points.len().saturating_sub(1);
    (0..points.len())
        .map(|i| match i {
            _ if secants.len() < 2 => secants.first().copied().unwrap_or(0.0),
            0 => end_slope(widths[0], widths[1], secants[0], secants[1]),
            i if i == last => {
                end_slope(widths[i - 1], widths[i - 2], secants[i - 1], secants[i - 2])
            }
            i => inner_slope(&widths[i - 1..=i], &secants[i - 1..=i]),
        })
        .collect()
}

/// Weighted harmonic mean of the neighbouring secants; 0 where they differ in sign.
fn inner_slope(widths: &[f64], secants: &[f64]) -> f64 {
    if secants[0] * secants[1] <= 0.0 {
        return 0.0;
    }
    let (before, after) = (2.0 * widths[1] + widths[0], widths[1] + 2.0 * widths[0]);
    (before + after) / (before / secants[0] + after / secants[1])
}

/// Three-point formula at an end, limited so that the curve stays monotone.
fn end_slope(width: f64, next_width: f64, secant: f64, next_secant: f64) -> f64 {
    let slope = ((2.0 * width + next_width) * secant - width * next_secant) / (width + next_width);
    if slope * secant <= 0.0 {
        0.0
    } else if secant * next_secant <= 0.0 && slope.abs() > 3.0 * secant.abs() {
        3.0 * secant
    } else {
        slope
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_straight_line_stays_one() {
        let line = Pchip::through([(3.0, 7.0), (0.0, 1.0), (1.0, 3.0)]);
        for x in [0.0, 0.3, 1.0, 2.2, 3.0] {
            assert!((line.at(x).unwrap() - (1.0 + 2.0 * x)).abs() < 1e-12);
        }
        assert_eq!((line.at(-5.0), line.at(9.0)), (Some(1.0), Some(7.0)));
    }

    #[test]
    fn odd_input_is_no_trouble() {
        assert_eq!(Pchip::through([]).at(1.0), None);
        let odd = Pchip::through([(f64::NAN, 1.0), (2.0, 4.0), (2.0, 6.0), (3.0, f64::INFINITY)]);
        assert_eq!(odd.at(f64::NAN), Some(5.0));
    }

    proptest! {
        #[test]
        fn it_passes_its_points_and_never_leaves_their_range(
            ys in prop::collection::vec(-100.0f64..100.0, 2..12), share in 0.0f64..1.0
        ) {
            let curve = Pchip::through(ys.iter().enumerate().map(|(x, y)| (x as f64, *y)));
            for (i, pair) in ys.windows(2).enumerate() {
                prop_assert!((curve.at(i as f64).unwrap() - pair[0]).abs() < 1e-9);
                let between = curve.at(i as f64 + share).unwrap();
                prop_assert!(between >= pair[0].min(pair[1]) - 1e-9);
                prop_assert!(between <= pair[0].max(pair[1]) + 1e-9);
            }
        }
    }
}
