//! Options of the commands that simulate: `simulate` and `calibrate`.

use super::result::ResultArgs;
use super::rows::RowsArgs;
use clap::Args;
use ioscape_simulate::array::Array;
use ioscape_simulate::cache::{Destage, Freeing};
use ioscape_simulate::combinations::{
    CacheChoice, Choices, Sweep, arrivals, cache, destage, freeing, precondition, scheduler, sweep,
    switch,
};
use ioscape_simulate::fit::Fitting;
use ioscape_simulate::ssd::Filled;
use ioscape_simulate::{Arrivals, Scheduler};
use std::path::PathBuf;

/// `ioscape simulate`.
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// Block traces, in any format that can be read; - is standard input
    #[arg(required = true)]
    pub trace: Vec<PathBuf>,
    /// A drive by name, its parameter file (.toml), or a DiskSim file (.parv, .diskspecs, .model or .seek); several are
    /// compared with one another. DEVICE=DRIVE is for that device of the trace
    #[arg(long, value_name = "[DEVICE=]NAME | FILE", required_unless_present = "own_drive")]
    pub drive: Vec<String>,
    /// Each trace by itself, on the drive whose file lies beside it: NAME.toml, NAME.parv or NAME.diskspecs for NAME.trace
    #[arg(long, conflicts_with_all = ["drive", "rows", "absorption"])]
    pub own_drive: bool,
    /// An array of drives for every device: none, raid0:DISKS[:CHUNK], raid1:DISKS or raid5:DISKS[:CHUNK] [default: none]
    #[arg(long, value_name = "ARRAY", value_parser = Array::parse)]
    pub array: Option<Array>,
    /// Commands that a disk takes at once, to choose the order itself [default: as the drive]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub queue_depth: Option<u32>,
    /// Write cache at the disk: none, immediate, volatile[:SIZE] or nvram:SIZE [default: as the drive]
    #[arg(long, value_name = "CACHE", value_parser = cache)]
    pub cache: Option<CacheChoice>,
    /// Destage order of a non-volatile cache: fcfs or satf [default: fcfs]
    #[arg(long, value_name = "ORDER", value_parser = destage)]
    pub destage: Option<Destage>,
    /// When a write's space in a non-volatile cache is freed: whole (once all of it is on disk) or as-written
    /// [default: whole]
    #[arg(long, value_name = "WHEN", value_parser = freeing)]
    pub freeing: Option<Freeing>,
    /// Host scheduler: fcfs, c-scan (c-look is the same), scan (look is the same), sstf, satf or aged-satf [default: c-scan]
    #[arg(long, value_name = "ORDER", value_parser = scheduler)]
    pub scheduler: Option<Scheduler>,
    /// Whether the disk reads ahead: on or off [default: as the drive]
    #[arg(long, value_name = "WHETHER", value_parser = switch)]
    pub read_ahead: Option<bool>,
    /// When requests arrive: queued (recorded arrivals), issued (recorded order at the disk) or closed (think times)
    #[arg(long, value_name = "WHEN", default_value = "queued", value_parser = arrivals)]
    pub arrivals: Arrivals,
    /// What of the trace.
    #[command(flatten)]
    pub of_trace: RowsArgs,
    /// Requests beyond the drive's capacity wrap around to its beginning
    #[arg(long)]
    pub wrap: bool,
    /// Put arrivals, or with --arrivals closed the think times, FACTOR times as far apart: 0.5 doubles the load
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    pub scale_time: Option<f64>,
    /// What a solid-state drive holds at first: empty, full (written once, in order) or steady-state (written at random
    /// for long) [default: as its file says]
    #[arg(long, value_name = "STATE", value_parser = precondition)]
    pub precondition: Option<Filled>,
    /// All disks share one bus
    #[arg(long)]
    pub shared_bus: bool,
    /// Vary an option: cache=none,immediate,volatile,8K..4M (doubling), destage=fcfs,satf, scheduler=..., read-ahead=on,off,
    /// array=none,raid5:5
    #[arg(long, value_name = "KEY=VALUES", value_parser = sweep)]
    pub sweep: Vec<Sweep>,
    /// Add what a non-volatile cache at the host would absorb of the writes, by its size
    #[arg(long)]
    pub absorption: bool,
    /// Threads to simulate with; the result does not depend on their number [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Write the requests of the first combination as a trace to FILE (.parquet or .csv), with the parts of their times
    #[arg(long, value_name = "FILE")]
    pub rows: Option<PathBuf>,
    /// Where the result goes.
    #[command(flatten)]
    pub out: ResultArgs,
}

/// `ioscape calibrate`.
#[derive(Debug, Args)]
pub struct CalibrateArgs {
    /// Block traces with times measured on the drive; - is standard input
    #[arg(required = true)]
    pub trace: Vec<PathBuf>,
    /// Where the search starts: a drive by name, or its parameter file (.toml)
    #[arg(long, value_name = "NAME | FILE")]
    pub drive: String,
    /// What of the trace: one device, the one with most requests unless --disk names another.
    #[command(flatten)]
    pub of_trace: RowsArgs,
    /// Rounds of the search; each halves the step
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(0..=12))]
    pub rounds: u32,
    /// Keep the track and cylinder skews
    #[arg(long)]
    pub keep_skews: bool,
    /// Write the fitted parameter file to FILE (.toml) instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite FILE even if it is not an ioscape result
    #[arg(long)]
    pub force: bool,
}

/// A factor for times.
fn factor(text: &str) -> Result<f64, String> {
    let factor = text.parse::<f64>().ok().filter(|f| (1e-6..=1e6).contains(f));
    factor.ok_or_else(|| format!("{text:?} is no factor between 1e-6 and 1e6"))
}

impl SimulateArgs {
    /// How rows are made to fit the drives.
    pub fn fitting(&self) -> Fitting {
        Fitting { wrap: self.wrap, scale_time: self.scale_time }
    }

    /// The options that choose what is simulated.
    pub fn choices(&self) -> Choices {
        Choices {
            cache: self.cache,
            destage: self.destage,
            freeing: self.freeing,
            scheduler: self.scheduler,
            read_ahead: self.read_ahead,
            queue_depth: self.queue_depth,
            array: self.array,
            arrivals: self.arrivals,
            shared_bus: self.shared_bus,
            sweeps: self.sweep.clone(),
        }
    }
}
