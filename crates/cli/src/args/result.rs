//! Options for the result: the files it goes to, and what standard output gets.

use clap::Args;
use std::path::{Path, PathBuf};

/// Where a result goes.
#[derive(Clone, Debug, Default, Args)]
pub struct ResultArgs {
    /// Write the result to FILE (.ioscape.json)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write one self-contained HTML page to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print the result file on standard output instead of the summary
    #[arg(long)]
    pub json: bool,
}

impl ResultArgs {
    /// The files to write.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.output.iter().chain(&self.html).map(PathBuf::as_path)
    }

    /// Where the user finds the result, in words.
    pub fn place(&self) -> String {
        self.output.as_ref().map_or("above".to_owned(), |path| format!("in {}", path.display()))
    }
}
