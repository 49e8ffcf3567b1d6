//! Options of the operating-system micro-benchmarks, `os`.

use super::result::ResultArgs;
use super::value::seconds;
use clap::Args;
use std::path::PathBuf;

/// `ioscape os`.
#[derive(Debug, Args)]
pub struct OsArgs {
    /// Run these benchmarks only, separated by commas: getpid,cswitch
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Directory for the file benchmarks; give a second one on a network file system for the remote columns
    #[arg(long = "dir", value_name = "DIR", default_value = ".")]
    pub directories: Vec<PathBuf>,
    /// MIPS rating of this machine, VAX-11/780 = 1 [default: measured by Dhrystone 2.1]
    #[arg(long, value_name = "N", value_parser = rating)]
    pub mips: Option<f64>,
    /// Compiler that the Modified Andrew Benchmark uses in place of the built-in one, such as gcc
    #[arg(long, value_name = "CMD")]
    pub compiler: Option<String>,
    /// Take a minute instead of five, with wider intervals
    #[arg(long)]
    pub quick: bool,
    /// Time of the whole run, divided among the benchmarks; one that gets no number says why [default: 5m; with --quick: 1m]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub budget: Option<f64>,
    /// Where the result goes.
    #[command(flatten)]
    pub out: ResultArgs,
}

fn rating(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1e9 => Ok(value),
        _ => Err("a rating is a number above 0, up to 1e9".to_owned()),
    }
}
