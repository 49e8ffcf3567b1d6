//! Options of `characterize`.

use super::result::ResultArgs;
use super::value::bytes;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

const AFTER: &str = "The command keeps standard output, and the summary goes to standard error. With --json or -o -, only the result goes \
to standard output, and what the command writes there goes to standard error.\n\
The command's exit code is passed on, or 128 plus the signal's number if it was killed.\n\
Ctrl-C asks the command to end, waits for it, and keeps what was recorded. A second Ctrl-C kills what still runs, and keeps the recording too.\n\
Of mapped files, page faults are recorded (root, Linux 6.11 or newer). Not recorded: io_uring with a polling kernel thread, 32-bit programs.";

/// `ioscape characterize`.
#[derive(Debug, Args)]
#[command(
    after_help = AFTER,
    mut_arg("output", |arg| arg.help("Write the result to FILE (.ioscape.json), which run and predict accept")),
    mut_arg("json", |arg| arg.help("Print the result file on standard output instead of the summary on standard error"))
)]
pub struct CharacterizeArgs {
    /// Count only files in this directory and below [default: all]
    #[arg(long, value_name = "DIR")]
    pub below: Option<PathBuf>,
    /// Run the command in a control group with this much memory, file cache included
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub memory: Option<u64>,
    /// Where the result goes.
    #[command(flatten)]
    pub out: ResultArgs,
    /// The command and its arguments, after --
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
