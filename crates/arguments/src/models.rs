//! Options of the commands that predict: `predict`, `compare` and `validate`.

use super::client::ClientsArgs;
use super::result::{KEPT_WITH_PAGE, ResultArgs};
use super::rows::RowsArgs;
use super::value::{bytes, seconds, simulated};
use super::what_if::WhatIfArg;
use super::workload::WorkloadArgs;
use clap::{Arg, Args};
use ioscape_scaling::model::ModelKind;
use ioscape_schema::Access;
use ioscape_schema::units::parse_rate;
use ioscape_study::comparison::measured::Condition;
use ioscape_study::comparison::price::Price;
use std::path::PathBuf;

/// The workloads that are asked about.
#[derive(Debug, Default, Args)]
#[command(mut_args(as_evaluated))]
pub struct AskedArgs {
    /// Workloads to predict: a named set (paper: five of 1994; today: six of today), a job file, or a result of characterize (.json)
    #[arg(long, value_name = "SET | JOB.toml | RESULT.json")]
    pub workloads: Option<PathBuf>,
    /// A workload by its parameters; engine, access and the like are as in the evaluation unless given.
    #[command(flatten)]
    pub one: WorkloadArgs,
}

/// `ioscape predict`.
#[derive(Debug, Args)]
#[command(mut_args(of_trace))]
pub struct PredictArgs {
    /// Results of `ioscape evaluate`
    #[arg(required = true)]
    pub results: Vec<PathBuf>,
    /// The workloads.
    #[command(flatten)]
    pub asked: AskedArgs,
    /// Predict the application recorded in this block trace (any known format), with cache hits computed from its own locality
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["workloads", "characterization"])]
    pub trace: Vec<PathBuf>,
    /// How the trace is read, and which of its rows.
    #[command(flatten)]
    pub rows: RowsArgs,
    /// Predict the application in this result of `ioscape characterize`, with cache hits computed from its own locality
    #[arg(long, value_name = "RESULT", conflicts_with = "workloads")]
    pub characterization: Option<PathBuf>,
    /// Model: levels, product (the paper's), or default, a mean of both weighted by how well they predict points that they did
    /// not see
    #[arg(long, value_name = "MODEL", default_value = "default")]
    pub model: ModelKind,
    /// Predict for a changed system: memory=SIZE, storage=RESULT (the storage of the system in RESULT), write-policy=write-through or
    /// write-policy=write-back; several separated by commas
    #[arg(long, value_name = "EXCHANGE", value_delimiter = ',')]
    pub what_if: Vec<WhatIfArg>,
    /// Where the result goes.
    #[command(flatten)]
    pub out: ResultArgs,
}

/// `ioscape compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Results of one kind (runs, evaluations, validations, campaigns, vxbench or os results); all others are compared with the first
    #[arg(required = true, num_args = 2.., value_name = "RESULT")]
    pub results: Vec<PathBuf>,
    /// The workloads that are predicted for evaluations; without any, the five of the paper.
    #[command(flatten)]
    pub asked: AskedArgs,
    /// Model: levels, product (the paper's), or default, a mean of both weighted by how well they predict points that they did
    /// not see
    #[arg(long, value_name = "MODEL", default_value = "default")]
    pub model: ModelKind,
    /// Exit with code 3 if a measured row meets this condition beyond chance: throughput, rate or time, then < or >, then a ratio to
    /// the first result, such as 'throughput < 0.95'
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Option<Condition>,
    /// Price of a system, named by its result file without extensions or by its target; once per system
    #[arg(long = "price", value_name = "NAME=N")]
    pub prices: Vec<Price>,
    /// Name the cheapest system that reaches this throughput, such as 500MB/s
    #[arg(long, value_name = "RATE", value_parser = rate, requires = "prices")]
    pub at_least: Option<f64>,
    /// Where the result goes.
    #[command(flatten)]
    pub out: ResultArgs,
}

/// `ioscape validate`.
#[derive(Debug, Args)]
#[command(mut_arg("output", |arg| arg.help(KEPT_WITH_PAGE)))]
pub struct ValidateArgs {
    /// The evaluation whose predictions are tested
    pub result: PathBuf,
    /// What was evaluated: a directory (a scratch file is made there and removed), a file or block device with --destroy-data, or sim:SYSTEM or sim:DRIVE
    pub target: PathBuf,
    /// Which access of an evaluation of several is tested [default: its first]
    #[arg(long, value_name = "ACCESS")]
    pub access: Option<Access>,
    /// Random workloads to measure
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub workloads: u32,
    /// How many times every workload is measured; predictions are compared with the median
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=99))]
    pub rounds: u32,
    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Time limit for measuring, not counting laying out the set; refused where laying it out alone would take longer. Workloads that
    /// do not fit are left out, except in a first round of up to 20 [default: 20m]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub budget: Option<f64>,
    /// Run the workers in a control group with this much memory [default: that of --what-if, else as in the evaluation]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub memory: Option<u64>,
    /// How TARGET differs from the evaluated system, so that predictions are made for TARGET: memory=SIZE, storage=RESULT,
    /// write-policy=write-through or write-policy=write-back
    #[arg(long, value_name = "EXCHANGE", value_delimiter = ',', conflicts_with = "orthogonal")]
    pub what_if: Vec<WhatIfArg>,
    /// Also measure the 162 points of an orthogonal sample, for the paper's alternative model
    #[arg(long)]
    pub orthogonal: bool,
    /// Continue the interrupted validation in FILE with its own options; --budget may be longer
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

impl ValidateArgs {
    /// The simulated system or drive that the target names, if any.
    pub fn simulated(&self) -> Option<&str> {
        simulated(&self.target)
    }
}

/// Asks for a trace where an option says how to read one.
fn of_trace(arg: Arg) -> Arg {
    let rows = ["format", "skip_bad", "from", "to", "disk"];
    if rows.contains(&arg.get_id().as_str()) { arg.requires("trace") } else { arg }
}

/// Rewrites the help of an option whose default is its value in the evaluation that predicts.
fn as_evaluated(arg: Arg) -> Arg {
    let ways = ["size_dist", "queue_depth", "think_time", "align", "engine", "workers", "advice"];
    if !ways.contains(&arg.get_id().as_str()) {
        return arg;
    }
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let what = help.split(" [default").next().unwrap_or_default();
    let refused =
        if arg.get_id() == "think_time" { "shorter pauses are" } else { "anything else is" };
    let shown = format!("{what} [default: as evaluated; {refused} refused]");
    arg.help(shown)
}

fn rate(text: &str) -> Result<f64, String> {
    parse_rate(text).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use crate::{Cli, Command};
    use clap::Parser;

    #[test]
    fn a_comparison_has_two_systems_and_a_choice_has_prices() {
        assert!(Cli::try_parse_from(["ioscape", "compare", "only-one"]).is_err());
        let no_price = ["ioscape", "compare", "a", "b", "--at-least", "500MB/s"];
        assert!(Cli::try_parse_from(no_price).is_err());
        let whole = [&no_price[..], &["--price", "a=1"]].concat();
        let Command::Compare(args) = Cli::try_parse_from(whole).unwrap().command else {
            panic!("another command");
        };
        assert_eq!((args.at_least, args.prices[0].amount), (Some(5e8), 1.0));
    }
}
