//! Options of `trace`.

use super::analyze::{AnalyzeArgs, CharacterizeArgs, CompareTracesArgs, MergeArgs};
use super::replay::ReplayArgs;
use super::result::FileArgs;
use super::rows::{ChoiceArgs, RowsArgs};
use super::top::TopArgs;
use super::value::{bytes, nanos, seconds};
use clap::{Args, Subcommand};
use ioscape_trace::{Format, OutFormat};
use std::ffi::OsString;
use std::path::PathBuf;

/// `ioscape trace`.
#[derive(Debug, Args)]
pub struct TraceArgs {
    /// What to do with traces.
    #[command(subcommand)]
    pub command: TraceCommand,
}

impl TraceArgs {
    /// Names the storage: the target of a replay or, for a recording, the disks whose file systems
    /// are asked what their blocks hold, and the place where the recording goes.
    pub fn storage(&self) -> Option<String> {
        let recorded = |places: &[PathBuf]| match places.first() {
            Some(place) => place.display().to_string(),
            None => "a recorded disk".to_owned(),
        };
        match &self.command {
            TraceCommand::Replay(args) => Some(args.target.display().to_string()),
            TraceCommand::Record(args) => {
                Some(format!("{} or {}", recorded(&args.path), args.out.output.display()))
            }
            TraceCommand::Top(args) => Some(recorded(&args.path)),
            _ => None,
        }
    }

    /// Whether the command turns what was recorded into a trace even after an interruption, however
    /// long that takes.
    pub fn is_recording(&self) -> bool {
        matches!(self.command, TraceCommand::Record(_))
    }
}

/// The commands for traces.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Record this machine's block I/O: times of arrival, issue and completion, flags, process and block type (needs root)
    Record(RecordArgs),
    /// Watch this machine's block I/O, second by second: by disk, process and type, with the latencies over time (needs root)
    Top(TopArgs),
    /// Read traces of any known format and write them as one Parquet file
    Import(ImportArgs),
    /// Write a trace in a format that another program reads
    Export(ExportArgs),
    /// Analyze a trace in one pass: the tables and figures of Ruemmler & Wilkes 1993, and more
    Analyze(AnalyzeArgs),
    /// Put parts of a trace together that were analyzed one by one: by time or by disk, in any order, on any number of machines
    Merge(MergeArgs),
    /// Lay two traces side by side: every figure of both in one picture, and whether the workload changed
    Compare(CompareTracesArgs),
    /// Describe a trace by the five parameters of the workload model, for `predict` and `run`
    Characterize(CharacterizeArgs),
    /// Issue the requests of a trace on a directory, file or device: at the trace's times, faster, or as fast as possible
    Replay(ReplayArgs),
}

/// `ioscape trace record`.
#[derive(Debug, Args)]
#[command(mut_arg("output", |arg| arg.help("The Parquet file to write")))]
pub struct RecordArgs {
    /// Disk to record, such as vda [default: all]
    #[arg(long, value_name = "NAME")]
    pub device: Vec<String>,
    /// Record the disk that DIR is on
    #[arg(long, value_name = "DIR")]
    pub path: Vec<PathBuf>,
    /// Time to record [default: until the command ends, or Ctrl-C]
    #[arg(long, value_name = "TIME", value_parser = seconds, conflicts_with = "command")]
    pub seconds: Option<f64>,
    /// Begin a new file after each TIME: FILE-20260131T235959Z.parquet, named by when it begins
    #[arg(long, value_name = "TIME", value_parser = rotation)]
    pub rotate: Option<f64>,
    /// Keep the latest N of these files and remove older ones, also those of earlier recordings to the same FILE
    #[arg(long, value_name = "N", requires = "rotate", value_parser = clap::value_parser!(u32).range(1..))]
    pub keep: Option<u32>,
    /// Keep only requests that take longer than this from arrival to completion, each with the process whose requests were in flight
    /// when it arrived
    #[arg(long, value_name = "TIME", value_parser = nanos)]
    pub latency_above: Option<u64>,
    /// Trace buffer per CPU [default: 16M]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub buffer: Option<u64>,
    /// Where the trace goes.
    #[command(flatten)]
    pub out: FileArgs,
    /// A command to record. It keeps standard output, and the summary goes to standard error; with --json or -o -, what the command
    /// writes there goes to standard error
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// `ioscape trace import`.
#[derive(Debug, Args)]
#[command(
    after_help = formats(),
    mut_arg("output", |arg| arg.help("The file to write: Parquet, text if it ends in .csv, or Arrow if it ends in .arrow; - is standard output"))
)]
pub struct ImportArgs {
    /// Traces, compressed or not: the per-CPU files of one blktrace recording, or traces to merge by time; - is standard input
    #[arg(required = true, value_name = "IN")]
    pub inputs: Vec<PathBuf>,
    /// Where the trace goes.
    #[command(flatten)]
    pub out: FileArgs,
    /// Format to write, such as arrow, a stream for a pipe [default: by the ending, parquet, csv or arrow]
    #[arg(long, value_name = "FORMAT")]
    pub output_format: Option<OutFormat>,
    /// What of the traces.
    #[command(flatten)]
    pub rows: RowsArgs,
}

/// `ioscape trace export`.
#[derive(Debug, Args)]
#[command(
    after_help = "Formats to write: parquet, arrow, csv, fio-iolog, disksim, oracle-general."
)]
pub struct ExportArgs {
    /// The trace, of any known format; - is standard input
    pub trace: PathBuf,
    /// Where the trace goes.
    #[command(flatten)]
    pub out: FileArgs,
    /// Format to write
    #[arg(long, value_name = "FORMAT")]
    pub format: OutFormat,
    /// Format of the trace that is read [default: found by its content]
    #[arg(long, value_name = "FORMAT")]
    pub input_format: Option<Format>,
    /// What of the trace.
    #[command(flatten)]
    pub choice: ChoiceArgs,
}

fn rotation(text: &str) -> Result<f64, String> {
    let every = seconds(text)?;
    if every >= 1.0 { Ok(every) } else { Err("give at least 1s".to_owned()) }
}

fn formats() -> String {
    format!("Formats: {}.", Format::names())
}
