//! A job under construction: defaults first, then the job's own settings, then validation of the
//! whole.

use crate::jobs::error::JobError;
use crate::jobs::setting::Setting;
use ioscape_schema::{Workload, WorkloadError};
use std::collections::{BTreeMap, BTreeSet};

const KEYS: &str = "name, unique_bytes, size_mean, size_dist, read_frac, seq_frac, processes, queue_depth, think_time, \
                    think_time_ns, align, engine, access, direct_above, workers, advice, seconds, seed or verify";

/// What is known of a job so far, and the byte of the file at which each value was given.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) name: Option<String>,
    pub(super) workload: Workload,
    pub(super) seconds: Option<f64>,
    pub(super) seed: Option<u64>,
    pub(super) verify: Option<bool>,
    starts: BTreeMap<String, usize>,
}

impl Draft {
    /// Applies the settings of one table in the order written; `named` says whether a name is
    /// allowed.
    pub(super) fn apply_all(
        &mut self,
        settings: Vec<Setting<'_>>,
        named: bool,
    ) -> Result<(), JobError> {
        let mut given = BTreeSet::new();
        for setting in settings {
            if setting.key == "name" && !named {
                return Err(setting.must("stand in [[job]]: every job has its own"));
            }
            self.apply(&setting)?;
            let field = field(setting.key);
            if !given.insert(field) {
                let message =
                    format!("{} repeats another key of this table: keep one", setting.key);
                return Err(setting.fails(message));
            }
            self.starts.insert(field.to_owned(), setting.start);
        }
        Ok(())
    }

    /// Applies one setting.
    fn apply(&mut self, setting: &Setting<'_>) -> Result<(), JobError> {
        let workload = &mut self.workload;
        match setting.key {
            "name" => self.name = Some(setting.name()?),
            "unique_bytes" => workload.unique_bytes = setting.bytes()?,
            "size_mean" => workload.size_mean = setting.bytes()?,
            "size_dist" | "size_distribution" => workload.size_distribution = setting.word()?,
            "read_frac" => workload.read_frac = setting.fraction()?,
            "seq_frac" => workload.seq_frac = setting.fraction()?,
            "processes" | "process_num" => workload.process_num = setting.count()?,
            "queue_depth" => workload.queue_depth = setting.count()?,
            "think_time" => workload.think_time_ns = setting.pause_ns()?,
            "think_time_ns" => workload.think_time_ns = setting.nanoseconds()?,
            "align" | "align_bytes" => workload.align_bytes = Some(setting.bytes()?),
            "engine" => workload.engine = setting.word()?,
            "access" => workload.access = setting.word()?,
            "direct_above" | "direct_above_bytes" => {
                workload.direct_above_bytes = Some(setting.bytes()?)
            }
            "advice" => workload.advice = setting.word()?,
            "workers" => workload.workers = setting.word()?,
            "seconds" => self.seconds = Some(setting.seconds()?),
            "seed" => self.seed = Some(setting.seed()?),
            "verify" => self.verify = Some(setting.truth()?),
            _ => return Err(setting.unknown(KEYS)),
        }
        Ok(())
    }

    /// Validates the whole workload. An error points to the first of its keys that the file sets.
    pub(super) fn validate(&self, header: &Setting<'_>) -> Result<(), JobError> {
        let Err(error) = self.workload.validate() else {
            return Ok(());
        };
        let keys = keys_of(&error);
        let given = keys.iter().find_map(|key| self.starts.get(*key).copied());
        Err(header.fails_at(given.unwrap_or(header.start), error.to_string()))
    }
}

/// Returns the field that a key sets, under its own name or an alias.
fn field(key: &str) -> &str {
    match key {
        "size_dist" => "size_distribution",
        "processes" => "process_num",
        "think_time" => "think_time_ns",
        "align" => "align_bytes",
        "direct_above" => "direct_above_bytes",
        _ => key,
    }
}

/// Returns the keys that a validation error is about, the likeliest culprit first.
fn keys_of(error: &WorkloadError) -> [&'static str; 2] {
    match error {
        WorkloadError::Fraction { name, .. }
        | WorkloadError::Zero { name, .. }
        | WorkloadError::TooMany { name, .. } => [name, name],
        WorkloadError::SizeAboveSet { .. } => ["size_mean", "unique_bytes"],
        WorkloadError::SizeTooLarge(_) => ["size_mean", "size_mean"],
        WorkloadError::Align { .. } => ["align_bytes", "size_mean"],
        WorkloadError::Depth(_) => ["queue_depth", "engine"],
        WorkloadError::MappedAccess | WorkloadError::UncachedDirect => ["access", "engine"],
        WorkloadError::Discovered => ["direct_above_bytes", "engine"],
        WorkloadError::ByOperation(_) => ["by_operation", "by_operation"],
        WorkloadError::Phases(_) => ["phases", "phases"],
    }
}
