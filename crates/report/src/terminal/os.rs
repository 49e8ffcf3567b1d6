//! The operating-system micro-benchmarks for a terminal.
//!
//! It shows headlines, one table, and what could not be measured.

use super::ink::Style;
use super::tables::{Column, of_rows, table};
use crate::os::{self, case, clean, headlines, interval, speed, value};
use crate::text::inert;
use ioscape_schema::{Document, MeasuredComparison, OsBenchmark, OsResults};

/// All micro-benchmarks of a document as text.
pub fn text(results: &OsResults, style: &Style) -> String {
    let mut out = String::from("\n");
    for (name, figure) in headlines(results) {
        out += &style.paragraph("  ", "      ", &format!("{name:<22}{figure}"));
    }
    if let Some(sentence) = os::sentence(&os::ranking(results), &os::unranked(results)) {
        out += &format!("\n{}", style.paragraph("", "  ", &sentence));
    }
    let (measured, missing): (Vec<&OsBenchmark>, Vec<&OsBenchmark>) =
        results.benchmarks.iter().partition(|one| one.value.is_some());
    let rows: Vec<&OsBenchmark> =
        measured.iter().copied().filter(|one| !os::is_scaling(one)).collect();
    if !rows.is_empty() {
        out += &format!("\n{}", benchmarks(&rows, style));
    }
    out += &scaling(results, style);
    out += &unmeasured(&missing, results, style);
    out += &slowed(&measured, style);
    if let Some(proof) = &results.mab {
        out += &format!("\n{}", style.paragraph("", "  ", &os::proof(proof)));
    }
    out
}

/// Several named results of micro-benchmarks in one table for a terminal.
///
/// `compared` holds the comparisons of every other result with the first, or is empty. `None` if
/// there are fewer than two results, or one is of another kind.
pub fn of_several(
    named: &[(String, &Document)],
    compared: &[MeasuredComparison],
    style: &Style,
) -> Option<String> {
    os::side::all_of(named).map(|all| side_by_side(&all, compared, style))
}

fn side_by_side(
    all: &[os::NamedResults<'_>],
    compared: &[MeasuredComparison],
    style: &Style,
) -> String {
    let names: Vec<_> = all.iter().map(|(name, _)| inert(name)).collect();
    let title = format!("ioscape: operating-system benchmarks of {}", names.join(", "));
    let mut out = style.heading(style.paragraph("", "", &title).trim_end()) + "\n";
    for sentence in os::side::sentences(all, compared) {
        out += &style.paragraph("  ", "    ", &sentence);
    }
    let (head, mut rows) = os::side::table(all, compared);
    for at in (1..rows.len()).rev() {
        // Each name appears once, at its first case.
        if rows[at][0] == rows[at - 1][0] {
            rows[at][0].clear();
        }
    }
    let is_words = |at: usize| at < 2 || head[at].starts_with("Verdict");
    out + "\n" + &of_rows(&head, &rows, is_words, style)
}

/// Cases without a value by reason, the most frequent reason first.
fn unmeasured(missing: &[&OsBenchmark], results: &OsResults, style: &Style) -> String {
    if missing.is_empty() {
        return String::new();
    }
    let mut reasons = by_reason(missing);
    reasons.sort_by_key(|(_, cases)| std::cmp::Reverse(cases.len()));
    let mut out =
        format!("\nNot measured: {} of {} cases\n", missing.len(), results.benchmarks.len());
    for (why, cases) in reasons {
        out += &style.paragraph(&format!("{:>5}  ", cases.len()), "       ", &why.text());
        out += &style.paragraph("       ", "       ", &named(&cases, &results.benchmarks));
    }
    out
}

/// Names cases by their benchmark: all of its cases, a single one by name, or their number.
fn named(cases: &[&OsBenchmark], all: &[OsBenchmark]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in cases.iter().map(|one| one.name.as_str()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let text = |name: &str| {
        let these: Vec<&&OsBenchmark> = cases.iter().filter(|one| one.name == name).collect();
        let whole = all.iter().filter(|one| one.name == name).count();
        match these[..] {
            [one] => format!("{name} ({})", case(one)),
            _ if these.len() == whole => name.to_owned(),
            _ => format!("{name} ({} of {whole})", these.len()),
        }
    };
    names.into_iter().map(text).collect::<Vec<_>>().join(", ")
}

/// The number of values from a processor that ran below its top speed without a visible reason.
fn slowed(measured: &[&OsBenchmark], style: &Style) -> String {
    let slow = measured.iter().filter(|one| one.is_slow());
    match slow.count() {
        0 => String::new(),
        count => {
            let text = format!(
                "{count} of {} values come from a processor that was slower than at its best in this run, and no program of this machine is seen that slowed it, as next to another guest of the host: their intervals also hold what they would be at full speed.",
                measured.len()
            );
            format!("\n{}", style.paragraph("", "  ", &text))
        }
    }
}

/// The reason why some cases have no value.
struct Reason<'a> {
    /// The sentence of the first case.
    why: &'a str,
    /// Whether the sentences of the other cases differ from it, in their numbers only.
    numbers_differ: bool,
}

impl Reason<'_> {
    fn text(&self) -> String {
        let example = if self.numbers_differ { "for example " } else { "" };
        format!("{example}{}", self.why)
    }
}

/// The reasons why cases have no value, each once with its cases, in order of first occurrence.
///
/// Sentences that differ only in their numbers are one reason: on a busy machine nearly every case
/// has different numbers.
fn by_reason<'a>(missing: &[&'a OsBenchmark]) -> Vec<(Reason<'a>, Vec<&'a OsBenchmark>)> {
    let mut all: Vec<(Reason<'a>, Vec<&'a OsBenchmark>)> = Vec::new();
    for &one in missing {
        let why = one.not_measured.as_deref().unwrap_or_default();
        match all.iter_mut().find(|(known, _)| words(known.why).eq(words(why))) {
            Some((known, cases)) => {
                known.numbers_differ |= known.why != why;
                cases.push(one);
            }
            None => all.push((Reason { why, numbers_differ: false }, vec![one])),
        }
    }
    all
}

/// The words of a sentence that contain no digit.
fn words(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit()))
}

/// The combined rates of several tasks, and the operation that scales least.
fn scaling(results: &OsResults, style: &Style) -> String {
    let all = os::scaling(results);
    if all.iter().all(|one| one.rates.iter().all(|(_, rate)| rate.is_empty())) {
        return String::new();
    }
    let (head, rows) = os::scaling_table(&all);
    let sentence = os::scaling_sentence(&all)
        .map_or_else(String::new, |text| format!("\n{}", style.paragraph("", "  ", &text)));
    format!("{sentence}\n{}", of_rows(&head, &rows, |at| at == 0, style))
}

fn benchmarks(all: &[&OsBenchmark], style: &Style) -> String {
    // Each name appears once, at its first case.
    let names = all.iter().enumerate().map(|(index, one)| {
        let again = index > 0 && all[index - 1].name == one.name;
        if again { String::new() } else { one.name.clone() }
    });
    let relative = |one: &&OsBenchmark| one.mips_relative.map_or_else(String::new, speed);
    let columns = [
        Column::words("Benchmark", names),
        Column::words("Case", all.iter().map(|one| case(one))),
        Column::numbers("Value", all.iter().map(|one| value(one))),
        Column::numbers("95 % interval", all.iter().map(|one| interval(one))),
        Column::numbers("Relative", all.iter().map(relative)),
        Column::numbers("Clean", all.iter().map(|one| clean(one))),
    ];
    table(&columns, style)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, why: &str) -> OsBenchmark {
        OsBenchmark {
            name: name.into(),
            case: "x".into(),
            not_measured: Some(why.into()),
            ..OsBenchmark::default()
        }
    }

    fn reasons(all: &[OsBenchmark]) -> Vec<String> {
        let found = by_reason(&all.iter().collect::<Vec<_>>());
        found.iter().map(|(why, cases)| format!("{}: {}", named(cases, all), why.text())).collect()
    }

    #[test]
    fn a_reason_of_many_cases_stands_once() {
        let all = [one("a", "busy"), one("b", "one processor"), one("c", "busy")];
        let found = reasons(&all);
        assert_eq!(found, ["a (x), c (x): busy", "b (x): one processor"]);
        let mut all = vec![one("a", "busy"), one("b", "busy"), one("a", "busy"), one("b", "busy")];
        all.push(OsBenchmark { name: "b".into(), ..OsBenchmark::default() });
        let missing: Vec<&OsBenchmark> = all[..4].iter().collect();
        assert_eq!(named(&missing, &all), "a, b (2 of 3)");
    }

    #[test]
    fn reasons_that_differ_in_their_numbers_alone_are_one() {
        let all = [
            one("a", "in 3 of 6 processes others kept 0.5 processors busy"),
            one("b", "in 4 of 6 processes others kept 0.7 processors busy"),
            one("c", "in 4 of 6 processes it was slower"),
        ];
        let expected = [
            "a (x), b (x): for example in 3 of 6 processes others kept 0.5 processors busy",
            "c (x): in 4 of 6 processes it was slower",
        ];
        assert_eq!(reasons(&all), expected);
    }
}
