//! The figures of a trace over time.
//!
//! Steps too close to be seen apart are drawn as one point, so that no peak is lost between points.

use super::charts::{chart, whole};
use super::tables::tells_operations;
use crate::plot::{Chart, Scale, Unit};
use ioscape_schema::trace_lacks::TraceLacks;
use ioscape_schema::trace_summary::{Load, TimeStep, Timeline, TraceSummary, WorkingSetWindows};
use std::ops::Range;

/// The most points of a line over time; more could not be seen as separate points.
const MOST_POINTS: usize = 400;
/// The smallest part of a step that a trace must cover at its ends for the step to have a rate.
///
/// With less, the rate would depend on where the trace was cut.
const LEAST_COVERED: f64 = 0.5;

/// How many steps or windows to draw as one, given their number.
fn every(count: usize) -> usize {
    count.div_ceil(MOST_POINTS).max(1)
}

/// The text before the number of values of which only the highest is drawn.
const HIGHEST: &str = ", highest of up to ";

/// The remark that values are the highest of several; empty if each is drawn.
fn highest(every: usize, what: &str) -> String {
    if every > 1 { format!("{HIGHEST}{every} {what}") } else { String::new() }
}

/// The label that holds for two vertical axes: the one whose points stand for more values.
///
/// `None` if the axes show different things.
pub(super) fn label_of_both<'a>(one: &'a str, other: &'a str) -> Option<&'a str> {
    let parts = |label: &'a str| {
        let (what, several) = label.split_once(HIGHEST).unwrap_or((label, ""));
        let number = several.split(' ').next().and_then(|number| number.parse::<usize>().ok());
        (what, number)
    };
    let ((what, number), (other_what, other_number)) = (parts(one), parts(other));
    (what == other_what).then_some(if number < other_number { other } else { one })
}

/// The unit and divisor that give a time span readable numbers.
pub(super) fn time_unit(span_ns: f64) -> (&'static str, f64) {
    match span_ns {
        s if s > 3.0 * 86400e9 => ("days", 86400e9),
        s if s > 3.0 * 3600e9 => ("hours", 3600e9),
        s if s > 180e9 => ("minutes", 60e9),
        _ => ("seconds", 1e9),
    }
}

/// Steps drawn as one point.
struct Group<'a> {
    steps: &'a [TimeStep],
    /// The middle of their time span, in nanoseconds from the beginning of the trace.
    middle_ns: f64,
    /// How much of the trace they cover, in seconds.
    seconds: f64,
}

impl Group<'_> {
    /// The total count of all steps; `None` if unknown.
    fn count(&self, of: fn(&Load) -> Option<u64>) -> Option<u64> {
        self.steps.iter().filter_map(|step| of(&step.load)).reduce(u64::saturating_add)
    }

    /// The count per second of the trace; `None` if unknown.
    fn rate(&self, of: fn(&Load) -> Option<u64>) -> Option<f64> {
        let count = self.count(of)?;
        (self.seconds > 0.0).then_some(count as f64 / self.seconds)
    }

    /// The longest time of any step.
    fn longest(&self, of: fn(&TimeStep) -> Option<f64>) -> Option<f64> {
        self.steps.iter().filter_map(of).filter(|&ns| ns > 0.0).reduce(f64::max)
    }
}

/// The steps in groups.
///
/// If the trace covers less than `least_covered` of its first or last group, that group is merged
/// with its neighbour.
fn groups<'a>(trace: &TraceSummary, timeline: &'a Timeline, least_covered: f64) -> Vec<Group<'a>> {
    let (steps, step_ns) = (&timeline.steps[..], timeline.step_ns as f64);
    let begin_ns = |step: usize| timeline.start_ns as f64 + step as f64 * step_ns;
    // A trace without duration counts as covering its whole step.
    let [first, last] = match trace.first_ns < trace.last_ns {
        true => [trace.first_ns, trace.last_ns].map(|ns| ns as f64),
        false => [0, steps.len()].map(begin_ns),
    };
    let covered_ns = |range: &Range<usize>| {
        (begin_ns(range.end).min(last) - begin_ns(range.start).max(first)).max(0.0)
    };
    let every = every(steps.len());
    let ranges = (0..steps.len()).step_by(every).map(|at| at..(at + every).min(steps.len()));
    let mut ranges: Vec<Range<usize>> = ranges.collect();
    let is_short =
        |range: &Range<usize>| covered_ns(range) < least_covered * every as f64 * step_ns;
    if ranges.len() > 1 && is_short(&ranges[0]) {
        ranges.remove(0);
        ranges[0].start = 0;
    }
    let end = ranges.len().saturating_sub(1);
    if end > 0 && is_short(&ranges[end]) {
        ranges.truncate(end);
        ranges[end - 1].end = steps.len();
    }
    let group = |range: Range<usize>| Group {
        middle_ns: f64::midpoint(begin_ns(range.start), begin_ns(range.end)),
        seconds: covered_ns(&range) / 1e9,
        steps: &steps[range],
    };
    ranges.into_iter().map(group).collect()
}

/// A line over time: its name, its class, and its value for a group.
type Line<'a> = (&'a str, &'a str, &'a dyn Fn(&Group<'_>) -> Option<f64>);

fn over_time(
    label: &str,
    timeline: &Timeline,
    groups: &[Group<'_>],
    y: (&str, Scale, Unit),
    lines: &[Line<'_>],
) -> Chart {
    let (unit, one) = time_unit(timeline.step_ns as f64 * timeline.steps.len() as f64);
    let series = lines.iter().map(|(name, class, value)| {
        let points = groups.iter().filter_map(|group| Some((group.middle_ns / one, value(group)?)));
        whole(name, class, points)
    });
    let x = format!("time from the beginning of the trace, {unit}");
    let drawn = series.filter(|one| !one.marks.is_empty()).collect();
    chart(label, (&x, Scale::Linear, Unit::Number), y, drawn)
}

/// The timeline by the hour, by the day if hours are no longer kept, or by the finest steps for a
/// short trace.
fn by_hour(trace: &TraceSummary) -> &Timeline {
    let mut longer = [&trace.hourly, &trace.daily].into_iter();
    longer.find(|timeline| timeline.steps.len() >= 6).unwrap_or(&trace.over_time)
}

/// Figure 4: requests by hour or day, or at the finest steps for a short trace.
///
/// It has no line if only slow requests are known.
pub fn rates(trace: &TraceSummary) -> Chart {
    let timeline = by_hour(trace);
    let [all, reads, writes]: [Line<'_>; 3] = [
        ("requests", "mixed", &|group| group.rate(|load| Some(load.ios))),
        ("reads", "read", &|group| group.rate(|load| load.reads)),
        ("writes", "write", &|group| group.rate(Load::writes)),
    ];
    let lines = match () {
        () if TraceLacks::of(&trace.info).fast => Vec::new(),
        () if tells_operations(trace) => vec![reads, writes],
        () => vec![all],
    };
    over_time(
        "Requests per second over time",
        timeline,
        &groups(trace, timeline, LEAST_COVERED),
        ("requests per second", Scale::Linear, Unit::Number),
        &lines,
    )
}

/// Figure 8: fraction of reads over time.
pub fn read_fraction(trace: &TraceSummary) -> Chart {
    let timeline = by_hour(trace);
    over_time(
        "Fraction of requests that read, over time",
        timeline,
        &groups(trace, timeline, 0.0),
        ("reads", Scale::Linear, Unit::Percent),
        &[("reads", "read", &|group| {
            let ios = group.count(|load| Some(load.ios)).filter(|&ios| ios > 0)?;
            Some(group.count(|load| load.reads)? as f64 / ios as f64)
        })],
    )
}

/// Tail latencies over time.
pub fn tails(trace: &TraceSummary) -> Chart {
    let timeline = &trace.over_time;
    let y = format!("elapsed time{}", highest(every(timeline.steps.len()), "steps"));
    over_time(
        "Elapsed times over time",
        timeline,
        &groups(trace, timeline, 0.0),
        (&y, Scale::Log10, Unit::Nanos),
        &[
            ("median", "read", &|group| group.longest(|step| step.elapsed_p50_ns)),
            ("99 %", "mixed", &|group| group.longest(|step| step.elapsed_p99_ns)),
            ("99.9 %", "write", &|group| group.longest(|step| step.elapsed_p999_ns)),
            ("longest", "plain", &|group| group.longest(|step| step.elapsed_max_ns)),
        ],
    )
}

/// The time windows whose working sets are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Their length, in nanoseconds.
    length_ns: u64,
    /// The most windows drawn as one: as the one in which most was touched.
    every: usize,
}

fn windows_of(trace: &TraceSummary, length_ns: u64) -> Option<&WorkingSetWindows> {
    trace.working_set.over_time.iter().find(|one| one.window_ns == length_ns)
}

/// The windows to draw for all of these traces that have working sets.
///
/// They are the shortest that all traces have and that can be seen apart, or else the longest that
/// all have.
pub fn windows_of_all(traces: &[&TraceSummary]) -> Option<Windows> {
    let some = traces.iter().filter(|trace| !trace.working_set.over_time.is_empty());
    let traces: Vec<&TraceSummary> = some.copied().collect();
    let of_all = |length_ns: u64| {
        let counts = traces.iter().map(|trace| Some(windows_of(trace, length_ns)?.bytes.len()));
        let most = counts.collect::<Option<Vec<usize>>>()?.into_iter().max()?;
        Some(Windows { length_ns, every: every(most) })
    };
    let lengths = traces.first()?.working_set.over_time.iter().map(|one| one.window_ns);
    let common: Vec<Windows> = lengths.filter_map(of_all).collect();
    common.iter().find(|one| one.every == 1).or(common.last()).copied()
}

/// The distinct bytes touched in each window.
pub fn working_set(trace: &TraceSummary) -> Chart {
    let windows = windows_of_all(&[trace]).unwrap_or(Windows { length_ns: 0, every: 1 });
    working_set_in(trace, windows)
}

/// The distinct bytes touched in each of these windows; no line if the trace lacks them.
pub fn working_set_in(trace: &TraceSummary, windows: Windows) -> Chart {
    let none = WorkingSetWindows::default();
    let shown = windows_of(trace, windows.length_ns).unwrap_or(&none);
    let length_ns = windows.length_ns as f64;
    let (unit, one) = time_unit(length_ns * shown.bytes.len() as f64);
    let every = every(shown.bytes.len());
    let points = shown.bytes.chunks(every).enumerate().filter_map(|(at, some)| {
        let middle = (at * every) as f64 + some.len() as f64 / 2.0;
        let at_ns = shown.start_ns as f64 + middle * length_ns;
        Some((at_ns / one, *some.iter().max()? as f64))
    });
    let within = format!("in {}", Unit::Nanos.show(length_ns));
    let x = format!("time from the beginning of the trace, {unit}");
    let y = format!("distinct bytes touched {within}{}", highest(windows.every, "windows"));
    chart(
        "Working set over time",
        (&x, Scale::Linear, Unit::Number),
        (&y, Scale::Linear, Unit::Bytes),
        vec![whole(&within, "mixed", points)],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Series;
    use ioscape_schema::trace_lacks::SLOW_ALONE;
    use ioscape_schema::trace_summary::WorkingSet;

    const HOUR_NS: u64 = 3_600_000_000_000;

    /// A trace from 0 to `last_ns` with `reads` in each clock hour, the first of which began at
    /// `start_ns`.
    fn by_the_clock(start_ns: i64, last_ns: u64, reads: &[u64]) -> TraceSummary {
        let step = |&ios: &u64| {
            let load = Load { ios, reads: Some(ios), ..Load::default() };
            TimeStep { load, ..TimeStep::default() }
        };
        let steps = reads.iter().map(step).collect();
        let hourly = Timeline { step_ns: HOUR_NS, start_ns, steps };
        TraceSummary { hourly, last_ns, ..TraceSummary::default() }
    }

    /// A trace with working sets for pairs of window length in seconds and number of windows.
    ///
    /// The middle window touches most.
    fn touching(windows: &[(u64, usize)]) -> TraceSummary {
        let of = |&(seconds, count): &(u64, usize)| {
            let mut bytes = vec![4096; count];
            bytes[count / 2] = 1 << 20;
            WorkingSetWindows { window_ns: seconds * 1_000_000_000, start_ns: 0, bytes }
        };
        let over_time = windows.iter().map(of).collect();
        let working_set = WorkingSet { bytes: 1 << 20, over_time, ..WorkingSet::default() };
        TraceSummary { working_set, ..TraceSummary::default() }
    }

    fn highest_mark(line: &Series) -> f64 {
        line.marks.iter().map(|mark| mark.y).fold(0.0, f64::max)
    }

    #[test]
    fn a_busy_hour_among_many_is_seen_and_no_request_is_lost() {
        let mut reads = [1; 480];
        reads[241] = 1500;
        let chart = rates(&by_the_clock(0, 480 * HOUR_NS, &reads));
        let line = &chart.series[0];
        assert_eq!((line.marks.len(), highest_mark(line)), (240, 1501.0 / 7200.0));
        let drawn: f64 = line.marks.iter().map(|mark| mark.y * 7200.0).sum();
        assert!((drawn - 1979.0).abs() < 1e-6, "{drawn}");
        let share = read_fraction(&by_the_clock(0, 480 * HOUR_NS, &reads));
        assert!(share.series[0].marks.iter().all(|mark| mark.y == 1.0));
    }

    /// Once, one request in a thousand was drawn beside the paper's figure of all requests.
    #[test]
    fn of_slow_requests_alone_no_rate_is_drawn() {
        let mut trace = by_the_clock(0, 6 * HOUR_NS, &[3600; 6]);
        assert!(rates(&trace).has_points());
        trace.info.notes.insert(SLOW_ALONE.to_owned(), "longer than 10 ms".to_owned());
        assert!(!rates(&trace).has_points() && read_fraction(&trace).has_points());
    }

    #[test]
    fn a_slow_second_among_many_is_seen_and_said_to_be_the_highest_of_several() {
        let cases = [(300, "elapsed time"), (900, "elapsed time, highest of up to 3 steps")];
        for (count, said) in cases {
            let fast = TimeStep { elapsed_p50_ns: Some(1e6), ..TimeStep::default() };
            let fast = TimeStep { elapsed_p99_ns: Some(1e6), elapsed_max_ns: Some(1e6), ..fast };
            let mut steps = vec![fast; count];
            steps[151].elapsed_max_ns = Some(2e9);
            let over_time = Timeline { step_ns: 1_000_000_000, start_ns: 0, steps };
            let chart = tails(&TraceSummary { over_time, ..TraceSummary::default() });
            let highest: Vec<f64> = chart.series.iter().map(highest_mark).collect();
            assert_eq!(highest, [1e6, 1e6, 2e9], "of too few requests no 99.9th percentile");
            assert_eq!(chart.y.label, said);
        }
    }

    #[test]
    fn a_label_holds_for_both_where_they_differ_in_how_many_values_each_is_the_highest_of() {
        let (all, two) = ("time", "time, highest of up to 2 steps");
        let ten = "time, highest of up to 10 steps";
        for (one, other, both) in [(all, two, two), (two, ten, ten), (ten, all, ten)] {
            assert_eq!(label_of_both(one, other), Some(both));
        }
        assert_eq!(label_of_both(two, "size, highest of up to 2 steps"), None);
    }

    #[test]
    fn the_largest_working_set_of_many_is_seen_and_its_window_told() {
        let chart = working_set(&touching(&[(60, 3000), (600, 500)]));
        assert_eq!(chart.y.label, "distinct bytes touched in 600 s, highest of up to 2 windows");
        let line = &chart.series[0];
        assert_eq!((line.marks.len(), highest_mark(line)), (250, 1_048_576.0));
        let chart = working_set(&touching(&[(1, 100), (10, 10)]));
        assert_eq!(chart.y.label, "distinct bytes touched in 1 s");
        assert!(!working_set(&TraceSummary::default()).has_points());
    }

    #[test]
    fn working_sets_of_several_traces_are_of_windows_that_all_have() {
        let (short, long) = (touching(&[(1, 100), (10, 10)]), touching(&[(10, 3000), (60, 500)]));
        let none = TraceSummary::default();
        let windows = windows_of_all(&[&short, &none, &long]).expect("10 s");
        let labels = [&short, &long].map(|trace| working_set_in(trace, windows).y.label);
        assert_eq!(labels[0], "distinct bytes touched in 10 s, highest of up to 8 windows");
        assert_eq!(labels[0], labels[1]);
        assert!(!working_set_in(&none, windows).has_points());
        assert_eq!(windows_of_all(&[&short, &touching(&[(60, 10)])]), None);
    }

    #[test]
    fn a_step_that_the_trace_covers_in_part_counts_as_that_part() {
        // A request per second for six hours, starting at half past an hour.
        let counts = [1800, 3600, 3600, 3600, 3600, 3600, 1800];
        let half_ns = i64::try_from(HOUR_NS / 2).expect("a small number");
        let chart = rates(&by_the_clock(-half_ns, 6 * HOUR_NS, &counts));
        assert!(chart.series[0].marks.iter().all(|mark| mark.y == 1.0), "{:?}", chart.series[0]);
        assert_eq!(chart.series[0].marks.len(), 7);
        // The last request falls into the first moment of an hour.
        let counts = [3600, 3600, 3600, 3600, 3600, 3600, 1];
        let chart = rates(&by_the_clock(0, 6 * HOUR_NS + 1_000_000, &counts));
        assert_eq!(chart.series[0].marks.len(), 6);
        assert!(highest_mark(&chart.series[0]) < 1.01, "{:?}", chart.series[0]);
    }

    #[test]
    fn a_moment_beside_the_only_whole_step_has_no_rate_of_its_own() {
        let before_ns = 100 - i64::try_from(HOUR_NS).expect("a small number");
        for (start_ns, last_ns, counts) in [
            (0, HOUR_NS + 100, &[3600, 1][..]),
            (before_ns, HOUR_NS + 100, &[1, 3600][..]),
            (before_ns, HOUR_NS + 200, &[1, 3600, 1][..]),
        ] {
            let clock = by_the_clock(start_ns, last_ns, counts);
            let over_time = clock.hourly.clone();
            let chart = rates(&TraceSummary { over_time, hourly: Timeline::default(), ..clock });
            // A single group is not a line.
            assert!(!chart.has_points(), "{counts:?}: {:?}", chart.series);
        }
    }
}
