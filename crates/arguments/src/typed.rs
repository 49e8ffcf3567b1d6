//! Which options were typed, and with which values: a continued run must have the same.

use super::Cli;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches};
use ioscape_study::resume::GivenOptions;
use std::any::TypeId;
use std::ffi::OsString;

/// Options that do not affect what is measured.
const NOT_MEASURED: [&str; 13] = [
    "--output",
    "--html",
    "--force",
    "--json",
    "--resume",
    "--dry-run",
    "--destroy-data",
    "--quiet",
    "--verbose",
    "--color",
    "--width",
    "--anonymous",
    "--metric",
];

/// Commands that run another command, given after `--`, and what else a word without an option may
/// have been meant for.
const RUNNING: [(&str, &str); 2] =
    [("characterize", ""), ("trace record", ", or name a disk by --device, a folder by --path")];

/// Whether an option takes a number: a size, a time, a share or a count.
fn is_number(arg: &Arg) -> bool {
    let numbers = [
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<f64>(),
    ];
    let is_of = |number: TypeId| arg.get_value_parser().type_id() == number;
    !arg.is_positional() && numbers.into_iter().any(is_of)
}

/// Makes options for numbers accept values that begin with a hyphen, so that the option itself
/// refuses them by name.
fn with_signs(command: Command) -> Command {
    let signed = |arg: Arg| if is_number(&arg) { arg.allow_hyphen_values(true) } else { arg };
    command.mut_args(signed).mut_subcommands(with_signs)
}

/// Parses the command line.
///
/// # Errors
/// The words are not a command.
pub fn parse(words: Vec<OsString>) -> Result<(Cli, GivenOptions), clap::Error> {
    let mut command = with_signs(Cli::command());
    let matches = command.try_get_matches_from_mut(words)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|e| e.format(&mut command))?;
    Ok((cli, typed(&command, &matches)))
}

/// Describes, in one sentence, what is wrong with a command line.
pub fn sentence(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text.strip_prefix("error: ").unwrap_or(&text).lines().map(str::trim);
    let is_told =
        |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more information");
    // After `--` an option would be taken for a file.
    let is_help = |line: &&str| !line.is_empty() && !line.starts_with("tip: to pass");
    let sentence: Vec<&str> = lines.take_while(is_told).filter(is_help).collect();
    if let Some(help) = command_behind(error, &text) {
        return format!("{}: {help}", sentence.join(" "));
    }
    format!("{} (see --help)", in_plain_words(&sentence.join(" ")))
}

/// What to do about a command that is not given after `--`.
fn command_behind(error: &clap::Error, text: &str) -> Option<String> {
    let is_used = |(name, _): &&(&str, &str)| text.contains(&format!("Usage: ioscape {name}"));
    let used = RUNNING.iter().find(is_used).filter(|_| error.kind() == ErrorKind::UnknownArgument);
    match (used, error.get(ContextKind::InvalidArg)) {
        (Some((name, further)), Some(ContextValue::String(word))) if !word.starts_with('-') => {
            Some(format!("put the command after --, as in `ioscape {name} -- {word}`{further}"))
        }
        _ => None,
    }
}

/// Rewrites a sentence about invalid or out-of-range numbers without the phrases of the standard
/// library and the parser.
fn in_plain_words(sentence: &str) -> String {
    if let Some((before, range)) = sentence.rsplit_once(" is not in ")
        && let Some((from, to)) = range.split_once("..")
        && let Some((before, _)) = before.rsplit_once(": ")
    {
        // The largest number of a type is not a limit that anybody meant.
        let to = match to.trim_start_matches('=').parse::<u64>() {
            Ok(to) if to < u64::from(u32::MAX) => format!("to {to}"),
            _ => "on".to_owned(),
        };
        return format!("{before}: give a whole number from {from} {to}");
    }
    sentence
        .replace("invalid digit found in string", "give a whole number without a sign")
        .replace("cannot parse integer from empty string", "give a whole number")
        .replace("number too large to fit in target type", "the number is too large")
}

fn typed(command: &Command, matches: &ArgMatches) -> GivenOptions {
    if let Some((name, below)) = matches.subcommand()
        && let Some(command) = command.find_subcommand(name)
    {
        return typed(command, below);
    }
    let mut found = GivenOptions::default();
    for arg in command.get_arguments() {
        let id = arg.get_id().as_str();
        let Some(name) = arg.get_long().map(|long| format!("--{long}")) else { continue };
        let known = matches.try_contains_id(id).is_ok_and(|has| has);
        if NOT_MEASURED.contains(&name.as_str()) || !known {
            continue;
        }
        let words = matches.get_raw(id).into_iter().flatten().map(|word| word.to_string_lossy());
        let value = words.collect::<Vec<_>>().join(",");
        if matches.value_source(id) == Some(ValueSource::CommandLine) {
            found.typed.insert(name.clone(), value.clone());
        }
        found.all.insert(name, value);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn numbers_that_are_none_are_told_in_plain_words() {
        let told = |seed: &str| {
            let words = ["ioscape", "run", "--seed", seed].map(OsString::from);
            sentence(&parse(words.to_vec()).map(drop).unwrap_err())
        };
        assert!(told("x").contains("'x' for '--seed <N>': give a whole number"), "{}", told("x"));
        let large = told("18446744073709551616");
        assert!(large.contains("the number is too large"), "{large}");
    }

    fn told(words: &[String]) -> String {
        let words = words.iter().map(OsString::from).collect();
        sentence(&parse(words).map(drop).expect_err("no command"))
    }

    /// The number options of a command and its subcommands, each after its command.
    fn numbers(command: &Command, words: &[String], all: &mut Vec<Vec<String>>) {
        let options = command.get_arguments().filter(|arg| is_number(arg));
        let options = options.filter_map(|arg| Some(format!("--{}", arg.get_long()?)));
        all.extend(options.map(|option| [words, &[option]].concat()));
        for below in command.get_subcommands() {
            numbers(below, &[words, &[below.get_name().to_owned()]].concat(), all);
        }
    }

    #[test]
    fn a_number_with_a_sign_is_refused_by_the_name_of_its_option() {
        let mut all = Vec::new();
        numbers(&Cli::command(), &["ioscape".to_owned()], &mut all);
        // Its value follows an equals sign.
        all.retain(|words| words.last().is_some_and(|option| option != "--sustain"));
        assert!(all.len() > 40, "{all:?}");
        for (words, value) in all.iter().flat_map(|words| [(words, "-1"), (words, "-1s")]) {
            let told = told(&[&words[..], &[value.to_owned()]].concat());
            let option = words.last().expect("an option");
            assert!(told.contains(&format!("{value}' for '{option}")), "{words:?} {value}: {told}");
        }
    }

    #[test]
    fn what_the_parser_says_is_told_in_plain_words() {
        for (words, plain) in [
            (
                "ioscape characterize ls",
                "found: put the command after --, as in `ioscape characterize -- ls`",
            ),
            (
                "ioscape trace record sda -o a.parquet",
                "record -- sda`, or name a disk by --device, a folder by --path",
            ),
            ("ioscape run --queue-depth 0", "give a whole number from 1 to"),
            ("ioscape trace record -o a --rotate 1h --keep 0", "give a whole number from 1 on"),
            ("ioscape report a -1", "'-1' found (see --help)"),
        ] {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            assert!(told(&words).contains(plain), "{}", told(&words));
        }
    }

    #[test]
    fn typed_options_are_told_from_defaults() {
        let words = "ioscape evaluate . --direct --budget 30s -o x --seed 1".split(' ');
        let (_, found) = parse(words.map(OsString::from).collect()).unwrap();
        let typed = [("--budget", "30s"), ("--direct", "true"), ("--seed", "1")];
        let typed: BTreeMap<_, _> =
            typed.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        assert_eq!(found.typed, typed);
        assert_eq!(found.all["--size-dist"], "normal");
        assert_eq!(found.all["--all-parameters"], "false");
        assert!(!found.all.contains_key("--memory") && !found.all.contains_key("--output"));
    }
}
