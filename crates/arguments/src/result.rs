//! Options for the result: the files it goes to, and what standard output gets.

use clap::Args;
use std::path::PathBuf;

/// Standard output, for which `-` is short.
pub const STANDARD: &str = "/dev/stdout";

/// The help of -o for a command that keeps its result even if no file is named, since it took long.
pub(super) const KEPT: &str = "Write the result to FILE (.ioscape.json) [default: \
ioscape-DATE-TIME.ioscape.json in the current directory, unless --html or --json is given]";

/// The same for a command that also writes a page.
pub(super) const KEPT_WITH_PAGE: &str = "Write the result to FILE (.ioscape.json) [default: \
ioscape-DATE-TIME.ioscape.json and ioscape-DATE-TIME.html in the current directory, unless \
--html or --json is given]";

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

impl ResultArgs {
    /// Whether a file is requested.
    pub fn has_files(&self) -> bool {
        self.output.is_some() || self.html.is_some()
    }
}

#[cfg(test)]
mod tests {
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
}
