//! Every type that appears in a result of ioscape, and that type's own arithmetic; nothing else.
//!
//! The crate does no I/O and knows no command line. Sizes are bytes, times integer nanoseconds unless a
//! name ends in `_s`; fields carry their unit last.

pub mod distribution;
pub mod document;
pub mod environment;
pub mod evaluation;
pub mod io;
pub mod measurement;
pub mod prediction;
pub mod trace_file;
pub mod trace_summary;
pub mod units;
pub mod warning;
pub mod workload;

pub use distribution::Distribution;
pub use document::{Document, SCHEMA, Tool};
pub use environment::Environment;
pub use evaluation::{
    AllParameters, Border, BorderOperation, Bounded, Drift, Evaluation, Findings, FocalRange,
    Point, Probe, Region, RegionCurves, RegionFinding, Settings, SlopePoint, WritePolicy,
};
pub use io::{Device, Io, IoFlags, IoType, Op, Partition, Request, TraceInfo};
pub use measurement::{Direction, Measurement, ResponseTime, Stop};
pub use prediction::{
    Cheapest, Choice, Comparison, ErrorBin, ErrorFigures, Prediction, Validation, ValidationPoint,
};
pub use trace_file::TraceFile;
pub use trace_summary::{TraceCharacterization, TraceSummary};
pub use warning::{Warning, WarningKind};
pub use workload::{
    Access, Advice, Engine, Parameter, SizeDistribution, Workers, Workload, WorkloadError,
};
