//! What a validation measures, and in which order.

use ioscape_scaling::Bounds;
use ioscape_scaling::model::{orthogonal_sample, random_workloads};
use ioscape_schema::{Parameter, Workload};

/// Workloads that are measured from the smallest set to the largest before smaller sets come again. Time may run out
/// between such batches: what was measured until then still covers the whole space evenly.
const BATCH: usize = 20;

/// What a measurement is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The one number of a single-point benchmark.
    Single,
    /// A random workload, by its number.
    First(usize),
    /// The same once more.
    Again(usize),
    /// A point of the orthogonal sample, by its number.
    Orthogonal(usize),
}

impl Purpose {
    /// In words, for people.
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
pub struct Step {
    /// What for.
    pub purpose: Purpose,
    /// What to run.
    pub workload: Workload,
}

/// All measurements in order: within a batch sets only grow, and each batch is measured again after the next one and after
/// the one behind it, so that changes of the machine show as repeatability error; the rival's sample comes last.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The measurements.
    pub steps: Vec<Step>,
    /// How many random workloads.
    pub workloads: usize,
    /// How many points of the orthogonal sample.
    pub orthogonal: usize,
}

impl Schedule {
    /// `count` random workloads like `base` within `bounds`, in so many rounds; then the orthogonal sample if wanted.
    pub fn new(
        bounds: &Bounds,
        base: &Workload,
        count: usize,
        rounds: usize,
        orthogonal: bool,
        seed: u64,
    ) -> Self {
        let random = random_workloads(bounds, base, count, seed);
        let sample = if orthogonal { orthogonal_sample(bounds, base) } else { Vec::new() };
        let single = Step { purpose: Purpose::Single, workload: single(bounds, base) };
        let mut steps = vec![single];
        let firsts = batches(&random, Purpose::First);
        let agains = batches(&random, Purpose::Again);
        for turn in 0..firsts.len() + rounds.max(1) - 1 {
            steps.extend(firsts.get(turn).into_iter().flatten().cloned());
            // The batch before this one is due again, and those before it whose rounds are not yet all taken.
            let due = (turn + 1).saturating_sub(rounds)..turn.min(agains.len());
            steps.extend(agains[due].iter().rev().flatten().cloned());
        }
        let mut rival = numbered(&sample, 0, Purpose::Orthogonal);
        rival.sort_by_key(|step| step.workload.unique_bytes);
        steps.extend(rival);
        Self { steps, workloads: count, orthogonal: sample.len() }
    }

    /// The largest set of all, in bytes.
    pub fn largest_set(&self) -> u64 {
        self.steps.iter().map(|step| step.workload.unique_bytes).max().unwrap_or(0)
    }

    /// Whether what comes before the step with this index is worth something without the step: not so within a batch that is
    /// measured for the first time, which would leave out its largest sets.
    pub fn may_stop_before(&self, index: usize) -> bool {
        let purpose = |index: usize| self.steps.get(index).map(|step| step.purpose);
        match (index.checked_sub(1).and_then(purpose), purpose(index)) {
            (Some(Purpose::First(a)), Some(Purpose::First(b))) => a / BATCH != b / BATCH,
            (before, _) => !matches!(before, None | Some(Purpose::Single)),
        }
    }
}

fn numbered(workloads: &[Workload], from: usize, purpose: fn(usize) -> Purpose) -> Vec<Step> {
    let step = |(index, workload): (usize, &Workload)| Step {
        purpose: purpose(from + index),
        workload: workload.clone(),
    };
    workloads.iter().enumerate().map(step).collect()
}

fn batches(workloads: &[Workload], purpose: fn(usize) -> Purpose) -> Vec<Vec<Step>> {
    let sorted = |(batch, workloads): (usize, &[Workload])| {
        let mut steps = numbered(workloads, batch * BATCH, purpose);
        steps.sort_by_key(|step| step.workload.unique_bytes);
        steps
    };
    workloads.chunks(BATCH).enumerate().map(sorted).collect()
}

/// The papers' nominal workload with a set in the middle of the space.
fn single(bounds: &Bounds, base: &Workload) -> Workload {
    let middle = |[low, high]: [u64; 2]| (low.max(1) as f64 * high.max(1) as f64).sqrt();
    let usual = Workload::default();
    let [least, most] = bounds.size_mean;
    let size = usual.size_mean.clamp(least.min(most), most.max(least));
    base.clone()
        .with(Parameter::UniqueBytes, middle(bounds.unique_bytes).max(size as f64))
        .with(Parameter::SizeMean, size as f64)
        .with(Parameter::ReadFrac, usual.read_frac)
        .with(Parameter::SeqFrac, usual.seq_frac)
        .with(Parameter::ProcessNum, f64::from(bounds.process_num[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_rounds(rounds: usize, orthogonal: bool) -> Schedule {
        let bounds = Bounds {
            unique_bytes: [1 << 20, 1 << 30],
            size_mean: [4096, 1 << 20],
            process_num: [1, 16],
        };
        Schedule::new(&bounds, &Workload::default(), 50, rounds, orthogonal, 9)
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
    fn sets_grow_within_a_batch_and_time_may_run_out_between_batches() {
        let schedule = schedule(false);
        let may: Vec<usize> =
            (0..schedule.steps.len()).filter(|&at| schedule.may_stop_before(at)).collect();
        let again: Vec<usize> = (41..=61).chain(71..=100).collect();
        assert_eq!(may, [&[21][..], &again].concat());
        for pair in [&schedule.steps[1..21], &schedule.steps[21..41], &schedule.steps[41..61]] {
            let grows = |w: &[Step]| w[0].workload.unique_bytes <= w[1].workload.unique_bytes;
            assert!(pair.windows(2).all(grows));
        }
    }
}
