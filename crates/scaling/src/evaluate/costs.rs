//! The time that points cost, and hence the cost to expect of the next one.

use super::probe::TimeLimits;
use crate::judge::points::PointId;
use ioscape_schema::statistics::mean;
use ioscape_schema::{Measurement, Workload};
use std::collections::BTreeMap;

/// The number of recent costs from which the next one is expected.
const RECENT: usize = 6;
/// The factor by which a fill of the file cache may take longer than the last one of the same set.
const FILL_SLACK: f64 = 1.2;
/// Share of a set that is resident where storage serves almost none of it.
const ALL_RESIDENT: f64 = 0.98;
/// Weight of the request size in the distance of two workloads: requests `e` times as large count
/// as much as a set `e^0.1` times as large.
const SIZE_WEIGHT: f64 = 0.1;

/// Cost of the latest round of every point, in the order the points were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Costs {
    points: Vec<Cost>,
    first_s: Vec<f64>,
    fills: BTreeMap<PointId, Fill>,
    filled_s: f64,
}

/// The time allowed beyond the usual for bringing a set into the file cache.
#[derive(Clone, Copy, Debug, Default)]
struct Fill {
    /// The longest time allowed, in seconds.
    allowed_s: f64,
    /// The time it took, if the set then was steady, in seconds.
    took_s: Option<f64>,
}

/// What the latest round of a point cost.
#[derive(Clone, Copy, Debug)]
struct Cost {
    unique_bytes: u64,
    size_mean: u64,
    /// The whole cost, in seconds.
    whole_s: f64,
    /// The part spent on warming up, in seconds, where storage served some of the set.
    warm_up_s: f64,
}

impl Cost {
    fn of(workload: &Workload, whole_s: f64, measurement: &Measurement) -> Self {
        // Direct requests leave nothing resident, and need not wait for a file cache to become
        // steady.
        let is_outgrown = workload.access.reads_cached()
            && measurement.resident_frac.is_some_and(|share| share < ALL_RESIDENT);
        let warm_up_s = if is_outgrown { measurement.warm_up_s.clamp(0.0, whole_s) } else { 0.0 };
        let Workload { unique_bytes, size_mean, .. } = *workload;
        Self { unique_bytes, size_mean, whole_s, warm_up_s }
    }

    /// How much this point's set and requests differ from those of `workload`.
    fn distance(&self, workload: &Workload) -> f64 {
        let apart = |a: u64, b: u64| (a.max(1) as f64 / b.max(1) as f64).ln().abs();
        apart(self.unique_bytes, workload.unique_bytes)
            + SIZE_WEIGHT * apart(self.size_mean, workload.size_mean)
    }

    /// The expected cost with requests of `size_mean` bytes: storage serves smaller requests at
    /// fewer bytes per second, so the file cache takes longer to become steady.
    fn with_size(&self, size_mean: u64, limits: TimeLimits) -> f64 {
        let longer = (self.size_mean as f64 / size_mean.max(1) as f64).max(1.0);
        let warm_up_s = (self.warm_up_s * longer).min(limits.warm_most_s().max(self.warm_up_s));
        self.whole_s - self.warm_up_s + warm_up_s
    }
}

impl Fill {
    /// How long the fill may take the next time, in seconds; 0 where it would not be enough.
    fn again_s(self) -> f64 {
        self.took_s.map_or(0.0, |took_s| FILL_SLACK * took_s)
    }
}

impl Costs {
    /// Notes a round of a point. Measuring it again would take `again_s` seconds, not counting the
    /// time its set took to come into the file cache, for which `fill_s` seconds were allowed; that
    /// is counted separately.
    pub(crate) fn took(
        &mut self,
        id: PointId,
        workload: &Workload,
        again_s: f64,
        (fill_s, measurement): (f64, &Measurement),
    ) {
        let mut cost_s = again_s;
        if fill_s > 0.0 {
            cost_s -= measurement.fill_s.unwrap_or(0.0);
            self.filled(id, fill_s, measurement);
        }
        let cost = Cost::of(workload, cost_s.max(0.0), measurement);
        match self.points.get_mut(id) {
            Some(known) => *known = cost,
            None => {
                debug_assert_eq!(id, self.points.len(), "points and costs are added together");
                self.points.push(cost);
                self.first_s.push(cost.whole_s);
            }
        }
    }

    /// Notes whether the set of a point came into the file cache in `allowed_s` seconds.
    fn filled(&mut self, id: PointId, allowed_s: f64, measurement: &Measurement) {
        self.filled_s += measurement.fill_s.unwrap_or(0.0);
        let fill = self.fills.entry(id).or_default();
        fill.allowed_s = fill.allowed_s.max(allowed_s);
        if !measurement.was_filling() {
            fill.took_s = Some(measurement.fill_s.unwrap_or(0.0));
        }
    }

    /// The time that sets took in all to come into the file cache where more than usual was
    /// allowed, in seconds.
    pub(crate) fn filled_s(&self) -> f64 {
        self.filled_s
    }

    /// How long the set of a point may take to come into the file cache the next time, in seconds.
    pub(crate) fn refill_s(&self, id: PointId) -> f64 {
        self.fills.get(&id).map_or(0.0, |fill| fill.again_s())
    }

    /// How long another set that does not come in by itself may take, in seconds: as long as the
    /// slowest so far; 0 if none has.
    pub(crate) fn longest_fill_s(&self) -> f64 {
        self.fills.values().map(|fill| fill.again_s()).fold(0.0, f64::max)
    }

    /// The longest time allowed that was not enough, in seconds.
    pub(crate) fn in_vain_s(&self) -> f64 {
        let in_vain = self.fills.values().filter(|fill| fill.took_s.is_none());
        in_vain.map(|fill| fill.allowed_s).fold(0.0, f64::max)
    }

    /// The cost of a point's latest round in wall seconds, without growing the file.
    pub(crate) fn of(&self, id: PointId) -> f64 {
        self.points.get(id).map_or(0.0, |cost| cost.whole_s)
    }

    /// Mean first cost of the newest points, in seconds; `None` before there are any.
    pub(crate) fn recent_mean_s(&self) -> Option<f64> {
        let recent = &self.first_s[self.first_s.len().saturating_sub(RECENT)..];
        (!recent.is_empty()).then(|| mean(recent))
    }

    /// The cost to expect of `workload` measured within `limits`, in seconds: that of the latest
    /// among the points most like it in set and request size.
    pub(crate) fn near(&self, workload: &Workload, limits: TimeLimits) -> Option<f64> {
        let distance = |cost: &&Cost| cost.distance(workload);
        let nearest =
            self.points.iter().rev().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        Some(nearest.with_size(workload.size_mean, limits))
    }
}

/// The time that a measurement took; 0 where that is not a positive number.
pub(crate) fn cost_of(measurement: &Measurement) -> f64 {
    if measurement.cost_s.is_finite() { measurement.cost_s.max(0.0) } else { 0.0 }
}

/// The time that repeating it would take: the run itself, without growing the file, which is
/// expected to have taken `layout_s`.
pub(crate) fn repeated_cost_s(measurement: &Measurement, layout_s: f64) -> f64 {
    let whole_s = cost_of(measurement);
    let run_s = measurement.warm_up_s + measurement.elapsed_s;
    (whole_s - layout_s).max(run_s).min(whole_s)
}

/// The time that the run itself took, including bringing the set into the file cache. With several
/// clients, each of whose windows warms up, it includes their agreeing on windows.
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
    use ioscape_schema::{Access, Clients};

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
        let [large, small] =
            [1 << 30, 1 << 20].map(|unique_bytes| Workload { unique_bytes, ..Workload::default() });
        costs.took(0, &large, 6.0, (0.0, &steady));
        assert_eq!((costs.of(0), costs.filled_s()), (6.0, 0.0));
        costs.took(0, &large, 6.5, (9.0, &steady));
        assert_eq!((costs.of(0), costs.filled_s()), (2.5, 4.0));
        costs.took(1, &small, 3.0, (9.0, &steady));
        assert_eq!((costs.of(1), costs.filled_s()), (0.0, 8.0));
        assert_eq!(costs.recent_mean_s(), Some(3.0), "of the first rounds, 6 and 0 s");
    }

    /// Guards against a set of 347 MiB on a slow disk that no curve had: it cost a second with
    /// requests of 32 KiB, and thirteen with 4 KiB.
    #[test]
    fn small_requests_are_expected_to_take_longer_and_say_nothing_of_larger_ones() {
        let workload =
            |size_mean| Workload { unique_bytes: 1 << 30, size_mean, ..Workload::default() };
        let limits = TimeLimits { min_s: 0.5, cap_s: 4.0 };
        let near = |costs: &Costs, workload: &Workload| costs.near(workload, limits);
        let mut costs = Costs::default();
        costs.took(0, &workload(32 << 10), 1.5, (0.0, &run(1.5, [0.4, 0.4])));
        assert_eq!(near(&costs, &workload(32 << 10)), Some(1.5));
        assert_eq!(near(&costs, &workload(4 << 10)), Some(1.0 + 8.0 * 0.5));
        assert_eq!(near(&costs, &workload(256)), Some(1.0 + 10.0), "a warm-up ends");
        costs.took(1, &workload(4 << 10), 13.0, (0.0, &run(13.0, [0.4, 0.4])));
        assert_eq!(near(&costs, &workload(16 << 10)), Some(1.0 + 2.0 * 0.5));
        let direct = |size_mean| Workload { access: Access::Direct, ..workload(size_mean) };
        costs.took(0, &direct(32 << 10), 1.5, (0.0, &run(1.5, [0.0, 0.0])));
        assert_eq!(near(&costs, &direct(16 << 10)), Some(1.5), "no file cache stands still");
        costs.took(0, &workload(32 << 10), 1.5, (0.0, &run(1.5, [1.0, 1.0])));
        assert_eq!(near(&costs, &workload(16 << 10)), Some(1.5), "all of it is in memory");
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
