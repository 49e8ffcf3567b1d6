//! `ioscape trace`: the commands for block-I/O traces.

mod analyze;
mod characterize;
mod compare;
mod convert;
mod merge;
mod record;
mod replay;
mod top;

use crate::failure::Failure;
use ioscape_arguments::{TraceArgs, TraceCommand};

/// Runs the command.
pub fn main(args: &TraceArgs) -> Result<(), Failure> {
    match &args.command {
        TraceCommand::Record(args) => record::record(args),
        TraceCommand::Top(args) => top::main(args),
        TraceCommand::Import(args) => convert::import(args),
        TraceCommand::Export(args) => convert::export(args),
        TraceCommand::Analyze(args) => analyze::main(args),
        TraceCommand::Merge(args) => merge::main(args),
        TraceCommand::Compare(args) => compare::main(args),
        TraceCommand::Characterize(args) => characterize::main(args),
        TraceCommand::Replay(args) => replay::main(args),
    }
}
