//! Options of `trace analyze` and `trace characterize`.

use super::result::ResultArgs;
use super::rows::RowsArgs;
use super::value::{bytes, bytes_from, nanos};
use clap::Args;
use ioscape_schema::trace_summary::Breakdown;
use ioscape_trace::analyze::BlockAlign;
use ioscape_trace::compare::Condition;
use std::path::PathBuf;

/// Which traces, and which of their rows.
#[derive(Debug, Args)]
pub struct WholeArgs {
    /// Trace files of one recording; - is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// Which rows.
    #[command(flatten)]
    pub rows: RowsArgs,
    /// Size of a block, a power of two
    #[arg(long, value_name = "SIZE", default_value = "8k", value_parser = block)]
    pub block: u64,
    /// Where the result goes.
    #[command(flatten)]
    pub out: ResultArgs,
}

/// `ioscape trace analyze`.
#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// The trace.
    #[command(flatten)]
    pub trace: WholeArgs,
    /// How the summary breaks the load down
    #[arg(long, value_name = "process|disk|partition", default_value = "partition")]
    pub by: Breakdown,
    /// Threads to analyze with [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Option<u32>,
    /// Interleave of the file system, for sequential requests; 0 for none [default: estimated from the trace]
    #[arg(long, value_name = "SIZE", value_parser = interleave)]
    pub interleave: Option<u64>,
    /// Where the blocks of caches and sets begin: at multiples of --block, or with each request as the paper counts them
    #[arg(long, value_name = "aligned|request", default_value = "aligned")]
    pub block_align: BlockAlign,
    /// Blocks up to which the miss-ratio curve is exact, at about 40 bytes each; it is sampled beyond
    #[arg(long, value_name = "N", default_value_t = 65_536)]
    pub exact_blocks: usize,
    /// Memory that it may take; a trace with too many blocks for it is analyzed by a sample of them, and the result says so
    /// [default: 4G for the table of blocks]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory: Option<u64>,
    /// Also write all that was learned of this part of a trace to FILE (.ioscape-state), for `ioscape trace merge`
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
}

/// `ioscape trace merge`.
#[derive(Debug, Args)]
#[command(after_help = MERGE)]
pub struct MergeArgs {
    /// States of the parts, in any order, from any number of machines
    #[arg(required = true, value_name = "PART")]
    pub parts: Vec<PathBuf>,
    /// How the summary breaks the load down
    #[arg(long, value_name = "process|disk|partition", default_value = "partition")]
    pub by: Breakdown,
    /// Also write the merged parts as one part, to be merged with others
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Where the result goes.
    #[command(flatten)]
    pub out: ResultArgs,
}

const MERGE: &str = "Parts are stretches of time of a trace, or some of its disks, each analyzed with --state. The result is that of the \
whole trace; of parts by disk it lacks what follows from the order of the requests to all disks: times between arrivals, burstiness, \
and the miss ratio of one cache for all.";

/// `ioscape trace compare`.
#[derive(Debug, Args)]
pub struct CompareTracesArgs {
    /// The trace that the other is compared with; - is standard input
    #[arg(value_name = "A")]
    pub first: PathBuf,
    /// The other trace
    #[arg(value_name = "B")]
    pub second: PathBuf,
    /// Which rows of both.
    #[command(flatten)]
    pub rows: RowsArgs,
    /// Size of a block, a power of two
    #[arg(long, value_name = "SIZE", default_value = "8k", value_parser = block)]
    pub block: u64,
    /// Exit with code 3 if B meets this condition beyond chance: throughput, rate, time, size or queue, then < or >, then a ratio to
    /// A, such as 'time > 1.1'; or changed
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Option<Condition>,
    /// Where the result goes.
    #[command(flatten)]
    pub out: ResultArgs,
}

/// `ioscape trace characterize`.
#[derive(Debug, Args)]
pub struct CharacterizeArgs {
    /// The trace.
    #[command(flatten)]
    pub trace: WholeArgs,
    /// Also describe the trace in windows of this length
    #[arg(long, value_name = "TIME", value_parser = nanos)]
    pub window: Option<u64>,
    /// Write the workloads as a job file, for `ioscape run` and `ioscape predict --workloads`
    #[arg(long, value_name = "JOB.toml")]
    pub jobs: Option<PathBuf>,
}

fn memory(text: &str) -> Result<u64, String> {
    bytes_from("256M", text)
}

fn interleave(text: &str) -> Result<u64, String> {
    if text == "0" { Ok(0) } else { bytes(text) }
}

fn block(text: &str) -> Result<u64, String> {
    let size = bytes(text)?;
    let fits = size.is_power_of_two() && (512..=1 << 30).contains(&size);
    if fits { Ok(size) } else { Err("give a power of two from 512 to 1G".to_owned()) }
}
