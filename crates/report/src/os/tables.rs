//! The paper's tables with rows for this machine added.

use super::{THIS, shown, speed, sure_penalty, value};
use ioscape_schema::os::paper::{self, Source, TABLES};
use ioscape_schema::statistics::sort_by_number;
use ioscape_schema::{Locality, OsResults, OsUnit};

/// The text of a cell of this machine without a value.
const MISSING: &str = "not measured";

/// One of the paper's tables with this machine added.
pub struct Table {
    /// Number and title.
    pub title: String,
    /// Names of the columns.
    pub head: Vec<&'static str>,
    /// The rows, in the paper's order: fastest first, or by the remote penalty.
    pub rows: Vec<Vec<String>>,
}

/// The paper's tables for which this machine has a value, with this machine added.
pub fn tables(results: &OsResults) -> Vec<Table> {
    let mut all: Vec<Table> = ratings(results).into_iter().collect();
    for source in &TABLES {
        all.extend(table(source, results));
        if source.name == "mab" {
            all.extend(andrew(results));
        }
    }
    all
}

/// Table 1: the machines by their ratings.
fn ratings(results: &OsResults) -> Option<Table> {
    let ours = results.mips?;
    let mut rows: Vec<(f64, String)> =
        paper::machines().into_iter().map(|one| (one.mips, one.name.to_owned())).collect();
    rows.push((ours, THIS.to_owned()));
    sort_by_number(&mut rows, |one| -one.0);
    let shown = |mips: f64| if mips < 100.0 { format!("{mips}") } else { format!("{mips:.0}") };
    Some(Table {
        title: "Table 1. Machines and their integer ratings, VAX-11/780 = 1".to_owned(),
        head: vec!["Machine", "MIPS"],
        rows: rows.into_iter().map(|(mips, name)| vec![name, shown(mips)]).collect(),
    })
}

/// A row to sort: its sort value and its cells; rows without a value come last.
type Sorted = (Option<f64>, Vec<String>);

fn table(source: &Source, results: &OsResults) -> Option<Table> {
    let mut rows = our_rows(source, results);
    if rows.iter().all(|(value, _)| value.is_none()) {
        return None;
    }
    rows.extend(source.rows().into_iter().map(|row| {
        let mut cells = vec![row.configuration()];
        cells.extend(row.values.iter().map(|&value| shown(source.unit, value)));
        cells.push(row.printed.unwrap_or_default().to_owned());
        (Some(row.value), cells)
    }));
    let larger_first = source.unit != OsUnit::Nanos;
    rows.sort_by(|a, b| match (a.0, b.0) {
        (Some(a), Some(b)) if larger_first => b.total_cmp(&a),
        (Some(a), Some(b)) => a.total_cmp(&b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    });
    let cases = source.cases.iter().map(|(_, case)| *case);
    let last = if source.name == "bcopy" { paper::PER_MIPS } else { "MIPS-relative" };
    Some(Table {
        title: format!("Table {}. {}", source.number, source.title),
        head: ["Configuration"].into_iter().chain(cases).chain([last]).collect(),
        rows: rows.into_iter().map(|(_, cells)| cells).collect(),
    })
}

/// The rows of this machine: one, or one per place of files, even if unmeasured, plus cold ones.
fn our_rows(source: &Source, results: &OsResults) -> Vec<Sorted> {
    if !results.benchmarks.iter().any(|one| one.name == source.name) {
        return Vec::new();
    }
    if !matches!(source.name, "mab" | "open-close" | "create-delete") {
        return vec![our_row(source, results, None, "")];
    }
    let mut rows = Vec::new();
    for place in [Locality::Local, Locality::Remote] {
        rows.push(our_row(source, results, Some(place), ""));
        let cold = our_row(source, results, Some(place), ", cold");
        rows.extend(Some(cold).filter(|(value, _)| value.is_some()));
    }
    rows
}

/// A row for the cases at `place` whose names end with `ending`.
fn our_row(source: &Source, results: &OsResults, place: Option<Locality>, ending: &str) -> Sorted {
    let of = |case: &str| results.find(source.name, &format!("{case}{ending}"), place);
    let place = place.map_or_else(String::new, |place| format!(", {}", place.word()));
    let mut cells = vec![format!("{THIS}{place}{ending}")];
    let cell = |case| of(case).map_or_else(|| MISSING.to_owned(), value);
    cells.extend(source.cases.iter().map(|(_, case)| cell(case)));
    let main = of(source.case);
    let last = main.and_then(|one| match source.name {
        "bcopy" => paper::megabytes_per_mips(one.value?, results.mips?),
        _ => one.mips_relative,
    });
    cells.push(last.map_or_else(String::new, speed));
    (main.and_then(|one| one.value), cells)
}

/// Table 8: the relative speeds of the Modified Andrew Benchmark, ordered by the remote penalty.
fn andrew(results: &OsResults) -> Option<Table> {
    let of = |place| results.find("mab", "total", Some(place)).and_then(|one| one.mips_relative);
    let (near, far) = (of(Locality::Local), of(Locality::Remote));
    near.or(far)?;
    let cell = |value: Option<f64>| value.map_or_else(|| MISSING.to_owned(), speed);
    let penalty = sure_penalty(results).map(|share| share * 100.0);
    let ends = results.remote_penalty_ci95().map(|ends| ends.map(|share| share * 100.0));
    let told = match (penalty.zip(ends), results.remote_penalty) {
        (Some((percent, [low, high])), _) => format!("{percent:.0} ({low:.0} to {high:.0})"),
        (None, Some(_)) => "cannot be told".to_owned(),
        (None, None) => MISSING.to_owned(),
    };
    let ours = vec![THIS.to_owned(), cell(near), cell(far), told];
    let past = paper::andrew();
    let before = |penalty: f64| past.iter().take_while(|row| row.penalty() <= penalty).count();
    let at = penalty.map_or(0, before);
    let mut rows: Vec<Vec<String>> = past
        .iter()
        .map(|row| {
            let name = format!("{} {}", row.hardware, row.os);
            [&name, row.local, row.remote, row.penalty].map(str::to_owned).to_vec()
        })
        .collect();
    rows.insert(at, ours);
    Some(Table {
        title:
            "Table 8. Modified Andrew Benchmark: MIPS-relative speed, and the cost of remote files"
                .to_owned(),
        head: vec![
            "Configuration",
            "MIPS-relative, local",
            "MIPS-relative, remote",
            "remote penalty, %",
        ],
        rows,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use ioscape_schema::OsBenchmark;

    fn ours(table: &Table) -> Vec<&Vec<String>> {
        table.rows.iter().filter(|row| row[0].starts_with(THIS)).collect()
    }

    #[test]
    fn this_machine_stands_in_every_table_it_was_measured_for() {
        let all = tables(&sample::os_results());
        let titles: Vec<&str> = all.iter().map(|table| &table.title[..8]).collect();
        assert_eq!(titles, ["Table 1.", "Table 2.", "Table 3.", "Table 9."]);
        for table in &all {
            assert!(table.rows.iter().all(|row| row.len() == table.head.len()));
            let expected = if table.title.starts_with("Table 9.") { 2 } else { 1 };
            assert_eq!(ours(table).len(), expected, "{}", table.title);
        }
        assert_eq!((all[0].rows[0][0].as_str(), all[1].rows[0][0].as_str()), (THIS, THIS));
        let last = all[3].rows.last().unwrap();
        let missing = ["this machine, local", MISSING, MISSING, ""];
        assert_eq!(last, &missing, "what was not measured is said, at the end");
    }

    #[test]
    fn copies_stand_beside_the_papers_megabytes_per_mips() {
        let one = |case: &str, value: f64| OsBenchmark {
            name: "bcopy".into(),
            case: case.into(),
            value: Some(value),
            unit: OsUnit::BytesPerS,
            ..OsBenchmark::default()
        };
        let benchmarks = vec![one("level 1 cache", 60e9), one("memory", 12e9)];
        let mut results = OsResults { benchmarks, ..OsResults::default() };
        results.rate(Some(10_000.0));
        let all = tables(&results);
        let table = all.last().unwrap();
        let last = |name: &str| {
            let row = table.rows.iter().find(|row| row[0].starts_with(name)).unwrap();
            row.last().unwrap().as_str()
        };
        assert_eq!((table.head.last(), table.rows.len()), (Some(&"Mbytes/MIPS"), 16));
        assert_eq!(["DS5000", "MVAX2", THIS].map(last), ["0.70", "3.7", "1.20"]);
    }

    /// Times of the Modified Andrew Benchmark in milliseconds.
    fn andrew_of(times: &[(&str, Locality, f64)]) -> OsResults {
        let one = |&(case, place, ms): &(&str, Locality, f64)| OsBenchmark {
            name: "mab".into(),
            case: case.into(),
            place: Some(place),
            value: Some(ms * 1e6),
            ci95: Some([ms * 0.98e6, ms * 1.02e6]),
            ..OsBenchmark::default()
        };
        let benchmarks = times.iter().map(one).collect();
        let mut results = OsResults { benchmarks, ..OsResults::default() };
        results.rate(Some(10_000.0));
        results
    }

    #[test]
    fn the_andrew_tables_have_places_and_cold_rows() {
        let local = ("total", Locality::Local, 400.0);
        let all = tables(&andrew_of(&[local, ("total, cold", Locality::Local, 600.0)]));
        let names: Vec<&str> = ours(&all[1]).iter().map(|row| row[0].as_str()).collect();
        assert_eq!(
            names,
            ["this machine, local", "this machine, local, cold", "this machine, remote"]
        );
        assert_eq!(all[2].rows[0], [THIS, "0.32", MISSING, MISSING]);
        let all = tables(&andrew_of(&[local, ("total", Locality::Remote, 500.0)]));
        let at = all[2].rows.iter().position(|row| row[0] == THIS).unwrap();
        assert_eq!(all[2].rows[at], [THIS, "0.32", "0.31", "25 (20 to 30)"]);
        let penalty = |at: usize| all[2].rows[at][3].parse::<f64>().unwrap();
        assert!(penalty(at - 1) <= 25.0 && penalty(at + 1) >= 25.0);
        let all = tables(&andrew_of(&[local, ("total", Locality::Remote, 405.0)]));
        assert_eq!(all[2].rows[0], [THIS, "0.32", "0.38", "cannot be told"]);
    }
}
