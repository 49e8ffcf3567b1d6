//! Which of the model's size distributions is nearest to the sizes of a trace.

use crate::analyze::log_histogram::LogHistogram;
use ioscape_schema::{SizeDistribution, Workload};

/// Mean of a normal distribution with mean and standard deviation 1 that is redrawn until positive: 1 + phi(1) / Phi(1).
const REDRAWN_MEAN: f64 = 1.287_599_970_9;

/// The standard normal distribution function.
fn normal(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// Share of sizes up to `size` under a distribution of that mean; sizes are rounded to multiples of `align`.
fn share(distribution: SizeDistribution, mean: f64, align: f64, size: f64) -> f64 {
    let until = size + align / 2.0;
    match distribution {
        SizeDistribution::Fixed => f64::from(u8::from(size >= mean)),
        SizeDistribution::Bernoulli => match size {
            s if s < align => 0.0,
            s if s < 2.0 * mean - align => 0.5,
            _ => 1.0,
        },
        SizeDistribution::Exponential => 1.0 - (-until / mean).exp(),
        SizeDistribution::Normal => {
            let middle = mean / REDRAWN_MEAN;
            ((normal(until / middle - 1.0) - normal(-1.0)) / normal(1.0)).clamp(0.0, 1.0)
        }
    }
}

/// The nearest distribution by the largest difference of the cumulative distributions, and that difference.
pub fn nearest(sizes: &LogHistogram, mean: u64) -> (SizeDistribution, f64) {
    let align = Workload { size_mean: mean, ..Workload::default() }.align() as f64;
    let mean = mean as f64;
    let distance = |distribution| {
        let mut below = 0u64;
        let mut worst = 0.0f64;
        let mut before = 0.0;
        for (to, count) in sizes.bins() {
            below += count;
            let seen = below as f64 / sizes.count() as f64;
            // A bin ends above the sizes in it, by at most 1/32 of them.
            let to = (to as f64).min(sizes.most() as f64);
            let model = share(distribution, mean, align, to);
            worst = worst.max((seen - model).abs());
            // Just below the bin nothing of it is seen yet, but the model may already be there.
            let model = share(distribution, mean, align, to - align);
            worst = worst.max(model - before);
            before = seen;
        }
        worst
    };
    [
        SizeDistribution::Normal,
        SizeDistribution::Exponential,
        SizeDistribution::Bernoulli,
        SizeDistribution::Fixed,
    ]
    .into_iter()
    .map(|distribution| (distribution, distance(distribution)))
    .min_by(|a, b| a.1.total_cmp(&b.1))
    .unwrap_or_default()
}
