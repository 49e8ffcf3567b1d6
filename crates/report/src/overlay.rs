//! Figures in which every system has a line of its own.

use crate::curve::Curve;
use crate::figures::{chart_of, region_class};
use crate::plot::{Chart, Scale, Shape};
use crate::quantity::Quantity;
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
