//! Options of `doctor`.

use super::result::ResultArgs;
use clap::Args;
use std::path::PathBuf;

/// `ioscape doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The directory that you want to measure; a scratch file is made there and removed
    #[arg(default_value = ".")]
    pub directory: PathBuf,
    /// Where the result goes.
    #[command(flatten)]
    pub out: ResultArgs,
}
