//! blktrace's binary records against blkparse's reading of the same files: how many, their sums,
//! the first and the last.

#![allow(clippy::print_stderr, clippy::disallowed_methods)]

use super::data;
use ioscape_schema::Op;
use std::collections::{HashMap, VecDeque};
use std::process::Command;

/// Files of one recording, and the name under which blkparse knows them all.
const RECORDED: [&str; 2] = ["recorded/blk/loop0.blktrace.0", "recorded/blk/loop0.blktrace.1"];

/// What blkparse prints of the recording in our own format; if `None`, the reason was printed
/// prominently.
fn printed(format: &str) -> Option<String> {
    let folder = data::path("recorded/blk")?;
    let mut command = Command::new("blkparse");
    command.args(["-q", "-i", "loop0", "-D"]).arg(folder);
    command.args(["-f", format]);
    match command.output() {
        Ok(output) if output.status.success() => {
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        other => {
            eprintln!("SKIPPED: blkparse (of the package blktrace) cannot be run: {other:?}");
            None
        }
    }
}

/// One event as blkparse prints it: action, letters, sector, bytes, nanoseconds.
fn events(text: &str) -> Vec<(char, String, u64, u64, u64)> {
    let event = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [action, letters, sector, bytes, seconds, nanos] = words[..] else { return None };
        let number = |word: &str| word.parse::<u64>().ok();
        let time = number(seconds)? * 1_000_000_000 + number(nanos)?;
        Some((action.chars().next()?, letters.to_owned(), number(sector)?, number(bytes)?, time))
    };
    text.lines().filter_map(event).collect()
}

/// Reads or writes: how many, their bytes, sums of issue and completion times, first and last completion.
#[derive(Debug, Default, PartialEq)]
struct Sums {
    count: u64,
    bytes: u64,
    issued: u128,
    completed: u128,
    first: u64,
    last: u64,
}

impl Sums {
    fn add(&mut self, bytes: u64, issued: u64, completed: u64) {
        self.first = if self.count == 0 { completed } else { self.first.min(completed) };
        self.count += 1;
        self.bytes += bytes;
        self.issued += u128::from(issued);
        self.completed += u128::from(completed);
        self.last = self.last.max(completed);
    }
}

#[test]
fn rows_are_the_events_that_blkparse_prints() {
    let Some(text) = printed("%a %d %S %N %T %9t\n") else { return };
    let Some((rows, info)) = data::rows(&RECORDED) else { return };
    let mut issued: HashMap<(bool, u64), VecDeque<(u64, u64)>> = HashMap::new();
    let (mut theirs, mut orphans) = ([Sums::default(), Sums::default()], 0u64);
    for (action, letters, sector, bytes, time) in events(&text) {
        let writes = letters.contains('W');
        let here = issued.entry((writes, sector)).or_default();
        match action {
            'D' => here.push_back((bytes, time)),
            'C' => match here.pop_front() {
                Some((bytes, from)) => theirs[usize::from(writes)].add(bytes, from, time),
                None => orphans += 1,
            },
            _ => {}
        }
    }
    let mut ours = [Sums::default(), Sums::default()];
    let began = rows.iter().map(|io| io.queued_ns).min().unwrap_or(0);
    assert_eq!(began, 0, "times count from the first event");
    for io in &rows {
        let sums = &mut ours[usize::from(io.request.op == Op::Write)];
        sums.add(u64::from(io.request.len), io.issued_ns, io.completed_ns);
    }
    assert_eq!(ours, theirs);
    let told = info.notes.get("completions without a beginning");
    assert_eq!(told.map(String::as_str), Some(orphans.to_string().as_str()));
    assert!(ours[0].count > 7000 && ours[1].count > 7000, "{ours:?}");
}
