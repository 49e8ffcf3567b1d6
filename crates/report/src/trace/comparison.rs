//! Two traces side by side: the changes in words and tables, and each figure of both in one
//! picture.

use super::charts::{self, CLASSES};
use super::headlines::unit_of;
use super::over_time::{self, Windows, label_of_both, windows_of_all};
use super::page::{figure, rows};
use super::tables::Rows;
use super::text::section;
use crate::html::section::Section;
use crate::plot::{Chart, Series, Unit};
use crate::terminal::Style;
use crate::text::{esc, fine_ratio, inert, percent};
use ioscape_schema::TraceComparison;
use ioscape_schema::statistics::sort_by_number;
use ioscape_schema::trace_comparison::{
    Change, DistributionChange, FigureChange, TraceDistribution, TraceFigure,
};
use ioscape_schema::trace_summary::TraceSummary;
use ioscape_schema::units::{Bytes, Rate};

/// The most changes that the verdict names.
const MOST_NAMED: usize = 4;

/// The name of a figure and its two values.
fn of_figure(one: &FigureChange) -> (&'static str, [String; 2]) {
    let speeds = || one.values.map(|value| Rate(value).to_string());
    let sizes = || one.values.map(|value| Bytes(value).to_string());
    let times = || one.values.map(|value| Unit::Nanos.show(value));
    match one.name {
        TraceFigure::RequestsPerS => ("rate of requests", rates(one.values)),
        TraceFigure::ReadBytesPerS => ("bytes read per second", speeds()),
        TraceFigure::WriteBytesPerS => ("bytes written per second", speeds()),
        TraceFigure::ReadBytesMean => ("mean size of a read", sizes()),
        TraceFigure::WriteBytesMean => ("mean size of a write", sizes()),
        TraceFigure::ReadElapsedNsMean => ("mean time of a read", times()),
        TraceFigure::WriteElapsedNsMean => ("mean time of a write", times()),
        TraceFigure::QueueLengthMean => {
            ("mean queue at an arrival", one.values.map(|value| Unit::Number.show(value)))
        }
    }
}

/// Two rates, given per second, in a unit in which the smaller is not rounded to 0.
fn rates(per_second: [f64; 2]) -> [String; 2] {
    let some = per_second.into_iter().filter(|rate| *rate > 0.0);
    let (unit, seconds) = unit_of(some.fold(f64::INFINITY, f64::min));
    per_second.map(|rate| format!("{} per {unit}", Unit::Number.show(rate * seconds)))
}

/// The name of a distribution and the unit of its values.
fn of_distribution(name: TraceDistribution) -> (&'static str, Unit) {
    match name {
        TraceDistribution::Reads => ("share of reads", Unit::Percent),
        TraceDistribution::Sequential => ("share of sequential requests", Unit::Percent),
        TraceDistribution::ReadBytes => ("sizes of reads", Unit::Bytes),
        TraceDistribution::WriteBytes => ("sizes of writes", Unit::Bytes),
        TraceDistribution::ReadElapsedNs => ("times of reads", Unit::Nanos),
        TraceDistribution::WriteElapsedNs => ("times of writes", Unit::Nanos),
        TraceDistribution::InterArrivalNs => ("times between arrivals", Unit::Nanos),
        TraceDistribution::DistanceBytes => ("distances between requests", Unit::Bytes),
        TraceDistribution::QueueLength => ("queue lengths", Unit::Count),
    }
}

fn figure_in_words(one: &FigureChange) -> String {
    let (name, [from, to]) = of_figure(one);
    format!("{name} from {from} to {to}")
}

fn distribution_in_words(one: &DistributionChange) -> String {
    let (name, unit) = of_distribution(one.name);
    let [from, to] = one.shares.map(percent);
    match one.at {
        Some(at) => format!("{name} (up to {}: {to} after {from})", unit.show(at)),
        None => format!("{name} from {from} to {to}"),
    }
}

/// The verdict, with its reasons.
fn verdict(found: &TraceComparison) -> String {
    let margin = percent(found.margin);
    let figures = found.figures.iter().filter(|one| one.verdict == Change::Changed);
    let mut figures: Vec<_> = figures.collect();
    sort_by_number(&mut figures, |one| -one.ratio.ln().abs());
    let shares = found.distributions.iter().filter(|one| one.verdict == Change::Changed);
    let mut shares: Vec<_> = shares.collect();
    sort_by_number(&mut shares, |one| -one.distance);
    let figures = figures.into_iter().map(figure_in_words);
    let changed: Vec<_> = figures.chain(shares.into_iter().map(distribution_in_words)).collect();
    match found.verdict {
        Change::Changed => {
            let more = changed.len().saturating_sub(MOST_NAMED);
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            let named: Vec<_> = changed.into_iter().take(MOST_NAMED).collect();
            format!("The workload changed, and not by chance: {}{more}.", named.join("; "))
        }
        Change::Alike => format!(
            "The workload did not change by more than {margin}: every figure and distribution of the two is that near, chance included."
        ),
        Change::CannotBeTold => {
            let more = found.times_as_long.map_or_else(
                || {
                    "each kind of request must be in 16 windows of time or more of both traces"
                        .to_owned()
                },
                |times| {
                    format!(
                        "about {:.0} times as much of each would tell a change of {margin}",
                        times.ceil()
                    )
                },
            );
            format!(
                "Whether the workload changed cannot be told: the traces scatter too much for their length; {more}."
            )
        }
    }
}

/// Whether the given condition is met.
fn condition(found: &TraceComparison) -> Option<String> {
    let condition = found.condition.as_ref()?;
    let figure = |at: &u32| found.figures.get(*at as usize).map(figure_in_words);
    let met: Vec<String> = condition.met_by.iter().filter_map(figure).collect();
    Some(match met.is_empty() {
        true => format!("No figure meets `{}` beyond chance.", condition.fail_if),
        false => format!("`{}` is met beyond chance: {}.", condition.fail_if, met.join("; ")),
    })
}

fn between([low, high]: [f64; 2], show: impl Fn(f64) -> String) -> String {
    format!("{} to {}", show(low), show(high))
}

fn ratio(value: f64) -> String {
    if value < 1e3 { fine_ratio(value) } else { format!("{value:.1e}") }
}

/// The table of the figures of both traces.
fn figures(found: &TraceComparison) -> Rows {
    let row = |one: &FigureChange| {
        let (name, [first, second]) = of_figure(one);
        let interval = between(one.ci95, ratio);
        vec![name.to_owned(), first, second, ratio(one.ratio), interval, words(one.verdict)]
    };
    let head = vec!["Figure", "first", "second", "ratio", "95 % interval", "verdict"];
    Rows::whole(head, found.figures.iter().map(row).collect())
}

/// The table of the distributions of both traces.
fn distributions(found: &TraceComparison) -> Rows {
    let row = |one: &DistributionChange| {
        let (name, unit) = of_distribution(one.name);
        let [first, second] = one.shares.map(percent);
        let at = one.at.map_or_else(String::new, |at| unit.show(at));
        let interval = between(one.ci95, percent);
        let cells = vec![at, first, second, percent(one.distance), interval, words(one.verdict)];
        [vec![name.to_owned()], cells].concat()
    };
    let head =
        vec!["Distribution", "up to", "first", "second", "distance", "95 % interval", "verdict"];
    Rows::whole(head, found.distributions.iter().map(row).collect())
}

fn words(verdict: Change) -> String {
    verdict.word().to_owned()
}

/// The comparison as text for the terminal.
pub fn comparison_text(found: &TraceComparison, style: &Style) -> String {
    let mut out = String::from("\n");
    for (what, trace) in ["first", "second"].into_iter().zip(&found.traces) {
        let text = format!("{what}: {}, {} requests", inert(&trace.name), trace.ios);
        out += &style.paragraph("", "  ", &text);
    }
    out += &style.paragraph("", "  ", &verdict(found));
    out.extend(condition(found).map(|text| style.paragraph("", "  ", &text)));
    for (title, rows) in [("Figures", figures(found)), ("Distributions", distributions(found))] {
        out += &section(title, rows, style);
    }
    out
}

/// The comparison as sections of a page.
pub fn comparison_sections(found: &TraceComparison) -> Vec<Section> {
    let [first, second] = found.traces.each_ref().map(|trace| esc(&inert(&trace.name)));
    let windows = found
        .windows
        .map(|one| format!("{} windows of {}", one.count, Unit::Nanos.show(one.width_ns as f64)));
    let told = format!(
        r#"<h2>Verdict</h2><p class="lead">{} {}</p><p>First: {first}, {}. Second: {second}, {}. Intervals follow from the scatter of the windows.</p>{}{}"#,
        esc(&verdict(found)),
        esc(&condition(found).unwrap_or_default()),
        windows[0],
        windows[1],
        rows(figures(found)),
        rows(distributions(found)),
    );
    let shown = windows_of_all(&found.traces.each_ref());
    let pictures = PICTURES.iter().filter_map(|picture| {
        let both = both(found.traces.each_ref().map(|trace| beside(picture, trace, shown)))?;
        Some(figure(picture.0, picture.1, "Dotted: the second trace.", &both))
    });
    let pictures = format!("<h2>Figures of both</h2>{}", pictures.collect::<String>());
    vec![
        Section::new("verdict", "Verdict", told),
        Section::new("figures", "Figures of both", pictures),
    ]
}

/// A figure of a trace.
pub(super) type Picture = fn(&TraceSummary) -> Chart;

/// The figures of a trace's page that are charts: identifier, heading, and how to draw the chart.
pub(super) const PICTURES: [(&str, &str, Picture); 18] = [
    ("rates", "Requests over time", over_time::rates),
    ("read-fraction", "Reads over time", over_time::read_fraction),
    ("times", "Physical and elapsed times", charts::response_times),
    ("tails", "Tail latencies over time", over_time::tails),
    ("queues", "Queue lengths", charts::queue_lengths),
    ("daily-queues", "Mean queue length by day", charts::daily_queues),
    ("idle", "Idle periods", charts::idle_times),
    ("inter-arrival", "Time between arrivals", charts::inter_arrival),
    ("dispersion", "Burstiness by time scale", charts::dispersion),
    ("sizes", "Transfer sizes", charts::sizes),
    ("distances", "Distances between requests", charts::distances),
    ("groups", "Write groups and bursts", charts::groups),
    ("overwrites", "Overwrite delays", charts::overwrites),
    ("popularity", "Writes by block popularity", charts::popularity),
    ("absorption", "Absorbing writes", charts::absorption),
    ("absorbed", "Writes absorbed by cache size", charts::absorbed),
    ("working-set", "Working set over time", over_time::working_set),
    ("miss-ratio", "Miss ratio by cache size", charts::miss_ratio),
];

/// A figure of a trace to be shown with other traces; working sets are those of `windows`.
pub(super) fn beside(
    (id, _, chart): &(&str, &str, Picture),
    trace: &TraceSummary,
    windows: Option<Windows>,
) -> Chart {
    match windows {
        Some(windows) if *id == "working-set" => over_time::working_set_in(trace, windows),
        _ => chart(trace),
    }
}

/// The factor from the second chart's horizontal unit to the first's.
///
/// `None` if the axes show different things.
pub(super) fn times_of(first: &Chart, second: &Chart) -> Option<f64> {
    if first.x.label == second.x.label {
        return Some(1.0);
    }
    let units = [("seconds", 1.0), ("minutes", 60.0), ("hours", 3600.0), ("days", 86400.0)];
    let seconds = |label: &str| {
        let (unit, seconds) = units.iter().find(|(unit, _)| label.ends_with(unit))?;
        Some((label.len() - unit.len(), *seconds))
    };
    let [one, two] = [first, second].map(|chart| chart.x.label.as_str());
    let ((end, of_first), (other_end, of_second)) = seconds(one).zip(seconds(two))?;
    let (base, other) = (&one[..end], &two[..other_end]);
    (base == other).then_some(of_second / of_first)
}

/// Multiplies all places on the horizontal axis by `times`.
pub(super) fn stretch(chart: &mut Chart, times: f64) {
    chart.x.range = chart.x.range.map(|end| end * times);
    for mark in chart.series.iter_mut().flat_map(|series| &mut series.marks) {
        mark.x *= times;
    }
}

/// Marks the lines of the second trace.
///
/// Each gets the colour of the first trace's line of the same name, or an unused one.
fn mark_second(first: &Chart, second: &mut Chart) {
    let namesake = |line: &Series| first.series.iter().find(|one| one.name == line.name);
    let classes = second.series.iter().map(|line| Some(namesake(line)?.class.clone()));
    let mut classes: Vec<Option<String>> = classes.collect();
    let is_first = |class: &str| first.series.iter().any(|one| one.class == class);
    let others = second.series.iter().enumerate().filter(|(_, line)| namesake(line).is_none());
    for (at, line) in others {
        let all = || std::iter::once(line.class.as_str()).chain(CLASSES);
        let is_free = |class: &&str| classes.iter().flatten().all(|taken| taken != class);
        let found = all().filter(|class| !is_first(class)).chain(all()).find(is_free);
        classes[at] = Some(found.unwrap_or(&line.class).to_owned());
    }
    for (line, class) in second.series.iter_mut().zip(classes.into_iter().flatten()) {
        line.name += ", second";
        line.class = class + " second";
    }
}

/// Overlays two charts on axes that hold both, even if their time axes have different units.
///
/// `None` if the axes show different things.
fn both([mut first, mut second]: [Chart; 2]) -> Option<Chart> {
    if first.has_points() && second.has_points() {
        let label = label_of_both(&first.y.label, &second.y.label)?.to_owned();
        let times = times_of(&first, &second)?;
        stretch(&mut second, times);
        first.y.label = label;
    }
    mark_second(&first, &mut second);
    if !second.has_points() {
        return Some(first);
    }
    if !first.has_points() {
        return Some(second);
    }
    for (mine, other) in [(&mut first.x, &second.x), (&mut first.y, &second.y)] {
        mine.range = [mine.range[0].min(other.range[0]), mine.range[1].max(other.range[1])];
    }
    first.series.append(&mut second.series);
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::trace_summary::{Load, TimeStep, Timeline, WorkingSet, WorkingSetWindows};
    use ioscape_schema::{Distribution, Outcome};
    use std::collections::BTreeSet;

    /// The synthetic trace of the tests, and a copy without physical times whose busiest disk is
    /// renamed.
    fn samples() -> [TraceSummary; 2] {
        let text = include_str!("../../tests/sample/trace_summary.json");
        let document = crate::from_json(text, "sample").expect("the sample follows the schema");
        let Some(Outcome::TraceSummary(first)) = document.outcome else { panic!("a summary") };
        let mut second = (*first).clone();
        let times = &mut second.response_times;
        times.all.physical_ns = Distribution::default();
        for one in [&mut times.read, &mut times.write].into_iter().flatten() {
            one.physical_ns = Distribution::default();
        }
        second.disks[1].name = "another".to_owned();
        [*first, second]
    }

    #[test]
    fn every_line_of_both_looks_different_and_those_of_the_second_are_marked() {
        let traces = samples();
        let shown = windows_of_all(&traces.each_ref());
        for picture in &PICTURES {
            let both = both(traces.each_ref().map(|trace| beside(picture, trace, shown)));
            let both = both.expect(picture.0);
            let classes: BTreeSet<&str> = both.series.iter().map(|one| &*one.class).collect();
            assert_eq!(classes.len(), both.series.len(), "{}: {classes:?}", picture.0);
            for one in &both.series {
                let name = one.name.strip_suffix(", second");
                assert_eq!(one.class.ends_with(" second"), name.is_some(), "{one:?}");
                let namesake = both.series.iter().find(|other| Some(&*other.name) == name);
                let meant = namesake.map(|other| format!("{} second", other.class));
                assert!(meant.is_none_or(|class| class == one.class), "{one:?}");
            }
        }
    }

    #[test]
    fn the_share_of_zeros_is_told_of_both_traces() {
        let of = |zeros: u64| {
            let bins = vec![(0.0, zeros), (1e6, 100 - zeros)];
            let inter_arrival_ns = Distribution { count: 100, bins, ..Distribution::default() };
            charts::inter_arrival(&TraceSummary { inter_arrival_ns, ..TraceSummary::default() })
        };
        let both = both([of(75), of(20)]).expect("one quantity");
        let drawn = figure("inter-arrival", "", "", &both);
        let told = "values that are 0: cumulative at 75 %, cumulative, second at 20 %.";
        assert!(drawn.contains(told), "{drawn}");
        assert!(!figure("rates", "", "", &both).contains("values that are 0"));
    }

    #[test]
    fn working_sets_of_other_windows_are_not_drawn_over_each_other() {
        let of = |seconds: u64| {
            let (window_ns, bytes) = (seconds * 1_000_000_000, vec![4096; 9]);
            let over_time = vec![WorkingSetWindows { window_ns, start_ns: 0, bytes }];
            let working_set = WorkingSet { bytes: 4096, over_time, ..WorkingSet::default() };
            over_time::working_set(&TraceSummary { working_set, ..TraceSummary::default() })
        };
        assert!(both([of(1), of(10)]).is_none());
        let same = both([of(10), of(10)]).expect("one window");
        assert_eq!((same.series.len(), &*same.y.label), (2, "distinct bytes touched in 10 s"));
    }

    #[test]
    fn slow_rates_are_told_by_the_hour_and_not_as_zero() {
        let of = |values| FigureChange {
            name: TraceFigure::RequestsPerS,
            values,
            ratio: 2.0,
            ci95: [1.8, 2.2],
            verdict: Change::Changed,
        };
        let figures = vec![of([1.0 / 3600.0, 2.0 / 3600.0])];
        let found =
            TraceComparison { figures, verdict: Change::Changed, ..TraceComparison::default() };
        let said = verdict(&found);
        assert!(said.contains("rate of requests from 1 per hour to 2 per hour"), "{said}");
        // Both rates are in the unit of the slower one.
        let said = [[0.09, 0.2], [0.2, 0.0]].map(|values| figure_in_words(&of(values)));
        assert_eq!(said[0], "rate of requests from 324 per hour to 720 per hour");
        assert_eq!(said[1], "rate of requests from 0.2 per second to 0 per second");
    }

    /// A trace with one step for each of so many minutes.
    fn trace(minutes: usize) -> TraceSummary {
        let load = Load { ios: 60, reads: Some(60), ..Load::default() };
        let steps = vec![TimeStep { load, ..TimeStep::default() }; minutes];
        let over_time = Timeline { step_ns: 60_000_000_000, start_ns: 0, steps };
        TraceSummary { over_time, ..TraceSummary::default() }
    }

    #[test]
    fn traces_of_other_lengths_are_drawn_on_one_axis() {
        let drawn = |minutes: [usize; 2]| {
            both(minutes.map(|one| over_time::rates(&trace(one)))).expect("one quantity")
        };
        let ends = |chart: &Chart| -> Vec<f64> {
            chart.series.iter().filter_map(|one| Some(one.marks.last()?.x)).collect()
        };
        let longer_first = drawn([10, 2]);
        assert!(longer_first.x.label.ends_with("minutes"), "{}", longer_first.x.label);
        assert_eq!(ends(&longer_first), [9.5, 9.5, 1.5, 1.5]);
        let shorter_first = drawn([2, 10]);
        assert!(shorter_first.x.label.ends_with("seconds"), "{}", shorter_first.x.label);
        assert_eq!(ends(&shorter_first), [90.0, 90.0, 570.0, 570.0]);
        assert!(shorter_first.x.range[1] >= 570.0);
        let other = charts::sizes(&trace(2));
        assert!(times_of(&longer_first, &other).is_none() || other.x.label == longer_first.x.label);
    }
}
