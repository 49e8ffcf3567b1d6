//! The rounds of a run: every case in fresh processes, in another order each time, and again those that were disturbed.

use super::background::Observer;
use super::case::{self, Case, Scene};
use super::home::Home;
use super::options::{OsOptions, RunProgress};
use super::process::{self, Ended};
use super::result::{self, Gathered, Reference};
use super::{mab, machine};
use ioscape_machine::error::Error;
use ioscape_schema::{MabProof, OsResults, OsRule, OsSystem, Warning, WarningKind};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Rounds in which cases are repeated that have fewer than this many processes which nothing disturbed. First those that have none; six are
/// needed for an interval of their own.
pub(crate) const MORE_ROUNDS: [usize; 8] = [1, 1, 1, 2, 3, 6, 6, 6];

/// Told before each process how far the run is.
pub(crate) type Progress<'p> = dyn FnMut(RunProgress<'_>, &Bench<'_>) + 'p;

/// A run under way.
pub(crate) struct Bench<'a> {
    options: &'a OsOptions,
    cases: Vec<Case>,
    scene: Scene,
    observer: Observer,
    homes: Vec<Home>,
    gathered: Vec<Gathered>,
    proof: Option<MabProof>,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(
        options: &'a OsOptions,
        cases: Vec<Case>,
        scene: Scene,
        homes: Vec<Home>,
    ) -> Self {
        let gathered = cases.iter().map(|_| Gathered::default()).collect();
        let observer = Observer::new(&scene);
        Self { options, cases, scene, observer, homes, gathered, proof: None }
    }

    /// What every case came to so far.
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
        Reference::of(self.cases.iter().zip(&self.gathered))
    }

    /// What of the machine affects the results.
    pub(crate) fn system(&self, caches: &[u64]) -> OsSystem {
        let mut system = machine::system(self.scene.cpu, caches);
        system.second_cpu = self.scene.other_cpu().and_then(|cpu| u32::try_from(cpu).ok());
        if let Reference { fastest_ns, ever_alone: true } = self.reference() {
            let text = format!("{fastest_ns} ns");
            system.settings.insert("fixed computation at full speed".to_owned(), text);
        }
        if let Some(quota) = &self.observer.quota {
            let text = format!("{:.2} processors", quota.processors);
            system.settings.insert("quota of processor time".to_owned(), text);
        }
        system
    }

    /// The warning about a quota that stops even a single busy thread, or any other that did.
    pub(crate) fn quota_warning(&self) -> Option<Warning> {
        let quota = self.observer.quota.as_ref()?;
        let all = self.gathered.iter().flat_map(Gathered::backgrounds);
        let (stopped, elapsed) =
            all.fold((0.0, 0.0), |(s, e), one| (s + one.throttled_s, e + one.elapsed_s));
        (stopped > 0.0).then(|| {
            let text = format!(
                "a control group gives this program {:.2} processors' worth of time and kept it waiting for {:.0} % of the run: cases that cannot be measured between its stops have no value",
                quota.processors,
                (stopped / elapsed.max(1e-9)).min(1.0) * 100.0
            );
            Warning::new(WarningKind::Contaminated, text)
        })
    }

    /// Runs every case once per round, each round in another order; then again those whose processor was slowed, in
    /// [`MORE_ROUNDS`], while there is time.
    pub(crate) fn all_rounds(&mut self, progress: &mut Progress<'_>) -> Result<(), Error> {
        let whole = |case: &Case| case.rule == OsRule::Single;
        let firsts: Vec<usize> = (0..self.cases.len())
            .filter(|&i| i == 0 || !one_run(&self.cases[i - 1], &self.cases[i]))
            .collect();
        let (begun, rounds) = (Instant::now(), self.options.processes);
        let mut done = 0;
        let passed = || begun.elapsed().as_secs_f64();
        for round in 0..rounds {
            let wanted = self.wanted(&firsts, self.options.repeat_until_s - passed());
            for at in order(firsts.len(), round).into_iter().filter(|&at| round < wanted[at]) {
                if passed() > 2.0 * self.options.repeat_until_s {
                    return Ok(());
                }
                self.turn(firsts[at], (done, firsts.len() * rounds as usize), progress)?;
                done += 1;
            }
        }
        for (round, wanted) in (rounds..).zip(MORE_ROUNDS) {
            let now = order(firsts.len(), round).into_iter().map(|at| firsts[at]);
            let fastest_ns = self.reference().fastest_ns;
            let now: Vec<usize> = now
                .filter(|&i| !whole(&self.cases[i]) && self.lacks(i, wanted, fastest_ns))
                .collect();
            let of = done + now.len();
            for index in now {
                if passed() > self.options.repeat_until_s {
                    return Ok(());
                }
                self.turn(index, (done, of), progress)?;
                done += 1;
            }
        }
        Ok(())
    }

    /// In how many rounds each of the cases takes part, by what its processes took so far and the seconds that are left.
    fn wanted(&self, firsts: &[usize], left_s: f64) -> Vec<u32> {
        let of = |&index: &usize| {
            let found = &self.gathered[index];
            let count = u32::try_from(found.count()).unwrap_or(u32::MAX);
            (found.elapsed_s() / f64::from(count.max(1)), count)
        };
        fitting(&firsts.iter().map(of).collect::<Vec<_>>(), self.options.processes, left_s)
    }

    /// Whether fewer processes than wanted ran undisturbed and at full speed.
    fn lacks(&self, index: usize, wanted: usize, fastest_ns: u64) -> bool {
        self.gathered[index].counted(&self.cases[index], fastest_ns) < wanted
    }

    /// One process of a case, or one run of the Modified Andrew Benchmark.
    fn turn(
        &mut self,
        index: usize,
        (done, of): (usize, usize),
        progress: &mut Progress<'_>,
    ) -> Result<(), Error> {
        if self.options.interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let case = &self.cases[index];
        progress(RunProgress { done, of, name: case.name, case: &case.case }, self);
        if self.gathered[index].refused() {
            return Ok(());
        }
        if case.rule == OsRule::Single { self.andrew(index) } else { self.one_process(index) }
    }

    /// A fresh directory for a case; none for a case without files.
    fn directory(&mut self, index: usize) -> Result<PathBuf, Error> {
        match self.cases[index].place {
            Some((home, _)) => self.homes[home].workspace.fresh(),
            None => Ok(PathBuf::new()),
        }
    }

    /// Runs one case in a fresh process and a fresh directory.
    fn one_process(&mut self, index: usize) -> Result<(), Error> {
        let mut scene = self.scene.clone();
        scene.directory = self.directory(index)?;
        let (case, found) = (&self.cases[index], &mut self.gathered[index]);
        let ns = (self.options.process_ns as f64 * case.effort) as u64;
        let run = || process::run(case, &scene, ns, &self.options.interrupt);
        let (ended, background) = self.observer.beside(case, run);
        if case.place.is_some() {
            // The workspace is removed as a whole at the end; a directory that stays until then does no harm.
            let _ = std::fs::remove_dir_all(&scene.directory);
        }
        match ended? {
            Ended::Measured(batches) => found.add(batches, background),
            Ended::Refused(why) => found.refuse(why),
        }
        Ok(())
    }

    /// Runs the Modified Andrew Benchmark once, whose cases begin at `first`.
    fn andrew(&mut self, first: usize) -> Result<(), Error> {
        let directory = self.directory(first)?;
        let compiler = self.options.compiler.as_deref();
        let case = &self.cases[first];
        let run = || match &self.scene.program {
            Some(program) => {
                let cold = mab::is_cold(case);
                let setting = mab::Setting { program, directory: &directory, compiler, cold };
                mab::run(&setting, &self.options.interrupt)
            }
            None => Err(case::not_here("there is no program to do the steps")),
        };
        let (run, background) = self.observer.beside(case, run);
        // As above.
        let _ = std::fs::remove_dir_all(&directory);
        let interrupted = self.options.interrupt.load(Ordering::Relaxed);
        let last = (first..self.cases.len())
            .take_while(|&i| one_run(&self.cases[first], &self.cases[i]))
            .last()
            .unwrap_or(first);
        match run {
            Ok(run) => {
                let values = run.values(mab::is_cold(&self.cases[first]));
                self.gathered[first..=last]
                    .iter_mut()
                    .zip(values)
                    .for_each(|(g, v)| g.add_value(v, background.clone()));
                // One run that did not do all of its work spoils the proof for good.
                if self.proof.as_ref().is_none_or(|proof| proof.whole) {
                    self.proof = Some(run.proof);
                }
            }
            Err(_) if interrupted => return Err(Error::Interrupted),
            Err(error) => {
                self.gathered[first..=last].iter_mut().for_each(|g| g.refuse(error.to_string()));
            }
        }
        Ok(())
    }
}

/// Whether two cases are numbers of one run of the Modified Andrew Benchmark: at one place, and both warm or both cold.
fn one_run(one: &Case, other: &Case) -> bool {
    let whole = |case: &Case| case.rule == OsRule::Single;
    whole(one)
        && whole(other)
        && one.place == other.place
        && mab::is_cold(one) == mab::is_cold(other)
}

/// In how many of `rounds` each case takes part, given the seconds that a process takes and the processes that are done, so that what is
/// missing takes `left_s`: those that take longest in half of them, where need be. Without half of them there is no number.
fn fitting(cases: &[(f64, u32)], rounds: u32, left_s: f64) -> Vec<u32> {
    let mut wanted = vec![rounds; cases.len()];
    let missing =
        |at: usize, wanted: u32| cases[at].0 * f64::from(wanted.saturating_sub(cases[at].1));
    let mut excess = (0..cases.len()).map(|at| missing(at, rounds)).sum::<f64>() - left_s;
    let mut longest: Vec<usize> = (0..cases.len()).collect();
    longest.sort_by(|&one, &other| cases[other].0.total_cmp(&cases[one].0));
    for at in longest {
        if excess <= 0.0 {
            break;
        }
        wanted[at] = rounds.div_ceil(2);
        excess -= missing(at, rounds) - missing(at, wanted[at]);
    }
    wanted
}

/// A permutation of `0..count` that is another one every round and the same in every run.
pub(crate) fn order(count: usize, round: u32) -> Vec<usize> {
    let mut state = u64::from(round).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut all: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        all.swap(last, (state >> 33) as usize % (last + 1));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_cases_give_way_where_time_is_short() {
        let cases = [(1.0, 1), (5.0, 1), (2.0, 1)];
        assert_eq!(fitting(&cases, 6, 40.0), [6, 6, 6], "they take 40 s");
        assert_eq!(fitting(&cases, 6, 39.0), [6, 3, 6]);
        assert_eq!(fitting(&cases, 6, 20.0), [6, 3, 3]);
        assert_eq!(fitting(&cases, 6, 0.0), [3, 3, 3], "not below half");
        assert_eq!(fitting(&[(0.0, 0); 2], 12, 1.0), [12; 2], "nothing is known before the first");
        assert_eq!(fitting(&[(9.0, 7)], 12, 1.0), [6], "more than half are done");
    }
}
