//! The operating-system micro-benchmarks for a terminal: headlines, one table, and what could not be measured.

use super::ink::Style;
use super::tables::{Column, table};
use crate::os::{self, case, clean, headlines, interval, speed, value};
use ioscape_schema::{OsBenchmark, OsResults};

/// All that the document holds of micro-benchmarks.
pub fn text(results: &OsResults, style: &Style) -> String {
    let mut out = String::from("\n");
    for (name, figure) in headlines(results) {
        out += &style.paragraph("  ", "      ", &format!("{name:<22}{figure}"));
    }
    if let Some(sentence) = os::sentence(&os::ranking(results)) {
        out += &format!("\n{}", style.paragraph("", "  ", &sentence));
    }
    let (mut measured, missing): (Vec<&OsBenchmark>, Vec<&OsBenchmark>) =
        results.benchmarks.iter().partition(|one| one.value.is_some());
    measured.retain(|one| !os::is_scaling(one));
    if !measured.is_empty() {
        out += &format!("\n{}", benchmarks(&measured, style));
    }
    out += &scaling(results, style);
    for (why, cases) in by_reason(&missing) {
        let text = format!("{}: {}", cases.join(", "), why.text());
        out += &style.paragraph("Not measured: ", "  ", &text);
    }
    if let Some(proof) = &results.mab {
        out += &format!("\n{}", style.paragraph("", "  ", &os::proof(proof)));
    }
    out
}

/// Why some cases have no value.
struct Reason<'a> {
    /// The sentence of the first of them.
    why: &'a str,
    /// Whether the others differ from it in their numbers alone.
    numbers_differ: bool,
}

impl Reason<'_> {
    fn text(&self) -> String {
        let example = if self.numbers_differ { "for example " } else { "" };
        format!("{example}{}", self.why)
    }
}

/// The reasons why cases have no value, each once with its cases, in the order of the first ones. Sentences that differ in
/// their numbers alone are one reason: on a busy machine nearly every case has other numbers.
fn by_reason<'a>(missing: &[&'a OsBenchmark]) -> Vec<(Reason<'a>, Vec<String>)> {
    let mut all: Vec<(Reason<'a>, Vec<String>)> = Vec::new();
    for one in missing {
        let why = one.not_measured.as_deref().unwrap_or_default();
        let name = format!("{} {}", one.name, case(one));
        match all.iter_mut().find(|(known, _)| words(known.why).eq(words(why))) {
            Some((known, cases)) => {
                known.numbers_differ |= known.why != why;
                cases.push(name);
            }
            None => all.push((Reason { why, numbers_differ: false }, vec![name])),
        }
    }
    all
}

/// The words of a sentence that hold no digit.
fn words(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit()))
}

/// What several tasks do together, and what scales least.
fn scaling(results: &OsResults, style: &Style) -> String {
    let all = os::scaling(results);
    if all.iter().all(|one| one.rates.iter().all(|(_, rate)| rate.is_empty())) {
        return String::new();
    }
    let (head, rows) = os::scaling_table(&all);
    let column = |at: usize| rows.iter().map(move |row| row[at].clone());
    let columns: Vec<Column> = (0..head.len())
        .map(|at| match at {
            0 => Column::words(&head[at], column(at)),
            _ => Column::numbers(&head[at], column(at)),
        })
        .collect();
    let sentence = os::scaling_sentence(&all)
        .map_or_else(String::new, |text| format!("\n{}", style.paragraph("", "  ", &text)));
    format!("{sentence}\n{}", table(&columns.iter().collect::<Vec<_>>(), style))
}

fn benchmarks(all: &[&OsBenchmark], style: &Style) -> String {
    // A name stands once, at its first case.
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
    table(&columns.iter().collect::<Vec<_>>(), style)
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
        found.iter().map(|(why, cases)| format!("{}: {}", cases.join(", "), why.text())).collect()
    }

    #[test]
    fn a_reason_of_many_cases_stands_once() {
        let all = [one("a", "busy"), one("b", "one processor"), one("c", "busy")];
        let found = reasons(&all);
        assert_eq!(found, ["a x, c x: busy", "b x: one processor"]);
    }

    #[test]
    fn reasons_that_differ_in_their_numbers_alone_are_one() {
        let all = [
            one("a", "in 3 of 6 processes others kept 0.5 processors busy"),
            one("b", "in 4 of 6 processes others kept 0.7 processors busy"),
            one("c", "in 4 of 6 processes it was slower"),
        ];
        let expected = [
            "a x, b x: for example in 3 of 6 processes others kept 0.5 processors busy",
            "c x: in 4 of 6 processes it was slower",
        ];
        assert_eq!(reasons(&all), expected);
    }
}
