//! Options for the result: the files it goes to, and what standard output gets.

use clap::Args;
use std::path::{Path, PathBuf};

/// Standard output, which is also written as `-`.
pub const STANDARD: &str = "/dev/stdout";

/// All names of standard output.
const NAMES: [&str; 4] = ["-", STANDARD, "/dev/fd/1", "/proc/self/fd/1"];

/// Whether an output of this name goes to standard output.
pub(super) fn is_standard(path: &Path) -> bool {
    NAMES.iter().any(|name| path == Path::new(name))
}

/// Where a result goes.
#[derive(Clone, Debug, Default, Args)]
pub struct ResultArgs {
    /// Write the result to FILE (.ioscape.json)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write one self-contained HTML page to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Replace output files even if they are no results of ioscape
    #[arg(long)]
    pub force: bool,
    /// Print the result file on standard output instead of the summary
    #[arg(long)]
    pub json: bool,
}

/// Where a trace is written.
#[derive(Clone, Debug, Args)]
pub struct FileArgs {
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Replace FILE even if it is no result of ioscape
    #[arg(long)]
    pub force: bool,
    /// Print what was done as JSON on standard output
    #[arg(long)]
    pub json: bool,
}

impl FileArgs {
    /// Whether the trace goes to standard output.
    pub fn is_standard(&self) -> bool {
        is_standard(&self.output)
    }
}

impl ResultArgs {
    /// Whether a file is asked for.
    pub fn has_files(&self) -> bool {
        self.output.is_some() || self.html.is_some()
    }

    /// Whether one of the files is standard output.
    pub fn is_standard(&self) -> bool {
        [&self.output, &self.html].into_iter().flatten().any(|path| is_standard(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_output_is_known_by_all_its_names() {
        for name in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
            assert!(is_standard(Path::new(name)), "{name}");
        }
        for other in ["./-", "a", "/dev/stderr", "/dev/fd/3", "/dev/null"] {
            assert!(!is_standard(Path::new(other)), "{other}");
        }
    }
}
