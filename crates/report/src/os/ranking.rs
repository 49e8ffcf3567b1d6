//! Ranks the operating system's services by speed relative to the processor's rating.
//!
//! The machines of 1990 are the comparison.

use super::speed;
use ioscape_schema::os::paper::{self, Source, TABLES};
use ioscape_schema::statistics::{median, sort_by_number};
use ioscape_schema::{Locality, OsBenchmark, OsResults, OsUnit};

/// One benchmark of the paper as measured here.
#[derive(Clone, Debug, PartialEq)]
pub struct Rank {
    /// The benchmark and the place of its files.
    pub name: String,
    /// MIPS-relative speed here.
    pub here: f64,
    /// Its interval, without the error of the rating, which all ranks share; absent if unknown.
    pub range: Option<[f64; 2]>,
    /// Median of the MIPS-relative speeds of the paper's configurations.
    pub past: f64,
}

/// All benchmarks for which this machine has a speed, slowest first.
pub fn ranking(results: &OsResults) -> Vec<Rank> {
    let mut all: Vec<Rank> = TABLES.iter().flat_map(|table| of_table(table, results)).collect();
    sort_by_number(&mut all, |one| one.here);
    all
}

/// The names of the benchmarks that are missing in the ranking because they were not measured.
pub fn unranked(results: &OsResults) -> Vec<String> {
    let of_table = move |table: &'static Source| {
        let missing = main_cases(table, results).filter(|one| one.value.is_none());
        missing.filter(move |one| past(table, one).is_some()).map(name)
    };
    TABLES.iter().flat_map(of_table).collect()
}

fn of_table(table: &'static Source, results: &OsResults) -> Vec<Rank> {
    let rank = |one: &OsBenchmark| {
        let (here, past) = (one.mips_relative?, past(table, one)?);
        Some(Rank { name: name(one), here, range: range(one), past })
    };
    main_cases(table, results).filter_map(rank).collect()
}

/// The case that corresponds to a table of the paper, for each place where it was measured.
fn main_cases<'a>(
    table: &'static Source,
    results: &'a OsResults,
) -> impl Iterator<Item = &'a OsBenchmark> {
    let ours = results.benchmarks.iter();
    ours.filter(move |one| one.name == table.name && one.case == table.case)
}

fn name(one: &OsBenchmark) -> String {
    let remote = if one.place == Some(Locality::Remote) { ", remote" } else { "" };
    format!("{}{remote}", one.name)
}

/// The interval of a speed, derived from the interval of its value.
fn range(one: &OsBenchmark) -> Option<[f64; 2]> {
    let ([low, high], value, speed) = (one.ci95?, one.value?, one.mips_relative?);
    Some(match one.unit {
        OsUnit::Nanos => [speed * value / high, speed * value / low],
        _ => [speed * low / value, speed * high / value],
    })
}

/// The median of the speeds of 1990 at the same place, by the paper's definition.
fn past(table: &Source, one: &OsBenchmark) -> Option<f64> {
    let rows = table.rows();
    let same = rows.iter().filter(|row| row.place() == one.place);
    let speed =
        |row: &paper::Row| table.speed(row.value, row.place(), paper::mips_of(row.hardware)?);
    let all: Vec<f64> = same.filter_map(speed).collect();
    (!all.is_empty()).then(|| median(&all))
}

/// The ranking in a sentence; `None` with fewer than two benchmarks.
///
/// It names the slowest benchmark only if its interval lies below all others and none is
/// [`unranked`].
pub fn sentence(all: &[Rank], unranked: &[String]) -> Option<String> {
    let (first, rest) = all.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let apart =
        |other: &Rank| first.range.zip(other.range).is_some_and(|([_, high], [low, _])| high < low);
    let close: Vec<&str> =
        rest.iter().filter(|other| !apart(other)).map(|other| other.name.as_str()).collect();
    let figures = format!(
        "{} of what its rating predicts, where the median of 1990 was {}",
        speed(first.here),
        speed(first.past)
    );
    let mut doubts = Vec::new();
    if !close.is_empty() {
        doubts.push(format!("its interval does not exclude {}", close.join(", ")));
    }
    if !unranked.is_empty() {
        let verb = if unranked.len() == 1 { "was" } else { "were" };
        doubts.push(format!("{} {verb} not measured", unranked.join(", ")));
    }
    Some(if doubts.is_empty() {
        format!("Slowest for this processor is {}: {figures}.", first.name)
    } else {
        format!(
            "Lowest is {} ({figures}), but {}: which one is slowest for this processor cannot be told.",
            first.name,
            doubts.join(", and ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn rank(name: &str, here: f64, range: Option<[f64; 2]>) -> Rank {
        Rank { name: name.into(), here, range, past: 0.5 }
    }

    #[test]
    fn the_slowest_comes_first_beside_its_past() {
        let all = ranking(&sample::os_results());
        assert!(all.len() >= 2 && all.windows(2).all(|pair| pair[0].here <= pair[1].here));
        let getpid = all.iter().find(|one| one.name == "getpid").unwrap();
        let [low, high] = getpid.range.unwrap();
        assert!(low < getpid.here && getpid.here < high);
        // Sixteen machines: the middle lies between the eighth and the ninth.
        assert!((getpid.past - 0.7014).abs() < 5e-4, "{}", getpid.past);
    }

    #[test]
    fn a_sentence_needs_intervals_that_are_apart() {
        let slow = rank("cswitch", 0.03, Some([0.028, 0.032]));
        let apart = [slow.clone(), rank("read", 0.09, Some([0.08, 0.1]))];
        let said = sentence(&apart, &[]).unwrap();
        assert!(said.starts_with("Slowest for this processor is cswitch: 0.030"), "{said}");
        let close = [slow.clone(), rank("read", 0.031, Some([0.02, 0.04]))];
        assert!(sentence(&close, &[]).unwrap().contains("cannot be told"));
        let without = [slow.clone(), rank("read", 0.09, None)];
        assert!(sentence(&without, &[]).unwrap().contains("cannot be told"));
        assert_eq!(sentence(&[slow], &[]), None);
    }

    #[test]
    fn nothing_is_slowest_while_another_was_not_measured() {
        let mut results = sample::os_results();
        assert!(unranked(&results).is_empty(), "a further case of cswitch is not in the ranking");
        let open = results.benchmarks.iter_mut().find(|one| one.name == "open-close");
        open.unwrap().value = None;
        results.rate(None);
        let said = sentence(&ranking(&results), &unranked(&results)).unwrap();
        assert!(said.starts_with("Lowest is cswitch ("), "{said}");
        assert!(said.contains("but open-close, remote was not measured"), "{said}");
        assert!(said.ends_with("cannot be told."), "{said}");
    }
}
