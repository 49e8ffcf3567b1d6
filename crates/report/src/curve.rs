//! Turns the points of a measured curve into the lines of a chart.

use crate::plot::{Drawn, Mark, Series, Shape, Unit};
use crate::quantity::Quantity;
use crate::text::value_of;
use ioscape_schema::units::{Count, Rate};
use ioscape_schema::{Parameter, Point};

/// Separates the parts of a point's title. The page's script breaks lines there.
pub const SEPARATOR: &str = " \u{b7} ";

/// The CSS class of a line of 99th percentiles, in addition to that of its colour.
pub const TAIL: &str = "tail";

/// A curve of an evaluation, and the look of its line.
pub struct Curve<'a> {
    /// Name in the legend; plain text.
    pub name: &'a str,
    /// CSS class that gives the colour.
    pub class: &'a str,
    /// Symbol of its points.
    pub shape: Shape,
    /// The parameter that the curve varies.
    pub parameter: Parameter,
    /// The points, in order of the parameter.
    pub points: &'a [Point],
}

impl Curve<'_> {
    /// Returns its line, or for response times two lines: medians and 99th percentiles.
    ///
    /// Response times leave out points at which no request completed, and 99th percentiles those at
    /// which too few did.
    pub fn lines(&self, quantity: Quantity) -> Vec<Series> {
        let line = |name: &str, class: &str, mark: fn(Parameter, &Point) -> Option<Mark>| {
            let marks =
                self.points.iter().filter_map(|point| mark(self.parameter, point)).collect();
            Series::new(name, class, self.shape, Drawn::Both, marks)
        };
        let (name, class) = (self.name, self.class);
        match quantity {
            Quantity::Throughput => vec![line(name, class, throughput)],
            Quantity::Iops => vec![line(name, class, iops)],
            Quantity::Latency => vec![
                line(&format!("{name}, median"), class, median),
                line(&format!("{name}, 99 %"), &format!("{class} {TAIL}"), tail),
            ],
        }
    }
}

/// The ends of a point's error bar: the slowest and fastest round, or the confidence interval of a
/// single round.
pub fn range(point: &Point) -> [f64; 2] {
    if point.rounds.len() < 2 {
        return point.measurement.judged_ci95();
    }
    let fold = |pick: fn(f64, f64) -> f64| point.rounds.iter().copied().fold(f64::NAN, pick);
    [fold(f64::min), fold(f64::max)]
}

/// Whether no request completed in a point's only round. Its interval then has no width and means
/// nothing.
pub fn is_unknown(point: &Point) -> bool {
    point.measurement.ios == 0 && point.rounds.len() < 2
}

/// The ends of a point's error bar in words, and what they are.
fn between(point: &Point, [low, high]: [String; 2]) -> String {
    match point.rounds.len() {
        _ if is_unknown(point) => "no request ended".to_owned(),
        0 | 1 => format!("{low} to {high} (95 % confidence)"),
        rounds => format!("{low} to {high} ({rounds} rounds)"),
    }
}

fn mark(parameter: Parameter, point: &Point, y: f64, range: [f64; 2], more: Vec<String>) -> Mark {
    let doubtful = point.measurement.disturbed;
    let parts = [value_of(parameter, point.value)].into_iter().chain(more);
    let parts: Vec<String> = parts.chain(doubtful.then(|| "disturbed".to_owned())).collect();
    Mark { x: point.value, y, range, doubtful, title: parts.join(SEPARATOR) }
}

fn throughput(parameter: Parameter, point: &Point) -> Option<Mark> {
    let (rate, ends) = (point.throughput(), range(point));
    let said = between(point, ends.map(|end| Rate(end).to_string()));
    Some(mark(parameter, point, rate, ends, vec![Rate(rate).to_string(), said]))
}

/// Requests per second, with an error bar proportional to that of the throughput.
fn iops(parameter: Parameter, point: &Point) -> Option<Mark> {
    let (iops, rate) = (point.iops(), point.throughput());
    let each = if rate > 0.0 { iops / rate } else { 0.0 };
    let ends = range(point).map(|end| end * each);
    let said = between(point, ends.map(|end| Count(end).to_string()));
    Some(mark(parameter, point, iops, ends, vec![format!("{}/s", Count(iops)), said]))
}

fn median(parameter: Parameter, point: &Point) -> Option<Mark> {
    let [half, ..] = told(point);
    Some(time(parameter, point, half?))
}

fn tail(parameter: Parameter, point: &Point) -> Option<Mark> {
    let [_, tail, _] = told(point);
    Some(time(parameter, point, tail?))
}

/// The median, 99th percentile and longest of a point's response times, as far as its requests tell
/// them.
fn told(point: &Point) -> [Option<u64>; 3] {
    let [half, _, tail, _, longest] =
        point.measurement.response_time_ns.told(point.measurement.ios);
    [half, tail, longest]
}

fn time(parameter: Parameter, point: &Point, ns: u64) -> Mark {
    let named = ["median", "99 %", "longest"].into_iter().zip(told(point));
    let shown = |ns: u64| Unit::Nanos.show(ns as f64);
    let more = named.filter_map(|(name, ns)| Some(format!("{name} {}", shown(ns?)))).collect();
    mark(parameter, point, ns as f64, [ns as f64; 2], more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn error_bars_span_the_rounds_or_the_interval() {
        let mut point = sample::evaluation().unique_bytes_curve[0].clone();
        point.rounds = vec![3.0, 1.0, 2.0];
        assert_eq!(range(&point), [1.0, 3.0]);
        point.rounds.truncate(1);
        assert_eq!(range(&point), point.measurement.throughput_ci95);
        let measured = point.measurement.throughput_bytes_per_s;
        point.measurement.witness.undisturbed_bytes_per_s = Some(2.0 * measured);
        point.measurement.cpu_system_s = point.measurement.elapsed_s;
        let twice = point.measurement.throughput_ci95.map(|end| 2.0 * end);
        assert_eq!(range(&point), twice, "beside the judged throughput");
    }

    #[test]
    fn requests_per_second_are_of_the_middle_of_two_rounds_though_only_one_was_kept() {
        let evaluation = sample::evaluation();
        let mut point = evaluation.unique_bytes_curve[0].clone();
        let one = point.measurement.clone();
        point.rounds = vec![one.throughput_bytes_per_s, 3.0 * one.throughput_bytes_per_s];
        let (name, class, parameter) = ("mixed", "mixed", Parameter::UniqueBytes);
        let points = &[point];
        let curve = Curve { name, class, shape: Shape::Disc, parameter, points };
        let drawn = curve.lines(Quantity::Iops)[0].marks[0].clone();
        let times = |iops: f64| (iops / one.iops() * 1e6).round() / 1e6;
        assert_eq!([drawn.y, drawn.range[0], drawn.range[1]].map(times), [2.0, 1.0, 3.0]);
    }

    #[test]
    fn a_point_is_where_its_measurement_is_in_every_quantity() {
        let evaluation = sample::evaluation();
        let points = &evaluation.unique_bytes_curve[..1];
        let (name, class, parameter) = ("mixed", "mixed", Parameter::UniqueBytes);
        let curve = Curve { name, class, shape: Shape::Disc, parameter, points };
        let one = &points[0].measurement;
        let iops = curve.lines(Quantity::Iops);
        assert_eq!(iops[0].marks[0].y, one.iops());
        let share = |end: f64, whole: f64| (end / whole * 1e6).round();
        let [low, high] = range(&points[0]);
        let [from, to] = iops[0].marks[0].range;
        assert_eq!(share(from, one.iops()), share(low, points[0].throughput()));
        assert_eq!(share(to, one.iops()), share(high, points[0].throughput()));
        let times = curve.lines(Quantity::Latency);
        let drawn: Vec<_> = times.iter().map(|line| (&*line.name, line.marks[0].y)).collect();
        let ResponseTimes { p50, p99 } = ResponseTimes::of(one);
        assert_eq!(drawn, [("mixed, median", p50), ("mixed, 99 %", p99)]);
        assert_eq!(times[1].class, "mixed tail");
    }

    struct ResponseTimes {
        p50: f64,
        p99: f64,
    }

    impl ResponseTimes {
        fn of(one: &ioscape_schema::Measurement) -> Self {
            let times = &one.response_time_ns;
            Self { p50: times.p50 as f64, p99: times.p99 as f64 }
        }
    }
}
