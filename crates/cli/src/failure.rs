//! How a command fails: with one sentence and an exit code.

use crate::drives;
use ioscape_machine::allocator;
use ioscape_machine::descriptors::standard_output;
use ioscape_machine::error::Error as MeasureError;
use ioscape_schema::VerifyReport;
use ioscape_schema::text::inert;
use ioscape_trace::Error as TraceError;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Exit code for a failure during the work.
const FAILED: u8 = 1;
/// Exit code for misuse, and for refusals for safety.
const MISUSE: u8 = 2;
/// Exit code of a comparison whose condition was met.
const CONDITION: u8 = 3;
/// Exit code after an interruption, as in a shell after SIGINT.
const INTERRUPTED: u8 = 130;

/// Why a command did not finish.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The user asked for something impossible; nothing was touched.
    #[error("{0}")]
    Misuse(String),
    /// An input asks for several impossible things; nothing was touched.
    #[error("{what}: {}", .each.join("; "))]
    Refused {
        /// The input.
        what: String,
        /// Each impossible thing, with its place in the input.
        each: Vec<String>,
    },
    /// The work failed midway.
    #[error("{0}")]
    Failed(String),
    /// A comparison met the condition under which it fails.
    #[error("{0}")]
    Condition(String),
    /// The user interrupted; the text says where the finished results are.
    #[error("{0}")]
    Interrupted(String),
    /// A command that was run for the user ended badly; its own exit code is passed on.
    #[error("{text}")]
    Command {
        /// Exit code, as a shell would give it.
        code: u8,
        /// How it ended.
        text: String,
    },
    /// The reader of our output is gone, as after `| head`.
    #[error("the reader of the output is gone")]
    OutputClosed,
    /// The failure has already been reported; only its exit code remains.
    #[error("told already")]
    Told(u8),
}

impl Failure {
    /// A failure on the machine side, with further information for the user.
    pub fn of_measure(error: &MeasureError, saved: &str) -> Self {
        match error {
            MeasureError::Output { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
                Self::OutputClosed
            }
            MeasureError::Interrupted => Self::Interrupted(format!("interrupted{saved}")),
            other if other.is_misuse() => Self::Misuse(format!("{other}{saved}")),
            other => Self::Failed(format!("{other}{saved}")),
        }
    }

    /// Misuse, with this reason.
    pub fn misuse(why: impl Display) -> Self {
        Self::Misuse(why.to_string())
    }

    /// Misuse because of what an input asks for; several reasons go on separate lines.
    pub fn refused(input: &impl Display, reasons: &[impl Display]) -> Self {
        let each: Vec<String> = reasons.iter().map(ToString::to_string).collect();
        match &each[..] {
            [one] => Self::Misuse(format!("{input}: {one}")),
            _ => Self::Refused { what: input.to_string(), each },
        }
    }

    /// An input that cannot be read, described by `text`; nothing has been done yet.
    pub fn of_input(text: String, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::Interrupted => Self::Interrupted("interrupted: nothing was done".into()),
            _ => Self::Misuse(text),
        }
    }

    /// A failure to write `what`.
    pub fn of_write(what: &str, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::OutputClosed
        } else {
            Self::Failed(format!("cannot write {what}: {error}"))
        }
    }

    /// A failure to write the trace `name`.
    pub fn of_trace(name: &str, error: TraceError) -> Self {
        match error {
            TraceError::Write(error) => Self::of_write(name, &error),
            other => other.into(),
        }
    }

    /// Returns the same refusal or failure, prefixed with `what`.
    pub fn about(self, what: &str) -> Self {
        match self {
            Self::Misuse(text) => Self::Misuse(format!("{what}: {text}")),
            Self::Failed(text) => Self::Failed(format!("{what}: {text}")),
            other => other,
        }
    }

    /// Returns the same failure with further information for the user.
    pub fn with(self, more: &str) -> Self {
        match self {
            Self::Misuse(text) => Self::Misuse(text + more),
            Self::Refused { .. } => Self::Misuse(self.to_string() + more),
            Self::Failed(text) => Self::Failed(text + more),
            Self::Condition(text) => Self::Condition(text + more),
            Self::Interrupted(text) => Self::Interrupted(text + more),
            Self::Command { code, text } => Self::Command { code, text: text + more },
            told @ (Self::OutputClosed | Self::Told(_)) => told,
        }
    }

    /// The text that the user sees, free of control characters except line ends.
    fn told(&self) -> String {
        let Self::Refused { what, each } = self else {
            return inert(&self.to_string()).into_owned();
        };
        let head =
            format!("{}: {} things cannot be carried out as written:", inert(what), each.len());
        each.iter().fold(head, |text, one| text + "\n  " + &inert(one))
    }

    /// Reports the failure to the user and returns the exit code.
    pub fn report(&self) -> u8 {
        let code = match self {
            Self::OutputClosed => return 0,
            Self::Told(code) => return *code,
            Self::Misuse(_) | Self::Refused { .. } => MISUSE,
            Self::Failed(_) => FAILED,
            Self::Condition(_) => CONDITION,
            Self::Interrupted(_) => INTERRUPTED,
            Self::Command { code, .. } => *code,
        };
        // If memory ran out, the program interrupted itself.
        let (code, why) = match allocator::exhausted() {
            Some(why) => (FAILED, why + "; "),
            None => (code, String::new()),
        };
        let _ = writeln!(io::stderr(), "ioscape: {why}{}", self.told());
        code
    }
}

/// The kernel refused to start a thread.
pub fn no_thread(error: io::Error) -> Failure {
    MeasureError::io("start", Path::new("a thread"), error).into()
}

/// Combines two outcomes of one command: the first failure, which determines the exit code,
/// followed by the other.
pub fn both(first: Result<(), Failure>, second: Result<(), Failure>) -> Result<(), Failure> {
    match (first, second) {
        (Err(first), Err(Failure::OutputClosed)) => Err(first),
        (Err(Failure::OutputClosed), second @ Err(_)) => second,
        (Err(first), Err(second)) => Err(first.with(&format!("; and {second}"))),
        (Ok(()), second) => second,
        (first, Ok(())) => first,
    }
}

/// Fails if one of the reports found blocks that do not hold what was written to them; the first
/// such report is named.
pub fn verdict<'a>(mut reports: impl Iterator<Item = &'a VerifyReport>) -> Result<(), Failure> {
    reports.find_map(VerifyReport::failure).map_or(Ok(()), |text| Err(Failure::Failed(text)))
}

impl From<MeasureError> for Failure {
    fn from(error: MeasureError) -> Self {
        Self::of_measure(&error, "")
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        match error {
            TraceError::Write(e) if e.kind() == io::ErrorKind::BrokenPipe => Self::OutputClosed,
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<ioscape_simulate::Error> for Failure {
    /// A drive, trace or system that cannot be simulated: nothing has been done.
    fn from(error: ioscape_simulate::Error) -> Self {
        match drives::interrupted() {
            true => Self::Interrupted("interrupted: nothing was done".to_owned()),
            false => Self::Misuse(error.to_string()),
        }
    }
}

/// Prints help and version as requested, and anything else as one sentence.
pub fn of_arguments(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind::{
        DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion,
    };
    if matches!(error.kind(), DisplayHelp | DisplayVersion) {
        let printed = standard_output().and_then(|()| error.print());
        let printed = printed.and_then(|()| io::stdout().flush());
        let failed = printed.map_err(|e| Failure::of_write("standard output", &e)).err();
        return ExitCode::from(failed.map_or(0, |failure| failure.report()));
    }
    if error.kind() == DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return ExitCode::from(MISUSE);
    }
    ExitCode::from(Failure::Misuse(ioscape_arguments::sentence(error)).report())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ends_are_both_told_and_a_reader_that_went_away_hides_neither() {
        let failed = |why: &str| Err(Failure::Failed(why.to_owned()));
        let stopped = || Err(Failure::Interrupted("stopped".to_owned()));
        let closed = || Err(Failure::OutputClosed);
        let told = both(failed("no disk"), both(closed(), failed("a wrong block")));
        assert_eq!(told.expect_err("a failure").to_string(), "no disk; and a wrong block");
        for ended in [both(stopped(), closed()), both(closed(), stopped())] {
            assert!(matches!(ended, Err(Failure::Interrupted(_))));
        }
        assert!(matches!(both(Ok(()), closed()), Err(Failure::OutputClosed)));
    }
}
