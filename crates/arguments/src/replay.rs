//! Options of `trace replay`.

use super::result::ResultArgs;
use super::rows::RowsArgs;
use super::value::bytes_from;
use clap::Args;
use ioscape_schema::ReplayFit;
use std::path::PathBuf;

/// `ioscape trace replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The trace, of any known format; - is standard input
    pub trace: PathBuf,
    /// A directory (a scratch file is made there and removed), or a file or block device with --destroy-data
    pub target: PathBuf,
    /// Replay at X times the speed of the trace
    #[arg(long, value_name = "X", default_value = "1", value_parser = speed)]
    pub speed: f64,
    /// Ignore the trace's times and keep as many requests in flight as allowed
    #[arg(long, conflicts_with = "speed")]
    pub as_fast_as_possible: bool,
    /// Most requests in flight
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub in_flight: u32,
    /// Go through the file cache instead of bypassing it (O_DIRECT)
    #[arg(long)]
    pub buffered: bool,
    /// How addresses beyond the end of a smaller target are mapped: wrap (to its beginning) or scale (all of them)
    #[arg(long, value_name = "HOW", default_value = "wrap")]
    pub fit: ReplayFit,
    /// Largest scratch file in a directory, at most half of the free space (a third where the file system copies on write)
    /// [default: what the trace needs, up to half of that]
    #[arg(long, value_name = "SIZE", value_parser = scratch)]
    pub size: Option<u64>,
    /// Check in every read, and once more at the end, that each block holds what was last written to it
    #[arg(long)]
    pub verify: bool,
    /// What of the trace.
    #[command(flatten)]
    pub rows: RowsArgs,
    /// Write the requests as they were issued, as a trace, to FILE (.parquet or .csv); queued_ns is when each was due
    #[arg(long = "rows", value_name = "FILE")]
    pub kept_rows: Option<PathBuf>,
    /// Allow the data of TARGET, a file or device, to be overwritten
    #[arg(long)]
    pub destroy_data: bool,
    /// Where the result goes.
    #[command(flatten)]
    pub out: ResultArgs,
}

/// Size of a scratch file in bytes: with less than a block, no request would be left.
fn scratch(text: &str) -> Result<u64, String> {
    bytes_from("4k", text)
}

fn speed(text: &str) -> Result<f64, String> {
    let value = text.trim_end_matches('x').parse::<f64>().ok();
    let fits = value.filter(|speed| (1e-6..=1e9).contains(speed));
    fits.ok_or_else(|| "give a factor, such as 2 or 0.5".to_owned())
}
