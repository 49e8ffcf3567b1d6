//! What each command writes, and the rule that standard output takes only one thing.

use super::{CampaignAction, Command, FileArgs, ReportArgs, ResultArgs, TopArgs, TraceCommand};
use std::path::{Path, PathBuf};

/// An output with its option, if it was requested.
type Optional<'a> = (&'static str, &'a Option<PathBuf>);

/// What a command is asked to write.
#[derive(Default)]
struct Written<'a> {
    /// The output files with their options.
    files: Vec<(&'static str, &'a Path)>,
    /// The option for what is printed on standard output in place of the summary.
    printed: Option<&'static str>,
}

impl<'a> Written<'a> {
    fn new<const N: usize>(files: [Optional<'a>; N], printed: Option<&'static str>) -> Self {
        let given = files.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?)));
        Self { files: given.collect(), printed }
    }

    /// The result, the page, and whatever else the command writes.
    fn of<const N: usize>(out: &'a ResultArgs, more: [Optional<'a>; N]) -> Self {
        let mut all = Self::new([("-o", &out.output), ("--html", &out.html)], None);
        all.files.extend(Self::new(more, None).files);
        Self { printed: out.json.then_some("--json"), ..all }
    }

    fn of_trace(out: &'a FileArgs) -> Self {
        Self { files: vec![("-o", out.output.as_path())], printed: out.json.then_some("--json") }
    }

    fn of_top(args: &'a TopArgs) -> Self {
        let seconds = args.serve.is_none().then_some("what is shown each second");
        let printed = if args.json { Some("--json") } else { seconds };
        Self::new([("--openmetrics", &args.openmetrics)], printed)
    }

    fn of_report(args: &'a ReportArgs) -> Self {
        let kinds = [
            ("--csv", args.csv),
            ("--svg", args.svg),
            ("--png", args.png),
            ("--json", args.json),
            ("--markdown", args.markdown),
        ];
        let printed = kinds.iter().find(|(_, is_asked)| *is_asked).map(|(option, _)| *option);
        Self::new([("-o", &args.output)], printed)
    }

    fn of_traces(command: &'a TraceCommand) -> Self {
        match command {
            TraceCommand::Record(args) => Self::of_trace(&args.out),
            TraceCommand::Top(args) => Self::of_top(args),
            TraceCommand::Import(args) => Self::of_trace(&args.out),
            TraceCommand::Export(args) => Self::of_trace(&args.out),
            TraceCommand::Analyze(args) => Self::of(&args.trace.out, [("--state", &args.state)]),
            TraceCommand::Merge(args) => Self::of(&args.out, [("--state", &args.state)]),
            TraceCommand::Compare(args) => Self::of(&args.out, []),
            TraceCommand::Characterize(args) => Self::of(&args.trace.out, [("--jobs", &args.jobs)]),
            TraceCommand::Replay(args) => Self::of(&args.out, [("--rows", &args.kept_rows)]),
        }
    }

    fn of_command(command: &'a Command) -> Self {
        match command {
            Command::Evaluate(args) => Self::of(&args.out, []),
            Command::Run(args) => {
                let more = [
                    ("--fio-iolog", &args.fio_iolog),
                    ("--rows", &args.rows),
                    ("--openmetrics", &args.openmetrics),
                ];
                Self::of(&args.out, more)
            }
            Command::Predict(args) => Self::of(&args.out, []),
            Command::Compare(args) => Self::of(&args.out, []),
            Command::Ab(args) => Self::of(&args.out, []),
            Command::Validate(args) => Self::of(&args.out, []),
            Command::Characterize(args) => Self::of(&args.out, []),
            Command::Vxbench(args) => {
                // Its -o is the open type.
                let files = [
                    ("--output", &args.out.output),
                    ("--html", &args.out.html),
                    ("--rows", &args.rows),
                ];
                Self::new(files, args.out.json.then_some("--json"))
            }
            Command::Campaign(args) => match &args.action {
                CampaignAction::Run(args) => Self::of(&args.out, []),
                CampaignAction::List | CampaignAction::Show { .. } => Self::default(),
            },
            Command::Os(args) => Self::of(&args.out, []),
            Command::Trace(args) => Self::of_traces(&args.command),
            Command::Simulate(args) => Self::of(&args.out, [("--rows", &args.rows)]),
            Command::Calibrate(args) => Self::new([("-o", &args.output)], None),
            Command::Twin(args) => Self::new([("-o", &args.output)], args.json.then_some("--json")),
            Command::Report(args) => Self::of_report(args),
            Command::Doctor(args) => Self::of(&args.out, []),
            Command::Client(_) | Command::Schema | Command::Completions(_) | Command::Man(_) => {
                Self::default()
            }
        }
    }

    /// The outputs that go to standard output, by `is_standard`.
    fn standard(
        &self,
        is_standard: impl Fn(&Path) -> bool,
    ) -> impl Iterator<Item = &(&'static str, &'a Path)> {
        self.files.iter().filter(move |(_, path)| is_standard(path))
    }
}

impl Command {
    /// Whether a requested output is standard output, by `is_standard`; then that takes nothing else.
    pub fn takes_standard_output(&self, is_standard: impl Fn(&Path) -> bool) -> bool {
        Written::of_command(self).standard(is_standard).next().is_some()
    }

    /// Whether this watches another command, which has standard output unless that gets a result.
    pub fn watches_another(&self) -> bool {
        match self {
            Self::Characterize(_) => true,
            Self::Trace(args) => {
                matches!(&args.command, TraceCommand::Record(args) if !args.command.is_empty())
            }
            _ => false,
        }
    }

    /// Refuses to write two things to standard output.
    pub(super) fn standard_once(&self, is_standard: impl Fn(&Path) -> bool) -> Result<(), String> {
        let written = Written::of_command(self);
        let named = written
            .standard(is_standard)
            .map(|(option, path)| format!("{option} {}", path.display()));
        let all: Vec<String> = named.chain(written.printed.map(str::to_owned)).collect();
        match &all[..] {
            [first, second, ..] => Err(format!(
                "{first} and {second} both want standard output: leave one of them out"
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Cli;
    use clap::Parser;
    use ioscape_machine::output::is_standard_output;

    #[test]
    fn standard_output_takes_one_thing_alone() {
        let parsed =
            |words: &str| Cli::try_parse_from(words.split(' ')).expect("a command").command;
        for words in [
            "ioscape run . -o - --json",
            "ioscape run . -o - --html /dev/stdout",
            "ioscape run . --openmetrics - --json",
            "ioscape evaluate . -o /dev/fd/1 --json",
            "ioscape predict a --html - --json",
            "ioscape vxbench -w read a --output - --json",
            "ioscape campaign run tiny . -o - --json",
            "ioscape trace import a -o - --json",
            "ioscape trace record -o - --json",
            "ioscape trace analyze a --state - -o -",
            "ioscape trace characterize a --jobs - --json",
            "ioscape trace top --openmetrics -",
            "ioscape twin . -o - --json",
            "ioscape report a -o - --markdown",
        ] {
            let why = parsed(words).standard_once(is_standard_output).expect_err(words);
            assert!(why.contains("both want standard output"), "{words}: {why}");
        }
        for (words, is_taken) in [
            ("ioscape run . -o -", true),
            ("ioscape run . --html -", true),
            ("ioscape trace analyze a --state -", true),
            ("ioscape report a -o -", true),
            ("ioscape trace top --serve --openmetrics -", true),
            ("ioscape run . -o a --json", false),
            ("ioscape run . -o /dev/stderr --html /dev/null --json", false),
            ("ioscape report a -o a.html --csv", false),
            ("ioscape schema", false),
        ] {
            let command = parsed(words);
            assert_eq!(command.standard_once(is_standard_output), Ok(()), "{words}");
            assert_eq!(command.takes_standard_output(is_standard_output), is_taken, "{words}");
        }
    }

    #[test]
    fn a_command_that_is_watched_is_known() {
        for (words, is_watched) in [
            ("ioscape characterize -- true", true),
            ("ioscape trace record -o a.parquet -- true", true),
            ("ioscape trace record -o a.parquet --seconds 1", false),
            ("ioscape run .", false),
        ] {
            let cli = Cli::try_parse_from(words.split(' ')).expect("a command");
            assert_eq!(cli.command.watches_another(), is_watched, "{words}");
        }
    }
}
