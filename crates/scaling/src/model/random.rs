//! Random workloads over the whole space, on which predictions are validated.

use crate::bounds::Bounds;
use ioscape_schema::workload::SIZE_MEAN_MAX;
use ioscape_schema::{Evaluation, Parameter, Workload};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Every drawn request size is a multiple of this, in bytes, where the bounds leave room.
const SIZE_STEP: u64 = 4096;

/// `count` workloads like `base` except for the five parameters, drawn evenly from the whole space
/// (self-scaling paper, section 9). Sizes and processes are even in their logarithm, fractions as
/// they are. The same seed yields the same workloads, and a longer list begins with the shorter
/// one. `size_mean` is at most an eighth of `unique_bytes`, so that the set has several requests.
pub fn random_workloads(
    bounds: &Bounds,
    base: &Workload,
    count: usize,
    seed: u64,
) -> Vec<Workload> {
    let Bounds { unique_bytes: sets, size_mean: sizes, process_num: processes } = ordered(bounds);
    let mut generator = Pcg64Mcg::seed_from_u64(seed);
    let mut log_uniform = |low: f64, high: f64| {
        let share: f64 = generator.random();
        (low.max(1.0).ln() * (1.0 - share) + high.max(1.0).ln() * share).exp()
    };
    (0..count)
        .map(|_| {
            let [low, high] = sets;
            let unique_bytes = log_uniform(low as f64, high as f64).round().clamp(1.0, 1e18) as u64;
            let [low, high] = sizes;
            let high = high.min(unique_bytes / 8).min(SIZE_MEAN_MAX).max(low);
            let size = log_uniform(low as f64, high as f64).round() as u64;
            let stepped = size.saturating_add(SIZE_STEP / 2) / SIZE_STEP * SIZE_STEP;
            let size_mean = if (low..=high).contains(&stepped) { stepped } else { size };
            let [low, high] = processes;
            let process_num = log_uniform(f64::from(low), f64::from(high) + 0.999).floor();
            Workload { unique_bytes, size_mean: size_mean.clamp(1, unique_bytes), ..base.clone() }
                .with(Parameter::ProcessNum, process_num.clamp(f64::from(low), f64::from(high)))
                .with(Parameter::ReadFrac, log_uniform(1.0, std::f64::consts::E).ln())
                .with(Parameter::SeqFrac, log_uniform(1.0, std::f64::consts::E).ln())
        })
        .collect()
}

/// The same bounds with the lower one first and at least 1.
fn ordered(bounds: &Bounds) -> Bounds {
    let pair = |[low, high]: [u64; 2]| [low.min(high).max(1), low.max(high).max(1)];
    let processes = pair(bounds.process_num.map(u64::from));
    Bounds {
        unique_bytes: pair(bounds.unique_bytes),
        size_mean: pair(bounds.size_mean),
        process_num: processes.map(|count| u32::try_from(count).unwrap_or(u32::MAX)),
    }
}

/// The bounds within which `evaluation` measured: those of its settings, or the least and greatest
/// values of its points.
pub fn bounds_of(evaluation: &Evaluation) -> Bounds {
    if let Some(settings) = &evaluation.settings {
        return Bounds {
            unique_bytes: settings.unique_bytes,
            size_mean: settings.size_mean,
            process_num: settings.process_num,
        };
    }
    let mut bounds = Bounds {
        unique_bytes: [u64::MAX, 1],
        size_mean: [u64::MAX, 1],
        process_num: [u32::MAX, 1],
    };
    for (point, _) in super::input::points(evaluation) {
        let w = &point.measurement.workload;
        let wider = |[low, high]: [u64; 2], v: u64| [low.min(v), high.max(v)];
        bounds.unique_bytes = wider(bounds.unique_bytes, w.unique_bytes);
        bounds.size_mean = wider(bounds.size_mean, w.size_mean);
        let [low, high] = bounds.process_num;
        bounds.process_num = [low.min(w.process_num), high.max(w.process_num)];
    }
    if bounds.unique_bytes[0] == u64::MAX {
        return Bounds { unique_bytes: [1; 2], size_mean: [1; 2], process_num: [1; 2] };
    }
    ordered(&bounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_drawn_workload_is_valid_and_within_bounds(
            low in 16u64..1 << 30, factor in 1u64..1000, size in 1u64..1 << 16, most in 1u32..64, seed: u64
        ) {
            let bounds = Bounds {
                unique_bytes: [low.max(size), low.max(size) * factor],
                size_mean: [size, 1 << 20],
                process_num: [1, most],
            };
            let drawn = random_workloads(&bounds, &Workload::default(), 20, seed);
            prop_assert_eq!(&drawn[..7], &random_workloads(&bounds, &Workload::default(), 7, seed)[..]);
            for w in drawn {
                prop_assert_eq!(w.validate(), Ok(()));
                prop_assert!((bounds.unique_bytes[0]..=bounds.unique_bytes[1]).contains(&w.unique_bytes));
                prop_assert!((1..=most).contains(&w.process_num) && w.size_mean >= size);
            }
        }

        #[test]
        fn bounds_in_disorder_are_no_trouble(a: u64, b: u64, c: u64, d: u64, e: u32, f: u32) {
            let bounds = Bounds { unique_bytes: [a, b], size_mean: [c, d], process_num: [e, f] };
            prop_assert_eq!(random_workloads(&bounds, &Workload::default(), 5, 1).len(), 5);
        }
    }

    #[test]
    fn all_of_the_space_is_drawn_from() {
        let bounds = Bounds {
            unique_bytes: [1 << 20, 1 << 30],
            size_mean: [4096, 1 << 20],
            process_num: [1, 16],
        };
        let drawn = random_workloads(&bounds, &Workload::default(), 2000, 1);
        let share = |f: &dyn Fn(&Workload) -> bool| {
            drawn.iter().filter(|w| f(w)).count() as f64 / drawn.len() as f64
        };
        assert!((share(&|w| w.unique_bytes < 1 << 25) - 0.5).abs() < 0.05);
        assert!((share(&|w| w.read_frac < 0.25) - 0.25).abs() < 0.05);
        assert!((share(&|w| w.seq_frac > 0.5) - 0.5).abs() < 0.05);
        assert!((share(&|w| w.process_num >= 4) - 0.5).abs() < 0.06);
    }
}
