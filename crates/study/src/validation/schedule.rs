//! What a validation measures, and in which order.

use ioscape_schema::Workload;
use ioscape_schema::units::{Bytes, Seconds};

/// Number of workloads that are measured from the smallest set to the largest before smaller sets
/// come again. Time may run out between such batches: what was measured until then still covers the
/// whole space evenly. A repeated batch may lack its largest sets; then it does not count.
const BATCH: usize = 20;

/// The purpose of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The single number of a single-point benchmark.
    Single,
    /// A random workload, by its number.
    First(usize),
    /// The same random workload once more.
    Again(usize),
    /// A point of the orthogonal sample, by its number.
    Orthogonal(usize),
}

impl Purpose {
    /// Returns the purpose in words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Single => "single-point benchmark",
            Self::First(_) => "random workloads",
            Self::Again(_) => "random workloads, again",
            Self::Orthogonal(_) => "orthogonal sample",
        }
    }
}

/// One measurement to take.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidationStep {
    /// Its purpose.
    pub purpose: Purpose,
    /// The workload to run.
    pub workload: Workload,
}

/// The workloads that a validation measures.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidationSample {
    /// The workload of the single-point benchmark.
    pub single: Workload,
    /// Random workloads over the whole space.
    pub random: Vec<Workload>,
    /// The orthogonal sample of the rival model; empty unless requested.
    pub orthogonal: Vec<Workload>,
}

/// All measurements in order. Within a batch, sets only grow. Each batch is measured again after
/// the next batch and after the one that follows it, so that changes of the machine show up as
/// repeatability error. The rival's sample comes last.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The measurements.
    pub steps: Vec<ValidationStep>,
    /// The number of random workloads.
    pub workloads: usize,
    /// The number of points of the orthogonal sample.
    pub orthogonal: usize,
}

impl Schedule {
    /// Returns a schedule with the random workloads of `sample` in `rounds` rounds, then its
    /// orthogonal ones.
    pub fn new(sample: &ValidationSample, rounds: usize) -> Self {
        let single = ValidationStep { purpose: Purpose::Single, workload: sample.single.clone() };
        let mut steps = vec![single];
        let firsts = batches(&sample.random, Purpose::First);
        let agains = batches(&sample.random, Purpose::Again);
        for turn in 0..firsts.len() + rounds.max(1) - 1 {
            steps.extend(firsts.get(turn).into_iter().flatten().cloned());
            // Due again are the batch before this one, and those before that whose rounds are not
            // all taken yet.
            let due = (turn + 1).saturating_sub(rounds)..turn.min(agains.len());
            steps.extend(agains[due].iter().rev().flatten().cloned());
        }
        let mut rival = numbered(&sample.orthogonal, 0, Purpose::Orthogonal);
        rival.sort_by_key(|step| step.workload.unique_bytes);
        steps.extend(rival);
        Self { steps, workloads: sample.random.len(), orthogonal: sample.orthogonal.len() }
    }

    /// The largest set in the schedule, in bytes.
    pub fn largest_set(&self) -> u64 {
        self.steps.iter().map(|step| step.workload.unique_bytes).max().unwrap_or(0)
    }

    /// Refuses a target at `path` that has room only for sets of `capacity_bytes`.
    ///
    /// # Errors
    /// The sentence for the user, if the largest set does not fit.
    pub fn check_room(&self, path: &str, capacity_bytes: u64) -> Result<(), String> {
        let (needed, capacity) = (Bytes(self.largest_set() as f64), Bytes(capacity_bytes as f64));
        match self.largest_set() <= capacity_bytes {
            true => Ok(()),
            false => Err(format!(
                "{path} has room for a set of {capacity} (half of the free space, a third where the file system copies on write, or less by ulimit -f), but the evaluation went up to {needed}: free some space"
            )),
        }
    }

    /// Refuses a validation whose largest set cannot even be laid out within its budget of
    /// `budget_s` seconds at `bytes_per_s`.
    ///
    /// # Errors
    /// The sentence for the user, if laying it out takes longer.
    pub fn check_time(&self, bytes_per_s: f64, budget_s: f64) -> Result<(), String> {
        let bytes = self.largest_set() as f64;
        let seconds = bytes / bytes_per_s;
        match seconds < budget_s {
            true => Ok(()),
            false => Err(format!(
                "no workload was measured: laying out sets of up to {} takes about {} here, longer than measuring may; give a longer --budget",
                Bytes(bytes),
                Seconds(seconds)
            )),
        }
    }

    /// The number of random workloads that are measured once before time may run out.
    pub fn first_round(&self) -> usize {
        self.workloads.min(BATCH)
    }

    /// How often the first `taken` steps repeat the whole batch of the random workload `number`.
    pub fn whole_repetitions(&self, number: usize, taken: usize) -> usize {
        let batch = number / BATCH;
        let is_own = |step: &&ValidationStep| match step.purpose {
            Purpose::Again(one) => one / BATCH == batch,
            _ => false,
        };
        let size = self.workloads.saturating_sub(batch * BATCH).clamp(1, BATCH);
        self.steps.iter().take(taken).filter(is_own).count() / size
    }

    /// Whether the steps before this index are useful without it. They are not within a batch that
    /// is measured for the first time, which would then lack its largest sets.
    pub fn may_stop_before(&self, index: usize) -> bool {
        let purpose = |index: usize| self.steps.get(index).map(|step| step.purpose);
        match (index.checked_sub(1).and_then(purpose), purpose(index)) {
            (Some(Purpose::First(a)), Some(Purpose::First(b))) => a / BATCH != b / BATCH,
            (before, _) => !matches!(before, None | Some(Purpose::Single)),
        }
    }
}

fn numbered(
    workloads: &[Workload],
    from: usize,
    purpose: fn(usize) -> Purpose,
) -> Vec<ValidationStep> {
    let step = |(index, workload): (usize, &Workload)| ValidationStep {
        purpose: purpose(from + index),
        workload: workload.clone(),
    };
    workloads.iter().enumerate().map(step).collect()
}

fn batches(workloads: &[Workload], purpose: fn(usize) -> Purpose) -> Vec<Vec<ValidationStep>> {
    let sorted = |(batch, workloads): (usize, &[Workload])| {
        let mut steps = numbered(workloads, batch * BATCH, purpose);
        steps.sort_by_key(|step| step.workload.unique_bytes);
        steps
    };
    workloads.chunks(BATCH).enumerate().map(sorted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A schedule of 50 random sets from 1 MiB to 1 GiB, unsorted, and 162 orthogonal ones if
    /// requested.
    fn in_rounds(rounds: usize, orthogonal: bool) -> Schedule {
        let of = |bytes: u64| Workload { unique_bytes: bytes, ..Workload::default() };
        let mixed = |i: u64| of((1 << 20) + i * 7919 % 50 * (1 << 24));
        let sample = ValidationSample {
            single: of(1 << 25),
            random: (0..49).map(mixed).chain([of(1 << 30)]).collect(),
            orthogonal: if orthogonal { vec![of(1 << 22); 162] } else { Vec::new() },
        };
        Schedule::new(&sample, rounds)
    }

    fn schedule(orthogonal: bool) -> Schedule {
        in_rounds(2, orthogonal)
    }

    #[test]
    fn every_workload_comes_twice_and_every_one_can_be_run() {
        let schedule = schedule(true);
        assert_eq!(schedule.steps.len(), 1 + 50 + 162 + 50);
        for number in 0..50 {
            let mut at = [Purpose::First(number), Purpose::Again(number)].map(|purpose| {
                schedule.steps.iter().position(|step| step.purpose == purpose).unwrap()
            });
            at.sort_unstable();
            assert_eq!(schedule.steps[at[0]].workload, schedule.steps[at[1]].workload);
        }
        assert!(schedule.steps.iter().all(|step| step.workload.validate().is_ok()));
        assert_eq!(schedule.largest_set(), 1 << 30);
    }

    #[test]
    fn every_round_has_every_workload_once() {
        for rounds in [1, 2, 3, 5] {
            let schedule = in_rounds(rounds, false);
            for number in [0, 19, 20, 49] {
                let purposes = [Purpose::First(number), Purpose::Again(number)];
                let taken = schedule.steps.iter().filter(|step| purposes.contains(&step.purpose));
                assert_eq!(taken.count(), rounds, "workload {number}");
            }
        }
    }

    #[test]
    fn a_time_too_short_to_lay_out_the_largest_set_is_refused() {
        let schedule = schedule(false);
        assert_eq!(schedule.check_time(1e9, 2.0), Ok(()));
        let refused = schedule.check_time(1e8, 2.0).unwrap_err();
        assert!(refused.contains("up to 1 GiB takes about 11 s"), "{refused}");
        assert!(refused.contains("no workload was measured"), "{refused}");
        // The budget covers measuring, not laying out.
        assert!(refused.contains("longer than measuring may"), "{refused}");
    }

    #[test]
    fn sets_grow_within_a_batch_and_time_may_run_out_between_batches() {
        let schedule = schedule(false);
        let may: Vec<usize> =
            (0..schedule.steps.len()).filter(|&at| schedule.may_stop_before(at)).collect();
        let again: Vec<usize> = (41..=61).chain(71..=100).collect();
        assert_eq!(may, [&[21][..], &again].concat());
        for pair in [&schedule.steps[1..21], &schedule.steps[21..41], &schedule.steps[41..61]] {
            let grows =
                |w: &[ValidationStep]| w[0].workload.unique_bytes <= w[1].workload.unique_bytes;
            assert!(pair.windows(2).all(grows));
        }
    }
}
