//! How operations scale over processors: what several tasks do together over what one does, with intervals.

use super::{shown, speed};
use ioscape_schema::statistics::sort_by_number;
use ioscape_schema::{OsBenchmark, OsResults, OsTasks};

/// The benchmark whose cases these are.
const NAME: &str = "scaling";

/// One operation by growing numbers of tasks of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// The operation, and what the tasks are.
    pub name: String,
    /// Tasks, and what they do together, in words.
    pub rates: Vec<(u32, String)>,
    /// What most tasks do over what one does; absent where one of both was not measured.
    pub gain: Option<f64>,
    /// Its interval; absent without both.
    pub range: Option<[f64; 2]>,
}

/// Whether a case is one of scaling, which has a table of its own.
pub fn is_scaling(one: &OsBenchmark) -> bool {
    one.name == NAME && one.tasks.is_some()
}

/// Every operation, in the order measured.
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
        let ([low, high], [least, greatest]) = (one.ci95?, most.ci95?);
        one.value.zip(most.value).map(|_| [least / high, greatest / low])
    });
    Scaling { name, rates, gain, range }
}

/// What scales least, if its interval lies below all others' and every operation has one; `None` with fewer than two.
pub fn scaling_sentence(all: &[Scaling]) -> Option<String> {
    let known = all.iter().filter_map(|one| Some((one, one.gain?, one.range?)));
    let mut known: Vec<(&Scaling, f64, [f64; 2])> = known.collect();
    sort_by_number(&mut known, |one| one.1);
    let ((least, gain, [low, high]), rest) = known.split_first().filter(|(_, r)| !r.is_empty())?;
    let tasks = least.rates.iter().map(|(count, _)| *count).max().unwrap_or(1);
    let figures = format!(
        "{tasks} do {} times as much as one ({} to {})",
        speed(*gain),
        speed(*low),
        speed(*high)
    );
    let close: Vec<&str> = rest
        .iter()
        .filter(|(_, _, [other, _])| other <= high)
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
        assert!((low - 270.0 / 110.0).abs() < 1e-9 && (high - 330.0 / 90.0).abs() < 1e-9);
        let sentence = scaling_sentence(&all[..2]).unwrap();
        assert!(
            sentence
                .starts_with("What scales least over processors is rename, processes: 4 do 0.50"),
            "{sentence}"
        );
        // What was not measured may scale less.
        let sentence = scaling_sentence(&all).unwrap();
        assert!(sentence.contains("cannot be told: lowest is rename, processes"), "{sentence}");
        assert!(sentence.ends_with("how much mmap, processes gains is not known."), "{sentence}");
        let (head, rows) = scaling_table(&all);
        assert_eq!(head[1..4], ["by 1", "by 2", "by 4"]);
        assert!(rows.iter().all(|row| row.len() == head.len()) && rows[1][2].is_empty());
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
