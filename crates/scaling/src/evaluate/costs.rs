//! What points cost in time, and so what the next one is expected to cost.

use crate::judge::points::PointId;
use ioscape_schema::Measurement;
use ioscape_schema::statistics::mean;
use std::collections::BTreeMap;

/// Costs that the expectation of the next one is made from.
const RECENT: usize = 6;
/// A set that came into the file cache may take so many times as long the next time.
const FILL_SLACK: f64 = 1.2;

/// Set size and cost of the latest round of every point, in the order the points were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Costs {
    points: Vec<(u64, f64)>,
    first_s: Vec<f64>,
    fills: BTreeMap<PointId, Fill>,
    filled_s: f64,
}

/// What was allowed for a set to come into the file cache beyond what is usual.
#[derive(Clone, Copy, Debug, Default)]
struct Fill {
    /// The longest time that was allowed, in seconds.
    allowed_s: f64,
    /// What it took where the set was steady then, in seconds.
    took_s: Option<f64>,
}

impl Fill {
    /// What it may take the next time, in seconds; 0 where that would not do.
    fn again_s(self) -> f64 {
        self.took_s.map_or(0.0, |took_s| FILL_SLACK * took_s)
    }
}

impl Costs {
    /// Notes a round of a point with a set of `unique_bytes`: measuring it again would take `again_s` seconds, without what its set, which
    /// was allowed `fill_s` seconds for that, took to come into the file cache; that is counted apart.
    pub(crate) fn took(
        &mut self,
        id: PointId,
        unique_bytes: u64,
        again_s: f64,
        (fill_s, measurement): (f64, &Measurement),
    ) {
        let mut cost_s = again_s;
        if fill_s > 0.0 {
            cost_s -= measurement.fill_s.unwrap_or(0.0);
            self.filled(id, fill_s, measurement);
        }
        let cost = (unique_bytes, cost_s.max(0.0));
        match self.points.get_mut(id) {
            Some(known) => *known = cost,
            None => {
                debug_assert_eq!(id, self.points.len(), "points and costs are added together");
                self.points.push(cost);
                self.first_s.push(cost.1);
            }
        }
    }

    /// Notes what came of `allowed_s` seconds for the set of a point to come into the file cache.
    fn filled(&mut self, id: PointId, allowed_s: f64, measurement: &Measurement) {
        self.filled_s += measurement.fill_s.unwrap_or(0.0);
        let fill = self.fills.entry(id).or_default();
        fill.allowed_s = fill.allowed_s.max(allowed_s);
        if !measurement.was_filling() {
            fill.took_s = Some(measurement.fill_s.unwrap_or(0.0));
        }
    }

    /// What sets took to come into the file cache where more than usual was allowed, all together, in seconds.
    pub(crate) fn filled_s(&self) -> f64 {
        self.filled_s
    }

    /// What the set of a point may take to come into the file cache the next time, in seconds.
    pub(crate) fn refill_s(&self, id: PointId) -> f64 {
        self.fills.get(&id).map_or(0.0, |fill| fill.again_s())
    }

    /// What another set may take that does not come in by itself, in seconds: as long as the slowest that did; 0 where none did.
    pub(crate) fn longest_fill_s(&self) -> f64 {
        self.fills.values().map(|fill| fill.again_s()).fold(0.0, f64::max)
    }

    /// The longest time that was allowed in vain, in seconds.
    pub(crate) fn in_vain_s(&self) -> f64 {
        let in_vain = self.fills.values().filter(|fill| fill.took_s.is_none());
        in_vain.map(|fill| fill.allowed_s).fold(0.0, f64::max)
    }

    /// Wall seconds the latest round of a point cost, without growing the file.
    pub(crate) fn of(&self, id: PointId) -> f64 {
        self.points.get(id).map_or(0.0, |p| p.1)
    }

    /// Mean first cost of the newest points, in seconds; `None` before there are any.
    pub(crate) fn recent_mean_s(&self) -> Option<f64> {
        let recent = &self.first_s[self.first_s.len().saturating_sub(RECENT)..];
        (!recent.is_empty()).then(|| mean(recent))
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

/// What the run itself took, with bringing the set into the file cache; of several clients, whose windows each warm up, with agreeing.
pub(crate) fn run_cost_s(measurement: &Measurement) -> f64 {
    let clients = measurement.clients.as_ref();
    let (windows, agreeing_s) = clients.map_or((1, 0.0), |all| (all.windows, all.coordination_s));
    let warming_up_s = f64::from(windows) * measurement.warm_up_s;
    let run_s = warming_up_s + measurement.elapsed_s + agreeing_s;
    (run_s + measurement.fill_s.unwrap_or(0.0)).min(cost_of(measurement))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::measurement;
    use ioscape_schema::{Clients, Workload};

    fn run(cost_s: f64, resident: [f64; 2]) -> Measurement {
        let workload = Workload { unique_bytes: 1 << 30, read_frac: 1.0, ..Workload::default() };
        let mut m = measurement(&workload, 1e8, 1.0, 1e8);
        (m.cost_s, m.warm_up_s, m.elapsed_s, m.fill_s) = (cost_s, 0.5, 1.0, Some(4.0));
        (m.bytes, m.resident_frac) = (1 << 24, Some(resident[1]));
        m.witness.resident_frac = Some(resident);
        m
    }

    #[test]
    fn what_came_in_may_do_so_again_and_what_did_not_is_not_waited_for() {
        let (steady, filling) = (run(6.0, [0.5, 0.5]), run(6.0, [0.1, 0.12]));
        let mut costs = Costs::default();
        assert_eq!((costs.longest_fill_s(), costs.in_vain_s()), (0.0, 0.0));
        costs.filled(3, 9.0, &filling);
        assert_eq!((costs.refill_s(3), costs.longest_fill_s(), costs.in_vain_s()), (0.0, 0.0, 9.0));
        costs.filled(3, 20.0, &steady);
        assert_eq!(costs.filled_s(), 8.0);
        assert!((costs.refill_s(3) - 4.8).abs() < 1e-9 && costs.refill_s(2) == 0.0);
        assert_eq!((costs.longest_fill_s(), costs.in_vain_s()), (costs.refill_s(3), 0.0));
    }

    #[test]
    fn a_long_fill_is_counted_apart_from_what_a_point_costs() {
        let (steady, mut costs) = (run(6.0, [0.5, 0.5]), Costs::default());
        costs.took(0, 1 << 30, 6.0, (0.0, &steady));
        assert_eq!((costs.of(0), costs.filled_s()), (6.0, 0.0));
        costs.took(0, 1 << 30, 6.5, (9.0, &steady));
        assert_eq!((costs.of(0), costs.filled_s()), (2.5, 4.0));
        costs.took(1, 1 << 20, 3.0, (9.0, &steady));
        assert_eq!((costs.of(1), costs.filled_s()), (0.0, 8.0));
        assert_eq!(costs.recent_mean_s(), Some(3.0), "of the first rounds, 6 and 0 s");
    }

    #[test]
    fn clients_warm_up_and_agree_in_every_window() {
        let mut m = run(60.0, [0.5, 0.5]);
        assert_eq!(run_cost_s(&m), 5.5);
        m.clients = Some(Clients { windows: 2, coordination_s: 0.25, ..Clients::default() });
        assert_eq!(run_cost_s(&m), 6.25);
        m.cost_s = 6.0;
        assert_eq!(run_cost_s(&m), 6.0, "no more than the whole");
    }
}
