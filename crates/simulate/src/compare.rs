//! How far simulated times are from measured ones: as distributions, and request by request.
//!
//! Nothing here feeds back into a run, so floating point is allowed.

use ioscape_schema::SimulationAgreement;

/// How well simulated times agree with measured ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Pairs.
    pub count: usize,
    /// Mean of the measured times, in nanoseconds.
    pub measured_mean_ns: f64,
    /// Mean of the simulated times.
    pub simulated_mean_ns: f64,
    /// Root mean square of the horizontal distance between the two distributions.
    pub rms_ns: f64,
    /// `rms_ns` as a share of the measured mean (Ruemmler & Wilkes, IEEE Computer 1994). It does
    /// not see which request took how long, so read it together with the paired errors.
    pub demerit: f64,
    /// Median of the absolute error per request.
    pub paired_median_ns: f64,
    /// Share of the requests with an absolute error of at most a millisecond.
    pub within_1ms: f64,
}

/// Compares times pair by pair; all fields are zero if there are no pairs.
pub fn agreement(measured: &[u64], simulated: &[u64]) -> Agreement {
    let count = measured.len().min(simulated.len());
    if count == 0 {
        return Agreement::default();
    }
    let n = count as f64;
    let mean = |times: &[u64]| times.iter().map(|&t| t as f64).sum::<f64>() / n;
    let sorted = |times: &[u64]| {
        let mut times = times[..count].to_vec();
        times.sort_unstable();
        times
    };
    let (left, right) = (sorted(measured), sorted(simulated));
    let square = |(a, b): (&u64, &u64)| (a.abs_diff(*b) as f64) * (a.abs_diff(*b) as f64);
    let rms_ns = (left.iter().zip(&right).map(square).sum::<f64>() / n).sqrt();
    let mut errors: Vec<u64> =
        measured.iter().zip(simulated).map(|(a, b)| a.abs_diff(*b)).collect();
    errors.sort_unstable();
    let measured_mean_ns = mean(&measured[..count]);
    Agreement {
        count,
        measured_mean_ns,
        simulated_mean_ns: mean(&simulated[..count]),
        rms_ns,
        demerit: if measured_mean_ns > 0.0 { rms_ns / measured_mean_ns } else { 0.0 },
        paired_median_ns: errors[count / 2] as f64,
        within_1ms: errors.partition_point(|&e| e <= 1_000_000) as f64 / n,
    }
}

/// Says why `count` held-out requests of a `kind` leave open whether the drive explains them: the
/// share within a millisecond is too low, or not surely high enough. `None` if it is surely high
/// enough.
pub fn within_doubt(count: usize, within_1ms: f64, kind: &str) -> Option<String> {
    let [within, least] =
        [within_1ms, SimulationAgreement::WITHIN_1MS_LEAST].map(|share| 100.0 * share);
    let said = format!("{within:.1} % of the held-out requests {kind} are within 1 ms");
    if within < least {
        return Some(format!("{said}, under {least} %"));
    }
    (100.0 * share_at_least(within_1ms, count) < least).then(|| {
        format!(
            "{said}, but these are only {count}, which does not rule out a share under {least} %"
        )
    })
}

/// The low end of the 95 % interval of a share of `count` (E. B. Wilson, "Probable inference",
/// 1927), from 0 to 1.
fn share_at_least(share: f64, count: usize) -> f64 {
    const NORMAL95: f64 = 1.96;
    let count = count as f64;
    let by = NORMAL95 * NORMAL95 / count;
    let half = NORMAL95 * ((share * (1.0 - share) + by / 4.0) / count).sqrt();
    (share + by / 2.0 - half) / (1.0 + by)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demerit_sees_distributions_and_pairs_see_requests() {
        let swapped = agreement(&[10_000_000, 30_000_000], &[30_000_000, 10_000_000]);
        assert_eq!(
            (swapped.demerit, swapped.paired_median_ns, swapped.within_1ms),
            (0.0, 2e7, 0.0)
        );
        let shifted = agreement(&[10_000_000, 30_000_000], &[10_500_000, 30_500_000]);
        assert!((shifted.demerit - 0.025).abs() < 1e-12 && shifted.within_1ms == 1.0);
        assert_eq!(agreement(&[], &[]), Agreement::default());
    }
}
