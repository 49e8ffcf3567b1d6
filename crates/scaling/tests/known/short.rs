//! Evaluations that have little time, or run out of it: what comes first, and what is said of what
//! is missing.

use crate::machines::{MIB, Machine, curves, file_cache, options};
use ioscape_scaling::{EvaluationOptions, Phase, Probe, ProbeRequest, Progress, explore};
use ioscape_schema::{Evaluation, Measurement, Point, Purpose};

/// A machine whose largest set of reads comes into the file cache within a tenth of a second, but
/// only if it is given time for that.
struct Late(Machine);

impl Probe for Late {
    type Error = String;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, String> {
        let mut run = self.0.measure(request)?;
        let is_filled = request.fill_s > 0.0;
        if request.workload.read_frac == 1.0 && request.workload.unique_bytes == 1 << 30 {
            let held = 100.0 / 1024.0;
            let before = if is_filled { held } else { held / 4.0 };
            run.fill_s = is_filled.then_some(0.1);
            run.resident_frac = Some(held);
            run.witness.resident_frac = Some([before, held]);
        }
        Ok(run)
    }

    fn progress(&mut self, evaluation: &Evaluation, progress: &Progress) {
        self.0.progress(evaluation, progress);
    }
}

/// Guards against spending 40 % of the time on telling the number of levels, and measuring nothing
/// else.
#[test]
fn a_set_that_comes_in_at_once_leaves_time_for_the_curves_of_the_regions() {
    let mut machine = Machine::new(2, file_cache);
    machine.cost = |request| 0.15 + 1.2 * request.limits.cap_s;
    let asked = EvaluationOptions { budget_s: 55.0, typical_cost_s: 0.6, ..options(1024.0 * MIB) };
    let found = explore(&asked, &mut Late(machine)).unwrap();
    for region in &found.regions {
        assert!(curves(region).iter().all(|curve| curve.len() >= 2), "{}", region.name);
    }
    assert!(found.findings.write_policy.is_some(), "{:#?}", found.findings.sentences);
}

/// A machine of one speed that watches its evaluation: no curve gets more than its first points
/// before both ends of all curves have a second round.
struct Watched(Machine);

impl Probe for Watched {
    type Error = String;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, String> {
        self.0.measure(request)
    }

    fn progress(&mut self, evaluation: &Evaluation, progress: &Progress) {
        for region in &evaluation.regions {
            let is_repeated = |point: Option<&Point>| point.is_some_and(|p| p.rounds.len() > 1);
            let is_sure = |curve: &[Point]| is_repeated(curve.first()) && is_repeated(curve.last());
            let is_filled = curves(region).iter().any(|curve| curve.len() > 3);
            assert!(!is_filled || curves(region).into_iter().all(is_sure), "{}", region.name);
        }
        self.0.progress(evaluation, progress);
    }
}

#[test]
fn what_findings_compare_is_repeated_before_curves_are_filled() {
    let costs: [fn(&ProbeRequest) -> f64; 4] = [|_| 0.6, |_| 0.8, |_| 1.0, |_| 1.2];
    let filled = costs.map(|cost| {
        let mut machine = Machine::with_noise(1, 0.0, |_| 5e7);
        machine.cost = cost;
        let asked = EvaluationOptions {
            budget_s: 55.0,
            typical_cost_s: 1.0,
            interactions: 24,
            level_counts: false,
            ..options(1024.0 * MIB)
        };
        let found = explore(&asked, &mut Watched(machine)).unwrap();
        found.regions.iter().any(|region| curves(region).iter().any(|curve| curve.len() > 3))
    });
    assert!(filled[0], "there is time for more in the fastest");
}

/// Both regions were known before time was up, and none turned up later.
#[test]
fn regions_that_no_time_was_left_for_did_not_turn_up_late() {
    let mut machine = Machine::with_noise(2, 0.01, file_cache);
    machine.cost = |request| match request.purpose {
        Purpose::SynchronousWrites => 1000.0,
        _ => 0.2 + 1.2 * request.limits.cap_s,
    };
    let asked = EvaluationOptions { level_counts: false, ..options(1024.0 * MIB) };
    let found = explore(&asked, &mut machine).unwrap();
    assert_eq!(found.regions.len(), 2, "{:?}", found.borders);
    assert!(found.regions.iter().all(|region| region.curves.seq_frac.is_empty()));
    let why: Vec<&String> = found.shortened.values().collect();
    assert!(!why.iter().any(|why| why.contains("turned up when all rounds")), "{why:?}");
    assert!(found.shortened.contains_key(Phase::Curves.name()), "{why:?}");
}
