//! Figures that show every system as a line of its own.

use crate::curve::{Curve, SEPARATOR};
use crate::figures::{chart_of, region_class, system_class, system_shape};
use crate::plot::{Axis, Chart, Drawn, Mark, Scale, Series, Unit};
use crate::quantity::Quantity;
use crate::text::{inert, percent};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Bounded, Document, Evaluation, Parameter, Point, Region};

/// An evaluated system with its name in the figures.
pub struct EvaluatedSystem<'a> {
    /// Name; unique among the systems shown together.
    pub name: &'a str,
    /// Its evaluation.
    pub evaluation: &'a Evaluation,
    /// Memory in bytes: its limit if there is one, else that of the machine; absent if unknown.
    pub memory_bytes: Option<u64>,
}

impl<'a> EvaluatedSystem<'a> {
    /// The system of a document, if the document holds an evaluation.
    pub fn of(name: &'a str, document: &'a Document) -> Option<Self> {
        let environment = &document.environment;
        let memory_bytes = environment.memory_limit_bytes.or(environment.memory_bytes);
        Some(Self { name, evaluation: document.evaluation()?, memory_bytes })
    }

    /// The size of a cache as a share of this system's memory; at most 1, unless the bounds show
    /// that it surely is larger.
    pub fn share_of_memory(&self, cache: Option<&Bounded>) -> Option<Bounded> {
        let memory = self.memory_bytes.filter(|memory| *memory > 0)? as f64;
        let Bounded { value, low, high } = *cache?;
        let most = if low > memory { f64::INFINITY } else { 1.0 };
        let share = |bytes: f64| (bytes / memory).min(most);
        Some(Bounded { value: share(value), low: share(low), high: share(high) })
    }
}

/// The file cache for reads as a share of memory, against memory (Unix I/O figure 4).
///
/// One point per system; `None` if no system has both a border and a known memory.
pub fn over_memory(systems: &[EvaluatedSystem]) -> Option<Chart> {
    let one = |(index, system): (usize, &EvaluatedSystem)| {
        let cache = system.evaluation.findings.read_cache_bytes;
        let Bounded { value, low, high } = system.share_of_memory(cache.as_ref())?;
        let x = system.memory_bytes? as f64;
        let title = [
            format!("{} of memory", Bytes(x)),
            format!("{} ({} to {})", percent(value), percent(low), percent(high)),
        ];
        let title = title.join(SEPARATOR);
        let mark = Mark { x, y: value, range: [low, high], doubtful: false, title };
        let (name, class) = (inert(system.name), region_class(index));
        Some(Series::new(name, class, system_shape(index), Drawn::Points, vec![mark]))
    };
    let series: Vec<Series> = systems.iter().enumerate().filter_map(one).collect();
    let label = "Cache for reads as a share of memory, one point per system".to_owned();
    let mut chart = chart_of(Quantity::Throughput, label, Parameter::UniqueBytes, series);
    chart.x.label = "memory, or the limit of the group".to_owned();
    let most = chart.y_values(Scale::Linear).fold(1.0, f64::max);
    let (label, range) = ("cache for reads over memory", [0.0, most * 1.05]);
    chart.y = Axis::new(label, Scale::Linear, Unit::Percent, range);
    chart.has_points().then_some(chart)
}

/// The region of each system that a figure is about.
///
/// Systems differ in how many regions they have and where these end, so only the first and the last
/// can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionEnd {
    /// The region of the smallest sets: the fastest level.
    First,
    /// The region of the largest sets: the slowest level.
    Last,
}

impl RegionEnd {
    /// The region; `None` for the last one if it is also the first.
    pub fn of(self, evaluation: &Evaluation) -> Option<&Region> {
        match self {
            Self::First => evaluation.regions.first(),
            Self::Last => evaluation.regions.last().filter(|_| evaluation.regions.len() > 1),
        }
    }
}

/// A chart of one curve of every system; `None` if no system has it.
fn overlay<'a>(
    quantity: Quantity,
    label: &str,
    parameter: Parameter,
    systems: &'a [EvaluatedSystem],
    curve: impl Fn(&'a Evaluation) -> Option<&'a [Point]>,
) -> Option<Chart> {
    let lines = systems.iter().enumerate().filter_map(|(index, system)| {
        let points = curve(system.evaluation).filter(|points| !points.is_empty())?;
        let (name, class) = (&*inert(system.name), &*system_class(index));
        let shape = system_shape(index);
        Some(Curve { name, class, shape, parameter, points }.lines(quantity))
    });
    let lines = lines.flatten().collect();
    let chart = chart_of(quantity, label.to_owned(), parameter, lines);
    chart.has_points().then_some(chart)
}

/// A quantity against the size of the set, from one of the evaluations' curves; both axes
/// logarithmic.
pub fn over_sets<'a>(
    quantity: Quantity,
    title: &str,
    systems: &'a [EvaluatedSystem],
    curve: fn(&Evaluation) -> &Vec<Point>,
) -> Option<Chart> {
    let heading = quantity.heading();
    let label = format!("{title}: {heading} against the size of the set, one line per system");
    let points = |evaluation| Some(&curve(evaluation)[..]);
    overlay(quantity, &label, Parameter::UniqueBytes, systems, points)
        .map(|chart| chart.with_y_scale(Scale::Log10))
}

/// A quantity against `parameter` in the first or last region of every system.
pub fn over_parameter(
    quantity: Quantity,
    parameter: Parameter,
    end: RegionEnd,
    systems: &[EvaluatedSystem],
) -> Option<Chart> {
    let label = format!("{} against {parameter}, one line per system", quantity.heading());
    overlay(quantity, &label, parameter, systems, |evaluation| {
        end.of(evaluation)?.curves.get(parameter).map(|points| &points[..])
    })
}

/// A chart with the name of the system that it shows.
pub type NamedChart<'a> = (&'a str, Chart);

/// Regroups the systems' charts by line: one chart per line name, with that line of every system.
///
/// All charts share one pair of axes. If each system has a single line, whatever its name, these
/// share one chart, whose name is empty.
pub fn by_line(systems: &[NamedChart]) -> Vec<(String, Chart)> {
    let drawn = || systems.iter().map(|(_, chart)| chart).filter(|chart| chart.has_points());
    let Some(first) = drawn().next() else { return Vec::new() };
    let is_single = drawn().all(|chart| chart.series.len() == 1);
    let mut lines: Vec<(String, Vec<Series>)> = Vec::new();
    for (index, (system, chart)) in systems.iter().enumerate() {
        for series in chart.series.iter().filter(|one| !one.marks.is_empty()) {
            let line = if is_single { String::new() } else { series.name.clone() };
            let own = of_system(index, system, series);
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, all)) => all.push(own),
                None => lines.push((line, vec![own])),
            }
        }
    }
    let x = joined(&first.x, drawn().map(|chart| &chart.x));
    let y = joined(&first.y, drawn().map(|chart| &chart.y));
    let chart = |(line, series): (String, Vec<Series>)| {
        let (x, mut y) = (x.clone(), y.clone());
        if !line.is_empty() {
            y.label = format!("{line}: {}", y.label);
        }
        let label = format!("{}, one line per system", first.label);
        (line, Chart::new(label, x, y, series))
    };
    lines.into_iter().map(chart).collect()
}

fn of_system(index: usize, system: &str, series: &Series) -> Series {
    Series {
        name: inert(system).into_owned(),
        class: system_class(index),
        shape: system_shape(index),
        ..series.clone()
    }
}

/// An axis whose range covers all of these axes.
fn joined<'a>(first: &Axis, all: impl Iterator<Item = &'a Axis>) -> Axis {
    let hold = |[low, high]: [f64; 2], one: &Axis| [low.min(one.range[0]), high.max(one.range[1])];
    Axis { range: all.fold(first.range, hold), ..first.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::plain_series;
    use std::collections::BTreeSet;

    fn chart(names: &[&str], y: f64) -> Chart {
        let mark = |x| Mark::plain(x, y, "");
        let line = |name: &&str| plain_series(name, "read", vec![mark(1.0), mark(2.0 * y)]);
        let lines = names.iter().map(line).collect();
        chart_of(Quantity::Throughput, "times".to_owned(), Parameter::ProcessNum, lines)
    }

    fn names(chart: &Chart) -> Vec<&str> {
        chart.series.iter().map(|one| one.name.as_str()).collect()
    }

    #[test]
    fn lines_of_one_name_meet_on_axes_that_hold_all() {
        let systems = [("a", chart(&["reads", "writes"], 1.0)), ("b", chart(&["writes"], 50.0))];
        let all = by_line(&systems);
        let lines: Vec<&str> = all.iter().map(|(line, _)| line.as_str()).collect();
        assert_eq!(lines, ["reads", "writes"]);
        assert_eq!([names(&all[0].1), names(&all[1].1)], [vec!["a"], vec!["a", "b"]]);
        assert_eq!((&all[0].1.x, all[0].1.y.range), (&all[1].1.x, all[1].1.y.range));
        assert!(all[0].1.x.range[1] >= 100.0 && all[0].1.y.range[1] >= 50.0);
        assert_ne!(all[1].1.series[0].class, all[1].1.series[1].class);
    }

    /// Once, the sixth and the 26th system had the same line in picture and legend.
    #[test]
    fn eighty_systems_have_lines_of_eighty_looks() {
        let names: Vec<String> = (0..80).map(|number: usize| number.to_string()).collect();
        let systems: Vec<NamedChart> =
            names.iter().map(|name| (name.as_str(), chart(&["sda"], 1.0))).collect();
        let all = by_line(&systems);
        let looks = all[0].1.series.iter().map(|one| format!("{} {:?}", one.class, one.shape));
        assert_eq!(looks.collect::<BTreeSet<_>>().len(), 80);
    }

    #[test]
    fn single_lines_meet_whatever_their_names() {
        let none = chart(&[], 1.0);
        let all = by_line(&[("a", chart(&["sda"], 1.0)), ("b", none), ("c", chart(&["sdb"], 2.0))]);
        assert_eq!((all.len(), all[0].0.as_str()), (1, ""));
        assert_eq!(names(&all[0].1), ["a", "c"]);
        assert!(by_line(&[("a", chart(&[], 1.0))]).is_empty());
    }
}
