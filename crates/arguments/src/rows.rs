//! Options on how a trace is read and which of its rows are used: the same for every command that
//! reads one.

use super::value::{nanos, nanos_since};
use clap::Args;
use ioscape_trace::Format;

/// Which rows of a trace.
#[derive(Clone, Debug, Default, Args)]
pub struct ChoiceArgs {
    /// Skip broken records and count them
    #[arg(long)]
    pub skip_bad: bool,
    /// Only requests that arrive from this time on, counted from the start of the trace
    #[arg(long, value_name = "TIME", value_parser = nanos_since)]
    pub from: Option<u64>,
    /// Only requests that arrive before this time
    #[arg(long, value_name = "TIME", value_parser = nanos)]
    pub to: Option<u64>,
    /// Only these disks, separated by commas: by name, by the number at its end (1 for LUN 1), or else
    /// by place from 0 [default: all]
    #[arg(long, visible_alias = "device", value_name = "DISK")]
    pub disk: Vec<String>,
}

/// How a trace is read, and which of its rows.
#[derive(Clone, Debug, Default, Args)]
pub struct RowsArgs {
    /// Format of the trace [default: found by its content]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// Which rows.
    #[command(flatten)]
    pub choice: ChoiceArgs,
}
