//! Options for the result: the files it goes to, and what standard output gets.

use clap::Args;
use std::path::{Path, PathBuf};

/// Standard output, for which `-` is short.
pub const STANDARD: &str = "/dev/stdout";

/// All names of standard output.
const NAMES: [&str; 4] = ["-", STANDARD, "/dev/fd/1", "/proc/self/fd/1"];

/// The help of -o for a command that keeps its result even if no file is named, since it took long.
pub(super) const KEPT: &str = "Write the result to FILE (.ioscape.json) [default: \
ioscape-DATE-TIME.ioscape.json in the current directory, unless --html or --json is given]";

/// The same for a command that also writes a page.
pub(super) const KEPT_WITH_PAGE: &str = "Write the result to FILE (.ioscape.json) [default: \
ioscape-DATE-TIME.ioscape.json and ioscape-DATE-TIME.html in the current directory, unless \
--html or --json is given]";

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
    /// Overwrite output files even if they are not ioscape results
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
    /// Overwrite FILE even if it is not an ioscape result
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
    /// Whether a file is requested.
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
    use crate::Cli;
    use clap::CommandFactory;

    #[test]
    fn help_says_where_a_result_that_nobody_named_goes() {
        let cli = Cli::command();
        let campaign = cli.find_subcommand("campaign").expect("a command");
        for (command, has_page) in [
            (cli.find_subcommand("evaluate"), true),
            (cli.find_subcommand("validate"), true),
            (campaign.find_subcommand("run"), false),
        ] {
            let mut options = command.expect("a command").get_arguments();
            let option = options.find(|one| one.get_id().as_str() == "output");
            let help = option.and_then(|one| one.get_help()).expect("its help").to_string();
            assert!(help.contains("default: ioscape-DATE-TIME.ioscape.json"), "{help}");
            assert_eq!(help.contains("ioscape-DATE-TIME.html"), has_page, "{help}");
        }
    }

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
