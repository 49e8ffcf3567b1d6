//! What points cost in time, and so what the next one is expected to cost.

use crate::judge::points::PointId;
use ioscape_schema::Measurement;

/// Costs that the expectation of the next one is made from.
const RECENT: usize = 6;

/// Set size and cost of the latest round of every point, in the order the points were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Costs {
    points: Vec<(u64, f64)>,
    first_s: Vec<f64>,
}

impl Costs {
    /// Notes what measuring a new point again would take, in seconds.
    pub(crate) fn add(&mut self, id: PointId, unique_bytes: u64, cost_s: f64) {
        debug_assert_eq!(id, self.points.len(), "points and costs are added together");
        self.points.push((unique_bytes, cost_s));
        self.first_s.push(cost_s);
    }

    /// Notes what a further round took, in seconds.
    pub(crate) fn repeated(&mut self, id: PointId, cost_s: f64) {
        self.points[id].1 = cost_s;
    }

    /// Wall seconds the latest round of a point cost, without growing the file.
    pub(crate) fn of(&self, id: PointId) -> f64 {
        self.points.get(id).map_or(0.0, |p| p.1)
    }

    /// Mean first cost of the newest points, in seconds; `None` before there are any.
    pub(crate) fn recent_mean_s(&self) -> Option<f64> {
        let recent = &self.first_s[self.first_s.len().saturating_sub(RECENT)..];
        (!recent.is_empty()).then(|| recent.iter().sum::<f64>() / recent.len() as f64)
    }

    /// Cost of the latest of the points whose set is nearest in size, in seconds.
    pub(crate) fn near(&self, unique_bytes: u64) -> Option<f64> {
        let distance = |point: &&(u64, f64)| {
            let ratio = point.0 as f64 / unique_bytes.max(1) as f64;
            ratio.ln().abs()
        };
        let nearest =
            self.points.iter().rev().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        Some(nearest.1)
    }
}

/// What a measurement adds to the time spent; a cost that is no positive number adds nothing.
pub(crate) fn cost_of(measurement: &Measurement) -> f64 {
    if measurement.cost_s.is_finite() { measurement.cost_s.max(0.0) } else { 0.0 }
}

/// What repeating it would take: without the growth of the file, expected to take `layout_s`, but with the run itself.
pub(crate) fn repeated_cost_s(measurement: &Measurement, layout_s: f64) -> f64 {
    let whole_s = cost_of(measurement);
    let run_s = measurement.warm_up_s + measurement.elapsed_s;
    (whole_s - layout_s).max(run_s).min(whole_s)
}
