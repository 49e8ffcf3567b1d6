//! A distribution as stored in results: mean, quantiles and the bins for drawing it.

use serde::{Deserialize, Serialize};

/// The distribution of some values. The name of the field that holds it includes the unit.
///
/// Each quantile is the upper bound of its bin, so it errs upwards by at most the width of a bin.
/// Mean, minimum and maximum are exact. All numbers are 0 if `count` is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Number of values.
    pub count: u64,
    /// Mean.
    #[serde(deserialize_with = "crate::range::not_negative")]
    pub mean: f64,
    /// Least value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Median.
    pub p50: f64,
    /// 80th percentile.
    pub p80: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Non-empty bins, in order: largest value in the bin, number of values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bins: Vec<(f64, u64)>,
}

impl Distribution {
    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the fraction of the values in bins that end at or below `value`; 0 without values.
    pub fn fraction_to(&self, value: f64) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let within = self.bins.iter().take_while(|bin| bin.0 <= value).map(|bin| bin.1);
        within.sum::<u64>() as f64 / self.count as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_accumulate_over_the_bins() {
        let some = Distribution { count: 4, bins: vec![(1.0, 1), (5.0, 3)], ..Default::default() };
        assert_eq!([0.5, 1.0, 4.0, 5.0].map(|v| some.fraction_to(v)), [0.0, 0.25, 0.25, 1.0]);
        assert_eq!(Distribution::default().fraction_to(1.0), 0.0);
    }
}
