//! The document: one result file, the same on disk and on standard output.

use crate::{
    CampaignResult, Characterization, Cheapest, Comparison, Environment, Evaluation, Measurement,
    OsResults, Prediction, Simulation, TraceCharacterization, TraceFile, TraceSummary, Validation,
    ValidationLog, Vxbench, Warning,
};
use serde::{Deserialize, Serialize};

/// The schema this version writes; a reader accepts every `ioscape/N` up to its own.
pub const SCHEMA: &str = "ioscape/1";

/// The program that wrote the document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Version of ioscape.
    pub version: String,
}

/// A result file: where, when and how it came about, and one or more results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Name and version of the schema, `ioscape/1`.
    pub schema: String,
    /// The writing program.
    pub tool: Tool,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Start, RFC 3339.
    pub started_at: String,
    /// Whether the run was interrupted and holds only what was finished.
    pub interrupted: bool,
    /// The machine.
    pub environment: Environment,
    /// Doubts about the whole.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// Results of single runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measurements: Option<Vec<Measurement>>,
    /// Result of an evaluation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<Evaluation>,
    /// Predicted performance of workloads that were not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predictions: Option<Vec<Prediction>>,
    /// Systems compared on the same workloads, by prediction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Vec<Comparison>>,
    /// The cheapest system that is fast enough, per workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cheapest: Option<Vec<Cheapest>>,
    /// Predictions held against measurements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Validation>,
    /// How far a validation came that is not whole, so that it can be continued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_log: Option<ValidationLog>,
    /// An application as the calls it made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub characterization: Option<Characterization>,
    /// Runs of `vxbench`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vxbench: Option<Vxbench>,
    /// A table of `vxbench` runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaign: Option<CampaignResult>,
    /// The operating-system micro-benchmarks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub os: Option<OsResults>,
    /// What a block trace holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_summary: Option<TraceSummary>,
    /// A block trace as workloads of five parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_characterization: Option<TraceCharacterization>,
    /// Traces that were imported, exported or recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_files: Option<Vec<TraceFile>>,
    /// A simulation of disks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulation: Option<Simulation>,
}

impl Document {
    /// Adds a warning unless the same one is already there.
    pub fn warn(&mut self, warning: Warning) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// The runs that stand for themselves: none where the measurements are those of a validation, whose points say more.
    pub fn runs(&self) -> &[Measurement] {
        match &self.validation {
            Some(_) => &[],
            None => self.measurements.as_deref().unwrap_or_default(),
        }
    }

    /// Number of the schema in `ioscape/N`; `None` when the text is of another kind.
    pub fn schema_number(schema: &str) -> Option<u32> {
        schema.strip_prefix("ioscape/")?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_survives_the_round_trip() {
        let mut document = Document { schema: SCHEMA.into(), seed: 7, ..Document::default() };
        document.warn(Warning::new(crate::WarningKind::Drift, "x").at("y"));
        document.evaluation = Some(Evaluation { target: ".".into(), ..Evaluation::default() });
        let text = serde_json::to_string(&document).unwrap();
        assert_eq!(serde_json::from_str::<Document>(&text).unwrap(), document);
    }

    #[test]
    fn warnings_are_kept_once_and_unknown_kinds_are_read() {
        let mut document = Document::default();
        for _ in 0..2 {
            document.warn(Warning::new(crate::WarningKind::Steal, "same"));
        }
        assert_eq!(document.warnings.len(), 1);
        let newer: Warning =
            serde_json::from_str(r#"{"kind":"moon_phase","message":"m"}"#).unwrap();
        assert_eq!(newer.kind, crate::WarningKind::Other);
    }

    #[test]
    fn schema_numbers() {
        assert_eq!(Document::schema_number(SCHEMA), Some(1));
        assert_eq!(Document::schema_number("fio/3"), None);
    }
}
