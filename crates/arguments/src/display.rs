//! Options of every command: how summaries and messages look.

use clap::{Args, ValueEnum};
use ioscape_machine::terminal::Display;

/// When a summary is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Also in a pipe
    Always,
    /// Not at all
    Never,
}

/// How summaries and messages look.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct DisplayArgs {
    /// Print nothing on standard error but the reason for a failure
    #[arg(short, long, global = true, help_heading = "Display")]
    pub quiet: bool,
    /// Report every step on a line of its own, also without a terminal
    #[arg(short, long, global = true, conflicts_with = "quiet", help_heading = "Display")]
    pub verbose: bool,
    /// Colours of the summary; NO_COLOR turns them off too
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        global = true,
        help_heading = "Display"
    )]
    pub color: Colour,
    /// Leave the name of this machine out of the result
    #[arg(long, global = true, help_heading = "Display")]
    pub anonymous: bool,
    /// Columns of the summary [default: those of the terminal, 80 to 160, or 100 where there is none]
    #[arg(long, value_name = "N", global = true, help_heading = "Display", value_parser = clap::value_parser!(u16).range(40..=1000))]
    pub width: Option<u16>,
}

impl DisplayArgs {
    /// Returns the same options in the terminal's terms.
    pub fn display(&self) -> Display {
        let colour = match self.color {
            Colour::Auto => None,
            Colour::Always => Some(true),
            Colour::Never => Some(false),
        };
        let width = self.width.map(usize::from);
        Display { quiet: self.quiet, verbose: self.verbose, colour, width }
    }
}
