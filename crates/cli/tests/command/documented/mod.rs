//! Every command of README.md and docs/ runs as written, in a shell, in a directory with the files
//! that its page mentions.
//!
//! [`tables`] lists what is smaller than a reader's, and what is not run and why. Pages run in
//! parallel, each in its own order; a test beside the arguments checks that all commands parse.

mod blocks;
mod place;
mod quoted;
mod run;
mod shape;
mod tables;

use super::common::{read, skipped};
use blocks::{Block, blocks};
use ioscape_workload::campaign::Shipped;
use place::{copy_of, furnished, has_real_traces, name_of, pages};
use run::{Outcome, carried_out};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;
use tables::{INPUTS, NOT_RUN};

/// The outcome of a page's commands.
#[derive(Default)]
struct Checked {
    run: usize,
    left: BTreeMap<usize, usize>,
    skipped: Vec<String>,
    failed: Vec<String>,
}

impl Checked {
    fn add(&mut self, other: Self) {
        self.run += other.run;
        other.left.into_iter().for_each(|(row, count)| *self.left.entry(row).or_default() += count);
        self.skipped.extend(other.skipped);
        self.failed.extend(other.failed);
    }
}

/// The row of [`NOT_RUN`] that covers a command of a page.
fn row_of(page: &str, typed: &str) -> Option<usize> {
    NOT_RUN.iter().position(|(of, begin, _, _)| *of == page && typed.starts_with(begin))
}

/// Runs the commands of a shell block; any other block must be an input, an answer or a listed one.
fn told_of_block(page: &str, block: &Block, next: Option<&Block>, folder: &Path) -> Checked {
    let mut told = Checked::default();
    let is_shell = matches!(block.language.as_str(), "sh" | "console" | "yaml");
    let is_input = block.language == "toml" && INPUTS.iter().any(|(of, _)| *of == page);
    if !is_shell {
        match row_of(page, &block.text) {
            Some(row) => *told.left.entry(row).or_default() += 1,
            None if is_input || block.language == "text" => {}
            None => told.failed.push(format!(
                "{page}:{}: a block of {:?}, which nothing runs",
                block.line, block.language
            )),
        }
        return told;
    }
    let commands = block.commands(next);
    if commands.is_empty() {
        told.failed.push(format!("{page}:{}: a block of a shell without a command", block.line));
    }
    for command in commands {
        if let Some(row) = row_of(page, &command.typed) {
            *told.left.entry(row).or_default() += 1;
            continue;
        }
        match carried_out(&command, folder) {
            Outcome::Done => told.run += 1,
            Outcome::Impossible(why) => {
                told.skipped.push(format!("{page}: {}: {why}", command.typed))
            }
            Outcome::Failed(how) => told.failed.push(format!("{page}:{}: {how}", block.line)),
        }
    }
    told
}

/// Runs the commands of a page, in order.
fn told_of_page(page: &Path, furnished: &Path) -> Checked {
    let name = name_of(page);
    let blocks = blocks(&read(page));
    let mut told = Checked::default();
    if blocks.is_empty() {
        return told;
    }
    let place = copy_of(furnished);
    if name == "gallery.md" && !has_real_traces(place.path()) {
        told.skipped.push(format!("{name}: its traces are not at hand (IOSCAPE_DATA)"));
        return told;
    }
    let begun = Instant::now();
    for (index, block) in blocks.iter().enumerate() {
        told.add(told_of_block(name, block, blocks.get(index + 1), place.path()));
    }
    eprintln!("{name}: {} commands in {:.1} s", told.run, begun.elapsed().as_secs_f64());
    told
}

/// The pages, those with most commands first, so that no long one starts last.
fn longest_first() -> Vec<PathBuf> {
    let mut pages = pages();
    pages.sort_by_key(|page| read(page).matches("\nioscape ").count());
    pages
}

/// Rows of [`NOT_RUN`] whose number of commands is wrong.
fn wrong_rows(told: &Checked) -> Vec<String> {
    let named = |(row, (page, begin, stated, _)): (usize, &(&str, &str, usize, _))| {
        let count = told.left.get(&row).copied().unwrap_or(0);
        (count != *stated).then(|| {
            format!(
                "{page}: {begin}: {stated} commands are listed as not run, and there are {count}"
            )
        })
    };
    NOT_RUN.iter().enumerate().filter_map(named).collect()
}

#[test]
fn the_commands_of_the_documentation_run() {
    let furnished = furnished();
    let waiting = Mutex::new(longest_first());
    let all = Mutex::new(Checked::default());
    // However many processors there are, there is only one disk.
    let at_once = (2 * std::thread::available_parallelism().map_or(1, usize::from)).min(8);
    let next = || waiting.lock().expect("a list").pop();
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(page) = next() {
                    let told = told_of_page(&page, furnished.path());
                    all.lock().expect("a tally").add(told);
                }
            });
        }
    });
    let mut told = all.into_inner().expect("a tally");
    told.skipped.iter().for_each(|why| skipped(why));
    for (row, count) in &told.left {
        let (page, begin, _, why) = NOT_RUN[*row];
        eprintln!("not run ({why:?}): {page}: {begin} ({count})");
    }
    if told.skipped.iter().all(|why| !why.starts_with("gallery.md")) {
        told.failed.extend(wrong_rows(&told));
    }
    let listed: usize = told.left.values().sum();
    eprintln!("{} commands were run, {listed} are listed as not run", told.run);
    assert!(told.failed.is_empty(), "{} failed:\n{}", told.failed.len(), told.failed.join("\n"));
}

/// The campaign that a command runs, if its `--fs` also includes a raw device.
fn campaign_of_raw(typed: &str) -> Option<&str> {
    let mut words = typed.trim_start().strip_prefix("ioscape campaign run ")?.split_whitespace();
    let name = words.next()?;
    let made = words.skip_while(|word| *word != "--fs").nth(1)?;
    made.split(',').any(|kind| kind == "raw").then_some(name)
}

#[test]
fn a_raw_device_is_a_column_of_the_campaign_it_is_shown_with_or_said_to_be_left_out() {
    let mut seen = 0;
    for path in pages() {
        let page = read(&path);
        for name in page.lines().filter_map(campaign_of_raw) {
            let shipped = Shipped::find(name).expect("a campaign that comes with ioscape");
            let methods = shipped.campaign().expect("a sound file").method;
            let left_out = format!("raw is left out: no method of {name} applies to it");
            let is_right = methods.iter().any(|method| method.raw) || page.contains(&left_out);
            assert!(is_right, "{}: {name} has no column for a raw device", path.display());
            seen += 1;
        }
    }
    assert!(seen > 3, "only {seen} commands were found");
}
