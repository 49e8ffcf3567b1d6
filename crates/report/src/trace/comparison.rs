//! Two traces side by side: what changed, in words and tables, and every figure of both in one picture.

use super::charts;
use super::page::{figure, rows};
use super::tables::Rows;
use super::text::section;
use crate::html::section::Section;
use crate::plot::{Chart, Unit};
use crate::terminal::Style;
use crate::text::{esc, fine_ratio, inert, percent};
use ioscape_schema::TraceComparison;
use ioscape_schema::statistics::sort_by_number;
use ioscape_schema::trace_comparison::{
    Change, DistributionChange, FigureChange, TraceDistribution, TraceFigure,
};
use ioscape_schema::trace_summary::TraceSummary;
use ioscape_schema::units::{Bytes, Rate};

/// Changes that the verdict names.
const MOST_NAMED: usize = 4;

/// What a figure is called, and how its values are shown.
fn of_figure(name: TraceFigure) -> (&'static str, fn(f64) -> String) {
    let number = |value: f64| Unit::Number.show(value);
    let speed = |value: f64| Rate(value).to_string();
    let size = |value: f64| Bytes(value).to_string();
    let time = |value: f64| Unit::Nanos.show(value);
    match name {
        TraceFigure::RequestsPerS => ("requests per second", number),
        TraceFigure::ReadBytesPerS => ("bytes read per second", speed),
        TraceFigure::WriteBytesPerS => ("bytes written per second", speed),
        TraceFigure::ReadBytesMean => ("mean size of a read", size),
        TraceFigure::WriteBytesMean => ("mean size of a write", size),
        TraceFigure::ReadElapsedNsMean => ("mean time of a read", time),
        TraceFigure::WriteElapsedNsMean => ("mean time of a write", time),
        TraceFigure::QueueLengthMean => ("mean queue at an arrival", number),
    }
}

/// What a distribution is called, and how its values are shown.
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
    let (name, show) = of_figure(one.name);
    let [from, to] = one.values.map(show);
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

/// The verdict, with what it follows from.
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
                || "a trace needs requests in 16 windows of time or more".to_owned(),
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

/// Whether the condition that was given is met.
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

/// The figures of both.
fn figures(found: &TraceComparison) -> Rows {
    let row = |one: &FigureChange| {
        let (name, show) = of_figure(one.name);
        let [first, second] = one.values.map(show);
        let interval = between(one.ci95, ratio);
        vec![name.to_owned(), first, second, ratio(one.ratio), interval, words(one.verdict)]
    };
    let head = vec!["Figure", "first", "second", "ratio", "95 % interval", "verdict"];
    Rows::whole(head, found.figures.iter().map(row).collect())
}

/// The distributions of both.
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
    verdict.words().to_owned()
}

/// The comparison on the terminal.
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
    let pictures = PICTURES.iter().map(|(id, title, chart)| {
        let both = both(found.traces.each_ref().map(*chart));
        figure(id, title, "Dashed: the second trace.", &both)
    });
    let pictures = format!("<h2>Figures of both</h2>{}", pictures.collect::<String>());
    vec![
        Section::new("verdict", "Verdict", told),
        Section::new("figures", "Figures of both", pictures),
    ]
}

/// A figure of a trace.
pub(super) type Picture = fn(&TraceSummary) -> Chart;

/// Every figure of a trace's page that is a chart: identifier, heading, and the chart.
pub(super) const PICTURES: [(&str, &str, Picture); 18] = [
    ("rates", "Requests over time", charts::rates),
    ("read-fraction", "Reads over time", charts::read_fraction),
    ("times", "Physical and elapsed times", charts::response_times),
    ("tails", "Tail latencies over time", charts::tails),
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
    ("working-set", "Working set over time", charts::working_set),
    ("miss-ratio", "Miss ratio by cache size", charts::miss_ratio),
];

/// How many of the units of the first chart's horizontal axis one of the second's is; `None` where they do not count the same.
fn times_of(first: &Chart, second: &Chart) -> Option<f64> {
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

/// Multiplies all places on the horizontal axis.
fn stretch(chart: &mut Chart, times: f64) {
    chart.x.range = chart.x.range.map(|end| end * times);
    for mark in chart.series.iter_mut().flat_map(|series| &mut series.marks) {
        mark.x *= times;
    }
}

/// One chart over the other, on axes that hold both: traces of other lengths count time in other units.
fn both([mut first, mut second]: [Chart; 2]) -> Chart {
    if first.has_points() {
        let Some(times) = times_of(&first, &second) else { return first };
        stretch(&mut second, times);
    }
    for series in &mut second.series {
        series.name += ", second";
        series.class = format!("{} dashed", series.class.trim_end_matches(" dashed"));
    }
    if !second.has_points() {
        return first;
    }
    if !first.has_points() {
        return second;
    }
    for (mine, other) in [(&mut first.x, &second.x), (&mut first.y, &second.y)] {
        mine.range = [mine.range[0].min(other.range[0]), mine.range[1].max(other.range[1])];
    }
    first.series.append(&mut second.series);
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::trace_summary::{Load, TimeStep, Timeline};

    /// A trace of so many minutes, a step each.
    fn trace(minutes: usize) -> TraceSummary {
        let load = Load { ios: 60, reads: Some(60), ..Load::default() };
        let steps = vec![TimeStep { load, ..TimeStep::default() }; minutes];
        let over_time = Timeline { step_ns: 60_000_000_000, start_ns: 0, steps };
        TraceSummary { over_time, ..TraceSummary::default() }
    }

    #[test]
    fn traces_of_other_lengths_are_drawn_on_one_axis() {
        let drawn = |minutes: [usize; 2]| both(minutes.map(|one| charts::rates(&trace(one))));
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
