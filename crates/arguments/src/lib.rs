//! The command line: every command and option, parsed but not carried out. Nothing is opened here.

mod ab;
mod analyze;
mod asked;
mod campaign;
mod characterize;
mod check;
mod client;
mod display;
mod doctor;
mod install;
mod models;
mod os;
mod replay;
mod result;
mod rows;
mod simulate;
mod standard;
mod top;
mod trace;
mod twin;
mod typed;
mod value;
mod vxbench;
mod what_if;
mod workload;

use clap::{Args, Parser, Subcommand};
use ioscape_report::Quantity;
use ioscape_schema::{Access, Engine, Filled, SizeDistribution, Workers};
use ioscape_simulate::combinations::precondition;
use result::KEPT_WITH_PAGE;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use value::{bytes, is_job_file, metric, real_engine, seconds, simulated};

pub use ab::AbArgs;
pub use analyze::{
    AnalyzeArgs, CharacterizeArgs as CharacterizeTraceArgs, CompareTracesArgs, MergeArgs,
};
pub use asked::Asked;
pub use campaign::{CampaignAction, CampaignArgs, CampaignRunArgs};
pub use characterize::CharacterizeArgs;
pub use client::{ClientArgs, ClientsArgs};
pub use display::DisplayArgs;
pub use doctor::DoctorArgs;
pub use install::{CompletionsArgs, ManArgs};
pub use models::{AskedArgs, CompareArgs, PredictArgs, ValidateArgs};
pub use os::OsArgs;
pub use replay::ReplayArgs;
pub use result::{FileArgs, ResultArgs, STANDARD};
pub use rows::{ChoiceArgs, RowsArgs};
pub use simulate::{CalibrateArgs, SimulateArgs};
pub use top::TopArgs;
pub use trace::{ExportArgs, ImportArgs, RecordArgs, TraceArgs, TraceCommand};
pub use twin::TwinArgs;
pub use typed::{parse, sentence};
pub use vxbench::VxbenchArgs;
pub use what_if::WhatIfArg;
pub use workload::{WaysArgs, WorkloadArgs};

const AFTER: &str = "Results go to standard output, everything else to standard error.\n\
Exit codes: 0 done; 1 failed (what was measured is saved); 2 misuse, or refused for safety; 3 a comparison failed its condition; 130 interrupted, results saved (but 0 for `trace top`, and for `trace record --rotate` with neither --seconds nor a command).\n\
Sizes are powers of 1024: 64k, 1.5G. Times: 500ms, 30s, 10m.";

/// Find out what is fast on an I/O system and why, and predict how fast a workload will be.
#[derive(Debug, Parser)]
#[command(name = "ioscape", version, after_help = AFTER, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// How the summary and the messages look.
    #[command(flatten)]
    pub display: DisplayArgs,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find out what is fast in a directory, file or device, and why
    Evaluate(Box<EvaluateArgs>),
    /// Run one workload given by options, or several from a job file
    Run(Box<RunArgs>),
    /// Predict how fast workloads will be on evaluated systems, without running them
    Predict(PredictArgs),
    /// Compare results of the same kind row by row, and evaluated systems by predicted speed and price
    Compare(CompareArgs),
    /// Alternate runs of two directories or two job files until every verdict is certain or time is up
    Ab(Box<AbArgs>),
    /// Measure random workloads and show how far off their predictions were
    Validate(ValidateArgs),
    /// Run a command and describe its I/O by the five parameters of the workload model
    Characterize(CharacterizeArgs),
    /// Do a fixed amount of I/O on files, as VERITAS vxbench did: elapsed time, throughput, CPU time
    Vxbench(Box<VxbenchArgs>),
    /// Measure a table of vxbench runs: one that comes with ioscape, or your own
    Campaign(CampaignArgs),
    /// Measure how fast the operating system is relative to its processor, after Ousterhout (1990)
    Os(OsArgs),
    /// Record, import, export, analyze, characterize and replay block traces
    Trace(TraceArgs),
    /// Run a block trace on a simulated drive, with a choice of write caches and schedulers
    Simulate(Box<SimulateArgs>),
    /// Fit a simulated drive to a measured trace
    Calibrate(Box<CalibrateArgs>),
    /// Fit a simulated drive to a real one, and judge it by workloads that it has not seen
    Twin(TwinArgs),
    /// Show results again: as text, HTML page, picture (SVG, PNG), table (CSV) or Markdown
    Report(ReportArgs),
    /// Check what this machine can measure, and how to fix what is missing
    Doctor(DoctorArgs),
    /// Measure what another process asks for, together with other clients; `python -m ioscape.mpi` leads them
    #[command(hide = true)]
    Client(ClientArgs),
    /// Print the JSON Schema of result files
    Schema,
    /// Print the completions of the command line for a shell
    Completions(CompletionsArgs),
    /// Write the manual pages into a directory
    Man(ManArgs),
}

impl Command {
    /// The metric that the figures of an evaluation show, if the command has that option.
    pub fn metric(&self) -> Quantity {
        match self {
            Self::Evaluate(args) => args.metric,
            Self::Report(args) => args.metric,
            _ => Quantity::default(),
        }
    }

    /// Names the storage on which the command does I/O, if any: its first place, or the place of
    /// its first file.
    pub fn storage(&self) -> Option<String> {
        let place: &Path = match self {
            Self::Evaluate(args) => &args.target,
            Self::Validate(args) => &args.target,
            Self::Twin(args) => args.target.as_deref()?,
            Self::Run(args) => args.target(),
            Self::Ab(args) => args.place(),
            Self::Client(args) => &args.directory,
            Self::Doctor(args) => &args.directory,
            Self::Vxbench(args) => args.files.first().map_or(Path::new("."), PathBuf::as_path),
            Self::Campaign(args) => args.measured_on()?,
            Self::Trace(args) => return args.storage(),
            _ => return None,
        };
        Some(place.display().to_string())
    }
}

/// `ioscape evaluate`.
#[derive(Clone, Debug, Args)]
#[command(mut_arg("output", |arg| arg.help(KEPT_WITH_PAGE)))]
pub struct EvaluateArgs {
    /// A directory (a scratch file is made there and removed), a file or block device with --destroy-data, or sim:SYSTEM or sim:DRIVE
    pub target: PathBuf,
    /// Longest time for the whole evaluation
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = seconds)]
    pub budget: f64,
    /// Run the workers in a control group with this much memory, file cache included [default: no limit; where no set
    /// can outgrow the memory, parts of the budget go to such a group and to direct I/O]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub memory: Option<u64>,
    /// Largest working set to try. A size given here is laid out however long that takes, and the budget is not divided.
    /// [default: four times the memory, but at most half of the free space (a third where the file system copies on write) and
    /// what a quarter of the budget can lay out; less where no set can outgrow the memory, since the budget is divided then]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub max_unique_bytes: Option<u64>,
    /// Evaluate each of these, one after the other in equal parts of the budget: buffered, direct (O_DIRECT), dsync (O_DSYNC)
    /// [default: buffered]
    #[arg(long, value_name = "ACCESS,...", value_delimiter = ',')]
    pub access: Vec<Access>,
    /// Bypass the file cache (O_DIRECT): short for --access direct
    #[arg(long, conflicts_with = "access")]
    pub direct: bool,
    /// Requests larger than this bypass the file cache, all others go through it (discovered direct I/O)
    #[arg(long, value_name = "SIZE", value_parser = bytes, conflicts_with_all = ["access", "direct"])]
    pub direct_above: Option<u64>,
    /// How requests reach the kernel: psync, io_uring, mmap or dontcache [default: psync]
    #[arg(long, value_name = "ENGINE", value_parser = real_engine)]
    pub engine: Option<Engine>,
    /// Requests in flight per process, except in the curve that varies the depth; above 1 needs --engine io_uring [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub queue_depth: Option<u32>,
    /// What issues each stream of requests: processes or threads [default: processes]
    #[arg(long, value_name = "KIND")]
    pub workers: Option<Workers>,
    /// How request sizes are drawn: normal, bernoulli, exponential or fixed
    #[arg(long, value_name = "DIST", default_value = "normal")]
    pub size_dist: SizeDistribution,
    /// Also vary all parameters at once to find the 75 % performance point and the range that performs well
    #[arg(long)]
    pub all_parameters: bool,
    /// Measure at most N different workloads (N from 60 to 100000), and repeat them while time is left [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(60..=100_000))]
    pub points: Option<u32>,
    /// What a simulated solid-state drive holds before a set is laid out on it: empty, full (written once, in order) or
    /// steady-state (written at random for long) [default: as its file says]
    #[arg(long, value_name = "STATE", value_parser = precondition)]
    pub precondition: Option<Filled>,
    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print the plan and its estimated time, and measure nothing; an empty scratch file is made and removed
    #[arg(long, conflicts_with = "json")]
    pub dry_run: bool,
    /// What the figures of the summary and the page show; the page can switch between them
    #[arg(long, value_name = "METRIC", default_value = "throughput", value_parser = metric())]
    pub metric: Quantity,
    /// Continue the interrupted evaluation in FILE
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Allow the data of TARGET, a file or device, to be overwritten
    #[arg(long)]
    pub destroy_data: bool,
    /// Whether clients measure together.
    #[command(flatten)]
    pub together: ClientsArgs,
    /// Where the result goes.
    #[command(flatten)]
    pub out: ResultArgs,
}

impl EvaluateArgs {
    /// The accesses to evaluate, in order and without duplicates; at least one.
    pub fn accesses(&self) -> Vec<Access> {
        let mut all: Vec<Access> = Vec::new();
        for access in &self.access {
            if !all.contains(access) {
                all.push(*access);
            }
        }
        if all.is_empty() {
            all.push(if self.direct { Access::Direct } else { Access::Buffered });
        }
        all
    }

    /// Returns these arguments with the limits of the evaluation that is continued, whose options
    /// need not be typed again; `identity` holds their values.
    pub fn as_begun(&self, identity: &BTreeMap<String, String>) -> Self {
        let words = |option: &str| identity.get(option).map(String::as_str);
        let size = |option| words(option).and_then(|text| bytes(text).ok());
        let mut begun = self.clone();
        begun.budget = words("--budget").and_then(|t| seconds(t).ok()).unwrap_or(self.budget);
        begun.max_unique_bytes = size("--max-unique-bytes").or(self.max_unique_bytes);
        begun.memory = size("--memory").or(self.memory);
        begun
    }

    /// The simulated system or drive that the target names, if any.
    pub fn simulated(&self) -> Option<&str> {
        simulated(&self.target)
    }
}

/// `ioscape run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Where: a directory, file or device [default: .]. What: a job file (ioscape's .toml, fio's .fio, vdbench's .vdb, .vdbench
    /// or .parm) or a result of characterize (.json)
    #[arg(value_name = "TARGET | JOB.toml | RESULT.json", num_args = 0..=2)]
    pub places: Vec<PathBuf>,
    /// The workload; not together with a job file.
    #[command(flatten)]
    pub workload: WorkloadArgs,
    /// Time limit for each workload; it ends earlier once the throughput is known to 3 %, with writes to the file cache only after
    /// the kernel has flushed once (40 s with Linux's usual settings) [default: 10s; for a characterized application, which runs
    /// its phases once, 10m or 20 times as long as they took, whichever is longer]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// Run the workers in a control group with this much memory, file cache included
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub memory: Option<u64>,
    /// Also write the requests to FILE as an iolog for fio: from the first on, as many as were measured, at most 2,000,000 per
    /// process. One workload or job only. Further processes go to files with a number before the ending (FILE.1, FILE.2 ...). In a
    /// directory the log names the scratch file, which is removed: to run it with fio, make a file as large as --unique-bytes and
    /// replace that name by it
    #[arg(long, value_name = "FILE")]
    pub fio_iolog: Option<PathBuf>,
    /// Also write the measured requests as a trace to FILE (.parquet or .csv), which every command that reads traces accepts;
    /// with several jobs, one file per job (FILE.2.parquet ...)
    #[arg(long, value_name = "FILE")]
    pub rows: Option<PathBuf>,
    /// Also write the figures to FILE as OpenMetrics text (.prom), for a scraper or the textfile collector of Prometheus
    #[arg(long, value_name = "FILE")]
    pub openmetrics: Option<PathBuf>,
    /// Check in every read, and once more at the end, that each block holds what was last written to it
    #[arg(long)]
    pub verify: bool,
    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Allow the data of TARGET, a file or device, to be overwritten
    #[arg(long)]
    pub destroy_data: bool,
    /// Whether clients measure together.
    #[command(flatten)]
    pub together: ClientsArgs,
    /// Where the result goes.
    #[command(flatten)]
    pub out: ResultArgs,
}

impl RunArgs {
    /// The job file, if there is one.
    pub fn job_file(&self) -> Option<&Path> {
        self.places.iter().find(|place| is_job_file(place)).map(PathBuf::as_path)
    }

    /// The target: the first place whose name is not that of a job file, whatever it is, or the
    /// working directory.
    pub fn target(&self) -> &Path {
        let target = self.places.iter().find(|place| !is_job_file(place));
        target.map_or(Path::new("."), PathBuf::as_path)
    }
}

/// `ioscape report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Result files; - is standard input
    #[arg(required = true)]
    pub results: Vec<PathBuf>,
    /// The page to write; with several results, one page that shows them side by side
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite FILE even if it is not an ioscape result
    #[arg(long)]
    pub force: bool,
    /// Print all points, or predictions, of one result as CSV on standard output
    #[arg(long, conflicts_with_all = ["json", "picture"])]
    pub csv: bool,
    /// Which table of the page --csv prints instead, as it is shown there; an unknown name lists them
    #[arg(long, value_name = "NAME", requires = "csv", conflicts_with_all = ["json", "markdown", "picture"])]
    pub table: Option<String>,
    /// Print the landscape as one SVG picture on standard output
    #[arg(long, conflicts_with = "json", group = "picture")]
    pub svg: bool,
    /// Print it as a PNG picture instead, for where SVG is not accepted
    #[arg(long, conflicts_with = "json", group = "picture")]
    pub png: bool,
    /// Which figure of the page --svg or --png prints, by the name in its link (`#figure-NAME`); an unknown name lists them
    #[arg(long, value_name = "NAME", requires = "picture")]
    pub figure: Option<String>,
    /// Check the results and print them as JSON on standard output, several as one array
    #[arg(long)]
    pub json: bool,
    /// Print the summary as Markdown on standard output: tables for documents, pull requests and CI summaries
    #[arg(long, conflicts_with_all = ["csv", "json", "picture"])]
    pub markdown: bool,
    /// Metric in the figures of evaluations: the one the page shows first, and the only one in the terminal, --svg and --png; --csv has
    /// all three
    #[arg(long, value_name = "METRIC", default_value = "throughput", value_parser = metric(), conflicts_with = "json")]
    pub metric: Quantity,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn bad_values_are_refused() {
        for bad in [
            &["ioscape", "run", "--unique-bytes", "-1"][..],
            &["ioscape", "run", "--size-mean", "4kk"],
            &["ioscape", "run", "--unique-bytes", "0"],
            &["ioscape", "run", "--read-frac", "1.5"],
            &["ioscape", "run", "--processes", "0"],
            &["ioscape", "evaluate", ".", "--engine", "null"],
            &["ioscape", "run", "--direct", "--dsync"],
            &["ioscape", "run", "--direct", "--direct-above", "256k"],
            &["ioscape", "evaluate", ".", "--direct", "--direct-above", "256k"],
            &["ioscape", "evaluate", ".", "--direct", "--access", "direct"],
            &["ioscape", "evaluate", ".", "--access", "sync"],
            &["ioscape", "evaluate", ".", "--dry-run", "--json"],
            &["ioscape", "twin", ".", "--dry-run", "--json"],
            &["ioscape", "campaign", "run", "tiny", ".", "--dry-run", "--json"],
            &["ioscape", "campaign", "run", "tiny", ".", "--fs-size", "1G"],
            &["ioscape", "report", "a", "--table", "points", "--svg"],
            &["ioscape", "report", "a", "--table", "points", "--png"],
            &["ioscape", "report", "a", "--table", "points", "--json"],
            &["ioscape", "report", "a", "--table", "points", "--markdown"],
            &["ioscape", "report", "a", "--json", "--metric", "iops"],
        ] {
            assert!(Cli::try_parse_from(bad).is_err(), "{bad:?}");
        }
    }

    /// Guards against a defect: typing the default that the help showed gave another, undivided
    /// evaluation.
    #[test]
    fn the_help_of_the_largest_set_says_what_bounds_one_that_nobody_gives() {
        let cli = Cli::command();
        let evaluate = cli.find_subcommand("evaluate").unwrap();
        let mut options = evaluate.get_arguments();
        let option = options.find(|one| one.get_id().as_str() == "max_unique_bytes").unwrap();
        let help = option.get_help().unwrap().to_string();
        assert!(help.contains("a quarter of the budget") && help.contains("not divided"), "{help}");
    }

    #[test]
    fn accesses_are_evaluated_in_order_and_once() {
        let accesses = |words: &str| {
            let Command::Evaluate(args) = Cli::try_parse_from(words.split(' ')).unwrap().command
            else {
                panic!("another command")
            };
            args.accesses()
        };
        assert_eq!(accesses("ioscape evaluate ."), [Access::Buffered]);
        assert_eq!(accesses("ioscape evaluate . --direct"), [Access::Direct]);
        let several = accesses("ioscape evaluate . --access dsync,buffered,dsync");
        assert_eq!(several, [Access::Dsync, Access::Buffered]);
    }
}
