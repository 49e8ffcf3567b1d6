//! A validation as a state machine: what to measure next and for how long, and what has been
//! measured so far.

use super::schedule::{Purpose, Schedule, ValidationStep};
use ioscape_schema::units::{Bytes, Seconds, counted};
use ioscape_schema::{
    Measurement, Probe, RefusedStep, ValidationLog, ValidationRun, Warning, WarningKind,
};

/// Share of a measurement's time that is spent measuring; layout and warm-up take the rest.
const MEASURED_SHARE: f64 = 0.5;
/// Bounds on the longest time to measure a workload, in seconds.
const CAP_S: [f64; 2] = [0.2, 5.0];
/// Shortest time to measure a workload, as a share of the longest.
const MIN_SHARE: f64 = 0.125;

/// What to measure next.
#[derive(Clone, Debug, PartialEq)]
pub struct NextMeasurement {
    /// The workload, and what it is for.
    pub step: ValidationStep,
    /// Shortest time to measure it, in seconds.
    pub min_s: f64,
    /// Longest time to measure it, in seconds.
    pub cap_s: f64,
}

/// A validation in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidationProgress {
    schedule: Schedule,
    /// One measurement for each step of the schedule that was measured, in order.
    measured: Vec<(usize, Measurement)>,
    /// Steps that are not possible here, and why.
    refused: Vec<(usize, String)>,
}

impl ValidationProgress {
    /// Returns a validation with nothing measured yet.
    pub fn new(schedule: Schedule) -> Self {
        Self { schedule, measured: Vec::new(), refused: Vec::new() }
    }

    /// Restores a validation that `log` says was begun, with its measurements; `None` if they do
    /// not match this schedule.
    pub fn restored(
        schedule: Schedule,
        log: &ValidationLog,
        measured: Vec<Measurement>,
    ) -> Option<Self> {
        let steps = &schedule.steps;
        let fits = |(step, one): (&u32, &Measurement)| {
            steps.get(*step as usize).is_some_and(|step| step.workload == one.workload)
        };
        let refused = log.refused.iter().map(|one| one.step);
        let mut taken: Vec<u32> = log.steps.iter().copied().chain(refused).collect();
        taken.sort_unstable();
        let from_the_first = taken.iter().copied().eq(0..taken.len() as u32);
        let whole = log.steps.len() == measured.len() && taken.len() <= steps.len();
        if !(whole && from_the_first && log.steps.iter().zip(&measured).all(fits)) {
            return None;
        }
        let reason = |one: &RefusedStep| (one.step as usize, one.reason.clone());
        Some(Self {
            measured: log.steps.iter().map(|step| *step as usize).zip(measured).collect(),
            refused: log.refused.iter().map(reason).collect(),
            schedule,
        })
    }

    /// What is measured, and in what order.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// The number of steps that were measured or refused; these are always the first ones.
    pub fn taken(&self) -> usize {
        self.measured.len() + self.refused.len()
    }

    /// Whether all steps were taken.
    pub fn is_whole(&self) -> bool {
        self.taken() == self.schedule.steps.len()
    }

    /// Returns what to measure next with `left_s` seconds of the budget left, of which each step
    /// gets its share. `Ok(None)` when everything is done.
    ///
    /// # Errors
    /// The warning to attach, if the budget is spent at a point where the validation may stop.
    pub fn next(&self, left_s: f64) -> Result<Option<NextMeasurement>, Warning> {
        let index = self.taken();
        let Some(step) = self.schedule.steps.get(index) else { return Ok(None) };
        if left_s <= 0.0 && self.schedule.may_stop_before(index) {
            return Err(self.out_of_time());
        }
        let share_s = left_s / (self.schedule.steps.len() - index) as f64 * MEASURED_SHARE;
        let cap_s = share_s.clamp(CAP_S[0], CAP_S[1]);
        Ok(Some(NextMeasurement { step: step.clone(), min_s: cap_s * MIN_SHARE, cap_s }))
    }

    /// Takes the measurement of the step that [`next`](Self::next) returned.
    pub fn record(&mut self, measurement: Measurement) {
        self.measured.push((self.taken(), measurement));
    }

    /// Marks the step that [`next`](Self::next) returned as not possible here.
    pub fn refuse(&mut self, reason: String) {
        self.refused.push((self.taken(), reason));
    }

    /// Returns `log` with what has been done so far, in `spent_s` seconds.
    fn log(&self, log: &ValidationLog, spent_s: f64) -> ValidationLog {
        let refused = |(step, reason): &(usize, String)| RefusedStep {
            step: *step as u32,
            reason: reason.clone(),
        };
        ValidationLog {
            spent_s,
            steps: self.measured.iter().map(|(step, _)| *step as u32).collect(),
            refused: self.refused.iter().map(refused).collect(),
            ..log.clone()
        }
    }

    /// The result before it is judged: the measurements and, unless everything is done, `log` with
    /// what remains.
    pub fn unjudged(&self, log: &ValidationLog, spent_s: f64) -> ValidationRun {
        let log = (!self.is_whole()).then(|| self.log(log, spent_s));
        ValidationRun { validation: None, measurements: self.measurements(), log }
    }

    /// Describes what is going to be done, in a line or two.
    pub fn describe(&self, log: &ValidationLog) -> String {
        let orthogonal =
            if log.orthogonal { ", and 162 points of an orthogonal sample" } else { "" };
        let mut text = format!(
            "{} in {}{orthogonal}: sets up to {}; at most {} of measuring, more only for a first round of {}.",
            counted(u64::from(log.workloads), "random workload"),
            counted(u64::from(log.rounds), "round"),
            Bytes(self.schedule.largest_set() as f64),
            Seconds(log.budget_s),
            counted(self.schedule.first_round() as u64, "workload")
        );
        if self.taken() > 0 {
            let (taken, all) = (self.taken(), self.schedule.steps.len());
            text += &format!("\n{taken} of {all} measurements were made before.");
        }
        text
    }

    /// All measurements, in the order in which they were taken.
    pub fn measurements(&self) -> Vec<Measurement> {
        self.measured.iter().map(|(_, one)| one.clone()).collect()
    }

    /// All measurements with their purposes.
    pub fn probes(&self) -> Vec<Probe> {
        let probe = |(step, measurement): &(usize, Measurement)| Probe {
            purpose: self.schedule.steps[*step].purpose.word().into(),
            measurement: measurement.clone(),
        };
        self.measured.iter().map(probe).collect()
    }

    fn all_of(&self, purpose: Purpose) -> impl Iterator<Item = &Measurement> {
        let is =
            move |(step, _): &&(usize, Measurement)| self.schedule.steps[*step].purpose == purpose;
        self.measured.iter().filter(is).map(|(_, measurement)| measurement)
    }

    /// The repetitions of a random workload from rounds in which its whole batch was measured, or
    /// those from other rounds.
    fn again(&self, number: usize, is_whole: bool) -> impl Iterator<Item = &Measurement> {
        let steps = self.schedule.steps.iter().enumerate();
        let mut again = steps.filter(move |(_, step)| step.purpose == Purpose::Again(number));
        // Counted in steps, since a repetition that was refused has a round but no measurement.
        let whole = self.schedule.whole_repetitions(number, self.taken());
        let end = again.nth(whole).map_or(self.schedule.steps.len(), |(step, _)| step);
        let of = self.measured.iter().filter(move |(step, _)| {
            let is_again = self.schedule.steps[*step].purpose == Purpose::Again(number);
            is_again && (*step < end) == is_whole
        });
        of.map(|(_, measurement)| measurement)
    }

    /// The measurement of the single-point benchmark.
    pub fn single(&self) -> Option<&Measurement> {
        self.all_of(Purpose::Single).next()
    }

    /// Each random workload that was measured: its first measurement, and its repetitions from
    /// rounds in which its whole batch was measured.
    pub fn rounds(&self) -> Vec<(Measurement, Vec<Measurement>)> {
        let one = |number: usize| {
            let first = self.all_of(Purpose::First(number)).next()?.clone();
            Some((first, self.again(number, true).cloned().collect()))
        };
        (0..self.schedule.workloads).filter_map(one).collect()
    }

    /// The orthogonal sample in its own order, as far as it has been measured.
    pub fn orthogonal(&self) -> Vec<Measurement> {
        let one = |number| self.all_of(Purpose::Orthogonal(number)).next().cloned();
        (0..self.schedule.orthogonal).map_while(one).collect()
    }

    fn out_of_time(&self) -> Warning {
        let left = |is: fn(&Purpose) -> bool| {
            self.schedule.steps[self.taken()..].iter().filter(|step| is(&step.purpose)).count()
        };
        let parts = [
            (left(|purpose| matches!(purpose, Purpose::First(_))), "workload", ""),
            (left(|purpose| matches!(purpose, Purpose::Again(_))), "repetition", ""),
            (left(|purpose| matches!(purpose, Purpose::Orthogonal(_))), "point", ORTHOGONAL),
        ];
        let missing = listed(&parts);
        let message =
            format!("the budget was spent; not measured: {missing}; give a longer --budget");
        Warning::new(WarningKind::BudgetSpent, message)
    }

    /// The warning about repetitions that do not count because their batch is incomplete.
    pub fn begun(&self) -> Option<Warning> {
        let uncounted = |number: usize| {
            self.all_of(Purpose::First(number)).next()?;
            Some(self.again(number, false).count())
        };
        let some: usize = (0..self.schedule.workloads).filter_map(uncounted).sum();
        let message = format!(
            "not counted: {}, of a batch whose largest sets were not measured again: --resume measures them",
            counted(some as u64, "repetition")
        );
        (some > 0).then(|| Warning::new(WarningKind::Interrupted, message))
    }

    /// The warning about steps that were refused.
    pub fn left_out(&self) -> Option<Warning> {
        let (_, why) = self.refused.first()?;
        let count = |is: fn(&Purpose) -> bool| {
            let steps = self.refused.iter().map(|(step, _)| &self.schedule.steps[*step].purpose);
            steps.filter(|purpose| is(purpose)).count()
        };
        let parts = [
            (count(|purpose| matches!(purpose, Purpose::First(_))), "workload", ""),
            (count(|purpose| matches!(purpose, Purpose::Orthogonal(_))), "point", ORTHOGONAL),
        ];
        let message = format!("left out: {}; for example: {why}", listed(&parts));
        Some(Warning::new(WarningKind::Unsupported, message))
    }
}

/// What follows a number of points of the orthogonal sample.
const ORTHOGONAL: &str = " of the orthogonal sample";

/// Lists the parts, each as a number, a noun and what follows it; parts with number 0 are skipped.
fn listed(parts: &[(usize, &str, &str)]) -> String {
    let some = parts.iter().filter(|(number, ..)| *number > 0);
    let one = |(number, noun, more): &(usize, &str, &str)| counted(*number as u64, noun) + more;
    some.map(one).collect::<Vec<String>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::schedule::ValidationSample;
    use super::*;
    use ioscape_schema::{Stop, Workload};

    fn sample() -> ValidationSample {
        let of = |bytes: u64| Workload { unique_bytes: bytes, ..Workload::default() };
        ValidationSample {
            single: of(1 << 20),
            random: (1..=7).map(|i| of(i << 21)).collect(),
            orthogonal: vec![of(1 << 25); 162],
        }
    }

    fn run() -> ValidationProgress {
        ValidationProgress::new(Schedule::new(&sample(), 2))
    }

    fn measured(step: &ValidationStep) -> Measurement {
        Measurement::empty(step.workload.clone(), Stop::Confident)
    }

    #[test]
    fn one_round_is_one_round() {
        let log = |workloads, rounds| ValidationLog { workloads, rounds, ..Default::default() };
        let told = |log| run().describe(&log);
        assert!(told(log(7, 1)).starts_with("7 random workloads in 1 round: "));
        let end = " of measuring, more only for a first round of 7 workloads.";
        assert!(told(log(7, 1)).ends_with(end));
        assert!(told(log(1, 2)).starts_with("1 random workload in 2 rounds: "));
    }

    #[test]
    fn what_was_measured_is_found_by_its_purpose() {
        let mut run = run();
        while let Ok(Some(next)) = run.next(100.0) {
            match run.taken() {
                3 => run.refuse("too large".to_owned()),
                _ => run.record(measured(&next.step)),
            }
        }
        assert!(run.is_whole() && run.single().is_some());
        let rounds = run.rounds();
        assert_eq!((rounds.len(), run.orthogonal().len()), (6, 162));
        assert!(rounds.iter().all(|(first, again)| again.len() == 1 && again[0] == *first));
        assert!(run.left_out().unwrap().message.contains("left out: 1 workload; for"));
        assert_eq!(run.begun(), None, "what was refused once has no repetition");
        assert_eq!(run.probes().len(), run.measurements().len());
    }

    #[test]
    fn the_time_left_is_shared_out_and_may_run_out() {
        let mut run = run();
        let next = run.next(1770.0).unwrap().unwrap();
        assert_eq!((next.min_s, next.cap_s), (0.625, 5.0));
        while run.taken() < 10 {
            let next = run.next(0.0).unwrap_or(None);
            let Some(next) = next else { break };
            assert_eq!(next.cap_s, 0.2);
            run.record(measured(&next.step));
        }
        assert_eq!(run.taken(), 8, "the first round is worth nothing unless it is whole");
        let said = run.next(0.0).unwrap_err().message;
        assert!(
            said.contains("not measured: 7 repetitions, 162 points of the orthogonal"),
            "{said}"
        );
    }

    /// A batch is sorted by set size, so if a batch is incomplete, only its small workloads were
    /// measured again.
    #[test]
    fn repetitions_count_once_their_batch_is_whole() {
        let mut run = run();
        let take = |run: &mut ValidationProgress, until| {
            while run.taken() < until {
                let next = run.next(100.0).unwrap().unwrap();
                run.record(measured(&next.step));
            }
        };
        let repetitions = |run: &ValidationProgress| -> Vec<usize> {
            run.rounds().iter().map(|(_, again)| again.len()).collect()
        };
        take(&mut run, 12);
        assert_eq!(repetitions(&run), [0; 7]);
        let said = run.next(0.0).unwrap_err().message;
        assert!(said.contains("3 repetitions, 162 points"), "{said}");
        let said = run.begun().unwrap().message;
        assert!(said.contains("not counted: 4 repetitions, of a batch"), "{said}");
        take(&mut run, 15);
        assert_eq!((repetitions(&run), run.begun()), (vec![1; 7], None));
        assert!(!run.next(0.0).unwrap_err().message.contains("repetition"));
    }

    #[test]
    fn a_repetition_that_was_refused_in_one_round_leaves_the_next_one_uncounted() {
        let mut run = ValidationProgress::new(Schedule::new(&sample(), 3));
        // The third workload is refused in the second round, the last measured one in the third.
        while run.taken() < 18 {
            let next = run.next(100.0).unwrap().unwrap();
            match run.taken() {
                10 => run.refuse("over a limit".to_owned()),
                _ => run.record(measured(&next.step)),
            }
        }
        let repetitions: Vec<usize> = run.rounds().iter().map(|(_, again)| again.len()).collect();
        assert_eq!(repetitions, [1, 1, 0, 1, 1, 1, 1]);
        let said = run.begun().unwrap().message;
        assert!(said.contains("not counted: 3 repetitions, of a batch"), "{said}");
    }

    #[test]
    fn an_interrupted_run_continues_where_it_was() {
        let mut run = run();
        for _ in 0..9 {
            let next = run.next(100.0).unwrap().unwrap();
            match run.taken() {
                4 => run.refuse("too large".to_owned()),
                _ => run.record(measured(&next.step)),
            }
        }
        let log = run.log(&ValidationLog::default(), 12.0);
        let restore = |log: &ValidationLog, rounds, measured| {
            ValidationProgress::restored(Schedule::new(&sample(), rounds), log, measured)
        };
        assert_eq!(restore(&log, 2, run.measurements()), Some(run.clone()));
        assert_eq!(restore(&log, 2, Vec::new()), None, "a damaged file");
        let mut other = run.measurements();
        other[2].workload.unique_bytes += 1;
        assert_eq!(restore(&log, 2, other), None, "another evaluation");
    }
}
