//! The outcome of a command: what a result file holds besides where, when and how it was made.

use crate::{
    CampaignResult, Characterization, Cheapest, Comparison, Doctor, Evaluation, MeasuredComparison,
    Measurement, OsResults, Prediction, Simulation, TraceCharacterization, TraceComparison,
    TraceFile, TraceReplay, TraceSummary, Validation, ValidationLog, Vxbench,
};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// The outcome of one command; each kind has its own key in the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// `measurements`: results of single runs.
    Measurements(Vec<Measurement>),
    /// `evaluation`: a self-scaling evaluation.
    Evaluation(Box<Evaluation>),
    /// `predictions`: predicted performance of workloads that were not measured.
    Predictions(Vec<Prediction>),
    /// `comparison`, `cheapest` and `measured_comparison`: systems compared, by prediction and by measurement.
    Comparison(SystemComparison),
    /// `validation`, `validation_log` and its `measurements`: predictions compared with measurements.
    Validation(Box<ValidationRun>),
    /// `characterization`: an application described by its calls.
    Characterization(Box<Characterization>),
    /// `vxbench`: runs of `vxbench`.
    Vxbench(Vxbench),
    /// `campaign`: a table of `vxbench` runs.
    Campaign(Box<CampaignResult>),
    /// `os`: the operating-system micro-benchmarks.
    Os(Box<OsResults>),
    /// `trace_summary`: the analysis of a block trace.
    TraceSummary(Box<TraceSummary>),
    /// `trace_characterization`: a block trace as five-parameter workloads.
    TraceCharacterization(Box<TraceCharacterization>),
    /// `trace_comparison`: two traces side by side.
    TraceComparison(Box<TraceComparison>),
    /// `trace_files`: traces that were imported, exported or recorded.
    TraceFiles(Vec<TraceFile>),
    /// `trace_replay`: the replay of a trace.
    TraceReplay(Box<TraceReplay>),
    /// `simulation`: a simulation of disks.
    Simulation(Box<Simulation>),
    /// `doctor`: what the machine allows.
    Doctor(Doctor),
}

/// Systems compared on the same workloads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemComparison {
    /// Predicted ratios of two systems, per workload and pair; empty if nothing was predicted.
    pub comparison: Vec<Comparison>,
    /// The cheapest system that is fast enough, per workload; empty unless prices were given.
    pub cheapest: Vec<Cheapest>,
    /// Measured figures that two systems share, per pair.
    pub measured: Vec<MeasuredComparison>,
}

/// A validation, complete or partial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValidationRun {
    /// Predictions compared with measurements; absent while there are too few of them.
    pub validation: Option<Validation>,
    /// Measurements in the order of the log's steps; needed only to continue.
    pub measurements: Vec<Measurement>,
    /// Its progress, needed to continue; absent if it is complete.
    pub log: Option<ValidationLog>,
}

impl Serialize for Outcome {
    /// Serializes to a map of the outcome's keys.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let key = self.key();
        match self {
            Self::Measurements(all) => map.serialize_entry(key, all)?,
            Self::Evaluation(one) => map.serialize_entry(key, one)?,
            Self::Predictions(all) => map.serialize_entry(key, all)?,
            Self::Comparison(one) => one.entries(&mut map)?,
            Self::Validation(one) => one.entries(&mut map)?,
            Self::Characterization(one) => map.serialize_entry(key, one)?,
            Self::Vxbench(one) => map.serialize_entry(key, one)?,
            Self::Campaign(one) => map.serialize_entry(key, one)?,
            Self::Os(one) => map.serialize_entry(key, one)?,
            Self::TraceSummary(one) => map.serialize_entry(key, one)?,
            Self::TraceCharacterization(one) => map.serialize_entry(key, one)?,
            Self::TraceComparison(one) => map.serialize_entry(key, one)?,
            Self::TraceFiles(all) => map.serialize_entry(key, all)?,
            Self::TraceReplay(one) => map.serialize_entry(key, one)?,
            Self::Simulation(one) => map.serialize_entry(key, one)?,
            Self::Doctor(one) => map.serialize_entry(key, one)?,
        }
        map.end()
    }
}

impl SystemComparison {
    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("comparison", &self.comparison)?;
        if !self.cheapest.is_empty() {
            map.serialize_entry("cheapest", &self.cheapest)?;
        }
        if !self.measured.is_empty() {
            map.serialize_entry("measured_comparison", &self.measured)?;
        }
        Ok(())
    }
}

impl ValidationRun {
    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if self.log.is_some() || !self.measurements.is_empty() {
            map.serialize_entry("measurements", &self.measurements)?;
        }
        if let Some(validation) = &self.validation {
            map.serialize_entry("validation", validation)?;
        }
        if let Some(log) = &self.log {
            map.serialize_entry("validation_log", log)?;
        }
        Ok(())
    }
}

/// Passes every kind of outcome to a macro: its key, its variant and its content type.
macro_rules! kinds {
    ($each:ident) => {
        $each!(
            measurements: Measurements(Vec<Measurement>),
            evaluation: Evaluation(Evaluation),
            predictions: Predictions(Vec<Prediction>),
            comparison: Comparison(SystemComparison),
            validation: Validation(ValidationRun),
            characterization: Characterization(Characterization),
            vxbench: Vxbench(Vxbench),
            campaign: Campaign(CampaignResult),
            os: Os(OsResults),
            trace_summary: TraceSummary(TraceSummary),
            trace_characterization: TraceCharacterization(TraceCharacterization),
            trace_comparison: TraceComparison(TraceComparison),
            trace_files: TraceFiles(Vec<TraceFile>),
            trace_replay: TraceReplay(TraceReplay),
            simulation: Simulation(Simulation),
            doctor: Doctor(Doctor),
        );
    };
}
pub(crate) use kinds;

/// Defines the key and the construction of every kind.
macro_rules! keys {
    ($($key:ident: $variant:ident($type:ty)),* $(,)?) => {
        impl Outcome {
            /// Returns the outcome's key in the file: the main key, if companions have their own.
            pub fn key(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => stringify!($key),)*
                }
            }
        }

        $(
            impl From<$type> for Outcome {
                fn from(value: $type) -> Self {
                    Self::$variant(value.into())
                }
            }
        )*
    };
}
kinds!(keys);
