//! The document: one result file, the same on disk and on standard output.

use crate::{
    CampaignResult, Characterization, Cheapest, Comparison, Doctor, Environment, Evaluation,
    MeasuredComparison, Measurement, OsResults, Outcome, Prediction, Simulation, SystemComparison,
    TraceCharacterization, TraceComparison, TraceFile, TraceReplay, TraceSummary, TwinKept,
    Validation, ValidationLog, ValidationRun, Vxbench, Warning,
};
use serde::{Deserialize, Serialize};
use std::io::Read;

/// The schema this version writes; a reader accepts every `ioscape/N` up to its own.
pub const SCHEMA: &str = "ioscape/1";

/// The JSON Schema of a document (draft 2020-12), made from the types of this crate.
///
/// # Panics
/// Never: the build packs the text that is unpacked here.
///
/// ```
/// assert!(ioscape_schema::json_schema().contains("https://json-schema.org/draft/2020-12/schema"));
/// ```
pub fn json_schema() -> String {
    const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/document.schema.json.zlib"));
    let mut text = String::new();
    let unpacked = flate2::read::ZlibDecoder::new(PACKED).read_to_string(&mut text);
    unpacked.expect("the build packed a text");
    text
}

/// The program that wrote the document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Version of ioscape.
    pub version: String,
    /// Commit that it was built from, as git describes it; absent unless it was built in a clone
    /// for release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl Tool {
    /// Returns whether this is a later version than that of this crate; false if either is not only
    /// numbers and dots.
    pub fn is_newer(&self) -> bool {
        let numbers = |version: &str| -> Option<Vec<u64>> {
            version.split('.').map(|number| number.parse().ok()).collect()
        };
        let both = numbers(&self.version).zip(numbers(env!("CARGO_PKG_VERSION")));
        both.is_some_and(|(theirs, ours)| theirs > ours)
    }
}

/// A result file: where, when and how it was made, and its outcome.
///
/// In JSON the keys of the outcome are at the same level as the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "File")]
pub struct Document {
    /// Name and version of the schema, `ioscape/1`.
    pub schema: String,
    /// The program that wrote the document.
    pub tool: Tool,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Start, RFC 3339.
    pub started_at: String,
    /// Whether the run was interrupted and holds only what was finished.
    pub interrupted: bool,
    /// Name of the machine; absent in results that leave it out (`--anonymous`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The machine.
    pub environment: Environment,
    /// Warnings about the whole.
    pub warnings: Vec<Warning>,
    /// Which measurement is which, if `twin` made them; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin: Option<TwinKept>,
    /// The outcome; `None` if the run ended before it had one, or if a newer ioscape wrote a kind
    /// of outcome unknown here.
    #[serde(flatten)]
    pub outcome: Option<Outcome>,
}

impl Document {
    /// Adds a warning unless the same one is already there.
    pub fn warn(&mut self, warning: Warning) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Adds a warning unless there is already [one like it](Warning::is_like) about the same place.
    pub fn warn_once(&mut self, warning: Warning) {
        let is_told = |one: &Warning| one.is_like(&warning) && one.place == warning.place;
        if !self.warnings.iter().any(is_told) {
            self.warnings.push(warning);
        }
    }

    /// Returns the N of `ioscape/N`; `None` for any other text.
    pub fn schema_number(schema: &str) -> Option<u32> {
        schema.strip_prefix("ioscape/")?.parse().ok()
    }
}

/// A file as read, before its keys are assigned to an outcome.
///
/// The fields of [`Document`] are repeated here. If they were flattened, serde would read them
/// through a buffer, and errors in them would not name their path.
#[derive(Deserialize)]
struct File {
    /// Name and version of the schema, `ioscape/1`.
    schema: String,
    /// The program that wrote the document.
    tool: Tool,
    /// The command line, word by word.
    command: Vec<String>,
    /// Seed of all random choices.
    seed: u64,
    /// Start, RFC 3339.
    started_at: String,
    /// Whether the run was interrupted and holds only what was finished.
    interrupted: bool,
    /// Name of the machine; absent in results that leave it out (`--anonymous`).
    host: Option<String>,
    /// The machine.
    environment: Environment,
    /// Warnings about the whole.
    #[serde(default)]
    warnings: Vec<Warning>,
    /// Which measurement is which, if `twin` made them; absent otherwise.
    twin: Option<TwinKept>,
    /// The result of `run`, one measurement per workload; for an interrupted validation, its
    /// measurements so far.
    measurements: Option<Vec<Measurement>>,
    /// The result of `evaluate`.
    evaluation: Option<Evaluation>,
    /// The result of `predict`: every workload on every system.
    predictions: Option<Vec<Prediction>>,
    /// The result of `compare` of evaluations: predictions side by side.
    comparison: Option<Vec<Comparison>>,
    /// The cheapest systems that reach the requested throughput (`compare --price --at-least`).
    cheapest: Option<Vec<Cheapest>>,
    /// The result of `compare` of measurements.
    measured_comparison: Option<Vec<MeasuredComparison>>,
    /// The result of `validate`.
    validation: Option<Validation>,
    /// The progress of an incomplete validation.
    validation_log: Option<ValidationLog>,
    /// The result of `characterize`.
    characterization: Option<Characterization>,
    /// The result of `vxbench`.
    vxbench: Option<Vxbench>,
    /// The result of `campaign run`.
    campaign: Option<CampaignResult>,
    /// The result of `os`.
    os: Option<OsResults>,
    /// The result of `trace analyze` and `trace merge`.
    trace_summary: Option<TraceSummary>,
    /// The result of `trace characterize`.
    trace_characterization: Option<TraceCharacterization>,
    /// The result of `trace compare`.
    trace_comparison: Option<TraceComparison>,
    /// Files that `trace import`, `export` and `record` wrote.
    trace_files: Option<Vec<TraceFile>>,
    /// The result of `trace replay`.
    trace_replay: Option<TraceReplay>,
    /// The result of `simulate`.
    simulation: Option<Simulation>,
    /// The result of `doctor`.
    doctor: Option<Doctor>,
}

impl File {
    /// Returns every outcome that the keys form; companion keys join the outcome they belong to.
    fn outcomes(&mut self) -> Vec<Outcome> {
        let validation = self.validation();
        let compared = self.compared();
        let all = [
            validation.map(Outcome::from),
            self.measurements.take().map(Outcome::from),
            self.evaluation.take().map(Outcome::from),
            self.predictions.take().map(Outcome::from),
            compared.map(Outcome::from),
            self.characterization.take().map(Outcome::from),
            self.vxbench.take().map(Outcome::from),
            self.campaign.take().map(Outcome::from),
            self.os.take().map(Outcome::from),
            self.trace_summary.take().map(Outcome::from),
            self.trace_characterization.take().map(Outcome::from),
            self.trace_comparison.take().map(Outcome::from),
            self.trace_files.take().map(Outcome::from),
            self.trace_replay.take().map(Outcome::from),
            self.simulation.take().map(Outcome::from),
            self.doctor.take().map(Outcome::from),
        ];
        all.into_iter().flatten().collect()
    }

    /// Takes the comparison with its companions.
    fn compared(&mut self) -> Option<SystemComparison> {
        let (comparison, measured) = (self.comparison.take(), self.measured_comparison.take());
        if comparison.is_none() && measured.is_none() {
            return None;
        }
        // Older versions judged by another rule.
        let judged = comparison.into_iter().flatten().map(Comparison::judged);
        Some(SystemComparison {
            comparison: judged.collect(),
            cheapest: self.cheapest.take().unwrap_or_default(),
            measured: measured.unwrap_or_default(),
        })
    }

    /// Takes the validation together with the measurements.
    fn validation(&mut self) -> Option<ValidationRun> {
        let (validation, log) = (self.validation.take(), self.validation_log.take());
        if validation.is_none() && log.is_none() {
            return None;
        }
        let measurements = self.measurements.take().unwrap_or_default();
        Some(ValidationRun { validation, measurements, log })
    }
}

/// A file holds several outcomes; no command writes such a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it holds both `{0}` and `{1}`, but a result has one outcome")]
struct SeveralOutcomes(&'static str, &'static str);

impl TryFrom<File> for Document {
    type Error = SeveralOutcomes;

    fn try_from(mut file: File) -> Result<Self, SeveralOutcomes> {
        let mut outcomes = file.outcomes();
        if let [one, other, ..] = &outcomes[..] {
            return Err(SeveralOutcomes(one.key(), other.key()));
        }
        Ok(Self {
            outcome: outcomes.pop(),
            schema: file.schema,
            tool: file.tool,
            command: file.command,
            seed: file.seed,
            started_at: file.started_at,
            interrupted: file.interrupted,
            host: file.host,
            environment: file.environment,
            warnings: file.warnings,
            twin: file.twin,
        })
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
