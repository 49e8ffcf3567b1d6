//! Both witnesses against the size of the set: throughput, and residency reported by the kernel.

use crate::curve::{Curve, SEPARATOR};
use crate::figures::{borders, chart};
use crate::plot::{Axis, Chart, Drawn, Mark, Scale, Series, Shape, Unit};
use crate::quantity::Quantity;
use crate::text::percent;
use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{BorderOperation, Evaluation, Measurement, Parameter, Point};

/// Charts of the same sets by both witnesses, on one horizontal axis.
pub struct Witnesses {
    /// Throughput, logarithmic.
    pub throughput: Chart,
    /// The share of the set that was resident after each run.
    pub share: Chart,
    /// The resident bytes: under random access they level off at the size of the cache.
    pub resident: Chart,
}

/// The figure; `None` if the kernel was not asked or could not tell.
pub fn witnesses(evaluation: &Evaluation) -> Option<Witnesses> {
    let asked = curves(evaluation).into_iter().filter(|curve| curve.points.iter().any(is_told));
    let asked: Vec<Curve> = asked.collect();
    if asked.is_empty() {
        return None;
    }
    let parameter = Parameter::UniqueBytes;
    let lines = asked.iter().flat_map(|curve| curve.lines(Quantity::Throughput)).collect();
    let label = "Throughput against the size of the set, random reads and writes".to_owned();
    let throughput = chart(label, parameter, lines).with_y_scale(Scale::Log10);
    let with_axis = |label: &str, series: Vec<Series>, y: Axis| {
        let mut chart = chart(label.to_owned(), parameter, series);
        (chart.x, chart.y) = (throughput.x.clone(), y);
        chart
    };
    let shares = asked.iter().map(|curve| told(curve, share_mark)).collect();
    let share = with_axis("Share of the set that was resident after the run", shares, share_axis());
    let mut sizes: Vec<Series> = asked.iter().map(|curve| told(curve, size_mark)).collect();
    sizes.push(whole_set(&throughput.x, &size_axis(&asked)));
    let resident = with_axis("Resident share times the size of the set", sizes, size_axis(&asked));
    let mut all = Witnesses { throughput, share, resident };
    let own = |operation| operation != BorderOperation::Mixed;
    let markers = borders(evaluation, |border| !border.in_memory && own(border.operation));
    for chart in [&mut all.share, &mut all.resident] {
        chart.markers = markers.clone();
        chart.markers.iter_mut().for_each(|marker| marker.label.clear());
    }
    all.throughput.markers = markers;
    Some(all)
}

/// The set-size curves with random access, on which share times size is the size of the cache.
fn curves(evaluation: &Evaluation) -> [Curve<'_>; 2] {
    let parameter = Parameter::UniqueBytes;
    let curve = |name, class, shape, points| Curve { name, class, shape, parameter, points };
    [
        curve("pure reads", "read", Shape::Square, &evaluation.unique_bytes_read_curve),
        curve("pure writes", "write", Shape::Triangle, &evaluation.unique_bytes_write_curve),
    ]
}

/// Whether the residency of a point means anything: requests that bypass the file cache leave none.
fn is_told(point: &Point) -> bool {
    point.measurement.workload.access.reads_cached() && share_after(&point.measurement).is_some()
}

/// The share of the set in the file cache after the run.
fn share_after(measurement: &Measurement) -> Option<f64> {
    measurement.witness.resident_frac.map(|[_, after]| after).or(measurement.resident_frac)
}

/// The residency of a curve's points, as the kernel reported it.
fn told(curve: &Curve, mark: fn(&Point, f64) -> Mark) -> Series {
    let marks = curve
        .points
        .iter()
        .filter_map(|point| share_after(&point.measurement).map(|share| mark(point, share)));
    Series::new(curve.name, curve.class, curve.shape, Drawn::Both, marks.collect())
}

fn mark(point: &Point, share: f64, y: f64) -> Mark {
    let held = share * point.value;
    let title = [
        Bytes(point.value).to_string(),
        format!("{} resident", percent(share)),
        format!("{} of it in memory", Bytes(held)),
        Rate(point.throughput()).to_string(),
    ];
    let title = title.join(SEPARATOR);
    Mark { x: point.value, y, range: [y; 2], doubtful: point.measurement.disturbed, title }
}

fn share_mark(point: &Point, share: f64) -> Mark {
    mark(point, share, share)
}

fn size_mark(point: &Point, share: f64) -> Mark {
    mark(point, share, share * point.value)
}

fn share_axis() -> Axis {
    Axis::new("resident share of the set", Scale::Linear, Unit::Percent, [0.0, 1.05])
}

fn size_axis(curves: &[Curve]) -> Axis {
    let held = curves
        .iter()
        .flat_map(|curve| curve.points)
        .filter_map(|point| share_after(&point.measurement).map(|share| share * point.value));
    Axis::fitted("resident share x size of the set", Scale::Log2, Unit::Bytes, held)
}

/// The line on which sets lie that are wholly in memory.
fn whole_set(x: &Axis, y: &Axis) -> Series {
    let ends = [x.range[0].max(y.range[0]), x.range[1].min(y.range[1])];
    let marks = ends.map(|at| Mark::plain(at, at, "")).into();
    Series::new("the whole set", "plain dashed", Shape::Disc, Drawn::Line, marks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_cache_of_one_size_is_a_plateau_in_bytes() {
        let mut evaluation = sample::evaluation();
        let cache = 100.0 * 1024.0 * 1024.0;
        for point in &mut evaluation.unique_bytes_read_curve {
            let share = (cache / point.value).min(1.0);
            point.measurement.witness.resident_frac = Some([0.0, share]);
        }
        let drawn = witnesses(&evaluation).unwrap();
        let reads = &drawn.resident.series[0].marks;
        assert!(reads.iter().all(|mark| (mark.y - mark.x.min(cache)).abs() < 1.0));
        assert_eq!(drawn.share.series[0].marks.last().unwrap().y, cache / reads.last().unwrap().x);
        assert_eq!((&drawn.share.x, &drawn.resident.x), (&drawn.throughput.x, &drawn.throughput.x));
        assert_eq!(drawn.throughput.markers.len(), 2, "reads and writes, not mixed");
    }

    #[test]
    fn without_the_kernels_word_there_is_no_figure() {
        let mut evaluation = sample::evaluation();
        let reads = evaluation.unique_bytes_read_curve.iter_mut();
        for point in reads.chain(&mut evaluation.unique_bytes_write_curve) {
            point.measurement.resident_frac = None;
        }
        assert!(witnesses(&evaluation).is_none());
    }
}
