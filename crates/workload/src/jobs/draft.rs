//! A job under construction: defaults first, then the job's own settings, then the check of the whole.

use crate::jobs::error::JobError;
use crate::jobs::setting::Setting;
use ioscape_schema::{Workload, WorkloadError};
use std::collections::{BTreeMap, BTreeSet};

const KEYS: &str = "name, unique_bytes, size_mean, size_dist, read_frac, seq_frac, processes, queue_depth, think_time, \
                    think_time_ns, align, engine, access, direct_above, workers, advice, seconds, seed or verify";

/// What is known of a job so far, and at which byte of the file each value was given.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) name: Option<String>,
    pub(super) workload: Workload,
    pub(super) seconds: Option<f64>,
    pub(super) seed: Option<u64>,
    pub(super) verify: Option<bool>,
    starts: BTreeMap<&'static str, usize>,
}

impl Draft {
    /// Applies the settings of one table, in the order written; `named` allows a name.
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
            let field = self.apply(&setting)?;
            if !given.insert(field) {
                let message =
                    format!("{} repeats another key of this table: keep one", setting.key);
                return Err(setting.fails(message));
            }
            self.starts.insert(field, setting.start);
        }
        Ok(())
    }

    /// Applies one setting and returns the field it is for.
    fn apply(&mut self, setting: &Setting<'_>) -> Result<&'static str, JobError> {
        let workload = &mut self.workload;
        Ok(match setting.key {
            "name" => {
                self.name = Some(setting.name()?);
                "name"
            }
            "unique_bytes" => {
                workload.unique_bytes = setting.bytes()?;
                "unique_bytes"
            }
            "size_mean" => {
                workload.size_mean = setting.bytes()?;
                "size_mean"
            }
            "size_dist" | "size_distribution" => {
                workload.size_distribution = setting.word()?;
                "size_distribution"
            }
            "read_frac" => {
                workload.read_frac = setting.fraction()?;
                "read_frac"
            }
            "seq_frac" => {
                workload.seq_frac = setting.fraction()?;
                "seq_frac"
            }
            "processes" | "process_num" => {
                workload.process_num = setting.count()?;
                "process_num"
            }
            _ => return self.apply_how(setting),
        })
    }

    /// The same for the settings that say how the workload is carried out.
    fn apply_how(&mut self, setting: &Setting<'_>) -> Result<&'static str, JobError> {
        let workload = &mut self.workload;
        Ok(match setting.key {
            "queue_depth" => {
                workload.queue_depth = setting.count()?;
                "queue_depth"
            }
            "think_time" | "think_time_ns" => {
                let is_text = setting.key == "think_time";
                workload.think_time_ns =
                    if is_text { setting.pause_ns()? } else { setting.nanoseconds()? };
                "think_time_ns"
            }
            "align" | "align_bytes" => {
                workload.align_bytes = Some(setting.bytes()?);
                "align_bytes"
            }
            "engine" => {
                workload.engine = setting.word()?;
                "engine"
            }
            "access" => {
                workload.access = setting.word()?;
                "access"
            }
            "direct_above" | "direct_above_bytes" => {
                workload.direct_above_bytes = Some(setting.bytes()?);
                "direct_above_bytes"
            }
            "advice" => {
                workload.advice = setting.word()?;
                "advice"
            }
            "workers" => {
                workload.workers = setting.word()?;
                "workers"
            }
            "seconds" => {
                self.seconds = Some(setting.seconds()?);
                "seconds"
            }
            "seed" => {
                self.seed = Some(setting.seed()?);
                "seed"
            }
            "verify" => {
                self.verify = Some(setting.truth()?);
                "verify"
            }
            _ => return Err(setting.unknown(KEYS)),
        })
    }

    /// Checks the whole workload; an error stands at the first of the keys it is about that the file gives.
    pub(super) fn validate(&self, header: &Setting<'_>) -> Result<(), JobError> {
        let Err(error) = self.workload.validate() else {
            return Ok(());
        };
        let keys = keys_of(&error);
        let given = keys.iter().find_map(|key| self.starts.get(key).copied());
        Err(header.fails_at(given.unwrap_or(header.start), error.to_string()))
    }
}

/// The keys an error of validation is about, the likeliest culprit first.
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
