//! Options of the commands used to build packages: completions and manual pages.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// `ioscape completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell: bash, elvish, fish, powershell or zsh
    pub shell: Shell,
}

/// `ioscape man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// An existing directory
    pub directory: PathBuf,
    /// Replace files of these names even if they are no manual pages of ioscape
    #[arg(long)]
    pub force: bool,
}
