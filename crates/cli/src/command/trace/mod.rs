//! `ioscape trace`: what a block trace holds.

mod analyze;
mod characterize;
mod rows;

use crate::args::TraceCommand;
use crate::failure::Failure;

/// Runs the command.
///
/// # Errors
/// A trace that cannot be read, a choice that holds nothing, and output that cannot be written.
pub fn main(command: &TraceCommand) -> Result<(), Failure> {
    match command {
        TraceCommand::Analyze(args) => analyze::main(args),
        TraceCommand::Characterize(args) => characterize::main(args),
    }
}
