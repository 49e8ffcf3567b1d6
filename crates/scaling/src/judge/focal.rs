//! The half-way rule: the request size and number of processes of the focal vector.

/// Least gain of a parameter for its curve to have a half-way point at all.
const GAIN_LEAST: f64 = 1.3;

/// The least value that yields performance half-way between least and most (self-scaling paper, section 8).
///
/// `points` are in order of the value, which is interpolated on a logarithmic scale, throughput on a linear one.
/// `None` when throughput varies by less than 30 %: then no value is special.
pub(crate) fn half_way(points: &[(f64, f64)]) -> Option<f64> {
    let least = points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    let most = points.iter().map(|p| p.1).fold(0.0, f64::max);
    if most < least * GAIN_LEAST {
        return None;
    }
    let level = (least + most) / 2.0;
    let reached = points.iter().position(|p| p.1 >= level)?;
    let Some(before) = reached.checked_sub(1) else { return Some(points[0].0) };
    let (a, b) = (points[before], points[reached]);
    let part = (level - a.1) / (b.1 - a.1);
    Some(a.0 * (b.0 / a.0).powf(part))
}

/// The smallest whole number of processes that reaches half-way; 1 (the first) when more gain less than 30 %.
pub(crate) fn half_way_processes(points: &[(f64, f64)]) -> f64 {
    let first = points.first().map_or(1.0, |p| p.0);
    let alone = points.first().map_or(0.0, |p| p.1);
    let most = points.iter().map(|p| p.1).fold(0.0, f64::max);
    if most < alone * GAIN_LEAST {
        return first;
    }
    // Slightly less, so that a number that reaches half-way exactly is not rounded up.
    half_way(points).map_or(first, |p| (p - 1e-6).ceil()).max(first)
}

/// Geometric mean; `None` of nothing.
pub(crate) fn geometric_mean(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().map(|v| v.ln()).sum();
    (!values.is_empty()).then(|| (sum / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_way_of_a_straight_line_is_its_middle() {
        // Throughput rises linearly with log size from 10 to 50: half-way, 30, is the geometric middle.
        let points: Vec<(f64, f64)> =
            (0..5).map(|i| (4096.0 * 4f64.powi(i), 10.0 + 10.0 * f64::from(i))).collect();
        assert!((half_way(&points).unwrap() - 65536.0).abs() < 1e-6);
        let ends = [points[0], points[4]];
        assert!((half_way(&ends).unwrap() - 65536.0).abs() < 1e-6);
    }

    #[test]
    fn half_way_of_an_affine_request_time() {
        // T = size / (t + size / B): half of B is reached at size = t B.
        let (t, bandwidth) = (1e-3, 64e6);
        let sizes = (0..60).map(|i| 1024.0 * 1.2f64.powi(i));
        let points: Vec<(f64, f64)> = sizes.map(|s| (s, s / (t + s / bandwidth))).collect();
        let expected = {
            let (least, most) = (points[0].1, points[59].1);
            let level = (least + most) / 2.0;
            t * level / (1.0 - level / bandwidth)
        };
        assert!((half_way(&points).unwrap() / expected - 1.0).abs() < 0.005);
    }

    #[test]
    fn a_flat_curve_has_no_half_way_point() {
        assert_eq!(half_way(&[(1.0, 100.0), (2.0, 110.0), (4.0, 95.0)]), None);
        assert_eq!(half_way_processes(&[(1.0, 100.0), (2.0, 110.0), (4.0, 20.0)]), 1.0);
    }

    #[test]
    fn processes_are_whole() {
        let arms = [(1.0, 100.0), (2.0, 200.0), (4.0, 400.0), (8.0, 400.0)];
        assert_eq!(half_way_processes(&arms), 3.0);
        assert_eq!(half_way_processes(&[(1.0, 100.0), (2.0, 250.0), (4.0, 400.0)]), 2.0);
    }

    #[test]
    fn geometric_means() {
        assert_eq!(geometric_mean(&[]), None);
        assert!((geometric_mean(&[2.0, 8.0]).unwrap() - 4.0).abs() < 1e-12);
    }
}
