//! The figures of a trace, as charts without size or style.

use super::tables::tells_operations;
use crate::plot::{Axis, Chart, Drawn, Mark, Scale, Series, Shape, Unit};
use crate::text::inert;
use ioscape_schema::Distribution;
use ioscape_schema::trace_summary::{Distances, MissRatioCurve, TimeStep, Timeline, TraceSummary};

/// Most points of a line: more would not be visible as separate points.
const MOST_POINTS: usize = 240;
/// Most lines in one picture.
const MOST_LINES: usize = 5;
/// Classes of lines that stand for things without a colour of their own.
const CLASSES: [&str; 5] = ["r3", "r5", "r4", "r2", "r1"];

fn mark(x: f64, y: f64) -> Mark {
    Mark { x, y, range: [y; 2], doubtful: false, title: String::new() }
}

fn line(name: &str, class: &str, points: impl Iterator<Item = (f64, f64)>) -> Series {
    let points: Vec<(f64, f64)> = points.collect();
    let every = points.len().div_ceil(MOST_POINTS).max(1);
    let last = points.len().saturating_sub(1);
    let kept = points.into_iter().enumerate().filter(|(at, _)| at % every == 0 || *at == last);
    Series {
        name: inert(name).into_owned(),
        class: class.to_owned(),
        shape: Shape::Disc,
        drawn: Drawn::Line,
        marks: kept.map(|(_, (x, y))| mark(x, y)).collect(),
    }
}

fn axis(label: &str, scale: Scale, unit: Unit, values: impl Iterator<Item = f64>) -> Axis {
    Axis { label: label.to_owned(), scale, unit, range: scale.fit(values) }
}

fn chart(
    label: &str,
    x: (&str, Scale, Unit),
    y: (&str, Scale, Unit),
    series: Vec<Series>,
) -> Chart {
    let marks = || series.iter().flat_map(|one| &one.marks);
    let mut y_axis = axis(y.0, y.1, y.2, marks().map(|m| m.y));
    if y.2 == Unit::Percent {
        y_axis.range = [0.0, 1.0];
    }
    let x_axis = Axis {
        range: range_of(x.1, marks().map(|m| m.x)),
        ..axis(x.0, x.1, x.2, std::iter::empty())
    };
    Chart {
        label: label.to_owned(),
        x: x_axis,
        y: y_axis,
        series,
        bands: Vec::new(),
        markers: Vec::new(),
    }
}

/// As [`Scale::fit`], but linear axes begin where the values do: times of a window need not begin at 0.
fn range_of(scale: Scale, values: impl Iterator<Item = f64>) -> [f64; 2] {
    if scale != Scale::Linear {
        return scale.fit(values);
    }
    let ends = values.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], v| [a.min(v), b.max(v)]);
    if ends[0] < ends[1] { ends } else { [0.0, 1.0] }
}

/// The cumulative distribution as a line: value, share of values up to it. It rises from 0, so that a single value is seen too.
fn cumulative(name: &str, class: &str, of: &Distribution) -> Series {
    let mut below = 0;
    let points = of.bins.iter().map(|&(to, count)| {
        below += count;
        (to, below as f64 / of.count.max(1) as f64)
    });
    let first = of.bins.first().map(|bin| (bin.0, 0.0));
    let points: Vec<_> = first.into_iter().chain(points).collect();
    line(name, class, points.into_iter())
}

const SHARE: (&str, Scale, Unit) = ("share, cumulative", Scale::Linear, Unit::Percent);

fn distributions(
    label: &str,
    x: (&str, Scale, Unit),
    all: &[(&str, &str, &Distribution)],
) -> Chart {
    let some = all.iter().filter(|one| one.2.count > 0);
    chart(label, x, SHARE, some.map(|(name, class, of)| cumulative(name, class, of)).collect())
}

const TIME: (&str, Scale, Unit) = ("time", Scale::Log10, Unit::Nanos);

/// Figure 1: physical and elapsed times.
pub fn response_times(trace: &TraceSummary) -> Chart {
    let t = &trace.response_times;
    let title = "Cumulative distributions of physical and elapsed times";
    let (Some(read), Some(write)) = (&t.read, &t.write) else {
        let all = [
            ("physical", "mixed", &t.all.physical_ns),
            ("elapsed", "mixed dashed", &t.all.elapsed_ns),
        ];
        return distributions(title, TIME, &all);
    };
    distributions(
        title,
        TIME,
        &[
            ("reads, physical", "read", &read.physical_ns),
            ("reads, elapsed", "read dashed", &read.elapsed_ns),
            ("writes, physical", "write", &write.physical_ns),
            ("writes, elapsed", "write dashed", &write.elapsed_ns),
        ],
    )
}

/// One line per disk, the busiest first.
fn by_disk(
    trace: &TraceSummary,
    pick: fn(&ioscape_schema::trace_summary::DiskSummary) -> &Distribution,
) -> Vec<Series> {
    let mut disks: Vec<_> = trace.disks.iter().filter(|disk| pick(disk).count > 0).collect();
    disks.sort_by_key(|disk| std::cmp::Reverse(disk.load.ios));
    let lines = disks.into_iter().take(MOST_LINES).zip(CLASSES);
    lines.map(|(disk, class)| cumulative(&disk.name, class, pick(disk))).collect()
}

/// Figure 2: queue lengths.
pub fn queue_lengths(trace: &TraceSummary) -> Chart {
    let x = ("queue length at arrival, itself included", Scale::Log10, Unit::Count);
    chart("Queue lengths by disk", x, SHARE, by_disk(trace, |disk| &disk.queue_length))
}

/// Idle periods by disk.
pub fn idle_times(trace: &TraceSummary) -> Chart {
    let x = ("idle period", Scale::Log10, Unit::Nanos);
    chart("Idle periods by disk", x, SHARE, by_disk(trace, |disk| &disk.idle_ns))
}

/// Figure 3: mean queue length by day.
pub fn daily_queues(trace: &TraceSummary) -> Chart {
    let mut disks: Vec<_> = trace.disks.iter().filter(|disk| disk.load.ios > 0).collect();
    disks.sort_by_key(|disk| std::cmp::Reverse(disk.load.ios));
    let series = disks.into_iter().take(MOST_LINES).zip(CLASSES).map(|(disk, class)| {
        let days = disk.daily_queue_mean.iter().enumerate();
        line(&disk.name, class, days.filter_map(|(day, mean)| Some((day as f64, (*mean)?))))
    });
    let y = ("mean queue length", Scale::Linear, Unit::Number);
    chart("Mean queue length by day", ("day", Scale::Linear, Unit::Count), y, series.collect())
}

/// Figure 6: time between arrivals, cumulative and as a density.
pub fn inter_arrival(trace: &TraceSummary) -> Chart {
    let of = &trace.inter_arrival_ns;
    let mut density = Vec::new();
    let (mut count, mut bound) = (0, 0.0);
    for &(to, more) in &of.bins {
        // A third of an octave at a time: finer bins would show the sample's noise.
        if to > bound * 1.26 && count > 0 {
            density.push((bound, count as f64 / of.count.max(1) as f64));
            count = 0;
        }
        if count == 0 {
            bound = to;
        }
        count += more;
    }
    density.push((bound, count as f64 / of.count.max(1) as f64));
    let all = vec![
        cumulative("cumulative", "mixed", of),
        line("density, per third of an octave", "plain", density.into_iter()),
    ];
    let x = ("time to the next arrival", Scale::Log10, Unit::Nanos);
    chart("Time between arrivals", x, ("share", Scale::Linear, Unit::Percent), all)
}

/// Unit and divisor that show a span of time in numbers people read.
fn time_unit(timeline: &Timeline) -> (&'static str, f64) {
    let span = timeline.step_ns as f64 * timeline.steps.len() as f64;
    match span {
        s if s > 3.0 * 86400e9 => ("days", 86400e9),
        s if s > 3.0 * 3600e9 => ("hours", 3600e9),
        s if s > 180e9 => ("minutes", 60e9),
        _ => ("seconds", 1e9),
    }
}

/// A line over time: its name, its class, and what it shows of a step.
type Line<'a> = (&'a str, &'a str, &'a dyn Fn(&TimeStep) -> Option<f64>);

fn over_time(label: &str, timeline: &Timeline, y: (&str, Scale, Unit), lines: &[Line]) -> Chart {
    let (unit, one) = time_unit(timeline);
    let at = |index: usize| {
        (timeline.start_ns as f64 + (index as f64 + 0.5) * timeline.step_ns as f64) / one
    };
    let series = lines.iter().map(|(name, class, value)| {
        let steps = timeline.steps.iter().enumerate();
        line(name, class, steps.filter_map(|(index, step)| Some((at(index), value(step)?))))
    });
    let x = format!("time from the beginning of the trace, {unit}");
    chart(label, (&x, Scale::Linear, Unit::Number), y, series.collect())
}

/// Figure 4: requests by hour or day, or at the finest steps kept for a short trace.
pub fn rates(trace: &TraceSummary) -> Chart {
    let timeline = if trace.hourly.steps.len() >= 6 { &trace.hourly } else { &trace.over_time };
    let seconds = timeline.step_ns as f64 / 1e9;
    let rate = |count: u64| Some(count as f64 / seconds);
    let [all, reads, writes]: [Line; 3] = [
        ("requests", "mixed", &|step| rate(step.load.ios)),
        ("reads", "read", &|step| step.load.reads.and_then(rate)),
        ("writes", "write", &|step| step.load.writes().and_then(rate)),
    ];
    let lines = if tells_operations(trace) { vec![reads, writes] } else { vec![all] };
    over_time(
        "Requests per second over time",
        timeline,
        ("requests per second", Scale::Linear, Unit::Number),
        &lines,
    )
}

/// Figure 8: fraction of reads over time.
pub fn read_fraction(trace: &TraceSummary) -> Chart {
    let timeline = if trace.hourly.steps.len() >= 6 { &trace.hourly } else { &trace.over_time };
    over_time(
        "Fraction of requests that read, over time",
        timeline,
        ("reads", Scale::Linear, Unit::Percent),
        &[("reads", "read", &|step| step.load.read_frac())],
    )
}

/// Tail latencies over time.
pub fn tails(trace: &TraceSummary) -> Chart {
    let positive = |value: Option<f64>| value.filter(|&ns| ns > 0.0);
    over_time(
        "Elapsed times over time",
        &trace.over_time,
        ("elapsed time", Scale::Log10, Unit::Nanos),
        &[
            ("median", "read", &|step| positive(step.elapsed_p50_ns)),
            ("99 %", "mixed", &|step| positive(step.elapsed_p99_ns)),
            ("99.9 %", "write", &|step| positive(step.elapsed_p999_ns)),
        ],
    )
}

/// Figure 9: distances between requests on a signed logarithmic axis.
pub fn distances(trace: &TraceSummary) -> Chart {
    let place = |bytes: f64| bytes.signum() * (bytes.abs() / 1024.0).max(1.0).log10();
    let of: &Distances = &trace.distances;
    let mut below = 0;
    let points: Vec<(f64, f64)> = of
        .bins
        .iter()
        .map(|&(bytes, count)| {
            below += count;
            (place(bytes), below as f64 / of.count.max(1) as f64)
        })
        .collect();
    let x = ("sign and power of 10 of the distance in KiB", Scale::Linear, Unit::Number);
    let all = vec![line("all disks", "mixed", points.into_iter())];
    chart("Distances from the end of one request to the beginning of the next", x, SHARE, all)
}

/// Figure 10: writes by the length of their group and burst, on the busiest disk.
pub fn groups(trace: &TraceSummary) -> Chart {
    let busiest = trace.disks.iter().max_by_key(|disk| disk.load.writes());
    let runs = busiest.map(|disk| {
        let of = |name: &str, class: &str, bins: &[(f64, u64)]| {
            let whole: u64 = bins.iter().map(|bin| bin.1).sum();
            let mut below = 0;
            let points = bins.iter().map(|&(to, count)| {
                below += count;
                (to, below as f64 / whole.max(1) as f64)
            });
            line(name, class, points.collect::<Vec<_>>().into_iter())
        };
        vec![
            of("groups: no read between", "write", &disk.write_groups.bins),
            of("bursts: within 30 ms", "mixed", &disk.write_bursts.bins),
        ]
    });
    let x = ("writes in the group or burst", Scale::Log10, Unit::Count);
    let y = ("share of writes, cumulative", Scale::Linear, Unit::Percent);
    chart("Writes by the length of their group and burst", x, y, runs.unwrap_or_default())
}

/// Figure 11: transfer sizes of the types with most requests.
pub fn sizes(trace: &TraceSummary) -> Chart {
    let mut all: Vec<_> = trace.transfer_sizes.iter().filter(|one| one.bytes.count > 0).collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.bytes.count));
    let lines = all.into_iter().take(MOST_LINES).zip(CLASSES).map(|(one, class)| {
        let mut name = match one.op.filter(|_| tells_operations(trace)) {
            Some(op) => {
                format!("{} {}s", super::tables::type_name(one.io_type), super::tables::op(op))
            }
            None => "requests".to_owned(),
        };
        // Lines of one size lie upon each other.
        if one.bytes.min == one.bytes.max {
            name += &format!(", all {}", Unit::Bytes.show(one.bytes.max));
        }
        cumulative(&name, class, &one.bytes)
    });
    let x = ("transfer size", Scale::Log2, Unit::Bytes);
    chart("Transfer sizes by type", x, SHARE, lines.collect())
}

/// Figure 12: time from one write of a block to its next.
pub fn overwrites(trace: &TraceSummary) -> Chart {
    let x = ("time to the next write of the block", Scale::Log10, Unit::Nanos);
    let of = &trace.overwrites.delay_ns;
    distributions("Overwrite delays of blocks", x, &[("overwrites", "write", of)])
}

/// Figure 13: writes by block, the most written first.
pub fn popularity(trace: &TraceSummary) -> Chart {
    let points = trace.popularity.curve.iter().map(|&(rank, share)| (rank as f64, share));
    let x = ("blocks, the most written first", Scale::Log10, Unit::Count);
    let y = ("share of block writes", Scale::Linear, Unit::Percent);
    chart("Writes by block popularity", x, y, vec![line("writes", "write", points)])
}

/// Figure 17: memory that holds all writes of 30 seconds.
pub fn absorption(trace: &TraceSummary) -> Chart {
    let lines = trace.absorption.iter().zip(["write", "mixed"]);
    let some: Vec<_> = lines
        .filter(|(one, _)| one.intervals > 0)
        .map(|(one, class)| cumulative(&format!("{} writes", one.writes), class, &one.bytes))
        .collect();
    let x = ("distinct bytes written in 30 seconds", Scale::Log2, Unit::Bytes);
    let y = ("share of intervals with writes", Scale::Linear, Unit::Percent);
    chart("Memory that absorbs the writes of 30 seconds", x, y, some)
}

/// Figure 18: how much of what is written a cache of any size takes that is emptied every 30 seconds.
pub fn absorbed(trace: &TraceSummary) -> Chart {
    let of = |column: usize| {
        let all = trace.absorption.first().map_or(&[][..], |all| &all.absorbed);
        all.iter().map(move |point| (point[0], point[column]))
    };
    let series = vec![line("total", "write", of(1)), line("overwrites", "mixed", of(2))];
    let x = ("size of the cache", Scale::Log2, Unit::Bytes);
    let y = ("share of the bytes written", Scale::Linear, Unit::Percent);
    chart("Writes absorbed by a cache", x, y, series)
}

/// Distinct bytes touched in each window.
pub fn working_set(trace: &TraceSummary) -> Chart {
    // The finest windows that are few enough to be seen.
    let windows = trace.working_set.over_time.iter();
    let shown = windows.clone().find(|w| w.bytes.len() <= 400).or_else(|| windows.last());
    let name =
        shown.map_or_else(String::new, |w| format!("in {}", Unit::Nanos.show(w.window_ns as f64)));
    let (one, unit) =
        shown.map_or((1e9, "seconds"), |w| match w.window_ns as f64 * w.bytes.len() as f64 {
            s if s > 3.0 * 86400e9 => (86400e9, "days"),
            s if s > 3.0 * 3600e9 => (3600e9, "hours"),
            s if s > 180e9 => (60e9, "minutes"),
            _ => (1e9, "seconds"),
        });
    let points = shown.into_iter().flat_map(|w| {
        let at = move |index: usize| {
            (w.start_ns as f64 + (index as f64 + 0.5) * w.window_ns as f64) / one
        };
        w.bytes.iter().enumerate().map(move |(index, &bytes)| (at(index), bytes as f64))
    });
    let x = format!("time from the beginning of the trace, {unit}");
    let y = ("distinct bytes touched", Scale::Linear, Unit::Bytes);
    chart(
        "Working set over time",
        (&x, Scale::Linear, Unit::Number),
        y,
        vec![line(&name, "mixed", points)],
    )
}

/// The line of a curve with an area where the exact one lies.
fn bounded(mut line: Series, curve: &MissRatioCurve) -> Series {
    for mark in &mut line.marks {
        let at = curve.points.partition_point(|point| point.0 < mark.x);
        if let Some(&[low, high]) = curve.interval90.get(at) {
            mark.range = [low.clamp(0.0, mark.y), high.clamp(mark.y, 1.0)];
        }
    }
    line
}

/// Miss ratio by cache size; around a sampled one where the exact one lies.
pub fn miss_ratio(trace: &TraceSummary) -> Chart {
    let lines = trace.miss_ratio.curves.iter().zip([
        "mixed",
        "write dashed",
        "read dashed",
        "plain dashed",
    ]);
    let some = lines.map(|(curve, class)| {
        let name = if curve.one_in == 1 {
            "exact".to_owned()
        } else {
            format!("one block in {}", curve.one_in)
        };
        bounded(line(&name, class, curve.points.iter().copied()), curve)
    });
    let x = ("cache size", Scale::Log2, Unit::Bytes);
    let y = ("miss ratio (LRU)", Scale::Linear, Unit::Percent);
    chart("Miss ratio of an LRU cache by its size", x, y, some.collect())
}

/// Index of dispersion by window.
pub fn dispersion(trace: &TraceSummary) -> Chart {
    let points = trace.burstiness.dispersion.iter().filter(|p| p.1 > 0.0);
    let points = points.map(|&(window, index)| (window as f64, index));
    let x = ("window", Scale::Log10, Unit::Nanos);
    let y = ("variance over mean of arrivals", Scale::Log10, Unit::Number);
    chart("Index of dispersion of arrivals", x, y, vec![line("arrivals", "mixed", points)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Frame;
    use ioscape_schema::trace_summary::MissRatio;

    #[test]
    fn a_sampled_miss_ratio_has_an_area_where_the_exact_one_lies() {
        let points = vec![(4096.0, 0.9), (8192.0, 0.5), (16384.0, 0.2)];
        let exact = MissRatioCurve { one_in: 1, points: points.clone(), ..Default::default() };
        let interval90 = vec![[0.8, 1.2], [0.4, 0.6], [0.1, 0.3]];
        let sampled = MissRatioCurve { one_in: 16, interval90, points, ..Default::default() };
        let curves = vec![exact, sampled];
        let trace = TraceSummary { miss_ratio: MissRatio { curves }, ..TraceSummary::default() };
        let chart = miss_ratio(&trace);
        let ranges = chart.series.iter().map(|one| one.marks[0].range);
        assert_eq!(ranges.collect::<Vec<_>>(), [[0.9, 0.9], [0.8, 1.0]]);
        let drawn = chart.svg(Frame::NARROW, "");
        assert_eq!(drawn.matches(r#"class="area""#).count(), 1, "{drawn}");
        assert!(!drawn.contains(r#"class="bars""#));
    }
}
