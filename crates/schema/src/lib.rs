//! Every type that appears in an ioscape result, with its own arithmetic and nothing else.
//!
//! The crate does no I/O and knows no command line. Sizes are in bytes. Times are integer
//! nanoseconds unless the name ends in `_s`. Field names end with their unit.

mod absent;
pub mod access_pattern;
pub mod advice;
mod block_map;
pub mod border;
mod bounded;
pub mod by_operation;
pub mod campaign;
mod campaign_plan;
pub mod chance;
pub mod characterization;
pub mod clients;
pub mod difference;
pub mod distribution;
pub mod doctor;
pub mod document;
pub mod environment;
pub mod evaluation;
mod gradual;
pub mod io;
pub mod measured_comparison;
pub mod measurement;
pub mod os;
pub mod outcome;
pub mod parameter;
pub mod phase;
pub mod prediction;
pub mod purpose;
mod range;
mod recording;
mod region_count;
pub mod replay;
mod served;
pub mod simulation;
pub mod statistics;
pub mod sustained;
pub mod tally;
pub mod text;
pub mod toolchain;
mod trace_blocks;
pub mod trace_characterization;
pub mod trace_comparison;
pub mod trace_file;
pub mod trace_lacks;
pub mod trace_summary;
mod trace_top;
mod twin;
pub mod units;
pub mod verify;
mod views;
pub mod virtualization;
pub mod vxbench;
mod waiting;
pub mod warning;
pub mod witness;
mod words;
pub mod workload;

pub use access_pattern::{AccessPattern, RequestClass};
pub use advice::Advice;
pub use block_map::{BlockMap, TypedRange};
pub use border::{Border, BorderOperation, LevelCount, Slower};
pub use bounded::Bounded;
pub use by_operation::{ByOperation, OperationTraits};
pub use campaign::{
    CampaignCell, CampaignColumn, CampaignReference, CampaignResult, CampaignRow, CampaignSample,
};
pub use campaign_plan::{
    CampaignSetting, CellPlan, FileSet, Fill, NameJob, NameOperation, Prepare, RowPlan,
};
pub use characterization::{
    Characterization, Ending, FileCall, FileKind, FileTraits, ModelFit, Portrait, ProcessTraits,
    RequestCounts, TracingCost, Traits, Ways,
};
pub use clients::{Client, Clients};
pub use difference::{Difference, MARGIN, is_near_one, is_uncertain};
pub use distribution::Distribution;
pub use doctor::{Check, CheckState, Doctor};
pub use document::{Document, SCHEMA, Tool, json_schema};
pub use environment::{Environment, OtherPlace};
pub use evaluation::{
    AllParameters, Drift, Evaluation, Findings, FocalRange, Point, Probe, RefusedSet, Region,
    RegionCurves, RegionFinding, Settings, SlopePoint, WritePolicy,
};
pub use io::{Device, Io, IoFlags, IoType, Op, Partition, Request, TraceInfo};
pub use measured_comparison::{
    Basis, ConditionResult, LoneRow, MeasuredComparison, MeasuredRow, Metric, RatioLimit, Verdict,
    is_wide,
};
pub use measurement::{Direction, Measurement, ResponseTime, Stop};
pub use os::{
    Contamination, Locality, MabProof, OsBenchmark, OsResults, OsRule, OsSystem, OsTasks, OsUnit,
};
pub use outcome::{Outcome, SystemComparison, ValidationRun};
pub use parameter::Parameter;
pub use phase::{Phase, PhaseRequests};
pub use prediction::{
    ApplicationForecast, Cheapest, Choice, Comparison, ErrorBin, ErrorFigures, MemoryForecast,
    Prediction, RefusedStep, TimePart, Validation, ValidationLog, ValidationPoint,
};
pub use purpose::{CurveKey, Purpose};
pub use recording::RecordingSource;
pub use region_count::{CountDoubt, PilotPair};
pub use replay::{Placed, ReplayFit, ReplayTiming, ReplayedKind, TraceReplay};
pub use simulation::{
    DeviceAgreement, Filled, HostCacheAbsorption, HostCachePoint, SimulatedCell,
    SimulatedOperations, SimulatedParts, SimulatedTimes, Simulation, SimulationAgreement,
};
pub use sustained::{CourseKind, CoursePhase, Sustained};
pub use tally::{Counters, RowTally, StopRule, Tally};
pub use trace_characterization::{TraceCharacterization, TraceTraits};
pub use trace_comparison::TraceComparison;
pub use trace_file::TraceFile;
pub use trace_summary::TraceSummary;
pub use trace_top::{TopLatency, TopRow, TopSecond};
pub use twin::TwinKept;
pub use verify::{VerifyFinding, VerifyKind, VerifyReport};
pub use vxbench::{
    VxFigures, VxFile, VxJob, VxRun, VxShow, VxUsers, VxWorkload, Vxbench, WriterScaling,
};
pub use warning::{Warning, WarningKind};
pub use witness::Witness;
pub use workload::{Access, Engine, SizeDistribution, Workers, Workload, WorkloadError};
