//! Several traces on one page: numbers side by side, and figures with a line for each trace.

use super::charts::{begun_at_zeros, zeros};
use super::comparison::{PICTURES, Picture, beside, stretch, times_of};
use super::headlines::headlines;
use super::over_time::{label_of_both, windows_of_all};
use crate::html::alike::overlaid;
use crate::html::tables::table;
use crate::overlay::NamedChart;
use crate::text::{esc, none};
use ioscape_schema::TraceSummary;

/// Figures with a line per disk or type, which have different names in different traces.
///
/// Only the first line of each trace is drawn.
const BUSIEST: [(&str, &str); 4] = [
    ("queues", "the busiest disk of each"),
    ("daily-queues", "the busiest disk of each with requests on several days"),
    ("idle", "the busiest disk of each with periods that are not 0"),
    ("sizes", "the most frequent type of each that moves data"),
];

/// The section; empty for fewer than two traces.
pub fn side_by_side(traces: &[(&str, &TraceSummary)]) -> String {
    if traces.len() < 2 {
        return String::new();
    }
    let figures: String = PICTURES.iter().map(|picture| figure(traces, picture)).collect();
    format!("<h2>Traces</h2>{}{figures}", numbers(traces))
}

/// The headlines of all traces, with a column for each.
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
    let mut charts: Vec<NamedChart> = charts.collect();
    bring_together(&mut charts);
    let lines = match busiest {
        Some(what) => format!("One line per trace: {what}."),
        None => "One line per trace.".to_owned(),
    };
    let begun = charts.iter().flat_map(|(name, chart)| {
        let lines = begun_at_zeros(id, chart).into_iter();
        lines.map(move |line| format!("{name}, {line}"))
    });
    let caption = format!("{lines}{}", esc(&zeros(&begun.collect::<Vec<_>>())));
    let drawn = overlaid(&format!("traces-{id}"), title, &caption, &charts);
    let counted = charts.iter().filter(|(_, chart)| chart.has_points());
    let counted: Vec<String> =
        counted.map(|(name, chart)| format!("{} ({name})", chart.y.label)).collect();
    if !drawn.is_empty() || counted.len() < 2 {
        return drawn;
    }
    format!("<p>{title}: not side by side, since each is of {}.</p>", esc(&counted.join(", ")))
}

/// Gives the charts of a figure the time unit of the longest trace, and one label for values that
/// are the highest of several.
fn bring_together(charts: &mut [NamedChart]) {
    let mut drawn = charts.iter().map(|(_, chart)| chart).filter(|chart| chart.has_points());
    let Some(first) = drawn.next() else { return };
    let (mut longest, mut label) = (first, first.y.label.as_str());
    for other in drawn {
        if times_of(longest, other).is_some_and(|times| times > 1.0) {
            longest = other;
        }
        label = label_of_both(label, &other.y.label).unwrap_or(label);
    }
    let (longest, label) = (longest.clone(), label.to_owned());
    for (_, chart) in charts {
        if let Some(times) = times_of(&longest, chart) {
            stretch(chart, times);
            chart.x.label.clone_from(&longest.x.label);
        }
        if label_of_both(&label, &chart.y.label).is_some() {
            chart.y.label.clone_from(&label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Distribution;
    use ioscape_schema::trace_summary::{
        Load, SizesOfType, TimeStep, Timeline, WorkingSet, WorkingSetWindows,
    };

    /// Once, flushes were the most frequent type, and writes were drawn in their place without
    /// notice.
    #[test]
    fn what_moves_no_data_is_not_among_the_types_of_which_the_most_frequent_is_drawn() {
        let of = |bins: Vec<(f64, u64)>| {
            let count = bins.iter().map(|bin| bin.1).sum();
            let bytes = Distribution { count, max: 8192.0, bins, ..Distribution::default() };
            SizesOfType { bytes, ..SizesOfType::default() }
        };
        let trace = |writes| TraceSummary {
            transfer_sizes: vec![of(vec![(0.0, 5000)]), of(writes)],
            ..TraceSummary::default()
        };
        let [first, second] = [vec![(4096.0, 4000)], vec![(0.0, 1000), (8192.0, 3000)]].map(trace);
        let picture = PICTURES.iter().find(|one| one.0 == "sizes").expect("it is one");
        let drawn = figure(&[("a", &first), ("b", &second)], picture);
        assert!(drawn.contains("the most frequent type of each that moves data."), "{drawn}");
        assert!(drawn.contains("values that are 0: b, requests at 25 %."), "{drawn}");
    }

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
        let told = "<p>Working set over time: not side by side, since each is of \
                    distinct bytes touched in 1 s (a), distinct bytes touched in 60 s (b).</p>";
        assert_eq!(drawn([&short, &longest]), told);
    }

    /// Once, no figure over time was drawn for traces of 2 and of 8 hours, and no text said so.
    #[test]
    fn traces_of_other_lengths_stand_side_by_side_over_time() {
        let of = |minutes: usize| {
            let load = Load { ios: 60, reads: Some(30), ..Load::default() };
            let step = TimeStep { load, elapsed_p50_ns: Some(1e6), ..TimeStep::default() };
            let (step_ns, steps) = (60_000_000_000, vec![step; minutes]);
            let bytes = vec![4096; minutes];
            let windows = WorkingSetWindows { window_ns: step_ns, start_ns: 0, bytes };
            let over_time = vec![windows];
            let working_set = WorkingSet { bytes: 4096, over_time, ..WorkingSet::default() };
            let over_time = Timeline { step_ns, start_ns: 0, steps };
            TraceSummary { over_time, working_set, ..TraceSummary::default() }
        };
        let (short, long) = (of(120), of(480));
        for id in ["rates", "read-fraction", "tails", "working-set"] {
            let picture = PICTURES.iter().find(|one| one.0 == id).expect("it is one");
            for traces in [[("a", &short), ("b", &long)], [("a", &long), ("b", &short)]] {
                let drawn = figure(&traces, picture);
                for shown in [r#"data-name="a""#, r#"data-name="b""#, "of the trace, hours<"] {
                    assert!(drawn.contains(shown), "{id}: {shown}: {drawn}");
                }
            }
        }
    }
}
