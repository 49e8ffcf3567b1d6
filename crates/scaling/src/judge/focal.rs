//! The half-way rule: the request size and number of processes of the focal vector.

use super::curve::Z95;

/// Least gain of a parameter for its curve to have a half-way point at all.
const GAIN_LEAST: f64 = 1.3;
/// Least gain of several processes over one for them to be in the focal vector.
///
/// In memory, two processors alone gain up to a factor of two: 1.3 to 1.5 in three evaluations of
/// one directory. A lower threshold would choose one or two processes by chance.
const PROCESSES_GAIN: f64 = 2.0;
/// A half-way size between these multiples of the usual request size makes the usual one focal.
///
/// The half-way size of memory today is 30 to 150 KiB, and evaluations of one machine found values
/// a factor of two apart. When the upper multiple was 4, three of five evaluations of a file system
/// chose 32 KiB and two chose 256 KiB.
const LIKE_USUAL: [f64; 2] = [0.5, 8.0];

/// Returns the least value that yields performance half-way between least and most (self-scaling
/// paper, section 8).
///
/// `points` are in order of the value. The value is interpolated on a logarithmic scale, throughput
/// on a linear one. `None` if throughput varies by less than 30 %: then no value is special.
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

/// Returns the smallest whole number of processes that reaches half-way; 1 (the first) unless
/// several surely double the throughput.
///
/// `noise` is the standard deviation of log throughput. A number chosen by noise would differ in
/// the next evaluation, and with it everything found at the focal vector.
pub(crate) fn half_way_processes(points: &[(f64, f64)], noise: f64) -> f64 {
    let first = points.first().map_or(1.0, |p| p.0);
    let alone = points.first().map_or(0.0, |p| p.1);
    let most = points.iter().map(|p| p.1).fold(0.0, f64::max);
    let by_chance = (Z95 * noise * std::f64::consts::SQRT_2).exp();
    if most < alone * PROCESSES_GAIN * by_chance {
        return first;
    }
    // Subtract a little, so that a number that reaches half-way exactly is not rounded up.
    half_way(points).map_or(first, |p| (p - 1e-6).ceil()).max(first)
}

/// Returns the focal request size for a half-way size: `usual` between half and eight times that
/// size, otherwise the nearest power of four.
///
/// On a finer scale, two evaluations would choose differently, and everything found at the focal
/// vector would differ.
pub(crate) fn focal_size(half_way: f64, usual: f64) -> f64 {
    let [low, high] = LIKE_USUAL.map(|times| times * usual);
    let is_near = low < half_way && half_way < high;
    if is_near { usual } else { 4f64.powf(half_way.max(1.0).log(4.0).round()) }
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
        assert_eq!(half_way_processes(&[(1.0, 100.0), (2.0, 110.0), (4.0, 20.0)], 0.0), 1.0);
    }

    #[test]
    fn processes_are_whole() {
        let arms = [(1.0, 100.0), (2.0, 200.0), (4.0, 400.0), (8.0, 400.0)];
        assert_eq!(half_way_processes(&arms, 0.1), 3.0);
        assert_eq!(half_way_processes(&[(1.0, 100.0), (2.0, 250.0), (4.0, 400.0)], 0.1), 2.0);
        assert_eq!(half_way_processes(&[(1.0, 100.0), (2.0, 180.0), (4.0, 190.0)], 0.0), 1.0);
    }

    /// Curves of one machine, in GB/s. Once, evaluations chose 1, 2 or 3 processes by chance.
    #[test]
    fn a_gain_that_may_be_noise_chooses_no_more_processes() {
        for curve in [
            [(1.0, 4.95), (3.0, 5.47), (8.0, 5.07), (16.0, 5.67)],
            [(1.0, 3.93), (3.0, 5.84), (8.0, 4.94), (16.0, 5.82)],
            [(1.0, 5.14), (3.0, 6.79), (8.0, 7.29), (16.0, 6.51)],
            [(1.0, 5.31), (2.0, 7.00), (4.0, 7.14), (16.0, 7.1)],
            [(1.0, 3.38), (2.0, 4.95), (4.0, 4.94), (16.0, 4.46)],
        ] {
            assert_eq!(half_way_processes(&curve, 0.03), 1.0);
        }
    }

    #[test]
    fn request_sizes_near_the_usual_one_are_the_usual_one() {
        let kib = |size: f64| focal_size(size * 1024.0, 32768.0) / 1024.0;
        assert_eq!([17.0, 24.0, 32.0, 80.0, 200.0].map(kib), [32.0; 5]);
        assert_eq!([3.0, 13.0, 270.0, 400.0, 4000.0].map(kib), [4.0, 16.0, 256.0, 256.0, 4096.0]);
    }
}
