//! Options of `client`.

use super::value::bytes;
use clap::Args;
use std::path::PathBuf;

/// `ioscape client`.
#[derive(Debug, Args)]
pub struct ClientArgs {
    /// The directory that all clients share; a scratch file is made there and removed
    pub directory: PathBuf,
    /// Run the workers in a control group with this much memory, file cache included
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub memory: Option<u64>,
    /// Seed of all random choices: one of its own for each client
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// Several clients at once.
#[derive(Clone, Copy, Debug, Args)]
pub struct ClientsArgs {
    /// Have N clients measure together, asked on standard output and answering on standard input; for `python -m ioscape.mpi`
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub clients: Option<u32>,
}
