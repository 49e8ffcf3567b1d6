//! Several results of micro-benchmarks side by side.
//!
//! Every case has its value on each system, and the comparison of the other systems with the first.

use super::{NamedResults, case, headlines, shown, speed};
use crate::measured::notes;
use crate::text::{between, inert, ratio};
use ioscape_schema::os::shared_means;
use ioscape_schema::{Document, MeasuredComparison, OsBenchmark, OsResults};

/// The results of all documents, if there are several and each holds micro-benchmarks.
pub fn all_of<'a>(named: &'a [(String, &Document)]) -> Option<Vec<NamedResults<'a>>> {
    let all = named.iter().map(|(name, document)| Some((&**name, document.os()?)));
    all.collect::<Option<Vec<_>>>().filter(|all| all.len() > 1)
}

/// The comparisons of every other system with the first.
///
/// Empty if any of them is missing, because columns follow their order.
fn whole<'a>(
    all: &[NamedResults<'_>],
    compared: &'a [MeasuredComparison],
) -> &'a [MeasuredComparison] {
    if compared.len() + 1 == all.len() { compared } else { &[] }
}

/// The head and rows of the table: a row for each case that any system has.
///
/// `compared` holds the comparison of every other system with the first; if incomplete, it is
/// ignored.
pub fn table(
    all: &[NamedResults<'_>],
    compared: &[MeasuredComparison],
) -> (Vec<String>, Vec<Vec<String>>) {
    let compared = whole(all, compared);
    let mut head = vec!["Benchmark".to_owned(), "Case".to_owned()];
    head.extend(all.iter().map(|(name, _)| inert(name).into_owned()));
    for ((name, _), _) in all.iter().skip(1).zip(compared) {
        let of = if all.len() > 2 { format!(", {}", inert(name)) } else { String::new() };
        head.extend(["Ratio", "95 % interval", "Verdict"].map(|word| format!("{word}{of}")));
    }
    let mut cases: Vec<&OsBenchmark> = Vec::new();
    for one in all.iter().flat_map(|(_, results)| &results.benchmarks) {
        if cases.iter().all(|known| !is_same(known, one)) {
            cases.push(one);
        }
    }
    let row = |one: &OsBenchmark| {
        let mut cells = vec![one.name.clone(), case(one)];
        cells.extend(all.iter().map(|(_, results)| value(results, one)));
        cells.extend(compared.iter().flat_map(|pair| compared_cells(pair, one)));
        cells
    };
    (head, cases.into_iter().map(row).collect())
}

fn is_same(one: &OsBenchmark, other: &OsBenchmark) -> bool {
    (&one.name, &one.case, one.place) == (&other.name, &other.case, other.place)
}

/// The value of a case in these results.
fn value(results: &OsResults, wanted: &OsBenchmark) -> String {
    let found = results.benchmarks.iter().find(|one| is_same(one, wanted));
    match found.map(|one| one.value) {
        None => "-".to_owned(),
        Some(None) => "not measured".to_owned(),
        Some(Some(value)) => shown(wanted.unit, value),
    }
}

/// The ratio, interval and verdict of a case; empty if it was not compared.
fn compared_cells(pair: &MeasuredComparison, one: &OsBenchmark) -> [String; 3] {
    match pair.rows.iter().find(|row| row.name.as_deref().is_some_and(|name| one.has_row(name))) {
        Some(row) => [ratio(row.ratio), between(row.ci95), row.verdict.word().to_owned()],
        None => [const { String::new() }; 3],
    }
}

/// The headline figures of every system, one sentence each, then notes on the comparisons.
pub fn sentences(all: &[NamedResults<'_>], compared: &[MeasuredComparison]) -> Vec<String> {
    let compared = whole(all, compared);
    let of = |(name, results): &NamedResults<'_>| {
        let figures =
            headlines(results).into_iter().map(|(what, figure)| format!("{what} {figure}"));
        let figures: Vec<String> = figures.collect();
        (!figures.is_empty()).then(|| format!("{}: {}", inert(name), figures.join("; ")))
    };
    let meaning = compared.first().map(|pair| {
        let others = if all.len() > 2 { "the other system" } else { pair.systems[0].as_str() };
        format!("Ratios are {} over {}.", inert(others), inert(&pair.systems[1]))
    });
    let means = of_shared_speeds(all);
    let figures = all.iter().filter_map(of).chain(means).chain(meaning);
    figures.chain(compared.iter().flat_map(notes)).collect()
}

/// Compares the MIPS-relative speeds of systems whose means are of different benchmarks.
///
/// `None` if all means are of the same benchmarks.
fn of_shared_speeds(all: &[NamedResults<'_>]) -> Option<String> {
    let rated = all.iter().filter(|(_, results)| results.geometric_mean_mips_relative.is_some());
    let (names, results): (Vec<&str>, Vec<&OsResults>) = rated.copied().unzip();
    let (shared, means) = shared_means(&results)?;
    let unlike = "The MIPS-relative speeds are of different benchmarks and cannot be compared";
    if means.is_empty() {
        return Some(format!("{unlike}: there is none that all of these systems have."));
    }
    let each = names.iter().zip(means);
    let each = each.map(|(name, mean)| format!("{} {}", inert(name), speed(mean)));
    let each: Vec<String> = each.collect();
    Some(format!("{unlike}; those of {} alone: {}.", shared.join(", "), each.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use ioscape_schema::{Basis, Environment, Locality, MabProof, MeasuredRow, Metric, Verdict};

    fn compared(name: &str) -> MeasuredComparison {
        let row = MeasuredRow {
            name: Some(name.to_owned()),
            workload: None,
            metric: Metric::Time,
            values: [210.0, 105.0],
            rounds: [6; 2],
            samples: None,
            ratio: 2.0,
            ci95: [1.9, 2.1],
            basis: Basis::Rounds,
            verdict: Verdict::Slower,
        };
        MeasuredComparison {
            kind: "os".into(),
            systems: ["there".into(), "here".into()],
            environments: [Environment::default(), Environment::default()],
            rows: vec![row],
            only_in: [0; 2],
            lone: Vec::new(),
            differences: Vec::new(),
            margin: 0.03,
            condition: None,
        }
    }

    #[test]
    fn every_case_stands_once_with_the_value_of_each() {
        let (here, mut there) = (sample::os_results(), sample::os_results());
        there.benchmarks.truncate(2);
        there.benchmarks[1].value = Some(210.0);
        let all = [("here", &here), ("there", &there)];
        let (head, rows) = table(&all, &[compared("getpid, system call")]);
        assert_eq!(head[2..], ["here", "there", "Ratio", "95 % interval", "Verdict"]);
        assert_eq!(rows.len(), here.benchmarks.len());
        let getpid = rows.iter().find(|row| row[1] == "system call").unwrap();
        assert_eq!(getpid[2..5], ["105 ns", "210 ns", "2.00x"]);
        assert_eq!(getpid[6], Verdict::Slower.word());
        let lone = rows.iter().find(|row| row[0] == "page-fault").unwrap();
        assert_eq!((lone[3].as_str(), lone[4].as_str()), ("-", ""));
        let missing = rows.iter().find(|row| row[1] == "two CPUs").unwrap();
        assert_eq!(missing[2], "not measured");
        assert!(rows.iter().all(|row| row.len() == head.len()));
    }

    #[test]
    fn an_andrew_benchmark_of_another_compiler_has_its_ratio() {
        let one = OsBenchmark {
            name: MabProof::NAME.into(),
            case: "total".into(),
            place: Some(Locality::Local),
            ..OsBenchmark::default()
        };
        let cell = |row: &str| compared_cells(&compared(row), &one)[0].clone();
        assert_eq!(cell("mab, total (local)"), "2.00x");
        assert_eq!(cell("mab, total (local), compiled by gcc"), "2.00x");
        assert_eq!(cell("mab, total, cold (local)"), "");
    }

    #[test]
    fn means_of_other_benchmarks_are_not_put_beside_one_another_without_a_word() {
        let (here, mut there) = (sample::os_results(), sample::os_results());
        let told = |there: &OsResults| sentences(&[("here", &here), ("there", there)], &[]);
        assert_eq!(told(&there).len(), 2, "of the same");
        there.benchmarks.retain(|one| one.name != "cswitch");
        there.rate(None);
        let said = told(&there).pop().unwrap();
        assert!(said.contains("; those of getpid, open-close (remote) alone: here 0."), "{said}");
        there.benchmarks.retain(|one| one.name == "dhrystone");
        there.benchmarks.push(OsBenchmark {
            name: "select".into(),
            case: "10 full".into(),
            value: Some(1e3),
            ..OsBenchmark::default()
        });
        there.rate(None);
        assert!(told(&there).pop().unwrap().contains("there is none that all"));
    }

    #[test]
    fn three_systems_name_their_columns() {
        let one = sample::os_results();
        let all = [("a", &one), ("b", &one), ("c", &one)];
        let (head, rows) = table(&all, &[compared("x"), compared("y")]);
        assert_eq!(head[5..8], ["Ratio, b", "95 % interval, b", "Verdict, b"]);
        assert!(rows.iter().all(|row| row.len() == head.len()));
        let (head, _) = table(&all, &[]);
        assert_eq!(head.len(), 5, "nothing was compared");
        assert_eq!(table(&all, &[compared("x")]).0.len(), 5, "whose would the columns be?");
    }
}
