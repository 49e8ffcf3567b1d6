//! The figures of a trace except those over time, as charts without size or style.

use super::tables::tells_operations;
use crate::plot::{Axis, Chart, Drawn, Mark, Scale, Series, Shape, Unit};
use crate::text::{inert, percent};
use ioscape_schema::Distribution;
use ioscape_schema::trace_summary::{DiskSummary, Distances, MissRatioCurve, TraceSummary};

/// The most points of a monotonic line; more could not be seen as separate points.
const MOST_POINTS: usize = 240;
/// The most lines in one picture.
const MOST_LINES: usize = 5;
/// Classes for lines that have no fixed colour.
pub(super) const CLASSES: [&str; 5] = ["r3", "r5", "r4", "r2", "r1"];

/// A line through all of these points.
pub(super) fn whole(name: &str, class: &str, points: impl Iterator<Item = (f64, f64)>) -> Series {
    let marks = points.map(|(x, y)| Mark::plain(x, y, "")).collect();
    Series::new(inert(name), class, Shape::Disc, Drawn::Line, marks)
}

/// A monotonic line, such as a cumulative one; if it has very many points, it shows a selection.
fn line(name: &str, class: &str, points: impl Iterator<Item = (f64, f64)>) -> Series {
    let points: Vec<(f64, f64)> = points.collect();
    let every = points.len().div_ceil(MOST_POINTS).max(1);
    let last = points.len().saturating_sub(1);
    let kept = points.into_iter().enumerate().filter(|(at, _)| at % every == 0 || *at == last);
    whole(name, class, kept.map(|(_, point)| point))
}

/// A line of shares. The line of a single value rises from 0, so that it is visible.
fn shares(name: &str, class: &str, points: impl Iterator<Item = (f64, f64)>) -> Series {
    let mut line = line(name, class, points);
    if line.marks.len() == 1 {
        let foot = Mark::plain(line.marks[0].x, 0.0, "");
        line.marks.insert(0, foot);
    }
    line
}

/// The chart of these lines. A line with a single point on the axes is invisible, so it is left
/// out.
pub(super) fn chart(
    label: &str,
    x: (&str, Scale, Unit),
    y: (&str, Scale, Unit),
    mut series: Vec<Series>,
) -> Chart {
    let is_placed = |mark: &&Mark| x.1.can_show(mark.x) && y.1.can_show(mark.y);
    series.retain(|one| one.marks.iter().filter(is_placed).count() > 1);
    let marks = || series.iter().flat_map(|one| &one.marks);
    let mut y_axis = Axis::fitted(y.0, y.1, y.2, marks().map(|mark| mark.y));
    if y.2 == Unit::Percent {
        y_axis.range = [0.0, 1.0];
    }
    let x_axis = Axis::new(x.0, x.1, x.2, range_of(x.1, marks().map(|mark| mark.x)));
    Chart::new(label, x_axis, y_axis, series)
}

/// Like [`Scale::fit`], but linear axes start at the smallest value: times need not begin at 0.
fn range_of(scale: Scale, values: impl Iterator<Item = f64>) -> [f64; 2] {
    if scale != Scale::Linear {
        return scale.fit(values);
    }
    let ends = values.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], v| [a.min(v), b.max(v)]);
    match ends {
        [from, to] if from < to => ends,
        // Puts a single value in the middle.
        [from, to] if from == to => [from - 0.5, to + 0.5],
        _ => [0.0, 1.0],
    }
}

/// The number of values that are 0, which a logarithmic axis cannot show, and the bins of the
/// others.
fn zeros_apart(of: &Distribution) -> (u64, &[(f64, u64)]) {
    let (zeros, others) = of.bins.split_at(of.bins.partition_point(|bin| bin.0 <= 0.0));
    (zeros.iter().map(|bin| bin.1).sum(), others)
}

/// Each value with the share of `whole` up to it; `below` is the number of values before the first.
fn rising(bins: &[(f64, u64)], mut below: u64, whole: u64) -> impl Iterator<Item = (f64, f64)> {
    bins.iter().map(move |&(to, count)| {
        below += count;
        (to, below as f64 / whole.max(1) as f64)
    })
}

/// The cumulative distribution as a line on a logarithmic axis: the share of values up to each
/// value.
///
/// It rises from the share of values that are 0, so that even a single value is visible.
fn cumulative(name: &str, class: &str, of: &Distribution) -> Series {
    let (zeros, others) = zeros_apart(of);
    let first = others.first().map(|bin| (bin.0, zeros as f64 / of.count.max(1) as f64));
    line(name, class, first.into_iter().chain(rising(others, zeros, of.count)))
}

/// Whether the values have a line on a logarithmic axis, because some of them are not 0.
fn has_line(of: &Distribution) -> bool {
    !zeros_apart(of).1.is_empty()
}

/// The identifiers of figures with cumulative lines of values that may be 0, on logarithmic axes.
const OF_VALUES: [&str; 5] = ["times", "idle", "inter-arrival", "sizes", "overwrites"];

/// The lines of figure `id` that begin at the share of values that are 0, each with that share.
pub fn begun_at_zeros(id: &str, chart: &Chart) -> Vec<String> {
    if !OF_VALUES.contains(&id) {
        return Vec::new();
    }
    let begins = |line: &Series| {
        let [from, to] = [line.marks.first()?.y, line.marks.last()?.y];
        // Lines of densities do not end at 100 %.
        (from > 0.0 && to >= 1.0).then(|| format!("{} at {}", line.name, percent(from)))
    };
    chart.series.iter().filter_map(begins).collect()
}

/// The remark on the lines of [`begun_at_zeros`]; empty without any.
pub fn zeros(lines: &[String]) -> String {
    match lines {
        [] => String::new(),
        all => format!(" Lines begin at the share of values that are 0: {}.", all.join(", ")),
    }
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

/// One line per disk, the busiest first; none for a disk whose values are all 0.
fn by_disk(trace: &TraceSummary, pick: fn(&DiskSummary) -> &Distribution) -> Vec<Series> {
    let mut disks: Vec<_> = trace.disks.iter().filter(|disk| has_line(pick(disk))).collect();
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

/// Figure 3: mean queue length by day, for disks with requests on several days.
pub fn daily_queues(trace: &TraceSummary) -> Chart {
    let is_on_several = |disk: &&DiskSummary| disk.daily_queue_mean.iter().flatten().count() > 1;
    let mut disks: Vec<_> = trace.disks.iter().filter(is_on_several).collect();
    disks.sort_by_key(|disk| std::cmp::Reverse(disk.load.ios));
    let series = disks.into_iter().take(MOST_LINES).zip(CLASSES).map(|(disk, class)| {
        let days = disk.daily_queue_mean.iter().enumerate();
        whole(&disk.name, class, days.filter_map(|(day, mean)| Some((day as f64, (*mean)?))))
    });
    let y = ("mean queue length", Scale::Linear, Unit::Number);
    chart("Mean queue length by day", ("day", Scale::Linear, Unit::Count), y, series.collect())
}

/// Figure 6: time between arrivals, cumulative and as a density.
pub fn inter_arrival(trace: &TraceSummary) -> Chart {
    let of = &trace.inter_arrival_ns;
    let mut density = Vec::new();
    let (mut count, mut bound) = (0, 0.0);
    for &(to, more) in zeros_apart(of).1 {
        // Steps of a third of an octave: finer bins would show the sample's noise.
        if to > bound * 1.26 && count > 0 {
            density.push((bound, count as f64 / of.count.max(1) as f64));
            count = 0;
        }
        if count == 0 {
            bound = to;
        }
        count += more;
    }
    if count > 0 {
        density.push((bound, count as f64 / of.count.max(1) as f64));
    }
    let all = vec![
        cumulative("cumulative", "mixed", of),
        shares("density, per third of an octave", "plain", density.into_iter()),
    ];
    let x = ("time to the next arrival", Scale::Log10, Unit::Nanos);
    chart("Time between arrivals", x, ("share", Scale::Linear, Unit::Percent), all)
}

/// Figure 9: distances between requests on a signed logarithmic axis.
pub fn distances(trace: &TraceSummary) -> Chart {
    let place = |bytes: f64| bytes.signum() * (bytes.abs() / 1024.0).max(1.0).log10();
    let Distances { bins, count, .. } = &trace.distances;
    let points = rising(bins, 0, *count).map(|(bytes, share)| (place(bytes), share));
    let x = ("sign and power of 10 of the distance in KiB", Scale::Linear, Unit::Number);
    let all = vec![shares("all disks", "mixed", points)];
    chart("Distances from the end of one request to the beginning of the next", x, SHARE, all)
}

/// Figure 10: writes by the length of their group and burst, on the busiest disk.
pub fn groups(trace: &TraceSummary) -> Chart {
    let busiest = trace.disks.iter().max_by_key(|disk| disk.load.writes());
    let runs = busiest.map(|disk| {
        let of = |name: &str, class: &str, bins: &[(f64, u64)]| {
            shares(name, class, rising(bins, 0, bins.iter().map(|bin| bin.1).sum()))
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

/// Figure 11: transfer sizes of the types with the most requests that move data, unlike flushes.
pub fn sizes(trace: &TraceSummary) -> Chart {
    let mut all: Vec<_> = trace.transfer_sizes.iter().filter(|one| has_line(&one.bytes)).collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.bytes.count));
    let lines = all.into_iter().take(MOST_LINES).zip(CLASSES).map(|(one, class)| {
        let mut name = match one.op.filter(|_| tells_operations(trace)) {
            Some(op) => {
                format!("{} {}s", super::tables::type_name(one.io_type), super::tables::op(op))
            }
            None => "requests".to_owned(),
        };
        // Lines of a single size would coincide, so the name gives the size.
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
    chart("Writes by block popularity", x, y, vec![shares("writes", "write", points)])
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

/// Figure 18: the share of writes absorbed by a cache that is emptied every 30 seconds, by its
/// size.
pub fn absorbed(trace: &TraceSummary) -> Chart {
    let of = |column: usize| {
        let all = trace.absorption.first().map_or(&[][..], |all| &all.absorbed);
        all.iter().map(move |point| (point[0], point[column]))
    };
    let series = vec![shares("total", "write", of(1)), shares("overwrites", "mixed", of(2))];
    let x = ("size of the cache", Scale::Log2, Unit::Bytes);
    let y = ("share of the bytes written", Scale::Linear, Unit::Percent);
    chart("Writes absorbed by a cache", x, y, series)
}

/// The line of a sampled curve, with an area that holds the exact curve.
fn bounded(mut line: Series, curve: &MissRatioCurve) -> Series {
    for mark in &mut line.marks {
        let at = curve.points.partition_point(|point| point.0 < mark.x);
        if let Some(&[low, high]) = curve.interval90.get(at) {
            mark.range = [low.clamp(0.0, mark.y), high.clamp(mark.y, 1.0)];
        }
    }
    line
}

/// Miss ratio by cache size; an area around a sampled curve holds the exact one.
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
    fn of_a_line_of_days_no_day_is_lost_and_of_one_day_there_is_none() {
        let disk = |name: &str, days: usize| {
            let mut daily_queue_mean = vec![Some(1.0); days];
            daily_queue_mean[days / 2] = Some(9.0);
            DiskSummary { name: name.to_owned(), daily_queue_mean, ..DiskSummary::default() }
        };
        let disks = vec![disk("long", 600), disk("short", 1)];
        let chart = daily_queues(&TraceSummary { disks, ..TraceSummary::default() });
        let highest = |one: &Series| one.marks.iter().map(|mark| mark.y).fold(0.0, f64::max);
        let drawn = chart.series.iter().map(|one| (one.name.as_str(), highest(one)));
        assert_eq!(drawn.collect::<Vec<_>>(), [("long", 9.0)]);
    }

    #[test]
    fn disks_without_a_line_take_the_place_of_no_other() {
        let disk = |number: usize| {
            let bins = vec![(if number < MOST_LINES { 0.0 } else { 1e6 }, 9)];
            let idle_ns = Distribution { count: 9, bins, ..Distribution::default() };
            DiskSummary { name: format!("disk {number}"), idle_ns, ..DiskSummary::default() }
        };
        let disks = (0..=MOST_LINES).map(disk).collect();
        let chart = idle_times(&TraceSummary { disks, ..TraceSummary::default() });
        let names = chart.series.iter().map(|one| one.name.as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["disk 5"]);
    }

    #[test]
    fn a_share_of_a_single_value_rises_in_the_middle_of_its_axis() {
        let distances = Distances { count: 9, bins: vec![(-8192.0, 9)], ..Distances::default() };
        let chart = super::distances(&TraceSummary { distances, ..TraceSummary::default() });
        let marks = &chart.series[0].marks;
        assert_eq!(marks.iter().map(|mark| mark.y).collect::<Vec<_>>(), [0.0, 1.0]);
        assert!(marks.iter().all(|mark| (chart.x.place(mark.x) - 0.5).abs() < 1e-9), "{marks:?}");
    }

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
