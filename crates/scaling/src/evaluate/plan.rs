//! The plan: what an evaluation is going to do, and how long it will take, before anything is
//! measured.

use super::allotment::{Allotment, REFERENCE_EVERY};
use super::fills;
use super::options::EvaluationOptions;
use super::probe::TimeLimits;
use crate::phase::Phase;
use ioscape_schema::units::{Bytes, Seconds};
use ioscape_schema::{Engine, Settings, Workload};

/// One phase of the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedPhase {
    /// Which phase.
    pub phase: Phase,
    /// The most points it measures; the search stops earlier where a curve is flat.
    pub points: usize,
    /// Expected time including references and layout, in seconds; never more than the budget
    /// allows.
    pub estimated_s: f64,
}

/// What an evaluation is going to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The phases; where time is short, the pure curves come before that of their mix.
    pub phases: Vec<PlannedPhase>,
    /// How long one ordinary point is measured.
    pub limits: TimeLimits,
    /// How long bringing sets into the file cache may take where every run begins with an empty
    /// one; absent where no access is cached.
    pub filling: Option<Filling>,
}

/// How long the sets that decide may take to come into a file cache that is empty before every run;
/// a part of the budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filling {
    /// The limit for one set, in seconds.
    pub one_s: f64,
    /// The limit for all of them, in seconds.
    pub all_s: f64,
    /// The time of the largest set, at the rate of layout, in seconds; absent where that rate is
    /// not known.
    pub largest_s: Option<f64>,
}

impl Filling {
    fn of(options: &EvaluationOptions) -> Option<Self> {
        let Workload { access, engine, .. } = options.base;
        let is_cached =
            access.reads_cached() && !matches!(engine, Engine::Null | Engine::Dontcache);
        let largest = options.bounds.unique_bytes[1] as f64;
        is_cached.then(|| Self {
            one_s: fills::ONE * options.budget_s,
            all_s: fills::ALL * options.budget_s,
            largest_s: options.layout_bytes_per_s.map(|rate| largest / rate),
        })
    }

    fn describe(self) -> String {
        let [one, all] = [self.one_s, self.all_s].map(Seconds);
        let largest = self.largest_s.map_or(String::new(), |largest_s| {
            format!("; the largest takes about {} at the rate of laying out", Seconds(largest_s))
        });
        format!(
            "  If every run starts with an empty file cache, filling it takes part of this time: up to {one} for each set that decides the number of levels, {all} in total{largest}.\n"
        )
    }
}

impl Plan {
    /// The expected time in all, in seconds.
    pub fn estimated_s(&self) -> f64 {
        self.phases.iter().map(|p| p.estimated_s).sum()
    }

    /// The most points in all.
    pub fn points(&self) -> usize {
        self.phases.iter().map(|p| p.points).sum()
    }

    /// Describes the plan of an evaluation with these settings in words, a line for each phase.
    pub fn describe(&self, settings: &Settings) -> String {
        let [low, high] = settings.unique_bytes.map(|b| Bytes(b as f64));
        let mut text = format!("Sets from {low} to {high}");
        if let Some(limit) = settings.memory_limit_bytes {
            text += &format!(", under a memory limit of {}", Bytes(limit as f64));
        }
        let (estimated, most) = (Seconds(self.estimated_s()), Seconds(settings.budget_s));
        text += &format!("; about {estimated} of at most {most}.\n");
        for phase in &self.phases {
            let (points, time) = (phase.points, Seconds(phase.estimated_s).to_string());
            let name = phase.phase.name();
            text += &format!("  {name:<44} up to {points:>3} points  {time:>9}\n");
        }
        text + &self.filling.map_or(String::new(), Filling::describe)
    }
}

/// Plans an evaluation for a machine with two regions, the most common case.
pub fn plan(options: &EvaluationOptions) -> Plan {
    let options = options.normalized();
    let allotment = Allotment::new(&options);
    let cost = options.typical_cost_s;
    let reference = (0.3f64).min(cost) / REFERENCE_EVERY as f64;
    let layout =
        options.layout_bytes_per_s.map_or(0.0, |rate| options.bounds.unique_bytes[1] as f64 / rate);
    let mut spent = 0.0;
    let mut phases = Vec::new();
    for phase in Phase::ALL {
        let points = allotment.points_in(phase, 2);
        if points == 0 {
            continue;
        }
        let extra = match phase {
            Phase::Pilot => layout,
            Phase::Findings => allotment.flush.map_or(0.0, |f| f.cap_s - cost).max(0.0),
            _ => 0.0,
        };
        let wanted = points as f64 * (cost + reference) + extra;
        // Only the pilot may overrun its share: nothing else can start without it.
        let end = match phase {
            Phase::Pilot => options.budget_s,
            other => allotment.deadline_s(other, spent, options.budget_s),
        };
        let estimated_s = wanted.min((end - spent).max(0.0));
        spent += estimated_s;
        phases.push(PlannedPhase { phase, points, estimated_s });
    }
    Plan { phases, limits: allotment.limits, filling: Filling::of(&options) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::options::tests::ten_minutes;
    use ioscape_schema::Access;

    #[test]
    fn ten_minutes_are_some_hundred_points_of_seconds_each() {
        let plan = plan(&ten_minutes());
        assert!((150..=300).contains(&plan.points()), "{}", plan.points());
        assert!(plan.estimated_s() <= 600.0 && plan.estimated_s() > 300.0);
        assert!((1.0..4.0).contains(&plan.limits.cap_s));
    }

    #[test]
    fn a_minute_has_points_below_a_second_and_keeps_its_budget() {
        let options = EvaluationOptions { budget_s: 60.0, typical_cost_s: 0.9, ..ten_minutes() };
        let plan = plan(&options);
        assert!(plan.limits.cap_s < 1.0);
        assert!(plan.estimated_s() <= 60.0);
    }

    #[test]
    fn filling_an_empty_cache_is_forecast_where_there_is_one() {
        let options = EvaluationOptions { layout_bytes_per_s: Some(1e8), ..ten_minutes() };
        let filling = plan(&options).filling.expect("reads go through the file cache");
        assert!(filling.one_s < filling.all_s && filling.all_s < 0.5 * options.budget_s);
        assert_eq!(filling.largest_s, Some((1u64 << 30) as f64 / 1e8));
        let base = Workload { access: Access::Direct, ..options.base.clone() };
        assert_eq!(plan(&EvaluationOptions { base, ..options }).filling, None);
    }

    #[test]
    fn all_parameters_are_a_phase_of_their_own() {
        let has = |options: &EvaluationOptions| {
            plan(options).phases.iter().any(|p| p.phase == Phase::AllParameters)
        };
        assert!(!has(&ten_minutes()));
        assert!(has(&EvaluationOptions { all_parameters: true, ..ten_minutes() }));
    }
}
