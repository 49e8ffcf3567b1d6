//! Figures in which every system has a line of its own.

use crate::curve::{Curve, SEPARATOR};
use crate::figures::{chart_of, region_class};
use crate::plot::{Axis, Chart, Drawn, Mark, Scale, Series, Shape, Unit};
use crate::quantity::Quantity;
use crate::text::{inert, percent};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Bounded, Document, Evaluation, Parameter, Point, Region};

/// An evaluated system by its name in the figures.
pub struct EvaluatedSystem<'a> {
    /// Name; unique among those shown together.
    pub name: &'a str,
    /// Its evaluation.
    pub evaluation: &'a Evaluation,
    /// Memory that it had, a limit included, in bytes; absent where that is not known.
    pub memory_bytes: Option<u64>,
}

impl<'a> EvaluatedSystem<'a> {
    /// The system of a document, if it was evaluated.
    pub fn of(name: &'a str, document: &'a Document) -> Option<Self> {
        let environment = &document.environment;
        let memory_bytes = environment.memory_limit_bytes.or(environment.memory_bytes);
        Some(Self { name, evaluation: document.evaluation()?, memory_bytes })
    }

    /// A cache of this system as a share of its memory.
    pub fn share_of_memory(&self, cache: Option<&Bounded>) -> Option<Bounded> {
        let memory = self.memory_bytes.filter(|memory| *memory > 0)? as f64;
        let Bounded { value, low, high } = *cache?;
        Some(Bounded { value: value / memory, low: low / memory, high: high / memory })
    }
}

/// The file cache for reads as a share of memory, against memory, one point per system (Unix I/O figure 4); `None` where no system
/// has a border and a known memory.
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
        let (name, class) = (inert(system.name).into_owned(), region_class(index));
        let (shape, drawn) = (Shape::nth(index), Drawn::Points);
        Some(Series { name, class, shape, drawn, marks: vec![mark] })
    };
    let series: Vec<Series> = systems.iter().enumerate().filter_map(one).collect();
    let label = "Cache for reads as a share of memory, one point per system".to_owned();
    let mut chart = chart_of(Quantity::Throughput, label, Parameter::UniqueBytes, series);
    chart.x.label = "memory, or the limit of the group".to_owned();
    let most = chart.y_values(Scale::Linear).fold(1.0, f64::max);
    let range = [0.0, most * 1.05];
    let label = "cache for reads over memory".to_owned();
    chart.y = Axis { label, scale: Scale::Linear, unit: Unit::Percent, range };
    chart.has_points().then_some(chart)
}

/// Which region of each system a figure is about: their numbers and borders differ from system to system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionEnd {
    /// That of the smallest sets: the fastest level.
    First,
    /// That of the largest sets: the slowest level.
    Last,
}

impl RegionEnd {
    /// The region, if there are as many as it takes to tell first from last.
    pub fn of(self, evaluation: &Evaluation) -> Option<&Region> {
        match self {
            Self::First => evaluation.regions.first(),
            Self::Last => evaluation.regions.last().filter(|_| evaluation.regions.len() > 1),
        }
    }
}

/// A chart of one curve of every system; `None` when no system has it.
fn overlay<'a>(
    quantity: Quantity,
    label: &str,
    parameter: Parameter,
    systems: &'a [EvaluatedSystem],
    curve: impl Fn(&'a Evaluation) -> Option<&'a [Point]>,
) -> Option<Chart> {
    let lines = systems.iter().enumerate().filter_map(|(index, system)| {
        let points = curve(system.evaluation).filter(|points| !points.is_empty())?;
        // Five colours; beyond them a line has its own dashes and symbol.
        let dashed = if index >= 5 { " dashed" } else { "" };
        let (name, class) = (&*inert(system.name), &*(region_class(index) + dashed));
        let shape = Shape::nth(index);
        Some(Curve { name, class, shape, parameter, points }.lines(quantity))
    });
    let lines = lines.flatten().collect();
    let chart = chart_of(quantity, label.to_owned(), parameter, lines);
    chart.has_points().then_some(chart)
}

/// A quantity against the size of the set by one of the curves of an evaluation, both axes logarithmic.
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
