//! The rounds of a run: every case in fresh processes, in a new order each round, and repetitions
//! of disturbed cases.

use super::background::Observer;
use super::beside::Disturbed;
use super::case::{self, Case, Scene};
use super::division::{COUNTED_LEAST, Claim, Division, PART_FIRST, cost, divide, order};
use super::home::Home;
use super::options::{OsOptions, RunProgress};
use super::process::{self, Ended};
use super::result::{self, Gathered, Reference};
use super::stop::Stop;
use super::{mab, machine};
use ioscape_machine::error::Error;
use ioscape_schema::{MabProof, OsResults, OsRule, OsSystem, Warning, WarningKind};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Extra rounds: each repeats the cases with fewer undisturbed processes than its number here.
/// Cases with none come first; six are needed for an interval of their own.
pub(crate) const MORE_ROUNDS: [usize; 8] = [1, 1, 1, 2, 3, 6, 6, 6];

/// Assumed seconds of one run of the Modified Andrew Benchmark before the first one, and assumed
/// ratio of another process's total time to the time that it measures.
const WHOLE_RUN_S: f64 = 0.6;
const BESIDE_MEASURING: f64 = 1.5;

/// Processes that took less than this many seconds in total say little about how long others take.
const FEW_S: f64 = 1.0;

/// Called before each process with the progress of the run.
pub(crate) type Progress<'p> = dyn FnMut(RunProgress<'_>, &Bench<'_>) + 'p;

/// A run in progress.
pub(crate) struct Bench<'a> {
    options: &'a OsOptions,
    cases: Vec<Case>,
    scene: Scene,
    observer: Observer,
    homes: Vec<Home>,
    gathered: Vec<Gathered>,
    /// For each case, the time that its processes took.
    spent: Vec<Spent>,
    proof: Option<MabProof>,
    begun: Instant,
    /// Whether time ran out before every case had its processes.
    time_is_up: bool,
    /// The smallest part of its usual time that a process measured.
    least_part: f64,
}

/// The time that the processes of a case took.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    elapsed_s: f64,
    /// The number of full-length processes that this time would have allowed, by [`cost`].
    whole: f64,
    processes: u32,
}

impl<'a> Bench<'a> {
    /// Creates a run that began at `begun`.
    pub(crate) fn new(
        options: &'a OsOptions,
        cases: Vec<Case>,
        scene: Scene,
        homes: Vec<Home>,
        begun: Instant,
    ) -> Self {
        let gathered = cases.iter().map(|_| Gathered::default()).collect();
        let spent = vec![Spent::default(); cases.len()];
        let observer = Observer::new(&scene, homes.iter().map(|home| home.below.clone()).collect());
        let (proof, time_is_up, least_part) = (None, false, 1.0);
        Self {
            options,
            cases,
            scene,
            observer,
            homes,
            gathered,
            spent,
            proof,
            begun,
            time_is_up,
            least_part,
        }
    }

    /// Returns the results of all cases so far.
    pub(crate) fn results(&self) -> OsResults {
        let reference = self.reference();
        let all = self.cases.iter().zip(&self.gathered);
        OsResults {
            benchmarks: all
                .map(|(case, found)| result::benchmark(case, found, reference))
                .collect(),
            mab: self.proof.clone(),
            ..OsResults::default()
        }
    }

    fn reference(&self) -> Reference {
        let found = Reference::of(self.cases.iter().zip(&self.gathered));
        Reference { no_time_s: self.time_is_up.then_some(self.options.budget_s), ..found }
    }

    /// Returns how many processes of the run other programs were seen to disturb.
    pub(crate) fn disturbed(&self) -> Disturbed {
        let fastest_ns = self.reference().fastest_ns;
        let all = self.cases.iter().zip(&self.gathered);
        let one_processor = self.scene.cpus.len() == 1 && self.scene.online > 1;
        let found = Disturbed::of(all.flat_map(|(case, found)| found.flaws(case, fastest_ns)));
        Disturbed { one_processor, ..found }
    }

    fn passed_s(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// Returns what can end a process early.
    fn stop(&self) -> Stop<'a> {
        let until = Duration::try_from_secs_f64(self.options.budget_s).ok();
        let until = until.and_then(|time| self.begun.checked_add(time));
        Stop { interrupt: &self.options.interrupt, until }
    }

    /// Returns the properties of the machine that affect the results.
    pub(crate) fn system(&self, caches: &[u64]) -> OsSystem {
        let mut system = machine::system(self.scene.cpu, caches);
        system.second_cpu = self.scene.other_cpu().and_then(|cpu| u32::try_from(cpu).ok());
        if let Reference { fastest_ns, ever_alone: true, .. } = self.reference() {
            let text = format!("{fastest_ns} ns");
            system.settings.insert("fixed computation at full speed".to_owned(), text);
        }
        if self.scene.program.is_some() {
            let text = "a fresh image of this program".to_owned();
            system.settings.insert("processes are made from".to_owned(), text);
        }
        if let Some(quota) = &self.observer.quota {
            let text = format!("{:.2} processors", quota.processors);
            system.settings.insert("quota of processor time".to_owned(), text);
        }
        system
    }

    /// Returns the warning about a quota that limits even a single busy thread, or that throttled
    /// any process.
    pub(crate) fn quota_warning(&self) -> Option<Warning> {
        let quota = self.observer.quota.as_ref()?;
        let all = self.gathered.iter().flat_map(Gathered::backgrounds);
        let (stopped, elapsed) =
            all.fold((0.0, 0.0), |(s, e), one| (s + one.throttled_s, e + one.elapsed_s));
        (stopped > 0.0).then(|| {
            let text = format!(
                "a control group gives this program {:.2} processors' worth of time and kept it waiting for {:.0} % of the run: what it stopped has no value",
                quota.processors,
                (stopped / elapsed.max(1e-9)).min(1.0) * 100.0
            );
            Warning::new(WarningKind::Contaminated, text)
        })
    }

    /// Returns the number of cases without a value because time ran out.
    pub(crate) fn without_time(&self) -> usize {
        let reference = self.reference();
        let all = self.gathered.iter().zip(&self.cases).filter(|_| self.time_is_up);
        all.filter(|(found, case)| found.lacks_time(case, reference)).count()
    }

    /// Returns the warning that the time was too short for a run of this kind.
    pub(crate) fn time_warning(&self) -> Option<Warning> {
        let without = self.without_time();
        let shortened = self.least_part < PART_FIRST;
        (without > 0 || shortened).then(|| {
            let parts = format!(
                "processes measured for as little as {:.0} % of their usual time",
                self.least_part * 100.0
            );
            let cases = format!("{without} cases have no value for want of time");
            let what = [shortened.then_some(parts), (without > 0).then_some(cases)];
            let what = what.into_iter().flatten().collect::<Vec<_>>().join(", and ");
            let text = format!(
                "the run was to take {:.0} s, which is short for this machine as it is: {what}; a longer --budget gives them more",
                self.options.budget_s
            );
            Warning::new(WarningKind::BudgetSpent, text)
        })
    }

    /// Runs every case once per round, each round in a new order. Then repeats disturbed cases, by
    /// [`MORE_ROUNDS`]. All of that only while there is time.
    pub(crate) fn all_rounds(&mut self, progress: &mut Progress<'_>) -> Result<(), Error> {
        let firsts: Vec<usize> = (0..self.cases.len())
            .filter(|&i| i == 0 || !one_run(&self.cases[i - 1], &self.cases[i]))
            .collect();
        let mut done = 0;
        for round in 0..self.options.processes {
            for at in order(firsts.len(), round) {
                let Division { processes, part } = self.division(&firsts);
                if self.ends_by_time() {
                    return Ok(());
                }
                if self.spent[firsts[at]].processes < processes[at] {
                    let of = done + self.missing(&firsts, &processes);
                    self.turn(firsts[at], part, (done, of), progress)?;
                    done += 1;
                }
            }
        }
        // Cases that the plan left out may have had time after all; what they still lack is for
        // want of time.
        self.time_is_up = firsts.iter().any(|&i| {
            self.spent[i].processes < COUNTED_LEAST.min(self.options.processes)
                && !self.gathered[i].refused()
        });
        self.more_rounds(&firsts, done, progress)
    }

    /// Repeats the cases that were disturbed.
    fn more_rounds(
        &mut self,
        firsts: &[usize],
        mut done: usize,
        progress: &mut Progress<'_>,
    ) -> Result<(), Error> {
        let whole = |case: &Case| case.rule == OsRule::Single;
        for (round, wanted) in (self.options.processes..).zip(MORE_ROUNDS) {
            let now = order(firsts.len(), round).into_iter().map(|at| firsts[at]);
            let fastest_ns = self.reference().fastest_ns;
            let now: Vec<usize> = now
                .filter(|&i| !whole(&self.cases[i]) && self.lacks(i, wanted, fastest_ns))
                .collect();
            let of = done + now.len();
            for index in now {
                if self.passed_s() > self.options.budget_s {
                    return Ok(());
                }
                self.turn(index, 1.0, (done, of), progress)?;
                done += 1;
            }
        }
        Ok(())
    }

    /// Whether time is up; if so, notes it.
    fn ends_by_time(&mut self) -> bool {
        self.time_is_up |= self.passed_s() > self.options.budget_s;
        self.time_is_up
    }

    /// Returns how the remaining time is divided among the cases, by how long their processes took
    /// so far.
    fn division(&self, firsts: &[usize]) -> Division {
        let usual = |&index: &usize| match self.cases[index].rule {
            OsRule::Single => WHOLE_RUN_S,
            _ => self.options.process_ns as f64 / 1e9 * self.cases[index].effort * BESIDE_MEASURING,
        };
        let begun = || firsts.iter().filter(|&&index| self.spent[index].processes > 0);
        let taken: f64 = begun().map(|&index| self.spent[index].elapsed_s).sum();
        let expected: f64 = begun().map(|index| usual(index) * self.spent[*index].whole).sum();
        // A few processes say little about the others.
        let slower = (taken + FEW_S) / (expected + FEW_S);
        let claim = |index: &usize| {
            let Spent { elapsed_s, whole, processes } = self.spent[*index];
            let process_s = match whole {
                _ if self.gathered[*index].refused() => 0.0,
                0.0 => usual(index) * slower,
                whole => elapsed_s / whole,
            };
            Claim { process_s, done: processes }
        };
        let claims: Vec<Claim> = firsts.iter().map(claim).collect();
        divide(&claims, self.options.processes, self.options.budget_s - self.passed_s())
    }

    /// Returns the number of processes still to come.
    fn missing(&self, firsts: &[usize], wanted: &[u32]) -> usize {
        let done = firsts.iter().map(|&index| self.spent[index].processes);
        done.zip(wanted).map(|(done, wanted)| wanted.saturating_sub(done) as usize).sum()
    }

    /// Whether fewer than `wanted` processes ran undisturbed and at full speed.
    fn lacks(&self, index: usize, wanted: usize, fastest_ns: u64) -> bool {
        self.gathered[index].counted(&self.cases[index], fastest_ns) < wanted
    }

    /// Runs one process of a case, which measures for `part` of its usual time, or the Modified
    /// Andrew Benchmark once.
    fn turn(
        &mut self,
        index: usize,
        part: f64,
        (done, of): (usize, usize),
        progress: &mut Progress<'_>,
    ) -> Result<(), Error> {
        if self.options.interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let case = &self.cases[index];
        progress(RunProgress { done, of, name: case.name, case: &case.case }, self);
        let begun = Instant::now();
        let is_whole = case.rule == OsRule::Single;
        if !self.gathered[index].refused() {
            if is_whole { self.andrew(index) } else { self.one_process(index, part) }?;
        }
        self.least_part = if is_whole { self.least_part } else { self.least_part.min(part) };
        let spent = &mut self.spent[index];
        spent.processes += 1;
        spent.elapsed_s += begun.elapsed().as_secs_f64();
        spent.whole += if is_whole { 1.0 } else { cost(part) };
        Ok(())
    }

    /// Returns a fresh directory for a case; an empty path for a case without files.
    fn directory(&mut self, index: usize) -> Result<PathBuf, Error> {
        match self.cases[index].place {
            Some((home, _)) => self.homes[home].workspace.fresh(),
            None => Ok(PathBuf::new()),
        }
    }

    /// Runs one case in a fresh process and a fresh directory.
    fn one_process(&mut self, index: usize, part: f64) -> Result<(), Error> {
        let (mut scene, stop) = (self.scene.clone(), self.stop());
        scene.directory = self.directory(index)?;
        let (case, found) = (&self.cases[index], &mut self.gathered[index]);
        let ns = (self.options.process_ns as f64 * case.effort * part) as u64;
        let run = || process::run(case, &scene, ns, stop);
        let (ended, background) = self.observer.beside(case, run);
        if case.place.is_some() {
            // The workspace is removed as a whole at the end, so a directory left until then does
            // no harm.
            let _ = std::fs::remove_dir_all(&scene.directory);
        }
        match ended? {
            Ended::Measured(batches) => found.add(batches, background),
            Ended::Disturbed => found.add(Vec::new(), background),
            Ended::Late(why) => found.add_late(why, background),
            Ended::Refused(why) => found.refuse(why),
            Ended::TimeUp => self.time_is_up = true,
        }
        Ok(())
    }

    /// Runs the Modified Andrew Benchmark once; its cases begin at `first`.
    fn andrew(&mut self, first: usize) -> Result<(), Error> {
        let (directory, stop) = (self.directory(first)?, self.stop());
        let compiler = self.options.compiler.as_deref();
        let case = &self.cases[first];
        let run = || match &self.scene.program {
            Some(program) => {
                // Its processes take turns, so two processors are as good as any number.
                self.scene.unrestricted(2)?;
                let cold = mab::is_cold(case);
                let setting = mab::Setting { program, directory: &directory, compiler, cold };
                mab::run(&setting, stop)
            }
            None => Err(case::not_here("there is no program to do the steps")),
        };
        let (run, background) = self.observer.beside(case, run);
        // See `one_process`: a directory left behind does no harm.
        let _ = std::fs::remove_dir_all(&directory);
        let interrupted = self.options.interrupt.load(Ordering::Relaxed);
        let last = (first..self.cases.len())
            .take_while(|&i| one_run(&self.cases[first], &self.cases[i]))
            .last()
            .unwrap_or(first);
        match run {
            Ok(run) => {
                let values = run.values(mab::is_cold(case));
                let judged = self.scene.judges_pace(case);
                for (found, (value, pieces)) in self.gathered[first..=last].iter_mut().zip(values) {
                    let pieces = if judged { pieces } else { Vec::new() };
                    found.add_value(value, &pieces, background.clone());
                }
                // A single run that did not do all of its work spoils the proof for good.
                if self.proof.as_ref().is_none_or(|proof| proof.whole) {
                    self.proof = Some(run.proof);
                }
            }
            Err(_) if interrupted => return Err(Error::Interrupted),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => self.time_is_up = true,
            Err(error) => {
                self.gathered[first..=last].iter_mut().for_each(|g| g.refuse(error.to_string()));
            }
        }
        Ok(())
    }
}

/// Whether one run of the Modified Andrew Benchmark yields both cases: at the same place, and both
/// warm or both cold.
fn one_run(one: &Case, other: &Case) -> bool {
    let whole = |case: &Case| case.rule == OsRule::Single;
    whole(one)
        && whole(other)
        && one.place == other.place
        && mab::is_cold(one) == mab::is_cold(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::background::Background;

    #[test]
    fn what_others_disturbed_in_shortened_processes_does_not_lack_time() {
        let case = || Case::new("x", "y", "", |_| Err(case::not_here("no")));
        let (options, cases) = (OsOptions::quick(), vec![case(), case()]);
        let mut bench = Bench::new(&options, cases, Scene::default(), Vec::new(), Instant::now());
        let disturbed = Background { stops: 1, ..Background::default() };
        bench.gathered.iter_mut().for_each(|found| found.add_value(1.0, &[], disturbed.clone()));
        (bench.time_is_up, bench.least_part) = (true, 0.4);
        let told = bench.time_warning().expect("a warning").message;
        assert!(told.contains("40 %") && !told.contains("no value"), "{told}");
        assert_eq!(bench.without_time(), 0);
        bench.gathered[1] = Gathered::default();
        assert_eq!(bench.without_time(), 1, "it never ran");
    }
}
