//! Figures in which every system has a line of its own.

use crate::figures::{chart, region_class, series};
use crate::plot::{Chart, Scale, Shape};
use crate::text::inert;
use ioscape_schema::{Evaluation, Parameter, Point, Region};

/// An evaluated system by its name in the figures.
pub struct EvaluatedSystem<'a> {
    /// Name; unique among those shown together.
    pub name: &'a str,
    /// Its evaluation.
    pub evaluation: &'a Evaluation,
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
    label: &str,
    parameter: Parameter,
    systems: &'a [EvaluatedSystem],
    curve: impl Fn(&'a Evaluation) -> Option<&'a [Point]>,
) -> Option<Chart> {
    let lines = systems.iter().enumerate().filter_map(|(index, system)| {
        let points = curve(system.evaluation).filter(|points| !points.is_empty())?;
        // Five colours; beyond them a line is told by its dashes and its symbol.
        let dashed = if index >= 5 { " dashed" } else { "" };
        let class = region_class(index) + dashed;
        Some(series(&inert(system.name), &class, Shape::nth(index), parameter, points))
    });
    let chart = chart(label.to_owned(), parameter, lines.collect());
    chart.has_points().then_some(chart)
}

/// Throughput against the size of the set by one of the curves of an evaluation, both axes logarithmic.
pub fn over_sets<'a>(
    label: &str,
    systems: &'a [EvaluatedSystem],
    curve: fn(&Evaluation) -> &Vec<Point>,
) -> Option<Chart> {
    overlay(label, Parameter::UniqueBytes, systems, |evaluation| Some(&curve(evaluation)[..]))
        .map(|chart| chart.with_y_scale(Scale::Log10))
}

/// Throughput against `parameter` in the first or last region of every system.
pub fn over_parameter(
    parameter: Parameter,
    end: RegionEnd,
    systems: &[EvaluatedSystem],
) -> Option<Chart> {
    let label = format!("Throughput against {parameter}, one line per system");
    overlay(&label, parameter, systems, |evaluation| {
        end.of(evaluation)?.curves.get(parameter).map(|points| &points[..])
    })
}
