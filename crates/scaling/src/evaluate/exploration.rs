//! An evaluation in progress: calls the probe, keeps the log and the budget, and interleaves the
//! references.

use super::allotment::{Allotment, REFERENCE_EVERY};
use super::costs::{Costs, cost_of, repeated_cost_s, run_cost_s};
use super::options::EvaluationOptions;
use super::probe::{Probe, ProbeRequest, Progress, TimeLimits};
use crate::judge::evidence::Evidence;
use crate::judge::levels::Levels;
use crate::judge::points::PointId;
use crate::judge::{assemble, judge, lasting};
use crate::phase::Phase;
use ioscape_schema::{
    AllParameters, Evaluation, Measurement, Probe as Logged, Purpose, RefusedSet, Workload,
};

/// The number of rounds for every cheap point when there is time left.
pub(crate) const ROUNDS_WANTED: usize = 3;

/// The most rounds of one point, including the first.
pub(crate) const ROUNDS_MOST: usize = 4;

/// How much a point matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Measured as long as the whole budget has room.
    Essential,
    /// Measured as long as the phase's share has room.
    Ordinary,
}

/// Why a point was not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// There is no room in the time budget, or in the phase's share of it.
    Time,
    /// All points that the user allows are used up.
    Points,
    /// There is no room for its set on the target.
    Room,
}

/// All that is known so far, from which an [`Evaluation`] can be assembled at any time.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub evidence: Evidence,
    pub levels: Levels,
    /// Whether repetitions cured no point, and no reference has been undisturbed since.
    pub load_lasts: bool,
}

/// The evaluation under way.
pub(crate) struct Exploration<'a, P: Probe> {
    pub options: EvaluationOptions,
    pub allotment: Allotment,
    pub state: State,
    /// The current phase.
    pub phase: Phase,
    probe: &'a mut P,
    evaluation: Evaluation,
    spent_s: f64,
    costs: Costs,
    /// Why the latest point that was refused was not measured.
    refusal: Refusal,
    since_reference: usize,
    phase_began: usize,
    phase_began_points: usize,
    /// The spent time at which the current phase ends, in seconds.
    phase_ends_s: f64,
    /// The spent time at which the current part of the phase ends, in seconds.
    part_ends_s: f64,
    /// The largest set measured so far, in bytes: the file has been laid out up to here.
    laid_out: u64,
}

impl<'a, P: Probe> Exploration<'a, P> {
    pub(crate) fn new(options: &EvaluationOptions, probe: &'a mut P) -> Self {
        let options = options.normalized();
        let evaluation = Evaluation {
            unique_bytes_range: options.bounds.unique_bytes.map(|b| b as f64),
            ..Evaluation::default()
        };
        let allotment = Allotment::new(&options);
        Self {
            options,
            allotment,
            state: State::default(),
            phase: Phase::Pilot,
            probe,
            evaluation,
            spent_s: 0.0,
            costs: Costs::default(),
            refusal: Refusal::Time,
            since_reference: REFERENCE_EVERY,
            phase_began: 0,
            phase_began_points: 0,
            phase_ends_s: 0.0,
            part_ends_s: 0.0,
            laid_out: 0,
        }
    }

    /// The evaluation so far.
    pub(crate) fn into_evaluation(mut self) -> Evaluation {
        assemble::finish(&mut self.evaluation, &self.state.evidence, &self.state.levels);
        // While storage may still change, every round counts.
        match lasting::found(&self.evaluation.probes) {
            Some(_) => judge(&self.evaluation),
            None => self.evaluation,
        }
    }

    /// The evaluation so far, without findings.
    pub(crate) fn so_far(&mut self) -> &Evaluation {
        assemble::update(&mut self.evaluation, &self.state.evidence, &self.state.levels);
        &self.evaluation
    }

    pub(crate) fn begin(&mut self, phase: Phase) {
        self.phase = phase;
        let budget_s = self.options.budget_s;
        self.phase_ends_s = self.allotment.deadline_s(phase, self.spent_s, budget_s);
        self.part_ends_s = self.phase_ends_s;
        self.phase_began = self.evaluation.probes.len();
        self.phase_began_points = self.state.evidence.points.len();
    }

    pub(crate) fn shorten(&mut self, phase: Phase, reason: impl Into<String>) {
        self.leave_out(phase.name(), reason);
    }

    /// Notes why something was left out or shortened; the first reason noted for it stays.
    pub(crate) fn leave_out(&mut self, what: &str, reason: impl Into<String>) {
        self.evaluation.shortened.entry(what.to_owned()).or_insert_with(|| reason.into());
    }

    /// Why the latest point that was refused was not measured.
    pub(crate) fn refusal(&self) -> Refusal {
        self.refusal
    }

    /// The budget that is left, in seconds.
    pub(crate) fn left_s(&self) -> f64 {
        self.options.budget_s - self.spent_s
    }

    /// Divides the rest of the phase into `parts` equal parts and begins the first.
    pub(crate) fn begin_part(&mut self, parts: usize) {
        let left_s = self.phase_ends_s - self.spent_s;
        self.part_ends_s = self.spent_s + left_s.max(0.0) / parts.max(1) as f64;
    }

    /// Lets the current part of the phase run until `left_s` seconds of the budget are left.
    pub(crate) fn end_part_before(&mut self, left_s: f64) {
        self.part_ends_s = self.options.budget_s - left_s;
    }

    /// Whether `count` points of usual cost fit into the current phase.
    pub(crate) fn has_time_for(&self, count: usize) -> bool {
        self.spent_s + self.usual_cost_s() * count as f64 <= self.part_ends_s
    }

    /// Seconds spent in probes and between them.
    pub(crate) fn spent_s(&self) -> f64 {
        self.spent_s
    }

    /// Mean cost of the recent points, in seconds; the expected one before there are any.
    pub(crate) fn usual_cost_s(&self) -> f64 {
        self.costs.recent_mean_s().unwrap_or(self.options.typical_cost_s)
    }

    /// The wall seconds that the next round of a point is expected to cost, including the time its
    /// set may take to come into the file cache where it does not come in by itself.
    pub(crate) fn cost_s(&self, id: PointId) -> f64 {
        self.costs.of(id) + self.costs.refill_s(id)
    }

    /// Like [`cost_s`](Self::cost_s), but including the measured time of growing the file where its
    /// rate is not known.
    pub(crate) fn whole_cost_s(&self, id: PointId) -> f64 {
        let rounds = self.state.evidence.points.rounds(id).map(cost_of);
        let longest_s = rounds.fold(0.0, f64::max);
        match self.options.layout_bytes_per_s {
            Some(_) => self.cost_s(id),
            None => self.cost_s(id).max(longest_s),
        }
    }

    /// The costs so far.
    pub(crate) fn costs(&self) -> &Costs {
        &self.costs
    }

    /// Whether a point's set was still coming into the file cache in every round that counts.
    pub(crate) fn is_filling(&self, id: PointId) -> bool {
        self.state.evidence.points.kept(id).was_filling()
    }

    /// The wall seconds expected for a workload like those measured, without growing the file.
    pub(crate) fn similar_cost_s(&self, workload: &Workload) -> f64 {
        self.costs.near(workload, self.allotment.limits).unwrap_or_else(|| self.usual_cost_s())
    }

    /// The smallest and the largest set that may be measured, in bytes.
    pub(crate) fn unique_bytes_range(&self) -> [f64; 2] {
        self.options.bounds.unique_bytes.map(|b| b as f64)
    }

    /// Puts what section 7's search has found so far into the result.
    pub(crate) fn found_all_parameters(&mut self, found: AllParameters) {
        self.evaluation.all_parameters = Some(found);
    }

    /// The seconds that growing the file to hold `unique_bytes` takes.
    pub(crate) fn layout_s(&self, unique_bytes: u64) -> f64 {
        let growth = unique_bytes.saturating_sub(self.laid_out) as f64;
        self.options.layout_bytes_per_s.map_or(0.0, |rate| growth / rate)
    }

    fn affords(&self, need: Need, expected_s: f64) -> bool {
        let end = match need {
            Need::Essential => self.options.budget_s - self.allotment.kept_behind_s(self.phase),
            Need::Ordinary => self.part_ends_s,
        };
        self.left_s() > 0.0 && self.spent_s + expected_s <= end
    }

    /// Whether all points that the user allows by the end of this phase are used up.
    fn has_all_points(&self) -> bool {
        let Some(most) = self.options.points_max else { return false };
        let regions = match self.phase {
            Phase::Curves => self.state.levels.regions.len(),
            _ => self.state.levels.regions.len().max(2),
        };
        let began = self.phase_began_points;
        self.state.evidence.points.len()
            >= self.allotment.points_until(self.phase, most, began, regions)
    }

    /// Measures `workload` unless it has been measured before; `None` when there is no time for it.
    pub(crate) fn point(
        &mut self,
        purpose: &Purpose,
        workload: &Workload,
        need: Need,
    ) -> Result<Option<PointId>, P::Error> {
        self.point_filled(purpose, workload, need, 0.0)
    }

    /// Like [`point`](Self::point), with the caller's own expectation of its cost, in seconds.
    pub(crate) fn point_at_cost(
        &mut self,
        purpose: &Purpose,
        workload: &Workload,
        need: Need,
        expected_s: f64,
    ) -> Result<Option<PointId>, P::Error> {
        self.first_round(purpose, workload, (need, expected_s), 0.0)
    }

    /// Like [`point`](Self::point), where bringing the set into the file cache first may take up to
    /// `fill_s` seconds.
    pub(crate) fn point_filled(
        &mut self,
        purpose: &Purpose,
        workload: &Workload,
        need: Need,
        fill_s: f64,
    ) -> Result<Option<PointId>, P::Error> {
        let set = workload.unique_bytes;
        let expected_s = self.similar_cost_s(workload) + self.layout_s(set) + fill_s;
        self.first_round(purpose, workload, (need, expected_s), fill_s)
    }

    fn first_round(
        &mut self,
        purpose: &Purpose,
        workload: &Workload,
        (need, expected_s): (Need, f64),
        fill_s: f64,
    ) -> Result<Option<PointId>, P::Error> {
        if let Some(id) = self.state.evidence.points.find(workload) {
            return Ok(Some(id));
        }
        if !self.affords(need, expected_s) {
            self.refusal = Refusal::Time;
            return Ok(None);
        }
        if self.has_all_points() {
            self.refusal = Refusal::Points;
            return Ok(None);
        }
        self.reference_if_due()?;
        if self.left_s() <= 0.0 {
            self.refusal = Refusal::Time;
            return Ok(None);
        }
        let Some((measurement, again_s)) = self.ask_first(purpose, workload, fill_s)? else {
            self.refusal = Refusal::Room;
            return Ok(None);
        };
        let id = self.state.evidence.points.len();
        self.costs.took(id, workload, again_s, (fill_s, &measurement));
        self.state.evidence.points.add(workload.clone(), purpose.clone(), measurement);
        self.report();
        Ok(Some(id))
    }

    /// Measures a new point, for which the file may grow, and returns what another round would
    /// take, in seconds; `None` where the file cannot grow so far although smaller sets were
    /// measured.
    fn ask_first(
        &mut self,
        purpose: &Purpose,
        workload: &Workload,
        fill_s: f64,
    ) -> Result<Option<(Measurement, f64)>, P::Error> {
        let set = workload.unique_bytes;
        let (layout_s, grows) = (self.layout_s(set), set > self.laid_out);
        let has_smaller = self.state.evidence.points.len() > 0;
        if has_smaller && let Some(spent_s) = self.probe.refused_s(workload) {
            self.refuse(set, spent_s);
            return Ok(None);
        }
        let measurement = match self.ask(purpose, workload, self.allotment.limits, fill_s) {
            Err(error) if has_smaller && self.probe.lacks_room(workload, &error) => {
                self.refuse(set, layout_s);
                return Ok(None);
            }
            asked => asked?,
        };
        // The rate at which clients lay out is not known beforehand, and layout may be most of the
        // first round.
        let is_untold = measurement.clients.is_some() && self.options.layout_bytes_per_s.is_none();
        let again_s = match grows && is_untold {
            true => run_cost_s(&measurement),
            false => repeated_cost_s(&measurement, layout_s),
        };
        Ok(Some((measurement, again_s)))
    }

    /// Records that there is no room for a set, and the seconds it took to find out.
    fn refuse(&mut self, unique_bytes: u64, spent_s: f64) {
        let after_probes = self.evaluation.probes.len() as u64;
        self.evaluation.refused_sets.push(RefusedSet { after_probes, unique_bytes, spent_s });
        self.spent_s += spent_s;
    }

    /// Measures a point again; `false` when there is no time for it. A set that came into the file
    /// cache only when it had more time than usual gets that time again.
    pub(crate) fn again(&mut self, id: PointId, need: Need) -> Result<bool, P::Error> {
        self.again_filled(id, need, self.costs.refill_s(id))
    }

    /// Like [`again`](Self::again), where bringing the set into the file cache first may take up to
    /// `fill_s` seconds.
    pub(crate) fn again_filled(
        &mut self,
        id: PointId,
        need: Need,
        fill_s: f64,
    ) -> Result<bool, P::Error> {
        if !self.affords(need, self.costs.of(id) + fill_s) {
            return Ok(false);
        }
        self.reference_if_due()?;
        if self.left_s() <= 0.0 {
            return Ok(false);
        }
        let round = self.state.evidence.points.round_count(id) + 1;
        let purpose = self.state.evidence.points.purpose(id).repeated(round);
        let workload = self.state.evidence.points.workload(id).clone();
        let measurement = self.ask(&purpose, &workload, self.allotment.limits, fill_s)?;
        let again_s = cost_of(&measurement);
        self.costs.took(id, &workload, again_s, (fill_s, &measurement));
        self.state.evidence.points.add_round(id, measurement);
        self.report();
        Ok(true)
    }

    /// Measures something that is not a point, with its own limits.
    pub(crate) fn extra(
        &mut self,
        purpose: &Purpose,
        workload: &Workload,
        limits: TimeLimits,
    ) -> Result<bool, P::Error> {
        if self.left_s() < limits.cap_s {
            return Ok(false);
        }
        self.reference_if_due()?;
        if self.left_s() <= 0.0 {
            return Ok(false);
        }
        self.ask(purpose, workload, limits, 0.0)?;
        self.report();
        Ok(true)
    }

    /// Measures the reference now, unless nothing else was measured since the last time.
    pub(crate) fn reference(&mut self) -> Result<(), P::Error> {
        if self.left_s() <= 0.0 || self.since_reference == 0 {
            return Ok(());
        }
        let workload = self.options.reference();
        let limits = TimeLimits { min_s: 0.05, cap_s: 0.15 };
        let measurement = self.ask(&Purpose::Reference, &workload, limits, 0.0)?;
        self.state.evidence.points.add_reference(&measurement);
        self.state.load_lasts &= measurement.disturbed;
        self.since_reference = 0;
        self.report();
        Ok(())
    }

    fn reference_if_due(&mut self) -> Result<(), P::Error> {
        if self.since_reference >= REFERENCE_EVERY {
            self.reference()?;
        }
        self.since_reference += 1;
        Ok(())
    }

    fn ask(
        &mut self,
        purpose: &Purpose,
        workload: &Workload,
        limits: TimeLimits,
        fill_s: f64,
    ) -> Result<Measurement, P::Error> {
        let (purpose, workload) = (purpose.clone(), workload.clone());
        let request = ProbeRequest { purpose, workload, limits, fill_s };
        let measurement = self.probe.measure(&request)?;
        self.spent_s += measurement.spent_s();
        self.laid_out = self.laid_out.max(request.workload.unique_bytes);
        let logged = Logged { purpose: request.purpose, measurement: measurement.clone() };
        self.evaluation.probes.push(logged);
        self.evaluation.elapsed_s = self.spent_s;
        Ok(measurement)
    }

    fn report(&mut self) {
        assemble::update(&mut self.evaluation, &self.state.evidence, &self.state.levels);
        let progress = self.estimate();
        self.probe.progress(&self.evaluation, &progress);
    }

    /// The rounds that the points of the result still lack.
    fn rounds_due(&self) -> usize {
        let points = self.state.evidence.result_points();
        let lacks = |&id: &PointId| {
            ROUNDS_WANTED.saturating_sub(self.state.evidence.points.round_count(id))
        };
        points.iter().map(lacks).sum()
    }

    fn estimate(&self) -> Progress {
        let regions =
            self.state.levels.regions.len().max(if self.phase < Phase::Curves { 2 } else { 1 });
        let in_phase = self.evaluation.probes.len() - self.phase_began;
        let here = match self.phase {
            Phase::Rounds => self.rounds_due(),
            phase => self.allotment.points_in(phase, regions).saturating_sub(in_phase),
        };
        let points = here + self.allotment.points_after(self.phase, regions);
        let probes_left = points + points / REFERENCE_EVERY;
        let mean_s = self.usual_cost_s() * points as f64;
        Progress {
            phase: self.phase.name(),
            points: self.state.evidence.points.len() as u32,
            probes_left: probes_left as u32,
            spent_s: self.spent_s,
            left_s: mean_s.min(self.left_s()).max(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::options::tests::ten_minutes;
    use crate::evaluate::testing::Scripted;
    use ioscape_schema::CurveKey;

    /// While the machine is off its usual speed, every curve asks whether it still is.
    #[test]
    fn references_with_nothing_between_them_are_one() {
        let (options, mut probe) = (ten_minutes(), Scripted { cost_s: 1.0, fill_s: 0.0 });
        let mut exploration = Exploration::new(&options, &mut probe);
        let (purpose, workload) = (CurveKey::Pilot.into(), options.nominal(1 << 20));
        exploration.point(&purpose, &workload, Need::Essential).unwrap();
        for _ in 0..3 {
            exploration.reference().unwrap();
        }
        let probes = exploration.so_far().probes.iter();
        let asked: Vec<bool> = probes.map(|p| p.purpose == Purpose::Reference).collect();
        assert_eq!(asked, [true, false, true]);
    }
}
