//! The command `ioscape`: reads the arguments, wires the crates together, and owns no idea of its own.

mod args;
mod asked;
mod command;
mod failure;
mod interrupt;
mod machine;
mod output;
mod progress;
mod save;
mod systems;

use args::{Cli, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return failure::of_arguments(&error),
    };
    let done = match cli.command {
        Command::Evaluate(args) => command::evaluate::main(&args),
        Command::Run(args) => command::run::main(&args),
        Command::Predict(args) => command::predict::main(&args),
        Command::Compare(args) => command::compare::main(&args),
        Command::Validate(args) => command::validate::main(&args),
        Command::Trace(args) => command::trace::main(&args),
        Command::Report(args) => command::report::main(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
