//! Whether the machine itself became faster or slower, by the throughput of a fixed reference workload.

use ioscape_schema::statistics::median;

/// Least departure from the median that counts, as a change of log throughput: 15 %.
const LEAST: f64 = 0.14;
/// Largest departure that is put down to noise, however noisy the references are.
const MOST: f64 = 0.47;

/// For each reference, whether it is off the median by more than noise explains.
///
/// Noise is estimated from the differences of neighbours: they stay small within a stretch of another speed,
/// so a long stretch does not hide itself. For normal noise the median difference is 0.954 standard deviations.
pub(crate) fn off(throughputs: &[f64]) -> Vec<bool> {
    let logs: Vec<f64> = throughputs.iter().map(|t| t.max(1e-9).ln()).collect();
    let steps: Vec<f64> = logs.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    let noise = median(&steps) / 0.954;
    let allowed = (2.5 * noise).clamp(LEAST, MOST);
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
    fn a_noisy_reference_is_not_taken_for_drift() {
        let references = [100.0, 80.0, 120.0, 85.0, 115.0, 95.0, 78.0, 118.0];
        assert!(off(&references).iter().all(|o| !o));
    }
}
