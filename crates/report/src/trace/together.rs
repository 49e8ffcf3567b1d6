//! Several traces on one page: their numbers side by side, and their figures with a line for each trace.

use super::comparison::{PICTURES, Picture, beside};
use super::headlines::headlines;
use super::over_time::windows_of_all;
use crate::html::alike::overlaid;
use crate::html::tables::table;
use crate::overlay::NamedChart;
use crate::text::none;
use ioscape_schema::TraceSummary;

/// Figures whose lines are of disks or types, the busiest first: those of two traces have no names in common.
const BUSIEST: [(&str, &str); 4] = [
    ("queues", "the busiest disk of each"),
    ("daily-queues", "the busiest disk of each"),
    ("idle", "the busiest disk of each"),
    ("sizes", "the most frequent type of each"),
];

/// The section; empty of fewer than two traces.
pub fn side_by_side(traces: &[(&str, &TraceSummary)]) -> String {
    if traces.len() < 2 {
        return String::new();
    }
    let figures: String = PICTURES.iter().map(|picture| figure(traces, picture)).collect();
    format!("<h2>Traces</h2>{}{figures}", numbers(traces))
}

/// The headlines of all, a column for each trace.
fn numbers(traces: &[(&str, &TraceSummary)]) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (at, (_, trace)) in traces.iter().enumerate() {
        for (what, value, more) in headlines(trace) {
            let known = rows.iter().position(|row| row[0] == what);
            let row = known.unwrap_or_else(|| {
                let dashes = vec![none(); traces.len()];
                rows.push([vec![what.to_owned()], dashes].concat());
                rows.len() - 1
            });
            rows[row][at + 1] = format!("{value} ({more})");
        }
    }
    let names = traces.iter().map(|(name, _)| *name);
    let head: Vec<&str> = ["Number"].into_iter().chain(names).collect();
    table("words", &head, rows.into_iter())
}

fn figure(traces: &[(&str, &TraceSummary)], picture: &(&str, &str, Picture)) -> String {
    let (id, title, _) = picture;
    let busiest = BUSIEST.iter().find(|(of, _)| of == id).map(|(_, what)| *what);
    let all: Vec<&TraceSummary> = traces.iter().map(|(_, trace)| *trace).collect();
    let shown = windows_of_all(&all);
    let one = |trace: &TraceSummary| {
        let mut chart = beside(picture, trace, shown);
        if busiest.is_some() {
            chart.series.truncate(1);
        }
        chart
    };
    let charts = traces.iter().map(|(name, trace)| (*name, one(trace)));
    let charts: Vec<NamedChart> = charts.collect();
    let caption = match busiest {
        Some(what) => format!("One line per trace: {what}."),
        None => "One line per trace.".to_owned(),
    };
    overlaid(&format!("traces-{id}"), title, &caption, &charts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::trace_summary::{WorkingSet, WorkingSetWindows};

    #[test]
    fn working_sets_stand_side_by_side_in_windows_that_all_have_or_not_at_all() {
        let of = |lengths: &[u64]| {
            let one = |&seconds: &u64| WorkingSetWindows {
                window_ns: seconds * 1_000_000_000,
                start_ns: 0,
                bytes: vec![4096; 9],
            };
            let over_time = lengths.iter().map(one).collect();
            let working_set = WorkingSet { bytes: 4096, over_time, ..WorkingSet::default() };
            TraceSummary { working_set, ..TraceSummary::default() }
        };
        let picture = PICTURES.iter().find(|one| one.0 == "working-set").expect("it is one");
        let drawn = |all: [&TraceSummary; 2]| figure(&[("a", all[0]), ("b", all[1])], picture);
        let (short, long, longest) = (of(&[1, 10]), of(&[10, 60]), of(&[60, 600]));
        let both = drawn([&short, &long]);
        assert!(both.contains("distinct bytes touched in 10 s"), "{both}");
        assert_eq!(drawn([&short, &longest]), "");
    }
}
