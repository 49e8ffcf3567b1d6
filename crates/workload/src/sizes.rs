//! Request sizes: the probability of every size, with exactly the requested mean.
//!
//! Sizes are whole granules (`Workload::align`), at least one and at most the limit of
//! [`largest_request`]. The named distribution is rounded to the nearest granule and truncated at
//! both ends. Its scale is then solved for, so that the truncated distribution has the requested
//! mean to about 1 part in 10^12. The coefficient of variation (CV), which the papers want to be 1,
//! is not preserved. It becomes:
//!
//! | mean, in granules | normal | exponential | bernoulli | fixed |
//! |---|---|---|---|---|
//! | 1 | 0 | 0 | 0 | 0 |
//! | 2 | 0.54 | 0.81 | 1.00 | 0 |
//! | 4 | 0.60 | 0.94 | 0.97 | 0 |
//! | 8 (the papers' 32 KB) | 0.61 | 0.98 | 0.99 | 0 |
//! | 256 | 0.62 | 0.99 | 1.00 | 0 |
//!
//! A normal distribution with a CV of 1 cannot keep it if values are redrawn until positive: N(s,
//! s) then has mean 1.288 s and standard deviation 0.794 s. The CV also falls when the limit is
//! less than 8 means away: when the mean exceeds an eighth of the set, or 8 MiB (at the largest
//! mean, 64 MiB, it is 0.54 and 0.58). A fixed size that is no multiple of the granule becomes a
//! mix of its two neighbours, and so does each size of [`ByOperation`] and of a phase.

use ioscape_schema::{ByOperation, Phase, PhaseRequests, SizeDistribution, Workload};
use std::f64::consts::SQRT_2;

/// No request is larger than this many mean sizes.
const REACH: u64 = 8;

/// No request is larger than this many bytes, unless twice the mean is larger: this limits the
/// memory for buffers.
const SIZE_CAP_BYTES: u64 = 64 << 20;

/// A request's length has 32 bits.
const LARGEST: u64 = u32::MAX as u64;

/// The most sizes of a distribution; beyond this, neighbouring sizes differ by several granules.
///
/// Reached at a mean of 256 granules (1 MiB with granules of 4 KiB); steps are then below 1/128 of the mean.
const SIZES_MAX: u64 = 2048;

/// A workload's set and sizes, counted in granules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grid {
    /// Bytes in a granule, at least 1.
    pub(crate) align: u64,
    /// Granules in the set, at least 1.
    pub(crate) set: u64,
    /// Mean size, 1 to `limit`.
    pub(crate) mean: f64,
    /// Largest size, 1 to `set`; its bytes fit into 32 bits.
    pub(crate) limit: u64,
}

impl Grid {
    pub(crate) fn new(workload: &Workload) -> Self {
        let align = workload.align().clamp(1, 1 << 31);
        let set = (workload.unique_bytes / align).max(1);
        let cap = SIZE_CAP_BYTES.max(workload.size_mean.saturating_mul(2));
        let reach = workload.size_mean.saturating_mul(REACH).min(cap).min(u64::from(u32::MAX));
        let limit = (reach / align).clamp(1, set);
        let mean = (workload.size_mean as f64 / align as f64).clamp(1.0, limit as f64);
        Self { align, set, mean, limit }
    }

    /// Returns the granules of the largest possible request: at most the set.
    fn most(&self) -> u64 {
        self.set.min(LARGEST / self.align)
    }

    /// Returns the granules that hold `bytes`: at least one.
    fn granules(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.align).clamp(1, self.most())
    }
}

/// Converts sizes in bytes, with their shares, to granules. A size between two granules becomes a
/// mix of both with the same mean.
pub(crate) fn granular(sizes: &[(u64, f64)], grid: &Grid) -> Vec<(u32, f64)> {
    let parts = |&(bytes, share): &(u64, f64)| {
        let mean = (bytes as f64 / grid.align as f64).clamp(1.0, grid.most() as f64);
        let parts = two(mean.floor() as u64, mean.ceil() as u64, mean);
        parts.into_iter().map(move |(size, part)| (size, part * share))
    };
    sizes.iter().flat_map(parts).collect()
}

/// Returns the bytes of the set that requests cover: `unique_bytes` rounded down to the alignment,
/// at least one granule.
#[cfg(test)]
pub(crate) fn set_bytes(workload: &Workload) -> u64 {
    let grid = Grid::new(workload);
    grid.set * grid.align
}

/// Returns the upper bound of the workload's request sizes in bytes: the capacity that a buffer
/// needs.
///
/// It is eight times `size_mean`, but at most the set, and at most 64 MiB or twice `size_mean`,
/// whichever is more. Fixed and Bernoulli sizes have their own lower bound, and so have sizes by
/// operation.
pub fn largest_request(workload: &Workload) -> u64 {
    let grid = Grid::new(workload);
    let of_phases = workload.phases.iter().flat_map(Phase::kinds);
    if let Some(largest) = of_phases.map(PhaseRequests::largest_size).max() {
        return grid.granules(largest) * grid.align;
    }
    if let Some(largest) = workload.by_operation.as_ref().and_then(ByOperation::largest_size) {
        return grid.granules(largest) * grid.align;
    }
    let largest = match workload.size_distribution {
        SizeDistribution::Normal | SizeDistribution::Exponential => grid.limit,
        SizeDistribution::Bernoulli => bernoulli_larger(&grid),
        SizeDistribution::Fixed => (grid.mean.ceil() as u64).min(grid.limit),
    };
    largest * grid.align
}

/// Returns the coefficient of variation of the sizes that the workload's streams generate: standard
/// deviation over mean.
#[cfg(test)]
pub(crate) fn size_cv(workload: &Workload) -> f64 {
    let sizes = probabilities(workload.size_distribution, &Grid::new(workload));
    let mean: f64 = mean_of(&sizes);
    let variance: f64 = sizes
        .iter()
        .map(|&(size, p)| p * (f64::from(size) - mean) * (f64::from(size) - mean))
        .sum();
    variance.max(0.0).sqrt() / mean
}

fn mean_of(sizes: &[(u32, f64)]) -> f64 {
    sizes.iter().map(|&(size, p)| p * f64::from(size)).sum()
}

/// Returns every size in granules with its probability.
pub(crate) fn probabilities(distribution: SizeDistribution, grid: &Grid) -> Vec<(u32, f64)> {
    match distribution {
        SizeDistribution::Normal => spread(grid, normal_mass, 1.0),
        SizeDistribution::Exponential => spread(grid, exponential_mass, 1e6),
        SizeDistribution::Bernoulli => two(1, bernoulli_larger(grid), grid.mean),
        SizeDistribution::Fixed => {
            two(grid.mean.floor() as u64, (grid.mean.ceil() as u64).min(grid.limit), grid.mean)
        }
    }
}

/// Returns two sizes, mixed so that the mean is right.
fn two(smaller: u64, larger: u64, mean: f64) -> Vec<(u32, f64)> {
    if smaller >= larger {
        return vec![(larger as u32, 1.0)];
    }
    let share = ((mean - smaller as f64) / (larger - smaller) as f64).clamp(0.0, 1.0);
    vec![(smaller as u32, 1.0 - share), (larger as u32, share)]
}

/// Returns the larger of the two Bernoulli sizes, in granules, that gives a CV of 1 together with
/// the smaller size of one granule.
///
/// With sizes 1 and h and mean m the variance is (m - 1)(h - m), which equals m^2 at h = m + m^2 / (m - 1): about
/// twice the mean, with probabilities about equal, unless the mean is only a few granules.
fn bernoulli_larger(grid: &Grid) -> u64 {
    let mean = grid.mean;
    if mean <= 1.0 {
        return 1;
    }
    let larger = mean + mean * mean / (mean - 1.0);
    (larger.round().min(grid.limit as f64) as u64).max(mean.ceil() as u64).min(grid.limit)
}

/// Returns the probability, up to a constant factor, that a normal variable with mean and standard
/// deviation `scale` lies in `from..to`.
fn normal_mass(scale: f64, from: f64, to: f64) -> f64 {
    let tail = |x: f64| libm::erfc((x / scale - 1.0) / SQRT_2);
    tail(from) - tail(to)
}

/// Returns the probability that an exponential variable with mean `scale` lies in `from..to`,
/// without cancellation.
fn exponential_mass(scale: f64, from: f64, to: f64) -> f64 {
    libm::exp(-from / scale) * -libm::expm1((from - to) / scale)
}

/// Returns the sizes of a continuous distribution: rounded to the nearest size, truncated, and
/// scaled to the requested mean.
///
/// The sizes are 1..=n. The first cell starts at 0 and the last one ends at n + 1, so that the
/// cells are symmetric. At the largest scale, `scale_max` times the middle, the masses are
/// symmetric too. The mirror image of the distribution gives means above that of the symmetric one:
/// the distance from the largest size is drawn instead. For the exponential, this is the
/// exponential with a negative rate.
fn spread(grid: &Grid, mass: fn(f64, f64, f64) -> f64, scale_max: f64) -> Vec<(u32, f64)> {
    let step = grid.limit.div_ceil(SIZES_MAX);
    let count = grid.limit.div_ceil(step);
    let sizes: Vec<u32> = (1..=count).map(|index| (index * step).min(grid.limit) as u32).collect();
    let middle = (count + 1) as f64 / 2.0;
    let at = |scale: f64, mirrored: bool| -> Vec<(u32, f64)> {
        let mut masses = masses(count, |from, to| mass(scale, from, to));
        if mirrored {
            masses.reverse();
        }
        sizes.iter().copied().zip(masses).collect()
    };
    let mirrored = grid.mean > mean_of(&at(middle * scale_max, false));
    let too_large = |scale| (mean_of(&at(scale, mirrored)) > grid.mean) != mirrored;
    at(bisect(1e-3, middle * scale_max, too_large), mirrored)
}

/// Returns the normalised masses of the cells around 1..=count.
fn masses(count: u64, mass: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let mut masses: Vec<f64> = (1..=count)
        .map(|index| {
            let from = if index == 1 { 0.0 } else { index as f64 - 0.5 };
            let to = if index == count { index as f64 + 1.0 } else { index as f64 + 0.5 };
            mass(from, to)
        })
        .collect();
    let sum: f64 = masses.iter().sum();
    masses.iter_mut().for_each(|mass| *mass /= sum);
    masses
}

/// Finds the scale between `low` and `high` above which `too_large` holds, by geometric bisection.
fn bisect(mut low: f64, mut high: f64, too_large: impl Fn(f64) -> bool) -> f64 {
    while high / low > 1.0 + 1e-13 {
        let middle = (low * high).sqrt();
        if too_large(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use SizeDistribution::{Bernoulli, Exponential, Fixed, Normal};

    const ALL: [SizeDistribution; 4] = [Normal, Bernoulli, Exponential, Fixed];

    fn workload(set: u64, mean: u64, align: u64, distribution: SizeDistribution) -> Workload {
        Workload {
            unique_bytes: set,
            size_mean: mean,
            size_distribution: distribution,
            align_bytes: Some(align),
            ..Workload::default()
        }
    }

    /// Returns sets, means and alignments from one granule to the largest mean, including means
    /// near and between granules.
    fn shapes() -> Vec<(u64, u64, u64)> {
        let (k, m) = (1 << 10, 1 << 20);
        let mut shapes = vec![
            (4 * k, 4 * k, 4 * k),
            (64 * k, 64 * k, 4 * k),
            (64 * k, 60 * k, 4 * k),
            (m, 4 * k + 1, 4 * k),
            (m, 5000, 4 * k),
            (m, 1, 1),
            (1000, 2, 1),
            (64 * m + 4 * k, 64 * m + 4 * k, 4 * k),
            (100 * m, 64 * m, 1),
            (3 * m, m + 12345, 512),
        ];
        for power in 12..=26 {
            shapes.push((1 << 40, 1 << power, 4 * k));
            shapes.push((1 << 27, (1 << power) + 777, 512));
        }
        for tenth in 1..=10 {
            shapes.push((40 * k, 4 * k * tenth, 4 * k));
        }
        shapes
    }

    #[test]
    fn the_mean_is_exact_and_sizes_stay_in_range() {
        for (set, mean, align) in shapes() {
            for distribution in ALL {
                let workload = workload(set, mean, align, distribution);
                let sizes = probabilities(distribution, &Grid::new(&workload));
                let bytes = mean_of(&sizes) * align as f64;
                let place = format!("{distribution} {set} {mean} {align}");
                assert!((bytes / mean as f64 - 1.0).abs() < 1e-6, "{place}: mean {bytes}");
                let total: f64 = sizes.iter().map(|size| size.1).sum();
                assert!((total - 1.0).abs() < 1e-12, "{place}: total {total}");
                assert!(sizes.iter().all(|&(size, p)| size >= 1 && (0.0..=1.0).contains(&p)));
                let largest = u64::from(sizes.iter().map(|size| size.0).max().unwrap()) * align;
                assert_eq!(largest, largest_request(&workload), "{place}");
                assert!(largest <= set_bytes(&workload), "{place}");
            }
        }
    }

    #[test]
    fn the_coefficient_of_variation_is_as_documented() {
        let cv = |mean, distribution| size_cv(&workload(1 << 40, mean, 4096, distribution));
        for (granules, expected) in [
            (1, [0.0, 0.0, 0.0, 0.0]),
            (2, [0.536, 1.0, 0.811, 0.0]),
            (4, [0.597, 0.968, 0.945, 0.0]),
            (8, [0.611, 0.992, 0.980, 0.0]),
            (256, [0.616, 1.0, 0.992, 0.0]),
            (16384, [0.540, 1.0, 0.578, 0.0]),
        ] {
            for (distribution, expected) in ALL.into_iter().zip(expected) {
                let found = cv(granules * 4096, distribution);
                assert!((found - expected).abs() < 0.001, "{distribution} {granules}: {found}");
            }
        }
        assert!((cv(5 * 2048, Fixed) - 0.2).abs() < 1e-9);
    }

    #[test]
    fn the_largest_request_is_capped() {
        let largest =
            |mean, distribution| largest_request(&workload(1 << 40, mean, 4096, distribution));
        assert_eq!(largest(32 << 10, Normal), 256 << 10);
        assert_eq!(largest(16 << 20, Exponential), 64 << 20);
        assert_eq!(largest(64 << 20, Normal), 128 << 20);
        assert_eq!(largest(5000, Fixed), 8192);
        assert_eq!(largest(32 << 10, Bernoulli), 17 * 4096);
    }

    #[test]
    fn a_set_smaller_than_its_alignment_still_has_one_granule() {
        let workload = workload(100, 4096, 4096, Normal);
        assert_eq!((set_bytes(&workload), largest_request(&workload)), (4096, 4096));
    }
}
