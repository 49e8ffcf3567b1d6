//! Which options were typed, and with which words: a continued run must have the same.

use super::Cli;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};
use ioscape_study::resume::GivenOptions;
use std::ffi::OsString;

/// Options that are no part of what is measured.
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

/// Parses the command line.
///
/// # Errors
/// The words are no command.
pub fn parse(words: Vec<OsString>) -> Result<(Cli, GivenOptions), clap::Error> {
    let mut command = Cli::command();
    let matches = command.try_get_matches_from_mut(words)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|e| e.format(&mut command))?;
    Ok((cli, typed(&command, &matches)))
}

/// What is wrong with a command line that is none, as one sentence.
pub fn sentence(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text.strip_prefix("error: ").unwrap_or(&text).lines().map(str::trim);
    let is_told =
        |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more information");
    let sentence: Vec<&str> = lines.take_while(is_told).filter(|line| !line.is_empty()).collect();
    // The standard library's words for numbers that are none.
    let sentence = sentence.join(" ");
    let sentence = sentence
        .replace("invalid digit found in string", "give a whole number from 0 on")
        .replace("number too large to fit in target type", "the number is too large");
    format!("{sentence} (see --help)")
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
