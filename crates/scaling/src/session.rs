//! An evaluation under way: asks the probe, keeps the log and the budget, interleaves the references.

use crate::assemble;
use crate::borders::SetBorder;
use crate::options::Options;
use crate::phase::{Allotment, Phase, REFERENCE_EVERY};
use crate::probe::{Ask, Effort, Probe, Progress};
use crate::store::{Curve, PointId, ROUNDS_WANTED, Store};
use ioscape_schema::{
    AllParameters, BorderOperation, Evaluation, Measurement, Parameter, Probe as Logged, Workload,
};
use std::collections::BTreeMap;

/// Which curve a point belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CurveKey {
    /// Nominal mix over all set sizes.
    Pilot,
    /// One parameter in a provisional region.
    Focal(usize, Parameter),
    /// Set sizes with the focal mix, pure reads or pure writes.
    Unique(BorderOperation),
    /// One parameter in a region.
    Region(usize, Parameter),
    /// One parameter at one step of scaling all parameters.
    All(usize, Parameter),
}

impl CurveKey {
    /// What the log says about its probes.
    pub(crate) fn purpose(self) -> String {
        match self {
            Self::Pilot => "pilot".into(),
            Self::Focal(region, parameter) => format!("focal {parameter}, level {}", region + 1),
            Self::Unique(BorderOperation::Mixed) => "unique_bytes".into(),
            Self::Unique(BorderOperation::Read) => "unique_bytes read".into(),
            Self::Unique(BorderOperation::Write) => "unique_bytes write".into(),
            Self::Region(region, parameter) => format!("region {} {parameter}", region + 1),
            Self::All(step, parameter) => format!("all parameters {parameter}, step {}", step + 1),
        }
    }
}

/// A region before its curves are final.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RegionState {
    /// From and to, in bytes.
    pub range: [f64; 2],
    /// Its focal vector.
    pub focal: Workload,
}

/// How much a point matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Measured as long as the whole budget allows.
    Essential,
    /// Measured as long as the phase's share allows.
    Ordinary,
}

/// All that is known so far; an [`Evaluation`] is assembled from it at any time.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub store: Store,
    pub curves: BTreeMap<CurveKey, Curve>,
    pub borders: Vec<SetBorder>,
    pub regions: Vec<RegionState>,
    /// Points off all curves.
    pub extra: Vec<PointId>,
    pub all_parameters: Option<AllParameters>,
    pub shortened: BTreeMap<String, String>,
}

impl State {
    /// All points of the result, on its curves and off them, each once.
    pub(crate) fn result_points(&self) -> Vec<PointId> {
        let in_result = |key: &CurveKey| matches!(key, CurveKey::Unique(_) | CurveKey::Region(..));
        let curves = self.curves.iter().filter(|(key, _)| in_result(key));
        let on_curves = curves.flat_map(|(_, c)| c.iter().map(|p| p.1));
        let mut ids: Vec<PointId> = on_curves.chain(self.extra.iter().copied()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

/// The evaluation under way.
pub(crate) struct Session<'a, P: Probe> {
    pub options: Options,
    pub allotment: Allotment,
    pub state: State,
    /// The current phase.
    pub phase: Phase,
    probe: &'a mut P,
    evaluation: Evaluation,
    spent_s: f64,
    costs_s: Vec<f64>,
    since_reference: usize,
    phase_began: usize,
    phase_began_points: usize,
    /// Spent seconds at which the current phase ends.
    phase_ends_s: f64,
    /// Spent seconds at which the current part of the phase ends.
    part_ends_s: f64,
    /// Largest set asked for so far: the file has been laid out up to here.
    laid_out: u64,
}

/// Costs that the expectation of the next one is made from.
const RECENT: usize = 6;

impl<'a, P: Probe> Session<'a, P> {
    pub(crate) fn new(options: &Options, probe: &'a mut P) -> Self {
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
            costs_s: Vec::new(),
            since_reference: REFERENCE_EVERY,
            phase_began: 0,
            phase_began_points: 0,
            phase_ends_s: 0.0,
            part_ends_s: 0.0,
            laid_out: 0,
        }
    }

    /// The evaluation as far as it came.
    pub(crate) fn into_evaluation(mut self) -> Evaluation {
        assemble::finish(&mut self.evaluation, &self.state);
        self.evaluation
    }

    /// The evaluation as far as it came, without findings.
    pub(crate) fn so_far(&mut self) -> &Evaluation {
        assemble::update(&mut self.evaluation, &self.state);
        &self.evaluation
    }

    pub(crate) fn begin(&mut self, phase: Phase) {
        self.phase = phase;
        let budget_s = self.options.budget_s;
        self.phase_ends_s = self.allotment.deadline_s(phase, self.spent_s, budget_s);
        self.part_ends_s = self.phase_ends_s;
        self.phase_began = self.evaluation.probes.len();
        self.phase_began_points = self.state.store.len();
    }

    pub(crate) fn shorten(&mut self, phase: Phase, reason: impl Into<String>) {
        self.state.shortened.entry(phase.name().to_owned()).or_insert_with(|| reason.into());
    }

    /// Budget that is left, in seconds.
    pub(crate) fn left_s(&self) -> f64 {
        self.options.budget_s - self.spent_s
    }

    /// Gives what is left of the phase to `parts` equal parts, of which the next one begins.
    pub(crate) fn begin_part(&mut self, parts: usize) {
        let left_s = self.phase_ends_s - self.spent_s;
        self.part_ends_s = self.spent_s + left_s.max(0.0) / parts.max(1) as f64;
    }

    /// Whether `count` points of usual cost fit into the current phase.
    pub(crate) fn has_time_for(&self, count: usize) -> bool {
        self.spent_s + self.usual_cost_s() * count as f64 <= self.part_ends_s
    }

    /// Seconds spent in probes.
    pub(crate) fn spent_s(&self) -> f64 {
        self.spent_s
    }

    /// Mean cost of the recent points, in seconds; the expected one before there are any.
    pub(crate) fn usual_cost_s(&self) -> f64 {
        let recent = &self.costs_s[self.costs_s.len().saturating_sub(RECENT)..];
        match recent.len() {
            0 => self.options.typical_cost_s,
            n => recent.iter().sum::<f64>() / n as f64,
        }
    }

    /// Seconds until the file has grown to hold `unique_bytes`.
    pub(crate) fn layout_s(&self, unique_bytes: u64) -> f64 {
        let growth = unique_bytes.saturating_sub(self.laid_out) as f64;
        self.options.layout_bytes_per_s.map_or(0.0, |rate| growth / rate)
    }

    fn affords(&self, need: Need, expected_s: f64) -> bool {
        let end = match need {
            Need::Essential => self.options.budget_s,
            Need::Ordinary => self.part_ends_s,
        };
        self.left_s() > 0.0 && self.spent_s + expected_s <= end
    }

    /// Whether all points are used up that the user allows by the end of this phase.
    fn has_all_points(&self) -> bool {
        let Some(most) = self.options.points_max else { return false };
        let regions = match self.phase {
            Phase::Curves => self.state.regions.len(),
            _ => self.state.regions.len().max(2),
        };
        let began = self.phase_began_points;
        self.state.store.len() >= self.allotment.points_until(self.phase, most, began, regions)
    }

    /// Measures `workload` unless it was before; `None` when there is no time for it.
    pub(crate) fn point(
        &mut self,
        purpose: &str,
        workload: &Workload,
        need: Need,
    ) -> Result<Option<PointId>, P::Error> {
        let similar_s = self.state.store.cost_near(workload.unique_bytes);
        let expected_s =
            similar_s.unwrap_or_else(|| self.usual_cost_s()) + self.layout_s(workload.unique_bytes);
        self.point_at_cost(purpose, workload, need, expected_s)
    }

    /// The same with an own expectation of its cost, in seconds.
    pub(crate) fn point_at_cost(
        &mut self,
        purpose: &str,
        workload: &Workload,
        need: Need,
        expected_s: f64,
    ) -> Result<Option<PointId>, P::Error> {
        if let Some(id) = self.state.store.find(workload) {
            return Ok(Some(id));
        }
        if !self.affords(need, expected_s) || self.has_all_points() {
            return Ok(None);
        }
        self.reference_if_due()?;
        if self.left_s() <= 0.0 {
            return Ok(None);
        }
        let layout_s = self.layout_s(workload.unique_bytes);
        let measurement = self.ask(purpose, workload, self.allotment.effort)?;
        let cost_s = repeated_cost_s(&measurement, layout_s);
        self.costs_s.push(cost_s);
        let id = self.state.store.add(workload.clone(), purpose, measurement, cost_s);
        self.report();
        Ok(Some(id))
    }

    /// Measures a point once more; `false` when there is no time for it.
    pub(crate) fn again(&mut self, id: PointId, need: Need) -> Result<bool, P::Error> {
        if !self.affords(need, self.state.store.cost_s(id)) {
            return Ok(false);
        }
        self.reference_if_due()?;
        if self.left_s() <= 0.0 {
            return Ok(false);
        }
        let round = self.state.store.round_count(id) + 1;
        let purpose = format!("{}, round {round}", self.state.store.purpose(id));
        let workload = self.state.store.workload(id).clone();
        let measurement = self.ask(&purpose, &workload, self.allotment.effort)?;
        let cost_s = cost_of(&measurement);
        self.state.store.add_round(id, measurement, cost_s);
        self.report();
        Ok(true)
    }

    /// Measures something that is no point, with its own effort.
    pub(crate) fn extra(
        &mut self,
        purpose: &str,
        workload: &Workload,
        effort: Effort,
    ) -> Result<bool, P::Error> {
        if self.left_s() < effort.cap_s {
            return Ok(false);
        }
        self.reference_if_due()?;
        if self.left_s() <= 0.0 {
            return Ok(false);
        }
        self.ask(purpose, workload, effort)?;
        self.report();
        Ok(true)
    }

    /// Takes a reference now.
    pub(crate) fn reference(&mut self) -> Result<(), P::Error> {
        if self.left_s() <= 0.0 {
            return Ok(());
        }
        let workload = self.options.reference();
        let effort = Effort { min_s: 0.05, cap_s: 0.15 };
        let measurement = self.ask("reference", &workload, effort)?;
        self.state.store.add_reference(measurement.throughput_bytes_per_s);
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
        purpose: &str,
        workload: &Workload,
        effort: Effort,
    ) -> Result<Measurement, P::Error> {
        let ask = Ask { purpose: purpose.to_owned(), workload: workload.clone(), effort };
        let measurement = self.probe.measure(&ask)?;
        self.spent_s += cost_of(&measurement);
        self.laid_out = self.laid_out.max(workload.unique_bytes);
        let logged = Logged { purpose: ask.purpose, measurement: measurement.clone() };
        self.evaluation.probes.push(logged);
        self.evaluation.elapsed_s = self.spent_s;
        Ok(measurement)
    }

    fn report(&mut self) {
        assemble::update(&mut self.evaluation, &self.state);
        let progress = self.estimate();
        self.probe.progress(&self.evaluation, &progress);
    }

    /// Rounds that the points of the result still lack.
    fn rounds_due(&self) -> usize {
        let points = self.state.result_points();
        let lacks = |&id: &PointId| ROUNDS_WANTED.saturating_sub(self.state.store.round_count(id));
        points.iter().map(lacks).sum()
    }

    fn estimate(&self) -> Progress {
        let regions = self.state.regions.len().max(if self.phase < Phase::Curves { 2 } else { 1 });
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
            points: self.state.store.len() as u32,
            probes_left: probes_left as u32,
            spent_s: self.spent_s,
            left_s: mean_s.min(self.left_s()).max(0.0),
        }
    }
}

/// What a measurement adds to the time spent; nonsense adds nothing.
fn cost_of(measurement: &Measurement) -> f64 {
    if measurement.cost_s.is_finite() { measurement.cost_s.max(0.0) } else { 0.0 }
}

/// What it would take once more: without the growth of the file, expected to take `layout_s`, but with the run itself.
fn repeated_cost_s(measurement: &Measurement, layout_s: f64) -> f64 {
    let whole_s = cost_of(measurement);
    let run_s = measurement.warm_up_s + measurement.elapsed_s;
    (whole_s - layout_s).max(run_s).min(whole_s)
}
