//! Options of `twin`: what is measured, how long, and where the drive goes.

use super::value::{bytes, seconds};
use clap::Args;
use std::path::PathBuf;

/// `ioscape twin`.
#[derive(Debug, Args)]
pub struct TwinArgs {
    /// A directory (a scratch file is made there and removed), or a file or block device with --destroy-data
    #[arg(required_unless_present = "from")]
    pub target: Option<PathBuf>,
    /// Look for the drive again in what an earlier twin measured (its --json), without touching the target
    #[arg(
        long,
        value_name = "RESULT",
        conflicts_with_all = ["target", "unique_bytes", "workloads", "seconds", "sustain", "destroy_data", "dry_run"]
    )]
    pub from: Option<PathBuf>,
    /// Write the drive to FILE (.toml) instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Size of the set on which workloads are measured [default: 1G, or less where there is no room]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub unique_bytes: Option<u64>,
    /// Random workloads on which the drive is judged, none of which it is fitted to [default: 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub workloads: Option<u32>,
    /// Time limit for each workload that tests the fitted drive; those it is fitted to take up to four times as long. A run ends
    /// earlier once its throughput is known to 1 % [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// Write and read for TIME each, to find bursts that end and the rates that hold; without -o nothing else is measured
    /// [default: 2m; the whole takes up to 5.5 times TIME]
    #[arg(
        long,
        value_name = "TIME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "2m",
        value_parser = seconds
    )]
    pub sustain: Option<f64>,
    /// Size of the drive's write buffer, where it is known (16M unless given; with --from as before)
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub write_buffer: Option<u64>,
    /// Seed of all random choices (1 unless given; with --from as before, so that the same requests are simulated)
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Overwrite the data of an existing file or block device
    #[arg(long)]
    pub destroy_data: bool,
    /// Overwrite FILE even if it is not an ioscape result
    #[arg(long)]
    pub force: bool,
    /// Print what would be measured and how long that takes at most, and measure nothing; an empty scratch file is made and removed
    #[arg(long, conflicts_with = "json")]
    pub dry_run: bool,
    /// Print what was measured as a result file on standard output
    #[arg(long)]
    pub json: bool,
}

/// Size of the set in bytes, if there is room for it.
const UNIQUE_BYTES: u64 = 1 << 30;
/// Number of workloads on which a drive is judged, and longest time of one in seconds, by default.
const WORKLOADS: u32 = 50;
const SECONDS: f64 = 1.0;
/// Size of the write buffer, in bytes, if nothing is known about it.
const WRITE_BUFFER: u64 = 16 << 20;
/// The default seed.
const SEED: u64 = 1;

impl TwinArgs {
    /// Largest size of the set on which workloads are measured, in bytes.
    pub fn unique_bytes(&self) -> u64 {
        self.unique_bytes.unwrap_or(UNIQUE_BYTES)
    }

    /// Number of random workloads on which the drive is judged.
    pub fn workloads(&self) -> u32 {
        self.workloads.unwrap_or(WORKLOADS)
    }

    /// The longest time of one of them, in seconds.
    pub fn seconds(&self) -> f64 {
        self.seconds.unwrap_or(SECONDS)
    }

    /// Size of the write buffer in bytes, unless an earlier twin recorded it.
    pub fn write_buffer(&self) -> u64 {
        self.write_buffer.unwrap_or(WRITE_BUFFER)
    }

    /// The seed, unless an earlier twin recorded it.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(SEED)
    }

    /// Whether a drive is fitted, rather than only measured for a long time.
    pub fn is_fitted(&self) -> bool {
        self.sustain.is_none() || self.output.is_some()
    }

    /// Whether the drive goes to standard output.
    pub fn is_drive_printed(&self) -> bool {
        self.is_fitted() && self.output.is_none()
    }
}
