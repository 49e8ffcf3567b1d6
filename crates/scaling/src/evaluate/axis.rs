//! The values at which a parameter is measured: rounding, even grids, and the value between two
//! others.

use super::options::EvaluationOptions;
use ioscape_schema::Parameter;

/// The axis of one parameter: its range, its scale and its grain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    pub parameter: Parameter,
    pub low: f64,
    pub high: f64,
    /// The granularity of sizes: they are multiples of this.
    grain: f64,
}

impl Axis {
    /// The whole allowed range of `parameter`; request sizes stay within a quarter of a set of `unique_bytes`.
    pub(crate) fn new(
        options: &EvaluationOptions,
        parameter: Parameter,
        unique_bytes: u64,
    ) -> Self {
        let bounds = &options.bounds;
        let (low, high) = match parameter {
            Parameter::UniqueBytes => {
                (bounds.unique_bytes[0] as f64, bounds.unique_bytes[1] as f64)
            }
            Parameter::SizeMean => {
                let [low, high] = bounds.size_mean;
                (low as f64, high.min(unique_bytes / 4).max(low) as f64)
            }
            Parameter::ReadFrac | Parameter::SeqFrac => (0.0, 1.0),
            Parameter::ProcessNum => (bounds.process_num[0].into(), bounds.process_num[1].into()),
            Parameter::QueueDepth => (1.0, options.queue_depth_most().into()),
        };
        let grain = options.base.align_bytes.unwrap_or(1) as f64;
        Self { parameter, low, high, grain }
    }

    /// The same axis from `low` on.
    pub(crate) fn from(self, low: f64) -> Self {
        Self { low: low.clamp(self.low, self.high), ..self }
    }

    /// The value on the parameter's natural scale.
    pub(crate) fn scale(&self, value: f64) -> f64 {
        if self.parameter.is_logarithmic() { value.max(1e-9).ln() } else { value }
    }

    /// The inverse of [`Axis::scale`].
    pub(crate) fn value_at(&self, scaled: f64) -> f64 {
        if self.parameter.is_logarithmic() { scaled.exp() } else { scaled }
    }

    /// The nearest value within the range that a workload can have.
    pub(crate) fn round(&self, value: f64) -> f64 {
        let grain = match self.parameter {
            Parameter::UniqueBytes if value >= f64::from(4 << 20) => 65536.0,
            Parameter::UniqueBytes | Parameter::SizeMean if value >= 4096.0 => 4096.0,
            Parameter::UniqueBytes | Parameter::SizeMean if value >= 512.0 => 512.0,
            Parameter::ReadFrac | Parameter::SeqFrac => 1.0 / 1024.0,
            _ => 1.0,
        };
        let grain = match self.parameter {
            Parameter::UniqueBytes | Parameter::SizeMean => self.grain.max(grain),
            _ => grain,
        };
        ((value / grain).round() * grain).clamp(self.low, self.high)
    }

    /// Both ends and `between` values spaced evenly between them on the parameter's scale, without
    /// repetition.
    pub(crate) fn grid(&self, between: usize) -> Vec<f64> {
        let (low, high) = (self.scale(self.low), self.scale(self.high));
        let steps = between + 1;
        let mut values: Vec<f64> = (1..steps)
            .map(|i| self.round(self.value_at(low + (high - low) * i as f64 / steps as f64)))
            .collect();
        values.insert(0, self.low);
        values.push(self.high);
        values.dedup();
        values
    }

    /// Both ends and the powers of `step` between, counted from the lower end.
    pub(crate) fn steps(&self, step: f64) -> Vec<f64> {
        let mut values = vec![self.low];
        let mut value = self.low * step;
        // A last step much shorter than the others would waste a point.
        while value * step.sqrt() <= self.high {
            values.push(self.round(value));
            value *= step;
        }
        if self.high > self.low {
            values.push(self.high);
        }
        values.dedup();
        values
    }

    /// The value half-way between two others on the parameter's scale; `None` when there is no
    /// room.
    pub(crate) fn between(&self, a: f64, b: f64) -> Option<f64> {
        let middle = self.round(self.value_at((self.scale(a) + self.scale(b)) / 2.0));
        (middle > a && middle < b).then_some(middle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::options::tests::ten_minutes;
    use proptest::prelude::*;

    fn axis(parameter: Parameter) -> Axis {
        Axis::new(&ten_minutes(), parameter, 64 << 20)
    }

    #[test]
    fn powers_include_both_ends() {
        let processes = axis(Parameter::ProcessNum).steps(2.0);
        assert_eq!(processes, [1.0, 2.0, 4.0, 8.0, 16.0]);
        let unique = axis(Parameter::UniqueBytes).steps(4.0);
        assert_eq!(unique.len(), 6);
        assert_eq!(unique[5], f64::from(1 << 30));
    }

    #[test]
    fn half_way_follows_the_scale() {
        assert_eq!(axis(Parameter::ProcessNum).between(4.0, 16.0), Some(8.0));
        assert_eq!(axis(Parameter::ProcessNum).between(1.0, 2.0), None);
        assert_eq!(axis(Parameter::ReadFrac).between(0.5, 1.0), Some(0.75));
    }

    proptest! {
        #[test]
        fn grids_rise_and_stay_in_range(index in 0usize..6, between in 0usize..20) {
            let axis = axis(Parameter::WITH_DEPTH[index]);
            let grid = axis.grid(between);
            prop_assert!(grid.is_sorted_by(|a, b| a < b));
            prop_assert_eq!((grid[0], grid[grid.len() - 1]), (axis.low, axis.high));
        }

        #[test]
        fn rounding_is_within_range_and_stable(index in 0usize..6, value in 0.0..1e10f64) {
            let axis = axis(Parameter::WITH_DEPTH[index]);
            let rounded = axis.round(value);
            prop_assert!((axis.low..=axis.high).contains(&rounded));
            prop_assert_eq!(axis.round(rounded), rounded);
        }
    }
}
