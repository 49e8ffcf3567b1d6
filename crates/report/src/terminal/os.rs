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
    let (measured, missing): (Vec<&OsBenchmark>, Vec<&OsBenchmark>) =
        results.benchmarks.iter().partition(|one| one.value.is_some());
    if !measured.is_empty() {
        out += &format!("\n{}", benchmarks(&measured, style));
    }
    for (why, cases) in by_reason(&missing) {
        let text = format!("{}: {why}", cases.join(", "));
        out += &style.paragraph("Not measured: ", "  ", &text);
    }
    if let Some(proof) = &results.mab {
        out += &format!("\n{}", style.paragraph("", "  ", &os::proof(proof)));
    }
    out
}

/// The reasons why cases have no value, each once with its cases, in the order of the first ones.
fn by_reason<'a>(missing: &[&'a OsBenchmark]) -> Vec<(&'a str, Vec<String>)> {
    let mut all: Vec<(&str, Vec<String>)> = Vec::new();
    for one in missing {
        let why = one.not_measured.as_deref().unwrap_or_default();
        let name = format!("{} {}", one.name, case(one));
        match all.iter_mut().find(|(known, _)| *known == why) {
            Some((_, cases)) => cases.push(name),
            None => all.push((why, vec![name])),
        }
    }
    all
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

    #[test]
    fn a_reason_of_many_cases_stands_once() {
        let one = |name: &str, why: &str| OsBenchmark {
            name: name.into(),
            case: "x".into(),
            not_measured: Some(why.into()),
            ..OsBenchmark::default()
        };
        let all = [one("a", "busy"), one("b", "one processor"), one("c", "busy")];
        let found = by_reason(&all.iter().collect::<Vec<_>>());
        let expected = [
            ("busy", vec!["a x".to_owned(), "c x".to_owned()]),
            ("one processor", vec!["b x".to_owned()]),
        ];
        assert_eq!(found, expected);
    }
}
