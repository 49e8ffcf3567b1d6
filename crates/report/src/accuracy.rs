//! The papers' figures of a validation, as charts without size or style.
//!
//! They show predictions against measurements, and which parameters cause error.

use crate::curve::SEPARATOR;
use crate::figures::{plain_series, share_y, x_axis};
use crate::plot::{Axis, Chart, Drawn, Mark, Scale, Series, Shape, Unit};
use crate::text::{described, percent, value_of};
use ioscape_schema::statistics::sort_by_number;
use ioscape_schema::units::{Rate, counted};
use ioscape_schema::{ErrorBin, ErrorFigures, Parameter, Validation, ValidationPoint};

/// The models in the order of display, best known first.
const ORDER: [&str; 6] =
    ["default", "as_evaluated", "levels", "product", "orthogonal", "single_point"];

/// What the repeatability means for models.
///
/// Two equally noisy measurements differ by the square root of 2 times the error of one.
pub const PERFECT: &str = "a perfect model would be off by 0.7 of that from one measurement, by less from the median of several";

/// Every model with its figures, in the order of display.
pub fn models(validation: &Validation) -> Vec<(&str, &ErrorFigures)> {
    let mut all: Vec<(&str, &ErrorFigures)> =
        validation.models.iter().map(|(name, figures)| (name.as_str(), figures)).collect();
    all.sort_by_key(|(name, _)| {
        ORDER.iter().position(|known| known == name).unwrap_or(ORDER.len())
    });
    all
}

/// The errors below which 75 and 90 % of the workloads lie; `None` of too few workloads.
pub fn below(validation: &Validation, figures: &ErrorFigures) -> [Option<String>; 2] {
    [(4, figures.p75_error), (10, figures.p90_error)]
        .map(|(least, error)| (validation.workloads >= least).then(|| percent(error)))
}

/// How much of the measurements the 90 % interval holds, as a count if there are few workloads;
/// `None` for a model without intervals.
pub fn coverage(validation: &Validation, figures: &ErrorFigures) -> Option<String> {
    let (share, of) = (figures.interval90_coverage?, validation.workloads);
    let held = (share * f64::from(of) * 10.0).round() / 10.0;
    Some(if of < 20 { format!("{held} of {of}") } else { percent(share) })
}

fn mark(point: &ValidationPoint) -> Mark {
    let (prediction, measurement) = (&point.prediction, &point.measurement);
    let measured = point.measured_bytes_per_s();
    let [low, high] = prediction.interval90.map(Rate);
    let title = [
        described(&measurement.workload),
        format!("measured {}", Rate(measured)),
        format!("predicted {} ({low} to {high})", Rate(prediction.throughput_bytes_per_s)),
    ];
    Mark {
        x: measured,
        y: prediction.throughput_bytes_per_s,
        range: prediction.interval90,
        doubtful: measurement.disturbed,
        title: title.join(SEPARATOR),
    }
}

/// A line over the whole width of the chart, from `ends[0]` to `ends[1]`.
fn line(name: &str, class: &str, across: [f64; 2], ends: [f64; 2]) -> Series {
    let marks = [0, 1].map(|end| Mark::plain(across[end], ends[end], ""));
    Series::new(name, class, Shape::Disc, Drawn::Line, marks.into())
}

/// Predicted against measured throughput (self-scaling figures 12 and 24); `None` without points.
///
/// It holds one point per workload with its 90 % interval, the diagonal on which all should lie,
/// and the one throughput that a single-number benchmark predicts for every workload.
pub fn scatter(validation: &Validation) -> Option<Chart> {
    let shown = |near: bool| -> Vec<Mark> {
        let here = validation.points.iter().filter(|point| point.near_border == near);
        let mut marks: Vec<Mark> = here.map(mark).collect();
        sort_by_number(&mut marks, |one| one.x);
        marks
    };
    let (away, near) = (shown(false), shown(true));
    let values = away.iter().chain(&near).flat_map(|mark| [mark.x, mark.y]);
    let range = Scale::Log10.fit(values);
    let axis = |label: &str| Axis::new(label, Scale::Log10, Unit::Rate, range);
    let dots = |name: &str, class: &str, shape, marks| {
        Series::new(name, class, shape, Drawn::Points, marks)
    };
    let mut series = vec![
        dots("default model", "mixed", Shape::Disc, away),
        dots("default model, near a border", "write", Shape::Triangle, near),
        line("predicted as measured", "plain", range, range),
    ];
    series.retain(|one| !one.marks.is_empty());
    let single = validation.points.iter().find_map(|point| point.models.get("single_point"));
    series.extend(single.map(|&at| line("single-point benchmark", "read dashed", range, [at; 2])));
    let label = "Predicted against measured throughput, both logarithmic";
    let chart = Chart::new(label, axis("measured"), axis("predicted"), series);
    (!validation.points.is_empty()).then_some(chart)
}

/// The median error against each parameter (self-scaling figure 13), all on one vertical range.
pub fn errors(validation: &Validation) -> Vec<(Parameter, Chart)> {
    let mut charts: Vec<(Parameter, Chart)> = validation
        .by_parameter
        .iter()
        .filter(|(_, bins)| !bins.is_empty())
        .map(|(&parameter, bins)| (parameter, error_chart(parameter, bins)))
        .collect();
    share_y(&mut charts, Scale::Linear);
    charts
}

fn error_chart(parameter: Parameter, bins: &[ErrorBin]) -> Chart {
    let marks = bins.iter().map(|bin| {
        let [from, to] = bin.range;
        let middle =
            if parameter.is_logarithmic() { (from * to).sqrt() } else { f64::midpoint(from, to) };
        let title = [
            format!("{} to {}", value_of(parameter, from), value_of(parameter, to)),
            format!("median error {}", percent(bin.median_error)),
            counted(bin.workloads.into(), "workload"),
        ];
        Mark::plain(middle, bin.median_error * 100.0, title.join(SEPARATOR))
    });
    let series = vec![plain_series("median error", "mixed", marks.collect())];
    let x = x_axis(parameter, &series);
    let y = Axis::new("median error, %", Scale::Linear, Unit::Number, [0.0, 1.0]);
    Chart::new(format!("Median error of predictions against {parameter}"), x, y, series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Frame;
    use crate::sample;

    #[test]
    fn few_workloads_tell_no_share_of_them() {
        let of = |workloads| {
            let one = Validation { workloads, ..sample::validation() };
            let [p75, p90] = below(&one, &one.errors);
            [p75, p90, coverage(&one, &one.errors)].map(Option::unwrap_or_default)
        };
        assert_eq!(of(1), ["", "", "0.9 of 1"]);
        assert_eq!(of(4), ["9.8 %", "", "3.7 of 4"]);
        assert_eq!(of(10), ["9.8 %", "18.1 %", "9.2 of 10"]);
        assert_eq!(of(20), ["9.8 %", "18.1 %", "92 %"]);
    }

    #[test]
    fn every_workload_is_a_point_and_lines_have_none() {
        let validation = sample::validation();
        let chart = scatter(&validation).unwrap();
        let svg = chart.svg(Frame::WIDE, "");
        roxmltree::Document::parse(&svg).unwrap();
        assert_eq!(svg.matches("<title>").count(), validation.points.len());
        assert_eq!(svg.matches(r#"class="line""#).count(), 2);
        assert_eq!(chart.x.range, chart.y.range);
    }

    #[test]
    fn errors_share_their_axis_and_known_models_come_first() {
        let validation = sample::validation();
        let charts = errors(&validation);
        assert_eq!(charts.len(), 5);
        assert!(charts.iter().all(|(_, chart)| chart.y.range == charts[0].1.y.range));
        let names: Vec<&str> = models(&validation).iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["default", "product", "single_point"]);
        assert!(scatter(&Validation::default()).is_none());
    }
}
