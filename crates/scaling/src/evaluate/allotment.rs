//! What share of its time and of its points each phase of an evaluation may take.

use super::options::Options;
use super::probe::Effort;
use crate::phase::Phase;

/// How much of the budget is for what; a function of the options alone.
#[derive(Clone, Debug)]
pub(crate) struct Allotment {
    /// Most points of each phase, in the order of [`Phase::ALL`]; curves: with two regions.
    points: [usize; 10],
    /// Each phase's share of the budget, in seconds.
    shares_s: [f64; 10],
    /// Most points of one curve of a region.
    pub curve_points: usize,
    /// Ratio of neighbouring request sizes in the focal sweep.
    pub size_step: f64,
    /// How long an ordinary point is measured.
    pub effort: Effort,
    /// How long the flush probe is measured; absent when it is unknown or does not fit.
    pub flush: Option<Effort>,
}

/// Scale of the number of points, 1 for ten minutes, below which an evaluation is short.
const SHORT: f64 = 0.7;

/// Percentage of the time for points off the curves, taken from curves and rounds; in a short evaluation and a longer one.
const INTERACTIONS: [f64; 2] = [10.0, 16.0];

/// Each phase's share of a limited number of points, with two regions.
const FEW: [(Phase, f64); 7] = [
    (Phase::Pilot, 0.1),
    (Phase::Focal, 0.12),
    (Phase::Mixed, 0.17),
    (Phase::Read, 0.11),
    (Phase::Write, 0.1),
    (Phase::Curves, 0.19),
    (Phase::Interactions, 0.24),
];

/// Points between two references.
pub(crate) const REFERENCE_EVERY: usize = 4;

/// Shares of at most `most` different workloads, never more than the `usual` ones.
fn few(most: usize, usual: [usize; 10]) -> [usize; 10] {
    let mut points = usual;
    for (phase, share) in FEW {
        let own = &mut points[phase as usize];
        *own = (*own).min((most as f64 * share).round() as usize);
    }
    points
}

impl Allotment {
    pub(crate) fn new(options: &Options) -> Self {
        let budget = options.budget_s.max(0.0);
        let scale = (budget / 600.0).powf(0.25).clamp(0.4, 1.6);
        let most = |points: f64, least: usize| ((points * scale).round() as usize).max(least);
        let curve_points = most(7.0, 3).min(9);
        let sizes = if scale < SHORT { 4 } else { 5 };
        let flush = options.flush_interval_s.map(|s| Effort { min_s: 1.2 * s, cap_s: 1.4 * s });
        let flush = flush.filter(|f| f.cap_s <= 0.2 * budget);
        let all = if options.all_parameters { most(60.0, 25) } else { 0 };
        let points = [
            most(9.0, 5),
            4 * sizes,
            most(22.0, 12),
            most(15.0, 11),
            most(15.0, 11),
            1 + usize::from(flush.is_some()),
            8 * (curve_points - 1),
            all,
            options.interactions,
            most(90.0, 20),
        ];
        let points = options.points_max.map_or(points, |most| few(most, points));
        let curve_points = (1 + points[Phase::Curves as usize] / 8).max(3);
        // With little time the borders come first: without them the other curves are of no use.
        let mut shares = if scale < SHORT {
            [10.0, 10.0, 19.0, 13.0, 13.0, 2.0, 28.0, 0.0, 0.0, 5.0]
        } else {
            [12.0, 10.0, 16.0, 10.0, 10.0, 2.0, 30.0, 0.0, 0.0, 10.0]
        };
        if options.interactions > 0 {
            let share = INTERACTIONS[usize::from(scale >= SHORT)];
            shares[Phase::Interactions as usize] = share;
            shares[Phase::Curves as usize] -= 0.7 * share;
            shares[Phase::Rounds as usize] -= 0.3 * share;
        }
        let all_share = if options.all_parameters { 0.3 } else { 0.0 };
        let flush_s = flush.map_or(0.0, |f| f.cap_s);
        let rest_s = budget * (1.0 - all_share) - flush_s;
        let mut shares_s = shares.map(|share| rest_s * share / 100.0);
        shares_s[Phase::Findings as usize] += flush_s;
        shares_s[Phase::AllParameters as usize] += budget * all_share;
        let probes = 140.0 * scale;
        // Most probes are confident long before their cap, so that it may be generous.
        let cap_s = (0.65 * budget / probes).clamp(0.1, 10.0);
        let effort = Effort { min_s: cap_s / 8.0, cap_s };
        let size_step = match points[Phase::Focal as usize] {
            0..16 => 16.0,
            16..20 => 8.0,
            _ => 4.0,
        };
        Self { points, shares_s, curve_points, size_step, effort, flush }
    }

    /// Different workloads, of `most` in all, that may have been measured when `phase` ends, if `began` were when it began:
    /// the regions' curves and, as far as these leave room, the points off them are kept for later.
    pub(crate) fn points_until(
        &self,
        phase: Phase,
        most: usize,
        began: usize,
        regions: usize,
    ) -> usize {
        let curves = (4 * (self.curve_points - 1) + 1) * regions;
        let off_curves = self.points(Phase::Interactions);
        match phase {
            Phase::Focal => began + self.points_in(phase, regions),
            early if early < Phase::Curves => most.saturating_sub(off_curves + curves),
            Phase::Curves => most - off_curves.min(most.saturating_sub(began + curves)),
            _ => most,
        }
    }

    /// Most points of a phase.
    pub(crate) fn points(&self, phase: Phase) -> usize {
        self.points[phase as usize]
    }

    /// Seconds that may be spent when `phase` ends, if `spent_s` of `budget_s` are spent when it begins.
    ///
    /// What an earlier phase saved or overran, all later ones share in proportion.
    pub(crate) fn deadline_s(&self, phase: Phase, spent_s: f64, budget_s: f64) -> f64 {
        let later: f64 = self.shares_s[phase as usize..].iter().sum();
        let part = if later > 0.0 { self.shares_s[phase as usize] / later } else { 1.0 };
        spent_s + part * (budget_s - spent_s).max(0.0)
    }

    /// Points still expected after `phase`, with `regions` regions.
    pub(crate) fn points_after(&self, phase: Phase, regions: usize) -> usize {
        let later = Phase::ALL.into_iter().filter(|p| *p > phase);
        later.map(|p| self.points_in(p, regions)).sum()
    }

    /// Points expected in a phase; the focal sweeps and the curves are made in every region.
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

    #[test]
    fn phases_that_take_their_time_end_with_the_budget() {
        for all_parameters in [false, true] {
            let options = Options { all_parameters, flush_interval_s: Some(30.0), ..ten_minutes() };
            let allotment = Allotment::new(&options);
            let mut spent_s = 0.0;
            for phase in Phase::ALL {
                let end_s = allotment.deadline_s(phase, spent_s, 600.0);
                let share_s = allotment.shares_s[phase as usize];
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

    #[test]
    fn a_flush_longer_than_a_fifth_of_the_budget_is_left_out() {
        let asked = |budget_s| Options { budget_s, flush_interval_s: Some(35.0), ..ten_minutes() };
        assert!(Allotment::new(&asked(600.0)).flush.is_some());
        assert!(Allotment::new(&asked(60.0)).flush.is_none());
    }
}
