//! The share of the time and of the points that each phase of an evaluation may take.

use super::options::EvaluationOptions;
use super::probe::TimeLimits;
use crate::phase::Phase;
use ioscape_schema::Access;

/// Share of the budget up to which an end of a curve is measured, however much the curves before it
/// took.
pub(super) const END_SHARE: f64 = 0.08;
/// With at least this many points, a curve over set sizes starts from the pilot's whole grid, and
/// has time for mild borders.
pub(super) const WHOLE_GRID: usize = 14;

/// The share of one phase.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Most points; for curves, with two regions.
    points: usize,
    /// Share of the budget, in seconds.
    share_s: f64,
}

/// How the budget is divided; a function of the options alone, except for the time kept for the
/// regions' curves, which follows from what points cost.
#[derive(Clone, Debug)]
pub(crate) struct Allotment {
    /// One part per phase, in the order of [`PHASES`].
    parts: [Part; PHASES.len()],
    /// Curves of a region.
    region_curves: usize,
    /// Most points of one curve in a region.
    pub curve_points: usize,
    /// Ratio of neighbouring request sizes in the focal sweep.
    pub size_step: f64,
    /// How long an ordinary point is measured.
    pub limits: TimeLimits,
    /// Seconds kept for the last phase, which measures doubtful points again; 0 where time is
    /// short.
    pub kept_s: f64,
    /// Seconds kept for the regions' curves.
    kept_for_curves_s: f64,
    /// The number of parts of the curves' time, one of which may be spent on confirming the
    /// regions.
    pub region_parts: usize,
    /// Number of pure reads of storage measured before the curves.
    pub storage_reads: usize,
    /// Number of pure reads and pure writes by another number of processes, also measured before
    /// the curves.
    pub pure_mixes: usize,
    /// How long the flush probe runs; absent when the interval is unknown or too long for the
    /// budget.
    pub flush: Option<TimeLimits>,
}

/// Scale of the number of points, 1 for ten minutes, below which an evaluation is short.
const SHORT: f64 = 0.7;

/// Share of the budget that is kept for the last phase.
const KEPT: f64 = 0.1;

/// Least and largest share of the budget kept for the regions' curves, so that however long the
/// sets take, the points that findings compare are measured: those of the first region in any case,
/// and as many of the others as are expected to fit into the largest share.
const KEPT_FOR_CURVES: [f64; 2] = [0.08, 0.25];

/// The largest share in a short evaluation.
const KEPT_FOR_CURVES_SHORT: f64 = 0.12;

/// Percentage of the time for points off the curves, taken from curves and rounds: in a short
/// evaluation, and in a longer one.
const INTERACTIONS: [f64; 2] = [10.0, 16.0];

/// Pure reads of storage that are measured before the curves, as points off them; then how many of
/// them where the number of points is limited.
const STORAGE_READS: usize = 3;
const STORAGE_READS_LIMITED: usize = 2;

/// Pure reads and pure writes by a number of processes other than the focal one, measured there
/// too, even when points are limited. Readers share the processors where writers wait for one
/// another, and the curve over processes shows both mixed.
const PURE_MIXES: usize = 2;

/// Points between two references.
pub(crate) const REFERENCE_EVERY: usize = 4;

/// The most points that a phase may have.
#[derive(Clone, Copy, Debug)]
enum Count {
    /// This many in ten minutes, more in a longer time and fewer in a shorter one, but at least
    /// `min`.
    Scaled { ten_minutes: f64, min: usize },
    /// Four coarse curves of request sizes.
    FocalSweeps,
    /// Synchronous writes, and the flush where it fits.
    Findings,
    /// A curve for every other parameter in each of two regions; the focal point counts once.
    RegionCurves,
    /// Like [`Count::Scaled`], when section 7's search was asked for.
    AllParameters { ten_minutes: f64, min: usize },
    /// As many as the options ask for.
    Interactions,
}

/// What a phase may take.
#[derive(Clone, Copy, Debug)]
struct PhaseShare {
    phase: Phase,
    points: Count,
    /// Percentage of the time in a short evaluation and in a longer one. With little time the
    /// borders come first: without them the other curves are useless.
    percent: [f64; 2],
    /// Share of a limited number of points, with two regions; absent where a limit changes nothing.
    limited: Option<f64>,
}

/// One row per phase, in the order of [`Phase::ALL`].
#[rustfmt::skip]
const PHASES: [PhaseShare; 10] = [
    PhaseShare { phase: Phase::Pilot, points: Count::Scaled { ten_minutes: 9.0, min: 5 }, percent: [10.0, 12.0], limited: Some(0.1) },
    PhaseShare { phase: Phase::Focal, points: Count::FocalSweeps, percent: [10.0, 10.0], limited: Some(0.12) },
    PhaseShare { phase: Phase::Mixed, points: Count::Scaled { ten_minutes: 22.0, min: 12 }, percent: [19.0, 16.0], limited: Some(0.17) },
    PhaseShare { phase: Phase::Read, points: Count::Scaled { ten_minutes: 15.0, min: 11 }, percent: [13.0, 10.0], limited: Some(0.11) },
    PhaseShare { phase: Phase::Write, points: Count::Scaled { ten_minutes: 15.0, min: 11 }, percent: [13.0, 10.0], limited: Some(0.1) },
    PhaseShare { phase: Phase::Findings, points: Count::Findings, percent: [2.0, 2.0], limited: None },
    PhaseShare { phase: Phase::Curves, points: Count::RegionCurves, percent: [28.0, 30.0], limited: Some(0.19) },
    PhaseShare { phase: Phase::AllParameters, points: Count::AllParameters { ten_minutes: 60.0, min: 25 }, percent: [0.0, 0.0], limited: None },
    PhaseShare { phase: Phase::Interactions, points: Count::Interactions, percent: [0.0, 0.0], limited: Some(0.24) },
    PhaseShare { phase: Phase::Rounds, points: Count::Scaled { ten_minutes: 90.0, min: 20 }, percent: [5.0, 10.0], limited: None },
];

/// Scale of the number of points: 1 for ten minutes.
fn scale_of(budget_s: f64) -> f64 {
    (budget_s / 600.0).powf(0.25).clamp(0.4, 1.6)
}

impl PhaseShare {
    /// Most points of the phase.
    fn points(&self, options: &EvaluationOptions, scale: f64, has_flush: bool) -> usize {
        let scaled = |points: f64, min: usize| ((points * scale).round() as usize).max(min);
        let usual = match self.points {
            Count::Scaled { ten_minutes, min } => scaled(ten_minutes, min),
            Count::FocalSweeps => 4 * if scale < SHORT { 4 } else { 5 },
            Count::Findings => 1 + usize::from(has_flush),
            Count::RegionCurves => {
                2 * options.region_parameters().len() * (scaled(7.0, 3).min(9) - 1)
            }
            Count::AllParameters { .. } if !options.all_parameters => 0,
            Count::AllParameters { ten_minutes, min } => scaled(ten_minutes, min),
            Count::Interactions => options.interactions,
        };
        match (options.points_max, self.limited) {
            (Some(most), Some(share)) => usual.min((most as f64 * share).round() as usize),
            _ => usual,
        }
    }

    /// Percentage of the time that neither a flush nor section 7's search takes.
    fn percent(&self, options: &EvaluationOptions, scale: f64) -> f64 {
        let row = usize::from(scale >= SHORT);
        if options.interactions == 0 {
            return self.percent[row];
        }
        match self.phase {
            Phase::Interactions => INTERACTIONS[row],
            Phase::Curves => self.percent[row] - 0.7 * INTERACTIONS[row],
            Phase::Rounds => self.percent[row] - 0.3 * INTERACTIONS[row],
            _ => self.percent[row],
        }
    }
}

/// How long an ordinary point is measured. Most reach their confidence long before the cap, so the
/// cap may be generous.
fn ordinary(budget_s: f64, scale: f64) -> TimeLimits {
    let probes = 140.0 * scale;
    let cap_s = (0.65 * budget_s / probes).clamp(0.1, 10.0);
    TimeLimits { min_s: cap_s / 8.0, cap_s }
}

impl Allotment {
    pub(crate) fn new(options: &EvaluationOptions) -> Self {
        let budget_s = options.budget_s.max(0.0);
        let scale = scale_of(budget_s);
        let flush = options.flush_interval_s.map(|s| TimeLimits { min_s: 1.2 * s, cap_s: 1.4 * s });
        // Unbuffered access leaves nothing to be flushed.
        let is_cached = options.base.access == Access::Buffered;
        let flush = flush.filter(|f| is_cached && f.cap_s <= 0.2 * budget_s);
        let flush_s = flush.map_or(0.0, |f| f.cap_s);
        let all_share = if options.all_parameters { 0.3 } else { 0.0 };
        let rest_s = budget_s * (1.0 - all_share) - flush_s;
        let parts = PHASES.map(|row| {
            let own_s = match row.phase {
                Phase::Findings => flush_s,
                Phase::AllParameters => budget_s * all_share,
                _ => 0.0,
            };
            Part {
                points: row.points(options, scale, flush.is_some()),
                share_s: rest_s * row.percent(options, scale) / 100.0 + own_s,
            }
        });
        let is_limited = options.points_max.is_some();
        let reads = if is_limited { STORAGE_READS_LIMITED } else { STORAGE_READS };
        let off_curves = parts[Phase::Interactions as usize].points;
        let storage_reads = if off_curves < STORAGE_READS { 0 } else { reads };
        let pure_mixes = if off_curves < STORAGE_READS + PURE_MIXES { 0 } else { PURE_MIXES };
        let region_curves = options.region_parameters().len();
        let in_two_regions = parts[Phase::Curves as usize].points;
        let curve_points = (1 + in_two_regions / (2 * region_curves)).max(3);
        let size_step = match parts[Phase::Focal as usize].points {
            0..16 => 16.0,
            16..20 => 8.0,
            _ => 4.0,
        };
        Self {
            parts,
            region_curves,
            curve_points,
            size_step,
            limits: ordinary(budget_s, scale),
            kept_s: if scale < SHORT { 0.0 } else { KEPT * budget_s },
            kept_for_curves_s: if scale < SHORT { 0.0 } else { KEPT_FOR_CURVES[0] * budget_s },
            storage_reads,
            pure_mixes,
            region_parts: if scale < SHORT { 3 } else { 2 },
            flush,
        }
    }

    /// The number of different workloads, of at most `most`, that may have been measured when
    /// `phase` ends, if `began` had been when it began. Points for the regions' curves are kept for
    /// later, and so are those off the curves as far as there is room.
    pub(crate) fn points_until(
        &self,
        phase: Phase,
        most: usize,
        began: usize,
        regions: usize,
    ) -> usize {
        let curves = (self.region_curves * (self.curve_points - 1) + 1) * regions;
        let off_curves = self.points(Phase::Interactions);
        match phase {
            Phase::Focal => began + self.points_in(phase, regions),
            // Some of the points off the curves are measured in this phase.
            Phase::Findings => {
                let here = self.storage_reads + self.pure_mixes;
                most.saturating_sub(off_curves.saturating_sub(here) + curves)
            }
            early if early < Phase::Curves => most.saturating_sub(off_curves + curves),
            Phase::Curves => most - off_curves.min(most.saturating_sub(began + curves)),
            _ => most,
        }
    }

    /// Whether the evaluation is short: then it keeps no time for repeated rounds or for a flush.
    pub(crate) fn is_short(&self) -> bool {
        self.kept_s == 0.0
    }

    /// Keeps the seconds that each region's curves need, within the limits. A region that alone
    /// needs more than the limit would get few of its points, so the sets have its time.
    pub(crate) fn keep_for_curves(&mut self, needed_s: &[f64], budget_s: f64) {
        let [least, most] = match self.is_short() {
            true => [0.0, KEPT_FOR_CURVES_SHORT],
            false => KEPT_FOR_CURVES,
        };
        let fitting = needed_s.iter().filter(|&&region_s| region_s <= most * budget_s);
        self.kept_for_curves_s = fitting.sum::<f64>().clamp(least * budget_s, most * budget_s);
    }

    /// Seconds kept for later phases, which no point of this phase may take, however much it
    /// matters. The first points of the regions' curves may take half of the time for repeated
    /// rounds: without them there is nothing to repeat.
    pub(crate) fn kept_behind_s(&self, phase: Phase) -> f64 {
        let rounds_s = if phase == Phase::Curves { 0.5 * self.kept_s } else { self.kept_s };
        let flush_s = self.flush.map_or(0.0, |flush| flush.cap_s);
        let later = [
            (Phase::Rounds, rounds_s),
            (Phase::Curves, self.kept_for_curves_s),
            (Phase::Findings, if self.is_short() { 0.0 } else { flush_s }),
        ];
        later.into_iter().filter(|(later, _)| phase < *later).map(|(_, kept_s)| kept_s).sum()
    }

    /// Most points of a phase.
    pub(crate) fn points(&self, phase: Phase) -> usize {
        self.parts[phase as usize].points
    }

    /// Seconds that may have been spent when `phase` ends, if `spent_s` of `budget_s` are spent
    /// when it begins.
    ///
    /// All later phases share in proportion what an earlier phase saved or overran.
    pub(crate) fn deadline_s(&self, phase: Phase, spent_s: f64, budget_s: f64) -> f64 {
        let later: f64 = self.parts[phase as usize..].iter().map(|part| part.share_s).sum();
        let part = if later > 0.0 { self.parts[phase as usize].share_s / later } else { 1.0 };
        spent_s + part * (budget_s - spent_s).max(0.0)
    }

    /// Points still expected after `phase`, with `regions` regions.
    pub(crate) fn points_after(&self, phase: Phase, regions: usize) -> usize {
        let later = Phase::ALL.into_iter().filter(|p| *p > phase);
        later.map(|p| self.points_in(p, regions)).sum()
    }

    /// Points expected in a phase; focal sweeps and curves are made in every region.
    pub(crate) fn points_in(&self, phase: Phase, regions: usize) -> usize {
        match phase {
            Phase::Curves | Phase::Focal => self.points(phase) * regions / 2,
            _ => self.points(phase),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::options::tests::ten_minutes;
    use ioscape_schema::Workload;

    #[test]
    fn every_phase_has_its_row() {
        assert_eq!(PHASES.map(|row| row.phase), Phase::ALL);
        for row in [0, 1] {
            let percent: f64 = PHASES.iter().map(|phase| phase.percent[row]).sum();
            assert_eq!(percent, [100.0, 100.0][row]);
        }
    }

    #[test]
    fn phases_that_take_their_time_end_with_the_budget() {
        for all_parameters in [false, true] {
            let options =
                EvaluationOptions { all_parameters, flush_interval_s: Some(30.0), ..ten_minutes() };
            let allotment = Allotment::new(&options);
            let mut spent_s = 0.0;
            for phase in Phase::ALL {
                let end_s = allotment.deadline_s(phase, spent_s, 600.0);
                let share_s = allotment.parts[phase as usize].share_s;
                assert!((end_s - spent_s - share_s).abs() < 1e-6, "{phase:?}");
                spent_s = end_s;
            }
            assert!((spent_s - 600.0).abs() < 1e-6);
        }
    }

    #[test]
    fn an_overrun_is_shared_by_all_later_phases() {
        let allotment = Allotment::new(&ten_minutes());
        let usual_s = allotment.deadline_s(Phase::Focal, 72.0, 600.0) - 72.0;
        let after_overrun_s = allotment.deadline_s(Phase::Focal, 336.0, 600.0) - 336.0;
        assert!((after_overrun_s / usual_s - 0.5).abs() < 1e-9);
    }

    /// Guards against sets larger than a large memory taking so much time that no region's curves
    /// have a point.
    #[test]
    fn what_sets_may_take_leaves_time_for_curves_and_rounds() {
        let kept = |budget_s: f64, phase| {
            let options =
                EvaluationOptions { budget_s, flush_interval_s: Some(40.0), ..ten_minutes() };
            Allotment::new(&options).kept_behind_s(phase)
        };
        let phases = [Phase::Read, Phase::Findings, Phase::Curves, Phase::Rounds];
        assert_eq!(phases.map(|phase| kept(600.0, phase).round()), [164.0, 108.0, 30.0, 0.0]);
        assert_eq!(kept(60.0, Phase::Read), 0.0);
    }

    #[test]
    fn time_is_kept_for_the_curves_of_regions_that_can_be_had_in_it() {
        let kept = |budget_s: f64, needed_s: &[f64]| {
            let mut allotment = Allotment::new(&EvaluationOptions { budget_s, ..ten_minutes() });
            allotment.keep_for_curves(needed_s, budget_s);
            allotment.kept_for_curves_s.round()
        };
        assert_eq!(kept(600.0, &[10.0, 20.0]), 48.0, "the least share");
        assert_eq!(kept(600.0, &[60.0, 40.0, 200.0]), 100.0, "one alone needs more");
        assert_eq!(kept(600.0, &[100.0, 140.0]), 150.0, "the largest share");
        assert_eq!([kept(60.0, &[]), kept(60.0, &[5.0, 5.0])], [0.0, 7.0], "a short evaluation");
    }

    /// As `docs/prediction.md` states.
    #[test]
    fn a_quarter_of_the_points_that_are_allowed_but_no_more_than_two_dozen_lie_off_the_curves() {
        let off_curves = |points| {
            let options = EvaluationOptions { points_max: Some(points), ..ten_minutes() };
            Allotment::new(&options).points(Phase::Interactions)
        };
        assert_eq!([60, 84, 100, 200, 1000].map(off_curves), [14, 20, 24, 24, 24]);
    }

    #[test]
    fn a_flush_longer_than_a_fifth_of_the_budget_or_of_direct_writes_is_left_out() {
        let asked = |budget_s| EvaluationOptions {
            budget_s,
            flush_interval_s: Some(35.0),
            ..ten_minutes()
        };
        assert!(Allotment::new(&asked(600.0)).flush.is_some());
        let base = Workload { access: Access::Direct, ..Workload::default() };
        let direct = EvaluationOptions { base, ..asked(600.0) };
        assert!(Allotment::new(&direct).flush.is_none(), "nothing would be flushed");
        assert!(Allotment::new(&asked(60.0)).flush.is_none());
    }
}
