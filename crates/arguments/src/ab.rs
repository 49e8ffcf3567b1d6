//! Options of `ab`: the two arms, the work that both do, and how long.

use super::result::ResultArgs;
use super::value::{bytes, fraction, is_job_file, seconds};
use super::workload::WorkloadArgs;
use clap::Args;
use ioscape_study::comparison::measured::Condition;
use std::path::{Path, PathBuf};

/// `ioscape ab`.
#[derive(Debug, Args)]
pub struct AbArgs {
    /// The base: a directory, or a job file (ioscape's .toml, fio's .fio, vdbench's .vdb, .vdbench or .parm) or result of
    /// characterize (.json) that is run in --dir
    #[arg(value_name = "A")]
    pub first: PathBuf,
    /// What is compared with it, of the same kind
    #[arg(value_name = "B")]
    pub second: PathBuf,
    /// Where two job files are run [default: .]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Job file to run in both directories [default: the one workload that the options describe]
    #[arg(long, value_name = "JOB.toml")]
    pub jobs: Option<PathBuf>,
    /// The workload that is run in two directories.
    #[command(flatten)]
    pub workload: WorkloadArgs,
    /// Time limit for the whole comparison; it ends earlier once every verdict is certain
    #[arg(long, value_name = "TIME", default_value = "3m", value_parser = seconds)]
    pub budget: f64,
    /// Longest time of one run
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = seconds)]
    pub seconds: f64,
    /// Call it no difference if the ratio's interval lies within this fraction of 1
    #[arg(long, value_name = "FRAC", default_value = "0.03", value_parser = fraction)]
    pub margin: f64,
    /// Exit with code 3 if a row meets this condition beyond chance: throughput or time, then < or >, then a ratio to A, such as
    /// 'throughput < 0.95'; with time, throughput has no verdict
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Option<Condition>,
    /// Run the workers in a control group with this much memory, file cache included
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub memory: Option<u64>,
    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Where the result goes.
    #[command(flatten)]
    pub out: ResultArgs,
}

impl AbArgs {
    /// Whether two job files are compared rather than two directories.
    pub fn compares_jobs(&self) -> bool {
        is_job_file(&self.first) || is_job_file(&self.second)
    }

    /// The directory of the first arm.
    pub fn place(&self) -> &Path {
        match self.compares_jobs() {
            true => self.dir.as_deref().unwrap_or(Path::new(".")),
            false => &self.first,
        }
    }
}
