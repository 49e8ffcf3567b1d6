//! How operations scale over processors: the combined rate of several tasks over the rate of one.

use super::{shown, speed};
use ioscape_schema::statistics::{ratio_interval, sort_by_number};
use ioscape_schema::{OsBenchmark, OsResults, OsTasks};

/// The benchmark that these cases belong to.
const NAME: &str = "scaling";

/// One operation, performed by growing numbers of tasks of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// The operation and the kind of tasks.
    pub name: String,
    /// The number of tasks, and their combined rate in words.
    pub rates: Vec<(u32, String)>,
    /// The rate of the most tasks over the rate of one; absent if either was not measured.
    pub gain: Option<f64>,
    /// Interval of `gain`; absent unless both rates have one.
    pub range: Option<[f64; 2]>,
}

/// Whether a case belongs to the scaling benchmark, which has a table of its own.
pub fn is_scaling(one: &OsBenchmark) -> bool {
    one.name == NAME && one.tasks.is_some()
}

/// Every operation, in the order of measurement.
pub fn scaling(results: &OsResults) -> Vec<Scaling> {
    let mut groups: Vec<(String, Vec<&OsBenchmark>)> = Vec::new();
    for one in results.benchmarks.iter().filter(|one| is_scaling(one)) {
        let name = name_of(one);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, cases)) => cases.push(one),
            None => groups.push((name, vec![one])),
        }
    }
    groups.into_iter().map(|(name, cases)| of(name, &cases)).collect()
}

fn name_of(one: &OsBenchmark) -> String {
    let operation = one.case.rsplit_once(", ").map_or(one.case.as_str(), |(name, _)| name);
    let kind = one.task_kind.map_or("", |kind: OsTasks| kind.word(2));
    format!("{operation}, {kind}")
}

fn of(name: String, cases: &[&OsBenchmark]) -> Scaling {
    let told = |one: &&OsBenchmark| {
        (one.tasks.unwrap_or(1), one.value.map_or_else(String::new, |v| shown(one.unit, v)))
    };
    let rates = cases.iter().map(told).collect();
    let one = cases.iter().find(|case| case.tasks == Some(1));
    let most = cases.iter().max_by_key(|case| case.tasks).filter(|case| case.tasks > Some(1));
    let both = one.zip(most);
    let gain = both.and_then(|(one, most)| Some(most.value? / one.value?));
    let range = both.and_then(|(one, most)| {
        Some(ratio_interval((most.value?, most.ci95?), (one.value?, one.ci95?)))
    });
    Scaling { name, rates, gain, range }
}

/// Names the operation that scales least; `None` with fewer than two operations.
///
/// It is certain only if its gain is surely below all others and every operation has an interval.
pub fn scaling_sentence(all: &[Scaling]) -> Option<String> {
    let known = all.iter().filter_map(|one| Some((one, one.gain?, one.range?)));
    let mut known: Vec<(&Scaling, f64, [f64; 2])> = known.collect();
    sort_by_number(&mut known, |one| one.1);
    let ((least, gain, range), rest) = known.split_first().filter(|(_, r)| !r.is_empty())?;
    let tasks = least.rates.iter().map(|(count, _)| *count).max().unwrap_or(1);
    let figures = format!(
        "{tasks} do {} times as much as one ({} to {})",
        speed(*gain),
        speed(range[0]),
        speed(range[1])
    );
    let close: Vec<&str> = rest
        .iter()
        .filter(|(_, other, ends)| ratio_interval((*other, *ends), (*gain, *range))[0] <= 1.0)
        .map(|(other, ..)| other.name.as_str())
        .collect();
    let unknown = all.iter().filter(|one| one.gain.is_none() || one.range.is_none());
    let unknown: Vec<&str> = unknown.map(|one| one.name.as_str()).collect();
    let mut doubts = Vec::new();
    if !close.is_empty() {
        doubts.push(format!("its interval does not exclude {}", close.join(" or ")));
    }
    if !unknown.is_empty() {
        doubts.push(format!("how much {} gains is not known", unknown.join(" or ")));
    }
    Some(if doubts.is_empty() {
        format!("What scales least over processors is {}: {figures}.", least.name)
    } else {
        format!(
            "What scales least over processors cannot be told: lowest is {} ({figures}), but {}.",
            least.name,
            doubts.join(", and ")
        )
    })
}

/// The table: its head, and a row for each operation.
pub fn scaling_table(all: &[Scaling]) -> (Vec<String>, Vec<Vec<String>>) {
    let mut counts: Vec<u32> =
        all.iter().flat_map(|one| one.rates.iter().map(|(count, _)| *count)).collect();
    counts.sort_unstable();
    counts.dedup();
    let mut head = vec!["Operation".to_owned()];
    head.extend(counts.iter().map(|count| format!("by {count}")));
    head.extend(["most over one", "95 % interval"].map(str::to_owned));
    let row = |one: &Scaling| {
        let rate = |count: &u32| one.rates.iter().find(|(tasks, _)| tasks == count);
        let rate = |count: &u32| rate(count).map_or_else(String::new, |(_, rate)| rate.clone());
        let mut row = vec![one.name.clone()];
        row.extend(counts.iter().map(rate));
        row.push(one.gain.map_or_else(String::new, speed));
        let ends = |[low, high]: [f64; 2]| format!("{} to {}", speed(low), speed(high));
        row.push(one.range.map_or_else(String::new, ends));
        row
    };
    (head, all.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::OsUnit;

    fn case(name: &str, tasks: u32, value: Option<f64>) -> OsBenchmark {
        OsBenchmark {
            name: NAME.into(),
            case: format!("{name}, {tasks} processes"),
            tasks: Some(tasks),
            task_kind: Some(OsTasks::Processes),
            value,
            ci95: value.map(|value| [value * 0.9, value * 1.1]),
            unit: OsUnit::PerS,
            ..OsBenchmark::default()
        }
    }

    fn found(benchmarks: Vec<OsBenchmark>) -> Vec<Scaling> {
        scaling(&OsResults { benchmarks, ..OsResults::default() })
    }

    #[test]
    fn gains_have_the_intervals_of_their_ends() {
        let all = found(vec![
            case("pipe", 1, Some(100.0)),
            case("pipe", 2, Some(150.0)),
            case("pipe", 4, Some(300.0)),
            case("rename", 1, Some(100.0)),
            case("rename", 4, Some(50.0)),
            case("mmap", 1, Some(10.0)),
            case("mmap", 4, None),
        ]);
        assert_eq!((all.len(), all[0].gain, all[2].gain), (3, Some(3.0), None));
        let [low, high] = all[0].range.unwrap();
        // Half widths of 10.5 % and 9.5 % on the log scale, added in quadrature.
        assert!((low - 2.603).abs() < 0.001 && (high - 3.458).abs() < 0.001, "{low} to {high}");
        let sentence = scaling_sentence(&all[..2]).unwrap();
        assert!(
            sentence
                .starts_with("What scales least over processors is rename, processes: 4 do 0.50"),
            "{sentence}"
        );
        // An operation that was not measured may scale less.
        let sentence = scaling_sentence(&all).unwrap();
        assert!(sentence.contains("cannot be told: lowest is rename, processes"), "{sentence}");
        assert!(sentence.ends_with("how much mmap, processes gains is not known."), "{sentence}");
        let (head, rows) = scaling_table(&all);
        assert_eq!(head[1..4], ["by 1", "by 2", "by 4"]);
        assert!(rows.iter().all(|row| row.len() == head.len()) && rows[1][2].is_empty());
    }

    /// Once, intervals of 1.60 to 2.38 and 1.27 to 1.89 left open which gain is lower.
    #[test]
    fn a_least_one_that_is_surely_apart_is_told_though_the_intervals_overlap() {
        let all = found(vec![
            case("pipe", 1, Some(100.0)),
            case("pipe", 2, Some(195.0)),
            case("futex", 1, Some(100.0)),
            case("futex", 2, Some(155.0)),
        ]);
        let sentence = scaling_sentence(&all).unwrap();
        assert!(sentence.starts_with("What scales least over processors is futex"), "{sentence}");
        assert!(all[1].range.unwrap()[1] > all[0].range.unwrap()[0]);
    }

    #[test]
    fn a_least_one_that_is_not_apart_is_no_verdict() {
        let all = found(vec![
            case("pipe", 1, Some(100.0)),
            case("pipe", 2, Some(190.0)),
            case("futex", 1, Some(100.0)),
            case("futex", 2, Some(200.0)),
        ]);
        assert!(scaling_sentence(&all).unwrap().contains("cannot be told"));
        assert_eq!(scaling_sentence(&all[..1]), None);
    }
}
