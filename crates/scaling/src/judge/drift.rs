//! Detects whether the machine itself became faster or slower, by the throughput of a fixed
//! reference workload.

use ioscape_schema::statistics::median;

/// Least departure from the median that counts, as a change of log throughput: 15 %.
const LEAST: f64 = 0.14;
/// Largest departure that is put down to noise, however noisy the references are.
const MOST: f64 = 0.47;
/// Least departure that counts for a reference that waits for storage: half or twice the speed.
pub(crate) const FAR: f64 = std::f64::consts::LN_2;

/// Returns, for each reference, whether it is off the median by more than noise explains.
///
/// Noise is estimated from the differences of neighbours. They stay small within a stretch of
/// another speed, so a long stretch does not hide itself. For normal noise the median difference is
/// 0.954 standard deviations.
pub(crate) fn off(throughputs: &[f64]) -> Vec<bool> {
    beyond(throughputs, |noise| (2.5 * noise).clamp(LEAST, MOST))
}

/// Returns, for each reference, whether it is so far off that the storage itself has changed.
///
/// Runs of a few dozen disk requests differ by a tenth, and a drive that is still tidying up after
/// writes reads more slowly for a while.
pub(crate) fn far_off(throughputs: &[f64]) -> Vec<bool> {
    beyond(throughputs, |noise| (5.0 * noise).max(FAR))
}

/// Returns, for each reference, whether it is off the median by more than `allowed` makes of the
/// noise; both are changes of log throughput.
fn beyond(throughputs: &[f64], allowed: impl Fn(f64) -> f64) -> Vec<bool> {
    let logs: Vec<f64> = throughputs.iter().map(|t| t.max(1e-9).ln()).collect();
    let steps: Vec<f64> = logs.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    let allowed = allowed(median(&steps) / 0.954);
    let middle = median(&logs);
    logs.iter().map(|l| (l - middle).abs() > allowed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_stretch_is_off_and_the_rest_is_not() {
        let mut references = vec![100.0, 103.0, 98.0, 101.0, 99.0, 102.0, 100.0];
        references.splice(3..3, [51.0, 49.0]);
        let off = off(&references);
        let expected = [false, false, false, true, true, false, false, false, false];
        assert_eq!(off, expected);
    }

    #[test]
    fn a_storage_is_another_where_it_is_slower_than_by_half() {
        let usual = [100.0, 103.0, 70.0, 101.0, 99.0, 102.0, 100.0];
        assert!(off(&usual)[2] && !far_off(&usual)[2]);
        let stretch = [&usual[..], &[19.0; 4]].concat();
        assert_eq!(far_off(&stretch), [[false; 7].as_slice(), &[true; 4]].concat());
    }

    #[test]
    fn a_noisy_reference_is_not_taken_for_drift() {
        let references = [100.0, 80.0, 120.0, 85.0, 115.0, 95.0, 78.0, 118.0];
        assert!(off(&references).iter().all(|o| !o));
    }
}
