//! How well the model describes requests: the same measure for calls, traces and simulations.

use super::distance::Histogram;
use ioscape_schema::{ModelFit, RequestCounts, Workload};

/// Returns how far the counts are from those of `workload`, the model with their five parameters.
///
/// The model draws every size, kind and place independently (self-scaling paper, section 5). So
/// even the model's own requests differ from its distributions by chance, the more the fewer there
/// are. Each distance is therefore what exceeds the difference that chance explains 19 times out of
/// 20: the critical value of Kolmogorov and Smirnov, 1.36 / root of n, for sizes and run lengths,
/// and 1.96 standard errors for the share of neighbours of different kinds. Otherwise a short trace
/// of the model would look worse than a long one. Sizes are compared with the exact sizes that the
/// generator draws, not with a continuous approximation.
pub fn fit(counts: &RequestCounts, workload: &Workload) -> ModelFit {
    let requests = counts.requests.max(1) as f64;
    let (size_distribution, size_distance) = Histogram::of(&counts.sizes).nearest(workload);
    ModelFit {
        size_distribution,
        size_distance,
        // Relative to all requests: the first one of a process follows nothing and begins a run, as
        // in the model.
        run_distance: Histogram::of(&counts.runs).run_distance(counts.followers as f64 / requests),
        mix_distance: mix_distance(counts, counts.reads as f64 / requests),
    }
}

fn mix_distance(counts: &RequestCounts, read_frac: f64) -> f64 {
    if counts.pairs == 0 {
        return 0.0;
    }
    let pairs = counts.pairs as f64;
    let apart = counts.changes as f64 / pairs - 2.0 * read_frac * (1.0 - read_frac);
    (apart.abs() - 1.96 * 0.5 / pairs.sqrt()).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests of 8 KiB: every second one is a read, and half follow the previous one.
    fn counts(requests: u64, changes: u64) -> RequestCounts {
        RequestCounts {
            requests,
            reads: requests / 2,
            followers: requests / 2,
            pairs: requests - 1,
            changes,
            sizes: vec![(8192, requests)],
            runs: (0..8).map(|n| (n + 1, requests >> (n + 2))).collect(),
        }
    }

    #[test]
    fn few_and_many_requests_of_the_model_are_equally_near_to_it() {
        let workload = Workload { size_mean: 8192, ..Workload::default() };
        for requests in [64, 4096, 1 << 20] {
            // As far from the expected half as chance allows.
            let changes = requests / 2 + (requests as f64).sqrt() as u64 / 2;
            let found = fit(&counts(requests, changes), &workload);
            assert!(found.goodness() > 0.99, "{requests}: {found:?}");
        }
        let turns = fit(&counts(4096, 4095), &workload);
        assert!(turns.mix_distance > 0.45 && turns.goodness() < 0.55, "{turns:?}");
    }
}
