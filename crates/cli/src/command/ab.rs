//! `ioscape ab`: measures two directories or two job files in turn until it is certain which one is
//! faster.

use crate::asked::jobs_of;
use crate::failure::{Failure, both};
use crate::machine::{Machine, RunLength};
use crate::{output, outputs};
use ioscape_arguments::AbArgs;
use ioscape_machine::error::Error as MeasureError;
use ioscape_machine::interrupt;
use ioscape_machine::output::Outputs;
use ioscape_machine::rest_in_turn;
use ioscape_schema::{
    Document, Environment, Measurement, SystemComparison, Warning, WarningKind, Workload,
};
use ioscape_study::ab::{Duel, Interleaving, longest_run_s, paired};
use ioscape_study::comparison::measured::condition_met;
use ioscape_workload::jobs::Job;
use ioscape_workload::seed_of_round;
use std::path::Path;
use std::time::{Duration, Instant};

/// Probability of a false verdict, over all jobs together.
const ALPHA: f64 = 0.05;

/// Least time between two saves: each flushes the result, perhaps to the drive under test.
const SAVED_EVERY: Duration = Duration::from_secs(2);

/// Share of the budget that is kept for runs without rests at most, where the arms rest in each
/// other's turns.
const OF_UNRESTED: f64 = 0.25;

/// Runs the command.
///
/// # Errors
/// Misuse before anything is touched; failures, interruptions and a condition that some row meets,
/// with every pair so far shown.
pub fn main(args: &AbArgs) -> Result<(), Failure> {
    let (pairs, doubts) = pairs(args)?;
    for (name, workloads) in &pairs {
        for workload in workloads {
            workload.validate().map_err(|e| Failure::Misuse(format!("job {name:?}: {e}")))?;
        }
    }
    let longest_s = longest_run_s(args.seconds, args.budget, pairs.len());
    let longest_s = longest_s.map_err(Failure::Misuse)?;
    let found = Interleaving::new(pairs.clone(), ALPHA, args.margin, args.seed);
    let mut found = found.failing_if(args.fail_if.clone()).map_err(Failure::misuse)?;
    let names = outputs::names_of(&args.out).reads("A", [&args.first]).reads("B", [&args.second]);
    let mut outputs = names.reads("--jobs", &args.jobs).open()?;
    let mut document = output::document(args.seed);
    doubts.into_iter().for_each(|doubt| document.warn(doubt));
    let mut arms = Arms::open(args, &pairs, &mut document)?;
    found = found.timed_in_steps_of(document.environment.clock.precision_ns);
    let finished = arms.measure(args, longest_s, &mut found, &mut document, &mut outputs);
    document.interrupted = finished.is_err();
    match &finished {
        Ok(()) => {
            let doubts = not_measured(args, &found)?.into_iter();
            let doubts = doubts.chain(too_few(args, &found)).chain(wandering(&found));
            let doubts = doubts.chain(few_layouts(&found)).chain(untold(args, &found));
            doubts.for_each(|doubt| document.warn(doubt));
        }
        Err(_) if found.rows().is_empty() => return finished,
        Err(failure) => {
            let message = format!("the comparison is partial: {failure}");
            document.warn(Warning::new(WarningKind::Interrupted, message));
        }
    }
    changed_by_rests(&found).into_iter().for_each(|doubt| document.warn(doubt));
    let compared = arms.compared(args, &found);
    let met = condition_met(&compared.measured);
    document.outcome = Some(compared.into());
    let finished = finished.and(met.map_or(Ok(()), |text| Err(Failure::Condition(text))));
    both(finished, outputs::finish(&mut outputs, &document, args.out.json))
}

/// The consequence for a job without a verdict: it is not judged, if there is a condition.
fn not_judged(args: &AbArgs) -> &'static str {
    if args.fail_if.is_some() { ", and so not judged by --fail-if" } else { "" }
}

/// Reports what had not been measured when time was up.
///
/// # Errors
/// Nothing had been measured.
fn not_measured(args: &AbArgs, found: &Interleaving) -> Result<Option<Warning>, Failure> {
    let left_out = found.not_measured().join(", ");
    if found.rows().is_empty() {
        let why = "nothing was measured within the budget: give a longer --budget";
        return Err(Failure::Failed(why.to_owned()));
    }
    let judged = not_judged(args);
    let message = format!("not measured{judged}: {left_out}; give a longer --budget");
    let doubt = || Warning::new(WarningKind::BudgetSpent, message);
    Ok((!left_out.is_empty()).then(doubt))
}

/// Reports which jobs had too few pairs for a verdict when time was up.
fn too_few(args: &AbArgs, found: &Interleaving) -> Option<Warning> {
    let (few, judged) = (found.too_few().join(", "), not_judged(args));
    let enough_s = (args.budget * found.enough_times()).ceil();
    let message = format!(
        "too few pairs for a verdict{judged}: {few}; give about --budget {enough_s}s, or shorter --seconds"
    );
    (!few.is_empty()).then(|| Warning::new(WarningKind::BudgetSpent, message))
}

/// Reports for which jobs the faster arm cannot be told because the ratio itself changed.
fn wandering(found: &Interleaving) -> Option<Warning> {
    let names = found.wandering().join(", ");
    let message = format!(
        "the ratio itself changed during the measurement, as it does where an arm has slow and fast states: {names}; a longer --budget tells more"
    );
    (!names.is_empty()).then(|| Warning::new(WarningKind::NotSteady, message))
}

/// Reports for which jobs the faster arm cannot be told because their sets were laid out too seldom.
fn few_layouts(found: &Interleaving) -> Option<Warning> {
    let names = found.few_layouts().join(", ");
    let message = format!(
        "laid out too few times: {names}; where a set came to lie in memory may make an arm as much as a fifth faster, and the sets are laid out anew in a quarter of the time at most: give a longer --budget, or smaller sets"
    );
    (!names.is_empty()).then(|| Warning::new(WarningKind::BudgetSpent, message))
}

/// Reports which rows are left out because some of their runs had too few requests.
fn untold(args: &AbArgs, found: &Interleaving) -> Option<Warning> {
    let (names, judged) = (found.untold().join(", "), not_judged(args));
    let message = format!(
        "not told{judged}: {names}, for which some runs had too few requests; give longer --seconds"
    );
    (!names.is_empty()).then(|| Warning::new(WarningKind::NotConfident, message))
}

/// Reports which jobs compare otherwise where no arm rests in the other's turns.
fn changed_by_rests(found: &Interleaving) -> Option<Warning> {
    let ratios = found.changed_by_rests().join(", ");
    let message = format!(
        "without rests another ratio was measured, as happens where an arm earns burst credit in the other's turns: {ratios}; `ioscape twin DIRECTORY --sustain` tells what each arm keeps up"
    );
    (!ratios.is_empty()).then(|| Warning::new(WarningKind::NotSteady, message))
}

/// A named job, on both arms.
type Pair = (String, [Workload; 2]);

/// The jobs of both arms, in order, and the warnings about them.
fn pairs(args: &AbArgs) -> Result<(Vec<Pair>, Vec<Warning>), Failure> {
    if !args.compares_jobs() {
        let (jobs, doubts) = match &args.jobs {
            Some(path) => jobs_of(path)?,
            None => (vec![Job::named("run", args.workload.on(Workload::default()))], Vec::new()),
        };
        check(&jobs)?;
        let twice = |job: Job| (job.name, [job.workload.clone(), job.workload]);
        return Ok((jobs.into_iter().map(twice).collect(), doubts));
    }
    let are_files = |path: &Path| !path.is_dir();
    if !are_files(&args.first) || !are_files(&args.second) {
        return Err(Failure::Misuse(format!(
            "{} and {} are not of one kind: give two directories or two job files",
            args.first.display(),
            args.second.display()
        )));
    }
    let named = |job: Job| (job.name, job.workload);
    let of = |path: &Path| {
        let (jobs, doubts) = jobs_of(path)?;
        check(&jobs)?;
        Ok::<_, Failure>((jobs.into_iter().map(named).collect::<Vec<_>>(), doubts))
    };
    let ((first, doubts), (second, further)) = (of(&args.first)?, of(&args.second)?);
    let names = [&args.first, &args.second].map(|path| path.display().to_string());
    let pairs = paired(names.each_ref().map(String::as_str), first, second);
    Ok((pairs.map_err(Failure::Misuse)?, [doubts, further].concat()))
}

/// Refuses jobs whose data is to be verified, which this command does not do. Reports what else
/// they set that is ignored: options determine how long each run is and from which seed its
/// requests follow.
fn check(jobs: &[Job]) -> Result<(), Failure> {
    if let Some(job) = jobs.iter().find(|job| job.verify == Some(true)) {
        let name = &job.name;
        return Err(Failure::Misuse(format!("job {name:?}: `verify` is not for `ioscape ab`")));
    }
    if jobs.iter().any(|job| job.seconds.is_some() || job.seed.is_some()) {
        output::tell(
            "Note: `seconds` and `seed` of jobs are not followed: all runs last --seconds at most, and their requests follow from --seed",
        );
    }
    Ok(())
}

/// Where the arms are measured: two job files share one place, and so one file.
struct Arms {
    machines: Vec<Machine>,
    /// The machine as each sees it.
    environments: Vec<Environment>,
}

impl Arms {
    /// Opens the arms, and refuses every job that could not be run there before the first is run.
    fn open(args: &AbArgs, pairs: &[Pair], document: &mut Document) -> Result<Self, Failure> {
        let targets = match args.compares_jobs() {
            true => vec![args.place()],
            false => vec![args.place(), args.second.as_path()],
        };
        targets.iter().try_for_each(|target| check_directory(target))?;
        let open = |target: &Path| Machine::open(target, false, args.memory, interrupt::flag());
        let machines: Vec<Machine> = targets.into_iter().map(open).collect::<Result<_, _>>()?;
        let mut arms = Self { machines, environments: Vec::new() };
        for (name, workloads) in pairs {
            for (arm, workload) in workloads.iter().enumerate() {
                let vetted = arms.machine(arm).vet(workload, false);
                vetted.map_err(|e| Failure::from(e).about(&format!("job {name:?}")))?;
            }
        }
        for machine in &mut arms.machines {
            machine.start(document)?;
            arms.environments.push(document.environment.clone());
        }
        document.environment.clone_from(&arms.environments[0]);
        Ok(arms)
    }

    /// The machine on which an arm is measured.
    fn machine(&mut self, arm: usize) -> &mut Machine {
        let last = self.machines.len() - 1;
        &mut self.machines[arm.min(last)]
    }

    /// The comparison so far.
    fn compared(&self, args: &AbArgs, found: &Interleaving) -> SystemComparison {
        let systems = [&args.first, &args.second].map(|path| path.display().to_string());
        let last = self.environments.len() - 1;
        let environments = [0, 1].map(|arm: usize| self.environments[arm.min(last)].clone());
        let measured = vec![found.comparison(systems, environments, args.margin)];
        SystemComparison { measured, ..SystemComparison::default() }
    }

    /// Whether an arm's storage rests while the other arm is measured.
    fn arms_rest(&self) -> bool {
        let places = self.machines.iter().map(|one| one.session.target().file_system());
        places.collect::<Vec<_>>().windows(2).any(|two| rest_in_turn([two[0], two[1]]))
    }

    /// Measures pairs of runs of at most `longest_s` until all verdicts are certain or time is up.
    /// `document` receives the warnings about them, and is saved with the pairs so far on the way.
    fn measure(
        &mut self,
        args: &AbArgs,
        longest_s: f64,
        found: &mut Interleaving,
        document: &mut Document,
        outputs: &mut Outputs,
    ) -> Result<(), Failure> {
        let (begun, mut saved) = (Instant::now(), Instant::now());
        let effort = RunLength::new(longest_s / 2.0, longest_s);
        let kept_s = found.unrested_s(longest_s).min(args.budget * OF_UNRESTED);
        let kept_s = if self.arms_rest() { kept_s } else { 0.0 };
        let left_s = || args.budget - kept_s - begun.elapsed().as_secs_f64();
        let is_shared = self.machines.len() == 1;
        let (mut pairs_before, mut arms) = (0, [0, 1]);
        while let Some((index, order)) = found.turn(left_s()) {
            let (pair, mut runs) = (Instant::now(), <[Measurement; 2]>::default());
            if !is_shared && found.lays_out(index) {
                self.lay_out(args, found, index)?;
            }
            for (turn, arm) in (0..).zip(order) {
                let seed = seed_of_round(args.seed, runs_before(pairs_before, turn, is_shared));
                runs[arm] = self.run(args, found.duel(index), arm, effort, seed, document)?;
            }
            found.record(index, &runs, pair.elapsed().as_secs_f64(), left_s());
            output::tell(&found.standing(index));
            (pairs_before, arms) = (pairs_before + 1, [order[1], order[0]]);
            if saved.elapsed() >= SAVED_EVERY {
                let outcome = Some(self.compared(args, found).into());
                let so_far = Document { interrupted: true, outcome, ..document.clone() };
                outputs::save(outputs, &so_far);
                saved = Instant::now();
            }
        }
        found.time_is_up();
        if kept_s == 0.0 {
            return Ok(());
        }
        let took_s = begun.elapsed().as_secs_f64();
        let within_s = took_s.min(args.budget - took_s);
        found.measure_unrested(arms, within_s, longest_s, |duel, arm, seconds, number| {
            let (effort, before) = (RunLength::new(seconds, seconds), pairs_before + number);
            self.run(args, duel, arm, effort, seed_of_round(args.seed, before), document)
        })
    }

    /// Lays out the sets of a workload on both arms, anew if they were before.
    fn lay_out(
        &mut self,
        args: &AbArgs,
        found: &mut Interleaving,
        index: usize,
    ) -> Result<(), Failure> {
        let begun = Instant::now();
        for (arm, place) in [&args.first, &args.second].into_iter().enumerate() {
            let bytes = found.duel(index).workloads[arm].unique_bytes;
            let laid_out = self.machine(arm).layout_anew(bytes);
            laid_out.map_err(|e| Failure::from(e).about(&place.display().to_string()))?;
        }
        found.laid_out(index, begun.elapsed().as_secs_f64());
        Ok(())
    }

    /// Measures one run on an arm. `document` receives the warnings about it.
    fn run(
        &mut self,
        args: &AbArgs,
        duel: &Duel,
        arm: usize,
        effort: RunLength,
        seed: u64,
        document: &mut Document,
    ) -> Result<Measurement, Failure> {
        let place = [&args.first, &args.second][arm].display();
        let place = format!("{place}, {}", duel.name);
        let one = self.machine(arm).measure(&duel.workloads[arm], effort, seed, None);
        let one = one.map_err(|error| Failure::from(error).about(&place))?;
        tell_doubts(&one, &place, document);
        Ok(one)
    }
}

/// Refuses a file or device, since no option here allows its data to be overwritten; a missing
/// target is refused when it is opened.
fn check_directory(target: &Path) -> Result<(), MeasureError> {
    match target.exists() && !target.is_dir() {
        false => Ok(()),
        true => Err(MeasureError::target(
            target,
            "is no directory: `ab` compares two, or two job files that are run in one; name a directory on each device",
        )),
    }
}

/// The number of runs with other requests before a run, which is the `turn`th of a pair that
/// follows `pairs` others. If both arms share a file, all earlier runs count, since the pages that
/// they read are in the file cache by then. Otherwise one run of each pair counts, so that both
/// arms have the same requests.
fn runs_before(pairs: u64, turn: u64, is_shared: bool) -> u64 {
    if is_shared { 2 * pairs + turn } else { pairs }
}

/// Keeps the warnings about a run, each once per `place`, however many runs there have it. That a
/// single run is inconclusive is not kept: the pairs decide.
fn tell_doubts(run: &Measurement, place: &str, document: &mut Document) {
    let doubts = run.warnings.iter().filter(|one| one.kind != WarningKind::NotConfident);
    doubts.for_each(|doubt| document.warn_once(doubt.clone().at(place)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Guards against a defect: the same requests were read again from the file cache, where the
    /// run before had left their pages.
    #[test]
    fn no_two_runs_on_one_file_have_the_same_requests() {
        let runs = || (0..50).flat_map(|pairs| [(pairs, 0), (pairs, 1)]);
        let seed = |(pairs, turn), is_shared| seed_of_round(7, runs_before(pairs, turn, is_shared));
        let on_one: BTreeSet<u64> = runs().map(|run| seed(run, true)).collect();
        assert_eq!(on_one.len(), 100);
        // Each arm has every one of them once.
        let on_two: BTreeSet<u64> = runs().map(|run| seed(run, false)).collect();
        assert_eq!(on_two.len(), 50);
        assert_eq!(seed((9, 0), false), seed((9, 1), false));
    }
}
