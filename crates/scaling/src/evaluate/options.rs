//! What an evaluation is asked to do: bounds, budget and the parts of the workload that stay fixed.

use crate::bounds::Bounds;
use ioscape_schema::workload::SIZE_MEAN_MAX;
use ioscape_schema::{Engine, Parameter, Settings, Workload, WorkloadError};

/// Points off the curves that an evaluation measures for the model by default.
pub const INTERACTIONS: usize = 24;

/// The deepest queue tried: beyond it only waiting grows, except on arrays of drives.
const QUEUE_DEPTH_MOST: u32 = 64;

/// The fewest different workloads that make an evaluation.
pub const POINTS_LEAST: usize = 60;

/// Everything that [`explore`](crate::evaluate::explore()) depends on besides the answers of its
/// probe.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluationOptions {
    /// The ranges of the parameters.
    pub bounds: Bounds,
    /// Engine, access, workers, size distribution, alignment, queue depth and think time of every
    /// workload; its five parameters are ignored.
    pub base: Workload,
    /// The most that the `cost_s` and `deciding_s` of all probes may add up to, in seconds.
    pub budget_s: f64,
    /// Seed of the order of repeated rounds.
    pub seed: u64,
    /// Whether to scale all parameters as well (self-scaling paper, section 7).
    pub all_parameters: bool,
    /// Most points off the curves, measured where the model that will predict is least sure. A
    /// dozen halve its own error on made-up systems (`docs/prediction.md`).
    pub interactions: usize,
    /// Most different workloads, including those off the curves; the remaining time goes into
    /// repeating them. Absent: as many as the budget allows.
    pub points_max: Option<usize>,
    /// Expected cost of one point before any has been measured, in seconds.
    pub typical_cost_s: f64,
    /// How long writes must go on before the system flushes, in seconds; absent when unknown.
    pub flush_interval_s: Option<f64>,
    /// How fast the set is laid out the first time it grows, in bytes per second; absent when unknown.
    pub layout_bytes_per_s: Option<f64>,
    /// Whether borders and regions are those of the most probable number of levels, and points that
    /// leave it in doubt are measured. This computation takes tenths of a second in all. Without it
    /// borders and regions follow from rules, and their number has no probability.
    pub level_counts: bool,
}

/// Why options cannot be used as they are.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OptionsError {
    /// A range is empty or starts at zero.
    #[error(
        "the bounds of {name} are {low} to {high}, but the first must be at least 1 and not above the second"
    )]
    Range {
        /// Which parameter.
        name: &'static str,
        /// The given lower bound.
        low: u64,
        /// The given upper bound.
        high: u64,
    },
    /// The budget is not a positive time.
    #[error("the budget is {0} s, but must be a finite time above 0")]
    Budget(f64),
    /// The fixed part of the workload cannot be run.
    #[error("the workload cannot be evaluated: {0}")]
    Base(#[from] WorkloadError),
}

impl EvaluationOptions {
    /// The options for `settings` as a result file keeps them; random choices are drawn from
    /// `seed`.
    pub fn of_settings(settings: &Settings, seed: u64) -> Self {
        Self {
            bounds: Bounds {
                unique_bytes: settings.unique_bytes,
                size_mean: settings.size_mean,
                process_num: settings.process_num,
            },
            base: settings.base.clone(),
            budget_s: settings.budget_s,
            seed,
            all_parameters: settings.all_parameters,
            interactions: INTERACTIONS,
            points_max: settings.points_max.map(|points| points as usize),
            typical_cost_s: (settings.budget_s / 150.0).clamp(0.3, 4.0),
            flush_interval_s: settings.flush_interval_s,
            layout_bytes_per_s: settings.layout_bytes_per_s,
            level_counts: true,
        }
    }

    /// Checks that the options are usable; [`explore`](crate::evaluate::explore()) itself only
    /// clamps values that are out of range.
    ///
    /// # Errors
    /// The first option that is out of range.
    pub fn validate(&self) -> Result<(), OptionsError> {
        let Bounds { unique_bytes, size_mean, process_num } = self.bounds;
        for (name, [low, high]) in [
            ("unique_bytes", unique_bytes),
            ("size_mean", size_mean),
            ("process_num", process_num.map(u64::from)),
        ] {
            if low == 0 || low > high {
                return Err(OptionsError::Range { name, low, high });
            }
        }
        if !(self.budget_s.is_finite() && self.budget_s > 0.0) {
            return Err(OptionsError::Budget(self.budget_s));
        }
        let size_mean = self.base.size_mean.max(self.base.align_bytes.unwrap_or(1));
        let unique_bytes = self.base.unique_bytes.max(size_mean);
        Ok(Workload { size_mean, unique_bytes, ..self.base.clone() }.validate()?)
    }

    /// The same options with every bound made usable, so that no later step has to check them.
    pub(crate) fn normalized(&self) -> Self {
        let mut options = self.clone();
        let least = options.base.align_bytes.unwrap_or(1).clamp(1, SIZE_MEAN_MAX);
        let size = &mut options.bounds.size_mean;
        size[0] = size[0].clamp(least, SIZE_MEAN_MAX);
        size[1] = size[1].clamp(size[0], SIZE_MEAN_MAX);
        let unique = &mut options.bounds.unique_bytes;
        unique[0] = unique[0].max(4 * size[0]);
        unique[1] = unique[1].max(unique[0]);
        let processes = &mut options.bounds.process_num;
        processes[0] = processes[0].max(1);
        processes[1] = processes[1].max(processes[0]);
        if !(options.typical_cost_s.is_finite() && options.typical_cost_s > 0.0) {
            options.typical_cost_s = 1.0;
        }
        if !options.budget_s.is_finite() {
            options.budget_s = 600.0;
        }
        options.points_max = options.points_max.map(|points| points.max(POINTS_LEAST));
        options.flush_interval_s = options.flush_interval_s.filter(|s| s.is_finite() && *s > 0.0);
        options.layout_bytes_per_s = options.layout_bytes_per_s.filter(|r| *r > 0.0);
        options
    }

    /// The papers' nominal mix over `unique_bytes`: 32 KB requests, half reads, half sequential, one process
    /// (Unix I/O paper, section 5), as far as the bounds allow.
    pub(crate) fn nominal(&self, unique_bytes: u64) -> Workload {
        let [size_low, size_high] = self.bounds.size_mean;
        let room = (unique_bytes / 4).max(size_low);
        Workload {
            unique_bytes,
            size_mean: (32 << 10).clamp(size_low, size_high).min(room),
            read_frac: 0.5,
            seq_frac: 0.5,
            process_num: self.bounds.process_num[0],
            ..self.base.clone()
        }
    }

    /// The parameters that are varied in every region; with asynchronous requests they include the
    /// queue depth.
    pub(crate) fn region_parameters(&self) -> Vec<Parameter> {
        let depth = (self.base.engine == Engine::IoUring).then_some(Parameter::QueueDepth);
        let five = Parameter::ALL.into_iter().filter(|p| *p != Parameter::UniqueBytes);
        five.chain(depth).collect()
    }

    /// The deepest queue tried.
    pub(crate) fn queue_depth_most(&self) -> u32 {
        QUEUE_DEPTH_MOST.max(self.base.queue_depth)
    }

    /// The fixed small workload whose speed shows whether the machine itself has changed.
    pub(crate) fn reference(&self) -> Workload {
        let [low, high] = self.bounds.unique_bytes;
        let unique_bytes = (8 << 20).clamp(low, high);
        Workload { read_frac: 1.0, seq_frac: 0.0, ..self.nominal(unique_bytes) }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Ten minutes over 1 MiB to 1 GiB.
    pub(crate) fn ten_minutes() -> EvaluationOptions {
        EvaluationOptions {
            bounds: Bounds {
                unique_bytes: [1 << 20, 1 << 30],
                size_mean: [4 << 10, 1 << 20],
                process_num: [1, 16],
            },
            base: Workload::default(),
            budget_s: 600.0,
            seed: 1,
            all_parameters: false,
            interactions: 24,
            points_max: None,
            typical_cost_s: 2.5,
            flush_interval_s: None,
            layout_bytes_per_s: None,
            level_counts: true,
        }
    }

    #[test]
    fn bad_options_are_named() {
        let mut options = ten_minutes();
        assert_eq!(options.validate(), Ok(()));
        options.bounds.size_mean = [8192, 4096];
        assert!(options.validate().unwrap_err().to_string().contains("size_mean"));
        options = EvaluationOptions { budget_s: f64::NAN, ..ten_minutes() };
        assert!(matches!(options.validate(), Err(OptionsError::Budget(_))));
        options = ten_minutes();
        options.base.queue_depth = 8;
        assert!(matches!(options.validate(), Err(OptionsError::Base(_))));
    }

    #[test]
    fn every_fixed_workload_is_valid_within_any_bounds() {
        for low in [0, 1, 4096, 1 << 20, 1 << 32] {
            let mut options = ten_minutes();
            options.bounds.unique_bytes = [low, low];
            options.bounds.size_mean = [512, 1 << 40];
            let options = options.normalized();
            assert_eq!(options.reference().validate(), Ok(()));
            assert_eq!(options.nominal(options.bounds.unique_bytes[0]).validate(), Ok(()));
        }
    }
}
