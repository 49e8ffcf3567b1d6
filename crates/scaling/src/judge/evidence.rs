//! The evidence: every point measured, with its rounds, and the curves the points lie on.

use super::borders::USUAL_NOISE;
use super::points::{PointId, Points};
use super::segment::Sample;
use ioscape_schema::{CurveKey, Parameter, Point};
use std::collections::BTreeMap;

/// Largest deviation assumed, so that a point that is all noise still counts a little.
const SIGMA_MOST: f64 = 0.3;

/// A curve under construction: values of its parameter in order, each with the point measured there.
pub(crate) type Curve = Vec<(f64, PointId)>;

/// Everything the judgement rests on; the witnesses are part of every measurement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    /// Every distinct workload measured, and the references between them.
    pub points: Points,
    /// The curves, by what they vary.
    pub curves: BTreeMap<CurveKey, Curve>,
    /// Points off all curves.
    pub extra: Vec<PointId>,
}

impl Evidence {
    /// All points of the result, on its curves and off them, each once.
    pub(crate) fn result_points(&self) -> Vec<PointId> {
        let in_result =
            |key: &CurveKey| matches!(key, CurveKey::UniqueBytes(_) | CurveKey::Region { .. });
        let curves = self.curves.iter().filter(|(key, _)| in_result(key));
        let on_curves = curves.flat_map(|(_, c)| c.iter().map(|p| p.1));
        let mut ids: Vec<PointId> = on_curves.chain(self.extra.iter().copied()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Returns how many of the first `regions` regions have no curves of the other parameters.
    pub(crate) fn without_curves(&self, regions: usize) -> usize {
        let lacks = |&region: &usize| {
            let key = CurveKey::Region { region, parameter: Parameter::ReadFrac };
            !self.curves.contains_key(&key)
        };
        (0..regions).filter(lacks).count()
    }

    /// The values of the curve under `key`, each with its point; empty if nothing was measured for
    /// it.
    pub(crate) fn on(&self, key: CurveKey) -> &[(f64, PointId)] {
        self.curves.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The curve under `key` as it goes into the result.
    pub(crate) fn curve(&self, key: CurveKey) -> Vec<Point> {
        self.on(key).iter().map(|&(value, id)| self.points.point(id, value)).collect()
    }

    /// Throughputs of a curve: values in order, each with what was measured there.
    pub(crate) fn throughputs(&self, key: CurveKey) -> Vec<(f64, f64)> {
        self.on(key).iter().map(|&(value, id)| (value, self.points.throughput(id))).collect()
    }

    /// Returns the smallest set on the set-size curves that was still being read into the file
    /// cache in some round. Larger ones do not come in by themselves either.
    pub(crate) fn fills_from(&self) -> Option<f64> {
        let of_sizes = |key: &CurveKey| matches!(key, CurveKey::UniqueBytes(_));
        let points = self.curves.iter().filter(|(key, _)| of_sizes(key)).flat_map(|(_, c)| c);
        let is_late = |id: PointId| self.points.rounds(id).any(|round| round.was_filling());
        points.filter(|p| is_late(p.1)).map(|p| p.0).min_by(f64::total_cmp)
    }

    /// The points of a curve, in order of its parameter.
    pub(crate) fn ids(&self, key: CurveKey) -> Vec<PointId> {
        self.on(key).iter().map(|&(_, id)| id).collect()
    }

    /// Puts a measured point on a curve.
    pub(crate) fn put(&mut self, key: CurveKey, value: f64, id: PointId) {
        let curve = self.curves.entry(key).or_default();
        let place = curve.partition_point(|p| p.0 < value);
        if curve.get(place).is_none_or(|p| p.0 != value) {
            curve.insert(place, (value, id));
        }
    }

    /// Returns a curve as samples of time per byte, without points whose cache was still filling.
    /// Points in doubt count a little, since a cliff shows in them, too.
    pub(crate) fn samples(&self, key: CurveKey) -> Vec<Sample> {
        let store = &self.points;
        let repeatability = store.repeatability().unwrap_or(0.0);
        let sample = |&(value, id): &(f64, PointId)| {
            let point = store.point(id, value);
            let within = point.measurement.relative_error() / 1.96;
            let between = repeatability / (point.rounds.len().max(1) as f64).sqrt();
            let noise = within.max(between).clamp(USUAL_NOISE, SIGMA_MOST);
            let sigma = if store.verdict(id).doubtful { SIGMA_MOST } else { noise };
            Sample { unique_bytes: value, s: 1.0 / store.throughput(id), sigma, noise }
        };
        let is_steady = |&&(_, id): &&(f64, PointId)| !store.kept(id).was_filling();
        self.on(key).iter().filter(is_steady).map(sample).collect()
    }
}
