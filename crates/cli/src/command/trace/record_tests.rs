//! How recordings end, what they say of themselves, and how their files are named.

use super::*;
use clap::Parser;
use ioscape_arguments::{Cli, Command, TraceCommand};

/// How a recording with these words ends if it is interrupted (by itself if the space is
/// `full`) and ends its own command, if any, by a signal.
fn interrupted(words: &str, full: Option<&str>) -> Result<(), Failure> {
    let line = format!("ioscape trace record -o a.parquet {words}");
    let parsed = Cli::try_parse_from(line.split_whitespace()).expect("a command");
    let Command::Trace(args) = parsed.command else { panic!("another command") };
    let TraceCommand::Record(args) = args.command else { panic!("another command") };
    let ended = (!args.command.is_empty()).then(|| (143, "it was ended".to_owned()));
    ending(&args, true, full.map(str::to_owned), ended)
}

/// Guards against a defect: with parts, the exit code of the command that it had ended itself
/// was passed on.
#[test]
fn an_interruption_is_told_unless_nothing_else_would_have_ended_the_recording() {
    for words in ["", "-- a", "--seconds 1h", "--rotate 1h -- a", "--rotate 1h --seconds 9h"] {
        let ended = interrupted(words, None);
        assert!(matches!(ended, Err(Failure::Interrupted(_))), "{words}: {ended:?}");
    }
    assert!(interrupted("--rotate 1h", None).is_ok());
}

/// Nobody sees that an unattended recording has ended: its exit code must say so.
#[test]
fn a_recording_that_ended_for_want_of_space_has_failed_and_says_where_it_is() {
    for words in ["", "-- a", "--rotate 1h"] {
        let ended = interrupted(words, Some("only 1 MiB are free"));
        let Err(Failure::Failed(text)) = &ended else { panic!("{words}: {ended:?}") };
        assert!(text.starts_with("only 1 MiB are free; what was recorded"), "{text}");
    }
}

/// Guards against two defects: a command was started and ended within milliseconds; one that
/// had finished failed for lack of space.
#[test]
fn want_of_space_ends_neither_what_begins_nor_what_is_whole() {
    let refused = has_room(Some(1 << 20), Path::new("/var/log"));
    let Err(Failure::Misuse(text)) = &refused else { panic!("{refused:?}") };
    assert!(text.starts_with("only 1 MiB are free in /var/log, "), "{text}");
    assert!(has_room(None, Path::new("/var/log")).is_ok());
    let folder = tempfile::tempdir().expect("a folder");
    let spool = SpoolFolder::open(folder.path()).expect("a folder");
    let (progress, interrupted) = (Progress::of_rows(), AtomicBool::new(false));
    let since = OnceLock::new();
    let watch = Watch::new(None, &progress, &interrupted, &since, &spool);
    let is_due = |spent_s, is_last| watch.is_due(Gathered { bytes: 0, spent_s, is_last });
    assert!(!is_due(0.0, false) && is_due(SPACE_S, false) && !is_due(SPACE_S, true));
}

/// Once, what a recording cannot leave out was reported only in the analysis of its trace.
#[test]
fn all_that_a_recording_says_of_itself_is_said_when_it_begins() {
    let mut source = RecordingSource::default();
    for name in [DISKS, DISKS_NOT_SEEN, RECORDING] {
        source.info.notes.insert(name.to_owned(), format!("{name}."));
    }
    let told: Vec<&String> = notes(&source).collect();
    assert_eq!(told, ["recording.", "disks.", "disks not seen."]);
}

/// Once, after a step back by seven hours, files were named a second apart until the clock
/// caught up.
#[test]
fn a_file_is_named_after_its_beginning_though_the_clock_was_set_back() {
    let mut named_s = BTreeSet::new();
    let named = [22, 15, 16, 22, 22].map(|hour| name_s(&mut named_s, hour * 3600, |_| true));
    assert_eq!(named, [79_200, 54_000, 57_600, 79_201, 79_202]);
}

/// Once, another user had created files of these names, and the recording ended at its next
/// part.
#[test]
fn a_file_is_named_after_the_next_second_of_which_none_is_there() {
    let mut named_s = BTreeSet::new();
    let is_free = |second: i64| second >= 7200;
    assert_eq!([3600, 3600].map(|s| name_s(&mut named_s, s, is_free)), [7200, 7201]);
    assert_eq!(name_s(&mut named_s, 0, |_| false), 0, "it is told when the file is opened");
}
