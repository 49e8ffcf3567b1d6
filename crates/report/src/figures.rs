//! The papers' figures of one evaluation, as charts without size or style.

use crate::clients::borders::Whose;
use crate::curve::{Curve, SEPARATOR};
use crate::levels::{self, Standing};
use crate::plot::{Axis, Band, Chart, Drawn, Mark, Marker, Scale, Series, Shape, Unit};
use crate::quantity::Quantity;
use crate::text::{axis_label, inert, percent};
use ioscape_schema::units::{Bytes, Rate, counted};
use ioscape_schema::{
    AllParameters, Border, BorderOperation, Drift, Evaluation, Parameter, Point, Region, Workload,
};

/// The CSS class for the colour of a region; regions count from 0.
pub fn region_class(index: usize) -> String {
    format!("r{}", index % 5 + 1)
}

/// Dash patterns that tell lines of one colour apart. Dots are reserved for 99th percentiles.
pub const DASHES: [&str; 4] = ["", " dashed", " long", " dashed second"];

/// The CSS classes for the line of a system: a colour, and dashes beyond the first five systems.
pub fn system_class(index: usize) -> String {
    region_class(index) + DASHES[index / 5 % DASHES.len()]
}

/// The symbol of a system. Together with [`system_class`] it tells 80 systems apart.
pub fn system_shape(index: usize) -> Shape {
    Shape::nth(index + index / 20)
}

/// A series of discs joined by a line.
pub fn plain_series(name: &str, class: &str, marks: Vec<Mark>) -> Series {
    Series::new(name, class, Shape::Disc, Drawn::Both, marks)
}

/// The axis of `parameter`, wide enough for all points.
pub fn x_axis(parameter: Parameter, series: &[Series]) -> Axis {
    let (scale, unit) = match parameter {
        Parameter::UniqueBytes | Parameter::SizeMean => (Scale::Log2, Unit::Bytes),
        Parameter::ReadFrac | Parameter::SeqFrac => (Scale::Linear, Unit::Percent),
        Parameter::ProcessNum | Parameter::QueueDepth => (Scale::Log2, Unit::Count),
    };
    let range = match unit {
        Unit::Percent => [-0.02, 1.02],
        _ => scale.fit(series.iter().flat_map(|one| &one.marks).map(|mark| mark.x)),
    };
    Axis::new(axis_label(parameter), scale, unit, range)
}

/// Throughput against `parameter`, on a linear vertical axis.
pub fn chart(label: String, parameter: Parameter, series: Vec<Series>) -> Chart {
    chart_of(Quantity::Throughput, label, parameter, series)
}

/// A quantity against `parameter`, on a linear vertical axis.
pub fn chart_of(
    quantity: Quantity,
    label: String,
    parameter: Parameter,
    series: Vec<Series>,
) -> Chart {
    let x = x_axis(parameter, &series);
    let y = Axis::new(quantity.axis_label(), Scale::Linear, quantity.unit(), [0.0, 1.0]);
    Chart::new(label, x, y, series).with_y_scale(Scale::Linear)
}

/// A quantity against the size of the set (self-scaling figure 8a, Unix I/O figures 7 and 8), with regions and borders.
pub fn landscape(evaluation: &Evaluation, quantity: Quantity) -> Chart {
    let curves = [
        ("mixed", "mixed", Shape::Disc, &evaluation.unique_bytes_curve),
        ("pure reads", "read", Shape::Square, &evaluation.unique_bytes_read_curve),
        ("pure writes", "write", Shape::Triangle, &evaluation.unique_bytes_write_curve),
    ];
    let drawn = curves
        .into_iter()
        .filter(|(.., points)| !points.is_empty())
        .flat_map(|(name, class, shape, points)| {
            let parameter = Parameter::UniqueBytes;
            Curve { name, class, shape, parameter, points }.lines(quantity)
        })
        .collect();
    let label = format!("{} against the size of the set, both logarithmic", quantity.heading());
    let mut chart = chart_of(quantity, label, Parameter::UniqueBytes, drawn);
    chart = chart.with_y_scale(Scale::Log10);
    chart.bands = bands(&evaluation.regions);
    chart.markers = borders(evaluation, |_| true);
    chart
}

fn bands(regions: &[Region]) -> Vec<Band> {
    let band = |(index, region): (usize, &Region)| Band {
        from: region.unique_bytes[0],
        to: region.unique_bytes[1],
        class: region_class(index),
        label: inert(&region.name).into_owned(),
    };
    regions.iter().enumerate().map(band).collect()
}

/// The borders that `shown` selects, as vertical lines in order of size.
///
/// The label says so if a border may not be the end of a level.
pub fn borders(evaluation: &Evaluation, shown: impl Fn(&Border) -> bool) -> Vec<Marker> {
    let marker = |border: &Border| {
        let (kind, standing) = (border.operation.word(), Standing::of(evaluation, border));
        let whose = Whose::of(evaluation, border).map_or("", Whose::mark);
        Marker {
            at: border.unique_bytes,
            range: [border.low, border.high],
            class: if standing == Standing::Sure {
                kind.to_owned()
            } else {
                format!("{kind} doubt")
            },
            label: format!("{kind} {}{}{whose}", Bytes(border.unique_bytes), standing.mark()),
        }
    };
    levels::borders(evaluation).into_iter().filter(|border| shown(border)).map(marker).collect()
}

/// The slope of the mixed curve (self-scaling figure 6); `None` without slopes.
pub fn slope(evaluation: &Evaluation) -> Option<Chart> {
    let marks = evaluation.unique_bytes_slope.iter().map(|point| {
        let title = format!("{}{SEPARATOR}slope {:.2}", Bytes(point.unique_bytes), point.slope);
        Mark::plain(point.unique_bytes, point.slope, title)
    });
    let label = "Slope of the mixed curve against the size of the set".to_owned();
    let one = plain_series("slope", "mixed", marks.collect());
    let mut chart = chart(label, Parameter::UniqueBytes, vec![one]);
    chart.y.label = "slope (log throughput over log size)".to_owned();
    chart.y.unit = Unit::Number;
    chart.x = landscape(evaluation, Quantity::Throughput).x;
    chart.bands = bands(&evaluation.regions);
    chart.markers = borders(evaluation, |border| border.operation == BorderOperation::Mixed);
    chart.has_points().then_some(chart)
}

/// The throughput of the reference workload over time; `None` if it was not measured.
pub fn drift(evaluation: &Evaluation) -> Option<Chart> {
    let marks = (1u32..).zip(&evaluation.drift.throughputs).map(|(number, &rate)| {
        let title = format!("measurement {number}{SEPARATOR}{}", Rate(rate));
        Mark::plain(f64::from(number), rate, title)
    });
    let marks: Vec<Mark> = marks.collect();
    let count = marks.len().max(2) as f64;
    let label = "Throughput of the reference workload, in the order measured".to_owned();
    let one = plain_series("reference", "plain", marks);
    let mut chart = chart(label, Parameter::ProcessNum, vec![one]);
    let places = "measurement of the reference, in time order";
    chart.x = Axis::new(places, Scale::Linear, Unit::Count, [0.5, count + 0.5]);
    chart.has_points().then_some(chart)
}

/// A quantity against the share of reads, with all regions in one chart (Unix I/O figure 5).
///
/// `None` without such curves.
pub fn read_frac(evaluation: &Evaluation, quantity: Quantity) -> Option<Chart> {
    let all = evaluation
        .regions
        .iter()
        .enumerate()
        .filter(|(_, region)| !region.curves.read_frac.is_empty())
        .flat_map(|(index, region)| {
            let (name, class) = (&*inert(&region.name), &*region_class(index));
            let (shape, parameter) = (Shape::nth(index), Parameter::ReadFrac);
            let points = &region.curves.read_frac;
            Curve { name, class, shape, parameter, points }.lines(quantity)
        })
        .collect();
    let label = format!("{} against the share of reads, one line per region", quantity.heading());
    let chart = chart_of(quantity, label, Parameter::ReadFrac, all).with_y_scale(Scale::Log10);
    chart.has_points().then_some(chart)
}

/// A quantity against each of the other parameters in one region (self-scaling figure 7).
///
/// All charts share one vertical range, so that they can be compared. It is logarithmic if a linear
/// one would hide the small values. A dashed line marks the focal point.
pub fn region(index: usize, region: &Region, quantity: Quantity) -> Vec<(Parameter, Chart)> {
    let class = &*region_class(index);
    let (name, shape) = (&*region.name, Shape::nth(index));
    let mut charts: Vec<(Parameter, Chart)> = Parameter::WITH_DEPTH
        .into_iter()
        .filter_map(|parameter| {
            let points = region.curves.get(parameter).filter(|points| !points.is_empty())?;
            let label = format!("{}: {} against {parameter}", inert(name), quantity.heading());
            let lines = Curve { name, class, shape, parameter, points }.lines(quantity);
            let mut chart = chart_of(quantity, label, parameter, lines);
            chart.markers.push(Marker::plain(region.focal.get(parameter), "focal"));
            Some((parameter, chart))
        })
        .collect();
    let scale = quantity.scale(readable_scale(&charts));
    share_y(&mut charts, scale);
    charts
}

/// The ratio of largest to smallest value from which a linear axis shows the small ones as zero.
const WIDE: f64 = 20.0;

/// The scale on which all values of charts with a common vertical axis can be read.
///
/// The curve of request sizes does not count: small requests are slow everywhere.
pub fn readable_scale(charts: &[(Parameter, Chart)]) -> Scale {
    let telling = charts.iter().filter(|(parameter, _)| *parameter != Parameter::SizeMean);
    let marks = telling.flat_map(|(_, chart)| &chart.series).flat_map(|series| &series.marks);
    let shown = marks.map(|mark| mark.y).filter(|&y| Scale::Log10.can_show(y));
    let ends = shown.fold([f64::INFINITY, 0.0_f64], |[a, b], y| [a.min(y), b.max(y)]);
    if ends[1] > WIDE * ends[0] { Scale::Log10 } else { Scale::Linear }
}

/// Gives all charts the same vertical range on `scale`.
pub fn share_y(charts: &mut [(Parameter, Chart)], scale: Scale) {
    let range = scale.fit(charts.iter().flat_map(|(_, chart)| chart.y_values(scale)));
    for (_, chart) in charts {
        chart.y.scale = scale;
        chart.y.range = range;
    }
}

/// The first attempt of section 7 (self-scaling figure 4); the range that performs well is shaded.
pub fn all_parameters(all: &AllParameters) -> Vec<(Parameter, Chart)> {
    let mut charts: Vec<(Parameter, Chart)> = all
        .ranges
        .iter()
        .map(|range| {
            let parameter = range.parameter;
            let (name, class, shape) = ("throughput", "mixed", Shape::Disc);
            let curve = Curve { name, class, shape, parameter, points: &range.curve };
            let label = format!("Throughput against {parameter}; where it performs well is shaded");
            let mut chart = chart(label, parameter, curve.lines(Quantity::Throughput));
            let [from, to] = range.performs_well;
            let class = "well".to_owned();
            chart.bands.push(Band { from, to, class, label: String::new() });
            chart.markers.push(Marker::plain(range.focal, "focal"));
            (parameter, chart)
        })
        .collect();
    let scale = readable_scale(&charts);
    share_y(&mut charts, scale);
    charts
}

/// The point of a region that was measured at its focal vector.
pub fn focal_point(region: &Region) -> Option<&Point> {
    let same = |workload: &Workload| {
        Parameter::WITH_DEPTH.into_iter().all(|p| workload.get(p) == region.focal.get(p))
    };
    points(region).find(|(_, point)| same(&point.measurement.workload)).map(|(_, point)| point)
}

/// The fastest point of a region's curves, and the parameter that its curve varies.
pub fn best_point(region: &Region) -> Option<(Parameter, &Point)> {
    points(region).max_by(|a, b| a.1.throughput().total_cmp(&b.1.throughput()))
}

fn points(region: &Region) -> impl Iterator<Item = (Parameter, &Point)> {
    Parameter::WITH_DEPTH
        .into_iter()
        .filter_map(|parameter| Some((parameter, region.curves.get(parameter)?)))
        .flat_map(|(parameter, points)| points.iter().map(move |point| (parameter, point)))
}

/// A factor in digits that may be known of single runs.
fn times(by: f64) -> String {
    if by < 10.0 { format!("{by:.1}") } else { format!("{by:.0}") }
}

/// How far the references lie from their median: in percent below half or twice its speed.
fn apart(drift: &Drift) -> String {
    let slowest = drift.throughputs.iter().copied().fold(f64::INFINITY, f64::min);
    let fastest = drift.throughputs.iter().copied().fold(0.0, f64::max);
    let [slower, faster] = [drift.median / slowest, fastest / drift.median];
    match slower >= 2.0 || faster >= 2.0 {
        true => format!("from {} times slower to {} times as fast", times(slower), times(faster)),
        false => format!("at most {} off", percent(drift.largest)),
    }
}

/// One line on how steady the machine was; empty if the reference was not measured.
pub fn drift_line(evaluation: &Evaluation) -> String {
    let drift = &evaluation.drift;
    if drift.throughputs.is_empty() {
        return String::new();
    }
    let (times, median) = (counted(drift.throughputs.len() as u64, "time"), Rate(drift.median));
    let left_out = match drift.not_compared {
        0 => String::new(),
        more => format!(
            " ({} left out: others had an unknown part of the time)",
            counted(more.into(), "more run")
        ),
    };
    format!(
        "The reference workload was measured {times}{left_out}: median {median}, {}; {} measured again, {} in doubt.",
        apart(drift),
        counted(drift.remeasured.into(), "point"),
        drift.unresolved
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Frame;
    use crate::sample;

    #[test]
    fn every_point_of_every_curve_is_in_a_figure() {
        let evaluation = sample::evaluation();
        let landscape = landscape(&evaluation, Quantity::Throughput);
        assert_eq!(landscape.series.iter().map(|one| one.marks.len()).sum::<usize>(), 75);
        assert_eq!((landscape.bands.len(), landscape.markers.len()), (3, 4));
        let charts = region(1, &evaluation.regions[1], Quantity::Throughput);
        assert_eq!(charts.len(), 4);
        assert!(charts.iter().all(|(_, chart)| chart.y.range == charts[0].1.y.range));
        let svg = charts[0].1.svg(Frame::SMALL, "");
        assert_eq!(svg.matches("<title>").count(), evaluation.regions[1].curves.size_mean.len());
        let times = evaluation.drift.throughputs.len() as f64;
        assert_eq!(drift(&evaluation).unwrap().x.range, [0.5, times + 0.5]);
    }

    #[test]
    fn borders_that_are_not_sure_say_so() {
        let mut evaluation = sample::evaluation();
        let labels = |evaluation: &Evaluation| -> Vec<(String, String)> {
            let all = borders(evaluation, |border| border.operation == BorderOperation::Read);
            all.into_iter().map(|marker| (marker.class, marker.label)).collect()
        };
        let pair = |class: &str, label: &str| vec![(class.to_owned(), label.to_owned())];
        assert_eq!(labels(&evaluation), pair("read", "read 123 MiB"));
        evaluation.borders.iter_mut().for_each(|border| border.in_memory = true);
        assert_eq!(labels(&evaluation), pair("read doubt", "read 123 MiB (in memory)"));
    }

    #[test]
    fn a_scale_shows_the_smallest_and_the_largest() {
        let regions = sample::evaluation().regions;
        let slow = |values: [f64; 2]| {
            let mut region = regions[0].clone();
            region.curves.seq_frac[0].measurement.throughput_bytes_per_s = values[0];
            region.curves.seq_frac[1].measurement.throughput_bytes_per_s = values[1];
            region.curves.seq_frac.truncate(2);
            region.curves.seq_frac.iter_mut().for_each(|point| point.rounds.clear());
            let curves = &mut region.curves;
            for curve in [&mut curves.size_mean, &mut curves.read_frac, &mut curves.process_num] {
                curve.clear();
            }
            super::region(0, &region, Quantity::Throughput)[0].1.y.scale
        };
        assert_eq!([slow([1e6, 5e6]), slow([1e6, 7e7])], [Scale::Linear, Scale::Log10]);
        let times = region(0, &regions[0], Quantity::Latency);
        assert!(times.iter().all(|(_, chart)| chart.y.scale == Scale::Log10));
        assert!(times.iter().all(|(_, chart)| chart.series.len() == 2));
    }

    #[test]
    fn what_was_measured_once_was_not_measured_1_times() {
        let mut evaluation = sample::evaluation();
        evaluation.drift.throughputs.truncate(1);
        evaluation.drift.remeasured = 1;
        let told = drift_line(&evaluation);
        assert!(told.contains("measured 1 time: ") && told.contains("; 1 point "), "{told}");
        evaluation.drift.not_compared = 2;
        let told = drift_line(&evaluation);
        assert!(told.contains("measured 1 time (2 more runs left out: others had"), "{told}");
    }

    #[test]
    fn slow_references_count_as_fast_ones_do() {
        let told = |throughputs: [f64; 4]| {
            let mut evaluation = sample::evaluation();
            evaluation.drift.median = 235.0;
            evaluation.drift.throughputs = throughputs.to_vec();
            drift_line(&evaluation)
        };
        let both = told([240.0, 230.0, 1198.5, 5.7]);
        assert!(both.contains("from 41 times slower to 5.1 times as fast;"), "{both}");
        let slow = told([235.0, 235.0, 235.0, 5.7]);
        assert!(slow.contains("from 41 times slower to 1.0 times as fast;"), "{slow}");
        let steady = told([235.0, 235.0, 250.0, 230.0]);
        assert!(steady.contains("at most 12.8 % off;"), "{steady}");
    }

    #[test]
    fn a_region_knows_its_focal_and_best_point() {
        let regions = sample::evaluation().regions;
        let focal = focal_point(&regions[2]).unwrap();
        assert_eq!(focal.measurement.workload.read_frac, 0.5);
        let (parameter, best) = best_point(&regions[2]).unwrap();
        assert_eq!((parameter, best.value), (Parameter::SizeMean, f64::from(1 << 22)));
    }

    #[test]
    fn nothing_measured_draws_nothing() {
        let evaluation = Evaluation::default();
        for quantity in Quantity::ALL {
            assert!(!landscape(&evaluation, quantity).has_points());
            assert!(read_frac(&evaluation, quantity).is_none());
        }
        let none = [slope(&evaluation), drift(&evaluation)];
        assert!(none.iter().all(Option::is_none));
        assert_eq!(drift_line(&evaluation), "");
    }
}
